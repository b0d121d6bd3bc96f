"""Pairs of runs: on the topics that both have, by hand and by scipy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayespool import Comparison, compare, gate, read_collection
from bayespool.collection import Collection
from bayespool.comparisons.pairs import compare_on_common_topics, compared_pairs
from bayespool.comparisons.significance import p_values
from bayespool.errors import PooledRunWarning

LETTERS = "abcd"
# relevant documents in the top 4 of each topic; "half" failed on the last six
FOUND = {
    "whole": [4, 3, 2, 1, 2, 3, 4, 4, 4, 3, 4, 4],
    "half": [4, 3, 2, 2, 2, 2, *[None] * 6],
    "good": [4, 4, 4, 4, 4, 4, None, 4, 4, 4, 4, 4],
    "poor": [0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0],
}


def failing(*run_ids: str) -> Collection:
    """Runs with everything judged, some of which have no line of a topic."""
    judged = {str(t): {f"{x}{i}": int(x == "r") for x in "rn" for i in range(4)} for t in range(12)}
    runs = {
        run: {
            str(t): {
                name: -i for i, name in enumerate([f"r{i}" for i in range(n)] + ["n0", "n1", "n2", "n3"])
            }
            for t, n in enumerate(FOUND[run])
            if n is not None
        }
        for run in run_ids
    }
    return read_collection(judged, runs)


def compared(*run_ids: str, **settings: object) -> Comparison:
    return compare(failing(*run_ids), run_ids, "P@4", estimators=[], **settings)  # type: ignore[arg-type]


def values(run: str) -> np.ndarray:
    return np.array([0 if n is None else n / 4 for n in FOUND[run]])


def test_a_lead_that_missing_topics_decide_is_announced_by_nobody(tmp_path: Path) -> None:
    found = compared("whole", "half")
    (row,) = found.significance().to_dict("records")
    whole, half = values("whole"), values("half")
    assert row["difference"] == pytest.approx(23 / 48)
    assert row["p_adjusted"] == pytest.approx(stats.ttest_rel(whole, half).pvalue)
    assert row["p_adjusted"] < 0.05
    assert (row["n_common"], row["difference_common"]) == (6, 0)
    assert row["p_common"] == pytest.approx(stats.ttest_rel(whole[:6], half[:6]).pvalue)
    assert pd.isna(row["significant"])
    (sentence,) = found.sentences()
    assert sentence.startswith(
        "On these 12 topics (6 of 12 topics missing from half, counted as 0) the P@4 of whole"
    )
    assert "would be significant at 0.05 if missing topics count as 0 (paired t test" in sentence
    assert "); no verdict. On the 6 topics" in sentence
    (heading,) = (
        view.title for table in found.tables() for view in table.views if "significance" in view.title
    )
    assert "one pair); 6 of 12 topics missing from half, counted as 0; no pool" in heading
    assert sentence.endswith(
        "On the 6 topics that both have the difference is 0.000 (p = 1.0000): the missing topics decide."
    )
    found.save(tmp_path / "two.json")
    stored = json.loads((tmp_path / "two.json").read_text())
    assert stored["metadata"]["missing_topics"] == {"half": ["6", "7", "8", "9", "10", "11"]}
    for ending in (".tex", ".md", ".html"):
        text = found.text(ending)
        assert "6 of 12 topics missing from half, counted as 0" in text
        assert "1.0000" in text


def test_a_lead_on_the_common_topics_too_is_announced() -> None:
    found = compared("good", "poor")
    (row,) = found.significance().to_dict("records")
    assert (row["n_common"], row["significant"]) == (11, True)
    common = np.arange(12) != 6
    assert row["p_common"] == pytest.approx(
        stats.ttest_rel(values("good")[common], values("poor")[common]).pvalue
    )
    assert "is significant at 0.05 with missing topics counted as 0 (" in found.sentences()[0]
    assert "the missing topics decide" not in found.sentences()[0]
    assert "On the 11 topics that both have the difference is 0.909 (p <" in found.sentences()[0]


def test_against_a_baseline_runs_that_only_missing_topics_lower_are_not_counted() -> None:
    found = compared("whole", "half", "poor", baseline="whole")
    assert found.sentences()[0] == (
        "Against whole, 0 of 2 runs have a significantly higher P@4 as judged and 1 a lower one (poor) at "
        "0.05 (paired t test, Holm over 2 pairs); 6 of 12 topics missing from half, counted as 0: on the "
        "common topics half does not differ significantly."
    )
    frame = found.differences().set_index("run_a")
    assert frame["n_common"].to_dict() == {"half": 6, "poor": 12}
    assert frame.loc["poor", "p_common"] >= found.p_values[found.measures[0], "as-judged", "paired-t"][0, 2]


@pytest.mark.parametrize("control", ["none", "holm", "benjamini-hochberg", "dunnett"])
def test_pairs_with_all_topics_keep_their_p(control: str) -> None:
    scores = np.array([values(run) for run in ("whole", "poor", "half")])
    has_topic = np.array([[n is not None for n in FOUND[run]] for run in ("whole", "poor", "half")])
    pairs, p = compared_pairs(("whole", "poor", "half"), ("whole",)), p_values(scores)
    common = compare_on_common_topics(scores, has_topic, p, p, "paired-t", control, pairs, random_seed=1)
    of_poor, of_half = p[0, 1], stats.ttest_rel(scores[0, :6], scores[2, :6]).pvalue
    expected = {"none": (of_poor, of_half)}.get(control, (2 * of_poor, of_half))
    assert (common.p[0, 1], common.p[0, 2]) == pytest.approx(expected)
    assert common.n.tolist() == [[12, 12, 6], [12, 12, 6], [6, 6, 6]]


def test_runs_without_a_common_topic_have_no_test() -> None:
    has_topic = np.array([[True, True, False, False], [False, False, True, True]])
    scores = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.2, 0.1]])
    p = p_values(scores)
    pairs = compared_pairs(("a", "b"), ())
    common = compare_on_common_topics(scores, has_topic, p, p, "paired-t", "holm", pairs, random_seed=1)
    assert common.n[0, 1] == 0
    assert np.isnan([common.difference[0, 1], common.p[0, 1]]).all()


@pytest.mark.filterwarnings("ignore", category=PooledRunWarning)
def test_the_line_of_a_gate_has_the_missing_topics() -> None:
    found = gate(
        failing("half", "whole"),
        ["half", "whole"],
        "P@4",
        estimators="posterior-ratio(draws=50)",
        scope="these-topics",
    )
    assert str(found).endswith(
        "; 6 of 12 topics missing from half, counted as 0: on the 6 topics that both have it is 0.000 "
        "(probability over 0.999)."
    )
    assert found.metadata["missing_topics"] == {"half": ["6", "7", "8", "9", "10", "11"]}


@pytest.mark.filterwarnings("ignore", category=PooledRunWarning)
@pytest.mark.parametrize("run_ids", [("half", "whole"), ("whole", "half")])
def test_a_gate_does_not_announce_what_missing_topics_decide(run_ids: tuple[str, str]) -> None:
    """Per topic both have 0, 0, 0, -1/4, 0, 1/4 of each other: even probabilities, and never 0.4 apart."""
    found = gate(failing(*run_ids), run_ids, "P@4", estimators="posterior-ratio(draws=1000)")
    assert max(found.prob_not_worse, 1 - found.prob_not_worse) > 0.99
    assert (found.verdict, found.status) == ("cannot be told", 2)
    assert "and a verdict needs 0.95, also on the topics that both have; 6 of 12" in found.sentence
    chance = found.sentence.rpartition("on the 6 topics that both have it is 0.000 (probability ")[2]
    assert float(chance.removesuffix(").")) == pytest.approx(0.5, abs=0.06)
    wide = gate(failing(*run_ids), run_ids, "P@4", estimators="posterior-ratio(draws=1000)", margin=0.4)
    assert wide.status == (0 if run_ids[1] == "whole" else 2)


@pytest.mark.filterwarnings("ignore", category=PooledRunWarning)
def test_a_gate_announces_what_common_topics_confirm() -> None:
    """11 topics are common, and on each the good run has 3 or 4 of 4 more."""
    statuses = [
        gate(failing(*pair), pair, "P@4", estimators="posterior-ratio(draws=200)").status
        for pair in (("poor", "good"), ("good", "poor"))
    ]
    assert statuses == [0, 1]


@pytest.mark.filterwarnings("ignore", category=PooledRunWarning)
def test_a_gate_without_a_common_topic_announces_nothing() -> None:
    judged = {str(t): {"r": 1, "n": 0} for t in range(4)}
    runs = {"a": {t: {"r": 1} for t in "012"}, "b": {"3": {"n": 1}}}
    found = gate(
        read_collection(judged, runs),
        ["b", "a"],
        "P@1",
        estimators="posterior-combined",
        scope="these-topics",
    )
    assert (found.difference, found.status) == (0.75, 2)
    assert found.sentence.endswith(
        "3 of 4 topics missing from b, 1 from a, counted as 0: no topic is common to both."
    )
