"""The commands ``compare`` and ``reversals``, their tables, sentences and files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import Outcome
from rich.console import Console
from toys import from_rankings

from bayespool.comparisons import Comparison, Reversals, compare, reversals
from bayespool.errors import InputError, OutputError
from bayespool.report.comparisons import (
    COMPARISON_TABLES,
    REVERSAL_TABLES,
    print_comparison,
    print_reversals,
    write_comparison,
    write_reversals,
)
from bayespool.report.sentences import comparison_sentence
from bayespool.simulation import load_example, simulate_example

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

NEW = ("new-a", "new-b")
FAST = ("--estimators", "posterior-ratio", "--draws", "50")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files; not to be changed."""
    folder = tmp_path_factory.mktemp("compared")
    simulate_example().write(folder)
    return folder


def files(folder: Path) -> list[str]:
    return [
        "--qrels",
        str(folder / "qrels.txt"),
        "--pool",
        str(folder / "pool"),
        "--organizations",
        str(folder / "organizations.csv"),
    ]


@cache
def compared(*runs: str) -> Comparison:
    return compare(
        load_example(),
        runs or NEW,
        estimators=["posterior-ratio"],
        tests=("paired-t", "tukey-hsd"),
        draws=50,
    )


@cache
def reversed_example() -> Reversals:
    return reversals(load_example(), judgments=[300], estimators=["smoothed", "posterior-ratio"], draws=50)


def printed(show: Callable[[Console], None], *, width: int = 80) -> str:
    file = io.StringIO()
    show(Console(file=file, width=width, color_system=None, legacy_windows=False))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


# --- the commands ------------------------------------------------------------------------------------------


def test_compare_prints_both_scopes_the_tests_and_a_sentence(
    run: Callable[..., Outcome], written: Path
) -> None:
    done = run(
        "compare", written / "new", *files(written), *FAST, "--tests", "paired-t,tukey-hsd", "--each-its-own"
    )
    assert done.status == 0, done.err
    lines = "".join(f"{line.rstrip()}\n" for line in done.out.splitlines())
    assert lines == printed(lambda console: print_comparison(compared(), console))
    headings = [line for line in done.out.splitlines() if line.startswith("P@10, ")]
    assert headings == [
        "P@10, these 20 topics: only unjudged documents are uncertain",
        "P@10, a population of topics: the 20 topics are a sample, too",
        "P@10, a population of topics: significance at 0.05",
        "P@10, a population of topics: reliability of the comparison",
    ]
    assert "pool: 21 of 23 runs pooled to depth 10" in done.err


def test_compare_writes_every_table(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    done = run(
        "compare",
        written / "new" / "new-a.run",
        written / "new" / "new-b.run",
        *files(written),
        *FAST,
        *("--scope", "population", "--table", "significance", "--level", "0.2", "--control", "none"),
        *("-m", "P@5", "-o", tmp_path / "a.json", "-o", tmp_path / "a.csv", "-o", tmp_path / "a.parquet"),
    )
    assert done.status == 0, done.err
    assert "these 20 topics" not in done.out
    result = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(result) == ["metadata", *COMPARISON_TABLES]
    assert result["metadata"]["level"] == 0.2
    assert {row["scope"] for row in result["differences"] if row["method"] == "posterior-ratio"} == {
        "population"
    }
    table = pd.read_csv(tmp_path / "a.csv")
    assert table["control"].tolist() == ["none"] * 2
    assert table["measure"].tolist() == ["P@5"] * 2
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), table, check_dtype=False)
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"bayespool"]) == result["metadata"]


