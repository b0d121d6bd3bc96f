"""Values are those of trec_eval, MS MARCO's script, gdeval, cwl_eval and ir_measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from references import MADE, assert_as_reference, every_collection, made, real

TEXTS = (
    *("P@5", "P@1000", "P(rel=2)@10"),
    *("R@10", "R@1000", "R(rel=2)@10"),
    *("Success@1", "Success@5", "Success(rel=2)@10"),
    *("RR@10", "RR@1000", "RR(rel=2)@5"),
    *("AP@10", "AP@1000", "AP(rel=2)@100"),
    *("nDCG@10", "nDCG@1000", "nDCG(dcg='exp-log2')@10", "nDCG(gains={1:0,2:3,3:9})@10"),
    *("SDCG@10", "SDCG@100", "SDCG(max_rel=3)@10", "SDCG(min_rel=1,max_rel=2)@10"),
    *("ERR@5", "ERR@20", "ERR@1000"),
    *("INST@1000", "INST(T=2.5)@1000"),
    *("Judged@10", "Judged@1000"),
    *("RBP(p=0.8)", "RBP(p=0.95)", "RBP(rel=2,p=0.5)"),
)
OF_MADE = (*TEXTS, "INST(max_rel=3,T=3.0)@1000", "INST(min_rel=1,max_rel=2)@1000")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_the_reference(name: str) -> None:
    assert_as_reference(made(name), OF_MADE)


@every_collection
def test_values_of_real_runs_are_those_of_the_reference(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)
