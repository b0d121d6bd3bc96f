"""Means over collections, tasks or topics: ranks, wins, and groups of runs that cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from bayespool.arrays import BoolArray, FloatArray, IndexArray
from bayespool.comparisons.draws import compare_runs_by_draws
from bayespool.comparisons.pairs import compared_pairs, pair_frame
from bayespool.comparisons.sentences import chance_text
from bayespool.comparisons.tables import COMPARISON_COLUMNS, citations_with_tests
from bayespool.measures import equal_tailed_interval
from bayespool.names import AS_JUDGED
from bayespool.notes import Note
from bayespool.report.result import Figure, Result
from bayespool.report.stored import StoredResult
from bayespool.tables import Citation
from bayespool.tables.formatting import counted, difference, interval, level, number, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, IntervalColumn, Pivot, Table, View, ViewColumn

_MAX_RUNS_ACROSS, _MAX_PAIRS_LISTED = 3, 45
_MAX_UNITS_DRAWN = 16
MEAN = "mean"
"""Name of the rows of means among those of collections."""

_COLUMNS = COMPARISON_COLUMNS | {
    "collection": Column("collection", "text", "The collection, task or topic; or the mean over them."),
    "basis": Column(
        "rests on",
        "text",
        "What the estimate rests on: posterior of a pool, priors (where named), correction, judged (nothing "
        "is unjudged) or table; bounds, where there is none.",
    ),
    "n_units": Column("mean\nof", "count", "Number of collections, tasks or topics that the mean is over."),
    "measures": Column("measures", "text", "Measures that the mean is of, each collection's own."),
    "letters": Column("groups", "text", "Letters: runs that share one cannot be told apart."),
    "wins": Column("wins", "count", "Collections, tasks or topics won, of all pairs of the row."),
    "losses": Column("losses", "count", "Those that are lost."),
    "ties": Column("ties", "count", "Those where neither is shown."),
}
_DIFFERENCE_COLUMNS = _COLUMNS | {
    "lower": Column("from", "difference", "Lower end of the interval of the difference."),
    "upper": Column("to", "difference", "Upper end of the interval of the difference."),
    "bound_lower": Column("bound,\nfrom", "difference", "Least difference of all completed judgments."),
    "bound_upper": Column("bound,\nto", "difference", "Greatest difference of all completed judgments."),
}
_BOUNDS = ("bound_lower", "bound_upper")


@dataclass(frozen=True, eq=False)
class Mean:
    """Scores of runs as a mean over collections, tasks or topics, and what is known of their order.

    Attributes
    ----------
    measure, estimator, scope : str
    n_units : int
        Collections, tasks or topics that ``value`` is the mean of.
    value, as_judged : ndarray of float, shape (run,)
        As judged it is the mean of all of them, as are the bounds.
    bounds : tuple of ndarray of float, shape (run,)
    difference_bounds : tuple of ndarray of float, shape (pair,)
    draws : ndarray of float, shape (draw, run), or None
    limits : tuple of float
        Least and greatest value that there is.
    p : ndarray of float, shape (run, run)
        Adjusted p-values of the differences as judged.
    wins : ndarray of int, shape (run, run)
        Collections, tasks or topics that the row's run wins against the column's.
    n_contested : int
        Those that there are.
    """

    measure: str
    estimator: str
    scope: str
    n_units: int
    value: FloatArray
    as_judged: FloatArray
    bounds: tuple[FloatArray, FloatArray]
    difference_bounds: tuple[FloatArray, FloatArray]
    draws: FloatArray | None
    limits: tuple[float, float]
    p: FloatArray
    wins: IndexArray
    n_contested: int

    def frames(
        self, run_ids: Sequence[str], baseline: Sequence[str], ci_prob: float
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows of runs and those of their differences."""
        pairs = compared_pairs(run_ids, baseline)
        keys: dict[str, Any] = {"measure": self.measure, "estimator": self.estimator, "scope": self.scope}
        keys |= {"n_units": self.n_units}
        runs = keys | {"run_id": np.array(run_ids, dtype=object), "value": self.value}
        runs |= {"as_judged": self.as_judged} | dict(zip(_BOUNDS, self.bounds, strict=True))
        matrices = {"difference": np.subtract.outer(self.value, self.value), "p": self.p}
        if self.draws is None:
            runs |= dict.fromkeys(("lower", "upper", "ci_prob"), np.nan)
        else:
            least, most = self.limits
            lower, upper = (end.clip(least, most) for end in equal_tailed_interval(self.draws, ci_prob))
            d = compare_runs_by_draws(self.draws, ci_prob=ci_prob, largest=most - least)
            first, last = d.rank_interval
            runs |= {"lower": lower, "upper": upper, "ci_prob": ci_prob}
            runs |= {"rank_lower": first, "rank_upper": last, "tier": d.tier, "among_best": first == 1}
            runs |= {"prob_best": d.prob_rank[:, 0], "expected_rank": d.expected_rank}
            runs |= {"letters": compact_letters(d.separated, self.value)}
            keys |= {"ci_prob": ci_prob}
            matrices |= {"lower": d.lower, "upper": d.upper, "prob_greater": d.prob_greater}
            matrices |= {"prob_equal": d.prob_equal, "prob_less": d.prob_greater.T}
        ties = self.n_contested - self.wins - self.wins.T
        np.fill_diagonal(ties, 0)
        counts = {"wins": self.wins, "losses": self.wins.T, "ties": ties}
        runs |= {name: matrix.sum(axis=1) for name, matrix in counts.items()}
        if self.scope == "these-topics":
            keys |= dict(zip(_BOUNDS, self.difference_bounds, strict=True))
        return pd.DataFrame(runs), pair_frame(run_ids, keys, matrices | counts, pairs)


