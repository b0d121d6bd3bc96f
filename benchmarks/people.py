"""Answers of people drawn by design, and what is made of them: ours, prediction-powered inference, rates.

All judgments are hidden but those of the documents drawn. Rivals, for sums of 0 and 1:

- ``ppi``: PPI++ on the answers in the run's top n, weighted by 1 / probability, labels of the first judge
  scaled to 0 to 1 (Angelopoulos, Duchi & Zrnic 2023), with the normal interval.
- ``plug-in``: the share that the first judge labels relevant, corrected for sensitivity and specificity as
  the answers have them (Rogan & Gladen 1978), with the interval of both their errors.
- ``by-label``: as many answers drawn in strata of the first judge's labels, in proportion; of each run the
  expansion estimator, with the normal interval.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from bayespool import Collection, PosteriorEstimator, parse_measure, read_collection, read_run
from bayespool.auditing import draw_design
from bayespool.corrections import ByDesign
from bayespool.evidence import score_bounds
from bayespool.reading import Labels

MEASURE, REL, DEPTH, NORMAL = "P(rel=2)@10", 2, 10, 1.96
ADDED = 1.0  # agreements and disagreements, so that rates of few answers are no certainty


def repeated(
    folder: Path,
    collection: Collection,
    labels: Mapping[str, Labels],
    numbers: list[int],
    repetitions: int,
    with_posterior: bool,
) -> None:
    """Print shares of intervals that contain the score on all judgments, widths, errors and order."""
    truth_of = score_bounds(collection, None, parse_measure(MEASURE)).low.means()
    best = {}
    for run in np.argsort(truth_of).tolist():
        best[int(collection.organization[run])] = collection.run_ids[run]
    names = sorted(best.values())
    truth = score_bounds(collection, names, parse_measure(MEASURE)).low.means()
    relevance = {
        (collection.query_ids[t], collection.doc_id(pair)): int(collection.relevance[pair])
        for pair, t in enumerate(collection.pair_topic.tolist())
    }
    runs = {run: read_run(next(folder.glob(f"runs/{run}*")), strict=False) for run in names}
    nobody = read_collection(None, runs, judges=dict(labels), order="rank")
    rows: list[dict[str, object]] = []
    first, second = np.triu_indices(len(names), 1)
    for seed in range(1, repetitions + 1):
        listed = draw_design(nobody, None, MEASURE, random_seed=seed).qrels()
        documents = list(zip(listed.query_id.to_pylist(), listed.doc_id.to_pylist(), strict=True))
        found = np.array([max(relevance.get(document, 0), 0) for document in documents])
        for n in numbers:
            answered = np.where(np.arange(len(found)) < n, found, -1).astype(np.int16)
            answers = dataclasses.replace(listed, relevance=answered)
            people = read_collection(answers, runs, judges=dict(labels), order="rank")
            for estimator in (ByDesign(), *[PosteriorEstimator()] * with_posterior):
                (made,) = estimator.estimate(people, names, MEASURE)
                assert made.draws is not None
                means = made.draws.means()
                rows += graded(n, seed, estimator.name, made.value, *ends(means), truth)
                pairs = means[:, first] - means[:, second]
                value = made.value[first] - made.value[second]
                rows += graded(
                    n, seed, f"{estimator.name}, pairs", value, *ends(pairs), truth[first] - truth[second]
                )
            for rival, value, half in rivals(people, names, n, np.random.default_rng(seed), relevance):
                rows += graded(n, seed, rival, value, value - half, value + half, truth)
                value, half = value[first] - value[second], np.hypot(half[first], half[second])
                ends_of_pairs = value - half, value + half  # as of two runs apart: none of them has more
                rows += graded(
                    n, seed, f"{rival}, pairs", value, *ends_of_pairs, truth[first] - truth[second]
                )
        show(pd.DataFrame(rows), numbers, seed)


def ends(draws: np.ndarray) -> np.ndarray:
    """Ends of 95 % intervals."""
    return np.quantile(draws, [0.025, 0.975], axis=0)


def graded(
    n: int, seed: int, name: str, value: np.ndarray, low: np.ndarray, high: np.ndarray, truth: np.ndarray
) -> list[dict[str, object]]:
    """A row for each run or pair."""
    inside, tau = (low - 1e-9 <= truth) & (truth <= high + 1e-9), kendalltau(value, truth).statistic
    columns = zip(value - truth, inside, high - low, strict=True)
    return [
        {
            "answers": n,
            "seed": seed,
            "estimator": name,
            "of": i,
            "error": e,
            "inside": h,
            "width": w,
            "tau": tau,
        }
        for i, (e, h, w) in enumerate(columns)
    ]


def rivals(people: Collection, names: list[str], n: int, rng: np.random.Generator, relevance: Mapping):
    """Yield name, values and half widths of rivals."""
    judge, sample = people.judges[0], people.sample
    assert sample is not None
    lowest, highest = np.nanmin(judge.label), np.nanmax(judge.label)
    scaled = np.nan_to_num((judge.label - lowest) / (highest - lowest))
    cut = REL if highest >= 2 else highest
    says = np.nan_to_num(judge.label, nan=-1) >= cut
    judged, n_topics = np.flatnonzero(people.judged), len(people.query_ids)
    weight = 1 / sample.inclusion[judged]
    relevant = people.relevance[judged] >= REL
    tops = [people.document[r, :, :DEPTH] for r in people.run_index(names)]
    tops = [top[top >= 0] for top in tops]
    yield "ppi", *np.transpose([ppi(top, judged, weight, relevant, scaled, n_topics) for top in tops])
    yield "plug-in", *np.transpose([plug_in(top, judged, weight, relevant, says, n_topics) for top in tops])
    population = np.unique(np.concatenate(tops))
    is_relevant = np.array(
        [
            relevance.get((people.query_ids[people.pair_topic[p]], people.doc_id(p)), 0) >= REL
            for p in population
        ]
    )
    stratum = np.unique(scaled[population], return_inverse=True)[1]
    size = np.bincount(stratum)
    share = np.maximum(np.round(n * size / size.sum()), 2).astype(int)
    drawn = np.concatenate(
        [rng.permutation(np.flatnonzero(stratum == h))[: share[h]] for h in range(len(size))]
    )
    kept = np.bincount(stratum[drawn], minlength=len(size))
    value, half = [], []
    for top in tops:
        y = np.isin(population[drawn], top) * is_relevant[drawn]
        of = [y[stratum[drawn] == h] for h in range(len(size))]
        total = sum(size[h] * of[h].mean() for h in range(len(size)))
        variance = sum(
            size[h] ** 2 * (1 - kept[h] / size[h]) * of[h].var(ddof=1) / kept[h] for h in range(len(size))
        )
        value.append(total / (DEPTH * n_topics))
        half.append(NORMAL * np.sqrt(variance) / (DEPTH * n_topics))
    yield "by-label", np.array(value), np.array(half)


def ppi(top, judged, weight, relevant, scaled, n_topics):
    """PPI++ with weights: value and half width of a run's measure."""
    own = np.isin(judged, top)
    y, f, w = relevant[own].astype(float), scaled[judged[own]], weight[own]
    if own.sum() < 2:
        return np.nan, np.nan
    w = w / w.mean()
    variance = scaled[top].var()
    between = np.cov(y, f, aweights=w)[0, 1]
    factor = np.clip(between / max(variance * (1 + own.sum() / len(top)), 1e-9), 0, 1)
    residual = y - factor * f
    mean = np.average(residual, weights=w)
    error = factor**2 * variance / len(top) + np.var(w * (residual - mean), ddof=1) / own.sum()
    scale = len(top) / (DEPTH * n_topics)
    return scale * (factor * scaled[top].mean() + mean), scale * NORMAL * np.sqrt(error)


