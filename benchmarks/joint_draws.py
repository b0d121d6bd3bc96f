"""Do the draws of several measures agree? Relevant documents in the top 5, 10 and 20, draw by draw.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/joint_draws.py

On each collection every organization is left out of the pool in turn, and its runs are scored at all three
cutoffs. Counted are (draw, run, topic) with more relevant documents in a top n than in a deeper one; the
command fails where there is any. Beside them stands how many of them have any document to complete.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from itertools import pairwise

import numpy as np
from at_hand import collections_folder, read

from bayespool.errors import BayespoolWarning
from bayespool.posterior import PosteriorEstimator

COLLECTIONS = ("trec2011-medical", "trec2-adhoc", "trec8-adhoc")
CUTOFFS = (5, 10, 20)


def main() -> int:
    """Print a row for each collection; status 1 where draws contradict each other."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--draws", type=int, default=250, help="per chain of four")
    arguments = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore", BayespoolWarning)
    estimator = PosteriorEstimator(estimand="pooled", draws=arguments.draws)
    print(f"{'':18}{'runs':>6}{'draws × runs × topics':>24}{'of them drawn':>16}{'contradictions':>16}")
    n_found = 0
    for name in arguments.collections:
        collection = read(folder / name)
        n_runs = n_cells = n_drawn = n_contradictions = 0
        for o in np.unique(collection.organization[collection.pooled]):
            mine = np.flatnonzero(collection.pooled & (collection.organization == o))
            runs = [collection.run_ids[r] for r in mine]
            reduced = collection.unpool(organization=collection.organizations[o])
            found = estimator.estimate(reduced, runs, [f"P@{n}" for n in CUTOFFS])
            amounts = [e.draws.amount for e in found if e.draws is not None]
            n_runs += len(runs)
            n_cells += amounts[0].size
            n_drawn += int((np.ptp(amounts[-1], axis=0) > 0).sum()) * len(amounts[0])
            n_contradictions += sum(int((few > many).sum()) for few, many in pairwise(amounts))
        n_found += n_contradictions
        print(f"{name:18}{n_runs:6}{n_cells:24,}{n_drawn:16,}{n_contradictions:16,}", flush=True)
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
