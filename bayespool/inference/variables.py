"""Draws of parameters as the named variables of a fit."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import PREPARE_ANEW, InputError
from bayespool.inference.density import Density
from bayespool.models.priors import draw_prior

if TYPE_CHECKING:
    from bayespool.models import Evidence, Structure

LARGEST_LOG_SCALE, LARGEST_PARAMETER = 30.0, 1e4  # that a search may have ended at, or a draw
_MAX_DOUBLES = 2**24  # draws of parameters in double precision


def is_large(n_draws: int, n_parameters: int) -> bool:
    """Return whether draws are held parameter by parameter in single precision, once, to save memory."""
    return n_draws * n_parameters > _MAX_DOUBLES


def release_memory() -> None:
    """Give freed memory back to the system, which small pieces in use would else keep from it."""
    with suppress(AttributeError, OSError, TypeError):  # a library of C without such a function
        ctypes.CDLL(None).malloc_trim(0)


def name_axes(structure: Structure, evidence: Evidence) -> tuple[dict[str, tuple[str, ...]], dict[str, Any]]:
    """Return the dimensions of each variable after chain and draw, and the coordinates."""
    dims: dict[str, tuple[str, ...]] = {}
    for name, coefficient in structure.coefficients.items():
        dims[name] = () if coefficient.dim is None else (coefficient.dim,)
    coords = dict(evidence.coords)
    for name, group in structure.groups.items():
        if group.kept is None or len(group.kept):
            dims[f"{name}_effect"] = (group.dim,)
        dims[f"sigma_{name}"] = ()
        if group.kept is not None:
            coords[group.dim] = tuple(coords[group.dim][i] for i in group.kept)
    return dims, coords


def kept_draws(drawn: Mapping[str, AnyArray], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, AnyArray]:
    """Return the draws of a `Start` in their shapes; `InputError` for those of another fit."""
    if drawn.keys() != shapes.keys() or any(drawn[name].size != np.prod(shapes[name]) for name in shapes):
        raise InputError("prepared draws are not of the pool's models", hint=PREPARE_ANEW)
    for name, values in drawn.items():
        least = 0.0 if name == "point" else -LARGEST_PARAMETER
        least = np.exp(-LARGEST_LOG_SCALE) if name.startswith("sigma_") else least
        if not ((values >= least) & (values <= LARGEST_PARAMETER)).all():
            raise InputError(f"prepared draws are out of bounds: {name}", hint=PREPARE_ANEW)
    return {name: values.reshape(shapes[name]) for name, values in drawn.items()}


def name_variables(
    structure: Structure, density: Density, x: FloatArray, theta: FloatArray, random_seed: int
) -> dict[str, FloatArray]:
    """Return the variables of draws of all parameters, each of shape (1, draw, ...)."""
    variables: dict[str, FloatArray] = {}
    for name, coefficient in structure.coefficients.items():
        values = x[:, density.slices[name]].astype(float)
        values = expit(values) if coefficient.logit else values
        variables[name] = (values[None, :, 0] if coefficient.size is None else values[None]).copy()
    rng, centered = np.random.default_rng([random_seed, 1]), []
    for name, group in structure.groups.items():
        kept = np.arange(group.size) if group.kept is None else group.kept
        if name in density.scales:
            scale = np.exp(theta[:, density.scales.index(name)])
            if group.is_cell:
                effect = density.draw_cells(x, theta, rng)
            else:
                where = density.slices[name]
                effect = x[:, where]
                if x.dtype == float or not isinstance(where, slice) or where.start < density.layout.n_global:
                    effect = effect.astype(float)  # a view would hold on to x
                if not group.is_slope:
                    centered.append((effect, effect.mean(axis=1, dtype=float, keepdims=True)))
        else:  # the data do not inform the scale of a single group
            scale, effect = draw_prior(group.scale, len(x), rng), np.zeros((len(x), len(kept)))
        if group.kept is None or len(kept):
            variables[f"{name}_effect"] = effect[None]
        variables[f"sigma_{name}"] = scale[None]
    for effect, mean in centered:
        effect -= mean  # exactly zero; at the end, as cells are drawn given x
    return variables
