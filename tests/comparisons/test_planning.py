"""Plans: power of known pairs, what topics, judgments and labels change."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from small import small, small_with_failed_queries
from statsmodels.stats.power import TTestPower

from bayespool import compare, load_example, plan_comparison, score
from bayespool.comparisons import ComparisonPlan, PairVariances
from bayespool.comparisons.contrasts import Part, Units
from bayespool.comparisons.planning import best_pooled_runs
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.measures import Values, equal_tailed_interval, parse_measure

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

NONE = np.zeros(1)
ONE = PairVariances(50, np.array([0.04]), NONE, NONE)  # a spread of .2 on 50 topics, everything judged


def test_power_is_that_of_the_t_test() -> None:
    for n_topics, level in ((10, 0.05), (50, 0.01), (200, 0.05)):
        for difference in (0.02, 0.05, 0.1):
            power = TTestPower().power(difference / 0.2, n_topics, level, alternative="two-sided")
            other_side = TTestPower().power(-difference / 0.2, n_topics, level, alternative="larger")
            found = ONE.power(difference, n_topics, level=level)
            assert found == pytest.approx(power, abs=other_side + 1e-6), (n_topics, difference)


def test_the_smallest_difference_has_the_power() -> None:
    several = PairVariances(50, np.array([0.01, 0.04, 0.09]), np.zeros(3), np.full(3, 1e-4))
    for power in (0.5, 0.8, 0.95):
        smallest = several.smallest(power, 30)
        assert several.power(smallest, 30) == pytest.approx(power, abs=1e-3)
    assert several.topics_for(several.smallest(0.8, 80), 0.8) == pytest.approx(80, abs=1)
    assert PairVariances(5, NONE, NONE, NONE).smallest(0.8, 5) == 0


def test_parts_of_the_variance_by_hand() -> None:
    # differences of two topics in two draws: (2, 0) and (4, 2), tenths
    draws = np.array([[[5, 3], [3, 3]], [[6, 5], [2, 3]]], dtype=np.int32)
    found = PairVariances.from_draws(Values(draws, 10))
    np.testing.assert_allclose(found.topic_variance, [0.02])
    np.testing.assert_allclose(found.topic_specific_error, [(0.01 + 0.01) / 4])
    np.testing.assert_allclose(found.common_error, [0.01 - 0.005])


def test_topics_do_not_take_shared_errors_away_and_judgments_do() -> None:
    pair = PairVariances(50, np.array([0.04]), np.array([4e-4]), np.array([4e-4]))
    np.testing.assert_allclose(pair.unjudged_variance(50), [8e-4])
    np.testing.assert_allclose(pair.unjudged_variance(100), [6e-4])
    np.testing.assert_allclose(pair.unjudged_variance(50, 0.5), [3e-4])
    np.testing.assert_allclose(pair.unjudged_variance(50, 1), [0])
    assert pair.unjudged_share(50) == pytest.approx(0.5)
    assert pair.topics_for(0.02, 0.8) is None, "the shared errors alone hide it"
    assert pair.topics_for(0.04, 0.8, 1.0) < pair.topics_for(0.06, 0.8, 0.0)  # type: ignore[operator]


def crossed(n_runs: int, of_runs: float, of_cells: float) -> PairVariances:
    """Two systems on 25 topics, whose runs have a deviation in all, and a run on each topic another."""
    of_topics = 2 * 0.1**2 + 2 * of_cells**2 / n_runs
    return PairVariances(
        25,
        np.array([of_topics]),
        NONE,
        NONE,
        run_variance=of_runs**2,
        run_noise=of_cells**2 / 25,
        run_degrees=2 * (n_runs - 1),
        n_runs=np.array([[n_runs, n_runs]]),
    )


@pytest.mark.parametrize(("of_runs", "of_cells"), [(0.02, 0.2), (0.05, 0.1), (0.2, 0.0), (0.01, 0.3)])
@pytest.mark.parametrize("n_runs", [2, 3, 5])
def test_more_topics_and_more_runs_never_hurt(n_runs: int, of_runs: float, of_cells: float) -> None:
    pair, numbers = crossed(n_runs, of_runs, of_cells), (25, 30, 50, 80, 200, 400, 2000)
    smallest = [pair.smallest(0.8, n) for n in numbers]
    assert (np.diff(smallest) <= 1e-6).all(), smallest
    for difference in (0.5 * smallest[0], smallest[0]):
        assert (np.diff([pair.power(difference, n) for n in numbers]) >= -1e-3).all()
    more, expected = pair.with_runs(2), crossed(n_runs + 2, of_runs, of_cells)
    np.testing.assert_allclose(more.topic_variance, expected.topic_variance)
    assert more.run_degrees == expected.run_degrees
    assert more.smallest(0.8, 25) == pytest.approx(expected.smallest(0.8, 25), abs=1e-6)
    assert more.smallest(0.8, 25) < smallest[0]


@pytest.mark.parametrize("n_topics", [25, 100])
def test_power_of_systems_is_that_of_their_crossed_test(n_topics: int) -> None:
    rng = np.random.default_rng(5)
    shapes = {(1500, 2, 1, n_topics): 0.1, (1500, 2, 3, 1): 0.02, (1500, 2, 3, n_topics): 0.2}
    scores = np.sum(
        [
            np.broadcast_to(rng.normal(scale=scale, size=shape), (1500, 2, 3, n_topics))
            for shape, scale in shapes.items()
        ],
        axis=0,
    )
    scores[:, 0] += 0.12
    units = Units(("a", "b"), ((0, 1, 2), (3, 4, 5)), True)
    part, pairs = Part("all", np.ones(n_topics, dtype=bool)), (np.array([0]), np.array([1]))
    made = part.test(scores.reshape(1500, 6, n_topics), units, pairs, "population")
    detected = float(((made.p < 0.05) & (made.difference > 0)).mean())
    assert crossed(3, 0.02, 0.2).power(0.12, n_topics) == pytest.approx(detected, abs=0.04)


FEW: dict[str, Any] = {"estimators": "posterior-ratio(draws=50)"}


@cache
def made(**settings: object) -> ComparisonPlan:
    """A plan of the example's two new runs."""
    named = FEW | {"judgments": (20,), "more_topics": (20,)}
    return plan_comparison(load_example(), ["new-a", "new-b"], "P@10", **named | settings)


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_its_variances_are_those_of_what_score_and_compare_print(measure: str) -> None:
    """The deviation on these topics, and, as far as t has it, the width on topics like these."""
    runs, asked = ["new-a", "new-b"], {"estimators": "posterior-ratio", "posterior_settings": "draws=100"}
    variances = plan_comparison(small(), runs, measure, estimators="posterior-ratio(draws=100)").variances[
        False
    ]
    n = variances.n_topics
    (estimates,) = score(small(), runs, measure, **asked).estimates
    draws = estimates.draws.means()
    assert np.sqrt(variances.unjudged_variance(n)) == pytest.approx(
        (draws[:, 0] - draws[:, 1]).std(), abs=1e-12
    )
    table = compare(small(), runs, measure, **asked).differences().dropna(subset="lower").set_index("scope")
    ends = equal_tailed_interval(draws[:, 0] - draws[:, 1], 0.95)
    assert table.loc["these-topics", ["lower", "upper"]].tolist() == pytest.approx(ends, abs=1e-12)
    spread = np.sqrt(variances.topic_variance[0] / n + variances.unjudged_variance(n)[0])
    width = table.loc["population", "upper"] - table.loc["population", "lower"]
    assert width == pytest.approx(2 * t.ppf(0.975, n - 1) * spread, rel=0.15)


