"""The pictures of the pages, in one style, 700 pixels wide.

    BAYESPOOL_COLLECTIONS=folder python docs/pictures.py [NAME …] [--output docs/_static]

Those of the example and of tables in ``research/decisions`` need no collection; ``thinning`` and ``budgets``
do. They show names of runs and scores, nothing of topics and documents.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from bayespool import Collection, check_judges, compare, compare_budgets, load_example, read_collection, score
from bayespool.collection import add_judges
from bayespool.experiments import simulate_example, simulate_judge
from bayespool.plots import figure_grid, plot_differences, plot_forest, plot_labels
from bayespool.plots.style import AS_JUDGED, PALETTE, POSTERIOR, finish

TABLES = Path(__file__).resolve().parents[1] / "research" / "decisions"
NAMES = {
    "covid-round4": "COVID round 4",
    "dl21-passage": "DL 2021",
    "trec2011-medical": "Medical 2011",
    "trec2-adhoc": "TREC-2",
    "trec8-adhoc": "TREC-8",
}


def read(name: str, **settings: Any) -> Collection:
    """A collection with the pool that bayespool finds."""
    place = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name
    organizations = [place / "organizations.csv", *place.glob("run-types.csv")]
    order = "rank" if name == "dl21-passage" else "score"
    files: dict[str, Any] = {"pool": place / "runs", "organizations": organizations, "order": order}
    return read_collection(place / "qrels.txt", strict=False, **(files | settings))


# --- drawings ----------------------------------------------------------------------------------------------


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure without axes, in units of inches."""
    figure, (axes,) = figure_grid(1, width=width, height=height)
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def hold_out() -> Figure:
    """The pool, and what becomes of it where an organization is left out."""
    figure, axes = blank(7, 2.5)
    columns = {"A": "aabcd", "B": "bcaef", "C": "gbhai"}
    for title, left, out in (("the pool", 0.2, ""), ("C left out", 3.8, "C")):
        axes.text(left + 1.3, 2.38, title, ha="center", va="top", fontsize=9, weight="bold")
        for k, (name, documents) in enumerate(columns.items()):
            x = left + 0.95 * k
            axes.text(x + 0.36, 2.02, f"organization {name}", ha="center", fontsize=7, color="0.3")
            for rank, document in enumerate(documents[:4] if name != "A" else documents[1:]):
                alone = sum(document in others for others in columns.values()) == 1
                hidden = out == name and alone
                color = "white" if hidden else "#cfe3f1"
                edge = {"ec": PALETTE[3], "ls": "--"} if hidden else {"ec": "0.5", "ls": "-"}
                axes.add_patch(Rectangle((x, 1.55 - 0.4 * rank), 0.72, 0.34, fc=color, lw=1.1, **edge))
                axes.text(
                    x + 0.36,
                    1.72 - 0.4 * rank,
                    f"document {document}",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                )
    axes.add_patch(FancyArrowPatch((3.1, 1.1), (3.7, 1.1), arrowstyle="-|>", mutation_scale=12, color="0.3"))
    axes.add_patch(Rectangle((0.2, 0.0), 0.2, 0.14, fc="#cfe3f1", ec="0.5", lw=1.1))
    axes.text(0.5, 0.07, "judged", va="center", fontsize=7.5)
    axes.add_patch(Rectangle((1.2, 0.0), 0.2, 0.14, fc="white", ec=PALETTE[3], ls="--", lw=1.1))
    axes.text(1.5, 0.07, "hidden: unjudged without C, and its relevance is known", va="center", fontsize=7.5)
    return figure


