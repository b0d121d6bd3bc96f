"""What the shell offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

from bayespool.cli.completion import offered

COMPLETE = """
import sys
from bayespool.cli import main
sys.argv = ["bayespool"]
try:
    main()
finally:
    print([name for name in ("numpy", "pandas", "bayespool.scoring.estimators") if name in sys.modules])
"""


def completed(environment: Mapping[str, str]) -> tuple[str, str]:
    """Output of a completing process, and which heavy modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found, _, heavy = done.stdout.rstrip("\n").rpartition("\n")
    return found, heavy


def test_estimators_are_completed_one_by_one() -> None:
    assert offered("estimators", "posterior-s") == ["posterior-smoothed"]
    assert offered("estimators", "background,sm") == ["background,smoothed"]
    assert offered("estimators", "d") == ["default"]
    assert offered("estimators", "smoothed,sm") == []  # it is there already
    assert all(name.startswith("posterior-") for name in offered("posteriors", ""))


def test_measures_models_and_strategies_are_completed() -> None:
    assert offered("measures", "nDCG@1") == ["nDCG@10"]
    assert offered("models", "ratio,ev") == ["ratio,evidence"]
    assert offered("strategy", "combm") == ["combmax", "combmin", "combmed", "combmnz"]
    assert offered("strategies", "pa") == ["paper"]
    assert offered("", "q") == []  # the shell's own: files


def test_completion_as_a_process_loads_nothing_heavy() -> None:
    for typed, expected in [
        ("score --estimators posterior-ra", ["posterior-ratio", "posterior-rankings"]),
        ("score -m nDCG@2", ["nDCG@20"]),
        ("jud", ["judge-next", "judges"]),
        ("score --engine n", ["nuts"]),
    ]:
        words = f"bayespool {typed}"
        more = {
            "_BAYESPOOL_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
        found, heavy = completed(os.environ | more)
        assert [line.removeprefix("plain,") for line in found.splitlines()] == expected, (typed, expected)
        assert heavy == "[]", (typed, expected)


def test_click_writes_the_script_of_a_shell() -> None:
    for shell in ["bash", "zsh", "fish"]:
        asked = os.environ | {"_BAYESPOOL_COMPLETE": f"{shell}_source"}
        if shell != "bash" or shutil.which("bash"):  # whose version click asks for
            assert f"_BAYESPOOL_COMPLETE={shell}_complete" in completed(asked)[0], shell
