"""Leave-out experiments: folds, truth, leaks, tables, resumption, workers."""

from __future__ import annotations

import dataclasses
import json
import mmap
import os
import pickle
import runpy
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from real import read_real
from rich.console import Console
from toys import from_rankings, toy_collection

from bayespool.collection import UNJUDGED, Collection
from bayespool.corrections import Background, Interpolated, LowerBound, TopicsAdjustment
from bayespool.corrections.base import Corrected
from bayespool.counts import judgment_counts
from bayespool.errors import (
    DiagnosticsWarning,
    ExperimentChangedWarning,
    InputError,
    InputWarning,
    OutputError,
    WorkerError,
)
from bayespool.estimates import Estimates
from bayespool.estimators import ESTIMATOR_NAMES
from bayespool.experiments import (
    ALL_ESTIMATORS,
    LeaveOutResult,
    central_share,
    kendall_tau_b,
    leave_out,
    vary_pool_width,
)
from bayespool.experiments.fold_results import run_fold
from bayespool.experiments.folds import make_folds, seed_of
from bayespool.experiments.parallel import completed
from bayespool.experiments.settings import experiment_settings
from bayespool.plots import plot_gain, plot_mae, plot_pit, plot_truth, render
from bayespool.pool import discover_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.report import print_leave_out, write_leave_out
from bayespool.report.random_pools import write_pool_width
from bayespool.settings import LeaveOutSettings
from bayespool.simulation import SimulationSettings, load_example, simulate
from bayespool.values import Values

POINTS = [name for name in ALL_ESTIMATORS if not name.startswith("posterior")]
POSTERIORS = [name for name in ESTIMATOR_NAMES if name.startswith("posterior")]
HERE = Path(__file__).parent


def tables(result: LeaveOutResult) -> str:
    """All that is told of an experiment, to the last digit."""
    frames = (result.frame(reported_only=False), result.summary_frame(), result.reliability_frame())
    return "".join(frame.to_csv() for frame in frames)


def column(result: LeaveOutResult, name: str, estimator: str = "lower-bound") -> dict[str, Any]:
    frame = result.frame(reported_only=False)
    frame = frame[frame["estimator"] == estimator]
    return dict(zip(frame["run_id"], frame[name], strict=True))


QUICK: dict[str, Any] = {
    "measures": ["P@5", "P@10"],
    "estimators": [*POINTS, "posterior-background"],
    "draws": 100,
    "top": 75,
}


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    """The example with all point corrections, and the posterior that is quickest."""
    return leave_out(load_example(), **QUICK)


# --- folds and truth, by hand ------------------------------------------------------------------------------


