"""Estimators by name, with all that is said of them, and what they come to on one collection."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from known_scores import MEASURES, example_scores
from toys import toy_collection
from wide import headings, wide

from bayespool.comparisons import compare, count_reversals
from bayespool.corrections import Background, CondensedList, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import leave_out, load_example
from bayespool.measures import Estimates, parse_measures
from bayespool.models.registry import check_priors
from bayespool.posterior import PosteriorEstimator
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
from bayespool.scoring.estimators import with_common_topics

OF_SAMPLES = ("horvitz-thompson", "by-design", "inferred-ap", "inferred-ndcg", "stat-ap")
BY_LABELS = ("judge-filled", "judge-rates", "prediction-powered", "precise", "conformal-risk-control")
POSTERIORS = (
    "combined", "background", "interpolated", "smoothed", "odds-ratio", "ratio", "anti-precision", "evidence",
    "rankings", "difference",
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
    """That of `bayespool.names` (`tests/test_names.py`), corrections first; those by default lead them."""
    known = tuple(f"posterior-{model}" for model in POSTERIORS)
    assert tuple(name for name in ESTIMATOR_NAMES if name in known) == known
    kinds = [ESTIMATORS[name].kind for name in ESTIMATOR_NAMES]
    assert kinds == sorted(kinds)
    assert (*ESTIMATOR_NAMES[1:4], "posterior-combined") == DEFAULT_ESTIMATORS
    asking = (*OF_SAMPLES, *BY_LABELS, "topics-adjustment")
    points = [name for name in ESTIMATOR_NAMES if ESTIMATORS[name].kind == "point"]
    needless = [name for name in points if name not in asking]
    assert (*needless, "posterior-combined") == ALL_ESTIMATORS


def test_every_entry_says_what_it_is() -> None:
    for name, entry in ESTIMATORS.items():
        assert entry.name == name
        assert 0 < len(entry.description) < 80
        assert entry.label.count("\n") == 1
        own = ("judge-rates", "posterior-evidence", "posterior-rankings", "posterior-judge-order")
        assert entry.source or name in (*own, "posterior-combined")
        assert bool(entry.citations) == (name not in own)
        assert bool(entry.required) == (name == "topics-adjustment")
        assert entry.needs_sample == (name in (*OF_SAMPLES, "posterior-judge-order"))
        assert entry.needs_judge == (name in (*BY_LABELS, "posterior-judge-order"))
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
    assert wide(low)["half(share=0)"].tolist() == wide(low)["bound_lower"].tolist()
    assert low.metadata["estimators"] == [{"name": "half", "estimand": "complete", "share": 0}]

    left = leave_out(collection, "P@10", estimators=["half", "background(e=0.5)"]).to_frame()
    values = left.pivot(index="run_id", columns="estimator", values="value")
    np.testing.assert_allclose(values["half"], values["background"], rtol=1e-12)
    both = compare(collection, ["new-a", "new-b"], "P@10", estimators=["half"])
    assert set(both.differences()["estimator"]) == {"as-judged", "half"}
    turned = count_reversals(collection, measures="P@10", estimators=["half"], judgments=[500], fitted=False)
    assert set(turned.rates()["estimator"]) == {"as-judged", "half"}
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
    shown = run("score", "--help-all").out
    assert "the middle of the bounds" in shown
    assert all(name in shown for name in ESTIMATOR_NAMES)
    assert "posterior-evidence" not in run("check", "--help-all").out


def test_pairs_are_each_correction_and_its_posterior() -> None:
    assert named_estimators("pairs") == (
        *("background", "posterior-background", "interpolated", "posterior-interpolated"),
        *("smoothed", "posterior-smoothed", "systems-adjustment", "posterior-difference"),
        *("anti-precision", "posterior-anti-precision"),
    )
    papers = [ESTIMATORS[name].citations for name in PAIRED_ESTIMATORS]
    assert papers[::2] == papers[1::2]
    (*pairs, adjustment) = with_common_topics("pairs", ("701", "702"))
    assert tuple(pairs) == PAIRED_ESTIMATORS
    assert adjustment.name == "topics-adjustment"


def test_pairs_stand_side_by_side_as_all_estimators_do() -> None:
    asked = ["background", "posterior-background", "smoothed"]
    scores = score(load_example(), measures="P@10", estimators=asked, posterior_settings="draws=50")
    (columns,) = scores.read()
    assert [row[0] for row in columns.rows] == ["new-a", "new-b"]
    assert "smooth\xad\ned" in [column.heading for column in columns.columns]
    pairs = tuple(e for e in scores.estimates if e.estimator in asked[:2])
    (table,) = dataclasses.replace(scores, estimates=pairs).read()
    assert [row[0] for row in table.rows] == ["new-a", "new-b"]
    assert headings(table)[-3:] == ["background", "posterior background", "95 % interval"]
    assert "pairs" not in [table.name for table in scores.tables()]


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
        check_priors({"mu": f"Normal({10**400}, 1)"}, ["ratio"], "laplace")


def test_bounds_are_the_judgment_counts() -> None:
    rows = wide(example_scores()).set_index(["measure", "run_id"])
    assert len(rows) == len(MEASURES) * len(TARGETS)
    for measure, (cutoff, rel) in zip(MEASURES, ((5, 1), (10, 1), (10, 2)), strict=True):
        counts = judgment_counts(load_example(), TARGETS, cutoffs=cutoff, rel=rel)
        both = counts.n_relevant, counts.n_unjudged
        relevant, unjudged = (n.sum(axis=(1, 2)) / (20 * cutoff) for n in both)
        found = rows.loc[measure, ["bound_lower", "bound_upper", "residual"]].to_numpy()
        np.testing.assert_allclose(found.T, [relevant, relevant + unjudged, unjudged], atol=1e-15)


def test_same_call_gives_the_same_tables() -> None:
    first, second, other = (
        score(
            load_example(),
            None,
            estimators=["posterior-background"],
            posterior_settings="draws=50",
            random_seed=seed,
        )
        for seed in (4, 4, 5)
    )
    pd.testing.assert_frame_equal(wide(first), wide(second), check_exact=True)
    assert (wide(first)["posterior-background"] != wide(other)["posterior-background"]).any()


def test_relevance_threshold_changes_bounds_and_estimates() -> None:
    """The toy's run ``u``: a1 l? d? on topic 1, v1 p1 z? on topic 2; nothing of it has the grade 2."""
    frame = wide(score(toy_collection(), "u", ["P@3", "P(rel=2)@3"], estimators=["background"]))
    assert frame["bound_lower"].tolist() == pytest.approx([3 / 9, 0])
    # l, d and z, and e and f on topic 3
    assert frame["residual"].tolist() == pytest.approx([5 / 9, 5 / 9])
    assert frame["background"].tolist() == pytest.approx([3 / 9 + 0.03 * 5 / 9, 0.03 * 5 / 9])


