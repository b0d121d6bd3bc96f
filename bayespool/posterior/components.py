"""Components of a completion: fits of models with the effects of the runs to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.posterior.effects import named_organization_effects, named_slopes
from bayespool.posterior.preparation import Prepared, Task
from bayespool.posterior.steps import Component

if TYPE_CHECKING:
    from bayespool.inference import Fit

FloatArray = npt.NDArray[np.float64]


def component_of(task: Task, prepared: Prepared, fit: Fit, random_seed: int, shift: float = 0.0) -> Component:
    """Component of a model in the completion of a task; runs whose organization is evidence have its effects,
    others new ones by name and seed, and ``shift`` is added to log odds on the first rung.
    """
    draws, of_run = fit.draws(), prepared.organization
    names = [task.collection.organizations[o] for o in task.organization]
    above = (task.asked.rel,) if task.asked.given else ()
    effect = named_organization_effects(
        draws["sigma_organization"], len(prepared.evidence.organizations), names, random_seed, *above
    )
    known = of_run >= 0
    effect[:, known] = draws["organization_effect"][:, of_run[known]]
    scale, cells = draws.get("sigma_interaction"), dict[int, FloatArray]()
    if scale is not None and prepared.known:
        of_cells = draws["interaction_effect"].reshape(len(scale), len(prepared.known), -1)
        first = [int(task.organization[of_run == o][0]) for o in prepared.known]
        cells = {o: of_cells[:, k] for k, o in enumerate(first)}
    slopes, whose = _slopes(prepared, draws, names, random_seed, above)
    return Component(
        model=prepared.model,
        fit=fit,
        log_odds=partial(prepared.log_odds, draws),
        effect=effect,
        cell_scale=scale,
        known=known,
        cells=cells,
        slopes=slopes,
        whose=whose,
        predictors=prepared.predictors,
        shift=0.0 if task.asked.given else shift,
    )


def _slopes(
    prepared: Prepared,
    draws: Mapping[str, FloatArray],
    names: Sequence[str],
    random_seed: int,
    above: tuple[int, ...],
) -> tuple[FloatArray | None, npt.NDArray[np.int64]]:
    """Differences of slopes of organizations from the common ones, known or new, shape (draw, organization,
    predictor), and the organization of each run, shape (run,).
    """
    if "sigma_slope" not in draws:
        return None, np.zeros(len(names), dtype=np.int64)
    keys = list(zip(names, prepared.organization.tolist(), strict=True))
    distinct, predictors = sorted(set(keys)), tuple(prepared.spec.predictors)
    organizations = [name for name, _ in distinct]
    slopes = named_slopes(draws["sigma_slope"], predictors, organizations, random_seed, *above)
    of_known = draws["slope_effect"].reshape(len(slopes), -1, len(predictors))
    for i, (_, organization) in enumerate(distinct):
        if organization >= 0:
            slopes[:, i] = of_known[:, organization]
    return slopes, np.array([distinct.index(key) for key in keys], dtype=np.int64)
