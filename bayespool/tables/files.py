"""Atomic file writing, reading back, folder locks, and table formats: CSV, JSON and Parquet."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bayespool import interruption
from bayespool.arrays import AnyArray
from bayespool.errors import InputError, OutputError
from bayespool.tables.parquet_headers import read_chunks, read_pages

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]

MAX_FILE_SIZE = 512
"""Text in an input file, in MiB: some ten million lines."""
_FREE_BYTES, _EXPANSION = 1 << 24, 100  # runs take a tenth when compressed, and the most regular a fortieth
_ROW_BYTES = 16  # in memory, at least
_BATCH_ROWS, _FEWEST_ROWS, _BATCH_BYTES = 1 << 16, 1 << 6, 1 << 28

_METADATA_KEY = b"bayespool"  # in Parquet files
_locked: dict[str, int] = {}  # descriptors of folders locked by this process


def atomic_write(path: PathLike, content: bytes | str) -> None:
    """Write a file atomically: an existing file stays until the new content is on disk.

    A symbolic link is followed; a device or pipe, such as ``/dev/stdout``, is written to directly.
    """
    target = Path(path)
    with _output_errors(target):
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(as_bytes(content))
            return
    atomic_write_all({target: content})


def atomic_write_all(files: Mapping[Path, bytes | str]) -> None:
    """Write several files in the given order, all or none.

    All contents are on disk before the first file is replaced; if one cannot be, former contents are
    restored.
    """
    staged: dict[Path, Path] = {}
    former: dict[Path, Path] = {}
    try:
        for target, content in files.items():
            with _output_errors(target):
                if target.is_dir():
                    raise OutputError(f"{target}: cannot be written: a folder stands there")
                with _new_file(target) as file:
                    staged[target] = Path(file.name)
                    file.write(as_bytes(content))
                    file.flush()
                    os.fsync(file.fileno())
        with interruption.renaming:
            _swap(staged, former)
            interruption.written.extend(map(str, files))
    finally:
        for temporary in (*staged.values(), *former.values()):
            with contextlib.suppress(OSError):
                temporary.unlink()
            interruption.temporary.discard(str(temporary))


def _new_file(target: Path) -> IO[bytes]:
    """Open a new temporary file for a file's content, with the user's mode."""
    with interruption.renaming:
        path = _beside(target)
        interruption.temporary.add(str(path))
        return open(path, "xb")


def _beside(target: Path) -> Path:
    """Return a new temporary path in a file's folder, following symbolic links."""
    return Path(os.path.realpath(target)).with_name(f".bayespool-{secrets.token_hex(8)}")


def _swap(staged: Mapping[Path, Path], former: dict[Path, Path]) -> None:
    """Move staged files into place, restoring the former files if one move fails."""
    done: list[Path] = []
    try:
        for target, temporary in staged.items():
            place = os.path.realpath(target)
            with _output_errors(target):
                if len(staged) > 1 and os.path.exists(place):
                    former[target] = _beside(target)
                    interruption.temporary.add(str(former[target]))
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
    """Hard-link a file under a second name, or copy it if the file system has no links."""
    try:
        os.link(path, second)
    except OSError:
        shutil.copy2(path, second)


def as_bytes(content: bytes | str) -> bytes:
    """Return file content as bytes, with text encoded as UTF-8."""
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


def digest(content: bytes | str) -> str:
    """Return a hash of a file's content, 32 hexadecimal digits."""
    return hashlib.blake2b(as_bytes(content), digest_size=16).hexdigest()


@contextlib.contextmanager
def _output_errors(target: Path) -> Iterator[None]:
    """Convert system errors to an `OutputError` that names the file and the reason."""
    try:
        yield
    except OSError as error:
        reasons = {
            FileNotFoundError: f"there is no folder {target.parent}",
            NotADirectoryError: f"{target.parent} is not a folder",
            PermissionError: "permission denied",
        }
        reason = reasons.get(type(error), error.strerror or error)
        raise OutputError(f"{target}: cannot be written: {reason}") from None


def read_back(path: PathLike) -> str | None:
    """Read text from a file written earlier by the package, or return None if it cannot be read."""
    data = read_bytes_back(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_bytes_back(path: PathLike) -> bytes | None:
    """Read bytes from a file written earlier by the package, or return None if it cannot be read.

    None if it cannot be read or is no regular file but a pipe.
    """
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def make_folder(folder: PathLike) -> None:
    """Make a folder and its parents if missing, or raise `OutputError`."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror or error}") from None


def remove(path: PathLike) -> None:
    """Remove a file, or raise `OutputError`."""
    try:
        os.unlink(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be removed: {error.strerror or error}") from None


@contextlib.contextmanager
def locked(folder: PathLike) -> Iterator[None]:
    """Keep other processes out of a folder inside a ``with`` block."""
    lock(folder)
    try:
        yield
    finally:
        unlock(folder)


def lock(folder: PathLike) -> None:
    """Lock a folder for this process, or raise `OutputError` if another process has the lock.

    Locking it again has no effect.

    The operating system's lock on the folder ends with the process. Without such locks (Windows, some network
    disks) none is taken.
    """
    if sys.platform == "win32" or (place := os.path.realpath(folder)) in _locked:
        return
    import fcntl

    try:
        descriptor = os.open(place, os.O_RDONLY)
    except OSError:
        return  # the write will raise
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
    """Release this process's lock on a folder."""
    descriptor = _locked.pop(os.path.realpath(folder), None)
    if descriptor is not None:
        os.close(descriptor)


