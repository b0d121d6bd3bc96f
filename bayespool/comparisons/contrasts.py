"""Differences of runs by group of topics and as a mean of groups, and differences of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayespool.arrays import AnyArray, BoolArray, FloatArray
from bayespool.collection import Collection
from bayespool.collection.collection import Systems
from bayespool.comparisons.draws import largest_difference, largest_rejected
from bayespool.comparisons.significance import Pairs, adjusted_values, announced_order
from bayespool.evidence import Bounds
from bayespool.evidence.difference_bounds import difference_bounds
from bayespool.measures import Estimates, Measure, equal_tailed_interval
from bayespool.measures.groups import ALL_TOPICS, MEAN_OF_GROUPS, Groups, MeanTest, t_test_of_groups
from bayespool.measures.populations import AddedVariance, average_runs, mean_draws
from bayespool.measures.values import Values
from bayespool.names import AS_JUDGED, Control, Estimand, Scope
from bayespool.randomness import key_of
from bayespool.scoring import Scores
from bayespool.tables.formatting import counted

_DECIMALS = 12
_MAX_CELLS = 1 << 22  # numbers


@dataclass(frozen=True)
class Units:
    """Runs that are compared, or systems, which score the mean of their runs.

    Attributes
    ----------
    names : tuple of str
    members : tuple of tuple of int
        Places of the runs of each.
    are_systems : bool
    """

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    are_systems: bool

    @classmethod
    def of(cls, run_ids: Sequence[str], systems: Systems) -> Units:
        """Make units of runs; one that no system has is a system of its own.

        Examples
        --------
        >>> units = Units.of(["a1", "b", "a2"], (("a1", "a"), ("a2", "a")))
        >>> units.names, units.members
        (('a', 'b'), ((0, 2), (1,)))
        """
        of, members = dict(systems), dict[str, list[int]]()
        for place, run in enumerate(run_ids):
            members.setdefault(of.get(run, run), []).append(place)
        return cls(tuple(members), tuple(map(tuple, members.values())), bool(systems))

    def among(self, runs: Sequence[str], run_ids: Sequence[str]) -> Units:
        """Return units of ``runs`` with their places among ``run_ids``."""
        members = tuple(tuple(run_ids.index(runs[place]) for place in own) for own in self.members)
        return Units(self.names, members, self.are_systems)

    def text(self, place: int) -> str:
        """Return a name, of a system with its number of runs."""
        if not self.are_systems:
            return self.names[place]
        return f"{self.names[place]} ({counted(len(self.members[place]), 'run')})"

    def items(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield names with the places of runs."""
        return zip(self.names, self.members, strict=True)

    def average(self, scores: Any) -> Any:
        """Average scores over the runs of each, from (..., run, topic) to (..., unit, topic)."""
        return average_runs(scores, self.members)

    def pairs_of_runs(self, a: int, b: int) -> list[tuple[int, int]]:
        """Return all pairs of a run of one and a run of another."""
        return list(product(self.members[a], self.members[b]))


@dataclass(frozen=True, eq=False)
class Part:
    """Topics that a mean is over: those of one group, or all, with groups of equal weight or not.

    Attributes
    ----------
    name : str
    topics : ndarray of bool, shape (topic,)
    groups : Groups or None
        Of the topics, where each group has the same weight.
    """

    name: str
    topics: BoolArray
    groups: Groups | None = None

    @classmethod
    def all_of(cls, n_topics: int, groups: Groups | None) -> tuple[Part, ...]:
        """Return the part of each group, of the mean of groups and of all topics."""
        whole = np.ones(n_topics, dtype=bool)
        if groups is None:
            return (cls(ALL_TOPICS, whole),)
        parts = [cls(name, groups.topic_group == g) for g, name in enumerate(groups.names)]
        return (*parts, cls(MEAN_OF_GROUPS, whole, groups), cls(ALL_TOPICS, whole))

    def among(self, topics: BoolArray) -> Part:
        """Return the part of some of its topics."""
        kept = self.topics & topics
        labels = () if self.groups is None else np.array(self.groups.labels)[kept].tolist()
        return Part(self.name, kept, Groups(tuple(labels)) if self.groups else None)

    def mean(self, values: FloatArray) -> FloatArray:
        """Return the mean over its topics, from shape (..., topic) to (...)."""
        own = values[..., self.topics]
        return np.asarray(own.mean(axis=-1)) if self.groups is None else self.groups.mean(own)

    @property
    def may_be_sampled(self) -> bool:
        """Whether there are two topics or more, in each group where there are groups."""
        sizes = [self.topics.sum()] if self.groups is None else self.groups.n_topics
        return bool(np.min(sizes, initial=2) >= 2)

    def draws(self, e: Estimates, units: Units, scope: Scope, random_seed: int) -> FloatArray:
        """Return draws of the units' means in a scope, shape (draw, unit)."""
        assert e.draws is not None
        amount, seed = e.draws.amount[..., self.topics], key_of(random_seed, e.measure)
        drawn = mean_draws(amount, self.groups, scope, members=units.members, random_seed=seed)
        return drawn / e.draws.unit

    def test(self, scores: AnyArray, units: Units, pairs: Pairs, scope: Scope) -> MeanTest:
        """Test differences of pairs of units, from scores of shape (draw, run, topic): (draw, pair).

        Topics are a sample, within groups, or in the scope ``groups`` the groups are; the runs of systems
        are one, too. Without two topics in each group all are NaN.
        """
        (first, second), own, groups = pairs, scores[..., self.topics], self.groups
        if scope == "groups" and groups is not None:
            own, groups = groups.by_group(own), None
        elif not self.may_be_sampled:
            return MeanTest(*np.full((3, len(scores), len(first)), np.nan))
        values = units.average(own)
        added = AddedVariance.from_runs(own, units.members, groups)
        variance = None
        if added is not None:
            variance = added.variance[:, first] + added.variance[:, second], added.degrees[:, None]
        differences = values[:, first] - values[:, second]
        return t_test_of_groups(differences, groups or Groups(("",) * own.shape[-1]), variance)


