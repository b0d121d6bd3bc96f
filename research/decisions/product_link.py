"""What NUTS would cost where the Laplace engine has code of its own for a product of chances (diary).

    python research/decisions/product_link.py [--draws 1000] [--cores 1]

The chance of a judged document under `interpolated` and `smoothed` is a product, and no linear predictor. On
the example, TREC-8 pooled to depth 10 and Medical 2011 the organization of the most runs leaves the pool, and
these models are fitted for its runs at P@10; and once more without any pool. Printed are seconds of wall
clock of Laplace, of NUTS' compilation, its first sample and the next with another seed, and how far apart the
engines are: ends of the 95 % interval as in `laplace_check.py`, as a share of NUTS' width.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from laplace_check import TAILS, log_odds_of_mean
from shared import contributors, forget_pool, head, markdown, read

from bayespool import Collection, load_example, parse_measure
from bayespool.inference import NUTS, Laplace
from bayespool.posterior import ScoringProblem


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000, help="per chain of four; Laplace makes four times")
    parser.add_argument("--cores", type=int, default=1, help="chains of NUTS at the same time")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    laplace, nuts = Laplace(draws=asked.draws, chains=4), NUTS(draws=asked.draws, cores=asked.cores)
    head("evidence", "model", "Laplace, s", "NUTS compiles", "samples", "again", "apart", "NUTS' checks")
    for title, collection, runs in cases():
        problem = ScoringProblem(collection, runs, parse_measure("P@10"), "complete")
        for name in ("interpolated", "smoothed"):
            prepared = problem.prepare(name, {})
            times = [time.perf_counter()]
            fast = laplace.fit(prepared.spec, prepared.evidence, 1)
            times.append(time.perf_counter())
            compiled = nuts.compile(prepared.graph())
            times.append(time.perf_counter())
            for seed in (1, 2):
                sampled = compiled.sample(random_seed=seed, data=prepared.evidence.arrays())
                times.append(time.perf_counter())
            apart = "–"
            if len(prepared.evidence.n_hidden):
                ends = [np.quantile(log_odds_of_mean(prepared, fit), TAILS) for fit in (fast, sampled)]
                apart = f"{np.abs(ends[0] - ends[1]).max() / np.diff(ends[1])[0]:.2f}"
            seconds = [f"{each:.2f}" for each in np.diff(times)]
            markdown([title, name, *seconds, apart, "; ".join(sampled.diagnostics.problems) or "pass"])


def cases() -> Iterator[tuple[str, Collection, tuple[str, ...]]]:
    yield from both("the example", load_example())
    yield from both("TREC-8 to depth 10", read("trec8-adhoc", 10))
    yield from both("Medical 2011", read("trec2011-medical"))


def both(title: str, whole: Collection) -> Iterator[tuple[str, Collection, tuple[str, ...]]]:
    organization, runs = max(contributors(whole), key=lambda each: len(each[1]))
    yield title, whole.unpool(organization=organization), tuple(runs)
    yield f"{title}, no pool", forget_pool(whole), tuple(runs)


if __name__ == "__main__":
    main()
