"""The SRE* that "Splitting Water" prints, by readings of its "Tukey's test": what can be excluded.

    python research/papers/published_stars.py COLLECTIONS --published FOLDER

SRE* sums the runs that an estimate passes over and that differ significantly in truth. Which runs are passed
over is settled, as all printed SREs agree (reproduction/agreement.md); what "significant" was is not. A
reading is a test, the scores that it is of, the runs that it is among, what is done with topics that a run
has no documents for, what is summed, and a level. Prints how many of the 45 printed figures each gives, and
how many of those above 0; then which critical differences between mean scores, whatever the test, give the
printed figures. The reading that the package implements must give its SRE* in every cell.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from published_experiments import (
    CUTOFFS,
    EXPERIMENTS,
    METHODS,
    Experiment,
    as_then,
    grades,
    published,
    read,
    rounded,
)
from scipy import stats

from bayespool import parse_measure
from bayespool.collection import Collection
from bayespool.comparisons import paired_t, wilcoxon
from bayespool.evidence import score_bounds
from bayespool.experiments import LeaveOutResult
from bayespool.measures import overtaken_runs

Matrix = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]
LEVELS = (0.05, 0.01, 0.1)
SCORES = ("same", "P@5", "P@10", "P@20", "P@30", "P@100", "AP@1000", "nDCG@1000")
MISSING = ("left out", "0")
BASES = (*(f"P@{n}" for n in (1, 5, 10, 15, 20, 30, 100, 1000)), "AP@100", "AP@1000", "nDCG@10", "nDCG@100")
SLOW = ("Tukey, randomized", "Wilcoxon")  # on the scores of the cutoff alone
SUMMED = ("runs passed", "whole moves")


class Reading(NamedTuple):
    """One way to read "Tukey's test, p < 0.05"."""

    test: str
    scores: str
    runs: str
    missing: str
    summed: str
    level: float


OURS = Reading("Tukey, two-way", "same", "reported", "left out", "runs passed", 0.05)


class Case(NamedTuple):
    """Runs of an experiment that estimates of one method at one cutoff pass over, shape (run, run)."""

    cutoff: int
    method: str
    runs: list[str]
    truth: Scores
    passed: Matrix


Found = tuple[Experiment, Collection, LeaveOutResult]


def cases(result: LeaveOutResult, experiment: Experiment) -> Iterator[Case]:
    """What each method passes over, with the arithmetic of the tool."""
    frame = result.to_frame(reported_only=True)
    for cutoff, method in product(CUTOFFS, METHODS):
        rows = frame[(frame["measure"] == f"P@{cutoff}") & (frame["estimator"] == method)]
        truth = np.round(rounded(rows["truth"], experiment.decimals), 12)
        value = rows["value"].to_numpy()
        value = np.round(rounded(value, experiment.decimals) if method == "reduced-pool" else value, 12)
        yield Case(cutoff, method, rows["run_id"].tolist(), truth, overtaken_runs(truth, value))


def one_way_tukey(scores: Scores, level: float) -> Matrix:
    """Tukey's test on the one-way analysis of variance, topics as replicates."""
    left = scores - scores.mean(axis=1, keepdims=True)
    return _tukey(scores, left, len(scores) * (scores.shape[1] - 1), level)


def two_way_tukey(scores: Scores, level: float) -> Matrix:
    """Tukey's test on the two-way additive analysis of variance, as `compare` has it."""
    return _tukey(scores, _residuals(scores), (len(scores) - 1) * (scores.shape[1] - 1), level)


def _residuals(scores: Scores) -> Scores:
    return scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()


def _tukey(scores: Scores, left: Scores, degrees: int, level: float) -> Matrix:
    error, mean = np.square(left).sum() / degrees / scores.shape[1], scores.mean(axis=1)
    q = np.abs(np.subtract.outer(mean, mean)) / np.sqrt(error)
    return np.asarray(q >= stats.studentized_range.isf(level, len(scores), degrees))


