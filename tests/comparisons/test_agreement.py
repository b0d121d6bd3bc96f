"""Statements across measures: from draws of the same completed judgments, or none at all."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from compared import NEW, printed
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from known_scores import with_posterior

from bayespool.comparisons import Comparison, agree_on_draws, compare, compare_across
from bayespool.comparisons.comparing import compare_scores
from bayespool.comparisons.draws import with_shared_draws
from bayespool.comparisons.sentences import across_sentence
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures.populations import population_draws
from bayespool.report.terminal import print_result
from bayespool.scoring import score

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

METHOD = "posterior-ratio"
NDCG, R100 = "nDCG(ideal='shared')@10", "R(ideal='shared')@100"  # of runs that are compared


@cache
def compared(*measures: str, joint: bool = True) -> Comparison:
    return compare(load_example(), NEW, measures, estimators=[METHOD], draws=60, joint=joint)


def test_draws_of_two_runs_on_two_measures_by_hand() -> None:
    """a above b on both; on the first alone; equal on one; equal on both; below on both."""
    first = np.array([[3, 2], [3, 2], [2, 2], [1, 1], [1, 4]])
    second = np.array([[0.4, 0.1], [0.1, 0.4], [0.5, 0.1], [0.3, 0.3], [0.1, 0.2]])
    found = agree_on_draws([first, second])
    assert found.prob_all_greater[0, 1] == pytest.approx(1 / 5)
    assert found.prob_all_greater[1, 0] == pytest.approx(1 / 5)
    assert found.prob_disagree[0, 1] == found.prob_disagree[1, 0] == pytest.approx(1 / 5)
    assert found.prob_tied[0, 1] == pytest.approx(2 / 5)
    three = agree_on_draws([first, second, -second])
    assert three.prob_all_greater[0, 1] == three.prob_all_greater[1, 0] == 0
    assert three.prob_disagree[0, 1] == pytest.approx(4 / 5)


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(2, 4)), elements=st.integers(0, 3)))
def test_a_measure_agrees_with_itself(values: np.ndarray) -> None:
    found = agree_on_draws([values, values / 3])
    assert not found.n_disagree.any()
    above = (values[:, :, None] > values[:, None]).sum(axis=0)
    np.testing.assert_array_equal(found.n_greater, above)


def test_draws_of_other_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="as many draws of the same runs"):
        agree_on_draws([np.zeros((3, 2)), np.zeros((4, 2))])
    with pytest.raises(InputError, match="as many draws of the same runs"):
        agree_on_draws([])


@pytest.mark.slow
def test_measures_completed_together_share_every_draw() -> None:
    """P@5 and P@10 of one completion: relevant in the top 5 is relevant in the top 10, and so for ideals."""
    scores = compared("P@5", "P@10", "nDCG@10", "R@100").scores
    five, ten, deep = (scores[METHOD, measure].draws for measure in ("P@5", "P@10", R100))
    assert five is not None
    assert ten is not None
    assert deep is not None
    assert (five.amount <= ten.amount).all()
    assert ten.amount.std(axis=0).max() > 0.5
    follow = np.corrcoef(ten.totals()[:, 1], scores[METHOD, NDCG].draws.totals()[:, 1])[0, 1]  # type: ignore[union-attr]
    assert follow > 0.5
    alone = compared("P@10").scores[METHOD, "P@10"].draws
    assert alone is not None
    assert (five.amount <= alone.amount).mean() > 0.9  # the same numbers, of a fit to other evidence


def test_probabilities_are_those_of_the_draws() -> None:
    found = compared("P@10", "nDCG@10", "R@100")
    frame = found.across_measures()
    assert frame["measures"].unique().tolist() == [f"P@10, {NDCG}, {R100}"]
    assert frame["scope"].tolist() == ["these-topics", "population"]
    assert (frame["n_measures"] == 3).all()
    ahead = np.array(
        [
            np.round(t[:, 0] - t[:, 1], 12)
            for t in (found.scores[METHOD, m].draws.totals() for m in ("P@10", NDCG, R100))  # type: ignore[union-attr]
        ]
    )
    row = frame.iloc[0]
    assert row["prob_all_greater"] == pytest.approx((ahead > 0).all(axis=0).mean())
    assert row["prob_all_less"] == pytest.approx((ahead < 0).all(axis=0).mean())
    assert row["prob_disagree"] == pytest.approx(((ahead > 0).any(axis=0) & (ahead < 0).any(axis=0)).mean())
    columns = ["prob_all_greater", "prob_all_less", "prob_disagree", "prob_tied"]
    np.testing.assert_allclose(frame[columns].sum(axis=1), 1)
    single = found.differences().query("scope == 'these-topics' and method == @METHOD")
    assert row["prob_all_greater"] <= single["prob_greater"].min()


def test_a_population_is_sampled_once_for_all_measures() -> None:
    """Of P@10 twice the runs' order is the same in every draw."""
    e = compared("P@10").scores[METHOD, "P@10"]
    found = compare_across([e, e], "population", random_seed=3)
    assert not found.n_disagree.any()
    assert e.draws is not None
    means = population_draws(e.draws.amount, random_seed=3)
    assert found.n_greater[0, 1] == (means[:, 0] > means[:, 1]).sum()


