"""Judges beside the pool: labels of second judges, and another assessor."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fits import TARGETS
from labeled import favoring_labels, right_labels, true_levels, with_judge
from own_models import BARE
from scipy.special import logit
from toys import no_pool

from bayespool import impute, judge_next, read_collection, score
from bayespool.collection import Collection, SecondAssessors
from bayespool.collection.pools import sole_contributor
from bayespool.errors import BayespoolWarning, JudgeWarning
from bayespool.evidence import favored_organizations, judgment_counts
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import load_example
from bayespool.experiments.simulation import SimulationSettings, simulate
from bayespool.inference.confusion import ConfusionDraws
from bayespool.measures import Estimates, Values, parse_measures
from bayespool.measures.populations import unjudged_share
from bayespool.models import MODELS
from bayespool.posterior import PosteriorEstimator, drawing
from bayespool.posterior.another_assessor import (
    AnotherAssessor,
    describe_assessors,
    paired_values,
)
from bayespool.posterior.completion import Completion
from bayespool.posterior.notes import judge_problems

QUICK: dict[str, Any] = {"posterior": "draws=201, chains=2"}


def problems(
    collection: Collection, run_ids: Sequence[str] = TARGETS, measures: object = "P@10"
) -> tuple[str, ...]:
    return judge_problems(collection, run_ids, parse_measures(measures))


def notes(collection: Collection, model: str = "ratio", measures: object = "P@10") -> tuple[str, ...]:
    estimator = PosteriorEstimator(model=model, draws=201, chains=2)
    (estimates,) = estimator.estimate(collection, TARGETS, measures)
    return estimates.notes


def some_labeled(n_unjudged: int, label: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
    """Labels of all judged documents of the example, and of the first unjudged ones of new-a's top 10."""
    example = load_example()
    label = (right_labels() if label is None else label).copy()
    run = example.run_ids.index("new-a")
    unjudged = [p for p in example.document[run, :, :10].ravel().tolist() if not example.judged[p]]
    label[~example.judged] = np.nan
    label[unjudged[:n_unjudged]] = 0
    return label


def n_unjudged(run_id: str, cutoff: int = 10) -> int:
    return int(judgment_counts(load_example(), run_id, cutoffs=cutoff).n_unjudged.sum())


