"""Attributes of runs and topics: where they are read from, and that collections keep them."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from columns import with_columns
from each import cases

from bayespool import load_example, read_collection
from bayespool.collection import Collection, build_collection
from bayespool.collection.attributes import NO_ATTRIBUTES, Attributes, gather_attributes
from bayespool.collection.collection import with_attributes
from bayespool.collection.packing import join_runs, pack, pool_alone, unpack
from bayespool.errors import InputError
from bayespool.reading.sources import gather_organizations

ROWS = [
    {"run_id": "a", "organization": "x", "type": "neural", "size": 3.5},
    {"run_id": "b", "organization": "y", "type": None, "size": None},
]
COLUMNS = {"type": {"a": "neural"}, "size": {"a": "3.5"}}


def test_files_frames_rows_and_mappings_have_the_same_columns(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    mapping = {str(row["run_id"]): row for row in ROWS}
    for row in mapping.values():
        del row["run_id"]
    for source in (path, [path], pd.DataFrame(ROWS).assign(run_id=["a", "b"]), mapping):
        assert gather_attributes(source, "run").columns == COLUMNS
    assert gather_attributes({"a": "x"}, "run") == NO_ATTRIBUTES
    xml = tmp_path / "runs.xml"
    xml.write_text("<set><runs><tag>a</tag><organization>x</organization></runs></set>")
    assert gather_attributes(xml, "run") == NO_ATTRIBUTES


def test_a_column_of_organizations_under_another_name_is_no_attribute(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("tag,type,team size\na,x,3\n")  # nor is what no formula can name
    assert gather_attributes(path, "run") == NO_ATTRIBUTES
    path.write_text(f"run_id,type\n{load_example().run_ids[0]},x\n")  # beside the organizations it is one
    assert load_example().with_attributes(runs=path).runs.columns == {
        "type": {load_example().run_ids[0]: "x"}
    }


@cases(
    ("text", "wrong"),
    [
        ("run_id,organization,type\na,x,n\na,x,m\n", r"runs.csv, line 3: run 'a' has type 'm' here and 'n'"),
        ("name,organization,type\na,x,n\n", "no column run_id in the table of runs"),
    ],
)
def test_tables_that_are_refused(text: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=wrong):
        gather_attributes(path, "run")


def test_a_run_with_two_types_in_two_files_is_refused(tmp_path: Path) -> None:
    """Neither is taken in silence; the same in both is none."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("run_id,organization,type\na,x,neural\nb,y,neural\n")
    other.write_text("run_id,organization,type\na,x,manual\n")
    with pytest.raises(
        InputError, match=r"other.csv: run 'a' has type 'manual' here and 'neural' in another table"
    ):
        gather_attributes([one, other], "run")
    other.write_text("run_id,organization,type\na,x,neural\nc,z,manual\n")
    assert gather_attributes([one, other], "run").columns == {
        "type": {"a": "neural", "b": "neural", "c": "manual"}
    }


def test_values_are_texts_or_numbers() -> None:
    table = Attributes({"type": {"a": "neural"}, "size": {"a": "3.5", "b": "-1"}})
    assert table.texts("type", ["b", "a"]) == ["unknown", "neural"]
    numbers = table.numbers("size", ["c", "a", "b"])
    assert numbers is not None
    np.testing.assert_equal(numbers, [np.nan, 3.5, -1.0])
    assert table.numbers("type", ["a"]) is None


def test_only_columns_change_the_fingerprint() -> None:
    example = load_example()
    assert with_attributes(example, NO_ATTRIBUTES, None) is example
    of_others = dataclasses.replace(example, runs=Attributes({"type": {"stranger": "x"}}))
    assert of_others.fingerprint == example.fingerprint
    assert with_columns().fingerprint != example.fingerprint


def columns(collection: Collection) -> tuple[Any, Any]:
    return collection.runs.columns, collection.topics.columns


def test_other_collections_of_the_same_runs_keep_them() -> None:
    given = with_columns()
    assert columns(pickle.loads(pickle.dumps(given))) == columns(given)
    assert columns(given.unpool(organization="north")) == columns(given)
    part = pool_alone(given)
    again = unpack(pack(part))
    assert again.fingerprint == part.fingerprint
    assert set(again.runs.columns["type"]) < set(given.runs.columns["type"])  # those of the pool alone
    assert again.topics.columns == given.topics.columns


def test_runs_that_are_joined_bring_theirs() -> None:
    part = pool_alone(with_columns())
    topic = part.query_ids[0]
    joined = join_runs(
        part,
        {"mine": {topic: {"d1": 1.0}}},
        organizations={"mine": {"organization": "me", "type": "lexical"}},
    )
    assert joined.runs.columns["type"] == part.runs.columns["type"] | {"mine": "lexical"}
    assert joined.topics.columns == part.topics.columns


def test_tables_are_read_with_the_collection() -> None:
    runs = {name: {"q1": {"d1": 2.0, "d2": 1.0}} for name in ("one", "two")}
    organizations = pd.DataFrame(
        {"run_id": ["one.txt", "two"], "organization": ["a", "b"], "type": ["x", "y"]}
    )
    asked: dict[str, Any] = {"organizations": organizations, "topics_table": {"q1": {"length": 4}}}
    read = read_collection({"q1": {"d1": 1, "d2": 0}}, pool=runs, known_depth=2, **asked)
    assert columns(read) == ({"type": {"one": "x", "two": "y"}}, {"length": {"q1": "4"}})
    built = build_collection(runs, {"q1": {"d1": 1}}, **asked)
    assert built.topics == read.topics
    with pytest.raises(InputError, match="no topic with attributes is in the collection: the table has 'q9'"):
        build_collection(runs, {"q1": {"d1": 1}}, topics_table={"q9": {"length": 4}})


def test_tables_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    path.write_text("run_id,type,type\na,x,y\n")
    with pytest.raises(InputError, match=r"types.csv, line 1: two columns 'type'; rename one of them"):
        gather_attributes(path, "run")
    with pytest.raises(InputError, match="runs without columns; write"):
        with_columns().with_attributes(runs={"new-a": "neural"})


def test_types_may_stand_in_a_list_beside_that_of_organizations(tmp_path: Path) -> None:
    """Then they are types; alone, or beside lists that call none so, they are organizations, as before."""
    paths = tmp_path / "organizations.csv", tmp_path / "types.csv"
    paths[0].write_text("run_id,organization\na,x\nb,y\n")
    paths[1].write_text("run_id,type\na,manual\nb,automatic\n")
    assert gather_organizations(paths) == {"a": "x", "b": "y"}
    assert gather_attributes(paths, "run").columns == {"type": {"a": "manual", "b": "automatic"}}
    assert gather_organizations(paths[1:]) == {"a": "manual", "b": "automatic"}
    assert gather_attributes(paths[1:], "run") == NO_ATTRIBUTES
    runs = {name: {"q1": {"d1": 2.0, "d2": 1.0}} for name in ("a", "b")}
    read = read_collection({"q1": {"d1": 1, "d2": 0}}, pool=runs, known_depth=2, organizations=list(paths))
    assert read.organizations == ("x", "y")
    assert read.runs.columns == {"type": {"a": "manual", "b": "automatic"}}
