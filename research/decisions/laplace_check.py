"""Does the Laplace engine know when its answers differ from the sampler's (docs/model-checks.md)?

    python research/decisions/laplace_check.py [--models background,ratio,evidence] [--simulated 24] [--real]

Simulated collections from 2 to 12 organizations and 4 to 30 topics, pools from depth 1 to 10, and with --real
the collections at hand with their first 3, 8 and all organizations. Both engines fit each model to the hidden
documents. Compared are the ends of the 95 % interval of the log odds of the mean chance of the hidden
documents, if a new organization had retrieved them: a distance of more than a tenth of the interval's width,
beyond twice the Monte Carlo error, is a difference. Printed is how often the check finds what is none (false
alarms) and misses what is one.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from shared import contributors, read

from bayespool import Collection, SimulationSettings, parse_measure, simulate
from bayespool.inference import NUTS, Fit, Laplace
from bayespool.posterior import PreparedModel, ScoringProblem, new_interaction, new_organization_effect

MOST, TAILS = 0.1, [0.025, 0.975]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="background,ratio,evidence")
    parser.add_argument("--simulated", type=int, default=24)
    parser.add_argument("--real", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, collection in [*pools(asked.simulated), *(real_pools() if asked.real else [])]:
        problem = ScoringProblem(
            collection, collection.unpooled_run_ids[:1], parse_measure("P@10"), "complete"
        )
        for model in asked.models.split(","):
            prepared = problem.prepare(model, {})
            if prepared.evidence.n_hidden.sum():
                rows.append({"pool": name, "model": model} | compared(prepared))
                print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    alarm, differs = frame["measured"] > MOST, frame["off"] - 2 * frame["error"] > MOST
    print(f"\n{len(frame)} fits, {differs.sum()} differ, {alarm.sum()} alarms")
    print(f"false alarms {(alarm & ~differs).sum()}, misses {(differs & ~alarm).sum()}")
    print(frame.groupby("model")[["measured", "off", "error"]].quantile([0.5, 0.9, 1]).round(3).to_string())


def pools(n: int) -> Iterator[tuple[str, Collection]]:
    rng = np.random.default_rng(1)
    for seed in range(n):
        settings = SimulationSettings(
            n_topics=int(rng.integers(4, 31)),
            n_organizations=int(rng.integers(3, 13)),
            pool_depth=int(rng.choice([1, 2, 5, 10])),
        )
        yield f"simulated {seed}", simulate(settings, random_seed=seed).collection


def real_pools() -> Iterator[tuple[str, Collection]]:
    for name in ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage"):
        whole = read(name, **({"order": "rank"} if name.startswith("dl") else {}))
        (first, _), *others = contributors(whole)
        smaller = whole.unpool(organization=first)
        for n in (3, 8, len(others)):
            some = [run for _, runs in others[:n] for run in runs]
            kept = np.isin(whole.run_ids, some) & smaller.pooled
            yield f"{name}: {n} organizations", smaller.with_pool(kept, min(smaller.pool_depth, 30))


def compared(prepared: PreparedModel) -> dict[str, float]:
    """What the check measures, and how far an end really is off."""
    laplace = Laplace(draws=8000).fit(prepared.spec, prepared.evidence, 1)
    nuts = NUTS(draws=2000, chains=4).compile(prepared.graph()).sample(random_seed=1)
    one, other = (log_odds_of_mean(prepared, fit) for fit in (laplace, nuts))
    width = float(np.diff(np.quantile(other, TAILS))[0])
    off = np.abs(np.quantile(one, TAILS) - np.quantile(other, TAILS)) / width
    batches = [np.quantile(part, TAILS) for draws in (one, other) for part in np.array_split(draws, 10)]
    error = np.sqrt(2) * np.std(batches, axis=0).max() / np.sqrt(10) / width
    return {"measured": laplace.diagnostics.max_end_error, "off": float(off.max()), "error": float(error)}


def log_odds_of_mean(prepared: PreparedModel, fit: Fit) -> np.ndarray:
    """Log odds of the mean chance of all hidden documents, had a new organization retrieved them."""
    draws, evidence, rng = fit.draws(), prepared.evidence, np.random.default_rng(1)
    n = len(evidence.organizations)
    effect = new_organization_effect(draws["sigma_organization"], n, np.zeros(1), rng)
    log_odds = prepared.spec.log_odds_of_rows(evidence, draws) + effect
    if "sigma_interaction" in draws:
        log_odds += new_interaction(draws["sigma_interaction"], evidence.topic, rng)
    mean = (1 / (1 + np.exp(-log_odds))) @ evidence.n_hidden / evidence.n_hidden.sum()
    return np.asarray(np.log(mean) - np.log1p(-mean))


if __name__ == "__main__":
    main()