def randomized_tukey(scores: Scores, level: float) -> Matrix:
    """Tukey's test by the largest differences when runs are exchanged within topics (Carterette 2012)."""
    rng, mean = np.random.default_rng(1), scores.mean(axis=1)
    largest = [np.ptp(rng.permuted(scores, axis=0).mean(axis=1)) for _ in range(500)]
    return np.asarray(np.abs(np.subtract.outer(mean, mean)) > np.quantile(largest, 1 - level))


def one_way_lsd(scores: Scores) -> Scores:
    """P-values of least significant differences on the one-way analysis of variance."""
    left = scores - scores.mean(axis=1, keepdims=True)
    return _least(scores, left, len(scores) * (scores.shape[1] - 1))


def two_way_lsd(scores: Scores) -> Scores:
    """P-values of least significant differences on the two-way additive analysis of variance."""
    return _least(scores, _residuals(scores), (len(scores) - 1) * (scores.shape[1] - 1))


def _least(scores: Scores, left: Scores, degrees: int) -> Scores:
    mean, square = scores.mean(axis=1), np.square(left).sum() / degrees
    t = np.abs(np.subtract.outer(mean, mean)) / np.sqrt(2 * square / scores.shape[1])
    return np.asarray(2 * stats.t.sf(t, degrees))


def by_p(function: Callable[[Scores], Scores]) -> Callable[[Scores, float], Matrix]:
    """A test by its p-values."""
    return lambda scores, level: np.asarray(function(scores) < level)


TESTS: dict[str, Callable[[Scores, float], Matrix]] = {
    "Tukey, two-way": two_way_tukey,
    "Tukey, one-way": one_way_tukey,
    "Tukey, ranks": lambda scores, level: two_way_tukey(stats.rankdata(scores, axis=0), level),
    "Tukey, arcsine": lambda scores, level: two_way_tukey(np.arcsin(np.sqrt(np.clip(scores, 0, 1))), level),
    "Tukey, randomized": randomized_tukey,
    "least significant difference, two-way": by_p(two_way_lsd),
    "least significant difference, one-way": by_p(one_way_lsd),
}
PAIR_TESTS: dict[str, Callable[[Scores], Scores]] = {
    "paired t": paired_t,
    "unpaired t": lambda scores: stats.ttest_ind(scores[:, None, :], scores[None, :, :], axis=2).pvalue,
    "Wilcoxon": wilcoxon,
}


def pair_p_values(function: Callable[[Scores], Scores], scores: Scores) -> Scores:
    """P-values of a test of each pair, on the topics of both."""
    p = function(scores)
    for u in np.flatnonzero(np.isnan(scores).any(axis=1)):
        for v in range(len(scores)):
            pair = scores[[u, v]]
            p[u, v] = p[v, u] = function(pair[:, ~np.isnan(pair).any(axis=0)])[0, 1]
    return p


def scores_of(collection: Collection, measure: str, runs: Sequence[str]) -> Scores:
    """Scores of runs as judged, shape (run, topic); NaN on topics that a run has no documents for."""
    scores = score_bounds(collection, runs, parse_measure(measure)).lower.astype(float)
    scores[collection.length[collection.run_index(runs)] == 0] = np.nan
    return scores


def significant_pairs(
    collection: Collection, cutoff: int, reported: list[str]
) -> Iterator[tuple[tuple[str, str, str, str, float], Matrix]]:
    """Significant pairs of the reported runs at a cutoff by test, scores, runs, missing topics and level."""
    among = {
        "reported": (
            collection.unpool([r for r in collection.pooled_run_ids if r not in set(reported)]),
            reported,
        ),
        "reported, on all judgments": (collection, reported),
        "pooled": (collection, list(collection.pooled_run_ids)),
        "submitted": (collection, list(collection.run_ids)),
    }
    for (runs, (pool, names)), basis in product(among.items(), SCORES):
        at = np.array([names.index(run) for run in reported])
        own = scores_of(pool, f"P@{cutoff}" if basis == "same" else basis, names)
        for missing in MISSING:
            complete = ~np.isnan(own).any(axis=0)
            scores = np.nan_to_num(own) if missing == "0" else own[:, complete]
            for test, function in TESTS.items():
                for level in LEVELS if basis == "same" or test not in SLOW else ():
                    yield (test, basis, runs, missing, level), function(scores, level)[np.ix_(at, at)]
            if not runs.startswith("reported"):
                continue  # a test of each pair does not depend on other runs
            for test, p_function in PAIR_TESTS.items():
                if basis != "same" and test in SLOW:
                    continue
                p = pair_p_values(p_function, np.nan_to_num(own) if missing == "0" else own)
                for level in LEVELS:
                    yield (test, basis, runs, missing, level), np.asarray(p < level)


