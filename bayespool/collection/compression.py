"""Decompression piece by piece, so that a small file cannot fill the memory."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator

_KINDS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_KINDS |= {bytes([0x50 + i, 0x2A, 0x4D, 0x18]): "zstd" for i in range(16)}  # skippable frames

_PIECE_BYTES = 1 << 24  # of text at a time
_XZ_MEMORY_BYTES = 1 << 28  # the strongest presets take a quarter of it; a file may request 4 GiB
_ZSTD_SLICE_BYTES = 1 << 10  # of the file at a time: 4 bytes may expand to a block of 128 KiB

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""Errors that `pieces` raises for truncated or damaged files."""


def compression_of(data: bytes) -> str | None:
    """Kind of compression by a file's first bytes, or None."""
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)


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
