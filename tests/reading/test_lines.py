"""Lines of runs and judgments: what is read silently, what is an error, what is written and read back."""

from __future__ import annotations

import gzip
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from trec_files import PLAIN, PLAIN_ROWS, Write, ids, judgments_of, labels_of, refused, rows_of

from bayespool import reading as trec
from bayespool.errors import InputError, InputWarning, OutputError
from bayespool.reading import Skipped
from bayespool.reading.files import read_text
from bayespool.reading.formats import numbered_lines
from bayespool.reading.lines import (
    LABELS,
    QRELS,
    FileLayout,
    Lines,
    collect,
    pair_codes,
    parse_fast,
    repeats,
    run_layout,
)

RUN = run_layout(ranks=False, tag=False)
RANKED_RUN = run_layout(ranks=True, tag=False)


def parse_tolerantly(text: bytes, path: Path, layout: FileLayout, *, strict: bool) -> Lines:
    """Columns line by line."""
    return collect(
        ((n, line.split()) for n, line in numbered_lines(text, path, layout)), path, layout, strict=strict
    )


SILENT = {
    "plain": PLAIN,
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "CR": PLAIN.replace(b"\n", b"\r"),
    "blank lines": b"\n  \n" + PLAIN.replace(b"\n", b"\n\n \t \n") + b"\n\n",
    "tabs in a row": b"\t" + PLAIN.replace(b" ", b"\t\t").replace(b"\n", b"\t\n\t"),
    "tabs and blanks": PLAIN.replace(b" Q0 ", b" \tQ0\t "),
    "vertical tabs and form feeds": PLAIN.replace(b" Q0 ", b"\vQ0\f"),
    "blanks around": b"   " + PLAIN.replace(b"\n", b"   \n  "),
    "no final newline": PLAIN.rstrip(b"\n"),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "other second columns and tags": PLAIN.replace(b"102 Q0", b"102 Q4").replace(b"2.5 t", b"2.5 another"),
    "ranks from 0": PLAIN.replace(b" 1 ", b" 0 ").replace(b" 2 ", b" 1 "),
    "rank that is no integer": PLAIN.replace(b" 1 ", b" first ").replace(b" 2 ", b" 2.5 "),
    "rank out of range": PLAIN.replace(b" 2 ", b" 99999999999 "),
    "scores in other forms": PLAIN.replace(b"3.5", b"+35e-1").replace(b"2.5", b"2.50").replace(b"0.5", b".5"),
}


def test_oddity_is_read_without_a_word(write: Write) -> None:
    """Strict or not, and by both paths."""
    for name, data in SILENT.items():
        path = write(data)
        for strict in (True, False):
            run = trec.read_run(path, strict=strict)  # a warning would fail the test
            assert rows_of(run) == PLAIN_ROWS, name
            assert (run.run_id, run.path, run.skipped) == ("a", path, ()), name
            assert (run.rank is None) == (b"first" in data or b"99999999999" in data), name
        text = read_text(path)
        fast = parse_fast(text, RUN)
        assert fast is not None, f"the fast path gave up: {name}"
        slow = parse_tolerantly(text, Path("a.run"), RUN, strict=True)
        assert rows_of(fast) == rows_of(slow) == PLAIN_ROWS, name


LENIENT = "fix the file, or pass strict=False (--reading strict=false) to "
SKIP = LENIENT + "skip such lines"
BEST = LENIENT + "keep the best score of each document"
MORE = [("9", f"more-{i}") for i in range(60)]  # of which no tenth is lost
MORE_OF_A_RUN = b"".join(b"%s Q0 %s 1 0.5 t\n" % (t.encode(), d.encode()) for t, d in MORE)
MORE_JUDGED = b"".join(b"%s 0 %s 1\n" % (t.encode(), d.encode()) for t, d in MORE)

REPEATED = "document a is repeated in topic 1 (first on line 3)"
BEST_KEPT = "skipped, document repeated in its topic (best score kept)"
LAST = LENIENT + "keep the last line of each document"
LAST_KEPT = "skipped, document repeated in its topic (last line kept)"


# Bad lines after two, the first of them blank; line, reason and hint when strict; else what is said, of how
# many lines, and the rows that are left of these.
Bad = tuple[bytes, int, str, str, str, int, list[tuple[str, str, float]]]


