"""Freeze what every command of bayespool says, column by column, to see that a rewrite changes no number.

    python benchmarks/digest.py freeze before.json [--only PATTERN] [--keep FOLDER]
    python benchmarks/digest.py compare before.json after.json [--renames renames.csv]

`freeze` runs the commands of `CALLS` on the embedded example, on Medical 2011 and on DL 2021 with the labels
of its judges. It writes one line for each column of each table, each array of a container, and each text:
a digest of the values, the sum of numbers, and the texts themselves where there are few of them. It imports
no module of bayespool but runs the package as ``python -m bayespool`` does, so that modules may be renamed.

`compare` prints what is missing, new or different, and ends with status 1 if anything is. The renames are a
CSV file with the columns kind, old and new. A *column* is a whole name of a column, a table or a key; a
*word* stands anywhere in a name or a text; an *option* is a key of the settings of a command; a *file* is the
name of a file, with or without its ending; a *call* is a name in `CALLS`. They apply to the first of the two
files. Options of the calls themselves are renamed in `CALLS`.

Random numbers depend on some names: of strategies, measures and predictors. Where such a name changes, draws
do, and the difference that is printed is one of numbers.

The numbers of what is printed are kept apart from its words: *numbers* beside *lines*, in which # stands for
each number. Not kept are `KEYS_LEFT_OUT`, `LINES_LEFT_OUT`, `FILES_LEFT_OUT` and `FOLDERS`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import csv
import fnmatch
import gzip
import hashlib
import html
import io
import json
import math
import os
import re
import runpy
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from at_hand import collections_folder

RENAMES = Path(__file__).with_name("digest_renames.csv")

EXAMPLE = "--qrels in/example/qrels.txt --pool in/example/pool --organizations in/example/organizations.csv"
NEW = f"in/example/new --each-its-own {EXAMPLE}"
SAMPLE = "'stratified(depths=(3,),rates=(3,1))'"
EXAMPLE_TYPES = "--run-types in/example/run-types.csv"
EXAMPLE_JUDGE = "--judge drawn=in/example/labels.txt"
MEDICAL = (
    "--lenient --qrels in/medical/qrels.txt --pool in/medical/runs "
    "--organizations in/medical/organizations.csv"
)
DL = "--lenient --qrels in/dl/qrels.txt --pool in/dl/runs --organizations in/dl/organizations.csv"
DL_TYPES = "--run-types in/dl/run-types.csv"
DL_JUDGE = "--judge gpt4=in/dl/judges/umbrela-gpt4.txt"
DL_JUDGES = f"{DL_JUDGE} --judge llama=in/dl/judges/binary-llama3.2.txt"
POINTS = "as-judged,background,interpolated,smoothed,systems-adjustment,anti-precision,condensed-list"
GRADED = "-m nDCG@10 -m ERR@10 -m 'P(rel=2)@10'"
BINARY = "-m P@10 -m AP@20 -m RBP@10 -m RR@10 -m R@20 -m Success@5"
SHORT = "--draws 50"
FOLDER = "-o result --figures none"

CALLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("example demo", (f"demo {SHORT} --json -o demo.csv -o demo.json -o demo.parquet",)),
    (
        "example demo topics",
        ("demo --per-topic --estimators background,posterior-ratio --draws 50 -o t.csv",),
    ),
    ("example demo write", ("demo --write written",)),
    (
        "example score default",
        (f"score {NEW} {BINARY} {GRADED} {SHORT} --json -o s.csv -o s.json -o s.parquet -o s.md -o s.tex",),
    ),
    (
        "example score all",
        (f"score {NEW} -m P@10 -m nDCG@10 --estimators all {SHORT} -o s.csv -o s.html --report page.html",),
    ),
    (
        "example score posteriors",
        (
            f"score {NEW} -m P@10 -m AP@10 --draws 50 -o s.csv --estimators posterior-background,"
            "posterior-interpolated,posterior-smoothed,posterior-odds-ratio,posterior-ratio,"
            "posterior-anti-precision,posterior-evidence,posterior-combined",
        ),
    ),
    (
        "example score topics",
        (
            f"score {NEW} -m P@10 -m nDCG@10 {SHORT} --common-topics 701,705,709 --per-topic -o s.csv",
            f"score {NEW} -m P@10 {SHORT} --sort as-judged --columns all --top 1 -o t.md",
        ),
    ),
    (
        "example score unpooled",
        (
            f"score {EXAMPLE} --unpool north -m nDCG@10 --ideal shared {SHORT} -o s.json",
            f"score {EXAMPLE} --unpool lake-1 --unpool-by run --negative nonrelevant {SHORT} -o u.json",
            f"score {NEW} --pool-depth 5 --estimand pooled --ideal judged -m nDCG@10 --ci-prob 0.8 {SHORT} "
            "-o t.json",
        ),
    ),
    (
        "example score without a pool",
        (
            "score in/example/new --qrels in/example/qrels.txt -m P@10 -m nDCG@10 --json "
            f"--prior 'mu=Normal(-2,1)' --estimators background,posterior-ratio {SHORT}",
        ),
    ),
    (
        "example score judge",
        (
            f"score {NEW} {EXAMPLE_JUDGE} -m P@10 -m nDCG@10 {SHORT} -o s.json "
            "--estimators judge-filled,judge-rates,prediction-powered,posterior-combined",
        ),
    ),
    (
        "example score sample",
        (
            f"pool {EXAMPLE} --strategy {SAMPLE} --budget 400 --depth 10 -o sample.qrels",
            "score in/example/new --each-its-own --qrels sample.qrels --pool in/example/pool --organizations "
            f"in/example/organizations.csv --pool-strategy {SAMPLE} --pool-budget 400 "
            f"--pool-run-depth 10 -m AP@10 -m P@10 {SHORT} -o s.csv --estimators "
            "horvitz-thompson,inferred-ap,stat-ap,posterior-combined",
        ),
    ),
    (
        "example score nuts",
        (
            f"score {NEW} --engine nuts --draws 20 --tune 50 --chains 2 --estimators posterior-background "
            "-o s.csv",
        ),
    ),
    (
        "example impute",
        (
            f"impute {NEW} -m P@10 --draws 3 -o result --json",
            f"impute {NEW} -m nDCG@10 --estimator 'posterior-ratio(draws=50)' --draws 2 -o other",
        ),
    ),
    (
        "example compare",
        (
            f"compare {NEW} -m P@10 -m nDCG@10 {SHORT} --json -o c.csv -o c.json -o c.parquet",
            f"compare {EXAMPLE} --unpool north -m P@10 {SHORT} --scope these-topics,population --rope 0.02 "
            "--tests paired-t,wilcoxon,randomization,tukey-hsd --estimators all --joint -o d.json -o d.md",
        ),
    ),
    ("example reversals", (f"reversals {EXAMPLE} --judgments 200 --judgments 500 {SHORT} -o r.json",)),
    (
        "example pool",
        (
            f"pool {EXAMPLE} --strategy 'depth(k=5)' -o p.qrels --json",
            f"pool {EXAMPLE} --strategy move-to-front --budget 100 -o q.parquet",
            f"pool {EXAMPLE} --strategy active-sampling --budget 100 -o r.csv",
            f"pool {EXAMPLE} --strategy rrf --budget 100 --shares global -o - --format csv",
            "pool --list --json",
        ),
    ),
    (
        "example judge-next",
        (
            f"judge-next {NEW} --budget 5 {SHORT} --json -o n.csv -o n.json -o n.qrels",
            f"judge-next {NEW} --budget 4 {SHORT} --judged in/example/own.txt -m nDCG@10 --goal comparison "
            "-o m.json",
            f"judge-next {NEW} --budget 3 {SHORT} --goal ranking --until 0.05 -o l.json",
        ),
    ),
    (
        "example budgets",
        (
            f"budgets {EXAMPLE} --strategies all --budgets 200 -m P@10 --jobs 1 {FOLDER}",
            f"budgets {EXAMPLE} --strategies 'take,depth(k=3)' --budgets 150,300 -m P@10 --jobs 1 "
            f"--estimators background,posterior-ratio --draws 25 --json -o other --figures none",
        ),
    ),
    (
        "example leave-out",
        (
            f"leave-out {EXAMPLE} -m P@10 -m nDCG@10 --draws 25 --jobs 1 {FOLDER}",
            f"leave-out {EXAMPLE} --by run --estimators {POINTS} --top 75 --jobs 1 --json "
            "--truth full --test paired-t -o runs --figures none",
            f"leave-out {EXAMPLE} --by cluster --clusters 3 --estimators default --draws 25 --jobs 1 "
            "-o clusters --figures none",
            "report result -o page.html",
        ),
    ),
    (
        "example pool-width",
        (
            f"pool-width {EXAMPLE} --widths 3,6 --samples 3 --targets 2 -m P@10 --jobs 1 {FOLDER}",
            f"pool-width {EXAMPLE} --by organization --widths 2 --samples 2 --jobs 1 --draws 25 --json "
            f"--estimators posterior-ratio,background {EXAMPLE_TYPES} --pool-type automatic -o other "
            "--figures none",
        ),
    ),
    (
        "example common-topics",
        (f"common-topics {EXAMPLE} --widths 4 --samples 2 --common 2,5 --topic-samples 3 --jobs 1 {FOLDER}",),
    ),
    (
        "example leave-out types",
        (
            f"leave-out --by type {EXAMPLE} {EXAMPLE_TYPES} --draws 25 --jobs 1 -m P@10 -m nDCG@10 "
            f"--json {FOLDER}",
        ),
    ),
    (
        "example judges",
        (
            f"judges {NEW} {EXAMPLE_JUDGE} -m P@10 --intervals {SHORT} -o result",
            f"judges {EXAMPLE} {EXAMPLE_JUDGE} -m nDCG@10 {SHORT} --json -o other",
        ),
    ),
    ("example check", (f"check predictions {EXAMPLE} -m nDCG@5 --folds 2 --draws 25 {FOLDER}",)),
    (
        "example check calibration",
        (
            f"check simulation --simulations 3 --models ratio,background {FOLDER}",
            "check simulation --new-kind --simulations 3 -o other --figures none",
        ),
    ),
    (
        "example check engines",
        (f"check engines {EXAMPLE} --models background --folds 2 --draws 20 --tune 50 --chains 2 {FOLDER}",),
    ),
    ("example check found", (f"check unexplained {EXAMPLE} --known-depth 5 -m P@10 --draws 25 {FOLDER}",)),
    (
        "medical score",
        (
            f"score {MEDICAL} --unpool AEHRC1 -m P@10 -m AP@100 --estimators all --draws 25 --json -o s.csv",
            f"score {MEDICAL} --unpool 'RMIT University' -m nDCG@10 --draws 25 --per-topic -o t.csv",
        ),
    ),
    ("medical impute", (f"impute {MEDICAL} --unpool AEHRC1 --draws 2 -o result",)),
    ("medical compare", (f"compare {MEDICAL} --unpool AEHRC1 --unpool AEHRC2 --draws 25 -o c.json",)),
    ("medical reversals", (f"reversals {MEDICAL} --judgments 1000 --draws 25 -o r.json",)),
    ("medical pool", (f"pool {MEDICAL} --strategy move-to-front --budget 300 -o p.csv",)),
    ("medical judge-next", (f"judge-next {MEDICAL} --unpool AEHRC1 --budget 3 --draws 25 -o n.json",)),
    (
        "medical budgets",
        (f"budgets {MEDICAL} --strategies take,rbp-a --budgets 1000 -m P@10 --jobs 1 {FOLDER}",),
    ),
    (
        "medical leave-out",
        (
            f"leave-out {MEDICAL} -m P@10 --estimators {POINTS} --jobs 1 {FOLDER}",
            "report result -o page.html",
        ),
    ),
    ("medical pool-width", (f"pool-width {MEDICAL} --widths 10 --samples 2 --jobs 1 {FOLDER}",)),
    (
        "medical common-topics",
        (f"common-topics {MEDICAL} --widths 10 --samples 1 --common 5 --topic-samples 2 --jobs 1 {FOLDER}",),
    ),
    ("medical check", (f"check predictions {MEDICAL} --models ratio --folds 2 --draws 25 {FOLDER}",)),
    ("medical check found", (f"check unexplained {MEDICAL} -m P@10 --draws 25 {FOLDER}",)),
    (
        "dl score",
        (
            f"score {DL} {DL_JUDGES} --unpool ielab {GRADED} --estimators all --draws 25 --json -o s.csv "
            "-o s.parquet",
            f"score {DL} --unpool WLU --relevance-threshold 2 -m P@10 --draws 25 -o t.json",
        ),
    ),
    ("dl impute", (f"impute {DL} {DL_JUDGE} --unpool WLU -m nDCG@10 --draws 2 -o result",)),
    ("dl compare", (f"compare {DL} {DL_JUDGE} --unpool WLU -m nDCG@10 --draws 25 -o c.json",)),
    ("dl reversals", (f"reversals {DL} --judgments 1000 --no-fitted --draws 25 -m nDCG@10 -o r.json",)),
    ("dl pool", (f"pool {DL} --strategy thompson --budget 300 --rel 2 -o p.csv",)),
    (
        "dl judge-next",
        (f"judge-next {DL} {DL_JUDGE} --unpool WLU --budget 3 --draws 25 -m nDCG@10 -o n.json",),
    ),
    ("dl budgets", (f"budgets {DL} --strategies take --budgets 1000 -m nDCG@10 --jobs 1 {FOLDER}",)),
    (
        "dl leave-out",
        (f"leave-out {DL} -m P@10 -m nDCG@10 --estimators {POINTS} --jobs 1 {FOLDER}",),
    ),
    (
        "dl pool-width",
        (
            f"pool-width {DL} {DL_TYPES} --target-type traditional --pool-type neural --widths 10 "
            f"--samples 2 --jobs 1 {FOLDER}",
        ),
    ),
    (
        "dl common-topics",
        (
            f"common-topics {DL} --widths 10 --samples 1 --common 5 --topic-samples 2 -m nDCG@10 --jobs 1 "
            f"{FOLDER}",
        ),
    ),
    (
        "dl leave-out types",
        (
            f"leave-out --by type {DL} {DL_TYPES} {DL_JUDGE} --types traditional --estimators judge-filled,"
            f"judge-rates,posterior-combined --draws 25 --jobs 1 {FOLDER}",
        ),
    ),
    ("dl judges", (f"judges {DL} {DL_JUDGE} --unpool WLU -m nDCG@10 --intervals --draws 25 -o result",)),
    (
        "dl check",
        (f"check predictions {DL} {DL_JUDGE} --models evidence --folds 2 --draws 25 -m nDCG@10 {FOLDER}",),
    ),
)
"""Names of calls, and the commands of each, which run one after the other in a folder of their own, where
``in`` holds the collections."""

KEYS_LEFT_OUT = {
    "bayespool": "the version",
    "bayespool_version": "the version",
    "command": "the command as it was typed, with names of options",
    "digests": "digests of whole files, which are looked into one by one",
    "made_by": "versions and the command",
    "seconds": "times",
    "version": "the version",
    "versions": "versions of Python and of packages",
}
"""Keys of JSON, at any depth, and attributes of containers."""

LINES_LEFT_OUT = {
    r": \d+ of \d+$": "progress, which is told now and then",
    r"\bbayespool \d": "the version",
    r"^\d+(\.\d+){2,}\S*$": "a version",
    r"\bbayespool [a-z-]+ .*(-m|--\w)": "a command, with names of options",
    r"^(python|numpy|scipy|pandas|pyarrow|numba|pymc|nutpie)\b": "versions",
    r"\b(CPU|processor|seconds|minutes|MiB|GiB)\b": "times and the machine",
}
"""Patterns of lines of what is printed, and of pages. Drawings of pages are left out as pictures are."""

FILES_LEFT_OUT = {
    f"*-{12 * '[0-9a-f]'}.parquet": "finished parts of a result, which stands in tables; digests of code",
    "*.png": "a picture depends on fonts and on its words",
    "*.pdf": "a picture depends on fonts and on its words",
    "*.svg": "a picture depends on fonts and on its words",
}

FOLDERS = re.compile(r"(?<![\w/.])(?:/[\w.+-]+)+/(?=[\w.])")
"""Folders in absolute paths, which are left out of all texts: they are of the machine."""

MOST_TEXTS = 300  # different texts that a line of the frozen file may hold; of more there is a digest alone
_NUMBER = re.compile(r"(?<![\w@.(=/#-])[-−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\w@])")
_DRAWN = re.compile(r"[─-╿]+|\x1b\[[0-9;]*m|(?<!\S)[-=]{2,}(?!\S)")
_Path = tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """What is kept of a column, an array or a text.

    Attributes
    ----------
    call, file, name : str
        Where it is. The name is the path to it in the file, with ``/`` between.
    type : str
    n : int
        Values.
    digest : str
        Of the values in their order; where there are texts, of which of them is where.
    unordered : str
        Of the sorted values.
    total : str
        Sum of the numbers, ten digits; empty where there is none.
    texts : mapping of str to int, optional
        The different texts in the order of their first places, with how often they are there.
    """

    call: str
    file: str
    name: str
    type: str
    n: int
    digest: str
    unordered: str = ""
    total: str = ""
    texts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Renames:
    """Old names and new ones, by what they are of."""

    of: Mapping[str, Mapping[str, str]]

    @classmethod
    def read(cls, path: Path) -> Renames:
        """Those of a CSV file with the columns kind, old and new."""
        kinds: dict[str, dict[str, str]] = {kind: {} for kind in ("column", "word", "option", "file", "call")}
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["kind"] not in kinds:
                    raise SystemExit(f"{path}: no kind {row['kind']!r}; there are {', '.join(kinds)}")
                kinds[row["kind"]][row["old"]] = row["new"]
        return cls(kinds)

    def text(self, text: str) -> str:
        """The text in new words: all of them at once, the longest first."""
        words = self.of["word"]
        if not words:
            return text
        known = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        return re.sub(rf"(?<![^\W_])(?<!-)({known})(?![^\W_]|-)", lambda found: words[found[1]], text)

    def column(self, column: Column) -> Column:
        """What it is after the renames."""
        pieces = column.name.split("/")
        options = self.of["option"] if "settings" in pieces else {}
        named = [self.of["column"].get(p) or options.get(p) or self.text(p) for p in pieces]
        texts = column.texts
        if texts is not None:
            texts = collections.Counter()
            for text, n in (column.texts or {}).items():
                texts[self.text(text)] += n
        return replace(
            column,
            call=self.of["call"].get(column.call, column.call),
            file="/".join(map(self._file, column.file.split("/"))),
            name="/".join(named),
            texts=texts,
        )

    def _file(self, name: str) -> str:
        files, (stem, dot, ending) = self.of["file"], name.partition(".")
        return files.get(name) or files.get(stem, self.text(stem)) + dot + ending


def main() -> int:
    """Freeze or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    freezing = commands.add_parser("freeze", help="run the commands and write what they say")
    freezing.add_argument("file", type=Path)
    freezing.add_argument("--only", default="*", help="calls of such names, such as 'example*' or '*budgets'")
    freezing.add_argument("--keep", type=Path, help="a new folder for what the commands write")
    comparing = commands.add_parser("compare", help="compare two frozen files")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--renames", type=Path, default=RENAMES)
    given = parser.parse_args()
    if given.command == "compare":
        return compare(read_frozen(given.before), read_frozen(given.after), Renames.read(given.renames))
    return freeze(collections_folder(parser), given.file, given.only, given.keep)


