"""The parts of the contract that are about questions, on a product that is reached by SQLAlchemy's URL alone."""

from __future__ import annotations

from nl2sql_gate.testing import Hostility, Results, StatementLimits

from declared.generic import GENERIC


class TestResults(Results):
    engines = (GENERIC,)


class TestStatementLimits(StatementLimits):
    engines = (GENERIC,)


class TestHostility(Hostility):
    engines = (GENERIC,)
