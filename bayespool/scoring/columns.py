"""Columns of scores that are the same for all estimators: one line each says all but heading and help.

These stand in ``tables/columns.toml``, as those of other columns. The command line imports this module, which
imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayespool.arrays import FloatArray
    from bayespool.evidence import Bounds
    from bayespool.measures import Values


@dataclass(frozen=True)
class ScoreColumn:
    """Column of a run, or of a run on a topic.

    Attributes
    ----------
    name : str
        In frames; people type it with hyphens.
    compute : callable
        Bounds of runs, and whether by topic, to numbers of shape (run,) or (run × topic,).
    is_shown : bool
        Whether tables have it where no columns are named.
    is_spare : bool
        Whether a narrow terminal may leave it out if there is a pool.
    legend : str
        Sentence below a table that has it.
    """

    name: str
    compute: Callable[[Bounds, bool], FloatArray]
    is_shown: bool = True
    is_spare: bool = False
    legend: str = ""

    @property
    def asked_as(self) -> str:
        """Name that people type."""
        return self.name.replace("_", "-")


def _scores(of: Callable[[Bounds], Values]) -> Callable[[Bounds, bool], FloatArray]:
    """Return a function to scores by topic, or their means: each total is divided once."""
    return lambda bounds, by_topic: (of(bounds).scores() if by_topic else of(bounds).means()).ravel()


RUN_COLUMNS = (
    ScoreColumn("as_judged", _scores(lambda b: b.low)),
    ScoreColumn("bound_lower", _scores(lambda b: b.least), is_spare=True),
    ScoreColumn("bound_upper", _scores(lambda b: b.most), is_spare=True),
    ScoreColumn("residual", _scores(lambda b: b.width), is_shown=False),
    ScoreColumn(
        "unjudged",
        lambda b, by_topic: (b.unjudged_on_topics if by_topic else b.unjudged_share).ravel(),
        legend="Unjudged: share of a run's documents at the ranks that the measure looks at.",
    ),
)
"""Columns of runs, in the order of frames."""
BOUNDS = {column.asked_as: column.name for column in RUN_COLUMNS}
"""Their names in frames by the names that people type."""
SCORE_COLUMNS = (*BOUNDS, "estimates", "mean", "interval", "lambda", "distance", "new-kind")
"""Column names that people may type, besides estimator names. ``estimates`` are all point corrections,
``mean`` and ``interval`` those of each posterior.
"""
