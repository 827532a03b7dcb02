"""Findings that somebody has looked at and lets stand, each with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nl2sql_gate.audit.findings import CATALOGUE, Finding
from nl2sql_gate.bounded_yaml import YamlFault, read_yaml
from nl2sql_gate.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Waiver:
    """A finding id, an item (or a pattern of ids), and why it may stand."""

    finding: str
    item: str
    reason: str


def read_waivers(path: Path) -> list[Waiver]:
    """A YAML list of `{finding, item, reason}`. Raises `DatasetError` for all that is wrong with it."""
    try:
        _, entries = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YamlFault) as error:
        raise _wrong(path, [" ".join(str(error).split())]) from error
    if not isinstance(entries, list):
        raise _wrong(path, ["a list of {finding, item, reason} is needed"])
    wrong = [f"entry {number}: {said}" for number, entry in enumerate(entries, 1) if (said := _problem(entry))]
    if wrong:
        raise _wrong(path, wrong)
    return [Waiver(entry["finding"], str(entry["item"]), entry["reason"]) for entry in entries]


def _problem(entry: Any) -> str:
    if not isinstance(entry, dict) or set(entry) != {"finding", "item", "reason"}:
        return "the keys must be finding, item and reason"
    if not isinstance(entry["finding"], str) or entry["finding"] not in CATALOGUE:
        return f"there is no finding {entry['finding']!r}"
    return "" if str(entry["reason"]).strip() else "the reason is empty"


def waive(findings: Sequence[Finding], waivers: Sequence[Waiver], *, path: Path) -> list[Finding]:
    """The findings, waived where a waiver meets them. Raises `DatasetError` for a waiver that meets none."""
    used: set[Waiver] = set()
    waived: list[Finding] = []
    for finding in findings:
        met = next((w for w in waivers if w.finding == finding.id and fnmatchcase(finding.item, w.item)), None)
        if met is not None:
            used.add(met)
        waived.append(finding if met is None else replace(finding, waived=met.reason))
    idle = [f"{waiver.finding} for {waiver.item}" for waiver in waivers if waiver not in used]
    if idle:
        raise _wrong(path, [f"{each}: nothing is found there any more" for each in idle])
    return waived


def _wrong(path: Path, where: list[str]) -> DatasetError:
    return DatasetError(
        f"the waivers in {path.name} cannot be used",
        where=[f"{path}: {line}" for line in where],
        meaning="A waiver that meets nothing hides nothing, and would hide the next fault.",
        next_step="Correct or delete these entries.",
    )
