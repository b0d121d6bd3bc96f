"""``judge-next``, ``audit``, ``judges`` and ``impute``: what they print, write and refuse."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from commands import Outcome, arguments, campaign, everything_in, with_defaults
from labeled import favoring_labels, with_judge
from small import small, small_simulation

from bayespool import audit, check_judges, judge_next, read_audit
from bayespool.auditing import Audit
from bayespool.collection import Collection
from bayespool.experiments import load_example
from bayespool.plots import draw_judges, render
from bayespool.reading import read_qrels
from bayespool.report.stored import read_result
from bayespool.scoring import impute

Run = Callable[..., Outcome]
BACKGROUND = "posterior-background"
NEW = ("new-a", "new-b")


@cache
def truth() -> dict[tuple[str, str], int]:
    told = small_simulation().truth
    keys = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), strict=True)
    return dict(zip(keys, told.relevance.tolist(), strict=True))


def fill_in(path: Path, n: int | None = None, more: str = "") -> None:
    """The first lines of a list get the relevance that documents have in truth."""
    lines = [line.split() for line in path.read_text().splitlines()]
    for line in lines[:n]:
        line[3] = str(truth()[line[0], line[2]])
    path.write_text("".join(" ".join(line) + "\n" for line in lines) + more)


# --- judge-next ---------------------------------------------------------------------------------------------


def next_call(folder: Path, *more: object) -> list[object]:
    return ["judge-next", *arguments(folder)[1:], *with_defaults(("--estimators", BACKGROUND), more)]


def test_judging_goes_on_from_a_list_that_is_filled_in_in_part(
    run: Run, small_files: Path, tmp_path: Path
) -> None:
    """Lines without an answer are no judgments, and proposed again or not; of others of no use it is told."""
    first, own, second = tmp_path / "first.txt", tmp_path / "own.txt", tmp_path / "second.txt"
    asked = next_call(small_files, "--budget", 12)
    assert run(*asked, "-o", first).status == 0
    nobody = run(*asked, "--judged", first)
    assert (nobody.status, "no line is a judgment: none has a relevance of 0" in nobody.err) == (1, True)
    own.write_text(first.read_text())
    fill_in(own, 6, "999 0 D00001 1\n703 0 UNANSWERED -1\n")
    said = (
        f"warning: {own}: ignored 1 of topics that the collection does not have "
        "(document D00001 of topic 999)"
    )
    done = run(*asked, "--judged", own, "-o", second, "-o", tmp_path / "second.json")
    assert done.status == 0, done.err
    assert done.err.splitlines().count(said) == 1
    after = json.loads((tmp_path / "second.json").read_text())["metadata"]["afterwards"]
    assert after["n"] == 6
    width = judge_next(small(), NEW, budget=6, estimators=BACKGROUND)
    assert after["before"] == pytest.approx(width.now)
    assert after["expected"] == pytest.approx(width.expected_after, rel=1e-4)
    assert after["now"] < after["before"]
    assert (
        f"6 judgments of your own: P@10, mean width of the intervals {after['before']:.4f} with none of "
        f"them; expected from there {after['expected']:.4f}; it is {after['now']:.4f}"
    ) in done.out.splitlines()
    assert "completing without the judgments of your own" in done.err
    listed = [
        {tuple(line.split()[::2]) for line in path.read_text().splitlines()} for path in (first, second)
    ]
    answered = {tuple(line.split()[::2]) for line in own.read_text().splitlines()[:6]}
    assert not answered & listed[1]
    assert (listed[0] - answered) & listed[1]
    # what is filled in serves score as well
    scored = run(*arguments(small_files), "--own-judgments", own, "--estimators", "as-judged")
    assert scored.status == 0, scored.err
    assert "209 judged documents" in scored.err
    assert said in scored.err


def test_comparison_and_runs_taken_out_of_the_pool(run: Run, small_files: Path) -> None:
    asked = ["judge-next", *campaign(small_files), "--estimators", BACKGROUND, "--budget", 3, "-m", "P@20"]
    done = run(*asked, "--unpool", "north-1", "--unpool", "north-2", "--goal", "comparison")
    assert done.status == 0, done.err
    of_both = {"measures": "P@20", "unpool": ["north-1", "north-2"], "goal": "comparison", "budget": 3}
    found = judge_next(small(), estimators=BACKGROUND, **of_both)  # type: ignore[arg-type]
    assert f"P@20, probability of a wrong order now: {found.now:.4f}" in done.out.splitlines()
    assert f"the probability of a wrong order from {found.now:.4f} to {found.expected_after:.4f}" in done.out
    assert "taken out of the pool: organization north" in done.err


def test_an_order_that_is_settled_in_the_draws(run: Run, small_files: Path, tmp_path: Path) -> None:
    """A run of relevant documents and one of nonrelevant ones: each has an unjudged document per topic,
    but in no draw is the second ahead.
    """
    judged: dict[str, dict[str, list[str]]] = {}
    for line in (small_files / "qrels.txt").read_text().splitlines():
        query_id, _, doc_id, relevance = line.split()
        judged.setdefault(query_id, {"0": [], "1": []})[min(relevance, "1")].append(doc_id)
    for name, level in (("good", "1"), ("bad", "0")):
        ranked = {q: [*of_level[level][:9], f"X{name}"] for q, of_level in judged.items()}
        rows = [(q, i, doc_id) for q, doc_ids in ranked.items() for i, doc_id in enumerate(doc_ids)]
        (tmp_path / f"{name}.run").write_text("".join(f"{q} Q0 {d} 0 {-i} {name}\n" for q, i, d in rows))
    asked = [tmp_path / "good.run", tmp_path / "bad.run", *campaign(small_files), "--estimators", BACKGROUND]
    done = run("judge-next", *asked, "--goal", "comparison")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "P@10, probability of a wrong order now: under 0.00075",
        "nothing to judge: the order is the same in all 4000 draws, which exclude a larger probability with "
        "95 % confidence, though there are unjudged documents and intervals are open (--goal interval)",
    ]


def test_where_judging_may_stop(
    run: Run, small_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = judge_next(small(), NEW, budget=2, estimators=BACKGROUND, until=0.03).n_needed
    assert n is not None
    assert n > 2
    done = run(*next_call(small_files, "--budget", 2, "--until", 0.03))
    assert f"widest interval of at most 0.03: expected after {n} judgments" in done.out.splitlines()
    with monkeypatch.context() as patched:
        patched.setattr("bayespool.scoring.judging._MAX_STEPS", 3)
        done = run(*next_call(small_files, "--budget", 2, "--until", 0.001))
    said = "widest interval of at most 0.001: not reached within the planned judgments"
    assert said in done.out.splitlines()

    small_simulation().write(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {r}\n" for (q, d), r in truth().items()))
    done = run(*next_call(tmp_path, "--known-depth", 40), "-o", tmp_path / "list.csv")
    assert done.status == 0, done.err
    assert done.out.splitlines()[1] == "nothing to judge: no unjudged document is expected to tell anything"
    assert (tmp_path / "list.csv").read_text() == "query_id,doc_id,rank,n_runs,runs,chance,expected\n"
    done = run(*next_call(tmp_path, "--known-depth", 40, "--until", 0.1))
    assert done.out.splitlines()[1:] == ["stop: widest interval of at most 0.1 is reached (0.0000)"]


def test_refused_before_anything_is_read(run: Run, small_files: Path) -> None:
    """The judgments are not even there."""
    files = ["--qrels", "nowhere.txt", "--pool", small_files / "pool"]
    new = small_files / "new" / "new-b.run"
    for asked, said in [
        ([new, "-m", "P@ten"], "measure 'P@ten'"),
        ([new, "--goal", "comparison"], "a comparison of one run; name two, or ask for their ranking"),
        ([new, "--goal", "ranking"], "a ranking of one run; name two or more"),
        ([new, "-o", "judge.xlsx"], "judge.xlsx: cannot write .xlsx; use .csv, .json, .parquet, .tex, .md"),
        ([new, "-o", "judge.xz"], ".html, .txt, .qrels, .gz, no ending"),
        ([], "no run to judge for; name run files, or --pool"),
    ]:
        done = run("judge-next", *asked, *files[: None if asked else 2])
        assert done.status == 1, (asked, said)
        assert said in done.err, (asked, said)
        assert "reading" not in done.err, (asked, said)


def test_errors_leave_files_as_they_are(run: Run, small_example: Path) -> None:
    before = everything_in(small_example)
    for more, status, said in [
        (["--goal", "luck"], 2, "'luck' is not one of 'interval', 'comparison', 'ranking'"),
        (["--until", 0], 1, "--until cannot be 0.0; above 0"),
        (["-m", "P@10", "-m", "nDCG@10"], 1, "--measure is given twice"),
        (["-m", "Judged@10"], 1, "Judged@10 describes the judgments"),
        (["--estimators", "as-judged"], 1, "'as-judged' is no posterior"),
        (["--unpool", "nobody"], 1, "'nobody' is neither a run nor an organization"),
    ]:
        done = run(*next_call(small_example, "--output", small_example / "result.csv", *more))
        assert (done.status, done.out) == (status, ""), done.err
        assert said in done.err, more
        assert everything_in(small_example) == before, more


# --- audit --------------------------------------------------------------------------------------------------

FAST = ("--estimators", "posterior-ratio(draws=50)")


def planned(budget: int) -> Audit:
    return audit(small(), "new-b", "P@10", budget=budget, estimators="posterior-ratio(draws=50)")


def test_an_audit_is_planned_judged_continued_and_verified(
    run: Run, small_files: Path, tmp_path: Path
) -> None:
    certificate, judge = tmp_path / "audit.json", tmp_path / "judge.txt"
    outputs = ("-o", certificate, "-o", judge)
    new = small_files / "new" / "new-b.run"
    done = run("audit", new, *campaign(small_files), *FAST, "--budget", 5, *outputs)
    assert done.status == 0, done.err
    found, same = read_audit(certificate), planned(5)
    assert (found.urn.doc_ids, found.interval) == (same.urn.doc_ids, same.interval)
    lines = [line.split() for line in judge.read_text().splitlines()]
    assert [line[2] for line in lines] == found.to_frame()["doc_id"].tolist()
    assert {line[3] for line in lines} == {"-1"}

    fill_in(judge)
    second = ("-o", tmp_path / "audit-2.json", "-o", tmp_path / "judge-2.txt")
    done = run("audit", "--go-on", certificate, "--judged", judge, "--budget", 2, *second)
    assert done.status == 0, done.err
    certificate, judge = second[1::2]
    assert str(tmp_path) not in certificate.read_text()
    after = read_audit(certificate)
    assert (after.n_judged, len(after)) == (5, 7)
    assert done.out.splitlines()[0] == "P@10 of new-b: after each judgment, the newest first"
    fill_in(judge)
    again = run("audit", "--go-on", certificate, "--judged", judge, "-o", tmp_path / "again.json")
    assert again.status == 0, again.err
    later = read_audit(tmp_path / "again.json")
    assert (later.n_judged, len(later)) == (7, 9)  # 2 wait, as before
    low, high = after.interval
    assert f"P@10 of new-b: {low:.4f}–{high:.4f}, guaranteed at 95 % by 5 judgments; estimate" in done.out
    done = run("audit", "--verify", certificate, "--figure", tmp_path / "audit.svg")
    assert b"<svg" in (tmp_path / "audit.svg").read_bytes()
    assert (done.status, f"verified: {certificate}" in done.err) == (0, True)

    page = tmp_path / "report.html"
    assert run("report", certificate, "-o", page).status == 0
    assert "guaranteed at 95 % by 5 judgments" in page.read_text()
    document = json.loads(certificate.read_text())
    document["steps"][2]["probability"] = 0.5
    certificate.write_text(json.dumps(document))
    asked_of_changed = [["audit", "--verify", certificate], ["report", certificate, "-o", page]]
    for asked in (*asked_of_changed, ["audit", "--go-on", certificate, "--judged", judge]):
        done = run(*asked)
        assert done.status == 1
        assert "steps, row 3: probability is 0.5" in done.err
        assert "the file was changed after the audit" in done.err


def test_a_refutation_is_a_note_of_scores(run: Run, small_files: Path, tmp_path: Path) -> None:
    """``--own-judgments`` takes a certificate's judgments; a wrong model is read off the certificate."""
    found = planned(999)
    wrong = dataclasses.replace(found.urn, chance=np.full(len(found.urn), 0.97))
    refuting = dataclasses.replace(found, urns=(wrong,))
    certificate, table = tmp_path / "audit.json", tmp_path / "scores.json"
    new = small_files / "new" / "new-b.run"
    score = (
        "score",
        new,
        *campaign(small_files),
        "--estimators",
        "background",
        "--own-judgments",
        certificate,
    )
    planned(3).save(certificate)
    done = run(*score)
    assert (done.status, f"error: {certificate}: no line is a judgment" in done.err) == (1, True)
    judge = tmp_path / "judge.txt"
    refuting.save(judge)
    fill_in(judge)
    refuting.continue_with(read_qrels(judge)).save(certificate)
    done = run(*score, "-m", "P@10", "-o", table)
    assert done.status == 0, done.err
    refuted = "P@10 of new-b: an audit's judgments refute the posterior without them (e-value "
    assert refuted in " ".join(done.out.split())
    assert refuted in json.loads(table.read_text())["metadata"]["pool_notes"][0]


