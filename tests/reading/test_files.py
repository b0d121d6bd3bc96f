"""Files: found, opened, decompressed piece by piece, and refused where they cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from trec_files import PLAIN, Write, refused

from bayespool import reading as trec
from bayespool.reading import files
from bayespool.reading.files import Source, detect_compression, find_files, member_pieces, pieces
from bayespool.tables.files import expanded_limit

OF_ONE_FILE: list[Callable[[Path], object]] = [trec.read_run, trec.read_qrels, trec.read_organizations]
READERS: list[Callable[[Path], object]] = [
    *OF_ONE_FILE,
    trec.read_runs,
    partial(trec.read_run, strict=False),
    partial(trec.read_qrels, strict=False),
]
CHECKED: dict[str, Callable[[bytes], bytes]] = {
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
        for part, contents in (("is empty", EMPTY), ("binary or UTF-16", BINARY)):
            for data in contents:
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
    for kind, compress in CHECKED.items():
        whole = compress(lines)
        middle = len(whole) // 2
        turned = bytes(byte ^ 0xFF for byte in whole[middle : middle + 8])
        for damaged in (whole[:-4], whole[:middle] + turned + whole[middle + 8 :], whole[:middle]):
            path = write(damaged)
            error = refused(trec.read_run, path)
            assert error.path == path, kind
            assert error.reason.startswith(f"the {kind} data are truncated or damaged ("), kind


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


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_broken_link_among_runs_is_not_passed_over(folder: Path) -> None:
    (folder / "gone.run").symlink_to("nowhere")
    for source in (folder, f"{folder}/*.run"):
        assert "gone.run" in names(source)
    assert refused(trec.read_run, folder / "gone.run").reason == "no such file"


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
    assert "stays in the pool is given by its file" in str(refused(find_files, "nowhere").hint)
    assert refused(find_files, []).reason == "no file is named"
    assert refused(find_files, "x" * 5000).reason.startswith(("cannot be looked at", "no such file"))


def lz4_of(data: bytes) -> bytes:
    held = pa.BufferOutputStream()
    with pa.CompressedOutputStream(held, "lz4") as stream:
        stream.write(data)
    return bytes(held.getvalue())


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.ZstdCompressor().compress,
    "bzip2": bz2.compress,
    "lz4": lz4_of,
    "zip": lambda data: zipped(data, "a.run"),
}
MIB = 1 << 20

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from bayespool.cli import main
sys.argv[0] = "bayespool"
main()
"""


def bomb(folder: Path, kind: str) -> None:
    """1,500 MiB of one letter as a run, in pieces of 50 MiB after one another."""
    (folder / "runs").mkdir()
    (folder / "runs" / "a").write_bytes(COMPRESS[kind](b"a" * (50 * MIB)) * 30)
    (folder / "qrels.txt").write_bytes(b"1 0 d 1\n")
    assert (folder / "runs" / "a").stat().st_size < 2 * MIB


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_are_read_as_zipfile_reads_them_in_pieces(way: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = bytes(range(256)) * 2000
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", way) as archive:
        archive.writestr("a", text)
        archive.writestr("empty", b"")
    monkeypatch.setattr(files, "_PIECE_BYTES", 100_000)
    with zipfile.ZipFile(held) as archive:
        found = list(member_pieces(archive, archive.getinfo("a")))
        assert [len(piece) for piece in found] == [100_000] * 5 + [12_000]
        assert b"".join(found) == archive.read("a") == text
        assert list(member_pieces(archive, archive.getinfo("empty"))) == []
    for place in (60, 200):  # of the compressed text
        damaged = bytearray(held.getvalue())
        damaged[place] ^= 255
        with zipfile.ZipFile(io.BytesIO(damaged)) as archive, pytest.raises(files.DAMAGE):
            list(member_pieces(archive, archive.getinfo("a")))


def test_lzma_member_that_asks_for_memory() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", PLAIN)
    data = bytearray(held.getvalue())
    start = data.index(b"a") + 1  # of the member, after its name: four bytes, the properties, the dictionary
    data[start + 5 : start + 9] = (1 << 30).to_bytes(4, "little")
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        pytest.raises(lzma.LZMAError, match="Memory usage limit exceeded"),
    ):
        list(member_pieces(archive, archive.getinfo("a")))


def test_kinds_are_told_and_files_one_after_another_are_one(tmp_path: Path) -> None:
    assert detect_compression(PLAIN) is detect_compression(b"") is None
    for kind, compress in COMPRESS.items():
        data = compress(PLAIN)
        assert detect_compression(data) == kind
        n = 1 if kind == "zip" else 2
        assert b"".join(pieces(data * n, kind)) == PLAIN * n, kind
    # zstd without a stated size, and with a frame to skip; a name that says another kind
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    skippable = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"any"
    (tmp_path / "a.run.gz").write_bytes(skippable + stream.compress(PLAIN) + stream.flush())
    assert len(trec.read_run(tmp_path / "a.run.gz").doc_id) == 3


