"""Completions: one relevance per document and draw, whoever asks, and everything computed from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import ir_measures
import numpy as np
import pytest
from fits import TARGETS
from scipy import stats
from scipy.special import expit
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.counts import bounds, judgment_counts
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.estimates import Diagnostics
from bayespool.inference.fit import Fit
from bayespool.measures import Measure, Precision, parse_measure
from bayespool.posterior import Completion, Component, PosteriorEstimator, completion, find_unknowns
from bayespool.posterior.randomness import document_keys, normals, scrambled
from bayespool.scoring import score
from bayespool.simulation import load_example
from bayespool.trec import qrels_from_frame

NO_FIT = Fit({}, {}, {}, {}, Diagnostics("none", 1, 1e4, 1e4, 0))

RUNS = {
    "x": {"1": "abcdefg", "2": "ijklm"},
    "one": {"1": "aqrsb", "2": "itu"},
    "two": {"1": "sqavw", "2": "jtk"},
}


def toy(organizations: dict[str, str] | None = None) -> Collection:
    """Unjudged: q r s (topic 1) and t u (topic 2) of ``one``; s q v w and t of ``two``."""
    return from_rankings(
        RUNS,
        {"1": {"a": 1, "b": 0, "c": 1}, "2": {"i": 0, "j": 1, "k": 1}},
        organizations or {"x": "x", "one": "north", "two": "south"},
        pooled_run_ids=("x",),
        pool_depth=3,
    )


def completed(
    log_odds: Callable[[np.ndarray, int, np.ndarray], np.ndarray] | float,
    n_draws: int = 2000,
    run_ids: tuple[str, ...] = ("one", "two"),
    collection: Collection | None = None,
    seed: int = 1,
    effect: float = 0.0,
    scale: float = 0.0,
) -> Completion:
    """A completion with made-up log odds: a number, or a function of draws, topic and pairs."""
    unknowns = find_unknowns(collection or toy(), run_ids, 5)

    def of(source: np.ndarray, topic: int, documents: slice) -> np.ndarray:
        pairs = unknowns.pair[documents]
        if callable(log_odds):
            return np.array(np.broadcast_to(log_odds(source, topic, pairs), (len(source), len(pairs))))
        return np.full((len(source), len(pairs)), float(log_odds))

    names = [unknowns.collection.organizations[o] for o in unknowns.collection.organization]
    of_run = [names[i] for i in unknowns.run_index]
    effects = np.column_stack([effect * normals(n_draws, seed, "organization", name) for name in of_run])
    return Completion(
        unknowns=unknowns,
        levels=(0, 1),
        n_draws=n_draws,
        components=(Component("made up", NO_FIT, of, effects, scale),),
        component=np.zeros(n_draws, dtype=np.intp),
        source=np.arange(n_draws),
        known=np.full(len(unknowns), -1, dtype=np.int16),
        weights={"made up": 1.0},
        random_seed=seed,
    )


@dataclasses.dataclass(frozen=True, order=True)
class Reciprocal(Measure):
    """Reciprocal rank: no sum over ranks, and no whole number."""

    name = "RR"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        relevant = levels[..., : self.cutoff] >= self.rel
        return np.where(relevant.any(axis=-1), 1 / (1 + relevant.argmax(axis=-1)), 0.0)


# --- unknowns ----------------------------------------------------------------------------------------------


def test_unknowns_are_each_once_and_credited_to_the_best_rank() -> None:
    unknowns = find_unknowns(toy(), ("one", "two"), 5)
    found = [
        (unknowns.collection.doc_id(pair), unknowns.run_ids[run], int(rank))
        for pair, run, rank in zip(unknowns.pair, unknowns.run, unknowns.rank, strict=True)
    ]
    # q stands second in both: the run that comes first by name has it
    assert found == [
        *[("q", "one", 2), ("r", "one", 3), ("s", "two", 1), ("v", "two", 4), ("w", "two", 5)],
        *[("t", "one", 2), ("u", "one", 3)],
    ]
    assert unknowns.start.tolist() == [0, 5, 7]
    assert unknowns.doc_ids(1) == ["t", "u"]


def test_unknowns_do_not_depend_on_the_order_of_runs() -> None:
    one, other = find_unknowns(toy(), ("one", "two"), 5), find_unknowns(toy(), ("two", "one"), 5)
    assert np.array_equal(one.pair, other.pair)
    names = [[u.run_ids[r] for r in u.run] for u in (one, other)]
    assert names[0] == names[1]


def test_reach_ends_at_the_depth_and_for_the_pooled_estimand_at_the_pool() -> None:
    assert len(find_unknowns(toy(), ("one",), 2)) == 2  # q and t
    assert len(find_unknowns(toy(), ("one",), 5)) == 5
    assert len(find_unknowns(toy(), ("two",), 5, "pooled")) == 3  # s, q and t
    assert len(find_unknowns(toy(), ("x",), 3)) == 0
    assert len(find_unknowns(toy(), ("x",), 5)) == 4  # d e and l m


# --- draws -------------------------------------------------------------------------------------------------


def test_each_document_is_drawn_with_its_chance() -> None:
    chances = {"q": 0.3, "r": 0.9, "s": 0.05, "v": 0.5, "w": 0.999, "t": 0.001, "u": 0.7}
    n, of_pair = 40_000, toy()

    def log_odds(_: np.ndarray, __: int, pairs: np.ndarray) -> np.ndarray:
        p = np.array([chances[of_pair.doc_id(pair)] for pair in pairs])
        return np.log(p / (1 - p))

    found = completed(log_odds, n)
    drawn = np.hstack([found.block(0), found.block(1)]).astype(float)
    p = np.array([chances[d] for t in (0, 1) for d in found.unknowns.doc_ids(t)])
    assert (np.abs(drawn.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9).all()
    some = (p > 0.01) & (p < 0.99)
    correlation = np.corrcoef(drawn[:, some], rowvar=False)
    assert np.abs(correlation - np.eye(some.sum())).max() < 5 / np.sqrt(n)
    # nor does a draw tell the next one
    lagged = [np.corrcoef(drawn[1:, j], drawn[:-1, j])[0, 1] for j in np.flatnonzero(some)]
    assert np.abs(lagged).max() < 5 / np.sqrt(n)


def test_uniform_numbers_are_uniform() -> None:
    """Through their chances: log odds of a grid of p give shares p."""
    n = 200_000
    for p in (0.01, 0.2, 0.5, 0.8, 0.99):
        share = completed(float(np.log(p / (1 - p))), n).block(0).mean(axis=0)
        assert np.abs(share - p).max() < 5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize(("log_odds", "relevant"), [(1e3, 1), (-1e3, 0), (np.inf, 1), (-np.inf, 0)])
def test_certain_documents_are_certain(log_odds: float, relevant: int) -> None:
    assert (completed(log_odds, 500).block(0) == relevant).all()


def test_log_odds_beyond_the_table_are_chances_all_the_same() -> None:
    n = 400_000
    for x in (-9.0, 9.0):
        share = completed(x, n).block(0).mean()
        assert share == pytest.approx(expit(x), abs=5 * np.sqrt(expit(-abs(x)) / (5 * n)))


def test_shared_document_has_one_relevance_in_a_draw() -> None:
    """``one`` and ``two`` share q, s and t: their totals differ by r, u, v and w only."""
    (values,) = completed(0.0, 20_000).evaluate("P@5")
    known = np.array([[1, 0], [1, 2]])
    added = values.amount - known
    assert values.unit == 5
    assert added.min(axis=(0, 2)).tolist() == [0, 0]
    assert added.max(axis=0).tolist() == [[3, 2], [4, 1]]
    difference = added[:, 1, 0] - added[:, 0, 0]
    assert set(difference.tolist()) == {-1, 0, 1, 2}  # v + w − r
    assert difference.var() == pytest.approx(0.75, rel=0.05)
    assert np.cov(added[:, :, 0], rowvar=False)[0, 1] == pytest.approx(0.5, abs=0.03)  # q and s


def test_runs_with_the_same_documents_have_the_same_draws_whatever_their_organizations() -> None:
    runs = RUNS | {"twin": RUNS["one"]}
    twins = from_rankings(
        runs,
        {"1": {"a": 1, "b": 0, "c": 1}, "2": {"i": 0, "j": 1, "k": 1}},
        {"x": "x", "one": "north", "two": "south", "twin": "west"},
        pooled_run_ids=("x",),
        pool_depth=3,
    )
    (values,) = completed(0.3, 500, ("one", "twin"), twins, effect=1.5, scale=0.7).evaluate("P@5")
    assert np.array_equal(values.amount[:, 0], values.amount[:, 1])
    assert values.amount[:, 0].var() > 0


def test_sharing_does_not_narrow() -> None:
    """A document of twenty organizations has one effect, as wide as that of a document of one."""
    runs = {"x": RUNS["x"]} | {f"copy{i:02}": RUNS["one"] for i in range(20)}
    of = {run: run for run in runs}
    judged = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"i": 0, "j": 1, "k": 1}}
    many = from_rankings(runs, judged, of, pooled_run_ids=("x",), pool_depth=3)
    names = tuple(f"copy{i:02}" for i in range(20))
    together = completed(0.0, 20_000, names, many, effect=2.0).evaluate("P@5")[0].totals()[:, 0]
    alone = completed(0.0, 20_000, ("copy00",), many, effect=2.0).evaluate("P@5")[0].totals()[:, 0]
    assert np.array_equal(together, alone)
    without = completed(0.0, 20_000, ("copy00",), many).evaluate("P@5")[0].totals()[:, 0]
    assert alone.var() > 1.8 * without.var()


def test_effect_of_organization_and_topic_keeps_chances_and_makes_topics_vary_together() -> None:
    plain, with_cells = (
        completed(-1.0, 40_000, ("one",), scale=s).evaluate("P@5")[0].amount[:, 0, 0] for s in (0.0, 2.0)
    )
    assert with_cells.mean() == pytest.approx(plain.mean(), abs=0.03)
    assert with_cells.var() > 1.5 * plain.var()


# --- what a document's draws depend on ---------------------------------------------------------------------


def test_other_runs_chunks_and_measures_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"effect": 0.8, "scale": 0.5}
    both = completed(-0.3, 300, ("one", "two"), **settings)
    swapped = completed(-0.3, 300, ("two", "one"), **settings)
    five, three = both.evaluate("P@5", "P@3")
    assert np.array_equal(five.amount, swapped.evaluate("P@5")[0].amount[:, ::-1])
    assert np.array_equal(three.amount, both.evaluate("P@3")[0].amount)
    whole = both.block(0)
    pieces = [both.block(0, slice(first, first + 7)) for first in range(0, 300, 7)]
    assert np.array_equal(whole, np.vstack(pieces))
    monkeypatch.setattr(completion, "_CELLS", 17)
    assert np.array_equal(five.amount, both.evaluate("P@5")[0].amount)


def test_keys_are_of_seed_topic_and_document() -> None:
    keys = document_keys(1, "401", ["a", "b"])
    assert keys.dtype == np.uint64
    assert document_keys(1, "401", ["b", "a"])[::-1].tolist() == keys.tolist()
    others = [document_keys(2, "401", ["a"])[0], document_keys(1, "40", ["1a"])[0], keys[1]]
    assert len({int(keys[0]), *map(int, others)}) == 4
    # the finaliser of SplitMix64, from its reference implementation with seed 0
    assert int(scrambled(np.array([0]))[0]) == 0xE220A8397B1DCDAF
    assert np.array_equal(normals(5, "a", 1), normals(9, "a", 1)[:5])


def test_copies_of_a_run_and_measures_beside_change_no_byte() -> None:
    """``new-b`` alone, beside copies of itself, of one organization; P@10 alone and beside others."""
    example = load_example()
    b = int(example.run_index("new-b")[0])

    def with_copies(n: int) -> Collection:
        return dataclasses.replace(
            example,
            run_ids=(*example.run_ids, *(f"copy-{i:02}" for i in range(n))),
            document=np.concatenate([example.document, *[example.document[b : b + 1]] * n]),
            organization=np.concatenate([example.organization, np.repeat(example.organization[b], n)]),
            pooled=np.concatenate([example.pooled, np.zeros(n, dtype=bool)]),
        )

    def draws(n: int, *measures: str) -> np.ndarray:
        collection = with_copies(n)
        runs = ["new-b", *collection.run_ids[len(example.run_ids) :]]
        scores = score(collection, runs, measures, estimators="posterior-combined")
        found = scores["posterior-combined", "P@10"].draws
        assert found is not None
        return found.amount[:, 0]

    alone = draws(0, "P@10")
    assert alone.std(axis=0).sum() > 0
    for n, measures in ((1, ["P@10"]), (5, ["P@5", "P@10"]), (20, ["P@20", "P@10", "P@5"])):
        assert np.array_equal(alone, draws(n, *measures)), n


def test_what_another_run_does_not_share_stays() -> None:
    """Beside ``new-a`` the documents that ``new-b`` alone has keep their draws."""
    example, estimator = load_example(), PosteriorEstimator(draws=100)
    alone = estimator.complete(example, "new-b", "P@10")
    beside = estimator.complete(example, TARGETS, "P@10")
    n_same = 0
    for t in range(len(example.query_ids)):
        one, both = alone.unknowns, beside.unknowns
        mine = one.pair[one.on_topic(t)]
        theirs = both.pair[both.on_topic(t)]
        credited = both.run_ids.index("new-b") == both.run[both.on_topic(t)]
        place = np.searchsorted(theirs, mine)
        kept = credited[place]
        n_same += int(kept.sum())
        assert np.array_equal(alone.block(t)[:, kept], beside.block(t)[:, place[kept]])
    assert n_same > 20


def test_in_every_draw_deeper_cutoffs_have_no_fewer_relevant_documents() -> None:
    scores = score(load_example(), TARGETS, ["P@20", "P@5", "P@10", "P@1"], estimators="posterior-combined")
    amounts = [scores["posterior-combined", f"P@{n}"].draws.amount for n in (1, 5, 10, 20)]  # type: ignore[union-attr]
    for shallow, deep in pairwise(amounts):
        assert (shallow <= deep).all()


# --- measures ----------------------------------------------------------------------------------------------


def test_a_measure_that_is_no_sum_is_evaluated_on_the_completed_rankings() -> None:
    found = completed(0.0, 400)
    values, precision = found.evaluate(Reciprocal(5), Precision(5))
    for draw in (0, 17, 399):
        qrels = found.qrels(draw)
        judged = [
            ir_measures.Qrel(q, d, r)
            for q, d, r in zip(
                qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True
            )
        ]
        for r, run in enumerate(("one", "two")):
            ranked = [
                ir_measures.ScoredDoc(q, d, -i) for q, docs in RUNS[run].items() for i, d in enumerate(docs)
            ]
            measures = [ir_measures.RR @ 5, ir_measures.P @ 5]
            per_topic = {
                (str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(measures, judged, ranked)
            }
            for t, q in enumerate(("1", "2")):
                assert values.scores()[draw, r, t] == pytest.approx(per_topic["RR@5", q])
                assert precision.scores()[draw, r, t] == pytest.approx(per_topic["P@5", q])


def test_rankings_laid_out_in_pieces_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = completed(0.0, 100)
    whole = found.evaluate(Reciprocal(5))[0].amount
    monkeypatch.setattr(completion, "_CELLS", 40)
    assert np.array_equal(whole, found.evaluate(Reciprocal(5))[0].amount)


def test_values_lie_between_the_bounds_and_nothing_unjudged_is_certain() -> None:
    example = load_example()
    for name in ("P@1", "P@10", "P@30"):
        measure = parse_measure(name)
        (values,) = PosteriorEstimator(draws=50).complete(example, TARGETS, measure).evaluate(measure)
        found = bounds(example, TARGETS, measure)
        assert (values.amount >= found.low.amount).all()
        assert (values.amount <= found.high.amount).all()
    pooled = example.pooled_run_ids[:2]
    nothing = PosteriorEstimator(draws=5).complete(example, pooled, "P@10")
    assert len(nothing.unknowns) == 0
    assert nothing.components == ()
    counts = judgment_counts(example, pooled, cutoffs=10).n_relevant[:, :, 0]
    assert (nothing.evaluate("P@10")[0].amount == counts).all()


def test_a_measure_beyond_the_completion_is_refused() -> None:
    found = completed(0.0, 10)
    with pytest.raises(InputError, match="P@6 looks deeper than rank 5"):
        found.evaluate("P@6")
    with pytest.raises(InputError, match=r"P\(rel=2\)@5 asks for a relevance of 2"):
        found.evaluate("P(rel=2)@5")
    with pytest.raises(InputError, match="there is no draw 10"):
        found.qrels(10)


# --- more judgments ----------------------------------------------------------------------------------------


def test_observed_documents_are_known_and_the_others_are_not() -> None:
    found = completed(0.0, 4000).observe(qrels_from_frame({"1": {"q": 1, "r": 0, "a": 1}, "2": {"u": 1}}))
    assert found.block(0)[:, :2].tolist() == [[1, 0]] * 4000
    assert found.block(1)[:, 1].tolist() == [1] * 4000
    assert found.block(0)[:, 2:].mean(axis=0) == pytest.approx([0.5] * 3, abs=0.05)
    known = found.observe(qrels_from_frame({"1": {"s": 0}}))
    assert known.block(0)[:, :3].tolist() == [[1, 0, 0]] * 4000
    with pytest.raises(InputError, match="no judgment is of an unknown document"):
        found.observe(qrels_from_frame({"1": {"q": 1}}))


def test_observed_answers_teach_what_the_organization_is_worth() -> None:
    """One effect N(0, 2²) for all documents of ``one``: after 3 of 3 the rest follow (by integral)."""
    n = 200_000
    prior = completed(0.0, n, ("one",), effect=2.0)
    told = prior.observe(qrels_from_frame({"1": {"q": 1, "r": 1, "s": 1}}))
    x = np.linspace(-12, 12, 4001)
    weight = stats.norm(0, 2).pdf(x) * expit(x) ** 3
    expected = float((weight * expit(x)).sum() / weight.sum())
    assert prior.block(1).mean() == pytest.approx(0.5, abs=0.01)
    assert told.block(1).mean() == pytest.approx(expected, abs=0.01)
    both = float((told.block(1) == 1).all(axis=1).mean())
    assert both == pytest.approx(float((weight * expit(x) ** 2).sum() / weight.sum()), abs=0.01)


def test_too_few_draws_left_are_warned_of() -> None:
    found = completed(lambda source, _, __: np.where(source[:, None] == 3, 30.0, -30.0), 100)
    with pytest.warns(DiagnosticsWarning, match="leave 1 effective draws"):
        told = found.observe(qrels_from_frame({"1": {"q": 1}}))
    assert "1 effective draws" in told.notes[0]
    assert set(told.source.tolist()) == {3}


def test_observing_agrees_with_a_new_fit() -> None:
    """The unjudged documents of ``new-b`` on two topics judged relevant: its mean moves the same way."""
    example, estimator = load_example(), PosteriorEstimator(draws=5000)
    found = estimator.complete(example, "new-b", "P@10")
    answers = {example.query_ids[t]: dict.fromkeys(found.unknowns.doc_ids(t), 1) for t in range(2)}
    qrels = qrels_from_frame({q: docs for q, docs in answers.items() if docs})
    (anew,) = estimator.complete(example.add_judgments(qrels), "new-b", "P@10").evaluate("P@10")
    (told,) = found.observe(qrels).evaluate("P@10")
    (before,) = found.evaluate("P@10")
    moved = anew.expected()[0] - before.expected()[0]
    assert moved > 0.01
    assert told.expected()[0] - before.expected()[0] == pytest.approx(moved, rel=0.15)
