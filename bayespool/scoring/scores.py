"""Bounds and estimates of runs, as `bayespool.score` returns them, and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.measures import Estimates, Measure
from bayespool.measures.estimates import draws_container
from bayespool.scoring.paper_tables import Paper, WithPaper
from bayespool.scoring.score_tables import paper_tables, score_notes
from bayespool.scoring.stored import with_notes, with_scores
from bayespool.tables import container_bytes
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.files import PathLike, atomic_write
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import one_line

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Scores(WithPaper):
    """Bounds and estimates of some runs under some measures.

    Attributes
    ----------
    run_ids, query_ids : tuple of str
    measures : tuple of Measure
    bounds : tuple of Bounds
        One per measure.
    estimates : tuple of Estimates
        Measure by measure, in the order of the estimators.
    ci_prob : float
        Probability of the intervals in the frames.
    metadata : dict
        Version, fingerprint, pool and settings, to quote with a result.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    bounds: tuple[Bounds, ...]
    estimates: tuple[Estimates, ...]
    ci_prob: float
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        n, methods = len(self.run_ids), list(dict.fromkeys(e.method for e in self.estimates))
        of = f"{some_of(self.measures, 3)} of {n} run{'' if n == 1 else 's'} ({some_of(self.run_ids, 3)})"
        return one_line("Scores", f"{of} on {len(self.query_ids)} topics, by {some_of(methods, 3)}")

    def __getitem__(self, key: tuple[str, object]) -> Estimates:
        """Estimates of one method under one measure: ``scores["posterior-combined", "P@10"]``."""
        key_: object = key
        if not isinstance(key_, tuple) or len(key_) != 2:
            raise KeyError(f"{key_!r}: write scores[method, measure]: scores['posterior-combined', 'P@10']")
        method, measure = key
        for estimate in self.estimates:
            if estimate.method == method and str(estimate.measure) == str(measure):
                return estimate
        available = ", ".join(dict.fromkeys(f"{e.method}, {e.measure}" for e in self.estimates))
        raise KeyError(f"no estimates {method!r}, {str(measure)!r}; there are: {available}")

    @property
    def notes(self) -> dict[tuple[str, Measure], str]:
        """Notes by run and measure; empty text where there are none."""
        return {key: "; ".join(texts) for key, texts in self.statements.items()}

    @cached_property
    def statements(self) -> dict[tuple[str, Measure], tuple[str, ...]]:
        """Statements that `notes` join, by run and measure."""
        statements = {}
        pool, deep = self.metadata["pool"], self.metadata["estimand"] == "complete"
        for measure, bounds in zip(self.measures, self.bounds, strict=True):
            missing = (bounds.n_missing == measure.cutoff).sum(axis=1)
            for r, run in enumerate(self.run_ids):
                texts = [] if pool["n_pooled_runs"] else ["no pooled runs"]
                if run in (yours := self.metadata["runs_of_the_user"]) and len(yours) > 1:
                    texts.append(f"{len(yours)} runs that no list names count as one organization, yours")
                if run in self.metadata.get("unpooled", {}):
                    texts.append(f"as if new: {self.metadata['unpooled'][run]} taken out of the pool")
                texts += [
                    f"judgments of your own passed over: {p}" for p in self.metadata.get("passed_over", ())
                ]
                if pool["n_organizations"] == 1:
                    texts.append("a pool of one organization: how organizations differ is not known from it")
                below = measure.cutoff > pool["depth"] > 0 and not pool["strategy"]
                if deep and bounds.has_unjudged[r] and below:
                    texts.append(f"ranks below the pool depth of {pool['depth']} are extrapolated")
                if missing[r]:
                    texts.append(f"{missing[r]} of {len(self.query_ids)} topics missing from the run")
                if not bounds.has_unjudged[r]:
                    texts.append("nothing unjudged")
                elif not bounds.n_judged[r].any():
                    texts.append("nothing of it is judged: are these the collection's document ids?")
                for e in self.estimates:
                    if e.measure == measure and e.notes and e.notes[r]:
                        texts.append(f"{e.method}: {e.notes[r]}")
                statements[run, measure] = tuple(texts)
        return statements

    @property
    def note_lines(self) -> tuple[str, ...]:
        """Notes of the whole result, one line each: on ideal rankings, and each statement with its runs and
        measures.

        Every output has these lines.
        """
        return tuple(score_notes(self.to_frame(), self.metadata, self.statements))

    def to_frame(self, *, per_topic: bool = False) -> pd.DataFrame:
        """One row per run and measure (and topic): bounds, then every method.

        Returns
        -------
        pandas.DataFrame
            Columns ``run_id``, ``query_id`` (per topic only), ``measure``, ``as_judged`` (B, as in
            trec_eval), ``bound_lower`` and ``bound_upper`` (bounds over all completions of the judgments: B
            and T, but for measures over an ideal ranking), ``residual`` (Δ = T − B, see
            `bayespool.evidence.Bounds`), ``unjudged`` (share of the measure's ranks with an unjudged
            document), one column per method with its value, for each posterior also the ends of its interval
            ``<method>_lower`` and ``<method>_upper``, and per run only, where the method measures the
            distance of a run from the pool, ``<method>_distance`` and ``<method>_new_kind``; then ``ci_prob``
            and ``note``.
        """
        import pandas as pd

        frames, notes = [], self.notes
        for measure, bounds in zip(self.measures, self.bounds, strict=True):
            n_topics = len(self.query_ids) if per_topic else 1
            # divide each total once, so that a bound equals an estimate that reaches it
            amounts = (bounds.low, bounds.least, bounds.most, bounds.width)
            columns_of_bounds = [(v.scores() if per_topic else v.means()).ravel() for v in amounts]
            columns: dict[str, Any] = {"run_id": np.repeat(np.array(self.run_ids, dtype=object), n_topics)}
            if per_topic:
                columns["query_id"] = np.tile(np.array(self.query_ids, dtype=object), len(self.run_ids))
            columns |= {
                "measure": str(measure),
                **dict(
                    zip(
                        ("as_judged", "bound_lower", "bound_upper", "residual"),
                        columns_of_bounds,
                        strict=True,
                    )
                ),
            }
            columns["unjudged"] = (bounds.unjudged_on_topics if per_topic else bounds.unjudged_share).ravel()
            for e in (e for e in self.estimates if e.measure == measure):
                columns |= e.columns(self.ci_prob, per_topic=per_topic)
            columns["ci_prob"] = self.ci_prob
            columns["note"] = np.repeat(
                np.array([notes[run, measure] for run in self.run_ids], dtype=object), n_topics
            )
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True)

    frame = to_frame

    def paper(self, arrangement: Arrangement | None = None, *, per_topic: bool = False) -> Paper:
        """Tables of run, lower bound, estimates, posterior mean and interval; see `to_latex`.

        Parameters
        ----------
        arrangement : Arrangement, optional
            With columns of `bayespool.scoring.score_tables.SCORE_COLUMNS`, or names of estimators.
        per_topic : bool
            One row per run and topic.
        """
        frame = self.to_frame(per_topic=per_topic)
        scope = f"{'on each of' if per_topic else 'mean over'} {len(self.query_ids)} topics"
        tables = paper_tables(
            frame, ci_prob=self.ci_prob, scope=scope, arrangement=arrangement, notes=self.note_lines
        )
        quoted = f"bayespool {self.metadata['bayespool']}, collection {self.metadata['fingerprint']}"
        return Paper(f"Scores: {some_of(self.measures)}", tuple(tables), (quoted,))

    def summary_frame(self, *, per_topic: bool = False) -> pd.DataFrame:
        """`Estimates.summary_frame` of all estimates: one row per run, measure and method (and topic)."""
        import pandas as pd

        frames = [e.summary_frame(ci_prob=self.ci_prob, per_topic=per_topic) for e in self.estimates]
        return pd.concat(frames, ignore_index=True)

    def to_arviz(self, method: str | None = None, *, per_topic: bool = False) -> Any:
        """Draws of the estimates of one method under all measures as an ``xarray.DataTree`` for ArviZ.

        Parameters
        ----------
        method : str, optional
            One with draws; may be left out if there is only one.
        per_topic : bool, default False
            With the draws on each topic, too.

        Returns
        -------
        xarray.DataTree
            As of `bayespool.measures.estimates.Estimates.to_arviz`, with the group ``constant_data``:
            ``as_judged``, ``bound_lower``, ``bound_upper`` and ``residual`` as in `to_frame`, by (measure,
            run_id), with ``per_topic`` also ``as_judged_by_topic``, ….

        Raises
        ------
        InputError
            No method with draws, or several and none named, or no such method.

        Examples
        --------
        >>> from bayespool import load_example, score
        >>> scores = score(load_example(), "new-a", ["P@5", "P@10"], estimators="posterior-ratio", draws=100)
        >>> tree = scores.to_arviz()
        >>> sorted(tree["posterior"].data_vars), tree["constant_data"]["bound_upper"].dims
        (['P_10', 'P_5'], ('measure', 'run_id'))
        """
        drawn = list(dict.fromkeys(e.method for e in self.estimates if e.draws is not None))
        if method is None and len(drawn) == 1:
            (method,) = drawn
        if method not in drawn:
            wrong = f"no draws of {method}" if method or not drawn else "several methods have draws"
            raise InputError(wrong, hint=f"there are draws of: {', '.join(drawn) or 'no method'}")
        amounts = [(b.least, b.most, b.low, b.width) for b in self.bounds]
        constant = {}
        for i, name in enumerate(("bound_lower", "bound_upper", "as_judged", "residual")):
            constant[name] = np.array([values[i].means() for values in amounts])
            if per_topic:
                constant[f"{name}_by_topic"] = np.array([values[i].scores() for values in amounts])
        chosen = [e for e in self.estimates if e.method == method]
        return draws_container(chosen, per_topic=per_topic, constant_data=constant)

    def to_netcdf(self, path: PathLike, method: str | None = None, *, per_topic: bool = False) -> None:
        """Write `to_arviz`, `to_frame` and the metadata to a NetCDF file, to be read by
        `bayespool.read_scores`.

        The same scores give the same bytes; the file is written whole or not at all.

        Raises
        ------
        InputError
            As `to_arviz`.
        OutputError
            The file cannot be written; an existing one is left as it was.
        """
        tree = self.to_arviz(method, per_topic=per_topic)
        described = with_notes(self.metadata, self.note_lines, self.statements)
        tree = with_scores(tree, self.to_frame(per_topic=per_topic), described)
        atomic_write(path, container_bytes(tree))
