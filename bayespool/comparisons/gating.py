"""A gate for a new run: whether it is better than another or equal, worse, or neither can be told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayespool.collection import Collection
from bayespool.collection.contents import expect_collection
from bayespool.comparisons.draws import draws_in_scope
from bayespool.comparisons.sentences import chance_text
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures import equal_tailed_interval
from bayespool.measures.base import with_ideal
from bayespool.measures.parsing import parse_sole_measure
from bayespool.names import By, Estimand, Ideal, Scope
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import parse_posterior
from bayespool.scoring.scoring import resolve_targets, score_targets
from bayespool.tables.formatting import counted, difference, interval, level
from bayespool.validation import check_choice, check_count, check_number, described, listed

Verdict = Literal["better or equal", "worse", "cannot be told"]
_DECIMALS = 12
_SCOPES: dict[Scope, str] = {
    "these-topics": "these topics",
    "population": "topics like these",
    "another-assessor": "these topics, by another assessor of the same kind,",
}
_STATUS: dict[Verdict, int] = {"better or equal": 0, "worse": 1, "cannot be told": 2}


@dataclass(frozen=True, eq=False)
class Gate:
    """Verdict on a new run against another, created by `bayespool.gate`.

    Attributes
    ----------
    verdict : {"better or equal", "worse", "cannot be told"}
    sentence : str
        The verdict with what it rests on, on one line.
    difference, lower, upper : float
        Mean over draws of the new run's score minus the other's, and ends of its interval.
    prob_not_worse : float
        Chance that the new run's score is at least the other's minus the margin.
    metadata : dict
        Version, fingerprint, pool and settings, and the verdict with its numbers under ``gate``.
    """

    verdict: Verdict
    sentence: str
    difference: float
    lower: float
    upper: float
    prob_not_worse: float
    metadata: Mapping[str, Any]

    @property
    def status(self) -> int:
        """Exit status: 0 for better or equal, 1 for worse, 2 if neither can be told."""
        return _STATUS[self.verdict]

    def __str__(self) -> str:
        return self.sentence


def gate(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    margin: float = 0.0,
    probability: float = 0.95,
    scope: Scope = "population",
    posterior: str | PosteriorEstimator = "posterior-combined",
    unpool: str | Iterable[str] = (),
    unpool_by: By = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ideal: Ideal = "shared",
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> Gate:
    """Decide whether a new run is better than another or equal, or worse, as far as judgments tell.

    Both runs are scored together, as in `compare`.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str
        Two runs: the one that there is, then the new one.
    measures : measure, default "P@10"
        The measure of the rankings: P@10, nDCG@10, AP@100, …; one of them.
    margin : float, default 0
        The new run may be lower by this and is still as good.
    probability : float, default 0.95
        Chance that a verdict needs: that the new run is not lower by more than the margin, or that it is.
    scope : {"these-topics", "population", "another-assessor"}, default "population"
        What the verdict speaks of: a population of topics, these topics, or another assessor. For a
        population these topics are a sample of its topics, which is what a change of a system is judged by;
        on these topics only unjudged documents are uncertain.
    posterior : str or PosteriorEstimator, default "posterior-combined"
        The posterior, as a model or its settings: 'ratio(draws=4000)', 'draws=4000, engine=nuts'.
    unpool : str or iterable of str, optional
        Runs of the campaign, or organizations, to score as if they were new: they leave the pool.
    unpool_by : {"organization", "run"}
        What leaves the pool with a run that is named: its organization, or nothing.
    pool_depth : int, optional
        Re-pool to this depth first: judgments of documents that no pooled run has down to it go.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are estimated (complete) or nonrelevant (pooled).
    ideal : {"own", "shared", "judged"}, default "shared"
        Ideal ranking of nDCG, AP and R: of what the run reaches (own), any run (shared), or the judged alone.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    report : callable, optional
        Called with a line on each stage of the work as it begins.

    Returns
    -------
    Gate

    Raises
    ------
    InputError
        Not two runs; several measures, or one that is higher for worse runs; a probability of 0.5 or less,
        which both verdicts could have; unknown run, measure or posterior.

    Examples
    --------
    >>> from bayespool import gate, load_example
    >>> verdict = gate(load_example(), ["new-a", "new-b"], "P@10", posterior="ratio")
    >>> verdict.verdict, verdict.status
    ('worse', 1)
    >>> gate(load_example(), ["new-b", "new-a"], "P@10", posterior="ratio").status
    0
    """
    measure = parse_sole_measure(measures)
    if measure.falls:
        raise InputError(f"{measure} is higher for worse runs", hint="choose another measure")
    check_number("margin", margin, least=0)
    check_number("probability", probability, above=0.5, below=1)
    check_choice("scope", scope, Scope)
    check_choice("estimand", estimand, Estimand)
    check_choice("ideal", ideal, Ideal)
    check_count("random_seed", random_seed, least=0)
    estimator = dataclasses.replace(
        parse_posterior(posterior, estimand=estimand, random_seed=random_seed), together=True
    )
    expect_collection(collection)
    pair = listed("run_ids", collection.given_run_ids if run_ids is None else run_ids, may_be_empty=True)
    if len(set(pair)) != 2 or len(pair) != 2:
        raise InputError(f"{counted(len(set(pair)), 'run')}", hint="name two: the one there is, the new one")
    asked: dict[str, Any] = {"unpool": listed("unpool", unpool, may_be_empty=True), "unpool_by": unpool_by}
    asked |= {"pool_depth": pool_depth, "estimand": estimand}
    deciding = {"margin": margin, "probability": probability, "random_seed": random_seed}
    targets = resolve_targets(
        collection,
        pair,
        with_ideal([measure], ideal),
        (estimator,),
        by_another=scope == "another-assessor",
        **asked,
    )
    asked |= {"ideal": ideal, "scope": scope, **deciding}
    scores = score_targets(
        targets,
        scope=scope,
        settings=described(measures=measure, posterior=estimator, **asked),
        report=report,
    )
    values, unit = draws_in_scope(scores.estimates[0], scope, random_seed)
    old, new = (values[:, scores.run_ids.index(run)] for run in pair)
    lead, ci_prob = np.round((new - old) / unit, _DECIMALS), fill_ci_prob(None)
    lower, upper = (float(end) for end in equal_tailed_interval(lead, ci_prob))
    mean, chance = float(lead.mean()), float((lead >= -margin - 10.0**-_DECIMALS).mean())
    verdict: Verdict = "cannot be told"
    if max(chance, 1 - chance) >= probability:
        verdict = "better or equal" if chance > 0.5 else "worse"
    numbers = {"difference": mean, "lower": lower, "upper": upper, "prob_not_worse": chance}
    sentence = (
        f"{verdict}: the {measure} of {pair[1]} − {pair[0]} on {_SCOPES[scope]} is {difference(mean, 3)} "
        f"({level(ci_prob)} interval {interval(lower, upper, 3, signed=True)}, {estimator.name}); the chance "
        f"that it is at least {-margin or 0:g} is {chance_text(chance)}, and a verdict needs {probability:g}."
    )
    decision = {"run_ids": list(pair), "verdict": verdict, "status": _STATUS[verdict], "ci_prob": ci_prob}
    return Gate(verdict, sentence, **numbers, metadata={**scores.metadata, "gate": decision | numbers})
