"""Model declarations, from which PyMC graphs, densities and log odds are derived."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.evidence import PREDICTORS
from bayespool.models.evidence import LinearEvidence, ModelEvidence
from bayespool.models.formulas import (
    Block,
    Chances,
    Coefficient,
    Effect,
    Formula,
    Group,
    Linear,
    LinearPredictor,
    Product,
    Structure,
    Varying,
    evaluate,
    evaluate_intercept,
    multipliers,
)
from bayespool.models.priors import (
    STEEPER_BELOW_POOL,
    TOPICS_BELOW_POOL,
    Prior,
    coefficient_log_density,
    parse_prior,
    refuse_negative_scale,
    scale_log_density,
)
from bayespool.models.terms import Terms, parse_terms
from bayespool.names import split_effects

Evidence: TypeAlias = LinearEvidence | ModelEvidence
EvidenceKind = Literal["documents", "counts"]

OBSERVED = MappingProxyType(
    {"judged": ("n_relevant", "n_judged"), "hidden": ("n_hidden_relevant", "n_hidden")}
)
"""Names of evidence arrays with numbers of relevant documents and all documents, keyed by formula."""

_DIMS = {
    "documents": ("topic", "organization", "organization_topic", "organization_predictor"),
    "counts": ("topic", "organization", "run"),
}
BELOW_POOL_PRIORS = ("below_pool", "sigma_below_pool")
"""Names of the priors for slopes on log rank below the pool depth, which no evidence informs."""

_ORGANIZATION = "organization"
_CELLS, _INTERACTION = "organization_topic", "interaction"
_SLOPES, _SLOPE = "organization_predictor", "slope"
_BUILT_IN = frozenset(dim for dims in _DIMS.values() for dim in dims)  # others are columns of the collection
_NEW_RUN_DIMS = frozenset({_ORGANIZATION, _CELLS, _SLOPES})  # whose effects are drawn for a new run
_NUMBER_SLOPE = (0.0, 1.0)  # of log odds per standard deviation of the column
_NAME = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
_EXAMPLES = MappingProxyType(
    {
        "coefficients": '{"mu": "Normal(-2, 1)"}',
        "effects": '{"organization": Effect("organization")}',
        "predictors": '{"support": (1.0, 0.5)}',
    }
)


def _is_pair(values: object) -> bool:
    """Return whether the argument is a pair of numbers."""
    return isinstance(values, tuple | list) and [isinstance(x, int | float) for x in values] == [True, True]


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """Hierarchical model for binomial numbers of relevant documents, with formulas for their log odds.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores.
    description, source : str
        One line on the model, and its published source if it has one.
    citations : tuple of str
        Keys of `bayespool.tables.CITATIONS`. Without a source, their short names are the estimator's.
    evidence : {"documents", "counts"}
        Hidden documents with predictors, `LinearEvidence`, or numbers of hidden and of judged documents by
        run and topic, `ModelEvidence`.
    coefficients : mapping of str to Prior or str
        Intercepts, slopes and factors; a string such as ``Normal(-2, 1)`` becomes a prior. The prior of
        slopes is about the expected ones, in standard deviations.
    effects : mapping of str to Effect
        Must include ``organization``, the difference of a new run from the pooled ones. Most models of
        documents also need ``"interaction": Effect("organization_topic")``: the documents that an
        organization retrieves for a topic tend to be relevant together, and without it intervals are too
        narrow. With ``"slope": Effect("organization_predictor")`` slopes differ between organizations, so
        that a run unlike those of the pool has a wide interval.
    hidden : Linear or Chances
        Log odds that a hidden document is relevant, and an unjudged one.
    judged : Linear or Chances, optional
        Log odds that a judged document is relevant; for models of counts.
    predictors : mapping of str to (float, float), optional
        Predictors of models with slopes, out of `bayespool.evidence.PREDICTORS`, and the expected mean and
        standard deviation of their slopes.
    below_pool, sigma_below_pool : Prior or str, default ``Normal(-0.2, 0.25)`` and ``HalfNormal(0.4)``
        Priors of the slope of log odds on log(rank / pool depth) below the pool, where there is no evidence,
        and of the standard deviation of topics about it. The slope is beside that of the predictor
        ``log_rank``, or beside the one that hidden documents have within rankings in a model without it.

    Raises
    ------
    InputError
        Names that are not declared or not used, or that the evidence lacks.

    Examples
    --------
    >>> from bayespool.models import MODELS
    >>> MODELS["interpolated"].prior_names
    ('a', 'c', 'sigma_topic', 'sigma_run', 'sigma_organization')
    """

    name: str
    description: str
    source: str = ""
    citations: tuple[str, ...] = field(default=(), repr=False)  # changes nothing that is stored or compiled
    evidence: EvidenceKind
    coefficients: Mapping[str, Prior]
    effects: Mapping[str, Effect]
    hidden: Formula
    judged: Formula | None = None
    predictors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    below_pool: Prior = STEEPER_BELOW_POOL
    sigma_below_pool: Prior = TOPICS_BELOW_POOL

    def __post_init__(self) -> None:
        for name in _EXAMPLES:
            declared = getattr(self, name)
            if isinstance(declared, dict):  # another mapping may contain predictors registered later
                priors = name == "coefficients"
                held = {n: parse_prior(v) if priors else v for n, v in declared.items()}
                object.__setattr__(self, name, MappingProxyType(held))
        for name in BELOW_POOL_PRIORS:
            object.__setattr__(self, name, parse_prior(getattr(self, name)))
        refuse_negative_scale("sigma_below_pool", self.sigma_below_pool)
        if wrong := self._fault():
            raise InputError(f"model {self.name}: {wrong}")

    def __reduce__(self) -> tuple[Any, ...]:
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name, value in values.items():
            values[name] = dict(value) if isinstance(value, MappingProxyType) else value  # they do not pickle
        return partial(type(self), **values), ()

    def _fault(self) -> str:
        """Return a message about the first error in the declaration, or an empty string."""
        if not re.fullmatch(_NAME, self.base):
            return "its name has lower-case letters, digits and underscores between them"
        if self.evidence not in get_args(EvidenceKind):
            return f"no evidence {self.evidence!r}; known: {', '.join(get_args(EvidenceKind))}"
        for name, example in _EXAMPLES.items():
            if not isinstance(getattr(self, name), Mapping):
                return f"{name} are a mapping, such as {example}"
        if not all(isinstance(effect, Effect) for effect in self.effects.values()):
            return f"effects are a mapping, such as {_EXAMPLES['effects']}"
        if isinstance(self.predictors, MappingProxyType) and (
            wrong := [name for name, about in self.predictors.items() if not _is_pair(about)]
        ):
            return f"predictor {wrong[0]} needs (mean, standard deviation) of its slope, such as (1.0, 0.5)"
        linear = [part for formula in self.likelihoods.values() for part in formula.parts]
        for kind, declared, used in (
            ("coefficient", self.coefficients, [name for part in linear for name in part.coefficients]),
            ("effect", self.effects, [name for part in linear for name in part.effects]),
        ):
            if unknown := [name for name in used if name not in declared]:
                return f"{kind} {unknown[0]} is in a formula but not declared"
            if idle := [name for name in declared if name not in used]:
                return f"{kind} {idle[0]} is declared but in no formula"
        for name, effect in self.effects.items():
            refuse_negative_scale(f"sigma_{name}", effect.scale)
        if both := [name for name in self.effects if name in self.coefficients]:
            return f"{both[0]} is both a coefficient and an effect"
        dims = {name: effect.dim for name, effect in self.effects.items()}
        if unknown := [name for name, dim in dims.items() if dim in _BUILT_IN - {*_DIMS[self.evidence]}]:
            known = ", ".join(_DIMS[self.evidence])
            return f"effect {unknown[0]} is of {dims[unknown[0]]}, {self.evidence} have {known}"
        of_new = [name for name, dim in dims.items() if dim == _ORGANIZATION]
        if of_new != [_ORGANIZATION] or self.hidden.outer.effects.count(_ORGANIZATION) != 1:
            return "the log odds of hidden documents need one effect of organization, named organization"
        if any(_ORGANIZATION in part.effects for part in linear if part is not self.hidden.outer):
            return (
                "effects of organization are added to the log odds of hidden documents, and to nothing else"
            )
        for of, called in ((_CELLS, _INTERACTION), (_SLOPES, _SLOPE)):
            if any((dim == of) != (name == called) for name, dim in dims.items()):
                return f"an effect of {of} has the name {called}, and no other effect has it"
        if _SLOPE in dims and _INTERACTION not in dims:
            return f"slopes that differ between organizations need an effect {_INTERACTION}"
        if self.evidence == "documents" and (self.judged is not None or isinstance(self.hidden, Chances)):
            return "a model of documents has one linear formula, for hidden ones"
        slopes = {part.slopes for part in linear} - {None}
        if self.evidence == "counts" and (slopes or self.predictors):
            return "only models of documents have slopes and predictors"
        if bool(slopes) != bool(self.predictors):
            return "slopes need predictors, and predictors need slopes"
        if _SLOPE in dims and not slopes:
            return f"the effect {_SLOPE} needs slopes"
        return ""

    @property
    def base(self) -> str:
        """Name of the model without effects that a formula adds to it."""
        return split_effects(self.name)[0]

    @property
    def terms(self) -> Terms:
        """Columns of the collection in the formula: those of effects, and those of numbers."""
        text = split_effects(self.name)[1]
        numbers = parse_terms(text)[0].numbers if text else ()
        return Terms(tuple(e.dim for e in self.effects.values() if e.dim not in _BUILT_IN), numbers)

    def with_terms(self, text: str) -> ModelSpec:
        """Return the model with effects of columns of the collection, by a formula.

        Examples
        --------
        >>> from bayespool.models import MODELS
        >>> spec = MODELS["ratio"].with_terms("(1 | type) + topic_length")
        >>> spec.name, spec.prior_names[-2:]
        ('ratio + (1 | type) + topic_length', ('sigma_type', 'topic_length'))
        """
        terms, formula = parse_terms(text)
        name = f"{self.name} + {formula}"
        taken = (*_BUILT_IN, *self.coefficients, *self.effects, *self.predictors, *PREDICTORS, "predictor")
        if clash := [column for column in (*terms.groups, *terms.numbers) if column in taken]:
            raise InputError(
                f"model {name}: the model has {clash[0]!r} itself", hint="leave it out, or rename the column"
            )
        if terms.numbers and self.slopes is None:
            hint = "add it to posterior-ratio or posterior-rankings, or group it: (1 | column)"
            raise InputError(f"model {self.name} has no slopes for {terms.numbers[0]}", hint=hint)
        outer = dataclasses.replace(self.hidden.outer, effects=(*self.hidden.outer.effects, *terms.groups))
        chances = self.hidden if isinstance(self.hidden, Chances) else None
        hidden = outer if chances is None else dataclasses.replace(chances, effect=outer)
        effects = {**self.effects, **{column: Effect(column) for column in terms.groups}}
        slopes: Any = self.predictors
        if terms.numbers:
            slopes = {**self.predictors, **dict.fromkeys(terms.numbers, _NUMBER_SLOPE)}
        return dataclasses.replace(self, name=name, hidden=hidden, effects=effects, predictors=slopes)

    @property
    def likelihoods(self) -> dict[str, Formula]:
        """Log-odds formulas keyed by kind of document: ``judged`` if the model has it, and ``hidden``."""
        judged = {} if self.judged is None else {"judged": self.judged}
        return {**judged, "hidden": self.hidden}

    @property
    def slopes(self) -> str | None:
        """Name of the slope coefficients, or None."""
        return self.hidden.slopes if isinstance(self.hidden, Linear) else None

    @property
    def prior_names(self) -> tuple[str, ...]:
        """Names of all parameters with a prior: coefficients, effect scales and slopes of a formula."""
        return (*self.coefficients, *(f"sigma_{name}" for name in self.effects), *self.terms.numbers)

    def with_priors(self, priors: Mapping[str, str | Prior]) -> ModelSpec:
        """Return the model with the given priors, ignoring names that the model lacks.

        Examples
        --------
        >>> from bayespool.models import MODELS
        >>> MODELS["ratio"].with_priors({"mu": "Normal(0, 1)"}).coefficients["mu"]
        Prior(distribution='Normal', args=(0.0, 1.0))
        """
        if not priors:
            return self
        parsed = {name: parse_prior(prior) for name, prior in priors.items()}
        effects = {
            name: dataclasses.replace(effect, scale=parsed.get(f"sigma_{name}", effect.scale))
            for name, effect in self.effects.items()
        }
        coefficients = {name: parsed.get(name, prior) for name, prior in self.coefficients.items()}
        slopes: Any = {name: parsed[name].args for name in self.terms.numbers if name in parsed}
        slopes = {**self.predictors, **slopes} if slopes else self.predictors
        slope, topics = (parsed.get(name, getattr(self, name)) for name in BELOW_POOL_PRIORS)
        return dataclasses.replace(
            self,
            coefficients=coefficients,
            effects=effects,
            predictors=slopes,
            below_pool=slope,
            sigma_below_pool=topics,
        )

    def refuse_priors(self, priors: Mapping[str, str | Prior]) -> None:
        """Raise `InputError` for priors without a density in the Laplace engine, ignoring unknown names.

        A distribution that does not fit its variable, such as one on (0, 1) for log odds, is an `InputError`.
        """
        for name, text in priors.items():
            if name in self.coefficients:
                coefficient_log_density(name, parse_prior(text), logit=name in self._factors)
            elif name in self.terms.numbers:
                if not (prior := parse_prior(text)).is_plain_normal:
                    raise InputError(f"prior of {name}: {prior} is not normal", hint="write Normal(0, 0.5)")
                coefficient_log_density(name, prior)
            elif name in self.prior_names:
                refuse_negative_scale(name, prior := parse_prior(text))
                scale_log_density(name, prior)

    @property
    def _factors(self) -> list[str]:
        """Names of the coefficients restricted to (0, 1)."""
        return [f.factor for f in self.likelihoods.values() if isinstance(f, Chances)]

    def structure(self, evidence: Evidence, known: Sequence[int] | None = None) -> Structure:
        """Return the model's structure for given evidence, used by the Laplace engine and prior draws.

        ``known`` are organizations, as indices, whose effects on topics to return; by default all.
        """
        arrays = evidence.arrays()
        chances = self._factors
        coefficients = {name: Coefficient(p, logit=name in chances) for name, p in self.coefficients.items()}
        if self.slopes is not None and isinstance(evidence, LinearEvidence):
            n, prior = len(evidence.predictor_names), self.coefficients[self.slopes]
            coefficients[self.slopes] = Coefficient(prior, n, "predictor", shift=evidence.expected)
        sizes = {dim: len(values) for dim, values in evidence.coords.items()}
        groups = {name: self._group(effect, sizes, known) for name, effect in self.effects.items()}
        crossed = self.crossed(evidence)
        blocks = (self._block(of, formula, arrays, crossed) for of, formula in self.likelihoods.items())
        return Structure(coefficients, groups, tuple(blocks))

    def _group(self, effect: Effect, sizes: Mapping[str, int], known: Sequence[int] | None) -> Group:
        size = sizes[effect.dim]
        if effect.dim != _CELLS:
            return Group(effect.scale, size, effect.dim, is_slope=effect.dim == _SLOPES)
        kept, n_topics = None, sizes["topic"]
        if known is not None:
            kept = (np.array(sorted(known), dtype=np.int64)[:, None] * n_topics + np.arange(n_topics)).ravel()
        return Group(effect.scale, size, effect.dim, is_cell=True, kept=kept)

    def crossed(self, evidence: Evidence) -> dict[str, int]:
        """Effects of runs in models of documents, with their numbers of levels.

        They vary within an organization and a topic, and enter log odds as slopes of indicators.
        """
        if not isinstance(evidence, LinearEvidence):
            return {}
        sizes = {f.name: len(f.levels) for f in evidence.factors if f.of == "run"}
        return {name: sizes[effect.dim] for name, effect in self.effects.items() if effect.dim in sizes}

    def _block(
        self, of: str, formula: Formula, arrays: Mapping[str, AnyArray], crossed: Mapping[str, int]
    ) -> Block:
        successes, trials = (arrays[name] for name in OBSERVED[of])
        ones = np.ones(len(trials))

        def predictor(linear: Linear) -> LinearPredictor:
            coefficients = {name: ones for name in linear.coefficients}
            if linear.slopes is not None:
                coefficients[linear.slopes] = arrays[f"{of}_predictors"]
            dims = {name: self.effects[name].dim for name in linear.effects}
            groups = {name: arrays[f"{of}_{dim}"] for name, dim in dims.items() if dim != _SLOPES}
            for name in crossed:
                coefficients[name] = np.eye(crossed[name])[groups.pop(name)]
            if _ORGANIZATION in groups and groups[_ORGANIZATION].ndim == 2:  # weights of each
                coefficients[_ORGANIZATION] = groups.pop(_ORGANIZATION)
            varying = None
            if _SLOPE in dims and linear.slopes is not None:
                varying = Varying(_SLOPE, linear.slopes, arrays[f"{of}_organization"])
            return LinearPredictor(coefficients, groups, varying)

        link = None
        if isinstance(formula, Chances):
            link = Product(None if formula.background is None else arrays[f"{of}_residual"])
        return Block(successes, trials, tuple(predictor(part) for part in formula.parts), link)

    def log_odds(
        self,
        draws: Mapping[str, FloatArray],
        at: Mapping[str, Any],
        *,
        predictors: FloatArray | None = None,
        residual: FloatArray | float = 0.0,
        source: Any = slice(None),
    ) -> FloatArray:
        """Return log odds that hidden or unjudged documents are relevant, without organization effects.

        They have the shape (draw, document), and are to the bit the same whatever other draws and documents
        there are.

        Parameters
        ----------
        draws : mapping of str to ndarray
            Draws of the model's variables, draws on the first axis.
        at : mapping of str to int or ndarray of int, shape (document,)
            Coordinates of the documents: ``topic``, columns of topics and, for models of counts, ``run``
            and columns of runs.
        predictors : ndarray of float, shape (document, predictor), optional
            On the scale of the evidence's; for models of documents. The columns after those of predictors are
            shares of the levels of effects that ``at`` lacks.
        residual : float or ndarray of float, shape (document,)
            Δ; for models of counts.
        source : slice or ndarray of int
            Draws to take.
        """
        log_odds = evaluate(self.hidden, self.known_effects, draws, at, predictors, residual, source)
        n = max(np.size(values) for values in at.values()) if predictors is None else len(predictors)
        return log_odds if log_odds.shape[1] == n else np.repeat(log_odds, n, axis=1)

    def topic_intercept(self, draws: Mapping[str, FloatArray], at: Mapping[str, Any]) -> FloatArray:
        """Return the part of `log_odds` that all documents of a topic share, shape (draw,)."""
        assert isinstance(self.hidden, Linear)
        n_draws = len(draws[f"sigma_{_ORGANIZATION}"])
        intercept = evaluate_intercept(self.hidden, self.known_effects, draws, at, slice(None))
        return np.ascontiguousarray(np.broadcast_to(intercept[:, 0], n_draws))

    def multipliers(self, draws: Mapping[str, FloatArray], at: Mapping[str, Any]) -> FloatArray:
        """Return what `log_odds` multiplies predictors by, shape (draw, predictor)."""
        assert isinstance(self.hidden, Linear)
        slopes = multipliers(self.hidden, self.known_effects, draws, at)
        return np.zeros((len(draws[f"sigma_{_ORGANIZATION}"]), 0)) if slopes is None else slopes

    @property
    def known_effects(self) -> dict[str, str]:
        """Coordinates of the effects that do not belong to a new run, by name."""
        return {name: effect.dim for name, effect in self.effects.items() if effect.dim not in _NEW_RUN_DIMS}

    def log_odds_of_rows(
        self, evidence: Evidence, draws: Mapping[str, FloatArray], row: Any = slice(None)
    ) -> FloatArray:
        """Return `log_odds` for selected rows of hidden documents in the evidence, shape (draw, row)."""
        arrays = evidence.arrays()
        dims = {*self.known_effects.values(), "topic"}
        at = {dim: arrays[f"hidden_{dim}"][row] for dim in dims}
        if isinstance(evidence, LinearEvidence):
            return self.log_odds(draws, at, predictors=evidence.predictors[row])
        return self.log_odds(draws, at, residual=evidence.hidden_residual[row])

    def standardize(self, evidence: Evidence, draws: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the variables that the PyMC graph samples in place of effects and slopes, by name."""
        standard = {}
        for name in self.effects:
            scale = draws[f"sigma_{name}"]
            standard[f"standard_sigma_{name}"] = scale
            standard[f"standard_{name}"] = draws[f"{name}_effect"] / np.maximum(scale, 1e-300)[:, None]
        if self.slopes is not None and isinstance(evidence, LinearEvidence):
            deviation, prior = draws[self.slopes] - evidence.expected, self.coefficients[self.slopes]
            if prior.is_plain_normal:
                deviation = (deviation - prior.args[0]) / prior.args[1] @ evidence.rotation
            standard[f"standard_{self.slopes}"] = deviation
        return standard
