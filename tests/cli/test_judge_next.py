"""``bayespool judge-next``: what it prints, writes and refuses, and how judging goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome, everything_in, with_defaults

from bayespool import judge_next, load_example
from bayespool.experiments import simulate_example

FAST = ("--estimator", "posterior-background")


def call(folder: Path, *more: object) -> list[object]:
    """Of the new runs of the example's files."""
    return ["judge-next", folder / "new", *campaign(folder), "--each-its-own", *with_defaults(FAST, more)]


def campaign(folder: Path) -> list[object]:
    files = folder / "qrels.txt", folder / "pool", folder / "organizations.csv"
    return ["--qrels", files[0], "--pool", files[1], "--organizations", files[2]]


def filled_in(path: Path, n: int) -> str:
    """The first lines of a list with the relevance that documents have in truth."""
    told = simulate_example().truth
    keys = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), strict=True)
    truth = dict(zip(keys, told.relevance.tolist(), strict=True))
    lines = [line.split() for line in path.read_text().splitlines()]
    for line in lines[:n]:
        line[3] = str(truth[line[0], line[2]])
    return "".join(" ".join(line) + "\n" for line in lines)


def test_judging_goes_on_from_a_list_that_is_filled_in_in_part(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    """Twelve of twenty lines have an answer; the eight others are no judgments, and proposed again or not."""
    first, own, second = tmp_path / "first.txt", tmp_path / "own.txt", tmp_path / "second.txt"
    asked = call(written, "--budget", 20)
    assert run(*asked, "-o", first).status == 0
    own.write_text(filled_in(first, 12))
    done = run(*asked, "--judged", own, "-o", second, "-o", tmp_path / "second.json")
    assert done.status == 0, done.err
    after = json.loads((tmp_path / "second.json").read_text())["metadata"]["afterwards"]
    assert after["n"] == 12
    width = judge_next(load_example(), budget=12, estimator="posterior-background")
    assert after["before"] == pytest.approx(width.now)
    assert after["expected"] == pytest.approx(width.expected_after, rel=1e-4)
    assert 0.5 * after["expected"] < after["now"] < after["before"]
    own_sentence, widths, _ = done.out.splitlines()[-3:]
    assert own_sentence == (
        f"12 judgments of your own: P@10, mean width of the intervals {after['before']:.4f} with none of "
        f"them; expected from there {after['expected']:.4f}; it is {after['now']:.4f}"
    )
    assert widths.startswith("P@10, widths of the intervals now: new-a 0.")
    assert "completing without the judgments of your own" in done.err
    listed = [
        {tuple(line.split()[::2]) for line in path.read_text().splitlines()} for path in (first, second)
    ]
    answered = {tuple(line.split()[::2]) for line in own.read_text().splitlines()[:12]}
    assert not answered & listed[1]
    assert len((listed[0] - answered) & listed[1]) >= 4
    # what is filled in serves score as well
    scored = run(
        "score", written / "new", *campaign(written), "--own-judgments", own, "--estimators", "as-judged"
    )
    assert scored.status == 0, scored.err
    assert "1,193 judgments" in scored.err


def test_a_list_that_nobody_filled_in(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    assert run(*call(written, "--budget", 3, "-o", tmp_path / "list.txt")).status == 0
    done = run(*call(written, "--judged", tmp_path / "list.txt"))
    assert done.status == 1
    assert "no line is a judgment: none has a relevance of 0 or more" in done.err
    assert "fills in" in done.err


def test_where_judging_may_stop(run: Callable[..., Outcome], written: Path) -> None:
    n = judge_next(load_example(), budget=2, estimator="posterior-background", until=0.03).n_needed
    assert n is not None
    assert n > 2
    done = run(*call(written, "--budget", 2, "--until", 0.03))
    assert f"widest interval of at most 0.03: expected after {n} judgments" in done.out.splitlines()
    last = done.out.splitlines()[-1]
    assert last.startswith("2 judgments are expected to bring the widest interval from 0.")
    assert "the widest from" not in last


def test_where_no_number_of_judgments_is_enough(
    run: Callable[..., Outcome], written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.scoring.judging._MAX_STEPS", 3)
    done = run(*call(written, "--budget", 2, "--until", 0.001))
    assert (
        "widest interval of at most 0.001: not reached within the planned judgments" in done.out.splitlines()
    )


def test_comparison_and_runs_taken_out_of_the_pool(run: Callable[..., Outcome], written: Path) -> None:
    asked = ["judge-next", *campaign(written), *FAST, "--budget", 3, "-m", "P@20"]
    done = run(*asked, "--unpool", "lake-1", "--unpool", "lake-3", "--goal", "comparison")
    assert done.status == 0, done.err
    found = judge_next(
        load_example(),
        measures="P@20",
        unpool=["lake-1", "lake-3"],
        goal="comparison",
        budget=3,
        estimator="posterior-background",
    )
    assert f"P@20, chance of a wrong order now: {found.now:.4f}" in done.out.splitlines()
    assert f"the chance of a wrong order from {found.now:.4f} to {found.expected_after:.4f}" in done.out
    assert "taken out of the pool: organization lake" in done.err


def test_an_order_that_is_settled_in_the_draws(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    """A run of relevant documents and one of nonrelevant ones: each has an unjudged document per topic,
    but in no draw is the second ahead.
    """
    judged: dict[str, dict[str, list[str]]] = {}
    for line in (written / "qrels.txt").read_text().splitlines():
        query_id, _, doc_id, relevance = line.split()
        judged.setdefault(query_id, {"0": [], "1": []})[min(relevance, "1")].append(doc_id)
    for name, level in (("good", "1"), ("bad", "0")):
        ranked = {query_id: [*of_level[level][:9], f"X{name}"] for query_id, of_level in judged.items()}
        lines = [
            f"{q} Q0 {d} 0 {-i} {name}\n" for q, doc_ids in ranked.items() for i, d in enumerate(doc_ids)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    asked = [tmp_path / "good.run", tmp_path / "bad.run", *campaign(written), *FAST]
    done = run("judge-next", *asked, "--goal", "comparison")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "P@10, chance of a wrong order now: 0.0000",
        "nothing to judge: the order is the same in all 4000 draws, so that the chance of a wrong one is "
        "below 0.00025, though there are unjudged documents and intervals are open (--goal interval)",
    ]
    assert len(judge_next_table(run("judge-next", *asked, "--budget", 3).out)) == 3


def judge_next_table(out: str) -> list[str]:
    """Its rows."""
    return [line for line in out.splitlines() if line.strip()[:1].isdigit() and " X" in line]


def test_judgments_that_are_of_no_use_are_told(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    assert run(*call(written, "--budget", 4, "-o", tmp_path / "own.txt")).status == 0
    wrong = "999 0 D00001 1\n701 0 NOSUCH 1\n702 0 NOBODY 0\n703 0 UNANSWERED -1\n"
    (tmp_path / "own.txt").write_text(filled_in(tmp_path / "own.txt", 4) + wrong)
    said = (
        f"warning: {tmp_path / 'own.txt'}: passed over are 1 of topics that the collection does not have "
        "(document D00001 of topic 999) and 2 of documents that no run retrieves (document NOSUCH of topic "
        "701, document NOBODY of topic 702)"
    )
    done = run(*call(written, "--judged", tmp_path / "own.txt"))
    assert "\n4 judgments of your own: " in done.out
    assert done.err.splitlines().count(said) == 1
    score = ("score", written / "new", *campaign(written), "--estimators", "as-judged")
    assert said in run(*score, "--own-judgments", tmp_path / "own.txt").err


def test_refused_before_anything_is_read(run: Callable[..., Outcome], written: Path) -> None:
    """The judgments are not even there."""
    for more, said in [
        (["-m", "P@10", "-m", "nDCG@10"], "2 measures; choose one"),
        (["-m", "Judged@10"], "Judged@10 describes the judgments"),
        (["--goal", "comparison"], "a comparison of one run; name two, or ask for their ranking"),
        (["--goal", "ranking"], "a ranking of one run; name two or more"),
        (
            ["-o", "judge.xlsx"],
            "judge.xlsx: cannot write .xlsx; use .csv, .json, .parquet, .tex, .md, .html, ",
        ),
        (["-o", "judge.txt.xz"], "judge.txt.xz: cannot write .xz; use "),
        (["-o", "judge.xz"], ".html, .txt, .qrels, .gz, no ending"),
    ]:
        files = ["--qrels", written / "nowhere.txt", "--pool", written / "pool"]
        done = run("judge-next", written / "new" / "new-b.run", *files, *more)
        assert done.status == 1, (more, said)
        assert said in done.err, (more, said)
        assert "reading" not in done.err, (more, said)


def test_nothing_to_judge(run: Callable[..., Outcome], tmp_path: Path) -> None:
    simulate_example().write(tmp_path)
    told = simulate_example().truth
    rows = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), told.relevance.tolist(), strict=True)
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in rows))
    done = run(*call(tmp_path, "--known-depth", 10), "-o", tmp_path / "list.csv")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "P@10, widths of the intervals now: new-a 0.0000, new-b 0.0000",
        "nothing to judge: no unjudged document is expected to tell anything",
    ]
    header = "query_id,doc_id,rank,runs,chance,expected"
    assert (tmp_path / "list.csv").read_text().splitlines() == [header]
    done = run(*call(tmp_path, "--known-depth", 10, "--until", 0.1))
    assert done.out.splitlines()[1:] == ["stop: widest interval of at most 0.1 is reached (0.0000)"]


def test_errors_leave_files_as_they_are(run: Callable[..., Outcome], example: Path) -> None:
    for more, status, said in [
        (["-m", "Judged@10"], 1, "Judged@10"),
        (["--goal", "luck"], 2, "'luck' is not one of 'interval', 'comparison', 'ranking'"),
        (["--until", 0], 1, "until cannot be 0.0; above 0"),
        (["--budget", 0], 2, "'--budget': 0 is not in the range x>=1"),
        (["--estimator", "as-judged"], 1, "has no interval"),
        (["--output", "nowhere/list.txt"], 1, "nowhere"),
        (["--unpool", "nobody"], 1, "'nobody' is neither a run nor an organization"),
    ]:
        before = everything_in(example)
        done = run(*call(example, "--output", example / "result.csv", *more))
        assert done.status == status, done.err
        assert said in done.err, (more, status)
        assert done.out == "", (more, status)
        assert everything_in(example) == before, (more, status)


def test_no_run_to_judge_for(run: Callable[..., Outcome], written: Path) -> None:
    done = run("judge-next", *campaign(written))
    assert done.status == 1
    assert "no run to judge for; name run files, or runs of the pool with --unpool" in done.err
