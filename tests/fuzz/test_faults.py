"""What is finished of an experiment is kept, whatever happens to it, and the tables end up the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz.faults import EXPERIMENTS, KINDS

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


def test_one_fault_of_each_kind() -> None:
    told = faults(len(KINDS), ",".join(KINDS), "leave-out")
    assert told == "4 faults (kill, interrupt, full, permission) over leave-out: the same bytes after each"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "full"), [("kill", 50), ("interrupt", 20), ("full", 20), ("permission", 20)]
)
def test_many_faults_over_all_experiments(
    kind: str, full: int, repetitions: Callable[[int, int], int]
) -> None:
    n = repetitions(full, len(EXPERIMENTS))
    assert faults(n, kind).startswith(f"{n} faults ({kind}) over leave-out, run-types, ")


def test_disk_that_is_really_full(tmp_path: Path) -> None:
    """A file system of some pages, where a superuser may make one."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only the superuser of a Linux makes a file system")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this superuser may not make a file system")
    try:
        done = subprocess.run(
            [sys.executable, "-c", FULL, str(place)], capture_output=True, text=True, check=False, timeout=300
        )
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


FULL = """
import sys
from bayespool.cli import main
from bayespool.simulation import simulate_example
import os, tempfile
from pathlib import Path
with tempfile.TemporaryDirectory() as folder:
    simulate_example().write(Path(folder, "in"))
    at = lambda name: str(Path(folder, "in", name))
    sys.argv = ["bayespool", "leave-out", "--qrels", at("qrels.txt"), "--pool", at("pool"), "-m", "P@5",
        "--organizations", at("organizations.csv"), "--estimators", "background", "--jobs", "1",
        "--figures", "none", "--output", os.path.join(sys.argv[1], "out")]
    main()
"""
