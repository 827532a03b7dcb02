"""What the commands about datasets say, and how they write files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.records import Warned
from nl2sql_gate.runfile import write_atomically

_MOST_SHOWN = 50


def say_warnings(warnings: Sequence[Warned]) -> None:
    """List warnings with their places, the first fifty."""
    if not warnings:
        return
    click.echo(f"warnings ({len(warnings)})")
    for warned in warnings[:_MOST_SHOWN]:
        subject = f"{warned.subject}: " if warned.subject and warned.subject != warned.place.file else ""
        click.echo(one_line(f"  {warned.place}: {subject}{warned.message}"))
    if len(warnings) > _MOST_SHOWN:
        click.echo(f"  and {len(warnings) - _MOST_SHOWN} more")


def written(to: str, text: str, *, force: bool) -> None:
    """Write a file, all or nothing. Raises `SettingsError` where one is there and may not be overwritten."""
    path = Path(to)
    if path.exists() and not force:
        raise SettingsError(
            f"{to} is there already",
            meaning="It was not overwritten.",
            next_step="Give another name, or --force.",
        )
    try:
        write_atomically(path, text.encode("utf-8"))
    except OSError as error:
        raise SettingsError(
            f"{to} cannot be written",
            where=[f"{to}: {error.strerror or error}"],
            meaning="Nothing was written there.",
            next_step="Check the folder, its permissions and the free space.",
        ) from error
    click.echo(f"written   {to}")
