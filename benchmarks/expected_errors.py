"""How large errors are bound to be: what the posterior expects of its own errors and of the corrections'.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/expected_errors.py [EXPERIMENT …]

The experiments of docs/calibration.md, P@n at all cutoffs within the pool depth, over the best 75 % of the
pooled runs. In every draw of the default posterior each left-out run has a true score; against it stand the
posterior mean and the corrections, which are what they are. If the posterior were right, their errors would
be distributed like this. Printed as a table in Markdown: expected beside observed MAE and SRE of the
posterior mean, the same of the correction with the smallest observed SRE, and the probability that one of the
six corrections has no larger error than the posterior mean, chosen in hindsight as on that page. Last comes
in how many rows with something to correct (uncorrected MAE over .005) that is expected, and is so.

Runs of one organization are drawn together, and organizations, which are left out one at a time, apart from
one another. Drawn score and estimate stand among the true scores of the other organizations' runs and the
drawn ones of the siblings. The truth chooses the best 75 % and the rows to count; that is not drawn anew.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from at_hand import collections_folder, read
from calibration import short
from published_experiments import AS_PUBLISHED, CUTOFFS, PAPER

from bayespool import leave_out
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning
from bayespool.measures import Estimates, Measure, passed_over
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import ALL_ESTIMATORS

FloatArray = npt.NDArray[np.float64]

AS_IT_STANDS, *CORRECTIONS, POSTERIOR = ALL_ESTIMATORS
LEAST_MAE = 0.005
N_DRAWS = 2000
TABLE_2: dict[str, Any] = AS_PUBLISHED | PAPER
EXPERIMENTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Medical 2011, 41 runs": ("trec2011-medical", {}, {}),
    "TREC-2, 36 runs": ("trec2-adhoc", {}, {}),
    "TREC-8 to depth 10, 72 runs": (
        "trec8-adhoc",
        {"max_holes": 0},
        {"pool_depth": 10, "truth": "full"},
    ),
    "TREC-8, depth 100, 72 runs": ("trec8-adhoc", {"max_holes": 0}, {}),
    "table 2: Medical 2011, 56 runs": (
        "trec2011-medical",
        {"pool_rule": "skipping", "max_holes": 2},
        TABLE_2 | {"pool_depth": 10},
    ),
    "table 2: TREC-2, 36 runs": (
        "trec2-adhoc",
        {"pool_rule": "skipping", "max_holes": 20},
        TABLE_2 | {"pool_depth": 100},
    ),
    "table 2: TREC-8, 80 runs": (
        "trec8-adhoc",
        {"pool_rule": "skipping", "max_holes": 20},
        TABLE_2 | {"pool_depth": 100},
    ),
}
"""Title, and by title: collection, arguments of `read_collection` and of `leave_out`."""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """The default posterior, which keeps the drawn totals of every run.

    Attributes
    ----------
    estimand : str
    random_seed : int
        Set by `leave_out` for each fold.
    kept : dict
        By measure and run: totals over topics of shape (draw,), runs of one fold in the same order of draws.
    """

    estimand: str = "pooled"
    random_seed: int = 1
    kept: dict[tuple[str, str], npt.NDArray[np.int64]] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """As the estimator that it stands for."""
        return POSTERIOR

    def estimate(
        self, collection: Collection, run_ids: Sequence[str] | None, measures: Sequence[Measure]
    ) -> tuple[Estimates, ...]:
        """What the estimator says, with its totals put aside."""
        posterior = PosteriorEstimator(estimand=self.estimand, random_seed=self.random_seed)
        estimates = posterior.estimate(collection, run_ids, measures)
        for of_measure in estimates:
            assert of_measure.draws is not None
            totals = of_measure.draws.totals()
            rng = np.random.default_rng([self.random_seed, of_measure.measure.cutoff])
            order = rng.permutation(len(totals))[:N_DRAWS]  # apart from the draws of other folds
            for i, run in enumerate(of_measure.run_ids):
                self.kept[str(of_measure.measure), run] = totals[order, i]
        return estimates


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", help=f"some of {'; '.join(EXPERIMENTS)}; default: all")
    arguments = parser.parse_args()
    folder = collections_folder(parser)
    if unknown := set(arguments.experiments) - set(EXPERIMENTS):
        parser.error(f"no experiment {unknown.pop()!r}")
    print(
        "| | measure | MAE expected | observed | SRE expected | observed | correction of least SRE "
        "| SRE expected | observed | chance that one of six has no larger MAE | no larger SRE |"
    )
    print("| --- | --- |" + " ---: |" * 4 + " --- |" + " ---: |" * 4)
    rows: list[Row] = []
    for title in arguments.experiments or EXPERIMENTS:
        of_title = table(title, folder)
        print(short("\n".join(map(str, of_title))), flush=True)
        rows += of_title
    counted = [row for row in rows if row.stands > LEAST_MAE]
    print(f"\nOf {len(counted)} rows with something to correct, one of six has no larger error in")
    for what in ("MAE", "SRE"):
        expected = sum(row.not_behind[what] for row in counted)
        observed = sum(row.observed_not_behind[what] for row in counted)
        print(f"- {what}: {expected:.1f} expected, {observed} observed")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was expected and observed under one measure.

    ``stands`` is the MAE of the runs as they stand, ``cells`` the figures as printed, ``not_behind`` the
    chance that one of the corrections has no larger MAE or SRE, ``observed_not_behind`` whether one has.
    """

    title: str
    stands: float
    cells: tuple[str, ...]
    not_behind: dict[str, float]
    observed_not_behind: dict[str, bool]

    def __str__(self) -> str:
        chances = [f"{100 * chance:.0f} %" for chance in self.not_behind.values()]
        return "| " + " | ".join([self.title, *self.cells, *chances]) + " |"


