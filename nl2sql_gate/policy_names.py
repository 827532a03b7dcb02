"""The names in a policy, held against the dataset: a rule about nothing would never fire.

Apart from the verdict, so that a run can be refused before the numerical libraries are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.records import CaseResult, Item
from nl2sql_gate.settings import Policy


def check_policy(policy: Policy, cases: Iterable[CaseResult] | Iterable[Item]) -> None:
    """Raise `SettingsError` where a rule could never fire: required ids or tags, and slices, that no item has.

    Call it with the dataset's items before anything is paid; `decide` calls it again with a complete run's cases.
    """
    known = _known(cases)
    missing = [f"policy.required.ids: {name}" for name in policy.required.ids if name not in known["id"]]
    missing += [f"policy.required.tags: {name}" for name in policy.required.tags if name not in known["tag"]]
    for rule in policy.slices.rules:
        values = {rule.value, canonical(rule.value)} if rule.by == "dialect" else {rule.value}
        if values.isdisjoint(known[rule.by]):
            missing.append(f"policy.slices.rules: {rule.by} {rule.value} (known: {', '.join(sorted(known[rule.by])[:10])})")
    if missing:
        raise SettingsError(
            f"the policy names {len(missing)} thing{'s' if len(missing) > 1 else ''} that the dataset does not have",
            where=missing,
            meaning="A rule about nothing would never fire.",
            next_step="Correct the names, or take the rules out of policy:.",
        )


def _known(cases: Iterable[CaseResult] | Iterable[Item]) -> dict[str, set[str]]:
    known: dict[str, set[str]] = {name: set() for name in ("id", "dialect", "tag", "difficulty", "type", "database")}
    for case in cases:
        known["tag"].update(case.tags)
        known["difficulty"].add(case.difficulty)
        known["type"].add(case.query_type)
        if isinstance(case, Item):
            known["id"].add(case.id)
            known["database"].add(case.database)
            known["dialect"].update(case.dialects)
        else:
            known["id"].add(case.key.id)
            known["database"].add(case.key.database)
            known["dialect"].add(case.key.dialect)
    return known
