"""The header that says which case a request is for: `X-Nl2sql-Gate-Case: id/service/dialect/database/trial`, URL-encoded.

Endpoints ignore it; `nl2sql-gate serve` finds the recorded reply by it, and the logs of a team's own service can be joined with a
run. The preflight call sends `preflight` in its place.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from nl2sql_gate.records import Ask, CaseKey

NAME = "X-Nl2sql-Gate-Case"
PREFLIGHT = "preflight"
PARTS = 5


def header_of(ask: Ask) -> str:
    """The header's value for a case."""
    key = ask.key
    return "/".join(quote(part, safe="") for part in (key.id, key.dialect, ask.dialect, key.database, str(key.trial)))


def case_of(value: str) -> tuple[CaseKey, str] | None:
    """The case's key and its dialect, or none where the value is something else."""
    parts = [unquote(part) for part in value.split("/")]
    if len(parts) != PARTS or not parts[4].lstrip("-").isdecimal():
        return None
    identifier, service, dialect, database, trial = parts
    return CaseKey(identifier, service, database, int(trial)), dialect
