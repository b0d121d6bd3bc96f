"""Every measure of ir_measures is taken, or refused by name with the reason."""

from __future__ import annotations

from ir_measures.measures import registry
from trec_files import refused

from bayespool.measures import MEASURES, parse_measure
from bayespool.measures.parsing import UNSUPPORTED

TAKEN = {"AP", "ERR", "INST", "Judged", "MAP", "MRR", "NDCG", "P", "Precision", "R", "RBP", "RR", "Recall"}
TAKEN |= {"SDCG", "Success", "nDCG"}


def test_registry_is_divided_up() -> None:
    """A measure that ir_measures adds is to be taken, or to be given a reason."""
    assert set(registry) - TAKEN <= set(UNSUPPORTED)
    assert not TAKEN & set(UNSUPPORTED)
    assert not set(MEASURES) & set(UNSUPPORTED)


def test_measure_of_ir_measures_is_taken_or_refused_by_name() -> None:
    for name in sorted(registry):
        if name in TAKEN:
            assert parse_measure(f"{name}@10") == parse_measure(registry[name] @ 10), name
            continue
        for text in (name, f"{name}@10", f"{name}(rel=2)@10", f"{name}@0.2"):
            said = str(refused(parse_measure, text))
            assert said.startswith("unsupported measure '"), text
            assert f": bayespool does not have {name}, since it" in said, text


def test_without_a_cutoff_it_is_said_how_to_write_it() -> None:
    for name in sorted(TAKEN - {"RBP"}):
        said = str(refused(parse_measure, name))
        assert said.startswith(f"measure '{name}': "), name
        assert said.endswith(f"; write {type(parse_measure(f'{name}@10')).name}@1000"), name


def test_condensed_lists_are_an_estimator() -> None:
    for name in ("P", "AP", "R", "nDCG", "RR", "Success"):
        said = str(refused(parse_measure, registry[name](judged_only=True) @ 10))
        assert "judged_only" in said, name
        assert "condensed-list" in said, name
        assert parse_measure(f"{name}(judged_only=False)@10") == parse_measure(f"{name}@10")
