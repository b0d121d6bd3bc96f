"""Names and settings in texts, and what is said where a text is not of the form."""

from __future__ import annotations

import pytest

from bayespool.corrections import Background
from bayespool.corrections.divekar_majumder import Precise
from bayespool.errors import InputError
from bayespool.names import settings_in
from bayespool.pooling import RRF, Stratified, Take


def test_what_a_text_cannot_say() -> None:
    for text, make, message in [
        ("rrf(q=1)", RRF, "strategy 'rrf(q=1)': there is no setting 'q'; rrf has k"),
        ("take(k=1)", Take, "strategy 'take(k=1)': there is no setting 'k'; take has none"),
        ("rrf(k=abc)", RRF, "strategy 'rrf(k=abc)': k cannot be abc; write a number, a text in quotes, True"),
        (
            "precise(sample=judged)",
            Precise,
            "strategy 'precise(sample=judged)': sample cannot be judged; write 'hidden', 'judged'",
        ),
        ("rrf(k=10", RRF, "strategy 'rrf(k=10': the parenthesis is not closed; write rrf(k=60)"),
        ("rrf(k=)", RRF, "strategy 'rrf(k=)': cannot be read; write rrf(k=60)"),
        ("rrf(10)", RRF, "strategy 'rrf(10)': write settings as name=value; write rrf(k=60)"),
        (
            "stratified(depths=",
            Stratified,
            "strategy 'stratified(depths=': the parenthesis is not closed; write ",
        ),
        ("take(", Take, "strategy 'take(': the parenthesis is not closed; write take(setting=value)"),
        ("rrf(k=1)(k=2)", RRF, "strategy 'rrf(k=1)(k=2)': write settings as name=value"),
        ("rrf(k=1.5)", RRF, "strategy 'rrf(k=1.5)': k must be a whole number"),
        ("rrf(**{'k': 1})", RRF, "strategy \"rrf(**{'k': 1})\": write settings as name=value"),
    ]:
        with pytest.raises(InputError) as error:
            settings_in(text, "strategy", make)
        assert str(error.value).startswith(message), (text, make)


def test_a_setting_that_the_name_stands_for() -> None:
    with pytest.raises(InputError, match=r"there is no setting 'e'; background has estimand, fit$"):
        settings_in("background(e=1)", "estimator", Background, fixed={"e": 2})


def test_a_class_that_takes_any_setting() -> None:
    class Any:
        def __init__(self, **settings: object) -> None: ...

    assert settings_in("any(a=1, b='x')", "estimator", Any) == {"a": 1, "b": "x"}
