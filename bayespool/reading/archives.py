"""Archives of prepared collections: the same bytes for the same members, read with limits."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from bayespool.errors import PREPARE_ANEW, InputError
from bayespool.reading.files import DAMAGE, member_pieces, regular_file
from bayespool.tables.files import PathLike, atomic_write, expanded_limit, parquet_table

_DATE = (1980, 1, 1, 0, 0, 0)  # of every member: the time of writing must not be in the bytes
_MOST_MEMBERS = 1000
_MOST_OF_A_MEMBER = 2048  # MiB
_LARGE = 2**22  # bytes of a member
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
_BROKEN = (*DAMAGE, zipfile.LargeZipFile, IndexError, OverflowError)


def write_archive(
    path: PathLike, members: Mapping[str, bytes], *, as_is: Collection[str] = frozenset()
) -> None:
    """Write members to a zip file, whole or not at all, and all but some of them compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _DATE)
            way = zipfile.ZIP_LZMA if len(content) < _LARGE else zipfile.ZIP_DEFLATED  # quicker to read
            entry.compress_type = zipfile.ZIP_STORED if name in as_is else way
            archive.writestr(entry, content, compresslevel=9)
    atomic_write(path, buffer.getvalue())


def read_archive(path: PathLike, *, max_size: int, hint: str, only: str | None = None) -> dict[str, bytes]:
    """Return the members of a zip file by name.

    Parameters
    ----------
    path : path
    max_size : int
        Largest decompressed size of all members, in MiB.
    hint : str
        What to do about a file that cannot be read.
    only : str, optional
        The one member to read.

    Raises
    ------
    InputError
        No such file, no zip file, one that is cut off or damaged, larger than ``max_size``, or with names
        that are paths or stand twice.
    """
    source = Path(path)
    members: dict[str, bytes] = {}
    try:
        with regular_file(source) as size, zipfile.ZipFile(source) as archive:
            left = expanded_limit(size, max_size)
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            if len(names) > _MOST_MEMBERS or len(set(names)) < len(names):
                raise InputError("members of one name, or too many", path=source, hint=hint)
            for entry in entries:
                if not entry.filename.replace(".", "").replace("-", "").isalnum():
                    raise InputError(f"a member is called {entry.filename!r}", path=source, hint=hint)
                if entry.compress_type not in _WAYS:
                    reason = f"member {entry.filename} is compressed as bayespool never does"
                    raise InputError(reason, path=source, hint=hint)
                if only not in (None, entry.filename):
                    continue
                content = io.BytesIO()
                for piece in member_pieces(archive, entry):
                    left -= len(piece)
                    if left < 0:
                        reason = f"holds more than {max_size:,} MiB, or than a hundred times its size"
                        raise InputError(reason, path=source, hint=hint)
                    content.write(piece)
                members[entry.filename] = content.getvalue()
    except _BROKEN as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"is cut off, changed or no prepared collection ({str(error) or type(error).__name__})",
            path=source,
            hint=hint,
        ) from None
    return members


def read_member(content: bytes) -> pa.Table:
    """Return the table of a Parquet file in memory, of at most 16 MiB or a hundred times its size."""
    return parquet_table(content, most=expanded_limit(len(content), _MOST_OF_A_MEMBER))


@contextlib.contextmanager
def member_errors(path: Path | None) -> Iterator[None]:
    """Raise `InputError` for members that are missing or not as they were written."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        KeyError,
        MemoryError,
        OSError,
        RecursionError,
        TypeError,
        ValueError,
        pa.ArrowException,
    ) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise InputError(f"not as it was written: {reason}", path=path, hint=PREPARE_ANEW) from None
