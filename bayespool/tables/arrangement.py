"""The reader's choice of columns, order and number of rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayespool.errors import InputError


@dataclass(frozen=True)
class Arrangement:
    """Columns, order and number of the rows of a table.

    Parameters
    ----------
    columns : sequence of str, optional
        Names of columns, in the order shown. Default: those that fit.
    sort : str, optional
        Column to sort rows by: text ascending, numbers descending. Default: the order of the table.
    top : int, optional
        Number of rows shown, the first ones; without ``sort`` the best ones.

    Raises
    ------
    InputError
        No columns, one of them twice, or fewer than one row.
    """

    columns: Sequence[str] | None = None
    sort: str | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise InputError(f"top cannot be {self.top}; 1 or more")
        if self.columns is not None:
            if isinstance(self.columns, str) or not self.columns:
                raise InputError("columns are a list of names, of one at least")
            if twice := [c for c in dict.fromkeys(self.columns) if list(self.columns).count(c) > 1]:
                raise InputError(f"column {twice[0]!r} is named twice")

    def check(self, columns: Sequence[str], keys: Sequence[str]) -> None:
        """Raise `InputError` for a column not among ``columns`` or a sort key not among ``keys``."""
        for name in self.columns or ():
            if name not in columns:
                raise InputError(f"no column {name!r}", hint=f"there are {', '.join(columns)}")
        if self.sort is not None and self.sort not in keys:
            raise InputError(f"cannot sort by {self.sort!r}", hint=f"use {', '.join(keys)}")
