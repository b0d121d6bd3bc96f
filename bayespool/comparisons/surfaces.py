"""Error of the constants (C, E) over the unit square (Ravana & Moffat 2010, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.corrections.ravana_moffat import interpolated, smoothed
from bayespool.errors import InputError
from bayespool.evidence import JudgmentCounts

FloatArray = npt.NDArray[np.float64]


def rmse_surface(
    method: Literal["interpolated", "smoothed"],
    counts: Iterable[JudgmentCounts],
    truth: JudgmentCounts,
    *,
    c: npt.ArrayLike,
    e: npt.ArrayLike,
) -> FloatArray:
    """RMSE of a correction for each pair of constants, against a fuller judgment set.

    `bayespool.corrections.fit_constants` finds its minimum over the unit square.

    Parameters
    ----------
    method : {"interpolated", "smoothed"}
    counts : iterable of JudgmentCounts
        Counts of the same runs at the same cutoffs under several smaller judgment sets, weighted equally.
    truth : JudgmentCounts
        Counts under the fullest set, whose lower bounds are the values to predict.
    c, e : array_like of float in [0, 1]
        Constants to try.

    Returns
    -------
    ndarray of float, shape (c, e)
        Root of the mean over (judgment set, run, topic).

    Raises
    ------
    InputError
        Unknown method, or counts of other runs, topics or cutoffs than the truth's.

    Examples
    --------
    >>> from bayespool import judgment_counts, load_example
    >>> example = load_example()
    >>> full = judgment_counts(example, cutoffs=10)
    >>> shallow = [judgment_counts(example.truncate_pool(d), cutoffs=10) for d in (1, 2, 5)]
    >>> rmse_surface("smoothed", shallow, full, c=[0, 0.5, 1], e=[0.05, 0.5]).shape
    (3, 2)
    """
    if method not in ("interpolated", "smoothed"):
        raise InputError(f"no surface for {method!r}", hint="interpolated or smoothed")
    tables = list(counts)
    axes = (truth.run_ids, truth.query_ids, truth.cutoffs)
    if not tables or any((t.run_ids, t.query_ids, t.cutoffs) != axes for t in tables):
        raise InputError("a surface needs counts of the same runs, topics and cutoffs as the truth's")
    correct = interpolated if method == "interpolated" else smoothed
    lower = np.concatenate([t.lower.ravel() for t in tables])
    residual = np.concatenate([t.residual.ravel() for t in tables])
    target = np.tile(truth.lower.ravel(), len(tables))
    c_values, e_values = np.atleast_1d(np.asarray(c, float)), np.atleast_1d(np.asarray(e, float))
    rows = [
        [np.sqrt(np.mean((correct(lower, residual, one_c, one_e) - target) ** 2)) for one_e in e_values]
        for one_c in c_values
    ]
    return np.array(rows)