BAD_RUNS = {
    "too many columns": (
        b"1 Q0 a 1 0.5 t rel\n1 Q0 b 2 0.25 t x y\n", 3, "expected 6 columns, found 7",
        LENIENT + "use the first six columns", "used the first six columns", 2,
        [("1", "a", 0.5), ("1", "b", 0.25)],
    ),
    "score no number": (
        b"1 Q0 a 1 x t\n1 Q0 b 1 1_0 t\n1 Q0 c 1 0x10 t\n1 Q0 d 1 1,5 t\n", 3, "score 'x' is not a number",
        SKIP, "skipped, score is not a number", 4, [],
    ),
    "score NaN": (
        b"1 Q0 a 1 0.5 t\n1 Q0 b 1 NaN t\n1 Q0 c 1 -nan t\n", 4,
        "score is NaN, which has no place in an order", SKIP, "skipped, score is NaN", 2, [("1", "a", 0.5)],
    ),
    "best score last": (
        b"1 Q0 a 1 0.5 t\n2 Q0 a 1 0.5 t\n1 Q0 a 9 0.75 t\n", 5, REPEATED, BEST, BEST_KEPT, 1,
        [("2", "a", 0.5), ("1", "a", 0.75)],
    ),
    "apart beyond single precision": (
        b"1 Q0 a 2 16777216 t\n1 Q0 a 1 16777217 t\n", 4, REPEATED, BEST, BEST_KEPT, 1,
        [("1", "a", 16777217.0)],
    ),
}  # fmt: skip
BAD_RANKED = {
    "rank no integer": (
        b"1 Q0 a 1.5 0.5 t\n1 Q0 b 0x1 0.5 t\n1 Q0 c x 0.5 t\n", 3, "rank '1.5' is not an integer", SKIP,
        "skipped, rank is not an integer", 3, [],
    ),
    "rank out of range": (
        b"1 Q0 a 2147483648 0.5 t\n1 Q0 b 2147483647 0.5 t\n", 3,
        "rank '2147483648' is out of range (-2,147,483,648 to 2,147,483,647)", SKIP,
        "skipped, rank is out of range", 1, [("1", "b", 0.5)],
    ),
    "document twice": (
        b"1 Q0 a 7 0.75 t\n1 Q0 a 3 0.5 t\n1 Q0 a 3 0.25 t\n", 4, REPEATED,
        LENIENT + "keep the lowest rank of each document",
        "skipped, document repeated in its topic (lowest rank kept)", 2, [("1", "a", 0.5)],
    ),
}  # fmt: skip
BAD_JUDGMENTS = {
    "too few columns": (
        b"1 0 a\n", 3, "expected 4 columns, found 3", SKIP, "skipped, fewer than four columns", 1, [],
    ),
    "too many columns": (
        b"1 0 a 2 checked\n", 3, "expected 4 columns, found 5", LENIENT + "use the first four columns",
        "used the first four columns", 1, [("1", "a", 2)],
    ),
    "relevance out of range": (
        b"1 0 a 32767\n1 0 b 32768\n1 0 c -32769\n1 0 d -32768\n", 4,
        "relevance '32768' is out of range (-32,768 to 32,767)", SKIP,
        "skipped, relevance is out of range", 2, [("1", "a", 32767), ("1", "d", -32768)],
    ),
    "endless relevance": (
        b"1 0 a " + b"9" * 5000 + b"\n", 3, f"relevance '{'9' * 39}…' is not an integer", SKIP,
        "skipped, relevance is not an integer", 1, [],
    ),
    "document twice": (
        b"1 0 a 2\n2 0 a 3\n1 0 a 0\n", 5, REPEATED, LAST, LAST_KEPT, 1, [("2", "a", 3), ("1", "a", 0)],
    ),
}  # fmt: skip
BAD_LABELS = {
    "label no number": (
        b"1 0 a yes\n1 0 b 1_0\n1 0 c 3\n", 3, "label 'yes' is not a number", SKIP,
        "skipped, label is not a number", 2, [("1", "c", 3.0)],
    ),
    "document twice": (  # the last, and not the best as of a score
        b"1 0 a 3\n2 0 a 2\n1 0 a 1\n", 5, REPEATED, LAST, LAST_KEPT, 1, [("2", "a", 2.0), ("1", "a", 1.0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("read", "rows", "good", "more", "cases"),
    [
        (trec.read_run, rows_of, b"1 Q0 good 1 1 t\n", MORE_OF_A_RUN, BAD_RUNS),
        (partial(trec.read_run, ranks=True), rows_of, b"1 Q0 good 1 1 t\n", MORE_OF_A_RUN, BAD_RANKED),
        (trec.read_qrels, judgments_of, b"1 0 good 1\n", MORE_JUDGED, BAD_JUDGMENTS),
        (trec.read_labels, labels_of, b"1 0 good 1\n", MORE_JUDGED, BAD_LABELS),
    ],
    ids=["runs", "runs with ranks", "judgments", "labels"],
)
def test_bad_line_is_an_error_or_told(
    write: Write, read: Any, rows: Any, good: bytes, more: bytes, cases: dict[str, Bad]
) -> None:
    rest = rows(read(write(more)))
    for name, (lines, line, reason, hint, skipped, n, left) in cases.items():
        path = write(b"\n" + good + lines + more)
        assert str(refused(read, path)) == f"{path}, line {line}: {reason}; {hint}", name
        with pytest.warns(InputWarning) as caught:
            found = read(path, strict=False)
        assert rows(found) == [("1", "good", 1), *left, *rest], name
        assert found.skipped == (Skipped(path, skipped, n, line),), name
        said = f"{path}: {n} {'line' if n == 1 else 'lines'} {skipped} (first: line {line})"
        assert [(str(one.message), one.filename) for one in caught] == [(said, __file__)], name


topics = ids.filter(lambda text: text[0] not in "#[{")  # which begin a comment, or JSON
numbers = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["inf", "-INF", "+Infinity", ".5", "5.", "1e400", "-1e-400", "0.1e1", "16777217"]),
)
ranks = st.integers(-(2**31), 2**31 - 1).map(str) | st.sampled_from(["007", "+3", "-0"])
delimiters = st.sampled_from([" ", "\t", "  ", " \t", "\v", "\f "])
ends = st.sampled_from(["\n", " \n", "\n\n", "\n \n", "\n  ", "\t\n\t"])


@st.composite
def lines_of(draw: st.DrawFn, *, columns: int) -> str:
    text = draw(st.sampled_from(["", " ", "\n", "\t\n "]))
    keys = draw(st.lists(st.tuples(topics, ids), min_size=1, max_size=12, unique=True))
    for query_id, doc_id in keys:
        fields = [query_id, draw(ids), doc_id, draw(ranks)]
        if columns == 6:
            fields += [draw(numbers), draw(ids)]
        text += "".join(field + draw(delimiters) for field in fields[:-1]) + fields[-1] + draw(ends)
    return text


def assert_alike(text: bytes, layout: FileLayout) -> None:
    fast = parse_fast(text, layout)
    slow = parse_tolerantly(text, Path("x"), layout, strict=True)
    assert fast is not None, "the fast path gave up on a good file"
    for one, other in ((fast.query_id, slow.query_id), (fast.doc_id, slow.doc_id)):
        assert one.to_pylist() == other.to_pylist()
    assert fast.query_id.dictionary.to_pylist() == slow.query_id.dictionary.to_pylist()
    for found, expected in ((fast.real, slow.real), (fast.integer, slow.integer)):
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.tobytes() == expected.tobytes(), "not equal bit for bit"
    assert sorted(fast.tags) == sorted(slow.tags)
    assert fast.skipped == slow.skipped == ()


@given(lines_of(columns=6))
@example("1 0 a 1 1 t\n 2\t0 a 1 -0 t")
def test_paths_agree_on_runs(text: str) -> None:
    assert_alike(text.encode(), RANKED_RUN)
    assert_alike(text.encode(), run_layout(ranks=False, tag=True))


@given(
    st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=12),
    st.lists(numbers, min_size=1, max_size=12),
)
def test_paths_agree_on_qrels_and_labels(judged: list[int], labels: list[str]) -> None:
    for values, layout in ((judged, QRELS), (labels, LABELS)):
        text = "".join(f"q{i % 3} 0 d{i} {value}\n" for i, value in enumerate(values))
        assert_alike(text.encode(), layout)


