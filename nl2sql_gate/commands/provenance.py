"""Where a run comes from: what must agree or be announced before two runs are compared, and facts for people."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nl2sql_gate import __version__
from nl2sql_gate.commands.databases import Opened
from nl2sql_gate.commands.selection import Selection
from nl2sql_gate.github.event import Event
from nl2sql_gate.protocols import Generator, Scorer
from nl2sql_gate.records import CaseResult
from nl2sql_gate.settings import Settings


def fingerprint(
    settings: Settings,
    selection: Selection,
    *,
    opened: Mapping[str, Opened],
    generator: Generator,
    prompt_digest: str,
    scorers: Sequence[Scorer],
    cases: Sequence[CaseResult],
) -> dict[str, Any]:
    """What decides whether two runs may be compared. Plain JSON, no clock, no path, no secret."""
    return {
        **fingerprint_of_judging(settings, selection, opened=opened, scorers=scorers),
        "model": {**generator.identity(), "served": sorted({case.model for case in cases if case.model})},
        "prompt": {"digest": prompt_digest, "sample_values": settings.model.sample_values},
    }


def fingerprint_of_judging(
    settings: Settings, selection: Selection, *, opened: Mapping[str, Opened], scorers: Sequence[Scorer]
) -> dict[str, Any]:
    """The part that says how answers were judged, not who gave them."""
    limits = settings.limits
    return {
        "dataset": {"digest": selection.dataset.digest},
        "data": {f"{name}/{db}": digest for name, each in sorted(opened.items()) for db, digest in sorted(each.digests.items())},
        "engines": {
            name: {"dialect": each.dialect, "product": each.facts.product, "version": each.facts.version, "way": each.facts.way}
            for name, each in sorted(opened.items())
        },
        "scorers": {scorer.name: scorer.version for scorer in scorers},
        "settings": {
            "scoring": {**settings.scoring.model_dump(), "reference": settings.reference},
            "limits": {
                "statement_s": limits.statement_s,
                "rows": limits.rows,
                "bytes": limits.bytes,
                "memory_mb": limits.memory_mb,
            },
            "trials": settings.trials,
        },
    }


def facts(settings: Settings, *, event: Event | None, started: datetime, cases: Sequence[CaseResult]) -> dict[str, Any]:
    """What people want to know of a run. The only place with a clock."""
    return {
        "gate": settings.gate,
        "created": started.astimezone(UTC).isoformat(timespec="seconds"),
        "duration_s": round((datetime.now(UTC) - started).total_seconds(), 3),
        "tool_version": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "commit": (event.head_sha if event else "") or _git("rev-parse", "HEAD"),
        "branch": (event.head_ref if event else "") or _git("rev-parse", "--abbrev-ref", "HEAD"),
        "merge_commit": event.merge_sha if event else "",
        "base_commit": event.base_sha if event else "",
        "event": event.name if event else "",
        "pull_request": event.pull_request if event else 0,
        "run_url": event.run_url if event else "",
        "replayed": sum(case.replayed for case in cases),
        "asked": sum(case.outcome in {"answered", "no_sql", "sql_error", "timeout"} for case in cases),
    }


def _git(*arguments: str) -> str:
    """What git says, or nothing: a run outside a checkout, or in one that git refuses, is as good."""
    try:
        ran = subprocess.run(  # noqa: S603 - a fixed program with fixed arguments
            ["git", "-c", f"safe.directory={Path.cwd()}", *arguments],  # noqa: S607 - git of the user's PATH
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""
