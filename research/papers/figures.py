"""Draw the figures of the papers that bayespool has methods of, over its public results.

    python research/papers/figures.py FOLDER
    python research/papers/figures.py FOLDER --qrels qrels.txt --pool runs/ --organizations organizations.csv

They are of the example, or of a collection of one's own. Figures 1 to 3 of Ravana & Moffat (2010): ranks of
the first unjudged document, and errors over the constants C and E. Figures 1 and 2 of Lipani et al. (2015):
indicators of anti-precision against what runs lack, and the gain by corrections against reliability. Of
Webber & Park (2009, §4): errors over pool width and common topics. ``table-2.csv`` has organizations left out
with the settings of table 2 of Lipani et al. (2015).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayespool import judgment_counts, leave_out, load_example, read_collection
from bayespool.collection import Collection
from bayespool.comparisons import judgment_subset
from bayespool.corrections import Interpolated, Smoothed
from bayespool.experiments import vary_common_topics
from bayespool.measures import root_mean_squared_error
from bayespool.plots import PALETTE, figure_grid, render

MARKS = "osD^vXP*<>hp"
INDICATORS = {
    "delta_precision": "ΔP",
    "delta_anti_precision": r"Δ$\overline{\mathrm{P}}$",
    "delta_k_bar": r"Δ$\overline{\mathrm{k}}$",
    "lambda": "λ",
}


def first_unjudged(
    collection: Collection, run_ids: Iterable[str] | None = None, *, max_rank: int = 10
) -> pd.DataFrame:
    """Return the rank of the first unjudged document by run and topic, NaN where it is deeper than a rank."""
    counts = judgment_counts(collection, run_ids, cutoffs=range(1, max_rank + 1))
    is_open = counts.residual > 0  # run, topic, cutoff
    rank = np.where(is_open.any(axis=2), is_open.argmax(axis=2) + 1.0, np.nan)
    pooled = set(collection.pooled_run_ids)
    return pd.DataFrame(
        [
            (run, "contributing" if run in pooled else "non-contributing", query_id, rank[r, t])
            for r, run in enumerate(counts.run_ids)
            for t, query_id in enumerate(collection.query_ids)
        ],
        columns=["run_id", "group", "query_id", "rank"],
    )


def rmse_surface(
    correction: type[Interpolated | Smoothed],
    counts: Sequence[Any],
    truth: Any,
    *,
    c: Sequence[float],
    e: Sequence[float],
) -> np.ndarray:
    """Return the RMSE of a correction for each C and E, on judgment counts or bounds against fuller ones.

    `bayespool.corrections.fit_constants` finds its minimum over the unit square.
    """
    lower, residual = (np.concatenate([getattr(k, n).ravel() for k in counts]) for n in ("lower", "residual"))
    target = np.tile(truth.lower.ravel(), len(counts))
    return np.array(
        [
            [root_mean_squared_error(target, correction(c=x, e=y).formula(lower, residual)) for y in e]
            for x in c
        ]
    )


def plot_first_unjudged(ranks: pd.DataFrame, *, max_rank: int = 10, ax: Any) -> None:
    """Draw figure 1 of Ravana & Moffat (2010): shares by rank, the last bar for deeper ones and none."""
    groups = list(dict.fromkeys(ranks["group"]))
    width, places = 0.8 / len(groups), np.arange(1, max_rank + 2)
    for i, group in enumerate(groups):
        rows = ranks[ranks["group"] == group]
        place = np.minimum(rows["rank"].fillna(np.inf), max_rank + 1).astype(int)
        share = [(place == rank).mean() for rank in places]
        text = f"{group}, {rows['run_id'].nunique()} runs"
        ax.bar(places + (i - (len(groups) - 1) / 2) * width, share, width, color=PALETTE[i], label=text)
    ax.set_xticks(places, [*map(str, places[:-1]), f">{max_rank}"])
    ax.set(xlabel="rank of the first unjudged document", ylabel="share of runs and topics")
    ax.legend(frameon=False, fontsize="small")


def plot_rmse_surface(surface: np.ndarray, *, c: Sequence[float], e: Sequence[float], ax: Any) -> None:
    """Draw figures 2 and 3 of Ravana & Moffat (2010) from above, with a cross at the minimum."""
    ax.contourf(c, e, surface.T, levels=12, cmap="Blues", alpha=0.7)
    ax.clabel(ax.contour(c, e, surface.T, levels=12, colors="0.25", linewidths=0.7), fontsize=7)
    best = np.unravel_index(surface.argmin(), surface.shape)
    ax.plot(c[best[0]], e[best[1]], "X", color=PALETTE[3], ms=8, mec="white", clip_on=False)
    ax.set(xlabel="C", ylabel="E", title=f"RMSE; least {surface.min():.3g}")


def plot_topics_surface(result: Any, estimator: str, score: str = "adjusted", *, ax: Any) -> None:
    """Draw RMSE by pool width and number of common topics (Webber & Park 2009, §4)."""
    rows = result.to_frame("summary").query("estimator == @estimator and score == @score")
    table = rows.pivot(index="pool_width", columns="n_common", values="rmse").sort_index(ascending=False)
    ax.imshow(table, cmap="Blues", vmin=0, aspect="auto", interpolation="none")
    for (row, column), error in np.ndenumerate(table.to_numpy()):
        color = "white" if error > 0.6 * table.to_numpy().max() else "0.2"
        ax.text(column, row, f"{error:.2g}", ha="center", va="center", fontsize="x-small", color=color)
    ax.set_xticks(range(table.shape[1]), table.columns)
    ax.set_yticks(range(table.shape[0]), table.index)
    ax.set(xlabel="common topics", ylabel="pool width", title=f"RMSE, {estimator}, {score}")


def plot_indicator(result: Any, indicator: str, *, estimator: str = "anti-precision", ax: Any) -> None:
    """Draw figure 1 of Lipani et al. (2015): an indicator against truth − as judged, by left-out run."""
    rows = result.to_frame("runs").query("estimator == @estimator and reported")
    ax.axhline(0, color="0.8", lw=1, zorder=0)
    ax.axvline(0, color="0.8", lw=1, zorder=0)
    for triggered, label in ((1, "corrected"), (0, "left as judged")):
        some, filling = rows[rows["triggered"] == triggered], PALETTE[0] if triggered else "none"
        error = some["truth"] - some["as_judged"]
        ax.plot(some[indicator], error, "o", color=PALETTE[0], mfc=filling, ms=4, label=label)
    ax.set(xlabel=INDICATORS[indicator], ylabel="truth − as judged")
    ax.legend(fontsize="x-small", frameon=False)


def plot_gain(
    results: Mapping[str, Any],
    measure: str,
    labels: Sequence[str],
    coefficient: str = "generalizability",
    *,
    ax: Any,
) -> None:
    """Draw figure 2 of Lipani et al. (2015): change of the MAE against reliability, a mark by collection."""
    ax.axhline(0, color="0.8", lw=1, zorder=0)
    for i, label in enumerate(labels):
        ax.plot([], [], "-", color=PALETTE[i], lw=4, label=label)
    for i, (name, result) in enumerate(results.items()):
        reliability, mark = result.reliability(measure), MARKS[i % len(MARKS)]
        x, *ends = (getattr(reliability, f"{coefficient}{end}") for end in ("", "_lower", "_upper"))
        for k, label in enumerate(labels):
            y = result.mae_change(measure, label)
            ax.hlines(y, *ends, color=PALETTE[k], lw=1.2, alpha=0.6)
            ax.plot(x, y, mark, color=PALETTE[k], ms=6)
        ax.plot([], [], mark, color="0.3", ms=6, label=name)
    ax.set(
        xlabel={"generalizability": "Eρ²", "dependability": "Φ"}[coefficient], ylabel="change of the MAE, %"
    )
    ax.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))


AS_PUBLISHED: Mapping[str, Any] = {
    "top": 75,
    "top_pool": "kept",
    "truth": "full",
    "unseen": "estimated",
    "denominator": "run",
}
"""Settings of `leave_out` of table 2 of Lipani et al. (2015), but for the depth of the pools."""


def leave_out_as_published(collection: Collection) -> pd.DataFrame:
    """Return the summary of organizations left out as in table 2 of Lipani et al. (2015)."""
    depth = collection.pool_depth
    estimators = ["as-judged", "systems-adjustment(substitute=False, within_bounds=False)", "anti-precision"]
    measures = [f"P@{cutoff}" for cutoff in (5, 10, 20, 30, 100) if cutoff <= depth]
    found = leave_out(collection, measures, estimators=estimators, repool_to=depth, **AS_PUBLISHED)
    return found.to_frame("summary")


def main() -> None:
    """Draw all figures of a collection into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--qrels", type=Path, help="judgments of a collection of one's own")
    parser.add_argument("--pool", type=Path, help="folder with its pooled runs")
    parser.add_argument("--organizations", type=Path, help="who submitted which run")
    parser.add_argument("--order", default="score", help="of runs: score, rank, single-precision")
    asked_for = parser.parse_args()
    folder = asked_for.folder
    folder.mkdir(exist_ok=True)
    collection = load_example()
    if asked_for.qrels is not None:
        files = {"pool": asked_for.pool, "organizations": asked_for.organizations}
        collection = read_collection(asked_for.qrels, **files, strict=False, order=asked_for.order)
    draw_all(collection, folder)
    leave_out_as_published(collection).to_csv(folder / "table-2.csv", index=False)


