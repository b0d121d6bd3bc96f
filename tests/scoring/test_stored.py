"""Scores that were written are the same when they are read."""

from __future__ import annotations

import contextlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from known_scores import POINT, with_posterior

from bayespool import read_result, read_scores
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.scoring import Scores, score
from bayespool.tables.files import parquet_bytes


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
        if ending != "parquet":  # which has one table
            assert stored.statements == scores.statements
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
        asked = {"estimators": ["background", "posterior-ratio"], "draws": 50}
        scores = score(load_example(), TARGETS, ["P@5", "P@10"], **asked)
        scores.to_netcdf(path)
    before = paths[0].read_bytes()
    assert before == paths[1].read_bytes()
    means = read_scores(paths[0]).to_arviz()["posterior"]["P_10"].mean(("chain", "draw")).values
    np.testing.assert_allclose(means, scores["posterior-ratio", "P@10"].value, rtol=1e-12)
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
    estimates = everything()["posterior-known", "P@5"]
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
