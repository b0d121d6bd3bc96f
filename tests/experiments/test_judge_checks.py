"""What second judges are worth: tables worked out by hand, printed and written, and narrower intervals."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import printed
from labeled import labeled_toy, right_labels, with_judge
from statsmodels.stats.proportion import proportion_confint
from toys import no_pool

from bayespool import check_judges
from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.evidence.labels import grade_names
from bayespool.experiments import JudgeCheck, load_example
from bayespool.experiments.judge_checks import ALL_JUDGES
from bayespool.posterior import PosteriorEstimator
from bayespool.report.terminal import print_result


def toy_check(measures: object = "P@3", **settings: Any) -> JudgeCheck:
    return check_judges(labeled_toy(), measures, **settings)


def cells(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return list(frame[list(names)].itertuples(index=False, name=None))


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


def test_what_cannot_be_asked() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"measures": "Judged@10"}, "describes the judgments"),
        ({"run_ids": "nobody"}, "no run 'nobody'"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"posterior": "best"}, "no model 'best'"),
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


QUICK: dict[str, Any] = {"posterior": "ratio(draws=250, chains=2)"}


def judged_twice() -> Collection:
    """A judge that is right, and one that throws a coin."""
    coin = np.random.default_rng(1).integers(0, 2, len(load_example().relevance)).astype(float)
    return with_judge(with_judge(load_example(), right_labels(), "good"), coin, "coin")


def test_a_right_judge_saves_most_of_the_interval_and_a_coin_nothing() -> None:
    check = check_judges(judged_twice(), "P@10", intervals=True, ci_prob=0.9, **QUICK)
    frame, rows = check.to_frame("intervals").set_index("judge"), check.to_frame("runs")
    for judge, mine in rows.groupby("judge"):
        row = frame.loc[judge]
        assert row["width_with"] == pytest.approx(mine["width_with"].mean())
        assert row["saved"] == pytest.approx(1 - row["width_with"] / mine["width_without"].mean())
    assert frame.loc[["good", ALL_JUDGES], "saved"].min() > 0.6
    assert abs(frame.loc["coin", "saved"]) < 0.25


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
