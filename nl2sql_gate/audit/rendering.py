"""The findings of an audit as text, JSON and SARIF 2.1.0."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nl2sql_gate import __version__
from nl2sql_gate.audit.findings import CATALOGUE, Finding
from nl2sql_gate.github.untrusted import one_line

DOCS = "https://github.com/nl2sql-gate/nl2sql-gate/blob/main/docs/audit.md"
WIDTH = 300


def as_text(findings: Sequence[Finding], *, items: int) -> str:
    """A line a finding, and the counts last."""
    lines = []
    for finding in findings:
        where = f"{finding.item}" + (f" [{finding.dialect}]" if finding.dialect else "")
        waived = f" (waived: {finding.waived})" if finding.waived else ""
        place = f" ({finding.place})" if str(finding.place) else ""
        lines.append(one_line(f"{finding.severity:7} {finding.id:21} {where}: {finding.message}{waived}{place}", width=WIDTH))
    counts = Counter(finding.severity for finding in findings)
    said = ", ".join(f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in ("error", "warning", "note"))
    lines.append(f"{items} items: {said}")
    return "\n".join(lines) + "\n"


def as_json(findings: Sequence[Finding], *, items: int) -> str:
    """`nl2sql-gate/audit/v1`."""
    document = {
        "format": "nl2sql-gate/audit/v1",
        "items": items,
        "findings": [
            {
                "id": finding.id,
                "severity": finding.severity,
                "item": finding.item,
                "dialect": finding.dialect,
                "message": finding.message,
                "file": finding.place.file,
                "line": finding.place.line,
                "waived": finding.waived,
                "docs": f"{DOCS}#{finding.id}",
            }
            for finding in findings
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_sarif(findings: Sequence[Finding], *, items: int) -> str:
    """SARIF, as code-scanning services take it; waived findings are suppressed."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": kind.title},
            "help": {"text": kind.advice},
            "helpUri": f"{DOCS}#{name}",
            "defaultConfiguration": {"level": kind.severity},
        }
        for name, kind in CATALOGUE.items()
    ]
    entries = [_sarif(finding) for finding in findings]
    driver = {"name": "nl2sql-gate", "version": __version__, "informationUri": DOCS, "rules": rules}
    run = {"tool": {"driver": driver}, "results": entries, "properties": {"items": items}}
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _sarif(finding: Finding) -> dict[str, object]:
    where = f"{finding.item} [{finding.dialect}]" if finding.dialect else finding.item
    entry: dict[str, object] = {
        "ruleId": finding.id,
        "level": CATALOGUE[finding.id].severity,
        "message": {"text": f"{where}: {finding.message}"},
        "partialFingerprints": {"finding": f"{finding.id}/{finding.item}/{finding.dialect}"},
    }
    if finding.place.file:
        region = {"region": {"startLine": finding.place.line}} if finding.place.line else {}
        entry["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(finding.place.file)}, **region}}]
    if finding.waived:
        entry["suppressions"] = [{"kind": "external", "justification": finding.waived}]
    return entry


def _uri(file: str) -> str:
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_absolute() and path.is_relative_to(Path.cwd()) else path.as_posix()
