"""`compare`: every pair once, in both scopes, with what stands beside it."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import printed
from known_scores import with_posterior
from scipy import stats
from toys import from_rankings

from bayespool.arrays import FloatArray
from bayespool.comparisons import Comparison, adjust_p_values, compare, dunnett, paired_t
from bayespool.comparisons.comparing import compare_scores
from bayespool.comparisons.sentences import _baseline_sentence
from bayespool.comparisons.significance import ANNOUNCED_SHARE
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.names import AS_JUDGED, Control
from bayespool.pooling import read_collection
from bayespool.report.result import print_result
from bayespool.scoring import Scores, score
from bayespool.tables.formatting import interval

# runs of the pool are compared beside new ones
pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]

NEW = ("new-a", "new-b")


@cache
def example_comparison() -> Comparison:
    return compare(
        load_example(),
        [*NEW, "north-2", "lake-1"],
        ["P@5", "P@10"],
        estimators=["interpolated", "posterior-ratio"],
        tests=("paired-t", "wilcoxon", "tukey-hsd"),
        posterior_settings="draws=50",
    )


def test_differences_are_those_of_the_scores() -> None:
    found = example_comparison()
    frame = found.differences().set_index(["measure", "estimator", "scope", "run_a", "run_b"])
    for e in found.scores.estimates:
        row = frame.loc[(str(e.measure), e.estimator, "these-topics", "new-a", "new-b")]
        assert row["difference"] == pytest.approx(e.value[0] - e.value[1])
        if e.draws is not None:
            totals = e.draws.totals()
            assert row["prob_greater"] == (totals[:, 0] > totals[:, 1]).mean()
            assert row["prob_less"] == (totals[:, 0] < totals[:, 1]).mean()
            near = np.abs(totals[:, 0] - totals[:, 1]) <= 0.01 * e.measure.cutoff * 20 + 1e-9
            assert row["prob_equivalent"] == near.mean()


def test_tests_are_done_on_every_estimators_scores_and_adjusted_over_pairs() -> None:
    found = example_comparison()
    frame = found.significance().set_index(["measure", "estimator", "test", "run_a", "run_b"])
    for e in found.scores.estimates:
        p = adjust_p_values(paired_t(e.per_topic), "holm")
        row = frame.loc[(str(e.measure), e.estimator, "paired-t", "new-b", "north-2")]
        assert row["p_value"] == pytest.approx(stats.ttest_rel(e.per_topic[1], e.per_topic[2]).pvalue)
        assert row["p_adjusted"] == pytest.approx(p[1, 2])
        if e.draws is None:
            chance = frame.loc[(str(e.measure), "posterior-ratio", *row.name[2:]), "prob_significant"]
            is_in_doubt = p[1, 2] <= 0.05 and chance < ANNOUNCED_SHARE
            expected = pd.NA if is_in_doubt else p[1, 2] <= 0.05
            assert row["significant"] is expected or row["significant"] == expected
        else:  # a test of means takes unjudged documents for known
            assert row["significant"] == (row["prob_significant"] >= ANNOUNCED_SHARE)
            wilcoxon = frame.loc[(str(e.measure), e.estimator, "wilcoxon", "new-b", "north-2")]
            assert wilcoxon["significant"] is pd.NA
        tukey = frame.loc[(str(e.measure), e.estimator, "tukey-hsd", "new-b", "north-2")]
        assert tukey["control"] == "tukey-hsd"
        assert tukey["p_adjusted"] == tukey["p_value"]


def test_risk_of_reversal_is_that_of_pairs_that_are_significant_now() -> None:
    found = example_comparison()
    frame = found.significance()
    index = ["measure", "test", "run_a", "run_b"]
    now = frame[frame["estimator"] == AS_JUDGED].set_index(index)
    drawn = frame[(frame["estimator"] == "posterior-ratio") & (frame["test"] != "wilcoxon")].set_index(index)
    assert len(drawn) == 2 * 2 * 6
    chances = found.differences().query("estimator == 'posterior-ratio' and scope == 'these-topics'")
    chances = chances.set_index(["measure", "run_a", "run_b"])
    for key, row in drawn.iterrows():
        claims = ((now.loc[key], now.loc[key, "p_adjusted"] <= 0.05), (row, row["significant"]))
        for claim, is_significant in claims:
            way, other = ("greater", "less") if claim["difference"] > 0 else ("less", "greater")
            expected = 1 - row[f"prob_significant_{way}"] if is_significant else np.nan
            assert claim["reversal_risk"] == pytest.approx(expected, nan_ok=True)
            assert claim["prob_sign_change"] == pytest.approx(
                chances.loc[(key[0], *key[2:]), f"prob_{other}"]
            )
        both = row["prob_significant_greater"] + row["prob_significant_less"]
        assert row["prob_significant"] == pytest.approx(both)
    assert (now["p_adjusted"] <= 0.05).sum() >= 4
    assert frame[frame["test"] == "wilcoxon"]["prob_significant"].isna().all()


def doubtful(*estimators: str) -> Scores:
    """a has one or two relevant documents on each topic, b only unjudged ones in its top 2."""
    topics = [f"{t:02}" for t in range(12)]
    judged = {topic: {"c": 1, "d": i % 2} for i, topic in enumerate(topics)}
    runs = {"a": dict.fromkeys(topics, "cd"), "b": dict.fromkeys(topics, "xyd")}
    collection = from_rankings(runs, judged, pooled_run_ids=("a",), pool_depth=2)
    return score(collection, ["a", "b"], "P@2", estimators=["as-judged", *estimators])


def rows_of_tests(found: Comparison) -> dict[str, dict[str, Any]]:
    return {str(row["estimator"]): dict(row) for _, row in found.significance().iterrows()}


def test_no_order_that_judging_may_turn_is_called_significant() -> None:
    """Of the draws half judge all of b as nonrelevant, and half as relevant."""
    found = compare_scores(with_posterior(doubtful("background(e=0.1)"), 0.95))
    tests = rows_of_tests(found)
    assert all(tests[estimator]["p_adjusted"] < 0.001 for estimator in (AS_JUDGED, "background(e=0.1)"))
    assert all(tests[estimator]["significant"] is pd.NA for estimator in (AS_JUDGED, "background(e=0.1)"))
    assert not tests["posterior-known"]["significant"]
    assert found.draws[found.measures[0], "posterior-known", "these-topics"].prob_greater[0, 1] == 0.5
    text = " ".join(printed(lambda console: print_result(found, console), width=200).split())
    assert "No verdict, whatever p is, where posterior-known does not declare it significant" in text
    measure = found.measures[0]
    assert found.better_as_judged(measure, "paired-t")[0, 1]
    assert not found.announced_as_judged(measure, "paired-t").any()
    sentence = _baseline_sentence(dataclasses.replace(found, baseline=("b",)), measure, "b")
    assert " have a significantly higher P@2 as judged and 0 a lower one at 0.05 (" in sentence
    assert sentence.endswith("; that of a is too uncertain to declare significant.")
    assert "would be significant at 0.05 if all that is unjudged were nonrelevant (paired t test" in text
    assert " yes " not in text


@pytest.mark.parametrize(
    ("test", "is_significant", "line"),
    [
        (
            "paired-t",
            True,
            "By posterior-known a difference is significant that is so in 80 % of the completed",
        ),
        ("wilcoxon", pd.NA, "p of posterior-known is no verdict: a test takes means over draws as known"),
    ],
)
def test_a_line_says_what_is_significant_by_draws(test: Any, is_significant: Any, line: str) -> None:
    scores = score(load_example(), NEW, "P@10", estimators=["as-judged", "condensed-list"])
    found = compare_scores(with_posterior(scores), tests=(test,))
    tests = rows_of_tests(found)
    assert [tests[estimator]["significant"] for estimator in (AS_JUDGED, "condensed-list")] == [True, True]
    assert tests["posterior-known"]["significant"] is is_significant
    text = " ".join(printed(lambda console: print_result(found, console), width=200).split())
    assert line in text
    assert "whatever p is" not in text


def test_a_threshold_announces_and_says_how_much_of_it_is_false() -> None:
    runs = (*NEW, *load_example().pooled_run_ids)
    scores = score(load_example(), runs, "P@10", estimators=["as-judged", "posterior-ratio(draws=100)"])
    announced = []
    for share in (0.5, 1):
        found = compare_scores(scores, announce=share, control="none")
        rows = found.significance().query("estimator == 'posterior-ratio'")
        chance = rows[["prob_significant_greater", "prob_significant_less"]].max(axis=1)
        is_announced = chance >= share
        assert rows["significant"].tolist() == is_announced.tolist()
        tested = partial(print_result, found, table="significance")
        text = " ".join(printed(tested, width=200).split())
        expected = 100 * (1 - chance[is_announced]).mean()
        claimed = f"Of what posterior-ratio declares significant {expected:.1f} % is expected to lose"
        assert f"{claimed} significance." in text
        assert f"in {100 * share:g} % of the completed judgments" in text
        assert found.metadata["announce"] == share
        announced.append(is_announced.sum())
    assert announced[0] > announced[1] > 0


def test_without_draws_the_bounds_decide() -> None:
    found = compare_scores(doubtful("background(e=0.1)"))
    tests = rows_of_tests(found)
    assert all(tests[estimator]["p_adjusted"] < 0.001 for estimator in (AS_JUDGED, "background(e=0.1)"))
    assert all(tests[estimator]["significant"] is pd.NA for estimator in (AS_JUDGED, "background(e=0.1)"))
    text = " ".join(printed(lambda console: print_result(found, console), width=200).split())
    assert "No verdict where judging could give the difference the other sign or none" in text


def test_as_judged_nothing_is_significant_that_judging_could_turn() -> None:
    """P@2 on 8 topics: a has 14 of 16 relevant, c nothing but judged nonrelevant documents."""
    topics = "12345678"
    judged = {q: {"r": 1, "s": int(q > "2"), "n": 0, "o": 0} for q in topics}
    unjudged = {"b": topics, "d": "1"}  # topics on which a run has two unjudged documents
    runs = {"a": dict.fromkeys(topics, "rs"), "c": dict.fromkeys(topics, "no")}
    runs |= {run: {q: "xyn" if q in some else "no" for q in topics} for run, some in unjudged.items()}
    found = compare(from_rankings(runs, judged), list("abcd"), "P@2", estimators="as-judged", baseline="a")
    rows = found.significance().set_index("run_a")
    assert (rows["p_adjusted"] < 1e-4).all()
    assert rows["significant"].to_dict() == {"b": None, "c": True, "d": True}
    bounds = found.differences().set_index("run_a")[["bound_lower", "bound_upper"]].to_numpy()
    np.testing.assert_allclose(bounds, [[-0.875, 0.125], [-0.875, -0.875], [-0.875, -0.75]])
    assert found.runs().set_index("run_id")["better_than"].to_dict() == {"a": "cd", "b": "", "c": "", "d": ""}
    count, of_b, of_c, of_d = found.sentences()
    assert "0 of 3 runs have a significantly higher P@2 as judged and 2 a lower one (c, d)" in count
    assert "; that of b is too uncertain to declare significant." in count
    assert "Unjudged are 0.0 % of the top 2 of a and 100.0 % of the top 2 of b; the" in of_b
    assert "between -0.125 and 0.875 whatever they are: judging could reverse the order." in of_b
    assert "would be significant at 0.05 if all that is unjudged were nonrelevant" in of_b
    assert "of c is lower by 0.875: nothing of either is unjudged. On the" in of_c
    assert "between 0.750 and 0.875 whatever they are: no judgment can reverse the order." in of_d
    assert "0.875 is significant at 0.05 (" in of_d
    assert "-0.8750 to +0.1250" in found.to_markdown()


def test_no_difference_is_called_insignificant_that_judging_could_make_significant() -> None:
    runs = {
        "a": dict.fromkeys("1234", "r"),
        "b": dict.fromkeys("1234", "xn"),
        "c": dict.fromkeys("1234", "n"),
    }
    judged = {q: {"r": int(q == "1"), "n": 0} for q in "1234"}
    found = compare(from_rankings(runs, judged), list("abc"), "P@1", estimators="as-judged", control="none")
    rows = found.significance().set_index(["run_a", "run_b"])["significant"]
    assert rows[("a", "b")] is pd.NA
    assert not rows[("a", "c")]  # all of both is judged
    (text,) = found.sentences("b", "c")
    assert "P@1 of b and c is the same as judged" in text
    assert "between 0.000 and 1.000 whatever they are: judging could put either ahead." in text
    (text,) = found.sentences("a", "b")
    assert "would not be significant at 0.05 if all that is unjudged were nonrelevant" in text


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_runs_of_no_pool_are_apart_unless_they_are_said_to_be_variants() -> None:
    judged = {q: {"r": 1, "n": 0, "m": 0} for q in "12345"}
    ranked = {"a": "rxy", "b": "nzr", "c": "mxz"}
    runs = {run: {q: {d: -i for i, d in enumerate(docs)} for q in judged} for run, docs in ranked.items()}
    alike = "no pool: as runs of one system count "
    asked: tuple[tuple[dict[str, Any], dict[str, str] | None, str], ...] = (
        ({}, None, "no pool: each run counts as a system of its own; --systems names the runs"),
        ({"each_its_own": False}, None, f"{alike}a, b, c"),
        ({}, {"a": "s", "c": "s"}, f"{alike}a, c"),
        ({"organizations": {"a": "s", "b": "s"}}, None, f"{alike}a, b"),
    )
    for reading, systems, said in asked:
        collection = read_collection(judged, runs, **reading)
        found = compare(collection, None, "P@2", estimators="posterior-ratio(draws=20)", systems=systems)
        (note,) = (note for note in found.notes() if "system" in note)
        assert note.startswith(said)


def test_many_runs_are_said_what_two_are() -> None:
    found = compare(
        load_example(),
        [*NEW, "north-2", "lake-1", "lake-2"],
        "P@10",
        estimators="posterior-ratio",
        baseline="north-2",
        posterior_settings="draws=50",
    )
    first, *_ = found.sentences()
    draws = {scope: d for (_, _, scope), d in found.draws.items()}
    best = max((0, 1, 3, 4), key=lambda i: draws["these-topics"].difference[i, 2])
    run = found.run_ids[best]
    assert f" The highest of them by posterior-ratio is {run}. {found.sentences(run, 'north-2')[0]}" in first
    assert " due to unjudged documents, posterior-ratio" in first
    ends = (draws["population"].lower[best, 2], draws["population"].upper[best, 2])
    assert f"sampled from, the interval is {interval(*ends, 3, signed=True).replace('+', '')}" in first
    tex = found.to_latex()
    assert r"\multicolumn{2}{c}{unjudged documents} & \multicolumn{2}{c}{topics like these}" in tex
    assert r"\cmidrule(lr){5-6} \cmidrule(lr){7-8}" in tex
    row = next(line for line in tex.splitlines() if line.strip().startswith(f"{run} & "))
    for scope in ("these-topics", "population"):
        d = draws[scope]
        ends = interval(d.lower[best, 2], d.upper[best, 2], 4, signed=True).replace("-", "$-$")
        assert f"{ends} & {d.prob_greater[best, 2]:.3f}" in row


@cache
def against(*baseline: str, control: Control = "holm") -> Comparison:
    runs = [*NEW, "north-2", "lake-1"]
    asked = ["interpolated", "posterior-ratio"]
    example = load_example()
    return compare(
        example,
        runs,
        estimators=asked,
        baseline=baseline or None,
        control=control,
        posterior_settings="draws=50",
    )


def holm(p: FloatArray) -> FloatArray:
    """Return three p-values adjusted by hand: the least counts three times, and none less than a smaller."""
    adjusted, order = np.empty(3), np.argsort(p)
    adjusted[order] = np.maximum.accumulate(p[order] * (3, 2, 1))
    return np.minimum(adjusted, 1)


def test_a_baseline_is_compared_with_every_other_run_alone() -> None:
    found, full = against("north-2"), against()
    for frame in (found.differences(), found.significance()):
        for _, rows in frame.groupby(["estimator", "scope"]):
            assert rows["run_a"].tolist() == [*NEW, "lake-1"]
            assert set(rows["run_b"]) == {"north-2"}
    score = found.scores["P@10", AS_JUDGED]
    p = np.array([stats.ttest_rel(score.per_topic[i], score.per_topic[2]).pvalue for i in (0, 1, 3)])
    rows = found.significance().query("estimator == 'as-judged'")
    np.testing.assert_allclose(rows["p_adjusted"], holm(p))
    np.testing.assert_allclose(rows["difference"], score.value[[0, 1, 3]] - score.value[2])
    # chances, intervals and ranks do not depend on what is compared
    names = ["difference", "lower", "upper", "prob_greater", "prob_equivalent"]
    pair = "run_a == 'new-b' and run_b == 'north-2'"
    pd.testing.assert_frame_equal(
        found.differences().query(pair)[names].reset_index(drop=True),
        full.differences().query(pair)[names].reset_index(drop=True),
    )
    unchanged = found.runs().drop(columns="better_than")
    pd.testing.assert_frame_equal(unchanged, full.runs().drop(columns="better_than"))
    assert found.metadata["settings"]["baseline"] == ("north-2",)
    assert repr(found).startswith("<Comparison: P@10 of 3 pairs of 4 runs")


def test_draws_are_adjusted_over_the_pairs_with_a_baseline() -> None:
    found = against("north-2")
    e = found.scores["P@10", "posterior-ratio"]
    assert e.draws is not None
    n_significant, pairs = np.zeros(3), (np.array([0, 1, 3]), np.array([2, 2, 2]))
    for one in e.draws.on_grid():
        n_significant += holm(paired_t(one)[pairs]) <= 0.05
    rows = found.significance().query("estimator == 'posterior-ratio'")
    np.testing.assert_allclose(rows["prob_significant"], n_significant / len(e.draws.on_grid()))


def test_several_baselines_are_not_compared_with_one_another() -> None:
    rows = against("north-2", "new-b").significance().query("estimator == 'as-judged'")
    pairs = list(zip(rows["run_a"], rows["run_b"], strict=True))
    assert pairs == [(run, base) for base in ("north-2", "new-b") for run in ("new-a", "lake-1")]


def test_a_baseline_need_not_be_among_the_runs() -> None:
    asked: dict[str, Any] = {"estimators": "as-judged", "baseline": "north-2"}
    for run_ids, unpool, expected in (
        (["new-a"], (), ("new-a", "north-2")),
        (None, (), (*NEW, "north-2")),
        (None, "lake-1", ("north-2", "lake-1")),
    ):
        found = compare(load_example(), run_ids, unpool=unpool, unpool_by="run", **asked)
        assert found.run_ids == expected
        assert found.n_pairs == len(expected) - 1


def test_dunnett_is_for_one_baseline() -> None:
    found = against("north-2", control="dunnett")
    rows = found.significance().query("estimator == 'as-judged'")
    expected = dunnett(found.scores["P@10", AS_JUDGED].per_topic, 2)[2, [0, 1, 3]]
    np.testing.assert_allclose(rows["p_adjusted"], expected)
    assert set(rows["control"]) == {"dunnett"}
    assert "dunnett-1955" in {citation.key for citation in found.citations()}


def test_sentences_are_against_the_baseline() -> None:
    said = against("north-2").sentences()
    assert said[0].startswith("Against north-2, ")
    assert "1 of 3 runs has a significantly higher P@10 as judged (new-a) and 2" in said[0]
    assert "(paired t test, Holm over 3 pairs)" in said[0]
    value = against("north-2").scores["P@10", "posterior-ratio"].value
    for sentence, run, place in zip(said[1:], (*NEW, "lake-1"), (0, 1, 3), strict=False):
        way = "higher" if value[place] > value[2] else "lower"
        assert sentence.startswith(f"Against north-2, on these 20 topics the P@10 of {run} is {way} by 0.")
    with pytest.raises(InputError, match="new-a and new-b are not compared; only with north-2"):
        against("north-2").sentences("new-a", "new-b")
    assert "Differences in P@10 to north-2 (run b) on 20 topics" in against("north-2").to_latex()
    (board,) = (said for said in against("north-2").sentences() if " all ranks at once" in said)
    assert board.startswith("On topics like these ")  # the wider scope alone


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"run_ids": ["new-a"]}, "one run cannot be compared"),
    ({"tests": ["anova"]}, "tests cannot be 'anova'"),
    ({"tests": []}, "tests cannot be"),
    ({"scope": ["topics"]}, "scope cannot be 'topics'; known: these-topics, population"),
    ({"level": 0}, "level cannot be 0"),
    ({"rope": -0.1}, "rope cannot be -0.1"),
    ({"announce": 0.4}, "announce cannot be 0.4; at least 0.5 and at most 1"),
    ({"control": "bonferroni"}, "control cannot be 'bonferroni'"),
    ({"baseline": "new-c"}, "no run 'new-c' to compare with; did you mean 'new-"),
    ({"baseline": NEW}, "no run is compared with the baselines"),
    ({"control": "dunnett"}, "dunnett compares runs with one baseline"),
    ({"control": "dunnett", "baseline": NEW}, "dunnett compares runs with one baseline"),
    ({"control": "dunnett", "baseline": "new-a", "tests": "wilcoxon"}, "dunnett is a t test"),
    ({"baseline": "new-a", "tests": "tukey-hsd"}, "tukey-hsd controls for all pairs"),
)


def test_compare_refuses_what_it_does_not_know() -> None:
    for arguments, said in WRONG:
        call = {
            "run_ids": NEW,
            "estimators": ["posterior-ratio"],
            "posterior_settings": "draws=20",
            **arguments,
        }
        with pytest.raises(InputError, match=said):
            compare(load_example(), **call)
    with pytest.raises(InputError, match="as-judged is missing"):
        compare_scores(score(load_example(), NEW, estimators=["interpolated"]))


@pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
def test_runs_have_the_scores_that_score_prints() -> None:
    """A fully judged run beside one that is not; a shared ideal ranking is another measure, and says so."""
    asked: dict[str, Any] = {"estimators": "posterior-ratio", "posterior_settings": "draws=50"}
    pair = ["north-1", "new-b"]
    both = compare(load_example(), pair, "nDCG@10", **asked)
    scores = score(load_example(), pair, "nDCG@10", **asked).to_frame().set_index("run_id")
    runs = both.runs().query("scope == 'these-topics'").set_index("run_id")
    for name in ("value", "as_judged", "lower", "upper"):
        assert runs[name].tolist() == scores.loc[runs.index, name].tolist()
    (row,) = (
        both.differences().query("estimator != 'as-judged' and scope == 'these-topics'").to_dict("records")
    )
    assert row["difference"] == pytest.approx(scores["value"]["north-1"] - scores["value"]["new-b"])
    assert row["bound_lower"] - 1e-9 <= row["lower"] < row["upper"] <= row["bound_upper"] + 1e-9
    assert [str(m) for m in both.measures] == ["nDCG@10"] == list(both.metadata["ideals"])
    shared = compare(load_example(), pair, "nDCG@10", ideal="shared", **asked)
    of_shared = shared.scores["nDCG(ideal='shared')@10", "posterior-ratio"]
    assert of_shared.value[0] < scores["value"]["north-1"]
    axes = both.plot().axes[0]
    assert axes.get_xlabel() == "difference in nDCG@10"
