"""Runs and judgments become a collection: the order of documents, ties, topics, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import pytrec_eval
import toys
from hypothesis import given, strategies as st
from toys import from_rankings, ranking, toy_collection, toy_qrels, toy_runs
from trec_files import refused

from bayespool import read_collection
from bayespool.collection import Collection, build_collection
from bayespool.collection.collection import tie_notes
from bayespool.collection.packing import join_runs, pool_alone
from bayespool.errors import InputError, InputWarning
from bayespool.reading import Order, Qrels, Run, qrels_from_frame, run_from_frame
from bayespool.reading.records import RankConflict
from bayespool.reading.scope import join_hint


def order_of(scores: dict[str, float], order: Order = "score") -> list[str]:
    run = run_from_frame({"1": scores}, "r")
    collection = build_collection([run], qrels_from_frame({"1": {next(iter(scores)): 1}}), order=order)
    return ranking(collection, "r", "1")


def test_single_precision_is_an_option() -> None:
    cases: list[tuple[dict[str, float], str]] = [
        ({"a": 1.00000001, "b": 1.0}, "ba"),
        ({"a": 1.0000001, "b": 1.0}, "ab"),  # the next float32 after 1
        ({"a": 1e300, "b": 1e200, "d": -1e200, "c": -1e300}, "badc"),  # beyond it
        ({"a": 1e-50, "c": 0, "b": -1e-50}, "cba"),  # below it
    ]
    for scores, rounded in cases:
        assert order_of(scores) == list(scores)  # best first, as written above
        assert order_of(scores, "single-precision") == list(rounded), scores


def test_order_of_scores_and_of_equal_ones() -> None:
    inf = float("inf")
    cases: list[tuple[dict[str, float], str]] = [
        ({"d1": 1, "d3": 1, "d2": 1, "d0": 2}, "d0 d3 d2 d1"),
        ({"a": 0.0, "b": -0.0, "c": 0.0}, "c b a"),
        ({"a": -inf, "b": 3e38, "c": inf, "d": -3e38, "e": 0}, "c b e d a"),
        ({"d": 1, "d1": 1, "d11": 1}, "d11 d1 d"),
    ]
    for scores, documents in cases:
        assert order_of(scores) == documents.split(), scores
    ids = ["10", "9", "a-1", "a_1", "A", "z", "é", "\uffee", "\U0001f600"]
    assert order_of(dict.fromkeys(ids, 1.0)) == sorted(ids, key=str.encode, reverse=True)


def frame(ranks: Sequence[int], scores: Sequence[float]) -> pd.DataFrame:
    documents = [f"d{i}" for i in range(len(ranks))]
    return pd.DataFrame({"query_id": "1", "doc_id": documents, "score": scores, "rank": ranks})


def test_ranks_that_disagree_with_scores_are_counted() -> None:
    wrong = run_from_frame(frame([2, 0, 3, 1], [4, 3, 2, 1]), "wrong")  # by rank d1 d3 d0 d2
    deep = run_from_frame(frame([*range(10), 11, 10], [-i for i in range(12)]), "deep")
    right = run_from_frame(frame([1, 2, 3, 4], [4, 3, 2, 1]), "right")
    qrels = qrels_from_frame({"1": {"d0": 1}})
    with pytest.warns(InputWarning) as warned:
        collection = build_collection([deep, right, wrong], qrels)
    assert collection.rank_conflicts == (RankConflict("wrong", 4, 4, 4), RankConflict("deep", 2, 0, 10))
    (said,) = (str(w.message) for w in warned)
    assert "in 2 of 3 runs, most in wrong (4 of 4 places of the top 10)" in said
    assert build_collection([deep, wrong], qrels, order="rank").rank_note == ""


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_a_disagreement_is_a_pair_in_opposite_orders(lines: list[tuple[int, int]]) -> None:
    ranks, scores = zip(*lines, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        run = run_from_frame(frame(ranks, scores), "r")
        conflicts = build_collection([run], qrels_from_frame({"1": {"d0": 1}})).rank_conflicts
    opposite = any(r < q and s < t for r, s in lines for q, t in lines)  # better by rank, worse by score
    assert bool(conflicts) == opposite


def test_equal_ranks_are_ordered_by_document_id_descending() -> None:
    run, qrels = run_from_frame(frame([1, 1, -1, 1], [1, 2, 3, 4]), "r"), qrels_from_frame({"1": {"d0": 1}})
    with pytest.warns(InputWarning, match="ranks are equal on a topic in 1 of 1 run, r .3 places of the top"):
        collection = build_collection([run], qrels, order="rank")
    assert ranking(collection, "r", "1") == ["d2", "d3", "d1", "d0"]
    extreme = run_from_frame(frame([2**31 - 1, -(2**31), 0], [1, 1, 1]), "r")
    assert ranking(build_collection([extreme], qrels, order="rank"), "r", "1") == ["d1", "d2", "d0"]


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_runs_to_score_without_ranks_are_ordered_by_score() -> None:
    ranked = run_from_frame(frame([2, 1, 3], [3, 2, 1]), "ranked")
    mine = run_from_frame({"1": {"d0": 1, "d1": 1, "d2": 5}}, "mine")
    qrels = qrels_from_frame({"1": {"d0": 1}})
    with pytest.warns(InputWarning) as warned:
        collection = build_collection(
            [ranked, mine], qrels, order="rank", pooled_run_ids=["ranked"], pool_depth=1
        )
    (said,) = (str(w.message) for w in warned)
    assert said == "mine has no ranks: it is ordered by its scores, in spite of order=rank"
    assert collection.rank_note == said
    assert collection.unranked == ("mine",)
    assert ranking(collection, "mine", "1") == ["d2", "d1", "d0"]
    assert ranking(collection, "ranked", "1") == ["d1", "d0", "d2"]
    (note,) = tie_notes(collection, ["mine", "ranked"], [3])
    assert note.startswith("ranks of equal scores, which document ids order, descending: top 3: mine 2 of 3")
    read = read_collection(qrels, {"mine": mine}, pool=ranked, order="rank", known_depth=1)
    assert read.unranked == ("mine",)
    for pooled in (["mine"], ["mine", "ranked"]):
        with pytest.raises(InputError, match="run 'mine' of the pool has no ranks to order by"):
            build_collection([ranked, mine], qrels, order="rank", pooled_run_ids=pooled, pool_depth=1)
    with pytest.raises(InputError, match="run 'mine' of the pool has no ranks to order by"):
        read_collection(qrels, ranked, pool=[mine], order="rank")
    part = pool_alone(collection)
    joined = join_runs(part, [mine])  # to a prepared collection
    assert joined.unranked == ("mine",)
    assert ranking(joined, "mine", "1") == ["d2", "d1", "d0"]
    assert pool_alone(joined).rank_note == ""


def test_ids_of_more_bytes_than_32_bits_count(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_from_frame({"1": {"b": 2, "a": 1}, "2": {"a": 1}}, "r")
    qrels = qrels_from_frame({"1": {"c": 1}, "2": {"a": 0}})
    few = build_collection([run], qrels)
    monkeypatch.setattr("bayespool.reading.files._MAX_BYTES_OF_32_BIT_OFFSETS", 0)
    many = build_collection([run], qrels)
    assert many.doc_ids.type == pa.large_string()
    assert few.doc_ids.to_pylist() == many.doc_ids.to_pylist() == ["a", "b", "c", "a"]
    assert many.add_judgments(qrels_from_frame({"1": {"b": 1}})).relevance.tolist() == [-1, 1, 1, 0]


SCORES = st.sampled_from(
    [1.0, 1.00000001, 1.0000001, 0.0, -0.0, 0.5, -1.0, 2.0, 1e-46, 1e300, -1e300, float("inf"), -float("inf")]
) | st.floats(allow_nan=False)

# pytrec_eval hands ids on as C strings in UTF-8
DOC_IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)


@given(st.dictionaries(DOC_IDS, SCORES, min_size=1, max_size=12))
def test_order_is_pytrec_evals(scores: dict[str, float]) -> None:
    documents = list(scores)
    # the reciprocal rank of a topic's one relevant document tells its rank
    qrels = {str(i): {document: 1} for i, document in enumerate(documents)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
    result = evaluator.evaluate({query_id: scores for query_id in qrels})
    rank = {d: round(1 / result[str(i)]["recip_rank"]) for i, d in enumerate(documents)}
    assert order_of(scores, "single-precision") == sorted(documents, key=lambda d: rank[d])
    by_id = sorted(documents, key=str.encode, reverse=True)
    assert order_of(scores) == sorted(by_id, key=lambda d: -scores[d])  # trec_eval 10's


@given(st.randoms(use_true_random=False))
def test_row_order_of_the_input_never_matters(random: Any) -> None:
    def shuffled(rows: list[tuple[object, ...]], columns: list[str]) -> pd.DataFrame:
        random.shuffle(rows)
        return pd.DataFrame(rows, columns=columns)

    runs = []
    for run_id, topics in random.sample(list(toys.RUNS.items()), len(toys.RUNS)):
        lines = [(q, d, score) for q, scores in topics.items() for d, score in scores.items()]
        runs.append(run_from_frame(shuffled(lines, ["query_id", "doc_id", "score"]), run_id))
    rows = [(q, d, r) for q, documents in toys.JUDGMENTS.items() for d, r in documents.items()]
    qrels = qrels_from_frame(shuffled(rows, ["query_id", "doc_id", "relevance"]))
    pool: Any = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": toys.DEPTH}
    collection, expected = build_collection(runs, qrels, **pool), toy_collection()
    assert collection.run_ids == expected.run_ids
    assert np.array_equal(collection.document, expected.document)
    assert np.array_equal(collection.relevance, expected.relevance)
    assert collection.fingerprint == expected.fingerprint


def scores_of(collection: Collection, run_id: str, query_id: str) -> list[float]:
    assert collection.score is not None
    run, topic = collection.run_ids.index(run_id), collection.query_ids.index(query_id)
    length = int(collection.length[run, topic])
    assert np.isnan(collection.score[run, topic, length:]).all()
    found: list[float] = collection.score[run, topic, :length].tolist()
    return found


def test_scores_follow_the_ranks_of_the_file() -> None:
    run = run_from_frame(frame([2, 0, 3, 1], [4, 3, 1e300, 1.00000001]), "r")
    qrels = qrels_from_frame({"1": {"d0": 1}})
    by_rank = build_collection([run], qrels, order="rank", scores=True)
    assert scores_of(by_rank, "r", "1") == [3, 1, 4, np.inf]
    with pytest.warns(InputWarning, match="ranks and scores disagree"):
        assert scores_of(build_collection([run], qrels, scores=True), "r", "1") == [np.inf, 4, 3, 1]


@given(st.dictionaries(DOC_IDS, SCORES, min_size=1, max_size=12))
def test_every_document_keeps_its_score(scores: dict[str, float]) -> None:
    run = run_from_frame({"1": scores}, "r")
    collection = build_collection([run], qrels_from_frame({"1": {next(iter(scores)): 1}}), scores=True)
    with np.errstate(over="ignore"):
        expected = [float(np.float32(scores[d])) for d in ranking(collection, "r", "1")]
    assert scores_of(collection, "r", "1") == expected


def test_run_without_an_organization_has_its_own() -> None:
    """And does not join the one of its name."""
    collection = from_rankings({"a": {"1": "d"}, "ge": {"1": "d"}}, {"1": {"d": 1}}, {"a": "ge"})
    assert collection.organization[0] != collection.organization[1]
    assert collection.organizations == ("ge", "ge (run)")


def test_what_makes_no_collection() -> None:
    runs, qrels = toy_runs(), toy_qrels()
    stranger = run_from_frame({"9": {"a": 1}, "8": {"a": 1}}, "stranger")
    refusals: list[tuple[list[Run], Qrels, str, str]] = [
        ([], qrels, "score", "no runs given"),
        ([*runs, toy_runs()[0]], qrels, "score", "two runs are called 'n1'"),
        ([*runs, stranger], qrels, "score", "it has '9', '8', the qrels '1'"),
        (runs, qrels_from_frame({"1": {"a": 0, "b": -1}}), "score", "no document is relevant"),
        (runs, qrels, "file", "no order 'file'; known: score, single-precision, rank"),
    ]
    for given_runs, judged, order, reason in refusals:
        assert reason in str(refused(build_collection, given_runs, judged, order=order)), reason


def test_topics_in_the_order_of_numbers_of_any_length() -> None:
    """A topic of 5,000 digits was a ValueError of Python's."""
    long = "1" * 5000
    run = {q: {"d": 1.0} for q in ("10", "9", long, "009", "x", "2" + long[1:], "0", "٣")}
    built = build_collection([run_from_frame(run, "r")], qrels_from_frame({q: {"d": 1} for q in run}))
    assert built.query_ids == ("0", "009", "9", "10", long, "2" + long[1:], "x", "٣")


