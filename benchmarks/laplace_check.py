"""Does the Laplace engine know when its answers differ from the sampler's?

    [BAYESPOOL_COLLECTIONS=folder] python benchmarks/laplace_check.py [--models background,ratio,evidence]
        [--simulated 24] [--real] [--only TEXT]

Simulated collections from 2 to 12 organizations and 4 to 30 topics, pools from depth 1 to 10, and with
``--real`` the collections at hand with their first 3, 8 and all organizations. Each model is fitted by both
engines to the hidden documents. What is compared is what fits are for: draws of the expected total of the
hidden documents if a new organization had retrieved them. An end of its 95 % interval, on the scale of log
odds of the mean chance, that differs by more than a tenth of the interval's width, beyond twice the Monte
Carlo error, is a difference. Printed are the rates at which the check finds what is none (false alarms) and
misses what is one, and the ranges of what it measures.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import read

from bayespool import Collection, parse_measure, simulate
from bayespool.experiments import SimulationSettings
from bayespool.inference import NUTS, Fit, Laplace
from bayespool.models import MODELS
from bayespool.posterior import PreparedModel, ScoringProblem, new_interaction, new_organization_effect

MOST = 0.1


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="background,ratio,evidence")
    parser.add_argument("--simulated", type=int, default=24)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--only", default="", help="pools whose name has this text")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, collection in [*pools(asked.simulated), *(real_pools() if asked.real else [])]:
        if asked.only not in name:
            continue
        run = collection.unpooled_run_ids[:1]
        for model in asked.models.split(","):
            prepared = ScoringProblem(collection, run, parse_measure("P@10"), "complete").prepare(
                MODELS[model], {}
            )
            if not prepared.evidence.n_hidden.sum():
                continue
            rows.append({"pool": name, "model": model} | compared(prepared))
            print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    if asked.output:
        frame.to_csv(asked.output, index=False)
    alarm, differs = frame["measured"] > MOST, frame["off"] - 2 * frame["error"] > MOST
    print(f"\n{len(frame)} fits, {int(differs.sum())} differ, {int(alarm.sum())} alarms")
    print(f"false alarms {int((alarm & ~differs).sum())} of {int((~differs).sum())}")
    print(f"misses {int((differs & ~alarm).sum())} of {int(differs.sum())}")
    print(frame.groupby("model")[["measured", "off", "error"]].quantile([0.5, 0.9, 1]).round(3).to_string())


def pools(n: int) -> Iterator[tuple[str, Collection]]:
    """Simulated collections."""
    rng = np.random.default_rng(1)
    for seed in range(n):
        settings = SimulationSettings(
            n_topics=int(rng.integers(4, 31)),
            n_organizations=int(rng.integers(3, 13)),
            pool_depth=int(rng.choice([1, 2, 5, 10])),
        )
        collection = simulate(settings, random_seed=seed).collection
        yield f"simulated {seed}: {settings.n_topics} topics, depth {settings.pool_depth}", collection


def real_pools() -> Iterator[tuple[str, Collection]]:
    """Collections at hand with some of their organizations."""
    folder = Path(os.environ["BAYESPOOL_COLLECTIONS"])
    for name in ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage"):
        whole = read(folder / name, **({"order": "rank"} if name.startswith("dl") else {}))
        first, *others = np.unique(whole.organization[whole.pooled])
        smaller = whole.unpool(organization=whole.organizations[first])
        for n in (3, 8, len(others)):
            kept = np.isin(whole.organization, others[:n]) & smaller.pooled
            yield f"{name}: {n} organizations", smaller.with_pool(kept, min(smaller.pool_depth, 30))


def compared(prepared: PreparedModel) -> dict[str, float]:
    """What the check measures, and how far an end really is off."""
    laplace = Laplace(draws=8000).fit(prepared.spec, prepared.evidence, 1)
    nuts = NUTS(draws=2000, chains=4).compile(prepared.graph()).sample(random_seed=1)
    one, other = (log_odds_of_mean(prepared, fit) for fit in (laplace, nuts))
    tails = [0.025, 0.975]
    width = float(np.diff(np.quantile(other, tails))[0])
    off = np.abs(np.quantile(one, tails) - np.quantile(other, tails)) / width
    batches = [np.quantile(part, tails) for draws in (one, other) for part in np.array_split(draws, 10)]
    error = np.sqrt(2) * np.std(batches, axis=0).max() / np.sqrt(10) / width
    return {
        "measured": laplace.diagnostics.max_end_error,
        "off": float(off.max()),
        "error": float(error),
        "converged": float(not any("mode" in p for p in laplace.diagnostics.problems)),
    }


def log_odds_of_mean(prepared: PreparedModel, fit: Fit) -> np.ndarray:
    """Log odds of the mean chance of all hidden documents, had a new organization retrieved them."""
    draws, evidence = fit.draws(), prepared.evidence
    rng = np.random.default_rng(1)
    n = len(evidence.organizations)
    effect = new_organization_effect(draws["sigma_organization"], n, np.zeros(1), rng)
    log_odds = prepared.spec.log_odds_of_rows(evidence, draws) + effect
    if "sigma_interaction" in draws:
        log_odds += new_interaction(draws["sigma_interaction"], evidence.topic, rng)
    p = 1 / (1 + np.exp(-log_odds))
    mean = p @ evidence.n_hidden / evidence.n_hidden.sum()
    return np.log(mean) - np.log1p(-mean)


if __name__ == "__main__":
    main()
