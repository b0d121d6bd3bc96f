"""A measure is a value with a canonical text; those of ir_measures are taken, or refused by name."""

from __future__ import annotations

import dataclasses
import pickle

import ir_measures
from hypothesis import given, strategies as st
from ir_measures.measures import registry
from trec_files import refused

from bayespool.measures import (
    DCG,
    ERR,
    INST,
    MEASURES,
    NDCG,
    RBP,
    SDCG,
    AveragePrecision,
    Judged,
    Measure,
    NonrelevantShare,
    Precision,
    Recall,
    ReciprocalRank,
    Success,
    parse_measure,
    parse_measures,
)
from bayespool.measures.parsing import UNSUPPORTED

TEXTS: list[tuple[object, Measure]] = [
    ("P@10", Precision(10)), (" P @ 10 ", Precision(10)), ("P(rel=1)@10", Precision(10)),
    ("P( rel = 2 )@5", Precision(5, rel=2)), (ir_measures.P @ 10, Precision(10)),
    (ir_measures.P(rel=2) @ 5, Precision(5, rel=2)), (Precision(7, 3), Precision(7, 3)),
    ("Success@5", Success(5)), ("RR(rel=2)@10", ReciprocalRank(10, rel=2)),
    ("AP(ideal='judged',rel=2)@100", AveragePrecision(100, rel=2, ideal="judged")),
    ("DCG(rel=2)@10", DCG(10, rel=2)), ('nDCG(dcg="exp-log2")@10', NDCG(10, dcg="exp-log2")),
    ("nDCG(gains={1: 0, 2: 3})@10", NDCG(10, gain_of={1: 0, 2: 3})),
    (ir_measures.nDCG(gains={0: 0, 1: 2, 2: 2.5}) @ 10, NDCG(10, gain_of=((1, 2), (2, 2.5)))),
    (ir_measures.SDCG(max_rel=3) @ 10, SDCG(10, max_rel=3)), ("RBP@10", RBP(10)),
    (ir_measures.RBP(rel=2, p=0.95), RBP.without_cutoff(rel=2, p=0.95)),
    ("ERR(max_rel=3)@20", ERR(20, max_rel=3)), (ir_measures.Judged @ 10, Judged(10)),
    ("AntiP(rel=2)@10", NonrelevantShare(10, rel=2)),
]  # fmt: skip
WRITTEN = {  # aliases of ir_measures; as trec_eval takes them and ranx writes them
    "MAP(rel=2)@10": "AP(rel=2)@10", "MRR(rel=2)@10": "RR(rel=2)@10", "NDCG(rel=2)@10": "nDCG(rel=2)@10",
    "Precision(rel=2)@10": "P(rel=2)@10", "Recall(rel=2)@10": "R(rel=2)@10", "P.10": "P@10",
    "ndcg_cut.20": "nDCG@20", "map_cut.100": "AP@100", "ndcg@10": "nDCG@10", "map@100": "AP@100",
    "mrr@10": "RR@10", "recall@50": "R@50", "recip_rank.10": "RR@10", "judged.10": "Judged@10",
    "hit_rate@10": "Success@10", "context_precision@5": "ContextPrecision@5", "map@100-l2": "AP(rel=2)@100",
    "ndcg@10-l2": "nDCG(rel=2)@10",
    "ndcg_burges@10": "nDCG(dcg='exp-log2')@10", "ndcg_burges@10-l3": "nDCG(rel=3,dcg='exp-log2')@10",
    "rbp.95": "RBP(p=0.95)", "rbp.5-l2": "RBP(rel=2,p=0.5)", "ndcg_at_10": "nDCG@10",
    "mrr_at_100": "RR@100", "nDCG(dcg=exp-log2, ideal=judged)@10": "nDCG(dcg='exp-log2',ideal='judged')@10",
    "RBP@10": "RBP(p=0.8)@10", "RBP(rel=2)@10": "RBP(rel=2,p=0.8)@10", "RBP": "RBP(p=0.8)",
}  # fmt: skip
OF_TREC_EVAL = {
    "P_10": "P@10", "map_cut_100": "AP@100", "ndcg_cut_10": "nDCG@10", "recall_1000": "R@1000",
    "success_5": "Success@5",
}  # fmt: skip


