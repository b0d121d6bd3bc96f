"""The class of a predictor, the package's fourteen, and the registry that lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from bayespool.arrays import FloatArray, IndexArray
from bayespool.errors import InputError, known_names
from bayespool.evidence.context import DocumentContext

Per = Literal["ranking", "label", "document"]


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """A quantity known about a document before it is judged.

    Parameters
    ----------
    name : str
    description : str
        One line in Markdown, for the tables of the documentation.
    per : {"ranking", "label", "document"}
        Whether all documents of a run and topic have the same value, or one of a few by their labels. A model
        without predictors per document counts the documents of a ranking in one row, or in a few.
    compute : callable
        `DocumentContext` → ndarray of float, shape (document,), finite; predictors of labels have NaN where
        there is none. Documents that the document's own organization alone contributed must not take part.
    slope : (float, float), optional
        Prior mean and standard deviation of its slope in the evidence model, per unit of its own scale.
        Without one the evidence model does not use it.
    version : str, optional
        Of your own predictor: change it with ``compute``. Experiments use stored folds again for the same
        version only; without one they compute all folds again.

    Raises
    ------
    InputError
        A slope without a spread, or an unknown ``per``.
    """

    name: str
    description: str
    per: Per
    compute: Callable[[DocumentContext], FloatArray] = field(repr=False)
    slope: tuple[float, float] | None = None
    version: str = ""

    def __post_init__(self) -> None:
        if self.per not in get_args(Per):
            raise InputError(
                f"predictor {self.name}: no per {self.per!r}", hint=known_names(self.per, get_args(Per))
            )
        if self.slope is not None and not (np.isfinite(self.slope).all() and self.slope[1] > 0):
            raise InputError(
                f"predictor {self.name}: its slope {self.slope} is not a mean and a standard deviation over 0"
            )


_HALF_WEIGHT_DISTANCE = 5.0  # ranks to a judged neighbor that counts half


def _log_odds(n: IndexArray, n_other: IndexArray) -> FloatArray:
    """Log odds of one category versus another, with ½ added to each count."""
    return np.log((n + 0.5) / (n_other + 0.5))


def _log_rank(documents: DocumentContext) -> FloatArray:
    return np.log(documents.rank)


def _precision(documents: DocumentContext) -> FloatArray:
    return _log_odds(documents.top_relevant, documents.top_nonrelevant)[documents.row, documents.topic]


def _run_precision(documents: DocumentContext) -> FloatArray:
    of_run = _log_odds(documents.top_relevant.sum(axis=1), documents.top_nonrelevant.sum(axis=1))
    return of_run[documents.row]


def _local_precision(documents: DocumentContext) -> FloatArray:
    """Logit of precision around each rank, the run's being one more neighbor, shape (document,)."""
    # all ranks of ``state`` are summed: a matrix product of another shape may round its sums in another order
    relevant, nonrelevant = documents.relevant, documents.nonrelevant
    ranks = np.arange(relevant.shape[2])
    nearness = 1 / (1 + np.abs(ranks[:, None] - ranks) / _HALF_WEIGHT_DISTANCE)
    n_relevant, n_nonrelevant = relevant.sum(axis=(1, 2)), nonrelevant.sum(axis=(1, 2))
    of_run = ((n_relevant + 0.5) / (n_relevant + n_nonrelevant + 1))[documents.row]
    place = documents.row, documents.topic, documents.rank - 1
    near_relevant, near_nonrelevant = (relevant @ nearness)[place], (nonrelevant @ nearness)[place]
    return np.asarray(np.log((near_relevant + of_run) / (near_nonrelevant + 1 - of_run)))


def _run_unjudged(documents: DocumentContext) -> FloatArray:
    return _log_odds(documents.top_unjudged.sum(axis=1), documents.top_judged.sum(axis=1))[documents.row]


LOG_RANK: Predictor = Predictor(
    name="log_rank",
    description="log of the document's rank in the run",
    per="document",
    compute=_log_rank,
    slope=(-0.1, 0.2),
)
PRECISION: Predictor = Predictor(
    name="precision",
    description="log odds of relevant and nonrelevant judged documents (each plus ½) of the run on the "
    "topic, in the top 10 to 30, as deep as the pool",
    per="ranking",
    compute=_precision,
    slope=(0.2, 0.3),
)
RUN_PRECISION: Predictor = Predictor(
    name="run_precision",
    description="`precision` with the documents of all topics of the run summed",
    per="ranking",
    compute=_run_precision,
    slope=(0.9, 0.5),
)
LOCAL_PRECISION: Predictor = Predictor(
    name="local_precision",
    description="log odds of relevant and nonrelevant judged documents of the run around the document, down "
    "to rank 100, or the cutoff if that is deeper: a neighbor $d$ ranks away weighs $1/(1 + d/5)$, and the "
    "run's precision over all topics counts as one more neighbor",
    per="document",
    compute=_local_precision,
    slope=(0.8, 0.4),
)
RUN_UNJUDGED: Predictor = Predictor(
    name="run_unjudged",
    description="log odds of a document in the run's top 10 to 30 being unjudged, over all topics: how far "
    "the run is from the pool",
    per="ranking",
    compute=_run_unjudged,
    slope=(0.2, 0.15),
)


