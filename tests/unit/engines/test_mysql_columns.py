"""What MySQL and MariaDB say of a column."""

from __future__ import annotations

import pytest

from nl2sql_gate.engines.mysql_blueprint import is_generated


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("", False),
        ("auto_increment", False),
        # A column with DEFAULT CURRENT_TIMESTAMP, which rows may fill, as MySQL 8 and 9 describe it.
        ("DEFAULT_GENERATED", False),
        ("DEFAULT_GENERATED on update CURRENT_TIMESTAMP", False),
        ("VIRTUAL GENERATED", True),
        ("STORED GENERATED", True),
    ],
)
def test_a_default_is_not_a_computed_column(extra: str, expected: bool) -> None:
    assert is_generated(extra) is expected
