"""Experiments that are killed, interrupted, run out of disk or lose their folder at a random time, and go on.

    python -m fuzz.faults --faults 50 --kinds kill

Each experiment is done once in this process, undisturbed. Then forks of it do it again in a folder of their
own; something happens to each, and another fork goes on in that folder. Tables have to end up the same, byte
by byte.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from fuzz.engine import seed
from small import small_simulation

from bayespool import cli

NOBODY = 65534
KINDS = ("kill", "interrupt", "full", "permission")
_INPUT = "--qrels ../in/qrels.txt --pool ../in/pool --organizations ../in/organizations.csv"
EXPERIMENTS = {
    "leave-out": f"{_INPUT} -m P@5 --estimators background,interpolated --jobs 1",
    "random-pools": f"{_INPUT} -m P@5 --samples 3 --jobs 1",
    "random-pools --common 5": f"{_INPUT} -m P@5 --samples 3 --jobs 1",
    "budgets": f"{_INPUT} -m P@5 --strategies take,borda --budgets 40,80 --jobs 1",
    "impute": f"../in/new {_INPUT} --reading each_its_own --draws 5",
}


def _run(name: str, folder: Path) -> int:
    """An experiment in this process, in a folder; its exit status."""
    os.chdir(folder)
    sys.argv = ["bayespool", *name.split(), *EXPERIMENTS[name].split(), "--output", "out"]
    try:
        cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _fork(name: str, folder: Path, before: Callable[[], None] = lambda: None) -> int:
    """Process number of a fork that does an experiment; what it says stands in ``said``."""
    number = os.fork()
    if number:
        return number
    status = 99
    try:
        said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(said, 1)
        os.dup2(said, 2)
        before()
        status = _run(name, folder)
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def tables(folder: Path) -> dict[str, bytes]:
    """Files of a result by name, but for finished parts and what a killed process had half written; of
    settings what does not tell the time.
    """
    found = {}
    for path in sorted((folder / "out").iterdir()):
        if path.is_file() and not path.name.startswith(".bayespool-"):
            found[path.name] = path.read_bytes()
    if "settings.json" in found:
        settings = json.loads(found["settings.json"])
        for name in ("made_by", "seconds"):
            settings.pop(name, None)
        found["settings.json"] = json.dumps(settings).encode()
    return found


def parts(folder: Path) -> dict[str, int]:
    """Finished parts and when they were written."""
    return {
        str(path): path.stat().st_mtime_ns
        for path in (folder / "out").glob("*/*.parquet")
        if not path.name.startswith(".")
    }


def _wait(folder: Path, rng: random.Random, seconds: float, n_parts: int) -> None:
    """Some time, or until some of the parts are finished."""
    if rng.random() < 0.4 or not n_parts:
        time.sleep(rng.uniform(0, seconds))
        return
    wanted, deadline = rng.randint(1, n_parts), time.monotonic() + 2 * seconds
    while len(parts(folder)) < wanted and time.monotonic() < deadline:
        time.sleep(0.001)


def fault(
    name: str,
    kind: str,
    folder: Path,
    expected: dict[str, bytes],
    seconds: float,
    n_parts: int,
    rng: random.Random,
) -> str:
    """Do an experiment, let something happen to it, go on; say how it was cut off.

    Raises
    ------
    AssertionError
        A traceback, a status that is not told, other tables in the end, or parts that were done again.
    """
    folder.mkdir()
    (folder / "out").mkdir()
    limit = rng.choice((0, 100, 1000, 3000, 8000, 20_000))
    as_nobody = kind == "permission" and os.getuid() == 0
    if as_nobody:
        for place in (folder, folder / "out"):
            os.chown(place, NOBODY, NOBODY)

    def before() -> None:
        if kind == "full":  # a limit on files: what is said goes to a pipe
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if as_nobody:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    child = _fork(name, folder, before)
    _wait(folder, rng, seconds, n_parts)
    if kind == "kill":
        os.kill(child, signal.SIGKILL)
    elif kind == "interrupt":
        os.kill(child, signal.SIGINT)
    elif kind == "permission":
        places = [folder / "out", *(p for p in (folder / "out").iterdir() if p.is_dir())]
        for place in places:
            place.chmod(0o555)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if kind == "permission":
        for place in places:
            place.chmod(0o755)
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    allowed = {"kill": (0, -signal.SIGKILL), "interrupt": (0, 130, -signal.SIGINT)}.get(kind, (0, 1))
    assert status in allowed, f"{name}, {kind}: status {status}\n{said}"
    assert "Traceback" not in said, f"{name}, {kind}: {said}"
    if kind in ("full", "permission") and status == 1 and limit > 1000:
        assert "error: " in said, f"{name}, {kind}: nothing said"

    kept = parts(folder)
    status = os.waitstatus_to_exitcode(os.waitpid(_fork(name, folder), 0)[1])
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    assert status == 0, f"{name} after {kind}: status {status}\n{said}"
    assert "finished work cannot be read" not in said, f"{name} after {kind}: {said}"
    found = tables(folder)
    other = sorted(n for n in found.keys() | expected.keys() if found.get(n) != expected.get(n))
    assert not other, f"{name} after {kind}: other tables, {other}"
    assert kept.items() <= parts(folder).items(), f"{name} after {kind}: a finished part was worked out again"
    left = [p.name for p in (folder / "out").rglob(".bayespool-*")]
    # what was half written goes, but where nobody is left to do so, or nobody may
    assert kind in ("kill", "permission") or not left, f"{name} after {kind}: {left}"
    return f"{len(kept)} of {n_parts} parts kept"


def main() -> None:
    """Faults in turn, over all experiments and kinds."""
    parser = argparse.ArgumentParser(description="Let things happen to experiments.")
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--experiments", default=",".join(EXPERIMENTS))
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names, kinds = asked.experiments.split(","), asked.kinds.split(",")
    rng = random.Random(f"{seed()}/faults")
    with tempfile.TemporaryDirectory(prefix="bayespool-faults-") as made:
        root = Path(made)
        root.chmod(0o755)  # so that a process without rights may come in
        small_simulation().write(root / "in")
        expected, seconds, n_parts = {}, {}, {}
        for name in names:
            for again in ("first", "whole"):  # the first loads and compiles
                folder = root / f"{again}-{name}"
                folder.mkdir()
                begin = time.monotonic()
                assert _run(name, folder) == 0, name
                seconds[name] = time.monotonic() - begin
            expected[name], n_parts[name] = tables(folder), len(parts(folder))
            assert tables(root / f"first-{name}") == expected[name], f"{name}: not the same twice"
        for number in range(asked.faults):
            name, kind = names[number % len(names)], kinds[number // len(names) % len(kinds)]
            told = fault(
                name, kind, root / f"fault-{number}", expected[name], seconds[name], n_parts[name], rng
            )
            print(f"{number + 1} {name} {kind}: {told}", file=sys.stderr, flush=True)
            shutil.rmtree(root / f"fault-{number}")
        os.chdir("/")
    print(f"{asked.faults} faults ({', '.join(kinds)}) over {', '.join(names)}: the same bytes after each")


if __name__ == "__main__":
    main()
