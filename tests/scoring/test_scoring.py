"""Scores: many estimators on one collection, their tables, notes and errors."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from fits import TARGETS
from known_scores import MEASURES, example_scores
from toys import EDGE_CASES, WITHOUT_A_POOL, toy_collection
from wide import note_of, wide

import bayespool
from bayespool import read_collection
from bayespool.corrections import Background, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.errors import DiagnosticsWarning, InputError, InputWarning, NoPoolWarning
from bayespool.evidence import judgment_counts
from bayespool.experiments import load_example, simulate_example
from bayespool.measures import Estimator, Precision
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import DEFAULT_ESTIMATORS, ESTIMATOR_NAMES, parse_estimator, score


def test_default_call_estimates_everything() -> None:
    scores = example_scores()
    assert scores.run_ids == TARGETS
    assert scores.query_ids == load_example().query_ids
    assert tuple(str(m) for m in scores.measures) == MEASURES
    methods = [*DEFAULT_ESTIMATORS, "posterior-background"]
    found = [(str(e.measure), e.method, e.run_ids) for e in scores.estimates]
    assert found == [(m, n, TARGETS) for m in MEASURES for n in methods]
    assert scores.ci_prob == 0.95


def test_bounds_are_the_judgment_counts() -> None:
    rows = wide(example_scores()).set_index(["measure", "run_id"])
    assert len(rows) == len(MEASURES) * len(TARGETS)
    for measure, (cutoff, rel) in zip(MEASURES, ((5, 1), (10, 1), (10, 2)), strict=True):
        counts = judgment_counts(load_example(), TARGETS, cutoffs=cutoff, rel=rel)
        relevant, unjudged = (
            n.sum(axis=(1, 2)) / (20 * cutoff) for n in (counts.n_relevant, counts.n_unjudged)
        )
        found = rows.loc[measure, ["bound_lower", "bound_upper", "residual"]].to_numpy()
        np.testing.assert_allclose(found.T, [relevant, relevant + unjudged, unjudged], atol=1e-15)


def test_metadata_are_what_a_result_is_quoted_with() -> None:
    metadata, example = example_scores().metadata, load_example()
    assert metadata["bayespool"] == bayespool.__version__
    assert metadata["fingerprint"] == example.fingerprint
    assert metadata["estimand"] == "complete"
    known = {"n_pooled_runs": int(example.pooled.sum()), "n_runs": 23, "n_organizations": 8, "depth": 10}
    judged = {"n_judged": int(example.judged.sum()), "n_holes": 0, "n_unexplained": 0, "depths": ((10, 21),)}
    assert metadata["pool"].items() >= (known | judged | {"is_sparse": False, "n_candidates": 23}).items()
    background = {"name": "background", "estimand": "complete", "fit": "none", "e": 0.03}
    assert background in metadata["estimators"]
    posterior = metadata["estimators"][-1]
    assert (posterior["draws"], posterior["random_seed"]) == (200, 1)
    assert json.loads(json.dumps(dict(metadata)))["pool"]["depth"] == 10


def test_same_call_gives_the_same_tables() -> None:
    first, second, other = (
        score(load_example(), None, estimators=["posterior-background"], draws=50, random_seed=seed)
        for seed in (4, 4, 5)
    )
    pd.testing.assert_frame_equal(wide(first), wide(second), check_exact=True)
    assert (wide(first)["posterior-background"] != wide(other)["posterior-background"]).any()


# --- which runs, which measures ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
def test_runs_and_measures_to_score() -> None:
    example, chosen = load_example(), ["background"]
    assert score(example, "new-b", estimators=chosen).run_ids == ("new-b",)
    assert score(example, ["new-b", "new-a", "new-b"], estimators=chosen).run_ids == ("new-b", "new-a")
    assert wide(score(example, "north-1", estimators=chosen))["residual"].tolist() == [0.0]
    everything = dataclasses.replace(example, pooled=np.ones(23, dtype=bool))
    for runs in (None, []):
        with pytest.raises(InputError, match="no run to score"):
            score(everything, runs, estimators=chosen)
    stages: list[str] = []
    asked = ["P@10", "P_5", "P(rel=1)@10"]
    scores = score(example, "new-a", asked, estimators=["background", "condensed-list"], report=stages.append)
    assert [str(m) for m in scores.measures] == wide(scores)["measure"].tolist() == ["P@10", "P@5"]
    assert stages == ["estimating: background", "estimating: condensed-list"]


def test_relevance_threshold_changes_bounds_and_estimates() -> None:
    """The toy's run ``u``: a1 l? d? on topic 1, v1 p1 z? on topic 2; nothing of it has the grade 2."""
    frame = wide(score(toy_collection(), "u", ["P@3", "P(rel=2)@3"], estimators=["background"]))
    assert frame["bound_lower"].tolist() == pytest.approx([3 / 9, 0])
    # l, d and z, and e and f on topic 3
    assert frame["residual"].tolist() == pytest.approx([5 / 9, 5 / 9])
    assert frame["background"].tolist() == pytest.approx([3 / 9 + 0.03 * 5 / 9, 0.03 * 5 / 9])


