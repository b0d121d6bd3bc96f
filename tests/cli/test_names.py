"""Names that are written out are those that are registered."""

from __future__ import annotations

import subprocess
import sys

from bayespool.cli import names
from bayespool.measures import MEASURES, parse_measure

REGISTERED = """
from bayespool.cli import names
before = names.estimators(), names.strategies()
import sys
assert "bayespool.scoring.estimators" not in sys.modules and "numpy" not in sys.modules
import bayespool.scoring.estimators, bayespool.pooling, bayespool.models
assert before[0] == names.estimators(), "write the names of bayespool/cli/names.py anew: _ESTIMATORS"
assert before[1] == names.strategies(), "write the names of bayespool/cli/names.py anew: _STRATEGIES"
assert names.MODELS == tuple(bayespool.models.MODEL_NAMES), "… MODELS"
print(len(before[0]), len(before[1]))
"""


def test_written_names_are_those_registered() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    n_estimators, n_strategies = map(int, done.stdout.split())
    assert n_estimators > 20
    assert n_strategies > 15


def test_every_measure_offered_is_one_and_every_family_is_offered() -> None:
    offered = [parse_measure(text) for text in names.MEASURES]
    assert [str(measure) for measure in offered] == list(names.MEASURES)
    of_package = {name for name, family in MEASURES.items() if family.__module__.startswith("bayespool.")}
    assert {measure.name for measure in offered} == of_package


def test_a_registered_estimator_is_among_the_names() -> None:
    """Once they are loaded the registry is asked."""
    from bayespool.scoring import ESTIMATOR_NAMES

    assert [one.name for one in names.estimators()] == list(ESTIMATOR_NAMES)
    assert {one.kind for one in names.estimators()} == {"point", "posterior"}