def test_wrong_use_of_audit_is_told(run: Run) -> None:
    says = "; the certificate says it"
    for asked, message in [
        ("", "no judgments; --qrels or --judge, or --go-on or --verify a certificate"),
        ("--judged j.txt", "--judged without --go-on; name the certificate of the audit, too"),
        ("--go-on a.json", "--go-on without --judged; give the judgments of the documents drawn"),
        ("--go-on a.json --judged j -m P@5", f"--measure beside --go-on{says}"),
        ("--verify a.json --qrels q", f"--qrels beside --verify{says}"),
        ("--verify a.json --go-on b.json", f"--go-on beside --verify{says}"),
        ("--verify a.json --budget 3", f"--budget beside --verify{says}"),
        ("--verify a.json", "a.json: there is no such file or folder"),
        ("--qrels q", "no run to audit; name run files"),
        ("my.run --qrels q -m ERR@ten", "measure 'ERR@ten'"),
    ]:
        done = run("audit", *asked.split())
        assert done.status == 1, (asked, message)
        assert message in done.err, (asked, message)


# --- judges -------------------------------------------------------------------------------------------------


def favoring() -> Collection:
    """The example with a judge that favors the north."""
    return with_judge(load_example(), favoring_labels(), "friend")


def write_labels(collection: Collection, path: Path) -> Path:
    """Labels of the collection's judge in the form of qrels."""
    (judge,) = collection.judges
    lines = []
    for pair in np.flatnonzero(judge.is_labeled).tolist():
        query_id = collection.query_ids[collection.pair_topic[pair]]
        lines.append(f"{query_id} 0 {collection.doc_id(pair)} {judge.label[pair]:g}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def labels(example: Path) -> Path:
    return write_labels(favoring(), example / "friend.txt")


def test_what_labels_are_worth_is_drawn_and_wrong_input_is_said(run: Run, labels: Path) -> None:
    figure, folder = labels.parent / "labels.svg", labels.parent
    asked = [*arguments(folder)[1:], "--judge", labels]
    done = run("judges", *asked, "--figure", figure)
    assert done.status == 0, done.err
    assert figure.read_bytes() == render(draw_judges(check_judges(favoring())), "svg")
    done = run("judges", *campaign(folder), "--judge", labels, "--unpool", "south")
    assert done.status == 0, done.err
    assert "taken out of the pool: organization south" in done.err
    assert "Unjudged documents are those within rank 10 of the runs to score." in done.out
    for wrong, message in [
        (asked[:-2], "no judge; --judge FILE or --judge NAME=FILE"),
        (["--judge", labels, "--qrels", "no"], "no: no such file"),
        ([*asked, "-o", "/nowhere/out"], "there is no folder /nowhere"),
        ([*asked, "-m", "Judged@10"], "describes the judgments"),
        ([*asked, "--posterior", "gamma=Normal(0,1)"], "has no prior 'gamma'"),
    ]:
        done = run("judges", *wrong)
        assert (done.status, done.out) == (1, ""), message
        assert message in done.err, message


@pytest.mark.slow
def test_without_a_run_to_score_intervals_are_of_organizations_left_out(
    run: Run, small_files: Path, tmp_path: Path
) -> None:
    judged = with_judge(small(), np.where(small().relevance > 0, 1.0, 0.0), "friend")
    labels = write_labels(judged, tmp_path / "friend.txt")
    asked = ("--intervals", "--posterior", "draws=130", "--random-seed", 3, "-m", "P@5")
    done = run("judges", *campaign(small_files), "--judge", labels, *asked, "-o", tmp_path / "out")
    assert done.status == 0, done.err
    rows = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert sorted(rows["run_id"]) == sorted(small().pooled_run_ids)
    heading = "P@5: mean width of 95 % intervals of 7 pooled runs, each organization left out\n"
    line = next(row for row in done.out.partition(heading)[2].splitlines() if row.startswith(" friend "))
    for cell, column in zip(line.split()[1:], ("width_without", "width_with"), strict=False):
        assert float(cell) == pytest.approx(rows[column].mean(), abs=6e-5)


@pytest.mark.slow
def test_score_warns_once_and_notes_the_runs_of_a_favored_organization(run: Run, labels: Path) -> None:
    posteriors = "posterior-ratio(draws=150),posterior-background(draws=150)"
    asked = ("score", *campaign(labels.parent), "--judge", labels, "--estimators", posteriors, "-m", "P@5")
    done = run(*asked, "-m", "P@10", "--unpool", "north")
    assert done.status == 0, done.err
    assert sum("judge friend" in line for line in done.err.splitlines()) == 1
    assert "posterior-ratio: labels of judge friend not used: it favors north" in done.out


# --- impute -------------------------------------------------------------------------------------------------

COMPLETING = "posterior-background(draws=150)"
NAMES = [f"qrels-{i:02}.txt" for i in range(1, 21)]
IDEAL = "tools make the ideal ranking of all documents of the qrels"


def complete_call(folder: Path, *more: object) -> list[str]:
    """Complete qrels for the new runs, into ``folder/imputed``."""
    defaults = ("--estimators", COMPLETING, "-o", folder / "imputed")
    return ["impute", *arguments(folder)[1:], *with_defaults(defaults, more)]


def lines_of(path: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split()) for line in path.read_text().splitlines()}


