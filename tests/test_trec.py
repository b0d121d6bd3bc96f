"""TREC files: every oddity of the table in `bayespool.trec`, bad input, both paths, frames, writing."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import threading
import warnings
from collections import namedtuple
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bayespool import trec
from bayespool.errors import InputError, InputWarning, OutputError
from bayespool.trec import Qrels, Run, Skipped
from bayespool.trec.lines import QRELS, Layout, Lines, parse_fast, parse_tolerantly, run_layout

PLAIN = b"101 Q0 d1 1 3.5 t\n101 Q0 d2 2 2.5 t\n102 Q0 d1 1 0.5 t\n"
PLAIN_ROWS = [("101", "d1", 3.5), ("101", "d2", 2.5), ("102", "d1", 0.5)]
RUN = run_layout(ranks=False, tag=False)
RANKED_RUN = run_layout(ranks=True, tag=False)

Write = Callable[[bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes bytes to the file ``a.run``."""

    def write(data: bytes) -> Path:
        path = tmp_path / "a.run"
        path.write_bytes(data)
        return path

    return write


def rows_of(run: Run | Lines) -> list[tuple[str, str, float]]:
    assert run.score is not None
    return list(zip(run.query_id.to_pylist(), run.doc_id.to_pylist(), run.score.tolist(), strict=True))


def judgments_of(qrels: Qrels) -> list[tuple[str, str, int]]:
    return list(
        zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True)
    )


