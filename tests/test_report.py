"""Tables on a terminal and in a pipe, and files that are whole or not there."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from toys import toy_collection

from bayespool.errors import OutputError
from bayespool.estimates import Estimates
from bayespool.estimators import DEFAULT_ESTIMATORS
from bayespool.measures import parse_measures
from bayespool.report import check_output, print_scores, write_scores
from bayespool.scoring import Scores, score
from bayespool.simulation import load_example
from bayespool.values import Values

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

POINT = [name for name in DEFAULT_ESTIMATORS if not name.startswith("posterior")]


def toy_scores(*measures: str) -> Scores:
    return score(toy_collection(), ["u", "s2"], measures or ("P@3",), estimators=["lower-bound", *POINT])


def with_posterior(scores: Scores, ci_prob: float = 0.9) -> Scores:
    """With an estimator whose draws are known: half of them B, half of them T, but for three."""
    added = []
    for measure, found in zip(scores.measures, scores.bounds, strict=True):
        draws = Values(np.array([found.low.amount, found.high.amount] * 50), measure.unit)
        added.append(
            Estimates(
                method="posterior-known",
                measure=measure,
                run_ids=scores.run_ids,
                query_ids=scores.query_ids,
                per_topic=draws.on_topics(),
                value=draws.expected(),
                fingerprint="0",
                draws=draws,
            )
        )
    return dataclasses.replace(scores, estimates=(*scores.estimates, *added), ci_prob=ci_prob)


def printed(scores: Scores, *, width: int = 80, terminal: bool = False, per_topic: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=terminal, color_system=None, legacy_windows=False
    )
    print_scores(scores, console, per_topic=per_topic)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


# --- tables ------------------------------------------------------------------------------------------------

WIDE = """\
P@3, mean over 3 topics

                      resid-   lower   back-   inter-  smooth-  systems   anti-    con-
 run   lower   upper     ual   bound  ground  polated       ed  adjust.   prec.  densed
 ──────────────────────────────────────────────────────────────────────────────────────
 u    0.3333  0.8889  0.5556  0.3333  0.3500   0.4733   0.4848   0.3889  0.3488  0.4444
 s2   0.1111  0.1111  0.0000  0.1111  0.1111   0.1111   0.1111   0.1111  0.1111  0.1111

note: s2: 1 of 3 topics missing from the run; nothing unjudged
"""

NARROW = """\
P@3, mean over 3 topics

 run                      u      s2
 ──────────────────────────────────
 lower               0.3333  0.1111
 upper               0.8889  0.1111
 residual            0.5556  0.0000
 lower-bound         0.3333  0.1111
 background          0.3500  0.1111
 interpolated        0.4733  0.1111
 smoothed            0.4848  0.1111
 systems-adjustment  0.3889  0.1111
 anti-precision      0.3488  0.1111
 condensed-list      0.4444  0.1111

