"""Leave-out experiments: folds, clusters, truth and tables by hand; no estimator sees what is hidden."""

from __future__ import annotations

import dataclasses
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from left_out import LEVELS, POINTS, RANKINGS, asked_settings, column, shapes, tables
from real import read_real
from rich.console import Console
from small import small
from toys import from_rankings, toy_collection

from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.errors import InputError
from bayespool.evidence import RunCluster, cluster_runs, judgment_counts
from bayespool.experiments import LeaveOutResult, SimulationSettings, leave_out, load_example, simulate
from bayespool.experiments.graded_runs import leave_out_sentence, n_unknown_documents
from bayespool.experiments.leaving_out import RunsLeftOut, n_best
from bayespool.posterior import PosteriorEstimator
from bayespool.randomness import seed_of
from bayespool.report.result import print_result
from bayespool.scoring import ESTIMATOR_NAMES


def test_organizations_left_out_of_the_toy() -> None:
    """North alone brought b c f, p r, and b on topic 3; south h i k, v w, and d on topic 3."""
    found = leave_out(toy_collection(), "P@3", estimators="as-judged")
    assert column(found, "fold").keys().isdisjoint({"u"})  # not pooled
    assert column(found, "fold") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    nine = {"n1": (4, 1, 6), "n2": (4, 1, 6), "s1": (3, 1, 6), "s2": (1, 0, 3)}  # truth, bounds
    for name, place in {"truth": 0, "bound_lower": 1, "value": 1, "bound_upper": 2}.items():
        assert column(found, name) == {run: of_run[place] / 9 for run, of_run in nine.items()}, name
    assert column(found, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    summary = found.to_frame("summary").iloc[0]
    assert summary["mae"] == pytest.approx((3 + 3 + 2 + 1) / 36)
    assert summary["bias"] == pytest.approx(-(3 + 3 + 2 + 1) / 36)
    # truths 4 4 3 1: the first two fall behind the third, each past one, and share its place with the others
    assert summary["sre"] == 2 + 2 + 0 + 0
    # per topic, in thirds: n1 and n2 lack 1, 2, 0; s1 1, 1, 0; s2 1, 0, 0
    assert summary["topic_rmse"] == pytest.approx(np.sqrt((5 + 5 + 2 + 1) / 9 / 12))


def test_runs_left_out_of_the_toy() -> None:
    """Alone brought: n1 c; n2 f; s1 i, v and w; s2 k."""
    found = leave_out(toy_collection(), "P@3", estimators="as-judged", by="run")
    assert column(found, "fold") == {run: run for run in ("n1", "n2", "s1", "s2")}
    assert column(found, "organization") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    assert column(found, "bound_lower") == {"n1": 3 / 9, "n2": 3 / 9, "s1": 2 / 9, "s2": 1 / 9}
    assert column(found, "n_unjudged") == {"n1": 1, "n2": 1, "s1": 3, "s2": 1}


def test_truth_below_the_pool_depth() -> None:
    """n2 has c at rank 4, which n1 brought into the pool at rank 3."""
    kwargs: dict[str, Any] = {"measures": "P@4", "estimators": "as-judged"}
    full = leave_out(toy_collection(), truth="full", **kwargs)
    repooled = leave_out(toy_collection(), **kwargs)
    assert column(full, "truth")["n2"] == 5 / 12
    assert column(repooled, "truth")["n2"] == 4 / 12
    assert column(repooled, "truth")["n1"] == 4 / 12
    for run, upper in column(repooled, "bound_upper").items():
        assert column(repooled, "truth")[run] <= upper
    # what the truth does not judge may be estimated: d and t of n1, c, g and t of n2
    complete = leave_out(toy_collection(), unseen="estimated", **kwargs)
    assert column(complete, "n_unjudged") == {"n1": 5 + 2, "n2": 5 + 2, "s1": 5 + 1, "s2": 3}
    assert column(repooled, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    # in truth d, s (n1), t (n2, where c is another one) and e (s1) are unjudged, too
    assert column(complete, "n_unknown") == {"n1": 2, "n2": 2, "s1": 1, "s2": 0}
    assert column(repooled, "n_unknown") == dict.fromkeys(("n1", "n2", "s1", "s2"), 0)


def test_means_over_the_topics_of_a_run() -> None:
    """s2 lacks topic 2."""
    found = leave_out(toy_collection(), "P@3", estimators=["as-judged", "background"], denominator="run")
    assert column(found, "truth")["s2"] == 1 / 6
    assert column(found, "bound_upper")["s2"] == 3 / 6
    assert column(found, "value")["s2"] == 0
    assert column(found, "value", "background")["s2"] == pytest.approx(3 / 6 * 0.03)
    assert column(found, "topic_rmse")["s2"] == pytest.approx(np.sqrt(1 / 9 / 2))
    assert np.isnan(found.true_scores("P@3")[3]).tolist() == [False, True, False]
    every = leave_out(toy_collection(), "P@3", estimators=["as-judged", "background"])
    pd.testing.assert_frame_equal(
        found.to_frame().query("run_id != 's2'"), every.to_frame().query("run_id != 's2'")
    )


def test_a_pool_made_shallower_first() -> None:
    """At depth 1 the north alone has b and p on topics 1 and 2; judgments below rank 1 are gone."""
    found = leave_out(toy_collection(), "P@1", estimators="as-judged", repool_to=1)
    assert column(found, "truth") == {"n1": 1 / 3, "n2": 1 / 3, "s1": 1 / 3, "s2": 1 / 3}
    # a stays judged through n1 when the south goes, and through s1 when the north goes
    assert column(found, "bound_lower") == {"n1": 1 / 3, "n2": 0, "s1": 1 / 3, "s2": 0}
    with pytest.raises(InputError, match="cannot re-pool to depth 4"):
        leave_out(toy_collection(), "P@1", repool_to=4)


def four_runs() -> Collection:
    return from_rankings(RANKINGS, LEVELS, pooled_run_ids=("a", "b", "c", "d"), pool_depth=2)


def test_the_best_runs_are_reported() -> None:
    found = leave_out(four_runs(), "P@2", estimators="as-judged", top=50)
    assert found.to_frame(reported_only=True)["run_id"].tolist() == ["a", "b"]
    assert found.to_frame()["run_id"].tolist() == ["a", "b", "c", "d"]
    assert found.to_frame("summary").loc[0, "n_runs"] == 2
    # 0.625 of four is rounded half up to three; of equal ones the earlier is taken
    for top, best in ((62.5, ["a", "b", "c"]), (25, ["a"])):
        found = leave_out(four_runs(), "P@2", estimators="as-judged", top=top)
        assert found.to_frame(reported_only=True)["run_id"].tolist() == best
    with pytest.raises(InputError, match="are no run at all"):
        leave_out(four_runs(), "P@2", top=5)


def test_a_pool_of_the_best_runs_alone() -> None:
    """With c and d kept, d's documents are judged; a pool of a, b and c alone does not know them."""
    kept = leave_out(four_runs(), "P@2", estimators="as-judged", top=75, top_pool="kept")
    assert kept.to_frame()["run_id"].tolist() == ["a", "b", "c"]
    assert kept.n_pooled_runs == {"P@2": 4}
    runs = {"a": "pq", "b": "rs", "c": "qp", "d": "xs"}
    levels = {"1": {"p": 1, "q": 0, "r": 0, "s": 1, "x": 1}}
    collection = from_rankings(
        {run: {"1": order} for run, order in runs.items()}, levels, pooled_run_ids=tuple(runs), pool_depth=2
    )
    found = leave_out(collection, "P@2", estimators="as-judged", top=50, top_pool="kept", by="run")
    # without a, nobody but c has p and q, and c is not in this pool
    assert column(found, "bound_lower")["a"] == 0
    everyone = leave_out(collection, "P@2", estimators="as-judged", top=50, by="run")
    assert column(everyone, "bound_lower")["a"] == 1 / 2


# Reduced pool and systems adjustment as the published tool of 2020 prints them: MAE, SRE, SRE* by t, τ_b.
PUBLISHED = {
    ("trec2-adhoc", "organization", 75): {
        ("P@10", "reduced"): (0.0085, 32, 0, 0.9133),
        ("P@100", "reduced"): (0.0293, 122, 10, 0.7322),
        ("P@100", "adjusted"): (0.0168, 62, 3, 0.7379),
    },
    ("trec2011-medical", "run", 100): {
        ("P@10", "reduced"): (0.0391, 126, 7, 0.8393),
        ("P@10", "adjusted"): (0.0329, 138, 1, 0.8354),
        ("P@100", "reduced"): (0.0039, 40, 0, 0.9662),
        ("P@100", "adjusted"): (0.0033, 35, 0, 0.9626),
    },
    ("trec2011-medical", "organization", 75): {
        ("P@10", "reduced"): (0.0700, 223, 10, 0.6958),
        ("P@10", "adjusted"): (0.0391, 121, 1, 0.6958),
        ("P@100", "reduced"): (0.0067, 90, 0, 0.8649),
        ("P@100", "adjusted"): (0.0037, 64, 0, 0.8749),
    },
    ("trec2011-medical", "run", 75): {
        ("P@10", "reduced"): (0.0447, 106, 6, 0.7223),
        ("P@10", "adjusted"): (0.0412, 141, 0, 0.7124),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by", "top"), PUBLISHED)
def test_the_published_tool_is_reproduced(collections: Path, name: str, by: Any, top: float) -> None:
    collection = read_real(collections / name)
    adjusted = "systems-adjustment(substitute=False, within_bounds=False)"
    asked: dict[str, Any] = {
        "top_pool": "kept", "unseen": "estimated", "denominator": "run", "test": "paired-t",
    }  # fmt: skip
    asked |= {"by": by, "top": top, "repool_to": collection.pool_depth}
    estimators = {"reduced": "as-judged", "adjusted": adjusted}
    found = leave_out(collection, ["P@10", "P@100"], estimators=estimators, **asked)
    summary = found.to_frame("summary").set_index(["measure", "estimator"])
    for key, expected in PUBLISHED[name, by, top].items():
        row = summary.loc[key]
        ours = (round(row["mae"], 4), row["sre"], row["sre_star"], round(row["kendall_tau_b"], 4))
        assert ours == expected, key


@pytest.mark.parametrize("n_posteriors", [1, pytest.param(9, marks=pytest.mark.slow)])
def test_estimates_do_not_depend_on_what_is_hidden(n_posteriors: int) -> None:
    """Only the truth and what is computed from it may change when the hidden relevance does."""
    original = small()
    organization = original.organizations[0]
    hidden = original.relevance != original.unpool(organization=organization).relevance
    assert hidden.sum() > 20
    turned = np.where(hidden, np.where(original.relevance > 0, 0, 1), original.relevance).astype(np.int16)
    names = [name for name in ESTIMATOR_NAMES if name.startswith("posterior")][:n_posteriors]
    asked = {"measures": "P@10", "estimators": [*POINTS, *names], "posterior_settings": "draws=50"}
    settings = asked_settings(**asked)
    (fold,) = (f for f in RunsLeftOut().parts(original, settings) if f.run_ids[0].startswith(organization))
    one, other = (
        RunsLeftOut().work(collection, fold, settings)
        for collection in (original, dataclasses.replace(original, relevance=turned))
    )
    assert len(one.rows["value"]) == (len(POINTS) + len(names)) * len(fold.run_ids)
    for name in ("value", "lower", "upper", "std", "bound_lower", "bound_upper", "n_unjudged", "note"):
        np.testing.assert_array_equal(one.rows[name], other.rows[name], err_msg=name)
    assert one.rows["truth"] != other.rows["truth"]


def test_seeds_come_from_names() -> None:
    """A fold is what the estimator makes of the unpooled collection under the seed of the fold's name."""
    collection = small()
    organization = collection.organizations[0]
    found = leave_out(
        collection, "P@10", estimators="posterior-background", posterior_settings="draws=50", random_seed=5
    )
    reduced = collection.unpool(organization=organization)
    runs = [run for run in collection.run_ids if run.startswith(f"{organization}-")]
    seed = seed_of(5, "organization", organization)
    alone = PosteriorEstimator(model="background", draws=50, estimand="pooled", random_seed=seed)
    (expected,) = alone.estimate(reduced, runs, "P@10")
    for name, values in (("value", expected.value), ("lower", expected.interval(0.95)[0])):
        assert [column(found, name, "posterior-background")[run] for run in runs] == values.tolist()


def test_number_of_the_best_is_rounded_half_up() -> None:
    for n_runs, top, n_kept in ((5, 50, 3), (4, 62.5, 3), (4, 62.4, 2), (129, 75, 97), (7, 100, 7)):
        assert n_best(n_runs, top) == n_kept


def with_holes(share: float = 0.3) -> Collection:
    """The example without a random share of what one organization alone brought."""
    example = load_example()
    lone = example.judged & (sole_contributor(example) >= 0)
    return example.without_judgments(lone & (np.random.default_rng(1).random(len(lone)) < share))


def test_holes_are_completed_by_nobody() -> None:
    """With everything unjudged relevant, a run is as good as its upper bound: the holes are not in it."""
    names = ["background(e=1)", "condensed-list", "anti-precision"]
    rows, before = (
        leave_out(with_holes(), "P@10", estimators=names, unseen=unseen).to_frame()  # type: ignore[arg-type]
        for unseen in ("nonrelevant", "estimated")
    )
    assert (rows["n_unknown"] > 0).any()
    mine = rows[rows["estimator"] == "background(e=1)"]
    assert mine["value"].tolist() == pytest.approx(mine["bound_upper"].tolist())
    assert (before["value"] >= rows["value"] - 1e-12).all()
    added = (before["bound_upper"] - rows["bound_upper"]) * 10 * 20
    assert added.tolist() == pytest.approx(rows["n_unknown"].tolist())


@pytest.mark.slow
def test_holes_at_random_bias_no_estimate() -> None:
    """The truth without holes is known: bias with what nobody sees estimated, and with it nonrelevant."""
    settings: dict[str, Any] = {"estimators": "posterior-ratio", "posterior_settings": "draws=100"}
    without, mended, before = (
        leave_out(collection, "P@10", unseen=unseen, **settings).to_frame("summary").iloc[0]  # type: ignore[call-overload]
        for collection, unseen in (
            (load_example(), "nonrelevant"), (with_holes(), "nonrelevant"), (with_holes(), "estimated")
        )
    )  # fmt: skip
    assert abs(without["bias"]) < 0.006
    assert abs(mended["bias"]) < 0.006
    assert before["bias"] > mended["bias"] + 0.004
    assert mended["coverage_95"] > before["coverage_95"] or mended["coverage_95"] > 0.9


# Two kinds of runs, and one like none. b3 has a document of the a's, and is of the organization of one.
RUNS = {"a1": "abcd", "a2": "abce", "b1": "pqrs", "b2": "pqrt", "b3": "paqm", "z": "wxyv"}
ORGANIZATIONS = {"a1": "one", "a2": "two", "b1": "three", "b2": "three", "b3": "one", "z": "four"}
LEVELS_OF_RUNS = {"1": {"a": 1, "b": 1, "p": 1, "q": 1, "w": 0, "x": 0}}


def pooled(
    rankings: dict[str, dict[str, str]], organizations: dict[str, str] | None = None, depth: int = 2
) -> Collection:
    """All runs pooled; every document judged."""
    topics = sorted({q for of_run in rankings.values() for q in of_run})
    judged = {q: dict.fromkeys("".join(r.get(q, "") for r in rankings.values()), 1) for q in topics}
    return from_rankings(rankings, judged, organizations, pooled_run_ids=tuple(rankings), pool_depth=depth)


def toy() -> Collection:
    rankings = {run: {"1": documents} for run, documents in RUNS.items()}
    return from_rankings(rankings, LEVELS_OF_RUNS, ORGANIZATIONS, pooled_run_ids=tuple(RUNS), pool_depth=2)


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


@pytest.mark.slow
def test_significance_of_the_truth() -> None:
    """SRE* against its definition, with SciPy's t test on the true scores."""
    from scipy.stats import ttest_rel

    found = leave_out(load_example(), "P@10", estimators=POINTS, test="paired-t")
    scores = found.true_scores("P@10")
    np.testing.assert_array_equal(
        scores, judgment_counts(load_example(), load_example().pooled_run_ids, cutoffs=10).lower[:, :, 0]
    )
    p = np.array([[ttest_rel(a, b).pvalue if a is not b else 1 for b in scores] for a in scores])
    np.testing.assert_array_equal(found.significant("P@10"), p < 0.05)
    for label in POINTS:
        rows = found.to_frame().query("estimator == @label")
        t, e = rows["truth"].to_numpy(), rows["value"].to_numpy()
        passed = [
            [(t[u] < t[v] <= e[u] or e[u] < t[v] <= t[u]) and p[u, v] < 0.05 for v in range(len(t)) if v != u]
            for u in range(len(t))
        ]
        starred = found.to_frame("summary").set_index("estimator").loc[label, "sre_star"]
        assert starred == np.sum(passed)
    assert found.to_frame("summary")["sre_star"].sum() > 0
    assert not leave_out(load_example(), "P@5", estimators=POINTS).significant("P@5").all()  # Tukey's


def test_significance_where_a_run_lacks_topics() -> None:
    """The paired t test takes the topics that both runs have, Tukey's those that all have."""
    from scipy.stats import ttest_rel

    collection = simulate(
        SimulationSettings(n_topics=8, n_organizations=4, max_runs=1), random_seed=3
    ).collection
    document = collection.document.copy()
    document[collection.run_index("north-1"), :3] = -1
    collection = dataclasses.replace(collection, document=document)
    found = leave_out(collection, "P@10", estimators="as-judged", denominator="run", test="paired-t")
    scores = found.true_scores("P@10")
    assert np.isnan(scores[1]).sum() == 3
    expected = ttest_rel(scores[1, 3:], scores[2, 3:]).pvalue < 0.05
    assert found.significant("P@10")[1, 2] == found.significant("P@10")[2, 1] == expected
    assert found.significant("P@10")[0, 2] == (ttest_rel(scores[0], scores[2]).pvalue < 0.05)
    tukey = leave_out(collection, "P@10", estimators="as-judged", denominator="run")
    others = dataclasses.replace(tukey, scores_in_truth={k: v[3:] for k, v in tukey.scores_in_truth.items()})
    np.testing.assert_array_equal(tukey.significant("P@10"), others.significant("P@10"))
    assert tukey.reliability("P@10").n_topics == 5
    assert "SRE* and reliability are over the 5 of 8 topics that all these runs have" in printed(tukey)
    assert "note: P@10: reliability is over the 5 of 8 topics" in printed(found)


def test_no_test_is_not_a_test_without_findings() -> None:
    """SRE* of one topic is unknown, not 0; and so is reliability."""
    one_topic = leave_out(shapes(), "P@2", estimators="as-judged")
    assert one_topic.to_frame("summary")["sre"].iloc[0] == 0
    assert np.isnan(one_topic.to_frame("summary")["sre_star"].iloc[0])
    assert len(one_topic.to_frame("reliability")) == 0
    assert "reliability of the true scores: –" in printed(one_topic)


def printed(result: LeaveOutResult) -> str:
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed below
    print_result(result, console)
    console.file.close()
    return console.export_text()


def test_leaving_out_says_that_nothing_repairs_what_is_right() -> None:
    plain = {"measure": "P@10", "estimator": "as-judged", "n_runs": 5, "bias": -0.001, "rmse": 0.002}
    plain["coverage_95"] = float("nan")
    worse = plain | {"estimator": "background", "bias": 0.01, "rmse": 0.02}
    said = leave_out_sentence([plain, worse])
    assert "underestimated by 0.0010" in said
    assert "No estimator comes nearer to the truth (root mean square error 0.0020)" in said
    assert "overestimated by 0.5000" in leave_out_sentence([plain | {"bias": 0.5}, worse])
    blank = plain | {"estimator": "anti-precision", "rmse": float("nan")}
    assert "background comes nearest" in leave_out_sentence([blank, worse])
    assert "no estimator has a value" in leave_out_sentence([blank])


def test_reliability_of_the_truth_and_a_pickled_result() -> None:
    asked: dict[str, Any] = {
        "estimators": ["as-judged", "posterior-background"],
        "posterior_settings": "draws=20",
        "top": 75,
    }
    result = leave_out(small(), ["P@5", "P@10"], **asked)
    frame = result.to_frame("reliability").set_index("measure")
    assert frame.loc["P@5", "n_runs"] == round(0.75 * len(small().pooled_run_ids))
    assert frame.loc["P@5", "n_topics"] == 8
    assert frame.loc["P@10", "generalizability"] == result.reliability("P@10").generalizability
    assert 0 < frame.loc["P@10", "dependability"] < frame.loc["P@10", "generalizability"] < 1
    with pytest.raises(InputError, match=r"P@20"):
        result.reliability("P@20")
    again = pickle.loads(pickle.dumps(result))
    assert tables(again) == tables(result)
    assert again.settings == result.settings
    estimator = PosteriorEstimator(model="ratio", priors={"mu": "Normal(-2, 1)"}, draws=7)
    assert pickle.loads(pickle.dumps(estimator)) == estimator


def test_runs_that_are_not_pooled_are_named() -> None:
    result = leave_out(load_example(), "P@10", estimators="as-judged")
    assert "2 runs not in the pool, and not left out: new-a, new-b" in result.notes()


def test_what_notes_tell_counts_each_run_once() -> None:
    rows = [
        # measure, run, estimator, documents unjudged in truth, truth, bounds
        ("P@10", "a", "x", 2, 0.5, 0.4, 0.5),
        ("P@10", "a", "y", 2, 0.5, 0.4, 0.5),
        ("P@10", "b", "x", 1, 0.6, 0.4, 0.5),
        ("P@10", "b", "y", 1, 0.6, 0.4, 0.5),
        ("P@10", "c", "x", 0, 0.3, 0.4, 0.5),
        ("P@5", "b", "x", 7, 0.9, 0.0, 0.1),
    ]
    columns = ["measure", "run_id", "estimator", "n_unknown", "truth", "bound_lower", "bound_upper"]
    frame = pd.DataFrame(rows, columns=columns)
    assert n_unknown_documents(frame, "P@10") == 3
    assert n_unknown_documents(frame, "P@5") == 7
