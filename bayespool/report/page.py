"""Report of a result: one HTML page of its sentences, figures, tables, methods and settings."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bayespool import __version__
from bayespool.corrections import ESTIMATORS
from bayespool.errors import OutputError
from bayespool.models import MODELS
from bayespool.names import COMBINED_MODELS, leading_name, split_effects
from bayespool.notes import Note
from bayespool.report.provenance import MADE_BY, estimator_entries, estimator_names, made_by
from bayespool.report.saving import check_output
from bayespool.tables.files import PathLike
from bayespool.tables.markup import TextTable, templates, text_table

_MAX_NAMES = 12  # of a list in the settings
_ENDS_EARLY = re.compile(r"</(script|style)[\s/>]|<!--.*<script[\s/>]", flags=re.IGNORECASE | re.DOTALL)
_LAST_EXPORT = re.compile(r"export\s*\{([^{}]*)\}\s*;?")
_NO_SETTINGS = {MADE_BY, "bayespool", "experiment", "diagnostics", "query_ids", "unjudged"}
_NO_SETTINGS |= {"warnings", "problems"}


def check_report(path: PathLike) -> None:
    """Raise `OutputError` if a report cannot be written because of its file ending or folder."""
    check_output(Path(path), (".html", ".htm"), "write a report into")


def page_html(
    metadata: Mapping[str, Any], tables: Sequence[TextTable], notes: Iterable[Note], **shown: Any
) -> str:
    """Return a result's HTML page; ``shown`` has its title, sentences, figures and citations."""
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
    in_order = sorted(dict.fromkeys(notes), key=lambda note: note.severity)
    return str(
        environment.get_template("page.html").render(
            **shown,
            notes=[note for note in in_order if note.severity < 2],
            bookkeeping=[note for note in in_order if note.severity > 1],
            tables=tables,
            pool=_pool(metadata),
            methods=_methods(metadata),
            made=_making(metadata),
            policy=policy,
            style=Markup(style),  # nosec B704 # of this package, and checked for early ends
            script=Markup(script),  # nosec B704 # of itables, likewise
            version=__version__,
        )
    )


def _pool(metadata: Mapping[str, Any]) -> list[str]:
    """Return sentences on the pool, from its report as text or from the report's fields."""
    from bayespool.pooling import PoolReport

    pool = metadata.get("pool")
    if isinstance(pool, Mapping):
        try:
            depths = tuple(tuple(pair) for pair in pool.get("depths", ()))
            pool = str(PoolReport(**{**pool, "depths": depths}))
        except TypeError:
            return []
    lines = (pool, *metadata.get("pool_notes", ())) if isinstance(pool, str) else ()
    return [f"{line[:1].upper()}{line[1:]}." for line in lines]


def _methods(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page says of the estimators, with their descriptions and the engine of posteriors."""
    names, points = estimator_names(metadata), {}
    for name in names:
        entry, effects = ESTIMATORS.get(leading_name(name)), split_effects(name)[1]
        models = COMBINED_MODELS if name == "posterior-combined" else ()
        parts = f" ({'; '.join(MODELS[model].description for model in models)})" if models else ""
        parts += f"; with effects {effects}" if effects else ""
        source = f" [{entry.source}]" if entry and entry.source else ""
        points[name] = f"{entry.description}{parts}{source}" if entry else "an estimator of the user's own"
    entries = [e for e in estimator_entries(metadata) if isinstance(e, Mapping) and "engine" in e]
    return {
        "points": points,
        "estimand": metadata.get("estimand"),
        "have_letters": any("B" in point or "Δ" in point for point in (*points, *points.values())),
        "have_posteriors": any(
            e.kind == "posterior" for n in names if (e := ESTIMATORS.get(leading_name(n)))
        ),
        "engine": entries[0] if entries else None,
    }


def _making(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is needed to reproduce a result: its command, versions, seeds and settings."""
    made = metadata.get(MADE_BY) or made_by()
    settings = {key: value for key, value in metadata.items() if key not in _NO_SETTINGS}
    if isinstance(call_settings := settings.get("settings"), Mapping):  # each value once
        settings["settings"] = {k: value for k, value in call_settings.items() if settings.get(k) != value}
    texts = ((name, _setting(value)) for name, value in _leaves("", settings))
    rows = [(name, text) for name, text in texts if text]
    seeds = (value for name, value in _leaves("", metadata) if name.rpartition(": ")[2] == "random_seed")
    return {
        "command": made.get("command", ""),
        "versions": made.get("versions") or {"bayespool": metadata.get("bayespool", "unknown")},
        "fingerprint": metadata.get("fingerprint"),
        "seeds": list(dict.fromkeys(str(seed) for seed in seeds if seed is not None)),
        "settings": text_table("Settings", ("setting", "value"), rows, 2),
    }


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
