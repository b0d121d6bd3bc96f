"""Scores: their frames, notes and containers, and what is read of files that they were written to."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from known_scores import MEASURES, POINT, example_scores, with_posterior
from toys import from_rankings, toy_collection
from wide import note_of, wide

from bayespool import read_result, read_scores
from bayespool.collection import add_judges
from bayespool.corrections import fit_constants_to_pool
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.measures import Precision, Values
from bayespool.scoring import Scores, score
from bayespool.tables.files import parquet_bytes
from bayespool.tables.formatting import difference


def test_container_has_the_draws_of_one_estimator_beside_the_bounds() -> None:
    scores = example_scores()
    with pytest.raises(InputError, match="several estimators have draws") as refused:
        scores.to_arviz()
    assert refused.value.hint == "name one of them as estimator=: posterior-combined, posterior-background"
    with pytest.raises(InputError, match="no draws of background"):
        scores.to_arviz("background")
    tree = scores.to_arviz("posterior-combined", per_topic=True)
    posterior, constant = tree["posterior"].to_dataset(), tree["constant_data"].to_dataset()
    weights = json.loads(tree.attrs["weights"])
    rows = wide(scores).set_index(["measure", "run_id"])
    for measure, name in zip(MEASURES, ("P_5", "P_10", "P_rel_2_10"), strict=True):
        e = scores[measure, "posterior-combined"]
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


def test_estimates_are_found_by_estimator_and_measure() -> None:
    scores = example_scores()
    found = scores["P(rel=2)@10", "posterior-background"]
    assert (found.estimator, found.measure) == ("posterior-background", Precision(10, rel=2))
    assert scores[Precision(10, rel=2), "posterior-background"] is found
    for key, words in (
        (("P@99", "background"), "there are: P@5, background"),
        (("P@10", "posterior-foreground"), "foreground"),
        ("P@5", r"write scores\[measure, estimator\]"),
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


def test_a_run_with_nothing_judged_at_the_top_is_noted() -> None:
    collection = from_rankings({"a": {"q": "ab"}, "new": {"q": "xyb"}}, {"q": {"a": 1, "b": 0}})
    scores = score(collection, ["new"], "P@2", estimators="background")
    assert "nothing of its top 2 is judged" in note_of(scores, "new", Precision(2))


def test_an_interval_without_width_has_a_reason() -> None:
    """Of a, what is unjudged comes after the first relevant document; of b, every draw is as judged."""
    runs = {"a": {"1": "cx"}, "b": {"1": "dy"}, "c": {"1": "cd"}}
    collection = from_rankings(runs, {"1": {"c": 1, "d": 0}}, pooled_run_ids=("c",), pool_depth=2)
    found = with_posterior(score(collection, None, "RR@2", estimators="as-judged"))
    (known,) = (e for e in found.estimates if e.draws is not None)
    assert known.draws is not None
    lowest = dataclasses.replace(known.draws, amount=known.draws.amount[:1].repeat(100, axis=0))
    drawn = dataclasses.replace(known, draws=lowest)
    noted = dataclasses.replace(found, estimates=(found.estimates[0], drawn)).run_notes
    by_run = {run: [text for text in texts if "width" in text] for (run, _), texts in noted.items()}
    said = "posterior-known: its interval has no width: "
    assert by_run == {
        "a": [f"{said}no judgments could change its score"],
        "b": [f"{said}100.0 % of the draws have this score"],
    }
    assert not any("width" in text for text in found.run_notes["b", found.measures[0]])


def test_topics_are_a_table_where_they_are_few_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a campaign's runs had mostly these."""
    scores = score(load_example(), ["new-a", "new-b"], "P@5", estimators="as-judged")
    assert [table.name for table in scores.tables()][:2] == ["scores", "topics"]
    monkeypatch.setattr("bayespool.scoring.scores._MAX_ROWS_ON_A_PAGE", 2 * 20 - 1)
    assert "topics" not in [table.name for table in scores.tables()]
    assert len(scores.to_frame(per_topic=True)) == len(scores.to_frame("topics")) == 2 * 20
    assert [table.name for table in scores.per_topic().tables()][:2] == ["topics", "scores"]


