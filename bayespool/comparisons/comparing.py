"""Compare runs: score them together, then compare every pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.contents import with_systems
from bayespool.comparisons.comparison import Comparison, TestKey
from bayespool.comparisons.draws import DrawComparison, compare_runs_by_draws, in_scope
from bayespool.comparisons.settings import ComparingSettings
from bayespool.comparisons.significance import (
    DRAW_TESTS,
    SignificantDraws,
    adjust_p_values,
    control_of,
    p_values,
    significant_draws,
)
from bayespool.comparisons.tables import AS_JUDGED
from bayespool.errors import InputError
from bayespool.measures import Estimates, Measure
from bayespool.measures.populations import population_draws
from bayespool.options import takes
from bayespool.randomness import key_of
from bayespool.scoring import Scores, score
from bayespool.scoring.scoring import expect_collection
from bayespool.scoring.settings import Scope


@takes(ComparingSettings)
def compare(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    *,
    settings: ComparingSettings,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare runs: differences and ranks over completed judgments, tests, and the risk of reversals.

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
    ``nDCG(ideal='shared')@10``. Measures share draws (``joint``), for `Comparison.across_measures`.

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
        collection = with_systems(collection, settings.systems)
    scores = score(collection, run_ids, settings=settings, report=report)
    return compare_scores(scores, settings=settings, report=report)


@takes(ComparingSettings)
def compare_scores(
    scores: Scores, *, settings: ComparingSettings, report: Callable[[str], None] | None = None
) -> Comparison:
    """Compare runs that were scored with ``together=True``, ``as-judged`` among the methods."""
    if len(scores.run_ids) < 2:
        raise InputError("one run cannot be compared", hint="name two or more")
    if not any(e.method == AS_JUDGED for e in scores.estimates):
        raise InputError(
            f"no uncorrected scores to compare with: {AS_JUDGED} is missing",
            hint=f"score with {AS_JUDGED} among the estimators",
        )
    if apart := [e for e in scores.estimates if e.apart]:
        raise InputError(
            f"{apart[0].method} scored each run as if it were alone: draws of a difference say nothing",
            hint="score with together=True, or call compare",
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
            key, control = (e.measure, e.method, test), control_of(test, settings.control)
            p[key] = p_values(e.per_topic, test, random_seed=random_seed)
            adjusted[key] = adjust_p_values(p[key], control)
            if e.draws is not None and test in DRAW_TESTS and not e.measure.of_judgments:
                significant[key] = significant_draws(
                    e.draws.on_grid(), test=test, level=settings.level, control=control
                )
        if e.draws is not None:
            for scope in settings.scopes:
                if scope == "another-assessor" and e.by_another is None:
                    continue  # of a correction
                draws[e.measure, e.method, scope] = _over_draws(
                    e, scope, scores.ci_prob, settings.rope, random_seed
                )
    stated = ("scopes", "tests", "control", "level", "rope", "random_seed")
    values = {name: getattr(settings, name) for name in stated}
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


def _over_draws(e: Estimates, scope: Scope, ci_prob: float, rope: float, random_seed: int) -> DrawComparison:
    e = in_scope(e, scope)
    assert e.draws is not None
    if scope != "population":
        return compare_runs_by_draws(e.draws.totals(), ci_prob=ci_prob, rope=rope, unit=e.draws.per_mean())
    values = population_draws(e.draws.amount, random_seed=key_of(random_seed, e.measure))
    return compare_runs_by_draws(values, ci_prob=ci_prob, rope=rope, unit=e.draws.unit)
