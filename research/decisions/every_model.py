"""Which models does the fast engine fit, on which pools, in what time (diary, *Why the smoothed model …*)?

    python research/decisions/every_model.py [--models smoothed] [--collections trec8-adhoc] [--output FILE]

Pools are the embedded example with each organization left out, its first two, three and four organizations
alone, and the collections named, with each of three organizations left out. Of levels of relevance each
question is a fit. A fit fails where NUTS would take over: without a mode of positive curvature, or if the end
of an interval is off by more than a tenth of its width.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from shared import contributors, read

from bayespool import Collection, load_example, parse_measure
from bayespool.inference import Laplace
from bayespool.models import MODEL_NAMES
from bayespool.posterior import ScoringProblem, Threshold


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--collections", default="", help="below BAYESPOOL_COLLECTIONS, besides the example")
    parser.add_argument("--output", help="file for the table, as CSV")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, pool, measures in pools(asked.collections.split(",") if asked.collections else []):
        for measure, threshold in itertools.product(measures, questions(pool)):
            problem = ScoringProblem(
                pool, pool.unpooled_run_ids, parse_measure(measure), "complete", asked_threshold=threshold
            )
            for model in asked.models.split(","):
                prepared, start = problem.prepare(model, {}), time.process_time()
                try:
                    diagnostics = Laplace(draws=1000).fit(prepared.spec, prepared.evidence, 1).diagnostics
                    fault, off = "; ".join(diagnostics.problems), round(diagnostics.max_end_error, 3)
                except np.linalg.LinAlgError:
                    fault, off = "a curvature is not positive", float("nan")
                rows.append(
                    {
                        "pool": name, "cutoff": problem.measure.cutoff, "level": threshold.rel,
                        "model": model, "engine": "nuts" if fault else "laplace", "end_off_by": off,
                        "seconds": round(time.process_time() - start, 2), "fault": fault,
                    }
                )  # fmt: skip
                print(*rows[-1].values(), sep=", ", flush=True)
    frame = pd.DataFrame(rows)
    if asked.output:
        frame.to_csv(asked.output, index=False)
    of_models = frame.groupby("model", sort=False)
    table = of_models.agg(
        fits=("fault", "size"), end_off_by=("end_off_by", "max"), slowest=("seconds", "max")
    )
    table["fail"] = of_models["fault"].agg(lambda faults: (faults != "").sum())
    print(f"\n{table.to_string()}")


def pools(names: list[str]) -> Iterator[tuple[str, Collection, tuple[str, ...]]]:
    example = narrow = load_example()
    organizations = [organization for organization, _ in contributors(example)]
    for left_out in organizations:
        yield f"example without {left_out}", example.unpool(organization=left_out), ("P@10",)
    for n in range(len(organizations) - 1, 1, -1):
        narrow = narrow.unpool(organization=organizations[n])
        if n <= 4:
            yield f"example, {n} organizations", narrow, ("P@5", "P@10")
    for name in names:
        whole = read(name)
        for left_out, _ in itertools.islice(contributors(whole), 3):
            yield f"{name} without {left_out}", whole.unpool(organization=left_out), ("P@10",)


def questions(pool: Collection) -> list[Threshold]:
    """Whether a document is relevant, and whether one that reached a level has the next."""
    levels = [0, *(int(level) for level in pool.levels if level > 0)]
    return [Threshold(*pair) for pair in itertools.pairwise(levels)]


if __name__ == "__main__":
    main()
