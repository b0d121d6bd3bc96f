"""What each command prints on a small collection is the text in ``printed/``, which is read like code.

`make printed` writes the texts. Words are compared exactly,
numbers with a point to one unit of their last digit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome
from small import small_simulation
from snapshots import expected

from bayespool.cli import commands
from bayespool.experiments import simulate_judge

PRINTED = Path(__file__).parent / "printed"
NUMBER = re.compile(r"(?<![\w.])[+−-]?\d+\.\d+")
DIGEST = re.compile(r"\b[0-9a-f]{32}\b")
CAMPAIGN = "--qrels qrels.txt --pool pool --organizations organizations.csv"
FILES = f"new {CAMPAIGN} --reading each_its_own"
FAST = "--posterior draws=50"
RATIO = "--estimators posterior-ratio --posterior draws=50"
TYPED: dict[str, str] = {
    "score": f"{FILES} --estimators background,posterior-ratio {FAST} -m P@10 -m nDCG@5",
    "prepare": f"{CAMPAIGN} -m P@10 -m nDCG@10 -o small.bayespool",
    "describe": f"{CAMPAIGN} -m P@10 -m nDCG@10 --graded {RATIO} --jobs 1",
    "impute": f"{FILES} {RATIO} --draws 3 -o completed",
    "report": "scores.json",
    "demo": "--estimators background -m P@10",
    "gate": f"new/new-a.run new/new-b.run {CAMPAIGN} {RATIO} --margin 0.1 --scope these-topics",
    "compare": f"{FILES} --estimators posterior-ratio {FAST} --tests paired-t,tukey-hsd",
    "reversals": f"{CAMPAIGN} --judgments 60 --estimators smoothed",
    "pool": "--pool pool --organizations organizations.csv --strategy take --budget 80 --qrels qrels.txt",
    "plan": f"{FILES} {RATIO} --judgments 20 --more-topics 30 --difference 0.1",
    "judge-next": f"{FILES} {RATIO} --budget 5",
    "audit": f"new/new-b.run {CAMPAIGN} {RATIO} --budget 5",
    "budgets": f"{CAMPAIGN} -m P@10 --strategies take --budgets 60,200 --jobs 1",
    "leave-out": f"{CAMPAIGN} --estimators as-judged,posterior-ratio {FAST} --jobs 1",
    "random-pools": f"{CAMPAIGN} --widths 2 --samples 3 --estimators as-judged,background --jobs 1",
    "random-pools --common": f"{CAMPAIGN} --widths 2 --common 3 --samples 3 --topic-samples 3 --jobs 1",
    "judges": f"{FILES} --judge llm=labels.txt --jobs 1",
    "check predictions": f"{CAMPAIGN} --models background {FAST} --jobs 1",
}


def file_name(command: str) -> str:
    """``random-pools-common`` of ``random-pools --common``, which is another table."""
    return command.replace(" --", "-").replace(" ", "-")


def write_labels(path: Path) -> None:
    labels = simulate_judge(small_simulation(), quality=3.0, random_seed=1)
    columns = labels.query_id.to_pylist(), labels.doc_id.to_pylist(), labels.label.tolist()
    path.write_text("".join(f"{q} 0 {d} {label:g}\n" for q, d, label in zip(*columns, strict=True)))


def printed(done: Outcome) -> str:
    lines = f"{done.out.rstrip()}\n\n--- standard error\n{done.err}".splitlines()
    # a digest of chances has their last digits, which differ between processors
    return "".join(f"{DIGEST.sub('#', line.rstrip())}\n" for line in lines)


def words(text: str) -> list[str]:
    return NUMBER.sub("#", text).replace("─", "").split()


def unlike(text: str, expected: str) -> list[tuple[str, str]]:
    """Numbers that are more than one unit of the last digit off."""
    pairs = zip(NUMBER.findall(text), NUMBER.findall(expected), strict=True)

    def distance(a: str, b: str) -> float:
        one, other = (float(number.replace("−", "-")) for number in (a, b))
        return abs(one - other) * 10 ** len(b.partition(".")[2])

    return [(a, b) for a, b in pairs if distance(a, b) > 1.01]


def test_every_command_has_its_text() -> None:
    assert {command.partition(" --")[0] for command in TYPED} == set(commands())
    assert {path.stem for path in PRINTED.iterdir()} == set(map(file_name, TYPED))


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize("command", TYPED)
def test_what_a_command_prints(
    command: str, run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_example)
    monkeypatch.setenv("COLUMNS", "100")
    if command == "report":
        assert run(*f"score {TYPED['score']} -o scores.json".split()).status == 0
    if command == "judges":
        write_labels(small_example / "labels.txt")
    done = run(*command.partition(" --")[0].split(), *TYPED[command].split())
    assert done.status == 0, done.err
    before = expected(PRINTED / f"{file_name(command)}.txt", printed(done))
    assert words(printed(done)) == words(before)
    assert unlike(printed(done), before) == []
