"""Types of runs, such as automatic or manual, from lists that campaigns publish."""

from __future__ import annotations

from pathlib import Path

from bayespool.collection.files import read_bytes
from bayespool.collection.lists import csv_entries
from bayespool.errors import InputError
from bayespool.options import MAX_FILE_SIZE
from bayespool.tables.files import PathLike

_TYPE_NAMES = ("type", "run_type")


def read_run_types(path: PathLike, *, max_file_size: int = MAX_FILE_SIZE) -> dict[str, str]:
    """Read the type of each run from a CSV file.

    Parameters
    ----------
    path : path
        A CSV file whose header names ``run_id`` (or ``run``, ``tag``) and ``type`` (or ``run_type``), in any
        order and among other columns.
    max_file_size : int
        Largest decompressed size of the file, in MiB.

    Returns
    -------
    dict of str to str
        Run id to type, in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read; a column is missing or repeated, a run id or a type is missing; a run has two
        types.
    """
    path = Path(path)
    types: dict[str, str] = {}
    for run_id, kind, line in csv_entries(read_bytes(path, max_size=max_file_size), path, _TYPE_NAMES):
        if not run_id or not kind:
            reason = f"run {run_id!r} has no type" if run_id else f"no run id beside type {kind!r}"
            raise InputError(reason, path=path, line=line, hint="name it, or leave the line out")
        if types.setdefault(run_id, kind) != kind:
            reason = f"run {run_id!r} is {kind!r} here and {types[run_id]!r} before"
            raise InputError(reason, path=path, line=line, hint="keep one of them")
    if not types:
        raise InputError("lists no run", path=path, hint="begin with run_id,type and give one line per run")
    return types