class Errors(NamedTuple):
    """Errors that tests may make: control over pairs, level, least share of draws that announces an order."""

    control: Control
    level: float
    announce: float


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Pairs of runs or systems that are compared by group of topics, or as means of runs.

    Attributes
    ----------
    units : Units
    pairs : tuple of ndarray of int
        First and second units of each pair.
    parts : tuple of Part
    scopes : tuple of str
    bounds : mapping of Measure to (ndarray of float, ndarray of float), shape (pair, part) each
        Least and greatest difference on these topics, of these runs.
    """

    units: Units
    pairs: Pairs
    parts: tuple[Part, ...]
    scopes: tuple[Scope, ...]
    bounds: Mapping[Measure, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def groups(self) -> Groups | None:
        """Groups of topics, if they are asked for."""
        return next((part.groups for part in self.parts if part.groups is not None), None)

    @property
    def test_name(self) -> str:
        """Name of the test of a difference."""
        if not self.units.are_systems:
            return "t test of topics within groups"
        return f"t test with runs and topics crossed{', within groups' * (self.groups is not None)}"

    def parts_in(self, scope: Scope) -> list[tuple[int, Part]]:
        """Return the parts that a scope speaks of, with their places: groups are a sample of one mean."""
        return [(k, p) for k, p in enumerate(self.parts) if scope != "groups" or p.groups is not None]


def unit_bounds(
    collection: Collection,
    bounds: Bounds,
    units: Units,
    pairs: Pairs,
    parts: Sequence[Part],
    estimand: Estimand,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest difference of each pair of units, shape (pair, part) each.

    Those of systems are means over all pairs of their runs.
    """
    of_pairs = [units.pairs_of_runs(a, b) for a, b in zip(*pairs, strict=True)]
    first, second = np.array([runs for each in of_pairs for runs in each], dtype=np.intp).reshape(-1, 2).T

    def means(values: FloatArray) -> FloatArray:
        return np.stack([part.mean(values) for part in parts], axis=-1)

    ends = difference_bounds(collection, bounds, (first, second), estimand, means)
    starts = np.cumsum([0, *map(len, of_pairs)])[:-1]
    n = np.array(list(map(len, of_pairs)))[:, None]
    lower, upper = (np.add.reduceat(end, starts, axis=0) / n for end in ends)
    return lower, upper


def contrast_frame(
    contrasts: Contrasts, scores: Scores, deciding: Mapping[Measure, str], errors: Errors, random_seed: int
) -> pd.DataFrame:
    """Return the frame of `Comparison.groups` and `Comparison.system_differences`.

    ``deciding`` are the estimators whose draws give verdicts, by measure, where there are any.
    """
    frames = [
        pd.DataFrame(columns)
        for measure in scores.measures
        for columns in _measure_columns(
            contrasts, scores, measure, deciding.get(measure, ""), errors, random_seed
        )
    ]
    frame = pd.concat(frames, ignore_index=True)
    noun = "system" if contrasts.units.are_systems else "run"
    names = ["measure", "estimator", "scope", "group", "n_topics", f"{noun}_a", f"{noun}_b", "difference"]
    names += ["lower", "upper", "ci_prob", "prob_greater", "prob_less", "bound_lower", "bound_upper"]
    names += ["as_judged", "standard_error", "p_value", "p_adjusted", "significant"]
    return frame.reindex(columns=names).astype({"significant": "boolean"})