def model() -> Figure:
    """The graph of the default: the arrows are those of the formulas in docs/models.md."""
    figure, axes = blank(7, 4.6)
    for x, y, width, height, text in (
        (0.1, 2.25, 2.94, 1.25, "topics $q$"),
        (2.0, 2.03, 2.8, 1.37, "organizations $o$ of the pool, or kinds"),
        (4.92, 2.03, 0.77, 1.37, "new ones"),
        (5.79, 1.5, 1.12, 2.0, "runs $r$"),
        (1.25, 0.1, 5.66, 0.9, "documents $d$: hidden (observed), unjudged (predicted)"),
    ):
        plate = FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.02", fc="none", ec="0.6", lw=0.8)
        axes.add_patch(plate)
        axes.text(
            x + 0.05, y + 0.05, text, fontsize=6.5, color="0.35", bbox={"fc": "w", "ec": "none", "pad": 0.5}
        )
    log_odds, relevance, new = r"$\mathrm{logit}\, p_d$", "relevance", "effects\n$e_{ok}$"
    effects = {"interaction": 2.56, "organization": 3.56, "slope": 4.42}
    places = {
        r"$\sigma_{topic}$": (0.55, 4.0),
        r"$\delta, \sigma_b$": (1.45, 4.0),
        **{rf"$\sigma_{{{name}}}$": (x, 4.0) for name, x in effects.items()},
        r"$\nu, \rho, c$": (5.3, 4.0),
        "$w$": (6.72, 4.0),
        "distance": (6.12, 4.0),
        "topic": (0.55, 2.85),
        "below\nthe pool": (1.45, 2.85),
        **{name: (x, 2.85) for name, x in effects.items()},
        new: (5.3, 2.85),
        "new\nkind?": (6.15, 3.15),
        "ratio or\nrankings?": (6.45, 2.55),
        "shift,\nfailed?": (6.45, 1.95),
        r"$\mu, \beta$": (0.6, 1.4),
        "predictors $x$": (2.1, 0.62),
        log_odds: (3.95, 0.62),
        relevance: (5.6, 0.62),
    }
    scales = [rf"$\sigma_{{{name}}}$" for name in effects]
    learned = [
        *((rf"$\sigma_{{{name}}}$", name) for name in ("topic", *effects)),
        *((name, log_odds) for name in ("topic", *effects, r"$\mu, \beta$", "predictors $x$")),
        (log_odds, relevance),
    ]
    predicted = [
        (r"$\delta, \sigma_b$", "below\nthe pool"),
        *((name, new) for name in (*scales, r"$\nu, \rho, c$", "new\nkind?")),
        ("$w$", "ratio or\nrankings?"),
        ("distance", "new\nkind?"),
        *((name, log_odds) for name in ("below\nthe pool", new, "ratio or\nrankings?", "shift,\nfailed?")),
        ("new\nkind?", "ratio or\nrankings?"),
    ]
    given = {"predictors $x$", "distance"}
    orange = {*dict(predicted), "below\nthe pool", "ratio or\nrankings?"} - {"$w$", *scales, *given}
    texts = {}
    for text, (x, y) in places.items():
        color = "#e8e8e8" if text in given else "#fbe3d2" if text in orange else "#cfe3f1"
        box = {"boxstyle": "round,pad=0.3", "fc": color, "ec": "0.5", "lw": 0.8}
        texts[text] = axes.text(x, y, text, ha="center", va="center", fontsize=8, bbox=box)
    figure.draw_without_rendering()  # arrows end at boxes, whose sizes are those of their texts
    for pairs, style in ((learned, "-"), (predicted, "--")):
        for start, end in pairs:
            arrow = FancyArrowPatch(
                places[start],
                places[end],
                patchA=texts[start].get_bbox_patch(),
                patchB=texts[end].get_bbox_patch(),
                arrowstyle="-|>",
                mutation_scale=9,
                color="0.45",
                ls=style,
                lw=0.9,
            )
            axes.add_patch(arrow)
    axes.text(
        0.1,
        4.4,
        "blue: learned from hidden documents   orange, dashed: for unjudged documents alone   gray: given",
        fontsize=7.5,
    )
    return figure


# --- the example -------------------------------------------------------------------------------------------


def late_runs() -> Figure:
    """The late runs of the example with their truth, in a size that a phone can read."""
    example = simulate_example()
    scores = score(example.collection, measures=["P@10"], estimators=["smoothed", "posterior-combined"])
    figure, (panel,) = figure_grid(1, width=3.6, height=2.2)
    plot_forest(scores, truth=example.true_values("P@10"), legend=False, ax=panel)
    return figure


