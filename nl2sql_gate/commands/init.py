"""`nl2sql-gate init`: look at the repository, and write commented settings and a workflow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nl2sql_gate.commands.first_files import FORKS_FILE, FORMS, SETTINGS_FILE, WORKFLOW_FILE, Form, Start
from nl2sql_gate.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from nl2sql_gate.commands.survey import Survey

_SHOWN = 5


@click.command("init", help="Look at the repository, and write commented settings and a workflow.")
@click.option("--form", type=click.Choice(FORMS), default="action", show_default=True, help="Container, runner, or ten lines.")
@click.option("--gate", metavar="NAME", default="nl2sql", show_default=True, help="Name of the gate.")
@click.option("--dataset", metavar="PATH", help="The dataset, where it shall not be looked for.")
@click.option("--forks", is_flag=True, help="Also write the workflow that comments for forks.")
@click.option("--no-workflow", is_flag=True, help="Write the settings only, for another CI or none.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def command(*, form: Form, gate: str, dataset: str | None, forks: bool, no_workflow: bool, force: bool, dry_run: bool) -> int:
    """Survey and write; nothing is written where one file is in the way."""
    from nl2sql_gate.commands.first_files import forks_text, settings_text, workflow_text
    from nl2sql_gate.commands.survey import survey

    _check_name(gate)
    root = Path.cwd()
    seen = survey(root, dataset=dataset)
    start = Start(gate, form, seen.datasets[0] if seen.datasets else None, seen.default_branch)
    files = {SETTINGS_FILE: settings_text(start)}
    files |= {} if no_workflow else {WORKFLOW_FILE: workflow_text(start)}
    files |= {FORKS_FILE: forks_text(start)} if forks else {}
    for line in _said(seen, start):
        click.echo(line)
    if dry_run:
        for name, text in files.items():
            click.echo(f"\n# ---- {name}\n{text}", nl=False)
        return 0
    _refuse_overwriting(root, files, force=force)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        click.echo(f"wrote    {name}")
    for line in _next(start, no_workflow=no_workflow):
        click.echo(line)
    return 0


def _check_name(gate: str) -> None:
    from pydantic import ValidationError

    from nl2sql_gate.settings import Settings

    try:
        Settings(gate=gate)
    except ValidationError as error:
        raise SettingsError(
            f"{gate!r} is no name for a gate",
            where=["letters, figures, dots, underscores and dashes, 64 at most"],
            meaning="Nothing was written.",
            next_step="Give another --gate.",
        ) from error


def _refuse_overwriting(root: Path, files: dict[str, str], *, force: bool) -> None:
    there = [name for name in files if (root / name).exists()]
    if there and not force:
        raise UsageError(
            f"{' and '.join(there)} {'are' if len(there) > 1 else 'is'} there already",
            meaning="Nothing was written.",
            next_step="Look at what would be written with --dry-run; write over it with --force.",
        )


def _said(seen: Survey, start: Start) -> list[str]:
    from nl2sql_gate.commands.first_files import names

    lines = []
    for found in seen.datasets[:_SHOWN]:
        databases = len({item.database for item in found.dataset.items})
        mark = "dataset" if found is start.found else "also"
        setup = f"setup in {found.setup_directory}" if found.setup_directory else "no setup directory was found"
        lines.append(
            f"{mark:<8} {found.path}: {len(found.dataset.items):,} items, {databases} databases, {names(found.dialects)}; {setup}"
        )
    if not seen.datasets:
        lines.append("dataset  none was found: change dataset: in the settings")
    lines += [f"passed   {path}: {why}" for path, why in seen.tried[:_SHOWN]]
    if seen.workflows:
        lines.append(f"found    workflows {names(seen.workflows)}")
    if seen.gated:
        lines.append(
            f"found    {names(seen.gated)} already {'run' if len(seen.gated) > 1 else 'runs'} a gate: give each its own --gate"
        )
    if seen.has_gitlab:
        lines.append("found    .gitlab-ci.yml: docs/cookbook.md has the job, by exit code and JUnit")
    return lines


def _next(start: Start, *, no_workflow: bool) -> list[str]:
    steps = ["next     read nl2sql-gate.yml, then: nl2sql-gate plan"]
    if not no_workflow:
        steps.append("         in the repository's settings: variables MODEL_URL and MODEL_NAME, secret OPENAI_API_KEY")
    if start.form != "reusable":
        steps.append(
            "         the first baseline: nl2sql-gate run, then nl2sql-gate bless nl2sql-gate-out/run.json, then commit it"
        )
    return steps
