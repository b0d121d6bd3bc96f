"""What a release takes from other files: pages as text, public addresses, and a README without dead links."""

import re
import tomllib
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # of the tests, which have no use for the hooks
    BuildHookInterface = MetadataHookInterface = object

ROOT = Path(__file__).resolve().parents[1]
_DEFINITION = re.compile(r"^\[([^\]]+)\]: (?!https?:)(\S+)\n", flags=re.MULTILINE)
_PICTURE = re.compile(r"^!\[([^\]]*)\]\((?!https?:)([^)]+)\)\n", flags=re.MULTILINE)


def readme(text: str, repository: str) -> str:
    """Return the README with links into the repository, or without links and pictures while there is none."""
    if repository:
        text = _PICTURE.sub(rf"![\1]({repository}/raw/main/\2)\n", text)
        return _DEFINITION.sub(rf"[\1]: {repository}/blob/main/\2\n", text)
    places = dict(_DEFINITION.findall(text))

    def in_words(link: re.Match[str]) -> str:
        if link[1] not in places:
            return link[0]
        page = re.fullmatch(r"docs/(.+)\.md", places[link[1]])
        return f"{link[1]} (`bayespool docs {page[1]}`)" if page else f"`{link[1]}`"

    text = _DEFINITION.sub("", _PICTURE.sub(r"`\2`: \1\n", text))
    return re.sub(r"\[([^\]\[]+)\]", in_words, text)


def urls(site: str, repository: str) -> dict[str, str]:
    """Return the addresses that metadata name."""
    named = {"Documentation": site}
    if repository:
        named |= {"Repository": repository, "Issues": f"{repository}/issues"}
        named |= {"Changelog": f"{repository}/blob/main/CHANGELOG.md"}
    return {name: address for name, address in named.items() if address}


class Metadata(MetadataHookInterface):
    """Readme and addresses of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the metadata."""
        addresses = tomllib.loads((ROOT / "bayespool/tables/addresses.toml").read_text(encoding="utf-8"))
        text = readme((ROOT / "README.md").read_text(encoding="utf-8"), addresses["repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(**addresses)


class Pages(BuildHookInterface):
    """Pages of the documentation in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pages, but to an editable installation, which reads those of the checkout."""
        docs = ROOT / "docs"
        if version != "editable":
            for page in docs.glob("*.md"):
                build_data["force_include"][str(page)] = f"bayespool/pages/{page.name}"