def error_of(call: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


# --- what is read silently, strict or not -----------------------------------------------------------------

SILENT = {
    "plain": PLAIN,
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "CR": PLAIN.replace(b"\n", b"\r"),
    "blank lines": b"\n  \n" + PLAIN.replace(b"\n", b"\n\n \t \n") + b"\n\n",
    "tabs": PLAIN.replace(b" ", b"\t"),
    "tabs in a row": b"\t" + PLAIN.replace(b" ", b"\t\t").replace(b"\n", b"\t\n\t"),
    "several blanks": PLAIN.replace(b" ", b"    "),
    "tabs and blanks": PLAIN.replace(b" Q0 ", b" \tQ0\t "),
    "vertical tabs and form feeds": PLAIN.replace(b" Q0 ", b"\vQ0\f"),
    "leading blanks": b"   " + PLAIN.replace(b"\n", b"\n  "),
    "trailing blanks": PLAIN.replace(b"\n", b"   \n"),
    "no final newline": PLAIN.rstrip(b"\n"),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "second column not Q0": PLAIN.replace(b"102 Q0", b"102 Q4").replace(b"Q0", b"0"),
    "several tags": PLAIN.replace(b"2.5 t", b"2.5 another"),
    "ranks from 0": PLAIN.replace(b" 1 ", b" 0 ").replace(b" 2 ", b" 1 "),
    "rank that is no integer": PLAIN.replace(b" 1 ", b" first ").replace(b" 2 ", b" 2.5 "),
    "rank out of range": PLAIN.replace(b" 2 ", b" 99999999999 "),
    "scores in other forms": PLAIN.replace(b"3.5", b"+35e-1").replace(b"2.5", b"2.50").replace(b"0.5", b".5"),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("data", SILENT.values(), ids=SILENT)
def test_oddity_is_read_without_a_word(write: Write, data: bytes, strict: bool) -> None:
    path = write(data)
    run = trec.read_run(path, strict=strict)  # a warning would fail the test
    assert rows_of(run) == PLAIN_ROWS
    assert run.run_id == "a"
    assert run.rank is None
    assert run.path == path
    assert run.skipped == ()


@pytest.mark.parametrize("data", SILENT.values(), ids=SILENT)
def test_both_paths_read_the_oddity_alike(write: Write, data: bytes) -> None:
    from bayespool.trec.files import read_text

    text = read_text(write(data))
    fast = parse_fast(text, RUN)
    assert fast is not None, "the fast path gave up"
    assert rows_of(fast) == rows_of(parse_tolerantly(text, Path("a.run"), RUN, strict=True)) == PLAIN_ROWS


def test_infinite_scores_are_read(write: Write) -> None:
    data = b"1 Q0 a 1 inf t\n1 Q0 b 2 1e400 t\n1 Q0 c 3 1e300 t\n1 Q0 d 4 -Infinity t\n"
    assert trec.read_run(write(data)).score.tolist() == [np.inf, np.inf, 1e300, -np.inf]


def test_latin_1_is_read_as_a_whole(write: Write) -> None:
    run = trec.read_run(
        write("q1 Q0 Müller\xa0x 1 1 é\nq1 Q0 ascii 2 0 é\n".encode("latin-1")), id_from="tag"
    )
    assert run.doc_id.to_pylist() == ["Müller\xa0x", "ascii"]  # a no-break space is no column's end
    assert run.run_id == "é"


def test_utf_8_is_read(write: Write) -> None:
    run = trec.read_run(write("qtest2014.1 Q0 文書\u2028\x85 1 1 t\nMB01 Q0 é 1 1 t\n".encode()))
    assert run.doc_id.to_pylist() == ["文書\u2028\x85", "é"]
    assert run.query_id.to_pylist() == ["qtest2014.1", "MB01"]


def test_quotes_and_commas_mean_nothing(write: Write) -> None:
    run = trec.read_run(write(b'"1 Q0 "a,\\ 1 1 "\n1" Q0 #b\' 2 0 "\n'))
    assert rows_of(run) == [('"1', '"a,\\', 1.0), ('1"', "#b'", 0.0)]


def test_words_that_mean_a_missing_value_elsewhere_are_ids(write: Write) -> None:
    run = trec.read_run(write(b"NA Q0 null 1 1 nan\nnan Q0 NULL 1 1 nan\n"))
    assert rows_of(run) == [("NA", "null", 1.0), ("nan", "NULL", 1.0)]


def test_ranks_are_read_on_request(write: Write) -> None:
    run = trec.read_run(
        write(PLAIN.replace(b" 2 2.5", b" +07 2.5").replace(b" 1 0.5", b" -1 0.5")), ranks=True
    )
    assert run.rank is not None
    assert run.rank.tolist() == [1, 7, -1]
    assert run.rank.dtype == np.int32


def test_columns_have_the_stated_types(write: Write) -> None:
    symbols = pa.dictionary(pa.int32(), pa.string())
    for data in (PLAIN, PLAIN.replace(b"\n", b" extra\n")):  # by the fast path, by the tolerant one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            run = trec.read_run(write(data), strict=False, ranks=True)
        assert (run.query_id.type, run.doc_id.type) == (symbols, pa.string())
        assert run.query_id.dictionary.to_pylist() == ["101", "102"]
        assert run.score.dtype == np.float64
        assert run.rank is not None
        assert run.rank.dtype == np.int32
    qrels = trec.read_qrels(write(b"1 0 a 1\n"))
    assert (qrels.query_id.type, qrels.doc_id.type) == (symbols, pa.string())
    assert qrels.relevance.dtype == np.int16


# --- what is an error when strict, and skipped or read otherwise when not ---------------------------------

LENIENT = "mend the file, or pass strict=False (--lenient) to "
SKIP = LENIENT + "skip such lines"
BEST = LENIENT + "keep the best score of each document"
GOOD = b"\n1 Q0 good 1 9 t\n"  # two lines, the first of them blank
KEPT = ("1", "good", 9.0)

# name -> bad lines after GOOD, ranks read?; when strict line, reason, hint; else reason, count, rows left
BAD_LINES: dict[str, tuple[bytes, bool, int, str, str, str, int, list[tuple[str, str, float]]]] = {
    "too few columns": (
        b"1 Q0 a 0.5 t\n1 Q0 b\n", False,
        3, "expected 6 columns, found 5", SKIP, "skipped, fewer than six columns", 2, [KEPT],
    ),
    "too many columns": (
        b"1 Q0 a 1 0.5 t rel\n1 Q0 b 2 0.25 t x y\n", False,
        3, "expected 6 columns, found 7", LENIENT + "use the first six columns",
        "used the first six columns", 2, [KEPT, ("1", "a", 0.5), ("1", "b", 0.25)],
    ),
    "score no number": (
        b"1 Q0 a 1 x t\n1 Q0 b 1 1_0 t\n1 Q0 c 1 0x10 t\n1 Q0 d 1 1,5 t\n", False,
        3, "score 'x' is not a number", SKIP, "skipped, score is not a number", 4, [KEPT],
    ),
    "score NaN": (
        b"1 Q0 a 1 0.5 t\n1 Q0 b 1 NaN t\n1 Q0 c 1 -nan t\n", False,
        4, "score is NaN, which has no place in an order", SKIP, "skipped, score is NaN", 2,
        [KEPT, ("1", "a", 0.5)],
    ),
    "rank no integer": (
        b"1 Q0 a 1.0 0.5 t\n1 Q0 b 0x1 0.5 t\n1 Q0 c x 0.5 t\n", True,
        3, "rank '1.0' is not an integer", SKIP, "skipped, rank is not an integer", 3, [KEPT],
    ),
    "rank out of range": (
        b"1 Q0 a 2147483648 0.5 t\n1 Q0 b 2147483647 0.5 t\n", True,
        3, "rank '2147483648' is out of range (-2,147,483,648 to 2,147,483,647)", SKIP,
        "skipped, rank is out of range", 1, [KEPT, ("1", "b", 0.5)],
    ),
    "document twice, best score last": (
        b"1 Q0 a 1 0.5 t\n2 Q0 a 1 0.5 t\n1 Q0 a 9 0.75 t\n", False,
        5, "document a is repeated in topic 1 (first on line 3)", BEST,
        "skipped, document repeated in its topic (best score kept)", 1,
        [KEPT, ("2", "a", 0.5), ("1", "a", 0.75)],
    ),
    "document thrice, best score first": (
        b"1 Q0 a 3 0.5 t\n1 Q0 a 1 -inf t\n1 Q0 a 2 0.25 t\n", False,
        4, "document a is repeated in topic 1 (first on line 3)", BEST,
        "skipped, document repeated in its topic (best score kept)", 2, [KEPT, ("1", "a", 0.5)],
    ),
    "document twice, equal in single precision": (
        b"1 Q0 a 2 16777216 t\n1 Q0 a 1 16777217 t\n", False,
        4, "document a is repeated in topic 1 (first on line 3)", BEST,
        "skipped, document repeated in its topic (best score kept)", 1, [KEPT, ("1", "a", 16777216.0)],
    ),
    "document twice, beyond single precision": (
        b"1 Q0 a 2 1e300 t\n1 Q0 a 1 1e301 t\n", False,
        4, "document a is repeated in topic 1 (first on line 3)", BEST,
        "skipped, document repeated in its topic (best score kept)", 1, [KEPT, ("1", "a", 1e300)],
    ),
    "document twice, by rank": (
        b"1 Q0 a 7 0.75 t\n1 Q0 a 3 0.5 t\n1 Q0 a 3 0.25 t\n", True,
        4, "document a is repeated in topic 1 (first on line 3)",
        LENIENT + "keep the lowest rank of each document",
        "skipped, document repeated in its topic (lowest rank kept)", 2, [KEPT, ("1", "a", 0.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "ranks", "line", "reason", "hint", "skipped", "n_lines", "left"),
    BAD_LINES.values(),
    ids=BAD_LINES,
)
def test_bad_line_of_a_run(
    write: Write,
    bad: bytes,
    ranks: bool,
    line: int,
    reason: str,
    hint: str,
    skipped: str,
    n_lines: int,
    left: list[tuple[str, str, float]],
) -> None:
    path = write(GOOD + bad)

    error = error_of(lambda: trec.read_run(path, ranks=ranks))
    assert (error.path, error.line, error.reason, error.hint) == (path, line, reason, hint)
    assert str(error) == f"{path}, line {line}: {reason}; {hint}"

    with pytest.warns(InputWarning) as caught:
        run = trec.read_run(path, ranks=ranks, strict=False)
    assert rows_of(run) == left
    assert run.skipped == (Skipped(path, skipped, n_lines, line),)
    lines = "1 line" if n_lines == 1 else f"{n_lines} lines"
    assert [str(warning.message) for warning in caught] == [f"{path}: {lines} {skipped} (first: line {line})"]
    assert caught[0].filename == __file__


BAD_JUDGMENTS: dict[str, tuple[bytes, int, str, str, str, int, list[tuple[str, str, int]]]] = {
    "too few columns": (
        b"1 0 a\n", 3, "expected 4 columns, found 3", SKIP, "skipped, fewer than four columns", 1, [],
    ),
    "too many columns": (
        b"1 0 a 2 0.5\n", 3, "expected 4 columns, found 5", LENIENT + "use the first four columns",
        "used the first four columns", 1, [("1", "a", 2)],
    ),
    "relevance no integer": (
        b"1 0 a 1.0\n1 0 b yes\n1 0 c 0x1\n", 3, "relevance '1.0' is not an integer", SKIP,
        "skipped, relevance is not an integer", 3, [],
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
        b"1 0 a 2\n2 0 a 3\n1 0 a 0\n", 5, "document a is repeated in topic 1 (first on line 3)",
        LENIENT + "keep the last line of each document",
        "skipped, document repeated in its topic (last line kept)", 1, [("2", "a", 3), ("1", "a", 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "line", "reason", "hint", "skipped", "n_lines", "left"), BAD_JUDGMENTS.values(), ids=BAD_JUDGMENTS
)
def test_bad_line_of_the_qrels(
    write: Write,
    bad: bytes,
    line: int,
    reason: str,
    hint: str,
    skipped: str,
    n_lines: int,
    left: list[tuple[str, str, int]],
) -> None:
    path = write(b"\n1 0 good -1\n" + bad)

    error = error_of(lambda: trec.read_qrels(path))
    assert (error.path, error.line, error.reason, error.hint) == (path, line, reason, hint)

    with pytest.warns(InputWarning) as caught:
        qrels = trec.read_qrels(path, strict=False)
    assert judgments_of(qrels) == [("1", "good", -1), *left]
    assert qrels.skipped == (Skipped(path, skipped, n_lines, line),)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_strict_names_the_first_bad_line_whatever_its_kind(write: Write) -> None:
    repeated_first = b"1 Q0 a 1 1 t\n1 Q0 a 1 1 t\n1 Q0 b 1 x t\n"
    assert error_of(lambda: trec.read_run(write(repeated_first))).line == 2
    malformed_first = b"1 Q0 a 1 1 t\n1 Q0 b 1 x t\n1 Q0 a 1 1 t\n"
    assert error_of(lambda: trec.read_run(write(malformed_first))).line == 2
    two_kinds = b"1 Q0 a b 1 x t\n1 Q0 b 1 x t\n"  # a blank inside an id: the width is what is wrong
    assert error_of(lambda: trec.read_run(write(two_kinds))).reason == "expected 6 columns, found 7"


def test_one_warning_sums_up_all_reasons(write: Write) -> None:
    data = b"1 Q0 a 1 x t\n1 Q0 a 1 1 t more\n1 Q0 a 1 2 t\n1 Q0 b 1 x t\n1 Q0\n1 Q0 c 1 nan t more\n"
    path = write(data)
    with pytest.warns(InputWarning) as caught:
        run = trec.read_run(path, strict=False)
    assert rows_of(run) == [("1", "a", 2.0)]
    assert [(part.reason, part.n_lines, part.first_line) for part in run.skipped] == [
        ("skipped, score is not a number", 2, 1),
        ("used the first six columns", 1, 2),  # a line that was skipped for its score does not count
        ("skipped, fewer than six columns", 1, 5),
        ("skipped, score is NaN", 1, 6),
        ("skipped, document repeated in its topic (best score kept)", 1, 3),
    ]
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith(
        f"{path}: 2 lines skipped, score is not a number (first: line 1); 1 line used the first"
    )


@pytest.mark.parametrize("strict", [True, False])
def test_lenient_on_a_good_file_changes_nothing(write: Write, strict: bool) -> None:
    assert rows_of(trec.read_run(write(PLAIN), strict=strict)) == PLAIN_ROWS


def test_qrels_in_all_their_plain_forms(write: Write) -> None:
    data = b"\xef\xbb\xbf 1\t0  a -2\r\n\r\nMB01 Q0 b 4\r\n1 x c +1"
    assert judgments_of(trec.read_qrels(write(data))) == [("1", "a", -2), ("MB01", "b", 4), ("1", "c", 1)]


def test_qrels_without_a_relevant_document_are_read(write: Write) -> None:
    assert judgments_of(trec.read_qrels(write(b"1 0 a 0\n"))) == [("1", "a", 0)]


# --- the name of a run ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("input.8manexT3D1N0", "8manexT3D1N0"),
        ("input.1", "1"),
        ("bm25.v1", "bm25.v1"),
        ("bm25.v1.run", "bm25.v1"),
        ("bm25.txt.gz", "bm25"),
        ("bm25.RUN.XZ", "bm25.RUN"),
        ("input.a.res.zst", "a"),
        ("a.trec.run", "a.trec"),
        ("a.gz.gz", "a.gz"),
        ("input.", "input."),
        ("input.input.a", "input.a"),
        ("my run.txt", "my run"),
        ("plain", "plain"),
    ],
)
def test_run_id_of_a_file(tmp_path: Path, name: str, run_id: str) -> None:
    path = tmp_path / name
    path.write_bytes(PLAIN)  # the name alone makes no compressed file
    assert trec.read_run(path).run_id == run_id


def test_run_id_of_a_tag(write: Write) -> None:
    assert trec.read_run(write(PLAIN), id_from="tag").run_id == "t"
    assert trec.read_run(write(PLAIN), id_from="tag", run_id="given").run_id == "given"
    with pytest.warns(InputWarning):
        run = trec.read_run(write(PLAIN.replace(b"2.5 t", b"2.5 t x")), id_from="tag", strict=False)
    assert run.run_id == "t"


@pytest.mark.parametrize("strict", [True, False])
def test_several_tags_name_no_run(write: Write, strict: bool) -> None:
    path = write(b"1 Q0 a 1 4 t\n1 Q0 b 1 3 u\n1 Q0 c 1 2 v\n1 Q0 d 1 1 w\n")
    error = error_of(lambda: trec.read_run(path, id_from="tag", strict=strict))
    assert error.path == path
    assert error.reason == "holds 4 tags ('t', 'u', 'v', …) where one was to name the run"
    assert error.hint == 'split the file, or name the run by its file (id_from="file")'
    assert trec.read_run(path, id_from="tag", run_id="x").run_id == "x"


def test_unknown_source_of_a_name_is_refused(write: Write) -> None:
    with pytest.raises(ValueError, match="id_from is 'file' or 'tag', not 'tags'"):
        trec.read_run(write(PLAIN), id_from="tags")  # type: ignore[arg-type]


def test_a_run_shows_itself_briefly(write: Write) -> None:
    assert repr(trec.read_run(write(PLAIN))) == "<Run a: 3 documents, 2 topics>"
    assert repr(trec.read_qrels(write(b"1 0 a 1\n"))) == "<Qrels: 1 judgments, 1 topic>"


# --- files that cannot be read ----------------------------------------------------------------------------

READERS: dict[str, Callable[[Path], object]] = {
    "run": trec.read_run,
    "lenient run": lambda path: trec.read_run(path, strict=False),
    "runs": trec.read_runs,
    "qrels": trec.read_qrels,
    "lenient qrels": lambda path: trec.read_qrels(path, strict=False),
    "organizations": trec.read_organizations,
}
every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
every_compression = pytest.mark.parametrize("kind", COMPRESS)


@every_reader
@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b" \t\r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), lzma.compress(b"\n")]
)
def test_file_without_a_line(write: Write, read: Callable[[Path], object], data: bytes) -> None:
    path = write(data)
    error = error_of(lambda: read(path))
    assert (error.path, error.reason) == (path, "is empty")
    assert error.hint


@every_reader
@pytest.mark.parametrize("data", [b"1 Q0 \0 1 1 t\n", "1 Q0 a 1 1 t\n".encode("utf-16"), bytes(100)])
def test_binary_file(write: Write, read: Callable[[Path], object], data: bytes) -> None:
    path = write(data)
    error = error_of(lambda: read(path))
    assert (error.path, error.reason) == (path, "is binary or UTF-16 (it holds NUL bytes)")
    assert error.hint == "give UTF-8 or Latin-1 text, plain or as .gz, .xz or .zst"


@every_reader
def test_missing_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "nowhere"
    error = error_of(lambda: read(path))
    assert error.path == path
    assert error.reason in ("no such file", "no such file or folder")
    assert error.hint == "check the path"


@pytest.mark.parametrize("read", [trec.read_run, trec.read_qrels, trec.read_organizations])
def test_folder_where_a_file_is_expected(tmp_path: Path, read: Callable[[Path], object]) -> None:
    error = error_of(lambda: read(tmp_path))
    assert (error.path, error.reason) == (tmp_path, "is a folder where a file is expected")
    assert error.hint == "name a file inside it"


@every_reader
def test_path_through_a_file(write: Write, read: Callable[[Path], object]) -> None:
    path = write(PLAIN) / "inside"
    assert error_of(lambda: read(path)).path == path


@every_reader
def test_permission_denied(
    write: Write, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(PLAIN)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything, so no mode bits can show it
    error = error_of(lambda: read(path))
    assert (error.path, error.reason, error.hint) == (
        path,
        "permission denied",
        "make it readable for this user",
    )


@every_reader
def test_input_error_of_the_disk(
    write: Write, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(PLAIN)

    def fail(self: Path) -> bytes:
        raise OSError(5, "Input/output error", str(self))

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert error_of(lambda: read(path)).reason == "cannot be read (Input/output error)"


@every_reader
@every_compression
@pytest.mark.parametrize("damage", ["truncated", "no end", "flipped"])
def test_damaged_compressed_file(
    write: Write, read: Callable[[Path], object], kind: str, damage: str
) -> None:
    lines = b"".join(b"%d Q0 doc%d 1 %d.5 t\n" % (i % 7, i * i, -i) for i in range(2000))
    whole = (
        zstandard.ZstdCompressor(write_checksum=True).compress(lines)
        if kind == "zstd"
        else COMPRESS[kind](lines)
    )
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 8]) + whole[middle + 8 :]
    path = write({"truncated": whole[:middle], "no end": whole[:-4], "flipped": flipped}[damage])
    error = error_of(lambda: read(path))
    assert error.path == path
    assert error.reason.startswith(f"the {kind} data are truncated or damaged (")
    assert error.hint == "copy or download the file again"


def test_no_usable_line_is_an_error_even_when_lenient(write: Write) -> None:
    path = write(b"this is\nno run\n1 Q0 a 1 x t\n")
    error = error_of(lambda: trec.read_run(path, strict=False))
    assert error.path == path
    reason = "no line can be used (skipped, fewer than six columns; skipped, score is not a number)"
    assert error.reason == reason
    assert error.hint == "a run file has six columns: query_id iteration doc_id rank score tag"
    error = error_of(lambda: trec.read_qrels(write(b"1 0 a x\n"), strict=False))
    assert error.reason == "no line can be used (skipped, relevance is not an integer)"
    assert error.hint == "a qrels file has four columns: query_id iteration doc_id relevance"


def test_qrels_given_as_a_run_and_the_reverse(write: Write) -> None:
    assert error_of(lambda: trec.read_run(write(b"1 0 a 1\n"))).reason == "expected 6 columns, found 4"
    assert error_of(lambda: trec.read_qrels(write(PLAIN))).reason == "expected 4 columns, found 6"


@pytest.mark.skipif(os.name != "posix", reason="named pipes are of POSIX")
@pytest.mark.parametrize(
    ("read", "data"),
    [
        (trec.read_run, PLAIN),
        (trec.read_runs, gzip.compress(PLAIN, mtime=0)),
        (trec.read_qrels, b"1 0 a 1\n"),
        (trec.read_organizations, b"run_id,organization\na,A\n"),
    ],
)
def test_a_pipe_is_read_once(tmp_path: Path, read: Callable[[Path], object], data: bytes) -> None:
    pipe = tmp_path / "pipe"  # as the shell's <(zcat my.run.Z) is one
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    assert read(pipe)
    writer.join(timeout=10)
    assert not writer.is_alive()


# --- compressed files -------------------------------------------------------------------------------------


@every_compression
@pytest.mark.parametrize("name", ["a.run", "a.run.gz", "a.run.zst"])
def test_compression_is_seen_in_the_bytes_not_in_the_name(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESS[kind](b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n")))
    run = trec.read_run(path)
    assert rows_of(run) == PLAIN_ROWS
    assert run.run_id == "a"


@every_compression
def test_pieces_compressed_one_by_one_are_one_file(write: Write, kind: str) -> None:
    first, rest = PLAIN[:30], PLAIN[30:]
    assert rows_of(trec.read_run(write(COMPRESS[kind](first) + COMPRESS[kind](rest)))) == PLAIN_ROWS


def test_zstd_without_a_stated_size_and_with_a_skippable_frame(write: Write) -> None:
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    skippable = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"any"
    assert rows_of(trec.read_run(write(skippable + stream.compress(PLAIN) + stream.flush()))) == PLAIN_ROWS


@every_compression
def test_compressed_qrels_and_organizations(write: Write, kind: str) -> None:
    assert judgments_of(trec.read_qrels(write(COMPRESS[kind](b"1 0 a 1\n")))) == [("1", "a", 1)]
    assert trec.read_organizations(write(COMPRESS[kind](b"run_id,organization\na,A\n"))) == {"a": "A"}


# --- the fast path and the tolerant one agree -------------------------------------------------------------

ids = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\t\n\v\f\r \ufeff"),
    min_size=1,
    max_size=8,
)
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
    keys = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=12, unique=True))
    for query_id, doc_id in keys:
        fields = [query_id, draw(ids), doc_id, draw(ranks)]
        if columns == 6:
            fields += [draw(numbers), draw(ids)]
        text += "".join(field + draw(delimiters) for field in fields[:-1]) + fields[-1] + draw(ends)
    return text


def assert_alike(text: bytes, layout: Layout) -> None:
    fast = parse_fast(text, layout)
    slow = parse_tolerantly(text, Path("x"), layout, strict=True)
    assert fast is not None, "the fast path gave up on a good file"
    assert fast.query_id.to_pylist() == slow.query_id.to_pylist()
    assert fast.doc_id.to_pylist() == slow.doc_id.to_pylist()
    assert fast.query_id.dictionary.to_pylist() == slow.query_id.dictionary.to_pylist()
    assert (fast.score is None) == (slow.score is None)
    if fast.score is not None and slow.score is not None:
        assert fast.score.tobytes() == slow.score.tobytes(), "not equal bit for bit"
    assert (fast.integer is None) == (slow.integer is None)
    if fast.integer is not None and slow.integer is not None:
        assert fast.integer.tolist() == slow.integer.tolist()
    assert sorted(fast.tags) == sorted(slow.tags)
    assert fast.skipped == slow.skipped == ()


@given(lines_of(columns=6))
@example("1 0 a 1 1 t\n 2\t0 a 1 -0 t")
def test_paths_agree_on_runs(text: str) -> None:
    assert_alike(text.encode(), RANKED_RUN)
    assert_alike(text.encode(), run_layout(ranks=False, tag=True))


@given(st.data())
def test_paths_agree_on_qrels(data: st.DataObject) -> None:
    small = data.draw(st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=12))
    text = "".join(f"q{i % 3} 0 d{i} {relevance}\n" for i, relevance in enumerate(small))
    assert_alike(text.encode(), QRELS)


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


def test_paths_agree_across_the_blocks_of_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"".join(b"%d Q0 d%d %d %d.25 t\n" % (i // 100, i * 7 % 450, i, -i) for i in range(3000))
    lines = b"\n".join(dict.fromkeys(lines.split(b"\n")))
    kept = {tuple(line.split()[:3:2]): line for line in lines.split(b"\n") if line}
    text = b"\n".join(kept.values())
    monkeypatch.setattr("bayespool.trec.lines._BLOCK_BYTES", 1000)
    assert_alike(text, RANKED_RUN)
    assert_alike(text, run_layout(ranks=False, tag=True))


def test_a_line_longer_than_a_block_is_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayespool.trec.lines._BLOCK_BYTES", 1000)
    name = "d" * 5000
    data = b"".join(b"1 Q0 %s%d 1 1 t\n" % (name.encode(), i) for i in range(3))
    assert trec.read_run(write(data)).doc_id.to_pylist() == [f"{name}{i}" for i in range(3)]


# --- finding files, reading many --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder with the runs a, b and c, a hidden file and a folder with the run d."""
    folder = tmp_path / "runs"
    (folder / "deeper").mkdir(parents=True)
    for name in ("input.b", "input.a.gz", "c.run", ".hidden", "deeper/d.run"):
        (folder / name).write_bytes(gzip.compress(PLAIN) if name.endswith(".gz") else PLAIN)
    return folder


def names(source: trec.files.Source) -> list[str]:
    return [path.name for path in trec.find_files(source)]


def test_find_files(folder: Path) -> None:
    assert names(folder) == names(str(folder)) == ["c.run", "input.a.gz", "input.b"]
    assert names(folder / "input.b") == ["input.b"]
    assert names(f"{folder}/input.*") == names(folder / "input.*") == ["input.a.gz", "input.b"]
    assert names(f"{folder}/*") == ["c.run", "input.a.gz", "input.b"]
    assert names(f"{folder}/**/*.run") == ["c.run", "d.run"]
    assert names([folder / "deeper", f"{folder}/c.*", str(folder / "input.b")]) == [
        "c.run",
        "d.run",
        "input.b",
    ]
    assert names(path for path in [folder]) == ["c.run", "input.a.gz", "input.b"]


def test_a_file_named_twice_is_found_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert names([folder, folder / "c.run", "c.run", "./c.run", "*.run"]) == [
        "c.run",
        "input.a.gz",
        "input.b",
    ]


def test_a_link_is_a_file_of_its_own(folder: Path) -> None:
    (folder / "other.run").symlink_to(folder / "c.run")
    assert [run.run_id for run in trec.read_runs(folder)] == ["c", "a", "b", "other"]


def test_a_path_that_exists_is_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "run[1]").write_bytes(PLAIN)
    (tmp_path / "run1").write_bytes(PLAIN)
    assert names(tmp_path / "run[1]") == ["run[1]"]


def test_home_is_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    assert names("~/c.run") == ["c.run"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("empty", "no file in this folder"),
        ("nowhere", "no such file or folder"),
        ("nowhere/*.run", "no file matches this pattern"),
        ("*", "no file matches this pattern"),
    ],
)
def test_nothing_found(tmp_path: Path, source: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").write_bytes(PLAIN)
    path = tmp_path / source
    forms: list[trec.files.Source] = [path, str(path), [path]]
    for form in forms:
        error = error_of(partial(trec.find_files, form))
        assert (error.path, error.reason) == (path, reason)
        assert error.hint


def test_no_source_at_all() -> None:
    assert error_of(lambda: trec.find_files([])).reason == "no file is named"


def test_too_long_a_name_is_no_traceback() -> None:
    assert error_of(lambda: trec.find_files("x" * 5000)).reason.startswith(
        ("cannot be looked at", "no such file")
    )


def test_runs_come_in_the_order_of_their_names_with_progress(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    runs = trec.read_runs(folder, progress=lambda done, total: seen.append((done, total)))
    assert [run.run_id for run in runs] == ["c", "a", "b"]
    assert [run.path for run in runs] == list(trec.find_files(folder))
    assert all(rows_of(run) == PLAIN_ROWS for run in runs)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_options_reach_every_run(folder: Path) -> None:
    for name in ("c.run", "input.b"):
        (folder / name).write_bytes(PLAIN.replace(b" t\n", b" tag-of-%s\n" % name.encode()))
    runs = trec.read_runs([folder / "c.run", folder / "input.b"], id_from="tag", ranks=True)
    assert [run.run_id for run in runs] == ["tag-of-c.run", "tag-of-input.b"]
    assert [run.rank.tolist() for run in runs if run.rank is not None] == [[1, 2, 1]] * 2


def test_two_runs_of_one_name(folder: Path) -> None:
    (folder / "a.run").write_bytes(PLAIN)
    error = error_of(lambda: trec.read_runs(folder))
    assert error.path == folder / "input.a.gz"
    assert error.reason == f"holds a run named 'a', as does {folder / 'a.run'}"
    assert error.hint == "rename one, or leave one out"
    assert "'t'" in error_of(lambda: trec.read_runs(folder / "*.run", id_from="tag")).reason


def test_the_first_bad_file_is_the_error(folder: Path) -> None:
    (folder / "input.a.gz").write_bytes(b"1 Q0 a 1 x t\n")
    (folder / "input.b").write_bytes(b"nothing\n")
    before = threading.active_count()
    error = error_of(lambda: trec.read_runs(folder))
    assert (error.path, error.line) == (folder / "input.a.gz", 1)
    assert threading.active_count() == before, "reader threads are left"


def test_lenient_warns_once_per_file(folder: Path) -> None:
    for name in ("c.run", "input.b"):
        (folder / name).write_bytes(PLAIN + b"bad\nworse\n")
    with pytest.warns(InputWarning) as caught:
        runs = trec.read_runs(folder, strict=False)
    assert [str(warning.message) for warning in caught] == [
        f"{folder / name}: 2 lines skipped, fewer than six columns (first: line 4)"
        for name in ("c.run", "input.b")
    ]
    assert {warning.filename for warning in caught} == {__file__}
    assert [len(run.skipped) for run in runs] == [1, 0, 1]


def test_reading_can_be_interrupted(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"{i:02}.run").write_bytes(PLAIN)
    before = threading.active_count()

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trec.read_runs(tmp_path, progress=interrupt)
    assert threading.active_count() == before, "reader threads are left"


# --- organizations ----------------------------------------------------------------------------------------

XML = b"""<?xml version="1.0"?>
<set>
  <runs><tag>b</tag><organization>Univ. of X &amp; Y</organization></runs>
  <runs><tag> a </tag><organization>Z</organization></runs>
</set>
"""
ORGANIZATIONS = {
    "plain": (b"run_id,organization\nb,B\na,A\n", {"b": "B", "a": "A"}),
    "other order, other columns": (b"year,Organization,RUN_ID\n1999,B,b\n1999,A,a\n", {"b": "B", "a": "A"}),
    "run": (b"run,organization\na,A\n", {"a": "A"}),
    "tag": (b"tag,organization\na,A\n", {"a": "A"}),
    "run_id before tag": (b"tag,run_id,organization\nx,a,A\n", {"a": "A"}),
    "byte order mark, CRLF": (b"\xef\xbb\xbfrun_id,organization\r\na,A\r\n", {"a": "A"}),
    "quotes": (b'run_id,organization\n"a","X, ""Y"""\n', {"a": 'X, "Y"'}),
    "blanks and blank lines": (b"\n run_id , organization \n\n a , A b \n , \n", {"a": "A b"}),
    "same line twice": (b"run_id,organization\na,A\na,A\n", {"a": "A"}),
    "Latin-1": ("run_id,organization\na,Zürich\n".encode("latin-1"), {"a": "Zürich"}),
    "UTF-8": ("run_id,organization\na,Zürich\n".encode(), {"a": "Zürich"}),
    "XML": (XML, {"b": "Univ. of X & Y", "a": "Z"}),
    "XML of another encoding": (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
        "<set><runs><tag>a</tag><organization>Zürich</organization></runs></set>".encode("latin-1"),
        {"a": "Zürich"},
    ),
    "XML with a byte order mark": (b"\xef\xbb\xbf" + XML, {"b": "Univ. of X & Y", "a": "Z"}),
}


@pytest.mark.parametrize(("data", "organizations"), ORGANIZATIONS.values(), ids=ORGANIZATIONS)
def test_organizations(write: Write, data: bytes, organizations: dict[str, str]) -> None:
    found = trec.read_organizations(write(data))
    assert found == organizations
    assert list(found) == list(organizations)


BAD_ORGANIZATIONS = {
    "no header": (b"a,A\n", 1, "the header names 'a, A', not run_id and organization"),
    "no organization in the header": (b"\nrun_id,org\na,A\n", 2, "the header names 'run_id, org', not"),
    "empty organization": (b"run_id,organization\n\na,\n", 3, "run 'a' has no organization"),
    "empty run": (b"run_id,organization\n,A\n", 2, "no run id beside organization 'A'"),
    "two organizations": (
        b"run_id,organization\na,A\nb,B\na,B\n", 4, "run 'a' belongs to 'B' here and to 'A' on line 2",
    ),
    "comma in a name": (b"run_id,organization\na,X, Y\n", 2, "expected 2 columns as in the header, found 3"),
    "too few columns": (b"run_id,organization\na\n", 2, "expected 2 columns as in the header, found 1"),
    "quote left open": (b'run_id,organization\na,"A\n', 2, "is no proper CSV (unexpected end of data)"),
    "header only": (b"run_id,organization\n", None, "lists no run"),
    "XML cut off": (XML[:60], 3, "is no well-formed XML ("),
    "XML with Latin-1 undeclared": (b"<set>\n<runs>\xfc</runs></set>", 2, "is no well-formed XML ("),
    "XML of an unknown encoding": (b'<?xml version="1.0" encoding="nonsense"?><set/>', None, "has an encod"),
    "XML without runs": (b"<set><run/></set>", None, "lists no run"),
    "XML, empty organization": (XML.replace(b"Z", b" "), None, "run 'a' has no organization"),
    "XML, no organization": (b"<set><runs><tag>a</tag></runs></set>", None, "run 'a' has no organization"),
    "XML, empty tag": (XML.replace(b" a ", b""), None, "no run id beside organization 'Z'"),
    "XML, two organizations": (XML.replace(b" a ", b"b"), None, "run 'b' belongs to 'Z' here and to"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "line", "reason"), BAD_ORGANIZATIONS.values(), ids=BAD_ORGANIZATIONS)
def test_bad_organizations(write: Write, data: bytes, line: int | None, reason: str) -> None:
    path = write(data)
    error = error_of(lambda: trec.read_organizations(path))
    assert error.path == path
    assert error.line == line
    assert error.reason.startswith(reason)


# --- frames, dictionaries, named tuples -------------------------------------------------------------------

Untopical = namedtuple("Untopical", ["doc_id", "score"])
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
FRAME = pd.DataFrame(
    {"query_id": ["101", "101", "102"], "doc_id": ["d1", "d2", "d1"], "score": [3.5, 2.5, 0.5]}
)
RUN_OBJECTS: dict[str, Any] = {
    "frame": FRAME,
    "frame of objects": FRAME.astype({"query_id": object, "doc_id": object}),
    "frame of strings": FRAME.astype({"query_id": "string", "doc_id": "string"}),
    "frame of Arrow strings": FRAME.astype({"query_id": "string[pyarrow]", "doc_id": "string[pyarrow]"}),
    "frame of categories": FRAME.astype({"query_id": "category", "doc_id": "category"}),
    "frame with integer topics": FRAME.astype({"query_id": int}),
    "frame with nullable numbers": FRAME.astype({"query_id": "Int64", "score": "Float64"}),
    "frame with another index": FRAME.set_index(pd.Index([7, 7, 7])),
    "PyTerrier's names": FRAME.set_axis(["qid", "docno", "score"], axis=1).assign(query="words"),
    "ranx's names": FRAME.set_axis(["q_id", "doc_id", "score"], axis=1),
    "other names": FRAME.set_axis(["topic", "docid", "sim"], axis=1),
    "dictionary": {"101": {"d1": 3.5, "d2": 2.5}, "102": {"d1": 0.5}},
    "dictionary with integer topics": {101: {"d1": 3.5, "d2": 2.5}, np.int64(102): {"d1": np.float32(0.5)}},
    "named tuples": [ScoredDoc(*row) for row in PLAIN_ROWS],
}


@pytest.mark.parametrize("frame", RUN_OBJECTS.values(), ids=RUN_OBJECTS)
def test_run_from_an_object(frame: Any) -> None:
    run = trec.run_from_frame(frame, "mine")
    assert rows_of(run) == PLAIN_ROWS
    assert run.run_id == "mine"
    assert (run.rank, run.path, run.skipped) == (None, None, ())
    assert run.query_id.type == pa.dictionary(pa.int32(), pa.string())
    assert run.doc_id.type == pa.string()
    assert run.score.dtype == np.float64


def test_run_from_a_generator() -> None:
    assert rows_of(trec.run_from_frame((ScoredDoc(*row) for row in PLAIN_ROWS), "x")) == PLAIN_ROWS


def test_run_with_ranks_from_a_frame() -> None:
    run = trec.run_from_frame(FRAME.assign(rank=[0.0, 1.0, 0.0]), "mine")
    assert run.rank is not None
    assert run.rank.tolist() == [0, 1, 0]
    assert run.rank.dtype == np.int32


def test_run_does_not_share_the_frame_memory() -> None:
    frame = FRAME.copy()
    run = trec.run_from_frame(frame, "mine")
    frame.loc[0, "score"] = -1.0
    assert run.score[0] == 3.5


QREL_ROWS = [("101", "d1", 1), ("101", "d2", -1), ("102", "d1", 0)]
QRELS_FRAME = pd.DataFrame(QREL_ROWS, columns=["query_id", "doc_id", "relevance"])
QRELS_OBJECTS: dict[str, Any] = {
    "frame": QRELS_FRAME,
    "frame of floats": QRELS_FRAME.astype({"relevance": float}),
    "PyTerrier's names": QRELS_FRAME.set_axis(["qid", "docno", "label"], axis=1),
    "other names": QRELS_FRAME.set_axis(["topic", "did", "rel"], axis=1),
    "dictionary": {"101": {"d1": 1, "d2": -1}, "102": {"d1": 0}},
    "named tuples": [Qrel(*row, "0") for row in QREL_ROWS],
}


@pytest.mark.parametrize("frame", QRELS_OBJECTS.values(), ids=QRELS_OBJECTS)
def test_qrels_from_an_object(frame: Any) -> None:
    qrels = trec.qrels_from_frame(frame)
    assert judgments_of(qrels) == QREL_ROWS
    assert qrels.relevance.dtype == np.int16
    assert qrels.path is None


def test_objects_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = trec.run_from_frame([ir_measures.ScoredDoc("1", "a", 0.5)], "x")
    assert rows_of(run) == [("1", "a", 0.5)]
    assert judgments_of(trec.qrels_from_frame([ir_measures.Qrel("1", "a", 2)])) == [("1", "a", 2)]


BAD_OBJECTS: dict[str, tuple[Any, str]] = {
    "no score": (
        FRAME.drop(columns="score"),
        "run x: no column score; it may be called score, sim; there are query_id",
    ),
    "no topic": (
        [Untopical("a", 1)],
        "run x: no column query_id; it may be called",
    ),
    "no rows": (FRAME.iloc[:0], "run x: no rows"),
    "empty dictionary": ({}, "run x: no rows"),
    "dictionary of nothing": ({"1": {}}, "run x: no rows"),
    "flat dictionary": (
        {"1": 0.5},
        "run x: a float under topic '1'; the form is {query_id: {doc_id: score}}",
    ),
    "empty list": ([], "run x: nothing to read in a list"),
    "path": ("a.run", "run x: nothing to read in a str; give a data frame"),
    "nothing": (None, "run x: nothing to read in a NoneType"),
    "plain tuples": ([("1", "a", 0.5)], "run x: tuple objects where named tuples are expected"),
    "score NaN": (FRAME.assign(score=[1.0, np.nan, 2.0]), "run x: score is NaN in row 2"),
    "score missing": (FRAME.assign(score=pd.array([1.0, pd.NA, 2.0], dtype="Float64")), "run x: score is "),
    "score no number": (FRAME.assign(score=["1", "x", "2"]), "run x: score is not a number in every row ("),
    "score None": ({"1": {"a": None}}, "run x: score is "),
    "id missing": (FRAME.assign(doc_id=pd.Series(["a", None, "b"], dtype="string")), "run x: doc_id is "),
    "id empty": (
        FRAME.assign(query_id=["a", "", "b"]),
        "run x: query_id is '' in row 2; ids are text or whole numbers",
    ),
    "id a float": (FRAME.assign(query_id=[101.0, 101.0, 102.0]), "run x: query_id is 101.0 in row 1"),
    "rank no integer": (
        FRAME.assign(rank=[1, 1.5, 2]),
        "run x: rank is 1.5 in row 2; it is an integer from -2,147",
    ),
    "rank infinite": (FRAME.assign(rank=[1, np.inf, 2]), "run x: rank is inf in row 2"),
    "document twice": (FRAME.assign(query_id="1"), "run x: document d1 is repeated in topic 1, in row 3"),
    "document twice as number and text": (
        {1: {"a": 1}, "1": {"a": 2}},
        "run x: document a is repeated in topic 1",
    ),
}


@pytest.mark.parametrize(("frame", "message"), BAD_OBJECTS.values(), ids=BAD_OBJECTS)
def test_bad_object(frame: Any, message: str) -> None:
    assert str(error_of(lambda: trec.run_from_frame(frame, "x"))).startswith(message)


@pytest.mark.parametrize("relevance", [0.5, 32768, -32769, np.inf])
def test_bad_relevance_in_an_object(relevance: float) -> None:
    error = error_of(lambda: trec.qrels_from_frame({"1": {"a": 0, "b": relevance}}))
    assert error.reason == f"qrels: relevance is {relevance:g} in row 2"
    assert error.hint == "it is an integer from -32,768 to 32,767"
    assert error_of(lambda: trec.qrels_from_frame({"1": {"a": 1, "b": np.nan}})).reason == (
        "qrels: relevance is NaN in row 2"
    )


# --- writing ----------------------------------------------------------------------------------------------

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
    assert (tmp_path / "out").read_bytes() == b"1 Q0 b 1 1.0 x\n1 Q0 a 2 2.0 x\n2 Q0 a 1 0.1 x\n"
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


@pytest.mark.parametrize("bad", ["", "a b", "a\tb", "a\nb", "a\rb", "a\vb", "\0", "\ufeffa"])
def test_an_id_that_would_not_be_read_back_is_not_written(tmp_path: Path, bad: str) -> None:
    old = tmp_path / "out"
    old.write_text("old")
    if bad:
        for data in ({bad: {"d": 1}}, {"q": {bad: 1}}):
            with pytest.raises(OutputError, match="is empty or has white space in it"):
                trec.write_run(trec.run_from_frame(data, "x"), old)
            with pytest.raises(OutputError, match="is empty or has white space in it"):
                trec.write_qrels(trec.qrels_from_frame(data), old)
    with pytest.raises(OutputError, match=r"run id .* is empty or has white space in it"):
        trec.write_run(trec.run_from_frame({"q": {"d": 1}}, bad), old)
    assert old.read_text() == "old"


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_a_name_that_promises_another_compression_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(OutputError, match=f"plain text or .gz, not {re.escape(suffix)}"):
        trec.write_organizations({"a": "A"}, tmp_path / f"x{suffix}")
    assert not list(tmp_path.iterdir())


# --- real collections -------------------------------------------------------------------------------------


def test_trec_2_lenient_counts(collections: Path) -> None:
    with pytest.warns(InputWarning) as caught:
        runs = trec.read_runs(collections / "trec2-adhoc" / "runs", strict=False)
    assert len(runs) == 38
    repeated = "skipped, document repeated in its topic (best score kept)"
    skipped = {run.run_id: {part.reason: part.n_lines for part in run.skipped} for run in runs if run.skipped}
    assert skipped == {
        "UREKA2": {repeated: 8},
        "UREKA3": {"skipped, fewer than six columns": 1, repeated: 1015},
        "citymf": {"used the first six columns": 1253, repeated: 32},
        "uicah": {repeated: 52},
    }
    assert len(caught) == 4
    n_lines = sum(
        sum(1 for line in path.read_bytes().split(b"\n") if line.strip())
        for path in trec.find_files(collections / "trec2-adhoc" / "runs")
    )
    assert sum(len(run.doc_id) for run in runs) == n_lines - 1 - 8 - 1015 - 32 - 52


@pytest.mark.parametrize(
    ("run_id", "line", "reason"),
    [
        ("UREKA3", 6012, "is repeated in topic 107 (first on line 6011)"),
        ("citymf", 1, "expected 6 columns, found 7"),
        ("uicah", 1218, "is repeated in topic 102 (first on line 1153)"),
        ("UREKA2", 6088, "is repeated in topic 107 (first on line 6087)"),
    ],
)
def test_trec_2_strict_names_the_line(collections: Path, run_id: str, line: int, reason: str) -> None:
    path = collections / "trec2-adhoc" / "runs" / f"input.{run_id}"
    error = error_of(lambda: trec.read_run(path))
    assert (error.path, error.line) == (path, line)
    assert error.reason.endswith(reason)


@pytest.mark.parametrize(
    ("name", "n_runs", "n_lines", "n_judgments", "n_organizations"),
    [
        ("trec8-adhoc", 129, 6_284_293, 86_830, 41),
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
