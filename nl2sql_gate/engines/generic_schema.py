"""Reads a schema through SQLAlchemy's inspector, for products that have no reader of their own."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from nl2sql_gate.engines.cells_generic import row_of
from nl2sql_gate.engines.schema_text import assemble, samples_of, table_ddl
from nl2sql_gate.records import Column, Json, Schema, Table

_SAMPLED_ROWS = 100


def read_schema(engine: sa.Engine, database: str, *, dialect: str, sample_values: int) -> Schema:
    """Tables first, then views, of the default schema, each by name. Raises `SQLAlchemyError`."""
    inspector = sa.inspect(engine)
    tables = [
        _table(engine, inspector, name, is_view=is_view, sample_values=sample_values)
        for is_view, names in ((False, inspector.get_table_names()), (True, _views(inspector)))
        for name in sorted(names)
    ]
    quote = engine.dialect.identifier_preparer.quote
    return assemble(database, dialect, [replace(table, ddl=table_ddl(table, quote)) for table in tables])


def _views(inspector: sa.Inspector) -> list[str]:
    with suppress(NotImplementedError):
        return inspector.get_view_names()
    return []


def _table(engine: sa.Engine, inspector: sa.Inspector, name: str, *, is_view: bool, sample_values: int) -> Table:
    described = inspector.get_columns(name)
    rows = _first_rows(engine, name, [str(column["name"]) for column in described]) if sample_values else []
    keys = _asked(inspector.get_pk_constraint, name).get("constrained_columns") or []
    columns = tuple(
        Column(
            name=str(column["name"]),
            type=_type(column["type"], engine),
            nullable=bool(column.get("nullable", True)),
            primary_key=column["name"] in keys,
            comment=str(column.get("comment") or ""),
            default=str(column.get("default") or ""),
            samples=samples_of(rows, index, count=sample_values) if rows else (),
        )
        for index, column in enumerate(described)
    )
    foreign = tuple(
        (tuple(key["constrained_columns"]), str(key["referred_table"]), tuple(key["referred_columns"]))
        for key in _asked(inspector.get_foreign_keys, name) or ()
    )
    unique = tuple(tuple(key["column_names"]) for key in _asked(inspector.get_unique_constraints, name) or ())
    comment = str(_asked(inspector.get_table_comment, name).get("text") or "")
    return Table(name, columns, tuple(sorted(foreign)), tuple(sorted(unique)), comment, is_view)


def _asked(question: Any, name: str) -> Any:
    """What the inspector answers; nothing where the dialect cannot."""
    with suppress(NotImplementedError, SQLAlchemyError):
        return question(name)
    return {}


def _type(kind: Any, engine: sa.Engine) -> str:
    with suppress(SQLAlchemyError, NotImplementedError):
        return str(kind.compile(dialect=engine.dialect))
    return "" if isinstance(kind, sa.types.NullType) else str(kind.__class__.__name__)


def _first_rows(engine: sa.Engine, name: str, columns: list[str]) -> list[Any]:
    table = sa.table(name, *(sa.column(column) for column in columns))
    with suppress(SQLAlchemyError), engine.connect() as connection:
        rows = [row_of(tuple(row)) for row in connection.execute(sa.select(table).limit(_SAMPLED_ROWS))]
        return [[json.dumps(cell.value) if isinstance(cell, Json) else cell for cell in row] for row in rows]
    return []
