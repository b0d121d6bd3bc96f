"""What every test gets: two guards, the real collections where they are at hand, the size of slow tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import Outcome
from hypothesis import settings

from bayespool import cli

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("MPLBACKEND", "Agg")

COLLECTIONS = "BAYESPOOL_COLLECTIONS"
SLOW_SCALE = "BAYESPOOL_SLOW_SCALE"

# pytest loads readline, which sets these for processes started later: xdist's, and commands under test. With
# COLUMNS a pipe gets narrow tables.
for _size in ("COLUMNS", "LINES"):
    os.environ.pop(_size, None)
    os.unsetenv(_size)  # what readline set is not in os.environ, and pop leaves it


def _slow_scale() -> float:
    scale = float(os.environ.get(SLOW_SCALE, "0.25"))
    if not 0 < scale <= 1:
        pytest.fail(f"{SLOW_SCALE} must be over 0 and at most 1, and is {scale}")
    return scale


def _examples(fast: int = 10, full: int = 400) -> int:
    """Of a property that does not say how many: few, or with the slow tests a share of many."""
    asked = os.environ.get("BAYESPOOL_EXAMPLES", str(fast))
    return max(fast, round(full * _slow_scale())) if asked == "slow" else int(asked)


# In CI a property fails or passes the same way every time; at a desk it looks for new examples.
EXAMPLES = _examples()
settings.register_profile("bayespool-desk", deadline=None, max_examples=EXAMPLES)
settings.register_profile(
    "bayespool-ci", deadline=None, derandomize=True, database=None, max_examples=EXAMPLES
)
settings.load_profile("bayespool-ci" if os.environ.get("CI") else "bayespool-desk")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is not run at a scale below a quarter."""
    if _slow_scale() < 0.25:
        dear = pytest.mark.skip(reason=f"run by `make slow` with {SLOW_SCALE} of 0.25 or more")
        for item in items:
            if item.get_closest_marker("at_a_desk"):
                item.add_marker(dear)


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end, and no collection of garbage looks at it again:
    of a million objects each took a tenth of a second, and libraries ask for some.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _global_random_state_is_left_alone() -> Iterator[None]:
    """Fail a test that draws from numpy's global generator or seeds it."""
    before = np.random.get_state(legacy=False)  # noqa: NPY002 (the global state is what is watched)
    yield
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    moved = before["state"]["pos"] != after["state"]["pos"] or not np.array_equal(
        before["state"]["key"], after["state"]["key"]
    )
    assert not moved, "the test moved numpy's global random state; draw from a Generator with a seed"


@pytest.fixture(autouse=True)
def _no_figure_is_left_open() -> Iterator[None]:
    """Fail a test that leaves a matplotlib figure open; matplotlib is not imported for the sake of it."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    left_open = pyplot.get_fignums()
    pyplot.close("all")
    assert not left_open, f"the test left figures open: {left_open}"


@pytest.fixture(scope="module", autouse=True)
def _no_module_keeps_what_it_made(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let go of what the functions of a module of tests have cached once its tests are done."""
    yield
    module = request.module
    for value in vars(module).values() if module.__name__.startswith("tests.") else ():
        if hasattr(value, "cache_clear") and value.__module__ == module.__name__:
            value.cache_clear()


@pytest.fixture
def fits_of_all_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit to the same evidence under the same settings is that of an earlier test: for tests of what is
    made of fits, and not of the fits. One that is marked ``own_fits`` makes its own.
    """
    if request.node.get_closest_marker("own_fits"):
        return
    from fits import approximate_once, once_a_session

    from bayespool.posterior.work import SharedWork

    monkeypatch.setattr(SharedWork, "once", once_a_session)
    monkeypatch.setattr("bayespool.inference.laplace.approximate", approximate_once)


@pytest.fixture(scope="session")
def collections() -> Path:
    """Folder of unpacked real collections, ``<name>/{runs/, qrels.txt, organizations.csv}`` each."""
    named = os.environ.get(COLLECTIONS)
    if not named:
        pytest.skip(f"{COLLECTIONS} is not set: no real collections at hand")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"{COLLECTIONS} names {named}, which is not a folder")
    return folder


@pytest.fixture(scope="session")
def repetitions() -> Callable[[int, int], int]:
    """Number of repetitions of a slow test: ``repetitions(full, least)``.

    The share BAYESPOOL_SLOW_SCALE (over 0 and up to 1; 0.25 where it is unset) of ``full``, and never fewer
    than ``least``, the number below which the test could not fail when it should.
    """
    scale = _slow_scale()
    return lambda full, least: max(least, round(full * scale))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`main` in this process, with a pipe for its output."""
    monkeypatch.setenv("COLUMNS", "1000")

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["bayespool", *map(str, arguments)])
        with warnings.catch_warnings():  # main sets how warnings are shown, for a process that is its own
            try:
                cli.main()
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call
