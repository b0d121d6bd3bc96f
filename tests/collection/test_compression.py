"""Decompressing piece by piece: what a small file can do to memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
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
from trec_files import PLAIN, refused

from bayespool import collection as trec
from bayespool.collection.files import compression_of, pieces


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


def test_kinds_are_told_and_files_one_after_another_are_one(tmp_path: Path) -> None:
    assert compression_of(PLAIN) is compression_of(b"") is None
    for kind, compress in COMPRESS.items():
        data = compress(PLAIN)
        assert compression_of(data) == kind
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
        assert "--max-file-size" in str(error.hint), kind
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


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("kind", ["zstd", pytest.param("xz", marks=pytest.mark.slow)])
def test_bomb_under_three_gib_ends_in_a_message(kind: str, tmp_path: Path) -> None:
    """It was a MemoryError in 13 GB, or an abort: 218 KB of xz, 137 KB of zst."""
    bomb(tmp_path, kind)
    done = limited(tmp_path)
    told = f"error: {tmp_path}/runs/a: holds more than 512 MiB of text; allow more with max_file_size"
    assert done.stderr.splitlines()[-1].startswith(told), done.stderr
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_bomb_that_is_allowed_ends_in_a_message_too(tmp_path: Path) -> None:
    bomb(tmp_path, "zstd")
    done = limited(tmp_path, "--max-file-size", "4000")
    told = f"error: {tmp_path}/runs/a: there is not enough memory to read it"
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