def test_topics_that_a_difference_takes() -> None:
    found = made(difference=0.08)
    (pair,) = found.variances.values()
    needed = found.scenarios().set_index("scenario")["topics_needed"]
    share = 20 / found.n_unjudged
    assert needed["as it is"] == needed["20 more topics"] == pair.topics_for(0.08, 0.8)
    assert needed["20 more judgments"] == pair.topics_for(0.08, 0.8, share) <= needed["as it is"]
    assert needed["everything judged"] == pair.topics_for(0.08, 0.8, 1.0) < needed["as it is"]
    assert found.sentences()[1] == (
        f"Detecting a difference of 0.08 takes {needed['as it is']} topics, "
        f"or {needed['20 more judgments']} topics with 20 more judgments, or "
        f"{needed['everything judged']} topics with everything judged."
    )
    assert (
        made(difference=1e-6)
        .sentences()[1]
        .startswith("Detecting a difference of 1e-06 takes more than 2,000 topics, ")
    )
    assert "topics_needed" not in made().scenarios()


def test_a_plan_without_a_collection_is_of_what_is_stated() -> None:
    made = plan_comparison(topics_at_hand=50, sd=0.2, more_topics=(30,), difference=0.05)
    expected = [ONE.smallest(0.8, n_topics) for n_topics in (50, 80)]
    assert made.scenarios()["smallest"].tolist() == pytest.approx(expected)
    assert made.scenarios()["topics_needed"].tolist() == [ONE.topics_for(0.05, 0.8)] * 2
    assert made.sentences()[0].startswith("On 50 topics a difference of 0.081 is detected")