def test_files_are_the_judgments_and_the_draws_of_the_library(run: Run, small_example: Path) -> None:
    folder, asked = small_example / "imputed", ("-m", "P@10", "-m", "P(rel=2)@10", "--random-seed", 3)
    done = run(*complete_call(small_example, *asked))
    assert done.status == 0, done.err
    found = impute(small(), None, ["P@10", "P(rel=2)@10"], estimators=COMPLETING, random_seed=3)
    written = sorted(path.name for path in folder.iterdir())
    assert written == ["files.csv", "files.parquet", *NAMES, "settings.json"]
    assert read_result(folder).to_frame().equals(found.to_frame())
    judged = lines_of(small_example / "qrels.txt")
    for i, name in enumerate(NAMES):
        one, other = (
            set(zip(q.query_id.to_pylist(), q.doc_id.to_pylist(), q.relevance.tolist(), strict=True))
            for q in (read_qrels(folder / name), found.qrels(i))
        )
        assert one == other
        assert judged < lines_of(folder / name)

    # the command that it prints, done here without a shell
    *said, here = done.out.splitlines()[-6:]
    assert here.startswith("here: ")
    assert said == list(found.sentences())
    (command,) = [line for line in said if "ir_measures" in line]
    head, loop, end = command.partition("for each RUN file: ")[2].split("; ")
    assert (head, end) == ("for qrels in qrels-*.txt", "done")
    words = shlex.split(loop)
    assert words == ["do", "ir_measures", "$qrels", "RUN", "P@10", "P(rel=2)@10"]
    measures = [ir_measures.parse_measure(text) for text in words[4:]]
    run_of = list(ir_measures.read_trec_run(str(small_example / "new" / "new-a.run")))
    values = [
        ir_measures.calc_aggregate(measures, list(ir_measures.read_trec_qrels(str(folder / name))), run_of)
        for name in NAMES
    ]
    draws = found.completion.evaluate("P@10", "P(rel=2)@10")
    for measure, of_measure in zip(measures, draws, strict=True):
        theirs = np.array([value[measure] for value in values])
        assert np.abs(theirs - of_measure.means()[list(found.draws), 0]).max() < 1e-9