def csv_text(frame: pd.DataFrame) -> str:
    r"""Return a data frame as CSV text with a header and ``\n`` line ends, without its index."""
    text = str(frame.to_csv(index=False, lineterminator="\n"))
    if "\r" in text:  # before Python 3.13 only the file's own line ends are quoted, but readers split at all
        text = str(frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))
    return text


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries from column to value, with None for missing non-numeric values."""
    import pandas as pd

    rows = frame.to_dict("records")
    return [{str(name): None if value is pd.NA else value for name, value in row.items()} for row in rows]


def json_value(value: Any) -> Any:
    """Convert a value to JSON types. NaN and infinite numbers become null, other objects their text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def json_text(tables: Mapping[str, pd.DataFrame], metadata: Mapping[str, Any]) -> str:
    """Return tables as JSON, with a list of rows per table and ``metadata``, and NaN as null."""
    rows = {name: records(frame) for name, frame in tables.items()}
    return json.dumps(json_value({"metadata": metadata, **rows}), indent=1) + "\n"


def parquet_bytes(
    table: pd.DataFrame | Mapping[str, Any], metadata: Mapping[str, Any] | None = None
) -> bytes:
    """Return a table as Parquet bytes, with JSON metadata and without its index.

    Equal tables give equal bytes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow_table = (
        pa.table(dict(table))
        if isinstance(table, Mapping)
        else pa.Table.from_pandas(table, preserve_index=False)
    )
    if metadata is not None:
        merged = {_METADATA_KEY: json.dumps(dict(metadata))} | (arrow_table.schema.metadata or {})
        arrow_table = arrow_table.replace_schema_metadata(merged)
    buffer = io.BytesIO()
    pq.write_table(arrow_table, buffer)
    return buffer.getvalue()


def parquet_member(table: Any, **encodings: str) -> bytes:
    """Return an Arrow table as an uncompressed Parquet file, the same bytes for the same table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    plain = {
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name: "PLAIN"
        for field in table.schema
    }
    pq.write_table(
        table,
        buffer,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        column_encoding=plain | encodings,
    )
    return buffer.getvalue()


def expanded_limit(n_bytes: int, max_size: int = MAX_FILE_SIZE) -> int:
    """Return how many bytes a compressed file of ``n_bytes`` may hold: beyond 16 MiB a hundred times as many.

    That is ``max_size`` MiB at most.
    """
    return min(max_size << 20, max(_FREE_BYTES, _EXPANSION * n_bytes))


def readable_bytes(n_bytes: int, max_size: int) -> int:
    """Return how many bytes may be read from so many compressed ones; all if more than usual is allowed."""
    return max_size << 20 if max_size > MAX_FILE_SIZE else expanded_limit(n_bytes, max_size)


def parquet_table(content: bytes, columns: Container[str] | None = None, *, most: int) -> Any:
    """Return an Arrow table from Parquet bytes, or raise `InputError` for one of more than ``most`` bytes.

    A few bytes can stand for many rows, and for rows of any size, hence a batch at a time. Damaged bytes
    raise errors of Arrow, OSError or ValueError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = 0
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        metadata, schema = file.metadata, file.schema_arrow
    leaves = [metadata.schema.column(j) for j in range(metadata.num_columns)]
    chunks = [
        (leaf, chunk)
        for group in read_chunks(content)
        for leaf, chunk in zip(leaves, group, strict=True)
        if chunk.n_values  # else none of its pages is read
    ]
    n_values, n_bytes = max((chunk.n_values for _, chunk in chunks), default=0), 0
    # Texts are read as codes, but not in lists, nor where each may repeat the start of the one before.
    coded, apart, longest = set[str](), set[str](), 1
    for leaf, chunk in chunks:
        pages = read_pages(content, chunk.start, chunk.stop)
        n_bytes += pages.n_bytes
        is_text = leaf.physical_type == "BYTE_ARRAY"
        if is_text and not ("." in leaf.path or pages.repeat_starts):
            coded.add(leaf.path)
        elif is_text or leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
            apart.add(leaf.path)
            longest = max(longest, pages.n_bytes)
    if max(metadata.num_rows * _ROW_BYTES, n_values * 8, n_bytes) > most:
        raise _too_large_table(most)
    n_rows = max(_FEWEST_ROWS, min(_BATCH_ROWS, _BATCH_BYTES // longest))
    names = [name for name in schema.names if columns is None or name in columns]
    wanted = pa.schema([schema.field(name) for name in names], schema.metadata)
    batches = []
    with pq.ParquetFile(
        pa.BufferReader(content), read_dictionary=sorted(coded - apart), pre_buffer=False
    ) as file:
        for batch in file.iter_batches(n_rows, columns=names, use_threads=False):
            if size + sum(map(_text_bytes, batch.columns)) > most:
                raise _too_large_table(most)
            batches.append(batch.cast(wanted))
            size += batches[-1].nbytes
            if size > most:
                raise _too_large_table(most)
    return pa.Table.from_batches(batches, wanted)


def _text_bytes(column: Any) -> int:
    """Return how many bytes the texts of an Arrow array of codes take."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return 0
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def _too_large_table(most: int) -> InputError:
    hint = "allow more with max_file_size (--reading max_file_size=…), if it is what you take it for"
    return InputError(f"holds more than {most >> 20:,} MiB", hint=hint)


