"""What second judges are worth: tables worked out by hand, printed and written, and narrower intervals."""

from __future__ import annotations

import dataclasses
import json
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import printed
from fits import TARGETS
from labeled import LABELS, favoring_labels, labeled_toy, right_labels, top_of, with_judge
from small import small
from statsmodels.stats.proportion import proportion_confint
from toys import no_pool, toy_collection

from bayespool import check_judges
from bayespool.collection import Collection, add_judges, labels_from_frame
from bayespool.errors import DiagnosticsWarning, InputError, OutputError
from bayespool.evidence import GradeCounts
from bayespool.evidence.labels import grade_names
from bayespool.experiments import JudgeCheck, load_example
from bayespool.experiments.judge_checks import ALL_JUDGES
from bayespool.measures import parse_measure
from bayespool.posterior import PosteriorEstimator
from bayespool.report.terminal import print_result


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
    """Of 5 documents 2: (0.4 + z²/10 ± z √(0.4·0.6/5 + z²/100)) / (1 + z²/5)."""
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
    names = ["agreement", "confusion", "calibration", "coverage", "organizations"]
    assert [table.name for table in check.tables()] == names
    assert check.run_ids == ("u",)
    for name, message in (("intervals", "intervals=True"), ("worth", "there are agreement")):
        with pytest.raises(InputError, match=f"no table '{name}'.*{message}"):
            check.to_frame(name)
    described = json.loads(json.dumps(dict(check.metadata)))
    assert described["measures"] == ["P@3", "P@1"]
    assert described["judges"] == ["llm"]
    assert described["fingerprint"] == labeled_toy().fingerprint


def test_runs_may_be_taken_out_of_the_pool_first() -> None:
    check = toy_check(unpool="s2", unpool_by="run")
    assert check.run_ids == ("s2",)
    assert check.to_frame("coverage")["n"].tolist() == [16, 11, 1]  # k is unjudged then
    assert toy_check(pool_depth=1, run_ids=()).to_frame("coverage")["n"].tolist()[0] < 17


def test_what_cannot_be_asked() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"measures": "Judged@10"}, "describes the judgments"),
        ({"run_ids": "nobody"}, "no run 'nobody'"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"model": "best"}, "no model 'best'"),
    ]
    for settings, message in refused:
        with pytest.raises(InputError, match=message):
            toy_check(**settings)
    with pytest.raises(InputError, match="no judge; --judge FILE"):
        check_judges(load_example())
    alone, _ = no_pool()
    label = np.where(alone.relevance > 0, 1.0, 0.0)
    with pytest.raises(InputError, match="no second organization"):
        check_judges(with_judge(alone, label), "P@3", run_ids=(), intervals=True, **QUICK)


def test_counts_are_no_rates() -> None:
    """A grade of few documents is drawn to the share of all."""
    (judge,) = labeled_toy().judges
    rate = GradeCounts(judge, np.array([0, 0, 1]), np.array([2, 1, 0])).rate
    np.testing.assert_allclose(rate, [0.3 / 3, 0.3 / 2, 1.3 / 2])


# --- narrower intervals: the same estimates as without this table ---

QUICK: dict[str, Any] = {"draws": 250, "chains": 2, "model": "ratio"}


def judged_twice() -> Collection:
    """A judge that is right, and one that throws a coin."""
    coin = np.random.default_rng(1).integers(0, 2, len(load_example().relevance)).astype(float)
    return with_judge(with_judge(load_example(), right_labels(), "good"), coin, "coin")


@cache
def example_check() -> JudgeCheck:
    return check_judges(judged_twice(), ["P@10", "P@5"], intervals=True, ci_prob=0.9, **QUICK)


@pytest.mark.slow
def test_rows_are_estimates_with_and_without_each_judge() -> None:
    collection, rows = judged_twice(), example_check().to_frame("runs")
    assert list(dict.fromkeys(zip(rows["measure"], rows["judge"], strict=True))) == [
        (measure, judge) for measure in ("P@10", "P@5") for judge in ("good", "coin", ALL_JUDGES)
    ]
    good, coin = collection.judges
    judges = {"": (), "good": (good,), "coin": (coin,), ALL_JUDGES: (good, coin)}
    expected = {}
    for name, group in judges.items():
        given = dataclasses.replace(collection, judges=group)
        for estimates in PosteriorEstimator(**QUICK).estimate(given, TARGETS, ["P@10", "P@5"]):
            lower, upper = estimates.interval(0.9)
            told = {"width": upper - lower, "value": estimates.value, "lower": lower, "upper": upper}
            expected[str(estimates.measure), name] = told
    for (measure, judge), mine in rows.groupby(["measure", "judge"]):
        assert mine["run_id"].tolist() == list(TARGETS)
        assert mine["organization"].tolist() == list(TARGETS)
        for what in ("width", "value", "lower", "upper"):
            assert mine[f"{what}_without"].tolist() == expected[measure, ""][what].tolist()
            assert mine[f"{what}_with"].tolist() == expected[measure, judge][what].tolist()
    assert set(rows["ci_prob"]) == {0.9}


