"""What the shell offers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from commands import Outcome

from bayespool.cli.completion import completion_of

COMPLETE = """
import sys
from bayespool.cli import main
sys.argv = ["bayespool"]
try:
    main()
finally:
    print([name for name in ("numpy", "pandas", "bayespool.scoring.estimators") if name in sys.modules])
"""


def offered(option: str, typed: str) -> list[str]:
    offer = completion_of(option)
    assert offer is not None
    return offer(typed)


def test_estimators_are_completed_one_by_one() -> None:
    assert offered("estimators", "posterior-s") == ["posterior-smoothed"]
    assert offered("estimators", "background,sm") == ["background,smoothed"]
    assert offered("estimators", "d") == ["default"]
    assert offered("estimators", "smoothed,sm") == []  # it is there already
    assert all(name.startswith("posterior-") for name in offered("estimator", ""))


def test_measures_models_and_strategies_are_completed() -> None:
    assert offered("measures", "nDCG@1") == ["nDCG@10"]
    assert offered("models", "ratio,ev") == ["ratio,evidence"]
    assert offered("strategy", "combm") == ["combmax", "combmin", "combmed", "combmnz"]
    assert offered("strategies", "pa") == ["paper"]
    assert completion_of("qrels") is None  # the shell's own: files


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("score --estimators posterior-r", ["posterior-ratio"]),
        ("score -m nDCG@2", ["nDCG@20"]),
        ("jud", ["judge-next", "judges"]),
        ("score --engine n", ["nuts"]),
    ],
)
def test_completion_as_a_process_loads_nothing_heavy(typed: str, expected: list[str]) -> None:
    words = f"bayespool {typed}"
    more = {
        "_BAYESPOOL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        capture_output=True,
        text=True,
        env=os.environ | more,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *found, heavy = done.stdout.split("\n")[:-1]
    assert [line for line in found if line] == expected
    assert heavy == "[]"


def test_the_script_for_the_shell_is_shown(
    run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    done = run("--show-completion")
    assert done.status == 0
    assert "_COMPLETE=complete_bash" in done.out
