"""Documents of audits, drawn with known probabilities, and sums that hold for every completion."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from small import small

from bayespool import complete, parse_measure
from bayespool.auditing import Urn, Walk, capital, confidence_sequence, walk
from bayespool.auditing.differences import REFUTING, foretell, uniforms
from bayespool.auditing.urns import TopicOfRun, draw_values, envelope, find_urns
from bayespool.measures import Normalized, Tally
from bayespool.posterior import Completion

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def worth_of_draws(urn: Urn, completion: Completion) -> np.ndarray:
    """Worth of the urn's documents in each draw, shape (draw, document)."""
    place = {key: i for i, key in enumerate(zip(urn.query_ids, urn.doc_ids, strict=True))}
    worth = np.zeros((completion.n_draws, len(urn)))
    for t, query_id in enumerate(completion.unknowns.collection.query_ids):
        block = completion.block(t)
        for j, doc_id in enumerate(completion.unknowns.doc_ids(t)):
            if (query_id, doc_id) in place:
                level = np.array(completion.levels)[block[:, j]]
                worth[:, place[query_id, doc_id]] = np.array(urn.worth)[level]
    return worth


def test_values_of_all_draws_lie_between() -> None:
    """Of a run, and of the difference of two."""
    asked = [*((text, 1) for text in ("P@10", "nDCG@10", "R@20", "RR@10")), ("RBP(p=0.8)@10", 2)]
    for text, n_runs in (*asked, ("AP(ideal='shared')@20", 2)):
        measure, runs = parse_measure(text), small().unpooled_run_ids[:n_runs]
        completion = complete(small(), runs, measure, estimators="posterior-ratio(draws=50)")
        means = completion.evaluate(measure)[0].means()
        value = means[:, 0] - (means[:, 1] if n_runs == 2 else 0)
        signs = np.array([[1.0, -1.0]])[:, :n_runs]
        drawn = draw_values(completion, measure, signs)
        assert drawn.means()[:, 0] == pytest.approx(value, abs=1e-12), text
        (urn,) = find_urns(completion, measure, signs, drawn)
        worth = worth_of_draws(urn, completion)
        low, high = urn.base_low + worth @ urn.low, urn.base_high + worth @ urn.high
        assert ((low <= value + 1e-9) & (value <= high + 1e-9)).all(), text
        assert ((urn.least <= value + 1e-9) & (value <= urn.most + 1e-9)).all(), text
        assert (value.mean(), value.std()) == pytest.approx((urn.mean, urn.std)), text
        if text.startswith(("P", "RBP")):
            assert low == pytest.approx(value)
            assert high == pytest.approx(value)


def test_chances_spreads_and_what_is_shared_are_those_of_the_draws() -> None:
    completion = complete(
        small(), small().unpooled_run_ids[:1], "P@10", estimators="posterior-ratio(draws=250)"
    )
    (values,) = completion.evaluate("P@10")
    (urn,) = find_urns(completion, parse_measure("P@10"), np.ones((1, 1)), values)
    worth = worth_of_draws(urn, completion)
    assert urn.chance == pytest.approx(worth.mean(axis=0), abs=0.08)  # of a thousand draws
    assert urn.spread == pytest.approx(worth.std(axis=0), abs=0.08)
    both = np.sqrt(urn.low**2 @ (urn.spread**2 - urn.shared**2) + (urn.low @ urn.shared) ** 2)
    assert both == pytest.approx(urn.std, rel=0.1)


LEVELS = (1, 2)


