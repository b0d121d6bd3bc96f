"""Files of runs, judgments, labels, organizations and types, against the second reading of `reference`."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from fuzz import reference
from fuzz.engine import Target, mutated, refused

from bayespool import reading as trec
from bayespool.errors import InputError
from bayespool.pooling.loading import read_description

MIB = 1 << 20
NAMES = ["a", "b", "doc-7", "d1", "d2", "é", "ü-3", "1", "01", "nan", "NULL", "x" * 40, "日本", "a\u2028b"]
XML_TEXTS = ["north", "&amp;", "<!-- c -->s", "<b>x</b>", "&b;", ""]
SCORES = ["1", "2.5", "-3", "0.1", "1e-7", "16777216", "16777217", "3.4e38", "1e39", "-inf", "007", "5e-324"]


def _lines(rng: random.Random, kind: str) -> bytes:
    """A file as it ought to be, or nearly."""
    if rng.random() < 0.4:
        return _of_other_tools(rng, kind)
    rows = []
    blank = rng.choice([" ", " ", "\t", "  ", " \t"])
    end = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    plain = rng.random() < 0.7
    for place in range(rng.choice((1, 2, 5, 12, 40))):
        topic, document = f"{1 + place // 6}", f"d{place}"
        if not plain:
            topic, document = rng.choice(NAMES[:4]), rng.choice(NAMES) + rng.choice(["", str(place)])
        score = rng.choice(SCORES) if rng.random() < 0.3 else f"{100 - place / 7:.5f}"
        tag = "t" if plain or rng.random() < 0.8 else rng.choice(NAMES)
        relevance = rng.choice(["0", "1", "2", "-1", "-2", "32767"])
        last = {"run": [str(place), score, tag], "qrels": [relevance], "labels": [score]}[kind]
        rows.append(blank.join([topic, "Q0" if kind == "run" else "0", document, *last]))
    text = end.join(rows) + (end if rng.random() < 0.9 else "")
    return text.encode(rng.choice(["utf-8", "utf-8", "utf-8-sig"]))


def _of_other_tools(rng: random.Random, kind: str) -> bytes:
    """A file of named columns, of two to five columns, with comments, or with levels of NTCIR."""
    value = {"run": "score", "qrels": "rel", "labels": "label"}[kind]
    topics, documents = ["query-id", "qid", "Topic", "query"], ["corpus-id", "docno", "doc"]
    names = [rng.choice(topics), rng.choice(documents), value]
    style = rng.choice(["named", "named", "three", "three", "two", "four", "five", "trec"])
    delimiter = rng.choice(["\t", ",", ";", " "])
    levels = kind == "qrels" and rng.random() < 0.2
    rows = [names + ["note"] * (rng.random() < 0.3)] if style == "named" else []
    for place in range(rng.choice((2, 5, 12, 40))):
        topic, document, rank = f"{1 + place // 6}", f"d{place}", str(1 + place % 6)
        number = rank if kind == "run" and rng.random() < 0.5 and style != "named" else f"{9 - place / 7:.3f}"
        if kind == "qrels":
            number = rng.choice(["L0", "L2", "A"]) if levels else rng.choice(["0", "1", "1.0", "2"])
        row = [topic, document, number]
        if style == "two":
            row = row[:2]
        elif style == "four":
            row = [topic, document, rank, number]
        elif style == "five":
            row = [topic, document, "1", rank, "0.5"]
        elif style == "trec":
            row = [topic, "0", document, *([rank, number, "t"] if kind == "run" else [number])]
        elif style == "named" and len(rows[0]) == 4:
            row.append(rng.choice(["", "x y", '"a, b"', "é"]))
        rows.append(row)
    if style == "three" and rng.random() < 0.7:  # all ranks, or all scores
        for place, row in enumerate(rows):
            row[2] = str(1 + place % 6) if kind == "run" else row[2]
    lines = [delimiter.join(row) for row in rows]
    for _ in range(rng.choice((0, 0, 1, 3))):
        lines.insert(rng.randint(0, len(lines)), rng.choice(["# made by a tool", "#1 0 d1 1", " # x: y"]))
    return "\n".join(lines).encode() + b"\n"


def _csv(rng: random.Random, value: str) -> bytes:
    run = rng.choice(["run_id", "run_id", "run", "tag", "Run_ID"])
    header = [run, rng.choice([value, value, value.upper()])]
    rows = [header] + [
        [f"r{i}", rng.choice(["north", "Univ. of X, Y", 'a "b"', "é"])] for i in range(rng.randint(1, 6))
    ]
    if rng.random() < 0.3:
        rows = [["note", *row] for row in rows]
    quoted = [
        [f'"{f.replace(chr(34), chr(34) * 2)}"' if set(f) & set('",') else f for f in row] for row in rows
    ]
    return rng.choice(["\n", "\n", "\r\n"]).join(",".join(row) for row in quoted).encode()


def _xml(rng: random.Random) -> bytes:
    head = rng.choice(
        ["", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="latin-1"?>', "<!DOCTYPE set>"]
    )
    if rng.random() < 0.1:
        head += '<!DOCTYPE set [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
    runs = "".join(
        f"<runs><tag>r{i}</tag><organization>{rng.choice(XML_TEXTS)}</organization></runs>"
        for i in range(rng.randint(1, 4))
    )
    return f"{head}<set>{runs}</set>".encode()


def _compressed(rng: random.Random, data: bytes) -> bytes:
    """Now and then compressed, in several parts, and with damage."""
    which = rng.random()
    if which > 0.25:
        return data
    if which < 0.0005:
        data = data + b"\n" * (2 * MIB)  # over the limit that is set
    compress: Callable[[bytes], bytes] = rng.choice([
        lambda d: gzip.compress(d, 1), lambda d: lzma.compress(d, preset=0), bz2.compress,
        zstandard.ZstdCompressor().compress,
    ])  # fmt: skip
    half = rng.randint(0, len(data)) if rng.random() < 0.3 else len(data)
    made = compress(data[:half]) + (compress(data[half:]) if half < len(data) else b"")
    if rng.random() < 0.3:
        return mutated(rng, made, most=2)
    return made


def _written(rng: random.Random, folder: Path, data: bytes) -> tuple[Path, bytes]:
    data = _compressed(rng, mutated(rng, data) if rng.random() < 0.9 else data)
    path = folder / "input"
    path.write_bytes(data)
    return path, data


def _agree(read: Callable[[], Any], second: Callable[[], Any], data: bytes) -> bool:
    """Whether both took the file; they have to agree on that, and on what is in it."""
    try:
        found = read()
    except InputError as error:
        said = str(error)
        assert said.strip()
        if "MiB of text" in said or "Memory usage limit" in said or said == _SAMPLE:
            return False  # limits are not the second reading's matter
        found = None
    try:
        expected = second()
    except reference.Refused as why:
        assert found is None, f"taken, and the second reading refuses it ({why}): {data[:3000]!r}"
        return False
    assert found is not None, f"refused ({said}), and the second reading takes it: {data[:3000]!r}"
    assert found == expected, f"{found} is not {expected}: {data[:3000]!r}"
    return True


_SAMPLE = "a published sample, which the second reading does not know"


def _check_run(rng: random.Random, folder: Path) -> bool:
    path, data = _written(rng, folder, _lines(rng, "run"))
    strict, ranks, by_tag = rng.random() < 0.5, rng.random() < 0.4, rng.random() < 0.3

    def read() -> Any:
        run = trec.read_run(
            path, strict=strict, ranks=ranks, id_from="tag" if by_tag else "file", max_file_size=1
        )
        # without ``ranks`` they are read where all are integers, which the second reading does not do
        rank = run.rank.tolist() if ranks and run.rank is not None else [None] * len(run.doc_id)
        rows = zip(run.query_id.to_pylist(), run.doc_id.to_pylist(), run.score.tolist(), rank, strict=True)
        return run.run_id, tuple(rows)

    def second() -> Any:
        found = reference.table(data, "run", strict=strict, ranks=ranks)
        if by_tag and len(found.tags) != 1:
            raise reference.Refused("several tags, or none")
        return next(iter(found.tags)) if by_tag else "input", found.rows

    return _agree(read, second, data)


def _check_values(rng: random.Random, folder: Path, *, kind: str, reader: str, value: str) -> bool:
    """A file of judgments or of labels: its reader's name, and the column that the other does not have."""
    path, data = _written(rng, folder, _lines(rng, kind))
    strict = rng.random() < 0.5

    def read() -> Any:
        found = getattr(trec, reader)(path, strict=strict, max_file_size=1)
        if getattr(found, "stratum", None) is not None or getattr(found, "inclusion", None) is not None:
            raise InputError(_SAMPLE)
        columns = (found.query_id.to_pylist(), found.doc_id.to_pylist(), getattr(found, value).tolist())
        return tuple(zip(*columns, strict=True))

    return _agree(read, lambda: tuple(r[:3] for r in reference.table(data, kind, strict=strict).rows), data)