def test_estimand_moves_bounds_and_every_estimate() -> None:
    example = load_example()
    chosen = ["background", "posterior-background"]
    complete, pooled = (
        score(example, None, "P@15", estimators=chosen, estimand=e, draws=100) for e in ("complete", "pooled")
    )
    a, b = wide(complete), wide(pooled)
    assert a["bound_lower"].tolist() == b["bound_lower"].tolist()
    for column in ("bound_upper", "residual", "background", "posterior-background"):
        assert (a[column] > b[column]).all(), column
    assert pooled.metadata["estimand"] == "pooled"
    assert b["residual"].tolist() == pytest.approx(
        [n / 300 for n in judgment_counts(example, TARGETS, cutoffs=10).n_unjudged.sum(axis=(1, 2))]
    )


# --- notes -------------------------------------------------------------------------------------------------


def test_methods_that_need_a_pooled_run_say_so() -> None:
    for case in WITHOUT_A_POOL:
        collection, run = EDGE_CASES[case]()
        scores = score(
            collection, run, "P@5", estimators=["systems-adjustment", "anti-precision", "background"]
        )
        said = "systems-adjustment: needs a pooled run; anti-precision: needs a pooled run"
        before = "no pooled runs; " if case == "no pool" else "a pool of one organization: "
        assert note_of(scores, run, Precision(5)).startswith(before)
        assert note_of(scores, run, Precision(5)).endswith(said)
        row = wide(scores).iloc[0]
        assert np.isnan([row["systems-adjustment"], row["anti-precision"]]).all(), case
        assert row["bound_lower"] < row["background"] < row["bound_upper"], case


def test_default_call_works_without_a_pool() -> None:
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        with pytest.warns(NoPoolWarning, match="the collection has no pooled run"):
            scores = score(nobody, TARGETS, draws=100)
    assert scores.metadata["pool"]["n_pooled_runs"] == 0
    for note in wide(scores)["note"]:
        assert note.startswith("no pooled runs")
    frame = wide(scores)
    assert (frame["bound_lower"] < frame["posterior-combined"]).all()
    assert (frame["posterior-combined"] < frame["bound_upper"]).all()


# --- estimators as text ------------------------------------------------------------------------------------


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
    found = parse_estimator(
        "systems-adjustment(base='posterior-ratio(chains=2)')", draws=7, estimand="pooled"
    )
    base = PosteriorEstimator(model="ratio", draws=7, chains=2, estimand="pooled")
    assert found == SystemsAdjustment(base=base, estimand="pooled")


def test_every_name_is_an_estimator_of_that_name() -> None:
    for name in ESTIMATOR_NAMES:
        text = f"{name}(common_query_ids=('701',))" if name == "topics-adjustment" else name
        estimator = parse_estimator(text)
        assert isinstance(estimator, Estimator), name
        assert estimator.name == name


