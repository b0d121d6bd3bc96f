"""Report of any result: one HTML page of its sentences, figures, tables, methods and settings."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bayespool import __version__
from bayespool.corrections import ESTIMATORS
from bayespool.errors import InputError, OutputError
from bayespool.models import MODELS
from bayespool.names import COMBINED_MODELS
from bayespool.report.provenance import MADE_BY, made_by
from bayespool.report.result import Figure, Result, estimator_entries, estimator_names
from bayespool.report.saving import check_place
from bayespool.tables.files import PathLike, atomic_write
from bayespool.tables.markup import TextTable, templates, text_table

_MAX_ROWS_WITHOUT_SCROLLING, _MAX_COLUMNS_UPRIGHT, _MAX_NAMES = 40, 10, 12
_ENDS_EARLY = re.compile(r"</(script|style)[\s/>]|<!--.*<script[\s/>]", flags=re.IGNORECASE | re.DOTALL)
_LAST_EXPORT = re.compile(r"export\s*\{([^{}]*)\}\s*;?")
_ESTIMANDS = {
    "complete": "All unjudged documents in reach of a run's cutoff are estimated.",
    "pooled": "Unjudged documents down to the pool depth are estimated; those below it are nonrelevant.",
}
_LETTERS = (
    "B is the score as judged, with unjudged documents nonrelevant; Δ is how much it rises if all of them "
    "are relevant; C and E are constants of the authors."
)
_INTERVALS = (
    "An interval holds the corrected score with the stated probability, given the models. It speaks of the "
    "unjudged documents of these topics, not of other topics. A point correction has no interval, but for "
    "topics-adjustment, prediction-powered, precise and conformal-risk-control: theirs are over which topics "
    "or documents are judged."
)
_NO_SETTINGS = {MADE_BY, "bayespool", "experiment", "diagnostics", "query_ids", "unjudged", "statements"}
_NO_SETTINGS |= {"warnings", "problems"}


class Image(NamedTuple):
    """Figure on a page, with a ``data:`` address as ``image``."""

    caption: str
    alternative: str
    image: str


@dataclass(frozen=True)
class Section:
    """Section on a page, with its parts in page order."""

    title: str
    name: str
    sentences: Sequence[str] = ()
    points: Sequence[str] = ()
    command: str = ""
    figures: Sequence[Image] = ()
    tables: Sequence[TextTable] = ()

    @property
    def is_wide(self) -> bool:
        """Whether the section is printed in landscape format."""
        return any(len(table.columns) > _MAX_COLUMNS_UPRIGHT for table in self.tables)


def write_report(result: Result, path: PathLike) -> None:
    """Write a result's report as one HTML file without external resources.

    It has a summary, notes, figures, sortable tables, methods with citations, settings, versions, seed and
    fingerprints. It adapts to phones, dark mode, print and the keyboard.

    Parameters
    ----------
    result : Result
        Made by a function of bayespool, or read back (`bayespool.read_result`).
    path : path
        Ending in .html.

    Raises
    ------
    InputError
        There is no report of such an object.
    OutputError
        The file cannot be written; an earlier file stays.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, score, write_report
    >>> scores = score(load_example(), "new-a", "P@10", estimators="background")
    >>> with TemporaryDirectory() as folder:
    ...     write_report(scores, f"{folder}/report.html")
    """
    if not isinstance(result, Result):
        raise InputError(
            f"no report can be made of a {type(result).__name__}",
            hint="results of score, compare, reversals, leave_out, budgets and the like have one",
        )
    check_report(path)
    atomic_write(path, page_html(result))


def check_report(path: PathLike) -> None:
    """Raise `OutputError` if a report cannot be written because of its file ending or folder."""
    place = Path(path)
    if place.suffix not in (".html", ".htm"):
        raise OutputError(f"{place}: a report is an .html file")
    check_place(place)


def page_html(result: Result) -> str:
    """Return a result's HTML page with escaped text and a policy for its own script and styles only."""
    from markupsafe import Markup

    environment = templates("bayespool.report")
    style = environment.get_template("page.css").render()
    # text that would end a style or script element early, or keep a script from ending at its end tag
    script = _tables_script()
    for text in (style, script):
        if _ENDS_EARLY.search(text):
            raise OutputError("a style sheet or script would end before its end; this is a bug")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return str(
        environment.get_template("page.html").render(
            title=result.title,
            summary=result.sentences() or ("The tables have the numbers.",),
            notes=tuple(dict.fromkeys(result.notes())),
            sections=_sections(result),
            tall=_MAX_ROWS_WITHOUT_SCROLLING,
            policy=policy,
            style=Markup(style),  # nosec B704 # of this package, and checked for early ends
            script=Markup(script),  # nosec B704 # of itables, likewise
            version=__version__,
        )
    )


def _sections(result: Result) -> list[Section]:
    metadata = result.metadata if MADE_BY in result.metadata else {**result.metadata, MADE_BY: made_by()}
    figures = list(map(_image, result.figures()))
    in_order = sorted(result.tables(), key=lambda table: not table.views)  # those that people read first
    filled = (table for table in in_order if len(table.frame))
    tables = [result.marked(text) for table in filled for text in table.read() or (table.truncated(),)]
    sections = [
        Section("Figures", "figures", figures=figures) if figures else None,
        Section("Tables", "tables", tables=tables) if tables else None,
        _pool(metadata),
        _methods(result),
        _making(metadata),
    ]
    return [section for section in sections if section is not None]


def _image(figure: Figure) -> Image:
    text = (figure.alternative or figure.caption).rstrip(".")
    content = figure.render("svg")
    kind = "png" if content.startswith(b"\x89PNG") else "svg+xml"  # as a folder has it
    address = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return Image(figure.caption, f"Figure. {text}. The tables below have its numbers.", address)


