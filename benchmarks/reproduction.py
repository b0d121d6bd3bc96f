"""Our figures beside the published ones of two papers: writes docs/reproduction.md.

    python benchmarks/reproduction.py COLLECTIONS --published FOLDER --output docs/reproduction.md

COLLECTIONS holds trec2-adhoc, trec8-adhoc, trec2011-medical, dl21-passage and covid-round4, each with runs/,
qrels.txt and organizations.csv; the folder of published figures has lipani-2015-table2.csv,
tool-2020-results.csv and ravana-moffat-2010-table1.csv and -table2.csv. Every number in the tables of the
page is computed here, which takes about twenty minutes on two cores; its text is in reproduction-page.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
from bayespool.tables.files import atomic_write


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


def table(finding: Finding, printed: Printed) -> str:
    """The three columns of figures side by side."""
    star = "Tukey" if finding.experiment.source == "paper" else "paired t"
    lines = [
        "| | method | MAE printed | ours | | as then | SRE printed | ours | | as then "
        f"| SRE* ({star}) printed | ours | as then |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for n, method in printed_keys(finding, printed):
        p = printed[finding.experiment.title, n, method]
        o, t = finding.ours[n, method], finding.then[n, method]
        lines.append(
            f"| P@{n} | {method} | {p.mae:.4f} | {o.mae:.4f} | {difference(o, p, 'mae')} "
            f"| {as_printed(t, p, 'mae')} | {p.sre:.0f} | {o.sre:.0f} | {difference(o, p, 'sre')} "
            f"| {as_printed(t, p, 'sre')} | {p.sre_star:.0f} | {o.sre_star:.0f} | {t.sre_star:.0f} |"
        )
    return "\n".join(lines)


def difference(ours: Cell, printed: Cell, what: Literal["mae", "sre"]) -> str:
    """By how much a figure differs; bold outside the tolerance."""
    a, b = getattr(ours, what), getattr(printed, what)
    if same(a, b, what):
        return "="
    text = f"{round(a, 4) - b:+.4f}" if what == "mae" else f"{a - b:+.0f}"
    return text if near(a, b, what) else f"**{text}**"


def as_printed(then: Cell, printed: Cell, what: Literal["mae", "sre"]) -> str:
    """``=`` or the figure that differs."""
    a, b = getattr(then, what), getattr(printed, what)
    if same(a, b, what):
        return "="
    return f"{a:.4f}" if what == "mae" else f"{a:.0f}"


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


def calls(experiment: Experiment) -> str:
    """The Python calls of an experiment."""
    first = {"pool": "runs/", "organizations": "organizations.csv", "strict": False, **experiment.reading}
    if experiment.alone or experiment.last_files:
        first["organizations"] = Verbatim("organizations")
    if experiment.last_files:
        first["pool"] = "runs-renamed/"
    reading = dict(first)
    if experiment.unjudged_topics:
        del reading["pool_rule"], reading["max_holes"]
        reading |= {"pooled_run_ids": Verbatim("found.pooled_run_ids"), "known_depth": 10}
    settings = {
        "estimators": Verbatim("estimators"),
        "by": experiment.by,
        "top": experiment.top,
        "pool_depth": Verbatim("collection.pool_depth"),
        **experiment.settings,
    }
    qrels = "qrels-with-130.txt" if experiment.unjudged_topics else "qrels.txt"
    lines = []
    if experiment.unjudged_topics:
        lines.append(f'found = read_collection("qrels.txt", {told(first)})')
    lines.append(f'collection = read_collection("{qrels}", {told(reading)})')
    lines.append(f"leave_out(collection, {MEASURES}, {told(settings)})".replace("'", '"'))
    return "```python\n" + "\n".join(wrap(line.replace("'", '"')) for line in lines) + "\n```"


class Verbatim(str):
    """A name in code."""

    def __repr__(self) -> str:
        return str(self)


def told(arguments: Mapping[str, Any]) -> str:
    """Keyword arguments as code."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def wrap(call: str) -> str:
    """A call with an argument a line."""
    head, rest = call.split("(", 1)
    depth, part, parts = 0, "", []
    for letter in rest[:-1]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    parts.append(part.strip())
    body = "".join(f"    {p},\n" for p in parts)
    return f"{head}(\n{body})"


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
        "`pool_depth=None`": {"pool_depth": None},
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


def section(finding: Finding, printed: Printed) -> str:
    """A heading, the settings and the table."""
    e = finding.experiment
    text = f"### {e.title}\n\n{finding.pool}; {finding.n_reported} of them reported.\n\n"
    if e.source == "paper":
        text += calls(e) + "\n\n"
    return text + table(finding, printed) + "\n"


def main() -> int:
    """Compute everything and write the page."""
    sys.path.append(str(Path(__file__).parents[1] / "research" / "papers"))
    import published_stars

    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
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
        "paper": "\n".join(section(f, printed) for f in of_paper),
        "tool": "\n".join(section(f, printed) for f in of_tool),
        "tool_call": calls(of_tool[0].experiment),
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
    page = (Path(__file__).parent / "reproduction-page.md").read_text()
    for name, part in parts.items():
        page = page.replace("{" + name + "}", part)
    atomic_write(arguments.output, page)
    print(f"{time.monotonic() - start:5.0f} s  {arguments.output} is written", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
