"""What second judges are worth: tables worked out by hand on the toy."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from labeled import LABELS, favoring_labels, labeled_toy, right_labels, with_judge
from statsmodels.stats.proportion import proportion_confint
from toys import toy_collection

from bayespool import check_judges
from bayespool.collection import add_judges, labels_from_frame
from bayespool.errors import InputError
from bayespool.evidence import GradeCounts
from bayespool.experiments import JudgeCheck, load_example
from bayespool.measures import parse_measure


def toy_check(measures: object = "P@3", **settings: Any) -> JudgeCheck:
    return check_judges(labeled_toy(), measures, **settings)


def cells(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return list(frame[list(names)].itertuples(index=False, name=None))


def test_confusion_is_of_the_levels_that_a_measure_tells_apart() -> None:
    frame = toy_check("P(rel=2)@3").to_frame("confusion")
    assert set(frame["measure"]) == {"P(rel=2)@3"}
    assert set(frame["judge"]) == {"llm"}
    hidden = frame[frame["documents"] == "hidden"]
    counts = [3, 2, 0, 2, 1, 1, 0, 1, 1, 1, 0, 0]
    rows = [(label, level) for label in ("0", "1", "2", "none") for level in (0, 1, 2)]
    assert cells(hidden, "label", "relevance_from") == rows
    assert hidden["n"].tolist() == counts
    binary = toy_check("P@3").to_frame("confusion")
    assert cells(binary[binary["documents"] == "other"], "label", "relevance_from", "n") == [
        *(("0", 0, 2), ("0", 1, 0), ("1", 0, 1), ("1", 1, 0)),
        *(("2", 0, 0), ("2", 1, 1), ("none", 0, 1), ("none", 1, 0)),
    ]


def test_calibration_is_the_share_relevant_by_label_with_wilsons_interval() -> None:
    frame = toy_check(ci_prob=0.8).to_frame("calibration")
    assert cells(frame, "documents", "label", "n", "n_relevant") == [
        *(("hidden", "0", 5, 2), ("hidden", "1", 4, 2), ("hidden", "2", 2, 2)),
        *(("other", "0", 2, 0), ("other", "1", 1, 0), ("other", "2", 1, 1)),
    ]
    assert frame["share"].tolist() == [0.4, 0.5, 1, 0, 0, 1]
    lower, upper = proportion_confint([2, 2, 2, 0, 0, 1], [5, 4, 2, 2, 1, 1], alpha=0.2, method="wilson")
    np.testing.assert_allclose(frame["lower"], lower)
    np.testing.assert_allclose(frame["upper"], upper)
    assert set(frame["ci_prob"]) == {0.8}


def test_wilsons_interval_by_its_formula() -> None:
    """Of 5 documents 2: (0.4 + z²/10 ± z √(0.4·0.6/5 + z²/100)) / (1 + z²/5)."""
    row = toy_check().to_frame("calibration").iloc[0]
    z = 1.959964
    center, half = 0.4 + z**2 / 10, z * np.sqrt(0.24 / 5 + z**2 / 100)
    assert row["lower"] == pytest.approx((center - half) / (1 + z**2 / 5), abs=1e-6)
    assert row["upper"] == pytest.approx((center + half) / (1 + z**2 / 5), abs=1e-6)


def test_agreement_by_hand() -> None:
    """Other documents say that label 2 begins relevance: there κ is 1. They promise of a document with label
    0 (0 + .3)/3, with 1 (0 + .3)/2, with 2 (1 + .3)/2, .3 being (1 + .5)/5.
    """
    hidden, other = (row for _, row in toy_check().to_frame().iterrows())
    assert (hidden["documents"], hidden["n"], hidden["n_relevant"]) == ("hidden", 11, 6)
    assert hidden["auc"] == pytest.approx(21 / 30)
    assert hidden["kappa"] == pytest.approx(20 / 64)
    assert hidden["label_from"] == other["label_from"] == 2
    assert hidden["promised"] == pytest.approx(5 * 0.3 / 3 + 4 * 0.3 / 2 + 2 * 1.3 / 2)
    assert (other["n"], other["n_relevant"], other["auc"], other["kappa"]) == (4, 1, 1, 1)


def test_a_graded_measure_asks_each_level_and_a_binary_one_its_own() -> None:
    check = toy_check(["nDCG@3", "P(rel=2)@3", "P@3"])
    agreement = check.to_frame()
    asked = agreement.groupby("measure")["relevant_from"].unique().map(list).to_dict()
    assert asked == {"nDCG@3": [1, 2], "P(rel=2)@3": [2], "P@3": [1]}
    by = agreement[agreement["documents"] == "hidden"].set_index(["measure", "relevant_from"])["auc"]
    assert by["nDCG@3", 1] == by["P@3", 1]
    assert by["nDCG@3", 2] == by["P(rel=2)@3", 2]
    # c and r of level 2: r's label 1 is above 5 of 9, ties with 3, c's 2 is above 8, ties with 1
    assert by["P(rel=2)@3", 2] == pytest.approx((5 + 3 / 2 + 8 + 1 / 2) / 18)
    same = (check.confusions[parse_measure(measure), "llm"] for measure in ("nDCG@3", "P(rel=2)@3"))
    assert next(same) is next(same)


def test_coverage_counts_labels_on_judged_hidden_and_unjudged_documents() -> None:
    """Judged are 17, hidden 12; u has l d, z, e f unjudged in its top 3, the south and u t below theirs."""
    coverage = toy_check(["P@3", "P@1"]).to_frame("coverage")
    assert cells(coverage, "measure", "documents", "n", "n_labeled") == [
        ("P@3", "judged", 17, 15),
        ("P@3", "hidden", 12, 11),
        ("P@3", "unjudged", 5, 2),
        ("P@1", "judged", 17, 15),
        ("P@1", "hidden", 12, 11),
        ("P@1", "unjudged", 1, 1),
    ]
    assert coverage["share"].tolist()[:3] == [15 / 17, 11 / 12, 2 / 5]
    nobody = toy_check(run_ids=()).to_frame("coverage").iloc[2]
    assert (nobody["n"], nobody["n_labeled"]) == (0, 0)
    assert np.isnan(nobody["share"])
    without_pool = toy_check(estimand="pooled", measures="P@5").to_frame("coverage").iloc[2]
    assert without_pool["n"] == 5, "below the pool depth nothing is in question"


def test_how_much_higher_labels_of_an_organization_are_by_hand() -> None:
    """In the top 10 of the south's runs stand a h b j k, v w p and c a d with labels; of others c f and r,
    which are relevant, with labels 2, 1 and 1, and b with 0. Relevant ones with label 2 are above 5/6 of
    these, and those with 0 above none; nonrelevant ones with label 0 above a half, with 1 above all. The sums
    over topics, less a half each, are 1/3, 1/3 and 1/2.
    """
    frame = toy_check().to_frame("organizations").set_index("organization")
    south = frame.loc["south"]
    assert (south["n"], south["relevant_from"], south["given"]) == (11, 1, 0)
    assert south["lift"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 11)
    assert south["se"] == pytest.approx(np.sqrt(1 / 9 + 1 / 9 + 1 / 4) / 11)
    assert not south["favored"]
    graded = toy_check("nDCG@3").to_frame("organizations")
    assert set(zip(graded["relevant_from"], graded["given"], strict=True)) == {(1, 0), (2, 1)}


def test_a_judge_that_favors_an_organization_is_marked_and_said() -> None:
    collection = with_judge(with_judge(load_example(), favoring_labels()), right_labels(), "good")
    check = check_judges(collection)
    frame = check.to_frame("organizations")
    assert cells(frame[frame["favored"]], "judge", "organization") == [("llm", "north")]
    assert [problem.partition(":")[0] for problem in check.problems] == ["judge llm favors north"]
    agreement = check.to_frame().set_index(["judge", "documents"])
    assert agreement.loc[("good", "hidden"), ["auc", "kappa"]].tolist() == [1, 1]
    assert agreement.loc[("llm", "hidden"), "n_relevant"] < agreement.loc[("llm", "hidden"), "promised"]


def test_without_other_documents_hidden_ones_say_where_relevance_begins() -> None:
    labels = {q: dict(of_topic) for q, of_topic in LABELS.items()}
    for query_id, doc_id in (("1", "a"), ("1", "j"), ("3", "a"), ("3", "c")):
        del labels[query_id][doc_id]
    alone = add_judges(toy_collection(), {"llm": labels_from_frame(labels)})
    hidden, other = (row for _, row in check_judges(alone).to_frame().iterrows())
    assert other["n"] == 0
    assert np.isnan(other["auc"])
    assert np.isnan(hidden["promised"])
    assert hidden["label_from"] == 2  # κ 20/64, from label 1 on 16/60
    assert hidden["kappa"] == pytest.approx(20 / 64)


def test_tables_and_what_the_result_must_be_quoted_with() -> None:
    check = toy_check(["P@3", "P@1"])
    assert [table.name for table in check.tables()] == [
        "agreement",
        "confusion",
        "calibration",
        "coverage",
        "organizations",
    ]
    assert repr(check) == "<JudgeCheck: llm; P@3, P@1>"
    assert check.run_ids == ("u",)
    with pytest.raises(InputError, match="no table 'intervals'; ask for intervals=True"):
        check.to_frame("intervals")
    with pytest.raises(InputError, match="no table 'worth'; there are agreement"):
        check.to_frame("worth")
    described = json.loads(json.dumps(dict(check.metadata)))
    assert described["measures"] == ["P@3", "P@1"]
    assert described["judges"] == ["llm"]
    assert described["fingerprint"] == labeled_toy().fingerprint


def test_runs_may_be_taken_out_of_the_pool_first() -> None:
    check = toy_check(unpool="s2", unpool_by="run")
    assert check.run_ids == ("s2",)
    assert check.to_frame("coverage")["n"].tolist() == [16, 11, 1]  # k is unjudged then
    assert toy_check(pool_depth=1, run_ids=()).to_frame("coverage")["n"].tolist()[0] < 17


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measures": "Judged@10"}, "describes the judgments"),
        ({"run_ids": "nobody"}, "no run 'nobody'"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"model": "best"}, "no model 'best'"),
    ],
)
def test_what_cannot_be_asked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy_check(**settings)


def test_a_collection_without_a_judge_is_refused() -> None:
    with pytest.raises(InputError, match="the collection has no judge; --judge FILE"):
        check_judges(load_example())


def test_counts_are_no_rates() -> None:
    """A grade of few documents is drawn to the share of all."""
    (judge,) = labeled_toy().judges
    rate = GradeCounts(judge, np.array([0, 0, 1]), np.array([2, 1, 0])).rate
    np.testing.assert_allclose(rate, [0.3 / 3, 0.3 / 2, 1.3 / 2])
