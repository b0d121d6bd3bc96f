"""Prepared collections: what a pool teaches, in one file that runs are scored on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import AnyArray, Progress
from bayespool.collection import Collection, add_judges
from bayespool.collection.contents import DepthPool
from bayespool.collection.packing import join_runs, pack, pool_alone, read_count, unpack
from bayespool.collection.passages import Documents
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.measures import Measure
from bayespool.measures.parsing import parse_measures
from bayespool.names import PREPARED_SUFFIX
from bayespool.pooling import describe_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.preparation import evidence_depth
from bayespool.posterior.thresholds import describe_excess_levels, find_thresholds
from bayespool.posterior.work import Recorded, recorded_work
from bayespool.reading import Judgments
from bayespool.reading.archives import member_errors, read_archive, read_member, write_archive
from bayespool.reading.readers import Reading
from bayespool.reading.scope import Exclude, gather_kept_qrels, read_exclusion
from bayespool.reading.sources import Judges, Organizations, Runs, gather_judges
from bayespool.report.stored import StoredResult, result_of_json
from bayespool.scoring.scores import Scores
from bayespool.scoring.scoring import score
from bayespool.tables.files import PathLike, digest, parquet_member
from bayespool.tables.markup import html_repr, one_line

_FORMAT = 2
_MAX_SIZE = 2048  # MiB, decompressed
_MAX_MEASURES, _MAX_CUTOFF = 50, 10_000
_HEAD, _CARD = "prepared.json", "card.json"
_RESULTS, _DRAWS = "results.parquet", "draws.f8"
_HINT = "ask for the file again, or make it anew with bayespool prepare"


@dataclass(frozen=True, eq=False, repr=False)
class PreparedCollection:
    """Pool with its judgments and all that models learn from it, which runs are scored on.

    Attributes
    ----------
    collection : Collection
        The pooled runs alone, with the judgments.
    measures : tuple of Measure
        Those whose models are fitted; others are fitted when they are asked for.
    ranks : int or None
        Ranks of the pooled runs that were kept; None for all.
    fingerprint : str
        Of the collection that was prepared, with its other runs.
    recorded : dict of str to dict of str to ndarray
        Results of the models' fits, from which estimates go on.
    card : bytes
        What there is to know before runs are scored on it, as the JSON file of a result (`describe`).
    """

    collection: Collection
    measures: tuple[Measure, ...]
    ranks: int | None
    fingerprint: str
    recorded: dict[str, Recorded] = field(default_factory=dict)
    card: bytes = b""

    def __repr__(self) -> str:
        return one_line(type(self).__name__, f"{', '.join(map(str, self.measures))} on {self.collection!r}")

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the measures, and what the collection has."""
        return html_repr(one_line(type(self).__name__, ", ".join(map(str, self.measures)))) + (
            self.collection._repr_html_()
        )

    def join(
        self,
        runs: Runs,
        *,
        organizations: Organizations | None = None,
        each_its_own: bool = False,
        exclude: Exclude | None = None,
        documents: Documents = "as-named",
        judges: Judges | None = None,
        own_judgments: Judgments | None = None,
        reading: Reading = Reading(),
    ) -> Collection:
        """Return the collection with runs to score, for `bayespool.score`, `bayespool.compare` and others.

        Parameters
        ----------
        runs : Runs
            Runs to score: paths, data frames, ``{query_id: {doc_id: score}}`` and the other forms of
            `bayespool.read_collection`.
        organizations, each_its_own, exclude, documents, judges, own_judgments
            As for `bayespool.read_collection`. With labels and judgments of one's own all models are fitted
            anew: these are evidence, too.
        reading : Reading, optional

        Raises
        ------
        InputError
            Unusable runs, or one with the name of a pooled run.
        """
        joined = join_runs(
            self.collection,
            runs,
            organizations=organizations,
            each_its_own=each_its_own,
            exclude=exclude,
            documents=documents,
            reading=reading,
        )
        if judges is not None:
            joined = add_judges(joined, gather_judges(judges, reading=reading))
        exclusion = read_exclusion(exclude, reading=reading)
        if own_judgments is not None:
            joined = joined.attach_judgments(gather_kept_qrels(own_judgments, exclusion, reading))
        return joined

    def score(self, runs: Runs, measures: object = None, **settings: Any) -> Scores:
        """Score runs as `bayespool.score` does, without fitting anything that was prepared.

        Parameters
        ----------
        runs : Runs
            A data frame, ``{query_id: {doc_id: score}}``, a path, or several of them, as in `join`.
        measures : measure or iterable of measures, optional
            Default: the prepared ones.
        **settings
            Further arguments of `bayespool.score`.

        Returns
        -------
        Scores
            The same values as from the files.

        Examples
        --------
        >>> from bayespool import load_example, prepare
        >>> prepared = prepare(load_example(), "P@10")
        >>> topic = prepared.collection.query_ids[0]
        >>> best = {topic: {prepared.collection.doc_id(0): 2.0, "a new document": 1.0}}
        >>> prepared.score(best, estimators="as-judged").run_ids
        ('run',)
        """
        asked = self.measures if measures is None else parse_measures(measures)
        self.warn_of_new_fits(asked)
        joined = self.join(runs)
        return score(joined, joined.given_run_ids, asked, **settings)

    def warn_of_new_fits(self, measures: Iterable[Measure]) -> None:
        """Warn of measures whose models are not fitted yet."""
        lacking = [measure for measure in measures if not self.has_fits(measure)]
        if lacking:
            names = ", ".join(map(str, lacking))
            warn_caller(f"{names}: not prepared; the models are fitted now, which takes longer", InputWarning)

    def has_fits(self, measure: Measure) -> bool:
        """Return whether the models of a measure are fitted, or a posterior has no value under it."""
        collection = self.collection
        if describe_excess_levels(collection, measure):
            return True
        depth = evidence_depth("rankings", measure.cutoff)
        names = [f"pool start {t.rel} {t.given} {depth} " for t in find_thresholds(collection, measure)]
        return all(any(key.startswith(name) for key in self.recorded) for name in names)

    def describe(self) -> StoredResult:
        """Return what there is to know before runs are scored on this collection.

        Raises
        ------
        InputError
            The file has no card.
        """
        return _card(self.card)

    def save(self, path: PathLike, *, judgments: bool = True) -> None:
        """Write one file, whole or not at all; the same bytes for the same inputs.

        The file has the rankings of the campaign's runs: share it where these may be shared.

        Parameters
        ----------
        path : path
            Ending in ``.bayespool``.
        judgments : bool, default True
            Whether the judgments are in the file; else `read_prepared` needs them again.
        """
        if Path(path).suffix != PREPARED_SUFFIX:
            raise InputError(
                "not the ending of a prepared collection",
                path=Path(path),
                hint=f"end it in {PREPARED_SUFFIX}",
            )
        drawn = {name: results for name, results in self.recorded.items() if " draws " in name}
        others = {name: results for name, results in self.recorded.items() if name not in drawn}
        members = pack(self.collection, judgments=judgments) | {_RESULTS: _pack_results(others)}
        draws = [(key, name, part) for key in sorted(drawn) for name, part in sorted(drawn[key].items())]
        if draws:
            members |= {_DRAWS: np.concatenate([part.astype("<f8").ravel() for *_, part in draws]).tobytes()}
        members |= {_CARD: self.card} if self.card else {}
        head = {
            "format": _FORMAT,
            "bayespool": __version__,
            "measures": [str(measure) for measure in self.measures],
            "ranks": self.ranks,
            "fingerprint": self.fingerprint,
            "draws": [(key, name, part.size) for key, name, part in draws],
            "digests": {name: digest(content) for name, content in members.items()},
        }
        head["digest"] = head_digest(head)
        head_member = {_HEAD: json.dumps(head, indent=1).encode()}
        write_archive(path, head_member | members, as_is={_DRAWS})  # draws are random digits


