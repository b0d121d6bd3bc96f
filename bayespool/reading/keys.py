"""Keys that say how files are read: of a text such as ``order=rank, strict=false``, and of TOML files.

They are keywords of `bayespool.read_collection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayespool.errors import InputError, known_names
from bayespool.names import split_list
from bayespool.validation import check_choice, check_number

_WANTED = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, kw_only=True)
class ReadingKey:
    """Values that a key may have.

    Attributes
    ----------
    type : type
        Of one value.
    multiple, is_path : bool
        Whether there may be several values, and whether they are files.
    words : tuple of str
        Values that are no files, or without ``is_path`` all there are.
    least : float, optional
    """

    type: type = str
    multiple: bool = False
    is_path: bool = False
    words: tuple[str, ...] = ()
    least: float | None = None


FILES = ReadingKey(multiple=True, is_path=True)
CONTRIBUTOR_KEYS: Mapping[str, ReadingKey] = {
    "organizations": FILES,
    "order": ReadingKey(words=("score", "single-precision", "rank")),
    "negative": ReadingKey(words=("listed", "sampled", "sampled-together", "unjudged", "nonrelevant")),
    "exclude": ReadingKey(multiple=True, is_path=True, words=("query",)),
    "topics": ReadingKey(is_path=True, words=("qrels", "run")),
    "run_id": ReadingKey(words=("file", "tag")),
    "strict": ReadingKey(type=bool),
    "max_file_size": ReadingKey(type=int, least=1),
}
"""Keys of `bayespool.pooling.read_contributors`."""
READING_KEYS: Mapping[str, ReadingKey] = {
    **CONTRIBUTOR_KEYS,
    "judges": FILES,
    "topics_table": FILES,
    "documents_table": FILES,
    "documents": ReadingKey(words=("as-named", "best-passage")),
    "each_its_own": ReadingKey(type=bool),
    "known_depth": ReadingKey(type=int, least=1),
    "max_holes": ReadingKey(type=float, least=0),
    "pooled_run_ids": ReadingKey(multiple=True),
    "pool_rule": ReadingKey(words=("leading", "skipping")),
    "pool_strategy": ReadingKey(),
}
"""Keys of `bayespool.read_collection`."""


def parse_reading(text: str, keys: Mapping[str, ReadingKey] = READING_KEYS) -> dict[str, Any]:
    """Return keywords of `bayespool.read_collection` from a text such as ``order=rank, strict=false``.

    Parameters
    ----------
    text : str
        Keys with values, and commas between: ``organizations``, ``order``, ``negative``, ``exclude``,
        ``topics``, ``run_id``, ``strict``, ``max_file_size``, ``judges``, ``topics_table``,
        ``documents_table``, ``documents``, ``each_its_own``, ``known_depth``, ``max_holes``,
        ``pooled_run_ids``, ``pool_rule``, ``pool_strategy``. Several values stand in parentheses:
        ``pooled_run_ids=(a, b)``; ``each_its_own`` needs none.
    keys : mapping of str to ReadingKey
        Those that there may be: `READING_KEYS`, or `CONTRIBUTOR_KEYS` for `read_contributors`.

    Raises
    ------
    InputError
        An unknown key, a key twice, or a value that a key cannot have.

    Examples
    --------
    >>> parse_reading("order=rank, strict=false, max_holes=0.1, exclude=(query, old.txt)")
    {'order': 'rank', 'strict': False, 'max_holes': 0.1, 'exclude': ['query', 'old.txt']}
    """
    arguments: dict[str, Any] = {}
    for part in split_list(text):
        key, _, given = (each.strip() for each in part.partition("="))
        known = keys.get(key, ReadingKey())
        is_listed = known.multiple and given[:1] == "(" and given[-1:] == ")"
        values = [_typed(known.type, each) for each in (split_list(given[1:-1]) if is_listed else [given])]
        if known.type is bool and "=" not in part:
            values = [True]
        elif key in keys and values in ([], [""]):
            raise InputError(f"{key} has no value", hint=f"write {key}=…")
        if key in arguments:
            raise InputError(f"{key} is given twice", hint="leave one of the two out")
        arguments[key] = values if known.multiple else values[0]
        check_key(key, arguments[key], keys)
    return arguments


def check_key(key: str, value: Any, keys: Mapping[str, ReadingKey]) -> None:
    """Raise `InputError` for an unknown key, or a value that it cannot have."""
    if key not in keys:
        raise InputError(f"unknown key {key!r}", hint=known_names(key, keys))
    known, items = keys[key], [value]
    if known.multiple and isinstance(value, list):
        items = value
    elif key == "judges" and isinstance(value, dict):
        items = list(value.values())
    for item in items:
        is_number = known.type is float and type(item) is int
        if type(item) is not known.type and not is_number:  # true is an int, too
            raise InputError(f"{key} cannot be {item!r}", hint=_WANTED[known.type])
        check_reading(**{key: item}, keys=keys)


def check_reading(keys: Mapping[str, ReadingKey] = READING_KEYS, **values: Any) -> None:
    """Raise `InputError` for a value that a keyword of `read_collection` cannot have. None passes."""
    for key, value in values.items():
        known = keys[key]
        if value is None:
            continue
        if known.words and not known.is_path:
            check_choice(key, value, known.words)
        elif known.type is bool:
            check_choice(key, value, (True, False))
        elif known.type in (int, float):
            check_number(key, value, whole=known.type is int, least=known.least)


def _typed(wanted: type, text: str) -> Any:
    """Return a text as a value of the wanted type, or unchanged if it is none."""
    if wanted is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return wanted(text)
    except ValueError:
        return text
