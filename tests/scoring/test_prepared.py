"""Prepared collections: the values of the files, to the byte; files that were changed are refused."""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bayespool import load_example, parse_measure, prepare, read_collection, read_prepared, score
from bayespool.collection.packing import join_runs, pack, pool_alone, pool_part, unpack
from bayespool.errors import InputError, InputWarning, PoolWarning
from bayespool.experiments import simulate_example
from bayespool.pooling import describe_pool, discover_pool
from bayespool.reading.archives import read_archive, write_archive
from bayespool.report.provenance import command_line
from bayespool.scoring.prepared import head_digest, learn_collection, read_measures
from bayespool.tables.files import digest, parquet_member

MEASURES = ("P@10", "nDCG@10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture(scope="module")
def files(folder):
    """Arguments of `read_collection` for the pool of the example, and its new runs."""
    pool = {"pool": str(folder / "pool"), "organizations": folder / "organizations.csv"}
    return {"qrels": folder / "qrels.txt", **pool}, [folder / "new" / f"new-{n}.run" for n in "ab"]


@pytest.fixture(scope="module")
def prepared(files):
    return prepare(read_collection(**files[0]), MEASURES)


@pytest.fixture(scope="module")
def path(prepared, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("prepared") / "example.bayespool"
    prepared.save(path)
    return path


def same(one, other) -> None:
    assert one.to_frame().equals(other.to_frame())
    for a, b in zip(one.estimates, other.estimates, strict=True):
        assert a.notes == b.notes
        assert (a.draws is None) == (b.draws is None)
        if a.draws is not None:
            assert a.draws.amount.tobytes() == b.draws.amount.tobytes()


@pytest.mark.parametrize(
    "estimators", ["default", "posterior-rankings", pytest.param("pairs", marks=pytest.mark.slow)]
)
def test_runs_have_the_values_of_the_files(files, path, estimators):
    given, runs = files
    asked = {"estimators": estimators, "posterior_settings": "draws=100"}
    from_files = score(read_collection(runs=runs, **given), measures=MEASURES, **asked)
    read = read_prepared(path)
    same(from_files, read.score(runs, **asked))
    same(from_files, read.score(runs, **asked))  # what was fitted is kept


def test_nothing_is_fitted_again(files, path, monkeypatch):
    monkeypatch.setattr("bayespool.inference.laplace.find_scales", None)
    monkeypatch.setattr("bayespool.posterior.fitting.decide_weights", None)
    scores = read_prepared(path).score(files[1][0], estimators="posterior-combined")
    assert np.isfinite(scores.estimates[0].value).all()


def test_a_measure_that_was_not_prepared_is_fitted_and_said(files, path):
    given, runs = files
    read = read_prepared(path)
    assert read.has_fits(parse_measure("P@5"))
    assert not read.has_fits(parse_measure("AP@50"))
    with pytest.warns(InputWarning, match=r"AP@50: not prepared; the models are fitted now"):
        scores = read.score(runs[0], "AP@50", estimators="posterior-combined")
    same(
        scores,
        score(read_collection(runs=runs[0], **given), measures="AP@50", estimators="posterior-combined"),
    )
    assert read.has_fits(parse_measure("AP@50"))


def test_an_organization_leaves_the_pool_of_a_prepared_collection(files, path):
    whole, read = read_collection(**files[0]), read_prepared(path)
    asked = {"measures": "P@10", "estimators": "posterior-combined", "unpool": "north"}
    same(score(whole, **asked), score(read.collection, **asked))


def test_the_same_inputs_make_the_same_bytes(prepared, path, tmp_path):
    again = tmp_path / "again.bayespool"
    read_prepared(path).save(again)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(InputError, match=r"end it in \.bayespool"):
        prepared.save(tmp_path / "prepared.zip")


def test_doubts_of_the_pool_are_those_of_the_files(tmp_path):
    """Most of the campaign's runs are in no prepared collection; the doubt that they raise is."""
    with pytest.warns(PoolWarning):
        whole = discover_pool(load_example(), pooled_run_ids=["north-1", "north-2"], depth=10)
    pool = replace(whole.pool, alternative="another")
    whole = replace(whole, pool=pool)
    doubts = describe_pool(whole).doubts
    assert "less than half of the judgments, and 21 of 23 runs" in doubts[0]
    learn_collection(whole, "RR@1").save(tmp_path / "it.bayespool")
    part = read_prepared(tmp_path / "it.bayespool").collection
    joined = join_runs(part, {"mine": {part.query_ids[0]: {"new": 2.0, part.doc_id(0): 1.0}}})
    assert describe_pool(joined).doubts == describe_pool(joined.truncate_pool(5)).doubts == doubts
    assert describe_pool(joined).alternative == "another"


def test_the_pool_alone_is_packed_and_unpacked(prepared):
    part = prepared.collection
    assert unpack(pack(part)).fingerprint == part.fingerprint
    joined = join_runs(part, {"mine": {part.query_ids[0]: {"new": 2.0, part.doc_id(0): 1.0}}})
    assert pool_part(joined) is pool_part(part) is part
    assert joined.run_ids == tuple(sorted([*part.run_ids, "mine"]))
    assert joined.given_run_ids == ("mine",)
    mine = joined.document[joined.run_index("mine")[0], 0, :2]
    assert [joined.doc_id(pair) for pair in mine] == ["new", part.doc_id(0)]
    assert joined.relevance[mine].tolist() == [-1, part.relevance[0]]
    for run in part.run_ids:
        before, after = (c.document[c.run_index(run)[0]] for c in (part, joined))
        ids = [[c.doc_id(p) for p in ranked[ranked >= 0]] for c, ranked in ((part, before), (joined, after))]
        assert ids[0] == ids[1]


def test_without_judgments_they_are_asked_for(files, prepared, tmp_path):
    path = tmp_path / "rankings.bayespool"
    prepared.save(path, judgments=False)
    with pytest.raises(InputError, match="made without judgments"):
        read_prepared(path)
    read = read_prepared(path, qrels=files[0]["qrels"])
    assert np.array_equal(read.collection.relevance, prepared.collection.relevance)
    same(read.score(files[1][0]), prepared.score(files[1][0]))
    lines = Path(files[0]["qrels"]).read_text().splitlines()
    changed = tmp_path / "qrels.txt"
    changed.write_text("\n".join([*lines[:-1], lines[-1][:-1] + "3"]))
    with pytest.raises(InputError, match="not those that the collection was prepared with"):
        read_prepared(path, qrels=changed)


def test_ranks_are_cut_and_no_more_than_the_pool_allows(files):
    whole = read_collection(**files[0])
    assert prepare(whole, "P@10", ranks=20).collection.document.shape[2] == 20
    with pytest.raises(InputError, match="5 ranks of a pool of depth 10"):
        pool_alone(whole, 5)


@pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
def test_a_run_of_the_pool_is_taken_as_that_run(files, folder, prepared, tmp_path):
    """By the file of the campaign, by a cut of it where ranks are cut, or by a copy with another name."""
    file, new = folder / "pool" / "north-1.run", files[1][0]
    asked = {"measures": "P@10", "estimators": "posterior-ratio"}
    whole = read_collection(**files[0], runs=[file, new])
    expected = score(whole, **asked)
    same(prepared.score([file, new], **asked), expected)
    assert prepared.join([file, new]).run_ids == (*whole.run_ids,)
    cut = prepare(read_collection(**files[0]), "P@10", ranks=20).score([file, new], **asked)
    assert (cut.run_ids, cut.estimates[0].value[0]) == (expected.run_ids, expected.estimates[0].value[0])
    copy = tmp_path / "mine.run"
    copy.write_bytes(file.read_bytes())
    (found,) = prepared.score([copy], **asked).estimates
    assert found.value[0] == expected.estimates[0].value[0]
    assert prepared.join([copy]).scope_notes == ("mine ranks as north-1 of the pool, and counts as that run",)


def test_runs_that_cannot_be_joined(prepared):
    topic = prepared.collection.query_ids[0]
    with pytest.raises(InputError, match="is in the pool of the prepared collection, with other rankings"):
        prepared.join({prepared.collection.run_ids[0]: {topic: {"d": 1.0}}})
    who = {prepared.collection.run_ids[0]: "somebody else"}
    with pytest.raises(InputError, match="in the prepared collection, and of 'somebody else' in the list"):
        prepared.join({"mine": {topic: {"d": 1.0}}}, organizations=who)
    with pytest.raises(InputError, match="none of its topics is in the qrels"):
        prepared.join({"mine": {"no such topic": {"d": 1.0}}})


def test_collections_that_cannot_be_prepared(files, folder):
    with pytest.raises(InputError, match="no pooled run to prepare"):
        prepare(read_collection(files[0]["qrels"], files[1]))
    with pytest.raises(InputError, match="made by a strategy"), pytest.warns():
        prepare(read_collection(**files[0], pool_strategy="take(budget=500)"))


def changed_head(members, **values):
    head = json.loads(members["prepared.json"]) | values
    head["digest"] = head_digest(head)
    return members | {"prepared.json": json.dumps(head).encode()}


def test_files_that_were_changed_are_refused(path, tmp_path):
    members, changed = read_archive(path, max_size=100, hint=""), tmp_path / "changed.bayespool"

    def refused(some, match):
        write_archive(changed, some)
        with pytest.raises(InputError, match=match):
            read_prepared(changed)

    refused(changed_head(members, format=1), "in another format")
    swapped = members | {
        "documents.parquet": members["rankings.parquet"],
        "rankings.parquet": members["documents.parquet"],
    }
    refused(swapped, "missing, changed or of another file")
    refused({name: m for name, m in members.items() if name != "rankings.parquet"}, "missing, changed")
    refused({"../prepared.json": b""}, r"a member is called '\.\./prepared\.json'")
    refused({}, "no 'prepared.json'")
    write_archive(changed, changed_head(members, bayespool="0.0.1"))
    with pytest.warns(InputWarning, match=r"made by bayespool 0\.0\.1; all models are fitted anew"):
        assert not read_prepared(changed).recorded
    changed.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match="is cut off, changed or no prepared collection"):
        read_prepared(changed)
    with pytest.raises(InputError, match="no such file"):
        read_prepared(tmp_path / "none.bayespool")


def test_the_head_is_under_a_digest(path, tmp_path):
    members = read_archive(path, max_size=100, hint="")
    for change in ({"measures": ["P@1000"]}, {"ranks": 5}, {"fingerprint": "0"}, {"digest": "0"}):
        head = json.loads(members["prepared.json"]) | change
        write_archive(tmp_path / "x.bayespool", members | {"prepared.json": json.dumps(head).encode()})
        for read in (read_prepared, read_measures):
            with pytest.raises(
                InputError, match=r"x\.bayespool: not as it was written: prepared\.json was ch"
            ):
                read(tmp_path / "x.bayespool")


def test_measures_that_a_file_scores_by_default_are_limited(path, tmp_path):
    members = read_archive(path, max_size=100, hint="")
    head = json.loads(members["prepared.json"])
    for names, words in (
        ([f"P@{k}" for k in range(1, 52)], "51 measures, and 50 are prepared at most"),
        (["P@1000000"], "P@1000000 is not prepared, of more than 10,000 ranks"),
    ):
        head["measures"] = names
        forged = {"prepared.json": json.dumps(head | {"digest": head_digest(head)}).encode()}
        write_archive(tmp_path / "x.bayespool", members | forged)
        with pytest.raises(InputError, match=words):
            read_measures(tmp_path / "x.bayespool")
        with pytest.raises(InputError, match=words):
            prepare(load_example(), names)


@pytest.mark.parametrize("number", [1e308, -1, 10**30, float("nan"), True, "5"])
@pytest.mark.parametrize("name", ["depth", "depths", "n_minus_one", "n_below", "ranks"])
def test_numbers_that_no_collection_has_are_refused(name, number, path, files, tmp_path):
    members, forged = read_archive(path, max_size=100, hint=""), tmp_path / "forged.bayespool"
    about = json.loads(members["collection.json"])
    if name == "depths":
        about["depths"][1] = number
    elif name.startswith("n_"):
        about["negatives"][name] = number
    elif name == "depth":
        about["depth"] = number
    members["collection.json"] = json.dumps(about).encode()
    digests = {each: digest(content) for each, content in members.items() if each != "prepared.json"}
    write_archive(
        forged, changed_head(members, digests=digests, **({"ranks": number} if name == "ranks" else {}))
    )
    with pytest.raises(InputError, match="not as it was written"):
        read_prepared(forged)


def test_no_path_of_the_disk_is_in_it(folder, files, tmp_path):
    """Notes of what was excluded, and the command in the card, had them."""
    excluded = tmp_path / "seen.txt"
    excluded.write_text("701 D00102\n")
    collection = read_collection(**files[0], exclude=excluded)
    typed = ["prepare", "--qrels", str(files[0]["qrels"]), "--reading", f"exclude={excluded}"]
    with command_line(typed):
        prepare(collection, "P@10").save(tmp_path / "x.bayespool")
    members = read_archive(tmp_path / "x.bayespool", max_size=100, hint="")
    everything = b"\n".join(members.values())
    for place in (folder, tmp_path):
        assert str(place).encode() not in everything
    assert b"bayespool prepare --qrels qrels.txt --reading exclude=seen.txt" in everything
    assert b"taken out before anything is scored (seen.txt): " in everything


def test_a_bomb_is_refused(tmp_path):
    bomb = tmp_path / "bomb.bayespool"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("prepared.json", bytes(3 * 2**20))
    with pytest.raises(InputError, match="holds more than 2 MiB, or than a hundred times its size"):
        read_archive(bomb, max_size=2, hint="")


def test_a_pipe_and_bzip2_are_refused(path, tmp_path):
    odd = tmp_path / "odd.bayespool"
    os.mkfifo(odd)
    with pytest.raises(InputError, match="is a pipe where a file is expected"):
        read_prepared(odd)
    odd.unlink()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(odd, "w", zipfile.ZIP_BZIP2) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name))
    with pytest.raises(InputError, match=r"member prepared\.json is compressed as bayespool never does"):
        read_prepared(odd)


