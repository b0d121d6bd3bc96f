"""Result class for all estimators, and the protocol that estimators follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from bayespool import __version__
from bayespool.arrays import AnyArray, FloatArray
from bayespool.collection import Collection
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures.base import Measure
from bayespool.measures.values import Values
from bayespool.tables import build_container, container_bytes
from bayespool.tables.files import PathLike, atomic_write, variable_name
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import ReprHTMLMixin, one_line

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Sampler diagnostics, with model checks against the pooled organizations.

    Attributes
    ----------
    engine : str
        The engine that drew them.
    max_r_hat : float
        Largest R-hat over all parameters; should be under 1.01.
    min_ess_bulk, min_ess_tail : float
        Smallest effective sample sizes; should be over 400.
    n_divergences : int
        Divergent transitions after tuning; should be 0.
    problems : tuple of str
        What failed, in words; empty when all is well.
    max_end_error : float
        Largest error of the ends of intervals of totals under an approximation, as a share of their width;
        should be at most 0.1. NaN for a sampler.
    held_out : float
        Share of the pool's organizations whose relevant hidden documents, run by run, lie in 95 % intervals
        that a mixture gives without the organization; of several levels the smallest share. NaN for a single
        model, and where there are too few organizations.
    n_held_out : int
        These organizations; 0 where ``held_out`` is NaN.
    """

    engine: str
    max_r_hat: float
    min_ess_bulk: float
    min_ess_tail: float
    n_divergences: int
    problems: tuple[str, ...] = ()
    max_end_error: float = field(default=float("nan"), compare=False)
    held_out: float = field(default=float("nan"), compare=False)
    n_held_out: int = 0

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.problems


