"""Files of runs and judgments: found, opened, decompressed, and refused where they cannot be read."""

from __future__ import annotations

import gzip
import lzma
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard
from trec_files import PLAIN, PLAIN_ROWS, Write, error_of, judgments_of, rows_of

from bayespool import collection as trec
from bayespool.collection.files import Source, find_files

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
    assert error.hint == "give UTF-8 or Latin-1 text, plain or as .gz, .xz, .zst, .bz2, .lz4 or .zip"


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


@pytest.mark.skipif(os.name != "posix", reason="named pipes, sockets and devices are of POSIX")
@every_reader
def test_what_is_no_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    """A reader of /dev/zero would fill the memory, one of a pipe that nobody writes into wait for ever."""
    pipe, place = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        cases = {
            pipe: "a pipe",
            place: "a socket",
            Path("/dev/zero"): "a device",
            Path("/dev/null"): "a device",
        }
        for path, name in cases.items():
            error = error_of(partial(read, path))
            assert (error.path, error.reason) == (path, f"is {name} where a file is expected")
            assert error.hint == "write what comes out of it into a file first"


@every_reader
def test_line_without_an_end(write: Write, read: Callable[[Path], object]) -> None:
    path = write(b"1 Q0 a 1 1 t\n" + b"a" * 2**20 + b"\n")
    error = error_of(lambda: read(path))
    assert error.path == path
    if READERS["run"] is read:
        assert (error.line, error.reason) == (2, "is longer than 1,048,576 bytes")


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


# --- finding files -----------------------------------------------------------------------------------------


def names(source: Source) -> list[str]:
    return [path.name for path in find_files(source)]


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
    forms: list[Source] = [path, str(path), [path]]
    for form in forms:
        error = error_of(partial(find_files, form))
        assert (error.path, error.reason) == (path, reason)
        assert error.hint


def test_no_source_at_all() -> None:
    assert error_of(lambda: find_files([])).reason == "no file is named"


def test_too_long_a_name_is_no_traceback() -> None:
    assert error_of(lambda: find_files("x" * 5000)).reason.startswith(("cannot be looked at", "no such file"))
