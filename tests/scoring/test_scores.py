"""Scores: their frames, notes and containers."""

import json

import numpy as np
import pytest
from fits import TARGETS
from known_scores import MEASURES, POINT, example_scores
from toys import from_rankings
from wide import note_of, wide

from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures import Precision, Values
from bayespool.scoring import score


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
    frame, per_topic = wide(scores), wide(scores, per_topic=True)
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
