"""What organizations brought, holes and runs that are not pooled: by hand on the toy."""

from __future__ import annotations

from toys import toy_collection

from bayespool import load_example
from bayespool.experiments.contributions import contribution_table, hole_fact, unpooled_sentence
from bayespool.measures import parse_measure


def test_ranks_lost_and_documents_brought_alone() -> None:
    """P@3 is 4, 4, 3, 1, 3 ninths; without the north 1, 1, 3, 1, 2, without the south 4, 4, 1, 0, 2."""
    table = contribution_table(toy_collection(), parse_measure("P@3"))
    assert table is not None
    columns = ["organization", "n_pooled", "n_alone", "n_relevant", "ranks_lost", "run_id"]
    assert table.frame[columns].to_numpy().tolist() == [
        ["north", 2, 6, 4, 2, "n1"],
        ["south", 2, 6, 2, 1, "s1"],
    ]
    best = contribution_table(toy_collection(), parse_measure("AntiP@3"))
    assert best is not None
    assert best.frame["ranks_lost"].max() < 4


def test_one_organization_brings_nothing_that_others_might_have() -> None:
    assert contribution_table(toy_collection().unpool(["s1", "s2"]), parse_measure("P@3")) is None


def test_topics_with_most_unjudged_documents_come_first() -> None:
    """Down to rank 4 topic 1 has d, topic 2 s and t, topic 3 e."""
    toy = toy_collection()
    assert hole_fact(toy, 3) == ("unjudged", 0, "top 3 of 4 pooled runs")
    topics = "2: 2, 1: 1, 3: 1"
    assert hole_fact(toy, 4) == ("unjudged", 4, f"top 4 of 4 pooled runs; by topic {topics}")
    assert hole_fact(toy.unpool(toy.pooled_run_ids), 3)[2].startswith("top 3 of 5 runs; by topic ")


def test_runs_that_are_not_pooled_are_named_with_what_kept_them_out() -> None:
    shares = "their top 3 that is unjudged (of pooled runs 0.0 % at most): u 62.5 %."
    assert unpooled_sentence(toy_collection()) == f"Not in the pool, with the share of {shares}"
    example = load_example()
    assert unpooled_sentence(example.unpool(example.pooled_run_ids)) == ""
