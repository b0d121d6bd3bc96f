"""Compare runs: score them together, then compare every pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.contents import group_systems
from bayespool.comparisons.draws import (
    DrawComparison,
    compare_runs_by_draws,
    estimates_in_scope,
    is_compared_across,
)
from bayespool.comparisons.frames import ComparisonFrames, TestKey, count_pairs
from bayespool.comparisons.sentences import comparison_sentences, pair_lines
from bayespool.comparisons.settings import ComparingSettings
from bayespool.comparisons.significance import (
    DRAW_TESTS,
    SignificantDraws,
    adjust_p_values,
    applied_control,
    p_values,
    significant_draws,
)
from bayespool.comparisons.tables import citations_with_tests, comparison_tables
from bayespool.errors import InputError
from bayespool.measures import Estimates, Measure
from bayespool.measures.populations import population_draws
from bayespool.names import AS_JUDGED
from bayespool.options import takes
from bayespool.randomness import key_of
from bayespool.report.result import Figure, Result
from bayespool.report.saving import StoredResult
from bayespool.scoring import Scores
from bayespool.scoring.score_tables import FAR_NOTE, collection_notes, far_runs, note_lines
from bayespool.scoring.scoring import expect_collection, score_parsed
from bayespool.scoring.settings import Scope
from bayespool.tables import Citation
from bayespool.tables.formatting import counted, level, some_of
from bayespool.tables.markup import Arrangement, TextTable, one_line
from bayespool.tables.table import Table

_RELIABILITY_CITED = ("brennan-2001", "bodoff-li-2007", "urbano-marrero-martin-2013")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonFrames, Result):
    """Comparison of all pairs of runs, created by `bayespool.compare`.

    A matrix of shape (run, run) has the row's run against the column's, in the order of `run_ids`; the frames
    have each pair once.

    Attributes
    ----------
    scores : Scores
        The runs' bounds and estimates; the first method is the uncorrected scores, ``as-judged``.
    draws : mapping of (Measure, method, scope) to DrawComparison
        For methods with draws, by scope (`bayespool.compare`).
    p_values : mapping of (Measure, method, test) to ndarray of float, shape (run, run)
        Unadjusted, of each method's per-topic values, which are taken as known.
    p_adjusted : mapping of (Measure, method, test) to ndarray of float, shape (run, run)
        Adjusted for the family of all pairs; Tukey's are so by themselves.
    significant : mapping of (Measure, method, test) to SignificantDraws
        For methods with draws and the tests that are repeated in every draw (``paired-t``, ``tukey-hsd``).
    tests : tuple of str
    control : str
        Of the p-values over all pairs, ``tukey-hsd`` excepted.
    level : float
    rope : float
    ci_prob : float
    metadata : dict
        Version, fingerprint, pool and settings, to quote with a result.
    systems : tuple of (str, str)
        Runs with the systems that they are replicates of.
    arrangement : Arrangement
        Order and number of the pairs that readers see; the frames have all.
    """

    command = "compare"
    title = "Comparison of runs"

    def __repr__(self) -> str:
        pairs = counted(count_pairs(self.run_ids), "pair")
        runs = f"{pairs} of {counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        topics = counted(len(self.scores.query_ids), "topic")
        return one_line("Comparison", f"{some_of(self.measures, 3)} of {runs} on {topics}")

    def tables(self) -> tuple[Table, ...]:
        """Return all tables of the comparison, with every pair of runs."""
        return comparison_tables(self, Arrangement())

    def read(self, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return tables formatted for reading, with the arranged columns and pairs."""
        arranged = self.arrangement if arrangement is None else arrangement
        width = Arrangement(width=arranged.width)
        return tuple(self.marked(t) for table in comparison_tables(self, arranged) for t in table.read(width))

    def marked(self, text: TextTable) -> TextTable:
        """Return a table with a dagger after runs that are unlike the pool."""
        return text.marked(far_runs(self.scores.to_frame()), "†", FAR_NOTE)

    def sentences(self, *pair: str) -> tuple[str, ...]:
        """Return sentences on up to three pairs of runs, per measure and across measures.

        Parameters
        ----------
        *pair : str
            Two runs: then a line for each measure instead, with the numbers of this pair alone.

        Raises
        ------
        InputError
            One run, more than two, or one that is not in the comparison.
        """
        return tuple(pair_lines(self, pair) if pair else comparison_sentences(self))

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of differences or rank probabilities, and a leaderboard for three or more runs."""
        return _figures(self)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the estimators, tests, multiplicity control and reliability coefficients."""
        return citations_with_tests(self.metadata, (*self.tests, self.control), *_RELIABILITY_CITED)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the pool, the runs and measures that share no draws."""
        scores = self.scores
        lines = collection_notes(scores.metadata)
        lines += note_lines(scores.statements, scores.run_ids, scores.measures)
        if len(self.measures) < 2:
            return tuple(lines)
        for method in dict.fromkeys(method for _, method, _ in self.draws):
            groups = self._across_frame.loc[self._across_frame["method"] == method, "measures"]
            joint = {measure for text in groups for measure in text.split(", ")}
            others = [str(m) for m in self.measures if is_compared_across(m) and str(m) not in joint]
            if len(others) > 1 or (others and joint):
                lines.append(
                    f"{method}: draws of {', '.join(others)} come from completed judgments of their own, so "
                    "that nothing is said across measures; joint=True completes them together"
                )
        return tuple(lines)


@dataclass(frozen=True, eq=False, repr=False)
class StoredComparison(StoredResult, reads="compare"):
    """Comparison read from stored tables."""

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of the stored comparison if its tables are complete."""
        names = [table.name for table in self.tables()]
        return _figures(self) if {"differences", "runs"} <= set(names) else super().figures()


