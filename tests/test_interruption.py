"""Ctrl-C at any moment of a command: status 130, no traceback, no file half-written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import MAIN, arguments, campaign

from bayespool import interruption

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


@pytest.mark.slow
@pytest.mark.parametrize("command", ["score", "prepare", "leave-out"])
def test_ends_at_random_moments(
    command: str, example: Path, tmp_path: Path, repetitions: Callable[[int, int], int]
) -> None:
    rng = random.Random(command)
    asked = {
        "score": [*arguments(example), "-o", str(tmp_path / "scores.json")],
        "prepare": ["prepare", *campaign(example), "-o", str(tmp_path / "p.bayespool")],
        "leave-out": ["leave-out", *campaign(example), "--output", str(tmp_path / "out")],
    }[command]
    for _ in range(repetitions(100, 3)):
        with subprocess.Popen(
            [sys.executable, "-c", MAIN, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            first = running.stderr.readline()
            time.sleep(rng.uniform(0, 3))
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        assert running.returncode == 130, first + err
        assert out == ""
        assert err.splitlines()[-1].startswith("interrupted; ")
        assert "Traceback" not in err
        assert not list(tmp_path.rglob(".bayespool-*"))
