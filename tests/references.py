"""Values of measures by pytrec_eval, cwl_eval, gdeval and ir_measures' own code, and ours beside them.

ir_measures is given minus the rank for a score, so that ties are broken as here, and no negative judgments,
of which its parts think otherwise.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from real import read_real

from bayespool import load_example, parse_measure
from bayespool.collection import Collection
from bayespool.measures import Tally
from bayespool.measures.base import MISSING_RANK

COLLECTIONS = ("covid-round4", "dl21-passage", "trec2-adhoc", "trec2011-medical", "trec8-adhoc")
FAST = ("covid-round4", "dl21-passage")  # to read the others takes longer
every_collection = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name not in FAST else ()) for name in COLLECTIONS]
)
MADE = ("example", "made up")
DEPTH = 1000  # where cwl_eval ends

# Ours → as ir_measures writes it, where that differs; nothing where pytrec_eval is asked itself.
AS_IR_MEASURES = {
    "INST@1000": "INST(max_rel=1)", "INST(T=2.5)@1000": "INST(T=2.5,max_rel=1)",
    "INST(max_rel=3,T=3.0)@1000": "INST(T=3.0,max_rel=3)",
    "INST(min_rel=1,max_rel=2)@1000": "INST(min_rel=1,max_rel=2)", "R(rel=2)@10": "",
    "RBP(p=0.8)": "RBP(p=0.8,rel=1)", "RBP(p=0.95)": "RBP(p=0.95,rel=1)",
    "RBP(rel=2,p=0.5)": "RBP(p=0.5,rel=2)", "SDCG@10": "SDCG(max_rel=1)@10",
    "SDCG@100": "SDCG(max_rel=1)@100",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """Rankings and judgments, as arrays and as ir_measures takes them.

    Attributes
    ----------
    levels : ndarray of int16, shape (run, topic, rank)
        −1 for an unjudged document, −2 for a missing rank.
    documents : tuple of dict
        Of each run: topic → its documents from the first rank down.
    judgments : dict
        Topic → document → relevance.
    """

    levels: np.ndarray
    documents: tuple[dict[str, list[str]], ...]
    judgments: dict[str, dict[str, int]]

    def tally(self) -> Tally:
        levels = sorted({level for judged in self.judgments.values() for level in judged.values()} | {1})
        levels = [level for level in levels if level > 0]
        n = [[list(judged.values()).count(level) for level in levels] for judged in self.judgments.values()]
        return Tally(np.array(n), tuple(levels))

    def ours(self, text: str) -> np.ndarray:
        """Values of a measure with all unjudged documents nonrelevant, shape (run, topic)."""
        measure = parse_measure(text)
        return measure.values(measure.read(self.levels[..., : measure.cutoff]), self.tally()).scores()

    def theirs(self, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """Values of the reference, shape (run, topic)."""
        texts = list(texts)
        of = {text: AS_IR_MEASURES.get(text, text) for text in texts}
        parsed = {text: ir_measures.parse_measure(name) for text, name in of.items() if name}
        text_of = {measure: text for text, measure in parsed.items()}
        # nDCG with and without gains each on its own: ir_measures may give the one the gains of the other
        with_gains = [measure for measure in text_of if "gains" in str(measure)]
        together = [measure for measure in text_of if measure not in with_gains]
        topic = {query_id: t for t, query_id in enumerate(self.judgments)}
        found = {text: np.zeros(self.levels.shape[:2]) for text in texts}
        qrels = {query_id: judged for query_id, judged in self.judgments.items() if judged}
        groups = [group for group in (together, *([measure] for measure in with_gains)) if group]
        evaluators = [ir_measures.evaluator(group, qrels) for group in groups]
        recall = pytrec_eval.RelevanceEvaluator(qrels, {"recall.10"}, relevance_level=2)
        for r, run in enumerate(self.runs()):
            for metric in (metric for evaluator in evaluators for metric in evaluator.iter_calc(run)):
                found[text_of[metric.measure]][r, topic[metric.query_id]] = metric.value
            if "R(rel=2)@10" in found:
                for query_id, values in recall.evaluate(run).items():
                    found["R(rel=2)@10"][r, topic[query_id]] = values["recall_10"]
        return found

    def runs(self) -> Iterator[dict[str, dict[str, float]]]:
        """Runs whose scores are minus the rank."""
        for of_run in self.documents:
            yield {
                query_id: {document: -float(rank) for rank, document in enumerate(ranked)}
                for query_id, ranked in of_run.items()
                if ranked
            }

    def differences(self, texts: Iterable[str]) -> dict[str, float]:
        """Largest absolute difference over runs and topics, by measure."""
        return {text: float(np.abs(self.ours(text) - v).max()) for text, v in self.theirs(texts).items()}


def is_of_gdeval(text: str) -> bool:
    """Whether the reference is gdeval, a Perl script."""
    return text.startswith("ERR") or "exp-log2" in text


def tolerance(text: str) -> float:
    """Half of the fifth decimal for gdeval, which prints no more, and 1e-9 for all others."""
    return 5.0001e-6 if is_of_gdeval(text) else 1e-9


def assert_as_reference(case: Case, texts: Iterable[str]) -> None:
    """Each value on each topic is the reference's, and they are not all 0."""
    texts = [text for text in texts if shutil.which("perl") or not is_of_gdeval(text)]
    if not texts:
        pytest.skip("gdeval needs Perl, which is not on this machine")
    for text, theirs in case.theirs(texts).items():
        np.testing.assert_allclose(case.ours(text), theirs, rtol=0, atol=tolerance(text), err_msg=text)
        assert theirs.any() or "rel=2" in text or "gains" in text, text


