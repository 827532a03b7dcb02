"""The baselines that there were: one line of JSON for each blessing, beside a baseline that is a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from nl2sql_gate.commands.noise import place_beside
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.judgement import PASSING, value_of
from nl2sql_gate.records import CaseKey, CaseResult, Run, Score
from nl2sql_gate.reporters.report import Trend

NAME = "history.jsonl"
SHOWN = 50


def append(run: Run, location: str, *, metric: str, accepted_drop: str = "") -> Path | None:
    """Add `run` to the history beside the baseline at `location`; `None` where that is no file."""
    path = place_beside(location, NAME)
    if path is None:
        return None
    line = json.dumps(_entry(run, metric, accepted_drop), ensure_ascii=False, sort_keys=True) + "\n"
    try:
        torn = path.is_file() and path.read_bytes()[-1:] not in {b"", b"\n"}
        # Half a surrogate pair has no UTF-8 form; its escape is JSON's own.
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(("\n" if torn else "") + line)
    except OSError as error:
        raise BaselineError(
            "the history cannot be written",
            where=[str(path), error.strerror or str(error)],
            meaning="The baseline is stored; only the line for the trend is missing.",
            next_step="Give the process leave to write there.",
        ) from error
    return path


def trend(location: str | None, *, metric: str) -> tuple[Trend, ...]:
    """The blessings so far, oldest first, the last fifty of them."""
    found = [entry for entry in read(location) if entry.get("metric") == metric]
    return tuple(
        Trend(_label(entry), float(entry["value"]), int(entry["n"]), str(entry.get("status", ""))) for entry in found[-SHOWN:]
    )


def runs(location: str | None, *, metric: str) -> list[Run]:
    """The blessed runs as far as a history tells: which question passed how often. Evidence for calibration."""
    return [_as_run(entry, metric) for entry in read(location) if entry.get("metric") == metric]


def read(location: str | None) -> list[Mapping[str, Any]]:
    """The lines that can be used; a torn or foreign one costs itself only."""
    path = place_beside(location, NAME)
    if path is None or not path.is_file():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [entry for line in lines if (entry := _parsed(line)) is not None]


def fingerprint_digest(run: Run) -> str:
    """What two runs of one build have in common."""
    text = json.dumps(run.provenance.get("fingerprint"), sort_keys=True, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _entry(run: Run, metric: str, accepted_drop: str) -> dict[str, Any]:
    facts = run.provenance.get("facts", {})
    values = [value for case in run.cases if (value := value_of(case, metric)) is not None]
    return {
        "accepted_drop": accepted_drop,
        "branch": facts.get("branch", ""),
        "commit": facts.get("commit", ""),
        "created": facts.get("created", ""),
        "fingerprint": fingerprint_digest(run),
        "metric": metric,
        "n": len(values),
        "status": str((run.verdict or {}).get("status", "")),
        "value": sum(values) / len(values) if values else 0.0,
        "verdicts": _verdicts(run, metric),
    }


def _verdicts(run: Run, metric: str) -> list[list[Any]]:
    """`[id, dialect, database, passes, trials]` of every question with a value."""
    counted: dict[tuple[str, str, str], list[int]] = {}
    for case in run.cases:
        value = value_of(case, metric)
        if value is not None:
            entry = counted.setdefault(case.key[:3], [0, 0])
            entry[0] += value >= PASSING
            entry[1] += 1
    return [[*question, *counts] for question, counts in counted.items()]


def _parsed(line: str) -> Mapping[str, Any] | None:
    try:
        entry = json.loads(line)
        usable = isinstance(entry, dict) and 0 <= float(entry["value"]) <= 1 and int(entry["n"]) >= 0
        return entry if usable and isinstance(entry.get("verdicts", []), list) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _label(entry: Mapping[str, Any]) -> str:
    return " ".join(part for part in (str(entry.get("created", ""))[:10], str(entry.get("commit", ""))[:8]) if part) or "?"


def _as_run(entry: Mapping[str, Any], metric: str) -> Run:
    provenance = {
        "fingerprint": {"digest": entry.get("fingerprint", "")},
        "facts": {"created": entry.get("created", ""), "commit": entry.get("commit", "")},
    }
    return Run(tuple(_cases(entry, metric)), (metric,), provenance)


def _cases(entry: Mapping[str, Any], metric: str) -> Iterator[CaseResult]:
    for verdict in entry.get("verdicts", ()):
        try:
            item, dialect, database, passes, trials = verdict
            for trial in range(1, int(trials) + 1):
                score = Score(1.0 if trial <= int(passes) else 0.0)
                key = CaseKey(str(item), str(dialect), str(database), trial)
                yield CaseResult(key, "answered", "", scores={metric: score})
        except (ValueError, TypeError):
            continue
