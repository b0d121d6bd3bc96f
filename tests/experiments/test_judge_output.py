"""What second judges are worth, as a terminal shows it and as files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared import printed
from labeled import favoring_labels, labeled_toy, right_labels, top_of, with_judge

from bayespool import check_judges
from bayespool.errors import OutputError
from bayespool.evidence.labels import grade_names
from bayespool.experiments import JudgeCheck, load_example
from bayespool.report.terminal import print_result


def text_of(check: JudgeCheck) -> str:
    return printed(partial(print_result, check))


TOY = """\
P(rel=2)@3, P(rel=2)@1: agreement of labels with judgments

        relevant  label     AUC    AUC       κ      κ  relevant,  promised,
 judge  from       from  hidden  other  hidden  other     hidden     hidden
 ──────────────────────────────────────────────────────────────────────────
 llm    2             2   0.833      –   0.389  0.000          2          0

P(rel=2)@3, P(rel=2)@1, judge llm: judged documents by label and relevance

        hidden          other
 label       0  1  ≥ 2      0  1  ≥ 2
 ────────────────────────────────────
 0           3  2    0      2  0    0
 1           2  1    1      1  0    0
 2           0  1    1      0  1    0
 none        1  0    0      1  0    0

P(rel=2)@3, P(rel=2)@1, judge llm: share of relevance 2 or more by label

        hidden                   95 %   other                   95 %
 label  number  relevant     interval  number  relevant     interval
 ───────────────────────────────────────────────────────────────────
 0           5     0.000  0.000–0.434       2     0.000  0.000–0.658
 1           4     0.250  0.046–0.699       1     0.000  0.000–0.793
 2           2     0.500  0.095–0.905       1     0.000  0.000–0.793

P(rel=2)@3: documents with labels

 judge  documents  number  labeled   share
 ─────────────────────────────────────────
 llm    judged         17       15  88.2 %
 llm    hidden         12       11  91.7 %
 llm    unjudged        5        2  40.0 %

Unjudged documents are those within rank 3 of the runs to score.
P(rel=2)@1: documents with labels

 judge  documents  number  labeled    share
 ──────────────────────────────────────────
 llm    judged         17       15   88.2 %
 llm    hidden         12       11   91.7 %
 llm    unjudged        1        1  100.0 %

Unjudged documents are those within rank 1 of the runs to score.
note: judge llm is not used: too few judged documents have its labels to know it by (1 relevant, 3 not)
"""


def test_tables_of_the_toy() -> None:
    """Two measures that ask the same of documents share what does not depend on their cutoffs."""
    assert text_of(check_judges(labeled_toy(), ["P(rel=2)@3", "P(rel=2)@1"])) == TOY
    apart = text_of(check_judges(labeled_toy(), ["P(rel=2)@3", "P@3"]))
    assert apart.count("judged documents by label and relevance") == 2


def test_each_level_of_a_graded_measure_has_its_shares() -> None:
    shown = text_of(check_judges(labeled_toy(), "nDCG@3", run_ids=(), ci_prob=0.8))
    assert "share of relevance 1 or more by label" in shown
    assert "share of relevance 2 or more by label" in shown
    assert "80 %" in shown
    assert "There is no run to score, and so no unjudged document." in shown


def two_judges() -> JudgeCheck:
    collection = with_judge(with_judge(load_example(), favoring_labels()), right_labels(), "a b")
    return check_judges(collection, intervals=True, draws=250, chains=2, model="ratio")


@pytest.mark.slow
def test_narrower_intervals_and_whom_judges_favor() -> None:
    check = two_judges()
    shown = text_of(check)
    assert max(map(len, shown.split("note:")[0].splitlines())) <= 80
    heading = "P@10: mean width of 95 % intervals of 2 runs to score\n"
    _, _, found = shown.partition(heading)
    frame = check.to_frame("intervals")
    lines = [line.split() for line in found.splitlines() if "%" in line][:3]
    assert [" ".join(line[:-4]) for line in lines] == frame["judge"].tolist()
    for line, row in zip(lines, frame.to_dict("records"), strict=True):
        assert [float(cell) for cell in line[-4:-1]] == [
            round(row[name], digits) for name, digits in (("width_without", 4), ("width_with", 4))
        ] + [round(100 * row["saved"], 1)]
    notes = [line for line in shown.splitlines() if line.startswith("note:")]
    assert notes[0].startswith("note: judge llm favors north: a document in the top 10 of its runs is")
    assert notes[1:] == ["note: judge a b favors no organization"]


@pytest.mark.slow
def test_a_folder_has_every_table(tmp_path: Path) -> None:
    check = two_judges()
    for name in ("a", "b"):
        check.save(tmp_path / name)
    names = {f"{table.name}.{kind}" for table in check.tables() for kind in ("csv", "parquet")}
    names |= {"settings.json", "labels.png"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == names
    assert len(names) == 16
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for table in check.tables():
        written = pd.read_parquet(tmp_path / "a" / f"{table.name}.parquet")
        pd.testing.assert_frame_equal(written, table.frame, check_dtype=False)
    settings = json.loads((tmp_path / "a" / "settings.json").read_text(encoding="utf-8"))
    assert settings["experiment"] == "judges"
    assert settings["judges"] == ["llm", "a b"]
    assert settings["problems"] == list(check.problems)
    check_judges(labeled_toy(), "P@3").save(tmp_path / "a")
    assert not (tmp_path / "a" / "runs.csv").exists(), "what an earlier check left is gone"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"bayespool": "0", "experiment": "leave-out"}')
    with pytest.raises(OutputError, match="holds the results of leave-out"):
        check_judges(labeled_toy(), "P@3").save(tmp_path)


def test_labels_of_many_values_are_named_by_where_they_begin() -> None:
    label = np.arange(len(load_example().relevance)) % 100 / 100
    check = check_judges(with_judge(load_example(), label))
    (judge,) = check.judges
    rows = [line for line in text_of(check).splitlines() if line.startswith((" <", " ≥"))]
    assert [" ".join(row.split()[:2]) for row in rows] == [*grade_names(judge)] * 2
    assert len(rows) == 12


def test_who_comes_next_to_being_favored() -> None:
    """Labels of the north's documents are a little too high, those of others right."""
    label = right_labels()
    north = np.flatnonzero(top_of(load_example(), "north") & (label == 0))
    label[north[::12]] = 1
    check = check_judges(with_judge(load_example(), label))
    frame = check.to_frame("organizations").set_index("organization")
    assert not frame["favored"].any()
    lift, error = frame.loc["north", ["lift", "se"]]
    assert lift == frame["lift"].max() > 0.005
    assert text_of(check).splitlines()[-1] == (
        "note: judge llm favors no organization; nearest is north: a document in the top 10 of its runs is "
        "labeled higher than one of others that is as relevant in "
        f"{50 + 100 * lift:.1f} ± {100 * error:.1f} of 100 pairs"
    )


def test_a_judge_whose_labels_are_all_the_same_is_shown_as_it_is() -> None:
    flat = with_judge(load_example(), 0 * right_labels())
    shown = text_of(check_judges(flat))
    row = next(line for line in shown.splitlines() if line.startswith(" llm  "))
    assert row.split()[:5] == ["llm", "1", "–", "0.500", "0.500"]