def test_without_runs_the_best_pooled_ones_of_organizations_are_taken() -> None:
    example = load_example()
    low = score_bounds(example, example.pooled_run_ids, parse_measure("P@10")).low.means()
    organizations = [example.organizations[o] for o in example.organization[example.pooled]]
    best = pd.DataFrame({"run": example.pooled_run_ids, "of": organizations, "low": low})
    expected = best.sort_values(["low", "run"]).groupby("of")["run"].last()
    assert sorted(best_pooled_runs(example, parse_measure("P@10"))) == sorted(expected)
    assert best_pooled_runs(example.unpool(example.pooled_run_ids), parse_measure("P@10")) == ()
    one = example.unpool([run for run in example.pooled_run_ids if not run.startswith("north")])
    assert best_pooled_runs(one, parse_measure("P@10")) == one.pooled_run_ids
    with warnings.catch_warnings(action="error"):
        plan = plan_comparison(example, None, "P@10", judgments=(), more_topics=(), **FEW)
    named = (
        "no runs named: the best pooled runs of 8 organizations, as they are judged; --unpool has new ones"
    )
    assert named in plan.notes()


BOTH = (["new-a", "new-b"],)
STATED: dict[str, Any] = {"topics_at_hand": 50, "sd": 0.2}
WRONG: tuple[tuple[tuple[Any, ...], dict[str, Any], str], ...] = (
    (("new-a",), {}, "one run has no difference"),
    ((*BOTH, ["P@10", "P@5"]), {}, "choose one"),
    (BOTH, {"estimators": "as-judged"}, "'as-judged' is no posterior"),
    ((), STATED, "a collection beside topics at hand"),
)
IDLE = {"judgments": (50,), "estimators": "posterior-ratio(draws=9)", "unpool": "new-a"}


def test_what_cannot_be_planned_is_refused() -> None:
    for given, settings, said in WRONG:
        with pytest.raises(InputError, match=said):
            plan_comparison(load_example(), *given, **settings)
    with pytest.raises(InputError, match="needs the topics at hand and the standard deviation"):
        plan_comparison(topics_at_hand=50)
    with pytest.raises(InputError, match="no collection"):
        plan_comparison()
    for name, value in IDLE.items():
        with pytest.raises(InputError, match=f"{name} beside topics_at_hand: without"):
            plan_comparison(**STATED, **{name: value})


def test_heading_and_sentence_say_what_the_plan_rests_on() -> None:
    lacking = "2 of 8 topics missing from new-b, counted as 0"
    plan = plan_comparison(small_with_failed_queries(), ["new-a", "new-b"], "P@10", **FEW)
    assert plan.tables()[0].views[0].title.endswith(f"at 0.05; {lacking}")
    assert plan.sentences()[0].startswith(f"On 8 topics ({lacking}) a difference of ")
    alone = small().with_pool(np.zeros(len(small().run_ids), dtype=bool), 0)
    with warnings.catch_warnings(action="ignore"):
        plan = plan_comparison(alone, ["new-a", "new-b"], "P@10", **FEW)
    condition = "no pool, posteriors on priors alone"
    assert plan.tables()[0].views[0].title.endswith(f"at 0.05; {condition}")
    assert f"(t interval at 0.05; {condition})" in plan.sentences()[0]
    far = replace(plan, metadata={"far_runs": ["new-a"]})
    assert "(t interval at 0.05; new-a unlike the pool)" in far.sentences()[0]
    assert "pool" not in replace(far, n_unjudged=0).sentences()[0], "nothing rests on the posterior"
