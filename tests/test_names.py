"""Names that are written out are those that are registered."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bayespool import names
from bayespool.errors import InputError
from bayespool.measures import MEASURES, parse_measure

REGISTERED = """
from bayespool import names
from bayespool.cli import completion
before = completion.estimators("point"), completion.estimators("posterior"), completion.strategies()
import sys
assert "bayespool.scoring.estimators" not in sys.modules and "numpy" not in sys.modules
import bayespool.scoring.estimators, bayespool.pooling, bayespool.models
after = completion.estimators("point"), completion.estimators("posterior"), completion.strategies()
assert [list(part.items()) for part in before] == [list(part.items()) for part in after]
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
    offered = [parse_measure(text) for text in names.MEASURES]
    assert [str(measure) for measure in offered] == list(names.MEASURES)
    of_package = {name for name, family in MEASURES.items() if family.__module__.startswith("bayespool.")}
    assert {measure.name for measure in offered} == of_package


def test_what_is_not_the_packages_own_needs_a_description() -> None:
    assert names.description_of("take") == "the documents of the best ranks"
    assert names.description_of("mine", "my own") == "my own"
    with pytest.raises(InputError, match="'mine' has no description; say in a line what it does"):
        names.description_of("mine")