def test_mutated_files_are_refused(path, tmp_path):
    content, changed = path.read_bytes(), tmp_path / "changed.bayespool"
    rng, n_read = np.random.default_rng(1), 0
    fingerprint = read_prepared(path).collection.fingerprint
    for _ in range(100):
        mutated = bytearray(content)
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            mutated[place] = rng.integers(256)
        changed.write_bytes(mutated)
        try:
            read = read_prepared(changed)
        except InputError:
            continue
        n_read += 1
        assert read.collection.fingerprint == fingerprint
    assert n_read < 20


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("start", {"x": np.zeros(3)}),
        ("start", {"theta": np.array([np.nan])}),
        ("start", {"spread": np.zeros(4)}),
        ("weights", {"weights": np.array([0.9, 0.9])}),
        ("fusion", {"odds": np.zeros(2, np.int32)}),
    ],
)
def test_results_of_another_pool_are_refused(path, files, kind, changed):
    read = read_prepared(path)
    for key in [key for key in read.recorded if key.startswith(f"pool {kind}")]:
        read.recorded[key] |= changed
    with pytest.raises(InputError, match="make the prepared collection anew"):
        read.score(files[1][0], "P@10", estimators="posterior-combined", posterior_settings="draws=25")


def test_where_a_fit_cannot_go_on_from_its_start_it_is_made_anew(path, files):
    right, read = read_prepared(path), read_prepared(path)
    for key in [key for key in read.recorded if key.startswith("pool start")]:
        read.recorded[key] |= {"x": np.full(len(read.recorded[key]["x"]), 900.0)}
    asked = {"estimators": "posterior-combined", "posterior_settings": "draws=25"}
    same(right.score(files[1][0], "P@10", **asked), read.score(files[1][0], "P@10", **asked))


