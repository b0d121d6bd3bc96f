"""The pictures of the documentation that its build does not draw.

    BAYESPOOL_COLLECTIONS=folder python docs/pictures.py [--output docs/_static]

``late-runs.png``: the late runs of the simulated example, with their truth, for README and first page;
``--only-example`` draws it alone, and needs no collection. ``far-forest.png``: a run of neural methods of
each organization on DL 2021, with the runs of traditional methods as the pool, and what they score with all
judgments. ``far-distance.png``: how unlike that pool they are. They show names of runs and scores, nothing of
topics and documents.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import matplotlib
import numpy as np

from bayespool import Collection, read_collection, score
from bayespool.evidence import score_bounds
from bayespool.experiments import simulate_example
from bayespool.measures import parse_measure
from bayespool.plots import figure_grid, plot_distance, plot_forest
from bayespool.plots.style import finish
from bayespool.scoring import Scores

ESTIMATORS = ("smoothed", "condensed-list", "posterior-combined")


def main() -> None:
    """Write the pictures."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("docs/_static"))
    parser.add_argument("--only-example", action="store_true")
    asked = parser.parse_args()
    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    late_runs(asked.output / "late-runs.png")
    if asked.only_example:
        return
    place = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / "dl21-passage"
    files = {"pool": place / "runs", "organizations": [place / "organizations.csv", place / "run-types.csv"]}
    whole = read_collection(place / "qrels.txt", **files, strict=False, order="rank", max_holes=0)
    types = whole.runs.columns["type"]
    pooled = [whole.run_ids[r] for r in np.flatnonzero(whole.pooled)]
    neural = [run for run in pooled if types.get(run) != "traditional"]
    first = {whole.organization[whole.run_index(run)[0]]: run for run in reversed(neural)}
    far = score(whole.unpool(neural), sorted(first.values()), ["P(rel=2)@10"], estimators=ESTIMATORS)
    forest(whole, far, asked.output / "far-forest.png")
    figure, (panel,) = figure_grid(1, width=7, height=0.34 * len(far.run_ids) + 1.2)
    plot_distance(far, ax=panel)
    figure.savefig(asked.output / "far-distance.png", dpi=110)


def late_runs(path: Path) -> None:
    """The runs of the example in a size that a phone can read."""
    example = simulate_example()
    scores = score(example.collection, measures=["P@10"], estimators=["smoothed", "posterior-combined"])
    figure, (panel,) = figure_grid(1, width=3.6, height=2.2)
    plot_forest(scores, truth=example.true_values("P@10"), legend=False, ax=panel)
    finish(figure).savefig(path, dpi=200)


def forest(whole: Collection, scores: Scores, path: Path) -> None:
    """Bounds, two corrections, intervals, and what the runs score with all judgments."""
    measure = parse_measure(str(scores.estimates[0].measure))
    truth = score_bounds(whole, scores.run_ids, measure).low.means()
    figure, (panel,) = figure_grid(1, width=7, height=0.34 * len(scores.run_ids) + 1.5)
    plot_forest(scores, truth=dict(zip(scores.run_ids, truth.tolist(), strict=True)), ax=panel)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