def said_by(function: Any, *arguments: Any, **settings: Any) -> list[str]:
    """Texts of the warnings about judges."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **settings)
    assert all(issubclass(one.category, BayespoolWarning) for one in caught)
    ours = [one for one in caught if issubclass(one.category, JudgeWarning)]
    assert {one.filename for one in ours} <= {__file__}, "they point at the caller"
    return [str(one.message) for one in ours]


def test_without_a_judge_or_with_one_that_labels_all_nothing_is_wrong() -> None:
    assert problems(load_example()) == ()
    good = with_judge(load_example(), right_labels())
    assert problems(good) == ()
    assert notes(good) == ("", "")


def test_a_judge_may_be_known_on_some_levels_only() -> None:
    """Four documents of level 2 and plenty of level 1: the question of level 2 has too few answers."""
    example = load_example()
    label = np.minimum(true_levels(), 1).astype(float)
    label[np.flatnonzero(example.relevance == 2)[4:]] = np.nan
    few = with_judge(example, label)
    assert problems(few, measures="P@10") == ()
    (said,) = problems(few, measures=["P@10", "P(rel=2)@10"])
    assert said.startswith("judge llm is not used for relevance 2 or more: too few judged documents")
    first = notes(few, measures="P(rel=2)@10")[0]
    assert first == (
        "labels of judge llm not used for relevance 2 or more: too few judged documents have its labels"
    )


def test_a_copy_of_the_judgments_is_no_judge() -> None:
    example, n = load_example(), n_unjudged("new-a")
    label = some_labeled(n // 4, example.relevance.astype(float))
    label[np.flatnonzero(example.relevance == 0)[:5]] = 1  # a copy but for five labels
    (said,) = problems(with_judge(example, label), ["new-a"])
    assert said == (
        f"judge llm hardly differs from the judgments, and labels {n // 4} of {n} unjudged documents within "
        "rank 10 of the runs to score: are its labels a copy of the qrels?"
    )
    label[np.flatnonzero(example.relevance == 0)[:50]] = 1  # 5 % of them
    (said,) = problems(with_judge(example, label), ["new-a"])
    assert said.startswith("judge llm labels 1,181 of 1,181 judged documents, but")
    assert problems(with_judge(example, some_labeled(n, example.relevance.astype(float))), ["new-a"]) == ()


def test_half_of_the_labels_are_enough_and_so_are_few_everywhere() -> None:
    """But not less than a tenth."""
    example, n = load_example(), n_unjudged("new-a")
    assert problems(with_judge(example, some_labeled(n // 2)), ["new-a"]) == ()  # n is even
    assert len(problems(with_judge(example, some_labeled(n // 2 - 1)), ["new-a"])) == 1
    for share, words in ((5, ()), (10, (f"judge llm labels {n // 10} of {n} unjudged documents",))):
        few = some_labeled(n // share, right_labels() + 1)
        few[np.flatnonzero(example.judged)[::2]] = np.nan
        said = problems(with_judge(example, few), ["new-a"])
        assert len(said) == len(words), share
        assert all(text.startswith(start) for text, start in zip(said, words, strict=True))


def _unjudged(run_ids: Sequence[str]) -> npt.NDArray[np.int32]:
    example = load_example()
    top = example.document[example.run_index(run_ids), :, :10]
    return top[~np.append(example.judged, True)[top]]


@pytest.mark.slow
def test_each_call_warns_once_of_each_problem() -> None:
    favoring = with_judge(load_example(), some_labeled(3, favoring_labels()))
    both = problems(favoring)
    assert len(both) == 2
    estimators = ["background", "posterior-ratio", "posterior-background"]
    assert said_by(score, favoring, TARGETS, ["P@5", "P@10"], estimators=estimators, **QUICK) == list(both)
    assert said_by(impute, favoring, TARGETS, "P@10", draws=2) == list(both)
    assert said_by(judge_next, favoring, "new-a", "P@10", budget=2) == list(problems(favoring, ["new-a"]))


def test_a_note_counts_the_unjudged_documents_of_a_run_with_a_label() -> None:
    """Notes of several judges stand one after the other."""
    collection = with_judge(load_example(), some_labeled(5))
    constant = dataclasses.replace(collection.judges[0], name="bored", label=0 * right_labels())
    labeled_b = int(collection.judges[0].is_labeled[_unjudged(["new-b"])].sum())
    collection = dataclasses.replace(collection, judges=(*collection.judges, constant))
    for run, n_labeled, note in zip(TARGETS, (5, labeled_b), notes(collection), strict=True):
        first, second = note.split("\n")
        assert first == f"judge llm labels {n_labeled} of {n_unjudged(run)} unjudged documents"
        assert second == "labels of judge bored not used: all are the same"


def test_a_run_whose_organization_is_favored_is_told_so() -> None:
    example = load_example()
    collection = with_judge(example, favoring_labels("new-b"))
    favored = favored_organizations(collection, collection.judges[0])
    assert list(favored) == ["new-b"]
    assert notes(collection) == ("", "labels of judge llm not used: it favors new-b")


def test_models_of_counts_use_labels_too() -> None:
    """By Bayes' rule, with a pool and without."""
    collection = with_judge(load_example(), right_labels())
    assert notes(collection, "background") == ("", "")
    alone, target = no_pool()
    judged = with_judge(alone, np.where(alone.relevance > 0, 1.0, 0.0))
    few = PosteriorEstimator(draws=201, chains=2).estimate(judged, target, "P@3")[0].notes[0]
    assert few.endswith("\nlabels of judge llm not used: too few judged documents have its labels")


def test_a_model_without_predictors_says_that_it_uses_no_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "bare", dataclasses.replace(BARE, name="bare"))
    judged = with_judge(load_example(), right_labels())
    assert notes(judged, "bare") == ("labels of judges are not used by this model",) * 2
    assert notes(load_example(), "bare") == ("", "")
    estimator = PosteriorEstimator(model="bare", draws=201, chains=2)
    (one,), (other,) = (estimator.estimate(c, TARGETS, "P@10") for c in (judged, load_example()))
    assert one.value.tolist() == other.value.tolist()


