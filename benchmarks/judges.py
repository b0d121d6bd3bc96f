"""What labels of second judges do to estimates, on the collection at hand that has some.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py near [--judge umbrela-gpt4] [--labels shuffled]
        [--share 0.1] [--top 75] [--rivals]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py far [--judge umbrela-gpt4]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py no-pool [--judge umbrela-gpt4]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py topics [--judge umbrela-gpt4]

``near`` leaves each organization out, ``far`` all runs of a type, ``no-pool`` forgets which runs were pooled
once an organization is left out. Labels may be shuffled among the labeled documents (a judge that knows
nothing), turned upside down, or taken away but for a share of them. ``topics`` asks whether what a label is
worth differs from topic to topic: log density of hidden documents of organizations that were held out, by the
standard deviation that slopes of labels have over topics.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import read

from bayespool import Collection, leave_out, parse_measure, score
from bayespool.collection import Judge, add_judges, read_labels, read_run_types
from bayespool.evidence import score_bounds
from bayespool.posterior import ScoringProblem

MEASURES = ("P(rel=2)@5", "P(rel=2)@10", "nDCG@10")
RIVALS = (
    *("as-judged", "judge-filled", "judge-rates", "prediction-powered", "precise"),
    *(f"conformal-risk-control(sample={sample!r})" for sample in ("hidden", "judged", "runs")),
)
COLUMNS = [
    "measure",
    "estimator",
    "n_runs",
    "mae",
    "bias",
    "coverage_95",
    "pit_50",
    "pit_80",
    "pit_95",
    "width",
]


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["near", "far", "no-pool", "topics"])
    parser.add_argument("--judge", default=[], action="append", help="a file of judges/, without its ending")
    parser.add_argument("--labels", default="given", choices=["given", "shuffled", "upside-down"])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--top", type=float, default=100.0, help="per cent of the runs, the best ones")
    parser.add_argument("--rivals", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / "dl21-passage"
    collection = read(folder, order="rank")
    labels = {name: read_labels(folder / "judges" / f"{name}.txt") for name in asked.judge}
    collection = add_judges(collection, labels)
    rng = np.random.default_rng(1)
    judges = tuple(changed(judge, asked.labels, asked.share, rng) for judge in collection.judges)
    collection = dataclasses.replace(collection, judges=judges)
    estimators = ["posterior-combined", *(RIVALS if asked.rivals else ())]
    if asked.what == "near":
        near = leave_out(collection, MEASURES, estimators=estimators, top=asked.top)
        show(near.to_frame("summary"))
    elif asked.what == "far":
        types = read_run_types(folder / "run-types.csv")
        of_types = {"by": "type", "run_types": types, "pool_depth": 10, "runs": "all"}
        far = leave_out(collection, MEASURES, estimators=estimators, **of_types)
        for name, of_type in far.to_frame("types").groupby("type"):
            print(name)
            show(of_type)
    elif asked.what == "no-pool":
        show(without_pool(collection))
    else:
        show(density_by_topic(collection))


def changed(judge: Judge, labels: str, share: float, rng: np.random.Generator) -> Judge:
    """The judge with labels shuffled, turned upside down, or taken away."""
    label, there = judge.label.copy(), judge.is_labeled
    if labels == "shuffled":
        label[there] = rng.permutation(label[there])
    elif labels == "upside-down":
        label = -label
    label[rng.random(len(label)) > share] = np.nan
    return Judge(judge.name, label)


def show(frame: pd.DataFrame) -> None:
    """Print the columns that are asked for, as far as there are any."""
    there = [name for name in COLUMNS if name in frame] if "mae" in frame else list(frame)
    print(frame[there].to_string(index=False, float_format="{:.4f}".format))


def without_pool(collection: Collection) -> pd.DataFrame:
    """The runs of each organization, scored on priors and labels alone."""
    rows = []
    for organization in dict.fromkeys(collection.organization[collection.pooled].tolist()):
        name = collection.organizations[organization]
        smaller = collection.unpool(organization=name)
        forgotten = smaller.with_pool(np.zeros(len(collection.run_ids), dtype=bool), 0)
        runs = [
            collection.run_ids[r]
            for r in np.flatnonzero((collection.organization == organization) & collection.pooled)
        ]
        for estimates in score(forgotten, runs, MEASURES, estimators="posterior-combined").estimates:
            if estimates.draws is None:
                continue
            truth = score_bounds(collection, runs, estimates.measure).low.means()
            low, high = np.quantile(estimates.draws.means(), [0.025, 0.975], axis=0)
            rows += [
                {"measure": str(estimates.measure), "error": e, "inside": i, "width": w}
                for e, i, w in zip(
                    estimates.value - truth, (low <= truth) & (truth <= high), high - low, strict=True
                )
            ]
    found = pd.DataFrame(rows).groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "n_runs": found.size(),
            "mae": found["error"].agg(lambda e: e.abs().mean()),
            "bias": found["error"].mean(),
            "coverage_95": found["inside"].mean(),
            "width": found["width"].mean(),
        }
    ).reset_index()


def density_by_topic(collection: Collection) -> pd.DataFrame:
    """Log density of hidden documents in five folds of organizations, by the spread of slopes over topics.

    The models' predictors and labels, effects of topics of standard deviation 1, and slopes of labels that
    differ by topic, by a mode given the spread.
    """
    rows = []
    for measure in ("P(rel=1)@10", "P(rel=2)@10"):
        prepared = ScoringProblem(collection, (), parse_measure(measure), "complete").prepare("evidence", {})
        evidence = prepared.evidence
        is_label = np.array(["≥" in name for name in evidence.predictor_names])
        topics = np.eye(len(evidence.query_ids))[evidence.topic]
        steps = evidence.predictors[:, is_label]
        by_topic = (topics[:, :, None] * steps[:, None, :]).reshape(len(topics), -1)
        shift = np.append(evidence.expected, 0.0)
        common = np.column_stack([evidence.predictors, np.ones(len(topics))])
        y, fold = evidence.n_hidden_relevant > 0, evidence.organization % 5
        for spread in (0.0, 0.25, 0.5, 1.0, 2.0):
            x = np.column_stack([common, topics, spread * by_topic])
            mean = np.concatenate([shift, np.zeros(x.shape[1] - len(shift))])
            found = 0.0
            for k in range(5):
                at = mode(x[fold != k], y[fold != k], mean)
                z = x[fold == k] @ at
                found += float((y[fold == k] * z - np.logaddexp(0, z)).sum())
            rows.append({"measure": measure, "spread": spread, "log_density": found, "n": len(y)})
    return pd.DataFrame(rows)


def mode(x: np.ndarray, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Of a logistic regression whose coefficients have standard deviations of 1 about a mean."""
    from scipy.optimize import minimize

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        z, off = x @ at, at - mean
        p = 1 / (1 + np.exp(-z))
        return float(np.logaddexp(0, z).sum() - (y * z).sum() + off @ off / 2), x.T @ (p - y) + off

    return np.asarray(minimize(loss, mean, jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x)


if __name__ == "__main__":
    main()
