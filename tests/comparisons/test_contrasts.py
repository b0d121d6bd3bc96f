"""Means of groups and systems compared: values by hand, Welch's test, a mixed model, and commands."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Outcome
from counted_runs import counted, write_counted
from scipy import stats
from small import small

from bayespool import compare, gate, plan_comparison
from bayespool.comparisons.contrasts import Part, Units
from bayespool.errors import InputError
from bayespool.measures.groups import Groups

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning"),
]
# over topics b is higher, and a as a mean of groups: five topics of a group and two of another
COUNTS = {"a": np.array([5, 4, 3, 6, 2, 9, 8]), "b": np.array([6, 7, 5, 8, 4, 5, 6])}
GROUPS = {f"t{t}": "android" if t < 5 else "gis" for t in range(7)}
AS_JUDGED = {"measures": "P@10", "estimators": "as-judged"}

RNG = np.random.default_rng(4)
HARD = RNG.normal(size=40)
SYSTEMS = {f"{name}-{r}": name for name in ("base", "tuned") for r in range(4)}


def drawn(lift: float) -> np.ndarray:
    """Relevant documents of a run on 40 topics, better than others by a lift and by chance."""
    level = 5 + lift + RNG.normal(scale=0.8)
    return np.clip(np.rint(level + HARD + RNG.normal(scale=1.2, size=40)), 0, 10).astype(int)


OF_SYSTEMS = {run: drawn(0.6 * (name == "tuned")) for run, name in SYSTEMS.items()}


def rows_of(frame: pd.DataFrame, scope: str = "these-topics") -> pd.DataFrame:
    return frame[frame["scope"] == scope].set_index("group")


def test_a_mean_of_groups_turns_the_order_and_has_welchs_test() -> None:
    frame = rows_of(compare(counted(COUNTS), ["a", "b"], groups=GROUPS, **AS_JUDGED).groups())
    assert frame["difference"].round(4).to_dict() == {
        "android": -0.2, "gis": 0.3, "mean of groups": 0.05, "all topics": round(-0.4 / 7, 4)
    }  # fmt: skip
    assert frame["n_topics"].tolist() == [5, 2, 7, 7]
    difference = (COUNTS["a"] - COUNTS["b"]) / 10
    single = [stats.ttest_1samp(part, 0).pvalue for part in (difference[:5], difference[5:])]
    welch = stats.ttest_ind(difference[:5], -difference[5:], equal_var=False).pvalue
    whole = stats.ttest_1samp(difference, 0).pvalue
    np.testing.assert_allclose(frame["p_value"], [*single, welch, whole])
    # by Holm over the two groups; the means by themselves
    holm = np.array([2 * min(single), max(*single, 2 * min(single))])[np.argsort(np.argsort(single))]
    np.testing.assert_allclose(frame["p_adjusted"], [*holm, welch, whole])
    np.testing.assert_allclose(frame["bound_lower"], frame["bound_upper"])


def test_the_sentence_says_which_mean_it_is(run: Callable[..., Outcome], tmp_path: Path) -> None:
    table = tmp_path / "topics.csv"
    table.write_text("topic,group\n" + "\n".join(f"{t},{g}" for t, g in GROUPS.items()), encoding="utf-8")
    files = write_counted(tmp_path, COUNTS)
    done = run("compare", *files, "--groups", table, "--estimators", "as-judged")
    assert "On these 7 topics the P@10 of b is higher than that of a by 0.057" in done.out
    sentence = (
        "As a mean of 2 groups with equal weight (android, gis), the P@10 of a is higher than that of b by "
        "0.050 as judged. On the existing judgments the difference of 0.050 is not significant at 0.05 (t "
        "test of topics within groups, one pair: p = 0.4922, standard error 0.052)."
    )
    assert sentence in done.out
    assert "It is higher in 1 of 2 groups, and over all 7 topics lower by 0.057." in done.out
    by_column = run(
        "compare",
        *files,
        "--groups",
        "group",
        "--reading",
        f"topics_table={table}",
        "--estimators",
        "as-judged",
    )
    assert sentence in by_column.out


def test_groups_need_two_topics_each_unless_these_topics_are_asked_about() -> None:
    groups = GROUPS | {"t6": "alone"}
    with pytest.raises(InputError, match="of 'gis', 'alone' there is one"):
        compare(counted(COUNTS), ["a", "b"], groups=groups, **AS_JUDGED)
    found = compare(counted(COUNTS), ["a", "b"], groups=groups, scope="these-topics", **AS_JUDGED)
    frame = rows_of(found.groups())
    assert frame["difference"].round(4).tolist() == [-0.2, 0.4, 0.2, 0.1333, -0.0571]
    assert frame["p_value"].isna().tolist() == [False, True, True, True, False]
    assert "has no test" in found.sentences()[-1]


def test_what_groups_cannot_be() -> None:
    for groups, reason in (
        (dict.fromkeys(GROUPS, "one"), "one group of topics, 'one'"),
        ({"t0": "one"}, "6 topics without a group: 't1'"),
        (GROUPS | {"t0": "all topics"}, "a group is called 'all topics'"),
        ("no_column", "no column 'no_column'"),
        ("no/file.csv", "no such file"),
    ):
        with pytest.raises(InputError, match=reason):
            compare(counted(COUNTS), ["a", "b"], groups=groups, **AS_JUDGED)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no groups to be a sample"):
        compare(counted(COUNTS), ["a", "b"], scope="groups", **AS_JUDGED)


def test_a_difference_of_systems_has_the_error_of_a_mixed_model() -> None:
    found = compare(
        counted(OF_SYSTEMS), systems=SYSTEMS, estimators="posterior-ratio(draws=50)", measures="P@10"
    )
    frame = found.system_differences().query("estimator == 'as-judged'")
    (row,) = frame.to_dict("records")
    assert (row["system_a"], row["system_b"]) == ("base", "tuned")
    scores = np.stack(list(OF_SYSTEMS.values())) / 10
    base, tuned = scores[:4].mean(axis=0), scores[4:].mean(axis=0)
    assert row["difference"] == pytest.approx((base - tuned).mean())
    from statsmodels.regression.mixed_linear_model import MixedLM

    run, topic = np.divmod(np.arange(320), 40)
    rows = pd.DataFrame({"y": scores.ravel() * 10, "run": run, "topic": topic, "system": run // 4})
    terms = {"run": "0 + C(run)", "topic": "0 + C(topic)"}
    with warnings.catch_warnings(action="ignore"):
        fit = MixedLM.from_formula("y ~ system", rows, groups=np.ones(320), vc_formula=terms).fit()
    assert row["standard_error"] == pytest.approx(fit.bse["system"] / 10, rel=0.02)
    # topics alone would say that the difference is sure
    assert stats.ttest_rel(base, tuned).pvalue < 0.01 < 0.05 < row["p_value"]
    there = found.system_differences().query("scope == 'population'").iloc[0]
    assert there["lower"] < 0 < there["upper"]
    sentence = found.sentences()[0]
    assert sentence.startswith(
        "On these topics the P@10 of tuned (4 runs) is higher than that of base (4 runs) by 0."
    )
    assert "On topics and runs like these the 95 % interval is -0." in sentence
    assert "is not significant at 0.05 (t test with runs and topics crossed, one pair: p = 0." in sentence


def test_tests_reject_what_is_true_in_one_of_twenty() -> None:
    """The draws of a test are simulated scores here, each of other topics and runs."""
    rng, places = np.random.default_rng(5), (np.array([0]), np.array([1]))
    units = Units(("a", "b"), ((0, 1, 2), (3, 4, 5)), are_systems=True)
    on_topics = np.repeat(rng.normal(scale=0.1, size=(3000, 2, 30)), 3, axis=1)
    scores = on_topics + rng.normal(scale=0.03, size=(3000, 6, 1)) + rng.normal(scale=0.1, size=(3000, 6, 30))
    (whole,) = Part.all_of(30, None)
    assert 0.03 <= (whole.test(scores, units, places, "population").p <= 0.05).mean() <= 0.07
    groups = Groups(tuple(np.repeat(["a", "b", "c"], [15, 9, 6]).tolist()))
    unequal = rng.normal(scale=[0.1, 0.2, 0.3], size=(3000, 2, 3))
    spread = np.array([0.1, 0.2, 0.3])[groups.topic_group]
    *_, mean, _ = Part.all_of(30, groups)
    scores = rng.normal(scale=spread, size=(3000, 2, 30))
    assert 0.03 <= (mean.test(scores, Units.of("ab", ()), places, "population").p <= 0.05).mean() <= 0.07
    by_group = unequal[:, :, groups.topic_group]
    assert 0.03 <= (mean.test(by_group, Units.of("ab", ()), places, "groups").p <= 0.05).mean() <= 0.08


def test_systems_of_one_run_are_runs() -> None:
    sole = {run: run for run in ("base-0", "tuned-0")}
    found = compare(counted(OF_SYSTEMS), ["base-0", "tuned-0"], systems=sole, **AS_JUDGED)
    (row,) = found.system_differences().to_dict("records")
    expected = stats.ttest_rel(OF_SYSTEMS["base-0"], OF_SYSTEMS["tuned-0"]).pvalue
    assert row["p_value"] == pytest.approx(expected)


def test_a_baseline_is_a_system_and_controls_over_systems() -> None:
    three = OF_SYSTEMS | {"bm25": np.full(40, 3)}
    found = compare(counted(three), systems=SYSTEMS, baseline="base", **AS_JUDGED)
    frame = found.system_differences()
    assert frame[["system_a", "system_b"]].to_numpy().tolist() == [["tuned", "base"], ["bm25", "base"]]
    smaller, larger = np.sort(frame["p_value"])
    np.testing.assert_allclose(np.sort(frame["p_adjusted"]), [2 * smaller, max(2 * smaller, larger)])
    assert found.baseline == ("base-0", "base-1", "base-2", "base-3")
    with pytest.raises(InputError, match="no run 'other' to compare with; known: base, tuned, base-0, "):
        compare(counted(three), systems=SYSTEMS | {"z": "gone"}, baseline="other", **AS_JUDGED)
    named = compare(counted(three), systems=SYSTEMS | {"z": "gone"}, **AS_JUDGED)
    assert "1 run of the list of systems not in the collection: 'z'" in named.notes()


@pytest.mark.parametrize("asked", [{"groups": GROUPS}, {"systems": {"a": "s", "b": "t"}}])
def test_other_tests_of_groups_and_systems_are_refused(asked: dict[str, dict[str, str]]) -> None:
    with pytest.raises(InputError, match=r"paired-t, wilcoxon: means of groups and systems have a t test"):
        compare(counted(COUNTS), ["a", "b"], tests=["paired-t", "wilcoxon"], **asked, **AS_JUDGED)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("t0,android\nt1,gis\n", "the first line names no column of topics; begin with the line topic,group"),
        ("topic,group\n", "no groups; begin with the line topic,group, and add a line for each topic"),
        ("topic,forum,language\nt0,a,de\n", "no column of groups; call it group; there are forum, language"),
    ],
)
def test_a_file_without_groups_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"topics.csv: {problem}")):
        compare(counted(COUNTS), ["a", "b"], groups=path, **AS_JUDGED)


def test_gate_and_plan_take_systems_and_groups(run: Callable[..., Outcome], tmp_path: Path) -> None:
    files = write_counted(tmp_path, OF_SYSTEMS)
    table = tmp_path / "systems.csv"
    table.write_text("run_id,system\n" + "\n".join(f"{r},{s}" for r, s in SYSTEMS.items()), encoding="utf-8")
    done = run("gate", *files, "--systems", table)
    assert done.status == 2
    assert "the P@10 of tuned (4 runs) − base (4 runs) on topics and runs like these is +0." in done.out
    asked = {"measures": "P@10", "estimators": "posterior-ratio(draws=500)"}
    collection = counted(OF_SYSTEMS)
    turned = gate(collection, ["tuned", "base"], systems=SYSTEMS, scope="these-topics", **asked)
    assert turned.verdict == "worse"
    with pytest.raises(InputError, match="1 system; name two"):
        gate(collection, ["tuned"], systems=SYSTEMS, **asked)
    alone = plan_comparison(collection, ["tuned-0", "base-0"], **asked)
    of_systems = plan_comparison(collection, ["tuned", "base"], systems=SYSTEMS, **asked)
    assert "between systems of 4 runs is detected" in of_systems.sentences()[0]
    found = of_systems.scenarios().set_index("scenario")["smallest"]
    now, more_topics = found["as it is"], found["50 more topics"]
    assert 0.9 * now < more_topics <= now, "more topics help little where runs differ"
    assert found["5 more runs a system"] < found["2 more runs a system"] < 0.8 * now
    assert "with 5 more runs a system" in of_systems.sentences()[0]
    with pytest.raises(InputError, match="more_runs without systems"):
        plan_comparison(collection, ["tuned-0", "base-0"], more_runs=3, **asked)
    halves = {f"t{t}": "ab"[t % 2] for t in range(40)}
    grouped = plan_comparison(collection, ["tuned-0", "base-0"], groups=halves, **asked)
    assert "in the mean of 2 groups with equal weight (a, b) is detected" in grouped.sentences()[0]
    # groups of one size, with the same spread, plan as all topics
    assert grouped.scenarios()["smallest"][0] == pytest.approx(alone.scenarios()["smallest"][0], rel=0.1)


def test_with_holes_a_mean_of_groups_has_the_draws_of_its_topics() -> None:
    collection, groups = small(), dict(zip(small().query_ids, "aabbbbbb", strict=True))
    asked = {"measures": "P@5", "estimators": "posterior-ratio", "posterior_settings": "draws=100"}
    found = compare(collection, ["new-a", "new-b"], groups=groups, **asked)
    draws = found.scores["P@5", "posterior-ratio"].draws
    assert draws is not None
    lead = draws.scores()[:, 0] - draws.scores()[:, 1]
    expected = (lead[:, :2].mean(axis=1) + lead[:, 2:].mean(axis=1)) / 2
    rows = (
        found.groups()
        .query("estimator == 'posterior-ratio' and group == 'mean of groups'")
        .set_index("scope")
    )
    assert rows.loc["these-topics", "difference"] == pytest.approx(expected.mean())
    assert rows.loc["these-topics", "prob_greater"] == pytest.approx((expected > 1e-9).mean())
    here, there = (
        rows.loc[scope, "upper"] - rows.loc[scope, "lower"] for scope in ("these-topics", "population")
    )
    assert here < there
    bounds = rows.loc["these-topics", ["bound_lower", "bound_upper"]]
    assert bounds["bound_lower"] <= expected.min() + 1e-9
    assert expected.max() <= bounds["bound_upper"] + 1e-9
    groups_too = compare(collection, ["new-a", "new-b"], groups=groups, scope="groups", **asked)
    wider = groups_too.groups().query("estimator == 'posterior-ratio' and scope == 'groups'")
    assert wider["group"].tolist() == ["mean of groups"]
    decided = gate(collection, ["new-a", "new-b"], "P@5", groups=groups, estimators="posterior-ratio")
    assert "on topics like these, as a mean of 2 groups with equal weight (a, b), is" in decided.sentence


def test_parts_of_groups_among_some_topics() -> None:
    *_, mean, _ = Part.all_of(4, Groups(("a", "a", "b", "b")))
    assert mean.may_be_sampled
    fewer = mean.among(np.array([True, True, True, False]))
    assert fewer.mean(np.array([0.2, 0.4, 1.0, 9.0])) == pytest.approx(0.65)
    assert not fewer.may_be_sampled
    units = Units.of(["x", "y"], ())
    assert not units.are_systems
    assert np.isnan(
        fewer.test(np.zeros((1, 2, 4)), units, (np.array([0]), np.array([1])), "population").p
    ).all()
