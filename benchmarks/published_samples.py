"""Do 95 % intervals contain the truth where judgments are a published sample, known as one or not?

    python benchmarks/published_samples.py [--samples 20] [--topics 30]

Each simulated collection is judged in full to the end of its runs; its documents are strata by best rank, of
which a random part is judged, and written as five columns. Some of its runs are scored from this file, and
from the same judgments as four columns, which do not say that the unjudged documents were left out by lot;
alone, and with the other runs as the pool. The benchmark prints by measure the share of intervals that hold
the value of the full judgments, their mean width, bias and root mean squared error of posterior means, and
the same errors of the published point estimates.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from bayespool import Collection, read_collection, score
from bayespool.collection.rankings import ranked
from bayespool.evidence import score_bounds
from bayespool.experiments import Simulation, SimulationSettings, simulate

STRATA = ((5, 1.0), (20, 0.4), (50, 0.1))  # last best rank, and share that is judged
MEASURES = ("P@10", "P@20", "AP@50", "nDCG@20")
POINTS = ("inferred-ap", "inferred-ndcg", "stat-ap")
N_SCORED = 4


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--topics", type=int, default=30)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: dict[tuple[str, str, str], list[tuple[float, float, float]]] = {}
    for seed in range(1, asked.samples + 1):
        settings = SimulationSettings(n_topics=asked.topics, run_depth=STRATA[-1][0])
        for key, row in results(simulate(settings, random_seed=seed), np.random.default_rng(seed)):
            rows.setdefault(key, []).append(row)
    print(f"{'judgments':22} {'estimator':20} {'measure':8} holds  width    bias    RMSE")
    for (known, estimator, measure), of_key in sorted(rows.items()):
        error, width, holds = np.array(of_key).T
        interval = f"{holds.mean():5.2f}  {width.mean():.3f}" if not np.isnan(holds).all() else " " * 12
        print(
            f"{known:22} {estimator:20} {measure:8} {interval}  {error.mean():+.3f}   "
            f"{np.sqrt((error**2).mean()):.3f}"
        )


def results(
    simulation: Simulation, rng: np.random.Generator
) -> Iterator[tuple[tuple[str, str, str], tuple[float, float, float]]]:
    """Error, width and whether the interval holds, by judgments, estimator and measure, for each run."""
    whole = replace(simulation.collection, relevance=simulation.true_relevance())
    scored = list(whole.run_ids[:: max(1, len(whole.run_ids) // N_SCORED)][:N_SCORED])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulation.write(folder)
        files = {p.stem: p for p in folder.rglob("*") if p.stem in whole.run_ids}
        write_sample(whole, rng, folder)
        runs, pool = ([files[r] for r in whole.run_ids if (r in scored) == own] for own in (True, False))
        for known in ("five", "four"):
            for more, others in (("", None), (", pool", pool)):
                collection = read_collection(folder / known, runs, pool=others)
                estimators = ["posterior-combined", *(POINTS if known == "five" and not more else ())]
                scores = score(collection, measures=MEASURES, estimators=estimators)
                for e in scores.estimates:
                    truth = dict(zip(scored, score_bounds(whole, scored, e.measure).low.means(), strict=True))
                    ends = None if e.draws is None else e.interval(0.95)
                    for r, run in enumerate(e.run_ids):
                        if np.isnan(e.value[r]):
                            continue
                        error, width, holds = float(e.value[r] - truth[run]), np.nan, np.nan
                        if ends is not None:
                            low, high = (float(end[r]) for end in ends)
                            width, holds = high - low, float(low - 1e-9 <= truth[run] <= high + 1e-9)
                        yield (known + " columns" + more, e.estimator, str(e.measure)), (error, width, holds)


def write_sample(whole: Collection, rng: np.random.Generator, folder: Path) -> None:
    """Write a stratified sample of all documents as five columns, and as four."""
    best = np.full(len(whole.relevance) + 1, STRATA[-1][0])
    for run in range(len(whole.run_ids)):
        document, ranks = ranked(whole.document, run)
        best[document] = np.minimum(best[document], ranks)
    stratum = np.searchsorted([last for last, _ in STRATA[:-1]], best[:-1], side="right")
    rate = np.array([share for _, share in STRATA])[stratum]
    relevance = np.where(rng.random(len(rate)) < rate, np.maximum(whole.relevance, 0), -1)
    lines = list(zip(whole.pair_topic.tolist(), stratum.tolist(), relevance.tolist(), strict=True))
    names = [(whole.query_ids[t], whole.doc_id(pair)) for pair, (t, _, _) in enumerate(lines)]
    with (folder / "five").open("w") as five, (folder / "four").open("w") as four:
        for (query_id, doc_id), (_, s, r) in zip(names, lines, strict=True):
            print(query_id, 0, doc_id, s + 1, r, file=five)
            print(query_id, 0, doc_id, r, file=four)


if __name__ == "__main__":
    main()
