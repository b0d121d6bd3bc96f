"""A planted fault is found, missed or broken, and leaves no trace."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from planted.fault import Fault
from planted.planting import Copy


def test_text_that_is_gone_is_an_error() -> None:
    fault = Fault("a fault", "values.py", "total / n", "total", "test_values.py", "means are totals")
    assert fault.planted("mean = total / n") == "mean = total"
    with pytest.raises(ValueError, match=r"occurs 0 times in values\.py"):
        fault.planted("mean = sum / n")
    with pytest.raises(ValueError, match=r"occurs 2 times in values\.py"):
        fault.planted("mean = total / n\nother = total / n")


MODULE = "def change(a: float, b: float) -> float:\n    return round(b - a, 6)\n"
TEST = "from bayespool.values import change\n\n\ndef test_it():\n    assert change({}) == {}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one module, with a test that sees its sign and none that sees its rounding."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # none is needed, and they take their time
    folder = tmp_path / "small"
    for name, text in {
        "bayespool/__init__.py": "",
        "bayespool/values.py": MODULE,
        "tests/test_sign.py": TEST.format("1, 3", 2),
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-ra']\n",
        ".git/config": "",
        ".hypothesis/examples": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def small(before: str, after: str, tests: str = "test_sign.py") -> Fault:
    return Fault("a fault", "values.py", before, after, tests, "differences are wrong")


def test_fault_is_found_missed_or_broken_and_leaves_no_trace(checkout: Path, tmp_path: Path) -> None:
    copy = Copy(checkout, tmp_path / "copy")
    assert sorted(path.name for path in copy.root.iterdir()) == ["bayespool", "pyproject.toml", "tests"]
    found = copy.find(small("b - a", "a - b"))
    assert (found.result, found.by, found.test) == ("found", "room", "tests/test_sign.py::test_it")
    broken = copy.find(small("def change", "def changed"))
    assert (broken.result, broken.by, broken.test) == ("broken", "room", "tests/test_sign.py")
    missed = copy.find(small(", 6)", ", 3)"))
    assert (missed.result, missed.by, missed.test) == ("missed", "slow", "")
    assert (copy.root / "bayespool" / "values.py").read_text(encoding="utf-8") == MODULE
    assert (checkout / "bayespool" / "values.py").read_text(encoding="utf-8") == MODULE


def test_other_tests_may_be_run_and_the_whole_suite_after_those_of_the_room(
    checkout: Path, tmp_path: Path
) -> None:
    tests = tmp_path / "tests"
    shutil.copytree(checkout / "tests", tests)
    (tests / "test_rounding.py").write_text(TEST.format("0, 0.1234", 0.1234), encoding="utf-8")
    copy = Copy(checkout, tmp_path / "copy", tests=tests)
    found = copy.find(small(", 6)", ", 3)"), whole=True)
    assert (found.result, found.by) == ("found", "whole")
    assert found.test == "tests/test_rounding.py::test_it"
    gone = copy.find(small("b - a", "a - b", "test_gone.py"))
    assert (gone.result, gone.test) == ("broken", "there are no such tests")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="what tests start is ended as a group of processes")
def test_fault_without_end_is_found(checkout: Path, tmp_path: Path) -> None:
    copy = Copy(checkout, tmp_path / "copy", seconds=2)
    found = copy.find(small("    return", "    while a < b: pass\n    return"))
    assert (found.result, found.test) == ("found", "no end in 2 s")