def freeze(places: Path, target: Path, only: str, keep: Path | None = None) -> int:
    """Run the calls whose names match and write the columns of what they wrote; 1 if a command failed."""
    os.environ |= {"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"}  # so that tables are not wrapped
    columns: list[Column] = []
    failed: list[str] = []
    target, places = target.resolve(), places.resolve()
    start = time.process_time()
    with contextlib.ExitStack() as stack:
        if keep is None:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="digest-")))
        else:
            keep.mkdir(parents=True)
            work = keep.resolve()
        stack.callback(os.chdir, os.getcwd())
        _lay_out(work / "in", places)
        for name, commands in CALLS:
            if not fnmatch.fnmatch(name, only):
                continue
            began = time.process_time()
            folder = work / name.replace(" ", "-")
            folder.mkdir()
            (folder / "in").symlink_to(work / "in", target_is_directory=True)
            os.chdir(folder)
            for at, command in enumerate(commands, 1):
                said = run(shlex.split(command))
                columns += _of_said(name, at, said)
                if said.status:
                    failed.append(f"{name}: {command}\n{said.err.decode()}")
            columns += _of_folder(name, folder)
            print(f"{name}: {time.process_time() - began:.1f} s", file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(_plain(column), ensure_ascii=False) for column in columns)
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    spent = time.process_time() - start
    print(f"{len(columns)} columns, {spent:.0f} s of processor time", file=sys.stderr)
    for text in failed:
        print(f"failed: {text}", file=sys.stderr)
    return int(bool(failed))