def test_reversals_prints_and_writes(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    for name in NEW:  # runs that did not contribute lie in the folder of the campaign, too
        source = (written / "new" / f"{name}.run").read_bytes()
        (tmp_path / "pool").mkdir(exist_ok=True)
        (tmp_path / "pool" / f"{name}.run").write_bytes(source)
    done = run(
        "reversals",
        *files(written),
        *("--pool", tmp_path / "pool", "--judgments", 300, "--exclude", "north-1,lake-2"),
        *("--estimators", "smoothed,posterior-ratio", "--draws", 50, "--no-fitted", "--lenient"),
        *("-o", tmp_path / "r.json", "-o", tmp_path / "r.csv"),
    )
    assert done.status == 0, done.err
    assert "P@10, 19 contributing runs, 171 pairs: 300 of 1181 judgments (pool depth 2)" in done.out
    assert "P@10, 2 non-contributing runs, 1 pairs" in done.out
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert list(result) == ["metadata", *REVERSAL_TABLES]
    assert len(pd.read_csv(tmp_path / "r.csv")) == len(result["rates"]) == 2 * 2 * 6
    assert len(result["calibration"]) == 2 * 2 * 10


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--tests", "anova"], "tests cannot be 'anova'; known: paired-t"),
        (["--estimators", "posterior-foreground"], "no estimator 'posterior-foreground'"),
        (["-o", "a.xlsx"], "cannot write .xlsx"),
        (["--level", "3"], "level cannot be 3.0; above 0 and below 1"),
    ],
)
def test_compare_says_what_is_wrong(
    run: Callable[..., Outcome], written: Path, more: list[str], message: str
) -> None:
    done = run("compare", written / "new", *files(written), *more)
    assert done.status == 1
    assert message in done.err
    assert done.out == ""


def test_one_run_is_not_a_comparison(run: Callable[..., Outcome], written: Path) -> None:
    done = run("compare", written / "new" / "new-a.run", *files(written))
    assert (done.status, done.err) == (1, "error: one run cannot be compared; name two or more\n")


def test_reversals_say_what_is_wrong(run: Callable[..., Outcome], written: Path) -> None:
    done = run("reversals", *files(written), "--exclude", "nobody")
    assert done.status == 1
    assert "no run 'nobody' in the collection" in done.err
    done = run("reversals", *files(written), "--judgments", 5000)
    assert done.status == 1
    assert "no judgment set is smaller than all 1181 judgments" in done.err


# --- tables ------------------------------------------------------------------------------------------------


def test_table_of_differences_has_the_frames_numbers() -> None:
    text = printed(lambda console: print_comparison(compared(), console))
    row = compared().differences().iloc[1]
    assert row["method"] == "posterior-ratio"
    shown = next(
        line.split() for line in text.splitlines() if line.startswith(" new-a  new-b  posterior-ratio")
    )
    assert shown == [
        "new-a",
        "new-b",
        "posterior-ratio",
        f"{row['difference']:+.4f}",
        f"{row['lower']:+.4f}",
        "…",
        f"{row['upper']:+.4f}",
        *(f"{row[name]:.3f}" for name in ("prob_greater", "prob_equal", "prob_less", "prob_equivalent")),
    ]
    assert "rank 1" not in text  # two runs: the chances say it


def test_no_number_is_cut_short_on_a_narrow_terminal() -> None:
    wide, narrow = (
        printed(lambda console: print_comparison(compared(*NEW, "north-2"), console), width=w)
        for w in (200, 40)
    )
    assert re.findall(r"\d\.\d+", wide) == re.findall(r"\d\.\d+", narrow)
    assert "rank 3" in narrow


def test_many_runs_are_summed_up() -> None:
    many = load_example().run_ids[:12]
    text = printed(lambda console: print_comparison(compared(*many), console))
    found = compared(*many)
    assert "on these 20 topics" not in text.lower(), "no sentence for each of 66 pairs"
    overview = found.overview().iloc[0]
    line = next(line.split() for line in text.splitlines() if line.startswith(" lower-bound"))
    assert line[:3] == ["lower-bound", "66", str(overview["n_significant"])]


def test_reversals_table_has_the_frames_numbers() -> None:
    text = printed(lambda console: print_reversals(reversed_example(), console))
    rates = reversed_example().rates()
    row = rates[(rates["method"] == "smoothed") & (rates["group"] == "contributing")].iloc[0]
    shown = next(line.split() for line in text.splitlines() if line.startswith(" smoothed "))
    assert shown[2] == f"{100 * row['separability']:.1f}"
    assert shown[8] == f"{100 * row['reversed']:.1f}"
    constants = reversed_example().constants["smoothed"]
    assert f"smoothed: fitted constants C = {constants.c:.2f}, E = {constants.e:.3f}" in text
    assert "announced" in text
    (note,) = (line for line in text.splitlines() if line.startswith("note: "))
    assert note.startswith("note: 300 judgments reach down to rank 2 of the pooled runs;")


# --- sentences ---------------------------------------------------------------------------------------------


