"""A run without secrets, for everything that is shown or kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nl2sql_gate.records import CaseResult, Run
from nl2sql_gate.runfile.entries import case_entry, run_head
from nl2sql_gate.runfile.writing import dump, redacted


def redact_run(run: Run, redact: Callable[[str], str]) -> Run:
    """`run` with `redact` applied to every text in it. Done before anything is rendered: a shortened secret is not recognized."""
    # Only here: pydantic takes longer to import than the rest of the package that `--help` needs.
    from nl2sql_gate.runfile.format import RunCaseEntry, RunFile
    from nl2sql_gate.runfile.restoring import restore_case, restore_run

    def clean(case: CaseResult) -> CaseResult:
        entry = case_entry(case)
        text = dump(entry)
        return case if redact(text) == text else restore_case(RunCaseEntry.model_validate(redacted(entry, redact)))

    head = run_head(run)
    text = dump(head)
    if redact(text) != text:
        run = replace(restore_run(RunFile.model_validate({**redacted(head, redact), "cases": []})), cases=run.cases)
    return replace(run, cases=tuple(map(clean, run.cases)))
