"""Results of experiments: settings, pool and collection, and figures of several panels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.comparisons.significance import SIGNIFICANCE_LEVEL
from bayespool.experiments.settings import Test
from bayespool.experiments.storage import PartResult
from bayespool.pooling import describe_pool
from bayespool.report.result import Figure, Result
from bayespool.tables.files import variable_name
from bayespool.tables.formatting import counted, level
from bayespool.tables.table import COLUMNS, Column

if TYPE_CHECKING:
    import pandas as pd

TESTS = {"tukey-hsd": "Tukey's test", "paired-t": "paired t tests"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExperimentResult(Result):
    """Result of an experiment.

    Attributes
    ----------
    settings : object
        Settings of the experiment.
    fingerprint : str
        Of the collection.
    pool : str
        Report of the pool.
    query_ids : tuple of str
    pool_notes : tuple of str
        What to know of the collection's pool before quoting the result.
    warnings : tuple of (str, str)
        Class and text of warnings.
    """

    settings: Any
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    pool_notes: tuple[str, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override] # derived, where others have a field
        """Version, fingerprint, pool, settings and warnings."""
        return {
            "bayespool": __version__,
            "fingerprint": self.fingerprint,
            "pool": self.pool,
            "pool_notes": list(self.pool_notes),
            "settings": self.settings.describe(),
            "warnings": [f"{name}: {text}" for name, text in self.warnings],
        }


def fields_of(
    collection: Collection, pooled: Collection, settings: Any, results: Iterable[PartResult] = ()
) -> dict[str, Any]:
    """Fields of an `ExperimentResult` on a pool, with the warnings of its parts."""
    return {
        "settings": settings,
        "fingerprint": collection.fingerprint,
        "pool": str(describe_pool(pooled)),
        "pool_notes": describe_pool(collection).notes,
        "query_ids": collection.query_ids,
        "warnings": tuple(dict.fromkeys(caught for result in results for caught in result.warnings)),
    }


def metadata_of(collection: Collection, settings: Any, **more: Any) -> dict[str, Any]:
    """Version, fingerprint and settings of a check, and what it resolved of them."""
    return {"bayespool": __version__, "fingerprint": collection.fingerprint, **settings.describe(), **more}


def sre_star_note(test: Test) -> str:
    """Sentence on what SRE* counts, with the test that says which runs differ."""
    tested = f"{TESTS[test]}, {level(SIGNIFICANCE_LEVEL)}"
    return f"SRE* counts only runs passed over that differ significantly in truth ({tested})."


RowOrder = Mapping[str, Sequence[object] | None]
"""Columns that rows are sorted by, each in the order given, or by value where that is None."""


def in_order(frame: pd.DataFrame, keys: RowOrder) -> pd.DataFrame:
    """Rows in this order."""
    columns = [
        (frame[name] if order is None else frame[name].map({x: i for i, x in enumerate(order)})).to_numpy()
        for name, order in keys.items()
    ]
    return frame.iloc[np.lexsort(columns[::-1])].reset_index(drop=True)


def ordered_table(results: Sequence[PartResult], keys: RowOrder) -> pd.DataFrame:
    """Rows of all parts, `in_order`."""
    import pandas as pd

    names = results[0].rows
    return in_order(pd.DataFrame({name: [x for r in results for x in r.rows[name]] for name in names}), keys)


def summary_of(
    rows: pd.DataFrame, keys: Sequence[str], summarize: Callable[[pd.DataFrame], dict[str, Any]]
) -> pd.DataFrame:
    """A row for each combination of the keys, in their order, with the summary of its rows."""
    import pandas as pd

    groups = rows.groupby(list(keys), sort=False)
    return pd.DataFrame([dict(zip(keys, key, strict=True)) | summarize(group) for key, group in groups])


PIT = "Where the truth lies in the posterior of each run; flat where intervals are right"
"""Caption of figures of PIT values."""


def figure_of(name: str, caption: str, draw: Callable[[], Any], of: Sequence[object] = ()) -> Figure:
    """Figure with what it is ``of``, such as a measure, in its name and caption."""
    of_what = f" ({', '.join(map(str, of))})" if of else ""
    return Figure("-".join([name, *map(variable_name, of)]), f"{caption}{of_what}", draw)


def panel_figure(
    name: str, caption: str, plots: Sequence[Callable[..., Any]], *, of: Sequence[object] = (), **size: float
) -> Figure:
    """`figure_of` several plots, a panel for each."""

    def draw() -> Any:
        from bayespool.plots.style import draw_panels

        return draw_panels(plots, **size)  # type: ignore[arg-type]

    return figure_of(name, caption, draw, of)


def width_column(ci_prob: float) -> dict[str, Column]:
    """Column of the mean width of intervals with this probability."""
    return {"width": replace(COLUMNS["width"], label=f"width of\n{level(ci_prob)}")}


def reported_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs that the experiment reports on; all where it does not choose."""
    return frame[frame["reported"]].reset_index(drop=True) if "reported" in frame else frame


class WithReportedRuns(ExperimentResult):
    """Result with tables of runs of which summaries are over the best ``top`` %."""

    def to_frame(self, table: str | None = None, *, reported_only: bool = False) -> pd.DataFrame:
        """Data frame of one of the tables, by default the first.

        Parameters
        ----------
        table : str, optional
        reported_only : bool, default False
            Of runs only the best ``top`` %, which summaries are over.
        """
        frame = super().to_frame(table)
        return reported_rows(frame) if reported_only else frame


def pools_scope(result: ExperimentResult) -> str:
    """Clause on what is judged, and what means are over."""
    s = result.settings
    who = "" if s.runs == "pooled" else ", all runs taking part, unjudged documents in truth nonrelevant"
    return f"judged to depth {s.pool_depth}{who}; means over {counted(len(result.query_ids), 'topic')}"
