"""Help in groups, on 80 columns and without a heavy import: commands by what they are for, options by what
they are about, and the names of estimators and strategies below.
"""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from bayespool.cli.names import estimators, strategies

WORDS = "bayespool.words"
"""Where a context has the words of its command line."""

OPTION_GROUPS: dict[str, tuple[str, ...]] = {
    "Input": (
        *("result", "runs", "qrels", "pool", "organizations", "each_its_own", "own_judgments", "judged"),
        *("judges", "common_topics", "run_types", "exclude", "order", "negative", "run_id", "strict"),
        "max_file_size",
    ),
    "Pool": (
        *("unpool", "unpool_by", "pool_depth", "known_depth", "max_holes", "pooled_run_ids", "pool_rule"),
        *("pool_strategy", "pool_budget", "pool_run_depth", "pool_shares", "pool_rel", "pool_seed"),
    ),
    "Design": (
        *("strategy", "strategies", "budget", "budgets", "goal", "until", "depth", "shares", "rel"),
        *("sbc", "new_kind", "compare_engines", "found", "models", "n_folds", "simulations", "intervals"),
        *("by", "n_clusters", "types", "widths", "n_samples", "n_targets", "n_common", "n_topic_samples"),
        *("pool_type", "target_type", "truth", "denominator", "top", "top_pool", "judgments", "fitted"),
        "announce",
    ),
    "Estimation": (
        *("measures", "relevance_threshold", "ideal", "estimators", "estimator", "estimand", "ci_prob"),
    ),
    "Comparison": ("scopes", "tests", "test", "level", "control", "rope", "joint"),
    "Sampling": ("priors", "engine", "draws", "tune", "chains", "random_seed", "jobs", "cluster", "quick"),
    "Output": (
        *(
            "per_topic",
            "table",
            "sort",
            "columns",
            "output",
            "format_",
            "figure",
            "figures",
            "report",
            "write",
        ),
        *("list_", "json_", "csv_for_spreadsheets", "quiet"),
    ),
    "Help": ("version", "install_completion", "show_completion", "help"),
}
"""Options of all commands by their Python names, in the order in which help has them."""

_ELSEWHERE = {("score", "top"): "Output", ("compare", "top"): "Output", ("demo", "top"): "Output"}
_OTHER = "Other"
_PLACES = {name: place for names in OPTION_GROUPS.values() for place, name in enumerate(names)}
_GROUPS = {name: group for group, names in OPTION_GROUPS.items() for name in names}


def group_of(command: str | None, option: str | None) -> str:
    """The group of an option of a command.

    Examples
    --------
    >>> group_of("score", "qrels"), group_of("budgets", "top"), group_of("score", "of somebody else's")
    ('Input', 'Design', 'Other')
    """
    return _ELSEWHERE.get((command or "", option or "")) or _GROUPS.get(option or "", _OTHER)


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a section for each group of options that the command has."""
    groups: dict[str, list[tuple[int, tuple[str, str]]]] = {name: [] for name in (*OPTION_GROUPS, _OTHER)}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            place = _PLACES.get(parameter.name, len(_PLACES))
            groups[group_of(command.name, parameter.name)].append((place, (_plainly(record[0]), record[1])))
    for name, rows in groups.items():
        if rows:
            with formatter.section(name):
                formatter.write_dl([row for _, row in sorted(rows, key=lambda row: row[0])], col_max=26)


def _plainly(usage: str) -> str:
    """``--seed <int>`` for ``--seed <int range>``, ``--pool <path>`` for ``--pool <list[Path]>``."""
    usage = re.sub(r"<list\[(\w+)\]>", lambda found: f"<{found[1].lower()}>", usage)
    return (
        usage.replace("<int range>", "<int>").replace("<float range>", "<float>").replace("<str>", "<text>")
    )


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups.

    It lists the estimators if it has the option ``--estimators``, or the posteriors among them if it has
    ``--estimator``, and the pooling strategies if it has ``--strategies`` or ``--strategy``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line, and keep them for options that answer before the others."""
        ctx.meta[WORDS] = tuple(args)
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, group by group."""
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names below the options."""
        super().format_epilog(ctx, formatter)
        asked = {parameter.name for parameter in self.params}
        if "estimators" in asked:
            points = [one for one in estimators() if one.kind == "point"]
            _write_names(formatter, "Estimators: corrections as published (* by default)", points)
        if asked & {"estimators", "estimator"}:
            posteriors = [one for one in estimators() if one.kind == "posterior"]
            _write_names(formatter, "Estimators: posteriors, which have intervals (* by default)", posteriors)
        if asked & {"strategies", "strategy"}:
            _write_names(formatter, "Strategies: which documents are judged first", strategies())


def _write_names(formatter: Any, title: str, choices: Any) -> None:
    with formatter.section(title):
        formatter.write_dl(
            [(f"{one.name} *" if one.default else one.name, one.description) for one in choices]
        )


class GroupedCommands(TyperGroup):
    """The commands, whose help has them in the groups that each names as its ``rich_help_panel``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by group, then the options."""
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        width = max(len(name) for name in self.commands)
        for name, command in self.commands.items():
            panel = command.rich_help_panel  # type: ignore[attr-defined]
            groups.setdefault(str(panel), []).append((name.ljust(width), command.short_help or ""))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
