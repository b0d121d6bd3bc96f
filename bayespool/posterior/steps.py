"""The models behind the draws of a completion, rung by rung."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.posterior.ladder import Rung

if TYPE_CHECKING:
    from bayespool.inference import Fit

__all__ = ["Component", "Step"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Component:
    """One model's share in a completion.

    Attributes
    ----------
    model : str
    fit : Fit
    log_odds : callable
        (numbers of draws, topic, documents as a slice) → log odds of these unknowns, shape (draw, document),
        without effects of organizations.
    effect : ndarray of float, shape (draw, run)
        Effect of the organization of each run.
    cell_scale : ndarray of float, shape (draw,), or None
        Standard deviation of the effects of organization × topic; None for a model without them.
    known : ndarray of bool, shape (run,)
        Whether a run's organization is evidence for its effects.
    cells : mapping of int to ndarray of float, shape (draw, topic)
        Effects of such organizations on topics, by organization of the collection.
    slopes : ndarray of float, shape (draw, organization, predictor), or None
        What slopes of organizations are off the common ones; None for a model without such effects.
    whose : ndarray of int, shape (run,)
        Which of those organizations a run is of.
    predictors : ndarray of float, shape (document, predictor), or None
        Of the documents to complete, on the evidence's scale.
    shift : float
        Added to the log odds of every document.
    """

    model: str
    fit: Fit
    log_odds: Callable[[npt.NDArray[np.intp], int, slice], FloatArray]
    effect: FloatArray
    cell_scale: FloatArray | None = None
    known: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    cells: Mapping[int, FloatArray] = field(default_factory=dict)
    slopes: FloatArray | None = None
    whose: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    predictors: FloatArray | None = None
    shift: float = 0.0


@dataclass(frozen=True, eq=False)
class Step:
    """The models of one rung of the ladder of relevance.

    Attributes
    ----------
    rung : Rung
    components : tuple of Component
    component : ndarray of int, shape (draw,)
        Which model each draw is of.
    source : ndarray of int, shape (draw,)
        Which of the model's draws of parameters it takes.
    """

    rung: Rung
    components: tuple[Component, ...]
    component: npt.NDArray[np.intp]
    source: npt.NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models; above the first rung with what they answer."""
        above = f", {self.rung.rel} of {self.rung.given}" if self.rung.given else ""
        return tuple(f"{c.model}{above}" for c in self.components)