def _check_organizations(rng: random.Random, folder: Path) -> bool:
    made = _xml(rng) if rng.random() < 0.4 else _csv(rng, "organization")
    path, data = _written(rng, folder, made)
    read = partial(trec.read_organizations, path, max_file_size=1)
    return _agree(lambda: [*read().items()], lambda: [*reference.organizations(data).items()], data)


def _check_objects(rng: random.Random, folder: Path) -> bool:
    """JSON of all forms, and Parquet: as they ought to be they are read, else read or refused."""
    rows = [(f"{1 + i // 4}", f"d{i}", rng.randint(0, 3)) for i in range(rng.choice((1, 3, 12)))]
    names = (rng.choice(["qid", "query-id", "query_id"]), rng.choice(["docid", "corpus-id"]), "score")
    named = [dict(zip(names, row, strict=True)) for row in rows]
    nested: dict[str, dict[str, int]] = {}
    for topic, document, value in rows:
        nested.setdefault(topic, {})[document] = value
    parquet = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(named), parquet)
    data = rng.choice(
        [
            json.dumps(nested, indent=rng.choice((None, 1))).encode(),
            json.dumps(named).encode(),
            "\n".join(map(json.dumps, named)).encode(),
            "\n".join(
                json.dumps({"query": {"qid": q}, "passage": {"docid": d}, "score": v}) for q, d, v in rows
            ).encode(),
            parquet.getvalue(),
        ]
    )
    is_whole = rng.random() < 0.3
    path = folder / "input"
    path.write_bytes(data if is_whole else mutated(rng, data))
    reader, value = rng.choice([("read_qrels", "relevance"), ("read_labels", "label"), ("read_run", "score")])
    with refused():
        found = getattr(trec, reader)(path, strict=rng.random() < 0.5, max_file_size=1)
        columns = (found.query_id.to_pylist(), found.doc_id.to_pylist(), getattr(found, value).tolist())
        assert not is_whole or list(zip(*columns, strict=True)) == rows
        return True
    assert not is_whole, "refused as it ought to be"
    return False


