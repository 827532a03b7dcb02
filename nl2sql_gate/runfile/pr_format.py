"""The format of `pr.json` as a pydantic model, for its published JSON Schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nl2sql_gate.runfile.format import Entry


class PullRequestFile(Entry):
    """`pr.json`: which pull request a run was for, and how it ended. The poster believes nothing of it."""

    format: Annotated[str, Field(pattern=r"^nl2sql-gate/pr/v1(\.\d+)?$")]
    gate: str
    leg: str = ""
    repository: str
    pull_request: int
    head_sha: str
    base_sha: str
    run_id: str
    run_attempt: str
    status: Literal["pass", "fail", "undecided", "no_verdict"]
    exit_code: int
