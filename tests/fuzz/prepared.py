"""Prepared collections that were damaged, mixed or forged: refused, or scored within bounds."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.engine import Target, mutated, refused
from fuzz.stored import ODD, turned

from bayespool import prepare
from bayespool.collection import packing
from bayespool.experiments import SimulationSettings, simulate
from bayespool.reading.archives import member_errors, read_archive, write_archive
from bayespool.scoring.prepared import PreparedCollection, head_digest, read_prepared
from bayespool.tables.files import digest

Members = dict[str, bytes]

SMALL = SimulationSettings(n_topics=4, n_candidates=40, n_organizations=4, max_runs=2, run_depth=20)
HEAD, ABOUT, DRAWS = "prepared.json", "collection.json", "draws.f8"
NAMES = ("../x", "/etc/x", "x", HEAD, "a/b", "", "é", "c:x", "results.parquet ", "\\x", "results.pickle")
FAST: dict[str, Any] = {"estimators": ["as-judged", "posterior-combined"], "posterior_settings": "draws=25"}
ALL_DRAWS: dict[str, Any] = {"estimators": ["as-judged", "posterior-combined"]}
AS_JUDGED: dict[str, Any] = {"estimators": ["as-judged"]}
NUMBERS: tuple[Any, ...] = (
    None, 0, 1, -1, 2, 5, 255, 65_535, 2**31 - 1, -(2**31), 2**40, 0.5, 1e-300, 700.0, -800.0, 1e30, -1e308,
    float("inf"), float("nan"),
)  # fmt: skip


@cache
def _file(seed: int, keep_draws: bool = False) -> Path:
    """A prepared collection that is written once, with a card and a run to score beside it."""
    folder = Path(tempfile.mkdtemp(prefix="bayespool-fuzz-"))
    simulation = simulate(SMALL, random_seed=seed)
    simulation.write(folder)
    prepared = prepare(simulation.collection, "P@10", keep_draws=keep_draws)
    prepared.save(folder / "made.bayespool")
    return folder / "made.bayespool"


def _members(seed: int, keep_draws: bool = False) -> Members:
    return read_archive(_file(seed, keep_draws), max_size=100, hint="")


def _told(prepared: PreparedCollection, settings: dict[str, Any]) -> str:
    scores = prepared.score(_file(1).parent / "new" / "new-a.run", **settings)
    recorded = {key: {name: a.tolist() for name, a in of.items()} for key, of in prepared.recorded.items()}
    return f"{prepared.collection.fingerprint} {scores.to_frame().to_csv()} {recorded}"


@cache
def _truth(with_posterior: bool) -> str:
    """Fingerprint, results and scores of the file as it was written."""
    return _told(read_prepared(_file(1)), FAST if with_posterior else AS_JUDGED)


def _check(rng: random.Random, folder: Path) -> bool:
    """Damage is refused or changes nothing; a forgery ends in an error of ours or in values within bounds."""
    path = folder / "changed.bayespool"
    match rng.randrange(10):
        case 0 | 1:
            path.write_bytes(mutated(rng, _file(1).read_bytes()))
        case 2 | 3:
            _write_rearranged(rng, path)
        case _:
            with_draws = rng.random() < 0.1
            forged = _forged(rng, with_draws)
            if forged is None:
                return False  # nothing that a Parquet file can hold
            write_archive(path, forged, as_is={DRAWS})
            return _scores_within_bounds(rng, path, ALL_DRAWS if with_draws else FAST)
    prepared = None
    with refused():
        prepared = read_prepared(path)
    if prepared is None:
        return False
    often = rng.random() < 0.3
    assert _told(prepared, FAST if often else AS_JUDGED) == _truth(often), "damage changed values"
    return True


def _write_rearranged(rng: random.Random, path: Path) -> None:
    """Write the members swapped, dropped, doubled, renamed, damaged or those of another file."""
    members, other = list(_members(1).items()), _members(2)
    for _ in range(rng.randint(0, 2)):
        i, j = rng.randrange(len(members)), rng.randrange(len(members))
        (name, content), (_, elsewhere) = members[i], members[j]
        match rng.randrange(7):
            case 0:
                members[i], members[j] = (name, elsewhere), (members[j][0], content)
            case 1:
                del members[i]
            case 2:
                members.append((name, rng.choice((content, elsewhere))))
            case 3:
                members[i] = rng.choice(NAMES), content
            case 4:
                members[i] = name, other.get(name, b"")
            case 5:
                members[i] = name, mutated(rng, content)
            case _:
                members.append((rng.choice(NAMES), b"x" * rng.choice((0, 10, 10_000))))
        if not members:
            break
    rng.shuffle(members)
    with zipfile.ZipFile(path, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_LZMA))) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name or "nameless"), content)


def _forged(rng: random.Random, with_draws: bool) -> Members | None:
    """Members that were changed, with digests made right again; None for what no file can hold."""
    members = dict(_members(1, with_draws))
    for _ in range(rng.choice((1, 1, 1, 2))):
        name = DRAWS if with_draws and rng.random() < 0.5 else rng.choice(list(members))
        try:
            match rng.randrange(8):
                case 0:
                    members[name] = mutated(rng, members[name])
                case 1:
                    members[name] = _members(2).get(name, b"")
                case _ if name == DRAWS:
                    members[name] = _changed_draws(rng, members[name])
                case _ if name.endswith(".json"):
                    members[name] = _turned_json(rng, members[name])
                case _:
                    members[name] = _changed_table(rng, members[name])
        except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, RecursionError):
            return None
    _make_right(rng, members)
    return members


def _changed_draws(rng: random.Random, content: bytes) -> bytes:
    numbers = np.frombuffer(content, "<f8").copy()
    numbers[rng.randrange(len(numbers)) :][: rng.choice((1, 1000, 100_000))] = rng.choice(NUMBERS[1:])
    return numbers.tobytes()[: rng.choice((None, None, -8, -3))]


def _turned_json(rng: random.Random, content: bytes) -> bytes:
    found = json.loads(content)
    for _ in range(rng.randint(1, 2)):
        found = turned(rng, found)
    return json.dumps(found).encode()


def _changed_table(rng: random.Random, content: bytes) -> bytes:
    """A table with a column dropped, renamed, of another type or with other values, or with fewer rows."""
    table = pq.read_table(io.BytesIO(content))
    i = rng.randrange(table.num_columns)
    name, column = table.column_names[i], table.column(i)
    match rng.randrange(6):
        case 0:
            table = table.drop_columns([name])
        case 1:
            table = table.rename_columns([rng.choice(("x", name, *table.column_names))] * table.num_columns)
        case 2:
            table = table.take(rng.choices(range(len(table)), k=rng.randint(0, len(table) + 2)))
        case 3:
            values = column.to_pylist()
            types = (pa.string(), pa.float64(), pa.int8(), pa.int64(), pa.bool_(), pa.binary())
            table = table.set_column(i, name, pa.array(list(map(str, values)), pa.string()))
            table = table.set_column(i, name, table.column(i).cast(rng.choice(types)))
        case _:
            values = column.to_pylist()
            for _ in range(rng.randint(1, 3)):
                _change_value(rng, values, column.type)
            kind = column.type if rng.random() < 0.7 else None
            table = table.set_column(i, name, pa.array(values, kind))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression=rng.choice(("none", "snappy", "zstd")))
    return buffer.getvalue()


def _change_value(rng: random.Random, values: list[Any], kind: pa.DataType) -> None:
    if not values:
        return
    place = rng.randrange(len(values))
    if pa.types.is_list(kind):
        filled = [i for i, some in enumerate(values) if some]
        place = rng.choice(filled) if filled and rng.random() < 0.9 else place
        some = list(values[place] or [])
        match rng.randrange(4):
            case 0:
                some = some[: rng.randint(0, len(some))]
            case 1:
                some = some + some[:1]
            case 2:
                some = [rng.choice(NUMBERS)] * len(some)
            case _ if some:
                some[rng.randrange(len(some))] = rng.choice(NUMBERS)
        values[place] = some if rng.random() < 0.95 else None
    elif pa.types.is_string(kind) and rng.random() < 0.7:
        values[place] = rng.choice(("", "x", "\0", "é", values[rng.randrange(len(values))]))
    else:
        values[place] = rng.choice(NUMBERS if rng.random() < 0.9 else ODD)


def _make_right(rng: random.Random, members: Members) -> None:
    """Make the fingerprint of the judgments, and the digests, those of what is there, where it can be."""
    with refused(), member_errors(None):
        about = json.loads(members[ABOUT])
        if rng.random() < 0.8 and isinstance(about, dict):
            about["judgments"] = packing.fingerprint_judgments(packing._unpack(members, about))
            members[ABOUT] = json.dumps(about).encode()
    with refused(), member_errors(None):
        head = json.loads(members[HEAD])
        if isinstance(head, dict):
            head["digests"] = {name: digest(content) for name, content in members.items() if name != HEAD}
            head["digest"] = head_digest(head)
            members[HEAD] = json.dumps(head).encode()


def _scores_within_bounds(rng: random.Random, path: Path, settings: dict[str, Any]) -> bool:
    """Whether a forged file is read; AssertionError where values are not finite and within bounds."""
    taken = False
    with refused():
        prepared = read_prepared(path)
        repr(prepared), prepared.collection.fingerprint
        taken = True
        with refused():
            card = prepared.describe()
            repr(card), card.to_frame(), card.notes(), card.sentences()
        run = _file(1).parent / "new" / "new-a.run"
        settings = settings if rng.random() < 0.5 else AS_JUDGED
        frame = prepared.score(run, None if rng.random() < 0.5 else "P@10", **settings).to_frame()
        numbers = frame[["value", "lower", "upper"]].astype(float).to_numpy()
        value, lower, upper = numbers.T
        posterior = (frame["estimator"] != "as-judged").to_numpy()
        assert np.isfinite(value).all(), "a value is not finite"
        assert ((value >= 0) & (value <= 1)).all(), "a value is no score"
        assert np.isfinite(numbers[posterior]).all(), "an interval is not finite"
        assert (lower <= upper + 1e-12)[posterior].all(), "an interval is upside down"
    return taken


PREPARED = (Target("prepared", _check),)