def differences() -> Figure:
    """Differences of four runs in both scopes."""
    runs = ["new-a", "new-b", "coast-1", "delta-1"]
    comparison = compare(load_example(), runs, "P@10", posterior_settings="draws=500")
    figure, (panel,) = figure_grid(1, width=7, height=3)
    plot_differences(comparison, truth=simulate_example().true_values("P@10", runs), ax=panel)
    return figure


def labels() -> Figure:
    """What labels of a simulated judge are worth."""
    judged = add_judges(
        load_example(), {"llm": simulate_judge(simulate_example(), quality=1.5, random_seed=1)}
    )
    figure, (panel,) = figure_grid(1, width=5, height=3)
    plot_labels(check_judges(judged, "P@10"), ax=panel)
    return figure


# --- tables of research ------------------------------------------------------------------------------------


def accuracy() -> pd.DataFrame:
    """The table of accuracy, with a label for each row of a figure."""
    table = pd.read_csv(TABLES / "tables" / "accuracy.csv")
    table = table[~table["left_out"].str.contains("label")]
    what = table["left_out"].replace({"organizations": "", "judged later": "judged later"})
    return table.assign(
        label=[f"{NAMES[c]}: {w}" if w else NAMES[c] for c, w in zip(table["collection"], what, strict=True)]
    )


DESIGNS = {
    "later": "holes that were judged later",
    "near": "near: organizations",
    "far": "far: clusters and types",
}


def coverage() -> Figure:
    """Coverage of 95 % intervals with standard errors over organizations."""
    table = accuracy().query("estimator == 'posterior-combined'")
    counts = [table.loc[table["design"] == design, "label"].nunique() for design in DESIGNS]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True, height_ratios=[n + 0.6 for n in counts])
    for axes, (design, title) in zip(panels, DESIGNS.items(), strict=True):
        rows = table[table["design"] == design]
        names = list(dict.fromkeys(rows["label"]))[::-1]
        axes.axvline(0.95, color="0.6", lw=1, ls="--", zorder=0)
        for k, (kind, mark) in enumerate((("P", "o"), ("nDCG", "s"))):
            some = rows[rows["measure"].str.startswith(kind)]
            y = np.array([names.index(label) for label in some["label"]]) + (0.14 if k == 0 else -0.14)
            error = some["coverage_95_se"].fillna(0)
            axes.errorbar(
                some["coverage_95"],
                y,
                xerr=error,
                fmt=mark,
                ms=4.5,
                color=PALETTE[k],
                lw=1.2,
                label=f"{kind}@10",
            )
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_title(title, loc="left", fontsize=8.5)
        axes.set(xlim=(0.7, 1.03), ylim=(-0.6, len(names) - 0.4))
    panels[-1].set_xlabel("coverage of 95 % credible intervals, ± standard error over organizations")
    return figure


def decisions() -> Figure:
    """Significance lost and not found, as judged and by the posterior."""
    table = accuracy().query("design == 'near'")
    figure, panels = figure_grid(2, width=3.5, height=2.7)
    for axes, (column, title) in zip(
        panels, (("false", "significance lost"), ("missed", "not found")), strict=True
    ):
        rows = table.set_index(["label", "measure", "estimator"])[column].unstack() * 100
        rows = rows.iloc[::-1]
        y = np.arange(len(rows))
        axes.hlines(y, rows["as-judged"], rows["posterior-combined"], color="0.8", lw=2)
        axes.plot(rows["as-judged"], y, "o", color=AS_JUDGED, ms=5, label="as judged")
        axes.plot(rows["posterior-combined"], y, "D", color=POSTERIOR, ms=5, label="posterior")
        axes.set_yticks(y, [f"{label}, {measure}" for label, measure in rows.index], fontsize=7)
        axes.set(xlabel=f"{title}, %", xlim=(-1.5, None))
        if column == "missed":
            axes.set_yticks([])
    return figure


