"""Clusters of runs, and leaving them out: by hand, whatever runs are called, and what cannot be left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from left_out import column
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import RunCluster, cluster_runs
from bayespool.experiments import LeaveOutResult, leave_out

# Two kinds of runs, and one like none. b3 has a document of the a's, and is of the organization of one.
RUNS = {"a1": "abcd", "a2": "abce", "b1": "pqrs", "b2": "pqrt", "b3": "paqm", "z": "wxyv"}
ORGANIZATIONS = {"a1": "one", "a2": "two", "b1": "three", "b2": "three", "b3": "one", "z": "four"}
LEVELS = {"1": {"a": 1, "b": 1, "p": 1, "q": 1, "w": 0, "x": 0}}


def pooled(
    rankings: dict[str, dict[str, str]], organizations: dict[str, str] | None = None, depth: int = 2
) -> Collection:
    """All runs pooled; every document judged."""
    topics = sorted({q for of_run in rankings.values() for q in of_run})
    judged = {q: dict.fromkeys("".join(r.get(q, "") for r in rankings.values()), 1) for q in topics}
    return from_rankings(rankings, judged, organizations, pooled_run_ids=tuple(rankings), pool_depth=depth)


def toy() -> Collection:
    rankings = {run: {"1": documents} for run, documents in RUNS.items()}
    return from_rankings(rankings, LEVELS, ORGANIZATIONS, pooled_run_ids=tuple(RUNS), pool_depth=2)


def left_out(collection: Collection | None = None, **asked: Any) -> LeaveOutResult:
    kwargs = {"measures": "P@2", "estimators": "as-judged", "by": "cluster", "n_clusters": 3} | asked
    return leave_out(toy() if collection is None else collection, **kwargs)


def test_clusters_of_the_toy() -> None:
    assert cluster_runs(toy(), 3) == (
        RunCluster("cluster 1", ("b1", "b2", "b3"), ("three", "three", "one")),
        RunCluster("cluster 2", ("a1", "a2"), ("one", "two")),
        RunCluster("cluster 3", ("z",), ("four",), "a single run"),
    )
    # b3 is at a distance of .5 from b1 and b2, the others of a kind at .25, both or none of which are joined
    assert [c.run_ids for c in cluster_runs(toy(), 4)] == [("a1", "a2"), ("b1", "b2"), ("b3",), ("z",)]
    assert [c.run_ids for c in cluster_runs(toy(), 5)] == [("a1", "a2"), ("b1", "b2"), ("b3",), ("z",)]
    # the a's join the b's at 1 − (1 + 1)/4/6 by what b3 shares with them, and z nobody
    (large, single) = cluster_runs(toy(), 2)
    assert (len(large.run_ids), large.stays) == (5, "more than three quarters of the runs")
    assert (single.run_ids, single.stays) == (("z",), "a single run")


def test_three_quarters_may_go_and_no_more() -> None:
    """Six of eight runs are three quarters, seven of nine more; and two organizations have to be left."""
    runs = {f"a{i}": {"1": "abc"} for i in range(6)} | {"x": {"1": "fgh"}, "y": {"1": "jkl"}}
    assert [c.stays for c in cluster_runs(pooled(runs), 3)] == ["", "a single run", "a single run"]
    more = cluster_runs(pooled(runs | {"a6": {"1": "abc"}}), 3)
    assert more[0].stays == "more than three quarters of the runs"
    of = {run: "theirs" if run in "xy" else "ours" for run in runs}
    said = "without it the pool would be of one organization"
    assert cluster_runs(pooled(runs, of), 3)[0].stays == said


def test_runs_outside_the_pool_take_no_part() -> None:
    whole = toy()
    some = whole.with_pool(np.array([run != "b3" for run in whole.run_ids]), 2)
    assert [c.run_ids for c in cluster_runs(some, 3)] == [("a1", "a2"), ("b1", "b2"), ("z",)]
    with pytest.raises(InputError, match="no pooled run to make clusters of"):
        cluster_runs(whole.with_pool(np.zeros(6, dtype=bool), 2))
    with pytest.raises(InputError, match="1 clusters leave no run in the pool"):
        cluster_runs(whole, 1)
    alone = whole.with_pool(np.array([run == "z" for run in whole.run_ids]), 2)
    assert [c.stays for c in cluster_runs(alone)] == ["a single run"]


rankings_of = st.fixed_dictionaries({q: st.permutations("abcde").map(lambda d: "".join(d[:3])) for q in "12"})


@given(st.lists(rankings_of, min_size=2, max_size=7), st.data(), st.integers(2, 5))
def test_names_of_runs_decide_nothing(rankings: list[dict[str, str]], data: st.DataObject, n: int) -> None:
    """Few documents make many ties."""
    names = data.draw(st.permutations("stuvwxyz"))[: len(rankings)]
    plain = {f"r{i}": of_run for i, of_run in enumerate(rankings)}
    named = dict(zip(names, rankings, strict=True))
    found, renamed = (cluster_runs(pooled(runs), n) for runs in (plain, named))
    assert len(found) <= n

    def told(clusters: tuple[RunCluster, ...], runs: dict[str, dict[str, str]]) -> list[Any]:
        return [(c.name, sorted(tuple(runs[run].values()) for run in c.run_ids), c.stays) for c in clusters]

    assert told(found, plain) == told(renamed, named)
    assert sum(len(c.run_ids) for c in found) == len(rankings)


def test_clusters_left_out_of_the_toy() -> None:
    """Without the b's p and q are unjudged, and a of b3 is not; without the a's b is, and a is b3's, too."""
    found = left_out()
    names = dict.fromkeys(("a1", "a2"), "cluster 2") | dict.fromkeys(("b1", "b2", "b3"), "cluster 1")
    assert column(found, "fold") == names
    assert column(found, "organization") == {r: o for r, o in ORGANIZATIONS.items() if r != "z"}
    assert column(found, "truth") == dict.fromkeys(("a1", "a2", "b1", "b2", "b3"), 1)
    assert column(found, "value") == {"a1": 0.5, "a2": 0.5, "b1": 0, "b2": 0, "b3": 0.5}
    assert column(found, "n_unjudged") == {"a1": 1, "a2": 1, "b1": 2, "b2": 2, "b3": 1}
    summary = found.to_frame("summary").iloc[0]
    assert (summary["n_runs"], summary["mae"], summary["bias"]) == (5, 0.7, -0.7)
    assert found.n_pooled_runs == {"P@2": 6}
    assert found.clusters == cluster_runs(toy(), 3)
    frame = found.to_frame("clusters")
    assert frame["run_id"].tolist() == ["b1", "b2", "b3", "a1", "a2", "z"]
    assert frame["cluster"].tolist() == ["cluster 1"] * 3 + ["cluster 2"] * 2 + ["cluster 3"]
    assert dict(zip(frame["run_id"], frame["organization"], strict=True)) == ORGANIZATIONS
    assert frame["n_runs"].tolist() == [3, 3, 3, 2, 2, 1]
    assert frame["left_out"].tolist() == [True] * 5 + [False]
    assert frame["stays"].tolist() == [""] * 5 + ["a single run"]
    of_organizations = leave_out(toy(), "P@2", estimators="as-judged")
    assert of_organizations.clusters == ()
    with pytest.raises(InputError, match="no table 'clusters'"):
        of_organizations.to_frame("clusters")


def test_the_best_of_the_runs_left_out_are_reported() -> None:
    """Of five runs that are equal in truth the first three; the one that stays is not among them."""
    found = left_out(top=60)
    assert found.to_frame(reported_only=True)["run_id"].tolist() == ["a1", "a2", "b1"]
    assert found.to_frame()["run_id"].tolist() == ["a1", "a2", "b1", "b2", "b3"]
    with pytest.raises(InputError, match="the best 5 % of 5 runs are no run at all"):
        left_out(top=5)


def test_pools_without_a_cluster_to_leave_out() -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"u": "ab", "v": "ab", "w": "ab", "x": "cd"}, "clusters .of 3, 1 runs.*: without it"),
        ({"u": "ab", "v": "cd", "w": "ef"}, "clusters .of 1, 1, 1 runs.*: a single run"),
        (dict.fromkeys("uvwxy", "ab"), "clusters .of 5 runs.*: more than three quarters"),
    ]
    for rankings, message in cases:
        collection = pooled({run: {"1": documents} for run, documents in rankings.items()})
        with pytest.raises(InputError, match=message):
            left_out(collection)
