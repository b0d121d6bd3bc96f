"""Card of a collection: what to know before scoring on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.collection.attributes import Attributes
from bayespool.collection.collection import expect_collection
from bayespool.collection.pools import sole_contributor
from bayespool.comparisons.planning import PairVariances, best_pooled_runs, plan_comparison
from bayespool.errors import PooledRunWarning
from bayespool.experiments.contributions import contribution_table, hole_fact, unpooled_sentence
from bayespool.experiments.design import contributors
from bayespool.experiments.graded_runs import check_metadata
from bayespool.experiments.leave_out_results import LeaveOutResult
from bayespool.experiments.leaving_out import leave_out
from bayespool.measures import Measure
from bayespool.measures.parsing import parse_measures
from bayespool.names import AS_JUDGED
from bayespool.notes import Note, noted
from bayespool.pooling import PoolReport, describe_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.distance import N_KINDS, find_kinds
from bayespool.posterior.estimator import sole_posterior
from bayespool.report.provenance import cited_by
from bayespool.report.stored import StoredResult
from bayespool.tables.citations import CITATIONS
from bayespool.tables.formatting import counted, difference, level, number, percent, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View
from bayespool.validation import check_count, described

_POWER, _LEVEL = 0.8, 0.05  # of the smallest difference
_FEW_ORGANIZATIONS = 5
_LEAST_COVERAGE = 0.9
_MOST_UNEXPLAINED = 0.1
_DIGITS = 3
_KIND = "(kind)"  # of a column that no user has
_POOLED, _NEAR, _FAR = "of the pool", "new, near", "new, far"
_FACTS = {
    "fact": Column("fact", "text", "What is counted."),
    "amount": Column("amount", "size", "The number itself; a share is of one."),
    "shown": Column("number", "text", "The number as people read it."),
    "details": Column("details", "text", "What it consists of."),
}
_MEASURES = {
    "group": Column("runs", "text", "Runs of the pool; new runs like them (near) or unlike them (far)."),
    "n_runs": Column("left\nout", "count", "Runs that were left out of the pool and graded."),
    "as_judged_bias": Column("as judged,\nbias", "difference", "Mean error as judged.", _DIGITS),
    "mae": Column("posterior,\nMAE", "score", "Mean absolute error of the posterior.", _DIGITS),
    "coverage_95": Column("coverage", "share", "Coverage of the 95 % intervals, over organizations."),
    "width": Column("their\nwidth", "score", "Mean width of these intervals.", _DIGITS),
    "smallest": Column(
        "detectable\ndifference", "score", "Minimum detectable difference that is detected.", _DIGITS
    ),
}
_FACTS_VIEW = View(title="The collection", names=("fact",), columns=("shown", "details"))
_UNGRADED = (
    "Its bias was not tried: --graded (describe, prepare; in Python graded=True) leaves organizations out of "
    "the pool, and grades scores and intervals."
)
_RIGHTS = "Rights: a prepared file has the rankings of the campaign; share it where one may share these runs."


@dataclass(frozen=True, eq=False, repr=False)
class Card(StoredResult, reads="describe"):
    """Card of a collection: facts, errors by measure, what not to do, and how to cite it.

    Its tables are ``facts``, a row per number, ``organizations``, what each brought to the pool, and
    ``measures``, a row per measure and group of runs: those of the pool and, where the collection was graded,
    new runs near the pool and far from it. Its notes say
    what not to do. `describe_collection` makes one; `bayespool.read_result` reads it back whole.
    """

    command: str = "describe"  # type: ignore[misc] # as in the class above
    title: str = "Card of a collection"

    def __post_init__(self) -> None:
        repr(self)  # KeyError, TypeError or ValueError for the content of another file (`stored_result`)

    def __repr__(self) -> str:
        settings = self.metadata["settings"]
        graded = "graded" if settings["graded"] else "not graded"
        return one_line("Card", f"{some_of(settings['measures'])}; {graded}")


def describe_collection(
    collection: Collection,
    measures: object = "P@10",
    *,
    graded: bool = False,
    estimators: str | PosteriorEstimator = "posterior-combined",
    posterior_settings: str | PosteriorEstimator | None = None,
    random_seed: int = 1,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Card:
    """Describe a collection: what one should know before scoring on it, on one screen.

    Parameters
    ----------
    collection : Collection
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    graded : bool, default False
        Leave organizations out of the pool, one by one (near) and four kinds of them at a time (far), and say
        how biased scores are as judged, and what the posterior's intervals covered. It takes minutes.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior, by name: 'posterior-ratio'.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posterior: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    n_jobs : int, optional
        Number of processes to leave organizations out; −1 for one per core, by default 1.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.

    Returns
    -------
    Card

    Raises
    ------
    InputError
        Unknown measure or setting; ``graded`` without two pooled organizations.

    Warns
    -----
    BayespoolWarning
        Those of `bayespool.leave_out`.

    Notes
    -----
    The minimum detectable difference is that of `bayespool.plan_comparison` between the best pooled runs of
    organizations, 20 at most: detected in 80 % of cases at .05. For a new run the mean variance of its
    posterior is added.

    Organizations are near one by one, and far as one of four kinds of them whose runs retrieve alike
    (`bayespool.posterior.find_kinds`) left out together, where there are two of each kind or more.

    Examples
    --------
    >>> from bayespool import describe_collection, load_example
    >>> card = describe_collection(load_example(), "P@10")
    >>> facts = card.to_frame("facts").set_index("fact")["details"]
    >>> facts["pooled runs"]
    'of 8 organizations, to depth 10; 23 runs at hand'
    """
    parsed = parse_measures(measures)
    asked: dict[str, Any] = {"estimators": estimators, "posterior_settings": posterior_settings}
    asked["random_seed"] = random_seed
    estimator = sole_posterior(**asked, estimand="pooled")
    check_count("random_seed", random_seed, least=0)
    expect_collection(collection)
    say = progress or (lambda *_: None)
    trials = dict[str, LeaveOutResult]()
    if graded:
        both = {"measures": parsed, "estimators": [AS_JUDGED, estimator], "random_seed": random_seed}
        trials = dict(_trials(collection, say, ci_prob=0.95, n_jobs=n_jobs, **both))
    pool, rows = describe_pool(collection), list[dict[str, Any]]()
    for measure in parsed:
        say(f"minimum detectable difference under {measure}")
        rows += _measure_rows(measure, _variances(collection, measure, **asked), trials)
    by_measure = pd.DataFrame(rows)
    settings = {"measures": parsed, "graded": graded, "estimators": (AS_JUDGED, estimator)}
    metadata = check_metadata(
        collection,
        pool=asdict(pool),
        settings=described(**settings, random_seed=random_seed),
        warnings=sorted({text for trial in trials.values() for text in trial.metadata["warnings"]}),
    )
    cutoff = max(measure.cutoff for measure in parsed)
    facts = Table("facts", _FACTS_VIEW.title, _fact_frame(collection, pool, cutoff), _FACTS, (_FACTS_VIEW,))
    brought = contribution_table(collection, parsed[0])
    tables = (
        facts,
        *([brought] if brought else []),
        Table("measures", "By measure", by_measure, _MEASURES, (_measure_view(trials),)),
    )
    sentences = (unpooled_sentence(collection), "" if graded else _UNGRADED, _reference(collection), _RIGHTS)
    return Card(
        Card.command,
        Card.title,
        metadata,
        tables,
        (*pool.notes, *noted(_cautions(collection, pool, parsed, by_measure), "caution")),
        tuple(filter(None, sentences)),
        tuple(cited_by(metadata)),
    )


# --- errors by measure ---


def _trials(collection: Collection, say: Progress, **asked: Any) -> Iterator[tuple[str, LeaveOutResult]]:
    """Yield near runs left out of the pool and, where there are organizations enough, far ones."""
    runs_of = contributors(collection, "organization")
    say(f"leaving out {counted(len(runs_of), 'organization')}, one at a time")
    yield _NEAR, leave_out(collection, **asked)
    if len(runs_of) >= 2 * N_KINDS:
        say(f"leaving out {N_KINDS} kinds of organizations, one at a time")
        kinds = enumerate(find_kinds(collection), 1)
        kind_of = {run: f"kind {k}" for k, kind in kinds for name in kind for run in runs_of[name]}
        collection = replace(collection, runs=Attributes({_KIND: kind_of}))
        yield _FAR, leave_out(collection, by=_KIND, **asked)


def _variances(collection: Collection, measure: Measure, **asked: Any) -> PairVariances | None:
    """Return the variances of differences between the best runs of organizations, None without two runs."""
    runs = best_pooled_runs(collection, measure)
    if len(runs) < 2 or len(collection.query_ids) < 2:
        return None
    without_labels = replace(collection, judges=())
    asked |= {"judgments": (), "more_topics": ()}
    with warnings.catch_warnings(category=PooledRunWarning, action="ignore"):  # they are meant
        plan = plan_comparison(without_labels, runs, measure, **asked)
    return plan.variances[False]


def _measure_rows(
    measure: Measure, variances: PairVariances | None, trials: Mapping[str, LeaveOutResult]
) -> Iterator[dict[str, Any]]:
    """Yield a row on runs of the pool, and on those that were left out of it."""
    yield {"measure": str(measure), "group": _POOLED, "smallest": _smallest(variances)}
    for group, trial in trials.items():
        summary, runs = trial.to_frame("summary"), trial.to_frame("runs")
        plain, posterior = summary[summary["measure"] == str(measure)].to_dict("records")
        rows = runs[(runs["measure"] == str(measure)) & (runs["estimator"] == posterior["estimator"])]
        variance = float((rows["std"] ** 2).mean())
        yield {
            "measure": str(measure),
            "group": group,
            "n_runs": posterior["n_runs"],
            "as_judged_bias": plain["bias"],
            **{name: posterior[name] for name in ("mae", "coverage_95", "width")},
            "smallest": _smallest(variances, variance),
        }


def _smallest(variances: PairVariances | None, variance: float = 0.0) -> float:
    """Return the minimum detectable difference that is detected if one run has this variance; NaN without
    any.
    """
    if variances is None:
        return float("nan")
    wider = replace(variances, common_error=variances.common_error + variance)
    return wider.smallest(_POWER, variances.n_topics, level=_LEVEL) or float("nan")


def _measure_view(trials: Mapping[str, LeaveOutResult]) -> View:
    """Return the view of the table by measure, with a note on its words."""
    near = "near: an organization left out of the pool; " * (_NEAR in trials)
    far = f"far: one of {N_KINDS} kinds of organizations; "
    if _FAR not in trials:
        far = f"far: not tried with fewer than {2 * N_KINDS} organizations; " * (_NEAR in trials)
    columns = tuple(list(_MEASURES)[1:]) if trials else ("smallest",)
    smallest = f"minimum detectable difference: detected in {level(_POWER)} of cases at {_LEVEL:g}"
    return View(
        title="By measure", names=("measure", "group"), columns=columns, note=f"{near}{far}{smallest}"
    )


# --- facts ---


def _fact_frame(collection: Collection, pool: PoolReport, cutoff: int) -> pd.DataFrame:
    """Return the table of facts: number, number as text and details of each."""
    facts = (*_judgment_facts(collection), *_pool_facts(collection, pool), hole_fact(collection, cutoff))
    rows = [
        (fact, float(amount), percent(amount) if isinstance(amount, float) else f"{amount:,}", details)
        for fact, amount, details in facts
    ]
    return pd.DataFrame(rows, columns=list(_FACTS))


Fact = tuple[str, int | float, str]


def _judgment_facts(collection: Collection) -> Iterator[Fact]:
    """Yield facts on topics and judgments."""
    relevance, n_topics = collection.relevance, len(collection.query_ids)
    n_with = [len(set(collection.pair_topic[relevance >= rel])) for rel in collection.levels or (1,)]
    with_levels = [f"{n} of {rel}" for rel, n in zip(collection.levels, n_with, strict=False)]
    details = f"{n_with[0]} with a document of relevance {(*collection.levels, 1)[0]} or more"
    without = [f"{n_topics - n_with[0]} without"] * (n_with[0] < n_topics)
    yield "topics", n_topics, some_of([details, *with_levels[1:], *without])
    levels, n_documents = np.unique(relevance[collection.judged], return_counts=True)
    by_level = [f"{rel}: {n:,}" for rel, n in zip(levels, n_documents, strict=True)]
    yield "judgments", int(n_documents.sum()), f"of relevance {some_of(by_level)}" if by_level else ""
    n_relevant = np.bincount(collection.pair_topic[relevance >= 1], minlength=n_topics)
    share = percent(n_relevant.sum() / max(n_documents.sum(), 1))
    details = f"{share} of them; per topic {n_relevant.min()} to {n_relevant.max():,}"
    yield "relevant", int(n_relevant.sum()), f"{details}, median {np.median(n_relevant):g}"
    for judge in collection.judges:
        yield f"labels of {judge.name}", int(judge.is_labeled.sum()), "an LLM judge: evidence, no judgments"


def _pool_facts(collection: Collection, pool: PoolReport) -> Iterator[Fact]:
    """Yield facts on the pool and on rankings."""
    depths = [depth for depth, _ in pool.depths]
    depth = f"to depth {pool.depth}" if len(depths) < 2 else f"to depths {depths[-1]} to {depths[0]}"
    depth = f"by {pool.strategy}" if pool.strategy else depth
    n_organizations = counted(pool.n_organizations, "organization")
    details = f"of {n_organizations}, {depth}; {counted(pool.n_runs, 'run')} at hand"
    yield "pooled runs", pool.n_pooled_runs, details if pool.n_pooled_runs else ""
    if pool.n_pooled_runs:
        alone = collection.judged & (sole_contributor(collection) >= 0)
        relevant = percent(float((collection.relevance[alone] >= 1).mean()) if alone.any() else float("nan"))
        details = f"judged documents that only one organization brought; {relevant} relevant"
        yield "hidden documents", int(alone.sum()), details
        explained = 1 - pool.n_unexplained / max(pool.n_judged, 1)
        n = f"{pool.n_unexplained:,} of {counted(pool.n_judged, 'judgment')}"
        details = f"by these runs, {n} not; {counted(pool.n_holes, 'hole')} in their pool"
        yield "explained", explained, details
    yield "ranks kept", collection.document.shape[2], "of a run and topic, at most"
    tables: list[tuple[str, Any]] = [("runs", collection.runs), ("topics", collection.topics)]
    tables += [("documents", table) for table in collection.documents]
    if columns := [(of, list(table.columns)) for of, table in tables if table.columns]:
        details = "; ".join(f"{some_of(names, 5)} of {of}" for of, names in columns)
        yield "columns", sum(len(names) for _, names in columns), details


# --- words ---


def _cautions(
    collection: Collection, pool: PoolReport, measures: Sequence[Measure], by_measure: pd.DataFrame
) -> Iterator[str]:
    """Yield what not to do with the collection, as far as it follows from facts."""
    yield from _graded_cautions(by_measure)
    if without := [str(m) for m in measures if m.rel > max(collection.levels, default=0)]:
        yield f"do not score by {some_of(without)}: no document is judged as relevant as that"
    if deep := [str(measure) for measure in measures if measure.cutoff > pool.depth > 0]:
        looks = "looks" if len(deep) == 1 else "look"
        yield (
            f"{some_of(deep)} {looks} below the pool depth of {pool.depth}: do not compare even runs of the "
            "pool as judged"
        )
    if not pool.n_pooled_runs:
        text = "no pool is known: do not read intervals as evidence from this collection; priors make them"
        yield Note("no-pool", text)
    elif pool.n_organizations < _FEW_ORGANIZATIONS:
        yield (
            f"{counted(pool.n_organizations, 'organization')} made the pool: do not trust intervals of "
            "other kinds of runs; judge some of their documents (judge-next)"
        )
    if not (collection.has_nonrelevant or pool.is_sparse):
        yield (
            "no document is judged nonrelevant: do not use judged precision, nor what rests on it "
            "(interpolated, smoothed, condensed-list)"
        )
    unexplained = pool.n_unexplained / max(pool.n_judged, 1)
    if pool.n_pooled_runs and unexplained > _MOST_UNEXPLAINED and not pool.doubts:
        yield (
            f"do not take these runs for the whole pool: they do not explain {percent(unexplained)} of the "
            "judgments"
        )
    pooled = by_measure[(by_measure["group"] == _POOLED) & by_measure["smallest"].notna()]
    if len(pooled):
        parts = (f"{number(d, _DIGITS)} in {m}" for m, d in pooled[["measure", "smallest"]].to_numpy())
        topics = counted(len(collection.query_ids), "topic")
        yield f"do not expect {topics} to detect differences below {some_of(parts)}"


def _graded_cautions(by_measure: pd.DataFrame) -> Iterator[str]:
    """Yield cautions on the bias of new runs, and on coverage that is too low."""
    new = by_measure[by_measure["group"] != _POOLED]
    if not len(new):
        return
    biased = new[new["as_judged_bias"].abs() >= 0.5 * 10**-_DIGITS]
    if parts := _parts(biased, "as_judged_bias", lambda bias: difference(bias, _DIGITS)):
        yield f"do not compare new runs with pooled ones as judged; mean error: {parts}"
    rare = new[new["coverage_95"] < _LEAST_COVERAGE]
    if parts := _parts(rare, "coverage_95", percent):
        yield f"do not rely on 95 % intervals of new runs; coverage: {parts}"


def _parts(rows: pd.DataFrame, column: str, text: Callable[[float], str]) -> str:
    """Return the values of a column by measure and group as text."""
    by_measure: dict[str, list[str]] = {}
    for measure, group, value in rows[["measure", "group", column]].itertuples(index=False):
        far = "far " * (group == _FAR)
        by_measure.setdefault(measure, []).append(f"{far}{text(value)}")
    return "; ".join(f"{measure} {', '.join(parts)}" for measure, parts in by_measure.items())


def _reference(collection: Collection) -> str:
    """Return a sentence on what to cite."""
    program = CITATIONS["bayespool"]
    return (
        f"Cite the papers of the campaign, the collection as {collection.fingerprint}, and bayespool "
        f"{__version__} ({', '.join(filter(None, (program.name, program.url)))})."
    )
