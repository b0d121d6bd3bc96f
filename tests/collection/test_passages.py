"""Runs of passages read as runs of documents, and runs with ids that the judgments do not have."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespool import compare, prepare, read_collection, score
from bayespool.collection import Collection
from bayespool.collection.passages import cut_suffixes
from bayespool.errors import BayespoolWarning, InputError, InputWarning
from bayespool.reading import Reading

JUDGED = {"q": {"doc-1": 1, "doc-2": 0, "doc-3": 1}, "r": {"doc-4": 0, "doc-5": 1, "doc-6": 0}}
# the documents in the order of their best passages: doc-2 doc-1 doc-9 doc-3, and doc-5 doc-4
PASSAGES = {
    "q": ["doc-2{}7", "doc-1{}0", "doc-2{}1", "doc-9{}3", "doc-9{}12", "doc-1{}1", "doc-3{}2"],
    "r": ["doc-5{}0", "doc-4{}1", "doc-5{}2"],
}


def passages(between: str, order: tuple[str, ...] = ("q", "r")) -> dict[str, dict[str, float]]:
    return {q: {name.format(between): -rank for rank, name in enumerate(PASSAGES[q])} for q in order}


def as_judged(collection: Collection, measure: str) -> float:
    with warnings.catch_warnings(action="ignore", category=BayespoolWarning):
        return float(score(collection, measures=measure, estimators="as-judged").estimates[0].value[0])


@pytest.mark.parametrize("between", ["#", "_", "-", ".v", "::", "_chunk_", "/p", "#0_", "_5_"])
def test_each_document_is_scored_at_the_rank_of_its_best_passage(between: str) -> None:
    with pytest.raises(
        InputError, match="no document of its top 10 is judged, and 8 of 10 would be"
    ) as raised:
        read_collection(JUDGED, passages(between))
    assert f"such as doc-2{between}7 of the run (doc-2 in the judgments)" in str(raised.value)
    assert "--reading documents=best-passage (documents='best-passage')" in str(raised.value)
    collection = read_collection(JUDGED, passages(between), documents="best-passage")
    ranked = [[collection.doc_id(int(d)) for d in row if d >= 0] for row in collection.document[0]]
    assert ranked == [["doc-2", "doc-1", "doc-9", "doc-3"], ["doc-5", "doc-4"]]
    assert as_judged(collection, "P@4") == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert as_judged(collection, "RR@4") == pytest.approx((1 / 2 + 1) / 2)


def test_versions_of_numbers_are_cut() -> None:
    judged = {"q": {"2101.00007": 1, "2101.00008": 0}}
    run = {"q": {"2101.00008v3": 3.0, "2101.00007v1": 2.0, "2101.00007v2": 1.0}}
    assert as_judged(read_collection(judged, run, documents="best-passage"), "P@2") == 0.5


def test_a_document_on_several_lines_counts_once(tmp_path: Path) -> None:
    """In a file, a table and JSON, by score and by rank."""
    rows = [(q, name.partition("{")[0]) for q in PASSAGES for name in PASSAGES[q]]
    ranks = [rank for q in PASSAGES for rank in range(1, len(PASSAGES[q]) + 1)]
    lines = [f"{q} Q0 {d} {rank} {-rank} x\n" for (q, d), rank in zip(rows, ranks, strict=True)]
    (tmp_path / "x.run").write_text("".join(lines))
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id"]).assign(score=-np.array(ranks), rank=ranks)
    frame.to_parquet(tmp_path / "x.parquet")
    sources: tuple[Any, ...] = (tmp_path / "x.run", frame, tmp_path / "x.parquet")
    for source in sources:
        with pytest.raises(InputError, match="repeated"):
            read_collection(JUDGED, source)
        for order in ("score", "rank"):
            collection = read_collection(JUDGED, source, documents="best-passage", order=order)  # type: ignore[arg-type]
            assert as_judged(collection, "RR@4") == pytest.approx((1 / 2 + 1) / 2)
            assert collection.length.tolist() == [[4, 2]]


def test_lines_of_several_runs_stay_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q Q0 doc-1 1 2.0 a\nq Q0 doc-1 1 2.0 b\n")
    with pytest.raises(InputError, match="holds several runs"):
        read_collection(JUDGED, tmp_path / "x.run", documents="best-passage")


def test_a_few_ids_of_passages_are_warned_of() -> None:
    """One of nine documents at the top is unjudged: a passage of a judged one, or another document."""
    for unjudged, is_told in (("doc-2#7", True), ("doc-9", False)):
        run = {"q": {f"doc-{i}": 9.0 - i for i in (1, 3, 4, 5)}, "r": {f"doc-{i}": 9.0 - i for i in range(4)}}
        run["q"][unjudged] = 1.0
        judged = {q: {f"doc-{i}": i % 2 for i in range(6)} for q in "qr"}
        notes = read_collection_quietly(judged, run)
        assert any("1 of the 9 documents in its top 10 would be judged" in note for note in notes) == is_told


def read_collection_quietly(judged: Any, run: Any) -> list[str]:
    """Notes of scores of a run, whose warning is the same."""
    with warnings.catch_warnings(action="ignore"):
        return list(score(read_collection(judged, run), measures="P@4", estimators="as-judged").notes())


def test_a_run_of_documents_and_passages_is_warned_of() -> None:
    """Some ids match, most do not."""
    run = passages("#")
    run["r"] = {"doc-5": 3.0, "doc-4": 2.0}
    with pytest.warns(InputWarning, match="run: 5 of the 9 documents in its top 10 would be judged"):
        mixed = read_collection(JUDGED, run)
    scores = score(mixed, measures="P@4", estimators="as-judged")
    assert any("doc-2#7 of the run (doc-2 in the judgments)" in note for note in scores.notes())
    whole = read_collection(JUDGED, run, documents="best-passage")
    assert as_judged(whole, "P@4") == pytest.approx((2 / 4 + 1 / 4) / 2)


def test_runs_of_a_pool_and_beside_a_prepared_one_are_read_alike(tmp_path: Path) -> None:
    pool = {name: passages("#") for name in ("a", "b")}
    pool["b"] = {q: dict(reversed(run.items())) for q, run in pool["b"].items()}
    settings: dict[str, Any] = {"organizations": {"a": "x", "b": "y"}, "known_depth": 2}
    with pytest.raises(InputError, match="run a: no document of its top 10 is judged"):
        read_collection(JUDGED, pool=pool, **settings)
    with warnings.catch_warnings(action="ignore"):
        collection = read_collection(JUDGED, pool=pool, documents="best-passage", **settings)
        prepared = prepare(collection, "P@4")
    assert collection.length.tolist() == [[4, 2], [4, 2]]
    with pytest.raises(InputError, match="run mine: no document"):
        prepared.join({"mine": passages("_")})
    joined = prepared.join({"mine": passages("_")}, documents="best-passage", reading=Reading())
    assert as_judged(joined, "P@4") == pytest.approx((2 / 4 + 1 / 4) / 2)


def test_ids_that_the_judgments_have_are_not_cut() -> None:
    """Also where the run has no passages, and where a suffix would join two of a thousand."""
    ids = [f"d-{i}" for i in range(60)]
    judged = {"q": dict.fromkeys(ids, 1)}
    run = {"q": {name: -i for i, name in enumerate([*ids, "d-7-1", "e-3"])}}
    collection = read_collection(judged, run, documents="best-passage")
    assert collection.length.tolist() == [[62]]
    cut, joins = cut_suffixes(pa.array(["a-1", "b-2"]), pa.array(["c"]))
    assert (cut.to_pylist(), joins.tolist()) == (["a-1", "b-2"], [False, False])


def test_a_run_of_which_nothing_is_judged_is_refused() -> None:
    strange = {"q": {"x": 2.0, "y": 1.0}, "r": {"z": 1.0}}
    collection = read_collection(JUDGED, {"mine": {"q": {"doc-1": 1.0}}, "other": strange})
    with pytest.raises(InputError) as raised:
        score(collection, "other", "P@2", estimators="as-judged")
    assert "no document of run other is judged: it has 'x', 'y', 'z'," in str(raised.value)
    for text in ("'doc-1', 'doc-2'", "--qrels", "--reading documents=best-passage"):
        assert text in str(raised.value)
    with pytest.raises(InputError, match="no document of run other is judged"):
        compare(collection, ["mine", "other"], "P@2", estimators=[])
    labeled = read_collection(JUDGED, strange, judges={"llm": {"q": {"x": 1, "y": 0}, "r": {"doc-4": 0}}})
    assert as_judged(labeled, "P@2") == 0
    own = read_collection(JUDGED, strange, own_judgments={"q": {"x": 1}})
    assert as_judged(own, "P@2") == pytest.approx(1 / 4)
