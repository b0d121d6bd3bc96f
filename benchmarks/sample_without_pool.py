"""How well scores rest on a sample of the judgments where nobody knows which runs were pooled.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/sample_without_pool.py
        [--keep 0.1] [--samples 2] [--draws 200] [--collections dl21-passage,…]

All pooled runs are scored together by the default. By collection, sample and measure it prints mean absolute
error, bias, mean width, the share of 95 % intervals that contain the score on all judgments, and the slope of
estimates over these scores (diary, *Samples*).
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from at_hand import forget_pool, read

from bayespool import parse_measure
from bayespool.evidence import score_bounds
from bayespool.experiments import keep_judgments
from bayespool.experiments.keeping import KeptJudgments
from bayespool.posterior import PosteriorEstimator

COLLECTIONS = "dl21-passage,covid-round4,trec8-adhoc,trec2011-medical,trec2-adhoc"
MEASURES = ("P@10", "nDCG@10")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=float, default=0.1)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--collections", default=COLLECTIONS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("collection", "sample", "measure", "mae", "bias", "width", "coverage_95", "slope", sep="\t")
    for name in asked.collections.split(","):
        collection, design = read(Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name), KeptJudgments()
        of_none = {"keep": [asked.keep], "n_samples": asked.samples, "estimators": "as-judged"}
        settings = keep_judgments(collection, "P@10", **of_none).settings
        for k, part in enumerate(design.parts(collection, settings), start=1):
            sample = forget_pool(design.conceal(collection, part, settings))
            for measure in MEASURES:
                truth = score_bounds(collection, part.run_ids, parse_measure(measure)).low.means()
                (made,) = PosteriorEstimator(draws=asked.draws).estimate(sample, part.run_ids, measure)
                low, high = made.interval(0.95)
                error, holds = made.value - truth, ((low <= truth) & (truth <= high)).mean()
                slope = np.polyfit(truth, made.value, 1)[0]
                found = np.abs(error).mean(), error.mean(), (high - low).mean(), holds, slope
                print(name, k, measure, *(f"{x:.4f}" for x in found), sep="\t", flush=True)


if __name__ == "__main__":
    main()
