"""The command as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome, arguments, everything_in

from bayespool.scoring import DEFAULT_ESTIMATORS

MAIN = "import sys; from bayespool.cli import main; sys.argv[0] = 'bayespool'; main()"


def process(*arguments: object, code: str = MAIN) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
        timeout=300,
    )


def test_package_run_as_a_module_is_the_command(run: Callable[..., Outcome]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bayespool", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == run("--version").out != ""


@pytest.mark.parametrize("asked", [["--help"], ["score", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(asked: list[str]) -> None:
    heavy = (
        "pymc",
        "pytensor",
        "nutpie",
        "arviz_base",
        "arviz_stats",
        "pandas",
        "pyarrow",
        "scipy",
        "numpy",
        "xarray",
    )
    if "score" in asked:  # it lists the estimators, who calculate; none of them has begun to
        heavy = tuple(name for name in heavy if name not in ("numpy", "pyarrow", "scipy"))
    code = f"""
import sys
from bayespool.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {heavy!r} if name in sys.modules])
"""
    done = process(*asked, code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.own_fits
def test_default_call_as_a_process(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the issue shows; the same bytes as from this process, and every default column."""
    monkeypatch.setenv("COLUMNS", "80")  # as the process has it; a pipe is as wide as it says
    settings = ["--draws", "250", "-m", "P@10"]
    done = process(*arguments(example), *settings, "-o", example / "result.json")
    assert done.returncode == 0, done.stderr
    (example / "result.json").rename(example / "first.json")  # it has the command, and so its path
    again = run(*arguments(example), *settings, "-o", example / "result.json")
    assert (example / "first.json").read_bytes() == (example / "result.json").read_bytes()
    assert done.stdout == again.out
    found = json.loads((example / "result.json").read_text(encoding="utf-8"))
    assert found["metadata"]["made_by"]["command"].startswith("bayespool score ")
    rows = found["scores"]
    assert [(row["run_id"], row["measure"], row["estimator"]) for row in rows] == [
        (run_id, "P@10", name) for name in DEFAULT_ESTIMATORS for run_id in ("new-a", "new-b")
    ]


@pytest.mark.slow
def test_error_as_a_process(example: Path) -> None:
    done = process("score", example / "new", "--qrels", example / "pool")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr
        == f"error: {example / 'pool'}: is a folder where a file is expected; name a file inside it\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_as_a_process(example: Path) -> None:
    before = everything_in(example)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            MAIN,
            *arguments(example),
            "--engine",
            "nuts",
            "-o",
            str(example / "result.csv"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("reading runs")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert everything_in(example) == before
