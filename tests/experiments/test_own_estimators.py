"""Estimators of one's own in experiments and their stored folds."""

from __future__ import annotations

import dataclasses
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from left_out import shapes, stored

from bayespool.collection import Collection
from bayespool.corrections import AsJudged, Background
from bayespool.corrections.base import Corrected
from bayespool.errors import ExperimentChangedWarning, InputError
from bayespool.experiments import leave_out, load_example, vary_pool_width
from bayespool.measures import Values


@dataclass(frozen=True)
class Own(AsJudged):
    """Answers like the lower bound, changed by ``how``."""

    how: str = "as it stands"

    @property
    def name(self) -> str:
        return "own"

    def estimate(self, collection: Collection, run_ids: Any = None, measures: Any = "P@10") -> Any:
        found = super().estimate(collection, run_ids, measures)
        first = found[0]
        shape = (5, *first.per_topic.shape)

        def changed(**fields: Any) -> Any:
            return (dataclasses.replace(first, **fields), *found[1:])

        match self.how:
            case "other order of measures":
                return found[::-1]
            case "one measure":
                return found[:1]
            case "a list":
                return list(found)
            case "one run":
                return super().estimate(collection, first.run_ids[:1], measures)
            case "shape":
                return changed(value=first.value[:1])
            case "no array":
                return changed(value=first.value.tolist())
            case "scores for draws":
                return changed(draws=Values(np.full(shape, 0.5)))
            case "bare draws":
                return changed(draws=np.full(shape, 1))
            case "another unit":
                return changed(draws=Values(np.full(shape, 1), 7))
            case "too many":
                return changed(draws=Values(np.full(shape, 6)))
            case "an exception":
                raise ZeroDivisionError("a bug")
            case "writes":
                collection.relevance[:] = 1
        return found


def test_an_answer_to_another_question_is_refused() -> None:
    for how, message in {
        "other order of measures": "'own' does not answer for P@1, P@2 in this order",
        "one measure": "'own' does not answer for P@1, P@2",
        "a list": "'own' does not return a tuple",
        "one run": "'own' does not speak of the runs",
        "shape": r"value has the shape \(1,\), not \(2,\)",
        "scores for draws": "draws are not amounts of P@1",
        "bare draws": "draws are no Values",
        "another unit": "draws are not amounts of P@1",
        "too many": "draws are not amounts of P@1",
        "no array": "value is no array",
    }.items():
        with pytest.raises(InputError, match=message) as caught:
            leave_out(shapes(), ["P@1", "P@2"], estimators=[Own(how=how)])
        assert caught.value.__notes__ == ["by estimator 'own', leave-out of 'one'"]


def test_an_estimator_s_own_error_says_where() -> None:
    with pytest.raises(ZeroDivisionError, match="a bug") as caught:
        leave_out(shapes(), "P@1", estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', leave-out of 'one'"]
    with pytest.raises(ValueError, match="read-only"):
        leave_out(shapes(), "P@1", estimators=[Own(how="writes")])
    with pytest.raises(ZeroDivisionError) as caught:
        vary_pool_width(shapes(), "P@1", widths=[2], n_samples=1, estimators=[Own(how="an exception")])
    assert caught.value.__notes__ == ["by estimator 'own', pool-width of 'width-2-sample-0'"]


def run_page(heading: str, fence: str, folder: Path) -> dict[str, Any]:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    code = page.split(heading)[1].split(fence)[1].split("```")[0]
    assert len(code.splitlines()) <= 50
    (folder / "page.py").write_text(code)
    return runpy.run_path(str(folder / "page.py"))


def test_the_estimator_of_the_documentation(tmp_path: Path) -> None:
    made = run_page("## Estimators of your own", "```python\n", tmp_path)
    found = made["result"].to_frame().set_index(["estimator", "run_id"])
    stands, corrected = found.loc["as-judged"], found.loc["share-of-residual"]
    residual = stands["bound_upper"] - stands["bound_lower"]
    np.testing.assert_allclose(corrected["value"], stands["value"] + 0.05 * residual)


def test_the_design_of_the_documentation(tmp_path: Path) -> None:
    """Judged to half the depth newcomers lose more; the posterior sees it, and its intervals hold."""
    made = run_page("## An experiment of your own", "```{code-cell} ipython3\n", tmp_path)
    errors = made["result"].to_frame("summary").set_index("estimator")
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
