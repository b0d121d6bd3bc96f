"""Effects of a column on simulated collections: is a known one found, and what does one that is 0 cost?

    python -m research.checks.effects --collections 100
    python -m research.checks.effects --documents --collections 50

Types differ within organizations. First hidden documents are made relevant by the model itself, with a known
difference of log odds between two types, or one drawn from the prior, and the 95 % interval of the difference
holds it or not. Then runs of simulated collections have types that say nothing, and errors of scores and
processor seconds are compared with those of the model without the effect. With `--documents` the same of a
column of documents and its slope, and of columns that tell relevant documents from others, or say nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import numpy as np
import pandas as pd
from scipy.special import expit

from bayespool import score
from bayespool.collection import Collection, build_collection
from bayespool.experiments import Simulation, SimulationSettings, simulate
from bayespool.inference import Laplace
from bayespool.measures import parse_measure
from bayespool.models import LinearEvidence
from bayespool.posterior import ScoringProblem

DESIGN = SimulationSettings(n_topics=10, n_candidates=80, n_organizations=6, max_runs=3, run_depth=60)
MODEL = "ratio + (1 | type)"


def with_types(simulation: Simulation, random_seed: int) -> Collection:
    """The collection with one of two types of each run, by lot."""
    rng, depth = np.random.default_rng([random_seed, 2]), simulation.collection.pool_depth
    types = rng.permutation(len(simulation.organizations)) % 2
    rows = {
        run: {"organization": organization, "type": "ab"[kind]}
        for (run, organization), kind in zip(simulation.organizations.items(), types, strict=True)
    }
    pooled = [run for run in rows if run not in simulation.new_run_ids]
    return build_collection(
        simulation.runs, simulation.qrels, organizations=rows, pooled_run_ids=pooled, pool_depth=depth
    )


def recover(random_seed: int, known: float | None) -> dict[str, object]:
    """How far the difference of types in a fit is off that of its hidden documents, known or drawn."""
    collection = with_types(simulate(DESIGN, random_seed=random_seed), random_seed)
    problem = ScoringProblem(collection, (), parse_measure("P@10"), "complete")
    prepared, rng = problem.prepare(MODEL, {}), np.random.default_rng([random_seed, 3])
    e = prepared.evidence
    assert isinstance(e, LinearEvidence)
    (factor,) = e.factors
    scale = abs(rng.normal())
    difference = float(rng.normal(scale=scale * np.sqrt(2))) if known is None else known
    low, high = (factor.levels.index(level) for level in "ab")
    of_type = np.zeros(len(factor.levels))
    of_type[low], of_type[high] = -difference / 2, difference / 2
    effects = {
        "topic": rng.normal(scale=0.7, size=len(e.query_ids))[e.topic],
        "organization": rng.normal(scale=0.5, size=len(e.organizations))[e.organization],
        "cell": rng.normal(scale=0.5, size=int(e.cell.max()) + 1)[e.cell],
        "type": of_type[factor.at(e.run, e.topic)],
    }
    log_odds = -1 + e.predictors @ e.expected + sum(effects.values())
    relevant = rng.binomial(e.n_hidden, expit(log_odds))
    evidence = dataclasses.replace(e, n_hidden_relevant=relevant)
    draws = Laplace(draws=1000).fit(prepared.spec, evidence, random_seed, known=()).draws()
    found = draws["type_effect"][:, high] - draws["type_effect"][:, low]
    lower, upper = np.quantile(found, [0.025, 0.975])
    holds = bool(lower <= difference <= upper)
    return {
        "true": "drawn" if known is None else known,
        "off": float(found.mean()) - difference,
        "holds": holds,
    }


def with_signal(simulation: Simulation, strength: float, random_seed: int) -> Collection:
    """The collection with a column of documents: normal, higher by so many deviations if relevant."""
    collection, rng = simulation.collection, np.random.default_rng([random_seed, 4])
    values = strength * (simulation.true_relevance() > 0) + rng.normal(size=len(collection.doc_ids))
    topics = [collection.query_ids[t] for t in collection.pair_topic]
    table = {"query_id": topics, "doc_id": collection.doc_ids.to_pylist(), "signal": values}
    return collection.with_attributes(documents=pd.DataFrame(table))


def recover_slope(random_seed: int, known: float | None) -> dict[str, object]:
    """How far the slope in a fit is off that of its hidden documents, known or drawn."""
    collection = with_signal(simulate(DESIGN, random_seed=random_seed), 0, random_seed)
    problem = ScoringProblem(collection, (), parse_measure("P@10"), "complete")
    prepared, rng = problem.prepare("rankings + signal", {}), np.random.default_rng([random_seed, 3])
    e = prepared.evidence
    assert isinstance(e, LinearEvidence)
    slope = float(rng.normal()) if known is None else known
    place = e.predictor_names.index("signal")
    of_organization = slope + rng.normal(scale=0.2, size=len(e.organizations))
    effects = {
        "topic": rng.normal(scale=0.7, size=len(e.query_ids))[e.topic],
        "organization": rng.normal(scale=0.5, size=len(e.organizations))[e.organization],
        "cell": rng.normal(scale=0.5, size=int(e.cell.max()) + 1)[e.cell],
        "signal": of_organization[e.organization] * e.predictors[:, place],
    }
    log_odds = -1 + e.predictors @ e.expected + sum(effects.values())
    relevant = rng.binomial(e.n_hidden, expit(log_odds))
    evidence = dataclasses.replace(e, n_hidden_relevant=relevant)
    draws = Laplace(draws=1000).fit(prepared.spec, evidence, random_seed, known=()).draws()
    found = draws["beta"][:, place]
    lower, upper = np.quantile(found, [0.025, 0.975])
    return {
        "true": "drawn" if known is None else known,
        "off": float(found.mean()) - slope,
        "holds": bool(lower <= slope <= upper),
    }


def compare(
    simulation: Simulation, collection: Collection, models: tuple[str, ...], column: str
) -> list[dict[str, object]]:
    """Errors of the new runs' scores and seconds, without and with an effect of a column."""
    truth = score(simulation.complete(), simulation.new_run_ids, "P@10", estimators="as-judged").to_frame()
    true = dict(zip(truth.run_id, truth.value, strict=True))
    rows: list[dict[str, object]] = []
    for model in models:
        base, *effects = model.partition(" + ")
        estimator = f"posterior-{base}(draws=250)" + "".join(effects)
        began = time.process_time()
        frame = score(collection, simulation.new_run_ids, "P@10", estimators=estimator).to_frame()
        seconds = time.process_time() - began
        for row in frame.itertuples():
            held = row.lower <= true[row.run_id] <= row.upper
            error = abs(row.value - true[row.run_id])
            rows.append(
                {
                    "column": column,
                    "model": model,
                    "error": error,
                    "holds": held,
                    "seconds": seconds / len(frame),
                }
            )
    return rows