def learn_collection(
    collection: Collection,
    measures: object = "P@10",
    *,
    ranks: int | None = None,
    keep_draws: bool = False,
    progress: Progress | None = None,
) -> PreparedCollection:
    """Return a collection's pool with what the default posterior learns from it, without a card.

    Parameters are as in `bayespool.prepare`.
    """
    parsed = _parse_measures(measures)
    part = pool_alone(collection, ranks)
    assert isinstance(part.pool, DepthPool)
    doubts = describe_pool(collection).doubts  # which runs outside the pool raise, too
    part = replace(part, pool=replace(part.pool, doubts=doubts))
    learned = {measure for measure in parsed if not describe_excess_levels(part, measure)}
    recorded: dict[str, Recorded] = {}
    if part.judges:
        warn_caller(
            "with labels of a judge the evidence depends on the runs to score: no fits are kept", InputWarning
        )
    elif learned:
        if progress is not None:
            progress(f"learning from the pool: {', '.join(map(str, parsed))}")
        asked = [measure for measure in parsed if measure in learned]
        recorded = PosteriorEstimator().learn(part, asked, keep_draws=keep_draws)
    return PreparedCollection(part, parsed, ranks, collection.fingerprint, recorded)


def read_prepared(path: PathLike, *, qrels: Judgments | None = None) -> PreparedCollection:
    """Read a prepared collection.

    Parameters
    ----------
    path : path
        A file that `PreparedCollection.save` or ``bayespool prepare`` wrote.
    qrels : Judgments, optional
        The judgments, where the file was written without them.

    Raises
    ------
    InputError
        No such file; one of another format, cut off or changed; no judgments, or others than those of then.

    Warns
    -----
    InputWarning
        Another version of bayespool made it, whose fits are not used.
    """
    source = Path(path)
    head, members = _read_members(source)
    with member_errors(source):
        version = str(head["bayespool"])
        recorded = _unpack_results(members[_RESULTS])
        if _DRAWS in members:
            recorded |= _unpack_draws(members[_DRAWS], head["draws"])
        measures, fingerprint = _parse_measures(tuple(map(str, head["measures"]))), str(head["fingerprint"])
        ranks = None if head["ranks"] is None else read_count(head["ranks"])
    part = unpack(members, qrels=qrels, path=source)
    if version != __version__:
        message = f"{source}: made by bayespool {version}; all models are fitted anew: prepare it again"
        warn_caller(message, InputWarning)
        recorded = {}
    results, card = recorded_work(part), members.get(_CARD, b"")
    results.update(recorded)
    return PreparedCollection(part, measures, ranks, fingerprint, results, card)