def _check_lists(rng: random.Random, folder: Path) -> bool:
    """Tables with lists of documents, and rank_eval: whole ones are read, others read or refused."""
    is_run = rng.random() < 0.5
    topics: dict[str, list[str]] = {}
    for topic in rng.sample(NAMES, rng.choice((1, 2, 5))):
        topics[topic] = rng.sample([*NAMES, "it's", 'a"b', "a, b", "c\\d"], rng.choice((1, 2, 4)))
    lists = rng.choice(["retrieved_ids", "retrieved_context_ids"] if is_run else ["expected_ids"])
    name = rng.choice(["qid", "user_input"])
    table = [{"note": "a\nb, c", name: q, lists: ids} for q, ids in topics.items()]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["user_input", "note", lists])
    written = rng.choice([str, json.dumps])
    writer.writerows([q, "a\nb", written(ids)] for q, ids in topics.items())
    hits = {q: {"hits": [{"hit": {"_id": d, "_score": 1}} for d in ids]} for q, ids in topics.items()}
    rated = [{"id": q, "ratings": [{"_id": d, "rating": 1} for d in ids]} for q, ids in topics.items()]
    data = rng.choice(
        [
            json.dumps(topics).encode(),
            json.dumps({"details": hits} if is_run else {"requests": rated}, indent=1).encode(),
            json.dumps(table, indent=1).encode(),
            "\n".join(map(json.dumps, table)).encode(),
            text.getvalue().encode(),
        ]
    )
    is_whole = rng.random() < 0.3
    path = folder / "input"
    path.write_bytes(data if is_whole else mutated(rng, data))
    with refused():
        found = trec.read_run(path, max_file_size=1) if is_run else trec.read_qrels(path, max_file_size=1)
        read = list(zip(found.query_id.to_pylist(), found.doc_id.to_pylist(), strict=True))
        assert not is_whole or read == [(q, d) for q, ids in topics.items() for d in ids], data
        return True
    assert not is_whole, f"refused as it ought to be: {data!r}"
    return False


WORDS = (
    "qrels", "pool", "name", "judges", "order", "known_depth", "max_holes", "strict", "x", "organizations",
    "topics", "exclude", "pooled_run_ids", "budget", "documents",
)  # fmt: skip
VALUES = (
    '"qrels.txt"', '"pool"', '""', '"~nobody/x"', '"a\\u0000b"', '"["', '"irds:x"', "1", "-1", "1e308", "nan",
    "9" * 30, "9" * 5000, "true", "[]", '["a"]', "[1]", "[[]]", "{}", '{ a = "b" }', "{ a = 1 }", '"rank"',
    "1979-05-27", "07:32:00", '"\\U0001F600"', "[" * 3000, "{a=" * 3000, '"' + "x" * 70_000 + '"', '"../.."',
)  # fmt: skip


def _check_description(rng: random.Random, folder: Path) -> bool:
    """A TOML file of a collection."""
    (folder / "pool").mkdir(exist_ok=True)
    (folder / "pool" / "a").touch()
    (folder / "qrels.txt").touch()
    lines = ['qrels = "qrels.txt"', 'pool = "pool"'][rng.random() < 0.1 :]
    for name in rng.sample(WORDS, rng.randint(0, 3)):
        line = f"[{name}]" if rng.random() < 0.05 else f"{name} = {rng.choice(VALUES)}"
        lines = [each for each in lines if not each.startswith(f"{name} ")] + [line]
    data = "\n".join(lines).encode()
    path = folder / "collection.toml"
    path.write_bytes(data if rng.random() < 0.7 else mutated(rng, data))
    with refused():
        name, arguments, _ = read_description(path)
        assert name
        assert {"qrels", "pool"} <= arguments.keys()
        return True
    return False


READERS = (
    Target("runs", _check_run),
    Target("judgments", partial(_check_values, kind="qrels", reader="read_qrels", value="relevance")),
    Target("labels", partial(_check_values, kind="labels", reader="read_labels", value="label")),
    Target("objects", _check_objects),
    Target("lists", _check_lists),
    Target("organizations", _check_organizations),
    Target("descriptions", _check_description),
)
