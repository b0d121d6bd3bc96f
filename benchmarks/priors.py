"""What collections with a pool teach about one without: how the informative priors were chosen.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/priors.py [--slopes | --own]

With --slopes: slopes of the ratio and evidence models on whole collections, per unit of each predictor's own
scale, posterior mean and standard deviation under a prior five times as wide as the models' own.

With --own: the scales of what is an organization's own in these models, its effects on topics and its slopes,
posterior mean and standard deviation.

Otherwise two tables. First: posterior means of the interpolated model's parameters on whole collections.
Second: each pooled run scored as if its organization had not been pooled and no pool were at hand, under the
model's own prior of C and under the one used without a pool: mean absolute error of the run score, and the
share of randomized PIT values in the central 95 % and 50 %.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from at_hand import UNSET, read

from bayespool import Collection, Precision, parse_measure
from bayespool.evidence import score_bounds
from bayespool.experiments import randomized_pit
from bayespool.inference import Laplace
from bayespool.models import LinearEvidence
from bayespool.posterior import PosteriorEstimator, ScoringProblem
from bayespool.posterior.mixtures import WITHOUT_POOL

Setting = tuple[
    str, int | None, int | None, tuple[int, ...]
]  # collection, tolerated holes, pool depth, cutoffs
SETTINGS: tuple[Setting, ...] = (
    ("trec2011-medical", None, None, (10,)),
    ("trec2-adhoc", None, None, (10, 30)),
    ("trec8-adhoc", 0, 10, (10,)),
    ("trec8-adhoc", 0, None, (10, 30)),
)
SLOPE_SETTINGS: tuple[Setting, ...] = (
    ("trec2011-medical", None, None, (10,)),
    ("trec2-adhoc", None, None, (10, 100)),
    ("trec8-adhoc", 0, 3, (10,)),
    ("trec8-adhoc", 0, 10, (10,)),
    ("trec8-adhoc", 0, None, (10, 100)),
)
INTERACTION_SETTINGS: tuple[Setting, ...] = (
    ("trec2011-medical", None, None, (10,)),
    ("trec2-adhoc", None, None, (10, 30, 100)),
    ("trec8-adhoc", 0, 10, (10,)),
    ("trec8-adhoc", 0, None, (10, 30, 100)),
)
SLOPE_MODELS: tuple[str, ...] = ("ratio", "evidence")


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slopes", action="store_true")
    parser.add_argument("--own", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.slopes:
        print_slopes()
        return
    if arguments.own:
        print_own()
        return
    names = ("a", "c", "sigma_topic", "sigma_run", "sigma_organization")
    print(f"{'':24}" + "".join(f"{name:>20}" for name in names))
    for name, collection, cutoff in collections(SETTINGS):
        means = posterior_means(collection, cutoff)
        print(f"{name:18} P@{cutoff:<4}" + "".join(f"{means[n]:>20.2f}" for n in names), flush=True)
    own = {"C of the model": {}, "C without a pool": WITHOUT_POOL}
    for title, priors in own.items():
        print(f"\n{title}: {priors or 'as in bayespool.models.interpolated'}")
        every = []
        for name, collection, cutoff in collections(SETTINGS):
            error, pit = without_pool(collection, cutoff, priors)
            every.append(pit)
            print(f"{name:18} P@{cutoff:<4} {summary(error, pit)}", flush=True)
        print(f"{'all':25}{summary(np.zeros(0), np.concatenate(every))}")


def print_slopes() -> None:
    """A table per model: a row for each predictor, a column for each collection and cutoff."""
    cases = list(collections(SLOPE_SETTINGS))
    for model in SLOPE_MODELS:
        columns, names = [], ()
        for _, collection, cutoff in cases:
            prepared = ScoringProblem(collection, (), parse_measure(f"P@{cutoff}"), "pooled").prepare(
                model, {"beta": "Normal(0, 5)"}
            )
            evidence = prepared.evidence
            assert isinstance(evidence, LinearEvidence)
            fit = Laplace(draws=2000).fit(prepared.spec, evidence, 1)
            slopes = fit.draws()["beta"] / evidence.unit
            columns.append([f"{m:.2f} ± {s:.2f}" for m, s in zip(slopes.mean(0), slopes.std(0), strict=True)])
            names = evidence.predictor_names
        print(f"\n{model:16}" + "".join(f"{f'{name} P@{cutoff}':>26}" for name, _, cutoff in cases))
        for i, name in enumerate(names):
            print(f"{name:16}" + "".join(f"{column[i]:>26}" for column in columns))


def print_own() -> None:
    """A row per collection and cutoff: in each model the scales of the effects of organization × topic, and
    of organizations' slopes, for the latter with a prior that leaves them free.
    """
    scales = ("sigma_interaction", "sigma_slope")
    titles = [f"{model}: {scale}" for model in SLOPE_MODELS for scale in scales]
    print(f"{'':26}" + "".join(f"{title:>30}" for title in titles))
    for name, collection, cutoff in collections(INTERACTION_SETTINGS):
        told = []
        for model in SLOPE_MODELS:
            task = ScoringProblem(collection, (), parse_measure(f"P@{cutoff}"), "pooled")
            prepared = task.prepare(model, {"sigma_slope": "HalfNormal(2)"})
            draws = Laplace(draws=2000).fit(prepared.spec, prepared.evidence, 1).draws()
            told += [f"{draws[scale].mean():.2f} ± {draws[scale].std():.2f}" for scale in scales]
        print(f"{f'{name} P@{cutoff}':26}" + "".join(f"{text:>30}" for text in told), flush=True)


def collections(settings: tuple[Setting, ...]) -> Iterator[tuple[str, Collection, int]]:
    """The collections at each cutoff."""
    root = os.environ.get("BAYESPOOL_COLLECTIONS")
    if not root:
        raise SystemExit(UNSET)
    for name, holes, depth, cutoffs in settings:
        collection = read(Path(root) / name, max_holes=holes)
        if depth:
            collection = collection.truncate_pool(depth)
        for cutoff in cutoffs:
            yield name if not depth else f"{name} to {depth}", collection, cutoff


def posterior_means(collection: Collection, cutoff: int) -> dict[str, float]:
    """Posterior means of the interpolated model with all pooled runs for evidence."""
    outside = collection.run_ids[int(np.flatnonzero(~collection.pooled)[0])]
    task = ScoringProblem(collection, (outside,), parse_measure(f"P@{cutoff}"), "complete")
    model = task.prepare("interpolated", {})
    fit = Laplace(draws=1000).fit(model.spec, model.evidence, 1)
    return {name: float(draws.mean()) for name, draws in fit.draws().items() if draws.ndim == 1}


def without_pool(
    collection: Collection, cutoff: int, priors: dict[str, str]
) -> tuple[np.ndarray, np.ndarray]:
    """Errors of run scores and randomized PIT values, each organization's runs scored without a pool."""
    estimator = PosteriorEstimator(model="interpolated", priors=priors, draws=500)
    rng, errors, pits = np.random.default_rng(1), [], []
    for o in np.unique(collection.organization[collection.pooled]):
        runs = [
            collection.run_ids[r] for r in np.flatnonzero(collection.pooled & (collection.organization == o))
        ]
        reduced = collection.unpool(organization=collection.organizations[o])
        alone = reduced.with_pool(np.zeros_like(reduced.pooled), 0)
        truth = score_bounds(collection, runs, Precision(cutoff)).low
        (result,) = estimator.estimate(alone, runs, f"P@{cutoff}")
        assert result.draws is not None
        total = result.draws.totals()
        errors += list(result.value - truth.means())
        pit = randomized_pit(total, truth.totals(), rng)
        pits += list(pit[np.ptp(total, axis=0) > 0])
    return np.array(errors), np.array(pits)


def summary(error: np.ndarray, pit: np.ndarray) -> str:
    """Mean absolute error, and shares of PIT values in the central 95 % and 50 %."""
    shares = [float(np.mean(np.abs(pit - 0.5) < p / 2)) for p in (0.95, 0.5)]
    mae = f"MAE {np.abs(error).mean():.4f}, " if len(error) else ""
    return f"{mae}in 95 % {shares[0]:.3f}, in 50 % {shares[1]:.3f}, mean PIT {pit.mean():.2f}"


if __name__ == "__main__":
    main()
