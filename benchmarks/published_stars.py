"""The SRE* that "Splitting Water" prints, by candidates for its "Tukey's test": what can be excluded.

    python benchmarks/published_stars.py COLLECTIONS --published FOLDER

SRE* sums the runs that an estimate passes over and that differ significantly in truth. Which runs are passed
over is settled, as all printed SREs agree (docs/reproduction.md); what "significant" was is not. Each
candidate is a test, the runs that it is among, the scores that it is of, and a level. Prints how many of the
45 printed figures each gives, and how many of those above 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
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
    published,
    read,
    rounded,
)
from scipy import stats

from bayespool import parse_measure
from bayespool.collection import Collection
from bayespool.comparisons import paired_t, wilcoxon
from bayespool.comparisons.significance import tukey_significant
from bayespool.evidence import score_bounds
from bayespool.measures import passed_over

Matrix = npt.NDArray[np.bool_]
Candidate = tuple[str, str, str, float]  # test, scores, runs, level
LEVELS = (0.05, 0.01, 0.1)
SCORES = ("same", "P@5", "P@10", "P@20", "P@30", "P@100", "AP@1000", "nDCG@1000")
RUNS = ("reported", "pooled", "submitted")


class Case(NamedTuple):
    """Runs of an experiment that estimates of one method at one cutoff pass over, shape (run, run)."""

    title: str
    cutoff: int
    method: str
    runs: list[str]
    passed: Matrix


def cases(collection: Collection, experiment: Experiment, jobs: int | None = None) -> Iterator[Case]:
    """What each method passes over, with the arithmetic of the tool."""
    frame = as_then(collection, experiment, n_jobs=jobs).to_frame(reported_only=True)
    for cutoff, method in product(CUTOFFS, METHODS):
        rows = frame[(frame["measure"] == f"P@{cutoff}") & (frame["estimator"] == method)]
        truth = np.round(rounded(rows["truth"], experiment.decimals), 12)
        value = rows["value"].to_numpy()
        value = np.round(rounded(value, experiment.decimals) if method == "reduced-pool" else value, 12)
        yield Case(experiment.title, cutoff, method, rows["run_id"].tolist(), passed_over(truth, value))


def one_way_tukey(scores: npt.NDArray[np.float64], level: float) -> Matrix:
    """Tukey's test on the one-way analysis of variance, topics as replicates, by one critical value."""
    n_runs, n_topics = scores.shape
    mean = scores.mean(axis=1)
    error = np.square(scores - mean[:, None]).sum() / (n_runs * (n_topics - 1))
    q = np.abs(np.subtract.outer(mean, mean)) / np.sqrt(error / n_topics)
    return np.asarray(q > stats.studentized_range.ppf(1 - level, n_runs, n_runs * (n_topics - 1)))