def compact_letters(separated: BoolArray, value: FloatArray) -> list[str]:
    """Return letters of each run: two runs share one if and only if they cannot be told apart.

    Parameters
    ----------
    separated : ndarray of bool, shape (run, run)
        Whether the row's run is shown to be higher.
    value : ndarray of float, shape (run,)
        The letter a has the highest of them, and so on down.

    Returns
    -------
    list of str
        Empty texts where more than 26 letters are needed.

    Notes
    -----
    A letter stands for a largest set of runs no two of which are told apart: a maximal clique (Bron and
    Kerbosch 1973) of the graph whose edges are the pairs that are not, as in the compact letter display of
    Piepho (2004).

    Examples
    --------
    >>> separated = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    >>> compact_letters(separated, np.array([0.5, 0.4, 0.3]))
    ['a', 'ab', 'b']
    """
    n, place = len(value), np.argsort(-value, kind="stable")
    alike = ~(separated | separated.T)[np.ix_(place, place)]
    np.fill_diagonal(alike, False)
    neighbors, cliques = [frozenset(np.flatnonzero(row).tolist()) for row in alike], list[frozenset[int]]()
    open_sets: list[tuple[frozenset[int], ...]] = [(frozenset(), frozenset(range(n)), frozenset())]
    while open_sets and len(cliques) <= len(ascii_lowercase):
        chosen, candidates, excluded = open_sets.pop()
        if not candidates and not excluded:
            cliques.append(chosen)
            continue
        pivot = max(candidates | excluded, key=lambda run: len(neighbors[run] & candidates))
        for run in sorted(candidates - neighbors[pivot]):
            near = neighbors[run]
            open_sets.append((chosen | {run}, candidates & near, excluded & near))
            candidates, excluded = candidates - {run}, excluded | {run}
    texts = [""] * n
    if len(cliques) <= len(ascii_lowercase):
        for letter, group in zip(ascii_lowercase, sorted(map(sorted, cliques)), strict=False):
            for run in group:
                texts[place[run]] += letter
    return texts


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Runs on several collections, tasks or topics, and their means over these.

    Made by `bayespool.score_several` and `bayespool.compare_table`.

    Attributes
    ----------
    unit : {"collection", "task", "topic"}
        What the means are over.
    scores : pandas.DataFrame
        One row per measure, estimator, scope, collection (task, topic) and run, and the means: ``measures``
        (of the mean), ``estimator``, ``scope``, ``collection``, ``measure`` (of the collection), ``run_id``,
        ``basis``, ``value``, ``lower``, ``upper``, ``ci_prob``, ``as_judged``, ``bound_lower``,
        ``bound_upper`` and ``unjudged``.
    runs : pandas.DataFrame
        One row per measure, estimator, scope and run: the mean, over ``n_units`` collections, with its
        interval; ``as_judged`` and bounds are means over all; ``rank_lower`` and ``rank_upper`` (right for
        all runs at once), ``tier``, ``among_best``, ``prob_best``, ``expected_rank``, ``letters`` (runs that
        share one cannot be told apart), and ``wins``, ``losses`` and ``ties`` over all collections and other
        runs.
    differences : pandas.DataFrame
        One row per measure, estimator, scope and pair, as of `Comparison.differences`, with ``p`` (adjusted,
        of the mean as judged), ``wins``, ``losses`` and ``ties``.
    metadata : dict
    caveats : tuple of Note
    """

    command = "leaderboard"
    begins_with_sentences = True

    unit: str
    scores: pd.DataFrame
    runs: pd.DataFrame
    differences: pd.DataFrame
    metadata: Mapping[str, Any]
    caveats: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        runs = counted(self.runs["run_id"].nunique(), "run")
        return one_line(
            type(self).__name__, f"{some_of(self.runs['measure'].unique(), 3)} of {runs} on {self._n}"
        )

    @property
    def _n(self) -> str:
        return counted(self.scores.loc[self.scores["collection"] != MEAN, "collection"].nunique(), self.unit)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Title for a report."""
        return f"Runs on {self._n}"

    def notes(self) -> tuple[Note, ...]:
        """Return what to know of the collections, tasks or topics."""
        return self.caveats

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the estimators, the test and its control."""
        settings = self.metadata["settings"]
        return citations_with_tests(self.metadata, (settings["test"], settings["control"]))

    def tables(self) -> tuple[Table, ...]:
        """Return the tables `scores`, `runs` and `differences`."""
        views = {"scores": self._score_views(), "runs": self._run_views(), "differences": self._pair_views()}
        captions = {"scores": f"Runs by {self.unit}", "runs": "Means and ranks", "differences": "Differences"}
        return tuple(
            Table(
                name,
                caption,
                getattr(self, name),
                _DIFFERENCE_COLUMNS if name == "differences" else _COLUMNS,
                tuple(views[name]),
            )
            for name, caption in captions.items()
        )

    def _score_views(self) -> Iterator[View]:
        n_runs = self.runs["run_id"].nunique()
        if self.unit == "topic" or (self.unit == "task" and n_runs > _MAX_RUNS_ACROSS):
            return
        bounds = (IntervalColumn(*_BOUNDS, "bounds"),) * bool((self.scores["basis"] == "bounds").any())
        columns: tuple[ViewColumn, ...] = ("as_judged", *bounds, "value", IntervalColumn())
        names = ("collection", *["measure"] * (self.scores["measure"].nunique() > 1), "basis")
        if n_runs <= _MAX_RUNS_ACROSS:
            columns = (Pivot(columns, "run_id", grouped=True),)
        else:
            names = ("run_id", *names)
        for place, (where, title) in enumerate(self._headings(self.scores)):
            yield View(
                title=title,
                names=names,
                columns=columns,
                where=where,
                note="The mean counts each alike; as judged, and in its bounds, it is over all of them.",
                medium="report" * bool(place),
            )

    def _run_views(self) -> Iterator[View]:
        if self.runs["run_id"].nunique() < 2:
            return
        medium = "report" * (self.runs["run_id"].nunique() == 2)  # of which the differences say it
        ranks = IntervalColumn("rank_lower", "rank_upper", "ranks")
        for where, title in self._headings(self.runs):
            columns: list[ViewColumn] = ["n_units", "as_judged", "value"]
            columns += [IntervalColumn(), ranks, "letters"] * ("letters" in self.runs)  # of draws
            if where["estimator"] == AS_JUDGED:
                columns.remove("as_judged")
            yield View(
                title=f"{title}: means and ranks",
                names=("run_id",),
                columns=(*columns, "wins", "losses", "ties"),
                where=where,
                sort="-value",
                note=f"Ranks are right for all runs at once with a chance of {level(self._prob)}. Runs that "
                "share a letter cannot be told apart.",
                spare=("as_judged", "n_units"),
                medium=medium,
            )

    def _pair_views(self) -> Iterator[View]:
        if not 0 < len(self.differences[["run_a", "run_b"]].drop_duplicates()) <= _MAX_PAIRS_LISTED:
            return
        over_all = ""
        if self.unit == "collection" and self.scores["basis"].eq("bounds").any():
            over_all = f"; it and the bounds are over all {self._n}"
        for where, title in self._headings(self.differences):
            bounds = IntervalColumn(*_BOUNDS, "bounds", signed=True)
            columns: list[ViewColumn] = ["difference", bounds]
            if "prob_greater" in self.differences:
                columns[1:] = [IntervalColumn(signed=True), bounds, "prob_greater"]
            yield View(
                title=f"{title}: differences of means",
                names=("run_a", "run_b"),
                columns=(*columns, "p", "wins", "losses", "ties"),
                where=where,
                note=f"p: {self.metadata['test']}{over_all}.",
                spare=("bound_lower",),
            )

    def _headings(self, frame: pd.DataFrame) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the rows that a view has, and its title."""
        keys = ["measures" if "measures" in frame else "measure", "estimator", "scope"]
        for values in frame[keys].drop_duplicates().itertuples(index=False):
            where, (measure, estimator, scope) = dict(zip(keys, values, strict=True)), values
            yield where, f"{measure} on {self._n}, {self._scope(scope)} ({estimator})"

    def _scope(self, scope: str) -> str:
        like = {"population": "topics like these", "groups": f"{self.unit}s like these"}
        return like.get(scope, "these topics")

    @property
    def _prob(self) -> float:
        return float(self.metadata["settings"]["ci_prob"])

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the mean for each measure, estimator and scope."""
        return tuple(self._sentence(where) for where, _ in self._headings(self.runs))

    def _sentence(self, where: Mapping[str, Any]) -> str:
        rows, pairs = (
            frame[(frame[list(where)] == where).all(axis=1)] for frame in (self.runs, self.differences)
        )
        best: Any = rows.sort_values("value", ascending=False, kind="stable").iloc[0]
        over = counted(best["n_units"], self.unit)
        over = over if over == self._n else f"{best['n_units']} of {self._n}"
        measure = str(where["measure"])
        score = f"score ({measure})" if ", " in measure else measure
        lead = f"On {self._scope(where['scope'])} the mean {score} over {over}"
        by = where["estimator"]
        has_draws = rows["ci_prob"].notna().all()
        if len(rows) == 1 or not has_draws:
            ends = f"{level(self._prob)} interval {interval(best['lower'], best['upper'])}, " * bool(
                has_draws
            )
            bounds = f"{interval(best['bound_lower'], best['bound_upper'])}"
            is_one, value = len(rows) == 1, number(best["value"])
            most = f"of {best['run_id']} is {value}" if is_one else f"is highest of {best['run_id']}, {value}"
            return f"{lead} {most} ({ends}{by}; bounds over all {bounds})."
        if len(pairs) == 1:
            row: Any = pairs.iloc[0]
            prob = f"{level(self._prob)} interval {interval(row['lower'], row['upper'], 3, signed=True)}"
            chance = f"chance that it is higher {chance_text(row['prob_greater'])}"
            won = f"{row['wins']} won, {row['losses']} lost, {row['ties']} neither"
            return (
                f"{lead} of {row['run_a']} minus that of {row['run_b']} is "
                f"{difference(row['difference'], 3)} ({prob}, {by}; {chance}); of {self._n} {won}."
            )
        near = rows[rows["among_best"] & (rows["run_id"] != best["run_id"])]["run_id"]
        which = f"cannot be told apart from it: {some_of(near, 5)}" if len(near) else "it is the best"
        return (
            f"{lead} of {best['run_id']} is highest of {counted(len(rows), 'run')}, {number(best['value'])} "
            f"({level(self._prob)} interval {interval(best['lower'], best['upper'])}, {by}); {which} "
            f"({level(self._prob)}, all ranks at once)."
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of runs by collection or task, and of their ranks."""
        return _figures(self)


@dataclass(frozen=True, eq=False, repr=False)
class StoredLeaderboard(StoredResult, reads="leaderboard"):
    """Leaderboard read from stored tables."""

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of the stored leaderboard if its tables are complete."""
        return _figures(self) if len(self.tables()) > 1 else super().figures()


def _figures(result: Result) -> tuple[Figure, ...]:
    from bayespool.plots import draw_collections, draw_leaderboard

    scores, runs = result.to_frame("scores"), result.to_frame("runs")
    figures = []
    if scores["collection"].nunique() <= _MAX_UNITS_DRAWN:
        caption = "Scores of the runs and their mean: bars are intervals, lines are bounds"
        figures.append(Figure("collections", caption, partial(draw_collections, result)))
    if runs["run_id"].nunique() > 1 and runs["ci_prob"].notna().any():
        caption = (
            "Ranks that the runs may have by their mean, right for all runs at once; runs that share a "
            "letter cannot be told apart"
        )
        figures.append(Figure("ranks", caption, partial(draw_leaderboard, result)))
    return tuple(figures)
