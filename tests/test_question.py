"""A question has the answers of the functions, and says at once what cannot be asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from labeled import labeled_toy
from small import small

from bayespool import Question, audit, check_judges, compare, gate, impute, judge_next, plan_comparison, score
from bayespool.errors import InputError, NoCollectionError
from bayespool.scoring.asked import Asked, AskedKeywords

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

RUNS = ["new-a", "new-b"]
RATIO: dict[str, Any] = {"estimators": "posterior-ratio", "posterior_settings": "draws=50", "random_seed": 7}

ANSWERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "score": (score, {"scope": "population"}),
    "compare": (compare, {"baseline": "new-a", "rope": 0.02}),
    "plan_comparison": (plan_comparison, {"more_topics": 10, "judgments": 5}),
    "judge_next": (judge_next, {"budget": 3}),
    "audit": (audit, {"budget": 3}),
    "impute": (impute, {"draws": 3}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_method_has_the_answer_of_the_function(name: str) -> None:
    function, own = ANSWERS[name]
    question = Question(small(), RUNS, "nDCG@5", ideal="shared", unpool="north-1", unpool_by="run", **RATIO)
    answer = getattr(question, name)(**own)
    expected = function(
        small(), RUNS, "nDCG@5", ideal="shared", unpool="north-1", unpool_by="run", **RATIO, **own
    )
    assert answer.to_frame().equals(expected.to_frame())
    assert (answer.sentences(), answer.metadata) == (expected.sentences(), expected.metadata)


def test_other_answers() -> None:
    asked = Question(small(), RUNS, "P@5", **RATIO)
    assert asked.gate(margin=0.01).sentence == gate(small(), RUNS, "P@5", margin=0.01, **RATIO).sentence
    check = Question(labeled_toy(), measures="P@3", ci_prob=0.5).check_judges()
    assert check.to_frame().equals(check_judges(labeled_toy(), "P@3", ci_prob=0.5).to_frame())


def test_keywords_of_functions_are_the_fields_of_a_question() -> None:
    fields = [field.name for field in dataclasses.fields(Asked)][3:]
    assert ["estimators", *AskedKeywords.__annotations__] == fields
    types = {name: hint.__forward_arg__ for name, hint in AskedKeywords.__annotations__.items()}
    assert types == {name: Asked.__annotations__[name] for name in fields[1:]}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"measures": "Q@10"}, "Q@10"),
        ({"unpool_by": "team"}, "unpool_by cannot be 'team'"),
        ({"repool_to": 0}, "repool_to cannot be 0"),
        ({"ideal": "mine"}, "ideal cannot be 'mine'"),
        ({"ci_prob": 95}, "ci_prob cannot be 95"),
        ({"posterior_settings": "ratio(draws=5)"}, "settings name the model 'ratio'"),
        ({"estimators": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_asked_is_told_when_the_question_is_made(asked: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError) as refused:
        Question(**asked).score()
    assert not isinstance(refused.value, NoCollectionError)
    assert reason in str(refused.value)


def test_without_a_collection_a_question_is_checked_and_has_no_answer() -> None:
    with pytest.raises(NoCollectionError):
        Question(measures="P@10").score()
    with pytest.raises(InputError, match="scope cannot be"):
        Question(measures="P@10").score(scope="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2 estimators"):
        Question(small(), estimators=["posterior-ratio", "posterior-combined"]).judge_next()
