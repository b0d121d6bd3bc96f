"""Why true differences are missed where much is unjudged: noise of completed judgments, or the run's level?

    python research/decisions/power.py [--widths 3,6,10] [--pools 6] [--draws 100] [COLLECTION ...]
    python research/decisions/power.py --simulated 40

By default the five collections, the TREC ones to depth 10. Pools of a few organizations are drawn; a run of
each of eight others is scored, all together, by P@10, and compared with all pooled runs as in `leave_out`.
Those with more than a tenth of the top 10 unjudged count. *variance*: that of completed differences over
topics, over that of true ones. *rms z*: of the runs' errors over their standard deviations. Then errors of
scores and what their intervals hold. Then false and missed differences at the usual threshold, the expected
share of false ones, the share missed at the threshold at which 2 % are false, and which P(significant) come
true: with draws as they are, and with the spread of the run's level, or of topics about it, changed, and with
the level known.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from shared import contributors, head, markdown, read

from bayespool import Collection, SimulationSettings, score, simulate
from bayespool.comparisons import significant_draws

COLLECTIONS = ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
SIMULATED = SimulationSettings(n_topics=50, n_organizations=4, max_runs=3, n_new=8)
BINS = (0, 0.2, 0.4, 0.6, 0.8, 0.9, 1)
MEASURE, ANNOUNCED, TOP = "P@10", 0.8, 10


class Scored(NamedTuple):
    """A run outside a pool: draws (draw, topic), its truth and pooled runs' (run, topic), share unjudged."""

    collection: str
    organizations: int
    draws: np.ndarray
    truth: np.ndarray
    pool: np.ndarray
    unjudged: float


def changed(level: float, topics: float) -> Callable[[Scored], np.ndarray]:
    """Return a change of draws: the spread of the run's level, and of topics about it, times a factor."""

    def change(run: Scored) -> np.ndarray:
        means, shift = run.draws.mean(axis=0), run.draws.mean(axis=1) - run.draws.mean()
        noise = run.draws - means - shift[:, None]
        return means + level * shift[:, None] + topics * noise

    return change


def known(run: Scored) -> np.ndarray:
    """Return draws whose mean over topics is the truth's in each."""
    return run.draws - (run.draws.mean(axis=1) - run.truth.mean())[:, None]


