"""What bayespool reads back of its own, damaged or forged: finished folds, folders and files of results."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.engine import Target, mutated, refused

from bayespool import audit, qrels_from_frame, read_audit, read_result
from bayespool.auditing.auditing import document_digest
from bayespool.experiments import leave_out, load_example, running as storage
from bayespool.report import Result, write_report
from bayespool.scoring import read_scores, score
from bayespool.tables import files

ODD: list[Any] = [
    None, True, 0, -1, 1e308, 10**30, "", "x", "../../x", "\ud800", [], [[]], {}, {"a": 1}, [None], [1, "a"],
    float("nan"), float("inf"), "P@99999999999", "\x1b[31m", "=1+1", {"": None}, ["a"] * 3,
]  # fmt: skip
ENDINGS = ("json", "parquet", "nc")
SETTINGS: dict[str, Any] = {"measures": ["P@5"], "estimators": "background"}


@cache
def _kept(name: str) -> Path:
    """A folder that is made once and copied."""
    folder = Path(tempfile.mkdtemp(prefix="bayespool-fuzz-"))
    if name == "folds":
        leave_out(load_example(), folder=folder, **SETTINGS)
    elif name == "folder":
        _result().save(folder / "results")
    else:
        scores = score(
            load_example(),
            ["new-a", "new-b"],
            "P@5",
            estimators=["background", "posterior-ratio"],
            posterior_settings="draws=100",
        )
        for ending in ENDINGS:
            scores.save(folder / f"scores.{ending}")
    return folder


@cache
def _result() -> Any:
    return leave_out(load_example(), **SETTINGS)


def _told(result: Any) -> str:
    return str(result.to_frame().to_csv()) + str(result.to_frame("summary").to_csv())


def turned(rng: random.Random, value: Any) -> Any:
    """A value as JSON has it with one part of it replaced, removed, doubled or renamed."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        rest = dict(value)
        match rng.randrange(6):
            case 0:
                del rest[key]
            case 1:
                rest[str(rng.choice(ODD))] = rest.pop(key)
            case _:
                rest[key] = turned(rng, value[key])
        return rest
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        match rng.randrange(6):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return [*value, value[place]]
            case _:
                return [*value[:place], turned(rng, value[place]), *value[place + 1 :]]
    return rng.choice(ODD)


def _check_folds(rng: random.Random, folder: Path) -> bool:
    """Damage is seen and worked out again; a forgery, which may be believed, ends in no foreign error."""
    place = folder / "folds-of"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_kept("folds"), place)
    paths = sorted((place / "folds").iterdir())
    path = rng.choice(paths)
    believed = False
    match rng.randrange(5):
        case 0:
            path.write_bytes(mutated(rng, path.read_bytes()))
        case 1:
            path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])
        case 2:
            path.write_bytes(rng.choice(paths).read_bytes())
        case 3:
            path.unlink()
            rng.choice((path.mkdir, lambda: path.symlink_to("nowhere"), lambda: path.symlink_to(path.name)))()
        case _:
            rows, more = files.read_parquet(path) or ({}, {})
            more.pop("digest", None)
            for _ in range(rng.randint(1, 2)):
                if rng.random() < 0.6:
                    rows = turned(rng, rows)
                else:
                    more = turned(rng, more)
            try:
                more["digest"] = storage._digest(more, rows)
                path.write_bytes(files.parquet_bytes(rows, more))
            except Exception:
                return False  # nothing that a Parquet file can hold
            believed = True
    found = None
    with refused():
        found = _told(leave_out(load_example(), folder=place, **SETTINGS))
    assert found is not None or believed or path.is_dir() or path.is_symlink(), "damage ended the experiment"
    assert believed or found in (None, _told(_result())), "damaged folds changed the tables"
    return found is not None


def _check_folder(rng: random.Random, folder: Path) -> bool:
    """A folder of results of which a file is not as it was written."""
    place = folder / "results"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_kept("folder") / "results", place)
    settings = place / "settings.json"
    if rng.random() < 0.6:
        _forge_json(rng, settings)
    else:
        path = rng.choice(sorted(place.iterdir()))
        path.write_bytes(mutated(rng, path.read_bytes()))
    beside = folder / "beside.csv"
    beside.write_bytes(b"of the user")
    taken = False
    with refused():
        results = read_result(place)
        repr(results), results.to_frame(), results.notes(), results.read()
        taken = True
    if rng.random() < 0.3:
        with refused():
            _result().save(place)
            assert read_result(place).command == "leave-out"
    assert beside.read_bytes() == b"of the user"
    return taken


