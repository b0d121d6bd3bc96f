"""What is written is read back as it was."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from trec_files import PLAIN, Write, ids, judgments_of, rows_of

from bayespool import collection as trec
from bayespool.errors import OutputError

scores = st.floats(allow_nan=False)


@given(
    st.dictionaries(st.tuples(ids, ids), st.tuples(scores, st.integers(-(2**31), 2**31 - 1)), min_size=1),
    ids,
    st.sampled_from(["a", "a.gz"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_run_is_read_back_as_written(
    tmp_path: Path, lines: dict[tuple[str, str], tuple[float, int]], run_id: str, name: str
) -> None:
    rows = [(query_id, doc_id, *numbers) for (query_id, doc_id), numbers in lines.items()]
    run = trec.run_from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "rank"]), run_id)
    trec.write_run(run, tmp_path / name)
    back = trec.read_run(tmp_path / name, id_from="tag", ranks=True)
    assert back.run_id == run_id
    assert rows_of(back) == rows_of(run)
    assert back.score.tobytes() == run.score.tobytes()
    assert back.rank is not None
    assert back.rank.tolist() == [row[3] for row in rows]


@given(st.dictionaries(st.tuples(ids, ids), st.integers(-(2**15), 2**15 - 1), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_qrels_are_read_back_as_written(tmp_path: Path, lines: dict[tuple[str, str], int]) -> None:
    rows = [(*key, relevance) for key, relevance in lines.items()]
    qrels = trec.qrels_from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"]))
    trec.write_qrels(qrels, tmp_path / "q")
    assert judgments_of(trec.read_qrels(tmp_path / "q")) == rows


labels = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).map(str.strip).filter(bool)


@given(st.dictionaries(labels.filter(lambda text: not text.startswith("\ufeff")), labels, min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example({"a": "<b>"}).via("a name that looks like XML")
@example({"a,b": 'X, "Y"'})
def test_organizations_are_read_back_as_written(tmp_path: Path, organizations: dict[str, str]) -> None:
    trec.write_organizations(organizations, tmp_path / "o.csv.gz")
    assert trec.read_organizations(tmp_path / "o.csv.gz") == organizations


def test_what_is_written(tmp_path: Path, write: Write) -> None:
    run = trec.read_run(write(PLAIN))
    trec.write_run(run, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"101 Q0 d1 1 3.5 a\n101 Q0 d2 2 2.5 a\n102 Q0 d1 1 0.5 a\n"
    trec.write_run(trec.run_from_frame({"1": {"b": 1.0, "a": 2.0}, "2": {"a": 0.1}}, "x"), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"1 Q0 b 2 1.0 x\n1 Q0 a 1 2.0 x\n2 Q0 a 1 0.1 x\n"
    trec.write_qrels(trec.qrels_from_frame({"1": {"é": 2}}), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == "1 0 é 2\n".encode()
    trec.write_organizations({"a": "X, Y"}, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b'run_id,organization\na,"X, Y"\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "out"], "no temporary file is left"


def test_gz_is_written_the_same_every_time(tmp_path: Path, write: Write) -> None:
    run = trec.read_run(write(PLAIN))
    for name in ("one.gz", "two.gz"):
        trec.write_run(run, tmp_path / name)
    first = (tmp_path / "one.gz").read_bytes()
    assert gzip.decompress(first).startswith(b"101 Q0 d1 1 3.5 a\n")
    assert first == (tmp_path / "two.gz").read_bytes()
    assert first[4:8] == bytes(4), "the header holds the time of writing"


def test_what_would_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    old = tmp_path / "out"
    old.write_text("old")
    for bad in ("", "a b", "a\tb", "a\nb", "a\rb", "a\vb", "\0", "\ufeffa"):
        for data in ({bad: {"d": 1}}, {"q": {bad: 1}}) if bad else ():
            with pytest.raises(OutputError, match="white space"):
                trec.write_run(trec.run_from_frame(data, "x"), old)
            with pytest.raises(OutputError, match="white space"):
                trec.write_qrels(trec.qrels_from_frame(data), old)
        with pytest.raises(OutputError, match=r"run id .*white space"):
            trec.write_run(trec.run_from_frame({"q": {"d": 1}}, bad), old)
        assert old.read_text() == "old", bad
    for suffix in (".xz", ".zst"):  # which promise another compression
        with pytest.raises(OutputError, match=re.escape(suffix)):
            trec.write_organizations({"a": "A"}, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == [old]