def test_measure_of_a_text() -> None:
    for text, measure in TEXTS:
        assert parse_measure(text) == measure, text
    for text, written in {**WRITTEN, **OF_TREC_EVAL}.items():
        assert str(parse_measure(text)) == written, text
    for text, written in OF_TREC_EVAL.items():
        assert [str(measure) for measure in ir_measures.parse_trec_measure(text)] == [written]


REL = st.integers(1, 5)
MADE = {
    "AP": st.builds(AveragePrecision, st.integers(1, 999), REL, st.sampled_from(["own", "shared", "judged"])),
    "AntiP": st.builds(NonrelevantShare, st.integers(1, 999), REL),
    "DCG": st.builds(DCG, st.integers(1, 999), REL, st.sampled_from(["log2", "exp-log2"])),
    "ERR": st.builds(ERR, st.integers(1, 999), REL, st.integers(1, 9)),
    "INST": st.builds(
        INST, st.integers(1, 999), REL, st.integers(0, 2), st.integers(3, 9), st.floats(0.5, 99)
    ),
    "Judged": st.builds(Judged, st.integers(1, 999)),
    "P": st.builds(Precision, st.integers(1, 10_000), REL),
    "R": st.builds(Recall, st.integers(1, 999), REL, st.sampled_from(["own", "shared", "judged"])),
    "RBP": st.one_of(
        st.builds(RBP, st.integers(1, 999), REL, st.floats(0.01, 0.99)),
        st.builds(RBP.without_cutoff, rel=REL, p=st.floats(0.01, 0.99)),
    ),
    "RR": st.builds(ReciprocalRank, st.integers(1, 999), REL),
    "SDCG": st.builds(SDCG, st.integers(1, 999), REL, st.integers(0, 2), st.integers(3, 9)),
    "Success": st.builds(Success, st.integers(1, 999), REL),
    "nDCG": st.builds(
        NDCG,
        st.integers(1, 999),
        gain_of=st.lists(st.integers(0, 20) | st.floats(0, 20), max_size=4).map(
            lambda gains: dict(enumerate(sorted(gains), start=1))
        ),
        ideal=st.sampled_from(["own", "shared", "judged"]),
    ),
}


for _name, _family in MEASURES.items():  # one without parameters of its own needs no line here
    if _family.__module__.startswith("bayespool."):
        MADE.setdefault(_name, st.builds(_family, st.integers(1, 999), REL))


@given(st.sampled_from(sorted(MADE)).flatmap(MADE.__getitem__))
def test_canonical_text_is_read_back(measure: Measure) -> None:
    again = parse_measure(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)
    assert dataclasses.replace(measure) == measure == pickle.loads(pickle.dumps(measure))


def test_other_canonical_texts_are_those_of_ir_measures() -> None:
    for measure in (
        *(ir_measures.nDCG @ 10, ir_measures.nDCG(dcg="exp-log2") @ 10, ir_measures.ERR @ 20),
        *(ir_measures.nDCG(gains={2: 3, 1: 0, 0: 0}) @ 5, ir_measures.Judged @ 10),
        *(ir_measures.SDCG(max_rel=3) @ 10, ir_measures.SDCG(min_rel=1, max_rel=3) @ 10),
        *(ir_measures.RBP(p=0.95), ir_measures.RBP(rel=2, p=0.95)),
    ):
        assert str(parse_measure(measure)) == str(measure)


def test_other_text_is_refused() -> None:
    for text in (
        *("", "P@", "p@10", "P@ten", "P@-1", "P@1.5", "P@10x", "10", 10, None),
        *("P@1_0", "P@0x10", "P@True", "P@5@3", "P[1]@5", "P.a@5", "lambda: 0", "P@10\n+1", "P@10 # ten"),
        *("PP@10", "RBP_10", "P_1.5", "_5"),
        *("P(rel=01)@10", "P(label=1)@5", "P(rel=2,rel=2)@5", "P(,)@5", "P(2)@5", "P(*[2])@5", "P(**{})@5"),
        *("P(rel=two)@5", "P(rel=1+1)@5", "P(rel=__import__('os'))@5", "nDCG(gains={[]:1})@5", "P(tail=1)@5"),
        *("P" * 2000, "(" * 900 + "P", "P\0@5", "P@10\\", "P('\\d')@10"),
    ):
        assert str(refused(parse_measure, text)).startswith("unknown measure "), text


