"""Agreement of judges with people: documents drawn, intervals that hold, and what may be missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Outcome

from bayespool import audit_judges, qrels_from_frame
from bayespool.errors import InputError
from bayespool.reading import labels_from_frame


def labels_and_people(n: int, seed: int = 1) -> tuple[dict[str, Any], dict[str, dict[str, int]]]:
    """Labels from 0 to 3 of four topics, and relevance that they say less of on some."""
    rng = np.random.default_rng(seed)
    labels: dict[str, dict[str, int]] = {}
    people: dict[str, dict[str, int]] = {}
    for topic in "abcd":
        label = rng.integers(4, size=n // 4)
        chance = np.array([0.05, 0.2, 0.5, 0.9 if topic in "ab" else 0.6])[label]
        relevant = rng.random(n // 4) < chance
        labels[topic] = {f"d{i}": int(x) for i, x in enumerate(label)}
        people[topic] = {f"d{i}": 2 * int(x) for i, x in enumerate(relevant)}
    return labels, people


def agreement_and_kappa(labels: dict[str, Any], people: dict[str, dict[str, int]]) -> tuple[float, float]:
    """Values of all documents, where labels and relevance of 2 are relevant."""
    pairs = [(labels[topic][d] >= 2, people[topic][d] >= 2) for topic in people for d in people[topic]]
    says, is_relevant = np.array(pairs).T
    agreement, (q, r) = float((says == is_relevant).mean()), (says.mean(), is_relevant.mean())
    by_chance = q * r + (1 - q) * (1 - r)
    return agreement, float((agreement - by_chance) / (1 - by_chance))


def test_intervals_contain_agreement_and_kappa_at_all_times() -> None:
    labels, people = labels_and_people(1000)
    true, missed, needed = agreement_and_kappa(labels, people), np.zeros((10, 2)), []
    for seed in range(10):
        audited = audit_judges(
            {"llm": labels_from_frame(labels)}, qrels_from_frame(people), "P(rel=2)@10", random_seed=seed
        )
        needed.append(audited.n_judged)
        for i, name in enumerate(("agreement", "kappa")):
            lower, upper = (audited.steps[f"{name}_{end}"] for end in ("lower", "upper"))
            missed[seed, i] = ((lower > true[i]) | (upper < true[i])).any()
    assert missed.sum(axis=0).max() <= 2
    assert 100 < np.mean(needed) < 320
    assert audited.is_done
    last = audited.steps.iloc[-1]
    assert last["agreement_upper"] - last["agreement_lower"] <= 0.1


def test_all_judged_leaves_no_doubt() -> None:
    labels, people = labels_and_people(60)
    audited = audit_judges(
        {"llm": labels_from_frame(labels)}, qrels_from_frame(people), "nDCG(rel=2)@10", batch=7
    )
    (row,) = audited.to_frame().to_dict("records")
    assert audited.n_judged <= 60
    assert audited.is_done
    for name, value, step in zip(
        ("agreement", "kappa"), agreement_and_kappa(labels, people), (0.1, 1.2), strict=True
    ):
        assert row[f"{name}_lower"] <= value <= row[f"{name}_upper"] <= row[f"{name}_lower"] + step


def test_a_repeated_call_goes_on_with_what_waits() -> None:
    labels, people = labels_and_people(400)
    given = {"llm": labels_from_frame(labels), "other": labels_from_frame(people)}
    first = audit_judges(given, batch=10)
    ids = [tuple(pair) for pair in first.tasks.to_numpy()]
    assert len(set(ids)) == 10
    assert first.sentences() == ("to judge, in this order: 10 documents",)

    def after(judged: list[tuple[str, str]]) -> Any:
        return audit_judges(
            given,
            qrels_from_frame({t: {d: people[t][d] for u, d in judged if u == t} for t, _ in judged}),
            batch=10,
        )

    part = after([*ids[:3], ids[5]])
    assert [tuple(pair) for pair in part.tasks.to_numpy()] == [*ids[3:5], *ids[6:]]
    assert part.n_judged == 3
    second = after(ids)
    assert second.n_judged == 10
    assert len(second.tasks) == 10
    assert not {tuple(pair) for pair in second.tasks.to_numpy()} & set(ids)
    assert second.steps["judge"].tolist() == ["llm", "other"] * 10
    topic, document = next((t, d) for t in people for d in people[t] if (t, d) not in ids)
    assert "1 judgment not used" in after([*ids, (topic, document)]).notes()[0]


def test_what_says_nothing_is_refused() -> None:
    same = labels_from_frame({"a": {"d": 1, "e": 1}})
    with pytest.raises(InputError, match="judge 'llm': all labels say the same of relevance 1 or more"):
        audit_judges({"llm": same})
    with pytest.raises(InputError, match="no document has labels of all judges"):
        audit_judges({"llm": same, "other": labels_from_frame({"b": {"d": 1}})})


def test_people_are_asked_on_the_command_line(run: Callable[..., Outcome], tmp_path: Path) -> None:
    labels, people = labels_and_people(400)
    files = {name: tmp_path / name for name in ("labels.txt", "people.txt", "tasks.jsonl", "texts.tsv")}
    for name, values in (("labels.txt", labels), ("people.txt", people)):
        lines = [f"{t} 0 {d} {x}" for t, by_document in values.items() for d, x in by_document.items()]
        files[name].write_text("\n".join(lines))
    files["texts.tsv"].write_text("\n".join(f"d{i}\ttext {i}" for i in range(100)))
    asked = ["judges", "--judge", f"llm={files['labels.txt']}", "-m", "P(rel=2)@10", "--batch", 20]
    outcome = run(*asked, "--tasks", files["tasks.jsonl"], "--texts", files["texts.tsv"])
    assert outcome.status == 0
    rows = [json.loads(line) for line in files["tasks.jsonl"].read_text().splitlines()]
    assert len(rows) == 20
    assert all(row["text"] == f"text {row['doc_id'][1:]}" for row in rows)
    files["texts.tsv"].write_text(f"{rows[0]['doc_id']}\ttext")
    outcome = run(*asked, "--tasks", files["tasks.jsonl"], "--texts", files["texts.tsv"])
    n_without = sum(row["doc_id"] != rows[0]["doc_id"] for row in rows)
    assert f"texts.tsv: {n_without} of 20 documents have no text" in outcome.err
    outcome = run(*asked, "--qrels", files["people.txt"], "--tasks", tmp_path / "more.jsonl")
    assert "more.jsonl: not written, since judging may stop" in outcome.err
    assert "stop: the agreement is known to ±0.05" in outcome.out
    assert "--batch beside runs" in run(*asked, "--pool", files["people.txt"]).err
    assert "--texts without --tasks" in run(*asked, "--texts", files["texts.tsv"]).err
