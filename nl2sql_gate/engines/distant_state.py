"""States of databases between processes: what is the template's is named, what is not goes with its rows."""

from __future__ import annotations

from typing import Any

from nl2sql_gate.records import State
from nl2sql_gate.state import TableState

Encoded = tuple[dict[str, Any], dict[str, Any]] | None


def encode(state: State, template: State) -> Encoded:
    """`state` without the tables that are `template`'s own; `None` where it is `template`."""
    if state is template:
        return None
    tables = {
        name: None if table is template.tables.get(name) else (table.columns, table.key, table.content, table.is_view)
        for name, table in state.tables.items()
    }
    return tables, dict(state.catalogue)


def decode(encoded: Encoded, template: State) -> State:
    """The state that was encoded, over this process' own template."""
    if encoded is None:
        return template
    tables, catalogue = encoded
    return State({name: template.tables[name] if one is None else _table(*one) for name, one in tables.items()}, catalogue)


def _table(columns: tuple[str, ...], key: tuple[str, ...], content: Any, is_view: bool) -> TableState:
    return TableState(columns, key, lambda: content, is_view=is_view)