_OPTIONAL_ARRAYS = ("std", "distance", "new_kind")


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(ReprHTMLMixin):
    """Estimated scores for runs, from one estimator under one measure.

    Attributes
    ----------
    estimator : str
        Name of the estimator.
    measure : Measure
    run_ids, query_ids : tuple of str
    per_topic : ndarray of float, shape (run, topic)
        Estimates per topic; their mean over topics is the run's, up to rounding. NaN where an estimator
        estimates runs only.
    value : ndarray of float, shape (run,)
        Estimate of each run's mean over all topics of the qrels.
    draws : Values, shape (draw, run, topic), or None
        Posterior draws of the measure; NaN of a run without a value. None for point corrections.
    std : ndarray of float, shape (run,), or None
        Standard error of ``value`` where the estimator has a sampling variance of its own (topics
        adjustment), or the posterior standard deviation.
    notes : tuple of tuple of str
        Notes of each run, or empty: `bayespool.notes.Note`, or text.
    diagnostics : Diagnostics or None
    fits : mapping of str to Fit
        Draws of the parameters of each model (`bayespool.inference.Fit`); empty where nothing was sampled.
    weights : mapping of str to float
        Share of each of these models in the draws.
    fingerprint : str
        Of the collection that the estimates come from.
    random_seed : int or None
    distance, new_kind : ndarray of float, shape (run,), or None
        Distance of each run from the pool, in standard deviations between the pool's organizations, and the
        probability that it is of a kind that the pool does not have
        (`bayespool.posterior.distance_from_pool`), where the estimator computes them.
    indicators : mapping of str to ndarray of float, shape (run,)
        What the estimator knows of a run besides its value, by column
        (`bayespool.corrections.anti_precision_indicators`).

    Raises
    ------
    InputError
        An array of the wrong shape, or draws that are not amounts of the measure.
    """

    estimator: str
    measure: Measure
    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    per_topic: FloatArray
    value: FloatArray
    fingerprint: str
    draws: Values | None = None
    std: FloatArray | None = None
    notes: tuple[tuple[str, ...], ...] = ()
    diagnostics: Diagnostics | None = None
    fits: Mapping[str, Any] = field(default_factory=dict, repr=False)
    weights: Mapping[str, float] = field(default_factory=dict)
    random_seed: int | None = None
    distance: FloatArray | None = None
    new_kind: FloatArray | None = None
    indicators: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        runs, topics = (len(self.run_ids),), (len(self.query_ids),)
        wanted = {"value": runs, "per_topic": runs + topics, **dict.fromkeys(_OPTIONAL_ARRAYS, runs)}
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array is None and name in _OPTIONAL_ARRAYS:
                continue
            if not isinstance(array, np.ndarray):
                raise InputError(f"{self.estimator}: {name} is no array")
            if array.shape != shape:
                raise InputError(f"{self.estimator}: {name} has the shape {array.shape}, not {shape}")
        if self.notes and len(self.notes) != len(self.run_ids):
            raise InputError(
                f"{self.estimator}: notes on {len(self.notes)} of {counted(len(self.run_ids), 'run')}"
            )
        if any(isinstance(of_run, str) for of_run in self.notes):
            raise InputError(f"{self.estimator}: notes are text", hint="each run has a tuple of notes")
        if self.draws is None:
            return
        if not isinstance(self.draws, Values):
            raise InputError(f"{self.estimator}: draws are no Values", hint="bayespool.Values(amounts, unit)")
        amount = self.draws.amount
        if amount.shape[1:] != runs + topics or not len(amount):
            raise InputError(
                f"{self.estimator}: draws have the shape {amount.shape}, not (draw, run, topic) with "
                f"{counted(len(self.run_ids), 'run')} and {counted(len(self.query_ids), 'topic')}"
            )
        least, most = (end * self.draws.unit for end in self.measure.range)
        is_exact = self.draws.is_exact or bool(np.isnan(self.value).any())  # NaN draws without a value
        odd = self.draws.unit != self.measure.unit or self.measure.is_exact > is_exact
        if odd or amount.min(initial=least) < least - 1e-9 or amount.max(initial=least) > most + 1e-9:
            low, high = self.measure.range
            hint = None if odd else f"its values are from {low:g} to {high:g}, by its range"
            raise InputError(f"{self.estimator}: draws are not amounts of {self.measure}", hint=hint)

    def __repr__(self) -> str:
        drawn = self.draws
        draws = "no draws" if drawn is None else counted(len(drawn.amount), "draw")
        runs = f"{counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        return one_line(
            "Estimates",
            f"{self.measure} of {runs} on {counted(len(self.query_ids), 'topic')}, by {self.estimator}, "
            f"{draws}",
        )

    @property
    def posterior(self) -> Any:
        """Posterior draws of the model's parameters as an ``xarray.DataTree``, or None without sampling.

        If there are several models this is an `InputError`: `model_name` takes a name.
        """
        return self.fits[self.model_name()].posterior if self.fits else None

    def model_name(self, model: str | None = None) -> str:
        """Return the given name if it is in ``fits``, or the only name there, else raise `InputError`."""
        known = ", ".join(f"{name} (weight {self.weights.get(name, 1):.3g})" for name in self.fits)
        if model is None and len(self.fits) == 1:
            (model,) = self.fits
        if model is None and self.fits:
            raise InputError(
                f"{self.estimator}, {self.measure}: draws of several models, none of which speaks for all",
                hint=f"name one of them: {known}",
            )
        if model is None or model not in self.fits:
            problem = "nothing was sampled" if model is None else f"no model {model!r}"
            raise InputError(
                f"{self.estimator}, {self.measure}: {problem}", hint=f"there are: {known}" if known else None
            )
        return model

    def to_arviz(self, *, per_topic: bool = False) -> Any:
        """Return posterior draws of the scores as an ``xarray.DataTree`` for ArviZ.

        Draws of NUTS keep their chains. Draws of the Laplace engine are independent and in one chain, as are
        those of mixtures of engines.

        Parameters
        ----------
        per_topic : bool, default False
            Whether to add the draws on each topic, which multiplies the size by the number of topics.

        Returns
        -------
        xarray.DataTree
            Group ``posterior``: a variable (chain, draw, run_id) with a name like ``P_10`` whose attribute
            ``measure`` is the measure's text, with ``per_topic`` also ``P_10_by_topic`` (chain, draw, run_id,
            query_id). Attributes: ``bayespool_version``, ``estimator``, ``collection_fingerprint``,
            ``random_seed``, ``weights`` (the share of each model in the draws by measure, as JSON),
            ``problems`` (checks that failed). For parameters of models see `bayespool.fit`.

        Raises
        ------
        InputError
            A point correction, which has no draws.

        Examples
        --------
        >>> from bayespool import load_example, score
        >>> scores = score(load_example(), measures="P@10", estimators="posterior-ratio(draws=100)")
        >>> scores["P@10", "posterior-ratio"].to_arviz()["posterior"]["P_10"].dims
        ('chain', 'draw', 'run_id')
        """
        return draws_container([self], per_topic=per_topic)

    def to_netcdf(self, path: PathLike, *, per_topic: bool = False) -> None:
        """Write the tree from `to_arviz` to a NetCDF file.

        The file is written whole or not at all; the same draws give the same bytes.

        A file that cannot be written is an `OutputError`, and stays as it was.
        """
        atomic_write(path, container_bytes(self.to_arviz(per_topic=per_topic)))

    def interval(self, ci_prob: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return each run's equal-tailed interval ends, two arrays of shape (run,); NaN without draws."""
        if self.draws is None:
            return np.full(len(self.run_ids), np.nan), np.full(len(self.run_ids), np.nan)
        return self.draws.interval(ci_prob)

    def comparable_estimates(self) -> Estimates:
        """Return the estimates, without draws if a run has no value: comparisons are of draws of all runs."""
        lacks_some = self.draws is not None and bool(np.isnan(self.value).any())
        return replace(self, draws=None) if lacks_some else self

    def run_values(self, name: str) -> FloatArray:
        """Return the ``std``, ``distance`` or ``new_kind`` of each run, NaN if it is unset, shape (run,)."""
        values: FloatArray | None = getattr(self, name)
        return np.full(len(self.run_ids), np.nan) if values is None else values

    def summary_frame(self, *, ci_prob: float | None = None, per_topic: bool = False) -> pd.DataFrame:
        """Return the estimates as a data frame.

        Parameters
        ----------
        ci_prob : float in (0, 1), optional
            Probability of the equal-tailed interval, by default that of `bayespool.rcParams`.
        per_topic : bool, default False
            One row per run and topic instead of one per run.

        Returns
        -------
        pandas.DataFrame
            Columns ``run_id``, ``query_id`` (per topic only), ``measure``, ``estimator``, ``value``,
            ``lower`` and ``upper`` (the interval's ends, NaN for a point correction), ``ci_prob`` (NaN
            likewise), ``std``, ``distance`` and ``new_kind`` (per run only, NaN where the estimator has none)
            and ``note``.
        """
        import pandas as pd

        notes = ["; ".join(of_run) for of_run in self.notes] or [""] * len(self.run_ids)
        values = self.per_topic if per_topic else self.value
        lower = upper = np.full_like(values, np.nan)
        ci_prob = fill_ci_prob(ci_prob)
        if self.draws is not None:
            lower, upper = (self.draws.topic_interval if per_topic else self.draws.interval)(ci_prob)
        n_topics = len(self.query_ids) if per_topic else 1
        columns: dict[str, Any] = {"run_id": np.repeat(np.array(self.run_ids, dtype=object), n_topics)}
        if per_topic:
            columns["query_id"] = np.tile(np.array(self.query_ids, dtype=object), len(self.run_ids))
        columns |= {
            "measure": str(self.measure),
            "estimator": self.estimator,
            "value": values.ravel(),
            "lower": lower.ravel(),
            "upper": upper.ravel(),
            "ci_prob": np.nan if self.draws is None else ci_prob,
        }
        if not per_topic:
            columns |= {name: self.run_values(name) for name in _OPTIONAL_ARRAYS}
        return pd.DataFrame(columns | {"note": np.repeat(np.array(notes, dtype=object), n_topics)})

    to_frame = summary_frame


@runtime_checkable
class Estimator(Protocol):
    """Protocol for estimators: frozen settings that turn a collection into estimates.

    Estimators have no access to the truth.
    """

    @property
    def name(self) -> str:
        """Estimator name, as in `Estimates.estimator` and on the command line."""

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        """Return one `Estimates` per measure for the given runs."""


def estimate_checked(
    estimator: Estimator, collection: Collection, run_ids: Sequence[str], measures: Sequence[Measure]
) -> tuple[Estimates, ...]:
    """Run an estimator, and raise `InputError` unless it returns one `Estimates` per measure."""
    answer: Any = estimator.estimate(collection, tuple(run_ids), tuple(measures))
    odd = [group for group in answer if not isinstance(group, Estimates)] if isinstance(answer, tuple) else []
    if odd or not isinstance(answer, tuple):
        given = f"a tuple with {_kind(odd[0])}" if isinstance(answer, tuple) else _kind(answer)
        raise InputError(
            f"estimator {estimator.name!r} does not return a tuple of Estimates, one per measure, but "
            f"{given}",
            hint="an Estimates has value of shape (run,) and per_topic of shape (run, topic)",
        )
    if [group.measure for group in answer] != list(measures):
        raise InputError(
            f"estimator {estimator.name!r} does not answer for {', '.join(map(str, measures))} in this order"
        )
    for group in answer:
        if tuple(group.run_ids) != tuple(run_ids) or tuple(group.query_ids) != collection.query_ids:
            raise InputError(
                f"estimator {estimator.name!r} does not speak of the runs asked about, in their order, on "
                "all topics"
            )
    return answer


def _kind(x: object) -> str:
    shape = f" of shape {x.shape}" if isinstance(x, np.ndarray) else ""
    return f"an object of type {type(x).__name__}{shape}"


def worst_diagnostics(diagnostics: Sequence[Diagnostics]) -> Diagnostics:
    """Return diagnostics that combine the worst value for each check over several fits."""
    return Diagnostics(
        engine=", ".join(dict.fromkeys(name for d in diagnostics for name in d.engine.split(", "))),
        max_r_hat=max(d.max_r_hat for d in diagnostics),
        min_ess_bulk=min(d.min_ess_bulk for d in diagnostics),
        min_ess_tail=min(d.min_ess_tail for d in diagnostics),
        n_divergences=sum(d.n_divergences for d in diagnostics),
        max_end_error=max(d.max_end_error for d in diagnostics),
        problems=tuple(dict.fromkeys(problem for d in diagnostics for problem in d.problems)),
    )


def draws_container(
    estimates: Sequence[Estimates],
    *,
    per_topic: bool = False,
    constant_data: Mapping[str, AnyArray] | None = None,
) -> Any:
    """Return draws of scores under several measures as one ``xarray.DataTree``, with constant data."""
    first = estimates[0]
    n_chains, dims = _n_chains(estimates), dict[str, tuple[str, ...]]()
    posterior, texts = dict[str, AnyArray](), dict[str, dict[str, str]]()
    for e in estimates:
        if e.draws is None:
            raise InputError(f"{e.estimator} is a point correction and has no draws")
        name = variable_name(e.measure)
        if name in posterior:
            raise InputError(f"two measures would be called {name}", hint="take them one at a time")
        shape = (n_chains, len(e.draws.amount) // n_chains)
        arrays = {name: e.draws.means()} | ({f"{name}_by_topic": e.draws.scores()} if per_topic else {})
        for variable, values in arrays.items():
            posterior[variable] = values.reshape(*shape, *values.shape[1:])
            dims[variable] = ("run_id", "query_id")[: values.ndim - 1]
            texts[variable] = {"measure": str(e.measure)}
    for variable, values in (constant_data or {}).items():
        dims[variable] = ("measure", "run_id", "query_id")[: values.ndim]
    seed = {} if first.random_seed is None else {"random_seed": first.random_seed}
    problems = [p for e in estimates if e.diagnostics is not None for p in e.diagnostics.problems]
    return build_container(
        {"posterior": posterior} | ({"constant_data": constant_data} if constant_data else {}),
        dims=dims,
        coords={
            "run_id": first.run_ids,
            "query_id": first.query_ids,
            "measure": [str(e.measure) for e in estimates],
        },
        attrs={
            "bayespool_version": __version__,
            "estimator": first.estimator,
            "collection_fingerprint": first.fingerprint,
            **seed,
            "weights": json.dumps({str(e.measure): dict(e.weights) for e in estimates}),
            "problems": "; ".join(dict.fromkeys(problems)),
        },
        texts=texts,
    )


def _n_chains(estimates: Sequence[Estimates]) -> int:
    """Return the number of chains, or 1 if the fits differ in shape."""
    shapes = {fit.shape for e in estimates for fit in e.fits.values()}
    n_draws = {len(e.draws.amount) for e in estimates if e.draws is not None}
    n_chains, n_each = shapes.pop() if len(shapes) == 1 else (1, 0)
    return n_chains if n_draws == {n_chains * n_each} else 1
