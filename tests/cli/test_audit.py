"""``bayespool audit``: what it prints, writes and refuses, how an audit goes on, and that it verifies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from audits import FAST, answers, planned, truth
from commands import Outcome

from bayespool import read_audit

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def call(folder: Path, *more: object) -> list[object]:
    """Of a new run of the example's files."""
    files = folder / "qrels.txt", folder / "pool", folder / "organizations.csv"
    named = ["--qrels", files[0], "--pool", files[1], "--organizations", files[2]]
    fast = [text for name, value in FAST.items() for text in (f"--{name}", value)]
    return ["audit", folder / "new" / "new-b.run", *named, *fast, *more]


def fill_in(path: Path) -> None:
    lines = [line.split() for line in path.read_text().splitlines()]
    path.write_text("".join(f"{q} {p} {d} {truth()[q, d]}\n" for q, p, d, _ in lines))


def test_an_audit_is_planned_judged_continued_and_verified(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    certificate, judge = tmp_path / "audit.json", tmp_path / "judge.txt"
    outputs = ("-o", certificate, "-o", judge)
    done = run(*call(written, "--budget", 10, *outputs))
    assert done.status == 0, done.err
    found = read_audit(certificate)
    same = planned()
    assert done.out.splitlines()[0] == "P@10 of new-b: documents to judge, in this order"
    assert found.urn.doc_ids == same.urn.doc_ids
    assert found.interval == same.interval
    lines = [line.split() for line in judge.read_text().splitlines()]
    assert [line[2] for line in lines] == found.to_frame()["doc_id"].tolist()
    assert {line[3] for line in lines} == {"-1"}

    fill_in(judge)
    done = run("audit", "--go-on", certificate, "--judged", judge, "--budget", 4, *outputs)
    assert done.status == 0, done.err
    after = read_audit(certificate)
    assert (after.n_judged, len(after)) == (10, 14)
    assert done.out.splitlines()[0] == "P@10 of new-b: after each judgment, the newest first"
    fill_in(judge)
    again = run("audit", "--go-on", certificate, "--judged", judge, "-o", tmp_path / "again.json")
    assert again.status == 0, again.err
    later = read_audit(tmp_path / "again.json")
    assert (later.n_judged, len(later)) == (14, 18)  # 4 wait, as before
    low, high = after.interval
    assert f"P@10 of new-b: {low:.4f}–{high:.4f}, guaranteed at 95 % by 10 judgments; estimate" in done.out
    done = run("audit", "--verify", certificate, "--figure", tmp_path / "audit.svg")
    assert b"<svg" in (tmp_path / "audit.svg").read_bytes()
    assert (done.status, f"verified: {certificate}" in done.err) == (0, True)

    document = json.loads(certificate.read_text())
    document["steps"][2]["probability"] = 0.5
    certificate.write_text(json.dumps(document))
    for asked in (("--verify", certificate), ("--go-on", certificate, "--judged", judge)):
        done = run("audit", *asked)
        assert done.status == 1
        assert "step 3: probability is" in done.err
        assert "the file was changed after the audit" in done.err


def test_a_refutation_is_a_note_of_scores(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    """``--audit`` takes a certificate's judgments; a model that is wrong is read off the certificate."""
    found = planned(budget=999)
    wrong = dataclasses.replace(found.urn, chance=np.full(len(found.urn), 0.97))
    refuting = dataclasses.replace(found, urn=wrong)
    certificate, table = tmp_path / "audit.json", tmp_path / "scores.json"
    refuting.go_on(answers(refuting, 30)).save(certificate)
    score = ["score", *call(written)[1:6], "--estimators", "background", "-m", "P@10"]
    done = run(*score, "--audit", certificate, "-o", table)
    assert done.status == 0, done.err
    refuted = "P@10 of new-b: an audit's judgments refute the posterior without them (evidence "
    assert refuted in " ".join(done.out.split())
    assert refuted in json.loads(table.read_text())["metadata"]["pool_notes"][0]


def test_what_is_wrong_with_an_audit_names_its_certificate(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    certificate = tmp_path / "audit.json"
    planned(budget=3).save(certificate)
    done = run("score", *call(written)[1:6], "--estimators", "background", "--audit", certificate)
    assert done.status == 1
    assert f"error: {certificate}: no line is a judgment" in done.err


def test_wrong_use_is_told(run: Callable[..., Outcome]) -> None:
    for asked, message in [
        ((), "no judgments; --qrels, or --go-on or --verify a certificate"),
        (("--judged", "j.txt"), "--judged without --go-on; name the certificate of the audit, too"),
        (("--go-on", "a.json"), "--go-on without --judged; give the judgments of the documents drawn"),
        (
            ("--go-on", "a.json", "--judged", "j", "-m", "P@5"),
            "--measure beside --go-on; the certificate says it",
        ),
        (("--verify", "a.json", "--qrels", "q"), "--qrels beside --verify; the certificate says it"),
        (("--verify", "a.json", "--go-on", "b.json"), "--go-on beside --verify; the certificate says it"),
        (("--verify", "a.json", "--budget", "3"), "--budget beside --verify; the certificate says it"),
        (("--verify", "a.json"), "a.json: there is no such file or folder"),
        (("--qrels", "q"), "no run to audit; name run files"),
        (("my.run", "--qrels", "q", "-m", "ERR@10"), "ERR@10 cannot be audited"),
    ]:
        done = run("audit", *asked)
        assert done.status == 1, (asked, message)
        assert message in done.err, (asked, message)
