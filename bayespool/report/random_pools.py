"""Printed tables and result folders of experiments on random pools and run types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bayespool.experiments import CommonTopicsResult, PoolWidthResult, RunTypesResult
from bayespool.report.folder import Drawings, FigureFormat, file_name, tables, write_folder
from bayespool.report.terminal import print_heading, print_line, print_note, print_table
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

Result: TypeAlias = PoolWidthResult | CommonTopicsResult | RunTypesResult


def print_pool_width(result: PoolWidthResult, console: Console) -> None:
    """Print a table per measure: errors by estimator and width."""
    summary, s = result.summary_frame(), result.settings
    scored = "a run" if s.n_targets == 1 else f"up to {s.n_targets} runs"
    print_line(console, f"{_pools_clause(result)}, {scored} outside each scored; {_scope(result)}")
    for measure in s.measures:
        print_heading(console, f"\n{measure}")
        rows = summary[summary["measure"] == str(measure)]
        header = ["estimator", "width", "un-\njudged", "bias", "its\ns.e.", "1st\nquartile", "median"]
        header += ["3rd\nquartile", "MAE", "RMSE", "RMSE\nper topic"]
        names = ["unjudged", "bias", "bias_se", "quartile_1", "median", "quartile_3", "mae", "rmse"]
        names.append("topic_rmse")
        if rows["ci_prob"].notna().any():
            header += [f"truth in\n{100 * s.ci_prob:g} %", f"width of\n{100 * s.ci_prob:g} %"]
            names += ["coverage", "interval_width"]
        body = [
            [str(row["estimator"]), str(row["pool_width"]), *(number(row[name]) for name in names)]
            for label in s.labels
            for _, row in rows[rows["estimator"] == label].iterrows()
        ]
        print_table(console, header, body)
    for note in result.notes:
        print_note(console, note)


def print_common_topics(result: CommonTopicsResult, console: Console) -> None:
    """Print a table per measure and estimator: mean absolute errors by width and number of common topics."""
    summary, s = result.summary_frame(), result.settings
    drawn = (
        f"{_pools_clause(result)}, a run outside each scored; {s.n_topic_samples} draws of common topics each"
    )
    print_line(console, f"{drawn}; {_scope(result)}")
    for measure in s.measures:
        for label in s.labels:
            title = f"\n{measure}, MAE of {label} by the number of common topics"
            print_heading(console, title)
            rows = summary[(summary["measure"] == str(measure)) & (summary["estimator"] == label)]
            header = ["score", "width", "none", *(str(n) for n in s.n_common)]
            body = [line for width in s.widths for line in _width_rows(rows[rows["pool_width"] == width])]
            print_table(console, header, body)
    print_line(
        console,
        "law: √(2/π) √((N − n)/(nN)) times the standard deviation over topics of what a run loses outside "
        "the pool, which is the MAE of the adjusted score as far as that is normal.",
    )


def print_run_types(result: RunTypesResult, console: Console) -> None:
    """Print a table per measure and left-out type: errors by estimator."""
    summary, shared = result.summary_frame(), result.settings.shared
    print_line(console, f"each type left out of the pool in turn; {_scope(result)}")
    for measure in shared.measures:
        for kind in result.settings.types:
            rows = summary[(summary["measure"] == str(measure)) & (summary["type"] == kind)]
            n_runs, n_pool_runs = (int(rows[name].iloc[0]) for name in ("n_runs", "n_pool_runs"))
            title = f"\n{measure}, {n_runs} {kind} runs on a pool of {n_pool_runs} others"
            print_heading(console, title)
            header = ["estimator", "MAE", "RMSE", "bias", "SRE", "τ_b"]
            names = ["mae", "rmse", "bias", "sre", "kendall_tau_b"]
            if rows["ci_prob"].notna().any():
                header += [
                    "truth in\n50 %",
                    "\n80 %",
                    "\n95 %",
                    f"width of\n{100 * shared.ci_prob:g} %",
                    "CRPS",
                ]
                names += ["coverage_50", "coverage_80", "coverage_95", "width", "crps"]
            body = [
                [str(row["estimator"])]
                + [number(row[name], 0 if name == "sre" else 3 if "cover" in name else 4) for name in names]
                for _, row in rows.iterrows()
            ]
            print_table(console, header, body)
    for note in result.notes:
        print_note(console, note)


def write_pool_width(result: PoolWidthResult, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write ``pools``, ``summary``, ``settings.json`` and a figure per measure."""

    def draw() -> Drawings:
        from bayespool.plots import figure_grid, plot_pool_width

        for measure in result.settings.measures:
            figure, (panel,) = figure_grid(1, width=6.5, height=4.5)
            plot_pool_width(result, measure, ax=panel)
            yield f"pool-width-{file_name(measure)}", figure

    _write(result, folder, "pool-width", "pools", result.settings.describe(), figures, draw)


