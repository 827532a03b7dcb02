"""What somebody accepted beforehand: waivers, commit trailers, a label; and what was measured to be unstable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nl2sql_gate import waivers as ways
from nl2sql_gate.commands.commits import commit_messages
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.event import Event
from nl2sql_gate.judgement import Comparison
from nl2sql_gate.records import Item, Run
from nl2sql_gate.settings import Settings
from nl2sql_gate.waivers import Waiver

if TYPE_CHECKING:
    from nl2sql_gate.calibration import Unstable

LABEL = "nl2sql-accept"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The ways through that are open to this run.

    `named` are (item, reason) of commit trailers; `checked` tells that the dataset has all of them, so that one which this run
    does not have is a matter of its filters.
    """

    waivers: tuple[Waiver, ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    label: str = ""
    today: date = date.min
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """A comparison without what was accepted. `idle` are the waivers that no longer match anything."""

    comparison: Comparison
    idle: tuple[Waiver, ...] = ()


def read_acceptance(
    settings: Settings, event: Event | None, *, items: Sequence[Item] | None = None, baseline: Run | None = None
) -> Acceptance:
    """The waivers of `policy.waivers`, the trailers of the commits under test and the pull request's label.

    Raises `SettingsError` for a file that cannot be read, an expired waiver, and a trailer that names none of `items` (the whole
    dataset, where it is at hand) nor anything that the baseline had: before anything is paid.
    """
    today = datetime.now(UTC).date()
    path = settings.policy.waivers
    found = ways.load(_text(path), path=_shown(path), today=today) if path else ()
    named = ways.trailers(commit_messages(event, os.environ, folder=Path.cwd()))
    if items is not None:
        _check_names(named, items, baseline, settings)
    labels = {label.lower() for label in event.labels} if event else set()
    return Acceptance(found, named, LABEL if LABEL in labels else "", today, checked=items is not None)


def accept(
    comparison: Comparison, given: Acceptance, *, metric: str, compared: tuple[Run, Run], unstable: Iterable[Unstable] = ()
) -> Accepted:
    """`comparison` without what was measured unstable and what is waived, named or labelled: the narrowest first.

    `compared` are the head and the baseline. A part of a run (filtered, a shard) does not have all items, so there a name may be
    missing.
    """
    from nl2sql_gate.calibration import quarantine

    head = compared[0]
    whole = head.complete and "shard" not in head.provenance
    part = head if whole else replace(head, complete=False)
    comparison = quarantine(comparison, unstable, today=given.today, compared=compared)
    idle = ways.idle(comparison, given.waivers, metric=metric, head=part)
    comparison = ways.waive(comparison, (each for each in given.waivers if each not in idle), metric=metric, head=part)
    comparison = ways.accept_named(comparison, _here(given, comparison, whole=whole), metric=metric)
    if given.label:
        comparison = ways.accept_all(comparison, given.label, metric=metric)
    return Accepted(comparison, idle)


def _here(given: Acceptance, comparison: Comparison, *, whole: bool) -> list[tuple[str, str]]:
    """The names of trailers to look for: all where a missing one is a mistake, else those that this run has."""
    if whole and not given.checked:
        return list(given.named)
    everywhere = (*comparison.pairs, *comparison.changed, *comparison.new, *comparison.removed, *comparison.golden_errors)
    keys = {both.key for both in (*everywhere, *comparison.skipped)}
    known = {key.id for key in keys} | {f"{key.id}:{key.dialect}" for key in keys}
    return [(name, reason) for name, reason in given.named if name in known or _unified(name) in known]


def _check_names(named: Sequence[tuple[str, str]], items: Iterable[Item], baseline: Run | None, settings: Settings) -> None:
    ids = {item.id for item in items} | {case.key.id for case in (baseline.cases if baseline else ())}
    spoken = {canonical(dialect) for item in items for dialect in item.dialects} | {*settings.services}
    unknown = [name for name, _ in named if name not in ids and not _has_dialect(name, ids, spoken)]
    if unknown:
        raise SettingsError(
            f"{ways.TRAILER} names {len(unknown)} item{'s' if len(unknown) > 1 else ''} that the dataset does not have",
            where=unknown,
            meaning="A misspelled name would accept nothing, unnoticed. The run did not start.",
            next_step="Correct the trailer: id or id:dialect, separated by spaces or commas.",
        )


def _has_dialect(name: str, ids: set[str], spoken: set[str]) -> bool:
    item, _, dialect = name.rpartition(":")
    return item in ids and (dialect in spoken or canonical(dialect) in spoken)


def _unified(name: str) -> str:
    item, _, dialect = name.rpartition(":")
    return f"{item}:{canonical(dialect)}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            "the file of waivers cannot be read",
            where=[f"policy.waivers: {_shown(path)}", str(getattr(error, "strerror", None) or error)],
            meaning="No exception could be applied; the run did not start.",
            next_step="Correct policy.waivers, or remove it.",
        ) from error


def _shown(path: str | None) -> str:
    given = Path(path or "")
    return str(given.relative_to(Path.cwd())) if given.is_relative_to(Path.cwd()) else str(given)
