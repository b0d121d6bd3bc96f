"""Scores: many estimators on one collection, their tables, notes and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from known_scores import MEASURES, example_scores
from toys import toy_collection
from wide import wide

from bayespool.corrections import Background, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import load_example
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import parse_estimator, score


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
        score(load_example(), None, estimators=["posterior-background"], draws=50, random_seed=seed)
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
    "background(e=0.5)(1)": "name=value", "background(e=0.5) + 1": "name=value",
    "background(**{'e': 0.5})": "name=value",
    "background(f=0.5)": "no setting 'f'; background has estimand, fit, e",
    "background(e=x)": r"estimator 'background\(e=x\)': ",
    "background(e=__import__('os'))": "e cannot be __import__", "background(e='much')": "e must be a number",
    "background(e=True)": "e must be a number", "background(e=None)": "e must be a number",
    "background(e=2)": "e = 2 is not between 0 and 1", "background(estimand='half')": "'complete', 'pooled'",
    "systems-adjustment(substitute=1)": "True or False",
    "anti-precision(trigger='always')": "'lambda', 'precision', 'anti-precision'",
    "topics-adjustment": "needs common_query_ids",
    "topics-adjustment(common_query_ids=701)": "701 are no names",
    "systems-adjustment(base='condense')": "'condensed-list'", "systems-adjustment(base=2)": "base 2",
    "posterior-background(draws=2.5)": "whole number", "posterior-background(draws=0)": "at least 1 and is 0",
    "posterior-background(random_seed=-1)": "-1 is negative", "posterior-background(priors=3)": "priors=3",
    "posterior-background(model='smoothed')": "no setting 'model'",
}  # fmt: skip


def test_text_that_is_no_estimator_is_refused() -> None:
    for text, words in REFUSED.items():
        with pytest.raises(InputError, match=words):
            parse_estimator(text)


def test_what_cannot_be_is_refused_before_any_work() -> None:
    stages: list[str] = []
    for asked, words in (
        ({"model": "smoothed", "cutoff": 3}, r"\['cutoff', 'model'\]; score has .*estimators have chains"),
        ({"measure": "P@5"}, r"\['measure'\]; did you mean 'measures'"),
        ({"estimators": ["background", "foreground"]}, "'foreground'"),
        ({"measures": "AP"}, "needs a cutoff"),
        ({"estimators": ["background", "background(e=0.03)"]}, "two estimators .* 'background'"),
        ({"estimators": ["background"], "estimand": "everything"}, "'everything'"),
        ({"run_ids": ["new-a", "nobody"]}, "'nobody'"),
        *(({"ci_prob": p}, "ci_prob cannot be") for p in (0.0, 1.0, -0.5, 95.0, float("nan"))),
    ):
        with pytest.raises(InputError, match=words):
            score(load_example(), report=stages.append, **asked)
    assert stages == []


def test_estimators_of_one_name_are_told_apart_by_their_settings() -> None:
    texts = ["background(e=0.5)", "background", "posterior-background(draws=60)", "posterior-background"]
    scores = score(load_example(), "new-b", "P@10", estimators=texts, draws=50)
    assert [e.method for e in scores.estimates] == [*texts[:3], "posterior-background(draws=50)"]
    plain = [score(load_example(), "new-b", "P@10", estimators=text, draws=50) for text in texts]
    assert [e.value.tolist() for e in scores.estimates] == [one.estimates[0].value.tolist() for one in plain]
    (table,) = [t for t in scores.read() if "background(e=0.5)" in t.headings()]
    assert "background" in table.headings()
    assert set(scores.citations()) == {c for one in plain for c in one.citations()}
