"""Printed tables and result folders of checks of models."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayespool.experiments import (
    FoundJudgments,
    ModelChecks,
    SelfCalibration,
    engine_summary,
    self_calibration_frame,
)
from bayespool.experiments.found import found_frame
from bayespool.report.folder import Drawings, FigureFormat, file_name, tables, write_folder
from bayespool.report.terminal import print_heading, print_line, print_note, print_table
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

CHECK, SELF_CALIBRATION, ENGINES = "check", "check --sbc", "check --compare-engines"
FOUND = "check --found"
"""Names of the checks in ``settings.json``."""

_ENOUGH_SIMULATIONS = 200  # detect a shift of a quarter of a standard deviation


def print_checks(checks: ModelChecks, console: Console) -> None:
    """Print per measure calibration and log predictive density on held-out organizations, and notes."""
    calibration, elpd = checks.calibration(), checks.elpd()
    n_folds, engine = checks.metadata["n_folds"], checks.metadata["engine"]
    for measure in map(str, checks.measures):
        table = calibration[calibration["measure"] == measure]
        n_runs, n_organizations = int(table["n_runs"].iloc[0]), int(table["n_organizations"].iloc[0])
        title = f"{measure}: {n_runs} runs of {n_organizations} organizations, held out in {n_folds} folds"
        print_heading(console, f"{title}; {engine}")
        print_table(console, *_calibration_cells(table))
        title = f"{measure}: expected log predictive density by organization"
        print_line(console, f"{title}{_steps_clause(checks, measure)}")
        print_table(console, *_elpd_cells(elpd[elpd["measure"] == measure]))
    for note in checks.notes:
        print_note(console, note)


def _steps_clause(checks: ModelChecks, measure: str) -> str:
    """Clause on the steps of relevance that a density is summed over; empty for one step."""
    n_steps = max(len(p.densities) for p in checks.predictions if str(p.measure) == measure)
    if n_steps == 1:
        return ""
    return f", summed over {n_steps} steps of relevance (weight in combined: of the first)"


def print_self_calibration(calibrations: Sequence[SelfCalibration], console: Console) -> None:
    """Print per model whether the ranks of true values are uniform, and which are not."""
    frame = self_calibration_frame(calibrations)
    rows = []
    for c in calibrations:
        table = frame[frame["model"] == c.model]
        wrong = table.loc[~table["uniform"], "quantity"]
        rows.append(
            [
                c.model,
                c.engine,
                str(len(c.ranks)),
                str(len(c.quantities)),
                f"{table['p_holm'].min():.3f}",
                str(c.n_failed_fits),
                ", ".join(wrong) or "none",
            ]
        )
    print_heading(console, "simulation-based calibration: ranks of true values")
    header = ["model", "engine", "simu-\nlations", "quan-\ntities", "smallest\nadjusted p", "failed\nfits"]
    print_table(console, [*header, "not uniform"], rows)
    for note in _notes_of_self_calibration(calibrations):
        print_note(console, note)


def _notes_of_self_calibration(calibrations: Sequence[SelfCalibration]) -> list[str]:
    fewest = min(calibrations, key=lambda c: len(c.ranks))
    n, shift = len(fewest.ranks), fewest.detectable_shift
    note = f"{n} simulations show shifts of {shift:.1f} standard deviations or more"
    return [note] if n < _ENOUGH_SIMULATIONS else []


def print_engines(frame: pd.DataFrame, console: Console) -> None:
    """Print per model the differences between the two engines."""
    print_heading(console, "Laplace − NUTS in shares of the interval's width")
    header = [
        "model",
        "measure",
        "runs",
        "means off\n(mean)",
        "within\n2 %",
        "ends off\n(mean)",
        "within\n5 %",
    ]
    summary = engine_summary(frame)
    rows = [
        [
            str(row["model"]),
            str(row["measure"]),
            str(row["n_runs"]),
            f"{row['mean_off']:.3f}",
            f"{row['mean_agrees']:.2f}",
            f"{row['ends_off']:.3f}",
            f"{row['ends_agree']:.2f}",
        ]
        for _, row in summary.iterrows()
    ]
    print_table(console, header, rows)
    for note in _notes_of_engines(summary):
        print_note(console, note)


def _notes_of_engines(summary: pd.DataFrame) -> list[str]:
    failed = summary[summary["problems"] != ""]
    return [f"{row['measure']}, {row['model']}: {row['problems']}" for _, row in failed.iterrows()]


def print_found(rows: Sequence[FoundJudgments], console: Console) -> None:
    """Print how relevant judgments that no pooled run explains are, and were predicted to be."""
    header = [
        "runs",
        "ranks",
        "outside\nthe pool",
        "judged",
        "relevant",
        "expected",
        "",
        "ratio",
        "shift",
        "",
    ]
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        print_heading(console, f"{measure}: judgments that no pooled run explains, predicted without them")
        cells = [
            [
                row.runs if row.last == measure.cutoff and row.first == 1 else "",
                f"{row.first}–{row.last}",
                str(row.n_documents),
                str(row.n_found),
                str(row.n_relevant),
                f"{row.expected:.1f}",
                f"({row.lower:.0f}–{row.upper:.0f})",
                f"{row.ratio:.2f}",
                *_shift_cells(row),
            ]
            for row in mine
        ]
        print_table(console, header, cells, n_names=2)
        for note in _notes_of_found(mine):
            print_note(console, note)


def _notes_of_found(rows: Sequence[FoundJudgments]) -> list[str]:
    return [
        f"of {row.runs} runs {'more' if row.shift < 0 else 'fewer'} are relevant than documents of their "
        "chances: whether one was judged depended on its relevance. If so everywhere, the log odds of the "
        f"unjudged ones are off by {' '.join(_shift_cells(row))}"
        for row in rows
        if row.first == 1 and row.last == row.measure.cutoff and row.depends_on_relevance
    ]


def _shift_cells(row: FoundJudgments) -> list[str]:
    """Shift of the log odds and its interval; empty where no document is left unjudged."""
    if row.shift != row.shift:
        return ["", ""]
    return [f"{row.shift:+.2f}", f"({row.shift_lower:+.2f} to {row.shift_upper:+.2f})"]


def write_found(rows: Sequence[FoundJudgments], folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write ``found`` as ``.csv`` and ``.parquet``, a row per measure, kind of runs and band of ranks."""
    notes = [
        f"{measure}: {note}"
        for measure in dict.fromkeys(row.measure for row in rows)
        for note in _notes_of_found([row for row in rows if row.measure == measure])
    ]
    write_folder(folder, FOUND, {"notes": notes}, tables({"found": found_frame(tuple(rows))}))


