"""Completions with log odds that are made up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.inference.fit import Fit
from bayespool.measures import Diagnostics
from bayespool.posterior import Completion, FittedModel, Mixture, Threshold, ThresholdPosterior, find_unknowns
from bayespool.randomness import normals

NO_FIT = Fit({}, {}, {}, {}, Diagnostics("none", 1, 1e4, 1e4, 0))

RUNS = {
    "x": {"1": "abcdefg", "2": "ijklm"},
    "one": {"1": "aqrsb", "2": "itu"},
    "two": {"1": "sqavw", "2": "jtk"},
}


def toy(organizations: dict[str, str] | None = None) -> Collection:
    """Unjudged: q r s (topic 1) and t u (topic 2) of ``one``; s q v w and t of ``two``."""
    return from_rankings(
        RUNS,
        {"1": {"a": 1, "b": 0, "c": 1}, "2": {"i": 0, "j": 1, "k": 1}},
        organizations or {"x": "x", "one": "north", "two": "south"},
        pooled_run_ids=("x",),
        pool_depth=3,
    )


def completed(
    log_odds: Callable[[np.ndarray, int, np.ndarray], np.ndarray] | float,
    n_draws: int = 2000,
    run_ids: tuple[str, ...] = ("one", "two"),
    collection: Collection | None = None,
    seed: int = 1,
    effect: float = 0.0,
    scale: float = 0.0,
) -> Completion:
    """A completion with made-up log odds: a number, or a function of draws, topic and pairs.

    ``effect`` and ``scale`` are of the effects of organizations, and of organization × topic.
    """
    unknowns = find_unknowns(collection or toy(), run_ids, 5)

    def of(source: np.ndarray, topic: int, documents: slice) -> np.ndarray:
        pairs = unknowns.pair[documents]
        if callable(log_odds):
            return np.array(np.broadcast_to(log_odds(source, topic, pairs), (len(source), len(pairs))))
        return np.full((len(source), len(pairs)), float(log_odds))

    names = [unknowns.collection.organizations[o] for o in unknowns.collection.organization]
    of_run = [names[i] for i in unknowns.run_index]
    effects = np.column_stack([effect * normals(n_draws, seed, "organization", name) for name in of_run])
    return Completion(
        unknowns=unknowns,
        n_draws=n_draws,
        posteriors=(
            ThresholdPosterior(
                Threshold(0, 1),
                Mixture(
                    (
                        FittedModel(
                            "made up", NO_FIT, of, effects, np.full(n_draws, scale) if scale else None
                        ),
                    ),
                    np.zeros(n_draws, dtype=np.intp),
                    np.arange(n_draws),
                ),
            ),
        ),
        thresholds=(Threshold(0, 1),),
        known=np.full(len(unknowns), -1, dtype=np.int16),
        weights={"made up": 1.0},
        random_seed=seed,
    )