def of_collection(collection: Collection, index: Iterable[int] | None = None) -> Case:
    """Some runs of a collection, or all."""
    chosen = np.arange(len(collection.run_ids)) if index is None else np.array(list(index))
    document = collection.document[chosen, :, :DEPTH]
    table = np.append(np.maximum(collection.relevance, -1), MISSING_RANK).astype(np.int16)
    names = collection.doc_ids.to_pylist()
    judgments: dict[str, dict[str, int]] = {query_id: {} for query_id in collection.query_ids}
    for pair in np.flatnonzero(collection.relevance >= 0):
        query_id = collection.query_ids[collection.pair_topic[pair]]
        judgments[query_id][names[pair]] = int(collection.relevance[pair])
    documents = tuple(
        {
            query_id: [names[pair] for pair in ranked[ranked >= 0].tolist()]
            for query_id, ranked in zip(collection.query_ids, of_run, strict=True)
        }
        for of_run in document
    )
    return Case(table[document], documents, judgments)


@cache
def real(folder: Path, name: str) -> Case:
    """Three runs of a real collection, the first, the middle one and the last, on every eighth topic.
    ``benchmarks/reference_measures.py`` takes all.
    """
    collection = read_real(folder / name)
    last = len(collection.run_ids) - 1
    case = of_collection(collection, [0, last // 2, last])
    chosen = collection.query_ids[::8]
    documents = tuple({query_id: of_run[query_id] for query_id in chosen} for of_run in case.documents)
    judgments = {query_id: case.judgments[query_id] for query_id in chosen}
    return Case(case.levels[:, ::8], documents, judgments)


@cache
def made(name: str) -> Case:
    """Six runs of the embedded example; or rankings of all lengths with judgments of four levels, on one
    topic none of them relevant, by a generator.
    """
    if name == "example":
        example = load_example()
        return of_collection(example, range(0, len(example.run_ids), 4))
    rng = np.random.default_rng(20100)
    n_runs, n_topics, depth = 8, 10, 30
    judgments: dict[str, dict[str, int]] = {}
    documents: tuple[dict[str, list[str]], ...] = tuple({} for _ in range(n_runs))
    levels = np.full((n_runs, n_topics, depth), MISSING_RANK, dtype=np.int16)
    for t in range(n_topics):
        p = [1.0, 0, 0, 0] if t == 3 else [0.5, 0.2, 0.2, 0.1]
        relevance = np.where(rng.random(60) < 0.6, rng.choice(4, 60, p=p), -1)
        judgments[str(t)] = {f"d{d}": int(level) for d, level in enumerate(relevance) if level >= 0}
        for r in range(n_runs):
            ranked = rng.permutation(60)[: rng.integers(0, depth + 1)]
            levels[r, t, : len(ranked)] = relevance[ranked]
            documents[r][str(t)] = [f"d{d}" for d in ranked]
    return Case(levels, documents, judgments)
