"""Comparison of an engine with the reference sampler on predictions of run scores."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import metadata_of, summary_of
from bayespool.experiments.hidden import (
    Fitting,
    HeldOutRankings,
    HiddenDocuments,
    Question,
    draw_levels,
    pool_alone,
    pool_problems,
    questions_of,
)
from bayespool.experiments.predictions import beyond, check_pool, deal_folds
from bayespool.experiments.running import Running, Work, in_parts
from bayespool.experiments.settings import EngineCheckSettings
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.measures import Measure
from bayespool.models import MODEL_NAMES
from bayespool.report.result import Figure, Result
from bayespool.tables.columns import Column
from bayespool.tables.formatting import level, percent, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, View

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = "nuts"
"""Engine that others are compared with."""

MEAN_WITHIN, ENDS_WITHIN = 0.02, 0.05
"""Tolerated differences of the engines, as shares of the width of NUTS' interval."""

_TARGET_ACCEPT = 0.95  # short steps of NUTS, so that no transition of the reference diverges
_N_BATCHES = 20  # batch means give the Monte-Carlo error of autocorrelated draws


_NAMED = {"mean": "mean", "lower": "lower end of the interval", "upper": "upper end of the interval"}
_PROBLEMS = {"problems": Column("problems", "text", "Failed checks of the two fits.")}
_OF_RUNS = _PROBLEMS | {"width": Column("width", "score", "Width of NUTS' interval.")}
for _name, _text in _NAMED.items():
    _OF_RUNS |= {
        f"{_name}_off": Column(f"{_name}\noff", "chance", f"Engine − NUTS, {_text}, by width."),
        f"{_name}_off_se": Column("±", "chance", f"Monte-Carlo error of {_name}_off."),
    }