def test_sentence_says_the_better_one_first_and_what_may_change() -> None:
    found = compared()
    said = comparison_sentence(found, "new-b", "new-a")
    assert said == comparison_sentence(
        found, "new-a", "new-b", "P@10", method="posterior-ratio", test="paired-t"
    )
    row = found.differences().iloc[1]
    assert said.startswith(
        f"On these 20 topics the P@10 of new-a is higher than that of new-b by {row['difference']:.3f} (95 % "
        f"interval {row['lower']:.3f} to {row['upper']:.3f} over what the unjudged documents may be"
    )
    assert "For the population of topics that they are a sample of" in said
    assert "is significant at 0.05 (paired t test, one pair: p < 0.0001)" in said
    assert said.endswith("takes it back is under 0.001.")
    assert "Tukey's HSD, one pair" in comparison_sentence(found, *NEW, test="tukey-hsd")


def test_sentence_of_a_pair_that_is_not_significant() -> None:
    found = compared(*load_example().run_ids[:12])
    tested = found.significance()
    mine = tested[(tested["test"] == "paired-t") & (tested["method"] == "lower-bound")]
    pair = mine[~mine["significant"]].iloc[0]
    said = comparison_sentence(found, pair["run_a"], pair["run_b"])
    assert "is not significant at 0.05 (paired t test, Holm over 66 pairs" in said
    assert "with all documents judged it would be with a chance of" in said


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (("new-a", "nobody"), {}, "no run 'nobody' in the comparison"),
        (NEW, {"measure": "P@5"}, "no measure 'P@5'"),
        (NEW, {"method": "lower-bound"}, "no method with draws 'lower-bound'"),
        (NEW, {"test": "wilcoxon"}, "no test 'wilcoxon'"),
    ],
)
def test_sentence_of_nothing(arguments: tuple[str, str], keywords: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        comparison_sentence(compared(), *arguments, **keywords)


def test_sentence_needs_draws() -> None:
    found = compare(load_example(), NEW, estimators=[])
    with pytest.raises(InputError, match="no method has draws"):
        comparison_sentence(found, *NEW)
    text = printed(lambda console: print_comparison(found, console))
    assert "lower-bound" in text
    assert "a population of topics: the" not in text


# --- files -------------------------------------------------------------------------------------------------


def test_json_keeps_small_p_values_and_says_none_where_there_is_no_number(tmp_path: Path) -> None:
    write_comparison(compared(), tmp_path / "a.json")
    rows = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["significance"]
    expected = compared().significance()
    assert [row["p_value"] for row in rows] == expected["p_value"].tolist()
    assert [row["prob_significant"] is None for row in rows] == expected["prob_significant"].isna().tolist()
    assert rows[0]["significant"] is bool(expected["significant"].iloc[0])


def test_unknown_table_or_format_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'pairs'; known: differences"):
        write_comparison(compared(), tmp_path / "a.csv", table="pairs")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        write_reversals(reversed_example(), tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_tables_of_reversals_are_written(tmp_path: Path) -> None:
    for name in REVERSAL_TABLES:
        write_reversals(reversed_example(), tmp_path / f"{name}.csv", table=name)
        frame = pd.read_csv(tmp_path / f"{name}.csv")
        assert len(frame) == len(getattr(reversed_example(), name)())
    risks = pd.read_csv(tmp_path / "risks.csv")
    np.testing.assert_array_equal(risks["reversal_risk"].notna(), risks["significant"])


def test_runs_that_are_equal_whatever_is_judged_are_said_to_be() -> None:
    """Copies of one run: every draw completes both alike."""
    runs = {"a": {"q": "abx", "r": "dcy"}, "b": {"q": "abx", "r": "dcy"}, "c": {"q": "abc", "r": "dca"}}
    judged = {"q": {"a": 1, "b": 0, "c": 1}, "r": {"a": 0, "c": 1, "d": 1}}
    collection = from_rankings(runs, judged, {"c": "o"}, pooled_run_ids=("c",), pool_depth=3)
    found = compare(collection, ["a", "b"], "P@3", draws=50)
    assert comparison_sentence(found, "a", "b") == (
        "On these 2 topics the P@3 of a and b is the same, whatever the unjudged documents are "
        "(posterior-combined)."
    )