def test_organizations_left_out_of_the_toy() -> None:
    """North alone brought b c f, p r, and b on topic 3; south h i k, v w, and d on topic 3."""
    found = leave_out(toy_collection(), "P@3", estimators="lower-bound")
    assert column(found, "fold") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    nine = {"n1": (4, 1, 6), "n2": (4, 1, 6), "s1": (3, 1, 6), "s2": (1, 0, 3)}  # truth, bounds
    for name, place in {"truth": 0, "bound_lower": 1, "value": 1, "bound_upper": 2}.items():
        assert column(found, name) == {run: of_run[place] / 9 for run, of_run in nine.items()}, name
    assert column(found, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    summary = found.summary_frame().iloc[0]
    assert summary["mae"] == pytest.approx((3 + 3 + 2 + 1) / 36)
    assert summary["bias"] == pytest.approx(-(3 + 3 + 2 + 1) / 36)
    # truths 4 4 3 1: the first two fall behind the third, each past one, and share its place with the others
    assert summary["sre"] == 2 + 2 + 0 + 0
    # per topic, in thirds: n1 and n2 lack 1, 2, 0; s1 1, 1, 0; s2 1, 0, 0
    assert summary["topic_rmse"] == pytest.approx(np.sqrt((5 + 5 + 2 + 1) / 9 / 12))


def test_runs_left_out_of_the_toy() -> None:
    """Alone brought: n1 c; n2 f; s1 i, v and w; s2 k."""
    found = leave_out(toy_collection(), "P@3", estimators="lower-bound", by="run")
    assert column(found, "fold") == {run: run for run in ("n1", "n2", "s1", "s2")}
    assert column(found, "organization") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    assert column(found, "bound_lower") == {"n1": 3 / 9, "n2": 3 / 9, "s1": 2 / 9, "s2": 1 / 9}
    assert column(found, "n_unjudged") == {"n1": 1, "n2": 1, "s1": 3, "s2": 1}


def test_truth_below_the_pool_depth() -> None:
    """n2 has c at rank 4, which n1 brought into the pool at rank 3."""
    kwargs: dict[str, Any] = {"measures": "P@4", "estimators": "lower-bound"}
    full = leave_out(toy_collection(), truth="full", **kwargs)
    repooled = leave_out(toy_collection(), **kwargs)
    assert column(full, "truth")["n2"] == 5 / 12
    assert column(repooled, "truth")["n2"] == 4 / 12
    assert column(repooled, "truth")["n1"] == 4 / 12
    for run, upper in column(repooled, "bound_upper").items():
        assert column(repooled, "truth")[run] <= upper
    # what lies below the depth may be relevant in the complete estimand: d and t of n1, c, g and t of n2
    complete = leave_out(toy_collection(), estimand="complete", **kwargs)
    assert column(complete, "n_unjudged") == {"n1": 5 + 2, "n2": 5 + 2, "s1": 5 + 1, "s2": 3}
    assert column(repooled, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    # in truth d, s (n1), t (n2, where c is another one) and e (s1) are unjudged, too
    assert column(complete, "n_unknown") == {"n1": 2, "n2": 2, "s1": 1, "s2": 0}
    assert column(repooled, "n_unknown") == dict.fromkeys(("n1", "n2", "s1", "s2"), 0)


def test_means_over_the_topics_of_a_run() -> None:
    """s2 lacks topic 2."""
    found = leave_out(toy_collection(), "P@3", estimators=["lower-bound", "background"], denominator="run")
    assert column(found, "truth")["s2"] == 1 / 6
    assert column(found, "bound_upper")["s2"] == 3 / 6
    assert column(found, "value")["s2"] == 0
    assert column(found, "value", "background")["s2"] == pytest.approx(3 / 6 * 0.03)
    assert column(found, "topic_rmse")["s2"] == pytest.approx(np.sqrt(1 / 9 / 2))
    assert np.isnan(found.true_scores("P@3")[3]).tolist() == [False, True, False]
    every = leave_out(toy_collection(), "P@3", estimators=["lower-bound", "background"])
    pd.testing.assert_frame_equal(
        found.frame().query("run_id != 's2'"), every.frame().query("run_id != 's2'")
    )


def test_a_pool_made_shallower_first() -> None:
    """At depth 1 the north alone has b and p on topics 1 and 2; judgments below rank 1 are gone."""
    found = leave_out(toy_collection(), "P@1", estimators="lower-bound", pool_depth=1)
    assert column(found, "truth") == {"n1": 1 / 3, "n2": 1 / 3, "s1": 1 / 3, "s2": 1 / 3}
    # a stays judged through n1 when the south goes, and through s1 when the north goes
    assert column(found, "bound_lower") == {"n1": 1 / 3, "n2": 0, "s1": 1 / 3, "s2": 0}
    with pytest.raises(InputError, match="pool depth 4"):
        leave_out(toy_collection(), "P@1", pool_depth=4)


RANKINGS = {run: {"1": order} for run, order in {"a": "pq", "b": "pr", "c": "st", "d": "uv"}.items()}
LEVELS = {"1": {"p": 1, "q": 1, "r": 1, "s": 1, "t": 0, "u": 0, "v": 0}}


def four_runs() -> Collection:
    return from_rankings(RANKINGS, LEVELS, pooled_run_ids=("a", "b", "c", "d"), pool_depth=2)


def test_the_best_runs_are_reported() -> None:
    found = leave_out(four_runs(), "P@2", estimators="lower-bound", top=50)
    assert found.frame()["run_id"].tolist() == ["a", "b"]
    assert found.frame(reported_only=False)["run_id"].tolist() == ["a", "b", "c", "d"]
    assert found.summary_frame().loc[0, "n_runs"] == 2
    # 0.625 of four is rounded half up to three; of equal ones the earlier is taken
    assert len(leave_out(four_runs(), "P@2", estimators="lower-bound", top=62.5).frame()) == 3
    assert leave_out(four_runs(), "P@2", estimators="lower-bound", top=25).frame()["run_id"].tolist() == ["a"]
    with pytest.raises(InputError, match="are none"):
        leave_out(four_runs(), "P@2", top=5)


def test_the_best_are_so_by_the_truth_of_the_table() -> None:
    """Below the pool depth all judgments say more than the run back in the pool alone."""
    example = load_example()
    for truth in ("repooled", "full"):
        arguments: dict[str, Any] = {"estimators": "lower-bound", "truth": truth, "estimand": "complete"}
        everyone = leave_out(example, "P@30", **arguments).frame()
        best = leave_out(example, "P@30", top=75, **arguments).frame()
        assert best["truth"].min() >= np.sort(everyone["truth"])[-16]
        assert len(best) == 16


def test_a_pool_of_the_best_runs_alone() -> None:
    """With c and d kept, d's documents are judged; a pool of a, b and c alone does not know them."""
    collection = four_runs().with_pool(four_runs().pooled, 2)
    kept = leave_out(collection, "P@2", estimators="lower-bound", top=75, top_pool="kept")
    assert kept.frame(reported_only=False)["run_id"].tolist() == ["a", "b", "c"]
    assert kept.n_pooled_runs == {"P@2": 4}
    # two measures with two choices of runs: each has its own pool
    runs = {"a": "pq", "b": "rs", "c": "qp", "d": "xs"}
    levels = {"1": {"p": 1, "q": 0, "r": 0, "s": 1, "x": 1}}
    collection = from_rankings(
        {run: {"1": order} for run, order in runs.items()},
        levels,
        pooled_run_ids=tuple(runs),
        pool_depth=2,
    )
    found = leave_out(collection, ["P@1", "P@2"], estimators="lower-bound", top=50, top_pool="kept", by="run")
    frame = found.frame()
    best = {m: frame[frame["measure"] == m]["run_id"].tolist() for m in ("P@1", "P@2")}
    assert best == {"P@1": ["a", "d"], "P@2": ["a", "d"]}
    # without a, nobody but c has p and q, and c is not in this pool
    assert frame[frame["run_id"] == "a"]["bound_lower"].tolist() == [0, 0]
    everyone = leave_out(collection, "P@2", estimators="lower-bound", top=50, by="run")
    assert column(everyone, "bound_lower")["a"] == 1 / 2


def test_runs_that_were_not_pooled_are_not_estimated() -> None:
    assert "u" not in leave_out(toy_collection(), "P@3", estimators="lower-bound").frame()["run_id"].tolist()


# --- nothing of the truth reaches an estimator -------------------------------------------------------------


def turn(collection: Collection, hidden: np.ndarray) -> Collection:
    """The collection with the relevance of some documents turned round."""
    turned = np.where(hidden, np.where(collection.relevance > 0, 0, 1), collection.relevance)
    return dataclasses.replace(collection, relevance=turned.astype(np.int16))


@pytest.mark.parametrize("by", ["organization", "run"])
def test_estimates_do_not_depend_on_what_is_hidden(by: Any) -> None:
    """Only the truth and what is computed from it may change when the hidden relevance does."""
    original = load_example()
    hidden = original.relevance != original.unpool(organization="coast").relevance
    assert hidden.sum() > 20
    turned = turn(original, hidden)
    known = ["value", "lower", "upper", "std", "bound_lower", "bound_upper", "n_unjudged", "note"]
    posteriors = POSTERIORS if by == "organization" else ["posterior-combined"]
    settings = experiment_settings(
        LeaveOutSettings,
        "P@10",
        [*POINTS, *posteriors],
        by=by,
        estimand="complete",
        random_seed=1,
        settings={"draws": 50},
    )
    folds = [f for f in make_folds(original, settings) if f.organization == "coast"]
    assert len(folds) == {"organization": 1, "run": 3}[by]
    if by == "run":  # what one run alone brought is less than what its organization did
        turned = turn(original, original.relevance != original.unpool(folds[0].run_ids).relevance)
    one, other = (run_fold(collection, folds[0], settings) for collection in (original, turned))
    assert len(one.rows["value"]) == (len(POINTS) + len(posteriors)) * len(folds[0].run_ids)
    for name in known:
        np.testing.assert_array_equal(one.rows[name], other.rows[name], err_msg=name)
    assert one.rows["truth"] != other.rows["truth"]


@dataclass(frozen=True)
class Spy(LowerBound):
    """Looks through everything it is handed for the relevance of hidden documents."""

    full: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int16))

    @property
    def name(self) -> str:
        return "spy"

    def estimate(
        self, collection: Collection, run_ids: Any = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        _ = collection.length, collection.fingerprint, collection.contributors, collection.pooled_run_ids
        hidden = (self.full >= 0) & (collection.relevance == UNJUDGED)
        assert hidden.any()
        assert not np.shares_memory(collection.relevance, self.full)
        for found in reachable((collection, run_ids, measures)):
            if isinstance(found, np.ndarray) and found.shape == self.full.shape:
                is_known = bool((found[hidden] == self.full[hidden]).all())
                told = is_known and bool((self.full[hidden] > 0).any())
                assert not told, "the hidden relevance is in reach"
            assert not (isinstance(found, Collection) and found is not collection), "another collection"
        assert self.full.tobytes() not in pickle.dumps(collection, protocol=4)
        return super().estimate(collection, run_ids, measures)


def reachable(start: object) -> Iterator[object]:
    """Everything that hangs on an object: items, attributes, values of cached properties, bases of views."""
    seen: set[int] = set()
    stack: list[object] = [start]
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | type | None):
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, dict | MappingProxyType):
            stack += [*thing.keys(), *thing.values()]
        elif isinstance(thing, tuple | list | set | frozenset):
            stack += thing
        elif isinstance(thing, np.ndarray):
            stack.append(thing.base)
        else:
            stack.append(getattr(thing, "__dict__", None))


def test_a_spy_finds_nothing() -> None:
    collection = load_example()
    found = leave_out(collection, "P@10", estimators=[Spy(full=collection.relevance.copy())])
    assert len(found.frame()) == 21
    reduced = collection.unpool(organization="north")
    object.__setattr__(reduced, "_memory", collection.relevance)  # and it would find it
    with pytest.raises(AssertionError, match="in reach"):
        Spy(full=collection.relevance.copy()).estimate(reduced, ["north-1"], "P@10")


