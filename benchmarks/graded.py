"""How long a fitted completion takes to be evaluated: nDCG@10 and AP@1000 of all runs of TREC-8.

    python benchmarks/graded.py [--draws 4000]

The pool is that of TREC-8 to depth 10, so that most of what the 129 runs rank is unjudged. What is timed is
`Completion.evaluate`, once the loops are compiled; the time of the fit stands beside it. The memory is the
most that the process held, fit included.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings

from at_hand import collections_folder, read

from bayespool import complete, load_example


def main() -> None:
    """Print a line for each measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--measure", action="append")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    collection = read(collections_folder(parser) / "trec8-adhoc", max_holes=0).truncate_pool(10)
    print(collection)
    for name in given.measure or ["nDCG@10", "AP@1000"]:
        start = time.perf_counter()
        completion = complete(collection, collection.run_ids, name, draws=given.draws // 4)
        fitted = time.perf_counter() - start
        complete(load_example(), None, name, draws=50).evaluate(name)  # compiles
        start, cpu = time.perf_counter(), time.process_time()
        (values,) = completion.evaluate(name)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name}: {len(completion.unknowns)} documents, {values.amount.shape} values; "
            f"complete {fitted:.1f} s, "
            f"evaluate {wall:.1f} s ({cpu:.1f} s of processor time), {gib:.2f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
