"""What there is to note of a result is in every output of it, whole, whatever stands in it."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from compared import printed
from labeled import labeled_toy

from bayespool import (
    Precision,
    budgets as vary_budgets,
    check_models,
    impute,
    judge_next,
    leave_out,
    read_results,
    read_scores,
    score,
)
from bayespool.cli.results import deliver, deliver_files, deliver_folder, with_answers
from bayespool.comparisons import reversals
from bayespool.comparisons.comparing import compare_scores
from bayespool.errors import InputError
from bayespool.experiments import (
    FoundJudgments,
    check_judges,
    compare_engines,
    leave_types_out,
    load_example,
    self_calibrate,
    vary_pool_width,
)
from bayespool.pooling import choose, contributions_of
from bayespool.report import (
    print_imputations,
    print_leave_out,
    print_scores,
    read_result,
    write_imputations,
    write_leave_out,
    write_report,
    write_scores,
)
from bayespool.report.budgets import print_budgets, write_budgets
from bayespool.report.checks import (
    print_checks,
    print_engines,
    print_found,
    print_self_calibration,
    write_checks,
    write_engines,
    write_found,
    write_self_calibration,
)
from bayespool.report.comparisons import print_comparison, print_reversals, write_comparison, write_reversals
from bayespool.report.judges import print_judges, write_judges
from bayespool.report.judging import print_next_judgments, write_next_judgments
from bayespool.report.pooling import print_choice, write_choice
from bayespool.report.random_pools import print_pool_width, print_run_types, write_pool_width, write_run_types
from bayespool.tables import read_parquet

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

NOTE = "planted (distance 2.5; 0.3 if so, 0.4 if not); and more (e; f)"
POINT = {"estimators": "lower-bound"}

FILE = ("terminal", "--json", "json", "parquet", "read_results", "report of the file")
FOLDER = ("terminal", "--json", "settings.json", "read_results", "report of the folder")
PAPER = ("tex", "md", "html")
OUTPUTS: dict[str, tuple[str, ...]] = {
    "score": (*FILE, *PAPER, "csv", "nc", "report", "read_scores"),
    "compare": (*FILE, *PAPER, "report"),
    "reversals": (*FILE, "report"),
    "judge-next": (*FILE, "report"),
    "pool": FILE,
    "leave-out": (*FOLDER, "report"),
    "run-types": (*FOLDER, "report"),
    "pool-width": (*FOLDER, "report"),
    "budgets": (*FOLDER, "report"),
    "check": (*FOLDER, "report"),
    "check --found": FOLDER,
    "check --compare-engines": FOLDER,
    "check --sbc": FOLDER,
    "judges": (*FOLDER, "report"),
    "impute": FOLDER,
}
"""By command. ``common-topics`` has nothing to note, and CSV files other than of scores have rows alone."""

SAMPLES = "check --compare-engines"

COUNTED = {
    "pool": "there are no more; the budget was 100000",
    "check --sbc": "3 simulations show shifts of",
}
"""Notes of results in which none can be planted."""


def planted(result: Any) -> Any:
    """A result whose notes are counted: the note takes their place."""
    values = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return type("Planted", (type(result),), {"notes": (NOTE,)})(**values)


def with_rows(result: Any) -> Any:
    return dataclasses.replace(result, _rows=result._rows.assign(note=NOTE))


def with_completion(result: Any) -> Any:
    return dataclasses.replace(result, completion=dataclasses.replace(result.completion, notes=(NOTE,)))


@cache
def scored() -> Any:
    asked = ["lower-bound", "posterior-ratio"]
    scores = score(load_example(), ["new-a", "new-b"], "P@10", estimators=asked, draws=20, together=True)
    point, posterior = scores.estimates
    return dataclasses.replace(scores, estimates=(point, dataclasses.replace(posterior, notes=(NOTE, ""))))


def typed() -> Any:
    types = {run: "manual" if i % 4 else "automatic" for i, run in enumerate(load_example().run_ids)}
    return leave_types_out(load_example(), "P@5", run_types=types, **POINT)


def checked() -> Any:
    found = check_models(load_example(), "P@5", models="background", draws=20, containers=False)
    failed = tuple(dataclasses.replace(p, problems=(NOTE,)) for p in found.predictions)
    return dataclasses.replace(found, predictions=failed)


def found_outside() -> Any:
    """Judgments of which fewer are relevant than expected."""
    counts = {"n_documents": 40, "n_found": 30, "n_relevant": 5}
    expected = {"expected": 12.0, "lower": 8.0, "upper": 17.0, "expected_rest": 3.0}
    shift = {"shift": 1.0, "shift_lower": 0.5, "shift_upper": 1.5}
    return [FoundJudgments(Precision(10), NOTE, 1, 10, **counts, **expected, **shift)]


def engines() -> Any:
    rows = compare_engines(load_example(), "P@5", models="background", draws=60, tune=60)
    return rows.assign(problems=NOTE)


def show_choice(chosen: Any, console: Any) -> None:
    print_choice(chosen, contributions_of(load_example(), chosen, depth=100), console)


RESULTS: dict[str, tuple[Callable[[], Any], Callable[..., None], Callable[..., None]]] = {
    "score": (scored, print_scores, write_scores),
    "compare": (lambda: compare_scores(scored()), print_comparison, write_comparison),
    "reversals": (
        lambda: planted(reversals(load_example(), judgments=[300], estimators=["smoothed"], fitted=False)),
        print_reversals,
        write_reversals,
    ),
    "judge-next": (
        lambda: with_completion(judge_next(load_example(), "new-b", "P@5", budget=2, draws=50)),
        print_next_judgments,
        write_next_judgments,
    ),
    "pool": (
        lambda: choose(load_example(), "take", 100_000),
        show_choice,
        lambda chosen, path: write_choice(load_example(), chosen, path),
    ),
    "leave-out": (
        lambda: with_rows(leave_out(load_example(), "P@5", **POINT)),
        print_leave_out,
        partial(write_leave_out, figures="none"),
    ),
    "run-types": (lambda: with_rows(typed()), print_run_types, partial(write_run_types, figures="none")),
    "pool-width": (
        lambda: planted(vary_pool_width(load_example(), "P@5", widths=[3], n_samples=2, **POINT)),
        print_pool_width,
        partial(write_pool_width, figures="none"),
    ),
    "budgets": (
        lambda: planted(vary_budgets(load_example(), "P@5", strategies=["take"], budgets=[300])),
        print_budgets,
        partial(write_budgets, figures="none"),
    ),
    "check": (checked, print_checks, partial(write_checks, figures="none")),
    "check --found": (found_outside, print_found, write_found),
    "check --compare-engines": (engines, print_engines, partial(write_engines, figures="none")),
    "check --sbc": (
        lambda: self_calibrate("background", n_simulations=3),
        print_self_calibration,
        partial(write_self_calibration, figures="none"),
    ),
    "judges": (
        lambda: dataclasses.replace(check_judges(labeled_toy(), "P@3"), problems=(NOTE,)),
        print_judges,
        write_judges,
    ),
    "impute": (
        lambda: with_completion(impute(load_example(), "new-b", "P@5", draws=2)),
        lambda found, console: print_imputations(found, Path("out"), console),
        write_imputations,
    ),
}


@cache
def made(command: str) -> Any:
    return RESULTS[command][0]()


def document(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> Sequence[str]:
    """Notes of the document that ``--json`` prints."""
    result, (_, show, write) = made(command), RESULTS[command]
    shown = partial(show, result)

    def answer() -> None:
        if command == "impute":
            write(result, folder / "completed")
            deliver_files(shown, folder / "completed")
        elif "settings.json" in OUTPUTS[command]:
            deliver_folder(shown, None, lambda place, _: write(result, place))
        else:
            deliver(shown, None, lambda place: write(result, place))

    capfd.readouterr()
    with_answers(answer, tables=False)(json_=True, quiet=False)
    notes: Sequence[str] = json.loads(capfd.readouterr().out)["notes"]
    return notes


def page(result: Any, folder: Path) -> Sequence[str]:
    write_report(result, folder / "page.html")
    text = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
    return [text.split('<section id="summary"')[1].split("</section>")[0]]


def output_of(command: str, output: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> Sequence[str]:
    """Where the note has to be."""
    result, (_, show, write) = made(command), RESULTS[command]
    if output == "terminal":
        return printed(partial(show, result), width=10_000).splitlines()
    if output == "--json":
        return document(command, folder, capfd)
    if output == "report":
        return page(result, folder)
    if output == "nc":
        result.to_netcdf(folder / "result.nc")
        return read_scores(folder / "result.nc").note_lines
    is_folder = "settings.json" in OUTPUTS[command]
    ending = output if output in (*PAPER, "csv", "parquet") else "json"
    path = folder / ("result" if is_folder else f"result.{ending}")
    write(result, path)
    if output == "parquet":
        return (read_parquet(path) or ({}, {}))[1]["notes"]
    if output in (*PAPER, "csv"):
        return html.unescape(path.read_text(encoding="utf-8")).splitlines()
    if output == "json":
        return json.loads(path.read_text(encoding="utf-8"))["metadata"]["notes"]
    if output == "settings.json":
        return json.loads((path / "settings.json").read_text(encoding="utf-8"))["notes"]
    if output == "read_results":
        return read_results(path).notes
    if output == "read_scores":
        return [one for said in read_scores(path).statements.values() for one in said]
    return page(read_result(path), folder)


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param(command, output, marks=pytest.mark.slow if command == SAMPLES else ())
        for command, outputs in OUTPUTS.items()
        for output in outputs
    ],
)
def test_every_output_of_a_result_has_the_whole_note(
    command: str, output: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = COUNTED.get(command, NOTE)
    lines = output_of(command, output, tmp_path, capfd)
    assert any(wanted in line for line in lines), lines


def test_scores_of_which_notes_alone_were_written_keep_them_whole(tmp_path: Path) -> None:
    """A file of an earlier version has no statements; nothing is cut where they might have begun."""
    path = tmp_path / "scores.json"
    write_scores(scored(), path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert read_scores(path).statements == scored().statements
    assert read_scores(path).note_lines == scored().note_lines
    for wrong in (5, [5], [{"run_id": "new-a", "measure": "P@10", "statements": "x"}]):
        metadata = whole["metadata"] | {"statements": wrong}
        path.write_text(json.dumps(whole | {"metadata": metadata}), encoding="utf-8")
        with pytest.raises(InputError, match="holds no scores"):
            read_scores(path)
    del whole["metadata"]["statements"], whole["metadata"]["notes"]
    path.write_text(json.dumps(whole), encoding="utf-8")
    found = read_scores(path)
    assert found.statements["new-a", scored().measures[0]] == (f"posterior-ratio: {NOTE}",)
    assert found.note_lines == scored().note_lines
