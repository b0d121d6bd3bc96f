"""Differences of runs by group of topics and as a mean of groups, and differences of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.arrays import BoolArray, FloatArray
from bayespool.collection import Collection
from bayespool.collection.contents import Systems
from bayespool.comparisons.draws import largest_difference
from bayespool.comparisons.significance import Pairs, adjusted_values
from bayespool.evidence import Bounds
from bayespool.evidence.difference_bounds import difference_bounds
from bayespool.measures import Estimates, Measure, equal_tailed_interval
from bayespool.measures.groups import ALL_TOPICS, MEAN_OF_GROUPS, Groups, MeanTest, t_test_of_groups
from bayespool.measures.populations import AddedVariance, average_runs, mean_draws
from bayespool.names import AS_JUDGED, Control, Estimand, Scope
from bayespool.randomness import key_of

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.comparisons.comparison import Comparison

_DECIMALS = 12


@dataclass(frozen=True)
class Units:
    """What is compared: runs, or systems, which score the mean of their runs.

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
        parts = [cls(name, groups.of_topic == g) for g, name in enumerate(groups.names)]
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

    def test(self, per_topic: FloatArray, units: Units, pairs: Pairs, scope: Scope) -> MeanTest:
        """Test differences of pairs of units, given scores by run and topic.

        Topics are a sample, within groups, or in the scope ``groups`` the groups are; the runs of systems
        are one, too.
        """
        scores, groups = per_topic[None][..., self.topics], self.groups
        if scope == "groups" and groups is not None:
            scores, groups = groups.by_group(scores), None
        elif not self.may_be_sampled:
            return MeanTest(*np.full((3, len(pairs[0])), np.nan))
        (values,), (first, second) = units.average(scores), pairs
        added, groups = AddedVariance.of_runs(scores, units.members, groups), groups
        variance = None
        if added is not None:
            variance = added.variance[0, first] + added.variance[0, second], added.degrees
        return t_test_of_groups(
            values[first] - values[second], groups or Groups(("",) * values.shape[-1]), variance
        )


@dataclass(frozen=True, eq=False)
class Contrasts:
    """What a comparison has by group of topics, or of systems.

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


def contrast_frame(comparison: Comparison) -> pd.DataFrame:
    """Return the frame of `Comparison.groups` and `Comparison.system_differences`."""
    import pandas as pd

    contrasts = comparison.contrasts
    assert contrasts is not None
    frames = [
        pd.DataFrame(columns)
        for measure in comparison.measures
        for columns in _measure_columns(comparison, contrasts, measure)
    ]
    frame = pd.concat(frames, ignore_index=True)
    noun = "system" if contrasts.units.are_systems else "run"
    names = ["measure", "estimator", "scope", "group", "n_topics", f"{noun}_a", f"{noun}_b", "difference"]
    names += ["lower", "upper", "ci_prob", "prob_greater", "prob_less", "bound_lower", "bound_upper"]
    names += ["as_judged", "standard_error", "p_value", "p_adjusted", "significant"]
    return frame.reindex(columns=names).astype({"significant": "boolean"})


def _measure_columns(
    comparison: Comparison, contrasts: Contrasts, measure: Measure
) -> Iterator[dict[str, Any]]:
    """Yield columns of the frame, by estimator, scope and part."""
    units, (first, second) = contrasts.units, contrasts.pairs
    judged = comparison.scores[measure, AS_JUDGED].per_topic
    names, noun = np.array(units.names, dtype=object), "system" if units.are_systems else "run"
    seed, shown = int(comparison.metadata["random_seed"]), comparison.shown_estimator(measure)
    sure, level = _sure_orders(comparison, contrasts, measure, shown, seed), comparison.level
    for e in (each for each in comparison.scores.estimates if each.measure == measure):
        for scope in contrasts.scopes if e.draws is not None else ("these-topics",):
            parts = contrasts.parts_in(scope)
            tests = {k: part.test(judged, units, contrasts.pairs, scope) for k, part in parts}
            adjusted = _adjusted({k: t.p for k, t in tests.items()}, contrasts.parts, comparison.control)
            for k, part in parts:
                values = part.mean(units.average(e.per_topic))
                of_judged = part.mean(units.average(judged))
                lead = of_judged[first] - of_judged[second]
                significant = (adjusted[k] <= level).astype(float)
                significant[np.isnan(adjusted[k])] = np.nan
                significant[(significant == 1) & (sure[k] * lead <= 0)] = np.nan
                columns: dict[str, Any] = {"measure": str(measure), "estimator": e.estimator, "scope": scope}
                n_topics = int(part.topics.sum())
                columns |= {"group": part.name, "n_topics": n_topics}
                columns |= {f"{noun}_a": names[first], f"{noun}_b": names[second]}
                columns |= {"difference": values[first] - values[second]}
                if e.draws is not None:
                    columns |= _drawn_columns(e, part, contrasts, scope, comparison.ci_prob, seed)
                if measure in contrasts.bounds and scope == "these-topics":
                    ends = contrasts.bounds[measure]
                    columns |= {"bound_lower": ends[0][:, k], "bound_upper": ends[1][:, k]}
                columns |= {"as_judged": lead, "standard_error": tests[k].standard_error}
                columns |= {"p_value": tests[k].p, "p_adjusted": adjusted[k], "significant": significant}
                yield columns


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


def _sure_orders(
    comparison: Comparison, contrasts: Contrasts, measure: Measure, shown: str, seed: int
) -> list[FloatArray]:
    """Return for each part the sign of differences that judging hardly takes back, else 0, shape (pair,).

    Draws decide as in `Comparison.is_in_doubt`, bounds where none do.
    """
    first, second = contrasts.pairs
    if comparison.decides(measure) and shown != AS_JUDGED:
        e, signs = comparison.scores[measure, shown], []
        for part in contrasts.parts:
            drawn = part.draws(e, contrasts.units, "these-topics", seed)
            lead = np.round(drawn[:, first] - drawn[:, second], _DECIMALS)
            up, down = ((lead * way > 0).mean(axis=0) >= 1 - comparison.level / 2 for way in (1, -1))
            signs.append(up.astype(float) - down)
        return signs
    if measure not in contrasts.bounds:
        return [np.zeros(len(first)) for _ in contrasts.parts]
    lower, upper = contrasts.bounds[measure]
    return list(((lower > 0).astype(float) - (upper < 0)).T)


def _adjusted(p: Mapping[int, FloatArray], parts: Sequence[Part], control: Control) -> dict[int, FloatArray]:
    """Return p-values adjusted over pairs; those of single groups over all groups and pairs together."""
    single = [k for k in p if parts[k].groups is None and parts[k].name != ALL_TOPICS]
    adjusted = {k: adjusted_values(p[k], control) for k in p if k not in single}
    if single:
        together = adjusted_values(np.concatenate([p[k] for k in single]), control)
        adjusted |= dict(zip(single, np.split(together, len(single)), strict=True))
    return adjusted
