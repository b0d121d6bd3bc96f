"""Freeze what every command of bayespool says, column by column, to see that a rewrite changes no number.

    python benchmarks/digest.py freeze before.json [--only PATTERN]
    python benchmarks/digest.py compare before.json after.json [--renames renames.csv]

`freeze` runs the commands of `digest_calls.txt` on the embedded example, on Medical 2011 and on DL 2021, as
``python -m bayespool`` does but for the end of the process, and writes a line for each column of each table,
each array of a container, and each text: a digest of the values, the sum of numbers, and the texts
themselves where there are few of them. The numbers of what is printed are kept apart from its words:
*numbers* beside *lines*, in which # stands for each number.

`compare` prints what is missing, new or different, and ends with status 1 if anything is. The renames (kind,
old, new) apply to the first file: a *column* is a whole name of a column, a table or a key, a *word* stands
anywhere in a name or a text, an *option* is a key of settings, a *file* its name with or without ending, a
*call* a name in `digest_calls.txt`. Random numbers depend on names of strategies, measures and predictors.
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
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from at_hand import collections_folder

from bayespool.cli import main as run_command_line

HERE = Path(__file__).parent
KINDS = ("column", "word", "option", "file", "call")

KEYS_LEFT_OUT = {"bayespool", "bayespool_version", "command", "digests", "made_by"}
KEYS_LEFT_OUT |= {"seconds", "version", "versions"}
"""Keys of JSON, at any depth, and attributes of containers: versions, times, the command as it was typed."""

LINES_LEFT_OUT = {
    r": \d+ of \d+$": "progress, which is told now and then",
    r"\bbayespool \d": "the version",
    r"^\d+(\.\d+){2,}\S*$": "a version",
    r"\bbayespool [a-z-]+ .*(-m|--\w)": "a command, with names of options",
    r"^(python|numpy|scipy|pandas|pyarrow|numba|pymc|nutpie)\b": "versions",
    r"\b(CPU|processor|seconds|minutes|MiB|GiB)\b": "times and the machine",
}
"""Patterns of lines of what is printed, and of pages. Drawings of pages are left out as pictures are."""

FILES_LEFT_OUT = (f"*-{12 * '[0-9a-f]'}.parquet", "*.png", "*.pdf", "*.svg")
"""Finished parts of a result, which stands in tables, and pictures, which depend on fonts."""

FOLDERS = re.compile(r"(?<![\w/.])(?:/[\w.+-]+)+/(?=[\w.])")
"""Folders in absolute paths, which are left out of all texts: they are of the machine."""

MOST_TEXTS = 300  # different texts that a line of the frozen file may hold; of more there is a digest alone
_NUMBER = re.compile(r"(?<![\w@.(=/#-])[-−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\w@])")
_DRAWN = re.compile(r"[─-╿]+|\x1b\[[0-9;]*m|(?<!\S)[-=]{2,}(?!\S)")
_SCRIPTS = re.compile(r"<(script|style|svg)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(r"(<[^<>]*>\s*)+")
_Path = tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """What is kept of a column, an array or a text: ``digest`` of the values in their order (where there
    are texts, of which of them is where), ``total`` of numbers, ``texts`` in the order of their first places,
    with how often they are there.
    """

    call: str
    file: str
    name: str
    type: str
    n: int
    digest: str
    total: str = ""
    texts: Mapping[str, int] | None = None


def main() -> int:
    """Freeze or compare."""
    parser = argparse.ArgumentParser(description="Freeze what commands say, or compare what they said.")
    commands = parser.add_subparsers(dest="command", required=True)
    freezing, comparing = commands.add_parser("freeze"), commands.add_parser("compare")
    freezing.add_argument("file", type=Path)
    freezing.add_argument("--only", default="*", help="calls of such names, such as 'example*' or '*budgets'")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--renames", type=Path, default=HERE / "digest_renames.csv")
    asked = parser.parse_args()
    if asked.command == "compare":
        return compare(read_frozen(asked.before), read_frozen(asked.after), read_renames(asked.renames))
    return freeze(collections_folder(parser), asked.file, asked.only)


def read_calls(path: Path) -> dict[str, list[str]]:
    """Names of calls, and the commands of each."""
    names: dict[str, str] = {}
    calls: dict[str, list[str]] = {}
    for line in re.sub(r"\n {4}", " ", path.read_text(encoding="utf-8")).splitlines():
        if line.startswith("["):
            calls[line.strip("[]")] = []
        elif calls:
            calls[list(calls)[-1]].append(line.format(**names))
        elif "=" in line and not line.startswith("#"):
            name, _, value = line.partition(" = ")
            names[name] = value.format(**names)
    return calls


def freeze(places: Path, target: Path, only: str) -> int:
    """Run the calls whose names match and write the columns of what they wrote; 1 if a command failed."""
    os.environ |= {"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"}  # so that tables are not wrapped
    columns, failed, target, here = list[Column](), list[str](), target.resolve(), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="digest-") as name:
        work = Path(name)
        _lay_out(work / "in", places.resolve())
        for call, commands in read_calls(HERE / "digest_calls.txt").items():
            if not fnmatch.fnmatch(call, only):
                continue
            began, folder = time.process_time(), work / call.replace(" ", "-")
            folder.mkdir()
            (folder / "in").symlink_to(work / "in", target_is_directory=True)
            os.chdir(folder)
            for at, command in enumerate(commands, 1):
                status, out, err = run(shlex.split(command))
                columns += _of_printed(call, at, status, out, err)
                failed += [f"failed: {call}: {command}\n{err}"] if status else []
            columns += _of_folder(call, folder)
            print(f"{call}: {time.process_time() - began:.1f} s", file=sys.stderr, flush=True)
        os.chdir(here)
    plain = ({k: v for k, v in asdict(column).items() if v not in ("", None)} for column in columns)
    lines = ",\n".join(json.dumps(column, ensure_ascii=False) for column in plain)
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(columns)} columns", *failed, sep="\n", file=sys.stderr)
    return int(bool(failed))


def run(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a command of bayespool in this process: its status and what it prints."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, status = sys.argv, 0
    sys.argv = ["bayespool", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run_command_line()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.argv = before
    for stream in (out, err):
        stream.flush()
    return status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()  # type: ignore[attr-defined]


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


def _of_printed(call: str, at: int, status: int, out: str, err: str) -> Iterator[Column]:
    yield _column(call, f"{at}.status", ("status",), [status])
    is_json = out.lstrip().startswith("{")
    yield from _of_json(call, f"{at}.out", json.loads(out)) if is_json else _of_text(call, f"{at}.out", out)
    yield from _of_text(call, f"{at}.err", err)


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
                rows = list(csv.DictReader(io.StringIO(data.decode())))
                columns = {key: [row.get(key, "") for row in rows] for row in rows[:1] for key in row}
                yield from (_column(call, name, (key,), values, "csv") for key, values in columns.items())
            case ".html":
                text = _TAGS.sub("\n", _SCRIPTS.sub(" ", data.decode()))
                yield from _of_text(call, name, html.unescape(text))
            case _:
                yield from _of_text(call, name, data.decode())


def _of_parquet(call: str, file: str, data: bytes) -> Iterator[Column]:
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    for name in table.column_names:
        yield _column(call, file, (name,), table[name].to_pylist(), str(table.schema.field(name).type))
    for key, value in (table.schema.metadata or {}).items():
        if key not in (b"pandas", b"ARROW:schema"):
            yield from _of_json(call, file, json.loads(value), ("metadata",))


def _of_container(call: str, file: str, data: bytes) -> Iterator[Column]:
    import xarray as xr

    def attributes(of: Mapping[Any, Any], *place: str) -> Iterator[Column]:
        plain = {str(k): v.tolist() if hasattr(v, "tolist") else v for k, v in of.items()}
        return _of_json(call, file, plain, (*place, "attributes"))

    with xr.open_datatree(io.BytesIO(data), engine="h5netcdf") as tree:
        for node in tree.subtree:
            for name, array in node.to_dataset().variables.items():
                place = tuple(piece for piece in f"{node.path}/{name}".split("/") if piece)
                kind = f"{array.dtype} {array.shape}"
                yield _column(call, file, place, array.values.ravel().tolist(), kind)
                yield _column(call, file, (*place, "axes"), [str(axis) for axis in array.dims])
                yield from attributes(array.attrs, *place)
            yield from attributes(node.attrs, *(piece for piece in node.path.split("/") if piece))


def _of_json(call: str, file: str, content: Any, place: _Path = ()) -> Iterator[Column]:
    """A column for each list of values and each single value; rows become columns."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key not in KEYS_LEFT_OUT:
                yield from _of_json(call, file, value, (*place, str(key)))
    elif isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        for name in dict.fromkeys(name for row in content for name in row):
            if name not in KEYS_LEFT_OUT:
                yield _column(call, file, (*place, str(name)), [row.get(name) for row in content])
    else:
        yield _column(call, file, place, content if isinstance(content, list) else [content])


