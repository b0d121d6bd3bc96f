"""What bayespool writes and reads back: whole files or none, and tables as CSV and Parquet."""

from __future__ import annotations

import contextlib
import contextvars
import csv
import hashlib
import io
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.errors import OutputError

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]

_KEY = b"bayespool"  # of the metadata of a Parquet file
_locked: dict[str, int] = {}  # folders that this process has, with what holds the lock
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_for_spreadsheets = contextvars.ContextVar("for_spreadsheets", default=False)


def atomic_write(path: PathLike, content: bytes | str) -> None:
    """Write a file whole or not at all: what stood there stays until all of the new content is on the disk.

    Parameters
    ----------
    path : path
        Where to write. A symbolic link is followed; something that is no file, like ``/dev/stdout`` or a
        named pipe, is written to directly.
    content : bytes or str
        A str is written as UTF-8.

    Raises
    ------
    OutputError
        The file cannot be written; the message says why.
    """
    target = Path(path)
    with _told(target):
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(as_bytes(content))
            return
    atomic_write_all({target: content})


def atomic_write_all(files: Mapping[Path, bytes | str]) -> None:
    """Write several files, all of them or none: the new content of all is on the disk before the first takes
    its place, and if one cannot take its place, what stood there before does again.

    Parameters
    ----------
    files : mapping of Path to bytes or str
        Contents by path; they take their places in this order.

    Raises
    ------
    OutputError
        One of them cannot be written; the message says which and why.
    """
    staged: dict[Path, Path] = {}
    former: dict[Path, Path] = {}
    try:
        for target, content in files.items():
            with _told(target):
                if target.is_dir():
                    raise OutputError(f"{target}: cannot be written: a folder stands there")
                staged[target] = _beside(target)
                with open(staged[target], "xb") as file:  # its mode is the user's, as tempfile's would not be
                    file.write(as_bytes(content))
                    file.flush()
                    os.fsync(file.fileno())
        _swap(staged, former)
    finally:
        for temporary in (*staged.values(), *former.values()):
            with contextlib.suppress(OSError):
                temporary.unlink()


def _beside(target: Path) -> Path:
    """A new name in the folder that a path, or what it links to, is in."""
    return Path(os.path.realpath(target)).with_name(f".bayespool-{secrets.token_hex(8)}")


def _swap(staged: Mapping[Path, Path], former: dict[Path, Path]) -> None:
    """Put all files into their places, or, if one fails, the former ones back into theirs.

    Parameters
    ----------
    staged : mapping of Path to Path
        New files by their places.
    former : dict of Path to Path
        Filled with second names of what stood in these places.
    """
    done: list[Path] = []
    try:
        for target, temporary in staged.items():
            place = os.path.realpath(target)
            with _told(target):
                if len(staged) > 1 and os.path.exists(place):
                    former[target] = _beside(target)
                    _copy(place, former[target])
                os.replace(temporary, place)
            done.append(target)
    except BaseException:
        for target in done:
            with contextlib.suppress(OSError):
                if target in former:
                    os.replace(former[target], os.path.realpath(target))
                else:
                    os.unlink(os.path.realpath(target))
        raise


def _copy(path: str, second: Path) -> None:
    """Give a file a second name; where the file system has no links, copy it."""
    try:
        os.link(path, second)
    except OSError:
        shutil.copy2(path, second)


def as_bytes(content: bytes | str) -> bytes:
    """What a file of this content has."""
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


def digest(content: bytes | str) -> str:
    """What tells a file of this content from others."""
    return hashlib.blake2b(as_bytes(content), digest_size=16).hexdigest()


@contextlib.contextmanager
def _told(target: Path) -> Iterator[None]:
    """Say which file cannot be written, and why."""
    try:
        yield
    except FileNotFoundError:
        raise OutputError(f"{target}: cannot be written: there is no folder {target.parent}") from None
    except NotADirectoryError:
        raise OutputError(f"{target}: cannot be written: {target.parent} is not a folder") from None
    except PermissionError:
        raise OutputError(f"{target}: cannot be written: permission denied") from None
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from None


