"""What LLM judges are worth: tables worked out by hand, printed and written, and narrower intervals."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import printed
from labeled import favoring_labels, labeled_toy, right_labels, with_judge
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from toys import no_pool

from bayespool import check_judges
from bayespool.collection import Collection, add_judges
from bayespool.comparisons.significance import adjust_p_values, paired_t
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.evidence.labels import grade_names
from bayespool.experiments import JudgeCheck, load_example
from bayespool.experiments.judge_agreement import (
    TopicIntervals,
    _significant_orders,
    describe_favor,
    draw_topics,
    weighted_kappa,
)
from bayespool.experiments.judge_checks import ALL_JUDGES
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.reading import Labels, labels_from_frame
from bayespool.report.result import print_result


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
        ({"estimators": "posterior-best"}, "'posterior-best' is no posterior"),
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


QUICK: dict[str, Any] = {"estimators": "posterior-ratio(draws=250, chains=2)"}


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
        note = Note("effective-draws", "{} effective draws", next(said))
        warnings.warn(note, DiagnosticsWarning, stacklevel=2)
        return estimate(*arguments)

    monkeypatch.setattr(PosteriorEstimator, "estimate", warn)
    with pytest.warns(DiagnosticsWarning) as caught:
        check_judges(judged_twice(), intervals=True, **QUICK)
    assert [str(one.message) for one in caught] == ["0 effective draws and the like"]
    assert caught[0].filename == __file__


def text_of(check: JudgeCheck) -> str:
    return printed(partial(print_result, check))


TOY = """\
P(rel=2)@3: do without the labels of llm, which have an AUC of 0.83 [0.00, 1.00] on hidden documents.

Agreement of labels with judgments

        relevant  label                           95 %                 95 %
 judge  from      from   documents    AUC     interval      κ      interval  relevant  promised
 ──────────────────────────────────────────────────────────────────────────────────────────────
 llm    2         2      hidden     0.833  0.000–1.000  0.389  -1.000–1.000         2         0
 llm    2         2      other          –            –  0.000             –         0         0

Documents of this relevance or more are relevant, and labels of this or more say so: where κ of other \
documents is greatest. Hidden documents are those that one organization alone contributed, like the unjudged \
ones of a new run; other ones a run has in its top 30. Promised: relevant documents that the labels would \
have if they were worth as much as on the other ones.
P(rel=2)@3: runs ranked and tested by labels alone

                       95 %                 95 %
 judge      τ      interval   τ_AP      interval
 ───────────────────────────────────────────────
 llm    0.913  -1.000–1.000  0.889  -0.733–0.999

P(rel=2)@1: runs ranked and tested by labels alone

 judge   τ_AP
 ────────────
 llm    0.000

Judge llm: judged documents by label and relevance

        hidden          other
 label       0  1  ≥ 2      0  1  ≥ 2
 ────────────────────────────────────
 0           3  2    0      2  0    0
 1           2  1    1      1  0    0
 2           0  1    1      0  1    0
 none        1  0    0      1  0    0

Judge llm: share of relevance 2 or more by label

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
Judge llm: documents to look at again

 topic  document  judged  label  probability
 ───────────────────────────────────────────
 2      r              2      1        0.033

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
    assert row.split()[:5] == ["llm", "1", "–", "hidden", "0.500"]


# --- certificates -------------------------------------------------------------------------------------------


def test_weighted_kappa_is_that_of_other_software() -> None:
    table = np.random.default_rng(4).integers(0, 30, (3, 3))
    expected = cohens_kappa(table, wt="quadratic").kappa
    assert weighted_kappa(table, np.arange(3)) == pytest.approx(expected)
    two_to_one = weighted_kappa(np.vstack([table, table[2]]), np.array([0, 1, 2, 2]))
    assert two_to_one == pytest.approx(cohens_kappa(table + np.diag([0, 0, 1]) @ table, wt="quadratic").kappa)


def test_significant_orders_are_those_of_the_tests_of_compare() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(6, 30)) + np.arange(6)[:, None] / 3
    times = draw_topics(30, 1)[:5]
    first, second = np.triu_indices(6, 1)
    for orders, n in zip(_significant_orders(scores, times), times, strict=True):
        sample = np.repeat(scores, n, axis=1)
        p = adjust_p_values(paired_t(sample), "holm")[first, second]
        better = np.sign(sample.mean(axis=1)[first] - sample.mean(axis=1)[second])
        assert orders.tolist() == np.where(p < 0.05, better, 0).tolist()
        assert 0 < (orders != 0).sum() < len(orders)


