"""Scripts that name their database build it under another name."""

from __future__ import annotations

from nl2sql_gate.engines.addressed import addressed
from nl2sql_gate.records import DatabaseSource, Place, SetupStatement


def test_scripts_do_without_the_databases_name() -> None:
    place = Place("setup.sql", 3)

    def source(*texts: str) -> DatabaseSource:
        first, second, third = ((SetupStatement(text, place),) for text in texts)
        return DatabaseSource("shop", "mysql", "digest", pre=first, setup=second, post=third)

    named = source(
        "CREATE TABLE shop.a (n INT)", "INSERT INTO `shop`.a VALUES (1)", "CREATE VIEW v AS SELECT 'shop.a' FROM shop.a"
    )
    plain = source("CREATE TABLE a (n INT)", "INSERT INTO a VALUES (1)", "CREATE VIEW v AS SELECT 'shop.a' FROM a")
    assert addressed(named) == plain
    assert addressed(plain) == plain
