"""Readers: names of runs, many files at once and in batches, organizations, the real collections."""

from __future__ import annotations

import gzip
import threading
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from trec_files import PLAIN, Write, judgments_of, refused

from bayespool import read_collection, read_runs, reading as trec
from bayespool.collection.build import Encoding
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import simulate_example
from bayespool.reading import gather_qrels, read_qrels
from bayespool.reading.sources import join_organizations, join_qrels


def test_run_id_of_a_file(tmp_path: Path) -> None:
    for name, run_id in {
        "input.8manexT3D1N0": "8manexT3D1N0", "input.1": "1", "bm25.v1": "bm25.v1",
        "bm25.v1.run": "bm25.v1", "bm25.txt.gz": "bm25", "bm25.RUN.XZ": "bm25.RUN", "input.a.res.zst": "a",
        "a.trec.run": "a.trec", "a.gz.gz": "a.gz", "input.": "input.", "input.input.a": "input.a",
        "my run.txt": "my run", "plain": "plain",
    }.items():  # fmt: skip
        path = tmp_path / name
        path.write_bytes(PLAIN)  # the name alone makes no compressed file
        assert trec.read_run(path).run_id == run_id, name


def test_run_id_of_a_tag(write: Write) -> None:
    assert trec.read_run(write(PLAIN), id_from="tag").run_id == "t"
    with pytest.warns(InputWarning):
        run = trec.read_run(write(PLAIN.replace(b"2.5 t", b"2.5 t x")), id_from="tag", strict=False)
    assert run.run_id == "t"
    path = write(b"1 Q0 a 1 4 t\n1 Q0 b 1 3 u\n1 Q0 c 1 2 v\n1 Q0 d 1 1 w\n")
    error = refused(trec.read_run, path, id_from="tag", strict=False)
    assert error.reason == "holds 4 tags ('t', 'u', 'v', …) where one was to name the run"
    assert trec.read_run(path, id_from="tag", run_id="x").run_id == "x"
    with pytest.raises(ValueError, match="not 'tags'"):
        trec.read_run(write(PLAIN), id_from="tags")  # type: ignore[arg-type]


def test_the_first_bad_file_is_the_error_and_no_thread_is_left(folder: Path) -> None:
    (folder / "input.a.gz").write_bytes(b"1 Q0 a 1 x t\n")
    (folder / "input.b").write_bytes(b"nothing\n")
    before = threading.active_count()
    error = refused(trec.read_runs, folder)
    assert (error.path, error.line) == (folder / "input.a.gz", 1)

    def interrupt(text: str, done: int = 0, total: int = 0) -> None:
        if done == 3:
            raise KeyboardInterrupt

    for i in range(30):
        (folder / "deeper" / f"{i:02}.run").write_bytes(PLAIN)
    with pytest.raises(KeyboardInterrupt):
        trec.read_runs(folder / "deeper", progress=interrupt)
    assert threading.active_count() == before, "reader threads are left"


XML = b"""<?xml version="1.0"?>
<set>
  <runs><tag>b</tag><organization>Univ. of X &amp; Y</organization></runs>
  <runs><tag> a </tag><organization>Z</organization></runs>
</set>
"""
ORGANIZATIONS = {
    "other order, other columns": (b"year,Organization,RUN_ID\n1999,B,b\n1999,A,a\n", {"b": "B", "a": "A"}),
    "run_id before tag": (b"tag,run_id,organization\nx,a,A\n", {"a": "A"}),
    "byte order mark, CRLF": (b"\xef\xbb\xbfrun_id,organization\r\na,A\r\n", {"a": "A"}),
    "quotes": (b'run_id,organization\n"a","X, ""Y"""\n', {"a": 'X, "Y"'}),
    "blanks and blank lines": (b"\n run_id , organization \n\n a , A b \n , \n", {"a": "A b"}),
    "same line twice": (b"run_id,organization\na,A\na,A\n", {"a": "A"}),
    "types": (b"run_id,type\na,nnlm\n", {"a": "nnlm"}),
    "organization before type": (b"run_id,type,organization\na,nnlm,A\n", {"a": "A"}),
    "Latin-1": ("run_id,organization\na,Zürich\n".encode("latin-1"), {"a": "Zürich"}),
    "XML of another encoding": (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
        "<set><runs><tag>a</tag><organization>Zürich</organization></runs></set>".encode("latin-1"),
        {"a": "Zürich"},
    ),
    "XML with a byte order mark": (b"\xef\xbb\xbf" + XML, {"b": "Univ. of X & Y", "a": "Z"}),
}