_OF_SUMMARY = _PROBLEMS | {
    "mean_off": Column("means off\n(mean)", "chance", "Mean absolute difference of the means, by width."),
    "mean_agrees": Column(
        f"within\n{level(MEAN_WITHIN)}", "size", "Share of runs whose means do, but for Monte-Carlo error."
    ),
    "ends_off": Column("ends off\n(mean)", "chance", "Mean absolute difference of the ends, by width."),
    "ends_agree": Column(
        f"within\n{level(ENDS_WITHIN)}", "size", "Share of ends that do, but for Monte-Carlo error."
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class EngineComparison(Result):
    """Result of `compare_engines`: differences of an engine from NUTS.

    Its tables are `engines`, a row per measure, model and held-out run with hidden documents, and `summary`.

    Attributes
    ----------
    metadata : mapping
        Version, fingerprint and settings; ``mean_within`` and ``ends_within`` are tolerated differences, as
        shares of the width of NUTS' interval.
    """

    _runs: pd.DataFrame = field(repr=False)
    metadata: Mapping[str, Any]

    command = "check engines"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Engines compared."""
        return f"{str(self.metadata['engine']).capitalize()} against NUTS"

    def __repr__(self) -> str:
        models, measures = (some_of(self.metadata[name], 3) for name in ("models", "measures"))
        return one_line(
            "EngineComparison", f"{self.metadata['engine']} and {REFERENCE}; {models}; {measures}"
        )

    def tables(self) -> tuple[Table, ...]:
        """Runs, and the agreement by measure and model."""
        engine = self.metadata["engine"]
        of_engines = {
            f"{name}_{each}": Column(f"{name},\n{each}", "score", f"The {text} under {each}.")
            for each in (engine, REFERENCE)
            for name, text in _NAMED.items()
        }
        view = View(
            title=f"{engine.capitalize()} − NUTS in shares of the interval's width",
            names=("model", "measure"),
            columns=("n_runs", "mean_off", "mean_agrees", "ends_off", "ends_agree"),
        )
        return (
            Table("engines", "Engines run by run", self._runs, _OF_RUNS | of_engines),
            Table("summary", "Agreement of the engines", self._summary(), _OF_SUMMARY, (view,)),
        )

    def summary(self) -> tuple[str, ...]:
        """How often the engine agrees with NUTS."""
        frame, engine = self._summary(), self.metadata["engine"]
        weights = frame["n_runs"]
        means, ends = (percent(np.average(frame[n], weights=weights)) for n in ("mean_agrees", "ends_agree"))
        return (
            f"{means} of the means of {engine} agree with NUTS' within {level(MEAN_WITHIN)} of the width of "
            f"the interval, and {ends} of the ends within {level(ENDS_WITHIN)}.",
        )

    def notes(self) -> tuple[str, ...]:
        """Failed checks of the fits."""
        rows = self._summary().to_dict("records")
        return tuple(
            f"{row['measure']}, {row['model']}: {row['problems']}" for row in rows if row["problems"]
        )

    def figures(self) -> tuple[Figure, ...]:
        """Differences run by run."""
        from bayespool.plots.checks import draw_engines

        return (Figure("engines", self.title, partial(draw_engines, self)),)

    def _summary(self) -> pd.DataFrame:
        return summary_of(self._runs, ("measure", "model"), _agreement)


def _agreement(rows: pd.DataFrame) -> dict[str, Any]:
    """Differences of the engines on the runs of a measure and model, and how often they are tolerated."""
    off = {n: rows[f"{n}_off"].abs() for n in _NAMED}
    within = {n: MEAN_WITHIN if n == "mean" else ENDS_WITHIN for n in _NAMED}
    agrees = {n: off[n] <= within[n] + 2 * rows[f"{n}_off_se"] for n in _NAMED}
    return {
        "n_runs": len(rows),
        "mean_off": off["mean"].mean(),
        "mean_agrees": agrees["mean"].mean(),
        "ends_off": (off["lower"].mean() + off["upper"].mean()) / 2,
        "ends_agree": (agrees["lower"].mean() + agrees["upper"].mean()) / 2,
        "problems": rows["problems"].iloc[0],
    }


class EnginesCompared(Work):
    """Both engines on each measure and model."""

    name: ClassVar[str] = "check engines"
    parts_name: ClassVar[str] = "fits"
    folder: ClassVar[str] = "engines"

    def compute(
        self, collection: Collection, part: tuple[Measure, str], settings: EngineCheckSettings
    ) -> Stored:
        """Differences of the engines on the runs of the first fold."""
        measure, model = part
        of_rungs = pool_problems(collection, measure)
        hidden = HiddenDocuments(of_rungs[0])
        rankings = HeldOutRankings(hidden)
        prepared = [problem.prepare(model, dict(settings.priors)) for problem in of_rungs]
        questions = questions_of(prepared, rankings)
        problems: list[str] = []
        drawn = {}
        for engine in (settings.engine, REFERENCE):
            runs, drawn[engine], of_fits = _predict(questions, rankings, engine, settings)
            problems += [f"{engine}: {text}" for text in of_fits]
        per_mean = measure.unit * len(collection.query_ids)
        rows: Columns = {}
        row = {"measure": str(measure), "model": model, "run_id": [hidden.counts.run_ids[r] for r in runs]}
        compared = _compare(drawn, rankings.known(runs).totals(), per_mean, settings.ci_prob)
        add_rows(rows, row | compared | {"problems": "; ".join(problems)})
        return rows, {}


@in_parts(EngineCheckSettings, EnginesCompared)
def compare_engines(
    collection: Collection, *, settings: EngineCheckSettings, running: Running
) -> EngineComparison:
    """Compare an engine with NUTS on the scores of runs whose organizations are held out.

    One fold of organizations is held out, both engines fit each model to the others, and the held-out runs
    are predicted with the same random numbers where both draw.

    Parameters
    ----------
    collection : Collection
        Judgments of your own are left out.
    {options}
    {running}

    Returns
    -------
    EngineComparison

    Raises
    ------
    InputError
        NUTS compared with itself; a pool from which no fold can be held out.
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    Draws of whole numbers get uniform noise in ±½ for the ends of intervals, so that rounding neither hides a
    difference nor makes one.
    """
    import pandas as pd

    if settings.engine == REFERENCE:
        raise InputError(f"{REFERENCE} is what engines are compared with", hint="compare another")
    names, collection = settings.models or MODEL_NAMES, pool_alone(collection)
    for measure in settings.measures:
        check_pool(HiddenDocuments(pool_problems(collection, measure)[0]), settings.n_folds)
    parts = list(itertools.product(settings.measures, names))
    results = EnginesCompared().run(collection, parts, settings, running)
    return EngineComparison(
        pd.concat([pd.DataFrame(result.rows) for result in results], ignore_index=True),
        metadata_of(
            collection, settings, models=list(names), mean_within=MEAN_WITHIN, ends_within=ENDS_WITHIN
        ),
    )


def _predict(
    questions: Sequence[Question], rankings: HeldOutRankings, engine: str, settings: EngineCheckSettings
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], list[str]]:
    """Runs of the first fold with hidden documents, draws of the amounts that these add, shape (draw, run),
    and problems of the fits.
    """
    hidden, seed = rankings.hidden, settings.random_seed
    fitting = Fitting.of(settings, engine=engine, target_accept=_TARGET_ACCEPT)
    held_out = deal_folds(len(hidden.organizations), settings.n_folds) == 0
    some_hidden = hidden.counts.n_hidden.sum(axis=(1, 2)) > 0
    runs = np.flatnonzero(held_out[hidden.organization] & some_hidden)
    of_runs = np.isin(rankings.organization, hidden.organization[runs])
    rng = np.random.default_rng([seed, 1])
    log_odds, problems = [], list[str]()
    for question in questions:
        seen = question.prepared.evidence.of_organizations(~held_out)
        fit = fitting.fit(question.prepared, seen, seed, ())
        problems += fit.diagnostics.problems
        row, odds = question.held_out_log_odds(fit, held_out, rng)
        log_odds.append(question.of_documents(row, odds, of_runs))
    drawn = rankings.values(runs, np.flatnonzero(of_runs), draw_levels(log_odds, rng))
    return runs, beyond(drawn, rankings.known(runs).totals()), problems


def _compare(
    drawn: Mapping[str, npt.NDArray[Any]], known: npt.NDArray[Any], per_mean: int, ci_prob: float
) -> dict[str, Any]:
    """Statistics of the two engines' draws, the reference's last, and their differences."""
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    statistics, errors = {}, {}
    for engine, draws in drawn.items():
        smooth = draws
        if draws.dtype.kind in "iu":
            smooth = draws + np.random.default_rng(1).uniform(-0.5, 0.5, draws.shape)
        statistics[engine] = _statistics(smooth, tails)
        statistics[engine][0] = draws.mean(axis=0)
        size = max(1, len(draws) // _N_BATCHES)
        batches = [_statistics(smooth[i : i + size], tails) for i in range(0, size * _N_BATCHES, size)]
        errors[engine] = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    checked, reference = drawn
    width = statistics[reference][2] - statistics[reference][1]
    with np.errstate(invalid="ignore", divide="ignore"):  # an interval of one value has no width
        off = (statistics[checked] - statistics[reference]) / width
        off_se = np.sqrt(errors[checked] ** 2 + errors[reference] ** 2) / width
    columns: dict[str, Any] = {}
    for engine in drawn:
        columns |= {
            f"{n}_{engine}": (known + v) / per_mean for n, v in zip(_NAMED, statistics[engine], strict=True)
        }
    columns["width"] = width / per_mean
    for name, value, se in zip(_NAMED, off, off_se, strict=True):
        columns |= {f"{name}_off": value, f"{name}_off_se": se}
    return columns


def _statistics(draws: npt.NDArray[np.float64], tails: list[float]) -> npt.NDArray[np.float64]:
    """Mean and ends of the interval, shape (statistic, run)."""
    return np.vstack([draws.mean(axis=0), np.quantile(draws, tails, axis=0)])
