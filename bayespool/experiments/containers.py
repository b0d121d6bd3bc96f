"""Containers of a model's fit for ArviZ with its predictions of held-out organizations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.arrays import FloatArray
from bayespool.experiments.hidden import Fitting, HiddenDocuments, HiddenRows, Question
from bayespool.experiments.predictions import HeldOutPrediction
from bayespool.inference.cells import draw_row_effects
from bayespool.measures import Precision
from bayespool.models import LinearEvidence
from bayespool.models.formulas import draw_priors
from bayespool.posterior import PreparedModel, slope_effect
from bayespool.posterior.containers import fit_groups

if TYPE_CHECKING:
    from bayespool.inference import Fit


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
    shape, rng = fit.shape, np.random.default_rng([random_seed, 3])
    prior = draw_priors(prepared.structure(known=()), shape[0] * shape[1], rng)
    cells, cell_of_document = np.unique(
        np.column_stack([rows.run, rows.topic])[rows.of_document], axis=0, return_inverse=True
    )
    replicate = _Replication(prepared, hidden, rows, cell_of_document.reshape(-1), rng)
    before, after = replicate(prior, known=False), replicate(fit.draws(), known=True)

    # where values are numbers of relevant documents, a model of one rung replicates them
    counts_alone = not (isinstance(prediction.measure, Precision) and len(prediction.densities) == 1)
    n_observed = hidden.counts.n_hidden_relevant.sum(axis=1, dtype=np.int32)[:, 0]

    def of_runs(n_relevant: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
        if counts_alone:
            return {"n_hidden_relevant": n_relevant}
        precision = (prediction.known + n_relevant) / prediction.per_mean
        return {"n_hidden_relevant": n_relevant, "precision": precision}

    def values(amount: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        if not counts_alone:
            return of_runs(amount)
        first = not hidden.problem.threshold.given
        return {"value": (prediction.known + amount) / prediction.per_mean} if first else {}

    def predictive(replicated: _Replicated) -> dict[str, npt.NDArray[Any]]:
        return {
            "hidden_relevant": replicated.of_cells.reshape(*shape, -1),
            **of_runs(replicated.of_runs.reshape(*shape, -1)),
        }

    groups = fit_groups(fit, prior) | {
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
        log_odds = self.prepared.spec.log_odds_of_rows(evidence, part, np.arange(len(organization)))
        log_odds = log_odds + part["organization_effect"][:, organization]
        if "sigma_slope" in part and isinstance(evidence, LinearEvidence):
            slopes = part["slope_effect"].reshape(len(log_odds), -1, len(evidence.predictor_names))
            log_odds = log_odds + slope_effect(slopes, evidence.predictors, organization)
        if "sigma_interaction" in part:
            sigma = part["sigma_interaction"]
            log_odds = log_odds + draw_row_effects(
                log_odds, evidence.n_hidden_relevant, evidence.n_hidden, self.of_topic, sigma, self.rng
            )
        return log_odds

    def _sum(self, values: npt.NDArray[Any], dtype: Any = None) -> npt.NDArray[Any]:
        """Sums over the documents of each cell, shape (draw, cell)."""
        summed: npt.NDArray[Any] = np.add.reduceat(
            values[:, self.by_cell], self.cell_start, axis=1, dtype=dtype
        )
        return summed
