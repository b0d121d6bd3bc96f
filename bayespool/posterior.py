"""Posterior estimators: evidence → model → draws → imputed unjudged documents → `Estimates`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import Estimand, JudgmentCounts, held_out_counts, judgment_counts, unjudged_documents
from bayespool.errors import InputError
from bayespool.estimates import Estimates
from bayespool.measures import Precision, parse_measures

if TYPE_CHECKING:
    from bayespool.inference import CompiledModel, Fit
    from bayespool.models import ModelEvidence

__all__ = ["MODEL_NAMES", "PosteriorEstimator", "impute", "new_organization_effect"]

ModelName = Literal["background", "interpolated", "smoothed"]
MODEL_NAMES: tuple[ModelName, ...] = ("background", "interpolated", "smoothed")

_CHUNK = 2**24  # drawn (draw, document) relevances held at a time


@dataclass(frozen=True, kw_only=True)
class PosteriorEstimator:
    """Posterior of the corrected P@n under a hierarchical model.

    Each pooled organization is held out in turn to learn how often documents that nobody else retrieved are
    relevant; for each posterior draw every unjudged document of the runs to score then gets a relevance, 0 or
    1, shared by all runs that retrieve it. The organization of a run to score is new in every draw.

    Parameters
    ----------
    model : {"interpolated", "smoothed", "background"}
        See `bayespool.models`.
    priors : mapping of str to str, optional
        Priors that replace the model's own, by variable: ``{"c": "Beta(1, 1)"}``.
    draws, tune, chains, target_accept
        Settings of the sampler, see `bayespool.inference.NUTS`.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are imputed or stay nonrelevant.
    random_seed : int
        The same seed, collection and settings give the same bytes.
    progress : bool
        Show the sampler's progress.
    """

    model: ModelName = "interpolated"
    priors: Mapping[str, str] = field(default_factory=dict)
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9
    estimand: Estimand = "complete"
    random_seed: int = 1
    progress: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.model not in MODEL_NAMES:
            raise InputError(f"no model {self.model!r}", hint=f"known: {', '.join(MODEL_NAMES)}")
        if self.random_seed < 0:
            raise InputError(f"random_seed {self.random_seed} is negative")
        object.__setattr__(self, "priors", MappingProxyType(dict(self.priors)))

    @property
    def name(self) -> str:
        """``posterior-`` and the model's name."""
        return f"posterior-{self.model}"

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Posterior of the corrected values of runs.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: the runs that were not pooled. They are scored together, so that their draws can be
            compared.
        measures : measure or iterable of measures

        Returns
        -------
        tuple of Estimates
            One per measure, with draws and diagnostics. Where nothing is unjudged nothing is sampled: each
            draw is P@n itself.

        Warns
        -----
        DiagnosticsWarning
            A check of the sampler's draws failed; the runs' notes say so, too.
        """
        if run_ids is None:
            run_ids = [
                run for run, pooled in zip(collection.run_ids, collection.pooled, strict=True) if not pooled
            ]
        targets = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
        sampler = _Sampler(self)
        return tuple(
            self._estimate(
                collection, targets, measure, sampler, np.random.SeedSequence([self.random_seed, i])
            )
            for i, measure in enumerate(parse_measures(measures))
        )

    def _estimate(
        self,
        collection: Collection,
        targets: tuple[str, ...],
        measure: Precision,
        sampler: _Sampler,
        seeds: np.random.SeedSequence,
    ) -> Estimates:
        counts = judgment_counts(
            collection, targets, cutoffs=measure.cutoff, rel=measure.rel, estimand=self.estimand
        )
        sampler_seed, imputation_seed = seeds.spawn(2)
        fit = None
        if counts.n_unjudged.any():
            from bayespool.models import gather_evidence

            held_out = held_out_counts(collection, cutoffs=measure.cutoff, rel=measure.rel)
            evidence = gather_evidence(held_out, counts, measure.cutoff)
            fit = sampler.sample(evidence, int(sampler_seed.generate_state(1)[0]))
            draws = self._impute(
                collection, counts, measure, evidence, fit, np.random.default_rng(imputation_seed)
            )
        else:
            draws = np.repeat(counts.n_relevant[None, :, :, 0], self.draws * self.chains, axis=0)
        scores = draws.sum(axis=2, dtype=np.int64) / (measure.cutoff * len(counts.query_ids))
        problems = "; ".join(fit.diagnostics.problems) if fit is not None else ""
        return Estimates(
            method=self.name,
            measure=measure,
            run_ids=targets,
            query_ids=counts.query_ids,
            per_topic=draws.mean(axis=0) / measure.cutoff,
            value=scores.mean(axis=0),
            std=scores.std(axis=0),
            draws=draws,
            notes=tuple(f"diagnostics failed: {problems}" if problems else "" for _ in targets),
            diagnostics=None if fit is None else fit.diagnostics,
            posterior=None if fit is None else fit.posterior,
            fingerprint=collection.fingerprint,
            random_seed=self.random_seed,
        )

    def _impute(
        self,
        collection: Collection,
        counts: JudgmentCounts,
        measure: Precision,
        evidence: ModelEvidence,
        fit: Fit,
        rng: np.random.Generator,
    ) -> npt.NDArray[np.int32]:
        parameters = fit.draws()
        position = np.arange(evidence.n_pooled_runs, len(evidence.run_ids))
        log_odds = _log_odds(self.model)(parameters, position, counts.residual[:, :, 0])
        organization = collection.organization[collection.run_index(counts.run_ids)]
        effect = new_organization_effect(
            parameters["sigma_organization"], len(evidence.organizations), organization, rng
        )
        documents = unjudged_documents(
            collection, counts.run_ids, cutoff=measure.cutoff, estimand=self.estimand
        )
        return impute(counts.n_relevant[:, :, 0], documents, log_odds + effect[:, :, None], rng)


class _Sampler:
    """One model's compiled graph, kept from measure to measure."""

    def __init__(self, settings: PosteriorEstimator) -> None:
        self._settings = settings
        self._compiled: CompiledModel | None = None

    def sample(self, evidence: ModelEvidence, random_seed: int) -> Fit:
        from bayespool import models
        from bayespool.inference import NUTS

        s = self._settings
        if self._compiled is None:
            build: Callable[..., Any] = getattr(models, s.model)
            priors = {name: models.parse_prior(text) for name, text in s.priors.items()}
            try:
                graph = build(evidence, **priors)
            except TypeError as error:
                raise InputError(f"model {s.model} has no such prior: {error}") from error
            engine = NUTS(draws=s.draws, tune=s.tune, chains=s.chains, target_accept=s.target_accept)
            self._compiled = engine.compile(graph)
        return self._compiled.sample(random_seed=random_seed, data=evidence.arrays(), progress=s.progress)


