"""Results that commands wrote are read back as they are, and what is none is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hostile import IMAGE, TOPIC

from bayespool import compare, load_example
from bayespool.errors import InputError
from bayespool.report.comparisons import write_comparison
from bayespool.report.drawing import Styles
from bayespool.report.folder import tables, write_folder
from bayespool.report.results import read_result, result_page, written_result

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0"/></svg>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "result"
    frame = pd.DataFrame({"measure": ["P@10"], "estimator": [IMAGE], "rmse": [0.1]})
    described = {"fingerprint": "ab", "problems": [TOPIC], "settings": {"random_seed": 3}}
    write_folder(place, "leave-out", described, {**tables({"summary": frame}), "mae.svg": SVG})
    return place


def test_a_folder_is_read_with_tables_and_figures(folder: Path) -> None:
    found = written_result(read_result(folder))
    assert found.kind == "leave-out"
    assert found.tables["summary"]["estimator"].tolist() == [IMAGE]
    assert found.figures == {"mae.svg": SVG}
    page = result_page(found, Styles())
    assert page.title == "Organizations left out of the pool"
    assert page.problems == (TOPIC,)
    assert [one.name for one in page.sections] == ["figures", "tables", "made"]


def test_notes_of_runs_that_were_left_out_are_in_the_report(tmp_path: Path) -> None:
    notes = ["unlike the pool (distance 2.0)", "unlike the pool (distance 3.0)", ""]
    runs = pd.DataFrame({"measure": "P(rel=2)@10", "estimator": "posterior-x", "note": notes})
    described = {"fingerprint": "ab", "settings": {"random_seed": 3}}
    files = {**tables({"runs": runs}), "truth-P_rel_2_10.svg": SVG}
    write_folder(tmp_path / "result", "leave-out", described, files)
    page = result_page(written_result(read_result(tmp_path / "result")), Styles())
    assert page.problems == ("P(rel=2)@10: posterior-x, 2 runs: unlike the pool",)
    assert page.sections[0].figures[0].caption.endswith("(P(rel=2)@10)")


def test_a_figure_that_was_changed_is_not_shown(folder: Path) -> None:
    (folder / "mae.svg").write_bytes(SVG + b" ")
    assert written_result(read_result(folder)).figures == {}


def test_a_file_elsewhere_is_no_part_of_a_result(folder: Path) -> None:
    settings = json.loads((folder / "settings.json").read_text())
    (folder.parent / "other.svg").write_bytes(SVG)
    settings["digests"]["../other.svg"] = settings["digests"]["mae.svg"]
    (folder / "settings.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"other\.svg: is missing"):
        read_result(folder)


@pytest.mark.slow
def test_a_comparison_is_read_from_its_file_and_live(tmp_path: Path) -> None:
    compared = compare(load_example(), ["new-a", "new-b"], "P@10", draws=100)
    write_comparison(compared, tmp_path / "c.json")
    stored = written_result(read_result(tmp_path / "c.json"))
    live = written_result(compared)
    assert stored.kind == live.kind == "compare"
    assert list(stored.tables) == list(live.tables)
    assert result_page(live, Styles()).summary[0].startswith("On these 20 topics the P@10 of new-a is higher")
    assert result_page(stored, Styles()).summary[0].startswith("On these topics the P@10 of new-a is higher")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", "x\n1\n", "cannot be made of .csv"),
        ("a.json", "{}", "holds no result"),
        ("a.parquet", "no parquet", "holds no result"),
        ("a.nc", "no container", "holds no scores"),
    ],
)
def test_what_is_no_result_is_refused_with_its_name(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=reason) as raised:
        read_result(tmp_path / name)
    assert name in str(raised.value)


def test_a_folder_without_results_and_an_object_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no result"):
        read_result(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        read_result(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no report can be made of a int"):
        written_result(3)
