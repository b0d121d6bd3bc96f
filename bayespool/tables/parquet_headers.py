"""What the pages of a Parquet file take, by the header that each begins with.

What the file says of its columns may be false, and Arrow makes room for what these headers state.
"""

from __future__ import annotations

from typing import NamedTuple

_SIZE, _STORED_SIZE = 2, 3  # fields of the header
_ENCODINGS = (
    5 << 16 | 2,
    8 << 16 | 4,
)  # those of fields 5 and 8, the parts of a page of data in either version
_REPEATS_STARTS = 7


class Pages(NamedTuple):
    """Pages of a column."""

    n_bytes: int  # decompressed
    repeat_starts: bool  # whether any says of each text how much of the one before it begins with


def read_pages(content: bytes, start: int, stop: int) -> Pages:
    """Return what the headers of pages between two places of a file say; ValueError for damage."""
    n_bytes, repeat_starts = 0, False
    try:
        while start < stop:
            header, start = _struct(content, start)
            if min(header[_SIZE], header[_STORED_SIZE]) < 0:
                raise ValueError("the size of a page is negative")
            n_bytes, start = n_bytes + header[_SIZE], start + header[_STORED_SIZE]
            repeat_starts |= any(header.get(field) == _REPEATS_STARTS for field in _ENCODINGS)
    except (LookupError, RecursionError):
        raise ValueError("the header of a page is damaged") from None
    return Pages(n_bytes, repeat_starts)


def _struct(content: bytes, at: int) -> tuple[dict[int, int], int]:
    """Return the 32-bit numbers of a struct in Thrift's compact protocol by field, and where it ends.

    Those of a struct within have the number of its field in front of their own.
    """
    numbers, field = dict[int, int](), 0
    while head := content[at]:
        step, kind, at = head >> 4, head & 15, at + 1
        if step:
            field += step
        else:
            number, at = _varint(content, at)
            field = _signed(number)
        field &= 0xFFFF
        if kind in (4, 5, 6):
            number, at = _varint(content, at)
            if kind == 5:
                numbers[field] = _signed(number)
        elif kind in (3, 7):  # a byte, or eight
            at += 1 if kind == 3 else 8
        elif kind == 8:  # text
            number, at = _varint(content, at)
            at += number
        elif kind == 12:
            parts, at = _struct(content, at)
            numbers |= {field << 16 | part: number for part, number in parts.items()}
        elif kind > 2:  # of truth values nothing follows
            raise ValueError("the header of a page is none")
    return numbers, at + 1


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    number, shift = 0, 0
    while (byte := content[at]) > 127:
        number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
        if shift > 63:
            raise ValueError("a number in the header of a page is too long")
    return number | byte << shift, at + 1


def _signed(number: int) -> int:
    return number >> 1 ^ -(number & 1)