@given(st.text(st.sampled_from("01.eE+-_xnaif∞ "), max_size=6).filter(str.strip))
def test_the_fast_path_takes_no_score_that_the_tolerant_one_refuses(token: str) -> None:
    text = f"1 Q0 a 1 {token} t\n".encode()
    fast = parse_fast(text, RUN)
    try:
        slow = parse_tolerantly(text, Path("x"), RUN, strict=True)
    except InputError:
        assert fast is None
    else:
        assert fast is None or rows_of(fast) == rows_of(slow)


def test_paths_agree_across_the_blocks_of_the_parser(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"".join(b"%d Q0 d%d %d %d.25 t\n" % (i // 100, i * 7 % 450, i, -i) for i in range(3000))
    lines = b"\n".join(dict.fromkeys(lines.split(b"\n")))
    kept = {tuple(line.split()[:3:2]): line for line in lines.split(b"\n") if line}
    text = b"\n".join(kept.values())
    monkeypatch.setattr("bayespool.reading.lines._BLOCK_BYTES", 1000)
    assert_alike(text, RANKED_RUN)
    assert_alike(text, run_layout(ranks=False, tag=True))
    name = "d" * 5000  # a line longer than a block
    data = b"".join(b"1 Q0 %s%d 1 1 t\n" % (name.encode(), i) for i in range(3))
    assert trec.read_run(write(data)).doc_id.to_pylist() == [f"{name}{i}" for i in range(3)]


def test_a_line_of_more_than_a_mebibyte_is_an_error_on_both_paths(write: Write) -> None:
    """The fast path took what the tolerant one refuses, by which of them a file happened to be read."""
    n = (1 << 20) - len(b"1 Q0  1 1 t\n")
    for n_before in (0, 70_000):
        lines = b"".join(b"1 Q0 d%d 1 1 t\n" % i for i in range(n_before))
        path = write(lines + b"1 Q0 %s 1 1 t\n" % (b"x" * n))
        assert len(trec.read_run(path).doc_id) == n_before + 1
        path.write_bytes(lines + b"1 Q0 %s 1 1 t\n" % (b"x" * (n + 1)))
        for strict in (True, False):
            error = refused(trec.read_run, path, strict=strict)
            assert (error.line, error.reason) == (n_before + 1, "is longer than 1,048,576 bytes"), strict


def test_unseen_character_makes_no_new_topic_or_document(write: Write) -> None:
    """As where one file with a byte order mark was put behind another: 1 and \\ufeff1 were two topics."""
    for unseen in ("\ufeff", "\xa0", "\u2007", "\u202f"):
        lines = f"1 Q0 a 1 3 t\n{unseen}1 Q0 b 2 2 t\n1{unseen} Q0 c{unseen} 3 1 t\n1 Q0 x{unseen}y 4 0 t"
        path = write(lines.encode())
        said = f"topic {f'{unseen}1'!a} has a byte order mark or a no-break space in it"
        error = refused(trec.read_run, path)
        assert (error.line, error.reason) == (2, said)
        with pytest.warns(InputWarning, match=r"2 lines read without .*first: line 2"):
            run = trec.read_run(path, strict=False)
        assert rows_of(run) == [("1", "a", 3.0), ("1", "b", 2.0), ("1", "c", 1.0), ("1", f"x{unseen}y", 0.0)]


ENDINGS = st.sampled_from(["", "x", "é", "-0000-00-00000", "/2009/11/index.html"])
IDS = st.builds(str.__add__, st.text("ab", min_size=1, max_size=20), ENDINGS)


def columns(pairs: list[tuple[int, str]]) -> tuple[pa.DictionaryArray, pa.StringArray]:
    """Topics and documents; the latter a slice, whose bytes begin within the buffer."""
    topics = pa.array(np.array([topic for topic, _ in pairs], dtype=np.int32))
    names = pa.array([f"q{t}" for t in range(max(topic for topic, _ in pairs) + 1)])
    documents = pa.array(["before", *(document for _, document in pairs), "after"], pa.string())
    return pa.DictionaryArray.from_arrays(topics, names), documents.slice(1, len(pairs))


@given(st.lists(st.tuples(st.integers(0, 3), IDS), min_size=1, max_size=40))
@example([(0, f"D{i}") for i in range(1 << 13)] + [(0, "D0")])  # across blocks of lines
def test_repeats_are_the_entries_seen_before(pairs: list[tuple[int, str]]) -> None:
    first = {pair: i for i, pair in reversed([*enumerate(pairs)])}
    seen_before = [i for i, pair in enumerate(pairs) if first[pair] < i]
    assert repeats(*columns(pairs)).tolist() == seen_before
    assert len(set(pair_codes(*columns(pairs)).tolist())) == len(set(pairs))


def test_line_of_unseen_characters_alone_is_too_short(write: Write) -> None:
    path = write("1 Q0 a 1 3 t\n\xa0 Q0 b 2 2 t\n".encode() + MORE_OF_A_RUN)
    with pytest.warns(InputWarning, match="1 line skipped, fewer than six columns"):
        assert rows_of(trec.read_run(path, strict=False))[:-60] == [("1", "a", 3.0)]


scores = st.floats(allow_nan=False)


@given(
    st.dictionaries(st.tuples(topics, ids), st.tuples(scores, st.integers(-(2**31), 2**31 - 1)), min_size=1),
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


@given(st.dictionaries(st.tuples(topics, ids), st.integers(-(2**15), 2**15 - 1), min_size=1))
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
