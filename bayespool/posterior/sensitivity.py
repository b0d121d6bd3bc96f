"""What runs would be worth if their unjudged documents were as bad, or as good, as some that are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections import Background, Interpolated
from bayespool.counts import Estimand, held_out_counts
from bayespool.measures import Measure

__all__ = ["sensitivity"]

FloatArray = npt.NDArray[np.float64]


def sensitivity(
    collection: Collection, run_ids: Sequence[str], measure: Measure, estimand: Estimand = "complete"
) -> tuple[FloatArray, FloatArray]:
    """Values of runs under two assumptions that no evidence of the runs themselves enters.

    Parameters
    ----------
    collection : Collection
    run_ids : sequence of str
    measure : Measure
    estimand : {"complete", "pooled"}

    Returns
    -------
    as_bad, as_good : ndarray of float, each of shape (run,)
        With unjudged documents relevant as often as the hidden ones, which a single organization of the pool
        contributed (background, equation in §3 of Ravana & Moffat 2010, with E the share of these), and as
        often as the run's judged ones on the same topic (interpolated, C = 1). Without a hidden document the
        former are nonrelevant.

    Examples
    --------
    >>> from bayespool import load_example, parse_measure
    >>> as_bad, as_good = sensitivity(load_example(), ["new-a", "new-b"], parse_measure("P@10"))
    >>> as_bad.round(3).tolist(), as_good.round(3).tolist()
    ([0.604, 0.373], [0.648, 0.449])
    """
    held_out = held_out_counts(collection, cutoffs=measure.cutoff, rel=measure.rel)
    n_hidden = int(held_out.n_credited.sum())
    share = int(held_out.n_credited_relevant.sum()) / n_hidden if n_hidden else 0.0
    found = []
    for correction in (
        Background(e=share, estimand=estimand),
        Interpolated(c=1.0, e=share, estimand=estimand),
    ):
        (estimates,) = correction.estimate(collection, run_ids, measure)
        found.append(estimates.value)
    return found[0], found[1]