def star(passed: Matrix, significant: Matrix, summed: str) -> int:
    """SRE*: significant passes, or all passes of runs with a significant one."""
    counted = passed & significant
    return int(counted.sum() if summed == "runs passed" else passed[counted.any(axis=1)].sum())


def figures_of(
    collection: Collection, experiment: Experiment, result: LeaveOutResult
) -> dict[Reading, dict[tuple[int, str], int]]:
    """SRE* of each reading by cutoff and method."""
    figures: dict[Reading, dict[tuple[int, str], int]] = {}
    everything = list(cases(result, experiment))
    whole = collection.truncate_pool(collection.pool_depth)
    for cutoff in CUTOFFS:
        here = [case for case in everything if case.cutoff == cutoff]
        with np.errstate(all="ignore"):
            for (test, basis, runs, missing, level), significant in significant_pairs(
                whole, cutoff, here[0].runs
            ):
                for summed, case in product(SUMMED, here):
                    reading = Reading(test, basis, runs, missing, summed, level)
                    found = star(case.passed, significant, summed)
                    figures.setdefault(reading, {})[cutoff, case.method] = found
    package = grades(result, experiment, then=True, decimals=experiment.decimals)
    for key, value in figures[OURS].items():
        if value != package[key].sre_star:
            raise AssertionError(f"{experiment.title}, {key}: {value}, not {package[key].sre_star}")
    return figures


def parts(collections: Path, printed: Mapping[tuple[str, int, str], Any], best: int = 12) -> dict[str, str]:
    """The tables of readings, and of critical differences by cutoff and of one measure throughout."""
    found = []
    for experiment in (e for e in EXPERIMENTS if e.source == "paper"):
        collection = read(collections, experiment)
        found.append((experiment, collection, as_then(collection, experiment)))
    return {
        "star_readings": readings(found, printed, best),
        "star_differences": differences(found, printed),
        "star_one_measure": one_measure(found, printed),
    }


