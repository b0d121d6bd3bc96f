"""One estimator's answer: what it may hold, its table, and whether it is to the question."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from trec_files import refused

from bayespool.errors import InputError
from bayespool.inference import Fit
from bayespool.measures import Diagnostics, Estimates, Values, parse_measure
from bayespool.measures.estimates import draws_container

DRAWS = Values(np.array([[[1, 2]], [[3, 2]], [[2, 5]]], dtype=np.int32), 5)  # of one run, totals 3, 5 and 7


def answer(**changes: Any) -> Estimates:
    """Of a run on two topics, 2/5 and 3/5."""
    parts: dict[str, Any] = {
        "estimator": "made-up",
        "measure": parse_measure("P@5"),
        "run_ids": ("u",),
        "query_ids": ("1", "2"),
        "per_topic": np.array([[0.4, 0.6]]),
        "value": np.array([0.5]),
        "fingerprint": "0",
    }
    return Estimates(**parts | changes)


def test_table_of_a_posterior() -> None:
    estimates = answer(draws=DRAWS, std=np.array([0.1]))
    frame = estimates.summary_frame(ci_prob=0.3)  # leaves a draw of three out on each side
    (row,) = frame.to_dict("records")
    assert (row["lower"], row["upper"], row["ci_prob"], row["std"]) == (0.5, 0.5, 0.3, 0.1)
    rows = estimates.summary_frame(per_topic=True)
    assert rows["query_id"].tolist() == ["1", "2"]
    assert rows["value"].tolist() == [0.4, 0.6]
    assert rows["lower"].tolist() == [1 / 5, 2 / 5]
    assert rows["upper"].tolist() == [3 / 5, 5 / 5]
    assert not {"std", "distance", "new_kind"} & set(rows)


def test_what_an_answer_cannot_hold() -> None:
    amounts = "not amounts of P@5"
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"value": [0.5]}, "value is no array"),
        ({"value": np.array([0.5, 0.5])}, "value has the shape (2,), not (1,)"),
        ({"per_topic": np.array([[0.5]])}, "per_topic has the shape (1, 1), not (1, 2)"),
        ({"std": np.array(0.1)}, "std has the shape (), not (1,)"),
        ({"notes": (("one",), ("two",))}, "notes on 2 of 1 run"),
        ({"notes": ("one",)}, "notes are text"),
        ({"draws": DRAWS.amount}, "draws are no Values"),
        ({"draws": Values(DRAWS.amount[0], 5)}, "with 1 run and 2 topics"),
        ({"draws": Values(DRAWS.amount[:0], 5)}, "draws have the shape (0, 1, 2)"),
        ({"draws": Values(DRAWS.amount, 10)}, amounts),
        ({"draws": Values(DRAWS.amount / 1, 5)}, amounts),
        ({"draws": Values(DRAWS.amount + 1, 5)}, f"{amounts}; its values are from 0 to 1"),  # six of five
        ({"draws": Values(DRAWS.amount - 2, 5)}, amounts),
    ]
    for changes, message in refusals:
        said = str(refused(answer, **changes))
        assert said.startswith("made-up: "), message
        assert message in said


def fit(n_chains: int, n_draws: int) -> Fit:
    """With nothing in it but a mean."""
    diagnostics = Diagnostics("nuts", 1, 900, 900, 0, ("made up",))
    return Fit({"mu": np.zeros((n_chains, n_draws))}, {}, {}, {}, diagnostics)


SIX = Values(np.arange(12, dtype=np.int32).reshape(6, 1, 2) % 6, 5)  # of one run, totals 1, 5, 9, 1, 5, 9


def test_container_of_draws_is_by_hand() -> None:
    estimates = answer(draws=SIX, random_seed=3, weights={"ratio": 1.0}, fits={"ratio": fit(2, 3)})
    tree = estimates.to_arviz(per_topic=True)
    assert list(tree.children) == ["posterior"]
    posterior = tree["posterior"].to_dataset()
    assert posterior["P_5"].dims == ("chain", "draw", "run_id")
    assert posterior["P_5"].values[:, :, 0].tolist() == [[0.1, 0.5, 0.9]] * 2
    assert posterior["P_5_by_topic"].dims == ("chain", "draw", "run_id", "query_id")
    on_topic = posterior["P_5_by_topic"].sel(run_id="u", query_id="2").values
    assert on_topic.tolist() == [[0.2, 0.6, 1.0]] * 2
    assert posterior["P_5"].attrs == {"measure": "P@5"}
    assert json.loads(tree.attrs.pop("weights")) == {"P@5": {"ratio": 1.0}}
    named = [tree.attrs[name] for name in ("estimator", "random_seed", "collection_fingerprint")]
    assert named == ["made-up", 3, "0"]
    assert set(estimates.to_arviz()["posterior"].data_vars) == {"P_5"}


def test_chains_are_kept_where_draws_are_of_them() -> None:
    cases: list[tuple[dict[str, Fit], tuple[int, int]]] = [
        ({}, (1, 6)),
        ({"ratio": fit(1, 6)}, (1, 6)),
        ({"ratio": fit(2, 3), "evidence": fit(2, 3)}, (2, 3)),
        ({"ratio": fit(2, 3), "evidence": fit(1, 6)}, (1, 6)),  # one of them fell back to the sampler
        ({"ratio": fit(2, 2)}, (1, 6)),  # draws that are of something else
    ]
    for fits, shape in cases:
        found = answer(draws=SIX, fits=fits).to_arviz()["posterior"]["P_5"]
        assert found.shape == (*shape, 1)
        assert found.values.ravel().tolist() == [0.1, 0.5, 0.9] * 2


def test_no_container_of_a_point_correction_or_of_two_measures_of_one_name() -> None:
    with pytest.raises(InputError, match="made-up is a point correction"):
        answer().to_arviz()
    with pytest.raises(InputError, match="two measures would be called P_5"):
        draws_container([answer(draws=SIX)] * 2)


def test_no_model_speaks_for_a_mixture() -> None:
    weights = {"ratio": 0.625, "evidence": 0.375}
    mixture = answer(draws=SIX, weights=weights, fits={"ratio": fit(1, 6), "evidence": fit(1, 6)})
    with pytest.raises(InputError, match="made-up, P@5: draws of several models") as refused:
        _ = mixture.posterior
    assert refused.value.hint == "name one of them: ratio (weight 0.625), evidence (weight 0.375)"
    assert mixture.model_name("evidence") == "evidence"
    with pytest.raises(InputError, match="made-up, P@5: no model 'smoothed'") as refused:
        mixture.model_name("smoothed")
    assert refused.value.hint == "there are: ratio (weight 0.625), evidence (weight 0.375)"
    alone = answer(draws=SIX, weights={"ratio": 1.0}, fits={"ratio": fit(1, 6)})
    assert alone.model_name() == "ratio"
    assert alone.posterior["posterior"]["mu"].shape == (1, 6)
    assert answer(draws=SIX).posterior is None
    with pytest.raises(InputError, match="nothing was sampled"):
        answer(draws=SIX).model_name()
