"""The systems adjustment and the topics adjustment, by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import toys
from corrected import close, estimate
from each import cases
from toys import COMMON, from_rankings, toy_collection

from bayespool.collection import add_judges, build_collection, labels_from_frame, qrels_from_frame
from bayespool.corrections import Background, SystemsAdjustment, TopicsAdjustment
from bayespool.corrections.webber_park import standard_error, topics_for_error
from bayespool.evidence import judgment_counts


# Systems adjustment: relevant documents that each pooled run alone contributed and that u (a l d, v p z, e f
# within depth 3) does not have. Runs held out: n1 c, n2 f; without the substitute also s1 v. Organizations
# held out: n1 c, r; n2 f c, r; s1 h; s2 h; without the substitute also n1 p, n2 p, s1 v. 4 runs, 3 topics.
@cases(
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


def test_topics_share_the_adjustment_of_the_mean() -> None:
    """Within bounds in proportion to Δ, to the letter alike: the mean is the same where nothing is cut."""
    within, loose = (estimate(SystemsAdjustment(within_bounds=w)) for w in (True, False))
    assert within.value[0] == pytest.approx(loose.value[0], abs=1e-12)
    as_judged = np.array([2 / 5, 2 / 5, 0])
    assert (loose.per_topic[0] - as_judged).tolist() == close(1 / 30, 1 / 30, 1 / 30)
    # l d m; z x; e f are unjudged
    assert (within.per_topic[0] - as_judged).tolist() == close(3 / 70, 2 / 70, 2 / 70)


# Another base. With depth 2, p alone has b and q alone d; u's e and f are unjudged.
def condensed_example() -> Any:
    return from_rankings(
        {"p": {"1": "abc"}, "q": {"1": "adb"}, "u": {"1": "eaf"}},
        {"1": {"a": 1, "b": 1, "d": 1}},
        pooled_run_ids=("p", "q"),
        pool_depth=2,
    )


def test_systems_adjustment_of_condensed_lists() -> None:
    collection = condensed_example()
    # p without b: a, so 1/2 of 1; q without d: a b, nothing lost. Of u only a is judged
    loose = SystemsAdjustment(base="condensed-list", within_bounds=False)
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(1 / 2 + 1 / 4, abs=1e-12)
    # assumed irrelevance: p and q lose 1/2 each
    loose = SystemsAdjustment(within_bounds=False)
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(1 / 2 + 1 / 2, abs=1e-12)


def test_systems_adjustment_of_an_overestimate_is_negative() -> None:
    """The condensed list puts b in the place of d, which turns out nonrelevant."""
    collection = from_rankings(
        {"p": {"1": "ab"}, "q": {"1": "dab"}, "u": {"1": "eab"}},
        {"1": {"a": 1, "b": 1, "d": 0}},
        pooled_run_ids=("p", "q"),
        pool_depth=2,
    )
    # p without b, which is in u's place in the pool only at rank 3: a, −1/2; q without d: a b, +1/2 of 1/2
    loose = SystemsAdjustment(base="condensed-list", within_bounds=False)
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(1 + (1 / 2 - 1 / 2) / 2)
    by_q = SystemsAdjustment(base="condensed-list")
    without_p = from_rankings(
        {"p": {"1": "ab"}, "q": {"1": "dab"}, "u": {"1": "eab"}},
        {"1": {"a": 1, "b": 1, "d": 0}},
        pooled_run_ids=("q",),
        pool_depth=2,
    )
    # without d: a b, 1 for 1/2; of u, which is e a, the value may fall from 1 to B = 1/2
    assert estimate(by_q, "P@2", collection=without_p).value[0] == pytest.approx(1 / 2)


def test_a_base_that_says_what_judgments_say_changes_nothing() -> None:
    """Each system held out anew gives what is counted at once for unjudged documents as nonrelevant."""
    common, settings = toy_collection(more=COMMON), ({}, {"by": "organization"}, {"substitute": False})
    for measure in ("P@5", "nDCG@5", "R@5"):
        pairs = [
            (SystemsAdjustment(**one), SystemsAdjustment(**one, base=Background(e=0.0)), None)  # type: ignore[arg-type]
            for one in (*settings, {"within_bounds": False})
        ]
        for within in (True, False):
            of_topics = dataclasses.replace(COMMON_TOPICS, within_bounds=within)
            pairs.append((of_topics, dataclasses.replace(of_topics, base="background(e=0)"), common))
        for plain, anew, collection in pairs:
            one, other = (estimate(c, measure, collection=collection).per_topic[0] for c in (plain, anew))
            assert other.tolist() == close(*one), (plain, measure)


def test_a_base_has_the_estimand_of_the_adjustment_and_its_notes_are_kept() -> None:
    """A base that has something to say of its values says it of the adjusted ones."""
    adjustment = SystemsAdjustment(base="background", estimand="pooled")
    assert adjustment.base == Background(estimand="pooled")

    @dataclasses.dataclass(frozen=True)
    class Noted:
        name: str = "noted"

        def estimate(self, collection: Any, run_ids: Any = None, measures: Any = "P@10") -> Any:
            found = Background().estimate(collection, run_ids, measures)
            return tuple(
                dataclasses.replace(e, method="noted", notes=("of a guess",) * len(e.run_ids)) for e in found
            )

    result = estimate(SystemsAdjustment(base=Noted(), within_bounds=False))  # type: ignore[arg-type]
    assert result.notes == ("noted: of a guess",)
    on_topics = dataclasses.replace(COMMON_TOPICS, base=Noted())
    (note,) = estimate(on_topics, collection=toy_collection(more=COMMON)).notes
    assert note.split("; ")[-1] == "noted: of a guess"


def test_a_base_may_be_the_labels_of_a_judge() -> None:
    filled = toy_collection(more=COMMON)
    labels = {"1": {"l": 1, "m": 0, "d": 0}, "2": {"z": 0, "x": 0}, "3": {"e": 1, "f": 0}}
    collection = add_judges(filled, {"llm": labels_from_frame(labels)})
    loose = dataclasses.replace(COMMON_TOPICS, base="judge-filled", within_bounds=False)
    # full 4/5 and 3/5; by labels a l h and v p; topic 3 has e by its label
    result = estimate(loose, collection=collection)
    assert result.per_topic[0].tolist() == close(4 / 5, 3 / 5, 1 / 5 + (1 / 5 + 1 / 5) / 2)


# Under measures over ideal rankings, what is hidden with a run leaves the relevant documents R, too. Held out
# with u in the pool: of a c f h on topic 1, n1 takes c with it and n2 f; nothing relevant on topic 2.
def test_systems_adjustment_of_recall() -> None:
    # R@5 of n1: 2/4, or 1/3 without c; of n2: 3/4, or 2/3 without f. (1/6 + 1/12)/12
    adjustment = 1 / 48
    result = estimate(SystemsAdjustment(), "R@5")
    assert result.value[0] == pytest.approx((2 / 4 + 2 / 3) / 3 + adjustment, abs=1e-12)
    # u: T is 1 twice, but with two documents more it is 4/6 … 5/7, and 4/5 on topic 2
    room = np.array([5 / 7 - 2 / 4, 4 / 5 - 2 / 3, 0])
    expected = np.array([2 / 4, 2 / 3, 0]) + room * adjustment * 3 / room.sum()
    assert result.per_topic[0].tolist() == close(*expected)


def test_systems_adjustment_of_average_precision_and_discounted_gain() -> None:
    # AP@5 of n1: a1 b0 c2: (1 + 2/3)/4, or 1/3; of n2: b0 a1 f1 c2: (1/2 + 2/3 + 3/4)/4, or (1/2 + 2/4)/3
    lost = 5 / 12 - 1 / 3 + 23 / 48 - 1 / 3
    value = estimate(SystemsAdjustment(), "AP@5").value[0]
    assert value == pytest.approx((3 / 8 + 2 / 3) / 3 + lost / 12, abs=1e-12)
    # nDCG@2: a1 b0 of c2 a1, or of a1 f1; b0 a1 of c2 a1 both times
    ideal, without = 2 + 1 / np.log2(3), 1 + 1 / np.log2(3)
    loose = estimate(SystemsAdjustment(within_bounds=False), "nDCG@2").value[0]
    as_judged = (1 + without) / ideal / 3
    # s1, with v u's: q0 v1 of r2, and a1 h1; s2: h1 k0: the same both times
    assert loose == pytest.approx(as_judged + (1 / ideal - 1 / without) / 12, abs=1e-12)


def test_systems_adjustment_may_be_negative() -> None:
    # R@2 of n1: a of 4, or of 3 without c; of n2 likewise: −1/6 over 12
    within = estimate(SystemsAdjustment(), "R@2")
    assert within.value[0] == pytest.approx((1 / 4 + 2 / 3) / 3 - 1 / 72, abs=1e-12)
    # u: a1 l? may be one of 5, with d relevant; v p are judged, and of e f nothing can be lost
    assert within.per_topic[0].tolist() == close(1 / 4 - 1 / 24, 2 / 3, 0)
    assert within.notes == ("",)
    loose = estimate(SystemsAdjustment(within_bounds=False), "R@2")
    assert loose.per_topic[0].tolist() == close(1 / 4 - 1 / 72, 2 / 3 - 1 / 72, -1 / 72)


def test_a_negative_adjustment_is_cut_to_the_lower_bound() -> None:
    collection = from_rankings(
        {"p": {"1": "xabdf"}, "q": {"1": "xaceg"}, "u": {"1": "azy"}},
        {"1": dict.fromkeys("abcdefg", 1) | {"x": 0}},
        pooled_run_ids=("p", "q"),
        pool_depth=5,
    )
    # R@2 of p: a of 7, or of 4 without b d f, −3/28; so of q. Of u it is 1/7, or 1/8 if y is relevant
    result = estimate(SystemsAdjustment(), "R@2", collection=collection)
    assert result.value[0] == pytest.approx(1 / 8)
    assert result.notes == ("adjustment cut to the lower bound",)
    # where it is judged nothing is adjusted
    assert estimate(SystemsAdjustment(), "R@1", collection=collection).value[0] == pytest.approx(1 / 7)


def test_systems_adjustment_of_the_share_of_nonrelevant_documents() -> None:
    # AntiP@3 of u: a1 l? d?, v1 p1 z?, e? f? and a missing rank; hidden with s1 i0, w0, with s2 k0
    value = estimate(SystemsAdjustment(), "AntiP@3").value[0]
    assert value == pytest.approx(1 / 9 + 3 / 3 / 12, abs=1e-12)


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


def test_topics_adjustment_of_several_runs_and_measures() -> None:
    collection = toy_collection(more=COMMON)
    results = COMMON_TOPICS.estimate(collection, ["n1", "u"], ["P@5", "P@2"])
    # n1 alone contributed c: (1/5 + 0)/2, topics 2/5, 2/5, 0
    # and nothing of the other topic is unjudged, so that there is nothing to adjust
    assert results[0].value[0] == pytest.approx(4 / 15, abs=1e-12)
    assert results[0].value[1] == pytest.approx(17 / 30, abs=1e-12)
    # P@2: u has a l, of which l was its own; v p
    assert results[1].value[1] == pytest.approx((1 + 1 + 1 / 4) / 3, abs=1e-12)


def test_topics_adjustment_of_recall() -> None:
    # of a c f h l m 4, of p v r x 3; without what u alone contributed (l d m, z x) 2 of a c f h, 2 of p v r
    collection = toy_collection(more=COMMON)
    result = estimate(dataclasses.replace(COMMON_TOPICS, within_bounds=False), "R@5", collection=collection)
    adjustment = (4 / 6 - 2 / 4 + 3 / 4 - 2 / 3) / 2
    assert result.per_topic[0].tolist() == close(4 / 6, 3 / 4, adjustment)
    within = estimate(COMMON_TOPICS, "R@5", collection=collection)
    assert within.per_topic[0].tolist() == close(4 / 6, 3 / 4, 0)  # T: nothing is known to be relevant


def test_topics_adjustment_leaves_other_judgments_alone() -> None:
    # j, which no pooled run accounts for and u does not have, stays among the relevant documents
    more = {"1": {**COMMON["1"], "j": 1}, "2": COMMON["2"]}
    judged = {q: {**toys.JUDGMENTS[q], **more.get(q, {})} for q in toys.JUDGMENTS}
    collection = build_collection(
        toys.toy_runs(),
        qrels_from_frame(judged),
        organizations=toys.ORGANIZATIONS,
        pooled_run_ids=toys.POOLED,
        pool_depth=toys.DEPTH,
    )
    result = estimate(dataclasses.replace(COMMON_TOPICS, within_bounds=False), "R@5", collection=collection)
    adjustment = (4 / 7 - 2 / 5 + 3 / 4 - 2 / 3) / 2
    assert result.per_topic[0, 2] == pytest.approx(adjustment, abs=1e-12)


def test_topics_adjustment_says_when_it_rests_on_nothing_or_on_one_topic() -> None:
    """Nothing of u's was its own on the common topics: a = 0 is not above its standard error."""
    result = estimate(TopicsAdjustment(common_query_ids=("1",)), collection=toy_collection(more=COMMON))
    assert result.std is not None
    assert np.isnan(result.std[0])
    assert "equation 6" in result.notes[0]
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


