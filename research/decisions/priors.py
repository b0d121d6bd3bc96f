"""What collections with a pool teach about one without: how the informative priors were chosen.

    python research/decisions/priors.py [--slopes | --own]

--slopes: slopes of the ratio and evidence models on whole collections, per unit of each one's own scale,
under a prior five times as wide as the models' own. --own: the scales of what is an organization's own in
these models, its effects on topics and its slopes. Otherwise: posterior means of the interpolated model's
parameters; then each pooled run scored as if its organization had not been pooled and no pool were at hand,
under the model's own prior of C and the one used without a pool: mean absolute error, and the share of
randomized PIT values in the central 95 % and 50 %.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from shared import contributors, forget_pool, read

from bayespool import Collection, Precision, parse_measure
from bayespool.evidence import score_bounds
from bayespool.experiments import randomized_pit
from bayespool.inference import Laplace
from bayespool.models import LinearEvidence
from bayespool.posterior import PosteriorEstimator, PreparedModel, ScoringProblem

# cutoffs by collection, tolerated holes and pool depth
SCORED = {("trec2011-medical", None, None): (10,), ("trec2-adhoc", None, None): (10, 30)}
SCORED |= {("trec8-adhoc", 0, 10): (10,), ("trec8-adhoc", 0, None): (10, 30)}
WIDER = {("trec2011-medical", None, None): (10,), ("trec2-adhoc", None, None): (10, 30, 100)}
WIDER |= {
    ("trec8-adhoc", 0, 3): (10,),
    ("trec8-adhoc", 0, 10): (10,),
    ("trec8-adhoc", 0, None): (10, 30, 100),
}
NO_POOL_PRIORS = {"c": "Beta(1.2, 2.5)"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--slopes", action="store_true")
    parser.add_argument("--own", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.slopes or asked.own:
        priors = {"sigma_slope": "HalfNormal(2)"} if asked.own else {"beta": "Normal(0, 5)"}
        for name, collection, cutoff in collections(WIDER):
            for model in ("ratio", "evidence"):
                p, draws = fitted(model, collection, (), cutoff, "pooled", priors)
                assert isinstance(p.evidence, LinearEvidence)
                of = {scale: draws.get(scale) for scale in ("sigma_interaction", "sigma_slope")}
                if asked.slopes:
                    of = dict(
                        zip(p.evidence.predictor_names, (draws["beta"] / p.evidence.unit).T, strict=True)
                    )
                cells = [f"{each} {x.mean():.2f} ± {x.std():.2f}" for each, x in of.items()]
                print(f"{name} P@{cutoff}, {model}: {', '.join(cells)}", flush=True)
        return
    for name, collection, cutoff in collections(SCORED):
        outside = collection.unpooled_run_ids[:1]
        _, draws = fitted("interpolated", collection, outside, cutoff, "complete", {})
        means = {each: round(float(x.mean()), 2) for each, x in draws.items() if x.ndim == 1}
        print(f"{name} P@{cutoff}: {means}", flush=True)
    for title, priors in {"C of the model": {}, "C without a pool": NO_POOL_PRIORS}.items():
        frames = []
        for name, collection, cutoff in collections(SCORED):
            frames.append(without_pool(collection, cutoff, priors).assign(where=f"{name} P@{cutoff}"))
        frame = pd.concat(frames)
        for p in (0.95, 0.5):
            frame[f"in {p:.0%}"] = np.where(frame["pit"].isna(), np.nan, (frame["pit"] - 0.5).abs() < p / 2)
        print(f"\n{title}\n{frame.groupby('where', sort=False).mean().round(4).to_string()}")
        print(frame.drop(columns=["where", "error"]).mean().round(3).to_dict())


def collections(settings: dict[Any, tuple[int, ...]]) -> Iterator[tuple[str, Collection, int]]:
    for (name, holes, depth), cutoffs in settings.items():
        collection = read(name, depth, max_holes=holes)
        for cutoff in cutoffs:
            yield name if not depth else f"{name} to {depth}", collection, cutoff


def fitted(
    model: str, collection: Collection, runs: Any, cutoff: int, estimand: Any, priors: dict[str, str]
) -> tuple[PreparedModel, Any]:
    task = ScoringProblem(collection, runs, parse_measure(f"P@{cutoff}"), estimand)
    prepared = task.prepare(model, priors)
    return prepared, Laplace(draws=2000).fit(prepared.spec, prepared.evidence, 1).draws()


def without_pool(collection: Collection, cutoff: int, priors: dict[str, str]) -> pd.DataFrame:
    """Errors of run scores and randomized PIT values, each organization's runs scored without a pool."""
    estimator = PosteriorEstimator(model="interpolated", priors=priors, draws=500)
    rng, frames = np.random.default_rng(1), []
    for name, runs in contributors(collection):
        alone = forget_pool(collection.unpool(organization=name))
        truth = score_bounds(collection, runs, Precision(cutoff)).low
        (e,) = estimator.estimate(alone, runs, f"P@{cutoff}")
        assert e.draws is not None
        total = e.draws.totals()
        pit = np.where(np.ptp(total, axis=0) > 0, randomized_pit(total, truth.totals(), rng), np.nan)
        frames.append(pd.DataFrame({"error": np.abs(e.value - truth.means()), "pit": pit}))
    return pd.concat(frames)


if __name__ == "__main__":
    main()
