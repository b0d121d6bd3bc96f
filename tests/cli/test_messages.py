"""What is printed, whatever names, encodings and devices there are."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FAST, Outcome, arguments

from bayespool.tables import read_parquet

MAIN = "import sys; from bayespool.cli import main; sys.argv[0] = 'bayespool'; main()"
ESCAPES = "a\x1b[31mb\x1b]0;c\x07\x9b1m"
SHOWN = r"a\x1b[31mb\x1b]0;c\x07\x9b1m"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_name_of_a_file_that_is_not_utf_8(run: Callable[..., Outcome], example: Path) -> None:
    """It is taken for Latin-1, as what stands in files is; it was a UnicodeEncodeError."""
    runs = os.fsencode(example / "new")
    os.rename(runs + b"/new-a.run", runs + b"/a\xff\xe9.run")
    paths = [example / f"result{suffix}" for suffix in (".csv", ".json", ".parquet")]
    done = run(*arguments(example), *FAST, *(part for path in paths for part in ("-o", path)))
    assert done.status == 0, done.err
    assert " aÿé " in done.out
    names = ["aÿé", "new-b"]
    assert [row["run_id"] for row in csv.DictReader(paths[0].read_text("utf-8").splitlines())] == names
    assert [row["run_id"] for row in json.loads(paths[1].read_text("utf-8"))["scores"]] == names
    found = read_parquet(paths[2])
    assert found is not None
    assert found[0]["run_id"] == names


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals, and names that other systems refuse")
def test_nothing_raw_reaches_a_terminal(example: Path) -> None:
    """ESC, OSC and C1 from names, tags and documents; an escape of our own is one that rich writes."""
    line = "701 Q0 D 1 1 t\n"
    names = ("name", "document", "tag", "missing")
    name, document, tag, missing = (example / f"of-{name}" for name in names)
    for folder in (name, document, tag):
        folder.mkdir()
    (name / f"{ESCAPES}.run").write_text(line)
    (document / "x.run").write_text(line.replace("D", ESCAPES) * 2)
    (tag / "x.run").write_text(line.replace("t", ESCAPES) + line.replace("D", "E"))
    missing.symlink_to(example / ESCAPES)
    cases = {
        "name": (name, [], SHOWN),
        "table": (name, ["-o", "-"], SHOWN),
        "document": (document, [], SHOWN),
        "tag": (tag, ["--run-id", "tag"], repr(ESCAPES)[1:-1]),
        "missing": (missing, [str(example / ESCAPES)], ""),
    }
    asked = [
        [part.replace(str(example / "new"), str(runs)) for part in (*arguments(example), *FAST, *more)]
        for runs, more, _ in cases.values()
    ]
    raw = ESCAPES.encode()
    for (case, (*_, shown)), printed in zip(cases.items(), on_a_terminal(asked), strict=True):
        assert printed.strip(), case
        assert not [raw[i:] for i in range(len(raw)) if raw[i:] in printed and not raw[i:].isascii()], case
        assert b"\x1b[31mb" not in printed, case
        assert b"\x1b]0" not in printed, case
        assert shown.encode() in printed, case


MANY = """
import json, sys
from bayespool.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["bayespool", *words]
    try:
        main()
    except SystemExit:
        pass
    print("--- done", flush=True)
"""


def on_a_terminal(asked: list[list[str]]) -> list[bytes]:
    """What commands print on a terminal, one after the other in one process."""
    import pty

    printed = b""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", MANY, json.dumps(asked)])
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the end of a terminal
            part = b""
        if not part:
            break
        printed += part
    os.close(terminal)
    os.waitpid(child, 0)
    return printed.split(b"--- done")[:-1]


@pytest.mark.slow
def test_terminal_of_ascii(example: Path) -> None:
    """It was a UnicodeEncodeError at the first dash or name."""
    (example / "new" / "new-a.run").rename(example / "new" / "é日.run")
    done = printed_to(subprocess.PIPE, example, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    out = done.stdout.decode("ascii")
    assert r"|\xe9\u65e5" in out
    row = next(line for line in out.splitlines() if line.startswith("|new-b"))
    assert "\\" not in row
    assert "-0." in row  # an interval


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_full_device(example: Path) -> None:
    """The file is there, the message, and no traceback."""
    with open("/dev/full", "wb") as full:
        done = printed_to(full, example, "-o", str(example / "result.csv"))
    assert done.returncode == 1
    errors = done.stderr.decode().splitlines()
    assert errors[-1] == "error: cannot write to standard output: No space left on device"
    assert (example / "result.csv").read_text().startswith("run_id,")
    with open("/dev/full", "wb") as full:
        help_of = subprocess.run(
            [sys.executable, "-c", MAIN, "--help"], stdout=full, stderr=full, check=False, timeout=60
        )
    assert help_of.returncode == 1


def printed_to(
    out: object, example: Path, *more: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    fast = ("--estimators", "posterior-background", "--draws", "50")
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments(example), *fast, *more],
        stdout=out,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        env=os.environ | {"COLUMNS": "80"} | environment,
        check=False,
        timeout=120,
    )