@dataclass(frozen=True)
class Said:
    """What a command printed, and its status."""

    status: int
    out: bytes
    err: bytes


def run(arguments: Sequence[str]) -> Said:
    """Run a command of bayespool in this process, as ``python -m bayespool`` does."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, err)]
    before, status = sys.argv, 0
    sys.argv = ["bayespool", *arguments]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            runpy.run_module("bayespool", run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.argv = before
        for stream in streams:
            stream.flush()
    return Said(status, out.getvalue(), err.getvalue())


def _lay_out(folder: Path, places: Path) -> None:
    """Have the collections where the calls name them: the example with made-up types and labels."""
    folder.mkdir()
    for name, place in (("medical", "trec2011-medical"), ("dl", "dl21-passage")):
        (folder / name).symlink_to(places / place, target_is_directory=True)
    example = folder / "example"
    run(["demo", "--write", str(example)])
    runs = sorted(file.stem for file in example.glob("*/*.run"))
    types = [f"{name},{'manual' if name[0] in 'den' else 'automatic'}" for name in runs]
    (example / "run-types.csv").write_text("\n".join(["run_id,type", *types, ""]))
    rel = {tuple(parts[0:3:2]): int(parts[3]) for parts in _lines_of(example / "qrels.txt")}
    seen = {(parts[0], parts[2]) for file in example.glob("*/*.run") for parts in _lines_of(file)}
    labels, own = [], []
    for query, doc in sorted(seen | set(rel)):
        lot = int(_sha(f"{query} {doc}"), 16)
        labels.append(f"{query} 0 {doc} {max(0, rel.get((query, doc), lot // 3 % 2) + lot % 3 - 1)}")
        if (query, doc) not in rel and lot % 20 == 0:
            own.append(f"{query} 0 {doc} {lot % 2}")
    (example / "labels.txt").write_text("\n".join([*labels, ""]))
    (example / "own.txt").write_text("\n".join([*own, ""]))


def _lines_of(path: Path) -> Iterator[list[str]]:
    return (line.split() for line in path.read_text().splitlines())


def _of_said(call: str, at: int, said: Said) -> Iterator[Column]:
    """Columns of what the command of that number printed."""
    yield _column(call, f"{at}.status", ("status",), [said.status])
    if said.out.lstrip().startswith(b"{"):
        yield from _of_json(call, f"{at}.out", json.loads(said.out))
    else:
        yield from _of_text(call, f"{at}.out", said.out.decode())
    yield from _of_text(call, f"{at}.err", said.err.decode())


def _of_folder(call: str, folder: Path) -> Iterator[Column]:
    """Columns of all files that commands wrote there."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name.startswith("in/") or any(path.match(left) for left in FILES_LEFT_OUT):
            continue
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        match path.suffix:
            case ".parquet":
                yield from _of_parquet(call, name, data)
            case ".nc":
                yield from _of_container(call, name, data)
            case ".json":
                yield from _of_json(call, name, json.loads(data))
            case ".csv":
                yield from _of_csv(call, name, data.decode())
            case ".html":
                yield from _of_text(call, name, _without_tags(data.decode()))
            case _:
                yield from _of_lines(call, name, data.decode())


