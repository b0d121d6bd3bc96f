"""Our figures beside the published ones of two papers: writes research/papers/reproduction/*.csv.

    python research/papers/reproduction.py COLLECTIONS --published FOLDER

COLLECTIONS holds trec2-adhoc, trec8-adhoc, trec2011-medical, dl21-passage and covid-round4, each with runs/,
qrels.txt and organizations.csv; the folder of published figures has lipani-2015-table2.csv,
tool-2020-results.csv and ravana-moffat-2010-table1.csv and -table2.csv. It takes about twenty minutes on two
cores. research/papers/reproduction/agreement.md says what differs and why.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import published_indicators
import published_shallow
from published_experiments import (
    CUTOFFS,
    EXPERIMENTS,
    MEASURES,
    METHODS,
    TITLES,
    Cell,
    Experiment,
    as_then,
    collection_then,
    grades,
    label,
    near,
    published,
    read,
    run,
    same,
)

from bayespool.collection import Collection

OUTPUT = Path(__file__).parent / "reproduction"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an experiment came to: errors by cutoff and label, ours and as the tool computes them."""

    experiment: Experiment
    pool: str
    n_reported: int
    ours: dict[tuple[int, str], Cell]
    then: dict[tuple[int, str], Cell]


def find(collections: Path, experiment: Experiment, n_jobs: int | None) -> Finding:
    """Compute one experiment."""
    collection = read(collections, experiment)
    ours = run(collection, experiment, METHODS, n_jobs=n_jobs)
    then = as_then(
        collection_then(collections, experiment, collection),
        experiment,
        switches=experiment.folder != "trec8-adhoc",
        n_jobs=n_jobs,
    )
    return Finding(
        experiment=experiment,
        pool=f"{len(collection.pooled_run_ids)} of {len(collection.run_ids)} runs pooled to depth "
        f"{collection.pool_depth}",
        n_reported=int(ours.to_frame("summary")["n_runs"].max()),
        ours=grades(ours, experiment, then=False),
        then=grades(then, experiment, then=True, decimals=experiment.decimals),
    )


Printed = dict[tuple[str, int, str], Cell]


def printed_keys(finding: Finding, printed: Printed) -> list[tuple[int, str]]:
    """Cutoffs and methods with a printed figure."""
    title = finding.experiment.title
    return [(n, method) for n in CUTOFFS for method in METHODS if (title, n, method) in printed]


def figures(findings: Sequence[Finding], printed: Printed) -> Iterator[list[str]]:
    """Rows of printed figures, ours, and those computed as then."""
    errors = ("mae", "sre", "sre_star")
    columns = [f"{what}_{whose}" for what in errors for whose in ("printed", "ours", "as_then")]
    yield ["experiment", "cutoff", "method", *columns]
    for finding in findings:
        for n, method in printed_keys(finding, printed):
            cells = (
                printed[finding.experiment.title, n, method],
                finding.ours[n, method],
                finding.then[n, method],
            )
            numbers = [
                f"{getattr(cell, what):.4f}" if what == "mae" else f"{getattr(cell, what):.0f}"
                for what in errors
                for cell in cells
            ]
            yield [finding.experiment.title, str(n), method, *numbers]


def read_tables(text: str) -> list[list[list[str]]]:
    """Rows of each Markdown table in a text, without marks."""
    tables: list[list[list[str]]] = []
    before = ""
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            if not before.startswith("|"):
                tables.append([])
            plain = line.replace("**", "").replace("\\*", "*")
            tables[-1].append([cell.strip() for cell in plain[1:-1].split("|")])
        before = line
    return tables


def write_csv(file: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows of text."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def count(
    findings: Sequence[Finding], printed: Printed, methods: Sequence[str], column: str, how: Any
) -> tuple[int, int]:
    """Numbers of MAEs and SREs for which ``how`` holds."""
    found = [0, 0]
    for finding in findings:
        for n, method in printed_keys(finding, printed):
            if method in methods:
                p, cells = printed[finding.experiment.title, n, method], getattr(finding, column)
                for i, what in enumerate(("mae", "sre")):
                    found[i] += how(getattr(cells[n, method], what), getattr(p, what), what)
    return found[0], found[1]


