"""Pools that are not of one depth, or lack a document here and there, and qrels with negative relevance."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
import toys
from commands import Outcome
from real import read_real
from toys import toy_collection

from bayespool.collection import Collection, DepthPool, build_collection
from bayespool.comparisons.shallow import judgment_subset, unpooled_copies
from bayespool.counts import judgment_counts, unjudged_documents
from bayespool.errors import InputError, PoolWarning
from bayespool.experiments import leave_out
from bayespool.experiments.parallel import _pack, _unpack
from bayespool.experiments.resampling import whole_pool
from bayespool.loading import read_collection
from bayespool.pool import describe_pool, discover_pool
from bayespool.scoring import score
from bayespool.simulation import load_example, simulate_example
from bayespool.trec import qrels_from_frame, read_qrels, run_from_frame, write_qrels

DEEP = {"a": 10, "b": 10, "c": 10}


def collection_of(
    depths: dict[str, int],
    *,
    n_topics: int = 10,
    missing: Iterable[tuple[str, int, int]] = (),
    more: Iterable[tuple[str, int, int]] = (),
    n_others: int = 0,
    same: tuple[str, str] | None = None,
    given: tuple[str, ...] = (),
) -> Collection:
    """Runs of twenty documents a topic, each its own ones, judged down to a depth for each run.

    ``missing`` and ``more`` are (run, topic, rank from 1) that are not judged, and judged nevertheless,
    ``n_others`` judgments on each topic are of documents that no run has; of two runs that are the ``same``
    the second has the documents of the first, but one of its own at rank 10 of topic 0.
    """
    of = {run: (same[0] if same and run == same[1] else run) for run in depths}
    names = {
        (run, t, k): f"{run if (t, k) == (0, 10) else of[run]}-{k}"
        for run in depths
        for t in range(n_topics)
        for k in range(1, 21)
    }
    judged = {place for place in names if place[2] <= depths[place[0]]} - set(missing) | set(more)
    if same:
        judged -= {(same[1], t, k) for t in range(n_topics) for k in range(1, 21)}
    relevance = {
        str(t): {names[place]: 1 for place in sorted(judged) if place[1] == t}
        | {f"other-{i}": 0 for i in range(n_others)}
        for t in range(n_topics)
    }
    runs = [
        run_from_frame(
            {str(t): {names[run, t, k]: -k for k in range(1, 21)} for t in range(n_topics)},
            run,
        )
        for run in depths
    ]
    return build_collection(runs, qrels_from_frame(relevance), given_run_ids=given)


def found(collection: Collection, **arguments: object) -> dict[str, int]:
    """Pooled runs and their depths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        pool = discover_pool(collection, **arguments)  # type: ignore[arg-type]
    index = np.flatnonzero(pool.pooled)
    return dict(zip(pool.pooled_run_ids, pool.depth_of(index).tolist(), strict=True))


# Depths of their own


@pytest.mark.parametrize(
    "depths",
    [
        {**DEEP, "x": 4, "y": 4},
        {"a": 4, "b": 4, "c": 4, "x": 10, "y": 10},
        {**DEEP, "d": 10, "v": 7, "w": 7, "x": 4, "y": 4},
    ],
)
def test_runs_of_several_depths_are_found(depths: dict[str, int]) -> None:
    collection = collection_of(depths)
    assert found(collection) == depths
    pool = discover_pool(collection)
    assert pool.pool_depth == depths["a"]
    report = describe_pool(pool)
    assert (report.n_holes, report.n_unexplained, report.nearly) == (0, 0, ())
    tiers = sorted(set(depths.values()), reverse=True)
    assert report.depths == tuple((d, list(depths.values()).count(d)) for d in tiers)
    said = ", ".join(f"{d} ({n} runs)" for d, n in report.depths)
    assert f"{len(depths)} of {len(depths)} runs pooled to depths {said} (" in str(report)


def test_even_pool_has_no_other_depths() -> None:
    assert found(collection_of(DEEP)) == DEEP


def test_depth_of_a_single_run_is_none() -> None:
    assert found(collection_of({**DEEP, "x": 4})) == DEEP
    assert found(collection_of({**DEEP, "x": 4, "y": 5})) == DEEP


@pytest.mark.parametrize(("n_topics", "is_found"), [(2, False), (3, True)])
def test_ten_own_documents_are_asked_for(n_topics: int, is_found: bool) -> None:
    """4 ranks make 8 own documents on two topics, and 12 on three."""
    depths = {**DEEP, "x": 4, "y": 4}
    assert found(collection_of(depths, n_topics=n_topics)) == (depths if is_found else DEEP)