MEASURES = ("P@10", "nDCG@10", "AP@20", "R@20", "RR@10", "P(rel=2)@10", "Judged@10")
ESTIMATOR = PosteriorEstimator(model="ratio", draws=25)


def twice_judged(collection: Collection, level: np.ndarray, twice: np.ndarray | bool = True) -> Collection:
    """The collection whose second assessor gave these levels to some of its judged documents."""
    known = np.where(collection.judged & twice, level, -1).astype(np.int16)
    return dataclasses.replace(collection, second=SecondAssessors(known))


@cache
def third() -> Collection:
    """The example, three of ten judged documents twice."""
    return again(load_example(), 0.3)


@cache
def estimated(*measures: str) -> tuple[Estimates, ...]:
    return ESTIMATOR.estimate(third(), "new-b", measures)


def again(collection: Collection, share: float, *, changed: float = 0.2, seed: int = 1) -> Collection:
    """The collection with a share of its judged documents judged twice, some levels one up or down."""
    rng = np.random.default_rng(seed)
    level = np.maximum(collection.relevance, 0)
    other = np.where(rng.random(len(level)) < changed, np.abs(level - 1), level)
    return twice_judged(collection, other, rng.random(len(level)) < share)


def test_where_all_is_judged_twice_the_second_assessor_decides() -> None:
    """Pooled runs have nothing unjudged: their scores are those of the second assessor, in every draw."""
    both = again(load_example(), 1.0)
    runs, measures = both.pooled_run_ids[:3], parse_measures(("P@10", "nDCG(ideal='judged')@10", "RR@10"))
    completion = ESTIMATOR.complete(both, runs, measures)
    by_second = dataclasses.replace(both, relevance=both.second.relevance)
    found = paired_values(completion, AnotherAssessor(both, completion.n_draws, 1), measures)
    for measure, (values, _) in zip(measures, found, strict=True):
        known = values_on_fuller(by_second, by_second, runs, measure).scores()
        assert values.scores() == pytest.approx(np.broadcast_to(known, values.amount.shape))


