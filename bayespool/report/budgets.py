"""Printed tables and result folders of experiments on budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayespool.experiments import Budgets
from bayespool.experiments.budget_results import BIAS_MEASURES
from bayespool.report.folder import Drawings, FigureFormat, tables, write_folder
from bayespool.report.terminal import print_heading, print_line, print_note, print_table
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_LABELS = {"mae": "MAE", "sre": "SRE", "sre_star": "SRE*"}
_MEAN_COLUMNS = {
    "MAE": ("mae", 4),
    "bias": ("bias", 4),
    "SRE": ("sre", 1),
    "SRE*": ("sre_star", 1),
    "τ_b": ("kendall_tau_b", 3),
    "preserved": ("preserved", 3),
    "reversed": ("n_reversed", 1),
    "new": ("n_new", 1),
    "fairness": ("fairness", 2),
}
_ESTIMATE_COLUMNS = {
    "as judged": ("mae_as_judged", 4),
    "estimated": ("mae", 4),
    "bias": ("bias", 4),
    "width": ("width", 4),
    "inside": ("coverage_95", 3),
    "PIT 95": ("pit_95", 3),
    "PIT 50": ("pit_50", 3),
}
_FULL_POOL_COLUMNS = {"as judged*": ("full_mae_as_judged", 4), "estimated*": ("full_mae", 4)}
_MAX_BUDGET_COLUMNS = 8
_TESTS = {"tukey-hsd": "Tukey's test", "paired-t": "paired t tests"}


def print_budgets(result: Budgets, console: Console) -> None:
    """Print per measure the strategies' means over budgets and bias by budget, then relevant documents."""
    s, summary, ranking = result.settings, result.summary_frame(), result.ranking_frame()
    means = result.mean_frame()
    budgets = _budgets_that_fit(s.budgets)
    print_line(console, _scope(result))
    for note in result.notes:
        print_note(console, note)
    for measure in map(str, s.measures):
        of_measure = summary[summary["measure"] == measure]
        n_runs = int(of_measure["n_runs"].iloc[0])
        which = (
            f"all {n_runs}"
            if n_runs == len(result.run_ids)
            else f"the best {n_runs} of {len(result.run_ids)}"
        )
        print_heading(console, f"\n{measure}, {which} pooled runs, means over budgets")
        of_strategies = means[means["measure"] == measure]
        body = [
            [str(row["strategy"]), *(number(row[name], digits) for name, digits in _MEAN_COLUMNS.values())]
            for _, row in of_strategies.iterrows()
        ]
        print_table(console, ["strategy", *_MEAN_COLUMNS], body)
        for bias_measure in BIAS_MEASURES:
            print_heading(console, f"\n{measure}, {_LABELS[bias_measure]} by budget")
            ranked = ranking[(ranking["measure"] == measure) & (ranking["bias_measure"] == bias_measure)]
            digits = 4 if bias_measure == "mae" else 0
            body = [
                [
                    *(str(row["strategy"]), str(row["rank"]), number(row["mean"], max(1, digits))),
                    *_by_budget(of_measure, str(row["strategy"]), bias_measure, budgets, digits),
                ]
                for _, row in ranked.iterrows()
            ]
            print_table(console, ["strategy", "rank", "mean", *map(_thousands, budgets)], body)
    print_heading(console, f"\nrelevant documents found, of {result.n_relevant}, by budget")
    pools = result.pool_frame()
    body = [[label, *_by_budget(pools, label, "n_relevant", budgets, 0)] for label in s.labels]
    print_table(console, ["strategy", *map(_thousands, budgets)], body)
    if s.estimators:
        _print_estimates(result, console)
    print_line(
        console,
        f"SRE* counts only runs passed over that differ significantly in truth ({_TESTS[s.test]}, 5 %). "
        "With everybody in the pool, against the whole depth pool: τ_b of the rankings; preserved, the share "
        "of the pairs that differ significantly there and still do; reversed and new ones. Fairness: rank "
        "correlation over contributors of their share of the pool with the bias, positive where those who "
        "contribute least suffer most.",
    )


def write_budgets(result: Budgets, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write tables, ``settings.json`` and figures; the same result gives the same bytes."""
    frames = {
        "bias": result.frame(reported_only=False),
        "by_organization": result.contributor_frame(),
        "pools": result.pool_frame(),
        "summary": result.summary_frame(),
        "ranking": result.ranking_frame(),
    }
    if result.settings.estimators:
        frames |= {
            "estimates": result.estimate_frame(reported_only=False),
            "posterior": result.posterior_frame(),
        }

    def draw() -> Drawings:
        from bayespool.plots import draw_budgets, figure_grid, plot_ranking

        yield "bias", draw_budgets(result)
        figure, (panel,) = figure_grid(1, width=10, height=4.5)
        plot_ranking(result, ax=panel)
        yield "ranking", figure

    described = {
        "fingerprint": result.fingerprint,
        "pool": result.pool,
        "settings": result.settings.describe(),
        "notes": list(result.notes),
        "warnings": [f"{name}: {text}" for name, text in result.warnings],
    }
    write_folder(folder, "budgets", described, tables(frames), figures=figures, draw=draw)


def _print_estimates(result: Budgets, console: Console) -> None:
    """Print errors of the estimators by strategy and budget, against scores on the whole depth pool."""
    s, posterior = result.settings, result.posterior_frame()
    for measure in map(str, s.measures):
        of_measure = posterior[posterior["measure"] == measure]
        columns = dict(_ESTIMATE_COLUMNS)
        if not np.allclose(of_measure["full_mae"], of_measure["mae"], rtol=0, atol=1e-12):
            columns |= _FULL_POOL_COLUMNS
        print_heading(console, f"\n{measure} of runs left out, estimated from the pool of each budget")
        body = [
            [
                *(str(row["strategy"]), _thousands(row["budget"]), str(row["estimator"])),
                *(number(row[name], digits) for name, digits in columns.values()),
            ]
            for _, row in of_measure.iterrows()
        ]
        print_table(console, ["strategy", "budget", "estimator", *columns], body)
    print_line(
        console,
        "errors are against scores on the whole depth pool, with ideal rankings of what is judged or within "
        "reach of the runs (as judged*, estimated*: with those of the whole pool); inside: share of 95 % "
        "intervals that hold the truth; PIT: share of randomized PIT values in the central 95 % and 50 %",
    )


def _scope(result: Budgets) -> str:
    s = result.settings
    truth = "the whole depth pool" if s.truth == "full" else "the strategy's pool with the run in it"
    return (
        f"depth pool to rank {s.pool_depth} of {len(result.run_ids)} runs: {result.n_documents} documents, "
        f"{result.n_relevant} relevant, {len(result.query_ids)} topics; each {s.by} left out in turn with "
        f"the same budget; truth: scores on {truth}"
    )


def _by_budget(rows: pd.DataFrame, label: str, name: str, budgets: tuple[int, ...], digits: int) -> list[str]:
    group = rows[rows["strategy"] == label].set_index("budget")[name]
    return [number(float(group[budget]), digits) for budget in budgets]


def _budgets_that_fit(budgets: tuple[int, ...]) -> tuple[int, ...]:
    """At most `_MAX_BUDGET_COLUMNS` budgets, evenly spread, with the last."""
    step = -(-len(budgets) // _MAX_BUDGET_COLUMNS)
    return budgets[::-1][::step][::-1]


def _thousands(budget: int) -> str:
    return f"{budget:,}"
