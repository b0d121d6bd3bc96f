"""Rungs of relevance, and the fitted models and effects that answer each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.measures import Measure
from bayespool.posterior.distance import NewOrganizations
from bayespool.posterior.drawing import add_effects

if TYPE_CHECKING:
    from bayespool.inference import Fit


MAX_RUNGS = 10
"""Largest number of levels that a measure may tell apart: each is a model of its own."""


class Rung(NamedTuple):
    """One step of the ladder: of the documents of relevance ``given`` or more, which have ``rel`` or more?

    Attributes
    ----------
    given : int
        Smallest relevance of the documents; 0 for all.
    rel : int
        Smallest relevance of those that go on.
    floor : int
        Relevance that counts as 0, where no judged document has less.
    """

    given: int
    rel: int
    floor: int = 0

    @property
    def above_floor(self) -> int:
        """``rel`` if the lowest relevance were 0: names random numbers, which do not depend on the scale."""
        return self.rel - self.floor


def rungs_of(collection: Collection, measure: Measure, *, least_rel: int | None = None) -> tuple[Rung, ...]:
    """Rungs that a measure needs: of the judgments' levels up to its ``rel``, or all if it is graded.

    Where no document is judged below the lowest level, that level is the floor of all that ask for more:
    measures from ``least_rel`` on, by default the measure's own. More than `MAX_RUNGS` are an `InputError`.
    """
    rungs = _every_rung(collection, measure, least_rel)
    if problem := _too_many(measure, len(rungs)):
        raise InputError(problem, hint="bring the levels of the qrels together first")
    return rungs


def too_many_levels(collection: Collection, measure: Measure) -> str:
    """Say that a measure tells more levels apart than judgments are completed for; empty if it does not."""
    return _too_many(measure, len(_every_rung(collection, measure)))


def _too_many(measure: Measure, n: int) -> str:
    if n <= MAX_RUNGS:
        return ""
    return (
        f"{measure} tells {n} levels of relevance apart, and judgments are completed for {MAX_RUNGS} at most"
    )


def _every_rung(collection: Collection, measure: Measure, least_rel: int | None = None) -> tuple[Rung, ...]:
    """Rungs of a measure, however many (`rungs_of`)."""
    levels, first, floor = collection.levels, 1, 0  # every relevance from 1 to the lowest is one first rung
    if len(levels) > 1 and levels[0] < (least_rel or measure.rel) and not collection.has_nonrelevant:
        floor, first, *_ = levels
        levels = levels[1:]
    if (highest := getattr(measure, "max_rel", None)) is not None:  # levels above it are one
        levels = levels[: 1 + sum(level < max(highest, measure.rel) for level in levels)]
    bounds = [first, *levels[1:]] if levels else [measure.rel]
    beyond = levels and measure.rel > levels[-1]
    if not measure.is_graded and levels:
        bounds = [
            b
            for b, level in zip(bounds, levels, strict=True)
            if b == first or _needed(level, levels, measure)
        ]
    if beyond:
        bounds.append(measure.rel)
    return tuple(Rung(given, rel, floor) for given, rel in zip([0, *bounds[:-1]], bounds, strict=True))


def _needed(level: int, levels: tuple[int, ...], measure: Measure) -> bool:
    """Whether a binary measure needs the rung of a level: the level is at most the lowest relevant one."""
    relevant = [other for other in levels if other >= measure.rel]
    return level <= (relevant[0] if relevant else levels[-1])


def ladder_of(collection: Collection, measures: Iterable[Measure]) -> tuple[Rung, ...]:
    """Rungs of the measure that needs most; any other measure needs the first of these."""
    every = tuple(measures)
    least_rel = min(measure.rel for measure in every)
    return max((rungs_of(collection, measure, least_rel=least_rel) for measure in every), key=len)


def levels_of(collection: Collection, rungs: tuple[Rung, ...]) -> tuple[int, ...]:
    """Relevance of a document that reached no rung, the first, the second, …: levels of the judgments."""
    levels = [0]
    for rung in rungs:
        there = [level for level in collection.levels if level >= rung.rel]
        levels.append(there[0] if there else rung.rel)
    return tuple(levels)


def scale_of_new(sigma: FloatArray, n_organizations: int) -> FloatArray:
    """Standard deviation of a new organization's effect about the intercept, shape (draw,)."""
    return np.asarray(sigma * np.sqrt(1 + (1 / n_organizations if n_organizations else 0)))


