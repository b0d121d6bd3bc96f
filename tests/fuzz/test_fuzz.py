"""Mutated inputs and faults end in a result or in an error of ours; `make fuzz` takes many more."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome
from fuzz import readers, reference
from fuzz.__main__ import SHARES, TARGETS
from fuzz.engine import MOST_MIB, Target, budget, fuzz, mutated, peak_mib, refused
from fuzz.faults import EXPERIMENTS
from small import small_simulation

from bayespool.errors import InputError
from bayespool.reading import Qrels, read_qrels

# In all some five seconds; what takes long is given little.
INPUTS = {"folds": 4, "folders": 3, "scores": 6, "options": 6, "prepared": 20, "certificate": 10, "report": 6}


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_nothing_foreign_is_raised_and_readings_agree(target: Target, tmp_path: Path) -> None:
    inputs, seconds = budget(INPUTS.get(target.name, 100), 20)
    outcome = fuzz(target, tmp_path, range(inputs), seconds=seconds)
    assert outcome.found == []
    assert outcome.accepted + outcome.refused > 0
    if outcome.accepted + outcome.refused >= 100:
        assert outcome.accepted > 10
        assert outcome.refused > 10


def test_shares_of_all_targets_are_the_whole() -> None:
    assert sorted(SHARES) == sorted(target.name for target in TARGETS)
    assert sum(SHARES.values()) == pytest.approx(1)
    assert MOST_MIB == 1024
    assert peak_mib() > 10


def test_foreign_errors_hangs_and_failed_assertions_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(rng: random.Random, folder: Path) -> bool:
        match rng.randrange(4):
            case 0:
                raise KeyError("foreign")
            case 1:
                time.sleep(5)
            case 2:
                raise AssertionError("they differ")
            case _:
                with refused():
                    raise InputError("on purpose")
        return False

    monkeypatch.setattr("fuzz.engine.watched.__wrapped__.__defaults__", (0.05,))
    outcome = fuzz(Target("made-up", check), tmp_path, range(30))
    kinds = {line.split(": ")[1] for line in outcome.found}
    assert kinds == {"KeyError", "Hang", "AssertionError"}
    assert outcome.refused + len(outcome.found) == 30
    assert outcome.refused > 0
    again = fuzz(Target("made-up", check), tmp_path, range(30))
    assert [line.split(" (")[0] for line in again.found if "Hang" not in line] == [
        line.split(" (")[0] for line in outcome.found if "Hang" not in line
    ]


def test_inputs_are_made_of_seed_and_number_alone() -> None:
    made = [mutated(random.Random(f"x/{i}"), b"1 Q0 d 1 2.5 t\n" * 5) for i in range(50)]
    assert made == [mutated(random.Random(f"x/{i}"), b"1 Q0 d 1 2.5 t\n" * 5) for i in range(50)]
    assert len(set(made)) > 30


def test_a_reader_that_reads_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(path: Path, **options: object) -> Qrels:
        found = read_qrels(path, **options)  # type: ignore[arg-type]
        return Qrels(found.query_id, found.doc_id, found.relevance.clip(max=100))

    monkeypatch.setattr("bayespool.reading.read_qrels", wrong)
    target = next(target for target in readers.READERS if target.name == "judgments")
    outcome = fuzz(target, tmp_path, range(100))
    assert outcome.found
    assert all(": AssertionError: " in line for line in outcome.found)


def test_second_reading_imports_nothing_of_the_package() -> None:
    text = Path(reference.__file__).read_text(encoding="utf-8")
    assert "import bayespool" not in text
    assert "from bayespool" not in text


def test_second_reading_by_hand() -> None:
    data = b"1 Q0 a 1 2.5 t\r\n\xa02 Q0 b 2 nan t\n1 Q0 a 3 2.75 t u\n1 Q0 c x 1e-3 t"
    many = b"".join(b"2 Q0 d%d %d %d t\n" % (i, i, 99 - i) for i in range(40))
    found = reference.table(many + data, "run", strict=False)
    assert found.rows[40:] == (("1", "a", 2.75, None), ("1", "c", 0.001, None))
    for bad in (data, b"1 Q0 a 1 2.5\n", b"", b"1 Q0 a 1 1_0 t\n", b"\x1f\x8bno"):
        with pytest.raises(reference.Refused):
            reference.table(bad, "run", strict=True)
    assert reference.organizations(b'Tag,note,organization\na,,"X, ""Y"""\n') == {"a": 'X, "Y"'}
    with pytest.raises(reference.Refused):
        reference.organizations(b"run,type\na,x\na,y\n")


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
    asked = ("-m", "P@5", "--estimators", "background", "--jobs", 1)
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