def toy(seed: int, cutoff: int, n_levels: int = 1) -> TopicOfRun:
    """A ranking of 6 with unjudged documents, and two unjudged ones elsewhere."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, n_levels + 1, 6).astype(np.int16)
    open_ = rng.random(6) < 0.5
    levels[open_] = 0
    rank = np.flatnonzero(open_)
    rank = rank[rank < cutoff]
    n = len(rank) + 2
    positive = LEVELS[:n_levels]
    elsewhere = rng.integers(0, 3, n_levels)
    tally = np.array([[(levels == level).sum() for level in positive]]) + elsewhere
    return TopicOfRun(
        levels[:cutoff], np.arange(len(rank)), rank, np.arange(n), Tally(tally, positive),
        rng.uniform(0.05, 0.6, n),
    )  # fmt: skip


COMPLETED = {
    1: "P@4 RBP(p=0.8)@5 nDCG@4 AP@6 R@5 RR@6 AP(ideal='judged')@6",
    2: "DCG@6 SDCG(max_rel=2)@6 nDCG(dcg='exp-log2')@6 nDCG(ideal='judged')@6 P(rel=2)@6 AP(rel=2)@6",
}


@pytest.mark.parametrize("n_levels", COMPLETED)
def test_every_completion_lies_between(n_levels: int) -> None:
    for text in COMPLETED[n_levels].split():
        assert_between(text, n_levels)


def assert_between(text: str, n_levels: int) -> None:
    measure = parse_measure(text)
    gaps = []
    for seed in range(3):
        topic = toy(seed, measure.cutoff, n_levels)
        levels = (0, *topic.tally.levels)
        worth = np.array([float(measure.amounts(np.array([level]))) for level in levels])
        worth = worth / worth.max()
        found = envelope(measure, topic)
        for drawn in product(range(len(levels)), repeat=len(topic.chance)):
            ranked = topic.levels.copy()
            ranked[topic.rank] = np.array(levels)[list(drawn[: len(topic.rank)])]
            n = topic.tally.n.copy()
            counted = drawn if isinstance(measure, Normalized) and measure.ideal != "judged" else ()
            for level in counted:
                n[0, level - 1] += level > 0
            value = float(measure.values(ranked[None, None], Tally(n, topic.tally.levels)).scores()[0, 0])
            low = found.base_low + found.low @ worth[list(drawn)]
            high = found.base_high + found.high @ worth[list(drawn)]
            assert low - 1e-12 <= value <= high + 1e-12, text
            gaps.append(high - low)
    is_sum = not isinstance(measure, Normalized) and measure.name != "RR"
    assert (max(gaps) < 1e-12) == (is_sum or text == "nDCG(ideal='judged')@6")


def test_contributions_of_recall_by_hand() -> None:
    """2 of 4 relevant found, one unjudged in the top 3 with probability .5, one elsewhere with .25."""
    topic = TopicOfRun(
        np.array([1, 1, 0], dtype=np.int16), np.array([0]), np.array([2]), np.array([0, 1]),
        Tally(np.array([[4]]), (1,)), np.array([0.5, 0.25]),
    )  # fmt: skip
    found = envelope(parse_measure("R@3"), topic)
    slope = 2 / 4.75**2  # of 2/(4 + k) at the k that is expected, .75
    assert found.base_low == pytest.approx(2 / 4.75 + 0.75 * slope)
    assert found.low.tolist() == pytest.approx([1 / 6 - slope, -slope])
    assert (found.base_high, found.high.tolist()) == (0.5, [1 / 5, 0.0])


def urn_of(chance: np.ndarray, shared: float = 0.0) -> Urn:
    n = len(chance)
    names, c = tuple(map(str, range(n))), np.full(n, 1 / n)
    spread = np.sqrt(chance * (1 - chance))
    std = np.sqrt((c @ np.full(n, shared)) ** 2 + c**2 @ (spread**2 - shared**2))
    mean = float(chance.mean())
    return Urn(
        *(names, names, c, c, chance, spread, np.full(n, shared), 0.0, 0.0, 0.0, 1.0, mean, float(std)),
        (0.0, 1.0),
    )


def test_without_anything_shared_each_judgment_settles_its_document_alone() -> None:
    urn = urn_of(np.array([0.5, 0.2, 0.8]))
    found = foretell(urn, np.array([1, 0, 2]), np.array([1.0, 0.0, 1.0]))
    assert found.mean.tolist() == pytest.approx([2.3 / 3, 1.8 / 3, 2 / 3])
    assert found.std.tolist() == pytest.approx([np.sqrt(0.25 + 0.16) / 3, np.sqrt(0.16) / 3, 0.0])


def test_what_is_shared_is_learned_as_by_normal_regression() -> None:
    """F has precision 1 + b²/v after a judgment, and mean b (y − m)/v over it."""
    urn = urn_of(np.full(4, 0.5), shared=0.2)
    found = foretell(urn, np.array([0]), np.array([1.0]))
    v = 0.25 - 0.04
    precision = 1 + 0.04 / v
    learned = 0.2 * 0.5 / v / precision
    assert found.mean[0] == pytest.approx((1 + 3 * (0.5 + 0.2 * learned)) / 4)
    assert found.std[0] == pytest.approx(np.sqrt((3 * 0.05) ** 2 / precision + 3 * v / 16))


def test_a_posterior_is_refuted_if_it_is_wrong() -> None:
    """Share of 100 audits of 60 documents whose judgments refute it."""
    refuted = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
        worth = (rng.random(60) < p).astype(float)
        found = [foretell(urn_of(m), np.arange(60), worth).evidence.max() for m in (p, 1 - p)]
        refuted.append(np.array(found) >= REFUTING)
    right, adverse = np.mean(refuted, axis=0)
    assert right <= 0.05
    assert adverse >= 0.95


def test_evidence_is_one_on_average_under_the_posterior() -> None:
    urn = urn_of(np.array([0.3, 0.7]))
    mean = 0.0
    for a in (0.0, 1.0):
        for b in (0.0, 1.0):
            chance = (0.3 if a else 0.7) * (0.7 if b else 0.3)
            mean += chance * foretell(urn, np.arange(2), np.array([a, b])).evidence[-1]
    assert mean == pytest.approx(1)


def drawn(seed: int, n: int = 60, **replaced: np.ndarray) -> tuple[Walk, np.ndarray, np.ndarray]:
    """A walk over documents of unlike contributions and probabilities, with contributions and worth."""
    rng = np.random.default_rng(seed)
    given = {"c": rng.uniform(-0.01, 0.02, n), "m": rng.uniform(0, 1, n), **replaced}
    worth = (rng.random(n) < given.get("p", given["m"])).astype(float)
    known = np.arange(n)
    return (walk(given["c"], given["c"], given["m"], worth, known, uniforms(seed, n)), given["c"], worth)


def test_probabilities_by_hand() -> None:
    """Contribution × (√(m(1 − m)) + 1): 2 × 1.5 and 1 × 1.3 for probabilities of .5 and .1."""
    c, m = np.array([0.2, -0.1]), np.array([0.5, 0.1])
    walked = walk(c, c, m, np.full(2, np.nan), np.zeros(2, dtype=np.int64), np.array([0.0, 0.0]))
    assert walked.documents.tolist() == [0, 1]
    assert walked.probability.tolist() == pytest.approx([3 / 4.3, 1.0])
    assert len(walked.low) == 0  # nothing is judged


def test_payoffs_by_hand() -> None:
    """S + Σ c p + c (y − p)/q with p half-way from the probabilities to their mean."""
    c, m = np.array([0.2, 0.1]), np.array([0.5, 0.1])
    walked = walk(c, c, m, np.array([1.0, 0.0]), np.zeros(2, dtype=np.int64), np.array([0.0, 0.0]))
    center = (0.2 * 0.5 + 0.1 * 0.1) / 0.3
    p, q = (center + m) / 2, np.array([3.0, 1.3]) / 4.3
    assert walked.low[0] == pytest.approx(c @ p + 0.2 * (1 - p[0]) / q[0])
    assert walked.least[0] == pytest.approx(c @ p - max(c * p / q))
    assert walked.most[0] == pytest.approx(c @ p + max(c * (1 - p) / q))
    assert (walked.floor[0], walked.ceiling[0]) == pytest.approx((0.2, 0.3))


@pytest.mark.parametrize("turned", [False, True])
def test_the_expectation_of_a_payoff_is_the_sum_whatever_the_model(turned: bool) -> None:
    """Over all documents that a step could draw, weighted with their probabilities."""
    rng = np.random.default_rng(5)
    c, m = rng.uniform(-1, 2, 12), rng.uniform(0, 1, 12)
    worth = (rng.random(12) < (1 - m if turned else m)).astype(float)
    for n_before in (0, 4):
        before = uniforms(1, n_before)
        mean, total = 0.0, 0.0
        for u in (np.arange(2000) + 0.5) / 2000:
            walked = walk(c, c, m, worth, np.arange(n_before + 1), np.append(before, u))
            mean += walked.low[-1] / 2000
            total += walked.least[-1] <= walked.low[-1] <= walked.most[-1]
        assert mean == pytest.approx(c @ worth, abs=0.02)
        assert total == 2000


def test_judgments_to_come_decide_nothing() -> None:
    """Probabilities of a batch depend on the judgments known when it was drawn, payoffs on those before."""
    _, c, worth = drawn(1)
    m, known = np.full(60, 0.3), np.repeat([0, 20], [20, 40])
    one = walk(c, c, m, worth, known, uniforms(1, 60))
    other = worth.copy()
    other[one.documents[10:]] = 1 - other[one.documents[10:]]
    two = walk(c, c, m, other, known, uniforms(1, 60))
    assert one.documents[:20].tolist() == two.documents[:20].tolist()
    assert one.probability[:20].tolist() == two.probability[:20].tolist()
    assert one.low[:10].tolist() == two.low[:10].tolist()
    assert one.least[10] == two.least[10]
    assert one.low[10] != two.low[10]


@pytest.mark.parametrize("model", ["right", "useless", "adverse"])
def test_intervals_ever_miss_in_at_most_one_of_twenty(model: str) -> None:
    """With 200 audits each: at most 5 % of 95 % sequences, plus three standard errors."""
    missed, n = 0, 200
    for seed in range(n):
        rng = np.random.default_rng([seed, 1])
        p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
        m = {"right": p, "useless": rng.permutation(p), "adverse": 1 - p}[model]
        walked, c, worth = drawn(seed, m=m, p=p)
        low, high = confidence_sequence(walked, -1.0, 1.0, 0.0, 0.0, 0.95)
        missed += bool((low > c @ worth).any() or (high < c @ worth).any())
    assert missed <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)


@given(seed=st.integers(0, 10**6), ci_prob=st.sampled_from([0.5, 0.9, 0.99]))
def test_intervals_shrink_nest_and_end_at_the_value(seed: int, ci_prob: float) -> None:
    walked, c, worth = drawn(seed)
    low, high = confidence_sequence(walked, -1.0, 1.2, 0.1, 0.1, ci_prob)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    wider = confidence_sequence(walked, -1.0, 1.2, 0.1, 0.1, 0.999)
    assert (wider[0] <= low + 1e-12).all()
    assert (wider[1] >= high - 1e-12).all()
    if low[-1] <= 0.1 + c @ worth <= high[-1]:
        assert high[-1] - low[-1] < 1e-9


def test_capital_by_hand() -> None:
    """Payoff .6 where .2 is least, against .4: the stake doubles."""
    found = capital(np.array([0.6, 0.2]), np.array([0.2, 0.2]), 0.4)
    bets = np.array([0.25, 0.5, 0.75, 1.0])
    assert found.tolist() == pytest.approx([np.mean(1 + bets), np.mean((1 + bets) * (1 - bets))])
