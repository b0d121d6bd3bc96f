"""From files to a table: time and memory of `bayespool score`, and how they grow.

    python benchmarks/load.py [--axes topics runs depth cutoff targets draws]
    python benchmarks/load.py --size 1000 200 1000

Files are drawn into a folder that is removed afterwards; 7 GB of them for the second command. Documents have
a prominence that all runs see, a taste that the runs of an organization share, and relevance, of which a run
knows something. One run in twenty, and the last, is not pooled. The command runs in a process of its own,
whose seconds and peak of memory are printed. Each axis has three sizes; the others stay at the middle. An
exponent is the slope of log cost over log size.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from at_hand import run_command

SIZES = {
    "topics": (25, 50, 100),
    "runs": (20, 40, 80),
    "depth": (100, 200, 400),
    "cutoff": (10, 50, 100),
    "targets": (1, 2, 4),
    "draws": (1000, 4000, 16000),
}
MIDDLE = {"topics": 50, "runs": 40, "depth": 200, "cutoff": 10, "targets": 1, "draws": 4000}

N_OF_ORGANIZATION = 4
POOL_DEPTH = 100
CANDIDATES = 25  # times the depth
BLOCK = 50  # topics whose rankings are in memory at a time


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--axes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--size", type=int, nargs=3, metavar=("TOPICS", "RUNS", "DEPTH"))
    asked = parser.parse_args()
    print("| axis | size | wall s | processor s | peak MiB |\n| --- | ---: | ---: | ---: | ---: |")
    if asked.size:
        size = MIDDLE | dict(zip(("topics", "runs", "depth"), asked.size, strict=True))
        report("all", "×".join(map(str, asked.size)), measured(size, "nDCG@10"))
        return
    for axis in asked.axes:
        costs = []
        for n in SIZES[axis]:
            size = MIDDLE | {axis: n}
            costs.append(measured(size, f"P@{size['cutoff']}"))
            report(axis, str(n), costs[-1])
        slopes = np.polyfit(np.log(SIZES[axis]), np.log(np.array(costs)), 1)[0]
        print(f"| {axis} | exponent | {slopes[0]:.2f} | {slopes[1]:.2f} | {slopes[2]:.2f} |", flush=True)


def measured(size: dict[str, int], measure: str) -> tuple[float, float, float]:
    """Seconds, seconds of processors and MiB of the command on files of a size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_runs = max(size["runs"], 20 * size["targets"] if size["targets"] > 1 else 0)
        write(folder, size["topics"], n_runs, size["depth"])
        files = ["--qrels", folder / "qrels.txt", "--pool", folder / "runs"]
        files += ["--organizations", folder / "organizations.csv", "--known-depth", min(100, size["depth"])]
        new = sorted((folder / "new").iterdir())[: size["targets"]]
        options = ["-m", measure, "--posterior", f"draws={size['draws']}", *files, *new]
        return run_command("score", *options)


def report(axis: str, size: str, cost: tuple[float, float, float]) -> None:
    """Print a row."""
    print(f"| {axis} | {size} | {cost[0]:.1f} | {cost[1]:.1f} | {cost[2]:.0f} |", flush=True)


def write(folder: Path, n_topics: int, n_runs: int, depth: int) -> None:
    """Write a collection of a size below a folder."""
    new = (np.arange(n_runs) % 20 == 19) | (np.arange(n_runs) == n_runs - 1)
    organization = np.arange(n_runs) // N_OF_ORGANIZATION
    names = [f"r{r:03d}" for r in range(n_runs)]
    paths = [folder / ("new" if new[r] else "runs") / f"{name}.run" for r, name in enumerate(names)]
    for part in ("runs", "new"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    listed = "".join(f"{names[r]},o{organization[r]:02d}\n" for r in range(n_runs) if not new[r])
    (folder / "organizations.csv").write_text("run_id,organization\n" + listed)
    strength = np.random.default_rng(1).normal(1.5, 0.4, n_runs).astype(np.float32)
    judgments = []
    for start in range(0, n_topics, BLOCK):
        topics = range(start, min(start + BLOCK, n_topics))
        drawn = [_of_topic(t, strength, organization, depth) for t in topics]
        judgments += [
            _judgments(t, ranked[~new, :POOL_DEPTH], relevance)
            for t, (ranked, _, relevance) in zip(topics, drawn, strict=True)
        ]
        for r, path in enumerate(paths):
            lines = [
                _lines(t, ranked[r], score[r], names[r])
                for t, (ranked, score, _) in zip(topics, drawn, strict=True)
            ]
            with path.open("ab" if start else "wb") as file:
                file.write(b"".join(lines))
    (folder / "qrels.txt").write_bytes(b"".join(judgments))


def _of_topic(t: int, strength: Any, organization: Any, depth: int) -> tuple[Any, Any, Any]:
    """Documents of all runs, shape (run, rank), their scores in ten thousandths, and all relevance."""
    rng = np.random.default_rng([2, t])
    n = CANDIDATES * depth
    prominence = rng.standard_normal(n, dtype=np.float32)
    relevance = (rng.random(n) < 1 / (1 + np.exp(rng.normal(4.5, 0.8) - 1.2 * prominence))).astype(np.int8)
    relevance[0] = 1
    relevance[relevance > 0] += (rng.random(int(relevance.sum())) < 0.3).astype(np.int8)
    ranked = np.empty((len(strength), depth), dtype=np.int32)
    score = np.empty((len(strength), depth), dtype=np.int32)
    taste, of = prominence, -1
    for r, own in enumerate(strength):
        if organization[r] != of:
            taste, of = prominence + 0.8 * rng.standard_normal(n, dtype=np.float32), organization[r]
        value = taste + own * (relevance > 0) + 0.6 * rng.standard_normal(n, dtype=np.float32)
        best = np.argpartition(value, n - depth)[n - depth :]
        best = best[np.argsort(-value[best])]
        ranked[r], score[r] = best, np.clip(np.round(value[best] * 10000 + 100000), 0, 999999)
    return ranked, score, relevance


def _lines(t: int, ranked: npt.NDArray[Any], score: npt.NDArray[Any], name: str) -> bytes:
    """Lines of a run on a topic, all of one length."""
    line = f"{t + 10001} Q0 D0000000 0000 00.0000 {name}\n".encode()
    text = np.tile(np.frombuffer(line, dtype=np.uint8), (len(ranked), 1))
    _put(text, line.index(b"D") + 1, 7, ranked)
    _put(text, line.index(b" 0000 ") + 1, 4, np.arange(1, len(ranked) + 1) % 10000)
    point = line.index(b".")
    _put(text, point - 2, 2, score // 10000)
    _put(text, point + 1, 4, score % 10000)
    return text.tobytes()


def _judgments(t: int, pooled: npt.NDArray[Any], relevance: npt.NDArray[Any]) -> bytes:
    """Lines of the judgments of a topic."""
    judged = np.unique(pooled)
    line = f"{t + 10001} 0 D0000000 0\n".encode()
    text = np.tile(np.frombuffer(line, dtype=np.uint8), (len(judged), 1))
    _put(text, line.index(b"D") + 1, 7, judged)
    _put(text, len(line) - 2, 1, relevance[judged])
    return text.tobytes()


def _put(text: npt.NDArray[np.uint8], place: int, width: int, number: npt.NDArray[Any]) -> None:
    """Write numbers into a column of lines, with zeros in front."""
    for digit in range(width):
        text[:, place + width - 1 - digit] = 48 + number // 10**digit % 10


if __name__ == "__main__":
    main()