def test_the_same_call_gives_the_same_bytes_and_another_seed_others(run: Run, small_example: Path) -> None:
    folders = {}
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        assert run(*complete_call(small_example, "--random-seed", seed)).status == 0
        (small_example / "imputed").rename(small_example / name)  # settings have the path
        folders[name] = everything_in(small_example / name)
    assert folders["one"] == folders["two"]
    assert folders["one"]["qrels-01.txt"] != folders["three"]["qrels-01.txt"]


def test_lines_of_the_qrels_are_kept_as_they_are(run: Run, small_example: Path) -> None:
    path, imputed = small_example / "qrels.txt", small_example / "imputed"
    files = [small_example / "pool" / "north-1.run", *campaign(small_example), "--estimators", COMPLETING]
    done = run("impute", *files, "-o", imputed, "--draws", 2)
    assert done.status == 0
    assert "note: nothing is unjudged: each file has the judgments of the qrels and nothing else" in done.out
    assert all(lines_of(imputed / name) == lines_of(path) for name in NAMES[:2])
    text = path.read_text().splitlines()
    nonrelevant = next(i for i, line in enumerate(text) if line.endswith(" 0"))
    text[nonrelevant] = text[nonrelevant][:-1] + "-2"
    path.write_text("\n".join([*text, "701 0 nobodys -1"]) + "\n")
    assert run(*complete_call(small_example, "--draws", 2)).status == 0
    kept = {tuple(text[nonrelevant].split()), ("701", "0", "nobodys", "-1")}
    assert kept <= lines_of(imputed / "qrels-02.txt")


