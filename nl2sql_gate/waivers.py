"""Ways through for a change that is meant: a reviewed file of waivers, a commit trailer, a label. Narrowest first.

What is waived leaves the test and the required items, and stands in every report with the reason. Floors and budgets still hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from nl2sql_gate.bounded_yaml import YamlFault, read_yaml
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.judgement import PASSING, Comparison, Exclusion, Pair, value_of
from nl2sql_gate.records import CaseResult, Run

TRAILER = "Nl2sql-Gate-Accept"
_STATES = ("pass", "fail", "wrong", "no_sql", "sql_error", "timeout")
_KEYS = {"item", "dialect", "old", "new", "reason", "expiry", "link"}
_NEEDED = ("item", "old", "new", "reason", "expiry")
_LINE = re.compile(rf"^{TRAILER}:[ \t]*(?P<names>[^(\n]*)(?:\((?P<reason>[^)\n]*)\))?[ \t]*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Waiver:
    """One reviewed exception: `item` (in `dialect`, or in all) may go from `old` to `new` until `expiry`, for `reason`."""

    item: str
    dialect: str
    old: str
    new: str
    reason: str
    expiry: date
    link: str = ""

    def __str__(self) -> str:
        """As messages name it."""
        return f"{self.item}{f' in {self.dialect}' if self.dialect else ''}: {self.old} → {self.new}"


def load(text: str, *, path: str, today: date) -> tuple[Waiver, ...]:
    """The waivers of a YAML file: a list, or a list under `waivers:`. Raises `SettingsError` for a bad or expired one."""
    try:
        _, content = read_yaml(text)
    except YamlFault as error:
        raise _broken(path, [str(error)]) from error
    entries = content.get("waivers") if isinstance(content, Mapping) else content
    if not isinstance(entries, list | None):
        raise _broken(path, ["expected a list of waivers"])
    found = [(index, entry, list(_faults(entry))) for index, entry in enumerate(entries or [], start=1)]
    if any(faults for _, _, faults in found):
        raise _broken(path, [f"waiver {index}: {fault}" for index, _, faults in found for fault in faults])
    waivers = tuple(_waiver(entry) for _, entry, _ in found)
    expired = [waiver for waiver in waivers if waiver.expiry < today]
    if expired:
        raise SettingsError(
            f"{path}: {_count(expired)} expired",
            where=[f"{waiver} (until {waiver.expiry.isoformat()})" for waiver in expired],
            meaning="An exception without an end is a rule nobody decided on.",
            next_step="Repair the items, or renew the waivers with a new expiry and a reason.",
        )
    return waivers


def waive(comparison: Comparison, waivers: Iterable[Waiver], *, metric: str, head: Run) -> Comparison:
    """`comparison` without the pairs that `waivers` allow. Raises `SettingsError` for a waiver that matches nothing."""
    given = tuple(waivers)
    if unused := idle(comparison, given, metric=metric, head=head):
        raise idle_error(unused)
    for waiver in given:
        about = [both for both in comparison.pairs if _concerns(waiver, both)]
        details = {"reason": waiver.reason, "expiry": waiver.expiry.isoformat(), "link": waiver.link}
        comparison = _without(comparison, [both for both in about if _of_moved(both, about, waiver, metric)], "waiver", **details)
    return comparison


def idle(comparison: Comparison, waivers: Iterable[Waiver], *, metric: str, head: Run) -> tuple[Waiver, ...]:
    """The waivers that match nothing.

    An item that could not be measured, or that a partial run left out, cannot say whether its waiver is still needed.
    """
    found: list[Waiver] = []
    for waiver in waivers:
        about = [both for both in comparison.pairs if _concerns(waiver, both)]
        matches = any(_allowed(waiver, both, metric) for both in about)
        could_tell = (about or head.complete) and not any(value_of(both.new, metric) is None for both in about)
        if could_tell and not matches:
            found.append(waiver)
    return tuple(found)


def idle_error(waivers: Sequence[Waiver]) -> SettingsError:
    """The error that names waivers which match nothing."""
    return SettingsError(
        f"{_count(waivers)} that match nothing",
        where=[str(waiver) for waiver in waivers],
        meaning="The items recovered, changed in another way, or are not in this dataset.",
        next_step="Take these waivers out of the file.",
    )


def trailers(messages: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """`(name, reason)` of every item named in `Nl2sql-Gate-Accept: id[:dialect] … (reason)` lines of commit messages."""
    found: dict[str, str] = {}
    for message in messages:
        for line in _LINE.finditer(message.replace("\r\n", "\n")):
            names = line["names"]
            for name in names.split(",") if "," in names else names.split():
                if name.strip():
                    found.setdefault(name.strip(), (line["reason"] or "").strip())
    return tuple(found.items())


def accept_named(comparison: Comparison, named: Iterable[tuple[str, str]], *, metric: str) -> Comparison:
    """`comparison` without the broken items that a trailer names, `id` or `id:dialect`.

    A name that no case has is a `SettingsError`; one that did not break goes to `unused`.
    """
    broke = comparison.by(metric).broke
    everywhere = (*comparison.pairs, *comparison.changed, *comparison.new, *comparison.removed, *comparison.golden_errors)
    keys = {both.key for both in (*everywhere, *comparison.skipped)}
    names = {key.id for key in keys} | {f"{key.id}:{key.dialect}" for key in keys}
    unused: list[str] = []
    unknown: list[str] = []
    for name, reason in named:
        spelled = _spelled(name, names)
        if spelled is None:
            unknown.append(name)
            continue
        chosen = [both for both in broke if spelled in {both.key.id, f"{both.key.id}:{both.key.dialect}"}]
        if chosen:
            comparison = _without(comparison, _siblings(comparison, chosen), "trailer", reason=reason)
        else:
            unused.append(name)
    if unknown:
        raise SettingsError(
            f"{TRAILER} names {len(unknown)} item{'s' if len(unknown) > 1 else ''} that this run does not have",
            where=unknown,
            meaning="A misspelled name would accept nothing, unnoticed.",
            next_step="Correct the trailer: id or id:dialect, separated by spaces or commas.",
        )
    return replace(comparison, unused=(*comparison.unused, *unused))


def accept_all(comparison: Comparison, label: str, *, metric: str) -> Comparison:
    """`comparison` without anything that broke, because the pull request carries `label`: the coarsest way."""
    return _without(comparison, _siblings(comparison, comparison.by(metric).broke), "label", reason=f"label {label}")


def _without(
    comparison: Comparison, pairs: Iterable[Pair], kind: Literal["waiver", "trailer", "label"], **details: str
) -> Comparison:
    known = {exclusion.key for exclusion in comparison.excluded}
    added = (Exclusion(both.key, kind, **details) for both in pairs if both.key not in known)
    return replace(comparison, excluded=(*comparison.excluded, *added))


def _siblings(comparison: Comparison, chosen: Iterable[Pair]) -> Iterator[Pair]:
    """All trials of the chosen questions: leaving out only those that broke would keep the lucky ones."""
    questions = {both.key[:3] for both in chosen}
    return (both for both in comparison.pairs if both.key[:3] in questions)


def _concerns(waiver: Waiver, both: Pair) -> bool:
    return both.key.id == waiver.item and waiver.dialect in {"", both.key.dialect}


def _of_moved(both: Pair, about: Iterable[Pair], waiver: Waiver, metric: str) -> bool:
    return any(other.key[:3] == both.key[:3] and _allowed(waiver, other, metric) for other in about)


def _allowed(waiver: Waiver, both: Pair, metric: str) -> bool:
    return waiver.old in _states(both.old, metric) and waiver.new in _states(both.new, metric)


def _states(case: CaseResult | None, metric: str) -> set[str]:
    value = value_of(case, metric)
    if case is None or value is None:
        return set()
    if value >= PASSING:
        return {"pass"}
    return {"fail", "wrong" if case.outcome == "answered" else case.outcome}


def _spelled(name: str, names: set[str]) -> str | None:
    if name in names:
        return name
    item, _, dialect = name.rpartition(":")
    unified = f"{item}:{canonical(dialect)}"
    return unified if unified in names else None


def _faults(entry: Any) -> Iterator[str]:
    if not isinstance(entry, Mapping):
        yield "expected a mapping"
        return
    yield from (f"unknown key {key}" for key in sorted(map(str, entry)) if key not in _KEYS)
    yield from (f"{key} is missing" for key in _NEEDED if not str(entry.get(key) or "").strip())
    yield from (
        f"{key}: {entry[key]} is none of {', '.join(_STATES)}" for key in ("old", "new") if entry.get(key, "pass") not in _STATES
    )
    if entry.get("expiry") and _date(entry["expiry"]) is None:
        yield f"expiry: {entry['expiry']} is no date (YYYY-MM-DD)"


def _waiver(entry: Mapping[str, Any]) -> Waiver:
    said = {key: str(entry.get(key) or "").strip() for key in _KEYS - {"expiry"}}
    return Waiver(**{**said, "dialect": canonical(said["dialect"])}, expiry=_date(entry["expiry"]) or date.min)


def _date(value: Any) -> date | None:
    try:
        return value if type(value) is date else date.fromisoformat(str(value))
    except ValueError:
        return None


def _count(waivers: Sequence[Waiver]) -> str:
    return f"{len(waivers)} waiver{'s' if len(waivers) > 1 else ''}"


def _broken(path: str, where: list[str]) -> SettingsError:
    return SettingsError(
        f"{path} cannot be read as waivers",
        where=where,
        meaning="No exception was applied; the run did not start.",
        next_step=f"Each waiver needs {', '.join(_NEEDED)}; dialect and link may be added.",
    )