def _of_text(call: str, file: str, text: str) -> Iterator[Column]:
    """The numbers of a text, and its lines with # for each number: words may change where numbers do not."""
    lines = (" ".join(_DRAWN.sub(" ", line).split()) for line in text.splitlines())
    kept = [line for line in lines if line and not any(re.search(left, line) for left in LINES_LEFT_OUT)]
    if kept:
        numbers = [number for line in kept for number in _NUMBER.findall(line)]
        yield _column(call, file, ("lines",), [_NUMBER.sub("#", line) for line in kept], "text")
        yield _column(call, file, ("numbers",), numbers, "text")


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
    codes = {text: str(code) for code, text in enumerate(texts or ())}
    shown = [repr(value) if texts is None else codes[value] for value in values]
    name = "/".join(piece.replace("/", "|") for piece in place)
    kind, digest = type_names if kind == "json" else kind, _sha("\n".join(shown))[:16]
    return Column(call, file, name, kind, len(values), digest, total, texts)


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


Renames = Mapping[str, Mapping[str, str]]  # by kind


def read_frozen(path: Path) -> list[Column]:
    """Columns that `freeze` wrote."""
    return [Column(**{"type": "", **each}) for each in json.loads(path.read_text(encoding="utf-8"))]


def read_renames(path: Path) -> Renames:
    """Those of a CSV file with the columns kind, old and new."""
    renames: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] not in KINDS:
                raise SystemExit(f"{path}: no kind {row['kind']!r}; there are {', '.join(KINDS)}")
            renames[row["kind"]][row["old"]] = row["new"]
    return renames


