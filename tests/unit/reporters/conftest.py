"""Reports and cases for the tests of reporters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reports import case, report_on

from nl2sql_gate.records import CaseResult
from nl2sql_gate.reporters.report import Report


@pytest.fixture
def make_case() -> Callable[..., CaseResult]:
    """A case by name and value."""
    return case


@pytest.fixture
def make_report() -> Callable[..., Report]:
    """A report on head cases, with baseline cases or without."""
    return report_on
