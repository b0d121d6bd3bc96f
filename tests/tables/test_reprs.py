"""How results show themselves: one line that says what they are of, and in a notebook a table."""

from __future__ import annotations

import html
import importlib
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from answered import nobody
from compared import compared
from labeled import labeled_toy
from left_out import Pairs, judged_at_first
from small import small

import bayespool
from bayespool import audit, audit_judges, plan_comparison, prepare, qrels_from_frame, score
from bayespool.auditing import detect_drift, draw_design
from bayespool.comparisons import Leaderboard, Reversals, count_reversals, score_several
from bayespool.experiments import (
    check_judges,
    check_models,
    compare_budgets,
    compare_judges,
    describe_collection,
    grade_later,
    keep_judgments,
    leave_out,
    leave_out_several,
    run_design,
    score_labels,
    vary_pool_width,
)
from bayespool.measures import Values
from bayespool.pooling import choose
from bayespool.posterior import complete
from bayespool.reading import labels_from_frame
from bayespool.report import StoredResult, read_result
from bayespool.report.result import Result
from bayespool.scoring import (
    CandidatePools,
    DocumentsToJudge,
    Scores,
    StoredScores,
    impute,
    judge_next,
    read_scores,
)
from bayespool.tables.markup import ReprHTMLMixin, first_rows
from bayespool.tables.table import Table

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

ONE = {"estimators": ["background"]}
FEW: dict[str, Any] = {"estimators": "posterior-ratio(draws=20)"}
POOLS: dict[str, Any] = {"widths": [3], "n_samples": 2, **ONE}


def stored_scores() -> StoredScores:
    with TemporaryDirectory() as folder:
        scores().save(f"{folder}/scores.json")
        return read_scores(f"{folder}/scores.json")


def stored(result: Result) -> StoredResult:
    with TemporaryDirectory() as folder:
        result.save(f"{folder}/result.json")
        return read_result(f"{folder}/result.json")


def stored_result() -> StoredResult:
    frame = pd.DataFrame({"run_id": ["a"], "value": [0.5]})
    return StoredResult("leave-out", "Title", {}, (Table("runs", "Runs", frame),))


@cache
def scores() -> Scores:
    return score(
        small(),
        None,
        ("P@5", "P@10"),
        estimators=["background", "posterior-ratio"],
        posterior_settings="draws=20",
    )


@cache
def fewer_judgments() -> Reversals:
    return count_reversals(small(), measures="P@5", judgments=(150, 10**6), estimators=["background"])


@cache
def leaderboard() -> Leaderboard:
    return score_several({"a": small(), "b": small()}, measures={"a": "P@5", "b": "P@10"}, **ONE)


