"""A result of one table, one figure and a sentence: all that a class of one's own has to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from bayespool.report.result import Figure, Result
from bayespool.tables.table import Ends, Table, View


@dataclass(frozen=True, eq=False)
class Toy(Result):
    """Interval of each of some runs."""

    rows: Mapping[str, tuple[float, float, float]]
    metadata: Mapping[str, Any] = field(
        default_factory=lambda: {"fingerprint": "ab", "estimators": ["background"]}
    )
    command, title = "toy", "A toy"

    def tables(self) -> tuple[Table, ...]:
        frame = pd.DataFrame.from_dict(self.rows, "index", columns=["value", "lower", "upper"])
        frame = frame.rename_axis("run_id").reset_index().assign(ci_prob=0.95)
        view = View(title="Toy of runs", names=("run_id",), columns=("value", Ends()))
        return (Table("toy", "Runs of the toy", frame, views=(view,)),)

    def summary(self) -> tuple[str, ...]:
        return (f"The best is {max(self.rows, key=lambda run: self.rows[run])}.",)

    def figures(self) -> tuple[Figure, ...]:
        return (Figure("values", "Values of runs", self.draw),)

    def draw(self) -> Any:
        from bayespool.plots import figure_grid

        figure, (axes,) = figure_grid(1)
        axes.plot([value for value, _, _ in self.rows.values()], "o")
        return figure