def test_a_right_judge_saves_most_of_the_interval_and_a_coin_nothing() -> None:
    frame, rows = example_check().to_frame("intervals"), example_check().to_frame("runs")
    for (measure, judge), mine in rows.groupby(["measure", "judge"]):
        (row,) = frame[(frame["measure"] == measure) & (frame["judge"] == judge)].to_dict("records")
        assert row["n_runs"] == 2
        assert row["width_with"] == pytest.approx(mine["width_with"].mean())
        assert row["width_without"] == pytest.approx(mine["width_without"].mean())
        assert row["saved"] == pytest.approx(1 - row["width_with"] / row["width_without"])
    saved = frame[frame["measure"] == "P@10"].set_index("judge")["saved"]
    assert saved["good"] > 0.6
    assert abs(saved["coin"]) < 0.25
    assert saved[ALL_JUDGES] > 0.6


@pytest.mark.slow
def test_without_a_run_to_score_each_organization_is_left_out() -> None:
    whole = small()
    label = np.where(whole.relevance > 0, 1.0, np.where(whole.relevance < 0, np.nan, 0.0))
    counts: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        show = {"progress": lambda *done: counts.append(done)}
        check = check_judges(with_judge(whole, label), "P@10", run_ids=(), intervals=True, **show, **QUICK)
        organization = whole.organizations[whole.organization[np.flatnonzero(whole.pooled)[0]]]
        runs = [r for r in whole.pooled_run_ids if _organization(whole, r) == organization]
        left_out = with_judge(whole, label).unpool(organization=organization)
        (estimates,) = PosteriorEstimator(**QUICK).estimate(left_out, runs, "P@10")
    rows = check.to_frame("runs")
    assert sorted(rows["run_id"]) == sorted(whole.pooled_run_ids)
    assert rows["organization"].tolist() == [_organization(whole, run) for run in rows["run_id"]]
    lower, upper = estimates.interval(0.95)
    mine = rows[rows["organization"] == organization]
    assert mine["run_id"].tolist() == runs
    assert mine["width_with"].tolist() == (upper - lower).tolist()
    assert mine["value_with"].tolist() == estimates.value.tolist()
    n = rows["organization"].nunique()
    assert counts == [(i, n) for i in range(n + 1)]
    assert check.to_frame("intervals")["n_runs"].tolist() == [len(whole.pooled_run_ids)]


def _organization(collection: Collection, run: str) -> str:
    return collection.organizations[int(collection.organization[collection.run_index(run)[0]])]


def test_warnings_of_many_estimates_are_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = PosteriorEstimator.estimate
    said = iter(range(100))

    def warn(*arguments: Any) -> Any:
        warnings.warn(f"{next(said)} effective draws", DiagnosticsWarning, stacklevel=2)
        return estimate(*arguments)

    monkeypatch.setattr(PosteriorEstimator, "estimate", warn)
    with pytest.warns(DiagnosticsWarning) as caught:
        check_judges(judged_twice(), intervals=True, **QUICK)
    assert [str(one.message) for one in caught] == ["0 effective draws and the like"]
    assert caught[0].filename == __file__


# --- as a terminal shows it, and as files ---


def text_of(check: JudgeCheck) -> str:
    return printed(partial(print_result, check))


TOY = """\
P(rel=2)@3, P(rel=2)@1: agreement of labels with judgments

        relevant  label     AUC    AUC       κ      κ  relevant,  promised,
 judge  from       from  hidden  other  hidden  other     hidden     hidden
 ──────────────────────────────────────────────────────────────────────────
 llm    2             2   0.833      –   0.389  0.000          2          0

P(rel=2)@3, P(rel=2)@1, judge llm: judged documents by label and relevance

        hidden          other
 label       0  1  ≥ 2      0  1  ≥ 2
 ────────────────────────────────────
 0           3  2    0      2  0    0
 1           2  1    1      1  0    0
 2           0  1    1      0  1    0
 none        1  0    0      1  0    0

P(rel=2)@3, P(rel=2)@1, judge llm: share of relevance 2 or more by label

        hidden                   95 %   other                   95 %
 label  number  relevant     interval  number  relevant     interval
 ───────────────────────────────────────────────────────────────────
 0           5     0.000  0.000–0.434       2     0.000  0.000–0.658
 1           4     0.250  0.046–0.699       1     0.000  0.000–0.793
 2           2     0.500  0.095–0.905       1     0.000  0.000–0.793

P(rel=2)@3: documents with labels

 judge  documents  number  labeled   share
 ─────────────────────────────────────────
 llm    judged         17       15  88.2 %
 llm    hidden         12       11  91.7 %
 llm    unjudged        5        2  40.0 %

Unjudged documents are those within rank 3 of the runs to score.
P(rel=2)@1: documents with labels

 judge  documents  number  labeled    share
 ──────────────────────────────────────────
 llm    judged         17       15   88.2 %
 llm    hidden         12       11   91.7 %
 llm    unjudged        1        1  100.0 %

Unjudged documents are those within rank 1 of the runs to score.
note: judge llm is not used: too few judged documents have its labels to know it by (1 relevant, 3 not)
"""


