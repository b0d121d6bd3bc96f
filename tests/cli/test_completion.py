"""What the shell offers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome

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
        assert [line.removeprefix("plain,") for line in found if line] == expected, (typed, expected)
        assert heavy == "[]", (typed, expected)


def test_the_script_for_the_shell_is_shown(
    run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    for shell in ["bash", "zsh", "fish"]:
        monkeypatch.setenv("SHELL", f"/bin/{shell}")
        done = run("--show-completion")
        assert done.status == 0, shell
        assert f"_BAYESPOOL_COMPLETE={shell}_complete" in done.out, shell


def test_the_script_is_installed_once_beside_what_the_file_has(
    run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'\n")
    assert run("--install-completion").status == 0
    first = (tmp_path / ".bashrc").read_text()
    assert first.startswith("alias ll='ls -l'\n\n")
    assert first.count("_BAYESPOOL_COMPLETE=bash_complete") == 1
    assert run("--install-completion").status == 0
    assert (tmp_path / ".bashrc").read_text() == first


def test_a_shell_without_completion_is_told(
    run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    done = run("--show-completion")
    assert (done.status, done.out) == (1, "")
    assert "no completion for the shell 'tcsh'; there is one for bash, zsh, fish" in done.err
