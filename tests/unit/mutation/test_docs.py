"""The page about mutation says what the operators themselves say."""

from __future__ import annotations

from pathlib import Path

from nl2sql_gate.mutation import OPERATORS


def test_every_operator_is_in_the_table_as_it_is(root: Path) -> None:
    page = (root / "docs" / "mutation.md").read_text(encoding="utf-8")
    rows = [f"| `{each.name}`{' *' if each.published else ''} | {each.summary} | {each.needs} |" for each in OPERATORS]
    assert [row for row in rows if row not in page] == []
    assert page.count("\n| `") >= len(OPERATORS)
