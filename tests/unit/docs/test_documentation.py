"""The documentation says what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nl2sql_gate import cli


@pytest.fixture(scope="module")
def sources(root: Path) -> str:
    """All messages of the code, in one text in which strings that are joined are joined."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "nl2sql_gate").rglob("*.py")))
    return re.sub(r'"\s*\n\s*f?"', "", text)


def test_every_message_of_the_troubleshooting_page_is_one_of_ours(root: Path, sources: str) -> None:
    text = (root / "docs/troubleshooting.md").read_text(encoding="utf-8")
    tables = text[text.index("## Before") : text.index("## It is green")]
    messages = re.findall(r"^\| `([^`]+)` \|", tables, re.MULTILINE)
    assert len(messages) >= 20
    unknown = [
        message
        for message in messages
        if not re.search(re.escape(message).replace("baseline", r"(?:baseline|\{what\})"), sources)
    ]
    assert unknown == []


def test_every_command_is_documented(root: Path) -> None:
    text = (root / "docs/commands.md").read_text(encoding="utf-8")
    assert [name for name in cli.COMMANDS if f"\n## {name}\n" not in text] == []


def test_every_file_of_the_output_folder_is_documented(root: Path) -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "nl2sql_gate/commands").glob("*.py")))
    written = set(re.findall(r"""(?:out|folder|settings\.out\)) / f?"([a-z0-9{}-]+\.(?:jsonl?|md|html|xml))\"""", sources))
    written |= set(re.findall(r'"(?:markdown|html|json|junit)": "([a-z.]+)"', sources))
    written |= set(re.findall(r'"((?:base|again|base-again)\.json)": ', sources))
    written |= set(re.findall(r'_FILE = "([a-z.]+)"', sources)) | set(re.findall(r'journal="([a-z.-]+)"', sources))
    assert {"run.json", "base.json", "again.json", "pr.json", "junit.xml", "replies.jsonl"} <= written
    text = (root / "docs/github.md").read_text(encoding="utf-8").replace("repeat-2", "repeat-{number}")
    assert [name for name in sorted(written) if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "name", ["policy.confirm", "scorers", "report.check_run", "anchor", "policy.waivers", "reference", "cache"]
)
def test_a_setting_is_explained_beyond_the_table_of_settings(root: Path, name: str) -> None:
    """By its name or as a line of settings, on a page that somebody wrote."""
    pages = [page for page in (root / "docs").glob("*.md") if page.name not in {"settings.md", "commands.md"}]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    last = name.rpartition(".")[2]
    assert re.search(rf"`{re.escape(name)}\b|`{last}:|^ *{last}:|\b{last}: true", text, re.MULTILINE)


def test_no_two_decisions_have_one_number(root: Path) -> None:
    pages = sorted((root / "docs/decisions").glob("*.md"))
    numbers = [page.name[:4] for page in pages]
    assert sorted(set(numbers)) == numbers
    titles = {page.name: page.read_text(encoding="utf-8").split("\n")[0] for page in pages}
    assert {name: title for name, title in titles.items() if not title.startswith(f"# {int(name[:4])}. ")} == {}


def test_generated_text_is_current(root: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "tools/generate_docs.py", "--check"], cwd=root, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout


def test_settings_in_the_pages_are_settings(root: Path) -> None:
    """Every YAML block that names sections of the settings is valid as one, its variables filled in."""
    from pydantic import ValidationError

    from nl2sql_gate.settings import Settings

    wrong = []
    for path in sorted((root / "docs").glob("*.md")):
        for block in re.findall(r"^```yaml\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            try:
                parsed = yaml.safe_load(block)
            except yaml.YAMLError:
                continue
            if isinstance(parsed, dict) and set(parsed) <= set(Settings.model_fields):
                try:
                    Settings.model_validate(parsed)
                except ValidationError as error:
                    wrong.append(f"{path.name}: {error}")
    assert wrong == []


def test_every_page_is_in_the_sites_contents(root: Path) -> None:
    index = (root / "docs/index.md").read_text(encoding="utf-8")
    pages = {path.stem for path in (root / "docs").glob("*.md")} - {"index"}
    listed = {line.strip() for line in index.splitlines()}
    assert sorted(pages - listed) == []
