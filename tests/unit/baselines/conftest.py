"""Content for stores."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql_gate.records import CaseKey, CaseResult, Run, Score
from nl2sql_gate.runfile import baseline_bytes


@pytest.fixture
def content() -> Any:
    """Bytes of a baseline; `note` tells two apart."""

    def make(note: str = "", status: str = "pass", *, complete: bool = True, code: str = "x") -> bytes:
        case = CaseResult(CaseKey("a", "sqlite", "shop", 0), "answered", "d", scores={"execution_accuracy": Score(1.0)})
        verdict = {"status": status, "reasons": [{"code": code}]}
        return baseline_bytes(Run((case,), ("execution_accuracy",), {"note": note}, complete=complete, verdict=verdict))

    return make
