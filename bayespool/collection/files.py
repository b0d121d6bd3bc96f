"""Find, open, decompress and decode input files."""

from __future__ import annotations

import contextlib
import glob
import lzma
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bayespool.errors import InputError
from bayespool.options import MAX_FILE_SIZE
from bayespool.tables.files import PathLike

_MAGIC_BYTES = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC_BYTES |= {bytes([0x50 + i, 0x2A, 0x4D, 0x18]): "zstd" for i in range(16)}  # skippable frames

_PIECE_BYTES = 1 << 24  # of text at a time
_XZ_MEMORY_BYTES = 1 << 28  # the strongest presets take a quarter of it; a file may request 4 GiB
_ZSTD_SLICE_BYTES = 1 << 10  # of the file at a time: 4 bytes may expand to a block of 128 KiB

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""Errors that `pieces` raises for truncated or damaged files."""


def compression_of(data: bytes) -> str | None:
    """Kind of compression by a file's first bytes, or None."""
    return next((kind for start, kind in _MAGIC_BYTES.items() if data.startswith(start)), None)


def pieces(data: bytes, kind: str) -> Iterator[bytes]:
    """Text of one or several concatenated compressed files, in pieces of some ten MiB; raises `DAMAGE`."""
    return {"gzip": _gzip, "xz": _xz, "zstd": _zstd}[kind](data)


def _gzip(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            piece = member.decompress(data, _PIECE_BYTES)
            data = member.unconsumed_tail
            if not piece and not data and not member.eof:
                raise EOFError("the end is missing")
            yield piece
        data = member.unused_data.lstrip(b"\0")  # gzip itself ignores padding with zeros


def _xz(data: bytes) -> Iterator[bytes]:
    is_first = True
    while data:
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


def _zstd(data: bytes) -> Iterator[bytes]:
    import zstandard

    decompressor, place = zstandard.ZstdDecompressor(), 0
    while place < len(data):
        frame = decompressor.decompressobj()
        while not frame.eof:
            if place >= len(data):
                raise EOFError("the end is missing")
            try:
                piece = frame.decompress(data[place : place + _ZSTD_SLICE_BYTES])
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from None
            place = min(place + _ZSTD_SLICE_BYTES, len(data)) - len(frame.unused_data)
            yield piece


_HIDDEN_HINT = "hidden files and folders do not count"

Source = PathLike | Iterable[PathLike]

_BOM = b"\xef\xbb\xbf"
_MIB = 1 << 20
_KINDS = (
    (stat.S_ISDIR, "a folder", "name a file inside it"),
    (stat.S_ISFIFO, "a pipe", "write what comes out of it into a file first"),
    (stat.S_ISSOCK, "a socket", "write what comes out of it into a file first"),
    (stat.S_ISCHR, "a device", "write what comes out of it into a file first"),
    (stat.S_ISBLK, "a device", "write what comes out of it into a file first"),
)


def find_files(source: Source) -> tuple[Path, ...]:
    """Visible files of a path, glob pattern or folder, or of several, each once, by name; at least one."""
    parts = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not parts:
        raise InputError("no file is named", hint="give a file, a folder or a pattern")
    files = {os.path.abspath(path): path for part in parts for path in _find_part(part)}
    return tuple(sorted(files.values(), key=lambda path: (path.name, str(path))))


def _find_part(part: PathLike) -> list[Path]:
    path = Path(part).expanduser()
    try:
        return _files_at(path)
    except OSError as error:
        reason = f"cannot be looked at ({error.strerror or error})"
        raise InputError(reason, path=path, hint="check the path") from None


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        files = [child for child in path.iterdir() if child.is_file() and not child.name.startswith(".")]
        if not files:
            raise InputError("no file in this folder", path=path, hint=_HIDDEN_HINT)
        return files
    if path.exists():
        return [path]
    if glob.has_magic(str(path)):
        files = [match for name in glob.glob(str(path), recursive=True) if (match := Path(name)).is_file()]
        if files:
            return files
        raise InputError("no file matches this pattern", path=path, hint=_HIDDEN_HINT)
    hint = "check the path" + (
        "; --unpool scores a run of the pool by its name" if path.name == str(path) else ""
    )
    raise InputError("no such file or folder", path=path, hint=hint)


def read_bytes(path: Path, *, max_size: int = MAX_FILE_SIZE) -> bytes:
    """Bytes of a file of at most ``max_size`` MiB, decompressed, without byte order mark; never blank."""
    try:
        status = path.stat()
        for is_kind, name, hint in _KINDS:
            if is_kind(status.st_mode):
                raise InputError(f"is {name} where a file is expected", path=path, hint=hint)
        if status.st_size > max_size * _MIB:
            raise _too_large(path, max_size)
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="check the path") from None
    except PermissionError:
        raise InputError("permission denied", path=path, hint="make it readable for this user") from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise InputError(reason, path=path, hint="check the path") from None
    if kind := compression_of(data):
        data = _decompressed(data, kind, path, max_size)
    if b"\0" in data:
        hint = "give UTF-8 or Latin-1 text, plain or as .gz, .xz or .zst"
        raise InputError("is binary or UTF-16 (it holds NUL bytes)", path=path, hint=hint)
    data = data.removeprefix(_BOM)
    if not data or data.isspace():
        raise InputError("is empty", path=path, hint="write it again, or leave it out")
    return data


def read_text(path: Path, *, max_size: int = MAX_FILE_SIZE) -> bytes:
    r"""Text of a file as UTF-8 with ``\n`` line ends; `read_bytes`, then `as_text`."""
    return as_text(read_bytes(path, max_size=max_size))


def read_toml(path: Path) -> tuple[dict[str, Any], Callable[[str], int | None]]:
    """Content of a TOML file, and the line of a key or its table at the top, where it is written plainly."""
    text = read_text(path).decode()
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        number = int(place[1]) if place else None
        hint = 'write lines such as key = "value"'
        raise InputError(f"is no TOML: {error}", path=path, line=number, hint=hint) from None

    def line_of(key: str) -> int | None:
        plain = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[]=.]""")
        return next((i for i, line in enumerate(text.splitlines(), 1) if plain.match(line)), None)

    return content, line_of


@contextlib.contextmanager
def enough_memory(path: Path) -> Iterator[None]:
    """Name the file in the error if memory does not suffice to read it."""
    try:
        yield
    except MemoryError:
        hint = "split it, or read it where there is more"
        raise InputError("there is not enough memory to read it", path=path, hint=hint) from None


def as_text(data: bytes) -> bytes:
    r"""Bytes as UTF-8 with ``\n`` line ends, from UTF-8 or else Latin-1; the same object if unchanged."""
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode("utf-8")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _decompressed(data: bytes, kind: str, path: Path, max_size: int) -> bytes:
    parts, size = [], 0
    try:
        for piece in pieces(data, kind):
            size += len(piece)
            if size > max_size * _MIB:
                raise _too_large(path, max_size)
            parts.append(piece)
    except DAMAGE as error:
        reason = f"the {kind} data are truncated or damaged ({str(error).rstrip('.')})"
        raise InputError(reason, path=path, hint="copy or download the file again") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(path: Path, max_size: int) -> InputError:
    hint = "allow more with max_file_size (--max-file-size), if it is what you take it for"
    return InputError(f"holds more than {max_size:,} MiB of text", path=path, hint=hint)
