"""A run's score is its own: whatever is scored beside it, not a byte of it changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from graded_example import graded
from left_out import POINTS
from small import small

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures import MEASURES, Measure, Normalized, parse_measure
from bayespool.measures.normalized import with_ideal
from bayespool.models import MODELS
from bayespool.scoring import Scores, score

ALONE = "new-a"
BESIDE = ("new-a", "new-b", "north-1")
FAMILIES = [name for name in MEASURES if not MEASURES[name].of_judgments]
DEEP = [
    "AP@100",
    "R@100",
    "nDCG@20",
    "P@30",
    "nDCG(dcg='exp-log2')@10",
    "P(rel=2)@10",
    "AP(ideal='judged')@10",
]
"""Below the pool depth of 10, and with other parameters."""


def measures() -> list[Measure]:
    return [parse_measure(text) for text in [*(f"{name}@10" for name in FAMILIES), *DEEP]]


def of_run(scores: Scores, run: str, measure: Measure) -> list[np.ndarray]:
    """All numbers of a run under a measure: bounds, estimates and draws."""
    (bounds,) = (b for b in scores.bounds if b.measure == measure)
    row = scores.run_ids.index(run)
    ends = [bounds.low, bounds.high, bounds.least, bounds.most]
    numbers = [values.amount[row] for values in ends] + [bounds.n_unjudged[row]]
    for e in (e for e in scores.estimates if e.measure == measure):
        numbers += [e.per_topic[row], e.value[row : row + 1]]
        numbers += [] if e.draws is None else [e.draws.amount[:, row]]
    return numbers


def scored(collection: Collection, runs: Sequence[str] | str, **settings: object) -> Scores:
    return score(collection, runs, measures(), draws=50, **settings)  # type: ignore[arg-type]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("relevant or not", marks=(pytest.mark.slow, pytest.mark.at_a_desk)),
        "levels",
    ],
)
def alone_and_beside(request: pytest.FixtureRequest) -> tuple[Scores, Scores]:
    if request.param == "levels":
        collection, estimators = graded(small()), [*POINTS, "posterior-ratio"]
    else:
        collection, estimators = load_example(), ["all", "posterior-ratio"]
    collection = collection.unpool(["north-1"])
    return tuple(scored(collection, runs, estimators=estimators) for runs in (ALONE, BESIDE))  # type: ignore[return-value]


@pytest.mark.filterwarnings("ignore::bayespool.errors.InputWarning")  # no document has relevance 2
@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")  # of so few draws
def test_what_is_scored_beside_a_run_changes_none_of_its_bytes(
    alone_and_beside: tuple[Scores, Scores],
) -> None:
    for measure in measures():
        alone, beside = (of_run(scores, ALONE, measure) for scores in alone_and_beside)
        assert len(alone) > 20, measure
        for a, b in zip(alone, beside, strict=True):
            assert a.tobytes() == b.tobytes(), measure
        other = of_run(alone_and_beside[1], "new-b", measure)
        assert any(a.tobytes() != b.tobytes() for a, b in zip(alone, other, strict=True)), measure


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")  # of so few draws
def test_so_it_is_where_models_are_combined() -> None:
    """Which is what is scored where no estimator is named."""
    collection, name = small().unpool(["north-1"]), "posterior-combined"
    alone, beside = (
        score(collection, runs, "P@10", estimators=name, draws=50)[name, "P@10"] for runs in (ALONE, BESIDE)
    )
    assert alone.draws is not None
    assert beside.draws is not None
    assert alone.draws.amount[:, 0].tobytes() == beside.draws.amount[:, 0].tobytes()
    assert alone.draws.amount[:, 0].tobytes() != beside.draws.amount[:, 1].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_so_it_is_under_every_model(model: str) -> None:
    """Models of counts learn from the run's own judged documents, and from no other's to be scored."""
    name = f"posterior-{model.replace('_', '-')}"
    alone, beside = (
        score(load_example(), runs, "nDCG@5", estimators=name, draws=200, chains=4)[name, "nDCG@5"]
        for runs in (ALONE, ("new-b", ALONE))
    )
    assert alone.draws is not None
    assert beside.draws is not None
    assert alone.draws.amount[:, 0].tobytes() == beside.draws.amount[:, 1].tobytes()


@pytest.mark.usefixtures("fits_of_all_tests")
def test_scores_of_runs_that_were_scored_apart_are_not_compared() -> None:
    from bayespool.comparisons.comparing import compare_scores

    example = load_example()
    asked = ["as-judged", "posterior-ratio"]
    apart = score(example, BESIDE[:2], "P@10", estimators=asked, draws=200)
    with pytest.raises(InputError, match="as if it were alone: draws of a difference say nothing"):
        compare_scores(apart)
    together = score(example, BESIDE[:2], "P@10", estimators=asked, draws=200, together=True)
    assert len(compare_scores(together).differences())


def test_only_an_ideal_of_a_run_s_own_is_changed() -> None:
    asked = [parse_measure(text) for text in ("P@10", "nDCG@10", "AP(ideal='judged')@10")]
    assert [str(m) for m in with_ideal(asked, "shared")] == [
        "P@10",
        "nDCG(ideal='shared')@10",
        "AP(ideal='judged')@10",
    ]
    assert all(m.ideal != "own" for m in with_ideal(asked, "judged") if isinstance(m, Normalized))
    with pytest.raises(InputError, match="no ideal 'mine'"):
        with_ideal(asked, "mine")  # type: ignore[arg-type]
