"""Simulation-based calibration of a run that may be of a new kind."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.experiments.hidden import pool_alone
from bayespool.experiments.priors import simulate_counts
from bayespool.experiments.self_calibration import DESIGN, DRAWS_PER_RANK, SelfCalibration, has_failed
from bayespool.experiments.simulation import SimulationSettings, simulate
from bayespool.experiments.uniformity import randomized_rank
from bayespool.inference.engines import is_independent, make_engine
from bayespool.measures import parse_measure
from bayespool.models import LinearEvidence
from bayespool.posterior import Completion, Prepared, Task, pool_distance
from bayespool.posterior.kinds import with_kinds
from bayespool.posterior.ladder import rungs_of
from bayespool.posterior.mixtures import OF_KINDS, fitted_step
from bayespool.posterior.preparation import COMBINED
from bayespool.scoring.estimators import refuse_large_priors

DESIGN_OF_KINDS: SimulationSettings = dataclasses.replace(DESIGN, n_organizations=8, n_new=1)
"""A pool of eight organizations, and a run to score."""

_DESIGN_SEED = 5  # its run is of a new kind with a chance of .58
_NEW_ORGANIZATION = "new"


def self_calibrate_kinds(
    models: str | Iterable[str] = COMBINED,
    *,
    engine: str = "laplace",
    n_simulations: int = 200,
    n_draws: int = 99,
    priors: Mapping[str, str] | None = None,
    collection: Collection | None = None,
    measure: object = "P@10",
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> tuple[SelfCalibration, ...]:
    """Simulation-based calibration of the score of a run that is of a new kind with a known chance.

    Two sets of parameters are drawn from the priors, one for hidden documents of organizations and one for
    those of kinds, and the relevance of hidden documents from each. The run's unjudged documents follow the
    second with the run's chance of being of a new kind. Both sets of hidden documents are fitted, and the
    number of relevant documents among the run's unjudged ones is ranked among the draws of the completion,
    computed as in `posterior-combined`. Each model is calibrated alone, since weights of several models are
    no posterior.

    Parameters
    ----------
    models : str or iterable of str
        Models of documents.
    engine, n_simulations, n_draws, priors, random_seed, report
        As of `bayespool.self_calibrate`.
    collection : Collection, optional
        With a pool and runs outside it, the first of which is scored. Default: a small simulated one, see
        `DESIGN_OF_KINDS`. The relevance of hidden documents is not used.
    measure : measure
        Its cutoff and first rung define the design.

    Returns
    -------
    tuple of SelfCalibration
        One per model, of one quantity, ``new_run``.

    Raises
    ------
    InputError
        A model of counts, or a collection without a pool of two organizations or without a run outside it.
    """
    names = (models,) if isinstance(models, str) else tuple(models)
    replaced_priors = dict(priors or {})
    refuse_large_priors(replaced_priors)
    if min(n_simulations, n_draws) < 1:
        raise InputError("n_simulations and n_draws must be at least 1")
    if collection is None:
        collection = simulate(DESIGN_OF_KINDS, random_seed=_DESIGN_SEED).collection
    collection, parsed = pool_alone(collection), parse_measure(measure)
    runs, pooled = collection.unpooled_run_ids[:1], np.flatnonzero(collection.pooled)
    if not runs or len(np.unique(collection.organization[pooled])) < 2:
        raise InputError("a chance of a new kind needs a pool of two organizations and a run outside it")
    task = Task(collection, runs, parsed, "complete", rung=rungs_of(collection, parsed)[0])
    of_kinds = dataclasses.replace(task, collection=with_kinds(collection))
    chance = pool_distance(collection, runs, rel=task.asked.rel).new_kind
    kept = n_draws if is_independent(engine) else n_draws * DRAWS_PER_RANK
    fit_engine = make_engine(engine, draws=kept, tune=500, chains=1, target_accept=0.95)
    results = []
    for name in names:
        usual, others = (
            task.prepare(name, replaced_priors),
            of_kinds.prepare(name, {**OF_KINDS, **replaced_priors}),
        )
        ranks, n_failed, ess = [], 0, []
        for s in range(n_simulations):
            if report is not None and s % 20 == 0:
                report(f"{name} ({engine}), new kind: simulation {s + 1} of {n_simulations}")
            rng = np.random.default_rng([random_seed, s])
            simulated = [_simulated(prepared, task, rng) for prepared in (usual, others)]
            truth = simulated[int(rng.random() < chance[0])][1]
            (usual_simulated, _), (others_simulated, _) = simulated
            seed = int(rng.integers(2**31))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)
                step, _ = fitted_step(
                    (task, {name: usual_simulated}),
                    (of_kinds, {name: others_simulated}),
                    fit_engine,
                    kept,
                    seed,
                    new_kind=chance,
                )
            fits = [component.fit.diagnostics for component in step.components]
            n_failed += any(has_failed(diagnostics, engine) for diagnostics in fits)
            ess.append(min(n_draws, *(diagnostics.min_ess_bulk for diagnostics in fits)))
            known = np.full(len(task.unknowns), -1, dtype=np.int16)
            completion = Completion(task.unknowns, kept, (step,), (task.asked,), known, {}, seed)
            draws = np.zeros(kept)
            for topic in range(len(collection.query_ids)):
                draws += completion.block(topic).sum(axis=1)
            ranks.append(randomized_rank(draws[:: kept // n_draws], truth, rng))
        results.append(
            SelfCalibration(
                model=name,
                engine=engine,
                quantities=("new_run",),
                ranks=np.array(ranks, dtype=np.int64)[:, None],
                n_draws=n_draws,
                n_failed_fits=n_failed,
                ess=float(np.median(ess)),
            )
        )
    return tuple(results)


def _simulated(prepared: Prepared, task: Task, rng: np.random.Generator) -> tuple[Prepared, float]:
    """The model with simulated evidence, and the number of relevant documents among a new organization's
    unjudged ones under the same parameters.
    """
    evidence = prepared.evidence
    if not isinstance(evidence, LinearEvidence) or prepared.predictors is None:
        raise InputError(f"{prepared.model} is no model of documents", hint=f"such as {', '.join(COMBINED)}")
    n, n_seen = len(task.unknowns), len(evidence.organizations)
    whole = dataclasses.replace(
        evidence,
        organizations=(*evidence.organizations, _NEW_ORGANIZATION),
        run=np.append(evidence.run, task.unknowns.run_index[task.unknowns.run]),
        topic=np.append(evidence.topic, task.unknowns.topic),
        organization=np.append(evidence.organization, np.full(n, n_seen)),
        predictors=np.vstack([evidence.predictors, prepared.predictors]),
        n_hidden=np.append(evidence.n_hidden, np.ones(n, dtype=np.int64)),
        n_hidden_relevant=np.append(evidence.n_hidden_relevant, np.zeros(n, dtype=np.int64)),
    )
    seen = np.arange(n_seen + 1) < n_seen
    _, simulated = simulate_counts(prepared, whole, seen, rng)
    own = simulated.n_hidden_relevant[len(evidence.run) :]
    counts = simulated.n_hidden_relevant[: len(evidence.run)]
    evidence = dataclasses.replace(evidence, n_hidden_relevant=counts)
    return dataclasses.replace(prepared, evidence=evidence), float(own.sum())