def read_back(path: PathLike) -> str | None:
    """Text of a file that was written here before; None where there is none that can be read."""
    data = read_bytes_back(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_bytes_back(path: PathLike) -> bytes | None:
    """Bytes of a file that was written here before; None where there is none that can be read, or what is
    there is no file (a pipe would be waited for).
    """
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def remove(path: PathLike) -> None:
    """Remove a file.

    Raises
    ------
    OutputError
        It cannot be removed.
    """
    try:
        os.unlink(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be removed: {error.strerror or error}") from None


@contextlib.contextmanager
def locked(folder: PathLike) -> Iterator[None]:
    """Keep other processes out of a folder: see `lock`."""
    lock(folder)
    try:
        yield
    finally:
        unlock(folder)


def lock(folder: PathLike) -> None:
    """Take a folder for this process; nothing where the process has it already.

    The lock is the operating system's, on the folder itself: it ends with the process, however that ends, and
    leaves nothing behind. Where there are no such locks (Windows, some network disks) none is taken.

    Raises
    ------
    OutputError
        Another process has it.
    """
    if sys.platform == "win32" or (place := os.path.realpath(folder)) in _locked:
        return
    import fcntl

    try:
        descriptor = os.open(place, os.O_RDONLY)
    except OSError:
        return  # whoever writes there will say so
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise OutputError(
            f"{folder}: another process is at work there; wait until it is done, or name another folder"
        ) from None
    except OSError:
        os.close(descriptor)
        return
    _locked[place] = descriptor


def unlock(folder: PathLike) -> None:
    """Leave a folder to other processes."""
    descriptor = _locked.pop(os.path.realpath(folder), None)
    if descriptor is not None:
        os.close(descriptor)


def csv_text(frame: pd.DataFrame) -> str:
    r"""A data frame as CSV with a header and ``\n`` line ends, without its index."""
    if _for_spreadsheets.get():
        frame = frame.rename(columns=_no_formula).apply(lambda column: column.map(_no_formula))
    text = str(frame.to_csv(index=False, lineterminator="\n"))
    if "\r" in text:  # before Python 3.13 only the file's own ends of lines are quoted; readers obey all
        text = str(frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))
    return text


@contextlib.contextmanager
def csv_for_spreadsheets() -> Iterator[None]:
    r"""Have `csv_text` put an apostrophe before texts that begin with ``=``, ``+``, ``-`` or ``@``, which a
    spreadsheet would take for formulas; numbers stay as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> with csv_for_spreadsheets():
    ...     csv_text(pd.DataFrame({"run_id": ["=1+1", "a"], "value": [-1.5, 2.0]}))
    "run_id,value\n'=1+1,-1.5\na,2.0\n"
    """
    before = _for_spreadsheets.set(True)
    try:
        yield
    finally:
        _for_spreadsheets.reset(before)


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def json_text(tables: Mapping[str, pd.DataFrame], metadata: Mapping[str, Any]) -> str:
    """Tables and what they must be quoted with as JSON: rows by table beside ``metadata``, NaN as null."""
    rows = {
        name: [
            {str(column): None if value != value else value for column, value in row.items()}
            for row in frame.to_dict("records")
        ]
        for name, frame in tables.items()
    }
    return json.dumps({"metadata": dict(metadata)} | rows, indent=1) + "\n"


def parquet_bytes(
    table: pd.DataFrame | Mapping[str, Any], metadata: Mapping[str, Any] | None = None
) -> bytes:
    """A table as a Parquet file; the same table gives the same bytes.

    Parameters
    ----------
    table : pandas.DataFrame or mapping of str to list
        A frame is written without its index.
    metadata : mapping, optional
        As JSON can hold it; stands in the file's metadata under ``bayespool``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = (
        pa.table(dict(table))
        if isinstance(table, Mapping)
        else pa.Table.from_pandas(table, preserve_index=False)
    )
    if metadata is not None:
        made = made.replace_schema_metadata({_KEY: json.dumps(dict(metadata))} | (made.schema.metadata or {}))
    buffer = io.BytesIO()
    pq.write_table(made, buffer)
    return buffer.getvalue()


def read_parquet(path: PathLike) -> tuple[dict[str, list[Any]], dict[str, Any]] | None:
    """Columns and metadata of a file that `parquet_bytes` made; None where there is no such file, or it is
    damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        metadata = json.loads(table.schema.metadata[_KEY])
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return (table.to_pydict(), metadata) if isinstance(metadata, dict) else None


def read_frame(content: bytes) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """Data frame and metadata, empty where it has none, of the bytes that `parquet_bytes` made; None where
    they are damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            table = file.read()
        metadata = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError, RecursionError):
        return None
    return (table.to_pandas(), metadata) if isinstance(metadata, dict) else None


def read_rows(path: PathLike) -> list[dict[str, Any]]:
    """Rows of a Parquet file that `parquet_bytes` made; a missing number is None.

    Raises
    ------
    OutputError
        There is no such file, or it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            rows: list[dict[str, Any]] = file.read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise OutputError(f"{path}: cannot be read back: {error}") from None
    return rows