def _of_parquet(call: str, file: str, data: bytes) -> Iterator[Column]:
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    rows = table.to_pylist()
    wide, types = _widened(rows), {name: str(table.schema.field(name).type) for name in table.column_names}
    if wide is not rows:
        estimators = {row["estimator"] for row in rows}
        types |= {name: types["value"] for name in estimators}
        types |= {
            f"{name}_{part}": types[part] for name in estimators for part in _OF_ESTIMATES if part in types
        }
    for name in wide[0] if wide else table.column_names:
        yield _column(call, file, (name,), [row.get(name) for row in wide], types[name])
    for key, value in (table.schema.metadata or {}).items():
        if key not in (b"pandas", b"ARROW:schema"):
            yield from _of_json(call, file, json.loads(value), ("metadata",))


def _of_container(call: str, file: str, data: bytes) -> Iterator[Column]:
    import xarray as xr

    with xr.open_datatree(io.BytesIO(data), engine="h5netcdf") as tree:
        for node in tree.subtree:
            for name, array in node.to_dataset().variables.items():
                place = tuple(piece for piece in f"{node.path}/{name}".split("/") if piece)
                kind = f"{array.dtype} {array.shape}"
                yield _column(call, file, place, array.values.ravel().tolist(), kind)
                yield _column(call, file, (*place, "axes"), [str(axis) for axis in array.dims])
                yield from _of_json(call, file, _jsonable(array.attrs), (*place, "attributes"))
            group = (piece for piece in node.path.split("/") if piece)
            yield from _of_json(call, file, _jsonable(node.attrs), (*group, "attributes"))


