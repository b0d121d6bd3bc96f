"""The same run and judgments, however they are handed over, give the same bytes."""

from __future__ import annotations

import sys
import types
from collections import namedtuple
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pyarrow as pa
import pytest
from small import small_simulation
from wide import wide

from bayespool import (
    build_collection,
    compare,
    discover_pool,
    impute,
    judge_next,
    leave_out,
    read_collection,
    read_run,
    score,
)
from bayespool.errors import InputError, PartialListWarning
from bayespool.reading import Qrels, Run, read_qrels, read_runs
from bayespool.scoring import Scores

ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
NEW = "new-b"
ONE = {"q": {"d": 1}}
RUN = {"q": {"d": 2.0, "e": 1.0, "f": 0.5}}
POOL = {"a": {"q": {"d": 1.0, "g": 0.5}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection as files; the run to score once more under the name of what has none."""
    folder = tmp_path_factory.mktemp("example")
    small_simulation().write(folder)
    (found,) = (path for path in (folder / "new").iterdir() if NEW in path.name)
    (folder / "run").write_bytes(found.read_bytes())
    return folder


def frame_of(run: Run) -> pd.DataFrame:
    topics, documents = run.query_id.to_pylist(), run.doc_id.to_pylist()
    return pd.DataFrame({"query_id": topics, "doc_id": documents, "score": run.score})


def qrels_frame(qrels: Qrels) -> pd.DataFrame:
    columns = {"query_id": qrels.query_id.to_pylist(), "doc_id": qrels.doc_id.to_pylist()}
    return pd.DataFrame(columns | {"relevance": qrels.relevance.astype(int)})


def nested(frame: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for q, d, v in zip(frame["query_id"], frame["doc_id"], frame[value].tolist(), strict=True):
        found.setdefault(q, {})[d] = v
    return found


def polars_of(frame: pd.DataFrame) -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame({name: frame[name].tolist() for name in frame.columns})


class RanxLike:
    """What a run or judgments of ranx look like from outside."""

    def __init__(self, frame: pd.DataFrame, value: str, name: str | None) -> None:
        setattr(self, "run" if value == "score" else "qrels", nested(frame, value))
        self.name = name

    def to_dataframe(self) -> pd.DataFrame:
        by_topic: dict[str, dict[str, Any]] = self.__dict__.get("run") or self.__dict__["qrels"]
        rows = [(q, d, v) for q, documents in by_topic.items() for d, v in documents.items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])


# Each makes a run and judgments from a data frame each, with the names of ir_measures.
WAYS: dict[str, Callable[[pd.DataFrame, pd.DataFrame], tuple[Any, Any]]] = {
    "pandas, names of ir_measures": lambda run, qrels: (run, qrels),
    "pandas, names of PyTerrier": lambda run, qrels: (
        run.set_axis(["qid", "docno", "score"], axis=1).assign(rank=range(len(run)), query="words"),
        qrels.set_axis(["qid", "docno", "label"], axis=1),
    ),
    "pandas, names of trec_eval": lambda run, qrels: (
        run.set_axis(["qid", "docno", "sim"], axis=1),
        qrels.set_axis(["qid", "docno", "rel"], axis=1).assign(iter=0),
    ),
    "pandas, names of ranx": lambda run, qrels: (
        run.set_axis(["q_id", "doc_id", "score"], axis=1),
        qrels.set_axis(["q_id", "doc_id", "score"], axis=1),
    ),
    "pandas, categories": lambda run, qrels: (
        run.astype({"query_id": "category"}),
        qrels.astype({"doc_id": "category"}),
    ),
    "pandas, other order of rows": lambda run, qrels: (run[::-1], qrels.sample(frac=1, random_state=1)),
    "pandas, a column that names the run": lambda run, qrels: (run.assign(run_id="run"), qrels),
    "polars": lambda run, qrels: (polars_of(run), polars_of(qrels)),
    "polars, lazy": lambda run, qrels: (polars_of(run).lazy(), polars_of(qrels).lazy()),
    "Arrow": lambda run, qrels: (
        pa.Table.from_pandas(run, preserve_index=False),
        pa.Table.from_pandas(qrels, preserve_index=False),
    ),
    "dictionaries": lambda run, qrels: (nested(run, "score"), nested(qrels, "relevance")),
    "named tuples": lambda run, qrels: (
        [ScoredDoc(*row) for row in run.itertuples(index=False)],
        [Qrel(*row, "0") for row in qrels.itertuples(index=False)],
    ),
    "rows of dictionaries": lambda run, qrels: (run.to_dict("records"), qrels.to_dict("records")),
    "iterators of ir_measures": lambda run, qrels: (
        (ir_measures.ScoredDoc(*row) for row in run.itertuples(index=False)),  # consumed once
        (ir_measures.Qrel(*row, "0") for row in qrels.itertuples(index=False)),
    ),
    "objects like those of ranx": lambda run, qrels: (
        RanxLike(run, "score", None),
        RanxLike(qrels, "relevance", "judged"),
    ),
    "by name": lambda run, qrels: ({"run": nested(run, "score")}, qrels),
    "a frame and a dictionary": lambda run, qrels: ([run], nested(qrels, "relevance")),
}


def bytes_of(scores: Scores) -> bytes:
    return wide(scores, per_topic=True).to_csv(float_format="%.17g").encode()


def scored(run: Any, qrels: Any, folder: Path, **more: Any) -> Scores:
    reading = {"pool": folder / "pool", "organizations": folder / "organizations.csv"}
    reading |= {name: more.pop(name) for name in reading if name in more}
    settings = {"estimators": ["background", "systems-adjustment"]} | more
    return score(read_collection(qrels, run, **reading), measures=["P@10", "nDCG@10"], **settings)  # type: ignore[arg-type]


@cache
def from_files(folder: Path) -> Scores:
    return scored(folder / "run", folder / "qrels.txt", folder)


def frames_of(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    return frame_of(read_run(folder / "run")), qrels_frame(read_qrels(folder / "qrels.txt"))


def test_every_way_gives_the_same_bytes(folder: Path) -> None:
    expected = from_files(folder)
    assert expected.run_ids == ("run",)
    for name, way in WAYS.items():
        found = scored(*way(*frames_of(folder)), folder)
        assert found.metadata["fingerprint"] == expected.metadata["fingerprint"], name
        assert bytes_of(found) == bytes_of(expected), name


@pytest.mark.slow  # numba compiles ranx for most of a minute
def test_objects_of_ranx_itself(folder: Path) -> None:
    ranx = pytest.importorskip("ranx")
    run, qrels = frames_of(folder)
    of_ranx = ranx.Run(nested(run, "score"), name="run"), ranx.Qrels(nested(qrels, "relevance"))
    assert bytes_of(scored(*of_ranx, folder)) == bytes_of(from_files(folder))


def test_a_list_of_organizations_may_name_the_files_of_runs(tmp_path: Path) -> None:
    ranking = {"q": {"d": 1.0}}
    (tmp_path / "final.qruir.f.txt").write_text("q Q0 d 1 1.0 tag\n", encoding="utf-8")
    pool = [tmp_path / "final.qruir.f.txt", {"b": ranking}, {"c.txt": ranking}]
    listed = {"final.qruir.f.txt": "north", "input.b.gz": "south", "c.txt": "west", "c": "east"}
    with pytest.warns(PartialListWarning, match="1 listed run was not read: 'c'$"):
        found = read_collection({"q": {"d": 1}}, pool=pool, organizations=listed)
    organizations = [found.organizations[o] for o in found.organization]
    assert dict(zip(found.run_ids, organizations, strict=True)) == {
        "final.qruir.f": "north",
        "b": "south",
        "c.txt": "west",
    }
    twice = {"final.qruir.f.txt": "north", "final.qruir.f.run": "south"}
    with pytest.raises(InputError, match=r"'final.qruir.f', by .* files, belongs to 'south' and to 'north'"):
        read_collection({"q": {"d": 1}}, pool=pool[:1], organizations=twice)


def test_pool_and_organizations_in_memory_are_those_of_the_files(folder: Path) -> None:
    """Pool as one frame with a column of run ids, organizations as a frame."""
    pool = read_runs(folder / "pool")
    of_pool = pd.concat([frame_of(run).assign(run_id=run.run_id) for run in pool])
    listed = pd.read_csv(folder / "organizations.csv")
    found = scored(folder / "run", folder / "qrels.txt", folder, pool=of_pool, organizations=listed)
    assert bytes_of(found) == bytes_of(from_files(folder))
    by_name: dict[str, Any] = {run.run_id: nested(frame_of(run), "score") for run in pool}
    first, *_ = by_name
    by_name[first] = next(path for path in (folder / "pool").iterdir() if first in path.name)  # mixed at will
    organizations = dict(zip(listed["run_id"], listed["organization"], strict=True))
    again = scored(folder / "run", folder / "qrels.txt", folder, pool=by_name, organizations=organizations)
    assert bytes_of(again) == bytes_of(from_files(folder))


def test_a_run_that_is_in_the_pool_too_is_read_once(folder: Path) -> None:
    frames = [frame_of(run).assign(run_id=run.run_id) for run in read_runs(folder / "pool")]
    names = [frame["run_id"].iloc[0] for frame in frames]
    collection = read_collection(
        folder / "qrels.txt", frames[0], pool=frames, organizations=folder / "organizations.csv"
    )
    assert collection.given_run_ids == (names[0],)
    assert set(collection.pooled_run_ids) <= set(collection.run_ids) == set(names)
    turned = frames[0].assign(score=-frames[0]["score"])
    with pytest.raises(InputError, match="the other is given in memory"):
        read_collection(folder / "qrels.txt", turned, pool=frames, organizations=folder / "organizations.csv")


@pytest.mark.slow
def test_collections_built_in_memory_are_taken_everywhere(folder: Path) -> None:
    pool = {run.run_id: frame_of(run) for run in read_runs(folder / "pool")}
    runs = pool | {NEW: nested(frame_of(read_run(folder / "run")), "score")}
    built = build_collection(
        runs, qrels_frame(read_qrels(folder / "qrels.txt")), organizations=folder / "organizations.csv"
    )
    collection = discover_pool(built, pool)
    assert collection.unpooled_run_ids == (NEW,)
    assert score(collection, estimators="background").run_ids == (NEW,)
    assert len(judge_next(collection, NEW, budget=2, estimators="posterior-ratio(draws=50)")) == 2
    assert len(impute(collection, NEW, draws=2, estimators="posterior-ratio(chains=1)")) == 2
    old = collection.pooled_run_ids[0]
    assert compare(collection, [NEW], estimators="background", unpool=old).scores.run_ids == (NEW, old)
    assert leave_out(collection, estimators="as-judged").to_frame("summary")["n_runs"].item() == len(pool)


def test_second_judges_and_own_judgments_in_memory() -> None:
    labels = pd.DataFrame({"qid": ["q", "q"], "docno": ["d", "e"], "label": [2.0, 0.5]})
    collection = read_collection(
        {"q": {"d": 1, "g": 0}},
        RUN,
        pool=POOL,
        organizations=[{"run_id": "a", "organization": "north"}],
        judges={"llm": labels, "nested": {"q": {"d": 1, "f": 0}}},
        own_judgments=[Qrel("q", "e", 1, "0")],
    )
    assert [judge.name for judge in collection.judges] == ["llm", "nested"]
    assert "north" in collection.organizations
    assert int(collection.judged.sum()) == 3


class Dataset:
    """What ir_datasets has under a name."""

    def qrels_iter(self) -> Any:
        return iter([Qrel("q1", "d1", 1, "0"), Qrel("q1", "d2", 0, "0")])

    def scoreddocs_iter(self) -> Any:
        return iter([ScoredDoc("q1", "d2", 2.0), ScoredDoc("q1", "d3", 1.0)])


def test_names_of_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("ir_datasets")
    module.load = {"toy/judged": Dataset(), "toy": object()}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    built = build_collection("irds:toy/judged", "irds:toy/judged")
    assert built.run_ids == ("toy/judged",)
    assert int(built.judged.sum()) == 2
    assert build_collection(*[Path("irds:toy/judged")] * 2).run_ids == ("toy/judged",)
    with pytest.raises(InputError, match="irds:toy has no judgments"):
        build_collection("irds:toy/judged", "irds:toy")
    with pytest.raises(InputError, match="ir_datasets has no data set 'toys'"):
        build_collection("irds:toy/judged", "irds:toys")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(InputError, match=r"pip install .bayespool.irds"):
        build_collection("irds:toy/judged", "irds:toy/judged")


def test_what_cannot_be_meant_is_refused(folder: Path) -> None:
    run, qrels = read_run(folder / "run"), read_qrels(folder / "qrels.txt")
    frame, expected = frame_of(run), "a DataFrame where a Collection is expected; make one"
    of_ranx = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1], "relevance": [1]})
    twice = pd.DataFrame({"run": ["a", "a"], "organization": ["x", "y"]})
    read: Any = read_collection
    in_pool = partial(read, pool=POOL)
    labeled = partial(in_pool, organizations={"a": "x"}, judges=[of_ranx])
    for call, arguments, message in (
        (compare, (frame, qrels), expected),
        (impute, (frame, qrels), expected),
        (judge_next, (frame, qrels), expected),
        (read, (run, qrels), "Run objects where qrels are expected; are the arguments in order?"),
        (read, (qrels, qrels), "Qrels objects where runs are expected"),
        (read, (qrels,), "no runs given"),
        (read, (qrels, 3), "no run can be read from a int"),
        (read, (qrels, [("q1", "d1", 0.5)]), "run run: tuple objects where named tuples are expected"),
        (read, (qrels, {"a": [run, {"q": {"d": 1.0}}]}), "run a: 2 runs where one is expected"),
        (read, (RanxLike(of_ranx, "score", "mine"), RUN), "qrels: looks like a run (column score)"),
        (read, (qrels, RanxLike(of_ranx, "relevance", None)), "looks like judgments or labels"),
        (labeled, (ONE, RUN), "a judge of a DataFrame has no name"),
        (partial(read, judges=["llm.txt", "more/llm.txt"]), (ONE, RUN), "two judges are called 'llm'"),
        (partial(in_pool, organizations=twice), (ONE, RUN), "run 'a' belongs to 'y' here and to 'x'"),
        (score, (run,), "a Run where a Collection is expected"),
    ):
        with pytest.raises(InputError) as refused:
            call(*arguments)  # type: ignore[operator]
        assert message in str(refused.value)