def test_organizations(write: Write) -> None:
    for name, (data, organizations) in ORGANIZATIONS.items():
        found = trec.read_organizations(write(data))
        assert list(found.items()) == list(organizations.items()), name
    for name, (data, line, reason) in BAD_ORGANIZATIONS.items():
        path = write(data)
        error = refused(trec.read_organizations, path)
        assert (error.path, error.line) == (path, line), name
        assert error.reason.startswith(reason), name


BAD_ORGANIZATIONS = {
    "no organization in the header": (b"\nrun_id,org\na,A\n", 2, "the header names 'run_id, org', not"),
    "empty organization": (b"run_id,organization\n\na,\n", 3, "run 'a' has no organization"),
    "empty run": (b"run_id,organization\n,A\n", 2, "no run id beside organization 'A'"),
    "two organizations": (
        b"run_id,organization\na,A\nb,B\na,B\n", 4, "run 'a' has organization 'B' here and 'A' on line 2",
    ),
    "too few columns": (b"run_id,organization\na\n", 2, "expected 2 columns as in the header, found 1"),
    "quote left open": (b'run_id,organization\na,"A\n', 2, "is no proper text with columns ("),
    "header only": (b"run_id,organization\n", None, "lists no run"),
    "XML cut off": (XML[:60], 3, "is no well-formed XML ("),
    "XML with Latin-1 undeclared": (b"<set>\n<runs>\xfc</runs></set>", 2, "is no well-formed XML ("),
    "XML of an unknown encoding": (b'<?xml version="1.0" encoding="nonsense"?><set/>', None, "has an encod"),
    "XML without runs": (b"<set><run/></set>", None, "lists no run"),
    "XML, no organization": (b"<set><runs><tag>a</tag></runs></set>", None, "run 'a' has no organization"),
    "XML, empty tag": (XML.replace(b" a ", b""), None, "no run id beside organization 'Z'"),
    "XML with entities, which may stand for gigabytes": (
        b'<!DOCTYPE set [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>' + XML, None, "declares entities, which are",
    ),
    "XML, two organizations": (XML.replace(b" a ", b"b"), None, "run 'b' has organization 'Z' here and"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "n_runs", "n_lines", "n_judgments", "n_organizations"),
    [
        pytest.param("trec8-adhoc", 129, 6_284_293, 86_830, 41, marks=pytest.mark.slow),
        ("trec2011-medical", 127, 3_869_046, 8_865, 29),
    ],
)
def test_real_collection_is_read_whole(
    collections: Path, name: str, n_runs: int, n_lines: int, n_judgments: int, n_organizations: int
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = trec.read_runs(collections / name / "runs", strict=False)
    # the only bad lines of these two: three NaN scores in a medical run
    told = [(run.run_id, part.reason, part.n_lines) for run in runs for part in run.skipped]
    assert told == ([("uogTrDeNsEc", "skipped, score is NaN", 3)] if name == "trec2011-medical" else [])
    assert len(caught) == len(told)
    assert (len(runs), sum(len(run.doc_id) for run in runs)) == (n_runs, n_lines)
    assert len(trec.read_qrels(collections / name / "qrels.txt").doc_id) == n_judgments
    organizations = trec.read_organizations(collections / name / "organizations.csv")
    assert set(organizations) == {run.run_id for run in runs}
    assert len(set(organizations.values())) == n_organizations


def test_column_that_stands_twice(write: Write) -> None:
    """The last one was taken, without a word."""
    for header, name in (("organization", "organization"), ("organization,RUN_ID", "run_id")):
        error = refused(trec.read_organizations, write(f"run_id,Organization,{header}\na,X,Y,Z\n".encode()))
        assert (error.line, error.reason.startswith(f"the header names {name!r} 2 times")) == (1, True)
    assert trec.read_organizations(write(b"run_id,organization,note,note\na,X,1,2\n")) == {"a": "X"}


def test_batches_make_the_same_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path)
    files = {"pool": tmp_path / "pool", "organizations": tmp_path / "organizations.csv"}
    read = partial(read_collection, tmp_path / "qrels.txt", tmp_path / "new", **files, scores=True)
    whole, sizes, encode = read(), list[int](), Encoding.encode

    def counted(self: Encoding, runs: list[object]) -> object:
        sizes.append(len(runs))
        return encode(self, runs)  # type: ignore[arg-type]

    monkeypatch.setattr(Encoding, "encode", counted)
    for batch, fewest in ((1, 1), (200_000, 2)):
        sizes.clear()
        monkeypatch.setattr("bayespool.reading.readers.BATCH", batch)
        parts = read()
        assert min(sizes[:-1]) >= fewest
        assert len(sizes) > 2
        assert sum(sizes) == len(whole.run_ids)
        assert parts.fingerprint == whole.fingerprint
        assert np.array_equal(np.asarray(parts.score), np.asarray(whole.score), equal_nan=True)