def read_metadata(content: bytes) -> dict[str, Any] | None:
    """Read the metadata alone from `parquet_bytes` output, or return None if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_schema(io.BytesIO(content)).metadata or {}
        metadata = json.loads(stored.get(_METADATA_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError, RecursionError):
        return None
    return metadata if isinstance(metadata, dict) else None


def read_parquet(path: PathLike) -> tuple[dict[str, list[Any]], dict[str, Any]] | None:
    """Read columns and metadata from a file by `parquet_bytes`, or return None if it is damaged."""
    content = read_bytes_back(path)
    read = None if content is None else _read_table(content)
    return (read[0].to_pydict(), read[1]) if read is not None and read[1] else None


def read_frame(content: bytes) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """Read data frame and metadata from `parquet_bytes` output, or return None if it is damaged.

    The metadata may be empty.
    """
    read = _read_table(content)
    return (read[0].to_pandas(), read[1]) if read is not None else None


def _read_table(content: bytes) -> tuple[Any, dict[str, Any]] | None:
    import pyarrow as pa

    try:
        table = parquet_table(content, most=expanded_limit(len(content)))
        metadata = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError, RecursionError):
        return None
    return (table, metadata) if isinstance(metadata, dict) else None


def build_container(
    groups: Mapping[str, Mapping[str, AnyArray]],
    *,
    dims: Mapping[str, tuple[str, ...]],
    coords: Mapping[str, Any],
    attrs: Mapping[str, str | int | float] | None = None,
    texts: Mapping[str, Mapping[str, str]] | None = None,
) -> Any:
    """Build an ``xarray.DataTree`` that ArviZ reads.

    Parameters
    ----------
    groups : mapping of str to mapping of str to ndarray
        Variables by ArviZ's group. Those of groups that end in ``_data`` have the shape of the data, those of
        the others (chain, draw, ...).
    dims : mapping of str to tuple of str
        Names of the axes of variables (after chain and draw), in any group.
    coords : mapping of str to sequence
        Values along the axes.
    attrs : mapping, optional
        Attributes of the container.
    texts : mapping of str to mapping of str to str, optional
        Attributes of variables, in any group.

    Returns
    -------
    xarray.DataTree
        Without time stamps, so that the same inputs give the same bytes.
    """
    import arviz_base
    import xarray as xr

    tree = {}
    for name, variables in groups.items():
        used = {dim for variable in variables for dim in dims.get(variable, ())}
        dataset = arviz_base.dict_to_dataset(
            {variable: np.asarray(values) for variable, values in variables.items()},
            coords={dim: list(values) for dim, values in coords.items() if dim in used},
            dims={variable: list(dims[variable]) for variable in variables if variable in dims},
            sample_dims=[] if name.endswith("_data") else ["chain", "draw"],
        )
        dataset.attrs = {}
        for variable in set(variables) & set(texts or {}):
            dataset[variable].attrs = dict((texts or {})[variable])
        tree[name] = dataset
    container = xr.DataTree.from_dict(tree)
    container.attrs = dict(attrs or {})
    return container


def container_bytes(container: Any) -> bytes:
    """Return an ``xarray.DataTree`` as NetCDF bytes with compressed integers.

    ``xarray.open_datatree`` reads it, and ``arviz.from_netcdf`` up to ArviZ 0.23.
    """
    encoding = {
        f"/{name}": {
            str(variable): {"zlib": True, "complevel": 4}
            for variable, values in group.to_dataset().data_vars.items()
            if values.dtype.kind in "iu" and values.ndim
        }
        for name, group in container.children.items()
    }
    return bytes(container.to_netcdf(None, engine="h5netcdf", encoding=encoding))


def read_container(data: bytes) -> Any:
    """Return the ``xarray.DataTree`` from NetCDF bytes.

    Raises OSError or ValueError for other bytes.
    """
    import h5py
    import xarray as xr

    try:  # h5netcdf would print a second error when closing a damaged file
        with h5py.File(io.BytesIO(data)) as file:
            file.visititems(lambda *_: None)
    except (KeyError, RuntimeError) as error:
        raise ValueError(str(error)) from None
    with xr.open_datatree(io.BytesIO(data), engine="h5netcdf") as opened:
        return opened.load()


def variable_name(text: object) -> str:
    """Return a variable name for ArviZ and files, such as ``P_rel_2_10`` for P(rel=2)@10."""
    return re.sub(r"[^A-Za-z0-9]+", "_", str(text)).strip("_")
