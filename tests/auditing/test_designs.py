"""Designs: strata, the order of judging, widths foretold, and the lines from labels to a score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import answered
import numpy as np
import pytest
from commands import Outcome

from bayespool import read_collection, read_qrels, read_result
from bayespool.auditing import SamplingDesign, draw_design
from bayespool.corrections import ByDesign
from bayespool.errors import InputError, InputWarning
from bayespool.reading import run_from_frame
from bayespool.reading.readers import write_run
from bayespool.reading.sources import join_qrels

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")


def design(seed: int = 1) -> SamplingDesign:
    return draw_design(answered.nobody(), None, answered.MEASURE, random_seed=seed)


def test_each_stratum_has_one_turn_and_what_tells_more_is_drawn_more_often() -> None:
    documents = design().documents
    assert len(documents) == 16 * answered.N_TOPICS
    stratum = documents["stratum"].to_numpy()
    assert stratum[:12].tolist() == [6, 5, 4, 3, 2, 1] * 2
    size = np.bincount(stratum)[1:]
    assert (np.diff(size) <= 0).all()  # the same sum of sizes in fewer documents
    both = documents["doc_id"].isin([f"d{i}" for i in range(6, 10)])
    assert stratum[both].mean() > stratum[~both].mean()  # that both runs have


def test_within_a_stratum_every_document_is_as_likely() -> None:
    first = design()
    inside = first.documents[first.documents["stratum"] == 6]
    n, of = len(inside), set(map(tuple, inside[["query_id", "doc_id"]].to_numpy()))
    counts = dict.fromkeys(of, 0)
    for seed in range(40):
        drawn = design(seed).documents.iloc[:60]
        for pair in map(tuple, drawn.loc[drawn["stratum"] == 6, ["query_id", "doc_id"]].to_numpy()):
            counts[pair] += 1
    found, expected = np.array(list(counts.values())), 40 * 10 / n
    assert set(counts) == of
    assert ((found - expected) ** 2 / (expected * (1 - 10 / n))).mean() == pytest.approx(1, abs=0.6)


def test_widths_are_foretold() -> None:
    drawn = design()
    n = drawn.n_answers(0.06)
    assert drawn.half_width(n) <= 0.06 < drawn.half_width(n - 1)
    assert drawn.half_width(5) == np.inf
    assert drawn.half_width(len(drawn.documents)) == 0
    (made,) = ByDesign(n_draws=2000).estimate(answered.answered(n, 1), None, answered.MEASURE)
    lower, upper = made.interval(0.95)
    assert (upper - lower).max() / 2 == pytest.approx(0.06, rel=0.4)


def test_a_design_is_read_back_with_answers_of_any_number_of_files(tmp_path: Path) -> None:
    drawn = design()
    drawn.save(tmp_path / "design.txt")
    read = read_qrels(tmp_path / "design.txt")
    assert read.over_topics
    assert read.stratum is not None
    assert read.stratum.tolist() == drawn.documents["stratum"].tolist()
    runs, labels, relevant = answered.world()
    for name, part in (("a", slice(0, 40)), ("b", slice(40, 80))):
        rows = drawn.documents.iloc[part][["query_id", "doc_id"]].to_numpy()
        lines = [f"{q} 0 {d} {relevant[q, d]}\n" for q, d in rows]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    files = [tmp_path / f"{name}.txt" for name in ("design", "a", "b")]
    with pytest.raises(InputError, match="a design without answers: nobody judged a document"):
        read_collection(files[0], runs, judges={"kind": labels})
    document = drawn.documents.iloc[12]
    first = f"answers passed over 6 documents of the design, the first {document.doc_id} of topic "
    lines = (tmp_path / "a.txt").read_text().splitlines(keepends=True)
    (tmp_path / "gap.txt").write_text("".join(lines[:12] + lines[18:]))
    with pytest.warns(InputWarning, match=first):
        gap = read_collection([files[0], tmp_path / "gap.txt"], runs, judges={"kind": labels})
    assert any(first in note for note in gap.scope_notes)
    collection = read_collection(files, runs, judges={"kind": labels})
    assert collection.judged.sum() == 80
    assert collection.fingerprint == answered.answered(80, 1).fingerprint
    first, second = (read_qrels(file) for file in files[:2])
    other = read_qrels(tmp_path / "a.txt")
    other.relevance[:] = 1 - other.relevance
    with pytest.raises(InputError, match=r"has relevance \d here and \d in"):
        join_qrels([join_qrels([first, second]), other])
    (tmp_path / "c.txt").write_text("q1 0 other 1\n")
    with pytest.warns(InputWarning, match="1 judgment passed over"):
        join_qrels([first, read_qrels(tmp_path / "c.txt")])


def test_refusals() -> None:
    with pytest.raises(InputError, match="nDCG@10 has no score by design"):
        draw_design(answered.nobody(), None, "nDCG@10")
    runs, labels, relevant = answered.world()
    people: dict[str, dict[str, int]] = {}
    for (topic, document), value in relevant.items():
        people.setdefault(topic, {})[document] = value
    with pytest.raises(InputError, match="no labels to draw by"):
        draw_design(read_collection(people, runs))
    with pytest.raises(InputError, match="no document of the runs is unjudged"):
        draw_design(read_collection(people, runs, judges={"kind": labels}))
    with pytest.raises(InputError, match="no judgments, and no labels"):
        read_collection(None, runs)


def test_the_lines_from_labels_to_a_score(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs, labels, relevant = answered.world()
    for name, ranking in runs.items():
        write_run(run_from_frame(ranking, run_id=name), f"{name}.run")
    for name, threshold in (("kind", 0), ("strict", 12)):
        lines = [
            f"{topic} 0 {d} {int(label and int(d[1:]) >= threshold - 12 * (i % 2))}\n"
            for topic, of in labels.items()
            for i, (d, label) in enumerate(of.items())
        ]
        Path(f"{name}.txt").write_text("".join(lines))
    judges = ("--judge", "kind.txt", "--judge", "strict.txt")
    alone = run("score", "one.run", "two.run", *judges)
    assert alone.status == 0
    assert alone.out.startswith("P@10 of each of 2 runs: about ")
    assert "note: nobody judged a document" in alone.out
    refused = run("score", "one.run", *judges, "--estimators", "as-judged")
    assert "--estimators without judgments" in refused.err
    drawn = run(
        "audit", "one.run", "two.run", *judges, "-o", "design.txt", "-o", "tasks.jsonl", "-o", "d.json"
    )
    assert drawn.status == 0
    assert json.loads(Path("tasks.jsonl").read_text().splitlines()[0]).keys() == {"query_id", "doc_id"}
    assert len(read_result("d.json").to_frame()) == 320
    lines = [line.split() for line in Path("design.txt").read_text().splitlines()]
    Path("answers.txt").write_text("".join(f"{q} 0 {d} {relevant[q, d]}\n" for q, _, d, *_ in lines[:90]))
    people = (*judges, "--qrels", "design.txt", "--qrels", "answers.txt")
    scored = run("score", "one.run", "two.run", *people, "--estimators", "by-design", "-o", "scores.csv")
    assert scored.status == 0
    assert "by-design" in Path("scores.csv").read_text()
    compared = run("compare", "one.run", "two.run", *people, "--estimators", "by-design")
    assert "existing judgments" not in compared.out  # a ninth of the documents is judged
    assert "as judged" not in compared.out
    silent = run("score", "one.run", *people, "--estimators", "by-design,prediction-powered(judge='kind')")
    assert "note: P@10: prediction-powered(judge='kind') has no value of any run: " in silent.out
    assert "judge-next" not in run("score", "one.run", *people).out
    decided = run("gate", "two.run", "one.run", *people, "--estimators", "by-design")
    assert decided.out.startswith("better or equal: the P@10 of one − two")
