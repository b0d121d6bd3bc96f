"""Options made from signatures and docstrings: types, lists, defaults, help, and what the shell offers."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import pytest
from commands import Outcome

from bayespool.cli import commands
from bayespool.cli.commands import Command
from bayespool.cli.files import _judges as named_files
from bayespool.cli.functions import Parameter, numpydoc_parameters, parameters_of
from bayespool.cli.parameters import first_sentence, function_option, function_value, offered
from bayespool.errors import InputError
from bayespool.scoring.asked import Asked, AskedKeywords

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = commands()
FUNCTIONS = {entry.function for entry in COMMANDS.values() if isinstance(entry, Command) and entry.function}
FUNCTIONS |= {"experiments/random_pools.py:vary_pool_width"}


def options_of(command: str) -> list[click.Parameter]:
    """Options, without ``--help`` and ``--help-all``."""
    entry = COMMANDS[command]
    params = entry.get_params(click.Context(entry, **entry.context_settings))
    return [p for p in params if p.param_type_name == "option" and p.name not in ("help", "help_all")]


# --- signatures and docstrings ------------------------------------------------------------------------------


def test_type_of_an_option_is_that_of_one_value() -> None:
    for annotation, kind, is_listed in (
        ("int", int, False),
        ("float | None", float, False),
        ("bool", bool, False),
        ("PathLike | None", Path, False),
        ("Mapping[str, list[str]] | PathLike | None", str, False),
        ("object", str, False),
        ("", str, False),
        ("str | Strategy", str, False),
        ("str | Iterable[str]", str, True),
        ("Iterable[int] | None", int, True),
        ("int | Sequence[int]", int, True),
        ("tuple[float, ...]", float, True),
        ("str | Estimator | Iterable[str | Estimator]", str, True),
        ("By", ("organization", "run"), False),
        ("Literal['a', 'b'] | None", ("a", "b"), False),
        ("Scope | Iterable[Scope]", ("these-topics", "population", "groups"), True),
    ):
        parameter = Parameter("name", annotation, None, "", "")
        assert (parameter.type, parameter.is_listed) == (kind, is_listed), annotation


def test_descriptions_are_those_of_the_section_without_markup() -> None:
    docstring = """Do it.

Parameters
----------
one, two : int, default 3
    Numbers of `P@10`,
    ``such as`` 3.

    More of them.
three : str, optional
    Name.

Returns
-------
four : int
    No parameter.
