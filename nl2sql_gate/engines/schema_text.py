"""The text of a schema as a prompt shows it: CREATE statements with keys, comments and sample values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nl2sql_gate.records import Column, Schema, Table

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_SAMPLE_LENGTH = 60
_RESERVED = frozenset(
    {
        "all", "and", "any", "as", "asc", "between", "by", "case", "check", "collate", "column", "constraint", "create",
        "cross", "current_date", "current_time", "current_timestamp", "default", "delete", "desc", "distinct", "drop", "else",
        "end", "except", "exists", "false", "for", "foreign", "from", "full", "group", "having", "in", "index", "inner",
        "insert", "intersect", "into", "is", "join", "key", "left", "like", "limit", "natural", "not", "null", "offset", "on",
        "or", "order", "outer", "primary", "references", "right", "select", "set", "table", "then", "to", "true", "union",
        "unique", "update", "user", "using", "values", "view", "when", "where", "with", "window",
    }
)  # fmt: skip


def quoter(mark: str) -> Callable[[str], str]:
    """A function that quotes a name with `mark` where it needs it."""

    def quote(name: str) -> str:
        if _PLAIN.match(name) and name == name.lower() and name not in _RESERVED:
            return name
        return mark + name.replace(mark, mark * 2) + mark

    return quote


def always(mark: str) -> Callable[[str], str]:
    """A function that quotes every name with `mark`."""
    return lambda name: mark + name.replace(mark, mark * 2) + mark


def one_line(text: str) -> str:
    """`text` without line breaks, which would end the comment that it stands in."""
    return _CONTROL.sub(" ", text).strip()


def samples_of(rows: Iterable[Sequence[object]], position: int, *, count: int) -> tuple[str, ...]:
    """Up to `count` distinct values of one column as text, in the order in which they are met."""
    seen: dict[str, None] = {}
    for row in rows:
        value = row[position]
        if value is None:
            continue
        if value is True or value is False:
            value = "true" if value else "false"
        text = one_line(f"x'{bytes(value[:16]).hex()}'" if isinstance(value, bytes | bytearray | memoryview) else str(value))
        seen.setdefault(text if len(text) <= _SAMPLE_LENGTH else text[: _SAMPLE_LENGTH - 1] + "…")
        if len(seen) >= count:
            break
    return tuple(seen)


def table_ddl(table: Table, quote: Callable[[str], str]) -> str:
    """One CREATE statement; each column's comment and samples follow it."""
    kind = "VIEW" if table.is_view else "TABLE"
    parts: list[tuple[str, str]] = [(_column(column, quote), _remark(column)) for column in table.columns]
    keys = [quote(column.name) for column in table.columns if column.primary_key]
    if keys:
        parts.append((f"PRIMARY KEY ({', '.join(keys)})", ""))
    parts += [(f"UNIQUE ({', '.join(map(quote, columns))})", "") for columns in table.unique]
    for columns, other, referred in table.foreign_keys:
        target = f" ({', '.join(map(quote, referred))})" if referred else ""
        parts.append((f"FOREIGN KEY ({', '.join(map(quote, columns))}) REFERENCES {quote(other)}{target}", ""))
    lines = [f"-- {one_line(table.comment)}"] if table.comment else []
    lines.append(f"CREATE {kind} {quote(table.name)} (")
    for index, (part, remark) in enumerate(parts):
        comma = "," if index < len(parts) - 1 else ""
        lines.append(f"  {part}{comma}{f'  -- {remark}' if remark else ''}")
    lines.append(");")
    return "\n".join(lines)


def assemble(database: str, dialect: str, tables: Sequence[Table]) -> Schema:
    """The schema of `tables`, whose `ddl` is set already."""
    return Schema(database, dialect, tuple(tables), "\n\n".join(table.ddl for table in tables))


def _column(column: Column, quote: Callable[[str], str]) -> str:
    words = [quote(column.name), column.type]
    if not column.nullable:
        words.append("NOT NULL")
    if column.default:
        words.append(f"DEFAULT {column.default}")
    return " ".join(word for word in words if word)


def _remark(column: Column) -> str:
    parts = [one_line(column.comment)] if column.comment else []
    if column.samples:
        parts.append("e.g. " + ", ".join(column.samples))
    return "; ".join(parts)