def _jsonable(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Attributes as JSON has them."""
    return {
        str(name): value.tolist() if hasattr(value, "tolist") else value for name, value in attributes.items()
    }


def _of_csv(call: str, file: str, text: str) -> Iterator[Column]:
    rows = _widened(list(csv.DictReader(io.StringIO(text))))
    for name in rows[0] if rows else ():
        yield _column(call, file, (name,), [row.get(name, "") for row in rows], "csv")


_OF_SCORES = ("run_id", "measure", "estimator", "value", "lower", "upper", "as_judged", "bound_lower")
_OF_ESTIMATES = ("lower", "upper", "std", "distance", "new_kind")


def _widened(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Long rows of scores with columns for each estimator, as they were before; other rows as they are."""
    if not rows or not set(_OF_SCORES) <= rows[0].keys() or "truth" in rows[0]:
        return rows
    has = {
        (row["estimator"], name) for row in rows for name in _OF_ESTIMATES if row.get(name) not in ("", None)
    }
    has -= {(estimator, "std") for estimator, name in has if name == "lower"}
    wide: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["measure"], row["run_id"], row.get("query_id", ""))
        left_out = ("estimator", "value", "note", *_OF_ESTIMATES)
        kept = wide.setdefault(key, {name: value for name, value in row.items() if name not in left_out})
        kept[row["estimator"]] = row["value"]
        if kept.get("ci_prob") in ("", None):  # a point correction has none
            kept["ci_prob"] = row.get("ci_prob")
        kept |= {
            f"{row['estimator']}_{name}": row[name]
            for name in _OF_ESTIMATES
            if (row["estimator"], name) in has
        }
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    return [row for measure in measures for key, row in wide.items() if key[0] == measure]


