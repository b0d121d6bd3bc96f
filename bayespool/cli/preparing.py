"""The command ``prepare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayespool import experiments
from bayespool.cli.commands import command
from bayespool.cli.files import Files, check_keywords, stage_progress
from bayespool.cli.messages import echo
from bayespool.cli.parameters import own_option
from bayespool.cli.results import Outputs, is_as_json, print_document
from bayespool.errors import InputError


@command(
    "experiments/preparing.py:prepare",
    first="qrels pool organizations measures file ranks graded collections",
    more="without_judgments judges known_depth reading",
    own={
        "file": own_option(
            "--output", "-o", "file", type=Path, help="The .bayespool file to write: collection.bayespool."
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
    file: Path | None = None,
    without_judgments: bool = False,
) -> None:
    """Prepare a collection: fit all models to its pool once and write one file, on which
    score --collection FILE has the values of the files in a second or two.

    The file has the rankings of the campaign's runs: share it where these may be shared.
    """
    from bayespool.scoring.prepared import SUFFIX

    path = file or Path(f"collection{SUFFIX}")
    if path.suffix != SUFFIX:
        raise InputError(f"--output {path}: not a prepared collection", hint=f"end it in {SUFFIX}")
    check_keywords(experiments.prepare, keywords)
    with stage_progress() as say:
        collection, _ = files.read(say)
        prepared = experiments.prepare(collection, **keywords, report=say)
        prepared.save(path, judgments=not without_judgments)
    size = round(path.stat().st_size / 1000)
    if is_as_json():
        print_document({"files": [{"file": str(path), "kilobytes": size}]})
    else:
        written = f"Wrote {path} ({size:,} KB). Score a run on it: bayespool score RUN --collection {path}"
        echo(written, err=False)
