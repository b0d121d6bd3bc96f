"""All models by name."""

from __future__ import annotations

from bayespool.errors import InputError, known_names
from bayespool.models.anti_precision import ANTI_PRECISION
from bayespool.models.background import BACKGROUND
from bayespool.models.document import EVIDENCE
from bayespool.models.interpolated import INTERPOLATED
from bayespool.models.odds_ratio import ODDS_RATIO
from bayespool.models.ratio import RATIO
from bayespool.models.smoothed import SMOOTHED
from bayespool.models.spec import ModelSpec

_MODELS = (BACKGROUND, INTERPOLATED, SMOOTHED, ODDS_RATIO, RATIO, ANTI_PRECISION, EVIDENCE)
_OURS = {spec.name: spec for spec in _MODELS}

MODELS: dict[str, ModelSpec] = dict(_OURS)
"""Every model by name, those of one's own after the package's."""

MODEL_NAMES: tuple[str, ...] = tuple(_OURS)
"""Names of the package's models."""

_NO_MODELS = ("combined",)  # what a mixture of models is called


def add_model(spec: ModelSpec) -> None:
    """Register a model by its name; declaring your own model again, as in a notebook, replaces it.
    `bayespool.register_model` makes its estimator known, too.

    Raises
    ------
    InputError
        The package has a model of the name.
    """
    if spec.name in (*_OURS, *_NO_MODELS) and spec != _OURS.get(spec.name):
        raise InputError(f"there is a model {spec.name!r} already", hint="give it another name")
    MODELS[spec.name] = spec


def model_named(name: str) -> ModelSpec:
    """A model out of `MODELS`.

    Raises
    ------
    InputError
        There is none.
    """
    if name not in MODELS:
        raise InputError(f"no model {name!r}", hint=known_names(name, MODELS))
    return MODELS[name]


def own_models() -> dict[str, ModelSpec]:
    """Models that are not the package's."""
    return {name: spec for name, spec in MODELS.items() if spec != _OURS.get(name)}
