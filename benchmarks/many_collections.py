"""Thirteen collections of the size of DL 2021 as one table: time beside that of single ones, and memory.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/many_collections.py [--collections 13]

One organization leaves the pool, and two of its runs are compared on each of thirteen copies, by one command
and by a command for each. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

from at_hand import collections_folder, run_command

LEFT_OUT = "IHSM"


def main() -> None:
    """Print seconds and peak memory of both ways, and their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--collections", type=int, default=13)
    asked = parser.parse_args()
    source = collections_folder(parser) / "dl21-passage"
    with tempfile.TemporaryDirectory() as made:
        folder, names = Path(made), [f"c{i}" for i in range(asked.collections)]
        runs = write_collections(source, folder, names)
        each = [
            run_command("compare", *sorted((folder / "alone").iterdir()), *described(folder, [name]))[1:]
            for name in names[:3]
        ]
        seconds, memory = run_command("compare", *runs, *described(folder, names))[1:]
        single = sum(s for s, _ in each) / len(each)
        print(f"one collection: {single:.1f} s, {max(m for _, m in each):.0f} MiB")
        print(f"{asked.collections} collections: {seconds:.1f} s, {memory:.0f} MiB")
        print(f"time: {seconds / (single * asked.collections):.2f} of that of single ones (at most 1.2)")
        print(f"memory: {memory / max(m for _, m in each):.2f} of that of a single one")


def write_collections(source: Path, folder: Path, names: list[str]) -> list[Path]:
    """Write copies of a collection without an organization; return the folders of two of its runs."""
    with open(source / "organizations.csv", newline="") as file:
        who = {row["run_id"]: row["organization"] for row in csv.DictReader(file)}
    own = sorted(run for run, organization in who.items() if organization == LEFT_OUT)[:2]
    (folder / "pool").mkdir()
    (folder / "alone").mkdir()
    for path in (source / "runs").iterdir():
        run = path.name.removeprefix("input.").removesuffix(".gz")
        if who.get(run, LEFT_OUT) != LEFT_OUT:
            (folder / "pool" / path.name).symlink_to(path.resolve())
        if run in own:
            (folder / "alone" / run).symlink_to(path.resolve())
            (folder / run).mkdir()
            for name in names:
                (folder / run / f"{name}.run{'.gz' * (path.suffix == '.gz')}").symlink_to(path.resolve())
    with open(folder / "organizations.csv", "w", newline="") as file:
        listed = [(run, organization) for run, organization in who.items() if organization != LEFT_OUT]
        csv.writer(file).writerows([("run_id", "organization"), *listed])
    keys = f'qrels = "{source.resolve() / "qrels.txt"}"\npool = "pool"\norganizations = "organizations.csv"\n'
    for name in names:
        (folder / f"{name}.toml").write_text(f'{keys}strict = false\nmax_holes = 0\nmeasure = "nDCG@10"\n')
    return [folder / run for run in own]


def described(folder: Path, names: list[str]) -> list[str]:
    """Return the options that name collections."""
    return [part for name in names for part in ("--collection", str(folder / f"{name}.toml"))]


if __name__ == "__main__":
    main()
