"""Settings that experiments take, estimators of one's own among them, and their stored folds."""

from __future__ import annotations

import dataclasses
import pickle
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from left_out import asked_settings, shapes, stored
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.corrections import AsJudged, Background, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.corrections.base import Corrected
from bayespool.errors import ExperimentChangedWarning, InputError
from bayespool.experiments import leave_out, load_example, vary_pool_width
from bayespool.experiments.settings import user_code_versions
from bayespool.measures import Estimates, Values


def first_with(change: Callable[[Estimates], dict[str, Any]]) -> Callable[..., Any]:
    return lambda found, _: (dataclasses.replace(found[0], **change(found[0])), *found[1:])


def drawn(value: float, *unit: int) -> Callable[..., Any]:
    return first_with(lambda e: {"draws": Values(np.full((5, *e.per_topic.shape), value), *unit)})


# What an estimator makes of estimates that are as they ought to be, and what is said of it.
ANSWERS: dict[str, tuple[Callable[..., Any], str]] = {
    "other order": (lambda found, _: found[::-1], "'own' does not answer for P@1, P@2 in this order"),
    "one measure": (lambda found, _: found[:1], "'own' does not answer for P@1, P@2"),
    "a list": (lambda found, _: list(found), "'own' does not return a tuple"),
    "shape": (first_with(lambda e: {"value": e.value[:1]}), r"value has the shape \(1,\), not \(2,\)"),
    "no array": (first_with(lambda e: {"value": e.value.tolist()}), "value is no array"),
    "bare draws": (
        first_with(lambda e: {"draws": np.full((5, *e.per_topic.shape), 1)}),
        "draws are no Values",
    ),
    "scores for draws": (drawn(0.5), "draws are not amounts of P@1"),
    "another unit": (drawn(1, 7), "draws are not amounts of P@1"),
    "too many": (drawn(6), "draws are not amounts of P@1"),
    "one run": (
        first_with(lambda e: {n: getattr(e, n)[:1] for n in ("run_ids", "value", "per_topic", "notes")}),
        "'own' does not speak of the runs",
    ),
}
BUGS: dict[str, tuple[Callable[..., Any], str]] = {
    "an exception": (lambda found, _: 1 // 0, ""),
    "writes": (lambda found, collection: collection.relevance.fill(1), ""),
}


@dataclass(frozen=True)
class Own(AsJudged):
    """Answers like the lower bound, changed by ``how``."""

    how: str
    name = "own"

    def estimate(self, collection: Collection, run_ids: Any = None, measures: Any = "P@10") -> Any:
        return (ANSWERS | BUGS)[self.how][0](super().estimate(collection, run_ids, measures), collection)


def test_an_answer_to_another_question_is_refused() -> None:
    for how, (_, message) in ANSWERS.items():
        with pytest.raises(InputError, match=message) as caught:
            leave_out(shapes(), ["P@1", "P@2"], estimators=[Own(how=how)])
        assert caught.value.__notes__ == ["by estimator 'own', leave-out of 'one'"]


def test_an_estimator_s_own_error_says_where() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        leave_out(shapes(), "P@1", estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', leave-out of 'one'"]
    with pytest.raises(ValueError, match="read-only"):
        leave_out(shapes(), "P@1", estimators=[Own(how="writes")])
    with pytest.raises(ZeroDivisionError) as caught:
        vary_pool_width(shapes(), "P@1", widths=[2], n_samples=1, estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', random-pools of 'width-2-sample-0'"]


def run_page(heading: str, fence: str, folder: Path) -> dict[str, Any]:
    page = (Path(__file__).parents[2] / "docs" / "extend.md").read_text(encoding="utf-8")
    code = page.split(heading)[1].split(fence)[1].split("```")[0]
    assert len(code.splitlines()) <= 50
    (folder / "page.py").write_text(code)
    return runpy.run_path(str(folder / "page.py"))


def test_the_estimator_of_the_documentation(tmp_path: Path) -> None:
    made = run_page("## A correction", "```python\n", tmp_path)
    found = made["result"].to_frame().set_index(["estimator", "run_id"])
    stands, corrected = found.loc["as-judged"], found.loc["share-of-residual"]
    residual = stands["bound_upper"] - stands["bound_lower"]
    np.testing.assert_allclose(corrected["value"], stands["value"] + 0.05 * residual)


def test_the_design_of_the_documentation(tmp_path: Path) -> None:
    """Judged to half the depth newcomers lose more; the posterior sees it, and its intervals hold."""
    made = run_page("## An experiment", "```python\n", tmp_path)
    errors = made["judged_to_five"].to_frame("summary").set_index("estimator")
    whole = leave_out(load_example(), "P@10", estimators="as-judged").to_frame("summary")["bias"][0]
    assert errors.loc["as-judged", "n_runs"] == 21
    assert errors.loc["as-judged", "bias"] < 2 * whole
    assert errors.loc["posterior-ratio", "mae"] < errors.loc["as-judged", "mae"] / 2
    assert errors.loc["posterior-ratio", "coverage_95"] > 0.9
    design, collection = made["JudgedToDepth"](depth=5), load_example()
    (north,) = (p for p in design.parts(collection, None) if p.name == "north")
    judged = design.conceal(collection, north, None)
    assert judged.judged.tolist() == collection.unpool(organization="north").truncate_pool(5).judged.tolist()


def shift(version: str | int | None, by: float = 0.1, *, below: type = object) -> Any:
    """An estimator of a class that is made anew, as by a module that is loaded again."""

    @dataclass(frozen=True)
    class Shift(below):  # type: ignore[misc]
        by: float = 0.1
        name = "shift"

        def estimate(self, collection: Collection, run_ids: Any = None, measures: Any = "P@10") -> Any:
            estimates, by = AsJudged().estimate(collection, run_ids, measures), self.by
            return tuple(
                dataclasses.replace(e, value=e.value + by, per_topic=e.per_topic + by) for e in estimates
            )

    if version is not None:
        Shift.version = version  # type: ignore[attr-defined]
    return Shift(by)


def mae_of(estimator: Any, folder: Path) -> float:
    found = leave_out(shapes(), "P@2", estimators=[estimator], folder=folder)
    return float(found.to_frame("summary")["mae"].iloc[0])


def test_a_class_below_a_dataclass_keeps_what_it_was_made_with(tmp_path: Path) -> None:
    """It has another ``__init__`` than the fields say, and attributes that no field describes."""

    class Below(Background):
        def __init__(self, by: float, **settings: Any) -> None:
            super().__init__(**settings)
            object.__setattr__(self, "by", by)

        def correct(self, collection: Collection, bounds: Any) -> Any:
            return Corrected(bounds.lower + self.by)  # type: ignore[attr-defined]

    values = [
        leave_out(shapes(), "P@2", estimators=[Below(by)]).to_frame()["value"].tolist() for by in (0, 0.2)
    ]
    np.testing.assert_allclose(values[1], np.add(values[0], 0.2))
    mae_of(Below(0.1), tmp_path)
    with pytest.warns(ExperimentChangedWarning, match="own estimators"):
        mae_of(Below(0.2), tmp_path)


def test_the_same_version_goes_on_and_another_or_none_starts_afresh(tmp_path: Path) -> None:
    first = mae_of(shift("1"), tmp_path / "same")
    before = stored(tmp_path / "same")
    assert mae_of(shift("1"), tmp_path / "same") == first
    assert stored(tmp_path / "same") == before
    for i, (other, what) in enumerate((
        (shift("2"), "own estimators"),
        (shift("1", by=0.2), "estimators"),
        (shift(None, below=type(shift("1"))), "own estimators"),  # a version is not inherited
    )):  # fmt: skip
        mae_of(shift("1"), tmp_path / f"{i}")
        with pytest.warns(ExperimentChangedWarning, match=f"differs in {what};"):
            mae_of(other, tmp_path / f"{i}")


def test_what_cannot_be_is_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"by": "topic"}, "no column 'topic'; .*run, cluster"), ({"top": 0}, "top cannot be 0"),
        ({"top": float("nan")}, "top cannot be nan"),
        ({"truth": "false"}, "truth cannot be"), ({"top_pool": "some"}, "top_pool cannot be"),
        ({"denominator": "pool"}, "denominator cannot be"), ({"test": "sign"}, "test cannot be"),
        ({"announce": 0.4}, "announce cannot be 0.4; at least 0.5 and at most 1"),
        ({"unseen": "all"}, "unseen cannot be"), ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"random_seed": -1}, "random_seed cannot be -1"), ({"estimators": []}, "no estimator given"),
        ({"repool_to": 0}, "repool_to cannot be 0"), ({"n_clusters": 3}, "organizations are left out"),
        ({"by": "cluster", "n_clusters": 1}, "n_clusters cannot be 1"),
        ({"by": "run", "n_clusters": 3}, "runs are left out"), ({"by": "type"}, "runs have no column 'type'"),
        ({"by": "cluster", "top_pool": "kept"}, "top_pool 'kept'"), ({"measures": "MAP"}, "needs a cutoff"),
        ({"types": ["x"]}, "types are of a column, and organizations are left out; take by="),
        ({"by": "type", "top_pool": "kept"}, "top_pool 'kept'"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"estimators": "posterior-ratio", "posterior_settings": "zzz=Normal(0, 1)"}, "prior 'zzz'"),
        ({"estimators": "topics-adjustment"}, "random-pools --common"),
        ({"estimators": [TopicsAdjustment(common_query_ids=("1",))]}, "random-pools --common"),
        *(({"estimators": [x]}, "neither the name of an estimator") for x in (3, Background, object())),
    ]  # fmt: skip
    for options, message in refused:
        with pytest.raises(InputError, match=message):
            leave_out(toy_collection(), **{"measures": "P@3"} | options)


