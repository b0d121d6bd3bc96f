"""Tables of names, made from the registries, as `outputs.py` writes them into the pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from options import command_table, option_table

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


def page() -> str:
    """The page of names and options, all of which is made here."""
    parts = {
        "Commands": command_table(),
        "Options": "`-h` shows those that one needs first, `--help-all` all of a command.\n\n"
        + option_table(),
        "Estimators": "*default*: used where nobody names one. *all*: what experiments call all. *pairs*: "
        "each published correction above the posterior of its hierarchical form.\n\n" + estimators(),
        "Measures": measures(),
        "Predictors": "Expected slopes per unit, with their standard deviation, by model.\n\n" + predictors(),
        "Pooling strategies": "*judgments*: adaptive, each judgment decides what comes next. *scores*: reads "
        "the scores of runs.\n\n" + strategies(),
    }
    return "\n".join(["# Names and options\n", *(f"## {title}\n\n{text}" for title, text in parts.items())])


def predictors_of_default() -> str:
    """Predictors of the two models that the default mixes, with their expected slopes."""
    models = ("ratio", "rankings")
    rows = [
        [f"`{name}`", p.description, *(_slope(MODELS[m].predictors.get(name)) for m in models)]
        for name, p in PREDICTORS.items()
        if any(name in MODELS[m].predictors for m in models)
    ]
    return markdown(["predictor", "what it is", *models], rows)


COLLECTIONS = {
    "covid-round4": "COVID round 4",
    "dl21-passage": "DL 2021",
    "trec2011-medical": "Medical 2011",
    "trec2-adhoc": "TREC-2",
    "trec8-adhoc": "TREC-8",
}
_ACCURACY = Path(__file__).resolve().parents[1] / "research" / "decisions" / "tables" / "accuracy.csv"


def accuracy() -> str:
    """Errors and coverage of the default beside those of the best correction, by design and collection."""
    import pandas as pd

    table, rows = pd.read_csv(_ACCURACY), []
    for key, of in table.groupby(["design", "collection", "left_out", "measure"], sort=False):
        design, collection, left_out, measure = key
        if "label" in left_out:
            continue
        by = of.set_index("estimator")
        points = by[by["coverage_95"].isna()]
        best, posterior = points["mae"].idxmin(), by.loc["posterior-combined"]
        place = {"later": 0, "near": 1, "far": 2}[design]
        name = COLLECTIONS[collection] + {0: "", 1: "", 2: f": {left_out}"}[place]
        what = ["judged later", "organizations (near)", "clusters, types (far)"][place]
        errors = [_decimal(of_one["mae"]) for of_one in (by.loc["as-judged"], by.loc[best], posterior)]
        errors[1] += f" ({best})"
        coverage = _share(posterior["coverage_95"], posterior["coverage_95_se"])
        pit = f"{100 * posterior['pit_95']:.0f} %"
        bias = f"{posterior['bias']:+.4f}".replace("-", "−").replace("0.", ".")
        width = f"{posterior['width']:.3f}".removeprefix("0")
        runs = f"{posterior['n_runs']:.0f} ({posterior['n_organizations']:.0f})"
        rows.append((place, [what, name, str(measure), *errors, bias, width, coverage, pit, runs]))
    header = [
        "left out",
        "collection",
        "measure",
        "MAE as judged",
        "best correction",
        "posterior",
        "bias",
        "width",
        "coverage",
        "PIT",
    ]
    return markdown([*header, "runs"], [row for _, row in sorted(rows, key=lambda row: row[0])])


def _decimal(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _share(share: float, error: float) -> str:
    return f"{100 * share:.0f}" + (f" ± {100 * error:.0f}" if error > 0 else "") + " %"


TABLES = {"predictors of the default": predictors_of_default, "accuracy": accuracy}
"""Tables that pages have between the marks ``<!-- table: NAME -->`` and ``<!-- end of table -->``."""


def _with_slopes() -> tuple[str, ...]:
    """Models that have predictors, the one with all of them first."""
    names = [name for name in MODEL_NAMES if MODELS[name].predictors]
    return tuple(sorted(names, key=lambda name: name != "evidence"))


def _slope(slope: tuple[float, float] | None) -> str:
    return "" if slope is None else f"{slope[0]:g} ± {slope[1]:g}".replace("-", "−")
