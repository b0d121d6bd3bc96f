"""Lines of a run, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from bayespool.errors import InputError
from bayespool.reading import Labels, Qrels, Run
from bayespool.reading.lines import Lines

PLAIN = b"101 Q0 d1 1 3.5 t\n101 Q0 d2 2 2.5 t\n102 Q0 d1 1 0.5 t\n"
PLAIN_ROWS = [("101", "d1", 3.5), ("101", "d2", 2.5), ("102", "d1", 0.5)]

Write = Callable[[bytes], Path]


def rows_of(run: Run | Lines) -> list[tuple[str, str, float]]:
    score = run.real if isinstance(run, Lines) else run.score
    assert score is not None
    return list(zip(run.query_id.to_pylist(), run.doc_id.to_pylist(), score.tolist(), strict=True))


def judgments_of(qrels: Qrels) -> list[tuple[str, str, int]]:
    return list(
        zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True)
    )


def labels_of(labels: Labels) -> list[tuple[str, str, float]]:
    return list(
        zip(labels.query_id.to_pylist(), labels.doc_id.to_pylist(), labels.label.tolist(), strict=True)
    )


def refused(call: Callable[..., object], *arguments: object, **options: object) -> InputError:
    """The error of a call, for loops: what was asked is told where there is none."""
    try:
        call(*arguments, **options)
    except InputError as error:
        return error
    raise AssertionError(f"not refused: {arguments} {options}")


ids = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\t\n\v\f\r \ufeff\xa0\u2007\u202f"),
    min_size=1,
    max_size=8,
)
