"""The systems adjustment and the topics adjustment, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corrected import close, estimate
from toys import COMMON, from_rankings, toy_collection

from bayespool.corrections import SystemsAdjustment, TopicsAdjustment
from bayespool.counts import judgment_counts
from bayespool.errors import InputError


# Systems adjustment: relevant documents that each pooled run alone contributed and that u (a l d, v p z, e f
# within depth 3) does not have. Runs held out: n1 c, n2 f; without the substitute also s1 v. Organizations
# held out: n1 c, r; n2 f c, r; s1 h; s2 h; without the substitute also n1 p, n2 p, s1 v. 4 runs, 3 topics.
@pytest.mark.parametrize(
    ("settings", "n_lost"),
    [
        ({}, 2),
        ({"substitute": False}, 3),
        ({"by": "organization"}, 7),
        ({"by": "organization", "substitute": False}, 10),
    ],
)
def test_systems_adjustment_of_the_toy(settings: dict[str, Any], n_lost: int) -> None:
    result = estimate(SystemsAdjustment(**settings))
    adjustment = n_lost / 5 / 12
    assert result.value[0] == pytest.approx(4 / 15 + adjustment, abs=1e-12)
    residual = judgment_counts(toy_collection(), "u", cutoffs=5).residual[0, :, 0]
    shared = residual * adjustment * 3 / residual.sum()  # the topics share it in proportion to their Δ
    assert result.per_topic[0].tolist() == close(*(np.array([0.4, 0.4, 0]) + shared))


def test_systems_adjustment_of_a_pooled_run_leaves_itself_out() -> None:
    # held out one at a time with s1 in the pool: n1 c, n2 f, s2 nothing relevant; 3 runs, 3 topics
    assert estimate(SystemsAdjustment(), run_id="s1").value[0] == pytest.approx(4 / 15 + 2 / 5 / 9, abs=1e-12)


def test_systems_adjustment_beyond_the_residual() -> None:
    # n1 is fully judged at P@3; n2 alone has f and s1 alone has v there
    within = estimate(SystemsAdjustment(), "P@3", "n1")
    assert within.value[0] == pytest.approx(4 / 9, abs=1e-12)
    assert within.per_topic[0].tolist() == close(2 / 3, 2 / 3, 0)
    to_the_letter = estimate(SystemsAdjustment(within_bounds=False), "P@3", "n1")
    assert to_the_letter.value[0] == pytest.approx(4 / 9 + 2 / 3 / 9, abs=1e-12)


def test_systems_adjustment_is_cut_to_the_upper_bound() -> None:
    """The pooled runs lose a half each on average, of which the new run has room for a quarter."""
    collection = from_rankings(
        {"p": {"1": "ab", "2": "cd"}, "q": {"1": "ef", "2": "gh"}, "u": {"1": "ae", "2": "cz"}},
        {"1": dict.fromkeys("abef", 1), "2": {"c": 1, "d": 0, "g": 0, "h": 0}},
        pooled_run_ids=("p", "q"),
        pool_depth=2,
    )
    # lost with u in the pool: p b, q f, 2 of 4 · 2 places; B = (1 + ½)/2 and T = 1
    assert estimate(SystemsAdjustment(), "P@2", collection=collection).value[0] == pytest.approx(1)
    loose = SystemsAdjustment(within_bounds=False, substitute=False)
    # without u: p a b c, q e f, 5 of 8
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(0.75 + 5 / 8)


def test_systems_adjustment_needs_another_pooled_run() -> None:
    result = estimate(SystemsAdjustment(), collection=toy_collection(pooled_run_ids=(), pool_depth=0))
    assert np.isnan(result.value[0])
    assert result.notes == ("needs a pooled run",)
    alone = toy_collection(pooled_run_ids=("n1",))
    assert np.isnan(estimate(SystemsAdjustment(), "P@5", "n1", alone).value[0])
    assert estimate(SystemsAdjustment(), "P@3", "n1", alone).value[0] == pytest.approx(4 / 9)  # Δ = 0
    assert not np.isnan(estimate(SystemsAdjustment(), "P@5", "n2", alone).value[0])


# Topics adjustment. With u judged on topics 1 and 2 its P@5 there is 4/5 (a l h m) and 3/5 (v p x); without
# what it alone contributed 2/5 (a h) and 2/5 (v p). Mean difference 3/10, variance 1/50; N = 3, n = 2.
COMMON_TOPICS = TopicsAdjustment(common_query_ids=("1", "2"))


def test_topics_adjustment_of_the_toy() -> None:
    result = estimate(COMMON_TOPICS, collection=toy_collection(more=COMMON))
    assert result.per_topic[0].tolist() == close(4 / 5, 3 / 5, 3 / 10)
    # the mean unpooled score (2/5 + 2/5 + 0)/3 and 3/10
    assert result.value[0] == pytest.approx(4 / 15 + 3 / 10, abs=1e-12)
    assert result.std is not None
    assert result.std[0] == pytest.approx(np.sqrt(1 / 3 * (1 / 50) / 2), abs=1e-12)
    assert result.notes == ("",)
    assert result.draws is None


def test_topics_adjustment_of_several_runs_and_measures() -> None:
    collection = toy_collection(more=COMMON)
    results = COMMON_TOPICS.estimate(collection, ["n1", "u"], ["P@5", "P@2"])
    # n1 alone contributed c: (1/5 + 0)/2, topics 2/5, 2/5, 0
    # and nothing of the other topic is unjudged, so that there is nothing to adjust
    assert results[0].value[0] == pytest.approx(4 / 15, abs=1e-12)
    assert results[0].value[1] == pytest.approx(17 / 30, abs=1e-12)
    # P@2: u has a l, of which l was its own; v p
    assert results[1].value[1] == pytest.approx((1 + 1 + 1 / 4) / 3, abs=1e-12)


def test_topics_adjustment_with_one_common_topic_has_no_standard_error() -> None:
    result = estimate(TopicsAdjustment(common_query_ids=("1",)), collection=toy_collection(more=COMMON))
    assert result.std is not None
    assert np.isnan(result.std[0])
    assert "equation 6" in result.notes[0]


def test_topics_adjustment_says_when_it_rests_on_nothing() -> None:
    """Nothing of u's was its own on the common topics: a = 0 is not above its standard error."""
    collection = toy_collection(more={"1": {"l": 0, "d": 0, "m": 0}, "2": {"z": 0, "x": 0}})
    result = estimate(COMMON_TOPICS, collection=collection)
    assert result.value[0] == pytest.approx(4 / 15, abs=1e-12)
    assert "equation 6" in result.notes[0]