TOPICS = {
    "1": {"a": 5, "b": 3, "c": 3, "d": 3, "e": 1},  # ranks 2 to 4
    "2": {"a": 4, "b": 4, "c": 1 + 1e-9, "d": 1},  # ranks 1 and 2, and 3 and 4 if rounded
}


def collection_of_ties(order: Order = "score") -> Collection:
    runs = [run_from_frame(TOPICS, "tied"), run_from_frame({"1": {"a": 2, "b": 1}, "2": {"c": 1}}, "plain")]
    return build_collection(runs, qrels_from_frame({"1": {"a": 1}, "2": {"b": 1}}), order=order)


def test_ties_are_counted_by_rank_and_told_within_the_cutoff() -> None:
    collection = collection_of_ties()
    (ties,) = collection.ties
    assert (ties.run_id, ties.n_topics.tolist()) == ("tied", [1, 2, 1, 1])
    assert ties.n_if_rounded.tolist() == [0, 0, 1, 1]
    equal, rounded = tie_notes(collection, ["tied", "plain"], [2, 10, 2])
    assert equal.endswith("descending: top 2: tied 3 of 4; top 10: tied 5 of 9")
    assert rounded.endswith("(--reading order=single-precision): top 10: tied 2 of 9")
    assert tie_notes(collection, ["plain"], [10]) == ()