CHANGES: dict[str, Callable[[Scored], np.ndarray]] = {
    "as they are": lambda run: run.draws,
    "level × .75": changed(0.75, 1),
    "topics × 1.2": changed(1, 1.2),
    "topics × .8": changed(1, 0.8),
    "no topics": changed(1, 0),
    "level known": known,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--widths", default="3,6,10", help="organizations in a pool")
    parser.add_argument("--pools", type=int, default=6, help="pools of each width and collection")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--simulated", type=int, default=0, help="simulated collections instead")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    runs: list[Scored] = []
    if asked.simulated:
        for seed in range(asked.simulated):
            made = simulate(SIMULATED, random_seed=seed)
            targets = list(made.new_run_ids)
            runs += scored(made.collection, made.complete(), targets, "simulated", asked.draws)
    for name in () if asked.simulated else asked.collections:
        whole = read(name, TOP if name in COLLECTIONS[:2] else None)
        for width in map(int, asked.widths.split(",")):
            for sample in range(asked.pools):
                runs += outside(whole, name, width, sample, asked.draws)
    head(
        "collection", "organizations", "runs", "unjudged", "variance", "rms z", "false", "expected", "missed"
    )
    open_runs = [run for run in runs if run.unjudged > 0.1]
    for key in sorted({run[:2] for run in open_runs}):
        own = [run for run in open_runs if run[:2] == key]
        numbers = graded(decided(own, CHANGES["as they are"]))
        unjudged = np.mean([run.unjudged for run in own])
        cells = [unjudged, *noise(own), *(numbers[name] for name in ("false", "expected", "missed"))]
        markdown((*key, len(own), *(f"{x:.3f}" for x in cells)))
    print()
    head("collection", "organizations", "runs", "MAE", "bias", "CRPS", "in 95 %", "80 %", "50 %")
    for key in sorted({run[:2] for run in open_runs}):
        markdown((*key, *held([run for run in open_runs if run[:2] == key])))
    print()
    head("draws", "false", "expected", "missed", "missed at 2 % false", "P(significant) → come true")
    for name, change in CHANGES.items():
        pairs = decided(open_runs, change)
        bins = pairs.groupby(pd.cut(pairs["chance"], BINS, include_lowest=True), observed=True)
        true = " ".join(f"{g['chance'].mean():.2f}→{g['is_true'].mean():.2f}" for _, g in bins)
        markdown((name, *(f"{x:.3f}" for x in graded(pairs).values()), true))


def outside(whole: Collection, name: str, width: int, sample: int, draws: int) -> Iterator[Scored]:
    """Yield a run of each of eight organizations outside a pool of others."""
    organizations = [runs for _, runs in contributors(whole)]
    rng = np.random.default_rng([COLLECTIONS.index(name), width, sample])
    order = rng.permutation(len(organizations)).tolist()
    pool = {run for place in order[:width] for run in organizations[place]}
    targets = [str(rng.choice(organizations[place])) for place in order[width : width + 8]]
    smaller = whole.unpool([run for run in whole.pooled_run_ids if run not in pool])
    yield from scored(smaller, whole, targets, name, draws)


def scored(
    smaller: Collection, whole: Collection, targets: list[str], name: str, draws: int
) -> Iterator[Scored]:
    """Yield the targets scored with a smaller pool, and their truth by the whole."""
    pool, measure = list(smaller.pooled_run_ids), f"P@{min(TOP, whole.pool_depth)}"
    found = score(
        smaller, targets, measure, estimators="posterior-combined", posterior_settings=f"draws={draws}"
    )
    (e,), (bounds,) = found.estimates, found.bounds
    truth = score(whole, [*targets, *pool], measure, estimators="as-judged").estimates[0].per_topic
    n_organizations = len(np.unique(smaller.organization[smaller.pooled]))
    for i in range(len(targets) if e.draws is not None else 0):
        of_run = e.draws.scores()[:, i]
        yield Scored(name, n_organizations, of_run, truth[i], truth[len(targets) :], bounds.unjudged_share[i])


def noise(runs: list[Scored]) -> tuple[float, float]:
    """Return the ratio of variances of completed and true differences, and the rms z of runs."""
    completed = [(run.draws[:, None] - run.pool).var(axis=2, ddof=1).mean() for run in runs]
    true = [(run.truth - run.pool).var(axis=1, ddof=1).mean() for run in runs]
    z = [(run.draws.mean() - run.truth.mean()) / run.draws.mean(axis=1).std() for run in runs]
    return float(np.mean(completed) / np.mean(true)), float(np.sqrt(np.mean(np.square(z))))


def held(runs: list[Scored]) -> list[object]:
    """Return the number of runs, their errors, and shares of intervals that hold, with standard errors."""
    draws = [run.draws.mean(axis=1) for run in runs]
    error = np.array([d.mean() - run.truth.mean() for d, run in zip(draws, runs, strict=True)])
    crps = [
        np.abs(d - run.truth.mean()).mean() - np.abs(d[:, None] - d).mean() / 2
        for d, run in zip(draws, runs, strict=True)
    ]
    shares = []
    for level in (0.95, 0.8, 0.5):
        ends = [np.quantile(d, [0.5 - level / 2, 0.5 + level / 2]) for d in draws]
        inside = np.array(
            [a - 1e-9 <= run.truth.mean() <= b + 1e-9 for (a, b), run in zip(ends, runs, strict=True)]
        )
        shares.append(f"{100 * inside.mean():.0f} ± {100 * inside.std() / len(runs) ** 0.5:.0f}")
    return [len(runs), *(f"{x:.4f}" for x in (np.abs(error).mean(), error.mean(), np.mean(crps))), *shares]


def decided(runs: list[Scored], change: Callable[[Scored], np.ndarray]) -> pd.DataFrame:
    """Return the pairs of runs with pooled ones: the chance of the likelier order, and whether it is true."""
    frames = []
    for run in runs:
        draws, n = change(run), len(run.pool)
        pairs = np.zeros(n, dtype=int), 1 + np.arange(n)
        others = np.broadcast_to(run.pool, (len(draws), *run.pool.shape))
        drawn = significant_draws(
            np.concatenate([draws[:, None], others], axis=1), control="holm", pairs=pairs
        )
        true = significant_draws(np.stack([run.truth, *run.pool])[None], control="holm", pairs=pairs)
        ways = np.stack([drawn.n_greater[0, 1:], drawn.n_greater[1:, 0]]) / len(draws)
        truth = np.stack([true.n_greater[0, 1:], true.n_greater[1:, 0]]).astype(bool)
        likelier = ways.argmax(axis=0), np.arange(n)
        frames.append(
            pd.DataFrame(
                {"chance": ways.max(axis=0), "is_true": truth[likelier], "differs": truth.any(axis=0)}
            )
        )
    return pd.concat(frames, ignore_index=True)


def graded(pairs: pd.DataFrame) -> dict[str, float]:
    """Return shares false, expected to be so, and missed, also where 2 % of what is announced are false."""
    announced, n_true = pairs[pairs["chance"] >= ANNOUNCED], pairs["differs"].sum()
    ordered = pairs.sort_values("chance", ascending=False, kind="stable")
    right = ordered["is_true"].cumsum().to_numpy()
    is_pure = 1 - right / np.arange(1, len(right) + 1) <= 0.02
    return {
        "false": 1 - announced["is_true"].mean(),
        "expected": 1 - announced["chance"].mean(),
        "missed": 1 - announced["is_true"].sum() / n_true,
        "missed at 2 %": 1 - right[is_pure].max(initial=0) / n_true,
    }


if __name__ == "__main__":
    main()
