"""What differs between two runs' provenance, and what each difference forbids.

A run's `provenance["fingerprint"]` is nested plain JSON. These parts have rules of their own; all others are announced:

    dataset   {digest, …}                       items are paired by their own digests, so another file only restricts
    data      {service/database: digest}        likewise: an item's digest covers its database's data
    prompt    {digest, …}                       usually the change under test
    model     {generator, name, params, served} the model as asked for and as the endpoint named it
    engines   {service: {dialect, product, version, way}}
    scorers   {metric: version}                 two versions of a scorer are two metrics
    settings  {scoring, limits, trials, …}      what changes the meaning of a score, or the task
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nl2sql_gate.judgement import Difference, Severity

Path = tuple[str, ...]
_ORDER = ("scorers", "settings", "engines", "dataset", "data", "model", "prompt")
_ABSENT = object()
_RESCORE = "Run `nl2sql-gate rescore` on the baseline: it scores the stored SQL as today's scorers do, without the model."


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Difference, ...]:
    """All that differs from the baseline's fingerprint `old` to the head's `new`, what forbids most first."""
    if not old:
        message = "the baseline does not say what produced it: nothing but its cases can be checked"
        return (Difference("fingerprint", None, None, "announce", message, "Bless a new baseline."),) if new else ()
    before, after = dict(_leaves(old)), dict(_leaves(new))
    paths = sorted(before.keys() | after.keys(), key=_rank)
    found = [
        _difference(path, before.get(path, _ABSENT), after.get(path, _ABSENT))
        for path in paths
        if before.get(path, _ABSENT) != after.get(path, _ABSENT)
    ]
    gravity: dict[Severity, int] = {"refuse": 0, "restrict": 1, "announce": 2}
    return tuple(sorted(found, key=lambda difference: gravity[difference.severity]))


def replaced_products(old: Mapping[str, Any], new: Mapping[str, Any]) -> frozenset[str]:
    """Names under which cases may be keyed (service, dialect) whose SQL now runs on another product."""
    before, after = (_mapping(_mapping(side).get("engines")) for side in (old, new))
    names: set[str] = set()
    for service in before.keys() & after.keys():
        was, now = _mapping(before[service]), _mapping(after[service])
        if any(was.get(part) != now.get(part) for part in ("product", "dialect")):
            names |= {service, str(was.get("dialect", service))}
    return frozenset(names)


def scorer_difference(metric: str, old: str, new: str) -> Difference:
    """The refusal to compare two versions of one scorer."""
    message = f"{metric} was scored by version {old} in the baseline and by version {new} now: not compared"
    return Difference(f"scorers.{metric}", old, new, "refuse", message, _RESCORE, (metric,))


def _difference(path: Path, old: Any, new: Any) -> Difference:
    was, now = (None if side is _ABSENT else side for side in (old, new))
    subject = ".".join(path)
    said = f"{subject}: {_words(old)} → {_words(new)}"
    one_sided = old is _ABSENT or new is _ABSENT
    match path:
        case ("scorers", metric) if not one_sided:
            return scorer_difference(metric, str(old), str(new))
        case ("settings", "scoring", *_) if not one_sided:
            return Difference(subject, was, now, "refuse", f"{said}: the scores mean something else, not compared", _RESCORE)
        case ("engines", service, "product" | "dialect") if not one_sided:
            step = "Bless a baseline on this product, or compare on the old one."
            return Difference(subject, was, now, "restrict", f"{said}: cases of {service} are not paired", step)
        case ("dataset" | "data", *_):
            message = f"{said}: items that changed are listed and not paired"
            return Difference(subject, was, now, "restrict", message)
        case ("settings", "trials"):
            return Difference(subject, was, now, "restrict", f"{said}: only trials that both runs have are paired")
        case ("model", "served", *_):
            return Difference(subject, was, now, "announce", f"{said}: the endpoint serves another model than for the baseline")
        case ("settings", "limits", *_):
            return Difference(subject, was, now, "announce", f"{said}: the limits are part of the task")
        case _:
            return Difference(subject, was, now, "announce", said)


def _leaves(value: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, part in value.items():
        if isinstance(part, Mapping) and part:
            yield from _leaves(part, (*above, str(name)))
        else:
            yield (*above, str(name)), list(part) if isinstance(part, tuple) else part


def _rank(path: Path) -> tuple[int, Path]:
    return (_ORDER.index(path[0]) if path[0] in _ORDER else len(_ORDER)), path


def _words(value: Any) -> str:
    if value is _ABSENT:
        return "not stated"
    text = str(value) if value not in ("", [], {}) else "none"
    # A digest's first characters tell two apart; the whole is in the JSON.
    return text if len(text) <= 60 else f"{text[:12]}…"  # noqa: PLR2004 - a line of a report


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
