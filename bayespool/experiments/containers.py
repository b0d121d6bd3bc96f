"""Containers of a fit for ArviZ: prior, posterior, predictions and likelihoods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.errors import InputError
from bayespool.experiments.hidden import Fitting, HiddenDocuments, HiddenRows, row_log_odds
from bayespool.experiments.predictions import HeldOutPrediction
from bayespool.experiments.priors import block_log_odds, draw_priors
from bayespool.experiments.questions import Question
from bayespool.inference.cells import draw_effects_of_rows
from bayespool.measures import Estimates, Precision
from bayespool.models import LinearEvidence, Structure
from bayespool.models.evidence import ModelEvidence
from bayespool.posterior import PreparedModel, slope_effect

if TYPE_CHECKING:
    from bayespool.inference import Fit, Source


IndexArray = npt.NDArray[np.int64]

_MAX_LOG_ODDS_PER_BLOCK = 2**23


@dataclass(frozen=True, eq=False)
class _Table:
    """Documents counted by run and topic: the axis, the position on it of each observation of the model, and
    the variables.
    """

    dim: str
    row: IndexArray
    observed: dict[str, npt.NDArray[Any]]
    constant: dict[str, npt.NDArray[Any]]


def fit_container(estimates: Estimates, model: str | None = None) -> Any:
    """Gather the parameters of one model behind estimates with their priors, the data and its likelihood.

    A mixture has a container per model; its attribute ``weights`` has their shares of the mixture's draws.

    Parameters
    ----------
    estimates : Estimates
        Of a posterior estimator, as ``score`` returns them.
    model : str, optional
        One of ``estimates.fits``; may be left out where there is only one.

    Returns
    -------
    xarray.DataTree
        With the groups ``posterior``, ``sample_stats``, ``prior`` (as many draws), ``log_likelihood``,
        ``observed_data`` and ``constant_data``; without a hidden document neither data nor likelihood. A
        *cell* is a (run, topic) with hidden documents, as deep as the model learns from them. Variables:
        ``hidden_relevant`` (cell), the number of relevant ones among them; its log likelihood is of which
        ones are, the same observation for all models that learn from the same documents. Models of counts
        also have ``judged_relevant`` (ranking), of the judged documents of a (run, topic), without a log
        likelihood, since leaving one out does not test predictions of hidden documents. ``posterior`` has
        effects of organization × topic only of organizations that are evidence and have a run to score; for
        the likelihood all are drawn, given all else and the documents.

        Attributes: ``bayespool_version``, ``method``, ``measure``, ``model``, ``weight`` (of the model in the
        draws of the estimates), ``weights`` (of all, as JSON), ``engine``, ``collection_fingerprint``,
        ``random_seed``, ``problems``.

    Raises
    ------
    InputError
        No estimates, a mixture and no model named, no such model, nothing sampled, or a fit of your own
        without a source.

    Examples
    --------
    >>> from bayespool import fit_container, load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-evidence", draws=100)
    >>> tree = fit_container(scores["posterior-evidence", "P@10"])
    >>> sorted(tree.children)[:4], tree["log_likelihood"]["hidden_relevant"].sizes["draw"]
    (['constant_data', 'log_likelihood', 'observed_data', 'posterior'], 400)
    """
    from bayespool.tables import build_container

    if not isinstance(estimates, Estimates):
        raise InputError(
            f"a fit is of estimates, not of {type(estimates).__name__}",
            hint='take them from what score returns, such as scores["posterior-ratio", "P@10"]; '
            "scores that were read back have no fits",
        )
    name = estimates.model_of(model)
    fit: Fit = estimates.fits[name]
    if fit.source is None:
        raise InputError(f"{estimates.method}: the fit of {name} does not say what evidence it is of")
    seed = estimates.random_seed or 0
    structure = fit.source.spec.structure(fit.source.evidence)
    kept = fit.source.spec.structure(fit.source.evidence, fit.source.known)
    prior = draw_priors(kept, fit.shape[0] * fit.shape[1], np.random.default_rng([seed, 3]))
    groups: dict[str, dict[str, npt.NDArray[Any]]] = {
        "posterior": dict(fit.variables),
        "sample_stats": dict(fit.sample_stats),
        "prior": {v: prior[v].reshape(*fit.shape, *prior[v].shape[1:]) for v in fit.variables},
    }
    dims = {variable: axes for variable, axes in fit.dims.items() if axes}
    coords = dict(fit.coords)
    tables = _tables(fit.source)
    for table in tables:
        groups.setdefault("observed_data", {}).update(table.observed)
        groups.setdefault("constant_data", {}).update(table.constant)
        dims |= dict.fromkeys((*table.observed, *table.constant), (table.dim,))
        coords[table.dim] = range(table.row.max() + 1)
    if tables:
        groups["log_likelihood"] = {"hidden_relevant": _log_likelihood(fit, structure, tables[0].row, seed)}
    return build_container(
        {group: variables for group, variables in groups.items() if variables},
        dims=dims,
        coords=coords,
        attrs={
            "bayespool_version": __version__,
            "method": estimates.method,
            "measure": str(estimates.measure),
            "model": name,
            "weight": estimates.weights.get(name, 1.0),
            "weights": json.dumps(dict(estimates.weights)),
            "engine": fit.diagnostics.engine,
            "collection_fingerprint": estimates.fingerprint,
            "random_seed": seed,
            "problems": "; ".join(fit.diagnostics.problems),
        },
    )


def _tables(source: Source) -> list[_Table]:
    """Hidden documents, then judged ones where the model learns from them; empty without a hidden
    document.
    """
    e = source.evidence
    if not len(e.n_hidden):
        return []
    run, topic = (e.hidden_run, e.hidden_topic) if isinstance(e, ModelEvidence) else (e.run, e.topic)
    tables = [_table(source, "cell", "hidden", run, topic, e.n_hidden, e.n_hidden_relevant)]
    if isinstance(e, ModelEvidence) and source.spec.judged is not None:
        of_judged = (e.judged_run, e.judged_topic, e.n_judged, e.n_relevant)
        tables.append(_table(source, "ranking", "judged", *of_judged))
    return tables


def _table(
    source: Source,
    dim: str,
    kind: str,
    run: IndexArray,
    topic: IndexArray,
    n: IndexArray,
    n_relevant: IndexArray,
) -> _Table:
    pairs, row = np.unique(np.column_stack([run, topic]), axis=0, return_inverse=True)
    row = row.reshape(-1)
    observed = {f"{kind}_relevant": np.bincount(row, n_relevant).astype(np.int32)}
    constant = {
        f"{dim}_n_{kind}": np.bincount(row, n).astype(np.int32),
        f"{dim}_run": np.array([source.run_ids[r] for r in pairs[:, 0]]),
        f"{dim}_topic": np.array([source.evidence.query_ids[t] for t in pairs[:, 1]]),
    }
    return _Table(dim, row, observed, constant)


def _log_likelihood(
    fit: Fit, structure: Structure, cell: IndexArray, random_seed: int
) -> npt.NDArray[np.float32]:
    """Log chance of which documents of each cell are relevant, shape (chain, draw, cell), with effects of
    organizations on topics drawn given the other parameters and the documents.
    """
    draws, block = fit.draws(), structure.blocks[-1]  # of hidden documents
    of_topics = block.predictors[0].groups.get("interaction")
    draws.pop("interaction_effect", None)
    rng = np.random.default_rng([random_seed, 4])
    order = np.argsort(cell, kind="stable")
    start = np.flatnonzero(np.diff(cell[order], prepend=-1))
    n_draws = fit.shape[0] * fit.shape[1]
    log_likelihood = np.empty((n_draws, len(start)), dtype=np.float32)
    step = max(1, _MAX_LOG_ODDS_PER_BLOCK // len(cell))
    for first in range(0, n_draws, step):
        part = {name: values[first : first + step] for name, values in draws.items()}
        log_odds = block_log_odds(structure, block, part)
        if of_topics is not None:
            log_odds += draw_effects_of_rows(
                log_odds, block.successes, block.trials, of_topics, part["sigma_interaction"], rng
            )
        row_log_likelihood = block.successes * log_odds - block.trials * np.logaddexp(0, log_odds)
        log_likelihood[first : first + step] = np.add.reduceat(row_log_likelihood[:, order], start, axis=1)
    return log_likelihood.reshape(*fit.shape, -1)


FloatArray = npt.NDArray[np.float64]


def gather_container(
    prepared: PreparedModel,
    hidden: HiddenDocuments,
    fitting: Fitting,
    prediction: HeldOutPrediction,
    *,
    random_seed: int = 1,
    fit: Fit | None = None,
) -> Any:
    """Fit a model to the whole pool unless `fit` is given, and gather it with its priors and its predictions;
    `ModelChecks` describes the groups. The prepared model and the hidden documents are on the same rung of
    the measure's ladder.
    """
    from bayespool.tables import build_container

    rows = hidden.rows(prepared.evidence)
    if fit is None:
        fit = fitting.fit(prepared, prepared.evidence, random_seed, ())
    shape = next(iter(fit.variables.values())).shape[:2]
    rng = np.random.default_rng([random_seed, 3])
    prior = draw_priors(prepared.structure(known=()), shape[0] * shape[1], rng)
    cells, cell_of_document = np.unique(
        np.column_stack([rows.run, rows.topic])[rows.of_document], axis=0, return_inverse=True
    )
    replicate = _Replication(prepared, hidden, rows, cell_of_document.reshape(-1), rng)
    before, after = replicate(prior, known=False), replicate(fit.draws(), known=True)

    counts_alone = not _is_counted(prediction)
    n_observed = hidden.counts.n_hidden_relevant.sum(axis=1, dtype=np.int32)[:, 0]

    def of_runs(n_relevant: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
        if counts_alone:
            return {"n_hidden_relevant": n_relevant}
        return {
            "n_hidden_relevant": n_relevant,
            "precision": (prediction.known + n_relevant) / prediction.per_mean,
        }

    def values(amount: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        if not counts_alone:
            return of_runs(amount)
        first = not hidden.problem.asked.given
        return {"value": (prediction.known + amount) / prediction.per_mean} if first else {}

    def predictive(replicated: _Replicated) -> dict[str, npt.NDArray[Any]]:
        return {
            "hidden_relevant": replicated.of_cells.reshape(*shape, -1),
            **of_runs(replicated.of_runs.reshape(*shape, -1)),
        }

    groups: dict[str, dict[str, npt.NDArray[Any]]] = {
        "posterior": dict(fit.variables),
        "sample_stats": dict(fit.sample_stats),
        "prior": {name: prior[name].reshape(*shape, *prior[name].shape[1:]) for name in fit.variables},
        "prior_predictive": predictive(before),
        "posterior_predictive": predictive(after),
        "predictions": values(prediction.draws.reshape(*shape, -1)),
        "log_likelihood": {"hidden_relevant": after.log_likelihood.reshape(*shape, -1)},
        "observed_data": {
            "hidden_relevant": replicate.n_relevant.astype(np.int16),
            **of_runs(n_observed),
            **values(prediction.observed),
        },
        "constant_data": {
            "cell_n_hidden": replicate.n_hidden.astype(np.int16),
            "cell_run": np.array([hidden.counts.run_ids[r] for r in cells[:, 0]]),
            "cell_topic": np.array([hidden.counts.query_ids[t] for t in cells[:, 1]]),
        },
        "predictions_constant_data": {
            "n_hidden": hidden.counts.n_hidden.sum(axis=1, dtype=np.int32)[:, 0],
            "n_judged_relevant": hidden.counts.n_relevant.sum(axis=1, dtype=np.int32)[:, 0],
            "fold": prediction.fold,
            "organization_of_run": np.array(prediction.organizations),
        },
    }
    of_cells = ("hidden_relevant", "cell_n_hidden", "cell_run", "cell_topic")
    of_run = ("n_hidden_relevant", "precision", "value", "n_hidden", "n_judged_relevant", "fold")
    dims = {name: dims for name, dims in fit.dims.items() if dims}
    dims |= {name: ("cell",) for name in of_cells}
    dims |= {name: ("pooled_run",) for name in (*of_run, "organization_of_run")}
    return build_container(
        {name: variables for name, variables in groups.items() if variables},
        dims=dims,
        coords=dict(fit.coords) | {"cell": range(len(cells)), "pooled_run": prediction.run_ids},
        attrs={
            "bayespool_version": __version__,
            "model": prepared.model,
            "measure": str(hidden.measure),
            "engine": fitting.engine,
            "collection_fingerprint": hidden.collection.fingerprint,
            "random_seed": random_seed,
            "problems": "; ".join((*fit.diagnostics.problems, *prediction.problems)),
        },
    )


def _is_counted(p: HeldOutPrediction) -> bool:
    """Whether the values are numbers of relevant documents, so that a model of one rung replicates them."""
    return isinstance(p.measure, Precision) and len(p.densities) == 1


@dataclass(frozen=True, eq=False)
class _Replicated:
    """Replicated counts, shapes (draw, cell) and (draw, run), and the log likelihood of the observed ones."""

    of_cells: npt.NDArray[np.int16]
    of_runs: npt.NDArray[np.int32]
    log_likelihood: npt.NDArray[np.float32]


class _Replication:
    """Replication of every hidden document, once per draw, in blocks that fit in memory."""

    def __init__(
        self,
        prepared: PreparedModel,
        hidden: HiddenDocuments,
        rows: HiddenRows,
        cell: npt.NDArray[np.intp],
        rng: np.random.Generator,
    ) -> None:
        self.prepared, self.rows, self.rng = prepared, rows, rng
        self.relevant = hidden.relevant
        self.of_topic = rows.organization * len(hidden.collection.query_ids) + rows.topic
        self.n_hidden = np.bincount(cell)
        self.n_relevant = np.bincount(cell, self.relevant)
        self.by_cell = np.argsort(cell, kind="stable")
        self.cell_start = np.cumsum(self.n_hidden) - self.n_hidden
        self.prior = Question(prepared, hidden, prepared.evidence, rows)
        run, _, _, self.document_of_place = hidden.places
        self.runs, self.run_start = np.unique(run, return_index=True)
        self.n_runs = len(hidden.organization)

    def __call__(self, draws: Mapping[str, FloatArray], *, known: bool) -> _Replicated:
        """Replicate once per draw, with the draws' effects of organizations if `known`, else with new."""
        n_draws, n_cells = len(draws["sigma_organization"]), len(self.n_hidden)
        of_cells = np.zeros((n_draws, n_cells), dtype=np.int16)
        of_runs = np.zeros((n_draws, self.n_runs), dtype=np.int32)
        log_likelihood = np.zeros((n_draws, n_cells), dtype=np.float32)
        step = max(1, 2**23 // max(len(self.rows.n_hidden), len(self.document_of_place)))
        for first in range(0, n_draws, step):
            part = {name: values[first : first + step] for name, values in draws.items()}
            log_odds = self._known_log_odds(part) if known else self.prior.prior_log_odds(part, self.rng)
            log_odds = log_odds[:, self.rows.of_document]
            relevant = self.rng.logistic(size=log_odds.shape) < log_odds
            likely = self.relevant * log_odds - np.logaddexp(0, log_odds)
            block = slice(first, first + step)
            of_cells[block] = self._sum(relevant, dtype=np.int16)
            log_likelihood[block] = self._sum(likely)
            of_runs[block, self.runs] = np.add.reduceat(
                relevant[:, self.document_of_place], self.run_start, axis=1, dtype=np.int32
            )
        return _Replicated(of_cells, of_runs, log_likelihood)

    def _known_log_odds(self, part: Mapping[str, FloatArray]) -> FloatArray:
        """Log odds with the draws' effects of organizations, and those of organization × topic given the
        documents, shape (draw, row).
        """
        evidence, organization = self.prepared.evidence, self.rows.organization
        log_odds = row_log_odds(self.prepared.spec, evidence, part, np.arange(len(organization)))
        log_odds = log_odds + part["organization_effect"][:, organization]
        if "sigma_slope" in part and isinstance(evidence, LinearEvidence):
            slopes = part["slope_effect"].reshape(len(log_odds), -1, len(evidence.predictor_names))
            log_odds = log_odds + slope_effect(slopes, evidence.predictors, organization)
        if "sigma_interaction" in part:
            sigma = part["sigma_interaction"]
            log_odds = log_odds + draw_effects_of_rows(
                log_odds, evidence.n_hidden_relevant, evidence.n_hidden, self.of_topic, sigma, self.rng
            )
        return log_odds

    def _sum(self, values: npt.NDArray[Any], dtype: Any = None) -> npt.NDArray[Any]:
        """Sums over the documents of each cell, shape (draw, cell)."""
        summed: npt.NDArray[Any] = np.add.reduceat(
            values[:, self.by_cell], self.cell_start, axis=1, dtype=dtype
        )
        return summed
