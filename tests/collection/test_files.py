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
from trec_files import PLAIN, Write, refused

from bayespool import collection as trec
from bayespool.collection.files import Source, find_files

OF_ONE_FILE: list[Callable[[Path], object]] = [trec.read_run, trec.read_qrels, trec.read_organizations]
READERS: list[Callable[[Path], object]] = [
    *OF_ONE_FILE,
    trec.read_runs,
    partial(trec.read_run, strict=False),
    partial(trec.read_qrels, strict=False),
]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
EMPTY = [b"", b" \t\r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), lzma.compress(b"\n")]
BINARY = [b"1 Q0 \0 1 1 t\n", "1 Q0 a 1 1 t\n".encode("utf-16")]


def test_what_is_missing_a_folder_empty_or_of_bytes(tmp_path: Path, write: Write) -> None:
    for read in READERS:
        error = refused(read, tmp_path / "nowhere")
        assert (error.path, error.hint) == (tmp_path / "nowhere", "check the path"), read
        assert error.reason.startswith("no such file"), read
        assert refused(read, write(PLAIN) / "inside").path == tmp_path / "a.run" / "inside", read
        for part, files in (("is empty", EMPTY), ("binary or UTF-16", BINARY)):
            for data in files:
                error = refused(read, write(data))
                assert (error.path, bool(error.hint)) == (tmp_path / "a.run", True), (read, data)
                assert part in error.reason, (read, data)
    for read in OF_ONE_FILE:
        error = refused(read, tmp_path)
        assert (error.path, error.reason) == (tmp_path, "is a folder where a file is expected"), read


def test_errors_of_the_system(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(PLAIN)
    for kind, reason in (
        (PermissionError(13, "Permission denied"), "permission denied"),
        (OSError(5, "Input/output error"), "cannot be read (Input/output error)"),
    ):

        def fail(self: Path, kind: OSError = kind) -> bytes:
            raise kind

        monkeypatch.setattr(Path, "read_bytes", fail)  # root may read everything: no mode bits can show it
        error = refused(trec.read_run, path)
        assert (error.path, error.reason) == (path, reason)


def test_damaged_compressed_file(write: Write) -> None:
    lines = b"".join(b"%d Q0 doc%d 1 %d.5 t\n" % (i % 7, i * i, -i) for i in range(2000))
    for kind, compress in COMPRESS.items():
        whole = compress(lines)
        middle = len(whole) // 2
        turned = bytes(byte ^ 0xFF for byte in whole[middle : middle + 8])
        for damaged in (whole[:-4], whole[:middle] + turned + whole[middle + 8 :], whole[:middle]):
            path = write(damaged)
            error = refused(trec.read_run, path)
            assert error.path == path, kind
            assert error.reason.startswith(f"the {kind} data are truncated or damaged ("), kind


def test_no_usable_line_is_an_error_even_when_lenient(write: Write) -> None:
    error = refused(trec.read_run, write(b"this is\nno run\n1 Q0 a 1 x t\n"), strict=False)
    reason = "no line can be used (skipped, fewer than six columns; skipped, score is not a number)"
    assert error.reason == reason
    assert "six columns" in str(error.hint)
    assert "four columns" in str(refused(trec.read_qrels, write(b"1 0 a x\n"), strict=False).hint)


@pytest.mark.skipif(os.name != "posix", reason="named pipes, sockets and devices are of POSIX")
def test_what_is_no_file(tmp_path: Path) -> None:
    """A reader of /dev/zero would fill the memory, one of a pipe that nobody writes into wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    cases = {tmp_path / "pipe": "pipe", tmp_path / "socket": "socket", Path("/dev/zero"): "device"}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for read in READERS:
            for path, name in cases.items():
                error = refused(read, path)
                assert (error.path, error.reason) == (path, f"is a {name} where a file is expected"), read


def names(source: Source) -> list[str]:
    return [path.name for path in find_files(source)]


def test_find_files(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = ["c.run", "input.a.gz", "input.b"]
    assert names(folder) == names(str(folder)) == names(f"{folder}/*") == every
    assert names(f"{folder}/input.*") == names(folder / "input.*") == ["input.a.gz", "input.b"]
    assert names(f"{folder}/**/*.run") == ["c.run", "d.run"]
    several: Source = [folder / "deeper", f"{folder}/c.*", str(folder / "input.b")]
    assert names(several) == ["c.run", "d.run", "input.b"]
    monkeypatch.chdir(folder)
    assert names([folder, folder / "c.run", "c.run", "./c.run", "*.run"]) == every  # each once
    for name in ("run[1]", "run1"):
        (tmp_path / name).write_bytes(PLAIN)
    assert names(tmp_path / "run[1]") == ["run[1]"]  # a path that exists is no pattern
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(folder))
    assert names("~/c.run") == ["c.run"]


def test_nothing_found(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").write_bytes(PLAIN)
    for source, reason in {
        "empty": "no file in this folder",
        "nowhere": "no such file or folder",
        "nowhere/*.run": "no file matches this pattern",
    }.items():
        for form in (tmp_path / source, str(tmp_path / source), [tmp_path / source]):
            error = refused(find_files, form)
            assert (error.path, error.reason) == (tmp_path / source, reason), form
            assert error.hint
    assert refused(find_files, []).reason == "no file is named"
    assert refused(find_files, "x" * 5000).reason.startswith(("cannot be looked at", "no such file"))
