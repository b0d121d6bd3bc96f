"""No output of a command is one of its inputs, and none replaces a file that is no earlier output."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from commands import FAST, Outcome, campaign, everything_in

from bayespool.cli import commands
from bayespool.cli.commands import Command

Run = Callable[..., Outcome]

OUTPUTS = {"output", "folder", "figure", "report", "file", "tasks", "write"}
INPUTS = {
    "runs", "qrels", "pool", "organizations", "collections", "own_judgments", "go_on", "judged", "verify",
    "result", "scores", "prepared", "texts", "systems", "groups", "later", "anchors",
}  # fmt: skip


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    for name, command in commands().items():
        assert isinstance(command, Command)
        with click.Context(command, info_name=name) as context:
            yield from ((name, parameter) for parameter in command.get_params(context))


def test_every_path_of_every_command_is_an_output_or_an_input() -> None:
    paths = [(name, p) for name, p in parameters() if isinstance(p.type, click.Path)]
    for name, parameter in paths:
        kind = getattr(parameter, "writes", "")
        assert (str(parameter.name) in OUTPUTS) == bool(kind), f"{name} {parameter.name}"
        assert str(parameter.name) in OUTPUTS | INPUTS, f"{name} {parameter.name}"
    with_files = {name for name, p in paths if getattr(p, "writes", "") == "file"}
    assert {name for name, p in parameters() if p.name == "overwrite"} == with_files
    assert len(paths) > 80


ASKED: dict[str, tuple[str, str]] = {
    "judge-next {new} {campaign} -o {folder}/qrels.txt": ("qrels.txt is an input, --qrels ", "file"),
    "audit {new} {campaign} -o {folder}/hard.txt": ("hard.txt is an input, --qrels ", "file"),
    "judge-next {new} {campaign} -o {folder}/soft.txt": ("soft.txt is an input, --qrels ", "file"),
    "judge-next {new} {campaign} --judged {folder}/list.txt -o {folder}/list.txt": (
        "an input, --judged ",
        "file",
    ),
    "audit --go-on {folder}/a.json --judged {folder}/list.txt -o {folder}/a.json": (
        "input, --go-on ",
        "file",
    ),
    "audit --verify {folder}/a.json -o {folder}/a.json": ("an input, --verify ", "file"),
    "score {new} {campaign} -o {folder}/organizations.csv": ("an input, --organizations ", "file"),
    "score {new} {campaign} -o {folder}/pool/scores.csv": ("is among the inputs of --pool ", "elsewhere"),
    "score {folder}/new/*.html {new} {campaign} --report {folder}/new/r.html": ("inputs of ", "elsewhere"),
    "score {new} {campaign} --reading exclude={folder}/list.csv -o {folder}/list.csv": ("--reading ", "file"),
    "score {new} {campaign} --judge gpt={folder}/list.csv -o {folder}/list.csv": ("input, --judge ", "file"),
    "judges --judge a={folder}/list.csv --judge b={folder}/list.csv --anchors {folder}/mine.html "
    "--report {folder}/mine.html": ("an input, --anchors ", "file"),
    "score {new} --collection {folder}/c.toml -o {folder}/organizations.csv": ("c.toml ", "file"),
    "score {new} {campaign} -o {folder}/x.csv -o {folder}/../small/x.csv": ("too; name another file", ""),
    "leave-out {campaign} -o {folder}/pool": ("pool is an input, --pool ", "folder"),
    "leave-out {campaign} -o {folder}/link": ("link is an input, --pool ", "folder"),
    "leave-out --collection {folder}/c.toml -o {folder}/pool": ("pool is an input, ", "folder"),
    "leave-out {campaign} -o {folder}/pool/out": ("out is within the inputs of --pool ", "folder elsewhere"),
    "leave-out {campaign} -o {folder}": ("small holds an input, --qrels ", "folder for the results alone"),
    "leave-out {campaign} --by type --organizations {folder}/t/types.csv -o {folder}/t": (
        "holds an input",
        "",
    ),
    "impute {new} {campaign} -o {folder}/new": ("new holds an input, ", "folder"),
    "pool --pool {folder}/pool --strategy take --qrels {folder}/qrels.txt -o {folder}/qrels.txt": (
        "an in",
        "",
    ),
    "prepare --collection {folder}/c.bayespool -o {folder}/c.bayespool": ("an input, --collection ", "file"),
    "report {folder}/a.json -o {folder}/mine.html": (
        "is there already, and no earlier output",
        "--overwrite",
    ),
    "score {new} {campaign} -o {folder}/mine.csv": ("is there already, and no earlier output", "--overwrite"),
    "score {new} {campaign} --figure {folder}/mine.png": ("is there already, and no earlier", "--overwrite"),
    "prepare {campaign} -o {folder}/mine.bayespool": ("is there already, and no earlier", "--overwrite"),
    "judges {new} {campaign} --tasks {folder}/mine.txt": ("is there already, and no earlier", "--overwrite"),
    "demo --write {folder}": ("is there already; name another folder, or --overwrite", ""),
}


@pytest.mark.parametrize("asked", ASKED)
def test_it_is_refused_before_any_work(asked: str, run: Run, small_example: Path) -> None:
    folder = small_example
    os.link(folder / "qrels.txt", folder / "hard.txt")
    (folder / "soft.txt").symlink_to("qrels.txt")
    (folder / "link").symlink_to("pool")
    (folder / "t").mkdir()
    (folder / "t" / "types.csv").write_text("run_id,type\n")
    for name in ("list.txt", "list.csv", "a.json", "c.bayespool"):
        (folder / name).write_text("8 0 D1 -1\n")
    for name in ("mine.csv", "mine.html", "mine.png", "mine.bayespool", "mine.txt"):
        (folder / name).write_text("mine")
    named = {"qrels": "qrels.txt", "pool": "pool", "organizations": "organizations.csv"}
    described = "".join(f'{key} = "{name}"\n' for key, name in named.items())
    (folder / "c.toml").write_text(described + "each_its_own = true\nmax_file_size = 100\n")
    before = everything_in(folder)
    words = {"folder": folder, "new": folder / "new" / "new-b.run", "campaign": " ".join(campaign(folder))}
    done = run(*asked.format(**words).split())
    assert (done.status, done.out) == (1, ""), done.err
    for said in ASKED[asked]:
        assert said in done.err
    assert not any(line.startswith("pool: ") for line in done.err.splitlines())  # nothing was read
    assert everything_in(folder) == before


def test_overwrite_replaces_a_foreign_file_but_never_an_input(run: Run, small_example: Path) -> None:
    folder = small_example
    asked = ("score", folder / "new", *campaign(folder), *FAST, "--overwrite")
    (folder / "mine.csv").write_text("mine")
    assert run(*asked, "-o", folder / "mine.csv").status == 0
    assert (folder / "mine.csv").read_text().startswith("run_id,measure,")
    done = run(*asked, "-o", folder / "organizations.csv")
    assert (done.status, "no output replaces an input" in done.err) == (1, True)


def test_a_list_that_was_filled_in_stays(run: Run, small_files: Path, tmp_path: Path) -> None:
    path, more = tmp_path / "judge.txt", ("--estimators", "posterior-ratio(draws=50)", "--budget", 3)
    asked = ("judge-next", small_files / "new" / "new-b.run", *campaign(small_files), *more, "-o", path)
    assert run(*asked).status == 0
    assert run(*asked).status == 0  # nothing is lost
    path.write_text(path.read_text().replace(" -1\n", " 1\n", 1))
    before = path.read_text()
    done = run(*asked)
    assert (done.status, path.read_text()) == (1, before)
    assert f"{path}: holds 1 judgment that the new list has not; name another file" in done.err
    assert done.out  # what was worked out is printed
