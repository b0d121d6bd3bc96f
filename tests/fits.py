"""Models compiled once for all tests: compiling takes ten seconds or more, sampling less than one."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from typing import Any

from bayespool.counts import held_out_counts, judgment_counts
from bayespool.errors import DiagnosticsWarning
from bayespool.inference import NUTS, CompiledModel, Fit
from bayespool.measures import parse_measure
from bayespool.models import ModelEvidence, gather_evidence
from bayespool.posterior import Task
from bayespool.simulation import load_example

TARGETS = ("new-a", "new-b")

_compiled: dict[object, CompiledModel] = {}
_compile = NUTS.compile


@cache
def example_evidence(cutoff: int = 10) -> ModelEvidence:
    """The example's evidence for its two new runs."""
    example = load_example()
    counts = judgment_counts(example, TARGETS, cutoffs=cutoff)
    return gather_evidence(held_out_counts(example, cutoffs=cutoff), counts, cutoff)


def compile_once(settings: NUTS, model: Any) -> CompiledModel:
    """`NUTS.compile`, or what it returned for a model that has the same variables, priors and sizes.

    In a test: ``monkeypatch.setattr(NUTS, "compile", compile_once)``. Only for samples with ``data``: the
    compiled model may have another one's data, and its coordinate values may be another one's. Coordinates
    that no variable has, such as the runs of the background model, make no other model.
    """
    used = {dim for dims in model.named_vars_to_dims.values() for dim in dims}
    sizes = tuple((dim, len(values or ())) for dim, values in model.coords.items() if dim in used)
    key = (model.str_repr(), sizes)
    if key not in _compiled:
        _compiled[key] = _compile(settings, model)
    return dataclasses.replace(_compiled[key], settings=settings)


def sample_quietly(compiled: CompiledModel, **arguments: Any) -> Fit:
    """A fit that need not pass its checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        return compiled.sample(**arguments)


def same_draws(one: Fit, other: Fit) -> bool:
    """Whether all draws of two fits are the same bytes."""
    a, b = one.draws(), other.draws()
    return set(a) == set(b) and all(a[n].tobytes() == b[n].tobytes() for n in a)


def prepared_evidence(model, collection=None, targets=TARGETS, cutoff=10):
    """What the engines are given for a model by name."""
    collection = load_example() if collection is None else collection
    return Task(collection, targets, parse_measure(f"P@{cutoff}"), "complete").prepare(model, {}).evidence