def _figures(comparison: Result) -> tuple[Figure, ...]:
    from bayespool.plots import draw_comparison, draw_leaderboard

    caption = "Differences of pairs of runs, or chances of ranks of many runs, a panel for each measure"
    figure = Figure("comparison", caption, partial(draw_comparison, comparison))
    runs = comparison.to_frame("runs")
    if runs["run_id"].nunique() <= 2 or runs["value"].isna().all():
        return (figure,)
    prob = level(runs["ci_prob"].max())
    caption = (
        f"Ranks that the runs may have, right for all runs at once with a chance of {prob}, a panel for each "
        "measure. Runs with filled marks may be the best."
    )
    ranks = Figure("leaderboard", caption, partial(draw_leaderboard, comparison))
    return (figure, ranks)


@takes(ComparingSettings)
def compare(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    *,
    settings: ComparingSettings,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare runs using completed judgments, significance tests and reversal risks.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str, optional
        Two or more, with those of ``unpool``. Default: the runs that were not pooled, or with ``unpool`` only
        those named there.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Fewer than two runs or topics; unknown run, measure, estimator, test or setting.

    Notes
    -----
    All runs are scored together, so values differ from those of `score`, where each run is scored as if it
    were alone. A document that several runs retrieve has one relevance per draw, which cancels in their
    difference. Runs share one ideal ranking (``ideal``), and measures over it say so in their names:
    ``nDCG(ideal='shared')@10``. Measures share draws (``joint``), for `ComparisonFrames.across_measures`.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import compare
    >>> two = compare(load_example(), ["new-a", "new-b"], "P@10", estimators="posterior-ratio")
    >>> frame = two.differences()
    >>> print(frame[["method", "scope", "prob_greater"]].round(1).to_string(index=False))
             method        scope  prob_greater
          as-judged these-topics           NaN
    posterior-ratio these-topics           1.0
    posterior-ratio   population           1.0
    """
    if settings.systems:
        expect_collection(collection)
        collection = group_systems(collection, settings.systems)
    scores = score_parsed(collection, run_ids, **settings.score_keywords(), report=report)
    return compare_scores(scores, settings=settings, report=report)


@takes(ComparingSettings)
def compare_scores(
    scores: Scores, *, settings: ComparingSettings, report: Callable[[str], None] | None = None
) -> Comparison:
    """Compare runs from existing scores that were computed with ``posterior="together=True"``.

    ``as-judged`` must be among the methods.
    """
    if len(scores.run_ids) < 2:
        raise InputError("one run cannot be compared", hint="name two or more")
    if not any(e.method == AS_JUDGED for e in scores.estimates):
        raise InputError(
            f"no uncorrected scores to compare with: {AS_JUDGED} is missing",
            hint=f"score with {AS_JUDGED} among the estimators",
        )
    if separate := [e for e in scores.estimates if e.apart]:
        raise InputError(
            f"{separate[0].method} scored each run as if it were alone: draws of a difference say nothing",
            hint="score with posterior='together=True', or call compare",
        )
    random_seed = settings.random_seed
    draws: dict[tuple[Measure, str, Scope], DrawComparison] = {}
    p: dict[TestKey, FloatArray] = {}
    adjusted: dict[TestKey, FloatArray] = {}
    significant: dict[TestKey, SignificantDraws] = {}
    for e in scores.estimates:
        if report is not None:
            report(f"comparing: {e.method} {e.measure}")
        for test in settings.tests:
            key, control = (e.measure, e.method, test), applied_control(test, settings.control)
            p[key] = p_values(e.per_topic, test, random_seed=random_seed)
            adjusted[key] = adjust_p_values(p[key], control)
            if e.draws is not None and test in DRAW_TESTS and not e.measure.describes_judgments:
                significant[key] = significant_draws(
                    e.draws.on_grid(), test=test, level=settings.level, control=control
                )
        if e.draws is not None:
            for scope in settings.scopes:
                if scope == "another-assessor" and e.by_another is None:
                    continue  # of a correction
                draws[e.measure, e.method, scope] = _compare_over_draws(
                    e, scope, scores.ci_prob, settings.rope, random_seed
                )
    setting_names = ("scopes", "tests", "control", "level", "rope", "random_seed")
    values = {name: getattr(settings, name) for name in setting_names}
    return Comparison(
        scores=scores,
        draws=draws,
        p_values=p,
        p_adjusted=adjusted,
        significant=significant,
        tests=settings.tests,
        control=settings.control,
        level=settings.level,
        rope=settings.rope,
        ci_prob=scores.ci_prob,
        systems=settings.systems,
        metadata=dict(scores.metadata)
        | {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
    )


def _compare_over_draws(
    e: Estimates, scope: Scope, ci_prob: float, rope: float, random_seed: int
) -> DrawComparison:
    e = estimates_in_scope(e, scope)
    assert e.draws is not None
    if scope != "population":
        return compare_runs_by_draws(e.draws.totals(), ci_prob=ci_prob, rope=rope, unit=e.draws.per_mean())
    values = population_draws(e.draws.amount, random_seed=key_of(random_seed, e.measure))
    return compare_runs_by_draws(values, ci_prob=ci_prob, rope=rope, unit=e.draws.unit)
