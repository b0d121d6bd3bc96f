"""Simulation-based calibration of each model.

References
----------
S. Talts, M. Betancourt, D. Simpson, A. Vehtari and A. Gelman (2018). Validating Bayesian inference algorithms
with simulation-based calibration. arXiv 1804.06788.

M. Modrák, A. H. Moon, S. Kim, P. Bürkner, N. Huurre, K. Faltejsková, A. Gelman and A. Vehtari (2025).
Simulation-based calibration checking for Bayesian computation: the choice of test quantities shapes
sensitivity. Bayesian Analysis 20(2), 461–488.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.collection import Collection
from bayespool.errors import InputError, known_names
from bayespool.experiments.base import metadata_of, summary_of
from bayespool.experiments.grading import ecdf_band, holm, randomized_rank, uniformity_p_value
from bayespool.experiments.hidden import Fitting, HiddenDocuments, HiddenRows, pool_alone, pool_problems
from bayespool.experiments.running import Running, Work, in_parts
from bayespool.experiments.settings import SelfCalibrationSettings
from bayespool.experiments.simulation import SimulationSettings, simulate
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.inference.engines import is_independent
from bayespool.measures import Diagnostics
from bayespool.models import MODEL_NAMES, Evidence, LinearEvidence, Structure
from bayespool.models.structure import draw_priors
from bayespool.posterior import (
    PreparedModel,
    new_interaction,
    new_organization_effect,
    new_slope_effect,
    new_slopes,
)
from bayespool.posterior.containers import block_log_odds
from bayespool.posterior.steps import rungs_of
from bayespool.report.result import Figure, Result
from bayespool.tables.columns import Column
from bayespool.tables.formatting import number, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, View

if TYPE_CHECKING:
    import pandas as pd


FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

DESIGN = SimulationSettings(
    n_topics=8, n_candidates=60, n_organizations=6, max_runs=1, n_new=0, pool_depth=10, run_depth=60
)
"""A pool small enough for hundreds of fits: 8 topics, 6 organizations of one run each."""

_DESIGN_SEED = 7
DRAWS_PER_RANK = 6  # a chain keeps every sixth draw, so that the kept ones are nearly independent
_ENOUGH_SIMULATIONS = 200  # show a shift of a quarter of a standard deviation

_COLUMNS = {
    "engine": Column("engine", "method", "The engine."),
    "quantity": Column("quantity", "text", "What is ranked."),
    "n_simulations": Column("simu\xad\nlations", "count", "Data sets, each fitted once."),
    "n_quantities": Column("quan\xad\ntities", "count", "Quantities that are ranked."),
    "rank_mean": Column("mean\nrank", "chance", "0.5 if uniform; lower if draws are too high."),
    "spread": Column(
        "spread", "size", "Their standard deviation over that if uniform; over 1 if draws are narrow."
    ),
    "p_value": Column("p", "p-value", "That of a test of uniform ranks."),
    "p_holm": Column("adjusted\np", "p-value", "By Holm's adjustment over all models and quantities."),
    "p_smallest": Column("smallest\nadjusted p", "p-value", "The smallest one of the model's quantities."),
    "uniform": Column("uniform", "flag", "Whether ranks pass for uniform."),
    "not_uniform": Column("not uniform", "text", "Quantities whose ranks are not uniform."),
    "n_failed_fits": Column(
        "failed\nfits", "count", "Fits that failed their checks; their ranks count, too."
    ),
    "ess": Column("effective\ndraws", "size", "Effective number of draws, the median over fits.", 0),
}


@dataclass(frozen=True, eq=False, repr=False)
class SelfCalibration:
    """Ranks of true values among the draws of one model and engine.

    Attributes
    ----------
    model : str
    engine : str
    quantities : tuple of str
        Coefficients, scales and the first effect of each factor; ``log_likelihood`` of all observations; and
        ``new_run``, the relevant documents of a new organization's run.
    ranks : ndarray of int64, shape (simulation, quantity)
        From 0 to ``n_draws``.
    n_draws : int
        Draws that each true value is ranked among.
    n_failed_fits : int
        Fits that failed their checks; their ranks count, too.
    ess : float
        Median over fits of the smallest effective number of the draws kept.
    """

    model: str
    engine: str
    quantities: tuple[str, ...]
    ranks: IndexArray
    n_draws: int
    n_failed_fits: int
    ess: float

    def __repr__(self) -> str:
        n, k = self.ranks.shape
        return one_line("SelfCalibration", f"{self.model}, {self.engine}: {n} simulations, {k} quantities")

    @property
    def detectable_shift(self) -> float:
        """Smallest shift of true values that the simulations can show, in posterior standard deviations."""
        return 3.5 / math.sqrt(len(self.ranks))

    def rank_frame(self, quantity: str, *, prob: float = 0.95) -> pd.DataFrame:
        """Distribution of the ranks of one quantity less the uniform one.

        Parameters
        ----------
        quantity : str
        prob : float in (0, 1)
            Probability that the band holds the whole line if ranks are uniform.

        Returns
        -------
        pandas.DataFrame
            One row per rank but the last: ``rank``, ``expected`` (share of ranks up to it if uniform),
            ``excess`` (observed − expected share), ``band_lower`` and ``band_upper`` (limits of the excess).

        Raises
        ------
        InputError
            Unknown quantity.
        """
        import pandas as pd

        if quantity not in self.quantities:
            raise InputError(
                f"no quantity {quantity!r}", hint=known_names(quantity, self.quantities, before="there are: ")
            )
        ranks, n_values = self.ranks[:, self.quantities.index(quantity)], self.n_draws + 1
        expected = np.arange(1, n_values) / n_values
        share = np.cumsum(np.bincount(ranks, minlength=n_values))[:-1] / len(ranks)
        lower, upper = ecdf_band(len(ranks), n_values, prob)
        return pd.DataFrame(
            {
                "rank": np.arange(self.n_draws),
                "expected": expected,
                "excess": share - expected,
                "band_lower": lower - expected,
                "band_upper": upper - expected,
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class SelfCalibrations(Result):
    """Result of `self_calibrate`: a `SelfCalibration` for each model, in order.

    Its tables are `self-calibration`, a row per model and quantity (`self_calibration_frame`), and `models`.

    Attributes
    ----------
    calibrations : tuple of SelfCalibration
    metadata : mapping
        Version, fingerprint and settings.
    """

    calibrations: tuple[SelfCalibration, ...]
    metadata: Mapping[str, Any]

    command = "check simulation"
    title = "Simulation-based calibration of the models"

    def __repr__(self) -> str:
        c = self.calibrations[0]
        models = some_of((each.model for each in self.calibrations), 5)
        return one_line("SelfCalibrations", f"{models}; {c.engine}; {len(c.ranks)} simulations")

    def __iter__(self) -> Iterator[SelfCalibration]:
        return iter(self.calibrations)

    def tables(self) -> tuple[Table, ...]:
        """Quantities with tests whether their ranks are uniform, and models."""

        def summarize(rows: pd.DataFrame) -> dict[str, Any]:
            return {
                "engine": rows["engine"].iloc[0],
                "n_simulations": rows["n_simulations"].iloc[0],
                "n_quantities": len(rows),
                "p_smallest": rows["p_holm"].min(),
                "n_failed_fits": rows["n_failed_fits"].iloc[0],
                "not_uniform": ", ".join(rows.loc[~rows["uniform"], "quantity"]) or "none",
            }

        frame = self_calibration_frame(self.calibrations)
        models = summary_of(frame, ["model"], summarize)
        view = View(
            title="simulation-based calibration: ranks of true values",
            names=("model",),
            columns=tuple(map(str, models))[1:],
        )
        return (
            Table("self-calibration", "Quantities", frame, _COLUMNS),
            Table("models", "Models", models, _COLUMNS, (view,)),
        )

    def summary(self) -> tuple[str, ...]:
        """How many models know what they were simulated from."""
        frame = self_calibration_frame(self.calibrations)
        n_uniform = int(frame.groupby("model")["uniform"].all().sum())
        n_models, engine = len(self.calibrations), self.calibrations[0].engine
        return (f"{engine}: the ranks of all quantities are uniform under {n_uniform} of {n_models} models.",)

    def notes(self) -> tuple[str, ...]:
        """What few simulations show."""
        fewest = min(self.calibrations, key=lambda c: len(c.ranks))
        n, shift = len(fewest.ranks), fewest.detectable_shift
        note = f"{n} simulations show shifts of {number(shift, 1)} standard deviations or more"
        return (note,) if n < _ENOUGH_SIMULATIONS else ()

    def figures(self) -> tuple[Figure, ...]:
        """Ranks of every quantity, a figure for each model."""
        from bayespool.plots.checks import draw_ranks

        caption = "Ranks of the true parameters in their posteriors; flat where the models are right"
        return tuple(
            Figure(
                f"self-calibration-{c.model}-{c.engine}",
                f"{caption} ({c.model}, {c.engine})",
                partial(draw_ranks, c),
            )
            for c in self.calibrations
        )


Simulation = Callable[[np.random.Generator], tuple[dict[str, int], list[Diagnostics]]]
"""Simulates and fits once: ranks of the true values by quantity, and diagnostics of the fits."""

_SIMULATIONS_PER_PART = 20


class Simulations(Work):
    """Simulations of each model, some in each part, with the ranks of true values in fits to them."""

    name: ClassVar[str] = "check simulation"
    parts_name: ClassVar[str] = "parts"
    folder: ClassVar[str] = "simulations"
    same_columns: ClassVar[bool] = False

    def simulation(self, collection: Collection, model: str, settings: SelfCalibrationSettings) -> Simulation:
        """Function that simulates a model and fits it."""
        raise NotImplementedError

    def parts(self, models: Sequence[str], settings: SelfCalibrationSettings) -> list[tuple[str, int, int]]:
        """Model, first simulation, and the one after the last."""
        n, step = settings.n_simulations, _SIMULATIONS_PER_PART
        return [(model, s, min(s + step, n)) for model in models for s in range(0, n, step)]

    def compute(
        self, collection: Collection, part: tuple[str, int, int], settings: SelfCalibrationSettings
    ) -> Stored:
        """Ranks by quantity; besides, whether a fit failed, and the effective number of draws."""
        model, first, end = part
        simulate_once = self.simulation(collection, model, settings)
        ranks: Columns = {}
        failed, ess = [], []
        for s in range(first, end):
            of_quantities, fits = simulate_once(np.random.default_rng([settings.random_seed, s]))
            add_rows(ranks, of_quantities)
            failed.append(any(has_failed(diagnostics, settings.engine) for diagnostics in fits))
            ess.append(float(min(settings.n_draws, *(diagnostics.min_ess_bulk for diagnostics in fits))))
        return ranks, {"failed": failed, "ess": ess}

    def calibrations(
        self,
        collection: Collection,
        models: Sequence[str],
        settings: SelfCalibrationSettings,
        running: Running,
    ) -> tuple[SelfCalibration, ...]:
        """Calibration of each model by as many simulations as the settings ask for."""
        results = self.run(collection, self.parts(models, settings), settings, running)
        calibrations = []
        for model in models:
            of_model = [result for result in results if result.part[0] == model]
            quantities = tuple(of_model[0].rows)
            ranks = [[x for r in of_model for x in r.rows[q]] for q in quantities]
            calibrations.append(
                SelfCalibration(
                    model=model,
                    engine=settings.engine,
                    quantities=quantities,
                    ranks=np.array(ranks, dtype=np.int64).T,
                    n_draws=settings.n_draws,
                    n_failed_fits=sum(sum(result.rest["failed"]) for result in of_model),
                    ess=float(np.median([x for result in of_model for x in result.rest["ess"]])),
                )
            )
        return tuple(calibrations)

    def describe(self, settings: SelfCalibrationSettings) -> dict[str, Any]:
        """Settings but the models and the number of simulations, to which more may be added."""
        described = super().describe(settings)
        return {n: value for n, value in described.items() if n not in ("models", "n_simulations")}


@dataclass(frozen=True)
class _SimulationsOfPools(Simulations):
    rung: int = 0

    def simulation(self, collection: Collection, model: str, settings: SelfCalibrationSettings) -> Simulation:
        """Parameters, hidden documents and a new run's, on a rung of the measure's ladder."""
        problem = pool_problems(collection, settings.measure)[self.rung]
        n_draws, engine = settings.n_draws, settings.engine
        kept = n_draws if is_independent(engine) else n_draws * DRAWS_PER_RANK
        fitting = Fitting(engine=engine, draws=kept, tune=500, chains=1, target_accept=0.95)
        prepared = problem.prepare(model, dict(settings.priors))
        process = _Process(prepared, HiddenDocuments(problem))

        def simulate_once(rng: np.random.Generator) -> tuple[dict[str, int], list[Diagnostics]]:
            truth, evidence = process.simulate(rng)
            fit = fitting.fit(prepared, evidence, int(rng.integers(2**31)))
            draws = {v: values[:: kept // n_draws] for v, values in fit.draws().items()}
            posterior = process.quantities(draws, evidence, rng)
            return {q: randomized_rank(posterior[q], truth[q], rng) for q in truth}, [fit.diagnostics]

        return simulate_once

    def describe(self, settings: SelfCalibrationSettings) -> dict[str, Any]:
        """The rung, too."""
        return super().describe(settings) | {"rung": self.rung}


@in_parts(SelfCalibrationSettings, Simulations, positional="models")
def self_calibrate(
    *,
    settings: SelfCalibrationSettings,
    running: Running,
    collection: Collection | None = None,
    rung: int = 0,
) -> SelfCalibrations:
    """Simulation-based calibration of models under an engine.

    Parameters
    ----------
    {options}
    collection : Collection, optional
        Its pool gives the design: numbers of hidden documents and their predictors, but no relevance.
        Default: a small simulated pool, see `DESIGN`.
    rung : int, default 0
        0 for the first, relevance of any level; higher rungs need a collection with levels of relevance.
    {running}

    Returns
    -------
    SelfCalibrations
        With a `SelfCalibration` for each model.

    Raises
    ------
    InputError
        No such rung; a pool of fewer than three organizations with hidden documents.
    {errors}

    Warns
    -----
    {warnings}
    """
    names = settings.models or MODEL_NAMES
    if collection is None:
        collection = simulate(DESIGN, random_seed=_DESIGN_SEED).collection
    collection = pool_alone(collection)
    if not 0 <= rung < (n_rungs := len(rungs_of(collection, settings.measure))):
        raise InputError(
            f"{settings.measure} asks {n_rungs} questions of a document here, and there is no {rung}"
        )
    done = _SimulationsOfPools(rung).calibrations(collection, names, settings, running)
    return SelfCalibrations(done, metadata_of(collection, settings, models=list(names), rung=rung))


def self_calibration_frame(calibrations: Sequence[SelfCalibration], *, alpha: float = 0.01) -> pd.DataFrame:
    """Test whether ranks are uniform.

    Parameters
    ----------
    calibrations : sequence of SelfCalibration
    alpha : float in (0, 1)
        Family-wise error rate over all models and quantities, by Holm's adjustment.

    Returns
    -------
    pandas.DataFrame
        One row per model and quantity: ``engine``, ``model``, ``quantity``, ``n_simulations``, ``rank_mean``
        (between 0 and 1, ½ expected; lower if draws are too high), ``spread`` (the standard deviation
        of ranks over that of uniform ones; over 1 if draws are too narrow), ``p_value``, ``p_holm``,
        ``uniform``, ``n_failed_fits`` and ``ess``.
    """
    import pandas as pd

    rows = []
    for c in calibrations:
        n_values = c.n_draws + 1
        expected = np.sqrt((n_values**2 - 1) / 12)
        for quantity, ranks in zip(c.quantities, c.ranks.T, strict=True):
            rows.append(
                {
                    "engine": c.engine,
                    "model": c.model,
                    "quantity": quantity,
                    "n_simulations": len(ranks),
                    "rank_mean": ranks.mean() / c.n_draws,
                    "spread": ranks.std() / expected,
                    "p_value": uniformity_p_value(ranks, n_values),
                    "n_failed_fits": c.n_failed_fits,
                    "ess": c.ess,
                }
            )
    frame = pd.DataFrame(rows)
    frame.insert(7, "p_holm", holm(frame["p_value"].to_numpy()))
    frame.insert(8, "uniform", frame["p_holm"] >= alpha)
    return frame


def has_failed(diagnostics: Diagnostics, engine: str) -> bool:
    """Whether a fit failed: by divergences under a sampler, since its few draws would fail other checks; else
    by any check but that of a single chain.
    """
    if not is_independent(engine):
        return diagnostics.n_divergences > 0
    return any("one chain" not in problem for problem in diagnostics.problems)


class _Process:
    """Generative process of a model: parameters, counts, and a run of a new organization."""

    def __init__(self, prepared: PreparedModel, hidden: HiddenDocuments) -> None:
        self.prepared = prepared
        self.rows: HiddenRows = hidden.rows(prepared.evidence)
        self.n_seen = len(hidden.organizations) - 1
        if self.n_seen < 2 or not (self.rows.organization == self.n_seen).any():
            raise InputError(
                "self-calibration needs a pool of three organizations with hidden documents each"
            )
        self.seen = np.arange(self.n_seen + 1) < self.n_seen
        self.new = np.flatnonzero(self.rows.organization == self.n_seen)

    def simulate(self, rng: np.random.Generator) -> tuple[dict[str, float], Evidence]:
        """True values of the quantities, and the evidence of the seen organizations."""
        truth, simulated = simulate_counts(self.prepared, self.prepared.evidence, self.seen, rng)
        n_new_relevant = int(simulated.n_hidden_relevant[self.new].sum())
        seen = simulated.of_organizations(self.seen)
        values = {name: float(v[0]) for name, v in self._parameters(truth, seen).items()}
        return values | {"new_run": float(n_new_relevant)}, seen

    def quantities(
        self, draws: Mapping[str, FloatArray], seen: Evidence, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Draws of the quantities, each of shape (draw,)."""
        log_odds = self.prepared.spec.log_odds_of_rows(self.prepared.evidence, draws, self.new)
        effect = new_organization_effect(draws["sigma_organization"], self.n_seen, np.zeros(1), rng)
        if "sigma_interaction" in draws:
            effect = effect + new_interaction(draws["sigma_interaction"], self.rows.topic[self.new], rng)
        evidence = self.prepared.evidence
        if "sigma_slope" in draws and isinstance(evidence, LinearEvidence):
            predictors, whose = evidence.predictors[self.new], self.rows.organization[self.new]
            effect = effect + new_slope_effect(draws["sigma_slope"], predictors, whose, rng)
        n = evidence.n_hidden[self.new]
        drawn = rng.binomial(n, expit(log_odds + effect)).sum(axis=1)
        return self._parameters(draws, seen) | {"new_run": drawn.astype(float)}

    def _parameters(self, draws: Mapping[str, FloatArray], seen: Evidence) -> dict[str, FloatArray]:
        structure = self.prepared.structure(seen)
        values: dict[str, FloatArray] = {}
        for name, coefficient in structure.coefficients.items():
            if coefficient.size is None:
                values[name] = draws[name]
            else:
                labels = seen.coords.get(coefficient.dim or "", range(coefficient.size))
                values |= {f"{name}[{label}]": draws[name][:, i] for i, label in enumerate(labels)}
        for name, group in structure.groups.items():
            if group.size > 1 or group.is_slope:
                values[f"sigma_{name}"] = draws[f"sigma_{name}"]
                values[f"{name}_effect[0]"] = draws[f"{name}_effect"][:, 0]
        return values | {"log_likelihood": _log_likelihood(structure, draws)}


