"""What several tests of experiments share."""

from __future__ import annotations

import pytest
from left_out import quick_result

from bayespool.collection import Collection
from bayespool.experiments import LeaveOutResult, load_example


@pytest.fixture(autouse=True)
def _fits(fits_of_all_tests: None) -> None:
    """What is tested here is made of fits."""


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    return quick_result()
