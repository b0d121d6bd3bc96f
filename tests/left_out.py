"""Leave-out experiments that several tests look at."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
from toys import from_rankings, toy_collection

from bayespool.collection import Collection
from bayespool.experiments import Design, LeaveOutResult, LeaveOutSettings, Part, leave_out, load_example
from bayespool.scoring import ALL_ESTIMATORS

POINTS = [name for name in ALL_ESTIMATORS if not name.startswith("posterior")]


def tables(result: LeaveOutResult) -> str:
    """All that is told of an experiment, to the last digit."""
    frames = (result.to_frame(), result.to_frame("summary"), result.to_frame("reliability"))
    return "".join(frame.to_csv() for frame in frames)


def column(result: LeaveOutResult, name: str, estimator: str = "as-judged") -> dict[str, Any]:
    frame = result.to_frame()
    frame = frame[frame["estimator"] == estimator]
    return dict(zip(frame["run_id"], frame[name], strict=True))


FEW: dict[str, Any] = {
    "measures": "P@10",
    "estimators": ["as-judged", "posterior-background"],
    "posterior_settings": "draws=100",
    "top": 75,
}
"""Where numbers have to be the same: one that is computed, and one that is drawn."""


RANKINGS = {run: {"1": order} for run, order in {"a": "pq", "b": "pr", "c": "st", "d": "uv"}.items()}
LEVELS = {"1": {"p": 1, "q": 1, "r": 1, "s": 1, "t": 0, "u": 0, "v": 0}}


def shapes() -> Collection:
    """Two runs of each of two organizations, so that a fold has runs to confuse."""
    runs = {run: {"1": order} for run, order in {"a": "pq", "b": "rs", "c": "qp", "d": "xs"}.items()}
    return from_rankings(
        runs,
        {"1": {"p": 1, "q": 0, "r": 0, "s": 1, "x": 1}},
        organizations={"a": "one", "b": "one", "c": "two", "d": "two"},
        pooled_run_ids=tuple(runs),
        pool_depth=2,
    )


def stored(folder: Path) -> dict[str, int]:
    """Stored folds and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "folds").glob("*.parquet")}


class Pairs(Design):
    """Two of three organizations left out at a time."""

    name, version = "pairs", "1"

    def parts(self, collection: Collection, settings: Any) -> tuple[Part, ...]:
        runs = collection.pooled_run_ids
        pairs = [tuple(run for run in runs if run.startswith(two)) for two in combinations("elr", 2)]
        return tuple(
            Part(name=str(i), run_ids=pair, pool_run_ids=tuple(run for run in runs if run not in pair))
            for i, pair in enumerate(pairs)
        )


def asked_settings(**asked: Any) -> LeaveOutSettings:
    """The settings that `leave_out` makes of its keywords, before it runs."""
    run = "bayespool.experiments.leaving_out.leave_out_resolved"
    with mock.patch(run, lambda _, settings, **__: settings):
        settings: Any = leave_out(toy_collection(), **asked)
    return cast("LeaveOutSettings", settings)


def judged_at_first() -> tuple[Collection, dict[str, dict[str, int]]]:
    """The example without judgments of the organization west, whose runs keep their other judgments."""
    example = load_example()
    first = example.unpool(organization="west")
    gone = np.flatnonzero(example.judged & ~first.judged)
    topics = example.pair_topic[gone]
    later: dict[str, dict[str, int]] = {}
    for pair, topic in zip(gone.tolist(), topics.tolist(), strict=True):
        later.setdefault(example.query_ids[topic], {})[example.doc_id(pair)] = int(example.relevance[pair])
    return first, later
