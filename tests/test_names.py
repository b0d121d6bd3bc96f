"""Names that are written out are those that are registered; names and settings in texts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from trec_files import refused

from bayespool import names
from bayespool.cli.functions import measure_examples
from bayespool.corrections import Background
from bayespool.corrections.divekar_majumder import Precise
from bayespool.errors import InputError
from bayespool.measures import MEASURES, parse_measure
from bayespool.names import settings_in
from bayespool.pooling import RRF, Stratified, Take

REGISTERED = """
from bayespool import names
from bayespool.cli.parameters import descriptions
import sys
before = [list(descriptions(kind).items()) for kind in ("point", "posterior", "strategy")]
assert "bayespool.scoring.estimators" not in sys.modules and "numpy" not in sys.modules
import bayespool.scoring.estimators, bayespool.pooling, bayespool.models
estimators = [(name, bayespool.scoring.ESTIMATORS[name]) for name in bayespool.scoring.ESTIMATOR_NAMES]
kinds = [[(n, e.description) for n, e in estimators if e.kind == kind] for kind in ("point", "posterior")]
strategies = [(name, entry.description) for name, entry in bayespool.pooling.STRATEGIES.items()]
assert before == [*kinds, strategies], "names.py has other names, order or descriptions than the registries"
assert names.MODELS == tuple(bayespool.models.MODEL_NAMES)
assert set(names.DEFAULT_ESTIMATORS) == set(bayespool.scoring.DEFAULT_ESTIMATORS)
print(*map(len, before))
"""


def test_written_names_are_those_registered_in_their_order() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    n_points, n_posteriors, n_strategies = map(int, done.stdout.split())
    assert n_points + n_posteriors > 20
    assert n_strategies > 15


def test_every_measure_offered_is_one_and_every_family_is_offered() -> None:
    offered = [parse_measure(text) for text in measure_examples()]
    assert [str(measure) for measure in offered] == list(measure_examples())
    assert set(measure_examples()) == {text for family in MEASURES.values() for text in family.examples}
    of_package = {name for name, family in MEASURES.items() if family.__module__.startswith("bayespool.")}
    assert {measure.name for measure in offered} == of_package


def test_what_is_not_the_packages_own_needs_a_description() -> None:
    assert names.description_of("take") == "the documents of the best ranks"
    assert names.description_of("mine", "my own") == "my own"
    with pytest.raises(InputError, match="'mine' has no description; say in a line what it does"):
        names.description_of("mine")


def test_what_a_text_cannot_say() -> None:
    for text, make, message in (
        ("rrf(q=1)", RRF, "there is no setting 'q'; rrf has k"),
        ("take(k=1)", Take, "there is no setting 'k'; take has none"),
        ("rrf(k=abc)", RRF, "k must be a whole number"),
        ("rrf(k=a.b)", RRF, "k cannot be a.b; write a number, a text in quotes, True"),
        ("precise(sample=a.b)", Precise, "sample cannot be a.b; write 'hidden', 'judged'"),
        ("rrf(k=10", RRF, "the parenthesis is not closed; write rrf(k=60)"),
        ("rrf(k=)", RRF, "cannot be read; write rrf(k=60)"),
        ("rrf(10)", RRF, "write settings as name=value; write rrf(k=60)"),
        ("take(", Take, "the parenthesis is not closed; write take(setting=value)"),
        ("rrf(k=1)(k=2)", RRF, "write settings as name=value"),
        ("rrf(k=1.5)", RRF, "k must be a whole number"),
        ("rrf(**{'k': 1})", RRF, "write settings as name=value"),
    ):
        said = str(refused(settings_in, text, "strategy", make))
        assert f": {message}" in said, text
    assert settings_in("precise(sample=judged)", "estimator", Precise) == {"sample": "judged"}
    text = "stratified(depths=(3, 9), rates=(1.0, 2, 3))"
    assert settings_in(text, "strategy", Stratified) == {"depths": (3, 9), "rates": (1.0, 2, 3)}


def test_a_setting_that_the_name_stands_for() -> None:
    with pytest.raises(InputError, match=r"there is no setting 'e'; background has estimand, fit$"):
        settings_in("background(e=1)", "estimator", Background, fixed={"e": 2})


def test_a_class_that_takes_any_setting() -> None:
    class Any:
        def __init__(self, **settings: object) -> None: ...

    assert settings_in("any(a=1, b='x')", "estimator", Any) == {"a": 1, "b": "x"}
    with pytest.raises(InputError, match="there is no setting 'a'"):
        settings_in("any(a=1)", "estimator", Any, fixed={"a"})
