"""Error and coverage of measures deeper than the pool, on collections that are judged deeper.

    python benchmarks/below_pool.py [--depth 10] [--every 2] [--draws 75]

TREC-2 and TREC-8, judged to depth 100, are pooled to a depth again, and every second organization is left out
and scored by the default posterior. Prints errors against the judgments to depth 100 (over the ideal ranking
that the estimate has), the share of 95 % intervals that hold, and the root mean square of error / standard
deviation. What decided the priors of ranks below the pool is research/decisions/below_pool.py.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from at_hand import collections_folder, read

from bayespool import Collection, PosteriorEstimator, parse_measure, score
from bayespool.evidence import values_on_fuller

MEASURES = ("P@10", "P@30", "P@100", "AP@100", "R@100")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--every", type=int, default=2, help="organization is left out")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| collection | measure | runs | MAE as judged | MAE | bias | in 95 % | rms |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in ("trec2-adhoc", "trec8-adhoc"):
        print_rows(name, read(collections_folder(parser) / name), asked)


def print_rows(name: str, full: Collection, asked: argparse.Namespace) -> None:
    """A row for each measure, over two runs of each organization left out."""
    rows: dict[str, list[tuple[float, ...]]] = {measure: [] for measure in MEASURES}
    for o in np.unique(full.organization[full.pooled])[:: asked.every]:
        runs = [full.run_ids[i] for i in np.flatnonzero((full.organization == o) & full.pooled)][:2]
        part = full.unpool(organization=full.organizations[o]).truncate_pool(asked.depth)
        scores = score(
            part,
            runs,
            MEASURES,
            estimators="posterior-combined",
            posterior_settings=PosteriorEstimator(draws=asked.draws),
        )
        for measure in MEASURES:
            e, parsed = scores[measure, "posterior-combined"], parse_measure(measure)
            truth, judged = (values_on_fuller(part, by, runs, parsed).means() for by in (full, part))
            lower, upper = e.interval(0.95)
            held = (lower - 1e-9 <= truth) & (truth <= upper + 1e-9)
            rows[measure] += zip(judged - truth, e.value - truth, e.std, held, strict=True)
    for measure, of_measure in rows.items():
        as_judged, error, std, held = np.array(of_measure, dtype=float).T
        cells = [f"{np.abs(as_judged).mean():.4f}", f"{np.abs(error).mean():.4f}", f"{error.mean():+.4f}"]
        cells += [f"{held.mean():.0%}", f"{np.sqrt(((error / std) ** 2).mean()):.2f}"]
        print(f"| {name} | {measure} | {len(error)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