def test_a_folder_is_needed_and_one_of_another_kind_is_refused(run: Run, small_example: Path) -> None:
    (small_example / "imputed").mkdir()
    settings = {"bayespool": "0", "experiment": "leave-out", "files": []}
    (small_example / "imputed" / "settings.json").write_text(json.dumps(settings))
    before = everything_in(small_example)
    for asked, message in (
        (complete_call(small_example), "imputed: holds the results of leave-out; name another folder"),
        (complete_call(small_example, "-o", small_example / "qrels.txt"), "qrels.txt: is a file; name a fol"),
        (complete_call(small_example, "-o", small_example / "no" / "where"), "there is no folder"),
        (["impute", *campaign(small_example), "-o", "x"], "no run to complete; name run files, or runs of"),
        (["impute", *arguments(small_example)[1:]], "--output"),
        (complete_call(small_example, "-m", "nDCG(ideal='judged')@10", "-o", small_example / "x"), IDEAL),
    ):
        done = run(*asked)
        assert (done.status in (1, 2), done.out) == (True, ""), message
        assert message in done.err
        assert everything_in(small_example) == before


@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("raised", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_files_are_written_all_or_none(
    run: Run, small_example: Path, monkeypatch: pytest.MonkeyPatch, there_before: bool, raised: BaseException
) -> None:
    """The disk is full, or Ctrl-C comes, at the twelfth file: the tenth after the two of the table."""
    if there_before:
        assert run(*complete_call(small_example, "--draws", 4)).status == 0
    before, n_calls, fsync = everything_in(small_example), 0, os.fsync

    def fail_at_last(descriptor: int) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 12:
            raise raised
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_at_last)
    done = run(*complete_call(small_example, "--random-seed", 2))
    assert (n_calls, done.out) == (12, "")
    full = "qrels-10.txt: cannot be written: No space left on device" in done.err
    assert (done.status, full) == ((1, True) if isinstance(raised, OSError) else (130, False))
    assert everything_in(small_example) == before


def test_runs_that_leave_the_pool_are_named_like_files(run: Run, small_files: Path) -> None:
    """One run of an organization alone; a name that stays in the pool, or is none, is an error."""
    asked = [*campaign(small_files), "--unpool", "north", "-m", "P@10"]
    scored = run("score", "north-1", *asked, "--estimators", "as-judged", "-o", "-")
    assert scored.status == 0, scored.err
    assert "north-1" in scored.out
    assert "north-2" not in scored.out
    drawn = run("audit", "north-1", *asked, "--estimators", BACKGROUND, "--budget", 2)
    assert drawn.status == 0, drawn.err
    assert "P@10 of north-1:" in drawn.out
    both = run("judge-next", "north-1", "north-2", *asked, "--estimators", BACKGROUND, "--budget", 2)
    assert both.status == 0, both.err
    stays = run("score", "south-1", *asked, "--estimators", "as-judged")
    hint = "take it out with --unpool south-1, or leave it in and give its file"
    assert f"run 'south-1' stays in the pool; {hint}" in stays.err
    nobody = run("score", "nobody", *asked, "--estimators", "as-judged")
    assert (nobody.status, "nobody: no such file or folder, and no run of the pool" in nobody.err) == (
        1,
        True,
    )