def test_measures_orders_of_runs_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither values by another assessor nor the parts of their variance."""
    both = ESTIMATOR.estimate(third(), ["new-a", "new-b"], ("P@10", "nDCG@10"))
    monkeypatch.setattr(drawing, "MAX_THREADS", 1)
    for measure, found in zip(("P@10", "nDCG@10"), both, strict=True):
        (one,) = ESTIMATOR.estimate(third(), ["new-b", "new-a"], measure)
        assert np.array_equal(one.by_another.amount[:, ::-1], found.by_another.amount)
        assert np.array_equal(one.exchanged.amount[:, :, ::-1], found.exchanged.amount)


def test_levels_that_only_the_second_assessor_uses_count() -> None:
    both = again(load_example(), 1.0, changed=0.0)
    higher = np.where(both.second.relevance > 0, both.second.relevance + 2, both.second.relevance)
    both = dataclasses.replace(both, second=SecondAssessors(higher.astype(np.int16)))
    assert AnotherAssessor(both, 10, 1).levels == (0, 1, 2, 3, 4)
    (graded,) = ESTIMATOR.estimate(both, both.pooled_run_ids[:1], "DCG@10")
    assert (graded.by_another.amount > graded.draws.amount).any()


def test_levels_of_few_documents_judged_twice_are_told() -> None:
    example = load_example()
    assert describe_assessors(again(example, 1.0))["notes"] == []
    few = again(example, 0.02)
    told = describe_assessors(few)
    assert told["n_twice"] == few.second.judged.sum()
    assert sum(row["n"] for row in told["changes"]) == told["n_twice"]
    assert "of relevance 2" in told["notes"][0]
    stated = twice_judged(example, example.relevance, False)
    assert "no document is judged twice" in describe_assessors(stated)["notes"][0]
    (note,) = describe_assessors(twice_judged(example, np.minimum(example.relevance, 1)))["notes"]
    assert "no document relevance 2" in note


def test_documents_of_one_organization_are_of_a_kind_of_their_own() -> None:
    """The second assessor changes what several organizations contributed, and nothing else."""
    example = load_example()
    sole, level = sole_contributor(example), np.maximum(example.relevance, 0)
    rng = np.random.default_rng(3)
    level = np.where((sole < 0) & (level == 0) & (rng.random(len(level)) < 0.6), 1, level)
    twice = example.judged & (rng.random(len(level)) < 0.5)
    both = twice_judged(example, level, twice)
    (found,) = PosteriorEstimator(model="ratio", draws=100).estimate(both, "new-b", "P@10")
    confirmed = dataclasses.replace(example, relevance=np.where(example.judged, level, -1).astype(np.int16))
    judged = values_on_fuller(confirmed, confirmed, ["new-b"], found.measure).totals()
    of_judged = values_on_fuller(example, example, ["new-b"], found.measure).totals()
    # the unjudged documents keep what the first assessor would have given them
    unjudged_by_first = found.draws.totals().mean() - of_judged
    assert found.by_another.totals().mean() - judged == pytest.approx(unjudged_by_first, abs=4)


def test_features_of_documents() -> None:
    both = third()
    another, pairs = AnotherAssessor(both, 10, 1), np.flatnonzero(both.judged)
    sole = sole_contributor(both)[pairs]
    found = another.features(pairs, another.contributor[pairs])
    log_odds, alone, of_sum = found.free.T
    assert np.array_equal(alone == 1, sole >= 0)
    assert np.array_equal(found.of_organization.argmax(axis=1)[sole >= 0], sole[sole >= 0])
    assert not log_odds[sole < 0].any()
    assert log_odds[sole >= 0].mean() == pytest.approx(0)
    assert log_odds[sole >= 0].std() == of_sum.std() == pytest.approx(1)
    by_rank = another.features(both.document[0, 0, [0, 9]].astype(np.int64), np.array([-1, -1])).of_run[:, 0]
    of_topic = np.flatnonzero(both.judged & (both.pair_topic == 0))
    lacking = of_topic[~np.isin(of_topic, both.document[0, 0])][:1]
    none = another.features(lacking, np.array([-1])).of_run[0, 0]
    assert (by_rank[0] - none) / (by_rank[1] - none) == pytest.approx((1 / 1.1) / (1 / 2))


def test_a_stated_confusion_is_what_it_says() -> None:
    """Of firmly stated chances the score is known: each document changes with the chance of its level."""
    example = load_example()
    nobody = np.full(len(example.relevance), -1, dtype=np.int16)
    stated = ((95e4, 5e4, 1.0), (30e4, 70e4, 1.0), (30e4, 1.0, 70e4))
    both = dataclasses.replace(example, second=SecondAssessors(nobody, confusion=stated))
    run = both.pooled_run_ids[0]
    (found,) = dataclasses.replace(ESTIMATOR, estimand="pooled").estimate(both, run, "P@10")
    top = example.document[example.run_index([run])[0], :, :10]
    chance = np.array([0.05, 0.7, 0.7])[np.maximum(example.relevance, 0)][top]
    assert found.by_another.totals().mean() == pytest.approx(chance.sum(), rel=0.02)
    assert found.by_another.totals().std() == pytest.approx(np.sqrt((chance * (1 - chance)).sum()), rel=0.25)


def test_without_documents_of_one_organization_their_log_odds_show_nothing() -> None:
    alone = dataclasses.replace(third(), pooled=np.zeros(len(third().run_ids), bool))
    assert not AnotherAssessor(alone, 10, 1).standardize(np.array([[-3.0, 2.0]])).any()


class KnownChance(Completion):
    """A completion in which every unjudged document is relevant with a chance of 0.3."""

    def draw_block(
        self, topic: int, chosen: np.ndarray, cells: object, log_odds: object = None
    ) -> np.ndarray:
        here = self.unknowns.on_topic(topic)
        drawn = np.random.default_rng([7, topic]).random((self.n_draws, here.stop - here.start)) < 0.3
        return drawn.astype(np.uint8)[chosen]


def by_known_assessors(confirmed: np.ndarray, twice: bool) -> tuple[Values, Values]:
    """P@5 of a run with two relevant, one nonrelevant and two unjudged documents on each of two topics.

    ``confirmed`` has the chance of each draw that another assessor confirms a relevant document; a
    nonrelevant one is relevant to that assessor with a chance of 0.1. Values, and those of exchanged pairs.
    """
    judged = {"a": 1, "b": 1, "c": 0}
    ranking = {doc_id: 5.0 - i for i, doc_id in enumerate("abcde")}
    both = read_collection(
        dict.fromkeys("qr", judged | {"z": 0}), {"mine": dict.fromkeys("qr", ranking)},
        second_assessors=dict.fromkeys("qr", judged if twice else {"z": 0}),
    )  # fmt: skip
    made = PosteriorEstimator(model="ratio", draws=len(confirmed), chains=1).complete(both, "mine", "P@5")
    completion = KnownChance(**{f.name: getattr(made, f.name) for f in dataclasses.fields(made)})
    another = AnotherAssessor(both, len(confirmed), 1)
    intercept = logit(np.stack([np.full(len(confirmed), 0.1), confirmed], axis=1))[None]
    n_features = sum(another.features(np.arange(1), np.array([-1])).numbers)
    another.__dict__["confusion"] = ConfusionDraws(
        intercept, np.zeros((1, len(confirmed), n_features)), np.zeros((1, len(confirmed), 2, 3))
    )
    measures = parse_measures("P@5")
    return paired_values(completion, another, measures)[0]


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize(("spread", "twice"), [(0.0, True), (0.2, False)])
def test_parts_of_the_variance_by_hand(spread: float, twice: bool) -> None:
    """Where all is judged twice the assessor's part is that of the unjudged documents' levels."""
    n, p, chance, false = 8000, 0.3, 0.7, 0.1
    values, exchanged = by_known_assessors(np.tile([chance - spread, chance + spread], n // 2), twice)
    n_judged, n_unjudged = (0, 0) if twice else (4, 2), 4
    of_unjudged = n_unjudged * p * (1 - p) * (chance - false) ** 2
    relevant, spread_of_relevant = n_judged[0] + n_unjudged * p, n_unjudged * p * (1 - p)
    of_confirmed = chance * (1 - chance) - spread**2  # mean over assessors
    nonrelevant = n_judged[1] + n_unjudged * (1 - p)
    of_assessor = relevant * of_confirmed + nonrelevant * false * (1 - false)
    of_assessor += (relevant**2 + spread_of_relevant) * spread**2  # one assessor for all documents
    assert values.totals().var() == pytest.approx(of_unjudged + of_assessor, rel=0.06)
    share = unjudged_share(values.means(), exchanged.means())
    assert share == pytest.approx([of_unjudged / (of_unjudged + of_assessor)], abs=0.06)


@pytest.mark.slow
def test_intervals_hold_what_the_other_assessor_gives() -> None:
    """As in research/decisions/assessors.py, with fewer collections."""
    small = SimulationSettings(n_topics=20, n_organizations=5, max_runs=2, n_new=2, n_candidates=150)
    chances = np.array([[0.93, 0.05, 0.02], [0.3, 0.55, 0.15], [0.1, 0.3, 0.6]])
    held = []
    for seed in range(40):
        made, rng = simulate(small, random_seed=seed), np.random.default_rng([seed, 1])
        first = made.true_relevance()
        at_most = np.cumsum(chances, axis=1)[first, :-1]
        second = (rng.random(len(first))[:, None] >= at_most).sum(axis=1).astype(np.int16)
        twice = made.collection.judged & (rng.random(len(first)) < 0.1)
        both = twice_judged(made.collection, second, twice)
        (found,) = PosteriorEstimator(model="ratio", draws=75).estimate(both, made.new_run_ids, "P@10")
        lower, upper = found.by_another.interval()
        full = dataclasses.replace(both, relevance=second)
        known = values_on_fuller(both, full, made.new_run_ids, found.measure).means()
        held += ((lower <= known) & (known <= upper)).tolist()
    assert np.mean(held) >= 0.88
