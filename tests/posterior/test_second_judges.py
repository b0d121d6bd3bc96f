"""Judges beside the pool: labels of LLM judges."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fits import TARGETS
from labeled import favoring_labels, right_labels, true_levels, with_judge
from own_models import BARE
from toys import no_pool

from bayespool import impute, judge_next, score
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning, JudgeWarning
from bayespool.evidence import favored_organizations, judgment_counts
from bayespool.experiments import load_example
from bayespool.measures import parse_measures
from bayespool.models import MODELS
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.notes import judge_problems

QUICK: dict[str, Any] = {"posterior_settings": "draws=201, chains=2"}


def problems(
    collection: Collection, run_ids: Sequence[str] = TARGETS, measures: object = "P@10"
) -> tuple[str, ...]:
    return judge_problems(collection, run_ids, parse_measures(measures))


def notes(
    collection: Collection, model: str = "ratio", measures: object = "P@10"
) -> tuple[tuple[str, ...], ...]:
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
    assert notes(good) == ((), ())


def test_a_judge_may_be_known_on_some_levels_only() -> None:
    """Four documents of level 2 and plenty of level 1: the question of level 2 has too few answers."""
    example = load_example()
    label = np.minimum(true_levels(), 1).astype(float)
    label[np.flatnonzero(example.relevance == 2)[4:]] = np.nan
    few = with_judge(example, label)
    assert problems(few, measures="P@10") == ()
    (said,) = problems(few, measures=["P@10", "P(rel=2)@10"])
    assert said.startswith("judge llm is not used for relevance 2 or more: too few judged documents")
    (first,) = notes(few, measures="P(rel=2)@10")[0]
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
    for run, n_labeled, (first, second) in zip(TARGETS, (5, labeled_b), notes(collection), strict=True):
        assert first == f"judge llm labels {n_labeled} of {n_unjudged(run)} unjudged documents"
        assert second == "labels of judge bored not used: all are the same"


def test_a_run_whose_organization_is_favored_is_told_so() -> None:
    example = load_example()
    collection = with_judge(example, favoring_labels("new-b"))
    favored = favored_organizations(collection, collection.judges[0])
    assert list(favored) == ["new-b"]
    assert notes(collection) == ((), ("labels of judge llm not used: it favors new-b",))


def test_models_of_counts_use_labels_too() -> None:
    """By Bayes' rule, with a pool and without."""
    collection = with_judge(load_example(), right_labels())
    assert notes(collection, "background") == ((), ())
    alone, target = no_pool()
    judged = with_judge(alone, np.where(alone.relevance > 0, 1.0, 0.0))
    few = PosteriorEstimator(draws=201, chains=2).estimate(judged, target, "P@3")[0].notes[0]
    assert few[-1] == "labels of judge llm not used: too few judged documents have its labels"


def test_a_model_without_predictors_says_that_it_uses_no_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "bare", dataclasses.replace(BARE, name="bare"))
    judged = with_judge(load_example(), right_labels())
    assert notes(judged, "bare") == (("labels of judges are not used by this model",),) * 2
    assert notes(load_example(), "bare") == ((), ())
    estimator = PosteriorEstimator(model="bare", draws=201, chains=2)
    (one,), (other,) = (estimator.estimate(c, TARGETS, "P@10") for c in (judged, load_example()))
    assert one.value.tolist() == other.value.tolist()


MEASURES = ("P@10", "nDCG@10", "AP@20", "R@20", "RR@10", "P(rel=2)@10", "Judged@10")
ESTIMATOR = PosteriorEstimator(model="ratio", draws=25)
