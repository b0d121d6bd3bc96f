"""Decompressing piece by piece, so that a small file cannot fill the memory."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator

_KINDS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_KINDS |= {bytes([0x50 + i, 0x2A, 0x4D, 0x18]): "zstd" for i in range(16)}  # frames to be passed over

_PIECE = 1 << 24  # bytes of text at a time
_XZ_MEMORY = 1 << 28  # the strongest presets of xz take a quarter of it; a file may ask for 4 GiB
_ZSTD_SLICE = 1 << 10  # of the file at a time: a block of 128 KiB may be 4 bytes long

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What `pieces` raises for a file that is truncated or damaged."""


def compression_of(data: bytes) -> str | None:
    """Kind of compression that a file's first bytes tell, or None."""
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)


def pieces(data: bytes, kind: str) -> Iterator[bytes]:
    """Text of a compressed file, at most some ten MiB at a time.

    Parameters
    ----------
    data : bytes
        The file, which may be several compressed ones after one another.
    kind : {"gzip", "xz", "zstd"}

    Yields
    ------
    bytes

    Raises
    ------
    EOFError, OSError, zlib.error, lzma.LZMAError
        As soon as a piece cannot be made.
    """
    return {"gzip": _gzip, "xz": _xz, "zstd": _zstd}[kind](data)


def _gzip(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            piece = member.decompress(data, _PIECE)
            data = member.unconsumed_tail
            if not piece and not data and not member.eof:
                raise EOFError("the end is missing")
            yield piece
        data = member.unused_data.lstrip(b"\0")  # as gzip itself takes what is filled up with zeros


def _xz(data: bytes) -> Iterator[bytes]:
    is_first = True
    while data:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        try:
            piece = stream.decompress(data, _PIECE)
        except lzma.LZMAError:
            if is_first:
                raise
            return  # what follows the last stream is passed over, as lzma does
        yield piece
        while not stream.eof:
            piece = stream.decompress(b"", _PIECE)
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
                piece = frame.decompress(data[place : place + _ZSTD_SLICE])
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from None
            place = min(place + _ZSTD_SLICE, len(data)) - len(frame.unused_data)
            yield piece
