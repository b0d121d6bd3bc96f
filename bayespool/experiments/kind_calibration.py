"""Simulation-based calibration of the score of a run that may be of a new kind."""

from __future__ import annotations

import dataclasses
import warnings
from typing import ClassVar

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.experiments.base import metadata_of
from bayespool.experiments.checks import refuse_priors_of_no_model
from bayespool.experiments.grading import randomized_rank
from bayespool.experiments.hidden import pool_alone
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.self_calibration import (
    DESIGN,
    DRAWS_PER_RANK,
    SelfCalibrations,
    Simulation,
    Simulations,
    simulate_counts,
)
from bayespool.experiments.settings import SelfCalibrationSettings
from bayespool.experiments.simulation import SimulationSettings, simulate
from bayespool.inference.engines import is_independent, make_engine
from bayespool.measures import Diagnostics
from bayespool.models import LinearEvidence
from bayespool.names import COMBINED
from bayespool.posterior import Completion, PreparedModel, ScoringProblem, distance_from_pool
from bayespool.posterior.distance import with_kinds
from bayespool.posterior.mixtures import OF_KINDS, fit_prepared
from bayespool.posterior.steps import rungs_of

DESIGN_OF_KINDS: SimulationSettings = dataclasses.replace(DESIGN, n_organizations=8, n_new=1)
"""A pool of eight organizations, and a run to score."""

_SEED_OF_KINDS = 5  # its run is of a new kind with a chance of .58
_NEW_ORGANIZATION = "new"


class _SimulationsOfKinds(Simulations):
    name: ClassVar[str] = "check simulation --new-kind"

    def simulation(self, collection: Collection, model: str, settings: SelfCalibrationSettings) -> Simulation:
        """Two sets of hidden documents, and a run that is of a new kind with its chance."""
        n_draws, engine, priors = settings.n_draws, settings.engine, dict(settings.priors)
        runs, rung = collection.unpooled_run_ids[:1], rungs_of(collection, settings.measure)[0]
        problem = ScoringProblem(collection, runs, settings.measure, "complete", rung=rung)
        of_kinds = dataclasses.replace(problem, collection=with_kinds(collection))
        chance = distance_from_pool(collection, runs, rel=problem.asked.rel).new_kind
        kept = n_draws if is_independent(engine) else n_draws * DRAWS_PER_RANK
        fit_engine = make_engine(engine, draws=kept, tune=500, chains=1, target_accept=0.95)
        usual, others = problem.prepare(model, priors), of_kinds.prepare(model, {**OF_KINDS, **priors})

        def simulate_once(rng: np.random.Generator) -> tuple[dict[str, int], list[Diagnostics]]:
            simulated = [_simulated(prepared, problem, rng) for prepared in (usual, others)]
            truth = simulated[int(rng.random() < chance[0])][1]
            (usual_simulated, _), (others_simulated, _) = simulated
            seed = int(rng.integers(2**31))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)
                posterior, _ = fit_prepared(
                    (problem, {model: usual_simulated}),
                    (of_kinds, {model: others_simulated}),
                    fit_engine,
                    kept,
                    seed,
                    new_kind=chance,
                )
            fits = [component.fit.diagnostics for component in posterior.components]
            known = np.full(len(problem.unknowns), -1, dtype=np.int16)
            completion = Completion(problem.unknowns, kept, (posterior,), (problem.asked,), known, {}, seed)
            draws = np.zeros(kept)
            for topic in range(len(collection.query_ids)):
                draws += completion.block(topic).sum(axis=1)
            return {"new_run": randomized_rank(draws[:: kept // n_draws], truth, rng)}, fits

        return simulate_once


@in_parts(SelfCalibrationSettings, Simulations, positional="models")
def self_calibrate_kinds(
    *, settings: SelfCalibrationSettings, running: Running, collection: Collection | None = None
) -> SelfCalibrations:
    """Simulation-based calibration of the score of a run that is of a new kind with a known chance.

    Two sets of parameters are drawn from the priors, one for hidden documents of organizations and one for
    those of kinds, and the relevance of hidden documents from each. The run's unjudged documents follow the
    second with the run's chance of being of a new kind. Both sets of hidden documents are fitted, and the
    number of relevant documents among the run's unjudged ones is ranked among the draws of the completion,
    computed as in `posterior-combined`. Each model is calibrated alone, since weights of several models are
    no posterior.

    Parameters
    ----------
    {options}
    collection : Collection, optional
        With a pool and runs outside it, the first of which is scored. Default: a small simulated one, see
        `DESIGN_OF_KINDS`. The relevance of hidden documents is not used.
    {running}

    Returns
    -------
    SelfCalibrations
        With a `SelfCalibration` for each model, of one quantity, ``new_run``.

    Raises
    ------
    InputError
        A model of counts, or a collection without a pool of two organizations or without a run outside it.
    {errors}

    Warns
    -----
    {warnings}
    """
    names = settings.models or COMBINED
    refuse_priors_of_no_model(dict(settings.priors), names, settings.engine)
    if collection is None:
        collection = simulate(DESIGN_OF_KINDS, random_seed=_SEED_OF_KINDS).collection
    collection = pool_alone(collection)
    pooled = np.flatnonzero(collection.pooled)
    if not collection.unpooled_run_ids or len(np.unique(collection.organization[pooled])) < 2:
        raise InputError("a chance of a new kind needs a pool of two organizations and a run outside it")
    done = _SimulationsOfKinds().calibrations(collection, names, settings, running)
    return SelfCalibrations(done, metadata_of(collection, settings, models=list(names), new_kind=True))


def _simulated(
    prepared: PreparedModel, problem: ScoringProblem, rng: np.random.Generator
) -> tuple[PreparedModel, float]:
    """The model with simulated evidence, and the number of relevant documents among a new organization's
    unjudged ones under the same parameters.
    """
    evidence = prepared.evidence
    if not isinstance(evidence, LinearEvidence) or prepared.predictors is None:
        raise InputError(f"{prepared.model} is no model of documents", hint=f"such as {', '.join(COMBINED)}")
    n, n_seen = len(problem.unknowns), len(evidence.organizations)
    whole = dataclasses.replace(
        evidence,
        organizations=(*evidence.organizations, _NEW_ORGANIZATION),
        run=np.append(evidence.run, problem.unknowns.run_index[problem.unknowns.run]),
        topic=np.append(evidence.topic, problem.unknowns.topic),
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
