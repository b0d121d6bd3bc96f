"""What is printed, by the command as a process too, whatever names, encodings and devices there are."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FAST, MAIN, Outcome, arguments, campaign, everything_in

from bayespool.cli.messages import echo, quietly
from bayespool.scoring import DEFAULT_ESTIMATORS
from bayespool.tables import read_parquet

ESCAPES = "a\x1b[31mb\x1b]0;c\x07\x9b1m"
SHOWN = r"a\x1b[31mb\x1b]0;c\x07\x9b1m"


def process(*words: object, code: str = MAIN, out: object = subprocess.PIPE, **environment: str):  # type: ignore[no-untyped-def]
    """A command as a process of its own, and what it printed."""
    environment = {"PYTHONIOENCODING": "utf-8", "COLUMNS": "80"} | environment
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=out,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | environment,
        check=False,
        timeout=300,
    )


def test_quiet_lets_results_and_what_ends_a_command_through(capsys: pytest.CaptureFixture[str]) -> None:
    with quietly(), quietly(False):  # a command's own flag takes nothing back
        echo("a stage")
        echo("a result", err=False)
        echo("error: an end", always=True)
    echo("a stage")
    assert tuple(capsys.readouterr()) == ("a result\n", "error: an end\na stage\n")


def test_quiet_leaves_results_and_errors(run: Callable[..., Outcome], small_example: Path) -> None:
    fast = ("--estimators", "posterior-ratio", "--posterior", "draws=50")
    asked = ["score", small_example / "new", "--qrels", small_example / "qrels.txt", *fast]
    loud = run(*asked)
    assert "warning: no pool: " in loud.err
    assert "reading runs" in loud.err
    for quiet in (run(*asked, "--quiet"), run(*asked, "-q"), run("--quiet", *asked)):
        assert quiet == Outcome(0, loud.out, "")
    wrong = run(*asked[:3], small_example / "nowhere", *FAST, "-q")
    assert (wrong.status, wrong.out) == (1, "")
    assert wrong.err.startswith("error: ")
    assert len(wrong.err.splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_name_of_a_file_that_is_not_utf_8(run: Callable[..., Outcome], small_example: Path) -> None:
    """It is taken for Latin-1, as what stands in files is; it was a UnicodeEncodeError."""
    runs = os.fsencode(small_example / "new")
    os.rename(runs + b"/new-a.run", runs + b"/a\xff\xe9.run")
    paths = [small_example / f"result{suffix}" for suffix in (".csv", ".json", ".parquet")]
    done = run(*arguments(small_example), *FAST, *(part for path in paths for part in ("-o", path)))
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
def test_nothing_raw_reaches_a_terminal(small_example: Path) -> None:
    """ESC, OSC and C1 from names, tags and documents; an escape of our own is one that rich writes."""
    line = "701 Q0 D 1 1 t\n"
    name, document, tag, missing = (small_example / f"of-{n}" for n in ("name", "document", "tag", "missing"))
    for folder in (name, document, tag):
        folder.mkdir()
    (name / f"{ESCAPES}.run").write_text(line)
    (document / "x.run").write_text(line.replace("D", ESCAPES) * 2)
    (tag / "x.run").write_text(line.replace("t", ESCAPES) + line.replace("D", "E"))
    missing.symlink_to(small_example / ESCAPES)
    cases = [
        (name, [], SHOWN),
        (name, ["-o", "-"], SHOWN),
        (document, [], SHOWN),
        (tag, ["--reading", "run_id=tag"], repr(ESCAPES)[1:-1]),
        (missing, [str(small_example / ESCAPES)], ""),
    ]
    files = [*campaign(small_example), *FAST]
    asked = [["score", str(runs), *files, *more] for runs, more, _ in cases]
    raw = ESCAPES.encode()
    for (*case, shown), printed in zip(cases, on_a_terminal(asked), strict=True):
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
def test_terminal_of_ascii(small_example: Path) -> None:
    """It was a UnicodeEncodeError at the first dash or name."""
    (small_example / "new" / "new-a.run").rename(small_example / "new" / "é日.run")
    fast = ("--estimators", "posterior-background", "--posterior", "draws=50")
    done = process(*arguments(small_example), *fast, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert r"|\xe9\u65e5" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("|new-b"))
    assert "\\" not in row
    assert "-0." in row  # an interval


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_full_device(small_example: Path) -> None:
    """The file is there, the message, and no traceback."""
    with open("/dev/full", "wb") as full:
        done = process(*arguments(small_example), *FAST, "-o", small_example / "result.csv", out=full)
        assert process("--help", out=full).returncode == 1
    assert done.returncode == 1
    message = "error: cannot write to standard output: No space left on device"
    assert done.stderr.splitlines()[-1] == message
    assert (small_example / "result.csv").read_text().startswith("run_id,")


def test_package_run_as_a_module_is_the_command(run: Callable[..., Outcome]) -> None:
    code = "import runpy; runpy.run_module('bayespool', run_name='__main__')"
    assert process("--version", code=code).stdout == run("--version").out != ""


@pytest.mark.parametrize("asked", [["--help"], ["score", "-h"], ["budgets", "--help-all"], ["--version"]])
def test_help_loads_nothing_heavy(asked: list[str]) -> None:
    heavy = ["numpy", "pandas", "pyarrow", "scipy", "pymc", "pytensor", "nutpie", "arviz_base", "xarray"]
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
    run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes as from this process, and every default column."""
    monkeypatch.setenv("COLUMNS", "80")  # as the process has it; a pipe is as wide as it says
    path, first = small_example / "result.json", small_example / "first.json"
    asked = (*arguments(small_example), "--posterior", "draws=250", "-m", "P@10", "-o", path)
    done = process(*asked)
    assert done.returncode == 0, done.stderr
    path.rename(first)  # it has the command, and so its path
    again = run(*asked)
    assert first.read_bytes() == path.read_bytes()
    assert done.stdout == again.out
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["metadata"]["made_by"]["command"].startswith("bayespool score ")
    assert [(row["run_id"], row["estimator"]) for row in found["scores"]] == [
        (run_id, name) for name in DEFAULT_ESTIMATORS for run_id in ("new-a", "new-b")
    ]


@pytest.mark.slow
def test_error_as_a_process(small_example: Path) -> None:
    done = process("score", small_example / "new", "--qrels", small_example / "pool")
    said = f"error: {small_example / 'pool'}: is a folder where a file is expected; name a file inside it\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_as_a_process(example: Path) -> None:
    before = everything_in(example)
    asked = (*arguments(example), "--posterior", "engine=nuts", "-o", str(example / "result.csv"))
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("reading runs")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert everything_in(example) == before
