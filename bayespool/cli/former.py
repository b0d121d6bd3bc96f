"""Options and commands that an earlier version had, with what to write now."""

from __future__ import annotations

_READING = ("second-assessors", "order", "negative", "exclude", "topics", "run-id", "max-file-size")
_OF_STRATEGIES = ("run_depth", "shares", "rel")
_IN_PYTHON = ("estimand", "ideal", "confusion", "fitted", "announce", "unseen", "runs", "plan", "ci-prob")

FORMER_OPTIONS: dict[str, str] = {
    **{f"--{name}": f"--posterior {name}=…" for name in ("draws", "tune", "chains", "engine")},
    "--prior": "--posterior 'mu=Normal(-2,1)'",
    "--estimator": "--posterior 'ratio(draws=…)'",
    **{f"--{name}": f"--reading {name.replace('-', '_')}=…" for name in _READING},
    "--pool-depth": "--repool-to (it removes judgments), or --known-depth for the depth of the pool",
    "--max-holes": "--reading max_holes=…",
    "--lenient": "--reading strict=false",
    "--each-its-own": "--reading each_its_own",
    "--pooled-runs": "--reading 'pooled_run_ids=(a,b)'",
    "--pool-budget": "--pool-strategy 'NAME(budget=…)'",
    "--pool-run-depth": "--pool-strategy 'NAME(run_depth=…)'",
    "--pool-shares": "--pool-strategy 'NAME(shares=…)'",
    "--pool-rel": "--pool-strategy 'NAME(rel=…)'",
    "--seed": "--random-seed",
    "--pool-seed": "--pool-strategy 'NAME(random_seed=…)'",
    **{f"--{name.removeprefix('run_')}": f"'NAME({name}=…)' as the strategy" for name in _OF_STRATEGIES},
    "--relevance-threshold": "-m 'P(rel=2)@10'",
    "--audit": "--own-judgments CERTIFICATE.json",
    "--format": "-o -.csv, -o -.json or -o -.md: the ending says the format",
    "--top": "-o table.csv, and take its first rows",
    "--sort": "--report page.html, whose tables sort",
    "--width": "width= of bayespool.tables.Arrangement in Python",
    "--figures": "figures= of result.save in Python",
    "--install-completion": 'eval "$(_BAYESPOOL_COMPLETE=bash_source bayespool)" in the shell\'s start file',
    **{f"--{name}": f"{name.replace('-', '_')}= in Python" for name in _IN_PYTHON},
    "--unpool-by": "unpool_by= in Python",
    "--targets": "n_targets= in Python",
    "--joint": "--posterior joint=True",
    "--no-joint": "--posterior joint=False",
    "--no-fitted": "fitted=False in Python",
}
"""Replacements of options, by option."""

OPTIONS_OF_OTHERS: dict[str, str] = {
    **dict.fromkeys(("--metric", "--metrics", "--measures"), "--measure"),
    "--judged": "--own-judgments",
    "--own-judgments": "--judged",
    "--run": "the files of runs without an option",
}
"""Replacements of options that other programs or commands have, by option."""

FORMER_COMMANDS: dict[str, str] = {
    "pool-width": "random-pools",
    "common-topics": "random-pools --common 5,10,20",
    "run-types": "leave-out --by type",
}
"""Replacements of commands, by command."""