def _of_json(call: str, file: str, found: Any, place: _Path = ()) -> Iterator[Column]:
    """A column for each list of values and each single value; rows become columns."""
    if isinstance(found, dict):
        for key, value in found.items():
            if key not in KEYS_LEFT_OUT:
                yield from _of_json(call, file, value, (*place, str(key)))
    elif isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        found = _widened(found)
        for name in dict.fromkeys(name for row in found for name in row):
            if name not in KEYS_LEFT_OUT:
                yield _column(call, file, (*place, str(name)), [row.get(name) for row in found])
    else:
        yield _column(call, file, place, found if isinstance(found, list) else [found])


def _of_lines(call: str, file: str, text: str) -> Iterator[Column]:
    """Columns of lines that all have as many words, such as qrels; else of text."""
    rows = [line.split() for line in text.splitlines()]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 3:
        yield from _of_text(call, file, text)
        return
    for at, values in enumerate(zip(*rows, strict=True), 1):
        yield _column(call, file, (str(at),), list(values), "word")


def _of_text(call: str, file: str, text: str) -> Iterator[Column]:
    """The numbers of a text, and its lines with # for each number: words may change where numbers do not."""
    lines = (" ".join(_DRAWN.sub(" ", line).split()) for line in text.splitlines())
    kept = [line for line in lines if line and not any(re.search(left, line) for left in LINES_LEFT_OUT)]
    if kept:
        numbers = [number for line in kept for number in _NUMBER.findall(line)]
        yield _column(call, file, ("lines",), [_NUMBER.sub("#", line) for line in kept], "text")
        yield _column(call, file, ("numbers",), numbers, "text")