def test_seeds_come_from_names() -> None:
    """A fold is what the estimator makes of the unpooled collection under the seed of the fold's name."""
    collection = load_example()
    found = leave_out(collection, "P@10", estimators="posterior-background", draws=100, random_seed=5)
    reduced = collection.unpool(organization="delta")
    runs = [run for run in collection.run_ids if run.startswith("delta")]
    alone = PosteriorEstimator(
        model="background", draws=100, estimand="pooled", random_seed=seed_of(5, "organization", "delta")
    ).estimate(reduced, runs, "P@10")[0]
    values = column(found, "value", "posterior-background")
    assert [values[run] for run in runs] == alone.value.tolist()
    lower, upper = alone.interval(0.95)
    assert [column(found, "lower", "posterior-background")[run] for run in runs] == lower.tolist()
    assert [column(found, "upper", "posterior-background")[run] for run in runs] == upper.tolist()
    other = leave_out(collection, "P@10", estimators="posterior-background", draws=100, random_seed=6)
    assert column(other, "value", "posterior-background") != values


# --- tables ------------------------------------------------------------------------------------------------


def test_rows_of_the_example(result: LeaveOutResult) -> None:
    frame = result.frame(reported_only=False)
    assert len(frame) == 2 * len(ALL_ESTIMATORS) * 21
    assert frame["estimator"].drop_duplicates().tolist() == [*POINTS, "posterior-background"]
    assert frame["run_id"].drop_duplicates().tolist() == list(load_example().pooled_run_ids)
    assert frame["reported"].sum() == len(result.frame()) == 2 * len(ALL_ESTIMATORS) * 16
    posterior = frame["estimator"] == "posterior-background"
    intervals = ["lower", "upper", "ci_prob", "std", "covered_50", "covered_80", "covered_95"]
    intervals += ["pit", "pit_lower", "pit_upper", "crps"]
    assert frame.loc[~posterior, intervals].isna().all(axis=None)
    assert frame.loc[posterior, intervals].notna().all(axis=None)
    assert (frame["bound_lower"] <= frame["truth"]).all()
    assert (frame["truth"] <= frame["bound_upper"]).all()
    assert (frame.loc[posterior, "lower"] >= frame.loc[posterior, "bound_lower"]).all()
    assert (frame.loc[posterior, "upper"] <= frame.loc[posterior, "bound_upper"]).all()
    inside = (frame["lower"] <= frame["truth"]) & (frame["truth"] <= frame["upper"])
    assert (frame.loc[posterior, "covered_95"] == inside[posterior]).all()
    as_it_stands = frame[frame["estimator"] == "lower-bound"]
    assert (as_it_stands["value"] == as_it_stands["bound_lower"]).all()


