"""Ctrl-C at any moment of a command: status 130, no traceback, no file half-written."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import MAIN, arguments, campaign

from bayespool import interruption
from bayespool.experiments import simulate_example

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

BUSY = """
import os, signal, sys
from bayespool import interruption
from bayespool.tables import files
interruption.end_at_interrupt()
def in_the_middle(_):
    os.kill(os.getpid(), signal.SIGINT)
    {work}
files.os.fsync = in_the_middle
{before}
try:
    files.atomic_write(sys.argv[1], "new")
except BaseException as error:
    print("raised", error)
print("went on")
"""
SLEEP = "import time; time.sleep(60)"


def ended(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )


def test_ends_while_a_file_is_written_and_leaves_the_former_one(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("former")
    done = ended(BUSY.format(work=SLEEP, before=""), path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was written\n")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("out", "former")]


def test_says_what_is_kept_and_escapes_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    for before, said in (
        ("interruption.written.append('a\\x1b\\u202e')", r"written before: a\x1b\u202e"),
        ("work = interruption.keeping(lambda: '3 parts are stored'); work.__enter__()", "3 parts are stored"),
    ):
        done = ended(BUSY.format(work=SLEEP, before=before), path)
        assert (done.returncode, done.stderr) == (130, f"interrupted; {said}\n")


SLOWLY = """
import time
write = os.write
def slowly(descriptor, text):
    write(descriptor, text)
    time.sleep(0.3)
os.write = slowly
"""


def test_nothing_follows_its_sentence(tmp_path: Path) -> None:
    dots = "[(write(2, b'.'), time.sleep(0.001)) for _ in range(60_000)]"
    done = ended(BUSY.format(work=dots, before=SLOWLY), tmp_path / "out")
    assert (done.returncode, done.stderr.lstrip(".")) == (130, "interrupted; nothing was written\n")


def test_exception_has_the_sentence_of_the_work_that_it_ended() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, interruption.keeping(lambda: "2 parts are stored"):
        raise KeyboardInterrupt
    assert interruption.describe_interruption(caught.value) == "interrupted; 2 parts are stored"


def test_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    path = tmp_path / "out"
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + BUSY.format(
        work="", before=""
    )
    assert ended(ignored, path).stdout == "went on\n"
    assert path.read_text() == "new"


WORKERS = """
import os, signal, time
from joblib import Parallel, delayed
from bayespool import interruption
interruption.end_at_interrupt()
interruption.written.append("a")
interruption.before_workers()
import numpy as np
Parallel(n_jobs=2)(delayed(np.sum)(np.zeros(1 << 18)) for _ in range(2))
{end}
"""


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("interruption.leave(0)", 0, ""),
        (f"os.kill(os.getpid(), signal.SIGINT); {SLEEP}", 130, "interrupted; written before: a\n"),
    ],
)
def test_workers_end_with_the_process(end: str, status: int, said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKERS.format(end=end)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,  # idle workers wait 300 seconds
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (status, said)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["score", "prepare", "leave-out"])
def test_ends_at_random_moments(
    command: str, tmp_path: Path, repetitions: Callable[[int, int], int], fits_of_all_tests: None
) -> None:
    example, temporary = tmp_path / "example", tmp_path / "temporary"
    simulate_example().write(example)
    temporary.mkdir()
    written = {"score": "scores.json", "prepare": "p.bayespool", "leave-out": "out/summary.csv"}[command]
    asked = {
        "score": [*arguments(example), "-o", str(tmp_path / written)],
        "prepare": ["prepare", *campaign(example), "-o", str(tmp_path / written)],
        "leave-out": [
            *("leave-out", *campaign(example), "--estimators", "background,posterior-ratio"),
            *("--output", str(tmp_path / "out")),
        ],
    }[command]
    rng = random.Random(command)
    environment = {**os.environ, "JOBLIB_TEMP_FOLDER": str(temporary), "TMPDIR": str(temporary)}

    def run(share: float) -> tuple[int, float]:
        """Status, and seconds from the first line to the end; interrupted at a share of them."""
        with subprocess.Popen(
            [sys.executable, "-c", MAIN, *asked],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        ) as running:
            assert running.stderr is not None
            first, began = running.stderr.readline(), time.monotonic()
            if share < 1:
                time.sleep(share * whole)
                os.killpg(running.pid, signal.SIGINT)  # as a terminal does
                interrupted = time.monotonic()
            out, err = running.communicate(timeout=250)
        ended = time.monotonic()
        if running.returncode == 0:
            assert share == 1 or (tmp_path / written).read_bytes() == contents
        else:
            assert running.returncode == 130, first + err
            assert ended - interrupted < 2
            assert out == ""
            assert err.splitlines()[-1].startswith("interrupted; "), err
            assert "Traceback" not in err
        assert not list(tmp_path.rglob(".bayespool-*"))
        assert not list(temporary.iterdir())
        for _ in range(100):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, 0)
                time.sleep(0.05)
                continue
            break
        else:
            pytest.fail("a process of the command is left")
        return running.returncode, ended - began

    status, whole = run(1)
    assert status == 0
    contents = (tmp_path / written).read_bytes()
    statuses = []
    n = repetitions(30, 3)
    for k in reversed(range(n)):  # late moments first, which correct how long a run takes
        for each in (tmp_path / written).parent.iterdir() if command == "leave-out" else [tmp_path / written]:
            shutil.rmtree(each) if each.is_dir() else each.unlink(missing_ok=True)
        status, took = run((k + rng.random()) / n)
        statuses.append(status)
        whole = min(whole, took) if status == 0 else whole
    assert 130 in statuses