def test_text_names_an_estimator_with_settings() -> None:
    common = "topics-adjustment(common_query_ids=('1', '2'), within_bounds=False)"
    smoothed = PosteriorEstimator(model="smoothed", draws=10, priors={"c": "Beta(1, 1)"})
    for text, expected in {
        "background": Background(),
        " background( e = 0.05 ) ": Background(e=0.05),
        "interpolated(c=1, e=0)": Interpolated(c=1, e=0),
        common: TopicsAdjustment(common_query_ids=("1", "2"), within_bounds=False),
        "posterior-smoothed(draws=10, priors={'c': 'Beta(1, 1)'})": smoothed,
    }.items():
        assert parse_estimator(text) == expected
    assert parse_estimator(smoothed, draws=3) is smoothed


def test_settings_are_defaults_for_what_the_text_does_not_say() -> None:
    settings = {"draws": 7, "random_seed": 3, "estimand": "pooled"}
    assert parse_estimator("posterior-background(draws=9)", **settings) == PosteriorEstimator(
        model="background", draws=9, random_seed=3, estimand="pooled"
    )
    assert parse_estimator("background", **settings) == Background(estimand="pooled")
    text = "systems-adjustment(base='posterior-ratio(chains=2)')"
    found = parse_estimator(text, draws=7, estimand="pooled")
    base = PosteriorEstimator(model="ratio", draws=7, chains=2, estimand="pooled")
    assert found == SystemsAdjustment(base=base, estimand="pooled")


