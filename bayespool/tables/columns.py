"""Columns of results: for each name a label, a kind, which decides how values are printed, and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from bayespool.tables.formatting import difference, level, number, p_value, percent


@dataclass(frozen=True)
class Kind:
    """What a column holds, and how its values are printed."""

    json_type: str  # in a JSON document, besides null
    text: Callable[[Any, int], str]  # of a value that is not missing and a number of decimals
    decimals: int = 0  # unless a column asks for others


KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("run", "topic", "document", "organization", "measure", "method", "text"),
        Kind("string", lambda value, _: str(value)),
    ),
    "flag": Kind("boolean", lambda value, _: "yes" if value else "no"),
    "count": Kind("integer", lambda value, _: f"{value:,.0f}"),
    "size": Kind("number", number, 2),
    "score": Kind("number", number, 4),
    "difference": Kind("number", difference, 4),
    "chance": Kind("number", number, 3),
    "coefficient": Kind("number", number, 3),
    "share": Kind("number", lambda value, _: percent(value)),
    "level": Kind("number", lambda value, _: level(value)),
    "threshold": Kind("number", lambda value, _: f"{value:g}"),
    "p-value": Kind("number", lambda value, _: p_value(value)),
}
"""Kinds of columns: names, numbers of things, scores, differences, chances, shares, levels, p-values."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    label : str
        Heading for readers; a line end marks where it may be broken, after a soft hyphen within a word.
    kind : str
        One of `KINDS`.
    help : str
        What the values are, in a sentence.
    decimals : int, optional
        Decimals of its numbers; default: those of the kind.
    """

    label: str
    kind: str
    help: str
    decimals: int | None = None

    def text(self, value: Any) -> str:
        """Text of a value; a dash for a missing one.

        Examples
        --------
        >>> Column("MAE", "score", "Mean absolute error.").text(0.12345)
        '0.1235'
        """
        if value is None or value != value:
            return "–"
        kind = KINDS[self.kind]
        return kind.text(value, kind.decimals if self.decimals is None else self.decimals)

    @property
    def is_number(self) -> bool:
        """Whether values are aligned at the right and sorted by size."""
        return KINDS[self.kind].json_type in ("number", "integer")


COLUMNS: dict[str, Column] = {
    # what a row is about
    "run_id": Column("run", "run", "The run."),
    "query_id": Column("topic", "topic", "The topic."),
    "doc_id": Column("document", "document", "The document."),
    "organization": Column("organization", "organization", "Who submitted the run."),
    "measure": Column("measure", "measure", "The measure, in the words of ir_measures."),
    "estimator": Column("estimator", "method", "The estimator, under its label."),
    "method": Column("method", "method", "The estimator."),
    "model": Column("model", "method", "The model."),
    "note": Column("note", "text", "What to know before quoting the row; empty if there is nothing."),
    # scores
    "value": Column("estimate", "score", "The estimate."),
    "lower": Column("from", "score", "Lower end of the interval."),
    "upper": Column("to", "score", "Upper end of the interval."),
    "ci_prob": Column("level", "level", "Probability of the interval."),
    "std": Column(
        "s. d.", "score", "Posterior standard deviation, or standard error of a correction that has one."
    ),
    "as_judged": Column(
        "as\njudged",
        "score",
        "The score with unjudged documents nonrelevant, as evaluation tools count them.",
    ),
    "bound_lower": Column("lower", "score", "No relevance of the run's own unjudged documents gives less."),
    "bound_upper": Column("upper", "score", "No relevance of the run's own unjudged documents gives more."),
    "residual": Column("resid\xad\nual", "score", "Δ: how much the score can rise."),
    "unjudged": Column("un\xad\njudged", "share", "Share of the measure's ranks with an unjudged document."),
    "distance": Column(
        "distance", "size", "Distance of the run from the pool, in standard deviations between organizations."
    ),
    "new_kind": Column("new\nkind", "size", "Chance that the run is of a kind that the pool does not have."),
    # the anti-precision correction
    "delta_precision": Column(
        "ΔP", "difference", "Mean change of pooled runs' precision if composed with it."
    ),
    "delta_anti_precision": Column("ΔP̄", "difference", "Mean change of their anti-precision."),
    "delta_k_bar": Column("Δk̄", "difference", "Mean change of their unjudged share: −ΔP − ΔP̄."),
    "k_bar": Column("k̄", "score", "Unjudged share of the run itself."),
    "lambda": Column("λ", "difference", "k̄·(ΔP·s̄ − ΔP̄·s), the indicator of pool bias.", 5),
    "triggered": Column("trig\xad\ngered", "size", "Whether the run is corrected: 1 or 0.", 0),
    # constants fitted to the pool
    "constant_c": Column("C", "coefficient", "The constant C of the correction, fitted to the pool."),
    "constant_e": Column("E", "coefficient", "The constant E of the correction, fitted to the pool."),
    # errors of experiments, whose truth is known
    "truth": Column("truth", "score", "The true score, with the judgments that were concealed."),
    "error": Column("error", "difference", "Estimate − truth."),
    "reported": Column("reported", "flag", "Whether the run is among the best, which summaries are over."),
    "n_runs": Column("runs", "count", "Number of runs that the row is over."),
    "n_pool_runs": Column("pool\nruns", "size", "Number of runs in the pool."),
    "n_unjudged": Column("un\xad\njudged", "count", "Unjudged documents in the top n, over all topics."),
    "n_unknown": Column("unknown", "count", "Documents in the top n that are unjudged in truth, too."),
    "n_open": Column("open\nruns", "count", "Number of runs with anything unjudged."),
    "mae": Column("MAE", "score", "Mean absolute error."),
    "rmse": Column("RMSE", "score", "Root mean squared error."),
    "bias": Column("bias", "difference", "Mean of estimate − truth."),
    "topic_rmse": Column("RMSE\nper topic", "score", "Root mean squared error over topics."),
    "sre": Column("SRE", "size", "Places by which estimates miss their runs' true ranks, summed.", 0),
    "sre_star": Column("SRE*", "size", "SRE of runs that differ significantly in truth.", 0),
    "kendall_tau_b": Column("τ_b", "coefficient", "Kendall's rank correlation of estimates and truth.", 4),
    # calibration of intervals and posteriors
    "covered_50": Column("in 50 %", "flag", "Whether the 50 % interval holds the truth, ends included."),
    "covered_80": Column("in 80 %", "flag", "Whether the 80 % interval holds the truth, ends included."),
    "covered_95": Column("in 95 %", "flag", "Whether the 95 % interval holds the truth, ends included."),
    "pit": Column("PIT", "chance", "Randomized PIT: place of the truth in the posterior, from 0 to 1."),
    "pit_lower": Column("PIT from", "chance", "Lower end of the range that PIT is drawn from."),
    "pit_upper": Column("PIT to", "chance", "Upper end of the range that PIT is drawn from."),
    "crps": Column("CRPS", "score", "Continuous ranked probability score, comparable with MAE."),
    "coverage_50": Column("truth in\n50 %", "chance", "Share of 50 % intervals that hold the truth."),
    "coverage_80": Column("truth in\n80 %", "chance", "Share of 80 % intervals that hold the truth."),
    "coverage_95": Column("truth in\n95 %", "chance", "Share of 95 % intervals that hold the truth."),
    "pit_50": Column("PIT in\n50 %", "chance", "Share of randomized PIT values in the central 50 %."),
    "pit_80": Column("PIT in\n80 %", "chance", "Share of randomized PIT values in the central 80 %."),
    "pit_95": Column("PIT in\n95 %", "chance", "Share of randomized PIT values in the central 95 %."),
    "width": Column("width of\ninterval", "score", "Mean width of the intervals."),
}
"""Columns that several results have, by name; a table describes its own beside them."""


WIDER_SCOPES = {"population": "topics like these", "another": "another assessor"}
"""What intervals of scores speak of besides these topics, by the beginning of their columns."""


def wider_scopes(columns: Container[str]) -> dict[str, str]:
    """Those of `WIDER_SCOPES` that a table has.

    Examples
    --------
    >>> wider_scopes(["run_id", "population_lower", "population_upper"])
    {'population': 'topics like these'}
    """
    return {name: words for name, words in WIDER_SCOPES.items() if f"{name}_lower" in columns}
