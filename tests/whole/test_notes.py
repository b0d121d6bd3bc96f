"""What there is to note of a result is in every output of it, whole, whatever stands in it."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from compared import printed
from labeled import labeled_toy
from small import small

from bayespool import (
    audit,
    check_models,
    compare,
    compare_budgets,
    describe_collection,
    impute,
    judge_next,
    leave_out,
    read_result,
    read_scores,
    score,
)
from bayespool.cli.results import JSON, Outputs
from bayespool.comparisons import count_reversals
from bayespool.comparisons.comparing import compare_scores
from bayespool.errors import InputError, PoolWarning
from bayespool.experiments import check_judges, load_example, vary_pool_width
from bayespool.notes import Note
from bayespool.pooling import choose, describe_pool, discover_pool
from bayespool.report.result import Result, content, print_result
from bayespool.scoring import DocumentsToJudge
from bayespool.tables import read_parquet

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "_static" / "result.schema.json"
NOTE = Note("scope", "planted (distance 2.5; 0.3 if so, 0.4 if not); and more (e; f)")
POINT = {"estimators": "as-judged"}

TABLES = ("tex", "md", "html")
FOLDER = ("settings.json", "read_result of the folder")
OUTPUTS = (
    *("terminal", "--json", "json", "parquet", *TABLES, *FOLDER, "report"),
    *("read_result", "read_result of parquet", "report of the file"),
)
"""Of every result; CSV files except of scores have rows alone."""

OF_SCORES = ("csv", "nc", "read_scores")
MISSING = {"pool": FOLDER, "judge-next": FOLDER, "audit": FOLDER, "impute": TABLES}
"""Lists of documents are written where a folder would be, and qrels have no table that people read."""

COUNTED = {"pool": "there are no more; the budget was 100000"}
"""Notes of results in which none can be planted."""


def planted(result: Any) -> Any:
    """A result whose notes are counted: the note takes their place."""
    values = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return type("Planted", (type(result),), {"notes": lambda _: (NOTE,)})(**values)


def with_rows(result: Any) -> Any:
    return dataclasses.replace(result, _rows=result._rows.assign(note=NOTE))


def with_completion(result: Any) -> Any:
    return dataclasses.replace(result, completion=dataclasses.replace(result.completion, notes=(NOTE,)))


@cache
def scored() -> Any:
    asked = ["as-judged", "posterior-ratio"]
    scores = score(small(), ["new-a", "new-b"], "P@10", estimators=asked, posterior_settings="draws=20")
    point, posterior = scores.estimates
    return dataclasses.replace(scores, estimates=(point, dataclasses.replace(posterior, notes=((NOTE,), ()))))


def checked() -> Any:
    found = check_models(small(), "P@5", models="background", posterior_settings="draws=20", containers=False)
    failed = tuple(dataclasses.replace(p, problems=(NOTE,)) for p in found.predictions)
    return dataclasses.replace(found, predictions=failed)


RESULTS: dict[str, Callable[[], Result]] = {
    "score": scored,
    "compare": lambda: compare_scores(scored()),
    "reversals": lambda: planted(
        count_reversals(small(), judgments=[100], estimators=["smoothed"], fitted=False)
    ),
    "judge-next": lambda: with_completion(
        judge_next(small(), "new-b", "P@5", budget=2, estimators="posterior-ratio(draws=50)")
    ),
    "audit": lambda: planted(
        audit(small(), "new-b", "P@5", budget=2, estimators="posterior-ratio(draws=50)")
    ),
    "pool": lambda: DocumentsToJudge(small(), choose(small(), "take", 100_000, depth=100)),
    "describe": lambda: dataclasses.replace(
        describe_collection(small(), "P@5", estimators="posterior-ratio(draws=20)"), _notes=(NOTE,)
    ),
    "leave-out": lambda: with_rows(leave_out(small(), "P@5", **POINT)),
    "random-pools": lambda: planted(vary_pool_width(small(), "P@5", widths=[3], n_samples=2, **POINT)),
    "budgets": lambda: planted(compare_budgets(small(), "P@5", strategies=["take"], budgets=[100])),
    "check predictions": checked,
    "judges": lambda: dataclasses.replace(check_judges(labeled_toy(), "P@3"), problems=(NOTE,)),
    "impute": lambda: with_completion(impute(small(), "new-b", "P@5", draws=2, estimators="posterior-ratio")),
}


def outputs_of(command: str) -> list[str]:
    """All of scores; of each other result those whose writing may differ: the others go through `Result`."""
    if command == "score":
        return [*OUTPUTS, *OF_SCORES]
    return [o for o in ("terminal", "read_result of parquet", "md") if o not in MISSING.get(command, ())]


@cache
def made(command: str) -> Any:
    return RESULTS[command]()


def document(result: Result, capfd: pytest.CaptureFixture[str]) -> Sequence[str]:
    """Notes of the document that ``--json`` prints, which has the form that the schema says."""
    capfd.readouterr()
    answering = click.Command("answer", params=[JSON()], callback=partial(Outputs().write, result))
    answering.main(["--json"], standalone_mode=False)
    printed_document = json.loads(capfd.readouterr().out)
    jsonschema.validate(printed_document, json.loads(SCHEMA.read_text("utf-8")))
    notes: Sequence[str] = printed_document["notes"]
    return notes


def page(result: Result, folder: Path) -> Sequence[str]:
    result.write_report(folder / "page.html")
    text = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
    return [text.split('<section id="summary"')[1].split("</section>")[0]]


def output_of(command: str, output: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> Sequence[str]:
    """Where the note has to be."""
    result = made(command)
    if output == "terminal":
        return printed(partial(print_result, result), width=10_000).splitlines()
    if output == "--json":
        return document(result, capfd)
    if output == "report":
        return page(result, folder)
    ending = output if output in (*TABLES, "csv", "nc") else "parquet" if "parquet" in output else "json"
    path = folder / ("result" if output in FOLDER else f"result.{ending}")
    result.save(path, figures="none")
    if output in ("nc", "read_scores"):
        return read_scores(path).notes()
    if output == "parquet":
        return (read_parquet(path) or ({}, {}))[1]["notes"]
    if output in (*TABLES, "csv"):
        return html.unescape(path.read_text(encoding="utf-8")).splitlines()
    if output == "json":
        return json.loads(path.read_text(encoding="utf-8"))["metadata"]["notes"]
    if output == "settings.json":
        return json.loads((path / "settings.json").read_text(encoding="utf-8"))["notes"]
    return page(read_result(path), folder) if output.startswith("report") else read_result(path).notes()


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize("command", RESULTS)
def test_every_output_of_a_result_has_the_whole_note(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = COUNTED.get(command, NOTE)
    for output in outputs_of(command):
        (tmp_path / output).mkdir(parents=True)
        lines = output_of(command, output, tmp_path / output, capfd)
        assert any(wanted in line for line in lines), (output, lines)


def test_scores_without_the_table_of_notes_keep_them(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    scored().save(path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert read_scores(path).notes() == scored().notes()
    for wrong in (5, [5], [{"run_id": "new-a", "measure": "P@10", "run_notes": "x"}]):
        path.write_text(json.dumps(whole | {"run_notes": wrong}), encoding="utf-8")
        with pytest.raises(InputError, match="holds no scores"):
            read_scores(path)
    del whole["run_notes"]
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert read_scores(path).notes() == scored().notes()


def test_doubt_of_the_pool_is_in_every_output(tmp_path: Path) -> None:
    """Two of 23 runs brought less than half of the judgments; the warning and all outputs say so."""
    with pytest.warns(
        PoolWarning, match="explains less than half of the judgments, and 21 of 23 runs"
    ) as said:
        collection = discover_pool(load_example(), pooled_run_ids=["north-1", "north-2"], depth=10)
    doubt = describe_pool(collection).warning_text
    assert str(said[0].message).startswith(doubt)
    scores = score(collection, ["new-a", "new-b"], "P@10", estimators="as-judged")
    compared = compare(collection, ["new-a", "new-b"], "P@10", estimators="as-judged")
    for result in (scores, compared):
        assert result.notes()[0] == doubt
        result.write_report(tmp_path / "report.html")
        outputs = [result.text(ending) for ending in (".tex", ".md", ".html")]
        outputs += [str(content(result, ".json")), (tmp_path / "report.html").read_text(encoding="utf-8")]
        outputs += [printed(partial(print_result, result)), *result.sentences()]
        for text in outputs:  # never without its reason
            words = " ".join(text.replace("%", " ").split())
            assert words.count(doubt) == words.count("the pool is in doubt")
        assert all(doubt in " ".join(text.replace("%", " ").split()) for text in outputs[:6])
    # runs that leave a pool which is in no doubt bring none
    unpooled = score(load_example(), unpool="north", measures="P@10", estimators="as-judged")
    assert unpooled.metadata["pool_notes"] == []
