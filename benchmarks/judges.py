"""What labels of LLM judges do to estimates, on the collection at hand that has some.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py near [--judge umbrela-gpt4] [--labels shuffled]
        [--share 0.1] [--top 75] [--rivals]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py far [--judge umbrela-gpt4]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py no-pool [--judge umbrela-gpt4]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/judges.py people [--judge umbrela-gpt4]
        [--answers 100,200,400] [--repetitions 50] [--without-posterior]

``near`` leaves each organization out, ``far`` all runs of a type, ``no-pool`` forgets which runs were pooled
once an organization is left out. ``people`` hides all judgments, has some answered by a design, and scores
the best run of each organization (`people.py`). Labels may be shuffled among the labeled documents (a judge
that knows nothing), turned upside down, or taken away but for a share of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import forget_pool, read
from people import repeated

from bayespool import Collection, leave_out, score
from bayespool.collection import Judge, add_judges
from bayespool.evidence import score_bounds
from bayespool.reading import read_labels

MEASURES = ("P(rel=2)@5", "P(rel=2)@10", "nDCG@10")
RIVALS = (
    *("as-judged", "judge-filled", "judge-rates", "prediction-powered", "precise"),
    *(f"conformal-risk-control(sample={sample!r})" for sample in ("hidden", "judged", "runs")),
)
ERRORS = ("n_runs", "mae", "bias", "coverage_95", "pit_50", "pit_80", "pit_95", "width")
COLUMNS = ("measure", "estimator", *ERRORS)


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["near", "far", "no-pool", "people"])
    parser.add_argument("--judge", default=[], action="append", help="a file of judges/, without its ending")
    parser.add_argument("--labels", default="given", choices=["given", "shuffled", "upside-down"])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--top", type=float, default=100.0, help="per cent of the runs, the best ones")
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--answers", default="100,200,400")
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--without-posterior", action="store_true")
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
        typed = collection.with_attributes(runs=folder / "run-types.csv")
        of_types = {"by": "type", "repool_to": 10, "runs": "all"}
        far = leave_out(typed, MEASURES, estimators=estimators, **of_types)
        for name, of_type in far.to_frame("types").groupby("type"):
            print(name)
            show(of_type)
    elif asked.what == "people":
        numbers = list(map(int, asked.answers.split(",")))
        repeated(folder, collection, labels, numbers, asked.repetitions, not asked.without_posterior)
    else:
        show(without_pool(collection))


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
        forgotten = forget_pool(smaller)
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
    columns = {
        "n_runs": ("error", "size"),
        "mae": ("error", lambda e: e.abs().mean()),
        "bias": ("error", "mean"),
    }
    columns |= {"coverage_95": ("inside", "mean"), "width": ("width", "mean")}
    return found.agg(**columns).reset_index()


if __name__ == "__main__":
    main()
