"""Section of a report on the estimators of a result: sentences and citations from the registry."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from bayespool.models import MODELS
from bayespool.report.content import Section
from bayespool.scoring import ESTIMATORS

_COMBINED = ("ratio", "evidence")
_ESTIMANDS = {
    "complete": "All unjudged documents in reach of a run's cutoff are estimated.",
    "pooled": "Unjudged documents down to the pool depth are estimated; those below it are nonrelevant.",
}
_LETTERS = (
    "B is the score as judged, with unjudged documents nonrelevant; Δ is how much it rises if all of "
    "them are "
    "relevant; C and E are constants of the authors."
)
_INTERVALS = (
    "An interval holds the corrected score with the stated probability, given the models. It speaks of the "
    "unjudged documents of these topics, not of other topics. A point correction has no interval."
)


def method_section(metadata: Mapping[str, Any]) -> Section:
    """Section on the estimators used, what each does, and what to cite."""
    names = list(dict.fromkeys(_names(metadata)))
    points, sources = [], []
    for name in names:
        entry = ESTIMATORS.get(name)
        if entry is None:
            points.append(f"{name}: an estimator of the user's own.")
            continue
        of_models = [MODELS[model].description for model in _COMBINED] if name == "posterior-combined" else []
        parts = f" ({'; '.join(of_models)})" if of_models else ""
        points.append(f"{name}: {entry.description}{parts}{f' [{entry.source}]' if entry.source else ''}.")
        sources.append(entry.source)
        if of_models:
            sources += [ESTIMATORS[f"posterior-{model}"].source for model in _COMBINED]
    has_posterior = any(ESTIMATORS[n].kind == "posterior" for n in names if n in ESTIMATORS)
    sentences = [_ESTIMANDS[metadata["estimand"]]] if metadata.get("estimand") in _ESTIMANDS else []
    if any("B" in point or "Δ" in point for point in points):
        sentences.append(_LETTERS)
    if has_posterior:
        sentences.append(_models_sentence(metadata))
        sentences.append(_INTERVALS)
    cited = references(sources)
    if cited:
        sentences.append(f"To cite: {' · '.join(cited)}")
    return Section("Methods", "methods", tuple(sentences), tuple(points))


def references(sources: Sequence[str]) -> list[str]:
    """Full citations of sources such as ``"Webber & Park 2009, algorithm 1"``, sorted by author.

    A citation belongs to a source that names its first author and its year.

    Examples
    --------
    >>> [text[:38] for text in references(["after Webber & Park 2009"])]
    ['W. Webber and L. A. F. Park (2009). Sc']
    """
    cited = " ; ".join(sources)
    surnames = {
        text: surname
        for text, surname, year in _citations()
        if re.search(rf"\b{re.escape(surname)}\b", cited) and year in cited
    }
    return sorted(surnames, key=lambda text: surnames[text])


@cache
def _citations() -> tuple[tuple[str, str, str], ...]:
    """Text, first author's surname and year of every reference in the docstrings of the corrections."""
    import bayespool.corrections

    folder = bayespool.corrections.__name__
    citations = []
    for name in sorted(module for module in sys.modules if module.startswith(f"{folder}.")):
        doc = inspect.getdoc(sys.modules[name]) or ""
        if "\nReferences\n" not in doc:
            continue
        section = doc.split("\nReferences\n")[1].partition("\n")[2]
        for paragraph in section.split("\n\n"):
            text = " ".join(paragraph.split())
            if head := re.match(r"(.+?)(?:,| and\b| \().*?\((\d{4})\)", text):
                citations.append((text, head[1].split()[-1], head[2]))
    return tuple(citations)


def _names(metadata: Mapping[str, Any]) -> list[str]:
    of_settings = _estimators(metadata)
    return [str(e["name"]) if isinstance(e, Mapping) else str(e).partition("(")[0] for e in of_settings]


def _estimators(metadata: Mapping[str, Any]) -> list[Any]:
    """Settings of estimators, from a list of them or a mapping by label."""
    entries = metadata.get("estimators") or ()
    return list(entries.values()) if isinstance(entries, Mapping) else list(entries)


def _models_sentence(metadata: Mapping[str, Any]) -> str:
    posteriors = [e for e in _estimators(metadata) if isinstance(e, Mapping) and "engine" in e]
    if not posteriors:
        return "The posterior is that of hierarchical models."
    first = posteriors[0]
    if first["engine"] == "nuts":
        how = f"sampled by NUTS ({first['chains']} chains of {first['draws']} draws after {first['tune']})"
    else:
        n = int(first["draws"]) * int(first.get("chains", 1))
        how = f"approximated by the engine {first['engine']} ({n:,} independent draws)"
    return (
        "Hierarchical models learn from the pooled runs how often unjudged documents are relevant: with an "
        "organization taken out of the pool, the documents that only it contributed are unjudged again, "
        "while "
        f"their relevance is known. The posterior is {how}."
    )
