"""The leave-out experiment on several collections, as in table 2 and figure 2 of Lipani et al. (2015)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import panel_figure, sre_star_note
from bayespool.experiments.leaving_out import LeaveOutResult, RunsLeftOut, design_of, leave_out
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.pooling.collection_files import check_collection_names
from bayespool.report.result import Figure, Result
from bayespool.tables.columns import COLUMNS, Column
from bayespool.tables.files import records
from bayespool.tables.formatting import counted, number
from bayespool.tables.table import Spread, Table, View

if TYPE_CHECKING:
    import pandas as pd

_REFERENCE = "as-judged"
_ERRORS = ("mae", "rmse", "sre", "sre_star")
_LABELS = {name: COLUMNS[name].label for name in _ERRORS}
_COEFFICIENTS = {"generalizability": "Eρ²", "dependability": "Φ"}
_ROUNDING = 1e-12
_MAX_EXACT = 7  # collections whose orders are all gone through: 5,040
_MAX_COLORS = 6  # estimators in a figure
_MIN_SIGNIFICANT = 5  # of four collections no order is rarer than 2 in 24

_COLUMNS = {
    "collection": Column("collection", "text", "Name of the collection."),
    "mae_change": Column(
        "change,\n%", "difference", "Change of the MAE against the runs as judged, in %.", 1
    ),
}
_OVERALL = {
    "error_measure": Column("error", "text", "The error: mae, rmse, sre or sre_star."),
    "n_collections": Column("collections", "count", "Number of collections in which it is known."),
    "n_best": Column("best", "count", "Collections in which no estimator has a smaller error."),
    "n_best_alone": Column(
        "alone", "count", "Collections in which all other estimators have a larger error."
    ),
    "n_worst": Column("worst", "count", "Collections in which no estimator has a larger error."),
    "n_worst_alone": Column(
        "alone", "count", "Collections in which all other estimators have a smaller error."
    ),
    "geometric_mean": Column("mean", "score", "Geometric mean over collections in which no error is 0."),
    "n_averaged": Column("averaged", "count", "Number of these collections."),
}
_CORRELATIONS = {
    "coefficient": Column(
        "coefficient", "text", "The reliability: generalizability (Eρ²) or dependability (Φ)."
    ),
    "n_collections": Column(
        "collec\xad\ntions", "count", "Number of collections with a gain and a reliability."
    ),
    "rho": Column("ρ", "coefficient", "Spearman's correlation of the reliability and the change of the MAE."),
    "p_value": Column("p", "p-value", "Its two-sided p-value."),
}
_COLLECTIONS = {
    "collection": _COLUMNS["collection"],
    "n_topics": Column("topics", "count", "Number of topics."),
    "n_pooled_runs": Column("pooled\nruns", "count", "Number of pooled runs."),
    "n_organizations": Column(
        "organi\xad\nzations", "count", "Number of organizations of the runs left out."
    ),
    "pool": Column("pool", "text", "Report of the pool."),
    "fingerprint": Column("fingerprint", "text", "Fingerprint of the collection."),
}
_GAIN = "Spearman's correlation of the change of the MAE with the reliability"
_CORRELATIONS_VIEW = View(
    title=_GAIN,
    names=("measure", "estimator"),
    columns=(
        "n_collections",
        Spread(("rho", "p_value"), across="coefficient", labels=_COEFFICIENTS, grouped=True),
    ),
)
_COLLECTIONS_VIEW = View(
    title="collections", names=("collection",), columns=("n_topics", "n_pooled_runs", "n_organizations")
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOutSeveralResult(Result):
    """Result of `leave_out_several`.

    Its tables are ``summary``, a row per collection, measure and estimator; ``overall``, a row per measure,
    error and estimator, with the number of collections where the estimator is best and worst, and geometric
    means; ``correlations`` of the change of the MAE with the reliability; ``reliability`` by collection and
    measure; ``collections``; ``runs``, a row per collection, measure, estimator and run; and, where clusters
    of runs are left out, ``clusters``.

    Attributes
    ----------
    settings : LeaveOutSettings
    results : mapping of str to LeaveOutResult
        By the name of the collection.
    """

    command = "leave-out"
    title = "Organizations left out of several pools"
    settings: LeaveOutSettings
    results: Mapping[str, LeaveOutResult]

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<LeaveOutSeveralResult: {counted(len(self.results), 'collection')}, "
            f"{counted(len(s.measures), 'measure')}, {counted(len(s.estimators), 'estimator')}>"
        )

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override] # derived, where others have a field
        """Version and settings, and by collection fingerprint, pool and warnings."""
        of_each = ("fingerprint", "pool", "warnings")
        return {
            "bayespool": __version__,
            "settings": self.settings.describe(),
            "collections": {
                name: {key: result.metadata[key] for key in of_each} for name, result in self.results.items()
            },
        }

    def tables(self) -> tuple[Table, ...]:
        """``summary``, ``overall``, ``correlations``, ``reliability``, ``collections``, ``runs`` and, where
        clusters are left out, ``clusters``.
        """
        one = self._first.table("reliability").views[0]
        reliability = replace(one, names=("collection", "measure"), columns=("n_runs", *one.columns))
        overall = tuple(self._overall_views())
        stacked = ("runs", "clusters") if self.settings.by == "cluster" else ("runs",)
        return (
            self._of_each("summary", self._summary.copy(), tuple(self._views())),
            Table("overall", "Over all collections", self._overall.copy(), _OVERALL, overall),
            Table("correlations", _GAIN, self._correlations.copy(), _CORRELATIONS, (_CORRELATIONS_VIEW,)),
            self._of_each("reliability", self._stacked("reliability"), (reliability,)),
            Table("collections", "Collections", self._collections(), _COLLECTIONS, (_COLLECTIONS_VIEW,)),
            *(self._of_each(name, self._stacked(name)) for name in stacked),
        )

    def notes(self) -> tuple[str, ...]:
        """Notes on the tables over all collections, and those of each collection."""
        notes = []
        if _REFERENCE not in self.settings.labels:
            notes.append(f"no change of the MAE: {_REFERENCE} is not among the estimators")
        elif 1 < len(self.results) < _MIN_SIGNIFICANT:
            notes.append(
                f"with fewer than {_MIN_SIGNIFICANT} collections no rank correlation is significant at 5 %"
            )
        left = self._overall[self._overall["n_averaged"] < self._overall["n_collections"]]
        for (measure, error), rows in left.groupby(["measure", "error_measure"], sort=False):
            n, of = int(rows["n_averaged"].max()), int(rows["n_collections"].max())
            mean = f"{measure}: the geometric mean of the {_LABELS[str(error)]}"
            notes.append(f"{mean} leaves out {of - n} of {of} collections, where it is 0 for an estimator")
        of_each = (f"{name}, {note}" for name, result in self.results.items() for note in result.notes())
        return (*notes, *of_each)

    def summary(self) -> tuple[str, ...]:
        """Which estimator is best in how many collections, by measure."""
        s, n = self.settings, len(self.results)
        first = f"Each {s.by} left out in turn, of {n} collection{'s' * (n > 1)}: {', '.join(self.results)}."
        return (first, *(self._sentence(str(measure)) for measure in s.measures))

    def figures(self) -> tuple[Figure, ...]:
        """``gain`` of each measure and six estimators, where it is known of two collections or more."""
        from bayespool.plots import plot_gain

        caption = "Change of the MAE against the reliability of the true scores, a mark for each collection"
        reliable, correlations, figures = self._stacked("reliability"), self._correlations, []
        for measure in self.settings.measures:
            names = reliable.loc[reliable["measure"] == str(measure), "collection"]
            results = {name: self.results[name] for name in names}
            known = correlations[
                (correlations["measure"] == str(measure)) & (correlations["n_collections"] > 1)
            ]
            labels = list(known["estimator"].unique())
            parts = [labels[i : i + _MAX_COLORS] for i in range(0, len(labels), _MAX_COLORS)]
            for i, part in enumerate(parts, 1):
                rows, panels = known[known["estimator"].isin(part)], []
                for coefficient, group in rows.groupby("coefficient", sort=False):
                    texts = {row["estimator"]: _legend(row) for row in records(group)}
                    options: dict[str, Any] = {"coefficient": coefficient, "texts": texts}
                    panels.append(partial(plot_gain, results, measure, part, **options))
                of = [measure, f"{i} of {len(parts)}"] if len(parts) > 1 else [measure]
                figures.append(panel_figure("gain", caption, panels, of=of, width=7, height=3.6))
        return tuple(figures)

    @property
    def _first(self) -> LeaveOutResult:
        return next(iter(self.results.values()))

    def _of_each(self, name: str, frame: pd.DataFrame, views: tuple[View, ...] = ()) -> Table:
        """A table with the columns of a single collection's."""
        one = self._first.table(name)
        return Table(name, one.caption, frame, _COLUMNS | dict(one.columns), views)

    def _stacked(self, table: str) -> pd.DataFrame:
        """A table of all collections, with a first column that names them."""
        import pandas as pd

        frames = [result.to_frame(table) for result in self.results.values()]
        stacked = pd.concat(frames, ignore_index=True)
        stacked.insert(0, "collection", np.repeat(list(self.results), [len(frame) for frame in frames]))
        return stacked

    @cached_property
    def _summary(self) -> pd.DataFrame:
        frame = self._stacked("summary")
        keys = zip(frame["collection"], frame["measure"], frame["estimator"], strict=True)
        known = _REFERENCE in self.settings.labels
        change = [self.results[c].mae_change(m, e) if known else np.nan for c, m, e in keys]
        frame.insert(list(frame.columns).index("mae") + 1, "mae_change", change)
        return frame

    @cached_property
    def _overall(self) -> pd.DataFrame:
        """Counts and geometric means by measure, error and estimator."""
        import pandas as pd

        rows, labels = [], list(self.settings.labels)
        for measure in map(str, self.settings.measures):
            of_measure = self._summary[self._summary["measure"] == measure]
            for error in _ERRORS:
                table = of_measure.pivot(index="collection", columns="estimator", values=error)[labels]
                columns = over_collections(table.to_numpy(float))
                rows += [
                    {"measure": measure, "error_measure": error, "estimator": label}
                    | {name: values[i] for name, values in columns.items()}
                    for i, label in enumerate(labels)
                ]
        return pd.DataFrame(rows)

    @cached_property
    def _correlations(self) -> pd.DataFrame:
        """Correlations by measure, estimator and coefficient, without the runs as judged."""
        import pandas as pd

        labels = [label for label in self.settings.labels if label != _REFERENCE]
        columns = ["measure", "estimator", "coefficient", "n_collections", "rho", "p_value"]
        rows = []
        joined = self._summary.merge(self._stacked("reliability"), on=["collection", "measure"])
        for measure in map(str, self.settings.measures):
            for label in labels if _REFERENCE in self.settings.labels else ():
                pairs = joined[(joined["measure"] == measure) & (joined["estimator"] == label)]
                for coefficient in _COEFFICIENTS:
                    known = pairs[[coefficient, "mae_change"]].dropna()
                    rho = rank_correlation(known[coefficient].to_numpy(), known["mae_change"].to_numpy())
                    rows.append((measure, label, coefficient, len(known), *rho))
        return pd.DataFrame(rows, columns=columns)

    def _collections(self) -> pd.DataFrame:
        import pandas as pd

        first = str(self.settings.measures[0])
        rows = [
            (
                name,
                len(result.query_ids),
                result.n_pooled_runs[first],
                result.to_frame()["organization"].nunique(),
                result.pool,
                result.fingerprint,
            )
            for name, result in self.results.items()
        ]
        return pd.DataFrame(rows, columns=list(_COLLECTIONS))

    def _views(self) -> Iterator[View]:
        """Errors of each collection, by measure."""
        columns = ("mae", "mae_change", "rmse", "bias", "sre", "sre_star", "kendall_tau_b")
        for measure in map(str, self.settings.measures):
            yield View(
                title=f"{measure}, by collection",
                names=("collection", "estimator"),
                columns=(*columns, "coverage_95", "pit_95", "width"),
                where={"measure": measure},
                spare=("kendall_tau_b", "pit_95"),
            )

    def _overall_views(self) -> Iterator[View]:
        """Counts, and geometric means, by measure."""
        counts = ("n_best", "n_best_alone", "n_worst", "n_worst_alone")
        compared = ("mae", "sre", "sre_star")
        ties = "Ties count for each of the estimators; alone: without ties."
        legend = f"{ties} {sre_star_note(self.settings.test)}"
        measures = list(map(str, self.settings.measures))
        for measure in measures:
            spread = Spread(counts, across="error_measure", labels=_LABELS, grouped=True, values=compared)
            yield View(
                title=f"{measure}, number of collections where an estimator is best and worst",
                names=("estimator",),
                columns=(spread,),
                where={"measure": measure},
                note=legend if measure == measures[-1] else "",
            )
        for measure in measures:
            yield View(
                title=f"{measure}, geometric mean over collections",
                names=("estimator",),
                columns=(Spread(("geometric_mean",), across="error_measure", labels=_LABELS),),
                where={"measure": measure},
            )

    def _sentence(self, measure: str) -> str:
        """Which estimator most often has the smallest MAE under a measure, and how its errors compare."""
        rows = self._overall[self._overall["measure"] == measure]
        of = {error: group.set_index("estimator") for error, group in rows.groupby("error_measure")}
        mae = of["mae"]
        best = mae.sort_values(["n_best", "geometric_mean"], ascending=[False, True], kind="stable").index[0]
        counts = [
            f"the smallest {_LABELS[error]} in {of[error].loc[best, 'n_best']}"
            for error in ("mae", "sre", "sre_star")
        ]
        text = f"{measure}: {best} has {counts[0]} of {mae.loc[best, 'n_collections']} collections, "
        text += f"{counts[1]} and {counts[2]}, ties included."
        mean = mae["geometric_mean"]
        if best != _REFERENCE and _REFERENCE in mean and mean.notna()[[best, _REFERENCE]].all():
            text += f" The geometric mean of its MAE is {number(mean[best])}"
            text += f" against {number(mean[_REFERENCE])} as judged."
        return text


