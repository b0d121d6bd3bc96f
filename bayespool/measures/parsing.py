"""From texts and objects of ir_measures to measures."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable

from bayespool.errors import InputError
from bayespool.measures.base import MEASURES, Measure

__all__ = ["parse_measure", "parse_measures"]

_TEXT = re.compile(r"(?P<name>[A-Za-z]+)(?:\((?P<given>[^()]*)\))?@(?P<cutoff>[0-9]+)")
_TREC_EVAL = re.compile(r"(?P<name>[A-Za-z]+)_(?P<cutoff>[0-9]+)")
_GIVEN = re.compile(r"(?P<name>\w+)=(?P<value>(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|'\w+')", re.ASCII)


def parse_measure(measure: object) -> Measure:
    """The measure that a text, an ir_measures object or a `Measure` stands for.

    Parameters
    ----------
    measure : object
        A `Measure`, or anything whose ``str`` reads ``P@10``, ``P(rel=2)@10`` or, as trec_eval prints it,
        ``P_10``.

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        The text names no measure that bayespool estimates.

    Examples
    --------
    >>> parse_measure("P(rel=2)@10")
    Precision(cutoff=10, rel=2)
    """
    if isinstance(measure, Measure):
        return measure
    text = str(measure)
    found = _TEXT.fullmatch(text.strip().replace(" ", ""))
    found = found or _TREC_EVAL.fullmatch(text.strip())
    if found is None or found["name"] not in MEASURES:
        known = ", ".join(MEASURES)
        raise InputError(f"unknown measure {text!r}", hint=f"write P@10 or P(rel=2)@10; known are {known}")
    family = MEASURES[found["name"]]
    given: dict[str, object] = {}
    text_of = found.groupdict().get("given")
    for part in text_of.split(",") if text_of else []:
        pair = _GIVEN.fullmatch(part)
        if pair is None or pair["name"] not in _parameters(family) or pair["name"] in given:
            known = ", ".join(_parameters(family))
            raise InputError(
                f"unknown measure {text!r}: {part!r} cannot be read",
                hint=f"parameters are {known}, each once",
            )
        given[pair["name"]] = ast.literal_eval(pair["value"])
    try:
        return family(int(found["cutoff"]), **given)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(f"unknown measure {text!r}: {error}") from error


def parse_measures(measures: object) -> tuple[Measure, ...]:
    """The distinct measures of one measure or an iterable of them, in the order given."""
    given = measures if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    parsed = tuple(dict.fromkeys(parse_measure(m) for m in given))
    if not parsed:
        raise InputError("no measure given", hint="for example P@10")
    return parsed


def _parameters(family: type[Measure]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(family) if field.name != "cutoff")