"""
    both = "Numbers of P@10, such as 3. More of them."
    of_two = "int, default 3", both
    assert numpydoc_parameters(docstring) == {
        "one": of_two,
        "two": of_two,
        "three": ("str, optional", "Name."),
    }


def test_what_is_read_from_the_source_is_the_signature_of_the_function() -> None:
    for place in FUNCTIONS:
        file, _, name = place.partition(":")
        module = importlib.import_module(f"bayespool.{file.removesuffix('.py').replace('/', '.')}")
        signature = inspect.signature(getattr(module, name))
        read = parameters_of(place)
        parameters = dict(signature.parameters)
        if parameters.pop("asked", None):
            shared = inspect.signature(Asked).parameters
            parameters |= {name: shared[name] for name in AskedKeywords.__annotations__}
        assert read.keys() == parameters.keys(), place
        for parameter in read.values():
            default = parameters[parameter.name].default
            is_literal = isinstance(default, str | int | float | bool | tuple)
            assert parameter.default == (default if is_literal else None), (place, parameter.name)
            assert parameter.annotation == parameters[parameter.name].annotation, place


def test_an_option_has_the_flag_the_type_and_the_first_sentence_of_its_parameter() -> None:
    option = function_option(Parameter("n_samples", "int", 100, "", "Pools, e.g. 10. By default a hundred."))
    assert (option.opts, option.help, option.type) == (["--samples"], "Pools, e.g. 10.", click.INT)
    record = option.get_help_record(click.Context(click.Command("x")))
    assert record == ("--samples <int>", "Pools, e.g. 10.  [default: 100]")
    listed = function_option(Parameter("widths", "Iterable[int]", (2, 5), "", "Widths."))
    record = listed.get_help_record(click.Context(click.Command("x")))
    assert record == ("--widths <int,…>", "Widths.  [default: 2,5]")
    choice = function_option(Parameter("by", "By", "run", "", "Units."))
    assert list(choice.type.choices) == ["organization", "run"]  # type: ignore[attr-defined]
    one, repeated = (
        function_option(Parameter("measures", "object", "P@10", kind, "Measure."))
        for kind in ("measure", "measure or iterable of measures")
    )
    assert not one.multiple
    assert (repeated.opts, repeated.multiple) == (["--measure", "-m"], True)
    flag = function_option(Parameter("fitted", "bool", True, "", "Fit."))
    assert (flag.opts, flag.secondary_opts) == (["--fitted"], ["--no-fitted"])
    assert first_sentence("Judge … more. And so on.") == "Judge … more."


def test_a_list_is_one_text_with_commas_between() -> None:
    def value(annotation: str, text: object) -> object:
        return function_value(Parameter("n_common", annotation, (), "", ""), text)

    assert value("Iterable[int]", "2, 5") == [2, 5]
    assert value("Iterable[float]", "0.5,1e-3") == [0.5, 0.001]
    assert value("str | Iterable[str]", "take,depth(k=3,j=4)") == ["take", "depth(k=3,j=4)"]
    assert value("str | Iterable[str]", ("a,b", "c")) == ["a,b", "c"]  # of an option that is repeated
    assert value("str", "a,b") == "a,b"
    for annotation, wanted in (("Iterable[int]", "whole numbers"), ("Iterable[float]", "numbers")):
        with pytest.raises(InputError, match=f"--common 2,many: not {wanted}; give them with commas"):
            value(annotation, "2,many")


# --- all options of all commands ----------------------------------------------------------------------------


def test_every_option_is_described_and_there_are_few_of_them() -> None:
    asked = {command: [o for o in options_of(command) if o.expose_value] for command in COMMANDS}
    n_options = {command: len(options) for command, options in asked.items()}  # but those of output alone
    assert len(COMMANDS) == 18
    advice = "a new option replaces one, is a setting of one (--reading, --posterior), or has its reason here"
    assert n_options["score"] <= 24, advice
    # seven commands have one posterior, and --estimators names it beside the settings of --posterior; four
    # have groups of topics, two more than before have systems, compare has a table of scores, and judges has
    # two dates
    assert sum(n_options.values()) <= 18 * len(COMMANDS) + 8 + 9, f"{n_options}: {advice}"
    for command in COMMANDS:
        flags = Counter(flag for p in options_of(command) for flag in (*p.opts, *p.secondary_opts))
        assert set(flags.values()) == {1}, command
        for option in options_of(command):
            assert isinstance(option, click.Option)
            place = (command, option.opts)
            assert len(option.help or "") > 5, place
            assert (option.help or "").endswith((".", "…")), place
            assert option.multiple == ("May be repeated" in (option.help or "")), place


def test_short_help_has_a_dozen_options_and_the_whole_help_all(run: Callable[..., Outcome]) -> None:
    for command in COMMANDS:
        done = run(*command.split(), "-h")
        assert (done.status, done.err) == (0, ""), command
        assert done.out == run(*command.split(), "--help").out
        rows = re.findall(r"^  (?:-\w, )?--[\w-]+", done.out, flags=re.MULTILINE)
        assert len(rows) <= 14, command
        whole = run(*command.split(), "--help-all").out
        assert {flag for p in options_of(command) for flag in p.opts if flag not in whole} == set()
        assert max(map(len, whole.splitlines())) <= 80, command
    assert "posterior-combined *" in run("score", "--help-all").out
    assert "--help-all shows" in run("score", "-h").out


def test_an_option_of_another_program_says_what_to_write(run: Callable[..., Outcome]) -> None:
    for command, flag, now in (
        ("score", "--metrics", "--measure"),
        ("score", "--judged", "--own-judgments"),
        ("judge-next", "--own-judgments", "--judged"),
        ("score", "--run", "the files of runs without an option"),
    ):
        done = run(command, flag, "x")
        assert (done.status, done.err) == (2, f"error: there is no {flag}; write {now}\n")


def test_completion_is_not_installed(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for asked in (["--install-completion", "--help"], ["--help", "--install-completion"]):
        assert (done := run(*asked)).status == 0
        assert done.out.startswith("Usage: bayespool [OPTIONS] COMMAND")
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_is_given_twice_is_refused(run: Callable[..., Outcome]) -> None:
    done = run("score", "x.run", "--random-seed", 1, "--random-seed", 2)
    said = "error: --random-seed is given twice; give it once: one of the two would be lost\n"
    assert (done.status, done.err) == (1, said)


def test_a_value_in_two_places_or_out_of_bounds_is_refused_before_files_are_read(
    run: Callable[..., Outcome],
) -> None:
    files = ("--qrels", "nowhere.txt", "--pool", "nowhere")
    for asked, message in [
        (("score", "x.run", "--random-seed", -1), "--random-seed cannot be -1; at least 0"),
        (("score", "x.run", "--repool-to", 0), "--repool-to cannot be 0; at least 1"),
        (("compare", "x.run", "y.run", "--rope", -1), "--rope cannot be -1.0; at least 0"),
        (("leave-out", "--announce", 0.3), "--announce cannot be 0.3; at least 0.5 and at most 1"),
        (
            ("gate", "x.run", "y.run", "--probability", 0.4),
            "--probability cannot be 0.4; above 0.5 and below 1",
        ),
        (("judge-next", "x.run", "--budget", 0), "--budget cannot be 0; at least 1"),
        (("reversals", "--judgments", "10,0"), "--judgments cannot be 0; at least 1"),
        (("leave-out", "--random-seed", -1), "--random-seed cannot be -1; at least 0"),
        (
            ("score", "x.run", "--random-seed", 1, "--posterior", "random_seed=2"),
            "--random-seed beside --posterior random_seed=",
        ),
        (
            ("score", "x.run", "--known-depth", 5, "--reading", "known_depth=5"),
            "--known-depth beside --reading",
        ),
        (("pool", "--strategy", "take(budget=5)", "--budget", 6), "--budget beside --strategy budget="),
    ]:
        done = run(*asked, *files)
        assert (done.status, done.out) == (3 if asked[0] == "gate" else 1, ""), asked
        assert message in done.err, (asked, done.err)


def test_the_page_of_options_has_those_of_the_commands() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "options.py"))
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert made["option_table"]() in page, "make outputs"
    flags = {flag for command in COMMANDS for p in options_of(command) for flag in p.opts}
    assert {flag for flag in flags if f"`{flag}`" not in page} == set()
    assert all(f"| `{name}` |" in made["command_table"]() for name in COMMANDS)


# --- judges -------------------------------------------------------------------------------------------------


def test_two_judges_of_one_name_are_refused() -> None:
    for given in [["x.txt", "x=b.txt"], ["a.txt", "more/a.txt"], ["x=a.txt", "x"]]:
        with pytest.raises(InputError, match=r"two judges are called '[ax]'; --judge NAME=FILE"):
            named_files(tuple(given))


def test_a_judge_is_named_by_its_file_or_before_it(tmp_path: Path) -> None:
    there = tmp_path / "x=y.txt"
    there.write_text("")
    assert named_files(("a=b.txt", "more/c.txt")) == {"a": [Path("b.txt")], "c": [Path("more/c.txt")]}
    assert named_files(("a=b.txt", "a=c.txt")) == {"a": [Path("b.txt"), Path("c.txt")]}  # asked twice
    assert named_files((str(there),)).popitem()[1] == [there]  # a file whose name has an equals sign


# --- what the shell offers ----------------------------------------------------------------------------------

COMPLETE = """
import sys
from bayespool.cli import main
sys.argv = ["bayespool"]
try:
    main()
