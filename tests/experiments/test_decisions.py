"""Decisions on pairs of runs: tests against SciPy's, shares by hand, and what is kept of estimates."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bayespool import score
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import leave_out, load_example
from bayespool.experiments.decisions import TopicScores, grade_decisions, on_grid, pack_topic_scores, unpack
from bayespool.measures import Estimates, Values

NAMES = ["a", "b", "c", "p", "q"]  # the last two are in the pool


def estimates_of(scores: np.ndarray) -> Estimates:
    """Estimates of a, b and c with draws of shape (draw, run, topic)."""
    example = score_of_example()
    queries = tuple(map(str, range(scores.shape[2])))
    return dataclasses.replace(
        example,
        run_ids=("a", "b", "c"),
        query_ids=queries,
        per_topic=scores.mean(axis=0),
        value=scores.mean(axis=(0, 2)),
        draws=Values(np.rint(scores * 10).astype(np.int32), 10),
    )


def score_of_example() -> Estimates:
    plain = score(load_example(), measures="P@10", estimators="as-judged")["P@10", "as-judged"]
    return dataclasses.replace(plain, notes=(), draws=None, std=None)


def significant(scores: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """The way of each pair's significant difference, by SciPy and Holm, else 0."""
    tested = [stats.ttest_rel(scores[i], scores[j]) for i, j in pairs]
    is_small = multipletests([test.pvalue for test in tested], method="holm")[0]
    return np.where(is_small, np.sign([test.statistic for test in tested]), 0)


def test_decisions_are_those_of_paired_t_tests_in_every_draw() -> None:
    rng = np.random.default_rng(3)
    level = np.array([0.35, 0.5, 0.6, 0.4, 0.7])[:, None]
    scores = (rng.binomial(10, level, size=(4, 5, 14)) / 10).astype(float)
    drawn = np.where(np.arange(5)[:, None] < 3, scores, scores[:1])  # the pool is the same in all draws
    texts = pack_topic_scores(estimates_of(drawn[:, :3]), 0 * level)
    kept = TopicScores(
        packed={"mine": dict(zip("abc", texts, strict=True))},
        truth=dict(zip("abc", on_grid(scores[1, :3]), strict=True)),
        pool=dict(zip("pq", on_grid(scores[0, 3:]), strict=True)),
        in_pool={"a": ("p", "q"), "b": ("p", "q"), "c": ("q",)},
    )
    found = pd.DataFrame(kept.decide(0.05, ["mine"], ["a", "b", "c"]))
    families = {"a": [(0, 3), (0, 4)], "b": [(1, 3), (1, 4)], "c": [(2, 4)], "out": [(0, 1), (0, 2), (1, 2)]}
    expected = []
    for pairs in families.values():
        ways = np.array([significant(draw, pairs) for draw in drawn])
        truth = significant(np.where(np.arange(5)[:, None] < 3, scores[1], scores[0]), pairs)
        for k, (i, j) in enumerate(pairs):
            shares = (ways[:, k] > 0).mean(), (ways[:, k] < 0).mean()
            expected.append((NAMES[i], NAMES[j], truth[k], *shares))
    names = ["run_id", "other", "truth", "prob_greater", "prob_less"]
    pd.testing.assert_frame_equal(found[names], pd.DataFrame(expected, columns=names), check_dtype=False)
    assert found["against"].tolist() == ["pool"] * 5 + ["left out"] * 3
    assert 0 < found[["prob_greater", "prob_less"]].to_numpy().sum() < len(found)


def test_shares_of_decisions_by_hand() -> None:
    """Announced: right, not, false, none, the wrong way twice."""
    pairs = pd.DataFrame(
        {
            "truth": [1, 1, 0, 0, -1, 1],
            "prob_greater": [1, 0.7, 0.9, 0, 0.85, 0],
            "prob_less": [0, 0, 0.1, 0, 0.1, 0.8],
        }
    )
    found = grade_decisions(pairs)
    assert found == {
        "n_pairs": 6,
        "n_true": 4,
        "n_announced": 4,
        "expected": pytest.approx((0 + 0.1 + 0.15 + 0.2) / 4),
        "false": 0.25,
        "swapped": 0.5,
        "missed": 0.75,
    }
    assert grade_decisions(pairs, 0.7)["missed"] == 0.5
    assert grade_decisions(pairs, 0.7)["expected"] == pytest.approx((0 + 0.3 + 0.1 + 0.15 + 0.2) / 5)
    tested = pairs.round()
    assert np.isnan(grade_decisions(tested)["expected"])  # no draws
    nothing = grade_decisions(pairs[:0])
    assert np.isnan([nothing[name] for name in ("expected", "false", "swapped", "missed")]).all()


def test_what_is_kept_of_estimates() -> None:
    example = score_of_example()
    n_topics = len(example.query_ids)
    as_judged = example.per_topic
    shifted = dataclasses.replace(example, value=example.value + 0.25, per_topic=as_judged * np.nan)

    (first, *_) = pack_topic_scores(shifted, as_judged)
    np.testing.assert_array_equal(unpack(first, n_topics)[0], on_grid(as_judged[0] + 0.25))
    without = dataclasses.replace(shifted, value=example.value * np.nan)
    assert pack_topic_scores(without, as_judged) == ["", ""]
    amounts = np.broadcast_to(np.arange(450)[:, None, None] % 11, (450, 2, n_topics)).astype(np.int32)
    many = dataclasses.replace(example, draws=Values(amounts, 10))
    kept = unpack(pack_topic_scores(many, as_judged)[1], n_topics)
    np.testing.assert_array_equal(kept, on_grid(amounts[::5, 1] / 10))


def test_the_summary_has_the_decisions_on_pairs_with_the_pool(example: Collection) -> None:
    found = leave_out(example, "P@10", estimators=["as-judged", "smoothed"])
    pairs = found.decisions()
    n_runs = len(example.pooled_run_ids)
    names = [run[:3] for run in example.pooled_run_ids]
    n_others = {run: n_runs - names.count(run[:3]) for run in pairs["run_id"]}
    of_pool = pairs[(pairs["against"] == "pool") & (pairs["estimator"] == "as-judged")]
    assert of_pool.groupby("run_id").size().to_dict() == n_others
    assert (pairs["against"] == "left out").sum() == 2 * n_runs * (n_runs - 1) / 2
    (row, _) = found.to_frame("summary").to_dict("records")
    graded = grade_decisions(of_pool)
    assert {name: row[name] for name in ("false", "swapped", "missed")} == {
        name: graded[name] for name in ("false", "swapped", "missed")
    }
    table = found.to_frame("decisions").query(
        "level == 0.05 and against == 'pool' and estimator == 'as-judged'"
    )
    assert table["false"].iloc[0] == row["false"]
    assert "of the true ones are missed" in found.sentences()[1]
    with pytest.raises(InputError, match="level"):
        found.decisions(0)


def test_pairs_are_tested_once_however_often_tables_and_figures_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    result = leave_out(load_example(), "P@10", estimators="as-judged")
    first = result.to_frame("decisions")
    monkeypatch.setattr(TopicScores, "decide", lambda *_: pytest.fail("tested again"))
    pd.testing.assert_frame_equal(result.to_frame("decisions"), first)
    result.plot()
