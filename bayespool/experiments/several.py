"""The leave-out experiment on several collections: which estimator errs least on how many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.experiments.leave_out_results import LeaveOutResult
from bayespool.experiments.leaving_out import leave_out_resolved, resolve_design
from bayespool.experiments.preparing import labeled_estimators
from bayespool.experiments.settings import LeaveOutSettings, leave_out_estimand
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.names import PairTest, Runs, Unseen
from bayespool.pooling.loading import check_collection_names
from bayespool.report.result import Result
from bayespool.tables.formatting import counted, number
from bayespool.tables.table import Column, Table, View
from bayespool.validation import listed

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.posterior import PosteriorEstimator

_REFERENCE = "as-judged"
_ROUNDING = 1e-12
_COLUMNS = {
    "collection": Column("collection", "text", "Name of the collection."),
    "mae_change": Column("change,\n%", "difference", "Change of the MAE against as-judged, in %.", 1),
}
_OVERALL = {
    "n_collections": Column("collections", "count", "Number of collections in which the MAE is known."),
    "n_best": Column("best", "count", "Collections in which no estimator has a smaller MAE."),
    "n_worst": Column("worst", "count", "Collections in which no estimator has a larger MAE."),
    "geometric_mean": Column("mean MAE", "score", "Geometric mean over collections in which no MAE is 0."),
    "n_averaged": Column("averaged", "count", "Number of these collections."),
}
_ERRORS = ("mae", "mae_change", "rmse", "bias", "sre", "sre_star", "kendall_tau_b", "coverage_95", "width")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOutSeveralResult(Result):
    """Result from `leave_out_several`.

    Its tables are ``summary``, a row per collection, measure and estimator; ``overall``, a row per measure
    and estimator, with the number of collections where its MAE is the least and the largest, and the
    geometric mean; and ``runs``, a row per collection, measure, estimator and run.

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
        """Metadata with version and settings, and each collection's fingerprint, pool and warnings."""
        names = ("fingerprint", "pool", "warnings")
        return {
            "bayespool": __version__,
            "settings": self.settings.describe(),
            "collections": {
                name: {key: result.metadata[key] for key in names} for name, result in self.results.items()
            },
        }

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``summary``, ``overall`` and ``runs``."""
        first = next(iter(self.results.values()))
        columns = {name: _COLUMNS | dict(first.table(name).columns) for name in ("summary", "runs")}
        return (
            Table("summary", "Summary", self._summary.copy(), columns["summary"], self._views("summary")),
            Table("overall", "Over all collections", self._overall.copy(), _OVERALL, self._views("overall")),
            Table("runs", "Run by run", self._stacked("runs"), columns["runs"]),
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes on collections left out of geometric means, and the notes on each collection."""
        sizes = self._overall.groupby("measure", sort=False)[["n_averaged", "n_collections"]].max()
        notes = [
            f"{measure}: the geometric mean of the MAE leaves out {of - n} of {of} collections, where it is "
            "0 for an estimator"
            for measure, n, of in sizes.itertuples()
            if n < of
        ]
        each_notes = (f"{name}, {note}" for name, result in self.results.items() for note in result.notes())
        return (*notes, *each_notes)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the estimator that is best in most collections, for each measure."""
        s, n = self.settings, len(self.results)
        first = f"Each {s.by} left out in turn, of {n} collection{'s' * (n > 1)}: {', '.join(self.results)}."
        return (first, *(self._sentence(str(measure)) for measure in s.measures))

    def _stacked(self, table: str) -> pd.DataFrame:
        """Return a table with the rows from all collections, named in the first column."""
        import pandas as pd

        frames = [result.to_frame(table) for result in self.results.values()]
        stacked = pd.concat(frames, ignore_index=True)
        stacked.insert(0, "collection", np.repeat(list(self.results), [len(frame) for frame in frames]))
        return stacked

    @cached_property
    def _summary(self) -> pd.DataFrame:
        frame = self._stacked("summary")
        keys = zip(frame["collection"], frame["measure"], frame["estimator"], strict=True)
        has_reference = _REFERENCE in self.settings.labels
        change = [self.results[c].mae_change(m, e) if has_reference else np.nan for c, m, e in keys]
        frame.insert(list(frame.columns).index("mae") + 1, "mae_change", change)
        return frame

    @cached_property
    def _overall(self) -> pd.DataFrame:
        """Geometric means of the MAE and numbers of collections by measure and estimator."""
        import pandas as pd

        labels, frames = list(self.settings.labels), []
        for measure, rows in self._summary.groupby("measure", sort=False):
            mae = rows.pivot(index="collection", columns="estimator", values="mae")[labels]
            columns = over_collections(mae.to_numpy(float))
            frames.append(pd.DataFrame({"measure": measure, "estimator": labels} | columns))
        return pd.concat(frames, ignore_index=True)

    def _views(self, table: str) -> tuple[View, ...]:
        names, columns, title = ["collection", "estimator"], list(_ERRORS), "by collection"
        if table == "overall":
            names, columns = ["estimator"], ["n_best", "n_worst", "geometric_mean"]
            title = "number of collections where an estimator is best and worst by MAE"
        return tuple(
            View(title=f"{m}, {title}", names=tuple(names), columns=tuple(columns), where={"measure": m})
            for m in map(str, self.settings.measures)
        )

    def _sentence(self, measure: str) -> str:
        """Return a sentence on the estimator that most often has the smallest MAE under a measure."""
        rows = self._overall[self._overall["measure"] == measure].set_index("estimator")
        keys = ["n_best", "geometric_mean"]
        best = rows.sort_values(keys, ascending=[False, True], kind="stable").index[0]
        n, of = (int(rows.loc[best, name]) for name in ("n_best", "n_collections"))
        text = f"{measure}: {best} has the smallest MAE in {n} of {of} collections, ties included."
        mean = rows["geometric_mean"]
        if best != _REFERENCE and _REFERENCE in mean and mean.notna()[[best, _REFERENCE]].all():
            text += f" The geometric mean of its MAE is {number(mean[best])}"
            text += f" against {number(mean[_REFERENCE])} as judged."
        return text


def over_collections(errors: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
    """Return columns of ``overall`` from errors of shape (collection, estimator), NaN where unknown."""
    errors = errors[~np.isnan(errors).all(axis=1)]
    is_known = ~np.isnan(errors)
    best = errors <= np.nanmin(errors, axis=1, keepdims=True, initial=np.inf) + _ROUNDING
    worst = errors >= np.nanmax(errors, axis=1, keepdims=True, initial=-np.inf) - _ROUNDING
    averaged = is_known & ~(errors < _ROUNDING).any(axis=1, keepdims=True)
    n_averaged = averaged.sum(axis=0)
    logs = np.log(errors, out=np.zeros_like(errors), where=averaged).sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = np.where(n_averaged > 0, np.exp(logs / n_averaged), np.nan)
    return {
        "n_collections": is_known.sum(axis=0),
        "n_best": best.sum(axis=0),
        "n_worst": worst.sum(axis=0),
        "geometric_mean": means,
        "n_averaged": n_averaged,
    }


def leave_out_several(
    collections: Mapping[str, Collection],
    measures: object = "P@10",
    *,
    estimators: object = "all",
    posterior: str | PosteriorEstimator | None = None,
    by: Literal["organization", "run", "cluster", "type"] = "organization",
    n_clusters: int | None = None,
    run_types: Mapping[str, str] | None = None,
    types: str | Iterable[str] | None = None,
    runs: Runs = "pooled",
    top: float = 100,
    top_pool: Literal["all", "kept"] = "all",
    truth: Literal["repooled", "full"] = "repooled",
    unseen: Unseen = "nonrelevant",
    denominator: Literal["qrels", "run"] = "qrels",
    pool_depth: int | None = None,
    test: PairTest = "tukey-hsd",
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LeaveOutSeveralResult:
    """Leave organizations (runs, clusters of runs) out of the pools in several collections.

    It is `bayespool.leave_out` on each collection, with tables by collection and over all of them: where an
    estimator's MAE is the least and the largest, and geometric means.

    Parameters
    ----------
    collections : mapping of str to Collection
        By name, such as `bayespool.read_collections` gives them.
    measures, estimators, posterior, by, n_clusters, run_types, types, runs, top, top_pool, truth, unseen, \