def test_parameters_out_of_range_are_refused() -> None:
    for said, texts in {
        "must be at least 1": "P@0 P_0 P(rel=0)@5 P(rel=-1)@5",
        "must be a whole number": "P(rel=1.5)@10 P(rel='a')@10 P(rel=True)@5 P(rel=None)@5",
        "no relevance is as large": "P(rel=40000)@5",
        "max_rel": "ERR(max_rel=0)@5 ERR(max_rel=1.5)@5 ERR(max_rel=40000)@5",
        "at most 32767": "SDCG(max_rel=40000)@10",
        "min_rel is 0 and max_rel 0": "SDCG(max_rel=0)@10",
        "min_rel is -1": "SDCG(min_rel=-1)@10",
        "min_rel is 2 and max_rel 1": "INST(min_rel=2)@10",
        "is not a number of 0.5 or more": "INST(T=0.4)@10 INST(T=-1.0)@10 INST(T='a')@10 INST(T=True)@10",
        "RBP: p cannot be": "RBP(p=0)@10 RBP(p=1.0)@10 RBP(p=1) RBP(p=-0.5) RBP(p='a')@10",
        "no parameter 'tail'": "RBP(tail=True)@10",
        "nDCG: dcg cannot be 'ln'": "nDCG(dcg='ln')@10",
        "two ways": "nDCG(dcg='exp-log2',gains={1:2})@10",
        "R: ideal cannot be 'best'": "R(ideal='best')@10",
    }.items():
        for text in texts.split():
            assert said in str(refused(parse_measure, text)), text
    assert "with a cutoff of its own" in str(refused(RBP, 10, tail=True))


def test_measures_of_one_text_or_value() -> None:
    for measure in ("P@10", Precision(10), ir_measures.P @ 10):
        assert parse_measures(measure) == (Precision(10),)
    for text, measures in {
        "P@10 nDCG@10": ["P@10", "nDCG@10"],
        "P@10, nDCG(rel=2, dcg='exp-log2')@5": ["P@10", "nDCG(rel=2,dcg='exp-log2')@5"],
        "ndcg_cut.10,20": ["nDCG@10", "nDCG@20"],
        "P.5,10 success_1,5 ndcg_at_3": ["P@5", "P@10", "Success@1", "Success@5", "nDCG@3"],
        "P @ 10": ["P@10"],
        "P (rel=2) @ 10": ["P(rel=2)@10"],
    }.items():
        assert [str(measure) for measure in parse_measures(text)] == measures, text
        assert [str(measure) for measure in parse_measures([text, "RR@7"])] == [*measures, "RR@7"], text
    assert parse_measures(f"P@{n}" for n in (5, 10)) == (Precision(5), Precision(10))


def test_a_text_with_one_wrong_measure_names_it() -> None:
    assert str(refused(parse_measures, "P@10 PP@5")).startswith("unknown measure 'PP@5'")
    assert str(refused(parse_measures, "bpref,P@10")).startswith("unsupported measure 'bpref'")
    assert "no measure given" in str(refused(parse_measures, []))


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
        assert said.endswith(f"{type(parse_measure(f'{name}@10')).name}@1000 for whole runs"), name


def test_condensed_lists_are_an_estimator() -> None:
    for name in ("P", "AP", "R", "nDCG", "RR", "Success"):
        said = str(refused(parse_measure, registry[name](judged_only=True) @ 10))
        assert "judged_only" in said, name
        assert "condensed-list" in said, name
        assert "P@n over Judged@n" in said, name
        assert parse_measure(f"{name}(judged_only=False)@10") == parse_measure(f"{name}@10")


def test_precision_of_rated_hits_is_a_ratio() -> None:
    said = str(refused(parse_measure, "P(ignore_unlabeled=True)@10"))
    assert "it is P@n over Judged@n" in said
    assert str(parse_measure("P(ignore_unlabeled=False)@10")) == "P@10"


def test_no_ranking_is_as_long() -> None:
    assert "no ranking is as long" in str(refused(parse_measure, "P@99999999999"))