def _log_odds(model: ModelName) -> Callable[..., npt.NDArray[np.float64]]:
    from bayespool import models

    function: Callable[..., npt.NDArray[np.float64]] = getattr(models, f"{model}_log_odds")
    return function


def new_organization_effect(
    sigma: npt.NDArray[np.float64],
    n_organizations: int,
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Effects of organizations outside the evidence, drawn, never zero; shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        How many organizations the intercept is the mean of: their mean is off the population's by σ/√J. 0
        without evidence, when the intercept is the population's.
    organization : ndarray of int, shape (run,)
        Runs with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(organization, return_inverse=True)
    scale = sigma * np.sqrt(1 + (1 / n_organizations if n_organizations else 0))
    effect: npt.NDArray[np.float64] = (scale[:, None] * rng.normal(size=(len(sigma), len(distinct))))[
        :, inverse
    ]
    return effect


def impute(
    n_relevant: npt.NDArray[np.int32],
    documents: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int32]],
    log_odds: npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> npt.NDArray[np.int32]:
    """Draws of the number of relevant documents in the top n, one relevance per unjudged (topic, document)
    and draw.

    Parameters
    ----------
    n_relevant : ndarray of int32, shape (run, topic)
        Judged relevant documents in the top n.
    documents : tuple of ndarray
        Run, topic and pair of each unjudged document (`bayespool.counts.unjudged_documents`).
    log_odds : ndarray of float, shape (draw, run, topic)
        Log odds that an unjudged document of the run is relevant; a document of several runs has the mean of
        theirs.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int32, shape (draw, run, topic)
        Between ``n_relevant`` and ``n_relevant`` plus the number of unjudged documents, always.
    """
    run, topic, pair = documents
    completed = np.repeat(n_relevant[None].astype(np.int32), len(log_odds), axis=0)
    if len(pair) == 0:
        return completed
    _, inverse, n_runs = np.unique(pair, return_inverse=True, return_counts=True)
    by_pair = np.argsort(inverse, kind="stable")
    pair_start = np.cumsum(n_runs) - n_runs
    cell_start = np.flatnonzero(np.append(True, (run[1:] != run[:-1]) | (topic[1:] != topic[:-1])))
    step = max(1, _CHUNK // len(pair))
    for first in range(0, len(log_odds), step):
        part = log_odds[first : first + step, run, topic]
        mean = np.add.reduceat(part[:, by_pair], pair_start, axis=1) / n_runs
        relevant = rng.logistic(size=mean.shape) < mean
        cells = np.add.reduceat(relevant[:, inverse], cell_start, axis=1, dtype=np.int32)
        completed[first : first + step, run[cell_start], topic[cell_start]] += cells
    return completed
