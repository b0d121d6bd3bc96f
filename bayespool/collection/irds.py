"""Judgments and runs of ir_datasets, by names such as ``irds:msmarco-passage/trec-dl-2021/judged``."""

from __future__ import annotations

import os
from typing import Any

from bayespool.errors import InputError

IRDS = "irds:"


def irds_name(given: object) -> str:
    """Name of the data set that a text or path ``irds:NAME`` stands for; empty where it stands for none.

    Examples
    --------
    >>> irds_name("irds:disks45/nocr/trec-robust-2004")
    'disks45/nocr/trec-robust-2004'
    >>> irds_name("qrels.txt")
    ''
    """
    if not isinstance(given, str | os.PathLike):
        return ""
    text = os.fsdecode(given).replace(os.sep, "/")
    return text.removeprefix(IRDS) if text.startswith(IRDS) else ""


def irds_rows(name: str, kind: str) -> list[Any]:
    """Rows of a data set of ir_datasets, which fetches and keeps them.

    Parameters
    ----------
    name : str
        As ir_datasets has it.
    kind : {"qrels", "scoreddocs"}
        Judgments, or the run that comes with the data set.

    Returns
    -------
    list of tuple
        Named tuples.

    Raises
    ------
    InputError
        ir_datasets is not installed; it has no such data set, cannot fetch it, or has none of these in it.
    """
    try:
        import ir_datasets
    except ImportError:
        reason = f"{IRDS}{name} needs the package ir_datasets, which is not installed"
        raise InputError(reason, hint="pip install ir_datasets") from None
    what = {"qrels": "judgments", "scoreddocs": "run"}[kind]
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        hint = "the catalog is at https://ir-datasets.com"
        raise InputError(f"ir_datasets has no data set {name!r}", hint=hint) from None
    if not hasattr(dataset, f"{kind}_iter"):
        raise InputError(f"{IRDS}{name} has no {what}", hint="its subsets may have")
    try:
        return list(getattr(dataset, f"{kind}_iter")())
    except Exception as error:  # whatever stands between here and a file on another machine
        hint = "ir_datasets says how to get it"
        raise InputError(f"{IRDS}{name} cannot be fetched ({error})", hint=hint) from error
