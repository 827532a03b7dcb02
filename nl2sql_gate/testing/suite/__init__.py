"""What every engine does alike, as test classes: take them all, or one by one."""

from __future__ import annotations

from nl2sql_gate.testing.suite.building import Building
from nl2sql_gate.testing.suite.effects import Effects
from nl2sql_gate.testing.suite.hostility import Hostility
from nl2sql_gate.testing.suite.isolation import Isolation
from nl2sql_gate.testing.suite.limits import StatementLimits
from nl2sql_gate.testing.suite.results import Results
from nl2sql_gate.testing.suite.service import Service

PARTS: tuple[type, ...] = (Service, Building, Results, Isolation, Effects, StatementLimits, Hostility)
"""The parts of the contract."""


class ContractSuite(Service, Building, Results, Isolation, Effects, StatementLimits, Hostility):
    """The whole contract: subclass it as `Test…` and give it `engines`."""


def test_names() -> frozenset[str]:
    """The names of all tests of the contract."""
    return frozenset(name for part in PARTS for name in dir(part) if name.startswith("test_"))


test_names.__test__ = False  # type: ignore[attr-defined] # pytest would take it for a test
