"""Compare runs: score them together, then compare every pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.contents import Systems, expect_collection, group_systems, parse_systems
from bayespool.comparisons.draws import (
    DrawComparison,
    compare_runs_by_draws,
    draws_in_scope,
    is_compared_across,
)
from bayespool.comparisons.frames import ComparisonFrames, TestKey, compared_pairs
from bayespool.comparisons.sentences import comparison_sentence, comparison_sentences
from bayespool.comparisons.significance import (
    DRAW_TESTS,
    SignificantDraws,
    adjust_p_values,
    dunnett,
    p_values,
    significant_draws,
)
from bayespool.comparisons.tables import citations_with_tests, comparison_tables
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError, known_names, renamed_attributes
from bayespool.measures import Estimator, Measure
from bayespool.measures.base import with_ideal
from bayespool.measures.parsing import parse_measures
from bayespool.names import AS_JUDGED, By, Control, Estimand, Ideal, Scope, SignificanceTest
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import shared_settings
from bayespool.report.result import Figure, Result
from bayespool.report.saving import StoredResult
from bayespool.scoring import Scores
from bayespool.scoring.estimators import parse_estimators, with_as_judged
from bayespool.scoring.score_tables import FAR_NOTE, collection_notes, far_runs, note_lines
from bayespool.scoring.scoring import resolve_targets, score_targets
from bayespool.tables import Citation
from bayespool.tables.files import PathLike
from bayespool.tables.formatting import counted, level, some_of
from bayespool.tables.markup import Arrangement, TextTable, one_line
from bayespool.tables.table import Table
from bayespool.validation import check_choice, check_count, check_number, check_share, described, listed

_RELIABILITY_CITED = ("brennan-2001", "bodoff-li-2007", "urbano-marrero-martin-2013")


@renamed_attributes(system_scores="variance", system_variance="variance")
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonFrames, Result):
    """Comparison of pairs of runs, created by `bayespool.compare`.

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
        Adjusted for the family of pairs compared; NaN for others; Tukey's are so by themselves.
    significant : mapping of (Measure, method, test) to SignificantDraws
        For methods with draws and the tests that are repeated in every draw (``paired-t``, ``tukey-hsd``).
    tests : tuple of str
    control : str
        Of the p-values over the pairs compared, ``tukey-hsd`` excepted.
    level : float
    rope : float
    ci_prob : float
    metadata : dict
        Version, fingerprint, pool and settings, to quote with a result.
    systems : tuple of (str, str)
        Runs with the systems that they are replicates of.
    baseline : tuple of str
        Runs that all others are compared with; none: every pair.
    arrangement : Arrangement
        Order and number of the pairs that readers see; the frames have all.
    """

    command = "compare"
    title = "Comparison of runs"

    def __repr__(self) -> str:
        pairs = counted(self.n_pairs, "pair")
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
            Two runs: then a sentence on this pair for each measure, however many runs there are.

        Raises
        ------
        InputError
            One run, more than two, or one that is not in the comparison.
        """
        if pair and len(pair) != 2:
            raise InputError(f"a pair is two runs, not {len(pair)}")
        if pair:
            run_a, run_b = pair
            return tuple(comparison_sentence(self, run_a, run_b, measure) for measure in self.measures)
        return tuple(comparison_sentences(self))

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
                    "that nothing is said across measures; posterior='joint=True' completes them together"
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


