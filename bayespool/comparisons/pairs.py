"""Pairs of runs: their places, frames of them, and their comparison on the topics that both runs have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IntArray
from bayespool.comparisons.significance import Pairs, adjust_p_values, p_values
from bayespool.errors import InputError, known_names
from bayespool.names import Control, SignificanceTest


def pair_frame(
    run_ids: Sequence[str],
    keys: Mapping[str, object],
    matrices: Mapping[str, AnyArray],
    pairs: Pairs | None = None,
) -> pd.DataFrame:
    """Return a frame with one row per pair of runs, from matrices of shape (run, run)."""
    first, second = pairs or np.triu_indices(len(run_ids), 1)
    ids = np.array(run_ids, dtype=object)
    columns: dict[str, Any] = {**keys, "run_a": ids[first], "run_b": ids[second]}
    return pd.DataFrame(columns | {name: matrix[first, second] for name, matrix in matrices.items()})


def count_pairs(runs: Sized) -> int:
    """Return the number of pairs of runs."""
    return math.comb(len(runs), 2)


def compared_pairs(run_ids: Sequence[str], baseline: Sequence[str]) -> Pairs:
    """Return the places of the runs of each pair: all pairs, or each other run and each baseline.

    Examples
    --------
    >>> first, second = compared_pairs(["a", "b", "c"], ["b"])
    >>> first.tolist(), second.tolist()
    ([0, 2], [1, 1])
    """
    if not baseline:
        first, second = np.triu_indices(len(run_ids), 1)
        return first, second
    places = [list(run_ids).index(run) for run in baseline]
    others = [place for place in range(len(run_ids)) if place not in places]
    return np.tile(others, len(places)), np.repeat(places, len(others))


def check_baseline(
    baseline: Sequence[str],
    run_ids: Sequence[str],
    tests: Sequence[SignificanceTest],
    control: Control,
    *,
    systems: Iterable[str] = (),
) -> None:
    """Raise `InputError` for a baseline that is not among the runs, in place of which systems may be named,
    or tests that do not go with it.
    """
    for run in baseline:
        if run not in run_ids:
            raise InputError(
                f"no run {run!r} to compare with", hint=known_names(run, dict.fromkeys((*systems, *run_ids)))
            )
    if control == "dunnett":
        if len(baseline) != 1:
            raise InputError("dunnett compares runs with one baseline", hint="name it as the baseline")
        if any(test != "paired-t" for test in tests):
            raise InputError("dunnett is a t test", hint="leave out other tests, or use control holm")
    if baseline and "tukey-hsd" in tests:
        raise InputError(
            "tukey-hsd controls for all pairs, not for those with a baseline", hint="use control dunnett"
        )


COMMON_COLUMNS = ("n_common", "difference_common", "p_common")


@dataclass(frozen=True, eq=False)
class CommonTopics:
    """Differences of pairs of runs on the topics that both runs have.

    Attributes
    ----------
    n : ndarray of int, shape (run, run)
        Number of topics that both runs have.
    difference : ndarray of float, shape (run, run)
        Mean over them, the row's run minus the column's; NaN without any.
    p : ndarray of float, shape (run, run)
        Adjusted for the family of pairs, by Holm where runs are tested together (``dunnett``, ``tukey-hsd``).
    """

    n: IntArray
    difference: FloatArray
    p: FloatArray

    @property
    def columns(self) -> dict[str, AnyArray]:
        """Matrices by the names of their columns in frames."""
        return dict(zip(COMMON_COLUMNS, (self.n, self.difference, self.p), strict=True))

    def confirms(self, difference: FloatArray, level: float) -> BoolArray:
        """Return where these topics announce the sign of a difference, shape (run, run)."""
        return np.asarray((self.p <= level) & (np.sign(self.difference) == np.sign(difference)))


def common_control(test: SignificanceTest, control: Control) -> Control:
    """Return the adjustment of p-values on common topics, which differ by pair."""
    return "holm" if test == "tukey-hsd" or control == "dunnett" else control


def compare_on_common_topics(
    per_topic: FloatArray,
    has_topic: BoolArray,
    p: FloatArray,
    adjusted: FloatArray,
    test: SignificanceTest,
    control: Control,
    pairs: Pairs,
    *,
    random_seed: int,
) -> CommonTopics:
    """Return the differences and tests of pairs of runs on the topics that both have.

    ``p`` and ``adjusted`` are the p-values on all topics, which hold where no run lacks any.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.4, 0.9], [0.4, 0.2, 0.0]])
    >>> has_topic = np.array([[True, True, True], [True, True, False]])
    >>> pairs = compared_pairs(["a", "b"], ())
    >>> p = p_values(scores)
    >>> common = compare_on_common_topics(scores, has_topic, p, p, "paired-t", "none", pairs, random_seed=1)
    >>> int(common.n[0, 1]), round(float(common.difference[0, 1]), 3), round(float(common.p[0, 1]), 3)
    (2, 0.15, 0.205)
    """
    n, p = has_topic.astype(int) @ has_topic.T.astype(int), p.copy()
    difference = np.subtract.outer(per_topic.mean(axis=1), per_topic.mean(axis=1))
    if has_topic.all():
        return CommonTopics(n, difference, adjusted)
    for a, b in zip(*np.nonzero(n < per_topic.shape[1]), strict=True):
        common = per_topic[[a, b]][:, has_topic[a] & has_topic[b]]
        difference[a, b] = (common[0] - common[1]).mean() if n[a, b] else np.nan
        p[a, b] = p_values(common, test, random_seed=random_seed)[0, 1] if n[a, b] > 1 else np.nan
    applied = common_control(test, control)
    assert applied != "dunnett"  # for the type checker
    return CommonTopics(n, difference, adjust_p_values(p, applied, pairs))