@pytest.mark.parametrize(("n_topics", "is_found"), [(4, False), (5, True)])
def test_ten_own_documents_below_are_asked_for(n_topics: int, is_found: bool) -> None:
    """Ranks 9 and 10 make 8 own documents below depth 8 on four topics, and 10 on five."""
    depths = {**DEEP, "x": 8, "y": 8}
    assert found(collection_of(depths, n_topics=n_topics)) == (depths if is_found else DEEP)


@pytest.mark.parametrize(("n_missing", "is_found"), [(1, True), (2, False)])
def test_one_in_a_hundred_may_be_missing_of_a_shallower_run(n_missing: int, is_found: bool) -> None:
    """Of 4 documents on 25 topics."""
    depths = {**DEEP, "x": 4, "y": 4, "z": 4}
    missing = [("x", 3, 1), ("x", 8, 3)][:n_missing]
    expected = depths if is_found else {run: d for run, d in depths.items() if run != "x"}
    assert found(collection_of(depths, n_topics=25, missing=missing)) == expected


@pytest.mark.parametrize(("n_topics", "is_found"), [(5, True), (6, False)])
def test_half_of_what_is_below_must_be_missing(n_topics: int, is_found: bool) -> None:
    """Of x on 10 topics 6 ranks lie below depth 4; all of them are judged on 5 or 6 of the topics."""
    depths = {**DEEP, "x": 4, "y": 4, "z": 4}
    more = [("x", t, k) for t in range(n_topics) for k in range(5, 11)]
    expected = depths if is_found else {run: d for run, d in depths.items() if run != "x"}
    assert found(collection_of(depths, more=more)) == expected


def test_what_others_contributed_says_nothing() -> None:
    """x has the documents of a; that its first four are judged does not make it a run of that depth."""
    depths = {**DEEP, "x": 10, "y": 4, "z": 4}
    collection = collection_of(depths, same=("a", "x"))
    assert found(collection) == {**DEEP, "y": 4, "z": 4}
    assert describe_pool(discover_pool(collection)).nearly == ()


# Missing documents


@pytest.mark.parametrize(("n_missing", "is_found"), [(1, True), (2, False)])
def test_missing_document_does_not_exclude_a_run(n_missing: int, is_found: bool) -> None:
    """One in a hundred of x, where no judgment is of another origin."""
    collection = collection_of({**DEEP, "x": 10}, missing=[("x", 3, 1), ("x", 7, 5)][:n_missing])
    assert found(collection) == ({**DEEP, "x": 10} if is_found else DEEP)
    report = describe_pool(discover_pool(collection))
    assert report.n_holes == is_found
    assert report.nearly == ()


@pytest.mark.parametrize(
    ("n_others", "is_found"),
    # with x 399 of 399 + 10·n judgments are explained, without it 300
    [(0, True), (1, False), (50, False), (51, True)],
)
def test_nearly_pooled_runs_where_they_account_for_the_rest(n_others: int, is_found: bool) -> None:
    """399/409 is less than 99 %; 300/899 is more than a third, and 300/909 less."""
    collection = collection_of({**DEEP, "x": 10}, missing=[("x", 3, 1)], n_others=n_others)
    assert found(collection) == ({**DEEP, "x": 10} if is_found else DEEP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        report = describe_pool(discover_pool(collection))
    assert report.nearly == (() if is_found else ("x (1 of 100 documents unjudged)",))


def test_report_tells_of_nearly_pooled_runs() -> None:
    depths = {**DEEP, "v": 10, "w": 10, "x": 10, "y": 10}
    missing = [("x", 3, 1), ("w", 3, 10), ("v", 3, 9), ("y", 1, 1)]
    complete = np.arange(7) < 3
    report = describe_pool(collection_of(depths, missing=missing).with_pool(complete, 10))
    assert report.nearly == tuple(f"{run} (1 of 100 documents unjudged)" for run in "vwxy")
    first, second = report.text().split("\n")
    assert first == str(report)
    assert second == (
        "  nearly pooled, and not taken for it: v (1 of 100 documents unjudged), "
        "w (1 of 100 documents unjudged), x (1 of 100 documents unjudged) and 1 more; "
        "--max-holes or --pooled-runs take them in"
    )
    # a run to score is none that the pool lacks
    collection = collection_of(depths, missing=missing, given=("v", "a"))
    report = describe_pool(collection.with_pool(complete, 10))
    assert [near.split()[0] for near in report.nearly] == ["w", "x", "y"]
    # the one that lacks least comes first
    missing = [("x", 3, 1), ("x", 3, 2), ("y", 3, 2)]
    report = describe_pool(collection_of(depths, missing=missing, n_topics=20).with_pool(complete, 10))
    assert report.nearly == (
        "v (0 of 200 documents unjudged)",
        "w (0 of 200 documents unjudged)",
        "y (1 of 200 documents unjudged)",
        "x (2 of 200 documents unjudged)",
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"max_holes": 0}, DEEP),
        ({"max_holes": 1}, {**DEEP, "x": 10}),
        ({"depth": 10}, DEEP),
        ({"depth": 4}, dict.fromkeys("abcyz", 4)),
        ({"pooled_run_ids": ["x", "y"], "depth": 10}, {"x": 10, "y": 10}),
        ({"rule": "skipping"}, DEEP),
    ],
)
def test_what_is_given_leaves_out_uneven_depths(
    arguments: dict[str, object], expected: dict[str, int]
) -> None:
    collection = collection_of({**DEEP, "x": 10, "y": 4, "z": 4}, missing=[("x", 3, 1)])
    assert found(collection) == {**DEEP, "x": 10, "y": 4, "z": 4}
    assert found(collection, **arguments) == expected