REFUSED = {
    "": "no estimator ''; known: as-judged, background", "posterior-foreground": "'posterior-foreground'",
    "background(": r"estimator 'background\(': ", "background(0.5)": "name=value",
    "background(e=0.5)(1)": "name=value", "background(e=0.5) + 1": "takes no effects",
    "background(**{'e': 0.5})": "name=value",
    "background(f=0.5)": "no setting 'f'; background has estimand, fit, e",
    "background(e=x)": r"estimator 'background\(e=x\)': ",
    "background(e=__import__('os'))": "e cannot be __import__", "background(e='much')": "e must be a number",
    "background(e=True)": "e must be a number", "background(e=None)": "e must be a number",
    "background(e=2)": "e cannot be 2; at least 0", "background(estimand='half')": "'complete', 'pooled'",
    "systems-adjustment(substitute=1)": "True or False",
    "anti-precision(trigger='always')": "'lambda', 'precision', 'anti-precision'",
    "topics-adjustment": "needs common_query_ids",
    "topics-adjustment(common_query_ids=701)": "701 are no names",
    "systems-adjustment(base='condense')": "'condensed-list'", "systems-adjustment(base=2)": "base 2",
    "posterior-background(draws=2.5)": "whole number", "posterior-background(draws=0)": "at least 1 and at",
    "posterior-background(random_seed=-1)": "-1; at least 0", "posterior-background(priors=3)": "priors=3",
    "posterior-background(model='smoothed')": "no setting 'model'",
}  # fmt: skip


def test_text_that_is_no_estimator_is_refused() -> None:
    for text, words in REFUSED.items():
        with pytest.raises(InputError, match=words):
            parse_estimator(text)


def test_what_cannot_be_is_refused_before_any_work() -> None:
    stages: list[str] = []
    for asked, words in (
        ({"estimators": ["background", "foreground"]}, "'foreground'"),
        ({"measures": "AP"}, "needs a cutoff"),
        ({"estimators": ["background", "background(e=0.03)"]}, "two estimators .* 'background'"),
        ({"estimators": ["background"], "estimand": "everything"}, "'everything'"),
        ({"run_ids": ["new-a", "nobody"]}, "'nobody'"),
        *(({"ci_prob": p}, "ci_prob cannot be") for p in (0.0, 1.0, -0.5, 95.0, float("nan"))),
    ):
        with pytest.raises(InputError, match=words):
            score(load_example(), progress=lambda text, *_: stages.append(text), **asked)
    assert stages == []


def test_estimators_of_one_name_are_told_apart_by_their_settings() -> None:
    texts = ["background(e=0.5)", "background", "posterior-background(draws=60)", "posterior-background"]
    scores = score(load_example(), "new-b", "P@10", estimators=texts, posterior_settings="draws=50")
    assert [e.estimator for e in scores.estimates] == [*texts[:3], "posterior-background(draws=50)"]
    plain = [
        score(load_example(), "new-b", "P@10", estimators=text, posterior_settings="draws=50")
        for text in texts
    ]
    assert [e.value.tolist() for e in scores.estimates] == [one.estimates[0].value.tolist() for one in plain]
    (table,) = [t for t in scores.read() if "background (e=0.5)" in headings(t)]
    assert "background" in headings(table)
    assert set(scores.citations()) == {c for one in plain for c in one.citations()}
