"""The names that most users need, by what they are for: the first part of the API page."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import bayespool

GROUPS = {
    "Read runs and judgments": (
        "read_collection read_collections build_collection read_run read_runs read_qrels read_organizations "
        "run_from_frame qrels_from_frame describe_pool discover_pool Collection describe_collection Card"
    ),
    "Score and compare": (
        "score Scores Estimates Values read_scores StoredScores compare Comparison gate Gate count_reversals "
        "Reversals score_several compare_table Leaderboard read_result StoredResult write_report rc_context"
    ),
    "Complete the judgments": "impute Imputations complete Completion",
    "Organize a campaign": (
        "compare_budgets Budgets plan_comparison ComparisonPlan judge_next NextJudgments audit Audit "
        "read_audit check_judges JudgeCheck"
    ),
    "Study estimators": (
        "leave_out LeaveOutResult leave_out_several LeaveOutSeveralResult check_models ModelChecks "
        "fit model_graph load_example "
        "simulate SimulationSettings"
    ),
    "Measures, estimators and predictors of your own": (
        "Measure Precision parse_measure register_measure register_estimator register_model Predictor "
        "register_predictor"
    ),
    "Counts": "judgment_counts held_out_counts condensed_counts composition_effects",
}


def groups() -> dict[str, list[str]]:
    """Full names by group, as the rooms have them; a name without a group stands under *More*."""
    public = {name for name in bayespool.__all__ if callable(getattr(bayespool, name))}
    grouped = {group: [n for n in names.split() if n in public] for group, names in GROUPS.items()}
    rest = sorted(public - {name for names in grouped.values() for name in names})
    grouped |= {"More": rest} if rest else {}
    return {group: [home(name) for name in names] for group, names in grouped.items()}


def home(name: str) -> str:
    """The full name of a public name, in the room that offers it."""
    room = ".".join(getattr(bayespool, name).__module__.split(".")[:2])
    if not hasattr(import_module(room), name):
        raise AttributeError(f"{room} has no {name}")
    return f"{room}.{name}"


def write_names(folder: Path) -> None:
    """Write the groups as tables for ``api.rst``; a file that is as it should be is left alone."""
    parts = []
    for group, names in groups().items():
        entries = "".join(f"   ~{name}\n" for name in names)
        parts.append(f"{group}\n{'~' * len(group)}\n\n.. autosummary::\n\n{entries}")
    text = "\n".join(parts)
    file = folder / "names.rst"
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