def test_only_candidates_have_a_depth() -> None:
    collection = collection_of({**DEEP, "x": 10, "y": 4, "z": 4}, missing=[("x", 3, 1)])
    assert found(collection, candidates=["a", "b", "y", "z"]) == {"a": 10, "b": 10, "y": 4, "z": 4}
    assert found(collection, candidates=["a", "b", "c", "x"]) == DEEP  # what y and z brought is unexplained


# What a pool of several depths is to those who ask it


def uneven_toy() -> Collection:
    return toy_collection().with_pool(toy_collection().pooled, DepthPool(3, (1, 2, 3, 3, 2)))


def test_pooled_estimand_goes_to_each_runs_own_depth() -> None:
    """Topic 1: d and e of n1 at 4 and 5, l, d and m of u at 2, 3 and 5 are unjudged."""
    even, uneven = toy_collection(), uneven_toy()
    counts = [
        judgment_counts(c, ["n1", "u"], cutoffs=5, estimand=estimand).n_unjudged[:, 0, 0].tolist()
        for c, estimand in ((even, "complete"), (even, "pooled"), (uneven, "complete"), (uneven, "pooled"))
    ]
    assert counts == [[2, 3], [0, 2], [2, 3], [0, 1]]
    run, topic, rank, pair = unjudged_documents(uneven, ["n1", "u"], cutoff=5, estimand="pooled")
    told = [
        (int(r), int(t), int(k), uneven.doc_id(p)) for r, t, k, p in zip(run, topic, rank, pair, strict=True)
    ]
    assert told == [(1, 0, 2, "l"), (1, 2, 1, "e"), (1, 2, 2, "f")]


def test_few_judgments_of_an_uneven_pool() -> None:
    depths = {"n1": 1, "n2": 2, "s1": 3, "s2": 3}
    uneven = build_collection(
        toys.toy_runs(), toys.toy_qrels(), pooled_run_ids=toys.POOLED, pool_depth=depths
    )
    # 6 documents are at rank 1 of a pooled run (a b h, q p, a b c: 8), so that ten reach rank 2
    assert judgment_subset(uneven, 8).depth_of(np.arange(5)).tolist() == [1, 1, 1, 1, 1]
    assert judgment_subset(uneven, 10).depth_of(np.arange(5)).tolist() == [1, 2, 2, 2, 2]
    copied, names = unpooled_copies(uneven, ["u", "n2", "n1"])
    assert copied.depth_of(copied.run_index(names)).tolist() == [3, 2, 1]


def test_random_pools_go_down_to_the_shallowest_run() -> None:
    uneven = collection_of({**DEEP, "x": 4, "y": 4})
    uneven = discover_pool(uneven)
    whole = whole_pool(uneven, "pooled", None)
    assert whole.depth_of(np.arange(5)).tolist() == [4] * 5
    assert (whole.relevance >= 0).sum() == 5 * 4 * 10  # runs, ranks, topics
    with pytest.raises(InputError, match="pool depth 5 is not between 1 and 4"):
        whole_pool(uneven, "pooled", 5)
    everyone = whole_pool(uneven, "all", None)
    assert everyone.depth_of(np.arange(5)).tolist() == [10] * 5
    assert (everyone.relevance >= 0).sum() == 5 * 10 * 10


def test_workers_get_the_pool() -> None:
    header, arrays = _pack(uneven_toy())
    again = _unpack(header, arrays)
    assert again.pooling == uneven_toy().pooling
    assert again.fingerprint == uneven_toy().fingerprint


def test_truth_of_runs_of_several_depths() -> None:
    """r2 went to rank 2 and brought b, r1 did not: with r1 back alone nobody has judged its second document.

    The common depth is 2, so that a rule that looks at it alone would take b as r1's own.
    """
    collection = toys.from_rankings(
        {"r1": {"1": "ab"}, "r2": {"1": "cb"}, "s": {"1": "dz"}},
        {"1": {"a": 1, "b": 1, "c": 0, "d": 0, "z": 0}},
        {"r1": "r", "r2": "r", "s": "s"},
        pooled_run_ids=("r1", "r2", "s"),
        pool_depth={"r1": 1, "r2": 2, "s": 2},
    )
    for truth, expected in (("repooled", [0.5, 0.5, 0.0]), ("full", [1.0, 0.5, 0.0])):
        frame = leave_out(collection, "P@2", estimators="lower-bound", truth=truth).frame()
        assert dict(zip(frame["run_id"], frame["truth"], strict=True)) == dict(
            zip(("r1", "r2", "s"), expected, strict=True)
        )


