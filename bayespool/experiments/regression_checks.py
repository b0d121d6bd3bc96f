"""Comparison of the models with a regression whose errors allow for clusters of organizations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.collection import Collection
from bayespool.experiments.base import metadata_of
from bayespool.experiments.hidden import Fitting, pool_alone, pool_problems
from bayespool.experiments.running import Running, Work, in_parts
from bayespool.experiments.settings import RegressionCheckSettings
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.inference.cells import normal_nodes
from bayespool.measures import Measure
from bayespool.models import MODEL_NAMES, Evidence, LinearEvidence, ModelSpec
from bayespool.report.result import Result, cited_by
from bayespool.tables.citations import Citation, cite
from bayespool.tables.columns import Column
from bayespool.tables.formatting import some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Ends, Table, View

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]

INTERCEPT, SHARE = "intercept", "share relevant"
"""Terms that every model has, besides its predictors."""

_FEW_ORGANIZATIONS = 20  # robust errors of fewer clusters are known to be too small
_MAX_DRAWS = 400  # each is a regression of its own
_NODES, _WEIGHTS = normal_nodes(15)
_SCALES = ("log odds", "share")
_COLUMNS = {
    "term": Column("term", "text", "Intercept, slope of a predictor, or share of relevant hidden documents."),
    "scale": Column("scale", "text", "Log odds, or share of documents."),
    "regression": Column("regression", "coefficient", "Its estimate: log odds, and the share as a share."),
    "regression_lower": Column("from", "coefficient", "Lower end of its interval."),
    "regression_upper": Column("to", "coefficient", "Upper end of its interval."),
    "posterior": Column("posterior", "coefficient", "Mean of the same number over draws."),
    "posterior_lower": Column("from", "coefficient", "Lower end of the posterior's interval."),
    "posterior_upper": Column("to", "coefficient", "Upper end of the posterior's interval."),
    "overlaps": Column("overlaps", "text", "Whether the intervals have values in common, if both are known."),
    "n_organizations": Column("organizations", "count", "Clusters of the regression."),
    "problems": Column("problems", "text", "Failed checks of the fit."),
}


@dataclass(frozen=True, eq=False, repr=False)
class RegressionComparison(Result):
    """Result of `compare_regression`: estimates of a regression beside the posterior's.

    Its table is `regression`, a row per measure, model and term.

    Attributes
    ----------
    metadata : mapping
        Version, fingerprint and settings.
    """

    _rows: pd.DataFrame = field(repr=False)
    metadata: Mapping[str, Any]

    command = "check regression"
    title = "Models against a regression clustered by organization"

    def __repr__(self) -> str:
        models, measures = (some_of(self.metadata[name], 3) for name in ("models", "measures"))
        return one_line("RegressionComparison", f"{models}; {measures}")

    def tables(self) -> tuple[Table, ...]:
        """Terms of each measure and model."""
        rows = self._rows.assign(scale=np.where(self._rows["term"] == SHARE, *_SCALES[::-1]))
        views = [
            View(
                title=f"A regression clustered by organization beside the posterior: {scale}",
                names=("measure", "model", "term"),
                columns=(
                    "regression",
                    Ends("regression_lower", "regression_upper", signed=scale != "share"),
                    "posterior",
                    Ends("posterior_lower", "posterior_upper", signed=scale != "share"),
                ),
                where={"scale": scale},
                note="" if scale == "share" else "Per unit of a predictor, over organizations and topics.",
            )
            for scale in _SCALES
        ]
        return (Table("regression", self.title, rows, _COLUMNS, tuple(views)),)

    def summary(self) -> tuple[str, ...]:
        """How many intervals overlap."""
        n, n_overlap = int((self._rows["overlaps"] != "").sum()), int((self._rows["overlaps"] == "yes").sum())
        return (f"The intervals of regression and posterior overlap for {n_overlap} of {n} terms.",)

    def notes(self) -> tuple[str, ...]:
        """Few clusters, and failed checks of the fits."""
        n = int(self._rows["n_organizations"].min())
        few = f"{n} organizations: robust errors of so few clusters tend to be too small"
        rows = self._rows.drop_duplicates(["measure", "model"]).to_dict("records")
        without = ", ".join(dict.fromkeys(self._rows["model"][self._rows["overlaps"] == ""]))
        none = f"{without}: no intervals of the regression, which needs more organizations than coefficients"
        problems = [f"{r['measure']}, {r['model']}: {r['problems']}" for r in rows if r["problems"]]
        return (*([few] if n < _FEW_ORGANIZATIONS else []), *([none] if without else []), *problems)

    def citations(self) -> tuple[Citation, ...]:
        """What to cite for the models, and for generalized estimating equations."""
        return cite([*cited_by(self.metadata), "liang-zeger-1986"])


class RegressionsCompared(Work):
    """The regression and the posterior on each measure and model."""

    name: ClassVar[str] = "check regression"
    parts_name: ClassVar[str] = "fits"
    folder: ClassVar[str] = "regression"

    def compute(
        self, collection: Collection, part: tuple[Measure, str], settings: RegressionCheckSettings
    ) -> Stored:
        """Terms of both on the hidden documents of the first rung."""
        measure, model = part
        prepared = pool_problems(collection, measure)[0].prepare(model, dict(settings.priors))
        evidence, tail = prepared.evidence, (1 - settings.ci_prob) / 2
        fit = Fitting.of(settings).fit(prepared, evidence, settings.random_seed, ())
        draws = fit.draws()
        step = max(1, len(next(iter(draws.values()))) // _MAX_DRAWS)
        some = {name: values[::step] for name, values in draws.items()}
        rng = np.random.default_rng([settings.random_seed, 1])
        implied = marginal_terms(prepared.spec, evidence, some, rng)
        estimate, lower, upper = regress(evidence, settings.correlation, settings.ci_prob)
        ends = np.quantile(implied, [tail, 1 - tail], axis=0)
        rows: Columns = {}
        terms = {
            "measure": str(measure),
            "model": model,
            "term": [INTERCEPT, *_predictor_names(evidence), SHARE],
            "regression": estimate,
            "regression_lower": lower,
            "regression_upper": upper,
            "posterior": implied.mean(axis=0),
            "posterior_lower": ends[0],
            "posterior_upper": ends[1],
            "overlaps": _overlaps(lower, upper, ends),
            "n_organizations": len(np.unique(_organization(evidence))),
            "problems": "; ".join(fit.diagnostics.problems),
        }
        add_rows(rows, terms)
        return rows, {}


@in_parts(RegressionCheckSettings, RegressionsCompared)
def compare_regression(
    collection: Collection, *, settings: RegressionCheckSettings, running: Running
) -> RegressionComparison:
    r"""Compare the models with generalized estimating equations, clustered by organization.

    A logistic regression of the relevance of hidden documents on the predictors of a model, by statsmodels,
    with robust errors for clusters of organizations. It has no priors and no effects: its slopes are over all
    organizations and topics. Each posterior draw is turned into the same numbers: its chances of the hidden
    documents of a new organization, averaged over its effects, are regressed on the predictors.

    Parameters
    ----------
    collection : Collection
        Judgments of your own are left out.
    {options}
    {running}

    Returns
    -------
    RegressionComparison

    Raises
    ------
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    With :math:`\eta_i` the log odds of row *i* in a draw and :math:`s_i^2` the variance of the effects of a
    new organization there, its chance is
    :math:`\bar p_i = \mathrm{E}\,\operatorname{logit}^{-1}(\eta_i + s_i z)`,
    :math:`z \sim \mathrm{Normal}(0, 1)`; the draw's coefficients solve
    :math:`\sum_i v_i x_i (\bar p_i - \operatorname{logit}^{-1}(x_i^\top b)) = 0`, which is the estimating
    equation of Liang & Zeger (1986) with an independence working correlation. Intervals of the regression are
    those of Student's t with one degree of freedom less than organizations, and its covariance is enlarged by
    J/(J − 1). With no more organizations than coefficients it has none.
    """
    import pandas as pd

    names, collection = settings.models or MODEL_NAMES, pool_alone(collection)
    parts = list(itertools.product(settings.measures, names))
    results = RegressionsCompared().run(collection, parts, settings, running)
    frame = pd.concat([pd.DataFrame(result.rows) for result in results], ignore_index=True)
    return RegressionComparison(frame, metadata_of(collection, settings, models=list(names)))


def regress(
    evidence: Evidence, correlation: str, ci_prob: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimate and interval of each term by estimating equations, each of shape (term,)."""
    import statsmodels.api as sm
    from scipy.stats import t

    n, relevant, organization = evidence.n_hidden, evidence.n_hidden_relevant, _organization(evidence)
    x = _design(evidence)
    n_clusters = len(np.unique(organization[n > 0]))
    row = np.repeat(np.arange(len(n)), n)  # a document each
    first = np.cumsum(n) - n
    is_relevant = np.arange(n.sum()) - first[row] < relevant[row]
    order = np.argsort(organization[row], kind="stable")
    structures = {"independence": sm.cov_struct.Independence, "exchangeable": sm.cov_struct.Exchangeable}
    equations = sm.GEE(
        is_relevant[order].astype(float),
        x[row][order],
        groups=organization[row][order],
        family=sm.families.Binomial(),
        cov_struct=structures[correlation](),
    )
    fit = equations.fit()
    covariance = fit.cov_robust * n_clusters / (n_clusters - 1)
    p = expit(x @ fit.params)
    of_share = (n * p * (1 - p)) @ x / n.sum()  # how the share changes with each coefficient
    estimate = np.append(fit.params, n @ p / n.sum())
    error = np.sqrt(np.append(np.diag(covariance), of_share @ covariance @ of_share))
    reach = t(n_clusters - 1).ppf((1 + ci_prob) / 2) * error
    if n_clusters <= x.shape[1]:  # the robust covariance has no full rank
        reach = np.full_like(error, np.nan)
    return estimate, estimate - reach, estimate + reach


