"""Order, organizations, unpooling: what only the collection knows."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import pytrec_eval
import toys
from hypothesis import given
from hypothesis import strategies as st
from toys import RANKINGS, from_rankings, judged, judgments, ranking, toy_collection, toy_qrels, toy_runs

from bayespool.collection import (
    LISTED,
    UNJUDGED,
    Collection,
    DepthPool,
    build_collection,
    sole_contributor,
)
from bayespool.errors import InputError
from bayespool.trec import Run, qrels_from_frame, run_from_frame


def order_of(scores: dict[str, float]) -> list[str]:
    """Documents in the order that a collection gives them."""
    run = run_from_frame({"1": scores}, "r")
    collection = build_collection([run], qrels_from_frame({"1": {next(iter(scores)): 1}}))
    return ranking(collection, "r", "1")


# Order


@pytest.mark.parametrize(("run_id", "query_id"), RANKINGS)
def test_order_of_the_toy(run_id: str, query_id: str) -> None:
    assert "".join(ranking(toy_collection(), run_id, query_id)) == RANKINGS[run_id, query_id]


def test_equal_scores_are_ordered_by_document_id_descending() -> None:
    assert order_of({"d1": 1, "d3": 1, "d2": 1, "d0": 2}) == ["d0", "d3", "d2", "d1"]


def test_scores_are_compared_in_single_precision() -> None:
    assert order_of({"a": 1.00000001, "b": 1.0}) == ["b", "a"]
    assert order_of({"a": 1.0000001, "b": 1.0}) == ["a", "b"]  # the next float32 after 1


def test_zero_and_minus_zero_are_equal() -> None:
    assert order_of({"a": 0.0, "b": -0.0, "c": 0.0}) == ["c", "b", "a"]
    assert order_of({"a": -0.0, "b": 0.0}) == ["b", "a"]


def test_negative_scores_come_last() -> None:
    assert order_of({"a": -2, "b": -1, "c": 0, "d": 1e-30, "e": -1e-30}) == ["d", "c", "e", "b", "a"]


def test_infinite_scores_stand_at_the_ends() -> None:
    inf = float("inf")
    assert order_of({"a": -inf, "b": 3e38, "c": inf, "d": -3e38, "e": 0}) == ["c", "b", "e", "d", "a"]


def test_scores_beyond_single_precision_are_infinite() -> None:
    assert order_of({"a": 1e300, "b": 1e200, "c": -1e300, "d": -1e200}) == ["b", "a", "d", "c"]


def test_scores_below_single_precision_are_zero() -> None:
    assert order_of({"a": 1e-50, "b": -1e-50, "c": 0}) == ["c", "b", "a"]


def test_document_ids_are_compared_byte_by_byte() -> None:
    ids = ["10", "9", "a-1", "a_1", "A", "z", "é", "\uffee", "\U0001f600"]
    assert order_of(dict.fromkeys(ids, 1.0)) == sorted(ids, key=str.encode, reverse=True)


def test_shorter_document_id_comes_after_one_that_it_begins() -> None:
    assert order_of({"d": 1, "d1": 1, "d11": 1}) == ["d11", "d1", "d"]


def frame(ranks: Sequence[int], scores: Sequence[float]) -> pd.DataFrame:
    documents = [f"d{i}" for i in range(len(ranks))]
    return pd.DataFrame({"query_id": "1", "doc_id": documents, "score": scores, "rank": ranks})


def test_rank_order_takes_the_ranks_of_the_file() -> None:
    run = run_from_frame(frame([2, 0, 3, 1], [4, 3, 2, 1]), "r")
    qrels = qrels_from_frame({"1": {"d0": 1}})
    assert ranking(build_collection([run], qrels, order="rank"), "r", "1") == ["d1", "d3", "d0", "d2"]
    assert ranking(build_collection([run], qrels), "r", "1") == ["d0", "d1", "d2", "d3"]


def test_equal_ranks_are_ordered_by_document_id_descending() -> None:
    run = run_from_frame(frame([1, 1, -1, 1], [1, 2, 3, 4]), "r")
    collection = build_collection([run], qrels_from_frame({"1": {"d0": 1}}), order="rank")
    assert ranking(collection, "r", "1") == ["d2", "d3", "d1", "d0"]


@pytest.mark.parametrize("topics", ["123", "132", "213", "312", "231", "23", "1232"])
def test_topics_that_the_qrels_lack_are_passed_over_wherever_they_stand(topics: str) -> None:
    rows = [(t, f"{t}{i}{place}", -place) for place, t in enumerate(topics) for i in "ab"]
    run = run_from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]), "r")
    collection = build_collection([run], qrels_from_frame({"2": {"x": 1}, "3": {"y": -2, "z": 0}}))
    for topic in "23":
        expected = sorted([(-score, d) for t, d, score in rows if t == topic], key=lambda pair: pair[1])[::-1]
        expected.sort(key=lambda pair: pair[0])
        assert ranking(collection, "r", topic) == [d for _, d in expected]
    assert collection.relevance.min() == UNJUDGED  # a negative relevance, too


def test_ids_of_more_bytes_than_32_bits_count(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_from_frame({"1": {"b": 2, "a": 1}, "2": {"a": 1}}, "r")
    qrels = qrels_from_frame({"1": {"c": 1}, "2": {"a": 0}})
    few = build_collection([run], qrels)
    monkeypatch.setattr("bayespool.collection.build._MOST_BYTES", 0)
    many = build_collection([run], qrels)
    assert many.doc_ids.type == pa.large_string()
    assert few.doc_ids.to_pylist() == many.doc_ids.to_pylist() == ["a", "b", "c", "a"]
    assert many.add_judgments(qrels_from_frame({"1": {"b": 1}})).relevance.tolist() == [-1, 1, 1, 0]


def test_extreme_ranks_lose_no_document() -> None:
    run = run_from_frame(frame([2**31 - 1, -(2**31), 0], [1, 1, 1]), "r")
    collection = build_collection([run], qrels_from_frame({"1": {"d0": 1}}), order="rank")
    assert ranking(collection, "r", "1") == ["d1", "d2", "d0"]


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
    assert order_of(scores) == sorted(documents, key=lambda d: rank[d])


@given(st.randoms(use_true_random=False))
def test_row_order_of_the_input_never_matters(random: object) -> None:
    def shuffled(rows: list[tuple[object, ...]], columns: list[str]) -> pd.DataFrame:
        random.shuffle(rows)  # type: ignore[attr-defined]
        return pd.DataFrame(rows, columns=columns)

    runs = [
        run_from_frame(
            shuffled(
                [(q, d, score) for q, scores in topics.items() for d, score in scores.items()],
                ["query_id", "doc_id", "score"],
            ),
            run_id,
        )
        for run_id, topics in toys.RUNS.items()
    ]
    rows = [(q, d, r) for q, documents in toys.JUDGMENTS.items() for d, r in documents.items()]
    qrels = qrels_from_frame(shuffled(rows, ["query_id", "doc_id", "relevance"]))
    collection = build_collection(
        runs,
        qrels,
        organizations=toys.ORGANIZATIONS,
        pooled_run_ids=toys.POOLED,
        pool_depth=toys.DEPTH,
    )
    expected = toy_collection()
    assert np.array_equal(collection.document, expected.document)
    assert np.array_equal(collection.relevance, expected.relevance)
    assert collection.fingerprint == expected.fingerprint


# What a collection holds


def test_topics_are_those_of_the_qrels_in_numeric_order() -> None:
    relevance = {"10": {"a": 1}, "9": {"a": 0}, "MB02": {"a": 0}, "MB01": {"a": 0}, "007": {"a": 0}}
    collection = from_rankings({"r": {"9": "a", "11": "ab", "MB01": "ba"}}, relevance)
    assert collection.query_ids == ("007", "9", "10", "MB01", "MB02")
    assert collection.length.tolist() == [[0, 1, 0, 2, 0]]


def test_lengths_of_the_toy() -> None:
    lengths = [[5, 5, 3], [5, 4, 3], [5, 6, 4], [2, 0, 2], [5, 4, 2]]
    assert toy_collection().length.tolist() == lengths


def test_document_is_a_different_pair_on_another_topic() -> None:
    collection = toy_collection()
    assert judgments(collection)["1"]["c"] == 2
    assert judgments(collection)["3"]["c"] == 0


@pytest.mark.parametrize(
    ("meaning", "codes", "said"),
    [
        ("listed", [1, 0, LISTED, 0, 0], "1 listed with relevance −1 (unjudged), 2 below −1 (nonrelevant)"),
        ("unjudged", [1, 0, *[UNJUDGED] * 3], "1 listed with relevance −1 (unjudged), 2 below −1 (unjudged)"),
        (
            "nonrelevant",
            [1, 0, 0, 0, 0],
            "1 listed with relevance −1 (nonrelevant), 2 below −1 (nonrelevant)",
        ),
    ],
)
def test_meanings_of_negative_relevance(meaning: Any, codes: list[int], said: str) -> None:
    run = run_from_frame({"1": dict.fromkeys("abcdef", 1)}, "r")
    qrels = qrels_from_frame({"1": {"a": 1, "b": 0, "c": -1, "d": -2, "e": -3}})
    collection = build_collection([run], qrels, negative=meaning)
    assert collection.relevance.tolist() == [*codes, UNJUDGED]
    assert str(collection.negatives) == said
    with pytest.raises(InputError, match="a negative relevance cannot be 'spam'; known: listed, unjudged"):
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


# A pool of several depths: n1 to 1, n2 to 2, s1 and s2 to 3
#     topic 1   n1: a          topic 2   n1: q        topic 3   n1: a
#               n2: b a                  n2: p r                n2: b c
#               s1: a h i                s1: q v w              s1: c a d
#               s2: h k                                         s2: a d


def uneven_toy() -> Collection:
    return build_collection(
        toy_runs(),
        toy_qrels(),
        organizations=toys.ORGANIZATIONS,
        pooled_run_ids=toys.POOLED,
        pool_depth={"n1": 1, "n2": 2, "s1": 3, "s2": 3},
    )


def test_pool_of_several_depths() -> None:
    collection = uneven_toy()
    assert collection.pool_depth == 3
    assert collection.depth_of(np.array([4, 0, 1, 3])).tolist() == [3, 1, 2, 3]  # u would go to 3
    assert in_pool(collection) == ["abhik", "pqrvw", "abcd"]
    assert in_pool(collection, ["n1", "n2"]) == ["ab", "pqr", "abc"]
    assert in_pool(collection, ["u"]) == ["adl", "pvz", "ef"]
    assert "(4 pooled to depth 1 to 3)" in repr(collection)


def test_unpooled_run_remembers_its_depth() -> None:
    smaller = uneven_toy().unpool(organization="north")
    # b, p r, b are gone, and not c and f of topic 1, which no run contributed
    assert judged(smaller) == ["acfhijk", "qvw", "acd"]
    assert smaller.depth_of(smaller.run_index(["n1", "n2", "u"])).tolist() == [1, 2, 3]
    assert in_pool(smaller, ["n1"]) == ["a", "q", "a"]


def test_truncated_pool_of_several_depths() -> None:
    shallow = uneven_toy().truncate_pool(2)
    assert shallow.depth_of(np.arange(5)).tolist() == [1, 2, 2, 2, 2]
    assert judged(shallow) == ["abhk", "pqrv", "abcd"]
    assert shallow.pool_depth == 2
    # the common depth is 1 here, and the deepest 3
    many = uneven_toy().with_pool(uneven_toy().pooled, DepthPool(1, (1, 1, 3, 1, 1)))
    assert many.truncate_pool(3).depth_of(np.arange(5)).tolist() == [1, 1, 3, 1, 1]
    with pytest.raises(InputError, match="pool depth 4 is not between 1 and 3"):
        many.truncate_pool(4)


def test_commonest_depth_is_the_common_one() -> None:
    depths = {"n1": 1, "n2": 1, "s1": 3, "s2": 2}
    arguments = {"pooled_run_ids": toys.POOLED}
    assert build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth=depths).pool_depth == 1
    depths["n2"] = 3  # the larger of equals would be 3 as well
    assert build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth=depths).pool_depth == 3
    with pytest.raises(InputError, match="no pool depth of run 's2'; give one for each pooled run"):
        build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth={"n1": 1, "n2": 1, "s1": 3})


def test_runs_of_a_pool_in_another_order() -> None:
    assert DepthPool(3, (1, 2, 3)).of_runs([2, 0, 0]) == DepthPool(3, (3, 1, 1))
    assert DepthPool.even(4, 2) == DepthPool(4, (4, 4))


def test_collection_is_pickled_with_its_pool() -> None:
    again = pickle.loads(pickle.dumps(uneven_toy()))
    assert again.pooling == uneven_toy().pooling
    assert again.fingerprint == uneven_toy().fingerprint != toy_collection().fingerprint
    assert not again.relevance.flags.writeable


def test_run_without_an_organization_has_its_own() -> None:
    collection = from_rankings({"a": {"1": "d"}, "b": {"1": "d"}}, {"1": {"d": 1}}, {"a": "x"})
    assert [collection.organizations[o] for o in collection.organization] == ["x", "b"]


def test_run_without_an_organization_does_not_join_the_one_of_its_name() -> None:
    collection = from_rankings({"a": {"1": "d"}, "ge": {"1": "d"}}, {"1": {"d": 1}}, {"a": "ge"})
    assert collection.organization[0] != collection.organization[1]
    assert collection.organizations == ("ge", "ge (run)")


def test_repr_tells_the_sizes() -> None:
    assert repr(toy_collection()) == (
        "<Collection: 5 runs (4 pooled to depth 3), 3 organizations, 3 topics, 17 judgments, 7 relevant>"
    )


def test_run_index_keeps_the_order_asked_for() -> None:
    collection = toy_collection()
    assert collection.run_index(["u", "n1"]).tolist() == [4, 0]
    assert collection.run_index("s1").tolist() == [2]
    assert collection.run_index().tolist() == [0, 1, 2, 3, 4]


def test_unknown_run_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no run 'zz' in the collection; it has 'n1', 'n2', 's1' …"):
        toy_collection().run_index(["n1", "zz"])


# Errors


def test_no_runs_are_refused() -> None:
    with pytest.raises(InputError, match="no runs given"):
        build_collection([], toy_qrels())


def test_two_runs_of_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="two runs are called 'n1'"):
        build_collection([*toy_runs(), toy_runs()[0]], toy_qrels())


def test_run_without_a_topic_of_the_qrels_is_refused() -> None:
    stranger = run_from_frame({"9": {"a": 1}, "8": {"a": 1}}, "stranger")
    with pytest.raises(InputError, match=r"none of its topics .* it has '9', '8', the qrels '1'"):
        build_collection([*toy_runs(), stranger], toy_qrels())


def test_qrels_without_a_relevant_document_are_refused() -> None:
    with pytest.raises(InputError, match="no document is relevant"):
        build_collection(toy_runs(), qrels_from_frame({"1": {"a": 0, "b": -1}}))


def test_rank_order_without_ranks_is_refused() -> None:
    with pytest.raises(InputError, match="run 'n1' has no ranks to order by; order by score instead"):
        build_collection(toy_runs(), toy_qrels(), order="rank")


def test_orders_are_by_score_or_rank() -> None:
    with pytest.raises(InputError, match="no order 'file'; score or rank"):
        build_collection(toy_runs(), toy_qrels(), order="file")  # type: ignore[arg-type]


# The pool


def in_pool(collection: Collection, run_ids: list[str] | None = None) -> list[str]:
    inside = collection.pool(None if run_ids is None else collection.run_index(run_ids))
    found = [""] * len(collection.query_ids)
    for pair in np.flatnonzero(inside):
        found[collection.pair_topic[pair]] += collection.doc_id(int(pair))
    return found


def test_pool_of_the_toy() -> None:
    collection = toy_collection()
    assert in_pool(collection) == ["abcfhik", "pqrvw", "abcd"]
    assert in_pool(collection, ["s2"]) == ["hk", "", "ad"]
    assert in_pool(collection, ["u"]) == ["adl", "pvz", "ef"]
    assert in_pool(collection, []) == ["", "", ""]


@pytest.mark.parametrize(
    ("organization", "left"),
    # the north alone had b c f, p r, b within depth 3: a is s1's, too, and s1 has its b and p deeper
    [("north", ["ahijk", "qvw", "acd"]), ("south", ["abcfj", "pqr", "abc"])],
)
def test_unpool_an_organization(organization: str, left: list[str]) -> None:
    collection = toy_collection()
    smaller = collection.unpool(organization=organization)
    assert judged(smaller) == left
    assert smaller.pooled_run_ids == tuple(r for r in toys.POOLED if toys.ORGANIZATIONS[r] != organization)
    assert np.array_equal(smaller.document, collection.document)


@pytest.mark.parametrize(
    ("run_ids", "left"),
    [
        ("n1", ["abfhijk", "pqrvw", "abcd"]),  # c is n1's; n2 has it below depth 3
        ("n2", ["abchijk", "pqrvw", "abcd"]),
        ("s1", ["abcfhjk", "pqr", "abcd"]),  # h is s2's, too
        ("s2", ["abcfhij", "pqrvw", "abcd"]),
        (["s1", "s2"], ["abcfj", "pqr", "abc"]),  # together they alone had h, and d on topic 3
        (["n1", "n2", "s1", "s2"], ["j", "", ""]),  # j was nobody's
        ("u", ["abcfhijk", "pqrvw", "abcd"]),  # was not pooled
        ([], ["abcfhijk", "pqrvw", "abcd"]),
    ],
)
def test_unpool_runs(run_ids: str | list[str], left: list[str]) -> None:
    assert judged(toy_collection().unpool(run_ids)) == left


def test_unpool_one_after_the_other_is_unpool_at_once() -> None:
    collection = toy_collection()
    one_by_one = collection.unpool("s2").unpool("s1")
    assert one_by_one.fingerprint == collection.unpool(["s1", "s2"]).fingerprint
    assert one_by_one.fingerprint == collection.unpool(organization="south").fingerprint


@given(toys.pooled_collections(), st.data())
def test_unpool_never_adds_a_judgment(collection: Collection, data: st.DataObject) -> None:
    run_ids = data.draw(st.lists(st.sampled_from(collection.run_ids), unique=True))
    smaller = collection.unpool(run_ids)
    before, after = judgments(collection), judgments(smaller)
    for query_id, documents in after.items():
        assert documents.items() <= before[query_id].items()
    # what is left of the pool is what the other pooled runs contributed
    assert (smaller.relevance >= 0)[smaller.pool()].all()
    lost = (collection.relevance >= 0) & (smaller.relevance < 0)
    assert not lost[~collection.pool(collection.run_index(run_ids))].any()


@pytest.mark.parametrize("arguments", [{}, {"run_ids": "n1", "organization": "north"}])
def test_unpool_takes_runs_or_an_organization(arguments: dict[str, str]) -> None:
    with pytest.raises(InputError, match="run ids or an organization"):
        toy_collection().unpool(**arguments)


def test_unpool_names_the_unknown() -> None:
    with pytest.raises(InputError, match="no organization 'west'; known: 'new', 'north', 'south'"):
        toy_collection().unpool(organization="west")
    with pytest.raises(InputError, match="no run 'zz'"):
        toy_collection().unpool("zz")


@pytest.mark.parametrize(
    ("depth", "left"),
    [(1, ["abh", "pq", "abc"]), (2, ["abhk", "pqrv", "abcd"]), (3, ["abcfhik", "pqrvw", "abcd"])],
)
def test_truncate_pool(depth: int, left: list[str]) -> None:
    shallow = toy_collection().truncate_pool(depth)
    assert judged(shallow) == left
    assert shallow.pool_depth == depth
    assert shallow.pooled_run_ids == toys.POOLED


@pytest.mark.parametrize("depth", [-1, 0, 4])
def test_truncate_pool_to_what_it_is_not(depth: int) -> None:
    with pytest.raises(InputError, match=f"pool depth {depth} is not between 1 and 3"):
        toy_collection().truncate_pool(depth)


def owned(collection: Collection, owner: np.ndarray, names: Sequence[str]) -> dict[str, list[str]]:
    found = {name: [""] * len(collection.query_ids) for name in names}
    for pair in np.flatnonzero(owner >= 0):
        found[names[owner[pair]]][collection.pair_topic[pair]] += collection.doc_id(int(pair))
    return {name: documents for name, documents in found.items() if any(documents)}


def test_sole_contributors_of_the_toy() -> None:
    collection = toy_collection()
    by_organization = owned(collection, sole_contributor(collection), collection.organizations)
    assert by_organization == {"north": ["bcf", "pr", "b"], "south": ["hik", "vw", "d"]}
    by_run = owned(collection, sole_contributor(collection, "run"), collection.run_ids)
    assert by_run == {"n1": ["c", "", ""], "n2": ["f", "", ""], "s1": ["i", "vw", ""], "s2": ["k", "", ""]}


def test_nothing_is_changed_in_place() -> None:
    collection = toy_collection()
    before = collection.fingerprint, collection.relevance.copy()
    collection.unpool("n1")
    collection.truncate_pool(1)
    assert np.array_equal(collection.relevance, before[1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        collection.pool_depth = 1  # type: ignore[misc]


# Fingerprint


def with_run(run_id: str, topics: dict[str, dict[str, float]]) -> list[Run]:
    return [run_from_frame(t, r) for r, t in {**toys.RUNS, run_id: topics}.items()]


EVEN = dict.fromkeys(toys.POOLED, toys.DEPTH)


def test_order_of_runs_never_matters() -> None:
    arguments = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": 3}
    backwards = build_collection(toy_runs()[::-1], toy_qrels(), **arguments)
    assert backwards.run_ids == ("n1", "n2", "s1", "s2", "u")
    assert backwards.fingerprint == toy_collection().fingerprint
    runs = [run_from_frame(toys.RUNS["u"], run_id) for run_id in ("b", "ä", "Z", "a10", "a9")]
    assert build_collection(runs, toy_qrels()).run_ids == ("Z", "a10", "a9", "b", "ä")  # by bytes


def test_fingerprint_is_equal_for_equal_input() -> None:
    given = build_collection(
        toy_runs(),
        toy_qrels(),
        organizations=toys.ORGANIZATIONS,
        pooled_run_ids=toys.POOLED,
        pool_depth=EVEN,
        given_run_ids=["u", "s1"],
    )
    assert given.fingerprint == toy_collection().fingerprint
    assert toy_collection().fingerprint == toy_collection().fingerprint
    assert len(toy_collection().fingerprint) == 16


def test_fingerprint_ignores_scores_that_rank_alike() -> None:
    doubled = {q: {d: 2 * s for d, s in scores.items()} for q, scores in toys.RUNS["u"].items()}
    arguments = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": 3}
    collection = build_collection(with_run("u", doubled), toy_qrels(), **arguments)
    assert collection.fingerprint == toy_collection().fingerprint


def test_fingerprint_changes_with_everything_that_counts() -> None:
    arguments = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": 3}
    swapped = {**toys.RUNS["u"], "3": {"e": 1.0, "f": 2.0}}
    collections = [
        toy_collection(),
        toy_collection(more={"1": {"l": 0}}),
        toy_collection(more={"1": {"l": 1}}),
        toy_collection(more={"1": {"b": 1}}),
        toy_collection(pool_depth=2),
        toy_collection(pooled_run_ids=("n1", "n2", "s1")),
        toy_collection().unpool("n1"),
        toy_collection().unpool("n2"),
        build_collection(with_run("u", swapped), toy_qrels(), **arguments),
        build_collection(toy_runs(), toy_qrels(), **{**arguments, "pool_depth": {**EVEN, "s2": 2}}),
        build_collection(toy_runs(), toy_qrels(), **{**arguments, "pool_depth": {**EVEN, "s1": 2}}),
        build_collection(toy_runs(), toy_qrels(), **{**arguments, "negative": "unjudged"}),
        build_collection(toy_runs(), toy_qrels(), **{**arguments, "organizations": {}}),
        build_collection(
            toy_runs(), toy_qrels(), **{**arguments, "organizations": {**toys.ORGANIZATIONS, "u": "north"}}
        ),
    ]
    fingerprints = [collection.fingerprint for collection in collections]
    assert len(set(fingerprints)) == len(fingerprints)


def test_fingerprint_tells_on_which_topic_a_document_is_judged() -> None:
    run = {"r": {"1": "a", "2": "d"}}
    first = from_rankings(run, {"1": {"a": 1, "b": 0}, "2": {"d": 0}})
    second = from_rankings(run, {"1": {"a": 1}, "2": {"b": 0, "d": 0}})
    assert first.fingerprint != second.fingerprint


def test_judgments_taken_away_are_asked_for_no_more() -> None:
    collection = toy_collection()
    gone = np.zeros(len(collection.relevance), dtype=bool)
    gone[np.flatnonzero(collection.judged)[:2]] = True
    fewer = collection.without_judgments(gone)
    assert fewer.judged.tolist() == (collection.judged & ~gone).tolist()
    assert (fewer.relevance[gone] == UNJUDGED).all()
    assert (fewer.relevance[~gone] == collection.relevance[~gone]).all()
    assert fewer.fingerprint != collection.fingerprint
    assert fewer.without_judgments(gone).fingerprint == fewer.fingerprint
