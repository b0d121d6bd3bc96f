"""Collections whose runs were judged to depths of their own."""

from __future__ import annotations

from collections.abc import Iterable

from bayespool.collection import Collection, build_collection
from bayespool.reading import qrels_from_frame, run_from_frame

DEEP = {"a": 10, "b": 10, "c": 10}


def collection_of(
    depths: dict[str, int],
    *,
    n_topics: int = 10,
    missing: Iterable[tuple[str, int, int]] = (),
    more: Iterable[tuple[str, int, int]] = (),
    n_others: int = 0,
    same: tuple[str, str] | None = None,
    given: tuple[str, ...] = (),
) -> Collection:
    """Runs of twenty documents a topic, each its own ones, judged down to a depth for each run.

    ``missing`` and ``more`` are (run, topic, rank from 1) that are not judged, and judged nevertheless,
    ``n_others`` judgments on each topic are of documents that no run has; of two runs that are the ``same``
    the second has the documents of the first, but one of its own at rank 10 of topic 0.
    """
    of = {run: (same[0] if same and run == same[1] else run) for run in depths}
    names = {
        (run, t, k): f"{run if (t, k) == (0, 10) else of[run]}-{k}"
        for run in depths
        for t in range(n_topics)
        for k in range(1, 21)
    }
    judged = {place for place in names if place[2] <= depths[place[0]]} - set(missing) | set(more)
    if same:
        judged -= {(same[1], t, k) for t in range(n_topics) for k in range(1, 21)}
    relevance = {
        str(t): {names[place]: 1 for place in sorted(judged) if place[1] == t}
        | {f"other-{i}": 0 for i in range(n_others)}
        for t in range(n_topics)
    }
    runs = [
        run_from_frame({str(t): {names[run, t, k]: -k for k in range(1, 21)} for t in range(n_topics)}, run)
        for run in depths
    ]
    return build_collection(runs, qrels_from_frame(relevance), given_run_ids=given)
