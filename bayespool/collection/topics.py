"""Topics of a run that the qrels lack although the run lacks some of theirs, and what may join them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bayespool.collection.records import Run
from bayespool.tables.formatting import counted, some_of

_MOST = 3  # topics that a message names


@dataclass(frozen=True)
class StrangeTopics:
    """Topics of a run and of the qrels that have no counterpart.

    Attributes
    ----------
    run_id : str
    of_run, of_qrels : tuple of str
        Topics that the qrels lack, and those that the run lacks.
    hint : str
        What would join them; empty where nothing simple would.
    """

    run_id: str
    of_run: tuple[str, ...]
    of_qrels: tuple[str, ...]
    hint: str


def find_strange_topics(run: Run, query_ids: Sequence[str]) -> StrangeTopics | None:
    """Topics of a run that the qrels lack, and those it lacks; None unless there are both."""
    there, known = set(run.query_id.dictionary.to_pylist()), set(query_ids)
    of_run, of_qrels = sorted(there - known), [q for q in query_ids if q not in there]
    if not of_run or not of_qrels:
        return None
    return StrangeTopics(run.run_id, tuple(of_run), tuple(of_qrels), join_hint(of_run, of_qrels))


def strange_topic_note(strange: Sequence[StrangeTopics], n_runs: int) -> str:
    """What to know of runs whose topics agree with those of the qrels in part only; empty without any."""
    if not strange:
        return ""
    most = max(strange, key=lambda each: min(len(each.of_run), len(each.of_qrels)))
    others = f", and likewise {len(strange) - 1} of {counted(n_runs, 'run')}" if len(strange) > 1 else ""
    cause = most.hint or "are these runs and judgments of the same topics?"
    return (
        f"{most.run_id} has {counted(len(most.of_run), 'topic')} that the qrels lack "
        f"({some_of(most.of_run, _MOST)}), and lacks {counted(len(most.of_qrels), 'topic')} of theirs "
        f"({some_of(most.of_qrels, _MOST)}), which count as 0{others}; {cause}"
    )


def _without_zeros(topic: str) -> str:
    return topic.lstrip("0") or topic[-1:]


def _number(topic: str) -> str:
    """What is left from the first digit on."""
    return re.sub(r"^[^0-9]+", "", topic)


_FORMS: Mapping[str, Callable[[str], str]] = {
    "leading zeros": _without_zeros,
    "upper case": str.lower,
    "what is before the number": _number,
    "what is before the number, and leading zeros": lambda topic: _without_zeros(_number(topic)),
}


def join_hint(of_run: Iterable[str], of_qrels: Iterable[str]) -> str:
    """Say which difference in writing would join most topics; empty where none would.

    Examples
    --------
    >>> join_hint(["01", "02", "77"], ["1", "2", "3"])
    '2 topics agree but for leading zeros, such as 01 in the run and 1 in the qrels: write them alike'
    >>> join_hint(["a"], ["b"])
    ''
    """
    best: tuple[int, str, tuple[str, str]] | None = None
    for name, form in _FORMS.items():
        runs, qrels = _by_form(of_run, form), _by_form(of_qrels, form)
        if joined := [(runs[text], qrels[text]) for text in runs if text in qrels]:
            best = max(best or (0, "", ("", "")), (len(joined), name, joined[0]), key=lambda each: each[0])
    if best is None:
        return ""
    n, name, (of_a_run, of_some_qrels) = best
    return (
        f"{counted(n, 'topic')} {'agrees' if n == 1 else 'agree'} but for {name}, such as {of_a_run} in the "
        f"run and {of_some_qrels} in the qrels: write them alike"
    )


def _by_form(topics: Iterable[str], form: Callable[[str], str]) -> dict[str, str]:
    """Topics by what is left of them, but those of which that is the same."""
    together: dict[str, list[str]] = {}
    for topic in topics:
        together.setdefault(form(topic), []).append(topic)
    return {text: each[0] for text, each in together.items() if text and len(each) == 1}