def _without_tags(page: str) -> str:
    """The text of a page, a line for each element, without its scripts, styles and drawings."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1\s*>", " ", page, flags=re.DOTALL | re.IGNORECASE)
    return html.unescape(re.sub(r"(<[^<>]*>\s*)+", "\n", page))


def _column(call: str, file: str, place: _Path, values: Sequence[Any], kind: str = "json") -> Column:
    """What is kept of values."""
    type_names = "|".join(sorted({type(value).__name__ for value in values}))
    values = [json.dumps(value) if isinstance(value, list | dict) else value for value in values]
    values = [FOLDERS.sub("", value) if isinstance(value, str) else value for value in values]
    total, numbers = "", [number for value in values if (number := _number(value)) is not None]
    if numbers and len(numbers) + sum(value in ("", None) for value in values) == len(values):
        total = f"{math.fsum(x for x in numbers if math.isfinite(x)):.10g}"
    texts = None
    if not total and all(value is None or isinstance(value, str) for value in values):
        values = ["" if value is None else value for value in values]
        counted = collections.Counter(values)
        texts = dict(counted) if len(counted) <= MOST_TEXTS else None
    if texts is None:
        shown = [repr(value) for value in values]
    else:
        codes = {text: str(code) for code, text in enumerate(texts)}
        shown = [codes[value] for value in values]
    return Column(
        call,
        file,
        "/".join(piece.replace("/", "|") for piece in place),
        type_names if kind == "json" else kind,
        len(values),
        _sha("\n".join(shown))[:16],
        "" if texts is not None else _sha("\n".join(sorted(shown)))[:16],
        total,
        texts,
    )


def _number(value: Any) -> float | None:
    """The number that a value is or says."""
    if value in ("", None):
        return None
    try:
        return float(value.replace(",", "").replace("−", "-") if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        return None


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(column: Column) -> dict[str, Any]:
    """What is written of a column: what it has."""
    return {name: value for name, value in asdict(column).items() if value not in ("", None)}


def read_frozen(path: Path) -> list[Column]:
    """Columns that `freeze` wrote."""
    return [Column(**{"type": "", **found}) for found in json.loads(path.read_text(encoding="utf-8"))]


def compare(before: Iterable[Column], after: Iterable[Column], renames: Renames) -> int:
    """Print what is missing, new or different; 1 if anything is."""
    old = _by_place(map(renames.column, before))
    new = _by_place(after)
    said = [f"missing: {_place(key)}" for key in old if key not in new]
    said += [f"new: {_place(key)}" for key in new if key not in old]
    n_other = len(said)
    for key, one in old.items():
        if key in new and (what := _differences(one, new[key])):
            said.append(f"differs: {_place(key)}: {what}")
    for line in said:
        print(line)
    both = len(old.keys() & new.keys())
    print(f"{both} columns in both, {len(said) - n_other} differ; {n_other} are in one of them alone")
    return int(bool(said))


def _by_place(columns: Iterable[Column]) -> dict[tuple[str, str, str, int], Column]:
    """Columns by where they are; of those at the same place the first, the second, …"""
    found: dict[tuple[str, str, str, int], Column] = {}
    seen: collections.Counter[_Path] = collections.Counter()
    for column in columns:
        place = (column.call, column.file, column.name)
        found[*place, seen[place]] = column
        seen[place] += 1
    return found


def _place(key: tuple[str, str, str, int]) -> str:
    call, file, name, at = key
    return f"{call} | {file} | {name}" + (f" ({at + 1})" if at else "")


def _differences(one: Column, other: Column) -> str:
    """What differs of two columns in words; empty if nothing does."""
    said = []
    if one.type != other.type:
        said.append(f"type {one.type} → {other.type}")
    if one.n != other.n:
        said.append(f"{one.n} → {other.n} values")
    if one.texts is not None and other.texts is not None:
        gone = [text for text in one.texts if one.texts[text] != other.texts.get(text)]
        come = [text for text in other.texts if other.texts[text] != one.texts.get(text)]
        if gone or come:
            said.append(f"texts {_some(gone)} → {_some(come)}")
        elif one.digest != other.digest:
            said.append("the same texts in another order")
    elif one.digest != other.digest:
        if one.unordered and one.unordered == other.unordered:
            said.append("the same values in another order")
        elif one.total != other.total:
            said.append(f"sum {one.total or 'none'} → {other.total or 'none'}")
        else:
            said.append("other values of the same sum" if one.total else "other values")
    return ", ".join(said)


def _some(texts: Sequence[str]) -> str:
    """The first three texts, shortened."""
    shown = [repr(text if len(text) <= 160 else f"{text[:157]}…") for text in texts[:3]]
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return (", ".join(shown) or "none") + more


if __name__ == "__main__":
    sys.exit(main())
