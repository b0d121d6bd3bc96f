"""Two topics of three pooled runs whose every random pool is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toys import from_rankings

from bayespool.collection import Collection
from bayespool.measures import Estimates
from bayespool.scoring import parse_estimator

# Two topics judged to depth 2. True P@2: a ½ and 1, b ½ and ½, c 1 and ½.
RANKINGS = {"a": {"1": "xy", "2": "pq"}, "b": {"1": "yz", "2": "qr"}, "c": {"1": "wx", "2": "ps"}}
RELEVANCE = {"1": {"x": 1, "y": 0, "z": 1, "w": 1}, "2": {"p": 1, "q": 1, "r": 0, "s": 0}}

# What the score of the run loses on topics 1 and 2 when only the runs before the arrow are judged.
LOST = {
    ("b", "a"): (0.5, 0.5),  # x and p are unjudged
    ("c", "a"): (0.0, 0.5),  # y and q
    ("a", "b"): (0.5, 0.0),  # z and r
    ("c", "b"): (0.5, 0.5),  # all
    ("a", "c"): (0.5, 0.0),  # w and s
    ("b", "c"): (1.0, 0.5),  # all
    ("bc", "a"): (0.0, 0.0),  # nothing
    ("ac", "b"): (0.5, 0.0),
    ("ab", "c"): (0.5, 0.0),
}


def toy() -> Collection:
    organizations = {"a": "one", "b": "two", "c": "three"}
    return from_rankings(RANKINGS, RELEVANCE, organizations, pooled_run_ids=("a", "b", "c"), pool_depth=2)


def kinds_of(collection: Collection) -> dict[str, str]:
    """Two types: every third run is manual."""
    return {run: "manual" if i % 3 == 0 else "automatic" for i, run in enumerate(collection.run_ids)}


@dataclass(frozen=True)
class Spy:
    """P@n as it stands, and what it was given."""

    seen: list[Collection]
    name: str = "spy"

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        self.seen.append(collection)
        return parse_estimator("as-judged").estimate(collection, run_ids, measures)
