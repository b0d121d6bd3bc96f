"""Runs on several collections, or a table of scores: each row by itself, and the mean with equal weight."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import BoolArray, FloatArray, Progress
from bayespool.collection import Collection
from bayespool.collection.own import names_in_pool
from bayespool.comparisons.draws import draws_in_scope
from bayespool.comparisons.leaderboard import MEAN, Leaderboard, Mean
from bayespool.comparisons.pairs import check_baseline, compared_pairs
from bayespool.comparisons.significance import Pairs, adjust_p_values, applied_control, dunnett, p_values
from bayespool.comparisons.tables import TEST_NAMES, control_name
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError, NoCollectionError, known_names
from bayespool.evidence.difference_bounds import difference_bounds
from bayespool.measures import Estimates, Estimator, Measure, Values, equal_tailed_interval
from bayespool.measures.groups import Groups, t_test_of_groups
from bayespool.measures.populations import population_draws
from bayespool.names import AS_JUDGED, Control, PairControl, Scope, SignificanceTest
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.randomness import key_of
from bayespool.reading.score_files import gather_scores
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.scoring.estimators import estimator_labels
from bayespool.scoring.score_tables import far_runs, is_on_priors, list_conditions, missing_topics
from bayespool.scoring.scoring import score_targets
from bayespool.tables.files import PathLike
from bayespool.tables.formatting import counted, some_of
from bayespool.validation import check_choice, check_count, check_share, described, listed

_DECIMALS = 12
_N_DRAWS, _N_JUDGED = 10_000, 4_000  # of a table of scores; of a collection with nothing unjudged


@dataclass(frozen=True, eq=False)
class _Part:
    """Scores of a collection's runs under one measure, and draws of their means: what stays of it.

    ``judged`` has scores as judged by run and topic; ``bounds`` the ends of runs' means, and of the
    differences of pairs; ``estimates`` by estimator the basis, the means, and their draws by scope, in an
    order of the collection's own. An estimator whose basis is "bounds" has no means.
    """

    collection: str
    measure: Measure
    judged: FloatArray
    unjudged: FloatArray
    bounds: tuple[FloatArray, FloatArray]
    difference_bounds: tuple[FloatArray, FloatArray]
    estimates: Mapping[str, tuple[str, FloatArray, Mapping[str, FloatArray]]]

    def wins(self, estimator: str, scope: Scope, pairs: Pairs, level: float) -> BoolArray:
        """Return where the row's run is shown to be higher than the column's, shape (run, run)."""
        won, draws = np.zeros((len(self.judged),) * 2, dtype=bool), self.estimates[estimator][2]
        (first, second), (lower, upper) = pairs, self.difference_bounds
        if draws:
            of_scope = draws.get(scope, draws["these-topics"])
            lead = np.round(of_scope[:, first] - of_scope[:, second], _DECIMALS)
            tail = 1 - level / 2
            lower, upper = (lead > 0).mean(axis=0) - tail + 1e-12, tail - (lead < 0).mean(axis=0) - 1e-12
        won[first, second], won[second, first] = lower > 0, upper < 0
        return won


def score_several(
    collections: Mapping[str, Collection],
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    baseline: str | Iterable[str] | None = None,
    estimators: str | Estimator | Iterable[str | Estimator] | None = None,
    scope: Scope | Iterable[Scope] = ("these-topics", "population"),
    level: float = 0.05,
    control: PairControl = "holm",
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Leaderboard:
    """Score runs on several collections, and compare their means over these.

    Parameters
    ----------
    collections : mapping of str to Collection
        By name, each with its own pool and reading. They are asked for one after the other, and one that is
        scored is not needed again.
    run_ids : iterable of str, optional
        Runs that all collections have. Default: the runs to score that the first was read with. Where they
        are named, no other is scored: what ``unpool`` names leaves the pools that have it, of one collection
        or more.
    measures : measure, iterable of measures, or mapping of str to these, default "P@10"
        P@10, nDCG@10, …; or by the name of the collection.
    baseline : str or iterable of str, optional
        Runs that all others are compared with, and they not with one another.
    estimators : str, Estimator or iterable of them, default "posterior-combined"
        As for `bayespool.compare`. Without a pool, an estimate on priors alone counts only if a posterior is
        named here.
    scope : {"these-topics", "population", "groups"} or sequence of them
        What is uncertain beside unjudged documents: nothing, the topics of each collection (population), or
        the collections (groups), which are a sample of collections then.
    level : float, default 0.05
        A run wins on a collection where the chance that it is higher is at least 1 − level/2; without an
        estimate, where its bounds show it.
    control : {"holm", "benjamini-hochberg", "none"}
        Adjustment of p-values over the pairs of means.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    Leaderboard

    Raises
    ------
    InputError
        No collection; a run that one of them lacks; measures of which collections have other numbers; unknown
        run, measure, estimator or setting.

    Notes
    -----
    The mean counts each collection alike. Draws of collections are independent, so that its draws are the
    means of theirs, each collection's in an order that follows from the seed and its name; a row of a
    collection is that of `bayespool.score`. An estimator's mean is over the collections on which it has
    draws, or where nothing is unjudged; sparse judgments, and those without a pool, leave bounds alone. The
    mean as judged and its bounds are over all.

    The p-values test the mean difference as judged, with topics as a sample within each collection
    (`bayespool.measures.groups.t_test_of_groups`).

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import score_several
    >>> both = {"first": load_example(), "second": load_example()}
    >>> board = score_several(both, measures={"first": "P@10", "second": "nDCG@10"}, scope="these-topics")
    >>> print(board.runs[["run_id", "n_units", "value", "letters"]].round(1).to_string(index=False))
    run_id  n_units  value letters
     new-a        2    0.6       a
     new-b        2    0.4       b
    """
    scopes = listed("scope", scope, check_choice, Scope)
    against = tuple(dict.fromkeys(listed("baseline", baseline)))
    for name in ("groups", "systems"):
        if asked.get(name) is not None:
            raise InputError(f"{name} beside several collections", hint="leave them out")
    check_share("level", level)
    check_choice("control", control, PairControl)
    by_name = dict(measures) if isinstance(measures, Mapping) else {}
    for each in by_name.values() or (measures,):
        question = Asked(None, run_ids, each, estimators=estimators, **asked)
    given: Any = collections
    if not isinstance(given, Mapping):
        reason = f"a {type(given).__name__} where a mapping of collections is expected"
        raise NoCollectionError(reason, hint='give them by name: {"nq": collection, …}')
    if not collections:
        raise InputError("no collection", hint="name one or more")
    for name in sorted(by_name.keys() ^ set(collections)) if by_name else ():
        lacks = "measure of the collection" if name in collections else "collection"
        raise InputError(f"no {lacks} {name!r}", hint=known_names(name, list(collections)))
    unpool = listed("unpool", question.unpool, may_be_empty=True)
    lacking: dict[str, list[str]] = {name: [] for name in unpool}  # collections, by what leaves the pool
    runs: tuple[str, ...] | None = None
    if run_ids is not None:
        own = listed("run_ids", question.run_ids)
        runs = tuple(dict.fromkeys((*own, *(run for run in against if run in unpool))))
    by_collection, notes, of_each = dict[str, list[_Part]](), list[Note](), dict[str, Any]()
    for place, name in enumerate(collections):
        if progress is not None:
            progress(f"scoring: {name}", place, len(collections))
        here = {"measures": by_name.get(name, measures), "estimators": estimators, **asked}
        try:
            collection = collections[name]
            if run_ids is not None:
                here["unpool"] = names_in_pool(collection, unpool)
                for each in {*unpool} - {*here["unpool"]}:
                    lacking[each].append(name)
            by_collection[name], metadata = _score_one(name, collection, runs, against, scopes, here)
        except InputError as error:
            error.add_note(f"in the collection {name}")
            raise
        runs = metadata["run_ids"]
        notes += metadata.pop("notes")
        of_each[name] = metadata
        del collection
        gc.collect()  # a scored collection refers to itself, and would stay while the next ones are read
    assert runs is not None
    for each, without in lacking.items():
        if len(without) == len(collections):
            hint = "name a run or an organization that is in one of them"
            raise InputError(f"{each!r} is in no pool of {some_of(without)}", hint=hint)
        if without:
            notes.append(Note("scope", f"{each} is not in the pool of {some_of(without)}: nothing leaves it"))
    if len({len(parts) for parts in by_collection.values()}) > 1:
        raise InputError("other numbers of measures", hint="give each collection as many measures")
    settings: dict[str, Any] = {"run_ids": runs, "baseline": against, "scope": scopes, "level": level}
    settings |= {"control": control, "test": "paired-t", "measures": measures, "estimators": estimators or ()}
    pairs, prob = compared_pairs(runs, against), question.interval_prob
    by_place = list(zip(*by_collection.values(), strict=True))
    means = [
        mean
        for parts in by_place
        for mean in _means(parts, scopes, pairs, level, control, question.random_seed)
    ]
    rows = [_rows(part, _joined(parts), runs, scopes, prob) for parts in by_place for part in parts]
    for estimator in dict.fromkeys(name for parts in by_collection.values() for name in parts[0].estimates):
        bare = [n for n, parts in by_collection.items() if parts[0].estimates[estimator][0] == "bounds"]
        if bare:
            which = f"{len(bare)} of {counted(len(by_collection), 'collection')}"
            text = f"{which} without an estimate by {estimator}: {some_of(bare, 5)}; bounds stand for them"
            notes.insert(0, Note("no-value", text))
    about = f"{TEST_NAMES['paired-t']} with topics as a sample within collections"
    about += f", {control_name(control, 'paired-t', max(len(pairs[0]), 1))}"
    return _leaderboard(
        "collection",
        runs,
        against,
        rows,
        means,
        prob,
        notes,
        {
            "settings": question.describe(**settings),
            "estimators": next(iter(of_each.values())).pop("estimators"),
            "collections": of_each,
            "test": about,
        },
    )


def _score_one(
    name: str,
    collection: Collection,
    run_ids: Sequence[str] | None,
    against: Sequence[str],
    scopes: Sequence[Scope],
    asked: Mapping[str, Any],
) -> tuple[list[_Part], dict[str, Any]]:
    """Score the runs of one collection; return a part for each measure, and what to know of it."""
    if lacking := [run for run in run_ids or () if run not in collection.run_ids]:
        hint = known_names(lacking[0], collection.run_ids)
        raise InputError(f"collection {name!r} has no run {lacking[0]!r}", hint=hint)
    question, is_named = Asked(collection, run_ids, **asked), asked["estimators"] is not None
    targets = question.resolve(question.estimators_or("posterior-combined"))
    if run_ids is not None:
        targets = replace(targets, run_ids=tuple(run_ids))
    check_baseline(against, targets.run_ids, (), "none")
    scores = score_targets(targets, settings=question.describe(), ci_prob=question.interval_prob)
    pairs, parts = compared_pairs(scores.run_ids, against), list[_Part]()
    for bounds in scores.bounds:
        estimates = dict[str, Any]()
        for estimator, label in zip(targets.estimators, estimator_labels(targets.estimators), strict=True):
            e, basis = scores[bounds.measure, label].comparable_estimates(), "posterior"
            if not bounds.has_unjudged.any():
                basis = "judged"
                if e.draws is None:
                    amount = np.broadcast_to(bounds.low.amount, (_N_JUDGED, *bounds.low.amount.shape))
                    e = replace(e, draws=Values(amount, bounds.low.unit), value=bounds.low.means())
            elif not isinstance(estimator, PosteriorEstimator):
                basis = "correction" if e.draws is None else "posterior"
            elif e.draws is None or is_on_priors(scores.metadata):
                basis = "priors" if is_named and e.draws is not None else "bounds"
            has_draws = basis != "bounds" and e.draws is not None
            draws = _draws(name, e, scopes, question.random_seed) if has_draws else {}
            estimates[label] = basis, np.where(basis == "bounds", np.nan, e.value), draws
        parts.append(
            _Part(
                collection=name,
                measure=bounds.measure,
                judged=bounds.low.scores(),
                unjudged=bounds.unjudged_share,
                bounds=(bounds.least.means(), bounds.most.means()),
                difference_bounds=difference_bounds(targets.collection, bounds, pairs, targets.estimand),
                estimates=estimates,
            )
        )
    conditions = list_conditions(scores.metadata, scores.measures, sorted(far_runs(scores.to_frame())))
    if missing := missing_topics(scores.metadata):
        conditions.append(Note("topics-missing", missing))
    return parts, {
        "run_ids": scores.run_ids,
        "fingerprint": scores.metadata["fingerprint"],
        "measures": [str(measure) for measure in scores.measures],
        "n_topics": len(scores.query_ids),
        "estimators": scores.metadata["estimators"],
        "notes": [Note(note.kind, f"{name}: {note}") for note in conditions],
    }


def _draws(name: str, e: Estimates, scopes: Sequence[Scope], random_seed: int) -> dict[str, FloatArray]:
    """Return draws of runs' means by scope, shape (draw, run), in an order of the collection's own."""
    assert e.draws is not None
    order = np.random.default_rng(key_of(random_seed, name)).permutation(len(e.draws.amount))
    wanted: list[Scope] = ["these-topics"]
    if "population" in scopes:
        wanted.append("population")
    drawn = {scope: draws_in_scope(e, scope, random_seed) for scope in wanted}
    return {scope: np.asarray(values[order] / unit) for scope, (values, unit) in drawn.items()}


def _means(
    parts: Sequence[_Part],
    scopes: Sequence[Scope],
    pairs: Pairs,
    level: float,
    control: PairControl,
    random_seed: int,
) -> Iterator[Mean]:
    """Yield the mean over collections for each estimator and scope; as judged where none counts."""
    n_runs = len(parts[0].judged)
    p = np.full((n_runs, n_runs), np.nan)
    if all(part.judged.shape[1] > 1 for part in parts):
        groups = Groups(tuple(part.collection for part in parts for _ in range(part.judged.shape[1])))
        apart = np.concatenate([part.judged[pairs[0]] - part.judged[pairs[1]] for part in parts], axis=1)
        p[pairs] = p.T[pairs] = t_test_of_groups(apart, groups).p
    least, most = np.mean([part.measure.range for part in parts], axis=0)
    shared: dict[str, Any] = {
        "measure": _joined(parts),
        "as_judged": np.mean([part.judged.mean(axis=1) for part in parts], axis=0),
        "bounds": tuple(np.mean([part.bounds for part in parts], axis=0)),
        "difference_bounds": tuple(np.mean([part.difference_bounds for part in parts], axis=0)),
        "limits": (float(least), float(most)),
        "p": adjust_p_values(p, control, pairs),
        "n_contested": len(parts),
    }
    for estimator in parts[0].estimates:
        with_value = [part for part in parts if part.estimates[estimator][0] != "bounds"]
        values = [part.estimates[estimator][1] for part in with_value]
        for scope in scopes:
            won = [part.wins(estimator, scope, pairs, level) for part in parts]
            yield Mean(
                **shared,
                estimator=estimator if values else AS_JUDGED,
                scope=scope,
                n_units=len(values) or len(parts),
                value=np.mean(values, axis=0) if values else shared["as_judged"],
                draws=_mean_draws([part.estimates[estimator][2] for part in with_value], scope, random_seed),
                wins=np.sum(won, axis=0),
            )
            if not values or not all(part.estimates[estimator][2] for part in with_value):
                break  # without draws there is nothing to say of other topics


def _joined(parts: Sequence[_Part]) -> str:
    """Return the measures of collections, each once."""
    return ", ".join(dict.fromkeys(str(part.measure) for part in parts))


def _mean_draws(
    draws: Sequence[Mapping[str, FloatArray]], scope: Scope, random_seed: int
) -> FloatArray | None:
    """Return draws of the mean over collections, shape (draw, run), or None where one has no draws."""
    if not draws or not all(draws):
        return None
    of_scope = [each["population" if scope == "population" else "these-topics"] for each in draws]
    n_draws = min(map(len, of_scope))
    by_collection = np.stack([each[:n_draws] for each in of_scope], axis=2)
    if scope == "groups":
        return population_draws(by_collection, random_seed=random_seed)
    return np.asarray(np.round(by_collection.mean(axis=2), _DECIMALS))


def _rows(
    part: _Part, measures: str, run_ids: Sequence[str], scopes: Sequence[Scope], ci_prob: float
) -> pd.DataFrame:
    """Return the rows of a collection, by estimator, scope and run."""
    frames, (least, most) = [], part.measure.range
    for estimator, (basis, value, draws) in part.estimates.items():
        for scope in scopes if draws else scopes[:1]:
            row: dict[str, Any] = {"estimator": estimator, "scope": scope, "basis": basis}
            row["value"] = value
            if draws:
                ends = equal_tailed_interval(draws.get(scope, draws["these-topics"]), ci_prob)
                row["lower"], row["upper"] = (end.clip(least, most) for end in ends)
                row["ci_prob"] = ci_prob
            frames.append(pd.DataFrame({"run_id": np.array(run_ids, dtype=object), **row}))
    n = len(frames)
    columns = {"as_judged": part.judged.mean(axis=1), "unjudged": part.unjudged}
    columns |= dict(zip(("bound_lower", "bound_upper"), part.bounds, strict=True))
    frame = pd.concat(frames, ignore_index=True).assign(**{k: np.tile(v, n) for k, v in columns.items()})
    return frame.assign(collection=part.collection, measure=str(part.measure), measures=measures)


def compare_table(
    scores: PathLike | Any,
    measure: str | None = None,
    *,
    baseline: str | Iterable[str] | None = None,
    test: SignificanceTest = "paired-t",
    control: Control = "holm",
    ci_prob: float | None = None,
    random_seed: int = 1,
) -> Leaderboard:
    """Compare systems by a table of their scores, without runs or judgments.

    Scores are taken as judged: nothing is known of documents that nobody judged, and the topics or tasks are
    a sample of topics or tasks like them.

    Parameters
    ----------
    scores : path or frame
        CSV file or data frame, long (``system,topic,score`` or ``system,task,score``) or wide
        (``topic,a,b``, ``task,a,b`` or, with a row for each system, ``system,nq,fiqa``); or a folder with a
        folder of result files of mteb or BEIR for each system.
    measure : str, optional
        Measure of the result files, such as nDCG@10; default: the main score of mteb, nDCG@10 of BEIR.
    baseline : str or iterable of str, optional
        System that all others are compared with; or several.
    test : {"paired-t", "wilcoxon", "randomization", "tukey-hsd"}
        Significance test of a pair.
    control : {"holm", "benjamini-hochberg", "none", "dunnett"}
        Adjustment of p-values over the pairs, as for `bayespool.compare`.
    ci_prob : float, optional
        Probability of the intervals, and of all ranks at once; default: 0.95.
    random_seed : int, default 1
        Random seed of the 10,000 draws of means.

    Returns
    -------
    Leaderboard

    Raises
    ------
    InputError
        Unusable scores, fewer than two systems, or fewer than two topics or tasks that all of them have.

    Notes
    -----
    Draws are those of `bayespool.compare` on topics like these: of a pair, the t distribution of the paired t
    test.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayespool.comparisons import compare_table
    >>> table = {"topic": list("1234"), "a": [0.9, 0.8, 0.9, 0.7], "b": [0.4, 0.3, 0.5, 0.2]}
    >>> board = compare_table(pd.DataFrame(table | {"c": [0.4, 0.4, 0.4, 0.2]}))
    >>> print(board.runs[["run_id", "value", "rank_lower", "rank_upper", "letters"]].to_string(index=False))
    run_id  value  rank_lower  rank_upper letters
         a  0.825           1           1       a
         b  0.350           2           3       b
         c  0.350           2           3       b
    """
    check_choice("test", test, SignificanceTest)
    check_choice("control", control, Control)
    check_count("random_seed", random_seed, least=0)
    prob, against = fill_ci_prob(ci_prob), tuple(dict.fromkeys(listed("baseline", baseline)))
    table = gather_scores(scores, measure)
    check_baseline(against, table.systems, [test], control)
    pairs, values = compared_pairs(table.systems, against), table.values
    if control == "dunnett":
        p = dunnett(values, table.systems.index(against[0]))
    else:
        p = p_values(values, test, random_seed=random_seed)
        p = adjust_p_values(p, applied_control(test, control), pairs)
    lead = np.round(values[:, None] - values, _DECIMALS)
    mean, unknown = values.mean(axis=1), np.full(len(values), np.nan)
    over_all = Mean(
        measure=table.measure,
        estimator=AS_JUDGED,
        scope="population" if table.unit == "topic" else "groups",
        n_units=len(table.units),
        value=mean,
        as_judged=mean,
        bounds=(unknown, unknown),
        difference_bounds=(np.full(len(pairs[0]), np.nan),) * 2,
        draws=population_draws(np.broadcast_to(values, (_N_DRAWS, *values.shape)), random_seed=random_seed),
        limits=(-np.inf, np.inf),
        p=p,
        wins=(lead > 0).sum(axis=2),
        n_contested=len(table.units),
    )
    columns = {"measure": table.measure, "measures": table.measure, "estimator": AS_JUDGED}
    columns |= {"scope": over_all.scope, "basis": "table"}
    rows = pd.DataFrame(
        {
            "collection": np.repeat(np.array(table.units, dtype=object), len(values)),
            "run_id": np.tile(np.array(table.systems, dtype=object), len(table.units)),
            "as_judged": values.T.ravel(),
        }
    ).assign(**columns)
    notes = [Note("scope", "scores as judged: what unjudged documents could change is not known of them")]
    if table.left_out:
        n = len(table.left_out)
        text = f"{counted(n, table.unit)} left out, which some system lacks: {some_of(table.left_out, 5)}"
        notes.append(Note("topics", text))
    settings = {"baseline": against, "test": test, "control": control, "random_seed": random_seed}
    about = f"{TEST_NAMES[test]}, {control_name(control, test, len(pairs[0]))}"
    metadata = {"settings": described(measure=measure, ci_prob=prob, **settings), "test": about}
    return _leaderboard(table.unit, table.systems, against, [rows], [over_all], prob, notes, metadata)


def _leaderboard(
    unit: str,
    run_ids: Sequence[str],
    baseline: Sequence[str],
    rows: Sequence[pd.DataFrame],
    means: Sequence[Mean],
    ci_prob: float,
    notes: Sequence[Note],
    metadata: Mapping[str, Any],
) -> Leaderboard:
    """Return the leaderboard of rows and means, these also below the rows."""
    runs, differences = (
        pd.concat(frames, ignore_index=True)
        for frames in zip(*(mean.frames(run_ids, baseline, ci_prob) for mean in means), strict=True)
    )
    basis = [f"{n} of {means[0].n_contested}" for n in runs["n_units"]]
    below = runs.assign(collection=MEAN, basis=basis, measures=runs["measure"])
    names = ["measures", "estimator", "scope", "collection", "measure", "run_id", "basis", "value", "lower"]
    names += ["upper", "ci_prob", "as_judged", "bound_lower", "bound_upper", "unjudged"]
    return Leaderboard(
        unit=unit,
        scores=pd.concat([*rows, below], ignore_index=True).reindex(columns=names),
        runs=runs,
        differences=differences,
        metadata={"bayespool": __version__, **metadata},
        caveats=tuple(notes),
    )
