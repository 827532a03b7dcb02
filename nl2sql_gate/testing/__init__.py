"""The contract suite: what the gate demands of an engine, as tests that an engine's author runs (docs/engine_contract.md)."""

from __future__ import annotations

from nl2sql_gate.errors import UsageError

try:
    import psutil  # noqa: F401 - the suite's; here so that its absence is said plainly
    import pytest
except ImportError as error:
    raise ImportError(
        str(
            UsageError(
                "the contract suite, nl2sql_gate.testing, needs packages that are not installed",
                where=[str(error)],
                meaning="The gate itself runs without them; they come with an extra.",
                next_step="Install it: pip install 'nl2sql-gate[testing]'",
            )
        )
    ) from error

# Before the modules are imported: their asserts then say what they compared.
pytest.register_assert_rewrite("nl2sql_gate.testing.suite")

from nl2sql_gate.testing.bench import LIMITS, PROBE, Bench, read, rows
from nl2sql_gate.testing.expectations import never, notimpl, notyet
from nl2sql_gate.testing.suite import PARTS, ContractSuite
from nl2sql_gate.testing.suite.building import Building
from nl2sql_gate.testing.suite.effects import Effects
from nl2sql_gate.testing.suite.hostility import Hostility
from nl2sql_gate.testing.suite.isolation import Isolation
from nl2sql_gate.testing.suite.limits import StatementLimits
from nl2sql_gate.testing.suite.results import Results
from nl2sql_gate.testing.suite.service import Service
from nl2sql_gate.testing.traits import Oddity, Traits
from nl2sql_gate.testing.under_test import EngineUnderTest, Spelling

__all__ = [
    "LIMITS",
    "PARTS",
    "PROBE",
    "Bench",
    "Building",
    "ContractSuite",
    "Effects",
    "EngineUnderTest",
    "Hostility",
    "Isolation",
    "Oddity",
    "Results",
    "Service",
    "Spelling",
    "StatementLimits",
    "Traits",
    "never",
    "notimpl",
    "notyet",
    "read",
    "rows",
]
