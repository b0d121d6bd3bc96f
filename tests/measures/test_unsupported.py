"""Every measure of ir_measures is taken, or refused by name with the reason."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures.measures import registry

from bayespool.errors import InputError
from bayespool.measures import MEASURES, parse_measure
from bayespool.measures.parsing import UNSUPPORTED

TAKEN = {"AP", "ERR", "INST", "Judged", "MAP", "MRR", "NDCG", "P", "Precision", "R", "RBP", "RR", "Recall"}
TAKEN |= {"SDCG", "Success", "nDCG"}
WITHOUT_A_CUTOFF = TAKEN - {"RBP"}


def test_registry_is_divided_up() -> None:
    """A measure that ir_measures adds is to be taken, or to be given a reason."""
    assert set(registry) - TAKEN <= set(UNSUPPORTED)
    assert not TAKEN & set(UNSUPPORTED)
    assert not set(MEASURES) & set(UNSUPPORTED)


@pytest.mark.parametrize("name", sorted(registry))
def test_measure_of_ir_measures_is_taken_or_refused_by_name(name: str) -> None:
    if name in TAKEN:
        measure = registry[name] @ 10
        assert parse_measure(f"{name}@10") == parse_measure(measure)
        return
    for text in (name, f"{name}@10", f"{name}(rel=2)@10", f"{name}@0.2"):
        with pytest.raises(
            InputError, match=rf"^unsupported measure '.*': bayespool does not have {name}, since its? "
        ):
            parse_measure(text)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (ir_measures.Bpref, "nothing to complete"),
        (ir_measures.infAP, "an estimator itself"),
        (ir_measures.alpha_nDCG(alpha=0.3) @ 10, "subtopics"),
        (ir_measures.SetRelP, "whole ranking"),
        (ir_measures.NumRelRet, "write P@n or R@n"),
        (ir_measures.IPrec @ 0.2, "a recall, and no cutoff"),
        (ir_measures.BPM(T=2, max_rel=3) @ 10, "gains that a reader has found"),
        ("bpref", "nothing to complete"),
        ("num_rel_ret", "whole ranking"),
    ],
)
def test_reason(measure: object, reason: str) -> None:
    with pytest.raises(InputError, match=f"since .*{reason}"):
        parse_measure(measure)


@pytest.mark.parametrize("name", sorted(WITHOUT_A_CUTOFF))
def test_without_a_cutoff_it_is_said_how_to_write_it(name: str) -> None:
    family = type(parse_measure(f"{name}@10")).name
    with pytest.raises(
        InputError, match=f"^measure '{name}': .* judgments are completed; write {family}@1000$"
    ):
        parse_measure(name)


@pytest.mark.parametrize("name", ["P", "AP", "R", "nDCG", "RR", "Success"])
def test_condensed_lists_are_an_estimator(name: str) -> None:
    with pytest.raises(InputError, match=r"judged_only takes unjudged documents out .* condensed-list"):
        parse_measure(registry[name](judged_only=True) @ 10)
    assert parse_measure(f"{name}(judged_only=False)@10") == parse_measure(f"{name}@10")