def renamed(column: Column, renames: Renames) -> Column:
    """What a column is after the renames, of words all at once, the longest first."""
    words, files = renames["word"], renames["file"]
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)"
    word = re.compile(rf"(?<![^\W_])(?<!-)({either})(?![^\W_]|-)")

    def in_words(text: str) -> str:
        return word.sub(lambda match: words[match[1]], text)

    def of_file(name: str) -> str:
        stem, dot, ending = name.partition(".")
        return files.get(name) or files.get(stem, in_words(stem)) + dot + ending

    pieces = column.name.split("/")
    options = renames["option"] if "settings" in pieces else {}
    texts: collections.Counter[str] | None = None
    if column.texts is not None:
        texts = collections.Counter()
        for text, n in column.texts.items():
            texts[in_words(text)] += n
    return replace(
        column,
        call=renames["call"].get(column.call, column.call),
        file="/".join(map(of_file, column.file.split("/"))),
        name="/".join(renames["column"].get(p) or options.get(p) or in_words(p) for p in pieces),
        texts=texts,
    )


def compare(before: Iterable[Column], after: Iterable[Column], renames: Renames) -> int:
    """Print what is missing, new or different; 1 if anything is."""
    old, new = _by_place(renamed(column, renames) for column in before), _by_place(after)
    lines = [f"missing: {_place(key)}" for key in old if key not in new]
    lines += [f"new: {_place(key)}" for key in new if key not in old]
    n_other, both = len(lines), [key for key in old if key in new]
    for key in both:
        if what := _differences(old[key], new[key]):
            lines.append(f"differs: {_place(key)}: {what}")
    for line in lines:
        print(line)
    print(f"{len(both)} columns in both, {len(lines) - n_other} differ; {n_other} are in one of them alone")
    return int(bool(lines))


def _by_place(columns: Iterable[Column]) -> dict[tuple[str, str, str, int], Column]:
    """Columns by where they are; of those at the same place the first, the second, …"""
    placed: dict[tuple[str, str, str, int], Column] = {}
    seen: collections.Counter[_Path] = collections.Counter()
    for column in columns:
        place = (column.call, column.file, column.name)
        placed[*place, seen[place]] = column
        seen[place] += 1
    return placed


def _place(key: tuple[str, str, str, int]) -> str:
    call, file, name, at = key
    return f"{call} | {file} | {name}" + (f" ({at + 1})" if at else "")


def _differences(one: Column, other: Column) -> str:
    """What differs of two columns in words; empty if nothing does."""
    parts = [f"type {one.type} → {other.type}"] if one.type != other.type else []
    parts += [f"{one.n} → {other.n} values"] if one.n != other.n else []
    if one.texts is not None and other.texts is not None:
        gone = [text for text in one.texts if one.texts[text] != other.texts.get(text)]
        come = [text for text in other.texts if other.texts[text] != one.texts.get(text)]
        parts += [f"texts {_some(gone)} → {_some(come)}"] if gone or come else []
        if one.digest != other.digest and not gone and not come:
            parts.append("the same texts in another order")
    elif one.digest != other.digest:
        sums = f"sum {one.total or 'none'} → {other.total or 'none'}"
        of_sum = "other values of the same sum" if one.total else "other values"
        parts.append(sums if one.total != other.total else of_sum)
    return ", ".join(parts)


def _some(texts: Sequence[str]) -> str:
    """The first three texts, shortened."""
    shown = [repr(text if len(text) <= 160 else f"{text[:157]}…") for text in texts[:3]]
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return (", ".join(shown) or "none") + more


if __name__ == "__main__":
    sys.exit(main())
