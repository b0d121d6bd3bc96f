"""Registry of inference engines, and a relay to a second engine if a fit fails."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from bayespool.errors import PREPARE_ANEW, DiagnosticsWarning, InputError, known_names, warn_caller
from bayespool.inference.fit import Fit, Start
from bayespool.inference.laplace import Laplace
from bayespool.inference.nuts import NUTS
from bayespool.notes import joined
from bayespool.tables.citations import cite

if TYPE_CHECKING:
    from bayespool.models import Evidence, ModelSpec

Class = TypeVar("Class", bound=type)


class Engine(Protocol):
    """Protocol for engines: frozen settings that draw from a model's posterior.

    Its class may also declare ``independent = True`` if its draws are, so that only their number is checked;
    ``takes_over``, the name of the engine that replaces it where a fit fails; and ``citations``, keys of
    `bayespool.tables.CITATIONS`.
    """

    @property
    def name(self) -> str:
        """Engine name in settings and diagnostics, a class attribute."""

    def fit(
        self, spec: ModelSpec, evidence: Evidence, random_seed: int, *, known: Sequence[int] | None = None
    ) -> Fit:
        """Draw all variables of a model from their posterior, given evidence.

        Parameters
        ----------
        spec : ModelSpec
            With the priors to use.
        evidence : LinearEvidence or ModelEvidence
        random_seed : int
            The same seed, model, evidence and settings give the same bytes.
        known : sequence of int, optional
            Organizations of the evidence whose effects on topics to return; default: all.

        Returns
        -------
        Fit
            With ``draws × chains`` draws in all, where the engine has these settings.

        Raises
        ------
        numpy.linalg.LinAlgError
            There is no fit, because a curvature is not positive.

        Warns
        -----
        DiagnosticsWarning
            A check failed; see the fit's diagnostics.
        """


ENGINES: dict[str, type[Any]] = {engine.name: engine for engine in (Laplace, NUTS)}
"""Engine classes, keyed by name, the default first."""


def register_engine(engine: Class) -> Class:
    """Register an engine class by its ``name`` (class decorator).

    ``draws``, ``tune``, ``chains``, ``target_accept`` and ``progress`` of an estimator become its settings,
    where it has fields of these names. ``del ENGINES[name]`` removes it. An unknown citation, or a name that
    another class has, is an `InputError`; one that is defined again, as in a notebook, replaces itself.
    """
    named: Any = engine
    cite(getattr(named, "citations", ()))
    name, registered = named.name, ENGINES.get(named.name, engine)
    if (registered.__module__, registered.__qualname__) != (engine.__module__, engine.__qualname__):
        raise InputError(f"there is an engine {name!r} already", hint="give it another name")
    ENGINES[name] = engine
    return engine


def engine_named(name: str) -> type[Any]:
    """Return the engine class in `ENGINES` with a name, or raise `InputError`."""
    if name not in ENGINES:
        raise InputError(f"no engine {name!r}", hint=known_names(name, ENGINES))
    return ENGINES[name]


def is_independent(name: str) -> bool:
    """Return whether an engine's draws are independent; False for an unknown name."""
    return bool(getattr(ENGINES.get(name), "independent", False))


def make_engine(name: str, *, relay: bool = False, **settings: Any) -> Engine:
    """Make an engine from the settings that it accepts, with a fallback engine if ``relay``."""
    cls = engine_named(name)
    names = {f.name for f in dataclasses.fields(cls) if f.init}
    engine: Engine = cls(**{key: value for key, value in settings.items() if key in names})
    other = getattr(cls, "takes_over", None) if relay else None
    return engine if other is None else Relay(engine, make_engine(other, **settings))


MOST_SAMPLED_TOPICS = 10_000
"""Most topics for which a second engine takes over: sampling more takes hours."""


@dataclass(frozen=True)
class Relay:
    """Engine with a fallback: a second engine, used with a warning if the first fails its checks.

    With more topics than `MOST_SAMPLED_TOPICS` a fit that fails its checks stays, and says so.
    """

    first: Engine
    second: Engine

    @property
    def name(self) -> str:
        """Name of the first engine."""
        return self.first.name

    def fit(
        self,
        spec: ModelSpec,
        evidence: Evidence,
        random_seed: int,
        *,
        start: Start | None = None,
        **more: Any,
    ) -> Fit:
        """Return the first engine's fit if it passes its checks, else the second engine's.

        The first one goes on from the ``start`` of an earlier fit, if given.

        Raises
        ------
        InputError
            The first engine fails its checks where it has passed them: the ``start`` is of other evidence.
        """
        began: dict[str, Any] = {} if start is None else {"start": start}
        fit, problems = self._first(spec, evidence, random_seed, **began, **more)
        if fit is not None and not problems:
            return fit
        if start is not None and not start.is_unchecked:
            fit, problems = self._first(spec, evidence, random_seed, **more)
            if fit is not None and not problems:
                return fit
            raise InputError("prepared results are of another pool: a fit fails", hint=PREPARE_ANEW)
        failed, n_topics = joined("diagnostics", "; ", problems).of(spec.name), len(evidence.query_ids)
        if fit is not None and n_topics > MOST_SAMPLED_TOPICS:
            rest = f"{self.second.name} would take hours for {n_topics:,} topics"
            warn_caller(joined("diagnostics", "; ", [failed, rest]), DiagnosticsWarning)
            return fit
        rest = f"sampling with {self.second.name} instead"
        warn_caller(joined("diagnostics", "; ", [failed, rest]), DiagnosticsWarning)
        return self.second.fit(spec, evidence, random_seed, **more)

    def _first(self, *asked: Any, **more: Any) -> tuple[Fit | None, Sequence[str]]:
        """Return the first engine's fit, if there is one, and which of its checks fail."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)  # replaced by the second engine's
            try:
                fit = self.first.fit(*asked, **more)
            except np.linalg.LinAlgError:
                return None, ("a curvature is not positive",)
        return fit, fit.diagnostics.problems
