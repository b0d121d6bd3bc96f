"""The commands ``prepare`` and ``describe``."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayespool import experiments
from bayespool.cli.commands import command
from bayespool.cli.experiments import JOBS
from bayespool.cli.files import Files, check_jobs, check_keywords, files_argument, stage_progress
from bayespool.cli.messages import echo
from bayespool.cli.parameters import own_option
from bayespool.cli.results import Outputs, is_as_json, print_document
from bayespool.errors import InputError
from bayespool.names import PREPARED_SUFFIX
from bayespool.tables.formatting import number


@command(
    "experiments/preparing.py:prepare",
    first="qrels pool organizations measures file ranks keep_draws graded collections",
    more="without_judgments jobs judges known_depth reading",
    own={
        "jobs": JOBS["jobs"],
        "file": own_option(
            "--output",
            "-o",
            "file",
            type=Path,
            default=Path(f"collection{PREPARED_SUFFIX}"),
            writes="file",
            help=f"The .bayespool file to write: collection{PREPARED_SUFFIX}.",
        ),
        "without_judgments": own_option(
            "--without-judgments",
            type=bool,
            help="Leave the judgments out of the file: whoever scores runs on it gives --qrels, too.",
        ),
    },
    short="Prepare a collection: one file that runs are scored on at once",
)
def prepare(
    files: Files,
    keywords: dict[str, Any],
    outputs: Outputs,
    file: Path,
    without_judgments: bool = False,
    jobs: int = -1,
) -> None:
    """Prepare a collection: fit all models to its pool once and write one file, on which
    score --collection FILE has the values of the files in a second or two.

    The file has the rankings of the campaign's runs: share it where these may be shared.
    """
    path = file
    if path.is_dir():
        raise InputError(
            f"--output {path}: is a folder", hint=f"name a file in it: {path}/NAME{PREPARED_SUFFIX}"
        )
    if not (files.pool or files.collections):
        raise InputError("no pool to prepare", hint="name the campaign's runs: --pool")
    if path.suffix != PREPARED_SUFFIX:
        raise InputError(f"--output {path}: not a prepared collection", hint=f"end it in {PREPARED_SUFFIX}")
    check_jobs(jobs, None)
    check_keywords(experiments.prepare, keywords)
    with stage_progress() as say:
        collection, _ = files.read(say)
        prepared = experiments.prepare(collection, **keywords, n_jobs=jobs, progress=say)
        prepared.save(path, judgments=not without_judgments)
    size = round(path.stat().st_size / 1000)
    if is_as_json():
        print_document({"files": [{"file": str(path), "kilobytes": size}]})
    else:
        written = f"Wrote {path} ({number(size / 1000, 2)} MB). Score a run on it:"
        echo(f"{written} bayespool score RUN --collection {shlex.quote(str(path))}", err=False)


@command(
    "experiments/cards.py:describe_collection",
    argument=files_argument("prepared", help="A prepared collection, whose card is printed."),
    first="qrels pool organizations measures graded collections output report jobs random_seed",
    more="estimators posterior_settings reading",
    own={"jobs": JOBS["jobs"]},
    short="Describe a collection: what to know before scoring on it",
)
def describe(
    files: Files, keywords: dict[str, Any], outputs: Outputs, prepared: tuple[Path, ...] = (), jobs: int = -1
) -> None:
    """Describe a collection on one screen: its judgments and its pool, the smallest differences that it
    detects, what not to do with it, and how to cite it.

    Of a prepared collection it prints the card that is in the file. With --graded it also says how biased
    scores are as judged, and the coverage of intervals.
    """
    from bayespool.scoring.prepared import read_card

    if other := [path for path in prepared if path.suffix != PREPARED_SUFFIX]:
        hint = f"name a {PREPARED_SUFFIX} file, or give --qrels and --pool"
        raise InputError("not a prepared collection", path=other[0], hint=hint)
    files = replace(files, collections=(*files.collections, *prepared))
    if files.prepared is not None and not keywords and len(files.collections) == 1:
        outputs.write(read_card(files.prepared))
        return
    check_jobs(jobs, None)
    check_keywords(experiments.describe_collection, keywords)
    with stage_progress() as say:
        collection, _ = files.read(say)
        card = experiments.describe_collection(collection, **keywords, n_jobs=jobs, progress=say)
    outputs.write(card)
