"""Where the columns of a Parquet file stand, and what their pages take by the header that each begins with.

What the file says of its columns may be false, and Arrow makes room for what these headers state. The column
chunks of a damaged footer end the process when Arrow's Python interface is asked for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_INT, _LONG, _DOUBLE, _TEXT, _LIST, _STRUCT = 5, 6, 7, 8, 9, 12  # kinds of values in Thrift's protocol
_BYTES, _INTEGERS, _LISTS = (1, 2, 3), (4, _INT, _LONG), (_LIST, 10)
_SIZE, _STORED_SIZE = (2, _INT), (3, _INT)  # fields of the header
_ENCODINGS = (((5, _STRUCT), (2, _INT)), ((8, _STRUCT), (4, _INT)))  # of a page of data in either version
_REPEATS_STARTS = 7
_GROUPS, _CHUNKS, _CHUNK = (4, _LIST), (1, _LIST), (3, _STRUCT)  # fields of the footer
_N_VALUES, _LENGTH, _DATA, _DICTIONARY = (5, _LONG), (7, _LONG), (9, _LONG), (11, _LONG)
_KEPT = ((4,), (4, 1))
_LISTS_OF: dict[tuple[int, ...], int] = {
    (2,): _STRUCT,
    (4,): _STRUCT,
    (5,): _STRUCT,
    (7,): _STRUCT,
    (4, 1): _STRUCT,
    (4, 4): _STRUCT,
    (4, 1, 3, 2): _INT,
    (4, 1, 3, 3): _TEXT,
    (4, 1, 3, 8): _STRUCT,
    (4, 1, 3, 13): _STRUCT,
    (4, 1, 3, 16, 2): _LONG,
    (4, 1, 3, 16, 3): _LONG,
}  # kind of item that Arrow reads by the fields that lead to a list, whatever kind the list states


class Chunk(NamedTuple):
    """The part of a column in a group of rows."""

    n_values: int
    start: int
    stop: int


class Pages(NamedTuple):
    """Pages of a column."""

    n_bytes: int  # decompressed
    repeat_starts: bool  # whether any says of each text how much of the one before it begins with


def read_chunks(content: bytes) -> list[list[Chunk]]:
    """Return the columns of each group of rows by the footer of a file; ValueError for damage."""
    try:
        footer, _ = _struct(content[-8 - int.from_bytes(content[-8:-4], "little") : -8], 0)
        return [[_chunk(column[_CHUNK]) for column in group[_CHUNKS]] for group in footer[_GROUPS]]
    except (LookupError, RecursionError):
        raise ValueError("the footer is damaged") from None


def _chunk(stated: dict[tuple[int, int], int]) -> Chunk:
    start = min(stated[_DATA], stated.get(_DICTIONARY, stated[_DATA]))
    return Chunk(stated[_N_VALUES], start, start + stated[_LENGTH])


def read_pages(content: bytes, start: int, stop: int) -> Pages:
    """Return what the headers of pages between two places of a file say; ValueError for damage."""
    n_bytes, repeat_starts = 0, False
    try:
        while start < stop:
            header, start = _struct(content, start)
            if min(header[_SIZE], header[_STORED_SIZE]) < 0:
                raise ValueError("the size of a page is negative")
            n_bytes, start = n_bytes + header[_SIZE], start + header[_STORED_SIZE]
            repeat_starts |= any(header.get(a, {}).get(b) == _REPEATS_STARTS for a, b in _ENCODINGS)
    except (LookupError, RecursionError):
        raise ValueError("the header of a page is damaged") from None
    return Pages(n_bytes, repeat_starts)


def _struct(content: bytes, at: int, place: tuple[int, ...] = ()) -> tuple[dict[tuple[int, int], Any], int]:
    """Return the values of a struct by field and kind, and where it ends.

    ``place`` are the fields that lead to it. Kinds count because Arrow passes over fields of another kind.
    """
    values, field = dict[tuple[int, int], Any](), 0
    while head := content[at]:
        step, kind, at = head >> 4, head & 15, at + 1
        if step:
            field += step
        else:
            number, at = _varint(content, at)
            field = _signed(number)
        field &= 0xFFFF
        if kind > 2:  # of truth values nothing follows
            values[field, kind], at = _value(content, at, kind, (*place, field))
    return values, at + 1


def _value(content: bytes, at: int, kind: int, place: tuple[int, ...]) -> tuple[Any, int]:
    """Return a value, where one is needed, and where it ends."""
    if kind in _INTEGERS:
        number, at = _varint(content, at, 64 if kind == _LONG else 32)
        return _signed(number), at
    if kind in _BYTES or kind == _DOUBLE:
        return None, at + (8 if kind == _DOUBLE else 1)
    if kind == _TEXT:
        number, at = _varint(content, at)
        return None, at + number
    if kind == _STRUCT:
        return _struct(content, at, place)
    if kind not in _LISTS:
        raise ValueError("a header has a value of unknown kind")
    number, kind, at = content[at] >> 4, content[at] & 15, at + 1
    if number == 15:
        number, at = _varint(content, at)
    if _LISTS_OF.get(place, kind) != kind:
        raise ValueError("the footer has a list of other items than it should")
    items = []
    for _ in range(number):
        item, at = _value(content, at, kind, place)
        if place in _KEPT:
            items.append(item)
    return items, at


def _varint(content: bytes, at: int, n_bits: int = 32) -> tuple[int, int]:
    """Return a number of seven bits a byte, of which the last bits count, and where it ends."""
    number, shift = 0, 0
    while (byte := content[at]) > 127:
        number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
        if shift > 63:
            raise ValueError("a number in a header is too long")
    return (number | byte << shift) & ((1 << n_bits) - 1), at + 1


def _signed(number: int) -> int:
    return number >> 1 ^ -(number & 1)