REFUSED = {
    "": "no estimator ''; known: as-judged, background",
    "posterior-foreground": "'posterior-foreground'",
    "background(": r"estimator 'background\(': ",
    "background(0.5)": "name=value",
    "background(e=0.5)(1)": "name=value",
    "background(e=0.5) + 1": "name=value",
    "background(**{'e': 0.5})": "name=value",
    "background(f=0.5)": "no setting 'f'; background has estimand, fit, e",
    "background(e=x)": r"estimator 'background\(e=x\)': ",
    "background(e=__import__('os'))": "e cannot be __import__",
    "background(e='much')": "e must be a number",
    "background(e=True)": "e must be a number",
    "background(e=None)": "e must be a number",
    "background(e=2)": "e = 2 is not between 0 and 1",
    "background(estimand='half')": "'complete', 'pooled'",
    "systems-adjustment(substitute=1)": "True or False",
    "anti-precision(trigger='always')": "'lambda', 'precision', 'anti-precision'",
    "topics-adjustment": "needs common_query_ids",
    "topics-adjustment(common_query_ids=701)": "701 are no names",
    "systems-adjustment(base='condense')": "'condensed-list'",
    "systems-adjustment(base=2)": "base 2",
    "posterior-background(draws=2.5)": "whole number",
    "posterior-background(draws=0)": "at least 1 and is 0",
    "posterior-background(random_seed=-1)": "-1 is negative",
    "posterior-background(priors=3)": "priors=3",
    "posterior-background(model='smoothed')": "no setting 'model'",
}


def test_text_that_is_no_estimator_is_refused() -> None:
    for text, words in REFUSED.items():
        with pytest.raises(InputError, match=words):
            parse_estimator(text)


def test_what_cannot_be_is_refused_before_any_work() -> None:
    stages: list[str] = []
    for asked, words in (
        (
            {"model": "smoothed", "cutoff": 3},
            r"\['cutoff', 'model'\]; score has .*estimators have chains, draws",
        ),
        ({"measure": "P@5"}, r"\['measure'\]; did you mean 'measures'"),
        ({"estimators": ["background", "foreground"]}, "'foreground'"),
        ({"measures": "AP"}, "needs a cutoff"),
        (
            {"estimators": ["background", "interpolated", "background(e=0.03)"]},
            "two estimators .* 'background'",
        ),
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


def test_posterior_of_the_example_covers_its_truth() -> None:
    truth = judgment_counts(simulate_example().complete(), TARGETS, cutoffs=10).lower[:, :, 0].mean(axis=1)
    frame = wide(example_scores())
    frame = frame[frame["measure"] == "P@10"]
    assert (frame["posterior-combined_lower"] <= truth + 1e-12).all()
    assert (truth <= frame["posterior-combined_upper"] + 1e-12).all()
    assert (np.abs(frame["posterior-combined"] - truth) < 0.02).all()


def test_a_relevance_that_nobody_gave_is_said() -> None:
    with pytest.warns(InputWarning, match=r"no document of the qrels has relevance 7 or more"):
        score(load_example(), "new-a", "P(rel=7)@5", estimators=["background"])


def test_scores_as_judged_need_no_ten_levels() -> None:
    """Click counts: pytrec_eval's nDCG with 31 levels, of which posteriors cannot tell all apart."""
    qrels = {f"q{t}": {f"d{i}": (7 * i + 11 * t) % 31 for i in range(31)} for t in range(4)}
    run = {q: {f"d{i}": (13 * i) % 37 for i in range(0, 40, 2)} for q in qrels}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    with pytest.warns(NoPoolWarning):
        collection = read_collection(qrels, {"mine": run})
    measures = ["nDCG@10", "ERR@10"]
    scores = score(collection, "mine", measures, estimators=["as-judged", "posterior-combined"], draws=20)
    frame = scores.to_frame().set_index(["measure", "estimator"])
    expected = sum(values["ndcg_cut_10"] for values in theirs.values()) / len(qrels)
    assert frame.loc[("nDCG@10", "as-judged"), "value"] == pytest.approx(expected)
    assert np.isnan(frame.loc[("nDCG@10", "posterior-combined"), "value"])
    assert (
        "nDCG@10 tells 30 levels of relevance apart" in frame.loc[("nDCG@10", "posterior-combined"), "note"]
    )
    assert np.isfinite(frame.loc[("ERR@10", "posterior-combined"), "value"])
    assert "ERR@10: relevance above 4 (max_rel) counts as 4, in 104 judgments" in scores.notes()