def write_checks(checks: ModelChecks, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write tables, ``settings.json``, figures and containers ``<measure>-<model>.nc`` for ArviZ.

    Containers of steps of relevance above the first are named as in ``nDCG_10-ratio-2-of-1.nc``.
    """
    from bayespool.tables import container_bytes

    files = tables({"calibration": checks.calibration(), "elpd": checks.elpd(), "runs": checks.runs()})
    for (name, model), container in checks.containers.items():
        files[f"{file_name(name)}-{model}.nc"] = container_bytes(container)
    described = {**checks.metadata, "notes": list(checks.notes), "problems": list(checks.problems)}
    draw = functools.partial(_check_figures, checks)
    write_folder(folder, CHECK, described, files, figures=figures, draw=draw)


def _check_figures(checks: ModelChecks) -> Drawings:
    from bayespool.plots import figure_grid, plot_elpd, plot_held_out_pit, plot_predictive

    elpd = checks.elpd()
    figure, panels = figure_grid(len(checks.measures), width=4.4, height=2.6)
    for panel, measure in zip(panels, checks.measures, strict=True):
        plot_elpd(elpd, measure, ax=panel)
    yield "elpd", figure
    for measure in checks.measures:
        mine = [p for p in checks.predictions if p.measure == measure]
        height = 1.0 + 0.16 * max(8, int(mine[0].has_hidden.sum()))
        figure, panels = figure_grid(len(mine), height=height)
        for i, (panel, prediction) in enumerate(zip(panels, mine, strict=True)):
            plot_predictive(prediction, label_runs=i % 3 == 0, ax=panel)
        low, high = zip(*(panel.get_xlim() for panel in panels), strict=True)
        for panel in panels:
            panel.set_xlim(min(low), max(high))
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
        yield f"predictive-{file_name(measure)}", figure
        figure, panels = figure_grid(len(mine), height=2.4)
        for panel, prediction in zip(panels, mine, strict=True):
            plot_held_out_pit(prediction, ax=panel)
        highest = max(panel.get_ylim()[1] for panel in panels)
        for panel in panels:
            panel.set_ylim(0, highest)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize="small")
        yield f"pit-{file_name(measure)}", figure


def write_self_calibration(
    calibrations: Sequence[SelfCalibration], folder: Path, *, figures: FigureFormat = "png"
) -> None:
    """Write ``self-calibration`` as ``.csv`` and ``.parquet``, and a figure per model."""

    def draw() -> Drawings:
        from bayespool.plots import figure_grid, plot_ranks

        for c in calibrations:
            height = 1.9 if len(c.quantities) > 3 else 3.4  # a single row needs space for the axis label
            figure, panels = figure_grid(len(c.quantities), width=2.9, height=height)
            for panel, quantity in zip(panels, c.quantities, strict=True):
                plot_ranks(c, quantity, ax=panel)
            title = f"{c.model}, {c.engine}, {len(c.ranks)} simulations\ngray: 95 % of calibrated lines"
            figure.suptitle(title, fontsize="medium")
            figure.supxlabel("rank of the true value", fontsize="small")
            figure.supylabel("share of ranks up to it, less the uniform one", fontsize="small")
            yield f"self-calibration-{c.model}-{c.engine}", figure

    files = tables({"self-calibration": self_calibration_frame(calibrations)})
    described = {"notes": _notes_of_self_calibration(calibrations)}
    write_folder(folder, SELF_CALIBRATION, described, files, figures=figures, draw=draw)


def write_engines(frame: pd.DataFrame, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write ``engines`` as ``.csv`` and ``.parquet``, a row per run, and the figure ``engines``."""

    def draw() -> Drawings:
        from bayespool.plots import figure_grid, plot_engines

        figure, panels = figure_grid(3, height=0.5 * frame["model"].nunique() + 1.2)
        for panel, statistic in zip(panels, ("mean", "lower", "upper"), strict=True):
            plot_engines(frame, statistic, ax=panel)  # type: ignore[arg-type]
            if statistic != "mean":
                panel.set_yticks(panel.get_yticks(), [])
        yield "engines", figure

    described = {"notes": _notes_of_engines(engine_summary(frame))}
    write_folder(folder, ENGINES, described, tables({"engines": frame}), figures=figures, draw=draw)


def _calibration_cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    probs = list(dict.fromkeys(table["ci_prob"]))
    header = ["model", "MAE"]
    header += [f"{'PIT in' if i == 0 else ''}\n{100 * p:g} %" for i, p in enumerate(probs)]
    header += ["± of\n95 %", "mean\nPIT"]
    header += [f"{'truth in' if i == 0 else ''}\n{100 * p:g} %" for i, p in enumerate(probs)]
    header += [f"width of\n{100 * probs[-1]:g} %"]
    rows = []
    for model in dict.fromkeys(table["model"]):
        group = table[table["model"] == model].set_index("ci_prob")
        last = group.loc[probs[-1]]
        cells = [model, f"{last['mae']:.4f}"]
        cells += [f"{group.loc[p, 'pit_inside']:.3f}" for p in probs]
        cells += [number(last["se"], 3), f"{last['pit_mean']:.3f}"]
        cells += [f"{group.loc[p, 'covered']:.3f}" for p in probs]
        rows.append([*cells, f"{last['width']:.4f}"])
    return header, rows


def _elpd_cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = ["model", "elpd", "±", "less than\nthe best", "±", "weight", "weight in\ncombined"]
    names = ("elpd", "se", "elpd_diff", "dse", "weight", "weight_combined")
    digits = (1, 1, 1, 1, 2, 2)
    rows = [
        [str(row["model"])] + [number(row[name], n) for name, n in zip(names, digits, strict=True)]
        for _, row in table.iterrows()
    ]
    return header, rows
