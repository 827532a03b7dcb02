"""What to do next, as a report says it: one line each, the command included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from nl2sql_gate.commands.against import Against
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Settings

STALE_DAYS = 90
"""A baseline older than this is worth a word: models behind the same name are replaced, databases and drivers too."""


def hints(decided: Verdict, head: Run, against: Against, settings: Settings, *, shown: Callable[[str], str]) -> list[str]:
    """The next steps. `shown` turns a path into the one to type."""
    if against.beside:
        # Nothing is stored, so there is nothing to bless: the next change is compared with what is merged by then.
        return []
    steps = [str(reason.detail["next_step"]) for reason in decided.reasons if reason.detail.get("next_step")]
    if steps:
        return list(dict.fromkeys(steps))
    target = shown((settings.baseline or "file:baseline.json").removeprefix("file:"))
    command = f"nl2sql-gate bless {shown(settings.out)}/run.json --to {target}"
    if not head.complete:
        # A part of a run cannot be blessed.
        return []
    if against.baseline is None:
        return [] if settings.policy.on_missing_baseline == "bless" else [f"make this run the baseline: {command}"]
    if decided.status == "fail":
        meant = f"if the drop is meant: {command} --accept-drop REASON"
        if _serves_another_model(decided):
            return [f"the endpoint serves another model than for the baseline; if that is the drop's cause, and {meant[3:]}"]
        return [meant]
    days = age_days(against.baseline, head)
    if days is not None and days > STALE_DAYS:
        return [f"the baseline is {days} days old; from a run of the default branch that passes: {command}"]
    return []


def age_days(baseline: Run, head: Run) -> int | None:
    """Whole days between the runs; `None` where either does not say when it was made."""
    made, now = (_facts(run).get("created") for run in (baseline, head))
    try:
        return (datetime.fromisoformat(str(now)) - datetime.fromisoformat(str(made))).days
    except (ValueError, TypeError):
        return None


def _serves_another_model(decided: Verdict) -> bool:
    return any(str(note.detail.get("subject", "")).startswith("model.served") for note in decided.notes)


def _facts(run: Run) -> Mapping[str, Any]:
    found = run.provenance.get("facts")
    return found if isinstance(found, Mapping) else {}