def unpaired_t(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """P-values of t tests of independent samples."""
    p: npt.NDArray[np.float64] = stats.ttest_ind(scores[:, None, :], scores[None, :, :], axis=2).pvalue
    return np.nan_to_num(p, nan=1.0)


def one_way_lsd(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """P-values of least significant differences on the one-way analysis of variance."""
    return _least(scores, np.square(scores - scores.mean(axis=1, keepdims=True)).sum(), one_way=True)


def two_way_lsd(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """P-values of least significant differences on the two-way additive analysis of variance."""
    left = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    return _least(scores, np.square(left).sum(), one_way=False)


def _least(scores: npt.NDArray[np.float64], squares: float, *, one_way: bool) -> npt.NDArray[np.float64]:
    n_runs, n_topics = scores.shape
    degrees = n_runs * (n_topics - 1) if one_way else (n_runs - 1) * (n_topics - 1)
    mean = scores.mean(axis=1)
    t = np.abs(np.subtract.outer(mean, mean)) / np.sqrt(2 * squares / degrees / n_topics)
    p: npt.NDArray[np.float64] = 2 * stats.t.sf(t, degrees)
    return p


def by_p(function: Callable[..., Any]) -> Callable[..., Matrix]:
    """A test by its p-values."""
    return lambda scores, level: np.asarray(function(scores) < level)


TESTS: dict[str, Callable[[npt.NDArray[np.float64], float], Matrix]] = {
    "Tukey, two-way": tukey_significant,
    "Tukey, one-way": one_way_tukey,
    "least significant difference, two-way": by_p(two_way_lsd),
    "least significant difference, one-way": by_p(one_way_lsd),
    "paired t": by_p(paired_t),
    "unpaired t": by_p(unpaired_t),
    "Wilcoxon": by_p(wilcoxon),
}


def significance_of(collection: Collection, reported: Mapping[int, list[str]]) -> dict[Any, Any]:
    """Significant pairs by level, for each test, scores, runs and cutoff, with their runs."""
    found = {}
    everything = {
        name: score_bounds(collection, None, parse_measure(name)).lower
        for name in {*SCORES, *(f"P@{n}" for n in CUTOFFS)} - {"same"}
    }
    place = {run: i for i, run in enumerate(collection.run_ids)}
    for runs, basis in product(RUNS, SCORES):
        groups = {"pooled": list(collection.pooled_run_ids), "submitted": list(collection.run_ids)}
        cutoffs = CUTOFFS if runs == "reported" or basis == "same" else CUTOFFS[:1]
        for cutoff in cutoffs:
            chosen = groups.get(runs, reported[cutoff])
            scores = everything[f"P@{cutoff}" if basis == "same" else basis][[place[r] for r in chosen]]
            for test, function in TESTS.items():
                if (test.startswith(("paired", "unpaired", "Wilcoxon")) and runs != "reported") or (
                    test == "Wilcoxon" and basis != "same"
                ):
                    continue  # a test of each pair does not depend on other runs
                with np.errstate(all="ignore"):
                    found[test, basis, runs, cutoff] = chosen, {n: function(scores, n) for n in LEVELS}
        for cutoff in CUTOFFS if len(cutoffs) == 1 else ():
            for test in TESTS:
                if (key := (test, basis, runs, CUTOFFS[0])) in found:
                    found[test, basis, runs, cutoff] = found[key]
    return found


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--best", type=int, default=12, help="candidates that are shown")
    asked = parser.parse_args()
    print(table(asked.collections, published(asked.published), asked.best))


def table(collections: Path, printed: Mapping[tuple[str, int, str], Any], best: int = 12) -> str:
    """Candidates by the printed figures that they give, the best first; then the other Tukey tests at .05."""
    ours: dict[Candidate, list[tuple[str, float, float]]] = {}
    for experiment in (e for e in EXPERIMENTS if e.source == "paper"):
        collection = read(collections, experiment)
        all_cases = list(cases(collection, experiment))
        whole = collection.truncate_pool(collection.pool_depth)
        reported = {case.cutoff: case.runs for case in all_cases}
        for (test, basis, runs, cutoff), (names, significant) in significance_of(whole, reported).items():
            index = {run: i for i, run in enumerate(names)}
            for case in (case for case in all_cases if case.cutoff == cutoff):
                at = [index[run] for run in case.runs]
                told = printed[case.title, cutoff, case.method].sre_star
                for level in LEVELS:
                    star = float((case.passed & significant[level][np.ix_(at, at)]).sum())
                    ours.setdefault((test, basis, runs, level), []).append((case.title, star, told))
    titles = list(dict.fromkeys(title for title, *_ in next(iter(ours.values()))))
    lines = [
        f"| test | of | among runs | level | agree, of 45 | of those above 0 | {' | '.join(titles)} "
        "| sum of differences |",
        "| --- | --- | --- | ---: | ---: | ---: |" + " ---: |" * (len(titles) + 1),
    ]
    scored = []
    for candidate, figures in ours.items():
        same = [(title, told > 0) for title, star, told in figures if star == told]
        off = sum(abs(star - told) for _, star, told in figures)
        by_title = [sum(title == name for title, _ in same) for name in titles]
        scored.append((-len(same), off, sum(above for _, above in same), by_title, candidate))
    scored.sort(key=lambda row: (row[0], row[1], row[4]))
    named = [row for row in scored[best:] if row[4][0].startswith("Tukey") and row[4][3] == LEVELS[0]]
    for n, off, above, by_title, (test, basis, runs, level) in [*scored[:best], *named]:
        cells = [test, basis, runs, f"{level:g}", -n, above, *by_title, f"{off:.0f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
