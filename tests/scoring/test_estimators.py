"""Estimators by name: what registers itself is known wherever names are, with all that is said of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from wide import wide

from bayespool.comparisons import compare, reversals
from bayespool.corrections import CondensedList
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import leave_out, load_example
from bayespool.measures import Estimates, parse_measures
from bayespool.scoring import (
    ALL_ESTIMATORS,
    DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES,
    ESTIMATORS,
    PAIRED_ESTIMATORS,
    named_estimators,
    parse_estimator,
    register_estimator,
    score,
)
from bayespool.scoring.estimators import refuse_large_priors, with_common_topics

BY_LABELS = ("judge-filled", "judge-rates", "prediction-powered", "precise", "conformal-risk-control")
POSTERIORS = (
    "combined", "background", "interpolated", "smoothed", "odds-ratio", "ratio", "anti-precision", "evidence",
    "rankings",
)  # fmt: skip


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = dict(ESTIMATORS)
    yield
    ESTIMATORS.clear()
    ESTIMATORS.update(before)


def define_half():
    """What the file of a new correction holds: one line and the class."""

    @register_estimator("half", label="half\nway", description="the middle of the bounds", source="Toy 2026")
    @dataclass(frozen=True, kw_only=True)
    class Half(PointCorrection):
        share: float = 0.5

        @property
        def name(self):
            return "half"

        def correct(self, collection, found):
            return Corrected(found.lower + self.share * found.residual)

    return Half


def define_bound():
    """An estimator that is no correction of the package's and not even a dataclass."""

    @register_estimator("upper-bound", description="T")
    class UpperBound:
        name = "upper-bound"

        def estimate(self, collection, run_ids=None, measures="P@10"):
            found = []
            for measure in parse_measures(measures):
                counts = judgment_counts(collection, run_ids, cutoffs=measure.cutoff, rel=measure.rel)
                upper = counts.upper[:, :, 0]
                of, values = (counts.run_ids, counts.query_ids), (upper, upper.mean(axis=1))
                found.append(Estimates(self.name, measure, *of, *values, collection.fingerprint))
            return tuple(found)

    return UpperBound


def test_names_are_in_the_order_of_tables() -> None:
    assert (
        *("as-judged", "background", "interpolated", "smoothed", "systems-adjustment", "topics-adjustment"),
        *("anti-precision", "condensed-list", "froebe-bootstrap", "lu-moffat-culpepper", "horvitz-thompson"),
        *("inferred-ap", "inferred-ndcg", "stat-ap"),
        *BY_LABELS,
        *(f"posterior-{model}" for model in POSTERIORS),
    ) == ESTIMATOR_NAMES
    assert (
        *(n for n in ESTIMATOR_NAMES[1:8] if n != "topics-adjustment"),
        "posterior-combined",
    ) == DEFAULT_ESTIMATORS
    rivals = ("froebe-bootstrap", "lu-moffat-culpepper")
    assert ("as-judged", *DEFAULT_ESTIMATORS[:-1], *rivals, DEFAULT_ESTIMATORS[-1]) == ALL_ESTIMATORS
    assert repr(ALL_ESTIMATORS) == repr(tuple(ALL_ESTIMATORS))
    assert list(ALL_ESTIMATORS) != ALL_ESTIMATORS


def test_every_entry_says_what_it_is() -> None:
    for name, entry in ESTIMATORS.items():
        assert entry.name == name
        assert 0 < len(entry.description) < 80
        assert entry.label.count("\n") == 1
        own = ("judge-rates", "posterior-evidence", "posterior-rankings")
        assert entry.source or name in (*own, "posterior-combined")
        assert bool(entry.citations) == (name not in own)
        assert entry.needs_settings == (name == "topics-adjustment")
        assert entry.needs_sample == (name in ("horvitz-thompson", "inferred-ap", "inferred-ndcg", "stat-ap"))
        assert entry.needs_judge == (name in BY_LABELS)
        assert (entry.kind == "posterior") == name.startswith("posterior-")