FEW: dict[str, Any] = {"estimators": "as-judged", "widths": [2], "n_samples": 1}


def test_a_measure_may_look_as_deep_as_the_pools_and_no_deeper() -> None:
    assert vary_pool_width(load_example(), repool_to=10, **FEW).settings.repool_to == 10
    with pytest.raises(InputError, match=r"P@10 looks deeper than the pools, .* depth 9; take P@9"):
        vary_pool_width(load_example(), ["P@5", "P@10"], repool_to=9, **FEW)


def test_five_clusters_where_nothing_is_said() -> None:
    asked = asked_settings(estimators="as-judged", by="cluster")
    assert asked.n_clusters == asked.describe()["n_clusters"] == 5
    assert asked_settings(estimators="as-judged").n_clusters is None


def test_what_parts_depend_on() -> None:
    asked = asked_settings(estimators="as-judged", top=50)
    assert "top" in asked.describe()
    assert set(asked.describe()) - set(asked.describe_parts()) == {"top", "test", "announce", "n_clusters"}
    kept = asked_settings(estimators="as-judged", top=50, top_pool="kept")
    assert kept.describe_parts()["top"] == 50
    types = dict.fromkeys(load_example().pooled_run_ids, "x")
    typed = load_example().with_attributes(runs={run: {"type": "x"} for run in types})
    pools = vary_pool_width(typed, "P@5", pool_type="x", **FEW).settings
    assert set(pools.describe()) - set(pools.describe_parts()) == {"widths", "n_samples"}
    assert pools.describe()["run_types"] == types
    assert pickle.loads(pickle.dumps(pools)) == pools


