"""The command line: options with odd values, in this process, on a collection of a few documents."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from fuzz.engine import Target

from bayespool import cli

COMMANDS = {
    "score": ["{new}", "--qrels", "{qrels}", "--pool", "{pool}", "--estimators", "background"],
    "leave-out": ["--qrels", "{qrels}", "--pool", "{pool}", "--estimators", "background"],
    "random-pools": ["--qrels", "{qrels}", "--pool", "{pool}", "--organizations", "{types}"],
    "pool": ["--pool", "{pool}", "--qrels", "{qrels}", "--strategy", "take", "--budget", "4"],
    "budgets": ["--qrels", "{qrels}", "--pool", "{pool}", "--budgets", "4,8", "-m", "P@3"],
}
# Options of several commands; one that a command lacks has to be refused like any other slip of the pen.
NAMES = [
    "--measures", "-m", "--estimators", "--known-depth", "--reading", "--pool-strategy", "--repool-to",
    "--top", "--random-seed", "--random-seed", "--ci-prob", "--columns", "--output", "-o", "--posterior",
    "--organizations", "--unpool", "--judge", "--own-judgments", "--figure", "--by", "--truth",
    "--strategies", "--budget", "--budgets", "--type", "--test", "--jobs", "--draws", "--lenient",
    "--per-topic", "--json", "--quiet", "--each-its-own", "--help-all", "--nonsense", "-z", "--", "-",
]  # fmt: skip
VALUES = [
    "", "0", "1", "-1", "2", "10", "3.5", "nan", "inf", "1e9", "99999999999999999999", "x", "P@5", "P@0",
    "nDCG@3", "P@99999999999", "P@٣", "P@-1", "P(rel=)@5", "P(rel=2)@3", "RBP(p=1.5)@3", "RBP(p=0.8)@3", "AP",
    "P@5,nDCG@5", "background(e=0.3)", "background(e=nan)", "background(e=)", "background(",
    "as-judged,upper-bound", "no-such", "systems-adjustment", "rrf(k=60)", "take", "take(", "depth", "global",
    "take(budget=4)", "take(budget=x)", "rrf(k=3,budget=2,run_depth=1,shares=global,rel=9)", "order=rank",
    "strict=false, topics=run", "max_holes=nan", "pooled_run_ids=(a,", "exclude=(query,{list})", "equal",
    "organization", "run", "tag", "a", "a,b", "a,,b", "auto", "manual", "../..", "/dev/null",
    "/nowhere/x", "~nobody/x", "*", "[", "irds:x", "a\x1b[31m", "\udcff", "é", "日本", " ", "\n", "a=b", "=",
    "{pool}", "{qrels}", "{new}", "{types}", "{list}", "score", "rank", "all", "bound-lower,mean", "listed",
    "skipping", "lenient", "order=rank", "order=", "max_holes=nan", "topics=run,topics=run", "each_its_own=x",
    "pooled_run_ids=(a,b)", "pooled_run_ids=(",
    "take(budget=4)", "depth(k=2", "Normal(0,1)", "mu=Normal(0,1e308)",
    "draws=x", "engine=stan", "(" * 500, "9" * 5000, "x" * 70000,
]  # fmt: skip
OUTPUTS = ["out", "out.csv", "out.json", "out.parquet", "out.pdf", "out.xyz", "a/b"]
NEVER = {"--jobs", "--judge"}  # where most values are fine and take long


@cache
def _files() -> dict[str, str]:
    """Six runs of two organizations, judgments to depth three, and lists."""
    folder = Path(tempfile.mkdtemp(prefix="bayespool-fuzz-"))
    (folder / "pool").mkdir()
    judged: dict[tuple[int, str], None] = {}
    for number, name in enumerate("abcdef"):
        ranked = [(t, f"d{(number * 2 + rank * 3) % 13}") for t in (1, 2, 3) for rank in range(5)]
        text = "".join(f"{t} Q0 {d} {i} {50 - i} {name}\n" for i, (t, d) in enumerate(ranked))
        judged |= dict.fromkeys(pair for i, pair in enumerate(ranked) if i % 5 < 3 and name != "f")
        place = folder / ("new.run" if name == "f" else f"pool/{name}.run")
        place.write_text(text, encoding="utf-8")
    lines = "".join(f"{t} 0 {d} {(int(d[1:]) + t) % 3 % 2}\n" for t, d in judged)
    (folder / "qrels.txt").write_text(lines, encoding="utf-8")
    (folder / "list.csv").write_text("run_id,organization\na,A\nb,A\nc,B\nd,B\ne,C\n", encoding="utf-8")
    types = "run_id,type\na,auto\nb,auto\nc,manual\nd,manual\ne,manual\n"
    (folder / "types.csv").write_text(types, encoding="utf-8")
    named = {"pool": "pool", "qrels": "qrels.txt", "new": "new.run", "types": "types.csv", "list": "list.csv"}
    return {name: str(folder / file) for name, file in named.items()}


def _filled(text: str) -> str:
    for name, path in _files().items():
        text = text.replace("{" + name + "}", path)
    return text


def _check(rng: random.Random, folder: Path) -> bool:
    command = rng.choice(list(COMMANDS))
    arguments = [command, *COMMANDS[command]]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        name = rng.choice(NAMES)
        value = rng.choice(VALUES)
        if name in NEVER and value not in ("", "0", "-1", "x", "nan", "99999999999999999999"):
            value = "-1"
        if name in ("-o", "--output", "--figure") and not value.startswith(("/dev", "/nowhere", "{")):
            value = f"{folder}/{rng.choice(OUTPUTS)}"
        if name in ("-o", "--output", "--figure") and value.startswith("{"):
            continue  # inputs are kept
        arguments += [name] if rng.random() < 0.1 else [name, value]
    if rng.random() < 0.1:
        arguments.pop(rng.randrange(len(arguments)))
    status, out, err = _run([_filled(argument) for argument in arguments])
    shown = f"{arguments!r}"[:1500] + f" ended with {status}: {err[-1500:]}"
    assert status in (0, 1, 2), shown
    assert "Traceback" not in err, shown
    assert "\x1b" not in out + err, f"an escape is printed: {shown}"
    assert status == 0 or err.strip(), f"an error without a word: {shown}"
    return status == 0


def _run(arguments: list[str]) -> tuple[int, str, str]:
    """`main` in this process: exit status, and what was printed."""
    before = sys.argv, sys.stdout, sys.stderr
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True) for _ in range(2)
    )
    sys.argv, sys.stdout, sys.stderr = ["bayespool", *arguments], out, err
    try:
        with warnings.catch_warnings():
            cli.main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv, sys.stdout, sys.stderr = before
    with contextlib.suppress(ValueError):
        out.flush()
    return status, *(stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]


OPTIONS = (Target("options", _check),)
