"""The systems adjustment and the topics adjustment, by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from corrected import close, estimate
from each import cases
from toys import COMMON, from_rankings, toy_collection

from bayespool.collection import add_judges
from bayespool.corrections import Background, SystemsAdjustment, TopicsAdjustment
from bayespool.corrections.webber_park import standard_error, topics_for_error
from bayespool.evidence import judgment_counts
from bayespool.reading import labels_from_frame
from bayespool.scoring import score


# Systems adjustment: relevant documents that each pooled run alone contributed and that u (a l d, v p z, e f
# within depth 3) does not have. Runs held out: n1 c, n2 f; without the substitute also s1 v. Organizations
# held out: n1 c, r; n2 f c, r; s1 h; s2 h; without the substitute also n1 p, n2 p, s1 v. 4 runs, 3 topics.
@cases(
    ("settings", "n_lost"),
    [
        *(({}, 2), ({"substitute": False}, 3), ({"by": "organization"}, 7)),
        ({"by": "organization", "substitute": False}, 10),
    ],
)
def test_systems_adjustment_of_the_toy(settings: dict[str, Any], n_lost: int) -> None:
    result = estimate(SystemsAdjustment(**settings))
    adjustment = n_lost / 5 / 12
    assert result.value[0] == pytest.approx(4 / 15 + adjustment, abs=1e-12)
    assert result.indicators["adjustment"] == close(adjustment)
    residual = judgment_counts(toy_collection(), "u", cutoffs=5).residual[0, :, 0]
    shared = residual * adjustment * 3 / residual.sum()  # the topics share it in proportion to their Δ
    assert result.per_topic[0].tolist() == close(*(np.array([0.4, 0.4, 0]) + shared))


def test_systems_adjustment_of_a_pooled_run_leaves_itself_out() -> None:
    # held out one at a time with s1 in the pool: n1 c, n2 f, s2 nothing relevant; 3 runs, 3 topics
    assert estimate(SystemsAdjustment(), run_id="s1").value[0] == pytest.approx(4 / 15 + 2 / 5 / 9, abs=1e-12)


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
    cut = estimate(SystemsAdjustment(substitute=False), "P@2", collection=collection)
    assert (cut.value[0], cut.indicators["adjustment"]) == (pytest.approx(1), close(5 / 8)), (
        "before it is cut"
    )


def test_systems_adjustment_of_condensed_lists() -> None:
    """With depth 2, p alone has b and q alone d; u's e and f are unjudged."""
    collection = from_rankings(
        {"p": {"1": "abc"}, "q": {"1": "adb"}, "u": {"1": "eaf"}},
        {"1": {"a": 1, "b": 1, "d": 1}},
        pooled_run_ids=("p", "q"),
        pool_depth=2,
    )
    # p without b: a, so 1/2 of 1; q without d: a b, nothing lost. Of u only a is judged
    loose = SystemsAdjustment(base="condensed-list", within_bounds=False)
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(1 / 2 + 1 / 4, abs=1e-12)
    # assumed irrelevance: p and q lose 1/2 each
    loose = SystemsAdjustment(within_bounds=False)
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(1 / 2 + 1 / 2, abs=1e-12)


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
                dataclasses.replace(e, estimator="noted", notes=(("of a guess",),) * len(e.run_ids))
                for e in found
            )

    result = estimate(SystemsAdjustment(base=Noted(), within_bounds=False))  # type: ignore[arg-type]
    assert result.notes == (("noted: of a guess",),)
    on_topics = dataclasses.replace(COMMON_TOPICS, base=Noted())
    (note,) = estimate(on_topics, collection=toy_collection(more=COMMON)).notes
    assert note[-1] == "noted: of a guess"


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
    assert result.notes == (("adjustment cut to the lower bound",),)
    # where it is judged nothing is adjusted
    assert estimate(SystemsAdjustment(), "R@1", collection=collection).value[0] == pytest.approx(1 / 7)


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
    assert result.notes == ((),)
    assert result.draws is not None


def test_topics_that_are_not_fully_judged_give_no_interval() -> None:
    """u has unjudged documents on topic 2; what is judged of them is no adjustment."""
    half = {"1": COMMON["1"]}
    result = estimate(COMMON_TOPICS, collection=toy_collection(more=half))
    assert result.draws is None
    assert result.std is not None
    assert np.isnan(result.std).all()
    assert result.notes == (("common topics are not fully judged, so that it has no interval",),)
    both = COMMON_TOPICS.estimate(toy_collection(more=half), ["u", "s2"], "P@5")[0]
    assert both.draws is None
    assert both.std is not None
    assert np.isnan(both.std).tolist() == [True, False]
    assert both.notes[1] == ("no interval: another run is not fully judged on the common topics",)


def test_an_interval_without_width_says_that_nothing_differed() -> None:
    """On both common topics u lost one relevant document."""
    runs = {name: dict.fromkeys("123", "ab") for name in "pq"} | {"u": dict.fromkeys("123", "xy")}
    judged = {topic: {"a": 1, "b": 0, "x": 1, "y": 0} for topic in "12"} | {"3": {"a": 1, "b": 0}}
    collection = from_rankings(runs, judged, {"p": "o"}, pooled_run_ids=("p", "q"), pool_depth=2)
    found = score(collection, "u", "P@2", estimators=TopicsAdjustment(common_query_ids=("1", "2")))
    (row,) = found.to_frame().to_dict("records")
    assert (row["value"], row["lower"], row["upper"]) == (0.5, 0.5, 0.5)
    assert "its interval has no width: it lost the same on each common topic" in row["note"]
    assert row["note"].count("no width") == 1
    assert found.sentences()[0].startswith(
        "The P@2 of u is 0.500 (95 % interval without width, as a note explains; topics-adjustment), mean"
    )


@cases(("n_common", "n_topics"), [(6, 40), (30, 60)])
def test_draws_have_the_variance_of_equation_3(n_common: int, n_topics: int) -> None:
    """u has five documents of the pool, of which two are relevant, and five of its own, whose numbers of
    relevant ones on the common topics go round.
    """
    topics = [f"{t:03}" for t in range(n_topics)]
    judged = {t: dict.fromkeys("ab", 1) | dict.fromkeys("cde", 0) for t in topics}
    for i, topic in enumerate(topics[:n_common]):
        judged[topic] |= {name: int(k < (0, 1, 3)[i % 3]) for k, name in enumerate("vwxyz")}
    rankings = {"p": dict.fromkeys(topics, "abcde"), "u": dict.fromkeys(topics, "avbwcxdyez")}
    rankings["twin"] = rankings["u"]
    collection = from_rankings(rankings, judged, pooled_run_ids=("p",), pool_depth=10)
    adjustment = TopicsAdjustment(common_query_ids=tuple(topics[:n_common]))
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


def test_the_common_topics_alone_may_be_more_accurate() -> None:
    # u has 1/2 on both topics; without its own it would have 1/2 and 0
    collection = from_rankings(
        {"p": {"1": "ab", "2": "cd", "3": "ef"}, "u": {"1": "ax", "2": "yz", "3": "eg"}},
        {"1": {"a": 1, "b": 0, "x": 0}, "2": {"c": 1, "d": 0, "y": 1, "z": 0}, "3": {"e": 1, "f": 0}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    result = estimate(COMMON_TOPICS, "P@2", collection=collection)
    assert "the common topics alone would be more accurate" in "; ".join(result.notes[0])
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