def pit() -> Figure:
    """Histograms of the PIT of the default, near and far; each organization counts once."""
    runs = pd.read_csv(TABLES / "tables" / "accuracy_runs.csv")
    runs = runs[~runs["left_out"].str.contains("label") & (runs["n_unjudged"] > 0)]
    figure, panels = figure_grid(4, width=1.75, height=2.2, n_columns=4)
    asked = [(design, kind) for design in ("near", "far") for kind in ("P", "nDCG")]
    for axes, (design, kind) in zip(panels, asked, strict=True):
        some = runs[
            (runs["design"] == design) & runs["measure"].str.startswith(f"{kind}@" if kind == "nDCG" else "P")
        ]
        group = some.groupby(["collection", "left_out", "organization"])["pit"]
        weight = 1 / group.transform("size")
        bins = np.linspace(0, 1, 11)
        axes.hist(some["pit"], bins, weights=10 * weight / weight.sum(), color=POSTERIOR, alpha=0.75)
        n = group.ngroups
        half = 1.96 * np.sqrt(0.1 * 0.9 / n) * 10
        axes.axhline(1, color="black", lw=0.8, ls="--")
        for y in (1 - half, 1 + half):
            axes.axhline(max(y, 0), color="black", lw=0.8, ls=":")
        axes.set_title(f"{design}, {kind}@10\n{len(some)} runs, {n} organizations", fontsize=7.5)
        axes.set(xlabel="PIT", ylim=(0, 2.6))
        axes.tick_params(labelsize=7)
    return figure


def sensitivity() -> Figure:
    """Change of estimates and of ends of intervals under other priors."""
    table = pd.read_csv(TABLES / "tables" / "sensitivity.csv")
    figure, panels = figure_grid(2, width=3.5, height=3.0)
    for axes, measure in zip(panels, ("P@10", "AP@100"), strict=True):
        rows = table.query("measure == @measure and variable != 'default'")
        names = list(dict.fromkeys(rows["variable"]))[::-1]
        width = table.query("measure == @measure and variable == 'default'")["width"].iloc[0]
        axes.axvspan(-width / 2, width / 2, color="0.93", label="half a width to either side")
        for which, mark in (("lower", "v"), ("higher", "^")):
            some = rows[rows["which"] == which]
            y = [names.index(variable) for variable in some["variable"]]
            axes.plot(some["value_change"], y, mark, color=POSTERIOR, ms=5, label=f"{which} prior")
        axes.axvline(0, color="0.6", lw=0.8)
        shown = [{"theta": "θ", "nu": "ν"}.get(name, name) for name in names]
        axes.set_yticks(range(len(names)), shown if measure == "P@10" else [], fontsize=8)
        axes.set(xlabel="mean change of the estimate", title=measure)
    return figure


