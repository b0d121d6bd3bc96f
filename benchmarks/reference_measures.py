"""Are the measures those of ir_measures? Largest difference per measure and collection, on all runs.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/reference_measures.py

The values per topic, with all unjudged documents nonrelevant, are held against pytrec_eval (P, Success, R,
AP, nDCG), cwl_eval (RBP, SDCG, INST), gdeval (ERR and nDCG with exponential gains) and ir_measures' own code
(RR at a cutoff, Judged). The command fails where any differs by more than 1e-9, or, from gdeval, which
prints five decimals, by more than 5e-6.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from pathlib import Path

from at_hand import collections_folder, read

from bayespool.errors import BayespoolWarning

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from references import COLLECTIONS, of_collection, tolerance

MEASURES = (
    *("P@10", "P(rel=2)@10", "Success@1", "Success(rel=2)@10", "RR@10", "RR(rel=2)@10", "RR@1000"),
    *("R@10", "R@1000", "R(rel=2)@10", "AP@10", "AP@1000", "AP(rel=2)@1000"),
    *("nDCG@10", "nDCG@1000", "nDCG(gains={1:0,2:3,3:9})@10", "nDCG(dcg='exp-log2')@10"),
    *("SDCG@100", "SDCG(max_rel=3)@10", "RBP(p=0.8)", "RBP(p=0.95)", "RBP(rel=2,p=0.5)", "INST@1000"),
    *("ERR@20", "Judged@10", "Judged@1000"),
)


def main() -> int:
    """Print a row for each measure, a column for each collection; status 1 where any differs."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    arguments = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore", BayespoolWarning)
    logging.getLogger("ir_measures").setLevel("ERROR")  # grades beyond max_rel are treated as it
    found: dict[str, dict[str, float]] = {}
    for name in arguments.collections:
        started = time.perf_counter()
        case = of_collection(read(folder / name))
        found[name] = case.differences(MEASURES)
        n_runs, n_topics = case.levels.shape[:2]
        seconds = time.perf_counter() - started
        print(f"{name}: {n_runs} runs × {n_topics} topics, {seconds:.0f} s", file=sys.stderr, flush=True)
    print(f"{'':32}" + "".join(f"{name:>17}" for name in found))
    for text in MEASURES:
        print(f"{text:32}" + "".join(f"{of_measure[text]:17.1e}" for of_measure in found.values()))
    return int(any(of_measure[text] > tolerance(text) for of_measure in found.values() for text in MEASURES))


if __name__ == "__main__":
    sys.exit(main())