def _measure_columns(
    contrasts: Contrasts, scores: Scores, measure: Measure, decides: str, errors: Errors, random_seed: int
) -> Iterator[dict[str, Any]]:
    """Yield columns of the frame, by estimator, scope and part."""
    units, (first, second) = contrasts.units, contrasts.pairs
    judged, tests = scores[measure, AS_JUDGED].per_topic, dict[Scope, _Tests]()
    names, noun = np.array(units.names, dtype=object), "system" if units.are_systems else "run"
    draws = scores[measure, decides].draws if decides else None
    for e in (each for each in scores.estimates if each.measure == measure):
        for scope in contrasts.scopes if e.draws is not None else ("these-topics",):
            sampled: Scope = "groups" if scope == "groups" else "population"
            if sampled not in tests:
                tests[sampled] = _Tests.of(contrasts, measure, sampled, judged, draws, errors)
            for k, part in contrasts.parts_in(scope):
                values, of_judged = (part.mean(units.average(x)) for x in (e.per_topic, judged))
                columns: dict[str, Any] = {"measure": str(measure), "estimator": e.estimator, "scope": scope}
                columns |= {"group": part.name, "n_topics": int(part.topics.sum())}
                columns |= {f"{noun}_a": names[first], f"{noun}_b": names[second]}
                columns |= {"difference": values[first] - values[second]}
                if e.draws is not None:
                    columns |= _drawn_columns(e, part, contrasts, scope, scores.ci_prob, random_seed)
                if measure in contrasts.bounds and scope == "these-topics":
                    ends = contrasts.bounds[measure]
                    columns |= {"bound_lower": ends[0][:, k], "bound_upper": ends[1][:, k]}
                columns |= {"as_judged": of_judged[first] - of_judged[second]}
                yield columns | tests[sampled].columns(k)


def _drawn_columns(
    e: Estimates, part: Part, contrasts: Contrasts, scope: Scope, ci_prob: float, seed: int
) -> dict[str, Any]:
    """Return columns of a difference over draws."""
    first, second = contrasts.pairs
    drawn, most = part.draws(e, contrasts.units, scope, seed), largest_difference(e.measure)
    lead = np.round(drawn[:, first] - drawn[:, second], _DECIMALS).clip(-most, most)
    lower, upper = equal_tailed_interval(lead, ci_prob)
    columns = {"difference": lead.mean(axis=0), "lower": lower, "upper": upper, "ci_prob": ci_prob}
    return columns | {"prob_greater": (lead > 0).mean(axis=0), "prob_less": (lead < 0).mean(axis=0)}


@dataclass(frozen=True, eq=False)
class _Tests:
    """Tests as judged of a measure by the places of parts, and orders that judging hardly takes back."""

    made: Mapping[int, MeanTest]
    adjusted: Mapping[int, FloatArray]
    order: Mapping[int, AnyArray]
    level: float

    @classmethod
    def of(
        cls,
        contrasts: Contrasts,
        measure: Measure,
        scope: Scope,
        judged: AnyArray,
        draws: Values | None,
        errors: Errors,
    ) -> _Tests:
        """Test the scores as judged, and draws that decide, or ask the bounds."""
        parts = dict(contrasts.parts_in(scope))
        made = {k: p.test(judged[None], contrasts.units, contrasts.pairs, scope) for k, p in parts.items()}
        adjusted, order = dict[int, FloatArray](), dict[int, AnyArray]()
        for family in _families(parts):
            p = np.concatenate([made[k].p[0] for k in family])
            adjusted |= dict(
                zip(family, np.split(adjusted_values(p, errors.control), len(family)), strict=True)
            )
        if draws is not None:
            for family in _families(parts):
                n_greater, n_less = np.zeros((2, len(family), len(contrasts.pairs[0])))
                step = max(1, _MAX_CELLS // (len(contrasts.pairs[0]) * draws.n_topics))
                for start in range(0, len(draws.amount), step):
                    some = draws.amount[start : start + step]
                    tests = [parts[k].test(some, contrasts.units, contrasts.pairs, scope) for k in family]
                    p, lead = (
                        np.stack(x, axis=1) for x in zip(*((t.p, t.difference) for t in tests), strict=True)
                    )
                    most = largest_rejected(p.reshape(len(p), -1), errors.level, errors.control)[:, :, None]
                    n_greater += ((p <= most) & (lead > 0)).sum(axis=0)
                    n_less += ((p <= most) & (lead < 0)).sum(axis=0)
                n = len(draws.amount)
                order |= dict(
                    zip(family, announced_order(n_greater / n, n_less / n, errors.announce), strict=True)
                )
        elif measure in contrasts.bounds:
            lower, upper = contrasts.bounds[measure]
            order = {k: (lower[:, k] > 0).astype(int) - (upper[:, k] < 0) for k in parts}
        return cls(made, adjusted, order, errors.level)

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of a part; ``significant`` is NaN without a test and where it is in doubt."""
        made, adjusted = self.made[k], self.adjusted[k]
        is_low, is_sure = adjusted <= self.level, self.order[k] == np.sign(made.difference[0])
        significant = np.where(np.isnan(adjusted) | (is_low & ~is_sure), np.nan, is_low)
        columns = {"standard_error": made.standard_error[0], "p_value": made.p[0]}
        return columns | {"p_adjusted": adjusted, "significant": significant}


def _families(parts: Mapping[int, Part]) -> list[list[int]]:
    """Return places of parts whose tests are one family: single groups together, each mean by itself."""
    single = [k for k, part in parts.items() if part.groups is None and part.name != ALL_TOPICS]
    return [*[single] * bool(single), *([k] for k in parts if k not in single)]
