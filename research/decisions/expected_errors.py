"""How large errors are bound to be: what the posterior expects of its own errors and of the corrections'.

    python research/decisions/expected_errors.py [EXPERIMENT …]

P@n at all cutoffs within the pool depth, over the best 75 % of the pooled runs (diary, *How much is luck*).
In every draw of the default posterior each left-out run has a true score; against it stand the posterior
mean and the corrections, which are what they are. Expected beside observed MAE and SRE of the posterior mean
and of the correction with the smallest observed SRE, and the probability that one of the six corrections has
no larger error than the posterior mean, chosen in hindsight. Last, in how many rows with something to
correct (uncorrected MAE over .005) that is expected, and is so. Runs of one organization are drawn together,
organizations apart. The truth chooses the best 75 % and the rows to count.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from shared import head, markdown, read

from bayespool import Collection, leave_out
from bayespool.measures import Estimates, Measure, overtaken_runs
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import ALL_ESTIMATORS

AS_JUDGED, *CORRECTIONS, POSTERIOR = ALL_ESTIMATORS
N_DRAWS, CUTOFFS = 2000, (5, 10, 20, 30, 100)
TABLE_2 = {
    "top_pool": "kept",
    "unseen": "estimated",
    "denominator": "run",
    "truth": "full",
    "test": "tukey-hsd",
}
EXPERIMENTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Medical 2011, 41 runs": ("trec2011-medical", {}, {}),
    "TREC-2, 36 runs": ("trec2-adhoc", {}, {}),
    "TREC-8 to depth 10, 72 runs": ("trec8-adhoc", {"max_holes": 0}, {"repool_to": 10, "truth": "full"}),
    "TREC-8, depth 100, 72 runs": ("trec8-adhoc", {"max_holes": 0}, {}),
    **{
        f"table 2: {title}": (
            name,
            {"pool_rule": "skipping", "max_holes": holes},
            {**TABLE_2, "repool_to": depth},
        )
        for title, name, holes, depth in (
            ("Medical 2011, 56 runs", "trec2011-medical", 2, 10),
            ("TREC-2, 36 runs", "trec2-adhoc", 20, 100),
            ("TREC-8, 80 runs", "trec8-adhoc", 20, 100),
        )
    },
}
"""By title: collection, arguments of `read_collection` and of `leave_out`."""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """The default posterior, which keeps the drawn totals of every run, by measure and run."""

    estimand: str = "pooled"
    random_seed: int = 1  # set by `leave_out` for each fold
    kept: dict[tuple[str, str], npt.NDArray[np.int64]] = field(default_factory=dict, compare=False)
    name = POSTERIOR

    def estimate(
        self, collection: Collection, run_ids: Sequence[str] | None, measures: Sequence[Measure]
    ) -> tuple[Estimates, ...]:
        posterior = PosteriorEstimator(estimand=self.estimand, random_seed=self.random_seed)
        estimates = posterior.estimate(collection, run_ids, measures)
        for e in estimates:
            assert e.draws is not None
            totals, rng = e.draws.totals(), np.random.default_rng([self.random_seed, e.measure.cutoff])
            order = rng.permutation(len(totals))[:N_DRAWS]  # apart from the draws of other folds
            self.kept.update({(str(e.measure), run): totals[order, i] for i, run in enumerate(e.run_ids)})
        return estimates


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("experiments", nargs="*", default=list(EXPERIMENTS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    of_posterior = ("MAE expected", "observed", "SRE expected", "observed")
    of_correction = ("correction of least SRE", "SRE expected", "observed")
    head("", "measure", *of_posterior, *of_correction, "one of six has no larger MAE", "no larger SRE")
    counted: list[tuple[dict[str, float], dict[str, bool]]] = []
    for title in asked.experiments:
        name, reading, settings = EXPERIMENTS[title]
        keeping, collection = Keeping(), read(name, **reading)
        depth = settings.get("repool_to", collection.pool_depth)
        measures = [f"P@{n}" for n in CUTOFFS if n <= depth]
        estimators = [keeping, AS_JUDGED, *CORRECTIONS]
        result = leave_out(collection, measures, estimators=estimators, top=75, **settings)
        frame = result.to_frame(reported_only=True)
        for measure, runs in frame[frame["reported"]].groupby("measure", sort=False):
            counted += print_row(title, str(measure), runs, keeping, result.scores_in_truth)
    print(f"\nOf {len(counted)} rows with something to correct, one of six has no larger error in")
    for what in ("MAE", "SRE"):
        expected, observed = (sum(row[i][what] for row in counted) for i in (0, 1))
        print(f"- {what}: {expected:.1f} expected, {observed} observed")


def print_row(title: str, measure: str, runs: pd.DataFrame, keeping: Keeping, true_scores: Any) -> list[Any]:
    """Print expected and observed errors; return the chance that a correction has no larger error and
    whether one has, where there is something to correct.
    """
    values = runs.pivot(index="run_id", columns="estimator", values="value").dropna(axis=1)
    truth, organization = (
        runs.groupby("run_id")[name].first()[values.index].to_numpy() for name in ("truth", "organization")
    )
    n_topics = [int((~np.isnan(true_scores[measure, run])).sum()) for run in values.index]
    totals = [keeping.kept[measure, run] for run in values.index]
    drawn = np.column_stack(totals) / (int(measure.split("@")[1]) * np.array(n_topics))
    of_draws: dict[str, dict[str, Any]] = {"MAE": {}, "SRE": {}}
    observed: dict[str, dict[str, float]] = {"MAE": {}, "SRE": {}}
    for estimator in (POSTERIOR, *(c for c in CORRECTIONS if c in values)):
        estimate = values[estimator].to_numpy()
        of_draws["MAE"][estimator] = np.abs(estimate - drawn).mean(axis=1)
        of_draws["SRE"][estimator] = rank_errors(drawn, estimate, truth, organization)
        observed["MAE"][estimator] = float(np.abs(estimate - truth).mean())
        observed["SRE"][estimator] = float(overtaken_runs(truth, estimate).sum())
    chance, came = {}, {}
    for what in of_draws:
        mine = of_draws[what].pop(POSTERIOR), observed[what].pop(POSTERIOR)
        chance[what] = float((np.min(list(of_draws[what].values()), axis=0) <= mine[0] + 1e-12).mean())
        came[what] = min(observed[what].values()) <= mine[1] + 1e-12
        of_draws[what][POSTERIOR], observed[what][POSTERIOR] = mine
    best = min((m for m in observed["SRE"] if m != POSTERIOR), key=lambda m: observed["SRE"][m])
    sre = {m: f"{of_draws['SRE'][m].mean():.0f} ± {of_draws['SRE'][m].std():.0f}" for m in (POSTERIOR, best)}
    cells = [f"{of_draws['MAE'][POSTERIOR].mean():.4f}", f"{observed['MAE'][POSTERIOR]:.4f}", sre[POSTERIOR]]
    cells += [f"{observed['SRE'][POSTERIOR]:.0f}", best, sre[best], f"{observed['SRE'][best]:.0f}"]
    markdown([title, measure, *cells, *(f"{100 * each:.0f} %" for each in chance.values())])
    is_off = np.abs(values[AS_JUDGED].to_numpy() - truth).mean() > 0.005
    return [(chance, came)] if is_off else []


def rank_errors(drawn: Any, estimate: Any, truth: Any, organization: Any) -> Any:
    """SRE of the estimates in each draw of true scores (draw, run)."""
    total = np.zeros(len(drawn))
    for u in range(len(truth)):
        others = np.delete(np.where(organization == organization[u], drawn, truth), u, axis=1)
        n_above = (others > drawn[:, u, None]).sum(axis=1)
        total += np.abs(n_above - (others > estimate[u]).sum(axis=1))
    return total


if __name__ == "__main__":
    main()