denominator, pool_depth, test, ci_prob, random_seed : optional
        As in `bayespool.leave_out`.
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
    Ties count for each of the estimators in ``n_best`` and ``n_worst``. A geometric mean is over the
    collections in which no estimator's error is 0.

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
    estimand = leave_out_estimand(truth, unseen)
    settings = LeaveOutSettings(
        measures=parse_ranking_measures(measures),
        estimators=labeled_estimators(estimators, posterior, estimand=estimand, random_seed=random_seed),
        by=by,
        n_clusters=n_clusters,
        run_types=tuple((run_types or {}).items()),
        types=listed("types", types),
        runs=runs,
        top=top,
        top_pool=top_pool,
        truth=truth,
        unseen=unseen,
        denominator=denominator,
        pool_depth=pool_depth,
        test=test,
        ci_prob=fill_ci_prob(ci_prob),
        random_seed=random_seed,
    )
    check_collection_names(collections)
    if not collections:
        raise InputError("no collection", hint="give a mapping of names to collections")
    n_folds = {}
    for name, collection in collections.items():
        with _named(name):
            n_folds[name] = len(resolve_design(collection, settings)[3])
    results: dict[str, LeaveOutResult] = {}
    for name, collection in collections.items():
        n_before = sum(n_folds[former] for former in results)

        def show(n_done: int, _: int, n_before: int = n_before) -> None:
            if progress is not None:
                progress(n_before + n_done, sum(n_folds.values()))

        with _named(name):
            place = None if folder is None else Path(folder) / name
            results[name] = leave_out_resolved(
                collection, settings, folder=place, n_jobs=n_jobs, progress=show
            )
    return LeaveOutSeveralResult(settings=settings, results=results)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Add the collection's name as a note to errors raised in this context."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the collection {name!r}")
        raise