def compare_types(random_seed: int) -> list[dict[str, object]]:
    """Errors without and with an effect of types that say nothing."""
    simulation = simulate(DESIGN, random_seed=random_seed)
    return compare(simulation, with_types(simulation, random_seed), ("ratio", MODEL), "noise")


def compare_documents(random_seed: int) -> list[dict[str, object]]:
    """Errors without and with a column of documents, of three strengths."""
    simulation, rows = simulate(DESIGN, random_seed=random_seed), list[dict[str, object]]()
    for strength in (0.0, 1.0, 2.0):
        collection = with_signal(simulation, strength, random_seed)
        models = ("rankings", "rankings + signal") if strength == 0 else ("rankings + signal",)
        rows += compare(simulation, collection, models, f"{strength:g} deviations")
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--collections", type=int, default=100)
    parser.add_argument("--documents", action="store_true")
    asked = parser.parse_args(arguments)
    one, other = (recover_slope, compare_documents) if asked.documents else (recover, compare_types)
    seeds = range(1, asked.collections + 1)
    found = pd.DataFrame([one(seed, known) for known in (0.0, 1.0, None) for seed in seeds])
    print(found.groupby("true").mean().round(3).to_string())
    frame = pd.DataFrame([row for seed in seeds for row in other(seed)])
    print(frame.groupby(["column", "model"]).mean().round(5).to_string())


if __name__ == "__main__":
    main()
