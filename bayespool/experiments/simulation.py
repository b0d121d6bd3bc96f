"""Generative test collections with known truth, and LLM judges of known quality."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.special import expit, ndtri

from bayespool.arrays import BoolArray, FloatArray, LevelArray, OrderArray
from bayespool.collection import Collection, build_collection
from bayespool.collection.contents import find_pairs
from bayespool.errors import InputError
from bayespool.evidence.ideals import values_on_fuller
from bayespool.measures import parse_measure
from bayespool.randomness import document_keys, key_of
from bayespool.reading import Labels, Qrels, Run, write_organizations, write_qrels, write_run
from bayespool.tables.files import make_folder

_NAMES = ("north", "south", "east", "west", "coast", "ridge", "delta", "lake")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """Settings for a simulated collection.

    Attributes
    ----------
    n_topics, n_candidates : int
        Topics, and candidate documents per topic.
    n_organizations, max_runs : int
        Organizations in the pool, and the maximum of their numbers of runs (uniform from 1).
    n_new : int
        New organizations, with one unpooled run each.
    pool_depth, run_depth : int
        Depth of judging, and documents of a run per topic.
    relevance_mean, relevance_std : float
        Logit of the share of relevant candidates at average prominence: mean and standard deviation over
        topics.
    prominence : float
        Slope of the logit of relevance on prominence.
    strength_mean, strength_std : float
        Weight of relevance in a run's scores: mean and standard deviation over organizations (a third of it
        between the runs of one).
    taste, noise : float
        Standard deviations of the organization's taste and the run's noise, in score units; prominence has 1.
    n_kinds : int
        Kinds of the pool's organizations, in turn. New organizations are of one of them.
    kind_taste, kind_strength : float
        Standard deviations between kinds of the shared taste, in score units, and of the strength.
    new_kind : bool
        Whether new organizations are of another kind than those of the pool, all of the same.
    """

    n_topics: int = 20
    n_candidates: int = 300
    n_organizations: int = 8
    max_runs: int = 4
    n_new: int = 2
    pool_depth: int = 10
    run_depth: int = 100
    relevance_mean: float = -2.8
    relevance_std: float = 0.8
    prominence: float = 0.6
    strength_mean: float = 1.5
    strength_std: float = 0.4
    taste: float = 0.8
    noise: float = 0.6
    n_kinds: int = 1
    kind_taste: float = 0.0
    kind_strength: float = 0.0
    new_kind: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.pool_depth <= self.run_depth <= self.n_candidates:
            raise InputError("a simulation needs 1 ≤ pool_depth ≤ run_depth ≤ n_candidates")
        if min(self.n_topics, self.n_organizations, self.max_runs, self.n_kinds) < 1 or self.n_new < 0:
            raise InputError("a simulation needs at least one topic, organization, run and kind")
        if min(self.kind_taste, self.kind_strength) < 0:
            raise InputError("a simulation needs standard deviations of 0 or more between kinds")


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated collection with the true relevance of every candidate.

    Attributes
    ----------
    runs : tuple of Run
        The pooled runs, then the new ones.
    new_run_ids : tuple of str
        Runs that were not pooled.
    organizations : dict of str to str
        Run id to organization.
    qrels, truth : Qrels
        Judgments of the pooled documents, and those of every candidate.
    collection : Collection
        With the judgments of the pool.
    """

    runs: tuple[Run, ...]
    new_run_ids: tuple[str, ...]
    organizations: dict[str, str]
    qrels: Qrels
    truth: Qrels
    collection: Collection

    def complete(self) -> Collection:
        """Return the collection with every candidate document judged."""
        full = build_collection(self.runs, self.truth, organizations=self.organizations)
        return full.with_pool(self.collection.pooled, self.collection.pool)

    def true_values(self, measure: object, run_ids: Iterable[str] | None = None) -> dict[str, float]:
        """Return the scores that runs would have if all retrieved documents were judged, by run.

        Parameters
        ----------
        measure : measure
        run_ids : iterable of str, optional
            Default: the new runs.

        Notes
        -----
        A run's ideal ranking has the judged documents and those within the run's reach, unless the measure's
        ``ideal`` differs.

        Examples
        --------
        >>> {run: round(value, 3) for run, value in simulate_example().true_values("P@10").items()}
        {'new-a': 0.625, 'new-b': 0.355}
        """
        runs, parsed = list(self.new_run_ids if run_ids is None else run_ids), parse_measure(measure)
        full = replace(self.collection, relevance=self.true_relevance())
        values = values_on_fuller(self.collection, full, runs, parsed)
        return dict(zip(runs, values.means().tolist(), strict=True))

    def true_relevance(self) -> LevelArray:
        """Return the true relevance of retrieved (topic, document) pairs, shape (pair,)."""
        pairs = find_pairs(self.collection, self.truth.query_id, self.truth.doc_id)
        relevance = np.empty_like(self.collection.relevance)
        relevance[pairs[pairs >= 0]] = self.truth.relevance[pairs >= 0]
        return relevance

    def write(self, folder: Path | str) -> None:
        """Write ``pool/``, ``new/``, ``qrels.txt`` and ``organizations.csv`` to a folder, in TREC formats.

        Raises
        ------
        OutputError
            A folder or file cannot be written.
        """
        folder = Path(folder)
        for run in self.runs:
            part = folder / ("new" if run.run_id in self.new_run_ids else "pool")
            make_folder(part)
            write_run(run, part / f"{run.run_id}.run")
        write_qrels(self.qrels, folder / "qrels.txt")
        pooled = {run: name for run, name in self.organizations.items() if run not in self.new_run_ids}
        write_organizations(pooled, folder / "organizations.csv")