def compare(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    baseline: str | Iterable[str] | None = None,
    estimators: str | Estimator | Iterable[str | Estimator] = "posterior-combined",
    posterior: str | PosteriorEstimator | None = None,
    unpool: str | Iterable[str] = (),
    unpool_by: By = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ideal: Ideal = "shared",
    scopes: Scope | Iterable[Scope] = ("these-topics", "population"),
    confusion: str | None = None,
    tests: SignificanceTest | Iterable[SignificanceTest] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    rope: float = 0.01,
    systems: PathLike | Mapping[str, str] | None = None,
    ci_prob: float | None = None,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare runs using completed judgments, significance tests and reversal risks.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str, optional
        Two or more, with those of ``unpool``. Default: the runs that were not pooled, or with ``unpool`` only
        those named there.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    baseline : str or iterable of str, optional
        Run that all others are compared with, and they not with one another; or several. It need not be
        among ``run_ids``. Differences are of the others minus the baseline, and p-values are adjusted over
        these pairs alone. Ranks are of all runs.
    estimators : str, Estimator or sequence of them, default "posterior-combined"
        Names with settings in parentheses, such as background(e=0.05), or 'default', 'all', 'pairs'. These
        three are `bayespool.scoring.DEFAULT_ESTIMATORS`, `bayespool.scoring.ALL_ESTIMATORS` and
        `bayespool.scoring.PAIRED_ESTIMATORS`. ``as-judged``, the scores as judged, is always among them.
    posterior : str or PosteriorEstimator, optional
        Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'. Judgments are completed once
        for all measures, so that the same draws say how likely a run is better on all of them;
        with ``joint=False`` each measure is as `score` has it. Joint draws learn from the evidence of the
        measure that looks deepest. Measures that look no deeper than rank 30 and tell the same levels apart
        share a completion either way.
    unpool : str or iterable of str, optional
        Runs of the campaign, or organizations, to score as if they were new: they leave the pool. A run
        leaves with all runs of its organization, and it alone is scored. Of an organization all runs are
        scored.
    unpool_by : {"organization", "run"}
        What leaves the pool with a run that is named: its organization, or nothing.
    pool_depth : int, optional
        Re-pool to this depth first: judgments of documents that no pooled run has down to it go.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are estimated (complete) or nonrelevant (pooled). The
        two coincide down to the pool depth.
    ideal : {"own", "shared", "judged"}, default "shared"
        Ideal ranking of nDCG, AP and R: of what the run reaches (own), any run (shared), or the judged alone.
        It holds for measures whose text names no other, such as ``nDCG@10``. A difference of two runs needs
        one scale.
    scopes : sequence of {"these-topics", "population", "another-assessor"}
        What differences speak of: these-topics, population, another-assessor. On these topics only unjudged
        documents are uncertain; a population of topics is what these are a sample of; another assessor would
        have given other levels of relevance.
    confusion : str, optional
        How often another assessor changes a level, where few documents are judged twice: '95 5; 30 70'.
        These are documents by level of the first assessor (rows) and of the other, ascending. They count as
        much as documents judged twice. For the scope ``another-assessor``.
    tests : sequence of {"paired-t", "wilcoxon", "randomization", "tukey-hsd"}
        Tests of a pair. ``paired-t`` is the usual one, ``wilcoxon`` where differences are far from normal;
        ``randomization`` assumes no distribution; ``tukey-hsd`` is for all pairs at once.
    level : float, default 0.05
        Significant is an adjusted p-value of at most this.
    control : {"holm", "benjamini-hochberg", "none", "dunnett"}
        Adjustment of p-values over all pairs, or over those with a baseline; dunnett is for one baseline.
        The family-wise error rate is controlled by ``holm`` and ``dunnett``, the false discovery rate, for
        many pairs, by ``benjamini-hochberg``; tukey-hsd needs no control. With ``dunnett`` the t test of a
        pair has the error of all runs, on the additive model run + topic.
    rope : float, default 0.01
        A difference up to this is practically none. The region of practical equivalence.
    systems : path or mapping of str to str, optional
        CSV with run_id,system: runs that are seeds, prompts or query variants of one system. A system is
        scored by the mean of its runs; they leave the evidence together.
    ci_prob : float, optional
        Probability of the intervals. They are equal-tailed. Default: `bayespool.rcParams`.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
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
    parsed = parse_measures(measures)
    scoped = listed("scopes", scopes, check_choice, Scope)
    tested = listed("tests", tests, check_choice, SignificanceTest)
    against = tuple(dict.fromkeys(listed("baseline", baseline)))
    check_share("level", level)
    check_choice("control", control, Control)
    check_number("rope", rope, least=0)
    check_count("random_seed", random_seed, least=0)
    check_choice("estimand", estimand, Estimand)
    check_choice("ideal", ideal, Ideal)
    methods = parse_estimators(
        (
            dataclasses.replace(e, together=True) if isinstance(e, PosteriorEstimator) else e
            for e in with_as_judged(estimators)
        ),
        {"together": True, "joint": True} | shared_settings(posterior),
        by_settings=True,
        estimand=estimand,
        random_seed=random_seed,
    )
    prob = fill_ci_prob(ci_prob)
    expect_collection(collection)
    _check_baseline(against, collection.run_ids, tested, control)
    leaving, replicates = listed("unpool", unpool, may_be_empty=True), parse_systems(systems)
    if against:
        by_default = collection.given_run_ids or (() if leaving else collection.unpooled_run_ids)
        named = by_default if run_ids is None else listed("run_ids", run_ids)
        run_ids = tuple(dict.fromkeys((*named, *against)))
    asked: dict[str, Any] = {"unpool": leaving, "unpool_by": unpool_by, "pool_depth": pool_depth}
    asked["estimand"] = estimand
    comparing: dict[str, Any] = {"scopes": scoped, "tests": tested, "level": level, "control": control}
    comparing |= {"rope": rope, "baseline": against}
    settings = {"systems": dict(replicates) or (), "ci_prob": prob, "random_seed": random_seed}
    targets = resolve_targets(
        group_systems(collection, replicates) if replicates else collection,
        run_ids,
        with_ideal(parsed, ideal),
        methods,
        by_another="another-assessor" in scoped,
        confusion=confusion,
        **asked,
    )
    _refuse_one_run(targets.run_ids)
    asked |= {"ideal": ideal, "confusion": confusion, **comparing, **settings, "posterior": posterior}
    scores = score_targets(
        targets,
        settings=described(measures=parsed, estimators=methods, **asked),
        ci_prob=prob,
        report=report,
    )
    return compare_scores(scores, **comparing, systems=replicates, random_seed=random_seed, report=report)


def _refuse_one_run(run_ids: Sequence[str]) -> None:
    """Raise `InputError` unless there are two runs or more."""
    if len(run_ids) < 2:
        raise InputError("one run cannot be compared", hint="name two or more")


def _check_baseline(
    baseline: Sequence[str], run_ids: Sequence[str], tests: Sequence[SignificanceTest], control: Control
) -> None:
    """Raise `InputError` for a baseline that is not among the runs, or tests that do not go with it."""
    for run in baseline:
        if run not in run_ids:
            raise InputError(f"no run {run!r} to compare with", hint=known_names(run, run_ids))
    if control == "dunnett":
        if len(baseline) != 1:
            raise InputError("dunnett compares runs with one baseline", hint="name it as the baseline")
        if any(test != "paired-t" for test in tests):
            raise InputError("dunnett is a t test", hint="leave out other tests, or use control holm")
    if baseline and "tukey-hsd" in tests:
        raise InputError(
            "tukey-hsd controls for all pairs, not for those with a baseline", hint="use control dunnett"
        )


def compare_scores(
    scores: Scores,
    *,
    baseline: tuple[str, ...] = (),
    scopes: tuple[Scope, ...] = ("these-topics", "population"),
    tests: tuple[SignificanceTest, ...] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    rope: float = 0.01,
    systems: Systems = (),
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare runs from existing scores that were computed with ``together=True``, as `compare` does.

    ``as-judged`` must be among the methods.
    """
    _refuse_one_run(scores.run_ids)
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
    pairs = compared_pairs(scores.run_ids, baseline)
    if not len(pairs[0]):
        raise InputError("no run is compared with the baselines", hint="name one beside them")
    draws: dict[tuple[Measure, str, Scope], DrawComparison] = {}
    p: dict[TestKey, FloatArray] = {}
    adjusted: dict[TestKey, FloatArray] = {}
    significant: dict[TestKey, SignificantDraws] = {}
    for e in scores.estimates:
        if report is not None:
            report(f"comparing: {e.method} {e.measure}")
        for test in tests:
            key = (e.measure, e.method, test)
            p[key] = p_values(e.per_topic, test, random_seed=random_seed)
            applied: Control = "none" if test == "tukey-hsd" else control
            if applied == "dunnett":
                adjusted[key] = dunnett(e.per_topic, scores.run_ids.index(baseline[0]))
            else:
                adjusted[key] = adjust_p_values(p[key], applied, pairs)
            if e.draws is not None and test in DRAW_TESTS and not e.measure.describes_judgments:
                significant[key] = significant_draws(
                    e.draws.on_grid(), test=test, level=level, control=applied, pairs=pairs
                )
        if e.draws is not None:
            for scope in scopes:
                if scope == "another-assessor" and e.by_another is None:
                    continue  # of a correction
                values, unit = draws_in_scope(e, scope, random_seed)
                draws[e.measure, e.method, scope] = compare_runs_by_draws(
                    values, ci_prob=scores.ci_prob, rope=rope, unit=unit
                )
    testing: dict[str, Any] = {"tests": tests, "control": control, "level": level, "rope": rope}
    return Comparison(
        scores=scores,
        draws=draws,
        p_values=p,
        p_adjusted=adjusted,
        significant=significant,
        **testing,
        systems=systems,
        baseline=baseline,
        metadata={**scores.metadata, **described(scopes=scopes, **testing, random_seed=random_seed)},
    )
