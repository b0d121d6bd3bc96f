"""Types of runs, automatic or manual for example: a list that campaigns publish beside the runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from bayespool.errors import InputError
from bayespool.files import PathLike
from bayespool.trec.files import as_text, read_bytes

__all__ = ["read_run_types"]

_RUN_ID_NAMES = ("run_id", "run", "tag")
_TYPE_NAMES = ("type", "run_type")


def read_run_types(path: PathLike) -> dict[str, str]:
    """Type of each run, from a CSV file.

    Parameters
    ----------
    path : path
        A CSV file whose header names ``run_id`` (or ``run``, ``tag``) and ``type`` (or ``run_type``), in any
        order and among other columns.

    Returns
    -------
    dict of str to str
        Run id to type, in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read; a column, a run id or a type is missing; a run is listed with two types.
    """
    path = Path(path)
    text = as_text(read_bytes(path)).decode()
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    places: tuple[int, int] = (0, 1)
    found: dict[str, str] = {}
    try:
        for row in rows:
            fields = [field.strip() for field in row]
            if not any(fields):
                continue
            if not header:
                header = [name.lower() for name in fields]
                places = _places(header, fields, path, rows.line_num)
                continue
            if len(fields) != len(header):
                raise InputError(
                    f"expected {len(header)} columns as in the header, found {len(fields)}",
                    path=path,
                    line=rows.line_num,
                    hint='put a name that has a comma between double quotes ("A, B")',
                )
            run_id, kind = (fields[place] for place in places)
            if not run_id or not kind:
                what = f"run {run_id!r} has no type" if run_id else f"no run id beside type {kind!r}"
                raise InputError(what, path=path, line=rows.line_num, hint="name it, or leave the line out")
            if found.setdefault(run_id, kind) != kind:
                what = f"run {run_id!r} is {kind!r} here and {found[run_id]!r} before"
                raise InputError(what, path=path, line=rows.line_num, hint="keep one of them")
    except csv.Error as error:
        raise InputError(f"is no proper CSV ({error})", path=path, line=rows.line_num) from None
    if not found:
        raise InputError("lists no run", path=path, hint="begin with run_id,type and give one line per run")
    return found


def _places(header: list[str], named: list[str], path: Path, line: int) -> tuple[int, int]:
    """Positions of the run id and of the type."""
    run_id = next((name for name in _RUN_ID_NAMES if name in header), "")
    kind = next((name for name in _TYPE_NAMES if name in header), "")
    if not run_id or not kind:
        raise InputError(
            f"the header names {', '.join(named)!r}, not run_id and type",
            path=path,
            line=line,
            hint="begin the file with the line run_id,type",
        )
    return header.index(run_id), header.index(kind)
