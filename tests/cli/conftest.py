"""Files of the example and of a small collection."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small import small_simulation

from bayespool.experiments import Simulation, simulate_example

FORMER = (
    b"run_id,measure,estimator,value,lower,upper,ci_prob,std,distance,new_kind,as_judged,bound_lower,bound_upper,"
    b"residual,unjudged,note\n"
)


@pytest.fixture(autouse=True)
def _fits(fits_of_all_tests: None) -> None:
    """What is tested here is made of fits."""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files, and types of its runs; not to be changed."""
    return _written(simulate_example(), tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of `small.small`, and types of its runs; not to be changed."""
    return _written(small_simulation(), tmp_path_factory.mktemp("small"))


def _written(simulation: Simulation, folder: Path) -> Path:
    simulation.write(folder)
    runs = sorted(path.stem for path in (folder / "pool").iterdir())
    lines = [f"{name},{'manual' if i % 4 == 0 else 'automatic'}" for i, name in enumerate(runs)]
    (folder / "types.csv").write_text("\n".join(["run_id,type", *lines]) + "\n")
    return folder


@pytest.fixture
def example(written: Path, tmp_path: Path) -> Path:
    """The example's files, and an output that an earlier call left."""
    return _copied(written, tmp_path / "example")


@pytest.fixture
def small_example(small_files: Path, tmp_path: Path) -> Path:
    """The same of the small collection."""
    return _copied(small_files, tmp_path / "small")


def _copied(files: Path, folder: Path) -> Path:
    shutil.copytree(files, folder)
    (folder / "result.csv").write_bytes(FORMER)
    return folder
