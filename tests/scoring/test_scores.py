"""Scores: their frames, notes and containers."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from fits import TARGETS
from known_scores import MEASURES, POINT, example_scores
from toys import from_rankings, missing_topic
from wide import note_of, wide

from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures import Diagnostics, Estimates, Estimator, Precision, Values
from bayespool.scoring import score

EXTRAPOLATED = "ranks below the pool depth of {} are extrapolated"


def test_container_has_the_draws_of_one_method_beside_the_bounds() -> None:
    scores = example_scores()
    with pytest.raises(InputError, match="several methods have draws") as refused:
        scores.to_arviz()
    assert refused.value.hint == "there are draws of: posterior-combined, posterior-background"
    with pytest.raises(InputError, match="no draws of background"):
        scores.to_arviz("background")
    tree = scores.to_arviz("posterior-combined", per_topic=True)
    posterior, constant = tree["posterior"].to_dataset(), tree["constant_data"].to_dataset()
    weights = json.loads(tree.attrs["weights"])
    rows = wide(scores).set_index(["measure", "run_id"])
    for measure, name in zip(MEASURES, ("P_5", "P_10", "P_rel_2_10"), strict=True):
        e = scores["posterior-combined", measure]
        assert posterior[name].attrs["measure"] == measure
        assert weights[measure] == e.weights
        assert set(weights[measure]) >= {"ratio", "rankings"}
        np.testing.assert_allclose(posterior[name].mean(("chain", "draw")), e.value, rtol=1e-12)
        on_topics = posterior[f"{name}_by_topic"].mean(("chain", "draw"))
        np.testing.assert_allclose(on_topics, e.per_topic, rtol=1e-12, atol=1e-15)
        for column in ("as_judged", "bound_lower", "bound_upper", "residual"):
            found = constant[column].sel(measure=measure)
            assert found.values.tolist() == rows.loc[measure, column].tolist()
            mean = constant[f"{column}_by_topic"].sel(measure=measure).mean("query_id")
            np.testing.assert_allclose(mean, found, rtol=1e-12)
    assert set(posterior.data_vars) == {
        f"{n}{by}" for n in ("P_5", "P_10", "P_rel_2_10") for by in ("", "_by_topic")
    }
    assert "mu" not in posterior, "parameters of one component would not be those of the mixture"


def test_estimates_are_found_by_method_and_measure() -> None:
    scores = example_scores()
    found = scores["posterior-background", "P(rel=2)@10"]
    assert (found.method, found.measure) == ("posterior-background", Precision(10, rel=2))
    assert scores["posterior-background", Precision(10, rel=2)] is found
    for key, words in (
        (("background", "P@99"), "there are: background, P@5"),
        (("posterior-foreground", "P@10"), "foreground"),
        ("P@5", r"write scores\[method, measure\]"),
    ):
        with pytest.raises(KeyError, match=words):
            scores[key]


COLUMNS = ["value", "lower", "upper", "ci_prob", "std", "distance", "new_kind"]
BOUNDS = ["as_judged", "bound_lower", "bound_upper", "residual", "unjudged"]


def test_frame_has_a_row_per_run_measure_and_estimator() -> None:
    scores = example_scores()
    frame = scores.to_frame()
    assert list(frame.columns) == ["run_id", "measure", "estimator", *COLUMNS, *BOUNDS, "note"]
    assert len(frame) == len(scores.estimates) * 2
    for estimates in scores.estimates:
        is_of = (frame["measure"] == str(estimates.measure)) & (frame["estimator"] == estimates.method)
        rows = frame[is_of]
        assert rows["run_id"].tolist() == list(TARGETS)
        assert rows["value"].tolist() == estimates.value.tolist()
        if estimates.draws is None:
            # a point correction has no interval: uncertainty is never invented
            assert rows[["lower", "upper", "ci_prob", "std"]].isna().all(axis=None)
        else:
            low, high = estimates.interval(0.95)
            assert rows["lower"].tolist() == low.tolist()
            assert rows["upper"].tolist() == high.tolist()
            assert (rows["ci_prob"] == 0.95).all()
            assert rows["std"].notna().all()
            assert (rows["bound_lower"] <= rows["lower"]).all()
            assert (rows["upper"] <= rows["bound_upper"]).all()
    combined = frame["estimator"] == "posterior-combined"
    assert (frame.loc[combined, "distance"] > 0).all()
    assert frame.loc[combined, "new_kind"].between(0, 1, inclusive="neither").all()
    assert frame.loc[~combined, ["distance", "new_kind"]].isna().all(axis=None)


def test_bounds_have_columns_of_their_own_where_they_differ_from_the_score() -> None:
    """Under nDCG a completion may lower a score: what is judged is not the lower bound."""
    scores = score(load_example(), TARGETS, "nDCG@5", estimators="background")
    (found,) = scores.bounds
    for per_topic, of in ((False, Values.means), (True, Values.scores)):
        frame = scores.to_frame(per_topic=per_topic)
        for name in ("low", "least", "most", "width"):
            column = {"low": "as_judged", "least": "bound_lower", "most": "bound_upper", "width": "residual"}
            assert frame[column[name]].tolist() == of(getattr(found, name)).ravel().tolist()
        assert (frame["bound_lower"] <= frame["as_judged"]).all()
        assert (frame["bound_lower"] < frame["as_judged"]).any()


def test_frame_per_topic_has_the_means_of_the_other_as_means() -> None:
    scores = example_scores()
    long = scores.to_frame(per_topic=True)
    assert list(long.columns) == ["run_id", "query_id", "measure", "estimator", *COLUMNS[:4], *BOUNDS, "note"]
    frame, per_topic = wide(scores), wide(scores, per_topic=True)
    assert len(per_topic) == len(frame) * 20
    assert per_topic["query_id"].tolist() == [*scores.query_ids] * len(frame)
    columns = ["bound_lower", "bound_upper", "residual", *POINT, "posterior-combined", "posterior-background"]
    means = per_topic.groupby(["measure", "run_id"], sort=False)[columns].mean()
    assert means.to_numpy() == pytest.approx(frame[columns].to_numpy(), abs=1e-12)
    assert means.index.tolist() == list(zip(frame["measure"], frame["run_id"], strict=True))
    for _, row in per_topic.iterrows():
        low, high = row["posterior-combined_lower"], row["posterior-combined_upper"]
        assert row["bound_lower"] <= low <= high <= row["bound_upper"]
        if row["residual"] == 0:
            assert low == row["posterior-combined"] == high == row["bound_lower"]


def test_interval_has_the_probability_asked_for() -> None:
    ci_prob = 0.5
    scores = score(load_example(), None, estimators=["posterior-background"], draws=200, ci_prob=ci_prob)
    frame, n_relevant = scores.to_frame(), scores["posterior-background", "P@10"].draws.totals()
    assert (frame["ci_prob"] == ci_prob).all()
    low, high = (np.rint(200 * frame[name].to_numpy()) for name in ("lower", "upper"))
    assert (((n_relevant >= low) & (n_relevant <= high)).mean(axis=0) >= ci_prob).all()
    assert (((n_relevant > low) & (n_relevant < high)).mean(axis=0) < ci_prob).all()


def test_a_run_left_uncorrected_is_all_there_is_to_note() -> None:
    scores, why = example_scores(), "anti-precision: uncorrected: λ ≤ 0"
    assert scores.notes() == (f"new-b: {why} (P@5, P@10)",)
    frame = scores.to_frame()
    assert set(frame.loc[frame["note"] != "", "estimator"]) == {"anti-precision"}
    indicators = scores.to_frame("indicators")
    assert len(indicators) == 6  # of two runs under three measures, by one estimator
    uncorrected = indicators[indicators["triggered"] == 0]
    assert list(zip(uncorrected["run_id"], uncorrected["measure"], strict=True)) == [
        ("new-b", "P@5"),
        ("new-b", "P@10"),
    ]
    assert (uncorrected["lambda"] <= 0).all()


def test_missing_topics_are_noted() -> None:
    collection, run = missing_topic()
    scores = score(collection, run, "P@5", estimators=["background"])
    said = f"{EXTRAPOLATED.format(3)}; 1 of 2 topics missing from the run"
    assert note_of(scores, run, Precision(5)) == said
    assert wide(scores)["note"].tolist() == [said]
    assert wide(scores, per_topic=True)["note"].tolist() == [said] * 2


def test_nothing_unjudged_is_noted_where_it_is_so() -> None:
    scores = score(
        load_example(), "north-1", ["P@10", "P@20"], estimators=["posterior-background"], draws=150
    )
    assert note_of(scores, "north-1", Precision(10)) == "nothing unjudged"
    assert note_of(scores, "north-1", Precision(20)) == EXTRAPOLATED.format(10)
    row = wide(scores).iloc[0]
    assert row["bound_lower"] == row["bound_upper"] == row["posterior-background"]
    assert row["posterior-background_lower"] == row["posterior-background_upper"] == row["bound_lower"]


def test_ranks_below_the_pool_are_noted_where_they_are_imputed() -> None:
    for cutoff, estimand, noted in ((10, "complete", False), (15, "complete", True), (15, "pooled", False)):
        scores = score(load_example(), "new-a", f"P@{cutoff}", estimators=["background"], estimand=estimand)
        assert (EXTRAPOLATED.format(10) in note_of(scores, "new-a", Precision(cutoff))) == noted


@dataclasses.dataclass(frozen=True)
class Unlucky:
    """An estimator of someone else's, whose draws failed their checks on the first run."""

    name: str = "unlucky"

    def estimate(self, collection: Any, run_ids: Any, measures: Any) -> tuple[Estimates, ...]:
        shape = (len(run_ids), len(collection.query_ids))
        return tuple(
            Estimates(
                method=self.name,
                measure=measure,
                run_ids=tuple(run_ids),
                query_ids=collection.query_ids,
                per_topic=np.full(shape, 0.25),
                value=np.full(shape[0], 0.25),
                fingerprint=collection.fingerprint,
                draws=Values(np.full((7, *shape), measure.cutoff // 4, dtype=np.int32), measure.unit),
                notes=("diagnostics failed: R-hat is 1.2", *("" for _ in run_ids[1:])),
                diagnostics=Diagnostics("nuts", 1.2, 10.0, 10.0, 0, ("R-hat is 1.2",)),
            )
            for measure in measures
        )


def test_failed_diagnostics_are_noted_and_other_estimators_may_join() -> None:
    assert isinstance(Unlucky(), Estimator)
    scores = score(load_example(), TARGETS, "P@4", estimators=["background", Unlucky()])
    assert note_of(scores, "new-a", Precision(4)) == "unlucky: diagnostics failed: R-hat is 1.2"
    assert note_of(scores, "new-b", Precision(4)) == ""
    frame = wide(scores)
    assert frame["unlucky"].tolist() == [0.25, 0.25]
    assert frame["unlucky_lower"].tolist() == frame["unlucky_upper"].tolist() == [0.25, 0.25]
    assert scores.metadata["estimators"][1] == {"name": "unlucky"}


def test_a_run_of_which_nothing_is_judged_is_noted() -> None:
    collection = from_rankings({"a": {"q": "ab"}, "new": {"q": "xy"}}, {"q": {"a": 1, "b": 0}})
    scores = score(collection, ["new"], "P@2", estimators="background")
    assert "nothing of it is judged" in note_of(scores, "new", Precision(2))


def test_topics_are_a_table_where_they_are_few_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a campaign's runs had mostly these."""
    scores = score(load_example(), ["new-a", "new-b"], "P@5", estimators="as-judged")
    assert [table.name for table in scores.tables()][:2] == ["scores", "topics"]
    monkeypatch.setattr("bayespool.scoring.scores._MAX_ROWS_ON_A_PAGE", 2 * 20 - 1)
    assert "topics" not in [table.name for table in scores.tables()]
    assert len(scores.to_frame(per_topic=True)) == len(scores.to_frame("topics")) == 2 * 20
    assert [table.name for table in scores.per_topic().tables()][:2] == ["topics", "scores"]


def test_two_notes_of_an_estimate_are_two_lines() -> None:
    scores = score(load_example(), "new-a", "P@10", estimators="background")
    (e,) = scores.estimates
    noted = dataclasses.replace(scores, estimates=(dataclasses.replace(e, notes=("one; of two\nother",)),))
    assert noted.notes()[-1].endswith("background: one; of two; background: other")
    assert noted.to_frame()["note"][0].endswith("background: one; of two; background: other")
    assert e.to_frame()["note"].tolist() == [""]
    assert dataclasses.replace(e, notes=("one\nother",)).to_frame()["note"].tolist() == ["one; other"]