def summary(findings: Sequence[Finding], printed: Printed) -> str:
    """How many figures agree."""
    lines = [
        "| | method | figures | ours: equal to the printed digit, MAE and SRE | ours: within .0002 and 2 "
        "| as then: equal, MAE and SRE |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    groups: dict[str, list[Finding]] = {}
    for f in findings:
        name = "table 2" if f.experiment.source == "paper" else "tool of 2020"
        groups.setdefault(f"{name}, {TITLES[f.experiment.folder]}", []).append(f)
    groups["all"] = list(findings)
    for name, group in groups.items():
        for method in METHODS:
            total = count(group, printed, [method], "ours", lambda *_: True)[0]
            numbers = [
                count(group, printed, [method], column, how)
                for column, how in (("ours", same), ("ours", near), ("then", same))
            ]
            told = " | ".join(f"{mae}, {sre}" for mae, sre in numbers)
            lines.append(f"| {name} | {method} | {total} | {told} |")
    return "\n".join(lines)


SWITCHES = {
    (
        "anti-precision",
        "moved_up_first",
    ): "of two documents that compete for a rank, the one that moved up to "
    "it goes first and one that moved down last; in the text below equation 2, and here, the document of the "
    "pooled run alone goes first",
    ("anti-precision", "missing_unjudged"): "the ranks that a short list lacks belong to the unjudged share "
    "k̄; here they are not relevant, as trec_eval has them",
    (
        "anti-precision",
        "own_topics",
    ): "means over the topics that a run has, those of a composed run over the "
    "topics of both; here over all topics",
    ("anti-precision", "decimals"): "P@n and anti-P@n are rounded to 4 decimals before use, uncorrected P@n "
    "included",
    (
        "anti-precision",
        "siblings",
    ): "the run is composed with all kept runs but itself, with those of its own "
    "organization, too; in the paper's algorithm 1, and here, with the pooled ones",
    (
        "webber-park",
        "own_topics",
    ): "a pooled run's loss is its mean over the topics that it has; here over all",
    ("webber-park", "tags"): "prc1 and prc2 of TREC-2, whose files carry one tag, leave the pool together in "
    "the inner loop",
    (
        "webber-park",
        "siblings_in_pool",
    ): "in the inner loop only the run itself is out of the pool: it uses judgments "
    "that the other runs of its organization contributed",
    ("webber-park", "siblings_in_mean"): "the mean is over all kept runs but the run itself, in which the "
    "others of its organization count with a loss of 0; here over the runs that are in the pool",
    ("webber-park", "decimals"): "all scores are rounded to 4 decimals before use",
}


def switches(findings: Sequence[Finding], printed: Printed) -> str:
    """What each way of the tool is good for: figures that no longer agree without it."""
    lines = [
        "| method | way of the tool | figures that agree with it | without it | largest change of MAE, SRE |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for (method, switch), text in SWITCHES.items():
        n_with = n_without = total = 0
        changes = [0.0, 0.0]
        for finding in findings:
            if (CUTOFFS[0], label(method, switch)) not in finding.then:
                continue
            for n, of_method in printed_keys(finding, printed):
                if of_method != method:
                    continue
                p = printed[finding.experiment.title, n, method]
                on, off = finding.then[n, method], finding.then[n, label(method, switch)]
                for i, what in enumerate(("mae", "sre")):
                    total += 1
                    a, b = getattr(on, what), getattr(off, what)
                    n_with += same(a, getattr(p, what), what)
                    n_without += same(b, getattr(p, what), what)
                    changes[i] = max(changes[i], abs(a - b))
        if total:
            change = f"{changes[0]:.4f}, {changes[1]:.0f}"
            lines.append(f"| {method} | {text} | {n_with} of {total} | {n_without} | {change} |")
    return "\n".join(lines)


def reduced_pool(
    collections: Path, experiment: Experiment, printed: Printed, **changes: Any
) -> tuple[Collection, dict[int, Cell], int]:
    """The reduced pool's errors with something changed, and how many of its figures still agree."""
    changed = dataclasses.replace(experiment, **changes)
    collection = read(collections, changed)
    cells = grades(run(collection, changed, {"reduced-pool": "as-judged"}), changed, then=False)
    n_same = 0
    for n in CUTOFFS:
        p = printed[experiment.title, n, "reduced-pool"]
        n_same += same(cells[n, "reduced-pool"].mae, p.mae, "mae") + (cells[n, "reduced-pool"].sre == p.sre)
    return collection, {n: cells[n, "reduced-pool"] for n in CUTOFFS}, n_same


def pool_rules(collections: Path, paper: Sequence[Experiment], printed: Printed) -> str:
    """How many runs each rule finds, and what becomes of the reduced pool's figures."""
    lines = [
        "| | runs in the paper | depth / 20 holes | skipping, depth / 10 holes | skipping, depth / 5 holes |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    in_paper = {"trec2-adhoc": 36, "trec8-adhoc": 80, "trec2011-medical": 56}
    for experiment in paper:
        found = []
        twentieth = 0 if experiment.folder == "trec2011-medical" else 5
        for rule in ({"max_holes": twentieth}, {"pool_rule": "skipping"}, experiment.reading):
            collection, _, n_same = reduced_pool(collections, experiment, printed, reading=rule)
            found.append(f"{len(collection.pooled_run_ids)} runs: {n_same} of 10")
        lines.append(f"| {TITLES[experiment.folder]} | {in_paper[experiment.folder]} | {' | '.join(found)} |")
    return "\n".join(lines)


def options(collections: Path, paper: Sequence[Experiment], printed: Printed) -> str:
    """What each named option is good for."""
    lines = [
        "| set back to its default | " + " | ".join(TITLES[e.folder] for e in paper) + " |",
        "| --- |" + " ---: |" * len(paper),
    ]
    changes: dict[str, dict[str, Any]] = {
        "none": {},
        '`top_pool="all"`': {"top_pool": "all"},
        "`repool_to=None`": {"repool_to": None},
        '`denominator="qrels"`': {"denominator": "qrels"},
        '`unseen="nonrelevant"`': {"unseen": "nonrelevant"},
        '`truth="repooled"`': {"truth": "repooled"},
    }
    pools = {e.folder: read(collections, e) for e in paper}
    for name, change in changes.items():
        told_counts = []
        for e in paper:
            cells = grades(run(pools[e.folder], e, METHODS, **change), e, then=False)
            n_same = sum(
                same(getattr(cells[key], what), getattr(printed[(e.title, *key)], what), what)
                for key in cells
                for what in ("mae", "sre")
            )
            n_near = sum(
                near(getattr(cells[key], what), getattr(printed[(e.title, *key)], what), what)
                for key in cells
                for what in ("mae", "sre")
            )
            told_counts.append(f"{n_same}, {n_near}")
        lines.append(f"| {name} | {' | '.join(told_counts)} |")
    return "\n".join(lines)


def ties(collections: Path, medical: Experiment, printed: Printed) -> str:
    """Medical 2011 at P@20, by which of three equal runs misses the best 75 %."""
    lines = ["| called `~…` | MAE of the reduced pool, P@20 | SRE |", "| --- | ---: | ---: |"]
    for name in ("UIowaSMED2", "RERANK2", "CWI3"):
        _, cells, _ = reduced_pool(collections, medical, printed, last_files=(name,))
        lines.append(f"| {name} | {cells[20].mae:.5f} | {cells[20].sre:.0f} |")
    p = printed[medical.title, 20, "reduced-pool"]
    lines.append(f"| printed | {p.mae:.4f} | {p.sre:.0f} |")
    return "\n".join(lines)


def alone(collections: Path, ad_hoc_8: Experiment, printed: Printed) -> str:
    """Ad Hoc 8 at P@100, by the organization of 8manexT3D1N0."""
    lines = ["| SRE at P@100, ours | " + " | ".join(METHODS) + " |", "| --- |" + " ---: |" * len(METHODS)]
    for name, experiment in (
        ("with ge, as listed", dataclasses.replace(ad_hoc_8, alone=())),
        ("by itself", ad_hoc_8),
    ):
        cells = grades(run(read(collections, experiment), experiment, METHODS), experiment, then=False)
        lines.append(f"| {name} | " + " | ".join(f"{cells[100, m].sre:.0f}" for m in METHODS) + " |")
    told_values = " | ".join(f"{printed[ad_hoc_8.title, 100, m].sre:.0f}" for m in METHODS)
    lines.append(f"| printed | {told_values} |")
    return "\n".join(lines)


def stars(collections: Path, paper: Sequence[Experiment], printed: Printed) -> str:
    """SRE* of the reduced pool by either test."""
    lines = ["| | test | " + " | ".join(MEASURES) + " |", "| --- | --- |" + " ---: |" * len(CUTOFFS)]
    for experiment in paper:
        collection = read(collections, experiment)
        for test in ("tukey-hsd", "paired-t"):
            found = run(collection, experiment, {"reduced-pool": "as-judged"}, test=test)
            cells = grades(found, experiment, then=False)
            values = " | ".join(f"{cells[n, 'reduced-pool'].sre_star:.0f}" for n in CUTOFFS)
            lines.append(f"| {TITLES[experiment.folder]} | {test} | {values} |")
        values = " | ".join(f"{printed[experiment.title, n, 'reduced-pool'].sre_star:.0f}" for n in CUTOFFS)
        lines.append(f"| {TITLES[experiment.folder]} | printed | {values} |")
    return "\n".join(lines)


def topics(collections: Path, medical: Experiment, printed: Printed) -> str:
    """Medical 2011 with and without the topic that was not judged."""
    without = reduced_pool(collections, medical, printed, unjudged_topics=())[1]
    with_it = reduced_pool(collections, medical, printed)[1]
    lines = [
        "| MAE of the reduced pool | " + " | ".join(MEASURES) + " |",
        "| --- |" + " ---: |" * len(CUTOFFS),
    ]
    for name, cells in (("34 topics", without), ("35 topics", with_it)):
        lines.append(f"| {name} | " + " | ".join(f"{cells[n].mae:.4f}" for n in CUTOFFS) + " |")
    told_values = " | ".join(f"{printed[medical.title, n, 'reduced-pool'].mae:.4f}" for n in CUTOFFS)
    lines.append(f"| printed | {told_values} |")
    return "\n".join(lines)


def left_over(findings: Sequence[Finding], printed: Printed) -> str:
    """The figures that differ even with the arithmetic of the tool."""
    lines = ["| | method | printed MAE, SRE | as then |", "| --- | --- | ---: | ---: |"]
    for finding in findings:
        for n, method in printed_keys(finding, printed):
            p, t = printed[finding.experiment.title, n, method], finding.then[n, method]
            if not (same(t.mae, p.mae, "mae") and same(t.sre, p.sre, "sre")):
                lines.append(
                    f"| {finding.experiment.title}, P@{n} | {method} | {p.mae:.4f}, {p.sre:.0f} "
                    f"| {t.mae:.4f}, {t.sre:.0f} |"
                )
    if len(lines) > 2:
        return "Figures that differ even as then:\n\n" + "\n".join(lines)
    n_figures = 2 * sum(len(printed_keys(finding, printed)) for finding in findings)
    return f"All {n_figures} figures of MAE and SRE agree, as then, with those printed. For SRE* see above."


def main() -> int:
    """Compute everything and write the tables."""
    import published_stars

    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    printed = published(arguments.published)
    start = time.monotonic()
    findings = []
    for experiment in EXPERIMENTS:
        findings.append(find(arguments.collections, experiment, arguments.jobs))
        print(f"{time.monotonic() - start:5.0f} s  {experiment.source}: {experiment.title}", file=sys.stderr)
    of_paper = [f for f in findings if f.experiment.source == "paper"]
    of_tool = [f for f in findings if f.experiment.source == "tool"]
    paper = [f.experiment for f in of_paper]
    medical = next(e for e in paper if e.folder == "trec2011-medical")
    parts = {
        "summary": summary(findings, printed),
        "pool_rules": pool_rules(arguments.collections, paper, printed),
        "options": options(arguments.collections, [paper[0], medical], printed),
        "topics": topics(arguments.collections, medical, printed),
        "ties": ties(arguments.collections, medical, printed),
        "alone": alone(arguments.collections, paper[1], printed),
        "stars": stars(arguments.collections, paper, printed),
        "switches_tool": switches(of_tool, printed),
        "switches_paper": switches(of_paper, printed),
        "left_over": left_over(findings, printed),
        **published_stars.parts(arguments.collections, printed),
        **published_indicators.parts(arguments.collections),
        **published_shallow.parts(arguments.collections / "trec8-adhoc", arguments.published),
    }
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_csv(arguments.output / "table_2.csv", figures(of_paper, printed))
    write_csv(arguments.output / "tool_2020.csv", figures(of_tool, printed))
    for name, part in parts.items():
        for place, rows in enumerate(read_tables(part), 1):
            write_csv(arguments.output / f"{name}{'' if place == 1 else f'_{place}'}.csv", rows)
    print(f"{time.monotonic() - start:5.0f} s  {arguments.output} is written", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