@pytest.mark.slow
def test_without_joint_draws_nothing_is_said() -> None:
    apart = compared("P@10", "nDCG@10", "R@100", joint=False)
    assert apart.across_measures()["measures"].unique().tolist() == [f"P@10, {NDCG}"]
    alone = compared("R@100").scores[METHOD, R100]
    np.testing.assert_array_equal(apart.scores[METHOD, R100].value, alone.value)
    text = printed(lambda console: print_result(apart, console))
    assert f"note: {METHOD}: draws of {R100} are of completed judgments of their own" in text
    two = compared("P@10", "R@100", joint=False)
    assert two.across_measures().empty
    assert "at once" not in printed(lambda console: print_result(two, console))
    assert compared("P@10").across_measures().empty


def test_draws_that_do_not_say_that_they_are_shared_are_not() -> None:
    """An estimator of one's own has no fits: nobody knows which judgments its draws complete."""
    scores = with_posterior(score(load_example(), NEW, ["P@5", "P@10"], estimators=["as-judged"]))
    found = compare_scores(scores)
    assert found.across_measures().empty
    known = [e for e in scores.estimates if e.draws is not None]
    told = [dataclasses.replace(e, fits={"model": known[0]}) for e in known]
    assert with_shared_draws(told) == [told]
    other = [dataclasses.replace(e, fits={"model": e}) for e in known]
    assert with_shared_draws(other) == []


@pytest.mark.slow
def test_measures_that_are_not_the_better_the_higher_take_no_part() -> None:
    found = compared("P@10", "Judged@10", "RR@10", "AntiP@10")
    assert found.across_measures()["measures"].unique().tolist() == ["P@10, RR@10"]
    tests = found.significance().query("measure == 'Judged@10' and method == @METHOD")
    assert tests["prob_significant"].isna().all()
    text = printed(lambda console: print_result(found, console))
    assert "the Judged@10 of" not in text
    assert "note: posterior-ratio: draws" not in text


def test_sentence_and_table_have_the_frames_numbers() -> None:
    found = compared("P@10", "nDCG@10", "R@100")
    row = found.across_measures().iloc[0]
    said = across_sentence(row, 20)
    assert said.startswith(f"On these 20 topics new-a is higher than new-b on P@10, on {NDCG} and on {R100}")
    text = printed(lambda console: print_result(found, console))
    assert said in text
    shown = text[text.index(f"P@10, {NDCG}, {R100} at once, these 20 topics") :].splitlines()
    cells = next(line.split() for line in shown if line.startswith(" new-a  new-b"))
    names = ["prob_all_greater", "prob_all_less", "prob_disagree", "prob_tied"]
    assert cells[3:] == [f"{row[name]:.3f}" for name in names]
