"""What several tests of experiments share."""

from __future__ import annotations

import pytest

from bayespool.collection import Collection
from bayespool.experiments import load_example


@pytest.fixture(autouse=True)
def _fits(fits_of_all_tests: None) -> None:
    """What is tested here is made of fits."""


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()
