"""One estimator's answer: what it may hold, its table, and whether it is to the question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from toys import toy_collection

from bayespool.errors import InputError
from bayespool.estimates import Diagnostics, Estimates, ask
from bayespool.measures import parse_measure
from bayespool.values import Values

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


def test_table_of_a_point_correction() -> None:
    (row,) = answer(notes=("something is off",)).summary_frame().to_dict("records")
    assert np.isnan([row.pop(name) for name in ("lower", "upper", "ci_prob", "std")]).all()
    assert row == {
        "run_id": "u",
        "measure": "P@5",
        "method": "made-up",
        "value": 0.5,
        "note": "something is off",
    }


def test_table_of_a_posterior() -> None:
    estimates = answer(draws=DRAWS, std=np.array([0.1]))
    (row,) = estimates.summary_frame(ci_prob=0.3).to_dict(
        "records"
    )  # leaves a draw of three out on each side
    assert (row["lower"], row["upper"], row["ci_prob"], row["std"]) == (0.5, 0.5, 0.3, 0.1)
    rows = estimates.summary_frame(per_topic=True)
    assert rows["query_id"].tolist() == ["1", "2"]
    assert rows["value"].tolist() == [0.4, 0.6]
    assert rows["lower"].tolist() == [1 / 5, 2 / 5]
    assert rows["upper"].tolist() == [3 / 5, 5 / 5]
    assert "std" not in rows


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": [0.5]}, "value is no array"),
        ({"value": np.array([0.5, 0.5])}, r"value has the shape \(2,\), not \(1,\)"),
        ({"per_topic": np.array([[0.5]])}, r"per_topic has the shape \(1, 1\), not \(1, 2\)"),
        ({"std": np.array(0.1)}, r"std has the shape \(\), not \(1,\)"),
        ({"notes": ("one", "two")}, "2 notes on 1 runs"),
        ({"draws": DRAWS.amount}, "draws are no Values"),
        ({"draws": Values(DRAWS.amount[0], 5)}, "not .draw, run, topic. with 1 runs and 2 topics"),
        ({"draws": Values(DRAWS.amount[:0], 5)}, r"draws have the shape \(0, 1, 2\)"),
        ({"draws": Values(DRAWS.amount, 10)}, "draws are not amounts of P@5"),
        ({"draws": Values(DRAWS.amount / 1, 5)}, "draws are not amounts of P@5"),
        ({"draws": Values(DRAWS.amount + 1, 5)}, "draws are not amounts of P@5"),  # six of five
        ({"draws": Values(DRAWS.amount - 2, 5)}, "draws are not amounts of P@5"),
    ],
)
def test_what_an_answer_cannot_hold(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^made-up: .*{message}"):
        answer(**changes)


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
    assert ask(Fixed(says), toy, ["u"], [P5, P10]) is says
    for wrong, message in {
        (good,): "does not answer for P@5, P@10 in this order",
        says[::-1]: "does not answer for P@5, P@10 in this order",
        (good, answer(measure=P10)): "does not speak of the runs asked about",  # two topics of three
        (good, replace(says[1], run_ids=("n1",))): "does not speak of the runs asked about",
        (good, 0.5): "does not return a tuple of Estimates",
        None: "does not return a tuple of Estimates",
    }.items():
        with pytest.raises(InputError, match=f"estimator 'fixed' {message}"):
            ask(Fixed(wrong), toy, ["u"], [P5, P10])