def read_measures(path: PathLike) -> tuple[str, ...]:
    """Return the names of the measures that a prepared collection was made for."""
    source = Path(path)
    head = _read_head(read_archive(source, max_size=_MAX_SIZE, hint=_HINT, only=_HEAD), source)
    with member_errors(source):
        return tuple(map(str, _parse_measures(tuple(map(str, head["measures"])))))


def _parse_measures(measures: object) -> tuple[Measure, ...]:
    """Return measures that a prepared collection may have: these are scored where none is named."""
    parsed = parse_measures(measures)
    if len(parsed) > _MAX_MEASURES:
        hint = "prepare those that are asked for often"
        raise InputError(f"{len(parsed)} measures, and {_MAX_MEASURES} are prepared at most", hint=hint)
    for measure in parsed:
        if measure.cutoff > _MAX_CUTOFF:
            hint = "ask for it where runs are scored"
            raise InputError(f"{measure} is not prepared, of more than {_MAX_CUTOFF:,} ranks", hint=hint)
    return parsed


def read_card(path: PathLike) -> StoredResult:
    """Read the card of a prepared collection, for which no judgments are needed."""
    return _card(_read_members(Path(path))[1].get(_CARD, b""))


def _card(content: bytes) -> StoredResult:
    result = result_of_json(content) if content else None
    if result is None or result.command != "describe" or not result.tables():
        raise InputError("the prepared collection has no card", hint="make it with bayespool prepare")
    return result


def _read_members(source: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the head of a file and its other members, all of them as they were written."""
    members = read_archive(source, max_size=_MAX_SIZE, hint=_HINT)
    head = _read_head(members, source)
    del members[_HEAD]
    with member_errors(source):
        if {name: digest(content) for name, content in members.items()} != head["digests"]:
            raise ValueError("members are missing, changed or of another file")
    return head, members


def _read_head(members: Mapping[str, bytes], source: Path) -> dict[str, Any]:
    """Return the head of a file, as it was written."""
    with member_errors(source):
        head: dict[str, Any] = json.loads(members[_HEAD])
        version = str(head["bayespool"])
    if head.get("format") != _FORMAT:
        raise InputError(
            f"a prepared collection of bayespool {version}, in another format",
            path=source,
            hint=f"read it with that version, or make it anew with {__version__}",
        )
    with member_errors(source):
        if head["digest"] != head_digest(head):
            raise ValueError(f"{_HEAD} was changed")
    return head


def head_digest(head: Mapping[str, Any]) -> str:
    """Return the digest of a head, but for the digest itself."""
    rest = {name: value for name, value in head.items() if name != "digest"}
    return digest(json.dumps(rest, sort_keys=True))


def _unpack_draws(member: bytes, index: list[tuple[str, str, int]]) -> dict[str, Recorded]:
    numbers = np.frombuffer(member, "<f8").view(np.float64)
    ends = np.cumsum([int(size) for _, _, size in index])
    if not len(ends) or ends[-1] != len(numbers):
        raise ValueError("other numbers of draws than the index says")
    recorded: dict[str, Recorded] = {}
    for (key, name, _), part in zip(index, np.split(numbers, ends[:-1]), strict=True):
        recorded.setdefault(str(key), {})[str(name)] = part
    return recorded


def _pack_results(recorded: Mapping[str, Recorded]) -> bytes:
    """Return arrays as a Parquet file with a row each."""
    rows = [(key, name, array) for key in sorted(recorded) for name, array in sorted(recorded[key].items())]

    def values(of_type: npt.DTypeLike) -> list[AnyArray]:
        return [array.ravel() if array.dtype == of_type else np.zeros(0, of_type) for _, _, array in rows]

    return parquet_member(
        pa.table(
            {
                "result": pa.array([key for key, _, _ in rows], pa.string()),
                "name": pa.array([name for _, name, _ in rows], pa.string()),
                "numbers": pa.array(values(np.float64), pa.list_(pa.float64())),
                "counts": pa.array(values(np.int32), pa.list_(pa.int32())),
            }
        )
    )


def _unpack_results(member: bytes) -> dict[str, Recorded]:
    table = read_member(member)
    recorded: dict[str, Recorded] = {}
    columns = [table[name].combine_chunks() for name in ("numbers", "counts")]
    for i, (key, name) in enumerate(zip(table["result"].to_pylist(), table["name"].to_pylist(), strict=True)):
        if not isinstance(key, str) or not isinstance(name, str):
            raise ValueError("a result without a name")
        numbers, counts = (column[i].values.to_numpy(zero_copy_only=False) for column in columns)
        recorded.setdefault(key, {})[name] = counts if len(counts) else numbers
    return recorded