MADE: dict[str, Callable[[], Any]] = {
    "Values": lambda: Values(np.zeros((5, 2, 3))),
    "Bounds": lambda: scores().bounds[0],
    "Estimates": lambda: scores().estimates[0],
    "Scores": scores,
    "StoredScores": stored_scores,
    "StoredResult": stored_result,
    "Comparison": compared,
    "StoredComparison": lambda: stored(compared()),
    "Reversals": fewer_judgments,
    "StoredReversals": lambda: stored(fewer_judgments()),
    "LeaveOutResult": lambda: leave_out(small(), "P@5", **ONE),
    "LeaveOutSeveralResult": lambda: leave_out_several({"a": small()}, "P@5", **ONE),
    "DesignResult": lambda: run_design(small(), Pairs(), "P@5", **ONE),
    "ClosedHolesResult": lambda: grade_later(*judged_at_first(), "P@10", **ONE),
    "RandomPoolsResult": lambda: vary_pool_width(small(), "P@5", n_targets=1, **POOLS),
    "Card": lambda: describe_collection(small(), "P@5", estimators="posterior-ratio(draws=20)"),
    "KeptJudgmentsResult": lambda: keep_judgments(small(), "P@5", estimators="as-judged"),
    "Budgets": lambda: compare_budgets(small(), "P@5", strategies=["take"], budgets=[300]),
    "ModelChecks": lambda: check_models(small(), "P@5", models=["evidence"], posterior_settings="draws=20"),
    "JudgeCheck": lambda: check_judges(labeled_toy(), "P@3"),
    "Imputations": lambda: impute(small(), "new-a", "P@5", draws=2, estimators="posterior-ratio"),
    "CandidatePools": lambda: CandidatePools(small()),
    "ComparisonPlan": lambda: plan_comparison(
        small(), ["new-a", "new-b"], "P@5", judgments=(), more_topics=(30,), **FEW
    ),
    "Audit": lambda: audit(small(), "new-a", "P@5", budget=2, **FEW),
    "StoredAudit": lambda: stored(audit(small(), "new-a", "P@5", budget=2, **FEW)),
    "JudgeAudit": lambda: audit_judges(
        {"llm": labels_from_frame({"q": {"a": 1, "b": 0, "c": 1}})}, qrels_from_frame({"q": {"a": 1, "b": 1}})
    ),
    "JudgeDrift": lambda: detect_drift(
        {name: labels_from_frame({"q": {"a": 1, "b": 0, "c": c}}) for name, c in (("may", 1), ("june", 0))},
        qrels_from_frame({"q": {"a": 1, "b": 1}}),
    ),
    "LabelAgreement": lambda: compare_judges(
        {name: labels_from_frame({"q": {"a": 1, "b": 0, "c": c}}) for name, c in (("llm", 1), ("other", 0))}
    ),
    "NextJudgments": lambda: judge_next(small(), "new-a", "P@5", budget=2, **FEW),
    "Completion": lambda: complete(small(), "new-a", "P@5", estimators="posterior-ratio(draws=20)"),
    "Leaderboard": leaderboard,
    "StoredLeaderboard": lambda: stored(leaderboard()),
    "LabelScores": lambda: score_labels(nobody(), None, "P@10"),
    "SamplingDesign": lambda: draw_design(nobody(), None, "P@10"),
    "DocumentsToJudge": lambda: DocumentsToJudge(small(), choose(small(), "take", 60)),
}


def classes_below(base: type) -> set[str]:
    """Names of a class of bayespool and those below it."""
    own = {base.__name__} if base.__module__.startswith("bayespool.") else set[str]()
    return own.union(*map(classes_below, base.__subclasses__()))


def test_every_result_is_looked_at() -> None:
    for module in pkgutil.walk_packages(bayespool.__path__, "bayespool."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    bases = {"ReprHTMLMixin", "Result", "ReadableScores", "ExperimentResult", "ListForAssessors"}
    bases |= {"WithReportedRuns"}
    assert classes_below(ReprHTMLMixin) | classes_below(Result) == set(MADE) | bases


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_a_result_is_one_line_and_a_table() -> None:
    for name, make in MADE.items():
        found = make()
        line, shown = repr(found), found._repr_html_()
        assert (type(found).__name__, line.startswith(f"<{name}: "), line[-1]) == (name, True, ">")
        assert "\n" not in line
        assert 20 < len(line) < 200
        assert html.escape(line, quote=False) in shown.replace("&#x27;", "'"), name
        assert shown.count("<table") == shown.count("</table>"), name
        assert ("<table" in shown) == hasattr(found, "to_frame"), name
        assert not [part for part in ("<script", "http", "src=", "color:") if part in shown], name
        if hasattr(found, "to_frame"):
            assert isinstance(found.to_frame(), pd.DataFrame), name


def test_a_collection_is_a_table_in_a_notebook() -> None:
    found = small()
    cells = re.findall(r"<td[^>]*>([^<]+)</td>", found._repr_html_())
    assert cells == ["8", "9", "7", "10", "6", "203", "55"]
    assert "9 runs (7 pooled to depth 10), 6 organizations, 8 topics, 203 judgments" in repr(found)
    shown = prepare(found, "P@5")._repr_html_()
    assert "&lt;PreparedCollection: P@5&gt;" in shown
    assert found._repr_html_().count("<table") == shown.count("<table") == 1


def test_first_rows_of_a_large_frame() -> None:
    wide = pd.DataFrame({f"x{i}": [i, i] for i in range(13)})
    assert first_rows(wide).caption == "2 of 2 rows, 12 of 13 columns"
    assert first_rows(wide.iloc[:, :12]).caption == "2 rows"
    table = first_rows(pd.DataFrame({"name": ["a"] * 30, "x": [0.123456] * 30, "n": [7] * 30}))
    assert (table.n_names, len(table.rows), table.rows[0]) == (1, 10, ("a", "0.1235", "7"))
    assert table.caption == "10 of 30 rows, 3 of 3 columns"
