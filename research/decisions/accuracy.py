"""How accurate the default is, and how often its intervals contain the truth (docs/accuracy.md).

    BAYESPOOL_COLLECTIONS=folder python research/decisions/accuracy.py --output research/decisions/tables

Holes that later rounds judged (COVID round 4), organizations left out one by one (*near*), clusters and types
of runs left out together (*far*), under P@10 and nDCG@10, with all estimators. Writes ``accuracy.csv``, a row
for each design, collection, measure and estimator, and ``accuracy_runs.csv``, a row for each run of the
default posterior. ``--folds FOLDER`` keeps finished folds.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from bayespool import Collection, leave_out, read_collection, read_qrels
from bayespool.experiments import grade_later

PRECISION = {"dl21-passage": "P(rel=2)@10"}
READ: dict[str, dict[str, Any]] = {
    "covid-round4": {"strict": False},
    "dl21-passage": {"order": "rank"},
    "trec2011-medical": {"strict": False},
    "trec2-adhoc": {"strict": False},
    "trec8-adhoc": {},
}
TYPES = {"dl21-passage": ("neural", "traditional"), "trec8-adhoc": ("manual", "automatic")}
LABELS = {"dl21-passage": {"gpt4": "umbrela-gpt4.txt", "llama3.2": "binary-llama3.2.txt"}}
WITH_LABELS = ["posterior-combined", "judge-filled", "judge-rates", "conformal-risk-control"]
RUN_COLUMNS = (
    "fold organization run_id measure truth value lower upper as_judged n_unjudged pit distance new_kind"
)
SHARED = "design left_out collection"


def read(name: str, **further: Any) -> Collection:
    """A collection with the pool that bayespool finds."""
    place = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name
    organizations = [place / "organizations.csv"]
    if (place / "run-types.csv").is_file():
        organizations.append(place / "run-types.csv")
    settings = READ[name] | further
    return read_collection(place / "qrels.txt", pool=place / "runs", organizations=organizations, **settings)


def designs(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is left out of a collection: the design, what it leaves out, and keywords of the experiment."""
    if name == "covid-round4":
        yield "later", "judged later", {}
    yield "near", "organizations", {}
    yield "far", "clusters", {"by": "cluster", "n_clusters": 10}
    for kind in TYPES.get(name, ()):
        yield "far", kind, {"by": "type", "types": [kind], "repool_to": 10, "runs": "all"}


def grade(
    name: str, settings: dict[str, Any], posterior: str, folds: Path | None, collection: Collection
) -> Any:
    """The result of one design."""
    measures = [PRECISION.get(name, "P@10"), "nDCG@10"]
    common: dict[str, Any] = {"posterior_settings": posterior, "folder": folds, "n_jobs": 1}
    return leave_out(collection, measures, **({"estimators": "all"} | common | settings))


def main() -> None:
    """Write both tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", default=",".join(READ))
    parser.add_argument("--posterior", default="draws=100")
    parser.add_argument("--folds", type=Path)
    parser.add_argument("--output", type=Path, default=Path("research/decisions/tables"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, runs = [], []

    def add(design: str, left_out: str, name: str, result: Any) -> None:
        """Add a result to both tables, and print what it says of the default."""
        summary = result.to_frame("summary").assign(design=design, left_out=left_out, collection=name)
        rows.append(summary)
        table = result.to_frame().query("estimator == 'posterior-combined'")
        keep = [column for column in RUN_COLUMNS.split() if column in table]
        runs.append(table[keep].assign(design=design, left_out=left_out, collection=name))
        shown = summary.query("estimator == 'posterior-combined'")
        print(f"{name}, {design}, {left_out}")
        print(
            shown[["measure", "n_runs", "mae", "bias", "coverage_95", "coverage_95_se"]].round(4), flush=True
        )
        for frames, file in ((rows, "accuracy.csv"), (runs, "accuracy_runs.csv")):
            joined = pd.concat(frames, ignore_index=True)
            front = SHARED.split()
            order = [*front, *(column for column in joined if column not in front)]
            joined[order].to_csv(asked.output / file, index=False, float_format="%.5g")

    for name in asked.collections.split(","):
        collection = read(name)
        for design, left_out, settings in designs(name):
            folds = asked.folds and asked.folds / f"{name}-{design}-{left_out.replace(' ', '-')}"
            if design == "later":
                later = read_qrels(Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name / "qrels-later.txt")
                result = grade_later(
                    collection,
                    later,
                    ["P@10", "nDCG@10"],
                    posterior_settings=asked.posterior,
                    folder=folds,
                    n_jobs=1,
                )
            else:
                result = grade(name, settings, asked.posterior, folds, collection)
            add(design, left_out, name, result)
        for judge, file in LABELS.get(name, {}).items():
            labels = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name / "judges" / file
            labeled = read(name, judges={judge: labels})
            for design, left_out, settings in designs(name):
                if left_out == "clusters" or (design == "far" and judge != "gpt4"):
                    continue
                folds = asked.folds and asked.folds / f"{name}-{design}-{left_out}-{judge}"
                result = grade(name, {"estimators": WITH_LABELS} | settings, asked.posterior, folds, labeled)
                add(design, f"{left_out}, labels of {judge}", name, result)


if __name__ == "__main__":
    main()
