"""Registry of models by name."""

from __future__ import annotations

from bayespool.errors import InputError, known_names
from bayespool.models.documents import EVIDENCE, RANKINGS
from bayespool.models.published import ANTI_PRECISION, BACKGROUND, INTERPOLATED, ODDS_RATIO, RATIO, SMOOTHED
from bayespool.models.spec import ModelSpec

_MODELS = (BACKGROUND, INTERPOLATED, SMOOTHED, ODDS_RATIO, RATIO, ANTI_PRECISION, EVIDENCE, RANKINGS)
_PACKAGE_MODELS = {spec.name: spec for spec in _MODELS}

MODELS: dict[str, ModelSpec] = dict(_PACKAGE_MODELS)
"""Every model by name, registered ones after the package's."""

MODEL_NAMES: tuple[str, ...] = tuple(_PACKAGE_MODELS)
"""Names of the package's models."""

_RESERVED_NAMES = ("combined",)  # name of the mixture of models


def add_model(spec: ModelSpec) -> None:
    """Register a model, or replace a registered one; `bayespool.register_model` adds its estimator."""
    if spec.name in (*_PACKAGE_MODELS, *_RESERVED_NAMES) and spec != _PACKAGE_MODELS.get(spec.name):
        raise InputError(f"there is a model {spec.name!r} already", hint="give it another name")
    MODELS[spec.name] = spec


def model_named(name: str) -> ModelSpec:
    """A model out of `MODELS`; `InputError` if none has the name."""
    if name not in MODELS:
        raise InputError(f"no model {name!r}", hint=known_names(name, MODELS))
    return MODELS[name]


def own_models() -> dict[str, ModelSpec]:
    """Registered models that are not the package's."""
    return {name: spec for name, spec in MODELS.items() if spec != _PACKAGE_MODELS.get(name)}
