"""Judgments that no pooled run explains: whether they were made because the documents are relevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import metadata_of
from bayespool.experiments.running import Running, Work, in_parts
from bayespool.experiments.settings import UnexplainedSettings
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.measures import Measure
from bayespool.posterior import Completion
from bayespool.posterior.selection import draw_log_odds, find_selection, find_unexplained
from bayespool.posterior.steps import rungs_of
from bayespool.randomness import key_of
from bayespool.report.result import Result
from bayespool.tables.columns import Column
from bayespool.tables.formatting import counted, difference, interval, level, number, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Ends, Table, View

FloatArray = npt.NDArray[np.float64]

_BAND_ENDS = (5, 10, 20, 30, 50, 100)
_MIN_JUDGMENTS = 20
_COLUMNS = {
    "runs": Column("runs", "text", "Pooled ones, below the pool depth, or others, outside the pool."),
    "first": Column("from\nrank", "count", "First rank of the documents, the best in any of these runs."),
    "last": Column("to\nrank", "count", "Last rank."),
    "n_documents": Column("outside\nthe pool", "count", "Documents outside the pool."),
    "n_unexplained": Column("judged", "count", "Judged ones among them."),
    "n_relevant": Column("relevant", "count", "Relevant ones among the judged."),
    "expected": Column("expected", "size", "Relevant ones as predicted without these judgments.", 1),
    "lower": Column("from", "size", "Lower end of the interval of that prediction.", 0),
    "upper": Column("to", "size", "Upper end of the interval of that prediction.", 0),
    "expected_rest": Column("expected\nof others", "size", "Relevant ones predicted among the unjudged.", 1),
    "shift": Column(
        "shift", "difference", "Shift of log odds of the unjudged if judging depended on relevance.", 2
    ),
    "shift_lower": Column("from", "difference", "Lower end of the interval of the shift.", 2),
    "shift_upper": Column("to", "difference", "Upper end of the interval of the shift.", 2),
    "ratio": Column("ratio", "size", "Relevant ones over expected ones."),
    "depends_on_relevance": Column(
        "depends on\nrelevance", "flag", "Whether the interval of the shift excludes 0."
    ),
}


@dataclass(frozen=True)
class UnexplainedBand:
    """Judgments of a band of ranks that no pooled run explains, and the prediction of their documents.

    Attributes
    ----------
    measure : Measure
        Its threshold defines relevance, its cutoff the deepest rank.
    runs : {"pooled", "other"}
        Documents of pooled runs below the pool depth, or of runs outside the pool.
    first, last : int
        Ranks of the documents, the best that any of these runs gives them.
    n_documents, n_unexplained, n_relevant : int
        Documents outside the pool, judged ones among them, and relevant ones among the judged.
    expected, lower, upper : float
        Relevant ones among the judged as predicted without these judgments, and the ends of the interval.
    expected_rest : float
        Relevant ones predicted among the unjudged.
    shift, shift_lower, shift_upper : float
        Shift of the log odds of relevance of the documents left unjudged, if judging depended on relevance
        among documents of the same predicted chance (`bayespool.posterior.selection.find_selection`):
        median and ends of the interval. NaN where no document is left unjudged.
    """

    measure: Measure
    runs: str
    first: int
    last: int
    n_documents: int
    n_unexplained: int
    n_relevant: int
    expected: float
    lower: float
    upper: float
    expected_rest: float
    shift: float
    shift_lower: float
    shift_upper: float

    @property
    def ratio(self) -> float:
        """Relevant ones over expected ones; NaN where none is expected."""
        return self.n_relevant / self.expected if self.expected > 0 else float("nan")

    @property
    def depends_on_relevance(self) -> bool:
        """Whether the interval of the shift excludes 0, so that judging depended on relevance."""
        return self.shift_lower > 0 or self.shift_upper < 0

    @property
    def is_whole(self) -> bool:
        """Whether the band is all ranks down to the cutoff."""
        return (self.first, self.last) == (1, self.measure.cutoff)


@dataclass(frozen=True, eq=False, repr=False)
class UnexplainedJudgments(Result):
    """Result of `check_unexplained_judgments`: were relevant documents looked for?

    Attributes
    ----------
    bands : tuple of UnexplainedBand
        For each measure and kind of runs all ranks together, then bands of ranks.
    metadata : mapping
        Version, fingerprint and settings.
    """

    bands: tuple[UnexplainedBand, ...]
    metadata: Mapping[str, Any]

    command = "check unexplained"
    title = "Judgments that no pooled run explains"

    def __repr__(self) -> str:
        n = sum(band.n_unexplained for band in self.bands if band.is_whole)
        return one_line("UnexplainedJudgments", f"{some_of(self._measures, 3)}; {n} judgments")

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return tuple(dict.fromkeys(band.measure for band in self.bands))

    def tables(self) -> tuple[Table, ...]:
        """One row per measure, kind of runs and band of ranks."""
        import pandas as pd

        frame = pd.DataFrame(
            vars(band)
            | {
                "measure": str(band.measure),
                "ratio": band.ratio,
                "depends_on_relevance": band.depends_on_relevance,
                "ci_prob": self.metadata["ci_prob"],
            }
            for band in self.bands
        )
        columns = ("n_documents", "n_unexplained", "n_relevant", "expected", Ends(), "ratio", "shift")
        views = [
            View(
                title=f"{measure}: judgments that no pooled run explains, predicted without them",
                names=("runs", "first", "last"),
                columns=(*columns, Ends("shift_lower", "shift_upper", signed=True)),
                where={"measure": str(measure)},
            )
            for measure in self._measures
        ]
        return (Table("unexplained", "Judgments that no pooled run explains", frame, _COLUMNS, tuple(views)),)

    def summary(self) -> tuple[str, ...]:
        """Relevant ones and those expected, by measure and kind of runs."""
        return tuple(
            f"{band.measure}, {band.runs} runs: of {band.n_unexplained} judged documents outside the pool "
            f"{band.n_relevant} are relevant; {number(band.expected, 1)} are expected."
            for band in self.bands
            if band.is_whole
        )

    def notes(self) -> tuple[str, ...]:
        """Whether judging depended on relevance, by measure and kind of runs."""
        prob = level(self.metadata["ci_prob"])
        return tuple(
            f"{band.measure}: of {band.runs} runs {'more' if band.shift < 0 else 'fewer'} are relevant than "
            "documents of their chances: whether one was judged depended on its relevance. If so everywhere, "
            f"the log odds of the unjudged ones are off by {difference(band.shift, 2)} ({prob} interval "
            f"{interval(band.shift_lower, band.shift_upper, 2, signed=True)})"
            for band in self.bands
            if band.is_whole and band.depends_on_relevance
        )


class UnexplainedPredicted(Work):
    """Judgments that no pooled run explains, predicted for each measure and kind of runs."""

    name: ClassVar[str] = "check unexplained"
    parts_name: ClassVar[str] = "predictions"
    folder: ClassVar[str] = "unexplained"
    same_columns: ClassVar[bool] = False

    def compute(
        self, collection: Collection, part: tuple[Measure, str], settings: UnexplainedSettings
    ) -> Stored:
        """Bands of ranks."""
        measure, runs = part
        unexplained = find_unexplained(collection)
        chosen = collection.pooled if runs == "pooled" else ~collection.pooled
        names = tuple(collection.run_ids[r] for r in np.flatnonzero(chosen))
        without = collection.without_judgments(unexplained)
        completion = settings.posterior().complete(without, names, measure)
        rows: Columns = {}
        for band in _bands(collection, completion, unexplained, measure, runs, settings.ci_prob):
            add_rows(rows, vars(band) | {"measure": str(measure)})
        return rows, {}


@in_parts(UnexplainedSettings, UnexplainedPredicted)
def check_unexplained_judgments(
    collection: Collection, *, settings: UnexplainedSettings, running: Running
) -> UnexplainedJudgments:
    """Predict the judgments that no pooled run explains.

    Parameters
    ----------
    collection : Collection
    {options}
    {running}

    Returns
    -------
    UnexplainedJudgments

    Raises
    ------
    InputError
        Fewer than 20 judgments are unexplained by the pooled runs.
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    Judgments of runs that are not at hand, of earlier rounds or of searches for relevant documents are no
    evidence of a contributor. The models assume that, given the predictors, judging them did not depend on
    relevance. If more of them are relevant than predicted, the unjudged documents are less relevant than the
    models predict. A model that is wrong for judged and unjudged documents alike cannot be told from such a
    search.

    Examples
    --------
    >>> from bayespool import load_example
    >>> check_unexplained_judgments(load_example())
    Traceback (most recent call last):
    bayespool.errors.InputError: the pooled runs leave 0 judgments unexplained: too few to say anything
    """
    n = int(find_unexplained(collection).sum())
    if n < _MIN_JUDGMENTS:
        raise InputError(
            f"the pooled runs leave {counted(n, 'judgment')} unexplained: too few to say anything"
        )
    of_kind = {"pooled": collection.pooled, "other": ~collection.pooled}
    kinds = [runs for runs, chosen in of_kind.items() if chosen.any()]
    parts = list(product(settings.measures, kinds))
    bands = []
    for result in UnexplainedPredicted().run(collection, parts, settings, running):
        rows = result.rows | {"measure": [result.part[0]] * len(result.rows.get("measure", ()))}
        bands += [
            UnexplainedBand(**dict(zip(rows, values, strict=True)))
            for values in zip(*rows.values(), strict=True)
        ]
    return UnexplainedJudgments(tuple(bands), metadata_of(collection, settings))


def _bands(
    collection: Collection,
    completion: Completion,
    unexplained: npt.NDArray[np.bool_],
    measure: Measure,
    runs: str,
    ci_prob: float,
) -> list[UnexplainedBand]:
    unknowns = completion.unknowns
    if not len(unknowns):
        return []
    is_unexplained = unexplained[unknowns.pair]
    top = len(rungs_of(unknowns.collection, measure)) if not measure.is_graded else 1
    is_relevant = collection.relevance[unknowns.pair] >= completion.levels[top]
    best = unknowns.best_rank
    ends = [0, *(b for b in _BAND_ENDS if b < measure.cutoff), measure.cutoff]
    bands = [(1, measure.cutoff), *((a + 1, b) for a, b in pairwise(ends))]
    masks = [(best >= a) & (best <= b) for a, b in bands]
    kept = [i for i, mask in enumerate(masks) if (mask & is_unexplained).any()]
    bands, masks = [bands[i] for i in kept], [masks[i] for i in kept]
    judged = _n_relevant(completion, top, [mask & is_unexplained for mask in masks])
    expected_rest = _n_relevant(completion, top, [mask & ~is_unexplained for mask in masks]).mean(axis=1)
    log_odds, tail = draw_log_odds(completion, top), (1 - ci_prob) / 2
    rows = []
    for (a, b), in_band, drawn, rest in zip(bands, masks, judged, expected_rest, strict=True):
        rng = np.random.default_rng(key_of(completion.random_seed, "found", str(measure), runs, a, b))
        shift = find_selection(log_odds[:, in_band], is_unexplained[in_band], is_relevant[in_band], rng).shift
        rows.append(
            UnexplainedBand(
                measure=measure,
                runs=runs,
                first=a,
                last=b,
                n_documents=int(in_band.sum()),
                n_unexplained=int((in_band & is_unexplained).sum()),
                n_relevant=int((in_band & is_unexplained & is_relevant).sum()),
                expected=float(drawn.mean()),
                lower=float(np.quantile(drawn, tail)),
                upper=float(np.quantile(drawn, 1 - tail)),
                expected_rest=float(rest),
                shift=float(np.quantile(shift, 0.5)),
                shift_lower=float(np.quantile(shift, tail)),
                shift_upper=float(np.quantile(shift, 1 - tail)),
            )
        )
    return rows


def _n_relevant(
    completion: Completion, top: int, masks: list[npt.NDArray[np.bool_]]
) -> npt.NDArray[np.int64]:
    """Number of relevant documents of each mask in each draw, shape (mask, draw)."""
    drawn = np.zeros((len(masks), completion.n_draws), dtype=np.int64)
    for t in np.flatnonzero(np.diff(completion.unknowns.start)).tolist():
        on_topic = completion.unknowns.on_topic(t)
        block = completion.block(t) >= top
        for i, mask in enumerate(masks):
            drawn[i] += block[:, mask[on_topic]].sum(axis=1)
    return drawn
