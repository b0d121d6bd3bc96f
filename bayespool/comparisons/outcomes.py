"""Significance of pairs of runs under fewer and under all judgments; announced probabilities graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayespool.arrays import BoolArray
from bayespool.comparisons.frames import count_pairs, pair_frame
from bayespool.comparisons.significance import SignificantDraws
from bayespool.comparisons.tables import (
    COMPARISON_COLUMNS,
    PAIR,
    TEST_NAMES,
    citations_with_tests,
    control_name,
)
from bayespool.corrections import Constants
from bayespool.errors import InputError
from bayespool.measures import Measure
from bayespool.measures.errors import root_mean_squared_error
from bayespool.names import AS_JUDGED, PairControl, SignificanceTest
from bayespool.report.result import Figure, Result
from bayespool.report.saving import StoredResult
from bayespool.tables import Citation
from bayespool.tables.formatting import counted, percent, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Pivot, Table, View

_COLUMNS = PAIR | {
    "group": Column("group", "text", "Whether the runs contributed to the pool."),
    "judgments": Column("judgments", "count", "Size of the smaller judgment set."),
    "all_judgments": Column("all\njudgments", "count", "Number of all judgments."),
    "pool_depth": Column("pool\ndepth", "count", "Depth of the pool of these judgments."),
    "residual": Column("residual", "score", "Mean Δ of the runs: how much their scores can rise."),
    "value": Column("mean", "score", "Mean score of the runs."),
    "against": Column("against", "text", "Standard under all judgments: the same method, or as judged."),
    "n_pairs": Column("pairs", "count", "Number of pairs of runs."),
    "separability": Column("separable", "share", "Share of pairs that are significant."),
    "separability_all": Column("separable,\nall judged", "share", "The same under all judgments."),
    "kept": Column("kept", "share", "Share of pairs significant under both sets the same way."),
    "reversed": Column("reversed", "share", "Share of pairs significant under the smaller set alone."),
    "swapped": Column("swapped", "share", "Share of pairs significant under both sets, opposite ways."),
    "gained": Column("gained", "share", "Share of pairs significant under all judgments alone."),
    "reversed_of_significant": Column("taken\nback", "share", "Share reversed or swapped of the separable."),
    "p_value": Column("p", "p-value", "Adjusted p-value under the smaller set."),
    "p_value_all": Column("p, all\njudged", "p-value", "Adjusted p-value under all judgments."),
    "statement": Column("statement", "text", "reversed: significance is lost; significant: it is there."),
    "n": Column("pairs", "count", "Number of pairs graded."),
    "bin_lower": Column("from", "chance", "Lower end of the bin of chances."),
    "bin_upper": Column("to", "chance", "Upper end of the bin of chances."),
    "announced": Column("announced", "chance", "Mean chance announced.", decimals=4),
    "happened": Column("happened", "chance", "Share that all judgments bear out.", decimals=4),
    "brier": Column("Brier", "chance", "Brier score of the chances.", decimals=4),
    "brier_constant": Column("Brier of\nthat share", "chance", "Brier score of announcing that share.", 4),
}
_RISKS = _COLUMNS | {
    **{name: COMPARISON_COLUMNS[name] for name in ("significant", "reversal_risk", "prob_significant")},
    "reversed": Column("reversed", "flag", "Whether all judgments did not confirm it."),
    "prob_significant": Column(
        "chance, all\njudged", "chance", "Chance that all judgments make it significant."
    ),
    "significant_all": Column("significant,\nall judged", "flag", "Whether all judgments made it so."),
    "gradable": Column("gradable", "flag", "Whether nearly all of both runs is judged in the end."),
}


_CAPTIONS = {
    "rates": "Separability and reversals",
    "trends": "Scores as judgments grow",
    "p_values": "P-values of pairs under fewer and under all judgments",
    "risks": "Announced chances of pairs",
    "calibration": "Announced chances by bins",
    "grades": "Announced chances, graded",
}
"""Table captions, keyed by the method that returns the frame."""


def _reversal_tables(result: Reversals) -> tuple[Table, ...]:
    frames = {name: getattr(result, name)() for name in _CAPTIONS}
    views = {"rates": _rate_views(result, frames["rates"]), "trends": _trend_views(result)}
    if not frames["grades"].empty:
        names = ("measure", *_GRADES_VIEW.names) if len(result.measures) > 1 else _GRADES_VIEW.names
        views["grades"] = (replace(_GRADES_VIEW, names=names),)
    tables = tuple(
        Table(name, caption, frames[name], _RISKS if name == "risks" else _COLUMNS, views.get(name, ()))
        for name, caption in _CAPTIONS.items()
    )
    return (*tables, _constants_table(result)) if result.constants else tables


def _constants_table(result: Reversals) -> Table:
    """Return a table of the constants fitted to the contributing runs."""
    rows = [
        {"measure": measure, "method": method, "constant_c": c.c, "constant_e": c.e, "rmse": c.rmse}
        for (measure, method), c in result.constants.items()
    ]
    view = View(
        title="Constants fitted to the contributing runs",
        names=("measure", "method"),
        columns=("constant_c", "constant_e", "rmse"),
    )
    return Table("constants", "Fitted constants", pd.DataFrame(rows), _COLUMNS, (view,))


def _rate_views(result: Reversals, rates: pd.DataFrame) -> tuple[View, ...]:
    """Return a view for each group and number of judgments, merged if both standards agree."""
    shares = ("separability", "separability_all", "kept", "reversed", "swapped", "gained")
    views = []
    for measure, group in product(map(str, result.measures), result.groups):
        for n in result.n_judgments[:-1]:
            some = f"{n:,} of {result.n_judgments[-1]:,} judgments (pool depth {result.pool_depth[n]})"
            control = control_name(result.control, result.test, count_pairs(result.groups[group]))
            test = f"{TEST_NAMES[result.test]}, level {result.level:g}, {control}"
            ways = {
                "same method": f"{some}; {test}",
                "as-judged": f"{some} against the scores as judged by all of them",
            }
            rows = rates.query("measure == @measure and group == @group and judgments == @n")
            same, other = (rows[rows["against"] == a][["method", *shares]].to_numpy() for a in ways)
            if np.array_equal(same, other):
                del ways["as-judged"]
            for against, more in ways.items():
                where = {"measure": measure, "group": group, "judgments": n, "against": against}
                title = f"{_pairs_text(result, measure, group)}: {more}"
                views.append(View(title=title, names=("method",), columns=shares, where=where))
    return tuple(views)


def _trend_views(result: Reversals) -> tuple[View, ...]:
    return tuple(
        View(
            title=f"{_pairs_text(result, measure, group)}: scores as judgments grow",
            names=("method",),
            columns=(Pivot(("value", "rmse", "topic_rmse"), "judgments", label="mean,\n{} judged"),),
            where={"measure": measure, "group": group},
        )
        for measure, group in product(map(str, result.measures), result.groups)
    )


_GRADES_VIEW = View(
    title="announced chances against what all judgments say",
    names=("group", "judgments", "method", "statement"),
    columns=("n", "announced", "happened", "brier", "brier_constant"),
    spare=("brier_constant",),
)


def _pairs_text(result: Reversals, measure: str, group: str) -> str:
    n, n_pairs = len(result.groups[group]), count_pairs(result.groups[group])
    return f"{measure}, {counted(n, f'{group} run')}, {counted(n_pairs, 'pair')}"


def calibration_table(
    probability: npt.ArrayLike, happened: npt.ArrayLike, *, n_bins: int = 10
) -> pd.DataFrame:
    """Compare stated probabilities with observed frequencies in bins, as for a reliability plot.

    Parameters
    ----------
    probability : array_like of float in [0, 1]
    happened : array_like of bool
        Outcomes, as many as probabilities.
    n_bins : int, default 10
        Bins of equal width; the last one includes 1.

    Returns
    -------
    pandas.DataFrame
        One row per bin: ``bin_lower``, ``bin_upper``, ``n``, ``announced`` (mean probability in the bin) and
        ``happened`` (share); NaN in an empty bin.

    Examples
    --------
    >>> calibration_table([0.1, 0.3, 1.0, 0.8], [False, True, True, True], n_bins=2)
       bin_lower  bin_upper  n  announced  happened
    0        0.0        0.5  2        0.2       0.5
    1        0.5        1.0  2        0.9       1.0
    """
    probabilities, outcome = _check_statements(probability, happened)
    if n_bins < 1:
        raise InputError(f"{n_bins} bins are too few")
    # a share such as 0.3 is in the bin that starts at 0.3, however the quotient is rounded
    place = np.minimum(np.floor(probabilities * n_bins + 1e-9).astype(int), n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(place, probabilities, n_bins) / n
        share = np.bincount(place, outcome, n_bins) / n
    edges = np.arange(n_bins + 1) / n_bins
    ends = {"bin_lower": edges[:-1], "bin_upper": edges[1:]}
    return pd.DataFrame(ends | {"n": n, "announced": mean, "happened": share})


def brier_score(probability: npt.ArrayLike, happened: npt.ArrayLike) -> float:
    """Return the Brier score (mean squared error) of probabilities against outcomes, NaN if there are none.

    Examples
    --------
    >>> brier_score([0.5, 1.0], [True, True])
    0.125
    """
    probabilities, outcome = _check_statements(probability, happened)
    return float(np.mean((probabilities - outcome) ** 2)) if len(probabilities) else float("nan")


def _check_statements(
    probability: npt.ArrayLike, happened: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    probabilities = np.asarray(probability, dtype=np.float64)
    outcome = np.asarray(happened, dtype=np.float64)
    if probabilities.shape != outcome.shape or probabilities.ndim != 1:
        raise InputError(f"{probabilities.shape} probabilities cannot be graded by {outcome.shape} outcomes")
    if len(probabilities) and not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise InputError("a probability is not between 0 and 1")
    return probabilities, outcome


MAX_SHARE_OF_HOLES = 0.01
"""Largest share of unjudged ranks in runs used to grade probabilities."""

Value = TypeVar("Value")
Key = tuple[str, str, int, str]  # measure, group, number of judgments, method


@dataclass(frozen=True, eq=False)
class Outcome:
    """Scores and significance for a group of runs, given one method and judgment set.

    ``value``: mean over topics, shape (run,). ``p``: adjusted p-values, shape (run, run), NaN where
    `SignificantDraws` decide. ``better``: whether the row's run is significantly better than the column's,
    shape (run, run). ``topic_rmse``: root mean squared error over runs and topics.
    """

    value: npt.NDArray[np.float64]
    p: npt.NDArray[np.float64]
    better: BoolArray
    topic_rmse: float = float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Reversals(Result):
    """Significance of differences between runs under judgment sets of increasing size.

    Made by `bayespool.comparisons.count_reversals`.

    Attributes
    ----------
    measures : tuple of Measure
    groups : mapping of str to tuple of str
        ``"contributing"`` and ``"non-contributing"`` runs; pairs are formed within a group.
    n_judgments : tuple of int
        Sizes, ascending; the last one is all judgments.
    pool_depth : mapping of int to int
        Pool depth by size.
    methods : tuple of str
    outcomes : mapping of (measure, group, n_judgments, method) to Outcome
        In the order of the measures.
    draws : mapping of (measure, group, n_judgments, method) to SignificantDraws
        For methods with draws.
    truth : mapping of (measure, group, n_judgments) to ndarray of float, shape (run,)
        Values under all judgments that a posterior estimates from n of them: the uncorrected scores, but for
        measures over an ideal ranking with the documents of the estimate's.
    residual : mapping of (measure, group, n_judgments) to float
        Mean Δ.
    holes : mapping of (measure, group) to ndarray of float, shape (run,)
        The share of each run's ranks that all judgments leave unjudged.
    constants : mapping of (measure, method) to Constants
        Fitted to the contributing runs.
    test, level, control, metadata
        Settings for `bayespool.comparisons.count_reversals`.
    """

    command = "reversals"
    title = "Claims that more judgments take back"

    measures: tuple[Measure, ...]
    groups: Mapping[str, tuple[str, ...]]
    n_judgments: tuple[int, ...]
    pool_depth: Mapping[int, int]
    methods: tuple[str, ...]
    outcomes: Mapping[Key, Outcome]
    draws: Mapping[Key, SignificantDraws]
    truth: Mapping[tuple[str, str, int], npt.NDArray[np.float64]]
    residual: Mapping[tuple[str, str, int], float]
    holes: Mapping[tuple[str, str], npt.NDArray[np.float64]]
    constants: Mapping[tuple[str, str], Constants]
    test: SignificanceTest
    level: float
    control: PairControl
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        runs = ", ".join(f"{len(runs)} {group} runs" for group, runs in self.groups.items())
        sizes = some_of(self.n_judgments, 4)
        return one_line(
            "Reversals",
            f"{some_of(self.measures, 3)} of {runs}, {sizes} judgments, by {some_of(self.methods, 3)}",
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the tables `rates`, `trends`, `p_values`, `risks`, `calibration`, `grades`, `constants`."""
        return _reversal_tables(self)

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of p-values, announced probabilities and separability for each group of runs."""
        return _figures(self)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the experiment, the estimators, the test and its multiplicity control."""
        return citations_with_tests(self.metadata, (self.test, self.control), "ravana-moffat-2010")

    def gradable(self, measure: object, group: str) -> BoolArray:
        """Return whether the final score of each run is known well enough for grading, shape (run,).

        Where unseen documents are estimated, all judgments may leave at most 1% of a run's ranks unjudged.
        """
        most = MAX_SHARE_OF_HOLES if self._estimates_unseen else 1
        return np.asarray(self.holes[str(measure), group] <= most)

    @property
    def _estimates_unseen(self) -> bool:
        return bool(self.metadata["unseen"] == "estimated")

    def notes(self) -> tuple[str, ...]:
        """Return notes on unjudged documents, graded runs and pools shallower than the measure."""
        lines, is_graded = [], len(self.grades()) > 0
        for (measure, group), shares in self.holes.items():
            if not shares.any():
                continue
            about = f"{measure}: " if len(self.measures) > 1 else ""
            line = (
                f"{about}all judgments leave {percent(float(shares.mean()))} of the {group} runs' ranks "
                f"unjudged, something of {int((shares > 0).sum())} of {len(shares)} runs; "
                f"it counts as nonrelevant{'' if self._estimates_unseen else ' in the estimates, too'}"
            )
            if is_graded and self._estimates_unseen:
                n_gradable = int(self.gradable(measure, group).sum())
                line += (
                    f", and chances are graded on pairs of the {n_gradable} runs of which no more "
                    f"than {percent(MAX_SHARE_OF_HOLES)} is unjudged"
                )
            lines.append(line)
        if is_graded:
            lines += [
                f"{counted(n, 'judgment')} reach down to rank {depth} of the pooled runs; what the "
                f"posteriors say of deeper ranks of {measure} is extrapolated, and small risks tend "
                "to be too large"
                for measure in self.measures
                for n, depth in self.pool_depth.items()
                if depth < measure.cutoff
            ]
        return tuple(lines)

    def trends(self) -> pd.DataFrame:
        """Return mean scores for each number of judgments, as in table 1 of the paper.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, size and method: ``measure``, ``group``, ``judgments``,
            ``pool_depth``, ``residual`` (mean Δ of the runs), ``method``, ``value`` (mean over runs),
            ``rmse`` (of the runs' values from their uncorrected scores under all judgments; of posteriors
            from ``truth``),
            ``topic_rmse`` (the same over runs and topics, which the paper fits its constants to),
            ``separability`` (share of pairs that are significant; figure 4).
        """
        rows = []
        for (measure, group, n, method), outcome in self.outcomes.items():
            all_judged = self.outcomes[measure, group, self.n_judgments[-1], AS_JUDGED].value
            has_draws = (measure, group, n, method.partition(">=")[0]) in self.draws
            true = self.truth[measure, group, n] if has_draws else all_judged
            rmse = root_mean_squared_error(true, outcome.value)
            separability = outcome.better.sum() / count_pairs(outcome.better)
            row = (measure, group, n, self.pool_depth[n], self.residual[measure, group, n], method)
            rows.append((*row, float(outcome.value.mean()), rmse, outcome.topic_rmse, separability))
        columns = ["measure", "group", "judgments", "pool_depth", "residual", "method", "value", "rmse"]
        return pd.DataFrame(rows, columns=[*columns, "topic_rmse", "separability"])

    def rates(self) -> pd.DataFrame:
        """Return separability and reversal rates, as in table 2 of the paper.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, method, smaller judgment set and standard of comparison: ``measure``,
            ``group``, ``method``, ``judgments``, ``all_judgments``, ``against`` (``same method``, as in the
            paper, or ``as-judged``: the lower bound under all judgments), ``n_pairs``; the shares of all
            pairs ``separability`` and ``separability_all`` (significant under either set), ``kept``
            (significant under both the same way), ``reversed`` (significant under the smaller set, not under
            all), ``swapped`` (significant under both, opposite ways), ``gained`` (significant under all
            only); and ``reversed_of_significant``, the share reversed or swapped of those that are
            significant under the smaller set.
        """
        rows = []
        for (measure, group, n, method), few in self._results_under_fewer(self.outcomes):
            for against, other in (("same method", method), ("as-judged", AS_JUDGED)):
                full = self.outcomes[measure, group, self.n_judgments[-1], other]
                n_pairs = count_pairs(few.better)
                significant_now, significant_all = few.better | few.better.T, full.better | full.better.T
                counts = {
                    "separability": few.better.sum(),
                    "separability_all": full.better.sum(),
                    "kept": (few.better & full.better).sum(),
                    "reversed": (few.better & ~significant_all).sum(),
                    "swapped": (few.better & full.better.T).sum(),
                    "gained": (full.better & ~significant_now).sum(),
                }
                taken_back = counts["reversed"] + counts["swapped"]
                share = taken_back / counts["separability"] if counts["separability"] else np.nan
                rows.append(
                    _key_columns((measure, group, n, method))
                    | {"all_judgments": self.n_judgments[-1], "against": against, "n_pairs": n_pairs}
                    | {name: count / n_pairs for name, count in counts.items()}
                    | {"reversed_of_significant": share}
                )
        return pd.DataFrame(rows)

    def p_values(self) -> pd.DataFrame:
        """Return p-values for each pair of runs under fewer and all judgments, as in figure 5 of the paper.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``group``, ``method``, ``judgments``, ``run_a``, ``run_b``, ``p_value``,
            ``p_value_all``, both adjusted as requested.
        """
        frames = []
        for (measure, group, n, method), few in self._results_under_fewer(self.outcomes):
            if not np.isnan(few.p).all():
                full = self.outcomes[measure, group, self.n_judgments[-1], method]
                matrices = {"p_value": few.p, "p_value_all": full.p}
                frames.append(self._pairs((measure, group, n, method), matrices))
        return pd.concat(frames, ignore_index=True)

    def risks(self) -> pd.DataFrame:
        """Return announced probabilities for each pair of runs, with the outcome under all judgments.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, method with draws, smaller judgment set and pair: ``measure``,
            ``group``, ``method``, ``judgments``, ``run_a``, ``run_b``;
            ``significant`` (on the uncorrected scores), ``reversal_risk`` and ``reversed`` (for those: the
            chance that completed judgments do not confirm it in the same direction, and whether all judgments
            did not; NaN and False for others), ``prob_significant`` and ``significant_all`` (on the
            uncorrected scores under all judgments), ``gradable`` (whether both runs are, see `gradable`).
        """
        frames = []
        for (measure, group, n, method), draws in self._results_under_fewer(self.draws):
            significant_now = self.outcomes[measure, group, n, AS_JUDGED].better
            significant_all = self.outcomes[measure, group, self.n_judgments[-1], AS_JUDGED].better
            taken_back, gradable = significant_now & ~significant_all, self.gradable(measure, group)
            matrices = {
                "significant": significant_now | significant_now.T,
                "reversal_risk": draws.reversal_risk(significant_now),
                "reversed": taken_back | taken_back.T,
                "prob_significant": draws.prob_significant,
                "significant_all": significant_all | significant_all.T,
                "gradable": np.logical_and.outer(gradable, gradable),
            }
            frames.append(self._pairs((measure, group, n, method), matrices))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def calibration(self, *, n_bins: int = 10) -> pd.DataFrame:
        """Return announced probabilities and observed frequencies in bins, as for a reliability plot.

        Returns
        -------
        pandas.DataFrame
            One row per group, method, smaller judgment set, statement (``reversed``, graded on pairs that are
            significant now; ``significant``, on all pairs) and bin of `calibration_table`. Only pairs of two
            `gradable` runs count.
        """
        frames = []
        for keys, probability, happened in self._statements():
            table = calibration_table(probability, happened, n_bins=n_bins)
            frames.append(table.assign(**keys)[[*keys, *table]])
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def grades(self) -> pd.DataFrame:
        """Return Brier scores for the announced probabilities.

        Returns
        -------
        pandas.DataFrame
            One row per group, method, smaller judgment set and statement: ``n``, ``announced`` (mean
            probability), ``happened`` (share), ``brier`` and ``brier_constant`` (of announcing that share for
            every pair, which is unknown beforehand). Only pairs of two `gradable` runs count.
        """
        rows = []
        for keys, probability, happened in self._statements():
            share = announced = np.nan
            if len(happened):
                share, announced = float(happened.mean()), float(probability.mean())
            grade = {"n": len(happened), "announced": announced, "happened": share}
            brier = {"brier": brier_score(probability, happened), "brier_constant": share * (1 - share)}
            rows.append(keys | grade | brier)
        return pd.DataFrame(rows)

    def _statements(self) -> list[tuple[dict[str, Any], npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
        """Return probabilities and outcomes for gradable pairs of runs, per kind of statement."""
        statements: list[tuple[dict[str, Any], npt.NDArray[np.float64], npt.NDArray[np.bool_]]] = []
        risks, names = self.risks(), ["measure", "group", "method", "judgments"]
        for key, pairs in () if risks.empty else risks.groupby(names, sort=False):
            keys = dict(zip(names, key, strict=True))
            pairs = pairs[pairs["gradable"]]
            significant_now = pairs[pairs["significant"]]
            for statement, part, probability, happened in (
                ("reversed", significant_now, "reversal_risk", "reversed"),
                ("significant", pairs, "prob_significant", "significant_all"),
            ):
                numbers = part[probability].to_numpy(float), part[happened].to_numpy(bool)
                statements.append((keys | {"statement": statement}, *numbers))
        return statements

    def _results_under_fewer(self, results: Mapping[Key, Value]) -> list[tuple[Key, Value]]:
        """Return outcomes for all judgment sets but the complete one."""
        return [(key, value) for key, value in results.items() if key[2] != self.n_judgments[-1]]

    def _pairs(self, key: Key, matrices: Mapping[str, npt.NDArray[Any]]) -> pd.DataFrame:
        """Return the frame for all pairs of runs in a group, given one method and judgment set."""
        return pair_frame(self.groups[key[1]], _key_columns(key), matrices)


def _key_columns(key: Key) -> dict[str, Any]:
    """Return key columns that identify a row."""
    measure, group, n, method = key
    return {"measure": measure, "group": group, "method": method, "judgments": n}


@dataclass(frozen=True, eq=False, repr=False)
class StoredReversals(StoredResult, reads="reversals"):
    """Reversals read from stored tables."""

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of the stored reversals if their tables are complete."""
        return _figures(self) if len(self.tables()) > 1 else super().figures()


def _figures(reversals: Result) -> tuple[Figure, ...]:
    from bayespool.plots import draw_reversals

    caption = "P-values under fewer and under all judgments, announced chances, and separable pairs"
    return (Figure("reversals", caption, lambda: draw_reversals(reversals)),)
