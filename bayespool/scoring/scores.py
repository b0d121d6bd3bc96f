"""Bounds and estimates of runs, as `bayespool.score` returns them, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayespool.scoring.estimators  # noqa: F401  # registers those that the report of a stored result describes
from bayespool.arrays import BoolArray
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.measures import Estimates, Measure, parse_measure
from bayespool.measures.estimates import draws_container
from bayespool.measures.groups import Groups
from bayespool.measures.populations import estimate_population
from bayespool.names import DEFAULT_ESTIMATORS, Scope
from bayespool.notes import Note, noted
from bayespool.report.result import FigureFormat, content
from bayespool.report.stored import StoredResult, read_result, result_of_json
from bayespool.scoring.checked_by_design import check_notes, design_sentences
from bayespool.scoring.columns import RUN_COLUMNS
from bayespool.scoring.grouped import group_sentences, groups_frame, groups_table
from bayespool.scoring.readable import (
    ReadableScores,
    checks_table,
    constants_table,
    indicators_table,
    score_sentences,
    unjudged_table,
)
from bayespool.scoring.score_tables import UNLABELED, distance_views, list_conditions, notes_of, readable
from bayespool.tables import container_bytes
from bayespool.tables.files import PathLike, atomic_write, read_bytes_back, read_container
from bayespool.tables.formatting import counted, number, percent, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table

_GROUP = "scores"  # of a container: the JSON document of the scores
_TEXT = {"run_id", "query_id", "measure", "estimator", "note"}
_NUMBERS: set[str] = {"value", "lower", "upper", "ci_prob", *(column.name for column in RUN_COLUMNS)}


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(ReadableScores, StoredResult, reads="score"):
    """Scores read from a file written by an earlier call.

    Attributes
    ----------
    metadata : mapping
        Version, fingerprint, pool and settings, to quote with a result.
    """

    _container: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _are_scores(self):
            raise ValueError("the first table has no scores")
        readable(self.table(), self.metadata)  # the same exceptions as elsewhere in a result that is none

    def __repr__(self) -> str:
        runs = f"{counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        draws_clause = "" if self._container is None else ", with draws"
        return one_line("StoredScores", f"{some_of(self._values('measure'), 3)} of {runs}{draws_clause}")

    @property
    def run_ids(self) -> tuple[str, ...]:  # type: ignore[override]
        """Ids of the scored runs."""
        return self._values("run_id")

    @property
    def query_ids(self) -> tuple[str, ...]:  # type: ignore[override]
        """Topic ids."""
        return tuple(self.metadata.get("query_ids", ()))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:  # type: ignore[override]
        """Measures in order; user-defined measures must be registered."""
        return tuple(map(parse_measure, self._values("measure")))

    def to_frame(self, table: str | None = None, *, per_topic: bool = False) -> pd.DataFrame:
        """Return a stored table (default: the first) as a data frame, or ``topics`` if ``per_topic``.

        Raises
        ------
        InputError
            The file has no such table.
        """
        return self.table("topics" if per_topic else table).frame.copy()

    def to_arviz(self) -> Any:
        """Return posterior draws for the estimates, as in `bayespool.Scores.to_arviz`.

        Raises
        ------
        InputError
            They were not stored.
        """
        if self._container is None:
            raise InputError(
                "these scores were stored without draws", hint="Scores.to_netcdf stores them with their draws"
            )
        return self._container

    def _values(self, column: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.table().frame[column]))


def read_scores(path: PathLike) -> StoredScores:
    """Read scores written by ``score --output``, `bayespool.Scores.save` or `bayespool.Scores.to_netcdf`.

    Parameters
    ----------
    path : path
        Ending in .json, .parquet or .nc; a CSV file has no metadata and cannot be read back.

    Returns
    -------
    StoredScores

    Raises
    ------
    InputError
        There is no such file, or it does not hold scores.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, read_scores, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-ratio(draws=100)")
    >>> with TemporaryDirectory() as folder:
    ...     scores.save(f"{folder}/scores.nc")
    ...     stored = read_scores(f"{folder}/scores.nc")
    >>> stored.to_frame().equals(scores.to_frame()), stored.to_arviz().identical(scores.to_arviz())
    (True, True)
    """
    place = Path(path)
    endings = (".json", ".parquet", ".nc")
    if place.suffix not in endings:
        ending = place.suffix or "a file without ending"
        raise InputError(f"cannot read scores from {ending}", path=place, hint=f"use {', '.join(endings)}")
    if not place.is_file():
        raise InputError("there is no such file", path=place)
    try:
        stored = _read_netcdf(place) if place.suffix == ".nc" else read_result(place)
    except (OSError, ValueError, KeyError):
        stored = None
    if not isinstance(stored, StoredScores):
        raise InputError("holds no scores", path=place, hint="score --output writes them")
    return stored


def _read_netcdf(path: Path) -> StoredResult | None:
    container = read_container(read_bytes_back(path) or b"")
    stored = result_of_json(str(container[_GROUP]["json"].item()).encode())
    if not isinstance(stored, StoredScores):
        return stored
    return replace(stored, _container=container.filter(lambda group: group.name != _GROUP))


def _are_scores(stored: StoredScores) -> bool:
    """Return whether the first table has the column names and types of scores."""
    frame = stored.table().frame
    if not len(frame) or not _NUMBERS | _TEXT - {"query_id"} <= set(frame):
        return False
    are_texts = all(isinstance(value, str) for name in _TEXT & set(frame) for value in frame[name])
    return are_texts and all(frame[name].dtype.kind in "iuf" for name in _NUMBERS)


_MAX_ROWS_ON_A_PAGE = 600  # by run and topic
_MAX_RUNS_IN_TITLE = 4


@dataclass(frozen=True, eq=False, repr=False)
class Scores(ReadableScores):
    """Bounds and estimates for runs under one or more measures.

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
    by_topic : bool, default False
        Whether people read a row per run and topic instead of one per run.
    scope : {"these-topics", "population", "groups"}
        Whether rows by run also have the interval of the population of topics, or means of groups that of a
        population of groups.
    groups : Groups or None
        Groups of topics, if they are asked for.
    without_labels : tuple of Estimates
        Estimates of posteriors without the labels of LLM judges, if there are any.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    bounds: tuple[Bounds, ...]
    estimates: tuple[Estimates, ...]
    ci_prob: float
    metadata: Mapping[str, Any]
    by_topic: bool = False
    scope: Scope = "these-topics"
    groups: Groups | None = None
    without_labels: tuple[Estimates, ...] = ()

    def __repr__(self) -> str:
        estimators = list(dict.fromkeys(e.estimator for e in self.estimates))
        runs = f"{counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        topics = counted(len(self.query_ids), "topic")
        text = f"{some_of(self.measures, 3)} of {runs} on {topics}, by {some_of(estimators, 3)}"
        return one_line("Scores", text)

    def __getitem__(self, key: tuple[object, str]) -> Estimates:
        """Return estimates from one estimator under one measure: ``scores["P@10", "posterior-combined"]``."""
        key_: object = key
        if not isinstance(key_, tuple) or len(key_) != 2:
            raise KeyError(
                f"{key_!r}: write scores[measure, estimator]: scores['P@10', 'posterior-combined']"
            )
        measure, estimator = key
        for estimate in self.estimates:
            if estimate.estimator == estimator and str(estimate.measure) == str(measure):
                return estimate
        available = ", ".join(dict.fromkeys(f"{e.measure}, {e.estimator}" for e in self.estimates))
        raise KeyError(f"no estimates {str(measure)!r}, {estimator!r}; there are: {available}")

    @cached_property
    def run_notes(self) -> dict[tuple[str, Measure], tuple[Note, ...]]:
        """Notes on the scores, for each run and measure."""
        return self._with_notes(self.estimates)

    @property
    def has_topic(self) -> BoolArray:
        """Whether a run retrieves anything for a topic, shape (run, topic)."""
        return np.asarray(self.bounds[0].n_missing < self.bounds[0].measure.cutoff)

    @cached_property
    def _notes_of_runs(self) -> dict[tuple[str, Measure], tuple[Note, ...]]:
        """Notes on runs, apart from those made by estimators."""
        by_run, reasons = {}, self.metadata.get("passed_over", ())
        for measure, bounds in zip(self.measures, self.bounds, strict=True):
            for r, run in enumerate(self.run_ids):
                is_open = bounds.has_unjudged[r]
                notes = list_conditions(self.metadata, [measure], run_ids=[run]) * bool(is_open)
                users = self.metadata["runs_of_the_user"]
                if run in users and len(users) > 1 and self.metadata["pool"]["n_pooled_runs"]:
                    text = "runs that the list of organizations lacks are treated as one organization, yours"
                    notes.append(Note("user-organization", f"{len(users)} {text}"))
                if run in self.metadata.get("unpooled", {}):
                    unit = self.metadata["unpooled"][run].partition(" ")[0]
                    notes.append(Note("as-if-new", f"as if new: its {unit} taken out of the pool"))
                notes += [
                    Note("own-judgments", f"judgments of your own passed over: {why}") for why in reasons
                ]
                if lacking := self.metadata.get("missing_topics", {}).get(run):
                    text = (
                        f"{{}} of {counted(len(self.query_ids), 'topic')} missing from the run, counted as 0"
                    )
                    notes.append(Note("topics-missing", text, len(lacking)))
                if not is_open:
                    notes.append(Note("nothing-unjudged", "nothing unjudged"))
                elif not bounds.n_judged[r].any():
                    text = f"nothing of its top {measure.cutoff} is judged"
                    notes.append(Note("nothing-judged", text))
                by_run[run, measure] = tuple(notes)
        return by_run

    def _with_notes(self, estimates: Sequence[Estimates]) -> dict[tuple[str, Measure], tuple[Note, ...]]:
        """Return notes on runs together with those from the given estimates, by run and measure."""
        by_run, widths = {}, [self._width_notes(e) for e in estimates]
        for (run, measure), notes in self._notes_of_runs.items():
            r = self.run_ids.index(run)
            for e, of_width in zip(estimates, widths, strict=True):
                if e.measure == measure:
                    own = (*noted(e.notes[r] if e.notes else (), "estimator"), *of_width.get(r, ()))
                    notes = (*notes, *(note.of(e.estimator) for note in own))
            by_run[run, measure] = notes
        return by_run

    def _width_notes(self, e: Estimates) -> dict[int, tuple[Note, ...]]:
        """Return a note on runs with unjudged documents whose interval has no width, by the index of the run.

        A run without unjudged documents, and one whose estimator gives a reason, have other notes.
        """
        notes = dict[int, tuple[Note, ...]]()
        if e.draws is None:
            return notes
        bounds = self.bounds[self.measures.index(e.measure)]
        lower, upper = e.interval(self.ci_prob)
        for r in np.flatnonzero((lower == upper) & bounds.has_unjudged).tolist():
            if e.notes and any(note.kind == "no-width" for note in noted(e.notes[r], "estimator")):
                continue
            why = "no judgments could change its score"
            if bounds.least.means()[r] != bounds.most.means()[r]:
                why = f"{percent(e.draws.share_at(lower)[r])} of the draws have this score"
            notes[r] = (Note("no-width", f"its interval has no width: {why}"),)
        return notes

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool, the ideal rankings and the runs."""
        first = check_notes(self.estimates, self.ci_prob)
        without = (
            Note("no-value", f"{e.measure}: {e.estimator} has no value of any run: {'; '.join(e.notes[0])}")
            for e in self.estimates
            if e.estimator not in DEFAULT_ESTIMATORS and np.isnan(e.value).all() and any(e.notes)
        )
        return (*first, *without, *notes_of(self.metadata, self.run_notes, self.run_ids, self.measures))

    @property
    def title(self) -> str:  # type: ignore[override]
        """Title for a report."""
        n = len(self.run_ids)
        runs = ", ".join(self.run_ids) if n <= _MAX_RUNS_IN_TITLE else f"{n} runs"
        return f"Scores of {runs}: {', '.join(map(str, self.measures))}"

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence per run if runs are few, and the true scores if simulated."""
        n_topics = len(self.query_ids)
        sentences = score_sentences(self._scores.frame, self.measures, n_topics, self.metadata)
        if self._groups is not None and self.groups is not None:
            sentences += group_sentences(self._groups.frame, self.groups, self.scope)
        sentences += design_sentences(self.estimates, self.ci_prob)
        for measure, values in self.metadata.get("truth", {}).items():
            true_values = ", ".join(f"{run} {number(value)}" for run, value in values.items())
            sentences.append(f"truth of the simulation, {measure} if all were judged: {true_values}")
        return tuple(sentences)

    def tables(self) -> tuple[Table, ...]:
        """Return all tables, the main one first.

        ``scores`` by run, a row per estimator; ``groups`` by run and group of topics, if these are asked for;
        ``topics`` by run and topic where these are at most 600 or
        people read them; ``unjudged`` shares by run and topic, ``checks`` of the draws, ``indicators`` of
        the anti-precision correction, ``constants`` that corrections are fitted to and ``run_notes``.
        """
        first = [self._scores]
        if self.by_topic:
            first.insert(0, self._topics)
        elif self._is_small:
            first.append(self._topics)
        others = (
            *([] if self._groups is None else [self._groups]),
            unjudged_table(self.run_ids, self.query_ids, self.bounds),
            checks_table(self.metadata),
            indicators_table(self.estimates),
            constants_table(self.estimates),
            self._notes_table(),
        )
        return (*first, *(table for table in others if len(table.frame)))

    def table(self, name: str | None = None) -> Table:
        """Return a table (default: the printed one), or raise `InputError` for an unknown name."""
        if name == "scores" or (name is None and not self.by_topic):
            return self._scores
        return self._topics if name in ("topics", None) else super().table(name)

    def to_frame(self, table: str | None = None, *, per_topic: bool = False) -> pd.DataFrame:
        """Return bounds and estimates with one row per run, measure and estimator (and topic).

        Parameters
        ----------
        table : str, optional
            Another table instead.
        per_topic : bool, default False
            One row per run, topic, measure and estimator.

        Returns
        -------
        pandas.DataFrame
            Columns ``run_id``, ``query_id`` (per topic only), ``measure``, ``estimator``, ``value``,
            ``lower``, ``upper`` and ``ci_prob`` (the interval; NaN for a point correction), ``std``,
            ``distance`` and ``new_kind`` (per run only, NaN where the estimator has none), ``lambda``
            (per run, where anti-precision is asked for), ``as_judged`` (B,
            as in trec_eval), ``bound_lower`` and ``bound_upper`` (bounds over all completions of the
            judgments: B and T, but for measures over an ideal ranking), ``residual`` (Δ = T − B, see
            `bayespool.evidence.Bounds`), ``unjudged`` (share of the run's documents at the measure's
            ranks that are unjudged) and ``note``. Per run with the scope ``population`` also
            ``population_lower`` and ``population_upper`` (the interval on topics like these),
            ``unjudged_variance`` (share of its
            variance that is due to unjudged documents; NaN for a point correction) and ``population_by``:
            ``draws``, or ``bootstrap`` over topics alone
            (`bayespool.measures.populations.estimate_population`). Per run with LLM judges
            ``value_without``, ``lower_without`` and ``upper_without``: a posterior's mean and interval
            without their labels.

        Raises
        ------
        InputError
            There is no such table.
        """
        if table in (None, "scores") and not per_topic:  # without what people read
            return self._scores_frame.copy()
        return self.table("topics" if per_topic else table or "scores").frame.copy()

    def per_topic(self) -> Scores:
        """Return a copy whose printed tables have one row per run and topic."""
        return replace(self, by_topic=True)

    @cached_property
    def _scores_frame(self) -> pd.DataFrame:
        return self._frame(per_topic=False)

    @cached_property
    def _scores(self) -> Table:
        frame = self._scores_frame
        plain = Table("scores", "Scores of runs", frame)
        table = readable(plain, self.metadata, best_first=True)
        return replace(table, views=(*table.views, *distance_views(frame)))

    @cached_property
    def _topics(self) -> Table:
        table = Table("topics", "Scores by run and topic", self._frame(per_topic=True))
        return readable(table, self.metadata) if self._is_small else table

    @cached_property
    def _groups(self) -> Table | None:
        if self.groups is None:
            return None
        frame = groups_frame(
            dict(zip(self.measures, self.bounds, strict=True)),
            self.estimates,
            self.groups,
            scope=self.scope,
            ci_prob=self.ci_prob,
            random_seed=int(self.metadata["settings"]["random_seed"]),
        )
        return groups_table(frame, self.groups, self.metadata)

    @property
    def _is_small(self) -> bool:
        return len(self.run_ids) * len(self.query_ids) <= _MAX_ROWS_ON_A_PAGE

    def _frame(self, *, per_topic: bool) -> pd.DataFrame:
        n_topics, frames = len(self.query_ids) if per_topic else 1, []
        for measure, bounds in zip(self.measures, self.bounds, strict=True):
            columns = {column.name: column.compute(bounds, per_topic) for column in RUN_COLUMNS}
            for e in (each for each in self.estimates if each.measure == measure):
                frame = e.summary_frame(ci_prob=self.ci_prob, per_topic=per_topic)
                by_run = self._with_notes([e])
                notes = ["; ".join(by_run[run, measure]) for run in self.run_ids]
                note = np.repeat(np.array(notes, dtype=object), n_topics)
                wider = {} if per_topic else self._in_scope(e)
                if not per_topic:
                    wider |= self._unlabeled(e)
                if "lambda" in e.indicators and not per_topic:
                    wider["lambda"] = e.indicators["lambda"]
                frames.append(frame.assign(**columns, **wider, note=note))
        made = pd.concat(frames, ignore_index=True)
        return made[[*made.columns.drop("note"), "note"]]

    def _unlabeled(self, e: Estimates) -> dict[str, Any]:
        """Return columns for an estimator's value and interval without labels, if there are labels."""
        if not self.without_labels:
            return {}
        for one in self.without_labels:
            if (one.estimator, one.measure) == (e.estimator, e.measure):
                ends = one.interval(self.ci_prob)
                return dict(zip(UNLABELED, (one.value, *ends), strict=True))
        return dict.fromkeys(UNLABELED, np.nan)

    def _in_scope(self, e: Estimates) -> dict[str, Any]:
        """Return the columns for the population of topics, where it is asked for."""
        if self.scope == "these-topics":
            return {}
        seed = self.metadata["settings"]["random_seed"]
        population = estimate_population(e, self.ci_prob, random_seed=seed)
        return {
            "population_lower": population.lower,
            "population_upper": population.upper,
            "unjudged_variance": population.unjudged_share,
            "population_by": "draws" if population.has_draws else "bootstrap",
        }

    def _notes_table(self) -> Table:
        rows = [
            {"run_id": run, "measure": str(measure), "kind": note.kind, "note": note}
            for (run, measure), notes in self.run_notes.items()
            for note in notes
        ]
        return Table("run_notes", "Notes by run and measure", pd.DataFrame(rows))

    def to_arviz(self, estimator: str | None = None, *, per_topic: bool = False) -> Any:
        """Return one estimator's posterior draws under all measures as an ``xarray.DataTree`` for ArviZ.

        Parameters
        ----------
        estimator : str, optional
            One with draws; may be left out if there is only one.
        per_topic : bool, default False
            With the draws on each topic, too.

        Returns
        -------
        xarray.DataTree
            As of `bayespool.measures.estimates.Estimates.to_arviz`, with the group ``constant_data``:
            ``as_judged``, ``bound_lower``, ``bound_upper`` and ``residual`` as in `to_frame`, by (measure,
            run_id), with ``per_topic`` also ``as_judged_by_topic``, …. ArviZ 1.0 and later, arviz_stats and
            arviz_plots take it as it is; ``arviz.InferenceData.from_datatree(tree)`` makes of it what an
            earlier arviz takes, such as ``arviz.summary`` of 0.23.

        Raises
        ------
        InputError
            No estimator with draws, or several and none named, or no such estimator.

        Examples
        --------
        >>> from bayespool import load_example, score
        >>> scores = score(load_example(), "new-a", ["P@5", "P@10"], estimators="posterior-ratio(draws=100)")
        >>> tree = scores.to_arviz()
        >>> sorted(tree["posterior"].data_vars), tree["constant_data"]["bound_upper"].dims
        (['P_10', 'P_5'], ('measure', 'run_id'))
        """
        drawn = list(dict.fromkeys(e.estimator for e in self.estimates if e.draws is not None))
        if estimator is None and len(drawn) == 1:
            (estimator,) = drawn
        if estimator not in drawn:
            wrong = f"no draws of {estimator}" if estimator or not drawn else "several estimators have draws"
            hint = (
                f"name one of them as estimator=: {', '.join(drawn)}" if drawn else "score with a posterior"
            )
            raise InputError(wrong, hint=hint)
        amounts = [(b.least, b.most, b.low, b.width) for b in self.bounds]
        constant = {}
        for i, name in enumerate(("bound_lower", "bound_upper", "as_judged", "residual")):
            constant[name] = np.array([values[i].means() for values in amounts])
            if per_topic:
                constant[f"{name}_by_topic"] = np.array([values[i].scores() for values in amounts])
        estimator_estimates = [e for e in self.estimates if e.estimator == estimator]
        return draws_container(estimator_estimates, per_topic=per_topic, constant_data=constant)

    def to_netcdf(self, path: PathLike, estimator: str | None = None, *, per_topic: bool = False) -> None:
        """Write draws (`to_arviz`), tables and metadata to a NetCDF file for `bayespool.read_scores`.

        The same scores give the same bytes; the file is written whole or not at all.

        Raises
        ------
        InputError
            As `to_arviz`.
        OutputError
            The file cannot be written; an existing one is left as it was.
        """
        import xarray as xr

        tree = self.to_arviz(estimator, per_topic=per_topic).copy()
        document = np.array(content(self, ".json"), dtype=object)
        tree[_GROUP] = xr.DataTree(xr.Dataset({"json": ((), document)}))
        atomic_write(path, container_bytes(tree))

    def save(self, path: PathLike, *, table: str | None = None, figures: FigureFormat = "png") -> None:
        """Write the scores as in `bayespool.report.result.Result.save`; ``.nc`` files also have the draws."""
        if Path(path).suffix == ".nc":
            self.to_netcdf(path)
        else:
            super().save(path, table=table, figures=figures)
