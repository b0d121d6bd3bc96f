"""All targets, for long: ``make fuzz``, or ``python -m fuzz`` with this folder's parent on the path.

Ends with status 1 where anything was found. See `fuzz.engine` for the variables that set seed and time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from fuzz.engine import MOST_MIB, budget, fuzz, peak_mib, seed
from fuzz.frames import FRAMES
from fuzz.options import OPTIONS
from fuzz.prepared import PREPARED
from fuzz.readers import READERS
from fuzz.stored import STORED

# Shares of the inputs: files are read in a millisecond, commands and experiments take a quarter of a second.
SHARES = {
    "runs": 0.28, "judgments": 0.18, "labels": 0.14, "objects": 0.08, "lists": 0.04, "organizations": 0.12,
    "descriptions": 0.02, "frames": 0.106, "prepared": 0.01, "folds": 0.002,
    "folders": 0.002, "scores": 0.006, "certificate": 0.005, "report": 0.005, "options": 0.004,
}  # fmt: skip
TARGETS = (*READERS, *FRAMES, *STORED, *PREPARED, *OPTIONS)


def main() -> None:
    """Give every target its share of the inputs, and say what came of them."""
    parser = argparse.ArgumentParser(description="Fuzz bayespool.")
    parser.add_argument("--target", choices=[target.name for target in TARGETS], help="this one alone")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--inputs", type=int, help="how many, over all targets")
    asked = parser.parse_args()
    inputs, seconds = budget(50_000, float("inf"))
    inputs = inputs if asked.inputs is None else asked.inputs
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    found, n = [], 0
    with tempfile.TemporaryDirectory(prefix="bayespool-fuzz-", dir=memory) as folder:
        tempfile.tempdir = folder
        for target in TARGETS:
            share = float(target.name == asked.target) if asked.target else SHARES[target.name]
            if not (count := round(share * inputs)):
                continue
            place = Path(folder, target.name)
            place.mkdir()
            outcome = fuzz(target, place, range(asked.first, asked.first + count), seconds=seconds * share)
            print(outcome, flush=True)
            n += outcome.accepted + outcome.refused + len(outcome.found)
            found += outcome.found
    for line in found[:20]:
        print(line, file=sys.stderr)
    print(f"{n:,} mutated inputs of seed {seed()}: {len(found)} found, at most {peak_mib():.0f} MiB")
    if peak_mib() > MOST_MIB:
        sys.exit(f"more than {MOST_MIB:,} MiB were taken")
    sys.exit(1 if found or not n else 0)


if __name__ == "__main__":
    main()
