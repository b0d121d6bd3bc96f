"""Runs with given numbers of relevant documents in their top 10, for tests of P@10; all is judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bayespool import read_collection
from bayespool.collection import Collection

Files = tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]


def counted_files(counts: Mapping[str, np.ndarray]) -> Files:
    """Judgments and runs, given each run's number of relevant documents in its top 10, by topic."""
    n_topics = len(next(iter(counts.values())))
    levels = {f"r{i}": 1 for i in range(10)} | {f"n{i}": 0 for i in range(10)}
    runs = {run: {f"t{t}": ranking(n) for t, n in enumerate(each.tolist())} for run, each in counts.items()}
    return {f"t{t}": levels for t in range(n_topics)}, runs


def ranking(n_relevant: int) -> dict[str, float]:
    """Ten documents with their scores, the relevant ones first."""
    names = [f"r{i}" for i in range(n_relevant)] + [f"n{i}" for i in range(10 - n_relevant)]
    return {name: 10.0 - k for k, name in enumerate(names)}


def counted(counts: Mapping[str, np.ndarray]) -> Collection:
    """A collection of such runs."""
    return read_collection(*counted_files(counts))


def write_counted(folder: Path, counts: Mapping[str, np.ndarray]) -> list[str]:
    """Write such runs and their judgments, and return the arguments that name them."""
    qrels, runs = counted_files(counts)
    lines = [f"{topic} 0 {doc} {level}" for topic, docs in qrels.items() for doc, level in docs.items()]
    (folder / "qrels.txt").write_text("\n".join(lines), encoding="utf-8")
    for run, topics in runs.items():
        lines = [f"{t} Q0 {doc} 1 {score} {run}" for t, docs in topics.items() for doc, score in docs.items()]
        (folder / f"{run}.run").write_text("\n".join(lines), encoding="utf-8")
    return [*(str(folder / f"{run}.run") for run in runs), "--qrels", str(folder / "qrels.txt"), "-m", "P@10"]