def table(title: str, collections: Path) -> list[Row]:
    """A row per measure of one experiment."""
    name, reading, settings = EXPERIMENTS[title]
    keeping = Keeping()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        collection = read(collections / name, **reading)
        depth = settings.get("pool_depth", collection.pool_depth)
        result = leave_out(
            collection,
            [f"P@{n}" for n in CUTOFFS if n <= depth],
            estimators=[keeping, AS_IT_STANDS, *CORRECTIONS],
            top=75,
            **settings,
        )
    frame = result.to_frame(reported_only=True)
    return [
        errors(f"{'' if i else title} | {measure}", runs, keeping, result.scores_in_truth)
        for i, (measure, runs) in enumerate(frame[frame["reported"]].groupby("measure", sort=False))
    ]


def errors(
    title: str,
    runs: pd.DataFrame,
    keeping: Keeping,
    true_scores: Mapping[tuple[str, str], FloatArray],
) -> Row:
    """Expected and observed errors under one measure."""
    values = runs.pivot(index="run_id", columns="estimator", values="value").dropna(axis=1)
    truth = runs.groupby("run_id")["truth"].first()[values.index].to_numpy()
    organization = runs.groupby("run_id")["organization"].first()[values.index].to_numpy()
    (measure,) = runs["measure"].unique()
    cutoff = int(measure.split("@")[1])
    n_topics = [int((~np.isnan(true_scores[measure, run])).sum()) for run in values.index]
    drawn = np.column_stack(
        [keeping.kept[measure, run] / (cutoff * n) for run, n in zip(values.index, n_topics, strict=True)]
    )
    of_draws: dict[str, dict[str, FloatArray]] = {"MAE": {}, "SRE": {}}
    observed: dict[str, dict[str, float]] = {"MAE": {}, "SRE": {}}
    for method in (POSTERIOR, *(c for c in CORRECTIONS if c in values)):
        estimate = values[method].to_numpy()
        of_draws["MAE"][method] = np.abs(estimate - drawn).mean(axis=1)
        of_draws["SRE"][method] = rank_errors(drawn, estimate, truth, organization)
        observed["MAE"][method] = float(np.abs(estimate - truth).mean())
        observed["SRE"][method] = float(passed_over(truth, estimate).sum())
    not_behind, observed_not_behind = {}, {}
    for what in of_draws:
        least = np.min([of for m, of in of_draws[what].items() if m != POSTERIOR], axis=0)
        not_behind[what] = float((least <= of_draws[what][POSTERIOR] + 1e-12).mean())
        least_observed = min(of for m, of in observed[what].items() if m != POSTERIOR)
        observed_not_behind[what] = least_observed <= observed[what][POSTERIOR] + 1e-12
    best = min((m for m in observed["SRE"] if m != POSTERIOR), key=lambda m: observed["SRE"][m])
    sre = of_draws["SRE"]
    return Row(
        title=title,
        stands=float(np.abs(values[AS_IT_STANDS].to_numpy() - truth).mean()),
        cells=(
            f"{of_draws['MAE'][POSTERIOR].mean():.4f}",
            f"{observed['MAE'][POSTERIOR]:.4f}",
            f"{sre[POSTERIOR].mean():.0f} ± {sre[POSTERIOR].std():.0f}",
            f"{observed['SRE'][POSTERIOR]:.0f}",
            best,
            f"{sre[best].mean():.0f} ± {sre[best].std():.0f}",
            f"{observed['SRE'][best]:.0f}",
        ),
        not_behind=not_behind,
        observed_not_behind=observed_not_behind,
    )


def rank_errors(
    drawn: FloatArray, estimate: FloatArray, truth: FloatArray, organization: npt.NDArray[Any]
) -> FloatArray:
    """SRE of the estimates in each draw of true scores (draw, run)."""
    total = np.zeros(len(drawn))
    for u in range(len(truth)):
        siblings = organization == organization[u]
        others = np.delete(np.where(siblings, drawn, truth), u, axis=1)
        n_above = (others > drawn[:, u, None]).sum(axis=1)
        total += np.abs(n_above - (others > estimate[u]).sum(axis=1))
    return total


if __name__ == "__main__":
    main()
