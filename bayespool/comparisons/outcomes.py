"""Significance of pairs of runs under fewer and under all judgments; announced probabilities graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayespool.arrays import BoolArray, FloatArray
from bayespool.comparisons.pairs import count_pairs
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
from bayespool.names import AS_JUDGED, PairControl, SignificanceTest
from bayespool.notes import Note, noted
from bayespool.report.result import Figure, Result
from bayespool.report.stored import StoredResult
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
    "against": Column("against", "text", "Standard under all judgments: the same estimator, or as judged."),
    "n_pairs": Column("pairs", "count", "Number of pairs of runs."),
    "separability": Column("separable", "share", "Share of pairs that are significant."),
    "separability_all": Column("separable,\nall judged", "share", "The same under all judgments."),
    "kept": Column("kept", "share", "Share of pairs significant under both sets the same way."),
    "reversed": Column("reversed", "share", "Share of pairs significant only under the smaller set."),
    "swapped": Column("swapped", "share", "Share of pairs significant under both sets, opposite ways."),
    "gained": Column("gained", "share", "Share of pairs significant only under all judgments."),
    "reversed_of_significant": Column("taken\nback", "share", "Share reversed or swapped of the separable."),
    "p_value": Column("p", "p-value", "Adjusted p-value under the smaller set."),
    "p_value_all": Column("p, all\njudged", "p-value", "Adjusted p-value under all judgments."),
    "statement": Column("statement", "text", "reversed: significance is lost; significant: it is there."),
    "n": Column("pairs", "count", "Number of pairs graded."),
    "bin_lower": Column("from", "chance", "Lower end of the bin of probabilities."),
    "bin_upper": Column("to", "chance", "Upper end of the bin of probabilities."),
    "announced": Column("announced", "chance", "Mean probability announced.", decimals=4),
    "happened": Column("happened", "chance", "Share that all judgments bear out.", decimals=4),
    "brier": Column("Brier", "chance", "Brier score of the probabilities.", decimals=4),
    "brier_constant": Column("Brier of\nthat share", "chance", "Brier score of announcing that share.", 4),
}
_RISKS = _COLUMNS | {
    **{name: COMPARISON_COLUMNS[name] for name in ("significant", "reversal_risk", "prob_significant")},
    "reversed": Column("reversed", "flag", "Whether all judgments did not confirm it."),
    "prob_significant": Column(
        "probability, all\njudged", "chance", "Probability that all judgments make it significant."
    ),
    "significant_all": Column("significant,\nall judged", "flag", "Whether all judgments made it so."),
    "gradable": Column("gradable", "flag", "Whether nearly all of both runs is judged in the end."),
}


_CAPTIONS = {
    "rates": "Separability and reversals",
    "trends": "Scores as judgments grow",
    "p_values": "P-values of pairs under fewer and under all judgments",
    "risks": "Stated probabilities of pairs",
    "calibration": "Stated probabilities by bins",
    "grades": "Stated probabilities, graded",
}
"""Table captions, keyed by the method that returns the frame."""


def _reversal_tables(result: Reversals) -> tuple[Table, ...]:
    frames = {name: getattr(result, name)() for name in _CAPTIONS}
    views = {"rates": tuple(_rate_views(result, frames["rates"])), "trends": _trend_views(result)}
    views["grades"] = (_GRADES_VIEW,)
    tables = tuple(
        Table(name, caption, frames[name], _RISKS if name == "risks" else _COLUMNS, views.get(name, ()))
        for name, caption in _CAPTIONS.items()
    )
    return (*tables, _constants_table(result)) if result.constants else tables


def _constants_table(result: Reversals) -> Table:
    """Return a table of the constants fitted to the contributing runs."""
    rows = [
        {"measure": measure, "estimator": estimator}
        | {f"constant_{name}": value for name, value in fitted.values.items()}
        | {"rmse": fitted.rmse}
        for (measure, estimator), fitted in result.constants.items()
    ]
    constants = sorted({f"constant_{name}" for c in result.constants.values() for name in c.values})
    frame = pd.DataFrame(rows)[["measure", "estimator", *constants, "rmse"]]
    view = View(
        title="Constants fitted to the contributing runs",
        names=("measure", "estimator"),
        columns=(*constants, "rmse"),
    )
    return Table("constants", "Fitted constants", frame, _COLUMNS, (view,))


def _rate_views(result: Reversals, rates: pd.DataFrame) -> Iterator[View]:
    """Yield a view for each group and number of judgments, merged if both standards agree."""
    shares = ("separability", "separability_all", "kept", "reversed", "swapped", "gained")
    sets = rates[["measure", "group", "judgments"]].drop_duplicates()
    for measure, group, n in sets.itertuples(index=False):
        rows = rates.query("measure == @measure and group == @group and judgments == @n")
        some = f"{n:,} of {result.n_judgments[-1]:,} judgments (pool depth {result.pool_depth[n]})"
        control = control_name(result.control, result.test, rows["n_pairs"].iloc[0])
        test = f"{TEST_NAMES[result.test]}, level {result.level:g}, {control}"
        ways = {"same estimator": f"; {test}", AS_JUDGED: " against the scores as judged by all of them"}
        same, other = (rows[rows["against"] == way][["estimator", *shares]].to_numpy() for way in ways)
        if np.array_equal(same, other):
            del ways[AS_JUDGED]
        for against, more in ways.items():
            where = {"measure": measure, "group": group, "judgments": n, "against": against}
            title = f"{_pairs_text(result, measure, group)}: {some}{more}"
            yield View(title=title, names=("estimator",), columns=shares, where=where)


def _trend_views(result: Reversals) -> tuple[View, ...]:
    return tuple(
        View(
            title=f"{_pairs_text(result, measure, group)}: scores as judgments grow",
            names=("estimator",),
            columns=(Pivot(("value", "rmse", "topic_rmse"), "judgments", label="mean,\n{} judged"),),
            where={"measure": measure, "group": group},
        )
        for measure, group in product(map(str, result.measures), result.groups)
    )


_GRADES_VIEW = View(
    title="stated probabilities against what all judgments say",
    names=("measure", "group", "judgments", "estimator", "statement"),
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


def _check_statements(probability: npt.ArrayLike, happened: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    probabilities = np.asarray(probability, dtype=np.float64)
    outcome = np.asarray(happened, dtype=np.float64)
    if probabilities.shape != outcome.shape or probabilities.ndim != 1:
        raise InputError(f"{probabilities.shape} probabilities cannot be graded by {outcome.shape} outcomes")
    if len(probabilities) and not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise InputError("a probability is not between 0 and 1")
    return probabilities, outcome


MAX_SHARE_OF_HOLES = 0.01
"""Largest share of unjudged ranks in runs used to grade probabilities."""

_KEYS = ["measure", "group", "estimator", "judgments"]
_PAIR = ["measure", "group", "run_a", "run_b"]


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
    scores : pandas.DataFrame
        That of `trends`.
    pairs : pandas.DataFrame
        One row per measure, group, size, estimator and pair: ``measure``, ``group``, ``judgments``,
        ``estimator``, ``run_a``, ``run_b``, ``p_value`` (adjusted; NaN where draws decide), ``sign`` (1 where
        run a is significantly better, −1 where run b is, else 0), and for estimators with draws
        ``prob_significant`` and ``reversal_risk`` (as in `risks`).
    holes : mapping of (measure, group) to ndarray of float, shape (run,)
        The share of each run's ranks that all judgments leave unjudged.
    constants : mapping of (measure, estimator) to Constants
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
    scores: pd.DataFrame
    pairs: pd.DataFrame
    holes: Mapping[tuple[str, str], FloatArray]
    constants: Mapping[tuple[str, str], Constants]
    test: SignificanceTest
    level: float
    control: PairControl
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        runs = ", ".join(f"{len(runs)} {group} runs" for group, runs in self.groups.items())
        sizes, estimators = some_of(self.n_judgments, 4), some_of(self.scores["estimator"].unique(), 3)
        return one_line(
            "Reversals", f"{some_of(self.measures, 3)} of {runs}, {sizes} judgments, by {estimators}"
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

    def notes(self) -> tuple[Note, ...]:
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
                    f", and probabilities are graded on pairs of the {n_gradable} runs of which no more "
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
        return noted(lines, "experiment")

    def trends(self) -> pd.DataFrame:
        """Return mean scores for each number of judgments, as in table 1 of the paper.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, size and estimator: ``measure``, ``group``, ``judgments``,
            ``pool_depth``, ``residual`` (mean Δ of the runs), ``estimator``, ``value`` (mean over runs),
            ``rmse`` (of the runs' values from their uncorrected scores under all judgments; of posteriors
            from what they estimate: for measures over an ideal ranking those with the estimate's documents),
            ``topic_rmse`` (the same over runs and topics, which the paper fits its constants to),
            ``separability`` (share of pairs that are significant; figure 4).
        """
        return self.scores.copy()

    def rates(self) -> pd.DataFrame:
        """Return separability and reversal rates, as in table 2 of the paper.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, estimator, smaller judgment set and standard of comparison:
            ``measure``, ``group``, ``estimator``, ``judgments``, ``all_judgments``, ``against`` (``same
            estimator``, as in the paper, or ``as-judged``: the lower bound under all judgments), ``n_pairs``;
            the shares of all pairs ``separability`` and ``separability_all`` (significant under either set),
            ``kept`` (significant under both the same way), ``reversed`` (significant under the smaller set,
            not under all), ``swapped`` (significant under both, opposite ways), ``gained`` (significant under
            all only); and ``reversed_of_significant``, the share reversed or swapped of those that are
            significant under the smaller set.
        """
        against = {"same estimator": self._with_all(), AS_JUDGED: self._with_all(AS_JUDGED)}
        rows = pd.concat([each.assign(against=name) for name, each in against.items()])
        rows = rows.sort_index(kind="stable").assign(all_judgments=self.n_judgments[-1])
        now, then = rows["sign"], rows["sign_all"]
        happened = {
            "separability": now != 0,
            "separability_all": then != 0,
            "kept": now * then > 0,
            "reversed": (now != 0) & (then == 0),
            "swapped": now * then < 0,
            "gained": (now == 0) & (then != 0),
        }
        pairs = rows.assign(**happened).groupby([*_KEYS, "all_judgments", "against"], sort=False)
        counts, n_pairs = pairs[[*happened]].sum(), pairs.size()
        taken_back = counts["reversed"] + counts["swapped"]
        shares = counts.div(n_pairs, axis=0).assign(
            reversed_of_significant=taken_back / counts["separability"]
        )
        shares.insert(0, "n_pairs", n_pairs)
        return shares.reset_index()

    def p_values(self) -> pd.DataFrame:
        """Return p-values for each pair of runs under fewer and all judgments, as in figure 5 of the paper.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``group``, ``estimator``, ``judgments``, ``run_a``, ``run_b``, ``p_value``,
            ``p_value_all``, both adjusted as requested.
        """
        rows = self._with_all()
        has_p_values = rows.groupby(_KEYS)["p_value"].transform("count") > 0
        columns = [*_KEYS, "run_a", "run_b", "p_value", "p_value_all"]
        return rows.loc[has_p_values, columns].reset_index(drop=True)

    def risks(self) -> pd.DataFrame:
        """Return announced probabilities for each pair of runs, with the outcome under all judgments.

        Returns
        -------
        pandas.DataFrame
            One row per measure, group, estimator with draws, smaller judgment set and pair: ``measure``,
            ``group``, ``estimator``, ``judgments``, ``run_a``, ``run_b``;
            ``significant`` (on the uncorrected scores), ``reversal_risk`` and ``reversed`` (for those: the
            probability that completed judgments do not confirm it in the same direction, and whether all
            judgments did not; NaN and False for others), ``prob_significant`` and ``significant_all`` (on the
            uncorrected scores under all judgments), ``gradable`` (whether both runs are, see `gradable`).
        """
        judged = self._with_all().query("estimator == @AS_JUDGED")[[*_PAIR, "judgments", "sign", "sign_all"]]
        announced = self.pairs.dropna(subset="prob_significant").drop(columns="sign")
        rows = announced.merge(judged, on=[*_PAIR, "judgments"])
        now, then = rows["sign"], rows["sign_all"]
        known = {
            (measure, run)
            for measure, group in self.holes
            for run in np.array(self.groups[group])[self.gradable(measure, group)]
        }
        of_run = [rows.set_index(["measure", run]).index.isin(known) for run in ("run_a", "run_b")]
        flags: dict[str, Any] = {"significant": now != 0, "reversed": (now != 0) & (now != then)}
        flags |= {"significant_all": then != 0, "gradable": np.logical_and(*of_run)}
        columns = [*_KEYS, "run_a", "run_b", "significant", "reversal_risk", "reversed"]
        return rows.assign(**flags)[[*columns, "prob_significant", "significant_all", "gradable"]]

    def calibration(self, *, n_bins: int = 10) -> pd.DataFrame:
        """Return announced probabilities and observed frequencies in bins, as for a reliability plot.

        Returns
        -------
        pandas.DataFrame
            One row per group, estimator, smaller judgment set, statement (``reversed``, graded on pairs that
            are significant now; ``significant``, on all pairs) and bin of `calibration_table`. Only pairs of
            two `gradable` runs count.
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
            One row per group, estimator, smaller judgment set and statement: ``n``, ``announced`` (mean
            probability), ``happened`` (share), ``brier`` and ``brier_constant`` (of announcing that share for
            every pair, which is unknown beforehand). Only pairs of two `gradable` runs count.
        """
        rows = []
        for keys, probability, happened in self._statements():
            share = float(happened.mean())
            grade = {"n": len(happened), "announced": float(probability.mean()), "happened": share}
            brier = {"brier": brier_score(probability, happened), "brier_constant": share * (1 - share)}
            rows.append(keys | grade | brier)
        return pd.DataFrame(rows)

    def _statements(self) -> Iterator[tuple[dict[str, Any], pd.Series, pd.Series]]:
        """Yield probabilities and outcomes for gradable pairs of runs, per kind of statement."""
        for key, pairs in self.risks().groupby(_KEYS, sort=False):
            keys = dict(zip(_KEYS, key, strict=True))
            known = pairs[pairs["gradable"]]
            now = known[known["significant"]]
            yield keys | {"statement": "reversed"}, now["reversal_risk"], now["reversed"]
            yield keys | {"statement": "significant"}, known["prob_significant"], known["significant_all"]

    def _with_all(self, estimator: str | None = None) -> pd.DataFrame:
        """Return pairs under fewer judgments beside the same under all, by their own or by one estimator."""
        is_all = self.pairs["judgments"] == self.n_judgments[-1]
        columns, others = [*_PAIR, "estimator"], self.pairs[is_all]
        if estimator is not None:
            columns, others = _PAIR, others[others["estimator"] == estimator]
        others = others[[*columns, "p_value", "sign"]]
        return self.pairs[~is_all].merge(others, on=columns, suffixes=("", "_all"))


@dataclass(frozen=True, eq=False, repr=False)
class StoredReversals(StoredResult, reads="reversals"):
    """Reversals read from stored tables."""

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of the stored reversals if their tables are complete."""
        return _figures(self) if len(self.tables()) > 1 else super().figures()


def _figures(reversals: Result) -> tuple[Figure, ...]:
    from bayespool.plots import draw_reversals

    caption = "P-values under fewer and under all judgments, stated probabilities, and separable pairs"
    return (Figure("reversals", caption, lambda: draw_reversals(reversals)),)
