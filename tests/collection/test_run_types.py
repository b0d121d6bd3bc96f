"""Lists of the types of runs."""

from __future__ import annotations

from pathlib import Path

from trec_files import refused

from bayespool.collection import read_run_types


def test_run_types_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    path.write_text("\ufeffRun, note ,TYPE\n\nr1,x,manual\nr2,,automatic\nr1,y,manual\n", encoding="utf-8")
    assert read_run_types(path) == {"r1": "manual", "r2": "automatic"}


def test_lists_of_run_types_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    for text, message in {
        "run_id,kind\nr1,manual\n": "line 1: the header names 'run_id, kind', not run_id and type",
        "run_id,type\nr1,manual,x\n": "line 2: expected 2 columns as in the header, found 3",
        "run_id,type\nr1,\n": "line 2: run 'r1' has no type",
        "run_id,type\n,manual\n": "line 2: no run id beside type 'manual'",
        "run_id,type\nr1,manual\nr1,automatic\n": "line 3: run 'r1' is 'automatic' here and 'manual' before",
        'run_id,type\n"r1,manual\n': "is no proper CSV",
        "run_id,type,Type\nr1,manual,auto\n": "line 1: the header names 'type' 2 times",
        "run_id,type\n": "lists no run",
        "": "is empty",
    }.items():
        path.write_text(text)
        said = str(refused(read_run_types, path))
        assert message in said, text
        assert str(path) in said, text
