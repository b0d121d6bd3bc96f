"""The example's files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bayespool.experiments import simulate_example


@pytest.fixture(autouse=True)
def _fits(fits_of_all_tests: None) -> None:
    """What is tested here is made of fits."""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files; not to be changed."""
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture
def example(written: Path, tmp_path: Path) -> Path:
    """The example's files, and an output that an earlier call left."""
    shutil.copytree(written, tmp_path / "example")
    (tmp_path / "example" / "result.csv").write_bytes(b"what stood there\n")
    return tmp_path / "example"