def test_summary_is_over_the_reported_runs(result: LeaveOutResult) -> None:
    summary = result.summary_frame().set_index(["measure", "estimator"])
    for key, rows in result.frame().groupby(["measure", "estimator"]):
        row, error = summary.loc[key], rows["value"] - rows["truth"]
        assert row["n_runs"] == len(rows) == 16
        assert row["mae"] == pytest.approx(error.abs().mean())
        assert row["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
        assert row["bias"] == pytest.approx(error.mean())
        assert row["topic_rmse"] == pytest.approx(np.sqrt((rows["topic_rmse"] ** 2).mean()))
        assert row["kendall_tau_b"] == kendall_tau_b(rows["truth"], rows["value"])
        if key[1] == "posterior-background":
            assert row["coverage_80"] == rows["covered_80"].astype(float).mean()
            ends = rows[["pit_lower", "pit_upper"]]
            assert row["pit_50"] == central_share(ends["pit_lower"], ends["pit_upper"], 0.5)
            assert (ends["pit_lower"] <= rows["pit"]).all()
            assert (rows["pit"] <= ends["pit_upper"]).all()
            assert row["width"] == pytest.approx((rows["upper"] - rows["lower"]).mean())
            assert row["crps"] == pytest.approx(rows["crps"].mean())
        else:
            assert row[["coverage_50", "pit_95", "width", "ci_prob", "crps"]].isna().all()


def test_topic_errors_are_those_of_the_estimates() -> None:
    collection = load_example()
    found = leave_out(collection, "P@5", estimators="background")
    reduced = collection.unpool(organization="east")
    runs = [run for run in collection.run_ids if run.startswith("east")]
    truth = judgment_counts(collection, runs, cutoffs=5).lower[:, :, 0]
    error = Background().estimate(reduced, runs, "P@5")[0].per_topic - truth
    expected = np.sqrt((error**2).mean(axis=1))
    assert [column(found, "topic_rmse", "background")[run] for run in runs] == pytest.approx(
        expected.tolist()
    )


def test_nothing_unjudged_is_left_out_of_calibration() -> None:
    """c's documents are all brought by others, too."""
    rankings = {"a": {"1": "pq"}, "b": {"1": "rs"}, "c": {"1": "pr"}, "d": {"1": "qs"}, "e": {"1": "tu"}}
    levels = {"1": {"p": 1, "q": 1, "r": 0, "s": 0, "t": 1, "u": 0}}
    collection = from_rankings(rankings, levels, pooled_run_ids=tuple(rankings), pool_depth=2)
    found = leave_out(collection, "P@2", estimators="posterior-background", draws=50)
    row = found.frame().set_index("run_id").loc["c"]
    assert (row["n_unjudged"], row["value"], row["lower"], row["upper"], row["crps"]) == (0, 0.5, 0.5, 0.5, 0)
    assert pd.isna(row[["pit", "covered_50", "covered_95"]]).all()
    assert found.summary_frame().loc[0, "n_open"] == 1  # e; the others' documents stand twice each
    assert found.summary_frame().loc[0, "coverage_95"] in (0, 1)


def test_significance_of_the_truth(result: LeaveOutResult) -> None:
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
        rows = found.frame()
        rows = rows[rows["estimator"] == label]
        t, e = rows["truth"].to_numpy(), rows["value"].to_numpy()
        passed = [
            [(t[u] < t[v] <= e[u] or e[u] < t[v] <= t[u]) and p[u, v] < 0.05 for v in range(len(t)) if v != u]
            for u in range(len(t))
        ]
        starred = found.summary_frame().set_index("estimator").loc[label, "sre_star"]
        assert starred == np.sum(passed)
    assert found.summary_frame()["sre_star"].sum() > 0
    assert not result.significant("P@5").all()  # Tukey's


def test_significance_where_a_run_lacks_topics() -> None:
    """The paired t test takes the topics that both runs have, Tukey's those that all have."""
    from scipy.stats import ttest_rel

    collection = simulate(
        SimulationSettings(n_topics=8, n_organizations=4, max_runs=1), random_seed=3
    ).collection
    document = collection.document.copy()
    document[collection.run_index("north-1"), :3] = -1
    collection = dataclasses.replace(collection, document=document)
    found = leave_out(collection, "P@10", estimators="lower-bound", denominator="run", test="paired-t")
    scores = found.true_scores("P@10")
    assert np.isnan(scores[1]).sum() == 3
    expected = ttest_rel(scores[1, 3:], scores[2, 3:]).pvalue < 0.05
    assert found.significant("P@10")[1, 2] == found.significant("P@10")[2, 1] == expected
    assert found.significant("P@10")[0, 2] == (ttest_rel(scores[0], scores[2]).pvalue < 0.05)
    tukey = leave_out(collection, "P@10", estimators="lower-bound", denominator="run")
    others = dataclasses.replace(tukey, scores_in_truth={k: v[3:] for k, v in tukey.scores_in_truth.items()})
    np.testing.assert_array_equal(tukey.significant("P@10"), others.significant("P@10"))
    assert tukey.reliability("P@10").n_topics == 5
    assert "SRE* and reliability are over the 5 of 8 topics that all these runs have" in printed(tukey)
    assert "note: reliability is over the 5 of 8 topics" in printed(found)


def test_no_test_is_not_a_test_without_findings() -> None:
    """SRE* of one topic is unknown, not 0; and so is reliability."""
    one_topic = leave_out(shapes(), "P@2", estimators="lower-bound")
    assert one_topic.summary_frame()["sre"].iloc[0] == 0
    assert np.isnan(one_topic.summary_frame()["sre_star"].iloc[0])
    assert one_topic.reliability_frame().columns.tolist()[:3] == ["measure", "n_runs", "n_topics"]
    assert len(one_topic.reliability_frame()) == 0
    assert "reliability of the true scores: – (it needs two runs and two topics" in printed(one_topic)
    paired = leave_out(shapes(), "P@2", estimators="lower-bound", test="paired-t")
    assert np.isnan(paired.summary_frame()["sre_star"].iloc[0])
    for test in ("tukey-hsd", "paired-t"):
        one_run = leave_out(load_example(), "P@10", estimators="lower-bound", top=5, test=test)
        assert one_run.summary_frame()["n_runs"].tolist() == [1]
        assert np.isnan(one_run.summary_frame()["sre_star"].iloc[0])


def test_a_truth_that_the_estimand_cannot_reach_is_noted() -> None:
    example = load_example()
    full = leave_out(example, "P@30", estimators="lower-bound", pool_depth=3, truth="full")
    rows = full.frame()
    above = int((rows["truth"] > rows["bound_upper"]).sum())
    assert above > 0
    assert f"the truth of {above} runs is above their upper bound" in printed(full)
    assert "upper bound" not in printed(leave_out(example, "P@30", estimators="lower-bound", pool_depth=3))


def test_runs_without_organizations_are_called_runs() -> None:
    alone = from_rankings(RANKINGS, LEVELS, pooled_run_ids=("a", "b", "c", "d"), pool_depth=2)
    text = printed(leave_out(alone, "P@2", estimators="lower-bound"))
    assert text.startswith("each run, of an organization of its own, left out in turn")
    assert printed(leave_out(shapes(), "P@2", estimators="lower-bound")).startswith("each organization left")


def printed(result: LeaveOutResult) -> str:
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed below
    print_leave_out(result, console)
    console.file.close()
    return console.export_text()


def test_reliability_of_the_truth(result: LeaveOutResult) -> None:
    frame = result.reliability_frame().set_index("measure")
    assert frame.loc["P@5", "n_runs"] == 16
    assert frame.loc["P@5", "n_topics"] == 20
    assert frame.loc["P@10", "generalizability"] == result.reliability("P@10").generalizability
    assert 0 < frame.loc["P@10", "dependability"] < frame.loc["P@10", "generalizability"] < 1
    with pytest.raises(InputError, match="has no P@20"):
        result.reliability("P@20")


def test_estimators_under_labels() -> None:
    found = leave_out(
        load_example(), "P@10", estimators={"paper": "background(e=0.05)", "mine": Interpolated(c=0.5)}
    )
    assert found.summary_frame()["estimator"].tolist() == ["paper", "mine"]
    twins = ["background(e=0.05)", "background(e=0.01)", "lower-bound"]
    found = leave_out(load_example(), "P@10", estimators=twins)
    assert found.summary_frame()["estimator"].tolist() == twins
    assert found.settings.describe()["estimators"]["background(e=0.05)"]["e"] == 0.05
    # the estimand is the experiment's
    assert {e.estimand for _, e in found.settings.estimators} == {"pooled"}
    with pytest.raises(InputError, match="two estimators are called 'background'"):
        leave_out(load_example(), "P@10", estimators=[Background(e=0.1), Background(e=0.2)])


def test_all_stands_for_what_needs_no_argument() -> None:
    asked = experiment_settings(
        LeaveOutSettings,
        "P@10",
        ["all", "posterior-ratio"],
        estimand="pooled",
        random_seed=4,
        settings={"priors": {}, "draws": 7},
    )
    assert asked.labels == (*ALL_ESTIMATORS, "posterior-ratio")
    assert asked.describe()["estimators"]["posterior-ratio"]["draws"] == 7
    assert asked.describe()["estimators"]["posterior-combined"]["random_seed"] == 4
    alone = experiment_settings(LeaveOutSettings, "P@10", "all", estimand="pooled", random_seed=4)
    assert alone.labels == ALL_ESTIMATORS


@dataclass(frozen=True)
class Blind(LowerBound):
    @property
    def name(self) -> str:
        return "blind"

    def estimate(self, *arguments: Any) -> tuple[Estimates, ...]:
        return tuple(
            dataclasses.replace(e, method="blind", value=np.full_like(e.value, np.nan))
            for e in super().estimate(*arguments)
        )


def test_an_estimator_without_an_answer_has_no_error() -> None:
    found = leave_out(toy_collection(), "P@3", estimators=["lower-bound", Blind()])
    row = found.summary_frame().set_index("estimator").loc["blind"]
    assert row[["mae", "rmse", "bias", "sre", "sre_star", "kendall_tau_b"]].isna().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "topic"}, "by cannot be 'topic'"),
        ({"top": 0}, "top cannot be 0"),
        ({"truth": "false"}, "truth cannot be"),
        ({"top_pool": "some"}, "top_pool cannot be"),
        ({"denominator": "pool"}, "denominator cannot be"),
        ({"test": "sign"}, "test cannot be"),
        ({"estimand": "total"}, "estimand cannot be"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"random_seed": -1}, "random_seed -1"),
        ({"estimators": []}, "no estimator given"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"measures": "MAP"}, "unknown measure"),
        (
            {"depth": 5},
            r"unknown settings \['depth'\]; the experiment has .*top_pool.*estimators have .*draws",
        ),
    ],
)
def test_settings_that_are_none(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        leave_out(toy_collection(), **{"measures": "P@3", **arguments})


def test_pools_that_leave_nothing() -> None:
    no_pool = toy_collection(pooled_run_ids=(), pool_depth=0)
    with pytest.raises(InputError, match="no pooled run to leave out"):
        leave_out(no_pool, "P@3")
    one = toy_collection(pooled_run_ids=("n1", "n2"))
    with pytest.raises(InputError, match="only one organization was pooled"):
        leave_out(one, "P@3")
    assert len(leave_out(one, "P@3", by="run", estimators="lower-bound").frame()) == 2


# --- workers -----------------------------------------------------------------------------------------------


def test_two_processes_give_the_same_bytes(result: LeaveOutResult) -> None:
    done: list[tuple[int, int]] = []
    found = leave_out(load_example(), n_jobs=2, progress=lambda n, total: done.append((n, total)), **QUICK)
    assert tables(found) == tables(result)
    assert done == [(n, 8) for n in range(9)]


@pytest.mark.filterwarnings("default")  # of Dask's own
def test_a_dask_cluster_gives_the_same_bytes(result: LeaveOutResult, tmp_path: Path) -> None:
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        Client(cluster) as client,
    ):
        with joblib.parallel_config(backend="dask"):
            found = leave_out(load_example(), **QUICK)
        worked = client.run(lambda: "bayespool.experiments.fold_results" in sys.modules)
    assert len(worked) == 2
    assert all(worked.values()), "a worker had nothing to do"
    assert tables(found) == tables(result)


