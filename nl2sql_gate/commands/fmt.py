"""`nl2sql-gate fmt`: dataset files as canonical JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.runfile import write_file

_MOST_SHOWN = 5


@click.command("fmt", help="Write dataset FILES as canonical, strict JSON, in place.")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 where a file is not canonical.")
@click.option("--drop-comments", is_flag=True, help="Write files with comments too; JSON cannot hold them.")
def command(*, files: Sequence[str], check: bool, drop_comments: bool) -> int:
    """Format; 1 only under --check, where something would change."""
    from nl2sql_gate.dataset.canonical_file import canonical_file

    # All are read before any is written: a broken one stops the rest.
    found = {file: canonical_file(file) for file in files}
    for file, canonical in found.items():
        if canonical.lost and not check and not drop_comments:
            raise SettingsError(
                f"{file} holds comments, which JSON cannot",
                where=[f"{file}, {text}" for text in canonical.lost[:_MOST_SHOWN]],
                meaning="They would be lost. Nothing was written.",
                next_step="Keep them under other:, or say --drop-comments.",
            )
    changed = [file for file, canonical in found.items() if not canonical.is_canonical]
    for file in changed:
        click.echo(one_line(f"{'would change' if check else 'written'}  {file}"))
        for text in found[file].mended[:_MOST_SHOWN]:
            click.echo(one_line(f"  {text}"))
        if not check:
            write_file(Path(file), found[file].text.encode("utf-8"))
    click.echo(f"{len(files) - len(changed)} of {len(files)} files are canonical" + ("" if check or not changed else " already"))
    return 1 if check and changed else 0