def _legend(row: Mapping[str, Any]) -> str:
    """Estimator with its correlation."""
    rho, p = (_CORRELATIONS[name].text(row[name]) for name in ("rho", "p_value"))
    return f"{row['estimator']}: ρ = {rho}, p = {p}"


def over_collections(errors: npt.NDArray[np.float64]) -> dict[str, Sequence[Any]]:
    """Columns of ``overall`` of errors of shape (collection, estimator), NaN where unknown."""
    errors = errors[~np.isnan(errors).all(axis=1)]
    known = ~np.isnan(errors)
    best = errors <= np.nanmin(errors, axis=1, keepdims=True, initial=np.inf) + _ROUNDING
    worst = errors >= np.nanmax(errors, axis=1, keepdims=True, initial=-np.inf) - _ROUNDING
    averaged = known & ~(errors < _ROUNDING).any(axis=1, keepdims=True)
    n_averaged = averaged.sum(axis=0)
    logs = np.log(errors, out=np.zeros_like(errors), where=averaged).sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = np.where(n_averaged > 0, np.exp(logs / n_averaged), np.nan)
    return {
        "n_collections": known.sum(axis=0),
        "n_best": best.sum(axis=0),
        "n_best_alone": (best & (best.sum(axis=1, keepdims=True) == 1)).sum(axis=0),
        "n_worst": worst.sum(axis=0),
        "n_worst_alone": (worst & (worst.sum(axis=1, keepdims=True) == 1)).sum(axis=0),
        "geometric_mean": means,
        "n_averaged": n_averaged,
    }