def test_reading_stops_at_the_limit_and_not_before(tmp_path: Path) -> None:
    line = b"1 Q0 a 1 0.5 t\n"
    path = tmp_path / "a.run"
    for kind, compress in COMPRESS.items():
        path.write_bytes(compress(line + b"\n" * (MIB - len(line))))
        assert len(trec.read_run(path, max_file_size=1).doc_id) == 1, kind
        path.write_bytes(compress(line + b"\n" * (MIB - len(line) + 1)))
        error = refused(trec.read_run, path, max_file_size=1)
        assert (error.path, error.reason) == (path, "holds more than 1 MiB of text"), kind
        assert "--reading max_file_size=" in str(error.hint), kind
        assert len(trec.read_run(path, max_file_size=2).doc_id) == 1, kind


def test_limit_holds_for_plain_files_that_take_no_disk(tmp_path: Path) -> None:
    path = tmp_path / "sparse.run"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    for read in (trec.read_run, trec.read_qrels, trec.read_organizations):
        assert refused(read, path).reason == "holds more than 512 MiB of text"


def test_xz_that_asks_for_more_memory_than_any_preset(tmp_path: Path) -> None:
    path = tmp_path / "a.run.xz"
    for exponent in (26, 29):
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << exponent}]
        path.write_bytes(lzma.compress(PLAIN, filters=filters))
        if exponent == 26:
            assert len(trec.read_run(path).doc_id) == 3
    reason = "the xz data are truncated or damaged (Memory usage limit exceeded)"
    assert refused(trec.read_run, path).reason == reason


def test_text_of_a_hundred_times_its_size_is_read_and_of_more_where_it_is_allowed(tmp_path: Path) -> None:
    """Sixteen MiB are read from any size: 0.5 MiB of zeros would be 600 bytes of bzip2."""
    path, line = tmp_path / "a.run", b"1 Q0 a 1 0.5 t\n"
    assert [expanded_limit(n) for n in (0, 1000, 10**6, 10**9)] == [1 << 24, 1 << 24, 10**8, 1 << 29]
    path.write_bytes(lzma.compress(line + b"\n" * (16 * MIB - len(line)), preset=0))
    assert len(trec.read_run(path).doc_id) == 1
    path.write_bytes(lzma.compress(line + b"\n" * (16 * MIB), preset=0))
    assert refused(trec.read_run, path).reason == "holds more than a hundred times its size"
    assert len(trec.read_run(path, max_file_size=513).doc_id) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("kind", ["zstd", pytest.param("xz", marks=pytest.mark.slow)])
def test_bomb_under_three_gib_ends_in_a_message(kind: str, tmp_path: Path) -> None:
    """It was a MemoryError in 13 GB, or an abort: 218 KB of xz, 137 KB of zst."""
    bomb(tmp_path, kind)
    done = limited(tmp_path)
    told = f"error: {tmp_path}/runs/a: holds more than a hundred times its size; unpack it"
    assert done.stderr.splitlines()[-1].startswith(told), done.stderr
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_bomb_that_is_allowed_ends_in_a_message_too(tmp_path: Path) -> None:
    bomb(tmp_path, "zstd")
    done = limited(tmp_path, "--reading", "max_file_size=4000")
    # with few threads there is room for the text, which is one line
    told = tuple(
        f"error: {tmp_path}/runs/a{why}" for why in (": there is not enough memory", ", line 1: is longer")
    )
    assert done.stderr.splitlines()[-1].startswith(told), done.stderr
    assert (done.returncode, done.stdout) == (1, "")


def limited(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Scores of runs in a folder, in a process that may take 3 GiB."""
    command = [
        sys.executable,
        "-c",
        LIMITED,
        "score",
        folder / "runs",
        "--qrels",
        folder / "qrels.txt",
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def zipped(data: bytes, *names: str) -> bytes:
    """A zip archive of files that all hold the same."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return held.getvalue()


def test_archives_of_one_file_and_of_several(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(PLAIN, "runs/", "runs/a.run", "__MACOSX/a.run"))
    assert (trec.read_run(path).run_id, len(trec.read_run(path).doc_id)) == ("a", 3)
    path.write_bytes(zipped(PLAIN, "a", "b"))
    error = refused(trec.read_run, path)
    assert (error.path, error.reason) == (path, "is a zip archive of 2 files where one is read")
    with tarfile.open(tmp_path / "a.run", "w") as archive:
        archive.add(path, "a.zip")
    for data in ((tmp_path / "a.run").read_bytes(), gzip.compress((tmp_path / "a.run").read_bytes())):
        path.write_bytes(data)
        error = refused(trec.read_run, path)
        assert (error.path, error.reason) == (path, "is a tar archive")
        assert "unpack" in str(error.hint)


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(PLAIN))))
    (run,) = trec.read_runs("-")
    assert (run.run_id, len(run.doc_id)) == ("stdin", 3)
    assert refused(trec.read_qrels, "-").reason == "standard input is empty, or was read before"
