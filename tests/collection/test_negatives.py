"""What relevance below zero means."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

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
