"""Printed tables and result folders of leave-out experiments."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayespool.collection.contents import some
from bayespool.comparisons.tables import records
from bayespool.experiments import LeaveOutResult, mae_by_cutoff
from bayespool.measures import Measure
from bayespool.report.folder import Drawings, FigureFormat, file_name, tables, write_folder
from bayespool.report.sentences import leave_out_sentence
from bayespool.report.terminal import print_heading, print_line, print_note, print_table, print_words
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_TESTS = {"tukey-hsd": "Tukey's test", "paired-t": "paired t tests"}


def print_leave_out(result: LeaveOutResult, console: Console) -> None:
    """Print a table of errors per measure, one of intervals where there are posteriors, and notes.

    Parameters
    ----------
    result : LeaveOutResult
    console : rich.console.Console
        Wider tables than the console are printed in full width.
    """
    summary = result.summary_frame()
    print_words(console, _scope(result))
    for line in _clusters(result):
        print_line(console, line)
    for measure in result.settings.measures:
        rows = summary[summary["measure"] == str(measure)]
        n_runs = int(rows["n_runs"].iloc[0])
        print_heading(console, f"\n{measure}, {_runs_clause(result, measure, n_runs)}")
        print_table(console, *_errors(rows))
        posteriors = rows[rows["ci_prob"].notna()]
        if len(posteriors):
            n_open = int(posteriors["n_open"].iloc[0])
            print_line(console, f"intervals of {n_open} runs with anything unjudged")
            print_table(console, *_intervals(posteriors))
        print_words(console, _reliability(result, measure))
        for note in result.notes_of(measure):
            print_note(console, note)
        print_words(console, leave_out_sentence(records(rows)))
    test = _TESTS[result.settings.test]
    print_words(
        console,
        "\nSRE: by how many places estimates miss their runs' true ranks, summed over runs. SRE* counts only "
        f"runs passed over that differ significantly in truth ({test}, 5 %).",
    )


def write_leave_out(result: LeaveOutResult, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write the tables, the settings and the figures into a folder.

    ``runs`` (`LeaveOutResult.frame` with all runs), ``summary``, ``reliability``, and ``clusters``
    (`LeaveOutResult.clusters_frame`) where clusters are left out, each ``.csv`` and ``.parquet``;
    ``settings.json``; figures ``mae``, ``truth-<measure>`` and ``pit-<measure>``. The same result gives the
    same bytes.

    Parameters
    ----------
    result : LeaveOutResult
    folder : Path
        Made if it is missing. Files of an earlier leave-out experiment that this one lacks are removed.
    figures : {"png", "svg", "none"}

    Raises
    ------
    OutputError
        A file cannot be written, or the folder holds the results of another experiment.
    """
    files = tables(
        {
            "runs": result.frame(reported_only=False),
            "summary": result.summary_frame(),
            "reliability": result.reliability_frame(),
        }
        | ({"clusters": result.clusters_frame()} if result.clusters else {})
    )
    described = {
        "fingerprint": result.fingerprint,
        "pool": result.pool,
        "settings": result.settings.describe(),
        "notes": list(result.notes),
        "warnings": [f"{name}: {text}" for name, text in result.warnings],
    }
    write_folder(
        folder, "leave-out", described, files, figures=figures, draw=functools.partial(_figures, result)
    )


def _scope(result: LeaveOutResult) -> str:
    settings, frame = result.settings, result.frame(reported_only=False)
    who: str = settings.by
    if who == "organization" and (frame["organization"] == frame["run_id"]).all():
        who = "run, of an organization of its own,"
    over = f"{len(result.query_ids)} topics" if settings.denominator == "qrels" else "the topics of each run"
    if who == "cluster":
        who = f"of {len(result.clusters)} clusters of runs that retrieve alike"
    parts = [f"each {who} left out in turn, mean over {over}"]
    if settings.pool_depth is not None:
        parts.append(f"re-pooled to depth {settings.pool_depth}")
    if settings.top_pool == "kept":
        parts.append(f"pools of the best {settings.top:g} % of the runs alone")
    parts.append(
        "truth: the run back in the pool alone" if settings.truth == "repooled" else "truth: all judgments"
    )
    below = "stay nonrelevant" if settings.estimand == "pooled" else "are estimated, too"
    parts.append(f"unjudged documents below the pool depth {below}")
    return "; ".join(parts)