note: s2: 1 of 3 topics missing from the run; nothing unjudged
"""


def test_numbers_of_the_snapshots_are_those_of_the_toy() -> None:
    """Topic 1: a1 l? d?; topic 2: v1 p1 z?; topic 3: e? f? and no third document."""
    lower, residual = np.array([1, 2, 0]) / 3, np.array([2, 1, 2]) / 3
    judged = 1 - residual
    expected = {
        "bound_lower": lower.mean(),
        "bound_upper": (lower + residual).mean(),
        "residual": residual.mean(),
        "lower-bound": lower.mean(),
        # held out alone with u in their place, n1 loses c and n2 loses f, the others nothing of relevance
        "systems-adjustment": lower.mean() + 2 / 9 / 4,
        "background": (lower + 0.03 * residual).mean(),
        "interpolated": (lower + 0.42 * residual * lower / judged).mean(),
        "smoothed": (lower + 0.91 * residual * lower + 0.05 * residual**2).mean(),
        "condensed-list": (2 / 3 + 2 / 3 + 0) / 3,  # a h, v p, nothing
    }
    row = toy_scores().frame().iloc[0]
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    for name, value in expected.items():
        printed_name = name.removeprefix("bound_")
        assert f"{value:.4f}" in NARROW.split(printed_name)[1].split("\n")[0]


def test_pipe_gets_one_row_per_run() -> None:
    assert printed(toy_scores()) == WIDE


def test_wide_terminal_gets_one_row_per_run() -> None:
    assert printed(toy_scores(), width=120, terminal=True) == WIDE


def test_narrow_terminal_gets_one_column_per_run() -> None:
    assert printed(toy_scores(), width=80, terminal=True) == NARROW


def test_posterior_stands_with_its_interval() -> None:
    wide = printed(
        with_posterior(score(toy_collection(), "u", "P@3", estimators=["background"]))
    ).splitlines()
    assert wide[2:4] == [
        "                      resid-   back-  posterior           90 %",
        " run   lower   upper     ual  ground      known       interval",
    ]
    assert wide[5] == " u    0.3333  0.8889  0.5556  0.3500     0.6111  0.3333–0.8889"
    narrow = printed(with_posterior(toy_scores(), ci_prob=0.5), terminal=True).splitlines()
    assert narrow[14:16] == [
        " posterior-known            0.6111         0.1111",
        " 50 % interval       0.3333–0.8889  0.1111–0.1111",
    ]


def test_each_measure_has_its_table_and_a_note_the_measures_it_is_of() -> None:
    text = printed(score(load_example(), "north-1", ["P@10", "P@20", "P@5"], estimators=["background"]))
    assert [line for line in text.splitlines() if "mean over" in line] == [
        f"{m}, mean over 20 topics" for m in ("P@10", "P@20", "P@5")
    ]
    assert text.splitlines()[-2:] == [
        "note: north-1: nothing unjudged (P@10, P@5)",
        "note: north-1: ranks below the pool depth of 10 are extrapolated (P@20)",
    ]


def test_estimand_is_said_where_it_is_not_the_usual_one() -> None:
    scores = score(load_example(), "new-a", "P@20", estimators=["background"], estimand="pooled")
    first = printed(scores).splitlines()[0]
    assert first == "P@20, mean over 20 topics, unjudged documents below the pool depth nonrelevant"


def test_missing_value_is_a_dash() -> None:
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    scores = score(nobody, "new-a", estimators=["systems-adjustment", "background"])
    row = printed(scores).splitlines()[5]
    assert row.split() == ["new-a", "0.5950", "0.6850", "0.0900", "–", "0.5977"]


def test_names_are_printed_as_they_are() -> None:
    """Brackets are markup in rich, and a word such as 3.14 is coloured."""
    scores = dataclasses.replace(toy_scores(), run_ids=("[bold]u[/bold]", "3.14"))
    scores = dataclasses.replace(
        scores, estimates=tuple(dataclasses.replace(e, run_ids=scores.run_ids) for e in scores.estimates)
    )
    text = printed(scores)
    assert " [bold]u[/bold]  0.3333" in text
    assert "note: 3.14: 1 of 3 topics" in text


def numbers_in(text: str) -> list[str]:
    return [word for word in text.split() if word.replace(".", "").isdigit() and "." in word]


@pytest.mark.parametrize("width", [20, 40, 80, 132])
@pytest.mark.parametrize("per_topic", [False, True])
def test_no_number_is_cut_short_however_narrow_the_terminal(width: int, per_topic: bool) -> None:
    """All 23 runs of the example, or two runs on 20 topics: more columns than fit side by side."""
    example = load_example()
    scores = score(example, None if per_topic else example.run_ids, "P@15", estimators=POINT)
    text = printed(scores, width=width, terminal=True, per_topic=per_topic)
    assert "…" not in text
    if width >= 40:
        assert max(len(line) for line in text.splitlines() if not line.startswith("note")) <= width
    frame = scores.frame(per_topic=per_topic)
    values = frame[["bound_lower", "bound_upper", "residual", *POINT]].to_numpy().ravel()
    assert sorted(numbers_in(text)) == sorted(f"{value:.4f}" for value in values)


def test_per_topic_table_has_a_row_per_topic() -> None:
    lines = printed(toy_scores(), per_topic=True).splitlines()
    rows = [line.split()[:5] for line in lines[5:11]]
    assert rows == [
        ["u", "1", "0.3333", "1.0000", "0.6667"],
        ["u", "2", "0.6667", "1.0000", "0.3333"],
        ["u", "3", "0.0000", "0.6667", "0.6667"],
        ["s2", "1", "0.3333", "0.3333", "0.0000"],
        ["s2", "2", "0.0000", "0.0000", "0.0000"],
        ["s2", "3", "0.0000", "0.0000", "0.0000"],
    ]


# --- files -------------------------------------------------------------------------------------------------


def everything() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    scores = score(nobody, ["new-a", "new-b"], ["P@5", "P(rel=2)@10"], estimators=POINT)
    return with_posterior(scores)


@pytest.mark.parametrize("per_topic", [False, True])
def test_csv_holds_the_frame(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.csv"
    write_scores(scores, path, per_topic=per_topic)
    found = pd.read_csv(path, dtype={"run_id": str, "query_id": str})
    expected = scores.frame(per_topic=per_topic)
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
    assert path.read_bytes().count(b"\r") == 0


@pytest.mark.parametrize("per_topic", [False, True])
def test_json_holds_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.json"
    write_scores(scores, path, per_topic=per_topic)
    found = json.loads(
        path.read_text(encoding="utf-8"), parse_constant=lambda c: pytest.fail(f"{c} is no JSON")
    )
    assert set(found) == {"metadata", "scores"}
    assert found["metadata"] == json.loads(json.dumps(dict(scores.metadata)))
    expected = scores.frame(per_topic=per_topic)
    rows = pd.DataFrame(found["scores"])
    assert list(rows.columns) == list(expected.columns)
    for column in expected.columns:
        if expected[column].dtype == float:
            assert rows[column].astype(float).to_numpy() == pytest.approx(
                expected[column].to_numpy(), abs=1e-15, nan_ok=True
            )
        else:
            assert rows[column].tolist() == expected[column].tolist()
    assert found["scores"][0]["systems-adjustment"] is None


@pytest.mark.parametrize("per_topic", [False, True])
def test_parquet_holds_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.parquet"
    write_scores(scores, path, per_topic=per_topic)
    table = pq.read_table(path)
    assert json.loads(table.schema.metadata[b"bayespool"]) == json.loads(json.dumps(dict(scores.metadata)))
    pd.testing.assert_frame_equal(
        pd.read_parquet(path), scores.frame(per_topic=per_topic), check_exact=True, check_dtype=False
    )


def test_same_scores_give_the_same_bytes(tmp_path: Path) -> None:
    for ending in ("csv", "json", "parquet"):
        one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
        write_scores(everything(), one)
        write_scores(everything(), other)
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scores.txt", r"scores\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        ("scores", r"scores: cannot write a file without ending"),
        ("scores.csv.gz", r"scores\.csv\.gz: cannot write \.gz"),
        ("folder.csv", r"folder\.csv: is a folder; name a file"),
        ("nowhere/scores.csv", r"nowhere/scores\.csv: there is no folder .*nowhere; make it first"),
        ("file.csv/scores.csv", r"file\.csv/scores\.csv: there is no folder .*file\.csv; make it first"),
    ],
)
def test_output_that_cannot_be_written_is_refused(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_bytes(b"a file")
    before = sorted(tmp_path.rglob("*"))
    for refuse in (check_output, lambda path: write_scores(everything(), path)):
        with pytest.raises(OutputError, match=message):
            refuse(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_what_stood_there_stays_when_the_disk_is_full(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"scores.{ending}"
    path.write_bytes(b"what stood there")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write_scores(everything(), path)
    assert path.read_bytes() == b"what stood there"
    assert list(tmp_path.iterdir()) == [path]


def test_measures_of_a_file_are_those_asked_for(tmp_path: Path) -> None:
    measures = parse_measures(["P@3", "P@5"])
    scores = score(toy_collection(), "u", measures, estimators=["background"])
    write_scores(scores, tmp_path / "a.csv")
    assert pd.read_csv(tmp_path / "a.csv")["measure"].tolist() == ["P@3", "P@5"]