def _pool(metadata: Mapping[str, Any]) -> Section | None:
    """Return the section on the pool, from its report as text or from the report's fields."""
    from bayespool.pooling import PoolReport

    pool = metadata.get("pool")
    if isinstance(pool, Mapping):
        try:
            depths = tuple(tuple(pair) for pair in pool.get("depths", ()))
            pool = str(PoolReport(**{**pool, "depths": depths}))
        except TypeError:
            return None
    if not isinstance(pool, str):
        return None
    lines = (pool, *metadata.get("pool_notes", ()))
    return Section("The pool", "pool", tuple(f"{line[:1].upper()}{line[1:]}." for line in lines))


def _methods(result: Result) -> Section | None:
    """Return the section on the estimators used, with descriptions and citations."""
    names, metadata = estimator_names(result.metadata), result.metadata
    points = []
    for name in names:
        entry = ESTIMATORS.get(name)
        if entry is None:
            points.append(f"{name}: an estimator of the user's own.")
            continue
        models = (
            [MODELS[model].description for model in COMBINED_MODELS] if name == "posterior-combined" else []
        )
        parts = f" ({'; '.join(models)})" if models else ""
        points.append(f"{name}: {entry.description}{parts}{f' [{entry.source}]' if entry.source else ''}.")
    sentences = [_ESTIMANDS[metadata["estimand"]]] if metadata.get("estimand") in _ESTIMANDS else []
    if any("B" in point or "Δ" in point for point in points):
        sentences.append(_LETTERS)
    if any(ESTIMATORS[name].kind == "posterior" for name in names if name in ESTIMATORS):
        sentences += [_models_sentence(metadata), _INTERVALS]
    if cited := result.citations():
        sentences.append(f"To cite: {' · '.join(citation.text for citation in cited)}")
    return Section("Methods", "methods", sentences, points) if sentences or points else None


def _models_sentence(metadata: Mapping[str, Any]) -> str:
    entries = estimator_entries(metadata)
    first: Mapping[str, Any] = next((e for e in entries if isinstance(e, Mapping) and "engine" in e), {})
    how = "that of hierarchical models"
    if first.get("engine") == "nuts":
        how = f"sampled by NUTS ({first['chains']} chains of {first['draws']} draws after {first['tune']})"
    elif first:
        n = int(first["draws"]) * int(first.get("chains", 1))
        how = f"approximated by the engine {first['engine']} ({n:,} independent draws)"
    return (
        "Hierarchical models learn from the pooled runs how often unjudged documents are relevant: with an "
        "organization taken out of the pool, the documents that only it contributed are unjudged again, "
        f"while their relevance is known. The posterior is {how}."
    )


def _making(metadata: Mapping[str, Any]) -> Section:
    """Return the section with everything needed to reproduce a result."""
    made = metadata.get(MADE_BY, {})
    command = made.get("command", "")
    versions = made.get("versions") or {"bayespool": metadata.get("bayespool", "unknown")}
    sentences = [f"Versions: {', '.join(f'{name} {number}' for name, number in versions.items())}."]
    if fingerprint := metadata.get("fingerprint"):
        sentences.append(
            f"Fingerprint of the collection: {fingerprint}. The same runs, judgments, organizations and pool "
            "have the same."
        )
    values = [(name.rpartition(": ")[2], value) for name, value in _leaves("", metadata)]
    if seeds := list(
        dict.fromkeys(seed for name, seed in values if name == "random_seed" and seed is not None)
    ):
        sentences.append(f"Random seed: {', '.join(map(str, seeds))}. The same seed gives the same draws.")
    if command:
        sentences.append("The command that repeats it, in the same folder:")
    else:
        sentences.append("It was made from Python: no command is known that repeats it.")
    settings = {key: value for key, value in metadata.items() if key not in _NO_SETTINGS}
    if isinstance(call_settings := settings.get("settings"), Mapping):  # each value once
        settings["settings"] = {k: value for k, value in call_settings.items() if settings.get(k) != value}
    texts = ((name, _setting(value)) for name, value in _leaves("", settings))
    rows = tuple((name, text) for name, text in texts if text)
    table = text_table("Settings", ("setting", "value"), rows, 2)
    return Section("How it was made", "made", sentences, command=command, tables=(table,))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the plain values inside a value, lists of them whole, under the names of all levels above."""
    if isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
        parts = [dict(part) if isinstance(part, Mapping) else {"": part} for part in value]
        inner = [(part.pop("name", i), part.pop("", part)) for i, part in enumerate(parts, 1)]
    elif isinstance(value, Mapping):
        inner = list(value.items())
    else:
        yield name, value
        return
    for key, part in inner:
        yield from _leaves(f"{name}: {key}" if name else str(key), part)


def _setting(value: Any) -> str:
    """Return a setting as text, empty for None."""
    if isinstance(value, list | tuple):
        more = f" and {len(value) - _MAX_NAMES} more" if len(value) > _MAX_NAMES else ""
        first = value[:_MAX_NAMES]
        return ", ".join(str(x) if isinstance(x, list | tuple) else _setting(x) for x in first) + more
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _tables_script() -> str:
    """Return the page's script, including DataTables as shipped with itables."""
    from jinja2 import PackageLoader

    environment = templates("bayespool.report")
    bundle = PackageLoader("itables", "html").get_source(environment, "dt_bundle.js")[0]
    exports = _LAST_EXPORT.findall(bundle)
    export = re.search(r"([\w$]+)\s+as\s+default\b", exports[-1] if exports else "")
    if export is None:
        raise OutputError("the installed itables has no DataTables of the form that reports need")
    ours = environment.get_template("page.js").render().replace("new DataTable(", f"new {export[1]}(")
    return f"{bundle}\n{ours}\n"
