"""Prepared collections beside their files: sizes, seconds, memory, and whether values are the same.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/prepared.py [--quick] [COLLECTION …]

One organization at a time is left out, and its first run scored on the others, prepared and from files; the
first of ten has the sizes and seconds (of processor time). pytrec_eval and ranx read and score that run, too.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from at_hand import POOLS, collections_folder, run_command


def main() -> None:
    """Print a table for each collection."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collections", nargs="*", help=f"some of {', '.join(POOLS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="two collections, two organizations each")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.collections or (["dl21-passage", "trec8-adhoc"] if asked.quick else list(POOLS)):
        with tempfile.TemporaryDirectory() as scratch:
            print_table(collections_folder(parser) / name, Path(scratch), 2 if asked.quick else 10)


def print_table(folder: Path, scratch: Path, n_organizations: int) -> None:
    """Print what the prepared collection takes and saves, and how many runs have the same values."""
    from bayespool import read_collection, read_prepared, score
    from bayespool.reading.readers import run_id_from_name

    with open(folder / "organizations.csv", newline="") as file:
        who = {row["run_id"]: row["organization"] for row in csv.DictReader(file)}
    files = {run_id_from_name(path.name): path for path in sorted(folder.glob("runs/*"))}
    measures = ("nDCG@10", "P(rel=2)@10" if folder.name == "dl21-passage" else "P@10")
    print(f"\n{folder.name}, {', '.join(measures)}\n\n| | |\n| --- | ---: |")
    qrels, listed, same = folder / "qrels.txt", scratch / "organizations.csv", list[bool]()
    prepared, cut = scratch / "prepared.bayespool", scratch / "cut.bayespool"
    ways = {"order": "single-precision", **POOLS[folder.name]}
    files_of_all = ["--qrels", qrels, "--organizations", listed]
    files_of_all += ["--known-depth", ways["known_depth"]] if "known_depth" in ways else []
    reading = ", ".join(["strict=false", *(f"{key}={ways[key]}" for key in ways if key != "known_depth")])
    asked = ["-m", measures[0], "-m", measures[1], "--reading"]
    for left_out in sorted(set(who.values()))[:n_organizations]:
        others = {run: name for run, name in who.items() if name != left_out}
        with open(listed, "w", newline="") as file:
            csv.writer(file).writerows([("run_id", "organization"), *others.items()])
        run = next(path for name, path in files.items() if name not in others)
        pool = [path for name, path in files.items() if name in others]
        given = [*files_of_all, *(part for path in pool for part in ("--pool", path)), *asked, reading]
        spent = run_command("prepare", *given, "-o", prepared)[1:]
        if not same:
            run_command("prepare", *given, "--ranks", 100, "-o", cut)
            say("prepare: s, MiB", *spent)
            say("command from files: s, MiB", *run_command("score", run, *given)[1:])
            further, frame = print_seconds("all ranks", prepared, run, asked)
            fewer = print_seconds("100 ranks", cut, run, asked)[1]
            say("largest change of a value with 100 ranks", (fewer.value - frame.value).abs().max())
            for name, evaluate in one_number(run, qrels):
                evaluate()  # what is compiled or imported at the first call
                say(f"a further run, times {name}", further / timed(evaluate)[0])
        collection = read_collection(qrels, run, pool=pool, organizations=listed, strict=False, **ways)
        same.append(
            score(collection, measures=measures).to_frame().equals(scored(read_prepared(prepared), run))
        )
    say("runs with the same bytes, of how many", sum(same), len(same))


def print_seconds(label: str, path: Path, run: Path, asked: list[str]) -> tuple[float, Any]:
    """Print a file's size and seconds; return those of a further run in Python, and its table."""
    from bayespool import read_prepared

    say(f"{label}: KB", path.stat().st_size / 1000)
    say(
        f"{label}: command: s, MiB",
        *run_command("score", run, "--collection", path, *asked, "strict=false")[1:],
    )
    spent, prepared = timed(lambda: read_prepared(path))
    first, frame = timed(lambda: scored(prepared, run))
    again = min(timed(lambda: scored(prepared, run))[0] for _ in range(3))
    say(f"{label}: reading, the first run, a further one: s", spent, first, again)
    return again, frame


def scored(prepared: Any, run: Path) -> Any:
    """Table of a run's scores on a prepared collection, bad lines of the run left out."""
    from bayespool import score
    from bayespool.reading.readers import Reading

    return score(prepared.join(run, reading=Reading(strict=False)), measures=prepared.measures).to_frame()


def one_number(run: Path, qrels: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Reading and scoring a run with packages whose numbers have no interval, where installed."""
    with suppress(ImportError):
        import pytrec_eval as pe

        evaluator = pe.RelevanceEvaluator(pe.parse_qrel(qrels.open()), {"P.10", "ndcg_cut.10"})
        yield "pytrec_eval", lambda: evaluator.evaluate(pe.parse_run(run.open()))
    with suppress(ImportError):
        import ranx as rx

        judged, asked = rx.Qrels.from_file(str(qrels), kind="trec"), ["precision@10", "ndcg@10"]
        yield "ranx", lambda: rx.evaluate(judged, rx.Run.from_file(str(run), kind="trec"), asked)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time, and what came of it."""
    begin, made = time.process_time(), work()
    return time.process_time() - begin, made


def say(what: str, *found: float) -> None:
    """Print a row."""
    print(f"| {what} | {' · '.join(f'{x:.0f}' if x >= 100 else f'{x:.3g}' for x in found)} |", flush=True)


if __name__ == "__main__":
    main()