def _support(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    return others.n_retrieving / others.n_runs


def _log_best_rank(documents: DocumentContext) -> FloatArray:
    return np.log(documents.among_others.best_rank)


def _fusion(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    return np.log1p(10 * others.fusion / others.n_runs)


SUPPORT: Predictor = Predictor(
    name="support",
    description="share of the pooled runs of other organizations that retrieve the document at any depth",
    per="document",
    compute=_support,
    slope=(0.0, 1.0),
)
LOG_BEST_RANK: Predictor = Predictor(
    name="log_best_rank",
    description="log of the best rank among them; twice the longest ranking of a pooled run where none does",
    per="document",
    compute=_log_best_rank,
    slope=(-0.5, 0.3),
)
FUSION: Predictor = Predictor(
    name="fusion",
    description=r"$\log\bigl(1 + 10 \cdot \text{mean of precision}/\log_2(1 + \text{rank})\bigr)$ over them, "
    "0 for a run that does not retrieve it; the precision is that of what the run contributed to the pool on "
    "the topic, to rank 30 at most",
    per="document",
    compute=_fusion,
    slope=(4.0, 3.0),
)


def _delta_precision(documents: DocumentContext) -> FloatArray:
    return documents.composition[0]


def _delta_antiprecision(documents: DocumentContext) -> FloatArray:
    return documents.composition[1]


DELTA_PRECISION: Predictor = Predictor(
    name="delta_precision",
    description=r"$\Delta P$: what composing the run with the pooled runs, without those of its "
    "organization, does to their P@n on the topic",
    per="ranking",
    compute=_delta_precision,
)
DELTA_ANTIPRECISION: Predictor = Predictor(
    name="delta_antiprecision",
    description=r"$\Delta \bar P$: what it does to their anti-precision, the share of nonrelevant documents",
    per="ranking",
    compute=_delta_antiprecision,
)


def _learned_fusion(documents: DocumentContext) -> FloatArray:
    return documents.learned_odds


def _run_skill(documents: DocumentContext) -> FloatArray:
    return documents.own_lines[0][documents.row]


def _run_slope(documents: DocumentContext) -> FloatArray:
    _, slope, mean = documents.own_lines
    return slope[documents.row] * (documents.learned_odds - mean[documents.row])


LEARNED_FUSION: Predictor = Predictor(
    name="learned_fusion",
    description="log odds of relevance that the judged documents teach of the pooled runs of other "
    "organizations that retrieve the document: by weights of runs, by documents that the same runs retrieve, "
    "by its support and best rank ({doc}`formulas`, *Learned fusion*)",
    per="document",
    compute=_learned_fusion,
)
RUN_SKILL: Predictor = Predictor(
    name="run_skill",
    description="shift of these log odds at which they fit the run's own judged documents in its top 30: "
    "what the run knows beyond the others",
    per="ranking",
    compute=_run_skill,
)
RUN_SLOPE: Predictor = Predictor(
    name="run_slope",
    description="slope of these log odds, less 1, at which they fit the run's own judged documents, times "
    "the document's less their mean: whether the run finds relevant documents that others pass over",
    per="document",
    compute=_run_slope,
)


def _log_rate(documents: DocumentContext) -> FloatArray:
    sample = documents.collection.sample
    if sample is None:
        return np.zeros(len(documents.pair))
    return np.nan_to_num(np.log(sample.rates))[documents.pair]


LOG_RATE: Predictor = Predictor(
    name="log_rate",
    description="log of the rate at which a published sample took documents of its stratum; 0 for others",
    per="document",
    compute=_log_rate,
)


_PACKAGE_PREDICTORS = [LOG_RANK, PRECISION, RUN_PRECISION, SUPPORT, LOG_BEST_RANK, FUSION, LOCAL_PRECISION]
_PACKAGE_PREDICTORS += [RUN_UNJUDGED, DELTA_PRECISION, DELTA_ANTIPRECISION]
_PACKAGE_PREDICTORS += [LEARNED_FUSION, RUN_SKILL, RUN_SLOPE, LOG_RATE]
PREDICTORS: dict[str, Predictor] = {predictor.name: predictor for predictor in _PACKAGE_PREDICTORS}
"""Every registered predictor by name; their order is that of columns in tables and of slopes in models."""

COMPOSITION_PREDICTORS = (DELTA_PRECISION.name, DELTA_ANTIPRECISION.name)
"""Names of the predictors from composing the run with the pooled runs (Lipani et al. 2015)."""


def register_predictor(predictor: Predictor) -> None:
    """Register a predictor; the evidence model uses it if it has an expected slope.

    A name that another predictor has is an `InputError`; ``del PREDICTORS[name]`` frees it.
    """
    if predictor.name in PREDICTORS:
        raise InputError(f"there is a predictor {predictor.name!r} already", hint="give it another name")
    PREDICTORS[predictor.name] = predictor


def evidence_predictors() -> tuple[str, ...]:
    """Names of the predictors of the evidence model: those with an expected slope."""
    return tuple(name for name, predictor in PREDICTORS.items() if predictor.slope is not None)
