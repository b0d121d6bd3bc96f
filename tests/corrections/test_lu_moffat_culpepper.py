"""Gains by rank in the pooled runs, by hand and by a slow reference, and their curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toys
from corrected import estimate
from each import cases
from hypothesis import given, strategies as st
from scipy.optimize import curve_fit
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.corrections import LuMoffatCulpepper
from bayespool.corrections.lu_moffat_culpepper import SHAPES, gain_curves, simplex_weights


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6),
    st.floats(0.01, 100),
)
def test_weights_are_the_best_of_a_fine_grid(rows: list[tuple[float, float, float]], scale: float) -> None:
    table = np.array([row[:2] for row in rows]) * scale
    target = np.array([row[2] for row in rows]) * scale
    weights = simplex_weights(table, target)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    grid = np.linspace(0, 1, 1001)
    squares = np.square(table @ np.stack([grid, 1 - grid]) - target[:, None]).sum(axis=0)
    assert np.square(table @ weights - target).sum() <= squares.min() + 1e-9 * scale**2


# One pooled run: a2 b1 | c? d?, whose weight is 1; the run to score has c x a


def one_run(target: str = "cxa", relevance: dict[str, int] | None = None) -> Collection:
    return from_rankings(
        {"p": {"1": "abcd"}, "u": {"1": target}},
        {"1": relevance or {"a": 2, "b": 1}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )


@cases(
    ("shape", "third", "last"),
    [
        ("zipf", 1 / 3, 1 / 1000),  # 1 and 1/2: 1/k
        ("linear", 0, 0),  # 1.5 − k/2
        ("constant", 0, 0),  # 3/4 down to rank 2
    ],
)
def test_gain_of_a_document_is_that_of_its_rank(shape: Any, third: float, last: float) -> None:
    correction = LuMoffatCulpepper(shape=shape)
    # c stands at rank 3 of p, x nowhere: as at rank 1,000; the greatest gain is 2
    for measure, value in (
        ("DCG@1", 2 * third),
        ("DCG@3", 2 * third + 2 * last / np.log2(3) + 2 / 2),
        ("SDCG(max_rel=2)@1", third),
    ):
        result = estimate(correction, measure, collection=one_run())
        assert result.value[0] == pytest.approx(value, abs=1e-5), measure
        assert result.notes == (("gains by rank are fitted to 2 ranks",),)


def test_chances_of_measures_that_are_no_sums() -> None:
    # relevant at ranks 1 and 2: a line gives 1 at rank 3, so that c is relevant for certain
    relevance = {"a": 1, "b": 1}
    correction = LuMoffatCulpepper(shape="linear")
    for measure, value in (("RR@3", 1), ("Success@1", 1), ("P@1", 1), ("ERR(max_rel=1)@1", 0.5)):
        found = estimate(correction, measure, collection=one_run(relevance=relevance)).value[0]
        assert found == pytest.approx(value), measure
    # 1 and 0: c is not relevant, and RR@3 is that of a at rank 3
    fallen = one_run(relevance={"a": 1, "b": 0})
    assert estimate(correction, "RR@3", collection=fallen).value[0] == pytest.approx(1 / 3)
    zipf = LuMoffatCulpepper(shape="zipf")
    # readers stop at level 2 with 3/4 and at level 1 with a third of that: 1/k^log2(3) of the greatest chance
    third, fourth = (0.75 / k ** np.log2(3) for k in (3, 4))
    collection = one_run("cda", {"a": 2, "b": 1})
    assert estimate(zipf, "ERR(max_rel=2)@2", collection=collection).value[0] == pytest.approx(
        third + (1 - third) * fourth / 2, abs=1e-4
    )


def reference(collection: Collection, run: str, cutoff: int, shape: Any, loss: str, p: float) -> np.ndarray:
    """P@n with expected gains, document by document."""
    found, judged, pooled = [], toys.judgments(collection), collection.pooled_run_ids
    depth = dict(zip(pooled, collection.run_depths(collection.run_index(pooled)).tolist(), strict=True))
    for topic in collection.query_ids:
        gain = {d: float(level >= 1) for d, level in judged[topic].items()}
        rankings = {name: toys.ranking(collection, name, topic) for name in collection.pooled_run_ids}
        observed = []
        for k in range(max(depth.values(), default=0)):
            at_rank = []
            for name, ranking in rankings.items():
                if k < depth[name] and (k >= len(ranking) or ranking[k] in gain):
                    at_rank.append(gain[ranking[k]] if k < len(ranking) else 0.0)
            observed.append(np.mean(at_rank) if at_rank else 0.0)
        g = gain_curves(np.array([observed]), 1000, shape)[0]

        def of(document: str, name: str, g: np.ndarray = g, rankings: Any = rankings) -> float:
            ranking = rankings[name]
            return float(g[ranking.index(document)] if document in ranking else g[-1])

        names = list(rankings)
        rows, target = [], []
        for name in names:
            row, sum_of_gains = np.zeros(len(names)), 0.0
            for k, document in enumerate(rankings[name]):
                if document not in gain:
                    continue
                contributed = p**k * np.array([of(document, other) for other in names])
                if loss == "b":
                    rows.append(contributed)
                    target.append(p**k * gain[document])
                row, sum_of_gains = row + contributed, sum_of_gains + p**k * gain[document]
            if loss == "a":
                rows.append(row)
                target.append(sum_of_gains)
        weights = simplex_weights(np.array(rows).reshape(-1, len(names)), np.array(target))
        top = toys.ranking(collection, run, topic)[:cutoff]
        found.append(sum(gain.get(d, weights @ [of(d, other) for other in names]) for d in top) / cutoff)
    return np.array(found)


@given(
    toys.pooled_collections(), st.integers(1, 8), st.sampled_from(["linear", "zipf"]), st.sampled_from("ab")
)
def test_estimates_are_those_of_the_reference(
    collection: Collection, cutoff: int, shape: Any, loss: Any
) -> None:
    correction = LuMoffatCulpepper(shape=shape, loss=loss, persistence=0.8)
    for run in collection.run_ids if collection.pooled.any() else ():
        result = estimate(correction, f"P@{cutoff}", run, collection)
        if np.isnan(result.value[0]):
            continue
        expected = reference(collection, run, cutoff, shape, loss, 0.8)
        np.testing.assert_allclose(result.per_topic[0], expected, atol=2e-4)


def test_a_run_counts_down_to_its_own_depth() -> None:
    """d is judged and at rank 4 of p, which was pooled to depth 2: 1 0 1 1 are gained, and not ½ at last."""
    collection = from_rankings(
        {"p": {"1": "abxd"}, "q": {"1": "efgh"}, "u": {"1": "x"}},
        {"1": {"a": 1, "b": 0, "d": 0, "e": 1, "f": 0, "g": 1, "h": 1}},
        pooled_run_ids=("p", "q"),
        pool_depth={"p": 2, "q": 4},
    )
    for loss in ("a", "b"):
        correction = LuMoffatCulpepper(shape="linear", loss=loss, persistence=0.8)  # type: ignore[arg-type]
        found = estimate(correction, "P@1", "u", collection).value[0]
        assert found == pytest.approx(0.75, abs=2e-4), "a line does not rise: it is level"


RANK = np.arange(1, 13.0)


def weibull(k: Any, c: float, a: float, b: float) -> Any:
    return c * (np.exp(-(((k - 1) / a) ** b)) - np.exp(-((k / a) ** b)))


CURVES = {
    "constant": np.where(RANK <= 4, 0.6, 0.0),
    "linear": 0.9 - 0.05 * RANK,
    "zipf": 0.8 / RANK**0.7,
    "weibull": weibull(RANK, 3.0, 6.0, 0.8),
}


def test_curves_of_three_ranks_go_on_below() -> None:
    observed = np.array([[0.6, 0.3, 0.2]])
    assert {shape: gain_curves(observed, 4, shape).round(2)[0].tolist() for shape in SHAPES} == {
        "constant": [0.45, 0.45, 0.0, 0.0],
        "linear": [0.57, 0.37, 0.17, 0.0],
        "zipf": [0.6, 0.3, 0.2, 0.15],
        "weibull": [0.6, 0.3, 0.2, 0.14],
    }


@cases("shape", SHAPES)
def test_a_curve_of_the_shape_is_found_and_drawn_on(shape: Any) -> None:
    found = gain_curves(CURVES[shape][None, :6], 12, shape)
    np.testing.assert_allclose(found[0], CURVES[shape], atol=1e-8)


def test_a_constant_ends_where_it_is_best_and_a_rising_line_is_flat() -> None:
    # down to rank 2: squares left (0.1² + 0.1² + 0.1²); to rank 1: 0.7² + 0.1²; to rank 3: more
    for shape, observed, expected in (
        ("constant", [0.9, 0.7, 0.1], [0.8, 0.8, 0, 0]),
        ("linear", [0.1, 0.3], [0.2] * 3),
        ("linear", [0.4], [0.4] * 2),
    ):
        found = gain_curves(np.array([observed]), len(expected), shape)[0]  # type: ignore[arg-type]
        assert found.tolist() == pytest.approx(expected), shape


def test_a_rise_after_nothing_is_no_rounding_noise() -> None:
    """Of a Weibull curve with a large scale the tails of neighbors differ in the last digit alone."""
    gains = np.array([[0, 0, 0, 0.75, 0.5]])
    assert np.square(gains - gain_curves(gains, 5, "weibull")).sum() == pytest.approx(0.00469, abs=1e-4)


def test_fits_are_as_close_as_scipys() -> None:
    observed = np.random.default_rng(1).random((6, 9))
    observed[::2] = -np.sort(-observed[::2])
    for shape, form, start, most in (
        ("zipf", lambda k, c, e: c * k**-e, [1, 1], [np.inf, 10]),
        ("weibull", weibull, [1, 1, 1], [np.inf, 1e4, 10]),
    ):
        for gains, found in zip(observed, gain_curves(observed, 9, shape), strict=True):  # type: ignore[arg-type]
            bounds = (np.full(len(start), 0.05) * (np.arange(len(start)) > 0), most)
            other, _ = curve_fit(form, RANK[:9], gains, p0=start, bounds=bounds, max_nfev=2000)
            left = np.square(gains - np.clip(form(RANK[:9], *other), 0, 1)).sum()
            assert np.square(gains - found).sum() <= left + 1e-3 * np.square(gains).sum(), (shape, gains)
