"""PyMC graphs of models at the front door: what is hidden, what is unjudged, and the runs' scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayespool.arrays import IndexArray
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.inference import Source
from bayespool.measures import Additive, parse_measure
from bayespool.models.evidence import ModelEvidence, UnjudgedDocuments
from bayespool.names import COMBINED_MODELS
from bayespool.posterior.distance import fewness, slope_within_rankings
from bayespool.posterior.estimator import PosteriorEstimator, parse_posterior
from bayespool.posterior.fitting import prepare_model
from bayespool.posterior.preparation import PreparedModel, ScoringProblem
from bayespool.posterior.thresholds import find_thresholds, threshold_levels
from bayespool.tables.files import variable_name


def model_graph(
    collection: Collection,
    measure: object = "P@10",
    model: str = "ratio",
    *,
    run_ids: str | Iterable[str] = (),
    rel: int | None = None,
    priors: Mapping[str, str] | None = None,
) -> Any:
    """Return one model of a measure's hidden documents as a ``pymc.Model``, to read, change and sample.

    Parameters
    ----------
    collection : Collection
    measure : measure, default "P@10"
        Its cutoff and relevance say which documents are evidence.
    model : str, default "ratio"
        Out of `bayespool.models.MODELS`.
    run_ids : str or iterable of str, optional
        Runs whose unjudged documents and scores are in the graph, too.
    rel : int, optional
        Threshold of relevance: the documents that reach the threshold below reach it or not. Default: the
        lowest, at which all documents are evidence.
    priors : mapping of str to str, optional
        Priors that replace the model's own, by variable.

    Returns
    -------
    pymc.Model
        With ``hidden_relevant`` observed, a row for each (run, topic), or for each document under a model
        with predictors of single ones. With runs it has ``unjudged_relevant`` (unjudged), 0 or 1, and their
        scores (run_id), under a name like ``P_10``, as ``Deterministic``: judged relevant documents plus
        drawn ones. New organizations have effects of their own, as in `bayespool.score`, but the
        ``freedom`` of their tails has its prior, no shift is added to the log odds where judging depended on
        relevance, no run found nothing on a topic, and models of counts pass over labels of LLM judges.
        What the data do not inform is continuous, so that ``pymc.sample`` takes the graph as it is.

    Raises
    ------
    InputError
        Unknown model, run, prior or threshold; runs, and a measure that is no sum over relevant documents,
        such as nDCG, or that tells several levels apart: `bayespool.fit` has draws of those.

    Examples
    --------
    >>> from bayespool import load_example, model_graph
    >>> graph = model_graph(load_example(), "P@10", run_ids=["new-a", "new-b"])
    >>> graph["P_10"].eval().shape, list(graph.coords["run_id"])
    ((2,), ['new-a', 'new-b'])
    """
    estimator = parse_posterior(model, priors=priors or {})
    problem = find_problem(collection, measure, estimator, run_ids, rel)
    prepared, _ = prepare_model(problem, estimator.model, estimator.priors, estimator.random_seed)
    graph = prepared.graph(find_documents(problem, prepared) if problem.run_ids else None)
    cells = find_cells(prepared.source())
    dim = "cell" if len(cells.labels) == len(cells.row) else "document"
    graph.add_coord(dim, cells.labels if dim == "cell" else range(len(cells.row)))
    graph.named_vars_to_dims["hidden_relevant"] = (dim,)
    return graph


def find_problem(
    collection: Collection,
    measure: object,
    estimator: PosteriorEstimator,
    run_ids: str | Iterable[str],
    rel: int | None,
) -> ScoringProblem:
    """Return the problem of scoring some runs, or none, at one threshold of relevance."""
    expect_collection(collection)
    if estimator.model == "combined":
        raise InputError("combined is a mixture", hint=f"name one model: {', '.join(COMBINED_MODELS)}")
    parsed, runs = parse_measure(measure), (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
    collection.run_index(runs)  # refuses unknown runs
    thresholds = {threshold.rel: threshold for threshold in find_thresholds(collection, parsed)}
    if rel is not None and rel not in thresholds:
        known = ", ".join(map(str, thresholds))
        raise InputError(f"{parsed} has no threshold rel={rel}", hint=f"it has {known}")
    threshold = thresholds[next(iter(thresholds)) if rel is None else rel]
    return ScoringProblem(collection, runs, parsed, estimator.estimand, asked_threshold=threshold)


class Cells(NamedTuple):
    """The (run, topic) pairs with hidden documents, ascending, and the cell of each row of evidence."""

    labels: tuple[str, ...]
    run: tuple[str, ...]
    topic: tuple[str, ...]
    row: IndexArray


def find_cells(source: Source) -> Cells:
    """Return the cells of a model's evidence."""
    e = source.evidence
    run, topic = (e.hidden_run, e.hidden_topic) if isinstance(e, ModelEvidence) else (e.run, e.topic)
    return name_cells(source, run, topic)


