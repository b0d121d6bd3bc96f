"""Find, read, decompress and decode input files."""

from __future__ import annotations

import bz2
import contextlib
import copy
import glob
import gzip
import io
import lzma
import os
import re
import stat
import struct
import sys
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from bayespool import interruption
from bayespool.errors import InputError, MemoryWarning, warn_caller
from bayespool.tables.files import MAX_FILE_SIZE, PathLike, read_back, readable_bytes

if interruption.ends_process:
    pa.enable_signal_handlers(False)  # they may take a signal without passing it on

_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # the first block, or the end of an empty file
_MAGIC_BYTES = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC_BYTES |= {b"\x04\x22\x4d\x18": "lz4", b"PK\x03\x04": "zip"}
_MAGIC_BYTES |= {b"BZh%d%b" % (n, end): "bzip2" for n in range(1, 10) for end in _BZIP2_BLOCKS}
_MAGIC_BYTES |= {bytes([0x50 + i, 0x2A, 0x4D, 0x18]): "zstd" for i in range(16)}  # skippable frames

_PIECE_BYTES = 1 << 24  # of text at a time
_TAR = slice(257, 262)  # where a tar archive says what it is
PARQUET = b"PAR1"
STDIN = Path("-")
"""Path that stands for standard input, which can be read only once."""
_XZ_MEMORY_BYTES = 1 << 28  # the strongest presets take a quarter of it; a file may ask for 4 GiB
_XZ_HEADER_BYTES = 12
_ZIP_LZMA_HEADER = 9  # version, number of bytes that follow, properties, size of the dictionary

DAMAGE = (
    EOFError,
    NotImplementedError,  # a compression that zipfile does not know
    OSError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions that `pieces` raises for truncated or damaged files."""


def detect_compression(data: bytes) -> str | None:
    """Return the compression format detected from a file's first bytes, or None."""
    return next((kind for start, kind in _MAGIC_BYTES.items() if data.startswith(start)), None)


def pieces(data: bytes, kind: str) -> Iterator[bytes]:
    """Yield the decompressed text in pieces of 16 MiB, or raise an error in `DAMAGE`."""
    if kind == "xz":
        return _xz(data)
    if kind == "zip":
        return _zip(data)
    file: Any = io.BytesIO(data)
    if kind == "gzip":
        file = gzip.GzipFile(fileobj=file)
    elif kind == "bzip2":
        file = bz2.BZ2File(file)
    else:
        file = pa.CompressedInputStream(pa.BufferReader(data), kind)
    return iter(partial(file.read, _PIECE_BYTES), b"")


def _xz(data: bytes) -> Iterator[bytes]:
    """Yield the decompressed text of xz streams with bounded memory."""
    is_first = True
    while data and (is_first or len(data) > _XZ_HEADER_BYTES):
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)
        try:
            piece = stream.decompress(data, _PIECE_BYTES)
        except lzma.LZMAError:
            if is_first:
                raise
            return  # the lzma module, too, ignores trailing bytes
        yield piece
        while not stream.eof:
            piece = stream.decompress(b"", _PIECE_BYTES)
            if not piece and stream.needs_input and not stream.eof:
                raise EOFError("the end is missing")
            yield piece
        data, is_first = stream.unused_data, False