def test_tables_of_the_toy() -> None:
    """Two measures that ask the same of documents share what does not depend on their cutoffs."""
    assert text_of(check_judges(labeled_toy(), ["P(rel=2)@3", "P(rel=2)@1"])) == TOY
    apart = text_of(check_judges(labeled_toy(), ["P(rel=2)@3", "P@3"]))
    assert apart.count("judged documents by label and relevance") == 2
    shown = text_of(check_judges(labeled_toy(), "nDCG@3", run_ids=(), ci_prob=0.8))
    for said in ("relevance 1 or more by label", "relevance 2 or more by label", "80 %", "no run to score"):
        assert said in shown


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"bayespool": "0", "experiment": "leave-out"}')
    with pytest.raises(OutputError, match="holds the results of leave-out"):
        check_judges(labeled_toy(), "P@3").save(tmp_path)


def test_who_comes_next_to_being_favored() -> None:
    """Labels of the north's documents are a little too high, those of others right."""
    label = right_labels()
    north = np.flatnonzero(top_of(load_example(), "north") & (label == 0))
    label[north[::12]] = 1
    check = check_judges(with_judge(load_example(), label))
    frame = check.to_frame("organizations").set_index("organization")
    assert not frame["favored"].any()
    lift, error = frame.loc["north", ["lift", "se"]]
    assert lift == frame["lift"].max() > 0.005
    said = text_of(check).splitlines()[-1]
    assert "favors no organization; nearest is north" in said
    assert f"{50 + 100 * lift:.1f} ± {100 * error:.1f} of 100 pairs" in said


def test_labels_of_many_values_and_of_one() -> None:
    label = np.arange(len(load_example().relevance)) % 100 / 100
    check = check_judges(with_judge(load_example(), label))
    (judge,) = check.judges
    rows = [line for line in text_of(check).splitlines() if line.startswith((" <", " ≥"))]
    assert [" ".join(row.split()[:2]) for row in rows] == [*grade_names(judge)] * 2
    assert len(rows) == 12
    shown = text_of(check_judges(with_judge(load_example(), 0 * right_labels())))
    row = next(line for line in shown.splitlines() if line.startswith(" llm  "))
    assert row.split()[:5] == ["llm", "1", "–", "0.500", "0.500"]


@pytest.mark.slow
def test_narrower_intervals_and_whom_judges_favor_on_a_terminal_and_in_a_folder(tmp_path: Path) -> None:
    collection = with_judge(with_judge(load_example(), favoring_labels()), right_labels(), "a b")
    check = check_judges(collection, intervals=True, **QUICK)
    shown = text_of(check)
    assert max(map(len, shown.split("note:")[0].splitlines())) <= 80
    heading = "P@10: mean width of 95 % intervals of 2 runs to score\n"
    _, _, found = shown.partition(heading)
    frame = check.to_frame("intervals")
    lines = [line.split() for line in found.splitlines() if "%" in line][:3]
    assert [" ".join(line[:-4]) for line in lines] == frame["judge"].tolist()
    for line, row in zip(lines, frame.to_dict("records"), strict=True):
        widths = [round(row[name], 4) for name in ("width_without", "width_with")]
        assert [float(cell) for cell in line[-4:-1]] == [*widths, round(100 * row["saved"], 1)]
    notes = [line for line in shown.splitlines() if line.startswith("note:")]
    assert notes[0].startswith("note: judge llm favors north:")
    assert notes[1:] == ["note: judge a b favors no organization"]
    for name in ("a", "b"):
        check.save(tmp_path / name)
    names = {f"{table.name}.{kind}" for table in check.tables() for kind in ("csv", "parquet")}
    names |= {"settings.json", "labels.png"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == names
    assert len(names) == 16
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for table in check.tables():
        written = pd.read_parquet(tmp_path / "a" / f"{table.name}.parquet")
        pd.testing.assert_frame_equal(written, table.frame, check_dtype=False)
    settings = json.loads((tmp_path / "a" / "settings.json").read_text(encoding="utf-8"))
    assert (settings["experiment"], settings["judges"]) == ("judges", ["llm", "a b"])
    assert settings["problems"] == list(check.problems)
    check_judges(labeled_toy(), "P@3").save(tmp_path / "a")
    assert not (tmp_path / "a" / "runs.csv").exists(), "what an earlier check left is gone"