finally:
    print([name for name in ("numpy", "pandas", "bayespool.scoring.estimators") if name in sys.modules])
"""


def completed(more: Mapping[str, str]) -> list[str]:
    """Lines of a completing process, the last of which says what heavy modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        capture_output=True,
        text=True,
        env=os.environ | more,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


def test_names_are_completed_one_by_one() -> None:
    for kind, typed, expected in (
        ("estimators", "posterior-s", ["posterior-smoothed"]),
        ("estimators", "background,sm", ["background,smoothed"]),
        ("estimators", "d", ["default"]),
        ("estimators", "smoothed,sm", []),  # it is there already
        ("measures", "nDCG@1", ["nDCG@10"]),
        ("models", "ratio,ev", ["ratio,evidence"]),
        ("strategy", "combm", ["combmax", "combmin", "combmed", "combmnz"]),
        ("strategies", "pa", ["paper"]),
        ("", "q", []),  # the shell's own: files
    ):
        assert offered(kind, typed) == expected
    assert all(name.startswith("posterior-") for name in offered("posterior", ""))


def test_completion_as_a_process_loads_nothing_heavy() -> None:
    for typed, expected in [
        ("score --estimators posterior-ra", ["posterior-ratio", "posterior-rankings"]),
        ("jud", ["judge-next", "judges"]),
        ("score --scope p", ["population"]),
    ]:
        words = f"bayespool {typed}"
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        *found, heavy = completed({"_BAYESPOOL_COMPLETE": "bash_complete", **asked})
        assert [line.removeprefix("plain,") for line in found] == expected
        assert heavy == "[]", typed
    for shell in ["bash", "zsh", "fish"]:
        if shell != "bash" or shutil.which("bash"):  # whose version click asks for
            script = "\n".join(completed({"_BAYESPOOL_COMPLETE": f"{shell}_source"}))
            assert f"_BAYESPOOL_COMPLETE={shell}_complete" in script