def _zip(data: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
        if len(names) != 1:
            hint = "unpack it, and name the file or the folder"
            if "prepared.json" in names:
                hint = "it looks like a prepared collection: let its name end in .bayespool (--collection)"
            raise InputError(f"is a zip archive of {len(names)} files where one is read", hint=hint)
        yield from member_pieces(archive, archive.getinfo(names[0]))


def member_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the text of a member of a zip archive in pieces of 16 MiB, or raise an error in `DAMAGE`.

    zipfile itself decompresses bzip2 and LZMA without a limit.
    """
    raw, kind = copy.copy(entry), entry.compress_type
    is_unbounded = kind in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    if is_unbounded:  # read as it stands
        raw.compress_type, raw.file_size = zipfile.ZIP_STORED, entry.compress_size
        del raw.CRC
    try:
        with archive.open(raw) as file:
            if not is_unbounded:
                yield from iter(partial(file.read, _PIECE_BYTES), b"")
                return
            data = file.read()
    except RuntimeError as error:  # a password
        raise OSError(str(error)) from None
    stream: Any = bz2.BZ2Decompressor()
    if kind == zipfile.ZIP_LZMA:
        stream, data = _zip_lzma(data[:_ZIP_LZMA_HEADER]), data[_ZIP_LZMA_HEADER:]
    checksum, left = 0, entry.file_size
    while left > 0:
        piece, data = stream.decompress(data, min(left, _PIECE_BYTES)), b""
        if not piece:
            raise EOFError("the end is missing")
        checksum, left = zlib.crc32(piece, checksum), left - len(piece)
        yield piece
    if checksum != entry.CRC:
        raise zipfile.BadZipFile("the checksum is another")


def _zip_lzma(header: bytes) -> lzma.LZMADecompressor:
    """Return the decompressor for a member of a zip archive, with limited memory."""
    _, size, first, dictionary = struct.unpack("<HHBI", header)
    if size != _ZIP_LZMA_HEADER - 4 or dictionary > _XZ_MEMORY_BYTES:
        raise lzma.LZMAError("Memory usage limit exceeded")
    rest, lc = divmod(first, 9)
    pb, lp = divmod(rest, 5)
    parts = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[parts])


_HIDDEN_HINT = "hidden files and folders do not count"
_POOL_HINT = (
    "; --unpool scores a run of the pool by its name; a run that stays in the pool is given by its file"
)

Source = PathLike | Iterable[PathLike]

_BOM = b"\xef\xbb\xbf"
_MIB = 1 << 20
_KINDS = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}


def find_files(source: Source) -> tuple[Path, ...]:
    """Return the visible files that match paths, glob patterns or folders, without duplicates and by name.

    No match is an `InputError`.
    """
    parts = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not parts:
        raise InputError("no file is named", hint="give a file, a folder or a pattern")
    files = {os.path.abspath(path): path for part in parts for path in _find_part(part)}
    return tuple(sorted(files.values(), key=lambda path: (path.name, str(path))))


def _find_part(part: PathLike) -> list[Path]:
    path = Path(os.path.expanduser(part))  # which leaves the ~name of an unknown user
    if path == STDIN:
        return [path]
    try:
        return _files_at(path)
    except OSError as error:
        reason = f"cannot be looked at ({error.strerror or error})"
        raise InputError(reason, path=path, hint="check the path") from None


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        # a broken link is one, and refused when read: without its run the pool is another
        files = [child for child in path.iterdir() if not (child.is_dir() or child.name.startswith("."))]
        if not files:
            raise InputError("no file in this folder", path=path, hint=_HIDDEN_HINT)
        return files
    if path.exists():
        return [path]
    if glob.has_magic(str(path)):
        files = [match for name in glob.glob(str(path), recursive=True) if not (match := Path(name)).is_dir()]
        if files:
            return files
        raise InputError("no file matches this pattern", path=path, hint=_HIDDEN_HINT)
    pool_hint = _POOL_HINT if path.name == str(path) else ""
    raise InputError("no such file or folder", path=path, hint=f"check the path{pool_hint}")


def read_bytes(path: Path, *, max_size: int = MAX_FILE_SIZE, tables: bool = False) -> bytes:
    """Return the decompressed content of a file with at most ``max_size`` MiB, without byte order mark.

    A blank file is an `InputError`.

    They are a text, or with ``tables`` perhaps a Parquet file.
    """
    data = _stdin_bytes(max_size) if path == STDIN else _bytes_at(path, max_size)
    if kind := detect_compression(data):
        data = _decompressed(data, kind, path, max_size)
    if data[_TAR] == b"ustar":
        hint = "unpack it (tar -xf), and name a file or the folder"
        raise InputError("is a tar archive", path=path, hint=hint)
    if tables and data.startswith(PARQUET):
        return data
    if b"\0" in data:
        hint = "give UTF-8 or Latin-1 text, plain or as .gz, .xz, .zst, .bz2, .lz4 or .zip"
        raise InputError("is binary or UTF-16 (it holds NUL bytes)", path=path, hint=hint)
    data = data.removeprefix(_BOM)
    if not data or data.isspace():
        raise InputError("is empty", path=path, hint="write it again, or leave it out")
    return data


def _stdin_bytes(max_size: int) -> bytes:
    """Read standard input, which can be read only once."""
    data = sys.stdin.buffer.read(max_size * _MIB + 1)
    if len(data) > max_size * _MIB:
        raise _too_large(STDIN, max_size)
    if not data:
        hint = "write into it, and name - once; what is read twice has to be a file"
        raise InputError("standard input is empty, or was read before", path=STDIN, hint=hint)
    return data


def _bytes_at(path: Path, max_size: int) -> bytes:
    with regular_file(path) as size:
        if size > max_size * _MIB:
            raise _too_large(path, max_size)
        return path.read_bytes()


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[int]:
    """Give a file's size, and raise `InputError` where it cannot be read or is no file."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder where a file is expected", path=path, hint="name a file inside it")
        if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
            hint = "write what comes out of it into a file first"
            raise InputError(f"is a {kind} where a file is expected", path=path, hint=hint)
        yield status.st_size
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="check the path") from None
    except PermissionError:
        raise InputError("permission denied", path=path, hint="make it readable for this user") from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise InputError(reason, path=path, hint="check the path") from None


def read_text(path: Path, *, max_size: int = MAX_FILE_SIZE, tables: bool = False) -> bytes:
    r"""Return the content of a text file as UTF-8 bytes with ``\n`` line ends, or a Parquet file as it is."""
    data = read_bytes(path, max_size=max_size, tables=tables)
    return data if tables and data.startswith(PARQUET) else to_utf8(data)