@cache
def everything() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    return with_posterior(score(nobody, TARGETS, ["P@5", "P(rel=2)@10"], estimators=POINT))


@pytest.mark.parametrize("ending", ["json", "parquet", "nc"])
def test_scores_are_the_same_when_they_are_read(ending: str, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / f"scores.{ending}"
    for per_topic in (False, True):
        if ending == "nc":
            scores.to_netcdf(path, per_topic=per_topic)
        else:
            (scores.per_topic() if per_topic else scores).save(path)
        stored = read_scores(path)
        frame = stored.to_frame(per_topic=per_topic)
        pd.testing.assert_frame_equal(frame, scores.to_frame(per_topic=per_topic), check_exact=True)
        made = {name: value for name, value in stored.metadata.items() if name != "made_by"}
        assert made == json.loads(json.dumps(dict(scores.metadata)))
        assert stored.notes() == scores.notes() != ()
        of = (stored.run_ids, stored.query_ids, stored.measures)
        assert of == (TARGETS, scores.query_ids, scores.measures)
        lacking = frame[frame["estimator"] == "systems-adjustment"]["value"]
        assert lacking.isna().all(), "a missing value is a number that is missing"
        if ending == "nc":
            assert stored.to_arviz().identical(scores.to_arviz(per_topic=per_topic))
        else:
            with pytest.raises(InputError, match="stored without draws"):
                stored.to_arviz()


@pytest.mark.slow
def test_same_scores_give_the_same_bytes_of_draws(tmp_path: Path) -> None:
    paths = [tmp_path / "one.nc", tmp_path / "other.nc"]
    for path in paths:
        asked = {"estimators": ["background", "posterior-ratio"], "posterior_settings": "draws=50"}
        scores = score(load_example(), TARGETS, ["P@5", "P@10"], **asked)
        scores.to_netcdf(path)
    before = paths[0].read_bytes()
    assert before == paths[1].read_bytes()
    means = read_scores(paths[0]).to_arviz()["posterior"]["P_10"].mean(("chain", "draw")).values
    np.testing.assert_allclose(means, scores["P@10", "posterior-ratio"].value, rtol=1e-12)
    with pytest.raises(InputError, match="no draws of background"):
        scores.to_netcdf(paths[0], "background")
    assert paths[0].read_bytes() == before, "what stood there is untouched"


def test_files_that_hold_no_scores(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(tmp_path / "nothing.json")
    everything().save(tmp_path / "scores.csv")
    with pytest.raises(InputError, match=r"cannot read scores from \.csv"):
        read_scores(tmp_path / "scores.csv")
    for name in ("scores.json", "scores.parquet", "scores.nc"):
        (tmp_path / name).write_bytes(b"no such thing")
        with pytest.raises(InputError, match="holds no scores"):
            read_scores(tmp_path / name)
    for text in ("[]", "{}", '{"metadata": {}, "scores": []}', '{"metadata": 1, "scores": [{"run_id": 1}]}'):
        (tmp_path / "scores.json").write_text(text)
        with pytest.raises(InputError, match="holds no scores"):
            read_scores(tmp_path / "scores.json")
    everything().save(tmp_path / "scores.json")
    changed = json.loads((tmp_path / "scores.json").read_text())
    for row in changed["scores"]:
        del row["measure"]
    (tmp_path / "scores.json").write_text(json.dumps(changed))
    with pytest.raises(InputError, match="holds no result"):
        read_result(tmp_path / "scores.json")
    everything().save(tmp_path / "scores.json")
    whole = json.loads((tmp_path / "scores.json").read_text())
    for name in ("pool", "missing_topics", "query_ids", "ideals"):
        for odd in (1e308, ["a"], [None]) if name != "query_ids" else (1e308, None):
            changed = {**whole, "metadata": {**whole["metadata"], name: odd}}
            (tmp_path / "scores.json").write_text(json.dumps(changed))
            with pytest.raises(InputError, match="holds no"):
                read_scores(tmp_path / "scores.json")
    estimates = everything()["P@5", "posterior-known"]
    estimates.to_netcdf(tmp_path / "scores.nc")
    with pytest.raises(InputError, match="holds no scores"):
        read_scores(tmp_path / "scores.nc")


def test_a_table_that_somebody_changed_is_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    everything().save(folder, figures="none")
    frame = read_result(folder).to_frame("scores")
    pd.testing.assert_frame_equal(frame, everything().to_frame())
    (folder / "scores.parquet").write_bytes(parquet_bytes(frame.assign(value=0.6)))
    with pytest.raises(InputError, match="is not as it was written; run the command again"):
        read_result(folder)
    (folder / "scores.parquet").unlink()
    with pytest.raises(InputError, match=r"is missing, which settings\.json names"):
        read_result(folder)


def test_damage_within_a_netcdf_file_is_one_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of some damage a KeyError came, or a second error of h5netcdf was printed."""
    path = tmp_path / "scores.nc"
    everything().to_netcdf(path)
    data = path.read_bytes()
    for at in range(48, 4000, 800):
        path.write_bytes(data[:at] + bytes(byte ^ 255 for byte in data[at : at + 40]) + data[at + 40 :])
        with contextlib.suppress(InputError):
            read_scores(path)
    assert capfd.readouterr().err == ""


def test_lambda_is_a_column_and_fitted_constants_are_a_table() -> None:
    """λ of the toy's new run is ⅓ · 5/9 · 1/36 under P@3; a is 2 of 12 lists' 5 ranks under P@5."""
    estimators = ["anti-precision", "systems-adjustment", "smoothed(fit='pool')", "background"]
    scores = score(toy_collection(), "u", ["P@3", "P@5"], estimators=estimators)
    frame = scores.to_frame().set_index(["measure", "estimator"])
    assert frame.loc[("P@3", "anti-precision"), "lambda"] == pytest.approx(5 / 9 / 36 / 3)
    assert frame.loc[("P@5", "anti-precision"), "lambda"] == 0
    assert frame["lambda"].notna().sum() == 2
    assert "lambda" not in scores.to_frame(per_topic=True)
    assert "lambda" not in score(toy_collection(), "u", estimators="background").to_frame()
    constants = scores.to_frame("constants").set_index(["measure", "estimator"])
    assert constants.loc[("P@5", "systems-adjustment"), "adjustment"] == pytest.approx(2 / 5 / 12)
    fitted = constants.loc[("P@5", "smoothed(fit='pool')")]
    best = fit_constants_to_pool("smoothed", toy_collection(), "P@5")
    assert fitted[["constant_c", "constant_e", "rmse"]].tolist() == [*best.values.values(), best.rmse]
    assert not {"constant_c", "rmse", "adjustment"} & set(scores.to_frame("indicators"))
    (read,) = scores.table("constants").read()
    assert [row[:2] for row in read.rows] == [(m, "smoothed(fit='pool')") for m in ("P@3", "P@5")]
    assert "constants" not in {t.name for t in score(toy_collection(), "u", estimators="background").tables()}


def test_labels_stand_beside_what_there_would_be_without_them() -> None:
    simulation = simulate_example()
    judged = {"llm": simulate_judge(simulation, quality=2.0, random_seed=1)}
    names = {"estimators": ["judge-rates", "posterior-combined(draws=200)"], "measures": "P@10"}
    plain = score(simulation.collection, "new-a", "P@10", estimators=names["estimators"][1]).to_frame()
    scores = score(add_judges(simulation.collection, judged), "new-a", **names)
    assert "value_without" not in plain
    point, posterior = scores.to_frame().to_dict("records")
    assert np.isnan(point["value_without"])
    for name in ("value", "lower", "upper"):
        assert posterior[f"{name}_without"] == plain[name].item()
    assert posterior["value"] != posterior["value_without"]
    moved = difference(posterior["value"] - posterior["value_without"])
    assert f"Labels of LLM judges moved P@10 by {moved}, and made intervals" in scores.sentences()[-1]
    assert "without" in str(scores.summary())