@pytest.mark.parametrize(
    "column", [{"topic": [0.5, 1.0]}, {"relevance": [2**20, 0]}, {"doc_id": [None, "d"]}]
)
def test_columns_that_a_collection_cannot_have_are_refused(prepared, column):
    members = pack(prepared.collection)
    table = pa.table({"topic": [0, 1], "doc_id": ["a", "b"], "relevance": [0, 1]} | column)
    with pytest.raises(InputError, match="not as it was written"):
        unpack(members | {"documents.parquet": parquet_member(table)})


def test_draws_that_are_kept_are_those_of_the_models(files, tmp_path):
    path = tmp_path / "drawn.bayespool"
    prepare(read_collection(**files[0]), "P@10", keep_draws=True).save(path)
    for changed in ({"mu": np.zeros(3)}, {"mu": np.full(4000, np.nan)}, {"sigma_topic": np.zeros(4000)}):
        read = read_prepared(path)
        for key in [key for key in read.recorded if key.startswith("pool draws")]:
            read.recorded[key] |= changed
        with pytest.raises(InputError, match="prepared draws are"):
            read.score(files[1][0], "P@10", estimators="posterior-combined")


def test_a_card_without_tables_is_none(prepared):
    card = {"metadata": json.loads(prepared.card)["metadata"]}
    with pytest.raises(InputError, match="has no card"):
        dataclasses.replace(prepared, card=json.dumps(card).encode()).describe()
