"""The keys that say how files are read, and the text that has them."""

from __future__ import annotations

import inspect
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from bayespool import read_collection
from bayespool.errors import InputError
from bayespool.pooling import read_contributors
from bayespool.reading.keys import CONTRIBUTOR_KEYS, READING_KEYS, parse_reading


def test_keys_are_keywords_of_the_functions() -> None:
    """Files that have options of their own, and what is no file, are no keys."""
    for keys, function in ((READING_KEYS, read_collection), (CONTRIBUTOR_KEYS, read_contributors)):
        keywords = {
            p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY
        }
        assert set(keys) == keywords - {"pool", "own_judgments", "scores", "progress"}
    hints = get_type_hints(read_collection)
    chosen = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    assert chosen == {n: key.words for n, key in READING_KEYS.items() if key.words and not key.is_path}


TEXTS: dict[str, dict[str, Any]] = {
    "": {},
    "order=rank, strict=false, topics=run": {"order": "rank", "strict": False, "topics": "run"},
    " negative = sampled,run_id=tag ,max_file_size=2048": {
        "negative": "sampled", "run_id": "tag", "max_file_size": 2048,
    },
    "max_holes=0.1, each_its_own, strict=true": {"max_holes": 0.1, "each_its_own": True, "strict": True},
    "exclude=query, pooled_run_ids=(a,b), organizations=more/FILE.csv": {
        "exclude": ["query"], "pooled_run_ids": ["a", "b"], "organizations": ["more/FILE.csv"],
    },
    "pool_strategy=rrf(k=20, budget=5), strict=True, max_holes=2": {
        "pool_strategy": "rrf(k=20, budget=5)", "strict": True, "max_holes": 2.0,
    },
}  # fmt: skip


def test_text_is_read_with_types() -> None:
    for text, expected in TEXTS.items():
        found = parse_reading(text)
        assert found == expected
        assert list(map(type, found.values())) == list(map(type, expected.values()))


def test_text_that_cannot_be_read_is_refused() -> None:
    for text, message in (
        ("ordre=rank", "unknown key 'ordre'; did you mean 'order'? known: organizations, order, "),
        ("x" * 9, "unknown key 'xxxxxxxxx'; known: organizations"),
        ("order=date", "order cannot be 'date'; known: score, single-precision, rank"),
        ("order", "order has no value; write order=…"),
        ("pooled_run_ids=()", "pooled_run_ids has no value"),
        ("pooled_runs=(a)", "unknown key 'pooled_runs'; did you mean 'pooled_run_ids'? known: "),
        ("topics=", "topics has no value"),
        ("strict=perhaps", "strict cannot be 'perhaps'; true or false"),
        ("strict, strict", "strict is given twice"),
        ("max_file_size=1e3", "max_file_size cannot be '1e3'; a whole number"),
        ("max_file_size=0", "max_file_size cannot be 0; at least 1"),
        ("max_holes=nan", "max_holes cannot be nan; at least 0"),
        ("known_depth=" + "9" * 5000, "known_depth cannot be"),
        ("qrels=qrels.txt", "unknown key 'qrels'"),
    ):
        with pytest.raises(InputError) as refused:
            parse_reading(text)
        assert str(refused.value).startswith(message)
    with pytest.raises(InputError, match="unknown key 'known_depth'"):
        parse_reading("known_depth=3", CONTRIBUTOR_KEYS)
