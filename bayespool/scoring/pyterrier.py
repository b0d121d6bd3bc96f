"""A measure for ``pt.Experiment`` of PyTerrier and other users of ir_measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from bayespool.collection import Reading
from bayespool.collection.sources import runs_of
from bayespool.errors import InputError, known_names
from bayespool.measures import parse_measure
from bayespool.options import MAX_FILE_SIZE
from bayespool.scoring.scoring import ScoreOptions, refuse_of_judgments, score

if TYPE_CHECKING:
    import pandas as pd

Quantity = Literal["mean", "lower", "upper"]
_SYSTEM = "(this system)"


def pyterrier_measure(
    measure: object,
    *,
    quantity: Quantity = "mean",
    estimator: str = "posterior-combined",
    ci_prob: float = 0.95,
    random_seed: int = 1,
    **settings: Unpack[ScoreOptions],
) -> Any:
    """Make a measure of ir_measures whose value is the estimate of `bayespool.score`.

    In ``pt.Experiment`` it scores each system by the experiment's judgments, as one of a new organization.

    Parameters
    ----------
    measure : measure
        ``"P@10"``, ``"nDCG@10"``, ….
    quantity : {"mean", "lower", "upper"}
        The estimate, or an end of its interval.
    estimator : str
        A posterior, or with ``"mean"`` any estimator.
    ci_prob : float, default 0.95
        Probability of the interval.
    random_seed : int, default 1
    **settings
        Arguments of `bayespool.read_collection` (``pool``, ``organizations``, …) and settings of the
        estimator (``draws``, …). The pool is read once.

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
    >>> measure = pyterrier_measure("P@2", estimator="lower-bound", pool=pool, organizations=organizations)
    >>> ir_measures.calc_aggregate([measure], judged, mine)
    {bayespool P@2 mean: 0.25}
    """
    try:
        import ir_measures
    except ImportError:
        raise InputError("ir_measures is not installed", hint="pip install ir_measures") from None
    if quantity not in get_args(Quantity):
        raise InputError(f"no quantity {quantity!r}", hint=known_names(quantity, get_args(Quantity)))
    parsed = parse_measure(measure)
    refuse_of_judgments([parsed])
    if settings.get("pool") is not None:
        reading = Reading(
            id_from=settings.get("run_id", "file"),
            strict=settings.get("strict", True),
            ranks=settings.get("order") == "rank",
            max_file_size=settings.get("max_file_size", MAX_FILE_SIZE),
        )
        (settings["pool"],) = runs_of(settings["pool"], names=("pool",), reading=reading)

    def evaluate(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        scores = score(
            {_SYSTEM: run[["query_id", "doc_id", "score"]]},
            qrels,
            parsed,
            estimators=estimator,
            ci_prob=ci_prob,
            random_seed=random_seed,
            **settings,
        )
        (estimates,) = scores.estimates
        off = 0.0
        if quantity != "mean":
            if estimates.draws is None:
                hint = "name a posterior, such as posterior-combined"
                raise InputError(f"{estimates.method} has no interval", hint=hint)
            off = float(estimates.interval(ci_prob)[quantity == "upper"][0] - estimates.value[0])
        yield from zip(scores.query_ids, (estimates.per_topic[0] + off).tolist(), strict=True)

    return ir_measures.define(evaluate, f"bayespool {parsed} {quantity}", support_cutoff=False)