def rank_correlation(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Spearman's ρ and its two-sided p-value, over all orders of few pairs, else by Student's t; NaN where
    one side has a single rank.
    """
    from scipy import stats

    x, y = np.round(x, 9), np.round(y, 9)  # equal numbers that were computed differently are ties
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    all_orders = stats.PermutationMethod(n_resamples=factorial(_MAX_EXACT))
    method = all_orders if len(x) <= _MAX_EXACT else None
    tested = stats.pearsonr(stats.rankdata(x), stats.rankdata(y), method=method)
    return float(tested.statistic), float(tested.pvalue)


@in_parts(LeaveOutSettings, RunsLeftOut)
def leave_out_several(
    collections: Mapping[str, Collection], *, settings: LeaveOutSettings, running: Running
) -> LeaveOutSeveralResult:
    """Leave organizations (runs, clusters of runs) out of the pools of several collections.

    It is `bayespool.leave_out` on each collection, with tables by collection and over all of them: where an
    estimator is best and worst, geometric means, and the rank correlation of its gain with the reliability.

    Parameters
    ----------
    collections : mapping of str to Collection
        By name, such as `bayespool.read_collections` gives them.
    {options}
    folder : path, optional
        Finished folds are stored in its subfolders, one for each collection, and not worked out again by a
        later call.
    n_jobs : int, optional
        Processes, as in `bayespool.leave_out`.
    progress : callable, optional
        Called with the number of finished folds of all collections, stored ones included, and their total.

    Returns
    -------
    LeaveOutSeveralResult

    Raises
    ------
    InputError
        No collection, a name that no folder can have, or what `bayespool.leave_out` refuses.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call goes on from the stored folds.

    Warns
    -----
    BayespoolWarning
        Those of `bayespool.leave_out`.

    Notes
    -----
    Ties count for each of the estimators in ``n_best`` and ``n_worst``, and for none in ``n_best_alone`` and
    ``n_worst_alone``, which are the counts of table 2 of Lipani et al. (2015). A geometric mean is over the
    collections in which no estimator's error is 0.

    The p-value of Spearman's ρ is over all orders of up to seven collections, and of more by Student's t.

    References
    ----------
    A. Lipani, M. Lupu and A. Hanbury (2015). Splitting water: precision and anti-precision to reduce pool
    bias. SIGIR 2015, 103–112.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.experiments import leave_out_several
    >>> example = load_example()
    >>> collections = {"depth 10": example, "depth 5": example.truncate_pool(5)}
    >>> result = leave_out_several(collections, "P@5", estimators=["as-judged", "background"])
    >>> columns = ["collection", "estimator", "mae", "mae_change"]
    >>> print(result.to_frame()[columns].round(4).to_string(index=False))
    collection  estimator    mae  mae_change
      depth 10  as-judged 0.0167      0.0000
      depth 10 background 0.0145    -13.0286
       depth 5  as-judged 0.0567      0.0000
       depth 5 background 0.0496    -12.5294
    """
    check_collection_names(collections)
    if not collections:
        raise InputError("no collection", hint="give a mapping of names to collections")
    n_folds = {}
    for name, collection in collections.items():
        with _named(name):
            n_folds[name] = len(design_of(collection, settings)[3])
    results: dict[str, LeaveOutResult] = {}
    for name, collection in collections.items():
        n_before = sum(n_folds[former] for former in results)

        def show(n_done: int, _: int, n_before: int = n_before) -> None:
            if running.progress is not None:
                running.progress(n_before + n_done, sum(n_folds.values()))

        with _named(name):
            folder = None if running.folder is None else Path(running.folder) / name
            own = replace(running, folder=folder, progress=show)
            results[name] = leave_out(collection, settings=settings, **vars(own))
    return LeaveOutSeveralResult(settings=settings, results=results)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Name the collection in a note of an error."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the collection {name!r}")
        raise