def hash_of(collection: Collection, task: str) -> tuple[str, str, int, bool]:
    memory: object = collection.document
    while isinstance(memory, np.ndarray):
        memory = memory.base
    return task, collection.fingerprint, os.getpid(), isinstance(memory, mmap.mmap)


def test_the_collection_arrives_whole_and_once() -> None:
    settings = SimulationSettings(n_topics=40, n_organizations=14, n_candidates=400, run_depth=300)
    collection = simulate(settings, random_seed=1).collection
    assert collection.document.nbytes > 1e6
    found = list(completed(hash_of, collection, ["x", "y", "z"], n_jobs=2))
    assert sorted(task for task, *_ in found) == ["x", "y", "z"]
    assert {fingerprint for _, fingerprint, *_ in found} == {collection.fingerprint}
    assert os.getpid() not in {pid for *_, pid, _ in found}
    assert all(mapped for *_, mapped in found), "a large array was sent with every task"
    assert list(completed(hash_of, collection, [], n_jobs=2)) == []


@dataclass(frozen=True)
class Doubtful(Background):
    @property
    def name(self) -> str:
        return "doubtful"

    def estimate(self, collection: Collection, *rest: Any) -> tuple[Estimates, ...]:
        warnings.warn(f"look {len(collection.pooled_run_ids)} times again", DiagnosticsWarning, stacklevel=2)
        return super().estimate(collection, *rest)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_folds_are_given_once(n_jobs: int, tmp_path: Path) -> None:
    collection = toy_collection(pooled_run_ids=("n1", "n2", "s1"))
    for _ in range(2):  # worked out, then read back
        with pytest.warns(
            DiagnosticsWarning, match="^in 2 of 2 folds: look 1 times again and the like$"
        ) as caught:
            found = leave_out(collection, "P@3", estimators=[Doubtful()], n_jobs=n_jobs, folder=tmp_path)
        assert len(caught) == 1
        texts = ["look 1 times again", "look 2 times again"]
        assert found.warnings == tuple(("DiagnosticsWarning", text) for text in texts)


# --- estimators of one's own ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own(LowerBound):
    """Answers like the lower bound, changed by ``how``."""

    how: str = "as it stands"

    @property
    def name(self) -> str:
        return "own"

    def estimate(self, collection: Collection, run_ids: Any = None, measures: Any = "P@10") -> Any:
        found = super().estimate(collection, run_ids, measures)
        first = found[0]
        shape = (5, *first.per_topic.shape)
        if self.how == "other order of measures":
            return found[::-1]
        if self.how == "one measure":
            return found[:1]
        if self.how == "a list":
            return list(found)
        if self.how == "one run":
            return super().estimate(collection, first.run_ids[:1], measures)
        if self.how == "shape":
            return (dataclasses.replace(first, value=first.value[:1]), *found[1:])
        if self.how == "no array":
            return (dataclasses.replace(first, value=first.value.tolist()), *found[1:])
        if self.how == "scores for draws":
            return (dataclasses.replace(first, draws=Values(np.full(shape, 0.5))), *found[1:])
        if self.how == "bare draws":
            return (dataclasses.replace(first, draws=np.full(shape, 1)), *found[1:])
        if self.how == "another unit":
            return (dataclasses.replace(first, draws=Values(np.full(shape, 1), 7)), *found[1:])
        if self.how == "too many":
            return (dataclasses.replace(first, draws=Values(np.full(shape, 6))), *found[1:])
        if self.how == "an exception":
            raise ZeroDivisionError("a bug")
        if self.how == "writes":
            collection.relevance[:] = 1
        return found


def shapes() -> Collection:
    """Two runs of each of two organizations, so that a fold has runs to confuse."""
    runs = {run: {"1": order} for run, order in {"a": "pq", "b": "rs", "c": "qp", "d": "xs"}.items()}
    return from_rankings(
        runs,
        {"1": {"p": 1, "q": 0, "r": 0, "s": 1, "x": 1}},
        organizations={"a": "one", "b": "one", "c": "two", "d": "two"},
        pooled_run_ids=tuple(runs),
        pool_depth=2,
    )


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("other order of measures", "'own' does not answer for P@1, P@2 in this order"),
        ("one measure", "'own' does not answer for P@1, P@2"),
        ("a list", "'own' does not return a tuple of Estimates"),
        ("one run", "'own' does not speak of the runs asked about"),
        ("shape", r"value has the shape \(1,\), not \(2,\)"),
        ("scores for draws", "draws are not amounts of P@1"),
        ("bare draws", "draws are no Values"),
        ("another unit", "draws are not amounts of P@1"),
        ("too many", "draws are not amounts of P@1"),
        ("no array", "own: value is no array|lower-bound: value is no array"),
    ],
)
def test_an_answer_to_another_question_is_refused(how: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        leave_out(shapes(), ["P@1", "P@2"], estimators=[Own(how=how)])
    assert caught.value.__notes__ == ["by estimator 'own', 'one' left out"]


def test_an_estimator_s_own_error_says_where() -> None:
    with pytest.raises(ZeroDivisionError, match="a bug") as caught:
        leave_out(shapes(), "P@1", estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', 'one' left out"]
    with pytest.raises(ValueError, match="read-only"):
        leave_out(shapes(), "P@1", estimators=[Own(how="writes")])
    with pytest.raises(ZeroDivisionError) as caught:
        vary_pool_width(shapes(), "P@1", widths=[2], n_samples=1, estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', pool 0 of width 2"]


@pytest.mark.parametrize("thing", [3, Own, object()])
def test_what_is_no_estimator(thing: Any) -> None:
    with pytest.raises(InputError, match="neither the name of an estimator nor one"):
        leave_out(shapes(), "P@1", estimators=[thing])


def test_the_estimator_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "experiments.md").read_text(encoding="utf-8")
    code = page.split("## Estimators of your own")[1].split("```python\n")[1].split("```")[0]
    (tmp_path / "page.py").write_text(code)
    made = runpy.run_path(str(tmp_path / "page.py"))
    found = made["result"].frame().set_index(["estimator", "run_id"])
    stands, corrected = found.loc["lower-bound"], found.loc["share-of-residual"]
    residual = stands["bound_upper"] - stands["bound_lower"]
    np.testing.assert_allclose(corrected["value"], stands["value"] + 0.05 * residual)


SHIFT = """
from dataclasses import dataclass, replace
from bayespool.corrections import LowerBound

{decorator}
class Shift:
    name = "shift"
    {fields}

    def estimate(self, collection, run_ids, measures):
        found = LowerBound().estimate(collection, run_ids, measures)
        {by}
        return tuple(replace(e, value=e.value + by, per_topic=e.per_topic + by) for e in found)
"""
DECORATED = {"decorator": "@dataclass(frozen=True)", "fields": "by: float = 0.1", "by": "by = self.by"}


def shift(**parts: str) -> Any:
    """A class, as a module that is loaded anew would make it."""
    sys.modules["mine"] = ModuleType("mine")
    exec(SHIFT.format(**(DECORATED | parts)), sys.modules["mine"].__dict__)
    return sys.modules["mine"].Shift


def mae_of(estimator: Any, folder: Path) -> float:
    found = leave_out(shapes(), "P@2", estimators=[estimator], folder=folder)
    return float(found.summary_frame()["mae"].iloc[0])


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"decorator": "@dataclass(frozen=True, slots=True)"},
        {"fields": "by: float = 0.1\n    kind = 'constant'"},
        {"by": "by = self.by if {'a', 'b', 'c'} else 0"},
        {"by": "by = (lambda x: x)(self.by)"},
        {"fields": "by: float = 0.1\n    unit = property(lambda self: 1)"},
    ],
)
def test_the_same_own_dataclass_goes_on(parts: dict[str, str], tmp_path: Path) -> None:
    first = mae_of(shift(**parts)(), tmp_path)
    before = stored(tmp_path)
    assert mae_of(shift(**parts)(), tmp_path) == first
    assert stored(tmp_path) == before


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"by": "by = 2 * self.by"}, "own estimators"),
        ({"by": "by = self.by + 0.1"}, "own estimators"),
        ({"by": "by = (lambda x: 2 * x)(self.by)"}, "own estimators"),
        ({"fields": "by: float = 0.2"}, "estimators, own estimators"),
        ({"fields": "by: float = 0.1\n    kind = 'other'"}, "own estimators"),
        ({"fields": "by: float = 0.1\n    def more(self, x=3): return x"}, "own estimators"),
    ],
)
def test_another_own_estimator_starts_afresh(other: dict[str, str], what: str, tmp_path: Path) -> None:
    mae_of(shift()(), tmp_path)
    with pytest.warns(ExperimentChangedWarning, match=f"differs in {what};"):
        mae_of(shift(**other)(), tmp_path)


