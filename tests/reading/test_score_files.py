"""Tables of scores: long and wide, result files of mteb and BEIR as published, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from each import cases

from bayespool.errors import InputError
from bayespool.reading.score_files import gather_scores

LONG = "query_id,note,model,score\n1,x,b,.5\n1,x,a,0.25\n2,,a,1\n2,,b,0\n"
BY_TOPIC = "topic,b,a\n1,0.5,0.25\n2,0,1\n"
BY_SYSTEM = "system,1,2\nb,.5,0\na,.25,1\n"


@cases(
    ("text", "unit"),
    [
        (LONG, "topic"),
        (BY_TOPIC, "topic"),
        (BY_SYSTEM, "task"),
        (BY_TOPIC.replace("topic", "Dataset"), "task"),
    ],
)
def test_forms_of_a_table_are_one_table(text: str, unit: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    for source in (path, pd.read_csv(path)):
        table = gather_scores(source)
        assert (table.systems, table.units, table.unit) == (("b", "a"), ("1", "2"), unit)
        assert table.values.tolist() == [[0.5, 0.0], [0.25, 1.0]]
        assert (table.measure, table.left_out) == ("score", ())


def test_what_a_system_lacks_is_left_out_for_all(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("task,a,b\nnq,0.5,0.4\nfiqa,,0.3\nfever,0.1,nan\nquora,0.2,0.1\n", encoding="utf-8")
    table = gather_scores(path, "nDCG@10")
    assert (table.units, table.left_out, table.measure) == (("nq", "quora"), ("fiqa", "fever"), "nDCG@10")


def mteb(task: str, **splits: Any) -> dict[str, Any]:
    """A result file of mteb 1.12 and later."""
    head = {"dataset_revision": "27a1", "evaluation_time": 5.3, "kg_co2_emissions": None}
    return head | {"mteb_version": "1.12.75", "scores": splits, "task_name": task}


def subset(name: str, main: float, deep: float) -> dict[str, Any]:
    scores = {"main_score": main, "ndcg_at_10": main, "recall_at_100": deep}
    return {"hf_subset": name, "languages": ["eng-Latn"], **scores}


def write(path: Path, result: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result), encoding="utf-8")


def test_result_files_of_mteb(tmp_path: Path) -> None:
    for place, model in enumerate(("GritLM__GritLM-7B", "intfloat__e5-large")):
        folder, bonus = tmp_path / model / "13f00a0e36500c80ce12870ea513846a066004af", place / 8
        both = mteb("FiQA2018", dev=[subset("default", 0.9, 1)], test=[subset("default", 0.5 + bonus, 0.75)])
        write(folder / "FiQA2018.json", both)
        write(folder / "MSMARCO.json", mteb("MSMARCO", dev=[subset("default", 0.25 + bonus, 1)]))
        several = mteb("MIRACL", test=[subset("ar", 0.25, 0.5), subset("bn", 0.75, 1.0)])
        write(folder / "MIRACL.json", several)
        write(folder / "model_meta.json", {"name": model})
    table = gather_scores(tmp_path)
    assert table.systems == ("GritLM__GritLM-7B", "intfloat__e5-large")
    assert (table.units, table.unit, table.measure) == (
        ("FiQA2018", "MIRACL", "MSMARCO"),
        "task",
        "main score",
    )
    assert table.values.tolist() == [[0.5, 0.5, 0.25], [0.625, 0.5, 0.375]]
    deep = gather_scores(tmp_path, "R@100")
    assert (deep.measure, deep.values[0].tolist()) == ("R@100", [0.75, 0.75, 1.0])
    with pytest.raises(InputError, match=r"FiQA2018.json: no result of mteb or BEIR with P@5"):
        gather_scores(tmp_path, "P@5")
    write(tmp_path / "intfloat__e5-large" / "other" / "MIRACL.json", several)
    with pytest.raises(InputError, match=r"a second score of system 'intfloat__e5-large' on task 'MIRACL'"):
        gather_scores(tmp_path)


def test_result_files_of_beir(tmp_path: Path) -> None:
    for place, model in enumerate(("bm25", "contriever")):
        for data, value in (("nfcorpus", 0.25), ("scifact", 0.5)):
            scores = {"ndcg": {"NDCG@1": 0.1, "NDCG@10": value + place / 4}, "precision": {"P@5": 0.125}}
            write(tmp_path / model / f"{data}.json", scores | {"map": {"MAP@10": 0.2}, "recall": {}})
    table = gather_scores(tmp_path)
    assert (table.systems, table.units) == (("bm25", "contriever"), ("nfcorpus", "scifact"))
    assert (table.measure, table.values.tolist()) == ("nDCG@10", [[0.25, 0.5], [0.5, 0.75]])
    assert gather_scores(tmp_path, "P@5").values.tolist() == [[0.125] * 2] * 2
    with pytest.raises(InputError, match=r"result files have no ERR@10; there are nDCG@k, AP@k"):
        gather_scores(tmp_path, "ERR@10")


@cases(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", "no table of scores: the header names 'a', 'b'"),
        ("topic,a,b\n1,0.5,x\n2,1,1\n", "line 2: score 'x' is no number"),
        ("topic,a,b\n1,0.5,inf\n", "line 2: score 'inf' is no number"),
        ("topic,a,b\n1,0.5,1\n1,0.5,1\n", "line 3: a second score of system 'a' on topic '1'"),
        ("topic,a,a\n1,0.5,1\n", "no table of scores"),
        ("topic,a,b\n1,0.5,1\n", "2 systems with 1 topic that all of them have"),
        ("topic,a\n1,0.5\n2,0.5\n", "1 system with 2 topics"),
        ("system,topic,ndcg,p\na,1,0.5,1\n", "no column of scores; call it score; there are 'ndcg', 'p'"),
        ("system,topic,score\n,1,0.5\n", "line 2: a score without a system or topic"),
        ("", "is empty"),
    ],
)
def test_what_is_no_table_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"table\.csv") as caught:
        gather_scores(path)
    assert problem in str(caught.value)


def test_a_broken_result_file_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "NQ.json").write_text('{"scores": {"test": [', encoding="utf-8")
    with pytest.raises(InputError, match=r"NQ\.json: is no JSON: Expecting value: line 1 .*; write it again"):
        gather_scores(tmp_path)


def test_what_is_no_source_of_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scores can be read from a int"):
        gather_scores(3)
    with pytest.raises(InputError, match="no folder in it has a JSON file"):
        gather_scores(tmp_path)