def test_what_would_join_topics() -> None:
    for of_run, of_qrels, n, name in (
        (["007", "08", "10"], ["7", "8", "9"], 2, "leading zeros"),
        (["q1", "q2"], ["1", "2"], 2, "what is before the number"),
        (["1"], ["topic-1"], 1, "what is before the number"),
        (["PM-01", "PM-02"], ["1", "2"], 2, "what is before the number, and leading zeros"),
        (["Q1a", "Q2b"], ["q1a", "q2b"], 2, "upper case"),
    ):
        hint = join_hint(of_run, of_qrels)
        assert hint.startswith(f"{n} topic"), of_run
        assert f"but for {name}, such as {of_run[0]} in the run and {of_qrels[0]} in the qrels" in hint
    assert join_hint(["1a", "01a"], ["001a"]) == ""  # a form that several topics share
    assert join_hint(["77", "abc"], ["78", "xyz"]) == ""


def test_topics_that_agree_in_part_are_warned_of() -> None:
    run = run_from_frame({t: {"d": 1} for t in ("01", "02", "10")}, "padded")
    qrels = qrels_from_frame({t: {"d": 1} for t in ("1", "2", "10")})
    with pytest.warns(InputWarning) as warned:
        collection = build_collection([run, run_from_frame({"1": {"d": 1}}, "short")], qrels)
    (strange,) = collection.strange_topics
    assert (strange.run_id, strange.run_topics, strange.qrels_topics) == ("padded", ("01", "02"), ("1", "2"))
    assert [str(w.message) for w in warned] == [collection.topic_note]
    assert "2 topics agree but for leading zeros" in collection.topic_note