def _overlaps(lower: FloatArray, upper: FloatArray, ends: FloatArray) -> list[str]:
    """Whether intervals have values in common with those of ``ends``, as words; empty without an interval."""
    words = np.where((lower <= ends[1]) & (ends[0] <= upper), "yes", "no")
    return list(np.where(np.isfinite(lower), words, ""))


def marginal_terms(
    spec: ModelSpec, evidence: Evidence, draws: Mapping[str, FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Terms of the regression that each draw implies for organizations at large, shape (draw, term)."""
    log_odds = spec.log_odds_of_rows(evidence, draws)
    x, n = _design(evidence), evidence.n_hidden.astype(float)
    n_organizations = max(1, len(evidence.organizations))
    sigma = draws["sigma_organization"]
    # effects of these organizations sum to zero, so that the mean over all differs from theirs
    log_odds = log_odds + (sigma / np.sqrt(n_organizations) * rng.standard_normal(len(sigma)))[:, None]
    variance = np.repeat(sigma[:, None] ** 2, len(n), axis=1)
    if "sigma_interaction" in draws:
        variance += draws["sigma_interaction"][:, None] ** 2
    if "sigma_slope" in draws:
        variance += draws["sigma_slope"][:, None] ** 2 * (x[:, 1:] ** 2).sum(axis=1)
    terms = np.empty((len(sigma), x.shape[1] + 1))
    for i, (eta, scale) in enumerate(zip(log_odds, np.sqrt(variance), strict=True)):
        p = expit(eta[:, None] + scale[:, None] * _NODES) @ _WEIGHTS
        terms[i] = [*_logistic_projection(x, p, n), n @ p / n.sum()]
    return terms


def _logistic_projection(x: FloatArray, p: FloatArray, n: FloatArray) -> FloatArray:
    """Coefficients of the logistic regression of chances on the columns of x, rows weighted by n."""
    share = n @ p / n.sum()
    b = np.zeros(x.shape[1])
    b[0] = np.log(share) - np.log1p(-share)
    for _ in range(50):
        fitted = expit(x @ b)
        step = np.linalg.solve((x.T * (n * fitted * (1 - fitted))) @ x, x.T @ (n * (p - fitted)))
        b += step
        if np.abs(step).max() < 1e-9:
            break
    return b


def _organization(evidence: Evidence) -> npt.NDArray[np.int64]:
    """Organization of each row of hidden documents, shape (row,)."""
    return evidence.organization if isinstance(evidence, LinearEvidence) else evidence.hidden_organization


def _predictor_names(evidence: Evidence) -> tuple[str, ...]:
    return evidence.predictor_names if isinstance(evidence, LinearEvidence) else ()


def _design(evidence: Evidence) -> FloatArray:
    """A column of ones, and the predictors, shape (row, coefficient)."""
    ones = np.ones((len(evidence.n_hidden), 1))
    return np.hstack([ones, evidence.predictors]) if isinstance(evidence, LinearEvidence) else ones
