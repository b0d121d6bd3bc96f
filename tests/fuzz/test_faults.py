"""What is finished of an experiment is kept, whatever happens to it, and the tables end up the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome
from fuzz.faults import EXPERIMENTS, KINDS
from small import small_simulation

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are killed, and limited, the POSIX way")


def faults(number: int, kinds: str, experiments: str = ",".join(EXPERIMENTS)) -> str:
    """What `fuzz.faults` prints at the end, in a process that starts no thread before it forks."""
    more = os.pathsep.join(filter(None, (str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "fuzz.faults", "--faults", str(number)),
            *("--kinds", kinds, "--experiments", experiments),
        ],
        env=os.environ | {"PYTHONPATH": more},
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.at_a_desk
def test_one_fault_of_each_kind() -> None:
    told = faults(len(KINDS), ",".join(KINDS), "leave-out")
    assert told == "4 faults (kill, interrupt, full, permission) over leave-out: the same bytes after each"


@pytest.mark.slow
@pytest.mark.at_a_desk
@pytest.mark.parametrize(
    ("kind", "full"), [("kill", 50), ("interrupt", 20), ("full", 20), ("permission", 20)]
)
def test_many_faults_over_all_experiments(
    kind: str, full: int, repetitions: Callable[[int, int], int]
) -> None:
    n = repetitions(full, len(EXPERIMENTS))
    assert faults(n, kind).startswith(f"{n} faults ({kind}) over leave-out, pool-width, ")


def test_disk_that_is_really_full(run: Callable[..., Outcome], tmp_path: Path) -> None:
    """A file system of some pages, where a superuser may make one."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only the superuser of a Linux makes a file system")
    place = tmp_path / "small"
    place.mkdir()
    small_simulation().write(tmp_path / "in")
    files = ("--qrels", tmp_path / "in" / "qrels.txt", "--pool", tmp_path / "in" / "pool")
    asked = ("-m", "P@5", "--estimators", "background", "--jobs", 1, "--figures", "none")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this superuser may not make a file system")
    try:
        done = run("leave-out", *files, *asked, "--output", place / "out")
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert done.status == 1, done.err
    assert done.err.splitlines()[-1].startswith("error: "), done.err
    assert "No space left on device" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