def new_organization_effect(
    sigma: FloatArray,
    n_organizations: int,
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of effects of organizations outside the evidence, shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        Number of organizations whose mean is the intercept: it is off the population's by σ/√J. 0 without
        evidence, when the intercept is the population's.
    organization : ndarray of int, shape (run,)
        Runs with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(organization, return_inverse=True)
    scale = scale_of_new(sigma, n_organizations)
    return (scale[:, None] * rng.normal(size=(len(sigma), len(distinct))))[:, inverse]


def new_interaction(sigma: FloatArray, cell: npt.NDArray[Any], rng: np.random.Generator) -> FloatArray:
    """Draws of effects of organization × topic outside the evidence, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of their standard deviation.
    cell : ndarray of int, shape (document,)
        Organization × topic. Documents with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(cell, return_inverse=True)
    effect: FloatArray = sigma[:, None] * rng.normal(size=(len(sigma), len(distinct)))
    return effect[:, inverse]


def new_slopes(
    sigma: FloatArray, n_organizations: int, n_predictors: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of new organizations' slopes less the common ones, shape (draw, organization, predictor)."""
    return sigma[:, None, None] * rng.normal(size=(len(sigma), n_organizations, n_predictors))


def new_slope_effect(
    sigma: FloatArray,
    predictors: FloatArray,
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> FloatArray:
    """Effects of `new_slopes` on the log odds of documents, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation of slopes about the common ones.
    predictors : ndarray of float, shape (document, predictor)
    organization : ndarray of int, shape (document,)
        Documents with one number share slopes.
    rng : numpy.random.Generator
    """
    distinct, whose = np.unique(organization, return_inverse=True)
    return slope_effect(new_slopes(sigma, len(distinct), predictors.shape[1], rng), predictors, whose)


def slope_effect(slopes: FloatArray, predictors: FloatArray, organization: npt.NDArray[Any]) -> FloatArray:
    """Effects of organizations' slopes on the log odds of documents, shape (draw, document).

    Parameters
    ----------
    slopes : ndarray of float, shape (draw, organization, predictor)
    predictors : ndarray of float, shape (document, predictor)
    organization : ndarray of int, shape (document,)
        Position of each document's organization in ``slopes``.
    """
    effect = np.zeros((len(slopes), len(predictors)))
    add_slopes(effect, slopes, np.arange(len(slopes)), organization, np.ascontiguousarray(predictors))
    return effect


@compiled
def add_slopes(
    log_odds: FloatArray,
    slopes: FloatArray,
    source: npt.NDArray[np.int64],
    organization: npt.NDArray[np.int64],
    predictors: FloatArray,
) -> None:
    """Add slopes times predictors, shape (document, predictor), to log odds, shape (draw, document)."""
    for i in range(log_odds.shape[0]):
        of_draw = slopes[source[i]]
        for j in range(log_odds.shape[1]):
            own, total = of_draw[organization[j]], 0.0
            for k in range(predictors.shape[1]):
                total += own[k] * predictors[j, k]
            log_odds[i, j] += total


@dataclass(frozen=True, eq=False)
class FittedModel:
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
    new : NewOrganizations, optional
        How the effects of new organizations are distributed; the rung above starts from it.
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
    new: NewOrganizations | None = None

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
        add_effects(log_odds, self.effect[source], cells[source], run)
        if self.slopes is not None and self.predictors is not None:
            add_slopes(log_odds, self.slopes, source, self.whose[run], self.predictors[documents])
        return log_odds


@dataclass(frozen=True, eq=False)
class Mixture:
    """Models, and the model of each draw.

    Attributes
    ----------
    components : tuple of FittedModel
    component : ndarray of int, shape (draw,)
        Model of each draw.
    source : ndarray of int, shape (draw,)
        The model's draw of parameters that it takes.
    """

    components: tuple[FittedModel, ...]
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


_UNLIKELY = 0.01


class HeldOut(NamedTuple):
    """How many of the pool's organizations lie in 95 % intervals that a mixture gives without them.

    Attributes
    ----------
    share : float
        Of the organizations, by the relevant hidden documents of each run; NaN where there are too few.
    n_organizations : int
    """

    share: float = float("nan")
    n_organizations: int = 0

    @property
    def n_held(self) -> int:
        """Organizations held, rounded where some of an organization's runs are."""
        return round(self.share * self.n_organizations) if self.n_organizations else 0

    @property
    def is_bad(self) -> bool:
        """Whether as few are held in less than one of a hundred pools, if intervals hold 95 %."""
        from scipy.special import bdtr  # of a binomial distribution; scipy.stats takes a second to import

        return bool(bdtr(self.n_held, self.n_organizations, 0.95) < _UNLIKELY)


_TOO_FEW = HeldOut()


@dataclass(frozen=True, eq=False)
class RungPosterior:
    """Models of one rung of the ladder of relevance.

    Attributes
    ----------
    rung : Rung
    mixture : Mixture
        Of models that learned from organizations held out.
    new_kind : NewKind or None
        Those for runs of a new kind; None where no run can be of one.
    held_out : HeldOut
        How many of the pool's organizations the mixture predicts.
    """

    rung: Rung
    mixture: Mixture
    new_kind: NewKind | None = None
    held_out: HeldOut = _TOO_FEW

    @property
    def components(self) -> tuple[FittedModel, ...]:
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
    def fits(self) -> dict[str, Fit]:
        """Fits of all models by name."""
        return {name: c.fit for name, c in zip(self.names, self.components, strict=True)}

    @property
    def shares(self) -> list[float]:
        """Share of each model in the draws, mean over runs."""
        every = np.arange(len(self.mixture.source))
        if self.new_kind is None:
            return self.mixture.shares(np.ones(len(every)))
        new = self.new_kind.is_new(every).mean(axis=1)
        return self.mixture.shares(1 - new) + self.new_kind.mixture.shares(new)

    def of_draws(self, draws: npt.NDArray[np.intp]) -> RungPosterior:
        """The posterior with some of its draws."""
        new_kind = None if self.new_kind is None else self.new_kind.of_draws(draws)
        return RungPosterior(self.rung, self.mixture.of_draws(draws), new_kind)

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
