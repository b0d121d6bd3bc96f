"""Help in groups on 80 columns without heavy imports, with names of estimators and strategies."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from bayespool.cli.names import estimators, strategies

WORDS = "bayespool.words"
"""Key of the command line's words in a context."""

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
"""Options of all commands by Python name, in the order of the help."""

_EXCEPTIONS = {("score", "top"): "Output", ("compare", "top"): "Output", ("demo", "top"): "Output"}
_OTHER = "Other"
_PLACES = {name: place for names in OPTION_GROUPS.values() for place, name in enumerate(names)}
_GROUP_OF_OPTION = {name: group for group, names in OPTION_GROUPS.items() for name in names}


def group_of(command: str | None, option: str | None) -> str:
    """Group of an option of a command.

    Examples
    --------
    >>> group_of("score", "qrels"), group_of("budgets", "top"), group_of("score", "of somebody else's")
    ('Input', 'Design', 'Other')
    """
    return _EXCEPTIONS.get((command or "", option or "")) or _GROUP_OF_OPTION.get(option or "", _OTHER)


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a section for each group of options that the command has."""
    groups: dict[str, list[tuple[int, tuple[str, str]]]] = {name: [] for name in (*OPTION_GROUPS, _OTHER)}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            place = _PLACES.get(parameter.name, len(_PLACES))
            groups[group_of(command.name, parameter.name)].append((place, (_plain(record[0]), record[1])))
    for name, rows in groups.items():
        if rows:
            with formatter.section(name):
                formatter.write_dl([row for _, row in sorted(rows, key=lambda row: row[0])], col_max=26)


def _plain(usage: str) -> str:
    """``--seed <int>`` for ``--seed <int range>``, ``--pool <path>`` for ``--pool <list[Path]>``."""
    usage = re.sub(r"<list\[(\w+)\]>", lambda match: f"<{match[1].lower()}>", usage)
    return (
        usage.replace("<int range>", "<int>").replace("<float range>", "<float>").replace("<str>", "<text>")
    )


class GroupedCommand(TyperCommand):
    """Command whose help groups its options and lists the estimators or strategies that they take."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, and keep its words for options that are parsed before others."""
        ctx.meta[WORDS] = tuple(args)
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, group by group."""
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names below the options."""
        super().format_epilog(ctx, formatter)
        option_names = {parameter.name for parameter in self.params}
        if "estimators" in option_names:
            points = [choice for choice in estimators() if choice.kind == "point"]
            _write_names(formatter, "Estimators: corrections as published (* by default)", points)
        if option_names & {"estimators", "estimator"}:
            posteriors = [choice for choice in estimators() if choice.kind == "posterior"]
            _write_names(formatter, "Estimators: posteriors, which have intervals (* by default)", posteriors)
        if option_names & {"strategies", "strategy"}:
            _write_names(formatter, "Strategies: which documents are judged first", strategies())


def _write_names(formatter: Any, title: str, choices: Any) -> None:
    with formatter.section(title):
        formatter.write_dl(
            [
                (f"{choice.name} *" if choice.default else choice.name, choice.description)
                for choice in choices
            ]
        )


class GroupedCommands(TyperGroup):
    """Commands whose help has them in the groups of their ``rich_help_panel``."""

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