def test_estimators_under_labels() -> None:
    found = leave_out(
        load_example(), "P@10", estimators={"paper": "background(e=0.05)", "mine": Interpolated(c=0.5)}
    )
    assert found.to_frame("summary")["estimator"].tolist() == ["paper", "mine"]
    twins = ["background(e=0.05)", "background(e=0.01)", "as-judged"]
    found = leave_out(load_example(), "P@10", estimators=twins)
    assert found.to_frame("summary")["estimator"].tolist() == twins
    assert found.settings.describe()["estimators"]["background(e=0.05)"]["e"] == 0.05
    # the estimand is that of the truth
    assert {e.estimand for _, e in found.settings.estimators} == {"pooled"}
    with pytest.raises(InputError, match="two estimators are called 'background'"):
        leave_out(load_example(), "P@10", estimators=[Background(e=0.1), Background(e=0.2)])


def test_pools_that_leave_nothing() -> None:
    no_pool = toy_collection(pooled_run_ids=(), pool_depth=0)
    with pytest.raises(InputError, match="no pooled run to leave out"):
        leave_out(no_pool, "P@3")
    one = toy_collection(pooled_run_ids=("n1", "n2"))
    with pytest.raises(InputError, match="only one organization was pooled"):
        leave_out(one, "P@3")
    assert len(leave_out(one, "P@3", by="run", estimators="as-judged").to_frame()) == 2


def test_the_base_of_an_adjustment_has_a_version() -> None:
    class Mine(Background):
        version = "3"

    base = dataclasses.dataclass(frozen=True, kw_only=True)(Mine)()
    versions = user_code_versions([("mine", SystemsAdjustment(base=base)), ("plain", SystemsAdjustment())])
    assert list(versions["own estimators"]) == ["base of mine"]
    assert versions["own estimators"]["base of mine"].endswith("3")
