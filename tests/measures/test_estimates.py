"""One estimator's answer: what it may hold, its table, and whether it is to the question."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import arviz_stats
import numpy as np
import pytest
from fits import TARGETS
from toys import toy_collection
from trec_files import refused

from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.inference import Fit
from bayespool.measures import Diagnostics, Estimates, Values, parse_measure
from bayespool.measures.estimates import draws_container, estimate_checked
from bayespool.posterior import PosteriorEstimator
from bayespool.tables import container_bytes
from bayespool.tables.containers import container_of_bytes

P5, P10 = parse_measure("P@5"), parse_measure("P@10")
DRAWS = Values(np.array([[[1, 2]], [[3, 2]], [[2, 5]]], dtype=np.int32), 5)  # of one run, totals 3, 5 and 7


def answer(**changes: Any) -> Estimates:
    """Of a run on two topics, 2/5 and 3/5."""
    parts: dict[str, Any] = {
        "method": "made-up",
        "measure": P5,
        "run_ids": ("u",),
        "query_ids": ("1", "2"),
        "per_topic": np.array([[0.4, 0.6]]),
        "value": np.array([0.5]),
        "fingerprint": "0",
    }
    return Estimates(**parts | changes)


EMPTY = ("lower", "upper", "ci_prob", "std", "distance", "new_kind")


def test_table_of_a_point_correction() -> None:
    (row,) = answer(notes=("something is off",)).summary_frame().to_dict("records")
    assert np.isnan([row.pop(name) for name in EMPTY]).all()
    assert row == {
        "run_id": "u",
        "measure": "P@5",
        "method": "made-up",
        "value": 0.5,
        "note": "something is off",
    }


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


def test_columns_are_named_after_the_method_and_each_end() -> None:
    drawn = answer(draws=DRAWS, distance=np.array([2.5]))
    columns = {name: values.tolist() for name, values in drawn.columns().items()}
    assert columns == {
        "made-up": [0.5],
        "made-up_lower": [0.3],
        "made-up_upper": [0.7],
        "made-up_distance": [2.5],
    }
    by_topic = {name: values.tolist() for name, values in drawn.columns(per_topic=True).items()}
    assert by_topic == {
        "made-up": [0.4, 0.6],
        "made-up_lower": [1 / 5, 2 / 5],
        "made-up_upper": [3 / 5, 5 / 5],
    }
    point = {name: values.tolist() for name, values in answer(std=np.array([0.1])).columns().items()}
    assert point == {"made-up": [0.5], "made-up_std": [0.1]}


def test_what_an_answer_cannot_hold() -> None:
    amounts = "not amounts of P@5"
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"value": [0.5]}, "value is no array"),
        ({"value": np.array([0.5, 0.5])}, "value has the shape (2,), not (1,)"),
        ({"per_topic": np.array([[0.5]])}, "per_topic has the shape (1, 1), not (1, 2)"),
        ({"std": np.array(0.1)}, "std has the shape (), not (1,)"),
        ({"notes": ("one", "two")}, "2 notes on 1 run"),
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
    assert {name: tree.attrs[name] for name in ("method", "random_seed", "collection_fingerprint")} == {
        "method": "made-up",
        "random_seed": 3,
        "collection_fingerprint": "0",
    }
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
    assert mixture.model_of("evidence") == "evidence"
    with pytest.raises(InputError, match="made-up, P@5: no model 'smoothed'") as refused:
        mixture.model_of("smoothed")
    assert refused.value.hint == "there are: ratio (weight 0.625), evidence (weight 0.375)"
    alone = answer(draws=SIX, weights={"ratio": 1.0}, fits={"ratio": fit(1, 6)})
    assert alone.model_of() == "ratio"
    assert alone.posterior["posterior"]["mu"].shape == (1, 6)
    assert answer(draws=SIX).posterior is None
    with pytest.raises(InputError, match="nothing was sampled"):
        answer(draws=SIX).model_of()


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")  # of so few draws
@pytest.mark.parametrize(
    ("engine", "n_chains"), [("laplace", 1), pytest.param("nuts", 2, marks=pytest.mark.slow)]
)
def test_arviz_says_what_the_estimates_say(
    engine: Any, n_chains: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "nuts":
        from fits import compile_once

        from bayespool.inference import NUTS

        monkeypatch.setattr(NUTS, "compile", compile_once)
    estimator = PosteriorEstimator(model="background", engine=engine, draws=300, tune=500, chains=2)
    (estimates,) = estimator.estimate(load_example(), TARGETS, "P@10")
    tree = estimates.to_arviz()
    assert tree["posterior"].sizes["chain"] == n_chains
    summary = arviz_stats.summary(tree, ci_kind="eti", ci_prob=0.95, round_to="none")
    assert list(summary.index) == [f"P_10[{run}]" for run in TARGETS]
    np.testing.assert_allclose(summary["mean"].to_numpy(dtype=float), estimates.value, rtol=1e-12)
    assert estimates.std is not None
    np.testing.assert_allclose(summary["sd"].to_numpy(dtype=float), estimates.std, rtol=0.002)
    estimates.to_netcdf(tmp_path / "one.nc", per_topic=True)
    data = (tmp_path / "one.nc").read_bytes()
    read = container_of_bytes(data)
    assert read.identical(estimates.to_arviz(per_topic=True))
    assert container_bytes(read) == data
    on_topics = read["posterior"]["P_10_by_topic"].mean(("chain", "draw")).values
    np.testing.assert_allclose(on_topics, estimates.per_topic, rtol=1e-12)


def test_diagnostics_pass_without_a_problem() -> None:
    good = Diagnostics("nuts", 1.0, 900.0, 900.0, 0)
    assert good.passed
    assert not replace(good, problems=("4 divergences",)).passed


@dataclass(frozen=True)
class Fixed:
    """Says what it was made with."""

    says: object
    name: str = "fixed"

    def estimate(self, collection: object, run_ids: object, measures: object) -> Any:
        return self.says


def test_an_answer_to_the_question_is_passed_on() -> None:
    toy = toy_collection()
    good = answer(query_ids=toy.query_ids, per_topic=np.full((1, 3), 0.5))
    says = (good, replace(good, measure=P10))
    assert estimate_checked(Fixed(says), toy, ["u"], [P5, P10]) is says
    order, kind = "P@5, P@10 in this order", "one per measure, but"
    for wrong, message in (
        ((good,), order),
        (says[::-1], order),
        ((good, answer(measure=P10)), "does not speak of the runs"),  # two topics of three
        ((good, replace(says[1], run_ids=("n1",))), "does not speak of the runs"),
        ((good, 0.5), f"{kind} a tuple with"),
        (None, f"{kind} an object of type NoneType"),
        (np.zeros((2, 3)), f"{kind} an object of type ndarray of shape (2, 3)"),
    ):
        said = str(refused(estimate_checked, Fixed(wrong), toy, ["u"], [P5, P10]))
        assert said.startswith("estimator 'fixed' does not "), message
        assert message in said