def simulate(settings: SimulationSettings | None = None, *, random_seed: int) -> Simulation:
    """Simulate a collection with known true relevance.

    Parameters
    ----------
    settings : SimulationSettings, optional
    random_seed : int
        Determines the collection, with the settings.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> simulation = simulate(SimulationSettings(n_topics=5, n_organizations=3), random_seed=1)
    >>> simulation.collection.pool_depth
    10
    """
    s = settings or SimulationSettings()
    rng = np.random.default_rng(random_seed)
    prominence = rng.normal(size=(s.n_topics, s.n_candidates))
    topic = rng.normal(s.relevance_mean, s.relevance_std, size=(s.n_topics, 1))
    p_relevant = expit(topic + s.prominence * prominence)
    relevance = (rng.random(p_relevant.shape) < p_relevant).astype(np.int16)
    relevance[relevance > 0] += rng.random(int(relevance.sum())) < 0.3  # highly relevant
    relevance[0, 0] = max(relevance[0, 0], 1)  # qrels need a relevant document
    # separate, so that collections without kinds do not depend on it
    kind_rng = np.random.default_rng([random_seed, 1])
    kind_taste = kind_rng.normal(scale=s.kind_taste, size=(s.n_kinds + 1, *prominence.shape))
    kind_strength = kind_rng.normal(scale=s.kind_strength, size=s.n_kinds + 1)
    runs: list[Run] = []
    organizations: dict[str, str] = {}
    judged = np.zeros(relevance.shape, dtype=bool)
    for o in range(s.n_organizations + s.n_new):
        new = o >= s.n_organizations
        organization = f"new-{chr(97 + o - s.n_organizations)}" if new else _name(o)
        kind = s.n_kinds if new and s.new_kind else o % s.n_kinds
        taste = rng.normal(scale=s.taste, size=prominence.shape) + kind_taste[kind]
        strength = rng.normal(s.strength_mean, s.strength_std) + kind_strength[kind]
        for i in range(1 if new else int(rng.integers(1, s.max_runs + 1))):
            run_strength = strength + rng.normal(scale=s.strength_std / 3)
            score = (
                run_strength * (relevance > 0)
                + prominence
                + taste
                + rng.normal(scale=s.noise, size=prominence.shape)
            )
            run_id = organization if new else f"{organization}-{i + 1}"
            organizations[run_id] = organization
            documents, written = _ranking(score, s.run_depth)
            runs.append(_run(run_id, documents, written))
            if not new:
                np.put_along_axis(judged, documents[:, : s.pool_depth], True, axis=1)
    new_run_ids = tuple(run.run_id for run in runs[len(runs) - s.n_new :]) if s.n_new else ()
    pooled = [run for run in runs if run.run_id not in new_run_ids]
    if not relevance[judged].any():  # a pool so small may have missed them all
        relevance[tuple(np.argwhere(judged)[0])] = 1
    truth = _qrels(np.ones_like(relevance, dtype=bool), relevance)
    qrels = _qrels(judged, relevance)
    collection = build_collection(
        runs,
        qrels,
        organizations=organizations,
        pooled_run_ids=[r.run_id for r in pooled],
        pool_depth=s.pool_depth,
    )
    return Simulation(tuple(runs), new_run_ids, organizations, qrels, truth, collection)


@cache
def simulate_example() -> Simulation:
    """Return the embedded example with its truth, a fixed simulation from `simulate`."""
    return simulate(random_seed=2009)


def load_example() -> Collection:
    """Return the embedded example collection.

    It has 20 topics, 8 organizations pooled to depth 10, and the unpooled runs ``new-a`` and ``new-b``.

    Examples
    --------
    >>> load_example().pool_depth
    10
    """
    return simulate_example().collection


def _name(o: int) -> str:
    return _NAMES[o] if o < len(_NAMES) else f"{_NAMES[o % len(_NAMES)]}{o // len(_NAMES) + 1}"


