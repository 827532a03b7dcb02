"""Our own engines as the contract suite meets them: those that can be started here, and servers that are given.

`GATE_TEST_POSTGRES`, `GATE_TEST_MYSQL`, `GATE_TEST_MARIADB` and `GATE_TEST_SQLSERVER` name servers to test on beside the ones that
are started: a URL, `container` or `container:<image>`; for SQL Server an ODBC connection string too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from nl2sql_gate.engines.mysql_server import has_binary
from nl2sql_gate.testing import EngineUnderTest

from declared.duckdb import DUCKDB
from declared.mysql import MARIADB, MYSQL
from declared.postgres import POSTGRES
from declared.sqlite import SQLITE
from declared.sqlserver import SQLSERVER, way

ALL = (SQLITE, DUCKDB, MYSQL, MARIADB, POSTGRES, SQLSERVER)
"""Everything that is declared, whether it can run here or not."""


def _given() -> Iterator[EngineUnderTest]:
    """The servers that the environment names. One that does not answer is a failure, never a skip."""
    for each in (POSTGRES, MYSQL, MARIADB, SQLSERVER):
        given = os.environ.get(f"GATE_TEST_{each.dialect.upper()}", "")
        if given:
            how = way(given) if each is SQLSERVER else given
            kind = "given" if "://" in how else how.partition(":")[0]
            yield replace(each, name=f"{each.dialect}-{kind}", way=how, may_be_absent=False)


STARTED = (SQLITE, DUCKDB, *((MYSQL,) if has_binary("MySQL") else ()), MARIADB, POSTGRES)
"""Engines in process, and servers that are processes of ours."""

ENGINES = (*STARTED, *_given())
