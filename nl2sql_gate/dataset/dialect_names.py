"""Dialect names as datasets write them: which are known, and what was probably meant by the others."""

from __future__ import annotations

from functools import lru_cache

from nl2sql_gate.dataset.problems import did_you_mean
from nl2sql_gate.dialects import ALIASES, canonical

KNOWN = frozenset(
    {
        "athena", "bigquery", "bigtable", "clickhouse", "cockroachdb", "databricks", "db2", "doris", "dremio", "drill",
        "druid", "duckdb", "exasol", "firebird", "hive", "mariadb", "materialize", "mongodb", "mysql", "oracle", "postgres",
        "presto", "redshift", "risingwave", "singlestore", "snowflake", "spanner", "spanner_gsql", "spanner_pg", "spark",
        "sqlite", "sqlserver", "starrocks", "synapse", "teradata", "tidb", "trino", "vertica", "yugabytedb",
    }
)  # fmt: skip
"""Dialects that a dataset may name, whether or not an engine for them is here: a name beyond these is taken for a typo."""

PRODUCTS = frozenset({"alloydb", "alloydb_omni"})
"""Aliases that name a product rather than another spelling: SQL of their own beside the dialect's is no contradiction."""


@lru_cache(maxsize=1)
def _installed() -> frozenset[str]:
    """Names of installed engines, so that a plugin's dialect is known too."""
    from importlib.metadata import entry_points

    return frozenset(point.name for point in entry_points(group="nl2sql_gate.engines"))


def is_known(dialect: str) -> bool:
    """Whether the canonical name `dialect` is one of ours or an installed engine's."""
    return dialect in KNOWN or dialect in _installed()


def fault_of(name: str) -> str:
    """What is wrong with a dialect's name, or nothing."""
    if is_known(canonical(name)):
        return ""
    return f"{name!r} is no known dialect{did_you_mean(name, [*sorted(KNOWN | _installed()), *ALIASES])}"
