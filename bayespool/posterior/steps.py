"""Models behind the draws of a completion, rung by rung."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from bayespool.posterior.drawing import add_effects
from bayespool.posterior.effects import add_slopes
from bayespool.posterior.ladder import Rung

if TYPE_CHECKING:
    from bayespool.inference import Fit

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Component:
    """One model of a completion, with the effects of its runs.

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
        Differences of slopes from the common ones; None for a model without such effects.
    whose : ndarray of int, shape (run,)
        Position in ``slopes`` of each run's organization.
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

    def with_effects(
        self,
        source: npt.NDArray[np.intp],
        topic: int,
        documents: slice,
        run: npt.NDArray[np.int64],
        cells: FloatArray,
    ) -> FloatArray:
        """Log odds with all effects, shape (draw, document).

        Parameters
        ----------
        source : ndarray of int, shape (draw,)
            Numbers of draws.
        topic : int
        documents : slice
            The topic's unknowns.
        run : ndarray of int, shape (document,)
            Run whose effects a document has.
        cells : ndarray of float, shape (any draw, run)
            Effects of organization × topic.
        """
        log_odds = self.log_odds(source, topic, documents)
        if self.shift:
            log_odds = log_odds + self.shift
        add_effects(log_odds, self.effect[source], cells[source], run)
        if self.slopes is not None and self.predictors is not None:
            add_slopes(log_odds, self.slopes, source, self.whose[run], self.predictors[documents])
        return log_odds


@dataclass(frozen=True, eq=False)
class Mixture:
    """Models, and the model of each draw.

    Attributes
    ----------
    components : tuple of Component
    component : ndarray of int, shape (draw,)
        Model of each draw.
    source : ndarray of int, shape (draw,)
        The model's draw of parameters that it takes.
    """

    components: tuple[Component, ...]
    component: npt.NDArray[np.intp]
    source: npt.NDArray[np.intp]

    def of_draws(self, draws: npt.NDArray[np.intp]) -> Self:
        """The mixture with some of its draws."""
        return dataclasses.replace(self, component=self.component[draws], source=self.source[draws])

    def shares(self, weight: FloatArray) -> list[float]:
        """Share of each model in draws with weights, shape (draw,), relative to their number."""
        total = np.bincount(self.component, weight, len(self.components))
        return [float(of_model) for of_model in total / len(weight)]


@dataclass(frozen=True, eq=False)
class NewKind:
    """Models of a run in the draws in which it is of a kind outside the pool.

    Attributes
    ----------
    mixture : Mixture
        Of models that learned from kinds of runs held out.
    chance : ndarray of float, shape (run,)
        Chance that a run is of a new kind.
    order : ndarray of float, shape (draw,)
        Between 0 and 1: a run is of a new kind in the draws below its chance, so that the draws of two runs
        are nested.
    """

    mixture: Mixture
    chance: FloatArray
    order: FloatArray

    def of_draws(self, draws: npt.NDArray[np.intp]) -> NewKind:
        """The same with some of the draws."""
        return NewKind(self.mixture.of_draws(draws), self.chance, self.order[draws])

    def is_new(self, draws: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Whether each run is of a new kind in some draws, shape (draw, run)."""
        return self.order[draws, None] < self.chance


@dataclass(frozen=True, eq=False)
class Step:
    """Models of one rung of the ladder of relevance.

    Attributes
    ----------
    rung : Rung
    mixture : Mixture
        Of models that learned from organizations held out.
    new_kind : NewKind or None
        Those for runs of a new kind; None where no run can be of one.
    """

    rung: Rung
    mixture: Mixture
    new_kind: NewKind | None = None

    @property
    def components(self) -> tuple[Component, ...]:
        """All models, those for runs of a new kind last."""
        return self.mixture.components + (self.new_kind.mixture.components if self.new_kind else ())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all models, above the first rung with the rung."""
        above = f", {self.rung.rel} of {self.rung.given}" if self.rung.given else ""
        n_usual = len(self.mixture.components)
        return tuple(
            f"{c.model}{', new kind' if i >= n_usual else ''}{above}" for i, c in enumerate(self.components)
        )

    @property
    def shares(self) -> list[float]:
        """Share of each model in the draws, mean over runs."""
        every = np.arange(len(self.mixture.source))
        if self.new_kind is None:
            return self.mixture.shares(np.ones(len(every)))
        new = self.new_kind.is_new(every).mean(axis=1)
        return self.mixture.shares(1 - new) + self.new_kind.mixture.shares(new)

    def of_draws(self, draws: npt.NDArray[np.intp]) -> Step:
        """The step with some of its draws."""
        new_kind = None if self.new_kind is None else self.new_kind.of_draws(draws)
        return Step(self.rung, self.mixture.of_draws(draws), new_kind)

    def log_odds(
        self,
        draws: npt.NDArray[np.intp],
        topic: int,
        documents: slice,
        run: npt.NDArray[np.int64],
        cells: Sequence[FloatArray],
    ) -> FloatArray:
        """Log odds of a topic's documents in some draws, shape (draw, document).

        ``cells`` has the effects of organization × topic for each of ``components``.
        """
        log_odds, of = np.empty((len(draws), documents.stop - documents.start)), iter(cells)
        for mixture, applies in self._parts(draws, run):
            for c, component in enumerate(mixture.components):
                of_cells, mine = next(of), mixture.component[draws] == c
                rows = np.flatnonzero(mine if applies is None else mine & applies.any(axis=1))
                if len(rows):
                    source = mixture.source[draws[rows]]
                    there = component.with_effects(source, topic, documents, run, of_cells)
                    log_odds[rows] = (
                        there if applies is None else np.where(applies[rows], there, log_odds[rows])
                    )
        return log_odds

    def _parts(
        self, draws: npt.NDArray[np.intp], run: npt.NDArray[np.int64]
    ) -> list[tuple[Mixture, npt.NDArray[np.bool_] | None]]:
        """Mixtures, and whether each applies, shape (draw, document), or None where it applies to all."""
        if self.new_kind is None:
            return [(self.mixture, None)]
        is_new = self.new_kind.is_new(draws)[:, run]
        return [(self.mixture, ~is_new), (self.new_kind.mixture, is_new)]
