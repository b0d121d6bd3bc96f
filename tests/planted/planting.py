"""Plants a fault in a copy of the checkout, and says which tests find it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from planted.fault import Fault

__all__ = ["WHOLE", "Copy", "Finding"]

WHOLE = ("tests", "bayespool")
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "_build", "_api", "_generated", "dist", "build"
)
_PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
_TESTS_FAILED, _NO_TESTS = 1, 5
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", flags=re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """What came of a fault.

    Attributes
    ----------
    fault : Fault
    result : str
        ``found``, ``missed``, or ``broken`` where the tests could not say: the module cannot be imported, or
        there are no such tests.
    by : str
        ``room``, ``slow`` (of the room) or ``whole``: the tests that were run last.
    test : str
        The test that failed, or why the fault is broken.
    seconds : float
    """

    fault: Fault
    result: str
    by: str
    test: str
    seconds: float


class Copy:
    """A copy of a checkout, of which one worker has the use.

    Parameters
    ----------
    checkout, folder : Path
        ``folder`` is made.
    tests : Path, optional
        Folder of the tests to run, such as another commit's; those of the checkout where none is named.
    seconds : float
        How long tests may take; a fault whose tests take longer is found, as a loop without end is.
    """

    def __init__(
        self, checkout: Path, folder: Path, *, tests: Path | None = None, seconds: float = 1800.0
    ) -> None:
        self.root, self._scratch, self._seconds = folder / "checkout", folder / "scratch", seconds
        shutil.copytree(checkout, self.root, symlinks=True, ignore=_LEFT_OUT)
        if tests is not None:
            shutil.rmtree(self.root / "tests")
            shutil.copytree(tests, self.root / "tests", symlinks=True, ignore=_LEFT_OUT)

    def find(self, fault: Fault, *, finder: str = "", whole: bool = False) -> Finding:
        """Plant a fault and run ``finder``, then the tests of its room: the fast ones, if none fails the slow
        ones, and then, if ``whole``, all fast ones.
        """
        begun = time.monotonic()
        there = [f"tests/{name}" for name in fault.tests.split() if (self.root / "tests" / name).exists()]
        stages: list[tuple[str, Sequence[str]]] = []
        if there and (self.root / finder.split("::")[0]).is_file():
            stages.append(("room", [finder]))
        if there:
            stages += [("room", there), ("slow", ["-m", "slow", *there])]
        if whole:
            stages.append(("whole", WHOLE))
        result, by, test = "broken", "", "there are no such tests"
        with self._with(fault):
            for stage, paths in stages:
                by, (result, test) = stage, self._run(paths)
                if result == "found" or (result == "broken" and paths != [finder]):
                    break
        return Finding(fault, result, by, test, time.monotonic() - begun)

    def check(self, paths: Sequence[str]) -> str:
        """Run tests without a fault; the test that fails nonetheless, or nothing."""
        result, test = self._run(paths)
        return "" if result == "missed" else test or result

    @contextmanager
    def _with(self, fault: Fault) -> Iterator[None]:
        path = fault.path(self.root)
        was, times = path.read_bytes(), path.stat()
        planted = fault.planted(was.decode("utf-8"))
        try:
            path.write_bytes(planted.encode("utf-8"))
            _forget(path)
            yield
        finally:
            path.write_bytes(was)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            _forget(path)

    def _run(self, paths: Sequence[str]) -> tuple[str, str]:
        """Result, and the test that failed or what is broken."""
        command = [sys.executable, "-m", "pytest", *_PYTEST, f"--basetemp={self._scratch}", *paths]
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # what tests started ends with them
        )
        try:
            output, _ = process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "found", f"no end in {self._seconds:.0f} s"
        failed = _FAILED.search(output)
        if process.returncode == 0:
            return "missed", ""
        if process.returncode == _TESTS_FAILED and failed is not None:
            return "found", failed[1]
        if process.returncode == _NO_TESTS:
            return ("missed", "") if "slow" in paths else ("broken", "no test was selected")
        return "broken", failed[1] if failed is not None else " ".join(output.split())[-200:]

    def _environment(self) -> dict[str, str]:
        """The copy is what is imported, also by what tests start; properties try the same examples."""
        own = {
            "PYTHONPATH": os.pathsep.join((str(self.root), str(self.root / "tests"))),
            "CI": "true",
            "MPLBACKEND": "Agg",
        }
        few = {"BAYESPOOL_SLOW_SCALE": "0.05", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return {**few, **os.environ, **own}


def _forget(path: Path) -> None:
    """Remove the bytecode of a module: it is told from another only by its size and its second."""
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
