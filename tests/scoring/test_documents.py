"""Documents that a strategy chooses: tables, who contributed them, and the list for assessors."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from bayespool import load_example
from bayespool.collection import read_qrels
from bayespool.errors import OutputError
from bayespool.pooling import STRATEGIES, choose, contributions_of
from bayespool.scoring import DocumentsToJudge


def chosen(strategy: str = "take", budget: int = 200, **settings: Any) -> DocumentsToJudge:
    example = load_example()
    return DocumentsToJudge(example, choose(example, strategy, budget, **settings), settings)


def test_tables_are_the_documents_and_who_contributed_them() -> None:
    found = chosen(depth=10)
    documents, contributions = found.tables()
    assert list(documents.frame) == ["query_id", "doc_id", "order", "inclusion", "relevance"]
    counted = contributions_of(load_example(), found.chosen, depth=10)
    assert contributions.frame["organization"].tolist() == list(counted.names)
    assert contributions.frame["n_alone"].tolist() == counted.n_alone.tolist()
    assert contributions.frame["share"].tolist() == [n / 200 for n in counted.n_documents]
    assert found.metadata["settings"] == {"depth": 10, "strategy": "take"}


def test_relevance_is_left_out_where_nothing_is_judged() -> None:
    example = load_example()
    unjudged = example.without_judgments(example.judged)
    found = DocumentsToJudge(unjudged, choose(unjudged, "take", 40), {})
    assert "relevance" not in found.to_frame()
    assert set(found.qrels().relevance.tolist()) == {-1}
    assert found.summary() == ("take: 40 documents of 20 topics, 2 each",)


def test_the_list_is_a_qrels_file_under_each_of_its_names(tmp_path: Path) -> None:
    found = chosen()
    for name in ("list", "list.txt", "list.qrels", "list.txt.gz"):
        found.save(tmp_path / name)
        assert read_qrels(tmp_path / name).doc_id.equals(found.qrels().doc_id)
    assert gzip.decompress((tmp_path / "list.txt.gz").read_bytes()) == (tmp_path / "list").read_bytes()
    with pytest.raises(OutputError, match=r"cannot write .xz; use .csv, .* .gz, no ending"):
        found.save(tmp_path / "list.xz")


def test_the_strategy_is_cited_and_a_budget_beyond_the_runs_is_noted() -> None:
    keys = {citation.key for citation in chosen("rrf").citations()}
    assert keys == {"bayespool", *STRATEGIES["rrf"].citations}
    assert len(keys) == 2
    assert chosen().notes() == ()
    assert chosen(budget=100_000).notes() == ("there are no more; the budget was 100000",)
