"""Checks of models on the pool at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayespool.arrays import FloatArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.errors import InputError
from bayespool.experiments.design import is_central
from bayespool.experiments.graded_runs import PIT, check_metadata, measure_view, named_figure
from bayespool.experiments.hidden import HiddenDocuments, without_own_judgments
from bayespool.experiments.predictions import (
    HeldOutPrediction,
    check_pool,
    fit_fold,
    predict_held_out,
    predict_mixture,
    stack,
)
from bayespool.experiments.running import completed
from bayespool.experiments.settings import parse_models, refuse_foreign_priors
from bayespool.inference.engines import make_engine
from bayespool.measures import Measure, Precision
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.models import MODEL_NAMES, model_named
from bayespool.models.registry import check_priors
from bayespool.models.terms import refuse_lacking_columns
from bayespool.names import COMBINED_MODELS
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator, PreparedModel, ScoringProblem, Threshold, stacking_weights
from bayespool.posterior.estimator import given_settings
from bayespool.posterior.notes import warn_of_judges
from bayespool.posterior.preparation import evidence_depth
from bayespool.posterior.thresholds import find_thresholds
from bayespool.report.result import Figure, Result
from bayespool.tables.files import container_bytes, variable_name
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Pivot, Table, View
from bayespool.validation import check_count, described

if TYPE_CHECKING:
    from bayespool.inference import Engine, Fit

CI_PROBS: tuple[float, ...] = (0.5, 0.8, 0.95)
_RUN_COUNTS = {"n_organizations": Column("organi\xad\nzations", "count", "Organizations of these runs.")}
_CALIBRATION = _RUN_COUNTS | {
    "pit_inside": Column("PIT in", "chance", "Share of runs with a PIT in the central part of this size."),
    "se": Column("±", "chance", "Its standard error by organization; none for a share of 0 or 1."),
    "covered": Column("covered", "chance", "Share of runs whose interval has the truth, ends included."),
    "width": Column("width", "score", "Mean width of the intervals of the measure."),
    "pit_mean": Column("mean\nPIT", "chance", "Mean PIT; 0.5 is right."),
}
_ELPD = _RUN_COUNTS | {
    "rank": Column("rank", "count", "Place among the models, 0 for the best."),
    "elpd": Column("elpd", "size", "Expected log predictive density, summed over organizations.", 1),
    "elpd_diff": Column("less than\nthe best", "size", "Difference of the elpd from the best one's.", 1),
    "weight": Column("weight", "size", "Stacking weight over all models but combined."),
    "se": Column("±", "size", "Standard error of the elpd.", 1),
    "dse": Column("±", "size", "Standard error of the difference, by organization.", 1),
    "weight_combined": Column("weight in\ncombined", "size", "Weight in combined, at the first threshold."),
}
_RUNS = {
    "n_hidden": Column("hidden", "count", "Documents that the run's organization alone contributed."),
    "n_hidden_relevant": Column("relevant", "count", "Relevant ones among them."),
    "predicted": Column("predicted", "size", "Predicted mean of their number.", 1),
    "value": Column("observed", "score", "Score with the hidden documents judged."),
    "value_predicted": Column("predicted\nscore", "score", "Predicted mean of the score."),
    "log_density": Column("log\ndensity", "size", "Log predictive density of the number of relevant ones."),
}


@dataclass(frozen=True, eq=False, repr=False)
class ModelChecks(Result):
    """Predictions for held-out organizations from several models under several measures.

    Its tables are `calibration`, `elpd` (see `bayespool.experiments.calibration_frame` and `elpd_frame`) and
    `runs`, a row per measure, model and run with hidden documents.

    Attributes
    ----------
    predictions : tuple of HeldOutPrediction
        Measure by measure, in the order of the models; then, where all of its models were checked, the
        mixture ``combined``.
    containers : mapping of (str, str) to xarray.DataTree
        By measure and model, for ArviZ: `HeldOutPrediction.to_datatree`; empty if not requested.
    metadata : mapping
        Version, fingerprint and settings.
    """

    predictions: tuple[HeldOutPrediction, ...]
    containers: Mapping[tuple[str, str], Any]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        models = some_of(dict.fromkeys(p.model for p in self.predictions), 5)
        return one_line("ModelChecks", f"{models}; {some_of(self.measures, 3)}; {len(self.notes())} problems")

    command = "check predictions"
    title = "Check of the models on this pool"

    def tables(self) -> tuple[Table, ...]:
        """Return tables ``calibration``, ``elpd`` (models by log predictive density) and ``runs``."""
        calibration, elpd = calibration_frame(self.predictions), elpd_frame(self.predictions, COMBINED_MODELS)
        runs = pd.concat([p.to_frame() for p in self.predictions], ignore_index=True)
        views = tuple(_calibration_view(rows, self.metadata) for rows in _by_measure(calibration))
        caption = "How well each model predicts held-out organizations"
        return (
            Table("calibration", "Calibration of predictions", calibration, _CALIBRATION, views),
            Table("elpd", caption, elpd, _ELPD, tuple(self._elpd_view(measure) for measure in self.measures)),
            Table("runs", "Run by run", runs, _RUNS),
        )

    def _elpd_view(self, measure: Measure) -> View:
        n_steps = max(len(p.densities) for p in self.predictions if p.measure == measure)
        steps = f", summed over {n_steps} steps of relevance (weight in combined: of the first)"
        title = f": expected log predictive density by organization{steps * (n_steps > 1)}"
        columns = ("elpd", "se", "elpd_diff", "dse", "weight", "weight_combined")
        return measure_view(measure, title, ("model",), columns, keep_empty=True)

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the best model for each measure."""
        return tuple(
            f"{rows['measure'].iloc[0]}: of {len(rows)} models {rows['model'].iloc[0]} predicts held-out "
            "organizations best, by expected log predictive density."
            for rows in _by_measure(self.to_frame("elpd"))
        )

    def notes(self) -> tuple[Note, ...]:
        """Return notes on failed diagnostic checks of the fits."""
        return tuple(
            Note("diagnostics", f"{p.measure}, {p.model}: {problem}")
            for p in self.predictions
            if p.model != "combined"
            for problem in p.problems
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return figures that compare models, predictions with observations, and PIT values."""
        from bayespool.plots.experiments import draw_elpd, draw_pit, draw_predictive

        elpd = "How well each model predicts held-out organizations; higher is better"
        predictive = "Predictions of held-out organizations and what was observed"
        figures = [Figure("elpd", elpd, partial(draw_elpd, self))]
        for measure in self.measures:
            for name, caption, draw in (("predictive", predictive, draw_predictive), ("pit", PIT, draw_pit)):
                figures.append(named_figure(name, caption, partial(draw, self, measure), [measure]))
        return tuple(figures)

    def files(self) -> Mapping[str, bytes | str]:
        """Return containers as files ``<measure>-<model>.nc``."""
        return {
            f"{variable_name(measure)}-{model}.nc": container_bytes(container)
            for (measure, model), container in self.containers.items()
        }

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Measures in the order of the predictions."""
        return tuple(dict.fromkeys(p.measure for p in self.predictions))

    def __getitem__(self, key: tuple[object, str]) -> HeldOutPrediction:
        """Return the predictions from one model under one measure: ``checks["P@10", "ratio"]``."""
        return {(str(p.measure), p.model): p for p in self.predictions}[str(key[0]), key[1]]


def _by_measure(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Return an iterator over the rows for each measure, in order."""
    return (rows for _, rows in frame.groupby("measure", sort=False))


def _calibration_view(rows: pd.DataFrame, metadata: Mapping[str, Any]) -> View:
    measure, n_runs, n_organizations = rows[["measure", "n_runs", "n_organizations"]].iloc[0]
    runs = f"{counted(n_runs, 'run')} of {counted(n_organizations, 'organization')}"
    title = f": {runs}, held out in {metadata['n_folds']} folds; {metadata['engine']}"
    columns = (
        "mae",
        Pivot(("pit_inside",), "ci_prob", label="PIT\nin\n{}"),
        Pivot(("se",), "ci_prob", label="± of\n{}", values=CI_PROBS[-1:]),
        "pit_mean",
        Pivot(("covered",), "ci_prob", label="covered\n{}"),
        Pivot(("width",), "ci_prob", label="width of\n{}", values=CI_PROBS[-1:]),
    )
    return measure_view(measure, title, ("model",), columns, keep_empty=True)


def check_models(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] | None = None,
    n_folds: int = 5,
    random_seed: int = 1,
    posterior_settings: str | PosteriorEstimator | None = None,
    containers: bool = True,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ModelChecks:
    """Check models by predicting the runs of organizations held out of the pool.

    Only the pool's own judgments take part; documents that stay unjudged with all organizations pooled count
    as nonrelevant, in predictions and observations. Values of the measure are predicted, from models fitted
    on each of its thresholds; an ideal ranking includes the organization's hidden documents as drawn.

    Parameters
    ----------
    collection : Collection
        With a pool of three organizations or more. Runs outside the pool and judgments of your own are left
        out.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    models : str or iterable of str, optional
        Models, such as ratio or evidence; default: all. They are `bayespool.posterior.MODEL_NAMES`.
    n_folds : int, default 5
        Folds of organizations, at most one for each. As in the weights of the combined estimator.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'. By default of 500 draws.
    containers : bool, default True
        Whether to gather predictions in containers for ArviZ.
    n_jobs : int, optional
        Processes; −1 for one per core. As of `bayespool.leave_out`.
    progress : callable, optional
        Called with a text, the number of finished fits and their total.

    Returns
    -------
    ModelChecks

    Raises
    ------
    InputError
        Unknown model, engine or prior; a pool from which no fold can be held out.

    Warns
    -----
    JudgeWarning
        Labels of an LLM judge are not used, for all runs or an organization's.

    Examples
    --------
    >>> from bayespool import load_example
    >>> checks = check_models(load_example(), models="ratio", posterior_settings="draws=50", containers=False)
    >>> checks["P@10", "ratio"].draws.shape
    (200, 21)
    """
    check_count("n_folds", n_folds, least=2)
    check_count("random_seed", random_seed, least=0)
    parsed = parse_ranking_measures(measures)
    names = MODEL_NAMES if models is None else parse_models(models)
    given = given_settings(posterior_settings)
    if "model" in given:
        raise InputError(f"settings name the model {given['model']!r}", hint="name it among the models")
    priors: dict[str, str] = dict(given.pop("priors", {}))
    sampling = PosteriorEstimator(**{"draws": 500, **given})
    refuse_foreign_priors(priors, names)
    check_priors(priors, names, sampling.engine)
    shared: dict[str, int] = {"n_folds": n_folds, "random_seed": random_seed}
    engine = make_engine(sampling.engine, draws=sampling.draws, tune=sampling.tune, chains=sampling.chains)
    expect_collection(collection)
    collection = without_own_judgments(collection)
    for name in names:
        refuse_lacking_columns(collection, model_named(name).terms)
    warn_of_judges(collection, (), parsed)
    parts = {
        (measure, name): [
            _FittedPart(name, evidence_depth(name, measure.cutoff), threshold)
            for threshold in find_thresholds(collection, measure)
        ]
        for measure, name in product(parsed, names)
    }
    for measure in parsed:
        check_pool(HiddenDocuments(collection, measure), n_folds)
    folds = range(min(n_folds, len(HiddenDocuments(collection, parsed[0]).organizations)))
    distinct = dict.fromkeys(part for model_parts in parts.values() for part in model_parts)
    tasks = list(product(distinct, folds))
    fits: dict[tuple[_FittedPart, int], Fit] = {}
    work = partial(_fit, priors=priors, engine=engine, n_folds=n_folds, random_seed=random_seed)
    for task, fit in completed(work, collection, tasks, n_jobs=n_jobs):
        fits[task] = fit
        if progress is not None:
            progress("parts", len(fits), len(tasks))
    predictions: list[HeldOutPrediction] = []
    for measure in parsed:
        hidden = HiddenDocuments(collection, measure)
        steps = {
            name: (
                [part.prepare(collection, priors) for part in parts[measure, name]],
                [[fits[part, f] for f in folds] for part in parts[measure, name]],
            )
            for name in names
        }
        predicted = [
            predict_held_out(prepared, hidden, engine, **shared, fits=model_fits)
            for prepared, model_fits in steps.values()
        ]
        members = [p for p in predicted if p.model in COMBINED_MODELS]
        if len(members) == len(COMBINED_MODELS) and len(members[0].densities) == 1:
            predicted.append(stack(members, random_seed=random_seed))
        elif len(members) == len(COMBINED_MODELS):
            both = {p.model: steps[p.model] for p in members}
            predicted.append(predict_mixture(both, members, hidden, **shared))
        predictions += predicted
    about: dict[str, Any] = {"engine": sampling.engine, "collection_fingerprint": collection.fingerprint}
    trees = {(str(p.measure), p.model): p.to_datatree(**about, **shared) for p in predictions if containers}
    metadata = check_metadata(
        collection,
        **described(
            measures=parsed,
            models=names,
            **shared,
            posterior_settings=posterior_settings,
            engine=sampling.engine,
        ),
    )
    return ModelChecks(tuple(predictions), MappingProxyType(trees), MappingProxyType(metadata))


@dataclass(frozen=True)
class _FittedPart:
    """Model for one threshold with the depth of its evidence, which measures may share."""

    model: str
    depth: int
    threshold: Threshold

    def prepare(self, collection: Collection, priors: Mapping[str, str]) -> PreparedModel:
        """Return the model prepared with the evidence of the whole pool, without runs to score."""
        measure = Precision(self.depth, self.threshold.rel)
        problem = ScoringProblem(collection, (), measure, "pooled", asked_threshold=self.threshold)
        return problem.prepare(self.model, priors)


def _fit(
    collection: Collection,
    task: tuple[_FittedPart, int],
    priors: Mapping[str, str],
    engine: Engine,
    n_folds: int,
    random_seed: int,
) -> tuple[tuple[_FittedPart, int], Fit]:
    """Fit a part to all folds but one."""
    part, f = task
    prepared = part.prepare(collection, priors)
    hidden = HiddenDocuments(collection, Precision(part.depth), part.threshold)
    return task, fit_fold(prepared, hidden, engine, f, n_folds=n_folds, random_seed=random_seed)


def calibration_frame(
    predictions: Sequence[HeldOutPrediction], ci_probs: Sequence[float] = CI_PROBS
) -> pd.DataFrame:
    """Return a data frame with the calibration of predictions by measure, model and probability.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
    ci_probs : sequence of float in (0, 1)

    Returns
    -------
    pandas.DataFrame
        One row per measure, model and probability: ``measure``, ``model``, ``ci_prob``; ``pit_inside``, the
        share of runs whose randomized PIT lies in the central part, ``ci_prob`` in expectation, and ``se``,
        its standard error clustered by organization, NaN for a share of 0 or 1; ``covered``, the share of
        runs whose interval contains the truth, ends included, which is somewhat larger for whole documents;
        ``width``, the mean width of the intervals of the measure; ``pit_mean``; ``mae``, the mean absolute
        error of the predicted mean; ``n_runs`` with hidden documents and their ``n_organizations``.
    """
    rows = pd.concat([p.to_frame(prob) for p in predictions for prob in ci_probs], ignore_index=True)
    rows = rows.rename(columns={"pit": "pit_mean"}).assign(
        pit_inside=is_central(rows["pit"], rows["ci_prob"]),
        covered=(rows["lower"] <= rows["value"]) & (rows["value"] <= rows["upper"]),
        width=rows["upper"] - rows["lower"],
        mae=(rows["value_predicted"] - rows["value"]).abs(),
    )
    groups = rows.groupby(["measure", "model", "ci_prob"], sort=False)
    means = groups[["pit_inside", "covered", "width", "pit_mean", "mae"]].mean()
    means.insert(1, "se", groups[["pit_inside", "organization"]].apply(_clustered_error))
    return means.assign(n_runs=groups.size(), n_organizations=groups["organization"].nunique()).reset_index()


def elpd_frame(predictions: Sequence[HeldOutPrediction], combined: Sequence[str] = ()) -> pd.DataFrame:
    """Return a data frame that ranks models by expected log predictive density for held-out organizations.

    The unit is the organization: the mean over its runs of the log predictive density of the number of
    relevant hidden documents credited to the run; for a measure of several levels of relevance, of the
    numbers that reach each of its thresholds among those that reached the one below. Weights and gains of a
    measure do not enter: P@10 and RR@10 have the same density.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
        Of one measure or of several.
    combined : sequence of str
        The models that the combined estimator mixes.

    Returns
    -------
    pandas.DataFrame
        Best first within a measure, with ArviZ's columns: ``measure``, ``model``, ``rank``, ``elpd``,
        ``elpd_diff`` (to the best), ``weight`` (stacking over all models but ``combined``), ``se``, ``dse``
        (of the differences by organization); then ``weight_combined``, the weights of the combined estimator
        (on the first threshold), and ``n_organizations``. The weight of a model outside the mixture is NaN.
    """
    frames = []
    for measure in dict.fromkeys(p.measure for p in predictions):
        models = [p for p in predictions if p.measure == measure]
        scored, names = np.isfinite(models[0].log_density), [p.model for p in models]
        organization = models[0].organization[scored]
        weight = 1 / np.bincount(organization)[organization]
        densities = np.column_stack([p.log_density[scored] for p in models])
        first_threshold = np.column_stack([p.densities[0, scored] for p in models])
        by_organization = np.column_stack([np.bincount(organization, weight * d) for d in densities.T])
        by_organization = by_organization[np.unique(organization)]
        n, elpd = len(by_organization), by_organization.sum(axis=0)
        off = by_organization[:, [elpd.argmax()]] - by_organization
        columns = {
            "measure": str(measure),
            "model": names,
            "rank": 0,
            "elpd": elpd,
            "elpd_diff": elpd.max() - elpd,
            "weight": _weights(densities, weight, [name != "combined" for name in names]),
            "se": [np.sqrt(n * column.var()) for column in by_organization.T],
            "dse": [np.sqrt(n * column.var()) for column in off.T],
            "weight_combined": _weights(first_threshold, weight, [name in combined for name in names]),
            "n_organizations": n,
        }
        frame = pd.DataFrame(columns).iloc[np.argsort(-elpd, kind="stable")]
        frames.append(frame.assign(rank=range(len(frame))))
    return pd.concat(frames, ignore_index=True)


def _weights(densities: FloatArray, weight: FloatArray, is_member: list[bool]) -> FloatArray:
    """Return stacking weights for the members and NaN for other models, shape (model,)."""
    weights = np.full(len(is_member), np.nan)
    if any(is_member):
        weights[is_member] = stacking_weights(densities[:, is_member], weight)
    return weights


def _clustered_error(rows: pd.DataFrame) -> float:
    """Return the standard error of a share with clustered observations; NaN for a share of 0 or 1."""
    inside = rows["pit_inside"]
    if inside.all() or not inside.any():
        return float("nan")
    off = (inside - inside.mean()).groupby(rows["organization"]).sum()
    return float(np.sqrt((off**2).sum()) / len(inside))