def plug_in(top, judged, weight, relevant, says, n_topics):
    """The share labeled relevant, corrected for sensitivity and specificity as all answers have them."""
    n_effective = {}
    rates = {}
    for kind in (False, True):
        w, right = weight[relevant == kind], says[judged[relevant == kind]] == kind
        n_effective[kind] = w.sum() ** 2 / max((w**2).sum(), 1e-9) + 2 * ADDED
        rates[kind] = (np.average(right, weights=w) * (n_effective[kind] - 2 * ADDED) + ADDED) / n_effective[
            kind
        ]
    labeled = says[top].mean()
    youden = max(rates[True] + rates[False] - 1, 0.05)
    value = np.clip((labeled + rates[False] - 1) / youden, 0, 1)
    error = [rates[kind] * (1 - rates[kind]) / n_effective[kind] for kind in (False, True)]
    variance = (error[True] * value**2 + error[False] * (1 - value) ** 2) / youden**2
    scale = len(top) / (DEPTH * n_topics)
    return scale * value, scale * NORMAL * np.sqrt(variance)


def show(rows: pd.DataFrame, numbers: list[int], n_done: int) -> None:
    """Print the table of so many repetitions; ``at_95`` is the width with which 95 % would have held."""
    by = rows.groupby(["answers", "estimator"], sort=False)
    table = by.agg(
        inside=("inside", "mean"),
        width=("width", "mean"),
        error=("error", lambda e: float(np.sqrt((e**2).mean()))),
        bias=("error", "mean"),
        tau=("tau", "mean"),
    )
    rows = rows.assign(needed=2 * rows["error"].abs() / rows["width"])
    table["at_95"] = table["width"] * rows.groupby(["answers", "estimator"])["needed"].quantile(0.95)
    of_each = rows.groupby(["answers", "estimator", "of"])["inside"].mean()
    table["least"] = of_each.groupby(["answers", "estimator"]).min()
    is_pair = table.index.get_level_values("estimator").str.endswith(", pairs")
    rival = [(n, "ppi, pairs" if pair else "ppi") for (n, _), pair in zip(table.index, is_pair, strict=True)]
    for name in ("width", "at_95"):
        table[f"{name}_of_ppi"] = table[name] / table[name].loc[rival].to_numpy()
    print(f"{n_done} repetitions")
    print(table.reset_index().to_string(index=False, float_format="{:.3f}".format), flush=True)


if __name__ == "__main__":
    raise SystemExit("python benchmarks/judges.py people")
