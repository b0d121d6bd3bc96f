"""Tables of names, made from the registries; `conf.py` writes them into ``_generated`` for the pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from bayespool.evidence import PREDICTORS
from bayespool.measures import MEASURES
from bayespool.models import MODEL_NAMES, MODELS
from bayespool.pooling import STRATEGIES
from bayespool.scoring import (
    ALL_ESTIMATORS,
    DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES,
    ESTIMATORS,
    PAIRED_ESTIMATORS,
)


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def estimators() -> str:
    """Every estimator: its name, what it does, where it is from, which lists have it."""
    lists = {"default": DEFAULT_ESTIMATORS, "all": ALL_ESTIMATORS, "pairs": PAIRED_ESTIMATORS}
    rows = [
        [
            f"`{name}`",
            ESTIMATORS[name].description,
            ESTIMATORS[name].source,
            ", ".join(which for which, names in lists.items() if name in names),
        ]
        for name in ESTIMATOR_NAMES
    ]
    return markdown(["name", "what it does", "source", "among"], rows)


def measures() -> str:
    """Every family of measures: how it is written, what it is, its parameters with their defaults."""
    rows = []
    for name, family in sorted(MEASURES.items(), key=lambda pair: pair[0].lower()):
        defaults = {field.name: field.default for field in dataclasses.fields(family)}
        defaults |= {name: {} for name, value in defaults.items() if value == ()}
        given = [f"`{text}={defaults[field]!r}`" for text, field in family.keywords().items()]
        rows.append([f"`{name}@n`", family.label, ", ".join(given) or "–"])
    return markdown(["written", "what it is", "parameters and their defaults"], rows)


def strategies() -> str:
    """Every pooling strategy: its name, what it does, its settings, what it needs, where it is from."""
    rows = []
    for name, entry in STRATEGIES.items():
        settings = ", ".join(f"`{setting}={default!r}`" for setting, default in entry.settings.items())
        rows.append([f"`{name}`", entry.description, settings, ", ".join(entry.needs), entry.source])
    return markdown(["name", "documents judged first", "settings", "needs", "source"], rows)


def predictors() -> str:
    """Every predictor: its name, what it is, whether documents of a ranking share it, its expected slopes."""
    rows = [
        [f"`{name}`", p.description, p.per, *(_slope(MODELS[m].predictors.get(name)) for m in _with_slopes())]
        for name, p in PREDICTORS.items()
    ]
    models = [name.replace("_", "-") for name in _with_slopes()]
    return markdown(["predictor", "what it is", "per", *models], rows)


def slopes(expected: Mapping[str, tuple[float, float]]) -> str:
    """Predictors of one model with the slopes expected of them."""
    rows = [[f"`{name}`", _slope(slope)] for name, slope in expected.items()]
    return markdown(["predictor", "expected slope"], rows)


def write_tables(folder: Path) -> None:
    """Write every table that a page includes; a file that is as it should be is left alone."""
    tables = {
        "estimators": estimators(),
        "measures": measures(),
        "predictors": predictors(),
        "strategies": strategies(),
    }
    tables |= {f"slopes_{name}": slopes(MODELS[name].predictors) for name in _with_slopes()}
    folder.mkdir(exist_ok=True)
    for name, text in tables.items():
        file = folder / f"{name}.md"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _with_slopes() -> tuple[str, ...]:
    """Models that have predictors, the one with all of them first."""
    names = [name for name in MODEL_NAMES if MODELS[name].predictors]
    return tuple(sorted(names, key=lambda name: name != "evidence"))


def _slope(slope: tuple[float, float] | None) -> str:
    return "" if slope is None else f"{slope[0]:g} ± {slope[1]:g}".replace("-", "−")
