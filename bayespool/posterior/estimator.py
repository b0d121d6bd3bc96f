"""Posterior estimators: evidence → model → draws → imputed unjudged documents → `Estimates`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import Estimand
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.estimates import Diagnostics, Estimates
from bayespool.measures import parse_measures
from bayespool.posterior.combination import log_predictive_densities, mix, stacking_weights
from bayespool.posterior.imputation import impute, new_organization_effect
from bayespool.posterior.interaction import cell_of_document, with_interaction
from bayespool.posterior.preparation import MODEL_NAMES, ModelName, Prepared, Task, prior_names

if TYPE_CHECKING:
    from bayespool.inference import CompiledModel, Fit

__all__ = ["COMBINED", "WITHOUT_POOL", "PosteriorEstimator"]

WITHOUT_POOL: Mapping[str, str] = MappingProxyType({"c": "Beta(1.2, 3.5)"})
"""Priors of the interpolated model where no hidden document is at hand, instead of its own.

C runs from 0.05 to 0.40 over the collections of ``benchmarks/priors.py``; published constants are 0.42 and
0.91. Beta(1.2, 3.5) has 95 % of its mass between 0.01 and 0.68.
"""

COMBINED: tuple[ModelName, ...] = ("ratio", "evidence")
"""The models that the combined estimator mixes."""

_MIN_ORGANIZATIONS = 4  # fewer cannot tell which model predicts better


@dataclass(frozen=True, kw_only=True)
class PosteriorEstimator:
    """Posterior of the corrected P@n under a hierarchical model.

    Each pooled organization is held out in turn to learn how often documents that nobody else retrieved are
    relevant; for each posterior draw every unjudged document of the runs to score then gets a relevance, 0 or
    1, shared by all runs that retrieve it. The organization of a run to score is new in every draw, and under
    models with predictors so is its effect on each topic (`bayespool.posterior.interaction_scale`).

    Parameters
    ----------
    model : {"combined", "background", "interpolated", "smoothed", "ratio", "anti_precision", "evidence"}
        See `bayespool.models`. ``"combined"`` mixes ``ratio`` and ``evidence`` with weights by their log
        predictive density on held-out organizations; without hidden documents to learn from it is
        ``interpolated``.
    engine : {"laplace", "nuts"}
        `bayespool.inference.Laplace` takes about a second, `bayespool.inference.NUTS` is the reference, and
        takes over with a warning where a check of the other fails.
    priors : mapping of str to str, optional
        Priors that replace the models' own, by variable: ``{"sigma_organization": "HalfNormal(0.5)"}``. A
        model that has no such variable is not concerned; one of those the estimator may use must have it.
    draws, chains : int
        Draws per chain and chains; the Laplace engine's draws are independent, ``draws × chains`` of them.
    tune, target_accept
        Settings of the sampler, see `bayespool.inference.NUTS`.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are imputed or stay nonrelevant.
    random_seed : int
        The same seed, collection and settings give the same bytes.
    progress : bool
        Show the sampler's progress.
    """

    model: ModelName | Literal["combined"] = "combined"
    engine: Literal["laplace", "nuts"] = "laplace"
    priors: Mapping[str, str] = field(default_factory=dict)
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9
    estimand: Estimand = "complete"
    random_seed: int = 1
    progress: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.model not in (*MODEL_NAMES, "combined"):
            raise InputError(f"no model {self.model!r}", hint=f"known: combined, {', '.join(MODEL_NAMES)}")
        if self.engine not in ("laplace", "nuts"):
            raise InputError(f"no engine {self.engine!r}", hint="known: laplace, nuts")
        for name in ("draws", "tune", "chains"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1 and is {getattr(self, name)}")
        if self.random_seed < 0:
            raise InputError(f"random_seed {self.random_seed} is negative")
        known = prior_names(self.model)
        if unknown := [name for name in self.priors if name not in known]:
            raise InputError(
                f"model {self.model} has no prior {unknown[0]!r}", hint=f"it has {', '.join(known)}"
            )
        object.__setattr__(self, "priors", MappingProxyType(dict(self.priors)))

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        settings["priors"] = dict(self.priors)  # the proxy does not pickle
        return partial(type(self), **settings), ()

    @property
    def name(self) -> str:
        """``posterior-`` and the model's name."""
        return f"posterior-{self.model.replace('_', '-')}"

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
            A check of the draws failed; the runs' notes say so, too.
        """
        if run_ids is None:
            run_ids = [
                r for r, pooled in zip(collection.run_ids, collection.pooled, strict=True) if not pooled
            ]
        targets = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
        sampler = _Sampler(self)
        return tuple(
            self._estimate(
                Task(collection, targets, measure, self.estimand, 2 if self.model == "combined" else 1),
                sampler,
                np.random.SeedSequence([self.random_seed, measure.cutoff, measure.rel]),
            )
            for measure in parse_measures(measures)
        )

    def _estimate(self, task: Task, sampler: _Sampler, seeds: np.random.SeedSequence) -> Estimates:
        counts, measure = task.counts, task.measure
        fits: dict[str, Fit] = {}
        weights: dict[str, float] = {}
        if counts.n_unjudged.any():
            draws, fits, weights = self._draw(task, sampler, seeds)
        else:
            draws = np.repeat(counts.n_relevant[None, :, :, 0], self.draws * self.chains, axis=0)
        n_relevant = draws.sum(axis=2, dtype=np.int64)
        n_ranks = measure.cutoff * len(counts.query_ids)
        diagnostics = _worst({model: fit.diagnostics for model, fit in fits.items()})
        problems = "; ".join(diagnostics.problems) if diagnostics is not None else ""
        return Estimates(
            method=self.name,
            measure=measure,
            run_ids=task.run_ids,
            query_ids=counts.query_ids,
            per_topic=draws.mean(axis=0) / measure.cutoff,
            value=n_relevant.mean(axis=0) / n_ranks,
            std=n_relevant.std(axis=0) / n_ranks,
            draws=draws,
            notes=tuple(self._note(fits, problems) if n else "" for n in counts.n_unjudged.sum(axis=(1, 2))),
            diagnostics=diagnostics,
            fits=fits,
            weights=weights,
            fingerprint=task.collection.fingerprint,
            random_seed=self.random_seed,
        )

    def _note(self, fits: Mapping[str, Fit], problems: str) -> str:
        notes = [f"diagnostics failed: {problems}"] if problems else []
        if self.model == "combined" and "interpolated" in fits:
            notes.append("no hidden documents to learn from, the interpolated model on its priors")
        idle = [name for name in self.priors if all(name not in prior_names(model) for model in fits)]
        if idle and fits:
            notes.append(f"{' and '.join(fits)} took no prior of {', '.join(idle)}")
        if any(fit.diagnostics.engine == "laplace" for fit in fits.values()):
            from bayespool.inference.diagnostics import MIN_ESS

            n_draws = self.draws * self.chains
            if not n_draws > MIN_ESS:  # of a sampler the effective sample size says so
                notes.append(f"an interval of {n_draws} draws, should be over {MIN_ESS:.0f}")
        return "; ".join(notes)

    def _draw(
        self, task: Task, sampler: _Sampler, seeds: np.random.SeedSequence
    ) -> tuple[npt.NDArray[np.int32], dict[str, Fit], dict[str, float]]:
        models: tuple[ModelName, ...] = (self.model,) if self.model != "combined" else COMBINED
        if self.model == "combined" and not task.has_evidence:
            models = ("interpolated",)
        priors = dict(self.priors) if task.has_evidence else {**WITHOUT_POOL, **self.priors}
        prepared: dict[str, Prepared] = {model: task.prepare(model, priors) for model in models}
        weight_seed, mix_seed, *model_seeds = seeds.spawn(2 + len(models))
        weights = np.full(len(models), 1 / len(models))
        if len(models) > 1:
            n_organizations = len(prepared[models[0]].evidence.organizations)
            if n_organizations >= _MIN_ORGANIZATIONS:
                weights = stacking_weights(*log_predictive_densities(prepared, _integer(weight_seed)))
        completed: list[npt.NDArray[np.int32]] = []
        fits: dict[str, Fit] = {}
        for (model, one), seed in zip(prepared.items(), model_seeds, strict=True):
            fit_seed, imputation_seed, interaction_seed = seed.spawn(3)
            fits[model] = sampler.sample(one, _integer(fit_seed))
            rng = np.random.default_rng(imputation_seed)
            parameters = fits[model].draws()
            effect = new_organization_effect(
                parameters["sigma_organization"], len(one.evidence.organizations), task.organization, rng
            )
            known = one.organization >= 0
            effect[:, known] = parameters["organization_effect"][:, one.organization[known]]
            log_odds = _DocumentLogOdds(one, parameters, effect, task, _integer(interaction_seed))
            completed.append(impute(task.counts.n_relevant[:, :, 0], task.documents, log_odds, rng))
        draws = completed[0] if len(models) == 1 else mix(completed, weights, np.random.default_rng(mix_seed))
        return draws, fits, dict(zip(prepared, weights.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _DocumentLogOdds:
    """Log odds of the documents to impute, computed for a few draws at a time."""

    prepared: Prepared
    parameters: Mapping[str, npt.NDArray[np.float64]]
    effect: npt.NDArray[np.float64]  # of each run's organization
    task: Task
    seed: int

    def __len__(self) -> int:
        return len(self.effect)

    def __getitem__(self, draws: slice, /) -> npt.NDArray[np.float64]:
        parameters = {name: values[draws] for name, values in self.parameters.items()}
        log_odds = self.prepared.log_odds(parameters)
        log_odds += np.take(self.effect[draws], self.task.documents[0], axis=1)
        rng = np.random.default_rng([self.seed, draws.start])
        return with_interaction(log_odds, self._scale, self._cell, rng)

    @cached_property
    def _scale(self) -> float:
        return self.prepared.interaction_scale(self.parameters)

    @cached_property
    def _cell(self) -> npt.NDArray[np.int64]:
        run, topic, pair = self.task.documents
        n_topics = len(self.task.collection.query_ids)
        return cell_of_document(self.task.organization[run], topic, pair, n_topics)


class _Sampler:
    """An engine with the models it has compiled, kept from measure to measure."""

    def __init__(self, settings: PosteriorEstimator) -> None:
        self._settings = settings
        self._compiled: dict[str, CompiledModel] = {}

    def sample(self, prepared: Prepared, random_seed: int) -> Fit:
        from bayespool.inference import NUTS, Laplace

        s, evidence = self._settings, prepared.evidence
        if s.engine == "laplace":
            engine = Laplace(draws=s.draws * s.chains)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)  # the warning below says more
                try:
                    fit = engine.fit(prepared.structure(), evidence.coords, random_seed=random_seed)
                    problems = fit.diagnostics.problems
                except np.linalg.LinAlgError:
                    problems = ("a curvature is not positive",)
            if not problems:
                return fit
            warnings.warn(
                f"{prepared.model}: {'; '.join(problems)}; sampling with nuts instead",
                DiagnosticsWarning,
                stacklevel=2,
            )
        if prepared.model not in self._compiled:
            sampler = NUTS(draws=s.draws, tune=s.tune, chains=s.chains, target_accept=s.target_accept)
            self._compiled[prepared.model] = sampler.compile(prepared.graph())
        return self._compiled[prepared.model].sample(
            random_seed=random_seed, data=evidence.arrays(), progress=s.progress
        )


def _integer(seeds: np.random.SeedSequence) -> int:
    return int(seeds.generate_state(1)[0])


def _worst(of_models: Mapping[str, Diagnostics]) -> Diagnostics | None:
    """One verdict over the fits of several models; a problem names its model where there is more than one."""
    diagnostics = list(of_models.values())
    if not diagnostics:
        return None
    several = len(diagnostics) > 1
    return Diagnostics(
        engine=", ".join(dict.fromkeys(d.engine for d in diagnostics)),
        max_r_hat=max(d.max_r_hat for d in diagnostics),
        min_ess_bulk=min(d.min_ess_bulk for d in diagnostics),
        min_ess_tail=min(d.min_ess_tail for d in diagnostics),
        n_divergences=sum(d.n_divergences for d in diagnostics),
        pareto_k=max(d.pareto_k for d in diagnostics),
        problems=tuple(f"{m}: {p}" if several else p for m, d in of_models.items() for p in d.problems),
    )