@pytest.mark.parametrize(
    "parts",
    [
        {"decorator": "", "fields": "def __init__(self, by=0.1): self.by = by"},
        {"decorator": "", "fields": "__slots__ = ('by',)\n    def __init__(self, by=0.1): self.by = by"},
        {"fields": "by: float = 0.1\n    table = {}"},
    ],
)
def test_what_cannot_be_compared_is_not_taken_for_the_same(parts: dict[str, str], tmp_path: Path) -> None:
    cls = shift(**parts)
    first = mae_of(cls(0.1), tmp_path)
    with pytest.warns(ExperimentChangedWarning, match="own estimators that are no plain dataclasses"):
        assert mae_of(cls(0.2), tmp_path) != first


def test_a_class_below_a_dataclass_keeps_what_it_was_made_with(tmp_path: Path) -> None:
    """It has another ``__init__`` than the fields say, and attributes that no field describes."""

    class Below(Background):
        def __init__(self, by: float, **settings: Any) -> None:
            super().__init__(**settings)
            object.__setattr__(self, "by", by)

        def correct(self, collection: Collection, found: Any) -> Any:
            return Corrected(found.lower + self.by)  # type: ignore[attr-defined]

    values = [leave_out(shapes(), "P@2", estimators=[Below(by)]).frame()["value"].tolist() for by in (0, 0.2)]
    np.testing.assert_allclose(values[1], np.add(values[0], 0.2))
    mae_of(Below(0.1), tmp_path)
    with pytest.warns(ExperimentChangedWarning, match="no plain dataclasses"):
        mae_of(Below(0.2), tmp_path)


def test_a_result_can_be_pickled(result: LeaveOutResult) -> None:
    again = pickle.loads(pickle.dumps(result))
    assert tables(again) == tables(result)
    assert again.settings == result.settings
    estimator = PosteriorEstimator(model="ratio", priors={"mu": "Normal(-2, 1)"}, draws=7)
    assert pickle.loads(pickle.dumps(estimator)) == estimator


def test_topics_adjustment_has_an_experiment_of_its_own() -> None:
    for given in ("topics-adjustment", TopicsAdjustment(common_query_ids=("1",))):
        with pytest.raises(InputError, match="common-topics is the experiment for it"):
            leave_out(shapes(), "P@2", estimators=[given])