def test_a_new_correction_is_scored_compared_and_left_out_by_name() -> None:
    half = define_half()
    assert ALL_ESTIMATORS[-2] == "half"
    assert "half" not in DEFAULT_ESTIMATORS
    collection = load_example()
    scores = score(collection, ["new-a", "new-b"], "P@10", estimators=["half", "as-judged"])
    frame = wide(scores)
    np.testing.assert_allclose(frame["half"], (frame["bound_lower"] + frame["bound_upper"]) / 2, rtol=1e-12)
    low = score(collection, "new-a", "P@10", estimators="half(share=0)")
    assert wide(low)["half"].tolist() == wide(low)["bound_lower"].tolist()
    assert low.metadata["estimators"] == [{"name": "half", "estimand": "complete", "share": 0}]

    left = leave_out(collection, "P@10", estimators=["half", "background(e=0.5)"]).to_frame()
    values = left.pivot(index="run_id", columns="estimator", values="value")
    np.testing.assert_allclose(values["half"], values["background"], rtol=1e-12)
    both = compare(collection, ["new-a", "new-b"], "P@10", estimators=["half"])
    assert set(both.differences()["method"]) == {"as-judged", "half"}
    turned = reversals(collection, measures="P@10", estimators=["half"], judgments=[500], fitted=False)
    assert set(turned.rates()["method"]) == {"as-judged", "half"}
    assert parse_estimator("half(share=0.25)") == half(share=0.25)


def test_a_setting_of_a_text_goes_before_that_of_all() -> None:
    parsed = parse_estimator("posterior-ratio(draws=500)", draws=100, chains=2)
    assert (parsed.draws, parsed.chains) == (500, 2)
    assert parse_estimator("posterior-ratio", draws=100).draws == 100


def test_a_new_estimator_is_known_by_name() -> None:
    define_bound()
    scores = score(load_example(), "new-a", "P@10", estimators=["upper-bound", "condensed-list"])
    np.testing.assert_allclose(wide(scores)["upper-bound"], wide(scores)["bound_upper"], rtol=1e-12)
    left = leave_out(load_example(), "P@10", estimators="upper-bound").to_frame()
    np.testing.assert_allclose(left["value"], left["bound_upper"], rtol=1e-12)
    with pytest.raises(InputError, match="upper-bound"):
        parse_estimator("upper-bound(share=1)")


def test_the_help_of_commands_lists_what_is_registered(run) -> None:
    define_half()
    shown = run("score", "--help").out
    assert "the middle of the bounds" in shown
    assert all(name in shown for name in ESTIMATOR_NAMES)
    assert "posterior-evidence" not in run("check", "--help").out


def test_pairs_are_each_correction_and_its_posterior() -> None:
    assert named_estimators("pairs") == (
        *("background", "posterior-background", "interpolated", "posterior-interpolated"),
        *("smoothed", "posterior-smoothed", "systems-adjustment", "posterior-ratio"),
        *("anti-precision", "posterior-anti-precision"),
    )
    papers = [ESTIMATORS[name].citations for name in PAIRED_ESTIMATORS]
    assert papers[::2] == papers[1::2]
    (*pairs, adjustment) = with_common_topics("pairs", ("701", "702"))
    assert tuple(pairs) == PAIRED_ESTIMATORS
    assert adjustment.name == "topics-adjustment"


def test_estimators_without_a_pair_keep_their_table() -> None:
    asked = ["background", "posterior-background", "smoothed"]
    scores = score(load_example(), measures="P@10", estimators=asked, draws=50)
    all_of_them, pairs = scores.read()
    assert "smooth\xad\ned" in all_of_them.header
    assert [row[1] for row in pairs.rows] == ["background"] * 2
    assert "pairs" not in [table.name for table in score(load_example(), estimators="background").tables()]


def test_a_class_defined_again_replaces_itself_and_no_other() -> None:
    define_half()
    again = define_half()
    assert ESTIMATORS["half"].make is again
    with pytest.raises(InputError, match="there is an estimator 'half' already"):
        register_estimator("half", description="another")(CondensedList)
    with pytest.raises(InputError, match="already"):
        register_estimator("background", description="another")(again)


def test_a_prior_of_hundreds_of_digits_is_refused() -> None:
    with pytest.raises(InputError, match=r"is too large; its numbers are at most 1e\+100"):
        refuse_large_priors({"mu": f"Normal({10**400}, 1)"})
