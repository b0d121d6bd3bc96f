"""Values of runs if unjudged documents were relevant as often as hidden ones, or as the run's judged ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections import Background, Interpolated
from bayespool.evidence import Estimand, held_out_counts, score_bounds
from bayespool.measures import Measure

FloatArray = npt.NDArray[np.float64]


def sensitivity(
    collection: Collection, run_ids: Sequence[str], measure: Measure, estimand: Estimand = "complete"
) -> tuple[FloatArray, FloatArray]:
    """Values with unjudged documents relevant as often as hidden ones (background, Ravana & Moffat 2010, §3),
    and as the run's judged ones on the topic (interpolated, C = 1; NaN without any); two arrays of shape
    (run,).

    Examples
    --------
    >>> from bayespool import load_example, parse_measure
    >>> as_pool, as_run = sensitivity(load_example(), ["new-a", "new-b"], parse_measure("P@10"))
    >>> as_pool.round(3).tolist(), as_run.round(3).tolist()
    ([0.604, 0.373], [0.648, 0.449])
    """
    held_out = held_out_counts(collection, cutoffs=measure.cutoff, rel=measure.rel)
    n_hidden = int(held_out.n_credited.sum())
    share = int(held_out.n_credited_relevant.sum()) / n_hidden if n_hidden else 0.0
    (as_pool,) = Background(e=share, estimand=estimand).estimate(collection, run_ids, measure)
    (as_run,) = Interpolated(c=1.0, e=share, estimand=estimand).estimate(collection, run_ids, measure)
    some = score_bounds(collection, run_ids, measure, estimand=estimand).n_judged.any(axis=1)
    return as_pool.value, np.where(some, as_run.value, np.nan)