def readings(found: Sequence[Found], printed: Mapping[tuple[str, int, str], Any], best: int) -> str:
    """Readings by the printed figures that they give, the best first; then the other Tukey tests at .05."""
    agree: dict[Reading, dict[str, int]] = {}
    above: dict[Reading, int] = {}
    off: dict[Reading, float] = {}
    for experiment, collection, result in found:
        for reading, figures in figures_of(collection, experiment, result).items():
            pairs = [(s, printed[experiment.title, *key].sre_star) for key, s in figures.items()]
            agree.setdefault(reading, {})[experiment.title] = sum(s == told for s, told in pairs)
            above[reading] = above.get(reading, 0) + sum(s == told > 0 for s, told in pairs)
            off[reading] = off.get(reading, 0) + sum(abs(s - told) for s, told in pairs)
    titles = list(agree[OURS])
    lines = [
        "| test | of | among runs | missing topics | summed | level | agree, of 45 | of those above 0 "
        f"| {' | '.join(titles)} | sum of differences |",
        "| --- | --- | --- | --- | --- | ---: | ---: | ---: |" + " ---: |" * (len(titles) + 1),
    ]
    order = sorted(agree, key=lambda r: (-sum(agree[r].values()), off[r], r))
    tukey = [
        r
        for r in order[best:]
        if r.test.startswith("Tukey")
        and (r.scores, r.runs, r.summed, r.level) == (OURS.scores, OURS.runs, OURS.summed, OURS.level)
    ]
    for r in [*order[:best], *tukey]:
        counts = [sum(agree[r].values()), above[r], *agree[r].values()]
        cells = [*r[:5], f"{r.level:g}", *counts, f"{off[r]:.0f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    told = [cell.sre_star for (title, *_), cell in printed.items() if title in titles]
    every = [above[r] for r in order if r.test.startswith("Tukey") and (r.scores, r.level) == ("same", 0.05)]
    return (
        f"{len(agree):,} readings; {told.count(0)} of the {len(told)} printed figures are 0. Of the others a "
        f"reading gives at most {max(above.values())}, and Tukey's test of the scores of the cutoff at .05, "
        f"in all {len(every)} forms, at most {max(every)}.\n\n" + "\n".join(lines)
    )


def differences(found: Sequence[Found], printed: Mapping[tuple[str, int, str], Any]) -> str:
    """Critical differences that give the figures of all methods at a cutoff, beside those of two tests."""
    lines = [
        f"| | printed: {', '.join(METHODS)} | a critical difference over | up to "
        "| Tukey, two-way | least significant difference, two-way |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for experiment, _, result in found:
        everything = list(cases(result, experiment))
        for cutoff in CUTOFFS:
            low, high, told = 0.0, np.inf, []
            for case in (case for case in everything if case.cutoff == cutoff):
                n = int(printed[experiment.title, cutoff, case.method].sre_star)
                apart = np.abs(np.subtract.outer(case.truth, case.truth))[case.passed]
                bounds = np.concatenate([[np.inf], np.sort(apart)[::-1], [0]])
                low, high = max(low, bounds[n + 1]), min(high, bounds[n])
                told.append(str(n))
            ends = [f"{low:.4f}", "–" if np.isinf(high) else f"{high:.4f}"]
            ends = ends if round(low, 9) < round(high, 9) else ["none", "none"]
            scores = result.true_scores(f"P@{cutoff}")
            tests = [f"{d:.4f}" for d in critical_differences(scores[:, ~np.isnan(scores).any(axis=0)])]
            cells = [f"{experiment.title}, P@{cutoff}", ", ".join(told), *ends, *tests]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def critical_differences(scores: Scores, level: float = 0.05) -> tuple[float, float]:
    """Of Tukey's test and the least significant difference, on the two-way analysis of variance."""
    n_runs, n_topics = scores.shape
    degrees = (n_runs - 1) * (n_topics - 1)
    error = float(np.sqrt(np.square(_residuals(scores)).sum() / degrees / n_topics))
    least = float(stats.t.isf(level / 2, degrees)) * np.sqrt(2)
    critical = float(stats.studentized_range.isf(level, n_runs, degrees))
    return critical * error, least * error


def one_measure(found: Sequence[Found], printed: Mapping[tuple[str, int, str], Any]) -> str:
    """Most figures that a critical difference of one measure gives, for each collection its own."""
    titles = [experiment.title for experiment, *_ in found]
    rows = []
    for basis in BASES:
        counts, at = [], []
        for experiment, collection, result in found:
            whole = collection.truncate_pool(collection.pool_depth)
            names = list(whole.run_ids)
            mean = np.nanmean(scores_of(whole, basis, names), axis=1)
            apart, told = [], []
            for case in cases(result, experiment):
                own = mean[[names.index(run) for run in case.runs]]
                apart.append(np.abs(np.subtract.outer(own, own)).round(9)[case.passed])
                told.append(printed[experiment.title, case.cutoff, case.method].sre_star)
            agree = {
                d: sum((a >= d).sum() == n for a, n in zip(apart, told, strict=True))
                for d in np.unique(np.concatenate(apart)).tolist()
            }
            critical = max(agree, key=lambda d: agree[d])
            counts.append(agree[critical])
            at.append(f"{agree[critical]} ({critical:.4f})")
        rows.append((-sum(counts), f"| {basis} | {sum(counts)} | {' | '.join(at)} |"))
    head = [
        f"| one measure throughout | agree, of 45 | {' | '.join(titles)} |",
        "| --- |" + " ---: |" * (len(titles) + 1),
    ]
    return "\n".join([*head, *(line for _, line in sorted(rows))])


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--best", type=int, default=12, help="readings that are shown")
    asked = parser.parse_args()
    print("\n\n".join(parts(asked.collections, published(asked.published), asked.best).values()))


if __name__ == "__main__":
    main()
