"""What tests of checks share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _fits(fits_of_all_tests: None) -> None:
    """What is tested here is made of fits."""
