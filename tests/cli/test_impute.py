"""`bayespool impute`: a folder of completed qrels, whole or not at all."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from commands import Outcome, arguments, everything_in, with_defaults

from bayespool.collection import read_qrels
from bayespool.experiments import load_example, simulate_example
from bayespool.report.reading import read_result
from bayespool.scoring import impute

FAST = ("--estimator", "posterior-background(draws=150)")
TABLES = ["files.csv", "files.parquet"]
NAMES = [f"qrels-{i:02}.txt" for i in range(1, 21)]


def call(folder: Path, *more: object) -> list[str]:
    """Complete qrels for the new runs of the example's files, into ``folder/imputed``."""
    return ["impute", *arguments(folder)[1:], *with_defaults((*FAST, "-o", folder / "imputed"), more)]


def lines(path: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split()) for line in path.read_text().splitlines()}


def test_files_are_the_judgments_and_the_draws_of_the_library(
    run: Callable[..., Outcome], example: Path
) -> None:
    done = run(*call(example, "-m", "nDCG@10", "--seed", 3))
    assert done.status == 0, done.err
    found = impute(
        load_example(), None, "nDCG@10", estimator="posterior-background(draws=150)", random_seed=3
    )
    written = sorted(path.name for path in (example / "imputed").iterdir())
    assert written == [*TABLES, *NAMES, "settings.json"]
    assert read_result(example / "imputed").to_frame().equals(found.to_frame())
    judged = (example / "qrels.txt").read_text()
    for i, name in enumerate(NAMES):
        qrels, expected = read_qrels(example / "imputed" / name), found.qrels(i)
        one, other = (
            set(zip(q.query_id.to_pylist(), q.doc_id.to_pylist(), q.relevance.tolist(), strict=True))
            for q in (qrels, expected)
        )
        assert one == other
        text = (example / "imputed" / name).read_text()
        assert len(text.splitlines()) == 1181 + found.n_completed.sum()
        assert not set(judged.splitlines()) - set(text.splitlines())
    different = {(example / "imputed" / name).read_bytes() for name in NAMES}
    assert len(different) >= 18  # few documents: two draws may agree on all of them


def test_it_says_what_was_completed_and_what_comes_next(run: Callable[..., Outcome], example: Path) -> None:
    """The command that it prints, done here without a shell."""
    done = run(*call(example, "-m", "P@10", "-m", "P(rel=2)@10"))
    found = impute(load_example(), None, ["P@10", "P(rel=2)@10"], estimator=FAST[1])
    n = int(found.n_completed.sum())
    *said, here = done.out.splitlines()[-6:]
    assert here.startswith("here: ")
    assert said == list(found.summary())
    assert said[0] == "20 completed qrels: qrels-01.txt to qrels-20.txt"
    assert said[1] == (
        f"each has 1181 judgments as they are, and on average {n / 20:.1f} completed documents per topic: "
        f"{n} in all, {found.n_relevant:.1f} of them relevant"
    )
    assert said[2] == (
        "completed: unjudged documents down to rank 10 of new-a, new-b, with relevance 0, 1, 2"
    )
    (command,) = [line for line in said if "ir_measures" in line]
    head, loop, end = command.partition("for each RUN file: ")[2].split("; ")
    assert head == "for qrels in qrels-*.txt"
    assert end == "done"
    words = shlex.split(loop)
    assert words == ["do", "ir_measures", "$qrels", "RUN", "P@10", "P(rel=2)@10"]
    asked = [ir_measures.parse_measure(text) for text in words[4:]]
    values = [
        ir_measures.calc_aggregate(
            asked,
            list(ir_measures.read_trec_qrels(str(path))),
            list(ir_measures.read_trec_run(str(example / "new" / "new-a.run"))),
        )
        for path in sorted((example / "imputed").glob("qrels-*.txt"))
    ]
    draws = found.completion.evaluate("P@10", "P(rel=2)@10")
    for measure, of_measure in zip(asked, draws, strict=True):
        theirs = np.array([value[measure] for value in values])
        assert np.abs(theirs - of_measure.means()[list(found.draws), 0]).max() < 1e-9