def judgments() -> Figure:
    """Width of the interval by judgments per run."""
    table = pd.read_csv(TABLES / "judge-next" / "stages.csv").query("collection == 'trec8-adhoc'")
    figure, (axes,) = figure_grid(1, width=5, height=2.8)
    for k, (rule, rows) in enumerate(table.groupby("rule", sort=False)):
        name = "Take@N" if rule == "take" else str(rule)
        axes.plot(
            *(rows[column] for column in ("judgments_per_run", "width")),
            "osD"[k] + "-",
            color=PALETTE[k],
            ms=4,
            lw=1.3,
            label=name,
        )
    axes.set(xlabel="judgments per run", ylabel="width of 95 % interval", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    return figure


def far_forest() -> Figure:
    """A neural run of each organization of DL 2021, all of them left out of the pool together."""
    runs = pd.read_csv(TABLES / "tables" / "accuracy_runs.csv")
    rows = runs.query("left_out == 'neural' and measure == 'P(rel=2)@10'").sort_values("run_id")
    rows = rows.drop_duplicates("organization").sort_values("value")
    y, n_topics = np.arange(len(rows)), 53
    figure, (axes,) = figure_grid(1, width=7, height=0.24 * len(rows) + 1.1)
    upper = rows["as_judged"] + rows["n_unjudged"] / (10 * n_topics)
    axes.hlines(y, rows["as_judged"], upper, color="0.85", lw=7, label="bounds")
    axes.plot(rows["as_judged"], y, "o", color=AS_JUDGED, ms=5, label="as judged")
    axes.hlines(y, rows["lower"], rows["upper"], color=POSTERIOR, lw=2.5, label="95 % interval")
    axes.plot(rows["value"], y, "|", color=POSTERIOR, ms=9, mew=2, label="posterior mean")
    axes.plot(rows["truth"], y, "x", color="black", ms=5.5, label="true score")
    axes.set_yticks(y, rows["run_id"], fontsize=8)
    axes.set(xlabel=f"P(rel=2)@10, mean over {n_topics} topics", xlim=(0, None))
    return figure


# --- collections -------------------------------------------------------------------------------------------


def thinning() -> Figure:
    """How often documents are relevant that one more organization alone contributes."""
    figure, (axes,) = figure_grid(1, width=6.2, height=2.6)
    rng = np.random.default_rng(1)
    for k, (name, title) in enumerate(NAMES.items()):
        collection = read(name)
        depth, sets = int(np.max(collection.pool.depth)), []
        organization = np.asarray(collection.organization)
        for which in np.unique(organization[collection.pooled]):
            top = collection.document[collection.pooled & (organization == which), :, :depth]
            sets.append(np.unique(top[top >= 0]))
        sums = np.zeros((2, len(sets)))
        for _ in range(20):
            seen = np.zeros(len(collection.relevance), dtype=bool)
            for place, which in enumerate(rng.permutation(len(sets))):
                new = sets[which][~seen[sets[which]]]
                seen[new] = True
                known = collection.relevance[new][collection.judged[new]]
                sums[:, place] += (known > 0).sum(), len(known)
        share = sums[0] / np.maximum(sums[1], 1)
        axes.plot(
            np.arange(1, len(sets) + 1), share, "osD^v"[k] + "-", color=PALETTE[k], ms=3, lw=1.2, label=title
        )
    axes.set(
        xlabel="organizations in the pool", ylabel="relevant, of new documents", xscale="log", ylim=(0, None)
    )
    axes.set_xticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
    return figure


def budgets() -> Figure:
    """Error of left-out runs as judged on pools of TREC-8, by strategy and budget."""
    strategies = ["take", "combmnz", "move-to-front", "max-mean", "uniform"]
    collection = read("trec8-adhoc", scores=True)
    asked = [5000, 10000, 20000, 40000]
    result = compare_budgets(collection, "P@10", strategies=strategies, budgets=asked, truth="full", n_jobs=1)
    table = result.to_frame("summary")
    figure, (axes,) = figure_grid(1, width=5, height=2.8)
    for k, strategy in enumerate(strategies):
        rows = table[table["strategy"].str.startswith(strategy)].sort_values("budget")
        axes.plot(
            rows["budget"], rows["mae"], "osD^v"[k] + "-", color=PALETTE[k], ms=4, lw=1.3, label=strategy
        )
    axes.set(xlabel="documents judged", ylabel="MAE of P@10 as judged", xscale="log", yscale="log")
    axes.set_xticks(asked, [f"{n:,}" for n in asked])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__.replace("_", "-"): draw
    for draw in (
        hold_out,
        model,
        late_runs,
        differences,
        labels,
        coverage,
        decisions,
        pit,
        sensitivity,
        judgments,
        far_forest,
        thinning,
        budgets,
    )
}


def main() -> None:
    """Write all pictures, or those named."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []])
    parser.add_argument("--output", type=Path, default=Path("docs/_static"))
    asked = parser.parse_args()
    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    for name in asked.names or PICTURES:
        print(name, flush=True)
        drawn = finish(PICTURES[name]())
        drawn.savefig(asked.output / f"{name}.png", dpi=200 if name == "late-runs" else 110)


if __name__ == "__main__":
    main()
