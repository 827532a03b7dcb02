"""The format of `report.json` as pydantic models, for its published JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from nl2sql_gate.runfile.format import BaselineCaseEntry, Entry, ResultEntry, VerdictEntry, WarnedEntry


class ReportCaseEntry(BaselineCaseEntry):
    """One case as the report shows it; results are there for wrong cases only, with their first rows, where rows may be shown.

    `change` says how it moved by the primary metric.
    """

    model_config = ConfigDict(extra="allow")

    change: Literal["broke", "fixed", "new", "changed"] | None = None
    question: str = ""
    golden_sql: list[str] = Field(default_factory=list)
    result: ResultEntry | None = None
    golden_result: ResultEntry | None = None


class ReportVerdictEntry(VerdictEntry):
    """What the gate decided; `rows` are the lines of the table of gates."""

    status: Literal["pass", "fail", "undecided", "no_verdict"]
    rows: list[dict[str, Any]] = Field(default_factory=list)


class ReportFile(Entry):
    """`report.json`: what the report shows, fit for the public."""

    format: Annotated[str, Field(pattern=r"^nl2sql-gate/report/v1(\.\d+)?$")]
    gate: str
    primary: str
    metrics: list[str]
    complete: bool
    verdict: ReportVerdictEntry
    comparison: dict[str, Any] | None
    provenance: dict[str, Any]
    baseline: dict[str, Any] | None
    lines: list[str]
    warnings: list[WarnedEntry]
    cases: list[ReportCaseEntry]