def test_topics_adjustment_with_all_topics_in_common_is_the_full_score() -> None:
    everything = toy_collection(more={**COMMON, "3": {"e": 1, "f": 0}})
    result = estimate(TopicsAdjustment(common_query_ids=("1", "2", "3")), collection=everything)
    assert result.value[0] == pytest.approx((4 + 3 + 1) / 15, abs=1e-12)
    assert result.std is not None
    assert result.std[0] == 0
    assert result.notes == ("",)


def test_topics_adjustment_beyond_the_residual() -> None:
    """Topic 1 says 2/5, and topic 2 has nothing unjudged."""
    collection = toy_collection(more=COMMON)
    one = ("1",)
    loose = estimate(TopicsAdjustment(common_query_ids=one, within_bounds=False), collection=collection)
    assert loose.per_topic[0].tolist() == close(4 / 5, 3 / 5 + 2 / 5, 2 / 5)
    within = estimate(TopicsAdjustment(common_query_ids=one), collection=collection)
    assert within.value[0] == pytest.approx((4 + 3 + 2) / 15, abs=1e-12)  # T


@pytest.mark.parametrize("common", [("9",), ("1", "9"), ()])
def test_common_topics_are_topics(common: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="are not among the topics of the qrels"):
        estimate(TopicsAdjustment(common_query_ids=common))


def test_holding_out_is_by_run_or_organization() -> None:
    with pytest.raises(InputError, match="cannot hold out by 'team'; organization or run"):
        estimate(SystemsAdjustment(by="team"))  # type: ignore[arg-type]