# The interval. On 40 topics u has five documents of the pool, of which two are relevant, and five of its own,
# whose numbers of relevant ones on the common topics go round.
def many_topics(n_common: int, n_topics: int) -> Any:
    topics = [f"{t:03}" for t in range(n_topics)]
    judged = {t: dict.fromkeys("ab", 1) | dict.fromkeys("cde", 0) for t in topics}
    for i, topic in enumerate(topics[:n_common]):
        judged[topic] |= {name: int(k < (0, 1, 3)[i % 3]) for k, name in enumerate("vwxyz")}
    rankings = {"p": dict.fromkeys(topics, "abcde"), "u": dict.fromkeys(topics, "avbwcxdyez")}
    rankings["twin"] = rankings["u"]
    collection = from_rankings(rankings, judged, pooled_run_ids=("p",), pool_depth=10)
    return collection, TopicsAdjustment(common_query_ids=tuple(topics[:n_common]))


@cases(("n_common", "n_topics"), [(6, 40), (30, 60)])
def test_draws_have_the_variance_of_equation_3(n_common: int, n_topics: int) -> None:
    collection, adjustment = many_topics(n_common, n_topics)
    (result,) = adjustment.estimate(collection, ["u", "twin"], "P@10")
    assert result.std is not None
    assert result.draws is not None
    spread = np.std([0.0, 0.1, 0.3] * (n_common // 3), ddof=1)
    assert result.std[0] == pytest.approx(spread * np.sqrt((n_topics - n_common) / n_topics / n_common))
    means = result.draws.means()
    assert means.shape == (4000, 2)
    assert means.mean(axis=0).tolist() == pytest.approx(result.value.tolist(), abs=4 * result.std[0] / 63)
    assert means[:, 0].std() == pytest.approx(result.std[0], rel=0.06)
    assert (means[:, 0] == means[:, 1]).all()  # runs that lose alike differ by nothing
    of_topics = result.draws.scores()[:, 0]
    assert (of_topics[:, :n_common] == result.per_topic[0, :n_common]).all()
    assert ((of_topics >= 0.2) & (of_topics <= 0.7)).all()
    # a topic differs from the others, beyond what is unknown of their mean
    assert of_topics[:, -1].std() > 0.6 * spread


def test_draws_repeat_by_their_seed() -> None:
    collection, adjustment = many_topics(6, 12)
    (first,), (again,), (other,) = (
        dataclasses.replace(adjustment, random_seed=seed, n_draws=50).estimate(collection, "u", "P@10")
        for seed in (1, 1, 2)
    )
    assert (first.draws.amount == again.draws.amount).all()
    assert (first.draws.amount != other.draws.amount).any()


def test_there_is_no_interval_to_the_letter_or_from_one_topic() -> None:
    for adjustment, has_draws in (
        (COMMON_TOPICS, True),
        (dataclasses.replace(COMMON_TOPICS, within_bounds=False), False),
        (TopicsAdjustment(common_query_ids=("1",)), False),
    ):
        found = estimate(adjustment, collection=toy_collection(more=COMMON))
        assert (found.draws is not None) == has_draws, adjustment


def test_the_common_topics_alone_may_be_more_accurate() -> None:
    # u has 1/2 on both topics; without its own it would have 1/2 and 0
    collection = from_rankings(
        {"p": {"1": "ab", "2": "cd", "3": "ef"}, "u": {"1": "ax", "2": "yz", "3": "eg"}},
        {"1": {"a": 1, "b": 0, "x": 0}, "2": {"c": 1, "d": 0, "y": 1, "z": 0}, "3": {"e": 1, "f": 0}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    result = estimate(COMMON_TOPICS, "P@2", collection=collection)
    assert "the common topics alone would be more accurate" in result.notes[0]
    plan = COMMON_TOPICS.plan(collection, "u", "P@2", errors=[0.1, 0.3])
    assert plan["std_truth"].tolist() == [0, 0]
    assert plan["std_difference"].tolist() == pytest.approx([np.sqrt(1 / 8)] * 2)
    assert plan["std"].tolist() == pytest.approx([np.sqrt(1 / 3 / 8 / 2)] * 2)
    assert plan["std_alone"].tolist() == [0, 0]
    # 3 · (1/8) / (3 e² + 1/8)
    assert plan["n_needed"].tolist() == [3, 1]
    assert plan["n_needed_alone"].tolist() == [1, 1]


def test_topics_for_an_error_reach_it_and_no_fewer_do() -> None:
    for n_topics, error in ((50, 0.02), (249, 0.005), (20, 0.1)):
        n = topics_for_error(0.2, n_topics, error)
        assert standard_error(0.2, n, n_topics) <= error
        assert n == 1 or standard_error(0.2, n - 1, n_topics) > error