def test_the_same_call_gives_the_same_bytes_and_another_seed_others(
    run: Callable[..., Outcome], example: Path
) -> None:
    folders = {}
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        assert run(*call(example, "--seed", seed)).status == 0
        (example / "imputed").rename(example / name)  # the settings have the command, and so its path
        folders[name] = everything_in(example / name)
    assert folders["one"] == folders["two"]
    assert folders["one"]["qrels-01.txt"] != folders["three"]["qrels-01.txt"]


def test_negative_relevance_keeps_its_lines(run: Callable[..., Outcome], example: Path) -> None:
    path = example / "qrels.txt"
    text = path.read_text().splitlines()
    nonrelevant = next(i for i, line in enumerate(text) if line.endswith(" 0"))
    text[nonrelevant] = text[nonrelevant][:-1] + "-2"
    path.write_text("\n".join([*text, "701 0 nobodys -1"]) + "\n")
    assert run(*call(example, "--draws", 2)).status == 0
    assert {tuple(text[nonrelevant].split()), ("701", "0", "nobodys", "-1")} <= lines(
        example / "imputed" / "qrels-02.txt"
    )


def test_where_nothing_is_unjudged_it_says_so(run: Callable[..., Outcome], example: Path) -> None:
    files = [example / "pool" / "north-1.run", *arguments(example)[2:], *FAST, "-o", example / "imputed"]
    done = run("impute", *files, "--draws", 2)
    assert done.status == 0
    assert "note: nothing is unjudged: each file has the judgments of the qrels and nothing else" in done.out
    assert "completed: " not in done.out
    judged = lines(example / "qrels.txt")
    assert all(lines(example / "imputed" / name) == judged for name in NAMES[:2])
    assert len(judged) == len(simulate_example().qrels.relevance)


# --- what is refused ---------------------------------------------------------------------------------------


def test_a_measure_over_the_judged_ideal_is_refused(run: Callable[..., Outcome], example: Path) -> None:
    done = run(*call(example, "-m", "nDCG(ideal='judged')@10"))
    assert done.status == 1
    assert "tools make the ideal ranking of all documents of the qrels" in done.err
    assert not (example / "imputed").exists()


def test_runs_and_a_folder_are_needed(run: Callable[..., Outcome], example: Path) -> None:
    done = run("impute", *arguments(example)[2:], "-o", example / "imputed")
    assert (done.status, done.out) == (1, "")
    assert "no run to complete; name run files, or runs of the pool with --unpool" in done.err
    done = run("impute", *arguments(example)[1:])
    assert done.status == 2
    assert "--output" in done.err


def test_a_folder_of_another_kind_is_refused(run: Callable[..., Outcome], example: Path) -> None:
    (example / "imputed").mkdir()
    settings = {"bayespool": "0", "experiment": "leave-out", "files": []}
    (example / "imputed" / "settings.json").write_text(json.dumps(settings))
    before = everything_in(example)
    done = run(*call(example))
    assert done.status == 1
    assert f"{example / 'imputed'}: holds the results of leave-out; name another folder" in done.err
    assert everything_in(example) == before
    done = run(*call(example, "-o", example / "qrels.txt"))
    assert "qrels.txt: is a file; name a folder" in done.err
    done = run(*call(example, "-o", example / "no" / "where"))
    assert "there is no folder" in done.err
    assert everything_in(example) == before


@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("raised", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_files_are_written_all_or_none(
    run: Callable[..., Outcome],
    example: Path,
    monkeypatch: pytest.MonkeyPatch,
    there_before: bool,
    raised: BaseException,
) -> None:
    """The disk is full, or Ctrl-C comes, at the twelfth file: the tenth after the two of the table."""
    if there_before:
        assert run(*call(example, "--draws", 4)).status == 0
    before, n_calls, fsync = everything_in(example), 0, os.fsync

    def fail_at_last(descriptor: int) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 12:
            raise raised
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_at_last)
    done = run(*call(example, "--seed", 2))
    assert n_calls == 12
    assert done.out == ""
    if isinstance(raised, OSError):
        assert done.status == 1
        assert "qrels-10.txt: cannot be written: No space left on device" in done.err
    else:
        assert done.status == 130
    assert everything_in(example) == before