def _topics(codes: OrderArray, n_topics: int) -> pa.DictionaryArray:
    names = pa.array([str(701 + t) for t in range(n_topics)], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def _doc_ids(codes: OrderArray) -> pa.StringArray:
    return pa.array([f"D{d:05d}" for d in codes.tolist()], pa.string())


def _ranking(score: FloatArray, depth: int) -> tuple[OrderArray, FloatArray]:
    """Return the top documents for each topic and their scores, shape (topic, rank)."""
    written = np.round(score + 10, 4)
    # the order in which a collection reads written scores: ties by document id, descending
    backwards = np.argsort(-written.astype(np.float32)[:, ::-1], axis=1, kind="stable")
    best = score.shape[1] - 1 - backwards[:, :depth]
    return best, np.take_along_axis(written, best, axis=1)


def _run(run_id: str, documents: OrderArray, score: FloatArray) -> Run:
    n_topics, depth = documents.shape
    return Run(
        run_id=run_id,
        query_id=_topics(np.repeat(np.arange(n_topics), depth), n_topics),
        doc_id=_doc_ids(documents.ravel()),
        score=score.ravel(),
        rank=np.tile(np.arange(1, depth + 1, dtype=np.int32), n_topics),
    )


def _qrels(judged: BoolArray, relevance: LevelArray) -> Qrels:
    rows, columns = np.nonzero(judged)
    return Qrels(
        query_id=_topics(rows, judged.shape[0]), doc_id=_doc_ids(columns), relevance=relevance[rows, columns]
    )


_FAVORED_DEPTH = 20  # of the favored organization's runs
_FAVOR = 2.0  # added for their documents, in standard deviations of the judge's noise


def simulate_judge(
    simulation: Simulation,
    *,
    quality: float,
    grades: int = 4,
    share: float = 1.0,
    favors: str | None = None,
    random_seed: int,
) -> Labels:
    r"""Simulate an LLM judge's labels for documents that the runs retrieve.

    Parameters
    ----------
    simulation : Simulation
    quality : float
        Effect of a level of relevance on the judge's liking, in standard deviations of its noise. With 1 the
        judge prefers a relevant to a nonrelevant document in 76 of 100 pairs, with 2 in 92, with 0 in half.
        Negative values invert the preference.
    grades : int, default 4
        Labels are 0 to ``grades`` − 1. A judge of quality 0 gives half of the documents 0, half of the others
        1, and so on.
    share : float, over 0 and at most 1
        Share of the documents with a label, at random.
    favors : str, optional
        An organization whose documents in the top 20 of its runs the judge likes better, by 2 standard
        deviations of its noise.
    random_seed : int
        A document's label depends on it, the topic and the document's id. The documents of a smaller share
        are among those of a larger one.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        A number out of its range, or an unknown organization.

    Notes
    -----
    With the relevance :math:`r` of a document, its mean :math:`\bar r` over all candidates, the quality
    :math:`q` and standard normal noise, the label is the number of :math:`k = 1, \dots, G - 1` with

    .. math::

        q (r - \bar r) + 2 \cdot \text{favored} + \varepsilon \ge \Phi^{-1}(1 - 2^{-k})

    Examples
    --------
    >>> from bayespool.experiments.simulation import simulate_example
    >>> simulate_judge(simulate_example(), quality=2, random_seed=1)
    <Labels: 5,032 documents, 20 topics>
    """
    if not np.isfinite(quality):
        raise InputError(f"a judge's quality is a number, not {quality}")
    if grades < 2:
        raise InputError(f"a judge needs two grades or more, not {grades}")
    if not 0 < share <= 1:
        raise InputError(f"a judge labels a share over 0 and up to 1 of the documents, not {share}")
    collection, truth = simulation.collection, simulation.truth
    liking = quality * (simulation.true_relevance().astype(float) - truth.relevance.mean())
    liking += _FAVOR * _is_in_top(collection, favors)
    liking += ndtri(_uniform(collection, key_of(random_seed, "label")))
    label = np.searchsorted(ndtri(1 - 0.5 ** np.arange(1, grades)), liking, side="right")
    labeled = np.flatnonzero(_uniform(collection, key_of(random_seed, "share")) < share)
    topics = pa.array(collection.query_ids, pa.string())
    return Labels(
        query_id=pa.DictionaryArray.from_arrays(
            pa.array(collection.pair_topic[labeled].astype(np.int32)), topics
        ),
        doc_id=collection.doc_ids.take(pa.array(labeled)),
        label=label[labeled].astype(np.float64),
    )


def _is_in_top(collection: Collection, organization: str | None) -> BoolArray:
    """Return a mask of documents in the top 20 ranks of an organization's runs, shape (pair,)."""
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)
    if organization is not None:
        if organization not in collection.organizations:
            names = ", ".join(map(repr, collection.organizations))
            raise InputError(f"no organization {organization!r}; known: {names}")
        is_member = collection.organization == collection.organizations.index(organization)
        inside[collection.document[is_member, :, :_FAVORED_DEPTH]] = (
            True  # −1, no document, is the last entry
        )
    return inside[:-1]


def _uniform(collection: Collection, random_seed: int) -> FloatArray:
    """Return a uniform random number in (0, 1) for each document, determined by its name, shape (pair,)."""
    doc_ids, topics = collection.doc_ids.to_pylist(), np.arange(len(collection.query_ids) + 1)
    first = np.searchsorted(collection.pair_topic, topics)
    keys = [
        document_keys(random_seed, query_id, doc_ids[first[t] : first[t + 1]])
        for t, query_id in enumerate(collection.query_ids)
    ]
    bits = (np.concatenate(keys) >> np.uint64(11)).astype(np.float64)
    return (bits + 0.5) * 2.0**-53
