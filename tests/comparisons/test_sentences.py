"""Sentences on pairs of runs."""

from __future__ import annotations

import numpy as np
import pytest
from compared import NEW, compared, printed
from small import small
from toys import from_rankings

from bayespool.comparisons import compare, comparison_sentence
from bayespool.comparisons.draws import SignificantDraws
from bayespool.comparisons.sentences import _significance_chance, amount
from bayespool.errors import InputError
from bayespool.report.result import print_result
from bayespool.tables.formatting import interval, number, percent

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    # runs of the pool are compared beside new ones
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]


def test_runs_that_are_equal_whatever_is_judged_are_said_to_be() -> None:
    """Copies of one run: every draw completes both alike."""
    runs = {"a": {"q": "abx", "r": "dcy"}, "b": {"q": "abx", "r": "dcy"}, "c": {"q": "abc", "r": "dca"}}
    judged = {"q": {"a": 1, "b": 0, "c": 1}, "r": {"a": 0, "c": 1, "d": 1}}
    collection = from_rankings(runs, judged, {"c": "o"}, pooled_run_ids=("c",), pool_depth=3)
    found = compare(collection, ["a", "b"], ["P@3", "nDCG@3"], posterior_settings="draws=50")
    assert comparison_sentence(found, "a", "b", measure="P@3") == (
        "On these 2 topics the P@3 of a and b is the same, whatever the unjudged documents are "
        "(posterior-combined)."
    )
    of_ndcg = comparison_sentence(found, "a", "b", measure="nDCG@3")
    assert "nDCG@3 of a and b is the same, whatever the unjudged documents in their reach are (" in of_ndcg


def test_equal_runs_are_said_to_be_where_that_is_likeliest() -> None:
    """Two copies, and a run that differs from them in one unjudged document."""
    runs = {"a": {"q": "abx", "r": "dcy"}, "b": {"q": "abx", "r": "dcy"}, "d": {"q": "abz", "r": "dcy"}}
    runs["c"] = {"q": "abc", "r": "dca"}
    judged = {"q": {"a": 1, "b": 0, "c": 1}, "r": {"a": 0, "c": 1, "d": 1}}
    collection = from_rankings(runs, judged, {"c": "o"}, pooled_run_ids=("c",), pool_depth=3)
    found = compare(collection, ["a", "b", "d"], "P@3", posterior_settings="draws=50")
    rows = found.differences().dropna(subset="lower").query("run_a == 'a' and run_b == 'd'")
    here, there = (f"{row.prob_equal:.3f}" for row in rows.itertuples())
    assert float(here) > 0.5
    _, one, _, *boards = found.sentences()
    assert one.startswith(
        f"On these 2 topics the P@3 of a equals that of d with a probability of {here}; its mean is"
    )
    assert f", equal {there}). On the existing judgments" in one
    (board,) = boards
    assert board.startswith(
        "On topics like these a and b share the highest P@3 of 3 runs, and 1 run cannot be "
    )
    assert board.partition(" The ")[0].endswith(": d.")
    chances = (
        found.runs().dropna(subset="value").query("scope == 'population'").set_index("run_id")["prob_best"]
    )
    assert f"The probability that a and b are the best is {chances[['a', 'b']].sum():.3f}" in board


def test_a_pair_has_a_sentence_of_its_own_among_many() -> None:
    found = compared("new-a", "new-b", "north-1")
    (one,) = found.sentences("north-1", "new-a")
    draws = found.draws[found.measures[0], "posterior-ratio", "these-topics"]
    assert one == comparison_sentence(found, "new-a", "north-1")
    assert one.startswith("On these 20 topics the P@10 of new-a is higher than that of north-1 by ")
    assert (
        f"interval {interval(draws.lower[0, 2], draws.upper[0, 2], 3, signed=True).replace('+', '')} due"
        in one
    )
    assert "(paired t test, Holm over 3 pairs: p = 0.2063" in one
    (other,) = found.sentences("new-a", "new-b")
    assert other.endswith(
        "everything judged is under 0.001, and that its sign changes is under 0.001."
    )  # announced
    least, most = (number(end[0], 3) for end in found.bounds[found.measures[0]])
    share, more = (percent(x) for x in found.scores.bounds[0].unjudged_share[:2])
    assert f"Unjudged are {share} of the top 10 of new-a and {more} of the top 10 of new-b; the" in other
    assert f"between {least} and {most} whatever they are: no judgment can reverse the order." in other
    for wrong, message in ((("new-a",), "a pair is two runs, not 1"), (("new-a", "new-c"), "no run 'new-c'")):
        with pytest.raises(InputError, match=message):
            found.sentences(*wrong)


def test_a_difference_that_is_not_0_is_not_printed_as_0() -> None:
    told = {0.0: "0.000", 0.0004: "under 0.001", -0.0004: "above -0.001", 0.0006: "0.001", -0.25: "-0.250"}
    assert {difference: amount(difference) for difference in told} == told


@pytest.mark.parametrize(
    ("ahead", "behind", "said"),
    [
        (121, 2, "0.605 with new-a ahead"),
        (1, 121, "0.605 with new-b ahead"),
        (80, 41, "0.605 (0.400 with new-a ahead and 0.205 with new-b ahead)"),
        (1, 1, "0.010 in one direction or the other"),
    ],
)
def test_the_chance_of_significance_names_who_leads(ahead: int, behind: int, said: str) -> None:
    draws = SignificantDraws("paired-t", 0.05, "holm", 200, np.array([[0, ahead], [behind, 0]]))
    assert _significance_chance(compared(), draws, 0, 1) == said


def test_sentence_of_nothing() -> None:
    wrong: tuple[tuple[tuple[str, str], dict[str, str], str], ...] = (
        (("new-a", "nobody"), {}, "no run 'nobody'"),
        (NEW, {"measure": "P@5"}, "no measure 'P@5'"),
        (NEW, {"estimator": "as-judged"}, "no estimator with draws 'as-judged'"),
        (NEW, {"test": "wilcoxon"}, "no test 'wilcoxon'"),
    )
    for arguments, keywords, said in wrong:
        with pytest.raises(InputError, match=said):
            comparison_sentence(compared(), *arguments, **keywords)
    found = compare(small(), NEW, estimators=[])
    assert " as judged, with unjudged documents counted as nonrelevant." in comparison_sentence(found, *NEW)
    text = printed(lambda console: print_result(found, console))
    assert "as judged" in text
    assert "a population of topics: the" not in text
