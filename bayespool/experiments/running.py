"""The one runner of experiments and checks: parts are worked on, stored, resumed and distributed."""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import bayespool.errors
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning, CacheWarning, warn_caller
from bayespool.experiments.parallel import completed
from bayespool.experiments.preparing import versions_of_own
from bayespool.experiments.storage import CaughtWarnings, PartResult, PartStore, Stored, description_of
from bayespool.options import Settings, takes

Returned = TypeVar("Returned")


@dataclass(frozen=True, kw_only=True)
class Running:
    """Where finished parts are kept, how many processes work, and who is told of progress."""

    folder: str | Path | None = None
    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None


class Work:
    """What the runner knows of an experiment or a check: a pure and importable function of its parts.

    Attributes
    ----------
    name : str
        As in the description of stored parts.
    parts_name : str
        What its parts are called, in the plural.
    folder : str
        Subfolder of finished parts; default: the name.
    same_columns : bool
        Whether the rows of all parts have the same columns.
    warns : str
        What its functions warn of besides, as in a docstring.
    """

    name: ClassVar[str]
    parts_name: ClassVar[str] = "parts"
    folder: ClassVar[str] = ""
    same_columns: ClassVar[bool] = True
    warns: ClassVar[str] = ""

    def compute(self, collection: Collection, part: Any, settings: Any) -> Stored:
        """Rows of a part and what else is stored of it, from the collection and the settings alone."""
        raise NotImplementedError

    def work(self, collection: Collection, part: Any, settings: Any) -> PartResult:
        """A part's rows, with bayespool's own warnings."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows, rest = self.compute(collection, part, settings)
        return PartResult(part, rows, rest | {"warnings": own_warnings(caught)})

    def identity(self, part: Any, settings: Any) -> tuple[str, list[Any]]:
        """Name of a part's file, and what tells the part from the others, in the types of JSON."""
        texts = [str(value) for value in part]
        return "-".join(texts), texts

    def describe(self, settings: Any) -> dict[str, Any]:
        """Settings whose change invalidates finished parts, in the types of JSON, with the versions of the
        user's own measures, models and so on.
        """
        own = versions_of_own((), settings.measures, models=(settings.model,), engine=settings.engine)
        return dict(settings.describe()) | own

    def accepts(self, result: PartResult) -> bool:
        """Whether a stored result is of its part."""
        return True

    def prepare(self, collection: Collection, settings: Any) -> None:
        """Look at the collection as it was given, before any part."""

    def warn(self, results: Sequence[PartResult]) -> None:
        """Issue the warnings of all parts, alike ones once."""
        warn_once([result.warnings for result in results], self.parts_name)

    def run(
        self,
        collection: Collection,
        parts: Sequence[Any],
        settings: Any,
        running: Running,
        *,
        given: Collection | None = None,
    ) -> list[PartResult]:
        """Results of all parts in their order, loaded from the folder or worked out and stored; their
        description names the collection as it was `given`.
        """
        self.prepare(given or collection, settings)
        store, progress = None, running.progress or (lambda done, n: None)
        if running.folder is not None:
            description = description_of(self.name, given or collection, self.describe(settings))
            folder = Path(running.folder) / (self.folder or self.name)
            store = PartStore(folder, description, same_columns=self.same_columns)
        results: dict[Any, PartResult] = {}
        with nullcontext() if store is None else closing(store):
            for part in parts:
                stored = None if store is None else store.load(*self.identity(part, settings))
                if stored is not None and self.accepts(result := PartResult(part, *stored)):
                    results[part] = result
            progress(len(results), len(parts))
            left = [part for part in parts if part not in results]
            work = partial(self.work, settings=settings)
            for result in completed(work, collection, left, n_jobs=running.n_jobs):
                if store is not None:
                    store.save(*self.identity(result.part, settings), result.rows, result.rest)
                results[result.part] = result
                progress(len(results), len(parts))
        in_order = [results[part] for part in parts]
        self.warn(in_order)
        return in_order


_RUNNING = """folder : path, optional
    Finished {parts} are stored in its subfolder ``{folder}``, and not worked out again by a later call.
n_jobs : int, optional
    Processes; −1 for one per core; default 1, or as set by a ``joblib.parallel_config`` around the call.
    Results are the same to the byte for any number, and on a Dask cluster.
progress : callable, optional
    Called with the number of finished {parts}, stored ones included, and their total."""
_ERRORS = """OutputError
    ``folder`` cannot be written.
WorkerError
    A worker process died. With a folder the same call goes on from the stored {parts}."""
_WARNINGS = """ExperimentChangedWarning
    ``folder`` holds {parts} of other settings, or unreadable ones.{warns}"""


def in_parts(
    cls: type[Settings], work: type[Work]
) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """Decorator of a function whose ``settings`` and ``running`` are made of its keywords, as of `takes`.

    In its docstring the fields of `Running` take the place of ``{running}``; ``{errors}`` and ``{warnings}``
    are what its parts raise and warn of.
    """

    def decorate(function: Callable[..., Returned]) -> Callable[..., Returned]:
        of_running = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in Running.__annotations__.items()
        ]
        own = [p for p in inspect.signature(function).parameters.values() if p.name != "running"]

        @functools.wraps(function)
        def with_running(*args: Any, **keywords: Any) -> Returned:
            own = {name: keywords.pop(name) for name in Running.__annotations__ if name in keywords}
            return function(*args, running=Running(**own), **keywords)

        signature = inspect.signature(function)
        with_running.__signature__ = signature.replace(parameters=[*own, *of_running])  # type: ignore[attr-defined]
        if function.__doc__ is not None:  # python -OO has none
            text = inspect.cleandoc(function.__doc__)
            folder = work.folder or getattr(work, "name", "NAME")
            names = {"parts": work.parts_name, "folder": f"{folder}/", "warns": work.warns}
            for place, template in (("running", _RUNNING), ("errors", _ERRORS), ("warnings", _WARNINGS)):
                text = text.replace(f"{{{place}}}", template.format(**names))
            with_running.__doc__ = text
        return takes(cls)(with_running)

    return decorate


def own_warnings(caught: Sequence[warnings.WarningMessage]) -> CaughtWarnings:
    """Class and text of bayespool's own warnings, each once; all others, and those about this machine's
    cache, are issued again.
    """
    ours: dict[tuple[str, str], None] = {}
    for message in caught:
        if issubclass(message.category, BayespoolWarning) and message.category is not CacheWarning:
            ours[message.category.__name__, str(message.message)] = None
        else:
            warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
    return tuple(ours)


def warn_once(warnings_of_parts: Sequence[CaughtWarnings], parts: str) -> None:
    """Issue the warnings of all parts, one for those that differ in numbers only; `parts` is the plural that
    the text names ("folds").
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    n_parts = Counter[tuple[str, str]]()
    for of_part in warnings_of_parts:
        kinds = [(name, re.sub(r"\d+", "0", text)) for name, text in of_part]
        for kind, (_, text) in zip(kinds, of_part, strict=True):
            texts.setdefault(kind, {})[text] = None
        n_parts.update(set(kinds))
    for kind, of_kind in texts.items():
        more = " and the like" if len(of_kind) > 1 else ""
        n = len(warnings_of_parts)
        where = f"in {n_parts[kind]} of {n} {parts}: " if n > 1 else ""
        category = getattr(bayespool.errors, kind[0], BayespoolWarning)
        warn_caller(f"{where}{next(iter(of_kind))}{more}", category)
