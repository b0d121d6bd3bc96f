"""How results show themselves: one line that says what they are of, and in a notebook a table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import compared
from known_scores import example_scores
from labeled import labeled_toy

import bayespool
from bayespool import load_example
from bayespool.comparisons import reversals
from bayespool.experiments import (
    JudgingRounds,
    SelfCalibration,
    budgets,
    check_judges,
    check_models,
    judge_in_rounds,
    leave_out,
    leave_types_out,
    simulate,
    simulate_example,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.measures import Values
from bayespool.posterior import complete
from bayespool.scoring import StoredResults, StoredScores, impute, judge_next
from bayespool.tables import TextTable, html_repr
from bayespool.tables.reprs import Shown, first_rows, one_line

ONE = {"estimators": ["background"]}
POOLS: dict[str, Any] = {"widths": [3], "n_samples": 2, **ONE}


def types_of(collection: Any) -> dict[str, str]:
    return {run: "manual" if i % 4 else "automatic" for i, run in enumerate(collection.run_ids)}


def stored_scores() -> StoredScores:
    scores = example_scores()
    return StoredScores(scores.to_frame().to_dict("list"), scores.metadata)


def rounds_of_judging() -> JudgingRounds:
    example = simulate_example()
    settings: dict[str, Any] = {"n_rounds": 1, "orders": "random", "draws": 20}
    return judge_in_rounds(example.collection, "new-a", "P@5", answers=example.truth, **settings)


MADE: dict[str, Callable[[], Any]] = {
    "Values": lambda: Values(np.zeros((5, 2, 3))),
    "Bounds": lambda: example_scores().bounds[0],
    "Estimates": lambda: example_scores().estimates[0],
    "Scores": example_scores,
    "StoredScores": stored_scores,
    "StoredResults": lambda: StoredResults("leave-out", {}, {"runs": pd.DataFrame({"a": [1]})}),
    "Comparison": compared,
    "Reversals": lambda: reversals(load_example(), judgments=(150, 10**6), estimators=["background"]),
    "LeaveOutResult": lambda: leave_out(load_example(), "P@5", **ONE),
    "PoolWidthResult": lambda: vary_pool_width(load_example(), "P@5", n_targets=1, **POOLS),
    "CommonTopicsResult": lambda: vary_common_topics(
        load_example(), "P@5", n_common=[4], n_topic_samples=2, widths=[3], n_samples=2
    ),
    "RunTypesResult": lambda: leave_types_out(
        load_example(), "P@5", run_types=types_of(load_example()), **ONE
    ),
    "Budgets": lambda: budgets(load_example(), "P@5", strategies=["take"], budgets=[300]),
    "ModelChecks": lambda: check_models(
        simulate(random_seed=3).collection, "P@5", models=["evidence"], draws=20
    ),
    "JudgeCheck": lambda: check_judges(labeled_toy(), "P@3"),
    "Imputations": lambda: impute(load_example(), "new-a", "P@5", draws=2),
    "JudgingRounds": rounds_of_judging,
    "NextJudgments": lambda: judge_next(load_example(), "new-a", "P@5", budget=2, draws=20),
    "Completion": lambda: complete(load_example(), "new-a", "P@5", draws=20),
    "SelfCalibration": lambda: SelfCalibration(
        "ratio", "laplace", ("mu",), np.zeros((3, 1), dtype=np.int64), 20, 0, 10.0
    ),
}


def classes_below(base: type) -> set[str]:
    return {base.__name__}.union(*map(classes_below, base.__subclasses__()))


def test_every_result_is_looked_at() -> None:
    for module in pkgutil.walk_packages(bayespool.__path__, "bayespool."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert classes_below(Shown) - {"Shown", "WithPaper"} == set(MADE)
    results = {"Budgets", "Comparison", "Completion", "Estimates", "Imputations", "JudgeCheck", "Values"}
    results |= {"LeaveOutResult", "ModelChecks", "NextJudgments", "Reversals", "Scores", "StoredResults"}
    assert results | {"StoredScores"} <= set(MADE)
    assert results <= set(bayespool.__all__)


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize("name", MADE)
def test_a_result_is_one_line_and_a_table(name: str) -> None:
    found = MADE[name]()
    assert type(found).__name__ == name
    line = repr(found)
    assert line.startswith(f"<{name}: ")
    assert line.endswith(">")
    assert "\n" not in line
    assert 20 < len(line) < 200
    shown = found._repr_html_()
    assert line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in shown.replace(
        "&#x27;", "'"
    )
    assert shown.count("<table") == shown.count("</table>")
    assert ("<table" in shown) == hasattr(found, "to_frame")
    assert not [part for part in ("<script", "http", "src=", "color:") if part in shown]
    if hasattr(found, "to_frame"):
        assert isinstance(found.to_frame(), pd.DataFrame)
    if hasattr(found, "frame"):
        pd.testing.assert_frame_equal(found.frame(), found.to_frame())


def test_lines_say_what_they_are_of() -> None:
    assert repr(example_scores()).startswith(
        "<Scores: P@5, P@10, P(rel=2)@10 of 2 runs (new-a, new-b) on 20 topics, by background, interpolated, "
    )
    assert repr(compared()) == "<Comparison: P@10 of 1 pair of 2 runs (new-a, new-b) on 20 topics>"
    assert repr(Values(np.zeros((5, 2, 3)))) == "<Values: 5 draws of 2 runs on 3 topics, amounts of 1/1>"


def test_long_lines_are_shortened_and_stay_one() -> None:
    line = one_line("Scores", "a\n\x1b[31m" + "x" * 500)
    assert line.startswith(r"<Scores: a\n\x1b[31mxxx")
    assert len(line) < 200
    assert line.endswith("…>")


def test_html_is_escaped() -> None:
    wicked = "<img src=x onerror=alert(1)>"
    shown = html_repr(wicked, (TextTable(wicked, (wicked,), ((wicked,),)),))
    assert "<img" not in shown
    assert shown.count("&lt;img") == 4


def test_columns_that_are_not_shown_are_told() -> None:
    wide = pd.DataFrame({f"x{i}": [i, i] for i in range(13)})
    assert first_rows(wide).caption == "2 of 2 rows, 12 of 13 columns"
    assert first_rows(wide.iloc[:, :12]).caption == "2 rows"


def test_first_rows_of_a_large_frame() -> None:
    table = first_rows(pd.DataFrame({"name": ["a"] * 30, "x": [0.123456] * 30, "n": [7] * 30}))
    assert (table.n_names, len(table.rows), table.rows[0]) == (1, 10, ("a", "0.1235", "7"))
    assert table.caption == "10 of 30 rows, 3 of 3 columns"