def _clusters(result: LeaveOutResult) -> list[str]:
    """A line per cluster; empty where no clusters are left out."""
    lines = []
    for cluster in result.clusters:
        others = {name for other in result.clusters if other is not cluster for name in other.organizations}
        own = set(cluster.organizations)
        n_runs, n_own, n_both = len(cluster.run_ids), len(own), len(own & others)
        text = "a run" if n_runs == 1 else f"{n_runs} runs of {n_own} organization{'s' if n_own > 1 else ''}"
        if cluster.stays:
            text += f", stays in the pool ({cluster.stays})"
        else:
            text += ", left out"
            text += f" ({n_both} with other runs in the pool)" if n_both else ""
        lines.append(f"{cluster.name}: {text}: {some(cluster.run_ids, 6)}")
    return lines


def _runs_clause(result: LeaveOutResult, measure: Measure, n_runs: int) -> str:
    """Clause on the runs that a table summarizes."""
    n_pooled = result.n_pooled_runs[str(measure)]
    if result.clusters:
        n_left_out = sum(len(cluster.run_ids) for cluster in result.clusters if not cluster.stays)
        which = f"all {n_runs}" if n_runs == n_left_out else f"the best {n_runs} of {n_left_out}"
        return f"{which} runs left out, of {n_pooled} pooled runs"
    return (
        f"all {n_runs} pooled runs" if n_runs == n_pooled else f"the best {n_runs} of {n_pooled} pooled runs"
    )


def _errors(rows: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = ["estimator", "MAE", "RMSE", "bias", "RMSE\nper topic", "SRE", "SRE*", "τ_b"]
    columns = ["mae", "rmse", "bias", "topic_rmse", "sre", "sre_star", "kendall_tau_b"]
    if rows["crps"].notna().any():
        header.append("CRPS")
        columns.append("crps")
    body = [
        [str(row["estimator"])] + [number(row[name], 0 if name.startswith("sre") else 4) for name in columns]
        for _, row in rows.iterrows()
    ]
    return header, body


def _intervals(rows: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    levels = (50, 80, 95)
    ci_prob = float(rows["ci_prob"].iloc[0])
    header = ["estimator"]
    header += [f"{'holding the' if level == 50 else ''}\n{level} %" for level in levels]
    header[1] = "truth in\n50 %"
    header += [f"{'PIT in' if level == 50 else ''}\n{level} %" for level in levels]
    header.append(f"width of\n{100 * ci_prob:g} %")
    names = [f"coverage_{level}" for level in levels] + [f"pit_{level}" for level in levels]
    body = [
        [str(row["estimator"]), *(number(row[name], 3) for name in names), number(row["width"])]
        for _, row in rows.iterrows()
    ]
    return header, body


def _reliability(result: LeaveOutResult, measure: Measure) -> str:
    label = "reliability of the true scores: "
    if min(len(result.true_scores(measure)), result.n_shared_topics(measure)) < 2:
        return f"{label}– (it needs two runs and two topics that all of them have)"
    reliability = result.reliability(measure)
    ends = []
    for name, symbol in (("generalizability", "Eρ²"), ("dependability", "Φ")):
        value, low, high = (getattr(reliability, f"{name}{end}") for end in ("", "_lower", "_upper"))
        interval = "" if np.isnan(low) else f" ({low:.3f}–{high:.3f})"
        ends.append(f"{symbol} {number(value, 3)}{interval}")
    return label + ", ".join(ends)


def _figures(result: LeaveOutResult) -> Drawings:
    from bayespool.plots import figure_grid, plot_mae, plot_pit, plot_truth

    labels = result.settings.labels
    frame = result.frame()
    posteriors = [
        label for label in labels if frame.loc[frame["estimator"] == label, "ci_prob"].notna().any()
    ]
    families = dict.fromkeys(mae_by_cutoff(result.summary_frame(), result.settings.measures)["family"])
    figure, panels = figure_grid(len(families), width=8 if len(families) == 1 else 4.4, height=4.5)
    for place, (panel, family) in enumerate(zip(panels, families, strict=True)):
        plot_mae(result, family, ax=panel)
        if place + 1 < len(families) and (legend := panel.get_legend()) is not None:
            legend.remove()
    yield "mae", figure
    for measure in result.settings.measures:
        name = file_name(measure)
        figure, panels = figure_grid(len(labels))
        for panel, label in zip(panels, labels, strict=True):
            plot_truth(result, measure, label, ax=panel)
        yield f"truth-{name}", figure
        if posteriors:
            figure, panels = figure_grid(len(posteriors), height=3)
            for panel, label in zip(panels, posteriors, strict=True):
                plot_pit(result, measure, label, ax=panel)
            yield f"pit-{name}", figure
