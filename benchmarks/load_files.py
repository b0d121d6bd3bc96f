"""Files of a collection of any size, drawn like those of `bayespool.experiments.simulation`, topic by topic.

    python benchmarks/load_files.py FOLDER --topics 1000 --runs 200 --depth 1000

writes ``qrels.txt``, ``runs/``, ``new/`` and ``organizations.csv`` below a folder. Documents have a
prominence that all runs see, a taste that the runs of an organization share, and relevance, of which a run
knows something. One run in twenty is new: it is not pooled. Organizations have four runs each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

N_OF_ORGANIZATION = 4
POOL_DEPTH = 100
CANDIDATES = 25  # times the depth
BLOCK = 50  # topics whose rankings are in memory at a time


def main() -> None:
    """Write the files."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--depth", type=int, default=1000, help="documents that a run returns per topic")
    asked = parser.parse_args()
    write(asked.folder, asked.topics, asked.runs, asked.depth)


def write(folder: Path, n_topics: int, n_runs: int, depth: int) -> None:
    """Write a collection of a size below a folder."""
    new = np.arange(n_runs) % 20 == 19
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