# Negative relevance


@pytest.fixture
def example(tmp_path: Path) -> Path:
    simulate_example().write(tmp_path)
    return tmp_path


def relabelled(example: Path, relevance: int, n: int = 275) -> None:
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


def test_spam_is_judged_nonrelevant(example: Path) -> None:
    relabelled(example, -2)
    collection = read_example(example)
    assert str(describe_pool(collection)) == (
        "21 of 23 runs pooled to depth 10 (8 organizations), 0 holes; "
        "1181 judgments, 0 not explained by these runs, 275 below −1 (nonrelevant)"
    )
    assert collection.fingerprint == load_example().fingerprint
    chosen = ["background", "posterior-background", "posterior-smoothed"]
    one, other = (
        score(c, ["new-a"], "P@10", estimators=chosen, draws=50) for c in (collection, load_example())
    )
    assert one.frame().equals(other.frame())


def test_listed_documents_are_in_the_pool_and_unjudged(example: Path) -> None:
    relabelled(example, -1)
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
    relabelled(example, -1, 30)
    command = ["score", example / "new", "--qrels", example / "qrels.txt", "--pool", example / "pool"]
    command += ["--organizations", example / "organizations.csv", "--estimators", "background"]
    assert "30 listed with relevance −1 (unjudged)" in run(*command).err
    assert "30 listed with relevance −1 (nonrelevant)" in run(*command, "--negative", "nonrelevant").err


def test_negatives_elsewhere() -> None:
    """trec_eval takes any negative as unjudged, which costs P@n like nonrelevant; ir_measures as judged."""
    import ir_measures
    import pytrec_eval

    qrels = {"1": {"a": 1, "b": -1, "c": -2, "d": 0}}
    run = {"1": {"b": 5.0, "c": 4.0, "a": 3.0, "e": 2.0, "d": 1.0}}
    asked = {"P", "num_nonrel_judged_ret"}
    (found,) = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run).values()
    assert (found["P_5"], found["num_nonrel_judged_ret"]) == (0.2, 1)  # d alone is judged nonrelevant
    judged_only, share = ir_measures.P(judged_only=True) @ 2, ir_measures.Judged @ 5
    values = ir_measures.calc_aggregate([judged_only, share], qrels, run)
    assert values == {judged_only: 0.5, share: 0.8}  # -J drops b, c and e; all but e count as judged


# The real collections


def test_pool_of_covid_round_4(collections: Path) -> None:
    collection = read_real(collections / "covid-round4")
    report = describe_pool(collection)
    assert report.depths == ((8, 42),)
    assert (report.n_runs, report.n_holes, report.n_judged, report.n_unexplained) == (72, 18, 13_262, 8_428)
    assert report.nearly == ()
    with pytest.warns(PoolWarning, match="30 of 72 runs pooled to depth 8"):
        complete = discover_pool(collection, max_holes=0)
    assert (complete.pool_depth, len(complete.pooled_run_ids)) == (8, 30)
    assert set(complete.pooled_run_ids) < set(collection.pooled_run_ids)


def test_pool_of_dl_2021(collections: Path) -> None:
    """The runs that are complete; 21 lack one document in a hundred at the most, and are told."""
    with pytest.warns(PoolWarning, match="39 of 63 runs pooled to depth 10"):
        collection = discover_pool(read_real(collections / "dl21-passage"))
    report = describe_pool(collection)
    assert report.depths == ((10, 39),)
    assert (report.n_holes, report.n_judged, report.n_unexplained) == (0, 10_828, 5_454)
    assert len(report.nearly) == 21
    assert report.nearly[0].endswith("(1 of 530 documents unjudged)")
    with pytest.warns(PoolWarning):
        assert collection.pooled_run_ids == discover_pool(collection, max_holes=0).pooled_run_ids


@pytest.mark.parametrize(
    ("name", "depth", "n_pooled"),
    [("trec2-adhoc", 100, 36), ("trec2011-medical", 10, 41), ("trec8-adhoc", 100, 73)],
)
def test_even_pools_stay_what_steps_1_and_2_find(
    collections: Path, name: str, depth: int, n_pooled: int
) -> None:
    collection = read_real(collections / name)
    assert describe_pool(collection).depths == ((depth, n_pooled),)
    again = discover_pool(collection, max_holes=depth // 20)
    assert again.pooled_run_ids == collection.pooled_run_ids