def test_a_collection_is_read_only() -> None:
    original = shapes()
    for collection in (original, original.unpool("a"), pickle.loads(pickle.dumps(original))):
        for name in ("document", "relevance", "pooled", "length"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(collection, name)[0] = 0


# --- storage -----------------------------------------------------------------------------------------------


def stored(folder: Path) -> dict[str, int]:
    """Stored folds and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "folds").glob("*.parquet")}


def test_stored_folds_are_used_again(result: LeaveOutResult, tmp_path: Path) -> None:
    arguments: dict[str, Any] = QUICK | {"folder": tmp_path}
    first = leave_out(load_example(), **arguments)
    assert tables(first) == tables(result)
    before = stored(tmp_path)
    assert len(before) == 8
    done: list[int] = []
    again = leave_out(load_example(), progress=lambda n, _: done.append(n), **arguments)
    assert tables(again) == tables(result)
    assert stored(tmp_path) == before
    assert done == [8]
    # which runs are reported, and by which test, is no matter of the folds
    leave_out(load_example(), **arguments | {"top": 100, "test": "paired-t"})
    assert stored(tmp_path) == before


def test_setting_that_cannot_be_stored_is_named_before_any_work(tmp_path: Path) -> None:
    def arguments(constant: Any) -> dict[str, Any]:
        return QUICK | {"estimators": {"mine": Background(e=constant)}}

    with pytest.raises(InputError, match=r"Fraction\(1, 2\) is neither text nor.*leave the folder out"):
        leave_out(load_example(), folder=tmp_path / "new", **arguments(Fraction(1, 2)))
    assert not (tmp_path / "new").exists()
    leave_out(load_example(), folder=tmp_path / "new", **arguments(np.float32(0.5)))
    before = stored(tmp_path / "new")
    leave_out(load_example(), folder=tmp_path / "new", **arguments(0.5))  # the same number
    assert stored(tmp_path / "new") == before


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"measures": "P@2"}, "measures"),
        ({"estimators": "background(e=0.2)"}, "estimators"),
        ({"truth": "full"}, "truth"),
        ({"random_seed": 2}, "random_seed"),
        ({"top": 75, "top_pool": "kept"}, "top, top_pool"),
        ({"collection": True}, "collection"),
    ],
)
def test_another_experiment_starts_afresh(change: dict[str, Any], what: str, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"measures": "P@3", "estimators": "background", "folder": tmp_path}
    leave_out(toy_collection(), **arguments)
    before = stored(tmp_path)
    (tmp_path / "folds" / "mine.parquet").write_bytes(b"not a fold")
    changed = change.copy()
    other = toy_collection(more={"1": {"l": 1}}) if changed.pop("collection", False) else toy_collection()
    with pytest.warns(ExperimentChangedWarning, match=f"differs in {what}") as caught:
        found = leave_out(other, **{**arguments, **changed})
    assert len(caught) == 1
    expected = leave_out(other, **{**arguments, **changed, "folder": None})
    assert tables(found) == tables(expected)
    left = stored(tmp_path)
    assert left.pop("mine.parquet")  # only folds are removed
    assert all(before.get(name) != written for name, written in left.items())


def test_a_fold_that_cannot_be_read_is_worked_out_again(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"measures": "P@3", "estimators": "background", "folder": tmp_path}
    expected = tables(leave_out(toy_collection(), **arguments))
    first, second = sorted((tmp_path / "folds").iterdir())
    first.write_bytes(first.read_bytes()[:-20])
    kept = second.stat().st_mtime_ns
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        assert tables(leave_out(toy_collection(), **arguments)) == expected
    assert second.stat().st_mtime_ns == kept


def test_a_relevance_that_nobody_gave_is_told(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="no document of the qrels has relevance 7 or more"):
        leave_out(toy_collection(), "P(rel=7)@3", estimators="background")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "folds").write_text("a file")
    with pytest.raises(OutputError, match="cannot be made"):
        leave_out(toy_collection(), "P@3", estimators="background", folder=tmp_path)


def start(folder: Path, n_jobs: int, shared: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "interrupted.py"), str(folder), str(n_jobs)],
        env=os.environ | {"SLOW_FOLDER": str(shared)},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )


def wait_for_folds(folder: Path, process: subprocess.Popen[bytes], least: int) -> None:
    deadline = time.monotonic() + 120
    while not (folder / "folds").is_dir() or len(stored(folder)) < least:
        assert process.poll() is None, "the experiment ended before it was interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
def test_experiments_that_are_cut_off_go_on(tmp_path: Path) -> None:
    """kill -9, Ctrl-C, and a worker that dies: what was finished is kept, and the tables end up the same."""
    folders = {name: tmp_path / name for name in ("whole", "killed", "stopped", "worker")}
    for folder in folders.values():
        folder.mkdir()
    nowhere, fatal = tmp_path / "nowhere", folders["worker"] / "fatal"
    fatal.write_text("")
    whole = start(folders["whole"], 1, nowhere)
    said = {"whole": whole}
    for name, how in (("killed", signal.SIGKILL), ("stopped", signal.SIGINT)):
        said[name] = start(folders[name], 2, nowhere)
        wait_for_folds(folders[name], said[name], 2)
        os.killpg(said[name].pid, how)
    said["worker"] = start(folders["worker"], 2, folders["worker"])
    ends = {name: (process.communicate(timeout=120)[1], process.returncode) for name, process in said.items()}
    assert ends["whole"][1] == 0, ends["whole"][0]
    assert ends["killed"][1] == -signal.SIGKILL
    assert b"KeyboardInterrupt" in ends["stopped"][0]
    assert b"WorkerError: a worker process died" in ends["worker"][0]
    assert not fatal.exists()

    before = {name: stored(folders[name]) for name in ("killed", "stopped", "worker")}
    assert 2 <= len(before["killed"]) < 8
    assert 2 <= len(before["stopped"]) < 8
    assert not any((folders[name] / "runs.csv").exists() for name in before)
    again = {
        name: start(folders[name], 2, folders["worker"] if name == "worker" else nowhere) for name in before
    }
    for name, process in again.items():
        _, text = process.communicate(timeout=120)
        assert process.returncode == 0, text
        after = stored(folders[name])
        assert len(after) == 8
        assert {fold: after[fold] for fold in before[name]} == before[name], (
            "a stored fold was worked out again"
        )
        for table in ("runs.csv", "summary.csv"):
            expected = (folders["whole"] / table).read_bytes()
            assert (folders[name] / table).read_bytes() == expected, (name, table)


@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    process = start(tmp_path, 2, tmp_path)
    wait_for_folds(tmp_path, process, 1)
    workers = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "LokyProcess" in " ".join(child.cmdline())
    ]
    assert len(workers) == 2
    process.kill()  # it alone
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive


def test_a_dead_worker_has_an_error_of_its_own() -> None:
    with pytest.raises(WorkerError, match="a worker process died"):
        list(completed(die, toy_collection(), [1, 2], n_jobs=2))


def die(collection: Collection, task: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# --- report and figures ------------------------------------------------------------------------------------


def test_printed_tables(result: LeaveOutResult) -> None:
    console = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed with the test
    print_leave_out(result, console)
    console.file.close()
    text = console.export_text()
    lines = text.splitlines()
    assert "P@10, the best 16 of 21 pooled runs" in lines
    rows = {
        (line.split() or [""])[0]: line.split()[1:]
        for line in lines[: lines.index("P@10, the best 16 of 21 pooled runs")]
    }
    row = result.summary_frame().set_index(["measure", "estimator"]).loc["P@5", "condensed-list"]
    numbers = [f"{row[name]:.4f}" for name in ("mae", "rmse", "bias", "topic_rmse")]
    numbers += [f"{row['sre']:.0f}", f"{row['sre_star']:.0f}", f"{row['kendall_tau_b']:.4f}", "–"]
    assert rows["condensed-list"] == numbers
    errors = next(line.split() for line in lines if line.split()[:1] == ["posterior-background"])
    row = result.summary_frame().set_index(["measure", "estimator"]).loc["P@5", "posterior-background"]
    shares = [f"{row[f'{kind}_{level}']:.3f}" for kind in ("coverage", "pit") for level in (50, 80, 95)]
    assert rows["posterior-background"] == [*shares, f"{row['width']:.4f}"]
    assert errors[-1] == f"{row['crps']:.4f}"
    assert "intervals of 16 runs with anything unjudged" in text
    assert f"Eρ² {result.reliability('P@5').generalizability:.3f}" in text


def test_written_files(tmp_path: Path) -> None:
    result = leave_out(
        load_example(), ["P@5", "P@10"], estimators=["lower-bound", "posterior-background"], draws=50, top=75
    )
    for folder in (tmp_path / "one", tmp_path / "two"):
        write_leave_out(result, folder)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == [
        "mae.png",
        "pit-P_10.png",
        "pit-P_5.png",
        "reliability.csv",
        "reliability.parquet",
        "runs.csv",
        "runs.parquet",
        "settings.json",
        "summary.csv",
        "summary.parquet",
        "truth-P_10.png",
        "truth-P_5.png",
    ]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    frame = pd.read_parquet(tmp_path / "one" / "runs.parquet")
    pd.testing.assert_frame_equal(frame, result.frame(reported_only=False))
    summary = pd.read_csv(tmp_path / "one" / "summary.csv")
    np.testing.assert_array_equal(summary["mae"], result.summary_frame()["mae"])
    write_leave_out(result, tmp_path / "three", figures="svg")
    assert (tmp_path / "three" / "mae.svg").read_bytes().startswith(b"<?xml")
    (tmp_path / "three" / "mine.svg").write_text("not ours")
    less = leave_out(load_example(), "P@5", estimators="lower-bound")
    write_leave_out(less, tmp_path / "three", figures="png")
    left = {path.name for path in (tmp_path / "three").iterdir() if path.suffix in (".svg", ".png")}
    assert left == {"mine.svg", "mae.png", "truth-P_5.png"}
    widths = vary_pool_width(load_example(), widths=[2], n_samples=1, estimators="lower-bound")
    before = {path: path.read_bytes() for path in (tmp_path / "three").iterdir()}
    with pytest.raises(OutputError, match="holds the results of leave-out; name another folder"):
        write_pool_width(widths, tmp_path / "three")
    assert {path: path.read_bytes() for path in (tmp_path / "three").iterdir()} == before
    for settings in ('{"files": ["notes.txt"]}', '{"bayespool": 1, "experiment": {}, "files": 5}', "[]", "x"):
        folder = tmp_path / "theirs"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(settings)
        (folder / "notes.txt").write_text("not ours")
        write_leave_out(less, folder, figures="none")
        assert (folder / "notes.txt").read_text() == "not ours"
    named = json.loads((folder / "settings.json").read_text())
    (folder / "settings.json").write_text(json.dumps(named | {"files": ["..", "../notes.txt", "gone.csv"]}))
    (tmp_path / "notes.txt").write_text("not ours")
    write_leave_out(less, folder, figures="none")
    assert (tmp_path / "notes.txt").read_text() == "not ours"
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        write_leave_out(result, tmp_path / "file")
    with pytest.raises(OutputError, match="there is no folder"):
        write_leave_out(result, tmp_path / "no" / "where")


def test_points_of_the_figures(result: LeaveOutResult) -> None:
    frame = result.frame()
    rows = frame[(frame["measure"] == "P@10") & (frame["estimator"] == "posterior-background")]
    axes = plot_truth(result, "P@10", "posterior-background")
    diagonal, as_it_stands, estimates = axes.lines
    np.testing.assert_array_equal(estimates.get_xdata(), rows["truth"])
    np.testing.assert_array_equal(estimates.get_ydata(), rows["value"])
    np.testing.assert_array_equal(as_it_stands.get_ydata(), rows["bound_lower"])
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    segments = np.array(axes.collections[0].get_segments())
    np.testing.assert_array_equal(segments[:, :, 1], rows[["lower", "upper"]])
    assert not plot_truth(result, "P@10", "smoothed").collections
    bars = plot_pit(result, "P@10", "posterior-background", n_bins=5).patches
    assert [bar.get_height() for bar in bars] == np.histogram(rows["pit"], 5, (0, 1))[0].tolist()
    axes = plot_mae(result)
    summary = result.summary_frame()
    for line in axes.lines:
        of_one = summary[summary["estimator"] == line.get_label()]
        np.testing.assert_array_equal(line.get_ydata(), of_one["mae"])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["P@5", "P@10"]
    axes = plot_gain({"example": result, "again": result}, "P@10", "background")
    point = axes.lines[1]
    assert point.get_xdata() == [result.reliability("P@10").generalizability]
    mae = summary[summary["measure"] == "P@10"].set_index("estimator")["mae"]
    assert point.get_ydata() == [pytest.approx(100 * (mae["background"] / mae["lower-bound"] - 1))]
    axes = plot_gain({"example": result}, "P@10", "background", reference="smoothed")
    other = [pytest.approx(100 * (mae["background"] / mae["smoothed"] - 1))]
    assert axes.lines[1].get_ydata() == other
    with pytest.raises(InputError, match="the experiment has no 'oracle'"):
        result.mae_change("P@10", "oracle")
    images = [render(plot_mae(result).figure, "svg") for _ in range(2)]  # type: ignore[arg-type]
    assert images[0] == images[1]
    with pytest.raises(InputError, match="the result has no 'oracle'"):
        plot_truth(result, "P@10", "oracle")
    with pytest.raises(InputError, match="the result has no P@7"):
        plot_truth(result, "P@7", "smoothed")


# --- discovery of the pool as in 2015 ----------------------------------------------------------------------


def test_holes_that_are_skipped() -> None:
    """At depth 2 with one hole, by the documents before the second hole: two judged ones, or nearly all there
    are.
    """
    rankings = {"a": "pxqy", "b": "pxyq", "c": "p", "d": "pxy", "e": "xpq"}
    collection = from_rankings(
        {run: {"1": order} for run, order in rankings.items()}, {"1": {"p": 1, "q": 0}}
    )
    found = discover_pool(collection, depth=2, max_holes=1, rule="skipping")
    assert found.pooled_run_ids == ("a", "c", "e")
    leading = discover_pool(collection, depth=2, max_holes=1)
    assert leading.pooled_run_ids == ("a", "b", "c", "d", "e")  # holes take places: a has one judged of two
    none = discover_pool(collection, depth=2, max_holes=0, rule="skipping")
    assert none.pooled_run_ids == ("c",)
    # depth 10: one document more than the judged ones is near enough
    rankings = {"a": "pxq", "b": "pxqy"}
    collection = from_rankings(
        {run: {"1": order} for run, order in rankings.items()}, {"1": {"p": 1, "q": 0}}
    )
    assert discover_pool(collection, depth=10, max_holes=1, rule="skipping").pooled_run_ids == ("a",)
    with pytest.raises(InputError, match="no pool rule"):
        discover_pool(collection, rule="sniffing")  # type: ignore[arg-type]


def test_the_depth_is_the_commonest_of_all_topics() -> None:
    """Leading judged documents: a 2 and 4, b 3 and 2, c 3 and 0, d 3 and 1; a run's smallest: 2, 2, 0, 1."""
    rankings = {
        "a": {"1": "pqx", "2": "pqrsx"},
        "b": {"1": "pqrx", "2": "pqxr"},
        "c": {"1": "pqrx", "2": "xp"},
        "d": {"1": "pqrx", "2": "qx"},
    }
    judged = dict.fromkeys("pqrs", 1)
    collection = from_rankings(rankings, {"1": judged, "2": judged})
    assert discover_pool(collection).pool_depth == 2
    found = discover_pool(collection, rule="skipping", max_holes=1)
    assert (found.pool_depth, found.pooled_run_ids) == (3, ("b",))


def test_the_pool_of_2015(collections: Path) -> None:
    collection = read_real(collections / "trec2011-medical")
    assert len(discover_pool(collection, rule="skipping", max_holes=2).pooled_run_ids) == 56
    found = discover_pool(collection, rule="skipping")
    assert (found.pool_depth, len(found.pooled_run_ids)) == (10, 51)


# --- the published tool ------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(("name", "by", "top"), PUBLISHED)
def test_the_published_tool_is_reproduced(collections: Path, name: str, by: Any, top: float) -> None:
    collection = read_real(collections / name)
    found = leave_out(
        collection,
        ["P@10", "P@100"],
        estimators={
            "reduced": "lower-bound",
            "adjusted": "systems-adjustment(substitute=False, within_bounds=False)",
        },
        by=by,
        top=top,
        top_pool="kept",
        pool_depth=collection.pool_depth,
        estimand="complete",
        denominator="run",
        test="paired-t",
    )
    summary = found.summary_frame().set_index(["measure", "estimator"])
    for key, expected in PUBLISHED[name, by, top].items():
        row = summary.loc[key]
        ours = (round(row["mae"], 4), row["sre"], row["sre_star"], round(row["kendall_tau_b"], 4))
        assert ours == expected, key


def test_a_prior_that_no_estimator_has_is_refused() -> None:
    with pytest.raises(InputError, match="no estimator asked for has a prior 'zzz'"):
        leave_out(load_example(), "P@10", estimators=["posterior-ratio"], priors={"zzz": "Normal(0, 1)"})