def test_files_are_read_in_their_order_over_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path)
    monkeypatch.setattr("bayespool.reading.readers.BATCH", 1)
    done: list[tuple[int, int]] = []
    runs = read_runs(tmp_path / "pool", progress=lambda _, n=0, total=0: done.append((n, total)))
    assert [run.run_id for run in runs] == sorted(run.run_id for run in runs)
    assert done == [(n, len(runs)) for n in range(1, len(runs) + 1)]


@pytest.fixture
def rounds(tmp_path: Path) -> list[Path]:
    """Judgments of two rounds, which have topic 2 in common."""
    (tmp_path / "one.txt").write_text("\n1 0 a 1\n2 0 a 0\n")
    with gzip.open(tmp_path / "two.txt.gz", "wt") as file:
        file.write("2 0 b 2\n2 0 aa 1\n3 0 a 1\n")
    return [tmp_path / "one.txt", tmp_path / "two.txt.gz"]


def test_rounds_are_joined(rounds: list[Path]) -> None:
    joined = gather_qrels(rounds)
    rows = [("1", "a", 1), ("2", "a", 0), ("2", "b", 2), ("2", "aa", 1), ("3", "a", 1)]
    assert (judgments_of(joined), joined.path) == (rows, rounds[0])


def test_a_contradiction_is_named_with_files_and_lines(rounds: list[Path], tmp_path: Path) -> None:
    (tmp_path / "three.txt").write_text("1 0 b 1\n2 0 a 1\n")
    with pytest.raises(InputError) as caught:
        gather_qrels([*rounds, tmp_path / "three.txt"])
    assert (caught.value.path, caught.value.line) == (tmp_path / "three.txt", 2)
    assert caught.value.reason == f"document a of topic 2 has relevance 1 here and 0 in {rounds[0]}, line 3"


def test_what_files_say_alike_counts_once(rounds: list[Path]) -> None:
    with pytest.warns(InputWarning, match="2 judgments of several files given together: the same in each"):
        joined = join_qrels([read_qrels(rounds[0]), read_qrels(rounds[0])])
    assert judgments_of(joined) == judgments_of(read_qrels(rounds[0]))


def test_sources_without_a_file_are_named_so() -> None:
    with pytest.raises(InputError, match="run 'r' belongs to 'b' here and to 'a' in another source"):
        join_organizations([(None, {"r": "a"}), (None, {"r": "b"})])
