"""Write the tables of options in the pages: ``python docs/options.py``. A test holds the pages to it."""

import re
from pathlib import Path

from bayespool import options, settings

PAGES = [Path(__file__).with_name(name) for name in ("experiments.md", "pooling.md", "judge-next.md")]
TABLES = {
    "leave-out": settings.LeaveOutSettings,
    "pool-width": settings.PoolWidthSettings,
    "common-topics": settings.CommonTopicsSettings,
    "run-types": settings.RunTypesSettings,
    "pool": settings.StrategySettings,
    "budgets": settings.BudgetSettings,
    "judge-next": settings.JudgeNextSettings,
    "judges": settings.JudgesSettings,
    "posteriors": options.SamplingSettings,
    "reading": options.ReadingSettings,
    "score": options.ScoringSettings,
}


def table(cls: type) -> str:
    """A Markdown table with a row for each option."""
    rows = ["| option | argument | default | |", "| --- | --- | --- | --- |"]
    for name, (what, default) in options.options_of(cls).items():
        flag = f"{what.flags(name)[0]} {', '.join(map(str, what.choices))}".strip()
        shown = "" if default is None or default is ... else _text(default)
        said = re.sub(r"`([a-z][\w.]*\.\w+)`", r"{py:obj}`\1`", f"{what.help} {what.more}".strip())
        rows.append(f"| `{flag}` | `{name}` | {shown} | {said} |")
    return "\n".join(rows)


def with_tables(page: str) -> str:
    """The page with its tables made anew."""

    def made(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{table(TABLES[found[2]])}\n\n<!-- end -->"

    return re.sub(r"(<!-- options of ([\w-]+) -->)\n.*?<!-- end -->", made, page, flags=re.DOTALL)


def _text(default: object) -> str:
    listed = default if isinstance(default, tuple) else (default,)
    return ", ".join(f"`{one}`" for one in listed)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