def write_common_topics(result: CommonTopicsResult, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write ``pools``, ``summary``, ``settings.json`` and a figure per measure and estimator."""
    s = result.settings

    def draw() -> Drawings:
        from bayespool.plots import figure_grid, plot_common_topics

        for measure in s.measures:
            for label in s.labels:
                figure, panels = figure_grid(len(s.widths))
                for panel, width in zip(panels, s.widths, strict=True):
                    plot_common_topics(result, measure, label, width, ax=panel)
                yield f"common-topics-{file_name(measure)}-{file_name(label)}", figure

    _write(result, folder, "common-topics", "pools", s.describe(), figures, draw)


def write_run_types(result: RunTypesResult, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write ``runs``, ``summary``, ``settings.json`` and a figure per measure."""

    def draw() -> Drawings:
        from bayespool.plots import figure_grid, plot_run_types

        for measure in result.settings.shared.measures:
            figure, panels = figure_grid(len(result.settings.types), width=5)
            for panel, kind in zip(panels, result.settings.types, strict=True):
                plot_run_types(result, measure, kind, ax=panel)
            yield f"run-types-{file_name(measure)}", figure

    _write(result, folder, "run-types", "runs", result.settings.describe(), figures, draw)


def _write(
    result: Result,
    folder: Path,
    experiment: str,
    rows: str,
    settings: Mapping[str, Any],
    figures: FigureFormat,
    draw: Callable[[], Drawings],
) -> None:
    files = tables({rows: result.frame(), "summary": result.summary_frame()})
    described = {"fingerprint": result.fingerprint, "pool": result.pool, "settings": settings}
    if not isinstance(result, CommonTopicsResult):  # has no notes
        described["notes"] = list(result.notes)
    if isinstance(result, RunTypesResult):
        described["warnings"] = [f"{name}: {text}" for name, text in result.warnings]
    write_folder(folder, experiment, described, files, figures=figures, draw=draw)


def _width_rows(rows: pd.DataFrame) -> list[list[str]]:
    """Rows of one width; the unadjusted score has one error, the others one per number of common topics."""
    width, plain = str(rows["pool_width"].iloc[0]), rows[rows["score"] == "unadjusted"]
    lines = [["unadjusted", width, number(plain["mae"].iloc[0]), *[""] * len(plain)]]
    for score in ("mixed", "adjusted", "common-only"):
        group = rows[rows["score"] == score]
        lines.append([score, width, "", *(number(x) for x in group["mae"])])
        if score == "adjusted":
            lines.append(["  law", width, "", *(number(x) for x in group["mae_law"])])
    return lines


def _pools_clause(result: PoolWidthResult | CommonTopicsResult) -> str:
    s = result.settings
    kind = "" if s.pool_type is None else f"{s.pool_type} "
    pools = f"{s.n_samples} pools of each width drawn from {result.n_contributors} {kind}{s.by}s"
    return pools if s.target_type is None else f"{pools} for {s.target_type} runs"


def _scope(result: Result) -> str:
    s = result.settings
    who = "" if s.runs == "pooled" else ", all runs taking part, unjudged documents in truth nonrelevant"
    return f"judged to depth {s.pool_depth}{who}; means over {len(result.query_ids)} topics"