def _log_likelihood(structure: Structure, draws: Mapping[str, FloatArray]) -> FloatArray:
    total = np.zeros(1)
    for block in structure.blocks:
        eta = block_log_odds(structure, block, draws)
        total = total + eta @ block.successes - np.logaddexp(0, eta) @ block.trials
    return total


def simulate_counts(
    prepared: PreparedModel, evidence: Evidence, seen: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[dict[str, FloatArray], Evidence]:
    """Simulate a model: parameters from the priors, shape (1, ...), with effects of the seen organizations
    alone, and evidence with simulated relevant documents of all organizations, of which the last is new.
    """
    truth = draw_priors(prepared.structure(evidence.of_organizations(seen)), 1, rng)
    # the intercept is a mean over the seen organizations, itself off the population's
    new_effect = rng.normal(scale=truth["sigma_organization"] * np.sqrt(1 + 1 / seen.sum()))
    new = {"organization_effect": new_effect[None]}
    if "sigma_interaction" in truth:
        n_topics = len(evidence.query_ids)
        new["interaction_effect"] = truth["sigma_interaction"][:, None] * rng.normal(size=(1, n_topics))
    if "sigma_slope" in truth and isinstance(evidence, LinearEvidence):
        new["slope_effect"] = new_slopes(truth["sigma_slope"], 1, len(evidence.predictor_names), rng)[:, 0]
    effects = {name: np.append(truth[name], own, axis=1) for name, own in new.items()}
    structure = prepared.structure(evidence)
    counts: dict[str, Any] = {}
    for block in structure.blocks:
        p = expit(block_log_odds(structure, block, truth | effects)[0])
        counts[_counted(evidence, block.successes)] = rng.binomial(block.trials, p)
    return truth, replace(evidence, **counts)


def _counted(evidence: Evidence, successes: npt.NDArray[np.int64]) -> str:
    """Name of the evidence's field that holds a block's successes."""
    for field in fields(evidence):
        if getattr(evidence, field.name) is successes:
            return field.name
    raise ValueError("a block's successes are not a field of the evidence")
