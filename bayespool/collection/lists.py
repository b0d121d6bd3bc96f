"""CSV lists about runs: organizations, types."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from bayespool.collection.files import as_text
from bayespool.errors import InputError

_RUN_ID_NAMES = ("run_id", "run", "tag")


def csv_entries(data: bytes, path: Path, names: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Run id, value and line number of each entry; ``names`` are accepted names of the value's column."""
    rows = csv.reader(io.StringIO(as_text(data).decode(), newline=""), strict=True)
    header: list[str] = []
    places = (0, 1)
    try:
        for row in rows:
            fields = [field.strip() for field in row]
            if not any(fields):
                continue
            if not header:
                header = fields
                places = _places(header, names, path, rows.line_num)
            elif len(fields) != len(header):
                reason = f"expected {len(header)} columns as in the header, found {len(fields)}"
                hint = 'put a name that has a comma between double quotes ("Univ. of X, Y")'
                raise InputError(reason, path=path, line=rows.line_num, hint=hint)
            else:
                run_id, value = (fields[place] for place in places)
                yield run_id, value, rows.line_num
    except csv.Error as error:
        raise InputError(f"is no proper CSV ({error})", path=path, line=rows.line_num) from None


def _places(named: list[str], names: Sequence[str], path: Path, line: int) -> tuple[int, int]:
    """Positions of the columns of the run id and of the value."""
    header = [name.lower() for name in named]
    run_id = next((name for name in _RUN_ID_NAMES if name in header), "")
    value = next((name for name in names if name in header), "")
    if not run_id or not value:
        reason = f"the header names {', '.join(named)!r}, not run_id and {names[0]}"
        hint = f"begin the file with the line run_id,{names[0]}"
        raise InputError(reason, path=path, line=line, hint=hint)
    for name in (run_id, value):
        if header.count(name) > 1:
            reason = f"the header names {name!r} {header.count(name)} times"
            raise InputError(reason, path=path, line=line, hint="keep one of these columns")
    return header.index(run_id), header.index(value)
