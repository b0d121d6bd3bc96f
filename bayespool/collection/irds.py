"""Judgments and runs of ir_datasets, by names such as ``irds:msmarco-passage/trec-dl-2021/judged``."""

from __future__ import annotations

import os
from typing import Any

from bayespool.errors import InputError

IRDS = "irds:"


def irds_name(source: object) -> str:
    """Name of the data set in a text or path ``irds:NAME``; empty for anything else.

    Examples
    --------
    >>> irds_name("irds:disks45/nocr/trec-robust-2004")
    'disks45/nocr/trec-robust-2004'
    >>> irds_name("qrels.txt")
    ''
    """
    if not isinstance(source, str | os.PathLike):
        return ""
    text = os.fsdecode(source).replace(os.sep, "/")
    return text.removeprefix(IRDS) if text.startswith(IRDS) else ""


def irds_rows(name: str, kind: str) -> list[Any]:
    """Named tuples of a data set of ir_datasets: its judgments (``qrels``) or its run (``scoreddocs``)."""
    try:
        import ir_datasets
    except ImportError:
        reason = f"{IRDS}{name} needs the package ir_datasets, which is not installed"
        raise InputError(reason, hint="pip install ir_datasets") from None
    contents = {"qrels": "judgments", "scoreddocs": "run"}[kind]
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        hint = "the catalog is at https://ir-datasets.com"
        raise InputError(f"ir_datasets has no data set {name!r}", hint=hint) from None
    if not hasattr(dataset, f"{kind}_iter"):
        raise InputError(f"{IRDS}{name} has no {contents}", hint="its subsets may have")
    try:
        return list(getattr(dataset, f"{kind}_iter")())
    except Exception as error:  # of the network, the disk or a parser
        hint = "ir_datasets says how to get it"
        raise InputError(f"{IRDS}{name} cannot be fetched ({error})", hint=hint) from error