def name_cells(source: Source, run: IndexArray, topic: IndexArray) -> Cells:
    """Return the distinct pairs among runs and topics, given as indices of shape (row,)."""
    pairs, row = np.unique(np.column_stack([run, topic]), axis=0, return_inverse=True)
    runs = tuple(source.run_ids[r] for r in pairs[:, 0])
    topics = tuple(source.evidence.query_ids[t] for t in pairs[:, 1])
    return Cells(tuple(map("{}, {}".format, runs, topics)), runs, topics, row.reshape(-1))


def find_documents(problem: ScoringProblem, prepared: PreparedModel) -> UnjudgedDocuments:
    """Return the unjudged documents of the runs to score, with what a relevant one adds to each score."""
    measure, u, evidence = problem.measure, problem.unknowns, prepared.evidence
    thresholds = find_thresholds(problem.collection, measure)
    if not isinstance(measure, Additive) or len(thresholds) > 1:
        raise InputError(
            f"no node of a graph has {measure}: it is no sum over relevant documents, or has a model for "
            "each of several levels of relevance",
            hint=f"fit(collection, {str(measure)!r}, run_ids=…) draws it; for a node take P@{measure.cutoff}",
        )
    names = [problem.collection.organizations[o] for o in problem.organization]
    new = tuple(sorted({n for n, o in zip(names, prepared.organization, strict=True) if o < 0}))
    n_known = len(evidence.organizations)
    new_runs = np.flatnonzero(prepared.organization < 0)
    of_run = np.array(prepared.organization, dtype=np.int64)
    of_run[new_runs] = n_known + np.arange(len(new_runs))
    few, usually_few = np.zeros(len(new_runs)), 0.0
    if problem.has_pool_evidence:
        n_hidden = evidence.n_hidden_by_organization
        few, usually_few = (
            fewness(problem.n_unjudged[new_runs]),
            float(np.average(fewness(n_hidden), weights=n_hidden)),
        )
    document, rows = np.arange(len(u)), {}
    if isinstance(evidence, ModelEvidence):
        places = problem.places(problem.count_depth)
        document = places.document
        rows["residual"] = problem.counts.residual[places.run, u.topic[document], 0]
        rows["run"] = np.array([evidence.run_ids.index(run) for run in problem.run_ids])[places.run]
        rows |= evidence.levels_of_runs(rows["run"], u.topic[document])
    else:
        assert prepared.predictors is not None
        end = len(evidence.predictor_names)
        rows["predictors"] = prepared.predictors[:, :end]
        for factor in evidence.factors:
            if factor.of == "topic":
                rows[factor.name] = factor.at(u.topic, u.topic)
        for name, n_levels in prepared.spec.crossed(evidence).items():
            rows[prepared.spec.effects[name].dim] = prepared.predictors[:, end : end + n_levels]
            end += n_levels
    topic, organization = u.topic[document], of_run[u.run[document]]
    cell = organization * len(evidence.query_ids) + topic
    rows |= {"topic": topic, "organization": organization, "organization_topic": cell}
    judged = score_bounds(problem.collection, problem.run_ids, measure, estimand=problem.estimand).low
    none, one = measure.gains(np.array(threshold_levels(problem.collection, thresholds)))
    shallow = u.place_rank < measure.cutoff
    place_document = (np.repeat(u.start[:-1], np.diff(u.place_start)) + u.place_unknown)[shallow]
    gains = np.zeros((len(problem.run_ids), len(u)))
    added = measure.weights()[u.place_rank[shallow]] * (one - none)
    np.add.at(gains, (u.place_run[shallow], place_document), added)
    below, within = problem.below_pool, None
    if below.any() and "log_rank" not in prepared.spec.predictors:
        within = slope_within_rankings(problem.held_out)
    return UnjudgedDocuments(
        score=variable_name(measure),
        run_ids=problem.run_ids,
        organizations=new,
        new_organization=np.array([new.index(names[r]) for r in new_runs], dtype=np.int64),
        few=few,
        usually_few=usually_few,
        labels=tuple(f"{q}, {d}" for t, q in enumerate(evidence.query_ids) for d in u.doc_ids(t)),
        rows=rows,
        document=document,
        judged=judged.totals() / judged.per_mean(),
        gains=gains / judged.per_mean(),
        below_pool=below if below.any() else None,
        slope_within=within,
    )
