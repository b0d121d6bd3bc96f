"""P@n and counts of every run of three real collections are those of pytrec_eval and ir_measures.

The run files are read here by other means, line by line. Lines of fewer than six columns and NaN scores are
left out, and of a document that stands twice in a topic the better score is kept, as ``strict=False`` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from real import read_real

from bayespool.evidence import JudgmentCounts, judgment_counts

CUTOFFS = (5, 10, 100)
N_RUNS = {"trec2-adhoc": 38, "trec8-adhoc": 129, "trec2011-medical": 127}

RunDict = dict[str, dict[str, float]]


def read_run_plainly(path: Path) -> RunDict:
    run: RunDict = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        columns = line.split()
        if len(columns) < 6:
            continue
        score = float(columns[4])
        if not math.isnan(score):
            documents = run.setdefault(columns[0], {})
            documents[columns[2]] = max(score, documents.get(columns[2], score))
    return run


def read_qrels_plainly(path: Path) -> dict[str, dict[str, int]]:
    """Without negative judgments, of which pytrec_eval and ir_measures think otherwise."""
    qrels: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        query_id, _, document, relevance = line.split()
        if int(relevance) >= 0:
            qrels.setdefault(query_id, {})[document] = int(relevance)
    return qrels


def tie_decides(scores: dict[str, float], depth: int) -> bool:
    """Whether the scores at ranks ``depth`` and ``depth`` + 1 are equal in single precision.

    ir_measures breaks ties by document id ascending, and compares in double precision.
    """
    best = np.sort(np.array(list(scores.values())).astype(np.float32))[::-1]
    return bool(len(best) > depth and best[depth - 1] == best[depth])


@cache
def compared(folder: Path) -> tuple[JudgmentCounts, np.ndarray, np.ndarray]:
    """Counts of all runs; pytrec_eval's P@n; ir_measures' Judged@10, NaN where a tie decides or there is no
    document.
    """
    collection = read_real(folder)
    counts = judgment_counts(collection, cutoffs=CUTOFFS)
    qrels = read_qrels_plainly(folder / "qrels.txt")
    precision = pytrec_eval.RelevanceEvaluator(qrels, {"P." + ",".join(map(str, CUTOFFS))})
    judged = ir_measures.evaluator([ir_measures.Judged @ 10], qrels)
    shape = (len(collection.run_ids), len(collection.query_ids))
    p_at_n, judged_at_10 = np.zeros((*shape, len(CUTOFFS))), np.full(shape, np.nan)
    topic = {query_id: t for t, query_id in enumerate(collection.query_ids)}
    for r, run in enumerate(runs_of(folder, collection.run_ids)):
        for query_id, values in precision.evaluate(run).items():
            p_at_n[r, topic[query_id]] = [values[f"P_{n}"] for n in CUTOFFS]
        for metric in judged.iter_calc(run):
            if metric.query_id in run and not tie_decides(run[metric.query_id], 10):
                judged_at_10[r, topic[metric.query_id]] = metric.value
    return counts, p_at_n, judged_at_10


def runs_of(folder: Path, run_ids: tuple[str, ...]) -> Iterator[RunDict]:
    files = {path.name.removeprefix("input."): path for path in (folder / "runs").iterdir()}
    assert set(files) == set(run_ids)
    for run_id in run_ids:
        yield read_run_plainly(files[run_id])


every_collection = pytest.mark.parametrize(
    "name",
    [
        "trec2-adhoc",
        pytest.param("trec8-adhoc", marks=pytest.mark.at_a_desk),
        pytest.param("trec2011-medical", marks=pytest.mark.at_a_desk),
    ],
)


@pytest.mark.slow
@every_collection
def test_counts_of_every_run_are_those_of_pytrec_eval_and_ir_measures(collections: Path, name: str) -> None:
    counts, p_at_n, judged_at_10 = compared(collections / name)
    assert len(counts.run_ids) == N_RUNS[name]
    assert p_at_n.any(axis=(1, 2)).all()  # every run finds something, so that no row is compared with nothing
    difference = np.abs(counts.lower - p_at_n).max(axis=(1, 2))
    worst = int(difference.argmax())
    assert difference[worst] <= 1e-12, counts.run_ids[worst]

    c = CUTOFFS.index(10)
    n_judged = (counts.n_relevant + counts.n_nonrelevant)[:, :, c]
    n_retrieved = 10 - counts.n_missing[:, :, c]
    known = ~np.isnan(judged_at_10)
    share = n_judged[known] / n_retrieved[known]
    assert np.abs(share - judged_at_10[known]).max() <= 1e-12
    assert known.mean() > 0.9  # a tie decides in few topics
    assert (n_judged[known] < n_retrieved[known]).any()
