"""Compare runs: score them together, then compare every pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.comparisons.comparison import AS_THEY_STAND, Comparison, TestKey
from bayespool.comparisons.draws import DrawComparison, Scope, compare_draws, population_draws
from bayespool.comparisons.repeated_tests import DRAW_TESTS, SignificantDraws, significant_draws
from bayespool.comparisons.settings import ComparingSettings
from bayespool.comparisons.significance import Control, SignificanceTest, adjust_p_values, p_values
from bayespool.errors import InputError
from bayespool.evidence import Estimand
from bayespool.measures import Estimates, Estimator, Ideal, Measure
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.options import documented
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.keywords import CompareOptions
from bayespool.randomness import key_of
from bayespool.scoring import Scores, named_estimators, score
from bayespool.scoring.scoring import expect_collection

DEFAULT_COMPARED = (AS_THEY_STAND, "posterior-combined")

FloatArray = npt.NDArray[np.float64]


@documented(ComparingSettings)
def compare(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Sequence[str | Estimator] = DEFAULT_COMPARED,
    ideal: Ideal = "shared",
    scopes: Sequence[Scope] = ("these-topics", "population"),
    tests: Sequence[SignificanceTest] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    rope: float = 0.01,
    joint: bool = True,
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[CompareOptions],
) -> Comparison:
    """Compare runs: differences and ranks over completed judgments, tests, and the risk of reversals.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str, optional
        Two or more, with those of ``unpool``. Default: the runs that were not pooled, or with ``unpool`` only
        those named there.
    measures : measure or iterable of measures
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the named estimators: ``draws``, ``chains``, ``priors``, ….

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
    >>> two = compare(load_example(), ["new-a", "new-b"], "P@10", draws=250)
    >>> frame = two.differences()
    >>> print(frame[["method", "scope", "prob_greater"]].round(1).to_string(index=False))
                method        scope  prob_greater
           lower-bound these-topics           NaN
    posterior-combined these-topics           1.0
    posterior-combined   population           1.0
    """
    expect_collection(collection)
    named = named_estimators(estimators)
    names = [str(e if isinstance(e, str) else e.name).partition("(")[0] for e in named]
    if AS_THEY_STAND not in names:
        named = (AS_THEY_STAND, *named)
    _check(scopes, tests, control, level, rope)
    if "together" in settings:
        raise InputError("compare always completes the judgments of its runs together", hint="leave it out")
    scores = score(
        collection,
        run_ids,
        measures,
        estimators=[_together(estimator) for estimator in named],
        ideal=ideal,
        unpool=unpool,
        unpool_by=unpool_by,
        pool_depth=pool_depth,
        estimand=estimand,
        ci_prob=ci_prob,
        random_seed=random_seed,
        report=report,
        joint=joint,
        together=True,
        **settings,
    )
    return compare_scores(
        scores,
        scopes=scopes,
        tests=tests,
        level=level,
        control=control,
        rope=rope,
        random_seed=random_seed,
        report=report,
    )


def _together(estimator: str | Estimator) -> str | Estimator:
    """Make a posterior complete the judgments of all runs at once."""
    if isinstance(estimator, PosteriorEstimator):
        return dataclasses.replace(estimator, together=True)
    return estimator


def compare_scores(
    scores: Scores,
    *,
    scopes: Sequence[Scope] = ("these-topics", "population"),
    tests: Sequence[SignificanceTest] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    rope: float = 0.01,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare runs that were scored with ``together=True``, ``lower-bound`` among the methods."""
    _check(scopes, tests, control, level, rope)
    if len(scores.run_ids) < 2:
        raise InputError("one run cannot be compared", hint="name two or more")
    if not any(e.method == AS_THEY_STAND for e in scores.estimates):
        raise InputError(
            f"no uncorrected scores to compare with: {AS_THEY_STAND} is missing",
            hint=f"score with {AS_THEY_STAND} among the estimators",
        )
    if apart := [e for e in scores.estimates if e.apart]:
        raise InputError(
            f"{apart[0].method} scored each run as if it were alone: draws of a difference say nothing",
            hint="score with together=True, or call compare",
        )
    draws: dict[tuple[Measure, str, Scope], DrawComparison] = {}
    p: dict[TestKey, FloatArray] = {}
    adjusted: dict[TestKey, FloatArray] = {}
    significant: dict[TestKey, SignificantDraws] = {}
    for e in scores.estimates:
        if report is not None:
            report(f"comparing: {e.method} {e.measure}")
        for test in tests:
            key, within = (e.measure, e.method, test), _control_of(test, control)
            p[key] = p_values(e.per_topic, test, random_seed=random_seed)
            adjusted[key] = adjust_p_values(p[key], within)
            if e.draws is not None and test in DRAW_TESTS and not e.measure.of_judgments:
                significant[key] = significant_draws(
                    e.draws.on_grid(), test=test, level=level, control=within
                )
        if e.draws is not None:
            for scope in scopes:
                draws[e.measure, e.method, scope] = _over_draws(e, scope, scores.ci_prob, rope, random_seed)
    return Comparison(
        scores=scores,
        draws=draws,
        p_values=p,
        p_adjusted=adjusted,
        significant=significant,
        tests=tuple(tests),
        control=control,
        level=level,
        rope=rope,
        ci_prob=scores.ci_prob,
        metadata=dict(scores.metadata)
        | {"scopes": list(scopes), "tests": list(tests), "control": control, "level": level}
        | {"rope": rope, "random_seed": random_seed},
    )


def _control_of(test: SignificanceTest, control: Control) -> Control:
    return "none" if test == "tukey-hsd" else control


def _over_draws(e: Estimates, scope: Scope, ci_prob: float, rope: float, random_seed: int) -> DrawComparison:
    assert e.draws is not None
    if scope == "these-topics":
        return compare_draws(e.draws.totals(), ci_prob=ci_prob, rope=rope, unit=e.draws.per_mean())
    values = population_draws(e.draws.amount, random_seed=key_of(random_seed, e.measure))
    return compare_draws(values, ci_prob=ci_prob, rope=rope, unit=e.draws.unit)


def _check(
    scopes: Sequence[Scope], tests: Sequence[SignificanceTest], control: Control, level: float, rope: float
) -> None:
    for values, name in ((scopes, "scopes"), (tests, "tests")):
        if isinstance(values, str) or not values:
            raise InputError(f"{name} cannot be {values!r}", hint="give a sequence of one or more")
    ComparingSettings(scopes=tuple(scopes), tests=tuple(tests), control=control, level=level, rope=rope)
