"""What relevance below zero means."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
import toys
from commands import Outcome
from toys import judged, toy_collection

from bayespool.collection import (
    LISTED,
    UNJUDGED,
    Collection,
    build_collection,
    qrels_from_frame,
    read_qrels,
    run_from_frame,
    write_qrels,
)
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example
from bayespool.pooling import describe_pool, read_collection
from bayespool.scoring import score

# In a collection


def test_meanings_of_negative_relevance() -> None:
    run = run_from_frame({"1": dict.fromkeys("abcdef", 1)}, "r")
    qrels = qrels_from_frame({"1": {"a": 1, "b": 0, "c": -1, "d": -2, "e": -3}})
    meanings: dict[Any, tuple[list[int], str, str]] = {
        "listed": ([LISTED, 0, 0], "unjudged", "nonrelevant"),
        "unjudged": ([UNJUDGED] * 3, "unjudged", "unjudged"),
        "nonrelevant": ([0, 0, 0], "nonrelevant", "nonrelevant"),
    }
    for meaning, (codes, listed, below) in meanings.items():
        collection = build_collection([run], qrels, negative=meaning)
        assert collection.relevance.tolist() == [1, 0, *codes, UNJUDGED], meaning
        assert str(collection.negatives) == f"1 listed with relevance −1 ({listed}), 2 below −1 ({below})"
    with pytest.raises(InputError, match="'spam'; known: listed, sampled, unjudged"):
        build_collection([run], qrels, negative="spam")  # type: ignore[arg-type]


def test_negative_relevance_of_the_toy() -> None:
    collection = toy_collection()
    assert set(collection.relevance.tolist()) == {LISTED, UNJUDGED, 0, 1, 2}
    assert judged(collection) == ["abcfhijk", "pqrvw", "abcd"]  # without m


def test_what_is_listed_goes_and_stays_with_who_contributed_it() -> None:
    """``u`` put m at rank 5 of topic 1, which is listed."""
    deep = toy_collection(pooled_run_ids=(*toys.POOLED, "u"), pool_depth=5)
    assert LISTED in deep.relevance
    assert LISTED not in deep.unpool("u").relevance
    assert LISTED in deep.unpool("n1").relevance
    assert LISTED not in deep.truncate_pool(4).relevance
    assert LISTED in toy_collection().unpool("u").relevance  # which was not pooled


# In files, and in what is made of them


@pytest.fixture
def example(tmp_path: Path) -> Path:
    simulate_example().write(tmp_path)
    return tmp_path


def relabeled(example: Path, relevance: int, n: int = 275) -> None:
    """Give ``n`` of the judgments that are 0, spread over the file, another relevance."""
    qrels = read_qrels(example / "qrels.txt")
    zeros = np.flatnonzero(qrels.relevance == 0)
    changed = qrels.relevance.copy()
    changed[zeros[np.linspace(0, len(zeros) - 1, n).astype(int)]] = relevance
    assert (changed != qrels.relevance).sum() == n
    write_qrels(dataclasses.replace(qrels, relevance=changed), example / "qrels.txt")


def read_example(example: Path, **settings: object) -> Collection:
    return read_collection(
        example / "qrels.txt",
        example / "new",
        pool=example / "pool",
        organizations=example / "organizations.csv",
        each_its_own=True,
        **settings,  # type: ignore[arg-type]
    )


@pytest.mark.slow
def test_spam_is_judged_nonrelevant(example: Path) -> None:
    relabeled(example, -2)
    collection = read_example(example)
    assert str(describe_pool(collection)) == (
        "21 of 23 runs pooled to depth 10 (8 organizations), 0 holes; "
        "1,181 judgments, 0 not explained by these runs, 275 below −1 (nonrelevant)"
    )
    assert collection.fingerprint == load_example().fingerprint
    chosen = ["background", "posterior-background", "posterior-smoothed"]
    one, other = (
        score(c, ["new-a"], "P@10", estimators=chosen, draws=50) for c in (collection, load_example())
    )
    assert one.to_frame().equals(other.to_frame())


def test_listed_documents_are_in_the_pool_and_unjudged(example: Path) -> None:
    relabeled(example, -1)
    collection = read_example(example)
    assert str(describe_pool(collection)) == (
        "21 of 23 runs pooled to depth 10 (8 organizations), 275 holes; "
        "906 judgments, 0 not explained by these runs, 275 listed with relevance −1 (unjudged)"
    )
    assert collection.pooled_run_ids == load_example().pooled_run_ids
    # told otherwise, they are holes like all others, or judged
    as_zero = read_example(example, negative="nonrelevant")
    assert as_zero.fingerprint == load_example().fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(read_example(example, negative="unjudged").pooled_run_ids) < 21


def test_negatives_among_judgments_of_ones_own() -> None:
    """Of l, d and z, which the new run alone has, and of m, which is listed."""
    own = qrels_from_frame({"1": {"l": -2, "d": -1, "m": 1}, "2": {"z": -3}})
    assert toys.judged(toy_collection()) == ["abcfhijk", "pqrvw", "abcd"]
    assert toys.judged(toy_collection().add_judgments(own)) == ["abcfhijklm", "pqrvwz", "abcd"]


def test_command_says_what_negatives_are_taken_for(run: Callable[..., Outcome], example: Path) -> None:
    relabeled(example, -1, 30)
    command = ["score", example / "new", "--qrels", example / "qrels.txt", "--pool", example / "pool"]
    command += ["--organizations", example / "organizations.csv", "--estimators", "background"]
    assert "30 listed with relevance −1 (unjudged)" in run(*command).err
    assert "30 listed with relevance −1 (nonrelevant)" in run(*command, "--negative", "nonrelevant").err


def test_negatives_elsewhere() -> None:
    """trec_eval takes any negative as unjudged, which costs P@n like nonrelevant; ir_measures as judged."""
    import ir_measures

    qrels = {"1": {"a": 1, "b": -1, "c": -2, "d": 0}}
    run = {"1": {"b": 5.0, "c": 4.0, "a": 3.0, "e": 2.0, "d": 1.0}}
    asked = {"P", "num_nonrel_judged_ret"}
    (found,) = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run).values()
    assert (found["P_5"], found["num_nonrel_judged_ret"]) == (0.2, 1)  # d alone is judged nonrelevant
    judged_only, share = ir_measures.P(judged_only=True) @ 2, ir_measures.Judged @ 5
    values = ir_measures.calc_aggregate([judged_only, share], qrels, run)
    assert values == {judged_only: 0.5, share: 0.8}  # -J drops b, c and e; all but e count as judged
