"""Mixtures of fitted models of a rung, and the priors of special cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.inference import Engine
from bayespool.posterior.combination import members_of_draws, shares_of_models
from bayespool.posterior.components import component_of
from bayespool.posterior.preparation import Prepared, Task, evidence_depth
from bayespool.posterior.steps import Mixture, NewKind, Step

WITHOUT_POOL: Mapping[str, str] = MappingProxyType({"c": "Beta(1.2, 2.5)"})
"""Prior of the interpolated model where the pool hides no document.

C runs from 0.05 to 0.65 over collections, and to 0.8 for runs unlike the pool (docs/statistics.md); published
constants are 0.42 and 0.91. 95 % of Beta(1.2, 2.5) is between 0.02 and 0.79.
"""

WITHOUT_POOL_ABOVE: Mapping[str, str] = MappingProxyType(
    {"c": "Beta(6, 2)", "log_ratio": "Normal(-0.8, 0.6)"}
)
"""The same above the first rung, also of the odds-ratio model: of relevant documents, about as many unjudged
as judged ones are highly relevant.
"""

OF_KINDS: Mapping[str, str] = MappingProxyType({"sigma_slope": "HalfNormal(1)"})
"""Priors where kinds are held out: kinds differ more than organizations."""

_ORDER_SEED = 17  # of the order of draws, the same on all rungs


def make_step(
    task: Task,
    models: Sequence[str],
    engine: Engine,
    priors: Mapping[str, str],
    n_draws: int,
    random_seed: int,
    *,
    shift: float = 0.0,
    new_kind: npt.NDArray[np.float64] | None = None,
    kinds: Collection | None = None,
) -> tuple[Step, list[float]]:
    """Fit the models of a rung, with these priors, and again to the evidence of ``kinds`` for runs that may
    be of a new kind; the step, and the share of each of ``step.names``, mean over runs.
    """
    rung = task.asked
    if not task.has_pool_evidence:
        priors = {**(WITHOUT_POOL if not rung.given else WITHOUT_POOL_ABOVE), **priors}
    ready = {model: task.prepare(model, priors) for model in models}
    others = None
    if new_kind is not None and kinds is not None and task.has_pool_evidence:
        of_kinds = dataclasses.replace(task, collection=kinds)
        others = of_kinds, {model: of_kinds.prepare(model, {**OF_KINDS, **priors}) for model in models}
    return fitted_step((task, ready), others, engine, n_draws, random_seed, shift=shift, new_kind=new_kind)


def fitted_step(
    usual: tuple[Task, Mapping[str, Prepared]],
    others: tuple[Task, Mapping[str, Prepared]] | None,
    engine: Engine,
    n_draws: int,
    random_seed: int,
    *,
    shift: float = 0.0,
    new_kind: npt.NDArray[np.float64] | None = None,
) -> tuple[Step, list[float]]:
    """`make_step` from prepared models by name, with the evidence of organizations and of kinds."""
    rung = usual[0].asked
    depth = evidence_depth(next(iter(usual[1])), usual[0].measure.cutoff)
    seeds = np.random.SeedSequence([random_seed, depth, rung.rel])

    def mixture_of(task: Task, prepared: Mapping[str, Prepared]) -> tuple[Mixture, list[float]]:
        """Fitted models with their draws, and their shares."""
        mix_seed, *model_seeds = seeds.spawn(1 + len(prepared))
        fits, keys = {}, []
        for (model, part), model_seed in zip(prepared.items(), model_seeds, strict=True):
            seed = int(model_seed.generate_state(1)[0])
            keys.append((part.key, seed))
            fits[model] = task.shared.once(("fit", *keys[-1]), partial(part.fit, engine, seed))
        shares = task.shared.once(("shares", *keys), partial(shares_of_models, prepared, fits))
        components = tuple(
            component_of(task, part, fits[model], random_seed, shift) for model, part in prepared.items()
        )
        member = members_of_draws(n_draws, np.array(shares), np.random.default_rng(mix_seed))
        return Mixture(components, member, np.arange(n_draws)), shares

    mixture, shares = mixture_of(*usual)
    if new_kind is None or others is None:
        return Step(rung, mixture), shares
    mixture_of_kinds, shares_of_kinds = mixture_of(*others)
    mean, rng = float(new_kind.mean()), np.random.default_rng([random_seed, _ORDER_SEED])
    order = (rng.permutation(n_draws) + 0.5) / n_draws
    weights = [(1 - mean) * share for share in shares] + [mean * share for share in shares_of_kinds]
    return Step(rung, mixture, NewKind(mixture_of_kinds, new_kind, order)), weights
