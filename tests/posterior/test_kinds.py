"""Kinds of organizations, by hand and whatever they are called."""

from __future__ import annotations

import pytest
from toys import from_rankings

from bayespool.collection import Collection, add_judges
from bayespool.errors import InputError
from bayespool.evidence import favored_organizations
from bayespool.evidence.held_out import held_out_documents
from bayespool.experiments import simulate_example, simulate_judge
from bayespool.posterior import find_kinds
from bayespool.posterior.distance import with_kinds

# Two organizations retrieve letters of the beginning, two of the end; the fifth is nearer to the latter.
RUNS = {"a": "abcdx", "b": "abcey", "p": "pqrst", "q": "pqrsu", "r": "pqklm", "r2": "pqkln", "new": "zabpq"}
ORGANIZATIONS = {"a": "A", "b": "B", "p": "P", "q": "Q", "r": "R", "r2": "R", "new": "new"}


def toy() -> Collection:
    rankings = {run: {"1": documents} for run, documents in RUNS.items()}
    pooled = tuple(run for run in RUNS if run != "new")
    judged = {"1": dict.fromkeys("".join(RUNS[run] for run in pooled), 1)}
    return from_rankings(rankings, judged, ORGANIZATIONS, pooled_run_ids=pooled, pool_depth=5)


def test_kinds_are_organizations_that_retrieve_alike() -> None:
    assert find_kinds(toy(), 2) == (("A", "B"), ("P", "Q", "R"))
    assert find_kinds(toy(), 3) == (("A", "B"), ("P", "Q"), ("R",))
    assert find_kinds(toy(), 9) == (("A",), ("B",), ("P",), ("Q",), ("R",))  # no more than organizations
    assert find_kinds(toy().unpool(list(RUNS)[:-1])) == ()
    with pytest.raises(InputError, match="0 kinds"):
        find_kinds(toy(), 0)


def test_the_number_of_an_organizations_runs_decides_nothing() -> None:
    """An organization that submits its run five times retrieves as alike as one that submits it once."""
    once = {"a": "abcde", "b": "abcfg", "c": "aijkl", "p": "pqabs", "q": "pqrst", "r": "pqklm"}
    for often in once:
        runs = once | {f"{often}{i}": once[often] for i in range(4)}
        rankings = {run: {"1": documents} for run, documents in runs.items()}
        judged = {"1": dict.fromkeys("".join(runs.values()), 1)}
        organizations = {run: run[0].upper() for run in runs}
        collection = from_rankings(rankings, judged, organizations, pooled_run_ids=tuple(runs), pool_depth=5)
        assert find_kinds(collection, 2) == (("A", "B", "C"), ("P", "Q", "R")), often
        assert find_kinds(collection, 3) == (("A", "B"), ("C",), ("P", "Q", "R")), often


def test_what_a_kind_alone_contributed_is_hidden_together() -> None:
    """abc is of both A and B, and hidden only where they are held out together; pq is of three."""

    def hidden(collection: Collection) -> set[str]:
        pair = held_out_documents(collection, cutoff=5)[3]
        return {collection.doc_ids[int(i)].as_py() for i in pair}

    assert hidden(toy()) == set("dxeytuklmn")
    assert hidden(with_kinds(toy(), 2)) == set("abcdxeypqrstuklmn")


def test_judges_favor_organizations_and_not_kinds() -> None:
    """What a judge is found to favor is the same where runs are of kinds."""
    simulation = simulate_example()
    labels = simulate_judge(simulation, quality=2.0, favors="new-a", random_seed=1)
    collection = add_judges(simulation.collection, {"llm": labels})
    kinds = with_kinds(collection)
    favored = favored_organizations(collection, collection.judges[0])
    assert list(favored) == ["new-a"]
    assert favored_organizations(kinds, kinds.judges[0]) == favored