def _forge_json(rng: random.Random, path: Path) -> None:
    text = path.read_bytes()
    which = rng.random()
    if which < 0.6:
        found = json.loads(text)
        for _ in range(rng.randint(1, 3)):
            found = turned(rng, found)
        path.write_bytes(json.dumps(found).encode())
    elif which < 0.62:
        depth = rng.choice((10, 2000, 200_000))
        path.write_bytes(rng.choice((b"[" * depth, b'{"metadata":' * depth, b"[" * depth + b"]" * depth)))
    else:
        path.write_bytes(mutated(rng, text))


def _check_scores(rng: random.Random, folder: Path) -> bool:
    """A file of scores that was changed, read as scores and as results."""
    ending = rng.choices(ENDINGS, (6, 3, 1))[0]
    path = folder / f"changed.{ending}"
    shutil.copyfile(_kept("scores") / f"scores.{ending}", path)
    if ending == "json":
        _forge_json(rng, path)
    elif ending == "parquet" and rng.random() < 0.6:
        columns, metadata = files.read_parquet(path) or ({}, {})
        try:
            path.write_bytes(files.parquet_bytes(turned(rng, columns), turned(rng, metadata)))
        except Exception:
            return False
    else:
        path.write_bytes(mutated(rng, path.read_bytes()))
    taken = False
    with refused():
        scores = read_scores(path)
        repr(scores), scores.run_ids, scores.query_ids
        with refused():
            scores.to_frame(), scores.notes(), scores.measures, scores.read()
        if ending == "nc":
            scores.to_arviz()
        taken = True
    if ending != "nc":
        with refused():
            results = read_result(path)
            repr(results), results.to_frame(), results.notes()
    return taken


@cache
def _certificate() -> tuple[str, str]:
    """An audit's certificate with judgments in it, and what is shown of it."""
    planned = audit(load_example(), "new-b", "P@10", budget=6, estimators="posterior-ratio(draws=50)")
    lines = planned.qrels()
    judged: dict[str, dict[str, int]] = {}
    for i, (query_id, doc_id) in enumerate(
        zip(lines.query_id.to_pylist(), lines.doc_id.to_pylist(), strict=True)
    ):
        judged.setdefault(query_id, {})[doc_id] = i % 2
    path = Path(tempfile.mkdtemp(prefix="bayespool-fuzz-"), "audit.json")
    planned.continue_with(qrels_from_frame(judged), budget=3).save(path)
    return path.read_text(), _shown(read_audit(path))


def _shown(result: Result) -> str:
    """What is printed and reported of a result."""
    return f"{result!r}{result.summary()}{result.to_markdown()}{result.page()}"


def _check_certificate(rng: random.Random, folder: Path) -> bool:
    """A certificate that was changed is refused, or shows the same; a forgery ends in no foreign error."""
    path = folder / "audit.json"
    path.write_text(_certificate()[0])
    _forge_json(rng, path)
    is_forged = rng.random() < 0.6
    if is_forged:
        try:
            document = json.loads(path.read_bytes())
            document["metadata"]["digest"] = document_digest(document)
            path.write_text(json.dumps(document))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            is_forged = False
    shown = ""
    with refused():
        shown = _shown(read_audit(path))
    assert is_forged or shown in ("", _certificate()[1]), "a changed certificate shows something else"
    return bool(shown)


def _check_report(rng: random.Random, folder: Path) -> bool:
    """A result that was changed is reported, or refused."""
    path = folder / "changed.json"
    if rng.random() < 0.5:
        shutil.copyfile(_kept("scores") / "scores.json", path)
    else:
        path.write_text(_certificate()[0])
    _forge_json(rng, path)
    with refused():
        write_report(read_result(path), folder / "report.html")
        return True
    return False


STORED = (
    Target("folds", _check_folds),
    Target("folders", _check_folder),
    Target("scores", _check_scores),
    Target("certificate", _check_certificate),
    Target("report", _check_report),
)
