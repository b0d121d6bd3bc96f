"""A measure for ``pt.Experiment`` of PyTerrier and other users of ir_measures."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from bayespool.collection import Reading
from bayespool.collection.sources import runs_of
from bayespool.errors import InputError
from bayespool.options import MAX_FILE_SIZE, options_of, refuse_unknown, takes
from bayespool.pooling import read_collection
from bayespool.scoring.scoring import score
from bayespool.scoring.settings import PyTerrierSettings

if TYPE_CHECKING:
    import pandas as pd

Quantity = Literal["mean", "lower", "upper"]
_SYSTEM = "(this system)"
_OF_PYTERRIER = (
    "qrels",
    "runs",
    "scores",
    "progress",
)  # arguments that are no user's


@takes(PyTerrierSettings, positional="measure")
def pyterrier_measure(*, settings: PyTerrierSettings, **reading: Any) -> Any:
    """Make a measure of ir_measures whose value is the estimate of `bayespool.score`.

    In ``pt.Experiment`` it scores each system by the experiment's judgments, as one of a new organization.

    Parameters
    ----------
    {options}
    **reading
        Arguments of `bayespool.read_collection`: ``pool``, ``organizations``, …. The pool is read once.

    Returns
    -------
    ir_measures.Measure
        Called ``bayespool P@10 mean``, ….

    Raises
    ------
    InputError
        ir_measures is not installed; an unknown measure or quantity; an interval of an estimator without
        draws.

    Notes
    -----
    ``pt.Experiment`` takes the mean of values on topics, but ends of intervals on topics do not average to
    the ends of the mean's interval. With ``"lower"`` or ``"upper"`` each topic has its estimate plus the
    distance from the mean's estimate to that end: only the mean is meaningful, and tests of differences are
    those of the estimates. Topics without judgments have no value. Leave out ``batch_size``, with which
    ``pt.Experiment`` evaluates each batch of topics with its judgments alone.

    Examples
    --------
    >>> import pytest
    >>> ir_measures = pytest.importorskip("ir_measures")
    >>> mine = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.7}}
    >>> judged = {"q1": {"d1": 1, "d9": 0}, "q2": {"d8": 1}}
    >>> pool = {"theirs": {"q1": {"d1": 0.3, "d9": 0.2}, "q2": {"d8": 1}}}
    >>> organizations = {"theirs": "them"}
    >>> measure = pyterrier_measure("P@2", estimator="as-judged", pool=pool, organizations=organizations)
    >>> ir_measures.calc_aggregate([measure], judged, mine)
    {bayespool P@2 mean: 0.25}
    """
    try:
        import ir_measures
    except ImportError:
        raise InputError("ir_measures is not installed", hint="pip install ir_measures") from None
    arguments = inspect.signature(read_collection).parameters
    known = (*options_of(PyTerrierSettings), *(name for name in arguments if name not in _OF_PYTERRIER))
    refuse_unknown(reading, known, f"pyterrier_measure has {', '.join(known)}")
    parsed, quantity, ci_prob = settings.measure, settings.quantity, settings.ci_prob
    if reading.get("pool") is not None:
        way = Reading(
            id_from=reading.get("run_id", "file"),
            strict=reading.get("strict", True),
            ranks=reading.get("order") == "rank",
            max_file_size=reading.get("max_file_size", MAX_FILE_SIZE),
        )
        (reading["pool"],) = runs_of(reading["pool"], names=("pool",), reading=way)

    scoring = settings.of_score()

    def evaluate(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        collection = read_collection(qrels, {_SYSTEM: run[["query_id", "doc_id", "score"]]}, **reading)
        scores = score(collection, collection.given_run_ids, settings=scoring)
        (estimates,) = scores.estimates
        off = 0.0
        if quantity != "mean":
            if estimates.draws is None:
                hint = "name a posterior, such as posterior-combined"
                raise InputError(f"{estimates.method} has no interval", hint=hint)
            off = float(estimates.interval(ci_prob)[quantity == "upper"][0] - estimates.value[0])
        yield from zip(scores.query_ids, (estimates.per_topic[0] + off).tolist(), strict=True)

    return ir_measures.define(evaluate, f"bayespool {parsed} {quantity}", support_cutoff=False)
