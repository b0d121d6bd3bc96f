"""Grading of stated probabilities by outcomes: calibration by bins, and the Brier score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def calibration_table(
    probability: npt.ArrayLike, happened: npt.ArrayLike, *, n_bins: int = 10
) -> pd.DataFrame:
    """Compare stated probabilities with the share that happened: the points of a reliability plot.

    Parameters
    ----------
    probability : array_like of float in [0, 1]
    happened : array_like of bool
        Outcomes, as many as probabilities.
    n_bins : int, default 10
        Bins of equal width; the last one includes 1.

    Returns
    -------
    pandas.DataFrame
        One row per bin: ``bin_lower``, ``bin_upper``, ``n``, ``announced`` (mean probability in the bin) and
        ``happened`` (share); NaN in an empty bin.

    Examples
    --------
    >>> calibration_table([0.1, 0.3, 1.0, 0.8], [False, True, True, True], n_bins=2)
       bin_lower  bin_upper  n  announced  happened
    0        0.0        0.5  2        0.2       0.5
    1        0.5        1.0  2        0.9       1.0
    """
    import pandas as pd

    stated, outcome = _checked(probability, happened)
    if n_bins < 1:
        raise InputError(f"{n_bins} bins are too few")
    # a share such as 0.3 is in the bin that starts at 0.3, however the quotient is rounded
    place = np.minimum(np.floor(stated * n_bins + 1e-9).astype(int), n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        announced = np.bincount(place, stated, n_bins) / n
        share = np.bincount(place, outcome, n_bins) / n
    edges = np.arange(n_bins + 1) / n_bins
    return pd.DataFrame(
        {"bin_lower": edges[:-1], "bin_upper": edges[1:], "n": n, "announced": announced, "happened": share}
    )


def brier_score(probability: npt.ArrayLike, happened: npt.ArrayLike) -> float:
    """Mean squared difference between probability and outcome; 0 is perfect; NaN without any.

    Examples
    --------
    >>> brier_score([0.5, 1.0], [True, True])
    0.125
    """
    stated, outcome = _checked(probability, happened)
    return float(np.mean((stated - outcome) ** 2)) if len(stated) else float("nan")


def _checked(
    probability: npt.ArrayLike, happened: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    stated = np.asarray(probability, dtype=np.float64)
    outcome = np.asarray(happened, dtype=np.float64)
    if stated.shape != outcome.shape or stated.ndim != 1:
        raise InputError(f"{stated.shape} probabilities cannot be graded by {outcome.shape} outcomes")
    if len(stated) and not ((stated >= 0) & (stated <= 1)).all():
        raise InputError("a probability is not between 0 and 1")
    return stated, outcome
