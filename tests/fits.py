"""Models compiled once for all tests, which takes ten seconds or more, and approximate fits made once."""

from __future__ import annotations

import dataclasses
import warnings
from collections import OrderedDict
from collections.abc import Hashable
from functools import cache, partial
from typing import Any

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.errors import DiagnosticsWarning
from bayespool.evidence import held_out_counts, judgment_counts
from bayespool.experiments import load_example
from bayespool.inference import NUTS, CompiledModel, Fit, Laplace, laplace
from bayespool.inference.arrow import Arrow
from bayespool.inference.laplace import Approximation
from bayespool.measures import parse_measure
from bayespool.models import gather_evidence
from bayespool.models.evidence import ModelEvidence
from bayespool.posterior import ScoringProblem
from bayespool.posterior.work import SharedWork

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
    return (
        ScoringProblem(collection, targets, parse_measure(f"P@{cutoff}"), "complete")
        .prepare(model, {})
        .evidence
    )


MOST_KEPT = 200_000_000  # bytes of draws
_kept: OrderedDict[Hashable, tuple[Any, Any]] = OrderedDict()
_once = SharedWork.once


MOST_APPROXIMATIONS = 48
_approximations: OrderedDict[Hashable, Approximation] = OrderedDict()
_fitted: list[Hashable] = []  # models with their evidence, of which a fit is made
_approximate = laplace.approximate


def approximate_once(density: Any, **settings: Any) -> Approximation:
    """`approximate`, or what it returned for the model and the evidence: no random number takes part, and
    fits with other seeds or numbers of draws have it in common.
    """
    if not _fitted or "near" in settings:
        return _approximate(density, **settings)
    key = _fitted[-1], repr(settings)
    if key not in _approximations:
        _approximations[key] = _approximate(density, **settings)
    _approximations.move_to_end(key)
    while len(_approximations) > MOST_APPROXIMATIONS:
        _approximations.popitem(last=False)
    return _approximations[key]


def _size(made: Any) -> int:
    return sum(draws.nbytes for draws in made.variables.values()) if isinstance(made, Fit) else 0


def once_a_session(shared: SharedWork, key: Hashable, work: Any) -> Any:
    """`SharedWork.once`, where fits and the shares of fits are those of earlier tests.

    Only of the approximate engine, and only fits that pass their checks: nothing that warns is kept.
    """
    what = key[0] if isinstance(key, tuple) else key
    if what not in ("fit", "shares") or not isinstance(work, partial):
        return _once(shared, key, work)
    if what == "fit":
        engine = getattr(work.args[0], "first", work.args[0])
        if not isinstance(engine, Laplace):
            return _once(shared, key, work)
        of, more = engine, repr(work.args[0])
    else:  # of the very fits
        of = tuple(work.args[1].values())
        more = tuple(map(id, of))
    if (key, more) not in _kept:
        if what == "fit":
            _fitted.append(key[1])
        try:
            made = _once(shared, key, work)
        finally:
            if what == "fit":
                _fitted.pop()
        if isinstance(made, Fit) and not made.diagnostics.passed:
            return made
        _kept[key, more] = of, made  # the fits as well, so that no other one gets their ids
        while sum(_size(kept) for _, kept in _kept.values()) > MOST_KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end((key, more))
    return _once(shared, key, lambda: _kept[key, more][1])


def dense_matrix(arrow: Arrow) -> FloatArray:
    """Return an arrow in full, shape (parameter, parameter)."""
    at = arrow.layout
    full = np.zeros((at.size, at.size))
    full[:, : at.n_global] = arrow.outer[:, : at.n_global]
    full[: at.n_global] = full[:, : at.n_global].T
    for t in range(at.n_groups):
        own = slice(at.n_global + t * at.width, at.n_global + (t + 1) * at.width)
        full[own, own] = arrow.outer[own, at.n_global :]
    return full