def test_intervals_of_correlations() -> None:
    """Of Fisher's scale, with the t distribution, and no more than what a scale ends at."""
    sampled = np.tanh(np.random.default_rng(6).normal(1.0, 0.1, 4001))
    sampled[0] = np.tanh(1.0)
    row = TopicIntervals(50, 0.9).columns("tau", sampled)
    half = stats.t.ppf(0.95, 49) * 0.1 * np.sqrt(50 / 49)
    assert np.arctanh([row["tau_lower"], row["tau_upper"]]) == pytest.approx([1 - half, 1 + half], rel=0.02)
    assert row["tau"] == np.tanh(1.0)
    chance = TopicIntervals(50, 0.9).columns("auc", (1 + sampled) / 2, is_chance=True)
    assert chance["auc_upper"] == pytest.approx((1 + row["tau_upper"]) / 2)
    same = TopicIntervals(50, 0.9).columns("tau", np.ones(1001))
    assert same["tau"] == 1
    assert np.isnan(same["tau_lower"])  # nothing says how sure that is


def labels_of(collection: Collection, label: Any) -> Labels:
    """Labels of all documents, as a user gives them."""
    topics = [collection.query_ids[topic] for topic in collection.pair_topic]
    columns = {"query_id": topics, "doc_id": collection.doc_ids.to_pylist(), "label": label}
    return labels_from_frame(pd.DataFrame(columns))


def verdict_of(*labels: tuple[str, Any]) -> list[str]:
    collection = load_example()
    for name, label in labels:
        collection = with_judge(collection, label, name)
    return list(check_judges(collection, "P@10").sentences())


def test_verdicts() -> None:
    coin = np.random.default_rng(1).integers(0, 2, len(right_labels())).astype(float)
    good, useless, biased = verdict_of(
        ("good", right_labels()), ("coin", coin), ("biased", favoring_labels("north"))
    )
    assert good.startswith("P@10: use the labels of good as evidence, or in place of judgments. ")
    assert "They have an AUC of 1.00 on hidden documents. Runs ranked by them alone have τ 1.00;" in good
    assert useless.startswith("P@10: do without the labels of coin, which have an AUC of 0.")
    assert biased.startswith(
        "P@10: use the labels of biased as evidence, but not on runs of north, which it "
    )
    assert "not in place of judgments" in biased


def test_a_topic_on_which_a_judge_errs_is_disputed() -> None:
    example, rng = load_example(), np.random.default_rng(3)
    label = np.where(rng.random(len(right_labels())) < 0.1, 1 - right_labels(), right_labels())
    wrong = example.pair_topic == 4
    label[wrong] = 1 - label[wrong]
    check = check_judges(with_judge(example, label), "P@10")
    topics = check.to_frame("disputed_topics")
    assert topics.loc[topics["disputed"], "query_id"].tolist() == [example.query_ids[4]]
    row = topics.iloc[0]
    assert row["difference"] > 2 * row["expected"]
    documents = check.to_frame("disputed_documents")
    assert (documents["label"] != documents["relevance"]).all()
    assert documents["chance"].is_monotonic_increasing


def test_averages_of_a_noisy_judge_pay() -> None:
    """Three answers with independent errors of one in four agree on .75² + .25² of the documents."""
    rng, n = np.random.default_rng(2), len(right_labels())
    answers = [np.where(rng.random(n) < 0.25, 1 - right_labels(), right_labels()) for _ in range(3)]
    labels = [labels_of(load_example(), answer) for answer in answers]
    collection = add_judges(load_example(), {"noisy": labels})
    (judge,) = collection.judges
    assert judge.label.tolist() == np.mean(answers, axis=0).tolist()
    frame = check_judges(collection, "P@10").to_frame("replicates").set_index("documents")
    assert frame["n_replicates"].tolist() == [3, 3]
    assert frame["same"].iloc[0] == pytest.approx(0.75**2 + 0.25**2, abs=0.01)
    assert frame["auc_one"].to_numpy() == pytest.approx(0.75, abs=0.04)
    # at least two of three are right on .84; a tie of ranks counts half
    grade = [stats.binom.pmf(range(4), 3, p) for p in (0.75, 0.25)]
    expected = sum(grade[0][k] * (grade[1][:k].sum() + grade[1][k] / 2) for k in range(4))
    assert frame["auc"].to_numpy() == pytest.approx(expected, abs=0.04)
    assert (frame["gain_lower"] > 0).all()
    assert len(check_judges(with_judge(load_example(), answers[0]), "P@10").to_frame("replicates")) == 0


def test_favor_is_said_beside_what_is_usual() -> None:
    rows = pd.DataFrame(
        {
            "organization": ["a", "b"],
            "lift": [0.176, 0.05],
            "se": [0.033, 0.01],
            "usual": 0.109,
            "limit": [0.286, 0.28],
            "favored": False,
        }
    )
    reference = "60.9 is usual of an organization, and more than 78.6 is to favor it"
    assert describe_favor(rows, "llm") == (
        "judge llm favors no organization; nearest is a: a document in the top 10 of its runs is labeled "
        f"higher than one of others that is as relevant in 67.6 ± 3.3 of 100 pairs, where {reference}"
    )
    assert describe_favor(rows.assign(favored=[True, False]), "llm") == f"judge llm: {reference}"