_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")  # linear in the length of words


def read_toml(path: Path) -> tuple[dict[str, Any], Callable[[str], int | None]]:
    """Return the content of a TOML file, and a function that finds the line number for a top-level key."""
    text = read_text(path).decode()
    try:
        if _LONG_KEY.search(text):  # of which tomllib keeps each beginning
            raise ValueError("a key has more than a hundred parts")
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = re.search(r"at line (\d+)", str(error))
        number = int(place[1]) if place else None
        hint = 'write lines such as key = "value"'
        raise InputError(f"is no TOML: {error}", path=path, line=number, hint=hint) from None

    def line_of(key: str) -> int | None:
        plain = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[]=.]""")
        return next((i for i, line in enumerate(text.splitlines(), 1) if plain.match(line)), None)

    return content, line_of


@contextlib.contextmanager
def name_memory_error(path: Path) -> Iterator[None]:
    """Replace a MemoryError raised inside the block by an `InputError` that names the file."""
    try:
        yield
    except MemoryError:
        hint = "split it, or read it where there is more"
        raise InputError("there is not enough memory to read it", path=path, hint=hint) from None


def to_utf8(data: bytes) -> bytes:
    r"""Return text bytes as UTF-8 with ``\n`` line ends, decoded from UTF-8 or else Latin-1."""
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode("utf-8")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _decompressed(data: bytes, kind: str, path: Path, max_size: int) -> bytes:
    text, most = io.BytesIO(), readable_bytes(len(data), max_size)
    try:
        for piece in pieces(data, kind):
            if text.tell() + len(piece) > most:
                raise _too_large(path, max_size) if most == max_size * _MIB else _too_dense(path)
            text.write(piece)
    except InputError as error:
        raise InputError(error.reason, path=path, hint=error.hint) from None
    except DAMAGE as error:
        reason = f"the {kind} data are truncated or damaged ({str(error).rstrip('.')})"
        raise InputError(reason, path=path, hint="copy or download the file again") from None
    return text.getvalue()


def _too_large(path: Path, max_size: int) -> InputError:
    hint = "allow more with max_file_size (--reading max_file_size=…), if it is what you take it for"
    return InputError(f"holds more than {max_size:,} MiB of text", path=path, hint=hint)


def _too_dense(path: Path) -> InputError:
    hint = "unpack it, if it is what you take it for, and name the text"
    return InputError("holds more than a hundred times its size", path=path, hint=hint)


# pyarrow's own pool asks for huge pages, each filled at its first touch: on a virtual machine, whose host has
# yet to find that memory, this costs as much as all the parsing. The system's allocator takes small ones.
MEMORY = pa.system_memory_pool()
_MAX_BYTES_OF_32_BIT_OFFSETS = 2**31 - 1


def concatenated(ids: list[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """Return all document ids in one Arrow array, with 64-bit offsets if necessary."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MAX_BYTES_OF_32_BIT_OFFSETS:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)


# pyarrow gives up the GIL. Each thread holds a file and its columns, hence eight at most; more threads than
# processors would take more processor time for the same files.
N_THREADS = min(os.cpu_count() or 1, 8)


_PEAK_PER_RESULT = 4  # intermediate copies took four times the bytes of a result, and more


def free_memory() -> int:
    """Return the memory available to this process under system, container and process limits, in bytes."""
    return min(n for n in (_system_memory(), _container_memory(), _process_memory()) if n is not None)


def check_memory(n_bytes: int, subject: str, hint: str) -> None:
    """Raise `InputError` if work needs more memory than is free, or warn if it may need more."""
    free = free_memory()
    if n_bytes * _PEAK_PER_RESULT <= free:
        return
    message = f"{subject} take {_mib(n_bytes)} of memory at least, and {_mib(free)} are free"
    if n_bytes > free:
        raise InputError(message, hint=hint)
    warn_caller(f"{message}; should it run out, {hint}", MemoryWarning)


def _mib(n_bytes: int) -> str:
    return f"{-(-n_bytes // 2**20):,} MiB"


def _system_memory() -> int:
    return int(psutil.virtual_memory().available) + int(psutil.swap_memory().free)


def _container_memory() -> int | None:
    limit, used = (read_back(f"/sys/fs/cgroup/memory.{name}") or "" for name in ("max", "current"))
    return max(0, int(limit) - int(used)) if limit.strip().isdigit() and used.strip().isdigit() else None


def _process_memory() -> int | None:
    if not hasattr(psutil, "RLIMIT_AS"):  # of Linux and FreeBSD
        return None
    process = psutil.Process()
    limit, _ = process.rlimit(psutil.RLIMIT_AS)
    return None if limit == psutil.RLIM_INFINITY else max(0, int(limit) - int(process.memory_info().vms))