def draw_all(collection: Collection, folder: Path) -> None:
    """Draw all figures of a collection."""
    grid, pooled, depth = np.linspace(0, 1, 41), collection.pooled_run_ids, collection.pool_depth
    n_judged = int((collection.relevance >= 0).sum())
    few = [max(1, round(share * n_judged)) for share in (0.3, 0.5, 0.9)]
    shallow = [judgment_counts(judgment_subset(collection, n), pooled, cutoffs=10) for n in few]
    full = judgment_counts(collection, pooled, cutoffs=10)
    asked = ["as-judged", "anti-precision", "smoothed"]
    left_out = {
        f"to depth {n}": leave_out(collection.truncate_pool(n), "P@5", estimators=asked)
        for n in dict.fromkeys((5, min(depth, 10), depth))
    }
    n_organizations, n_topics = len(set(collection.organizations)), len(collection.query_ids)
    widths = [width for width in (2, 4, 8) if width < n_organizations]
    n_common = [n for n in (2, 5, 10) if n < n_topics]
    topics = vary_common_topics(collection, widths=widths, n_common=n_common, n_samples=10)
    figure, panels = figure_grid(4, width=5.4, height=4, n_columns=2)
    plot_first_unjudged(first_unjudged(judgment_subset(collection, few[0])), ax=panels[0])
    for correction, panel in zip((Interpolated, Smoothed), panels[1:], strict=False):
        plot_rmse_surface(rmse_surface(correction, shallow, full, c=grid, e=grid), c=grid, e=grid, ax=panel)
    plot_topics_surface(topics, "as-judged", ax=panels[3])
    (folder / "errors.png").write_bytes(render(figure, "png"))
    figure, panels = figure_grid(len(INDICATORS))
    for indicator, panel in zip(INDICATORS, panels, strict=True):
        plot_indicator(left_out[f"to depth {depth}"], indicator, ax=panel)
    (folder / "indicators.png").write_bytes(render(figure, "png"))
    figure, panels = figure_grid(1, width=7)
    plot_gain(left_out, "P@5", asked[1:], ax=panels[0])
    (folder / "gain.png").write_bytes(render(figure, "png"))


if __name__ == "__main__":
    main()
