"""What a SQL Server database's catalogue says, read in one round trip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2sql_gate.engines.sqlserver_batches import results_of

_TABLES = """
SELECT o.object_id, SCHEMA_NAME(o.schema_id), o.name, RTRIM(o.type), COALESCE(OBJECT_DEFINITION(o.object_id), N''),
  COALESCE(CAST(p.value AS nvarchar(4000)), N'')
FROM sys.objects AS o
LEFT JOIN sys.extended_properties AS p
  ON p.class = 1 AND p.major_id = o.object_id AND p.minor_id = 0 AND p.name = N'MS_Description'
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0
"""

_COLUMNS = """
SELECT c.object_id, c.column_id, c.name, t.name, c.max_length, c.precision, c.scale, c.is_nullable, c.is_identity, c.is_computed,
  COALESCE(d.definition, N''), COALESCE(k.definition, N''), COALESCE(CAST(p.value AS nvarchar(4000)), N''),
  CASE WHEN t.is_user_defined = 1 AND t.schema_id <> 4 THEN SCHEMA_NAME(t.schema_id) ELSE N'' END,
  COALESCE(c.collation_name, N''), c.generated_always_type
FROM sys.columns AS c
JOIN sys.objects AS o ON o.object_id = c.object_id AND o.type IN ('U', 'V') AND o.is_ms_shipped = 0
JOIN sys.types AS t ON t.user_type_id = c.user_type_id
LEFT JOIN sys.default_constraints AS d ON d.parent_object_id = c.object_id AND d.parent_column_id = c.column_id
LEFT JOIN sys.computed_columns AS k ON k.object_id = c.object_id AND k.column_id = c.column_id
LEFT JOIN sys.extended_properties AS p
  ON p.class = 1 AND p.major_id = c.object_id AND p.minor_id = c.column_id AND p.name = N'MS_Description'
ORDER BY c.object_id, c.column_id
"""

_INDEXES = """
SELECT i.object_id, i.index_id, COALESCE(i.name, N''), i.is_primary_key, i.is_unique, i.is_unique_constraint,
  COALESCE(i.filter_definition, N''), c.column_id, c.is_included_column, c.is_descending_key
FROM sys.indexes AS i
JOIN sys.objects AS o ON o.object_id = i.object_id AND o.type IN ('U', 'V') AND o.is_ms_shipped = 0
JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id
WHERE i.type > 0 AND i.is_hypothetical = 0
ORDER BY i.object_id, i.index_id, c.is_included_column, c.key_ordinal, c.column_id
"""

_FOREIGN_KEYS = """
SELECT f.object_id, f.parent_object_id, f.referenced_object_id, c.parent_column_id, c.referenced_column_id,
  f.delete_referential_action_desc, f.update_referential_action_desc
FROM sys.foreign_keys AS f
JOIN sys.foreign_key_columns AS c ON c.constraint_object_id = f.object_id
ORDER BY f.object_id, c.constraint_column_id
"""

_CHECKS = "SELECT parent_object_id, definition FROM sys.check_constraints"

_OTHERS = """
SELECT RTRIM(o.type), SCHEMA_NAME(o.schema_id), o.name, o.parent_object_id, COALESCE(OBJECT_DEFINITION(o.object_id), N'')
FROM sys.objects AS o
WHERE o.is_ms_shipped = 0 AND o.type IN ('TR', 'P', 'FN', 'IF', 'TF', 'SO', 'SN', 'TT')
"""

_SCHEMAS = """
SELECT s.name FROM sys.schemas AS s
WHERE s.schema_id > 4 AND s.schema_id < 16384 AND s.name <> N'guest'
"""

_ALIASES = """
SELECT SCHEMA_NAME(t.schema_id), t.name, TYPE_NAME(t.system_type_id), t.max_length, t.precision, t.scale, t.is_nullable
FROM sys.types AS t WHERE t.is_user_defined = 1 AND t.is_table_type = 0
"""

QUERIES = (_TABLES, _COLUMNS, _INDEXES, _FOREIGN_KEYS, _CHECKS, _OTHERS, _SCHEMAS, _ALIASES)

_WITH_LENGTH = frozenset({"char", "varchar", "nchar", "nvarchar", "binary", "varbinary"})
_WITH_SCALE = frozenset({"datetime2", "datetimeoffset", "time"})
_MAX = -1
_MOST_SCALE = 7


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column. `type` is as in a CREATE statement, `kind` the bare name."""

    number: int
    name: str
    type: str
    kind: str
    nullable: bool
    identity: bool
    computed: str
    default: str
    comment: str
    generated: bool
    collation: str


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """One index. `keys` are (column number, descending)."""

    name: str
    primary: bool
    unique: bool
    constraint: bool
    where: str
    keys: tuple[tuple[int, bool], ...]
    included: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ForeignKeyFacts:
    """One foreign key by column numbers of both tables."""

    columns: tuple[int, ...]
    other: int
    referred: tuple[int, ...]
    on_delete: str
    on_update: str


@dataclass
class TableFacts:
    """One table or view with all that hangs on it."""

    number: int
    schema: str
    bare: str
    is_view: bool
    definition: str
    comment: str
    columns: dict[int, ColumnFacts] = field(default_factory=dict)
    indexes: list[IndexFacts] = field(default_factory=list)
    foreign_keys: list[ForeignKeyFacts] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name as people write it: the schema dbo goes without saying."""
        return self.bare if self.schema == "dbo" else f"{self.schema}.{self.bare}"

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key in its order."""
        for index in self.indexes:
            if index.primary:
                return tuple(self.columns[number].name for number, _ in index.keys)
        return ()

    def called(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """The names of columns."""
        return tuple(self.columns[number].name for number in numbers)


@dataclass
class Catalogue:
    """All user objects of one database. `others` are (type, schema, name, parent, definition)."""

    tables: dict[int, TableFacts]
    others: list[tuple[str, str, str, int, str]]
    schemas: list[str]
    aliases: list[tuple[str, str, str]]

    @property
    def writes_behind(self) -> bool:
        """Whether a write to one table may write to another behind its back."""
        keys = [key for table in self.tables.values() for key in table.foreign_keys]
        cascades = any(action != "NO_ACTION" for key in keys for action in (key.on_delete, key.on_update))
        return cascades or any(kind == "TR" for kind, *_ in self.others)


def select_list(table: TableFacts) -> str:
    """All columns of a table, each as a driver can fetch it."""
    return ", ".join(_fetched(column) for column in table.columns.values()) or "1"


def qualified(table: TableFacts) -> str:
    """The table's name as SQL wants it."""
    return f"{bracketed(table.schema)}.{bracketed(table.bare)}"


def bracketed(name: str) -> str:
    """A name as T-SQL takes it whatever it holds."""
    return "[" + name.replace("]", "]]") + "]"


def read_catalogue(connection: Any) -> Catalogue:
    """The catalogue of the connection's database."""
    results = results_of(connection, QUERIES)
    tables = {
        row[0]: TableFacts(row[0], row[1], row[2], row[3] == "V", str(row[4]), str(row[5]))
        for row in sorted(results[0], key=lambda row: (row[3] == "V", row[1] != "dbo", row[1], row[2]))
    }
    for row in results[1]:
        if row[0] in tables:
            tables[row[0]].columns[row[1]] = _column(row)
    _add_indexes(tables, results[2])
    _add_foreign_keys(tables, results[3])
    for row in results[4]:
        if row[0] in tables:
            tables[row[0]].checks.append(str(row[1]))
    others = [(row[0], row[1], row[2], row[3], str(row[4])) for row in results[5]]
    aliases = [(row[0], row[1], type_text(row[2], *row[3:6]) + ("" if row[6] else " NOT NULL")) for row in results[7]]
    return Catalogue(tables, others, [row[0] for row in results[6]], aliases)


def type_text(kind: str, length: int, precision: int, scale: int) -> str:
    """A type as in a CREATE statement; `length` is in bytes, −1 for max."""
    if kind in _WITH_LENGTH:
        letters = length // 2 if kind.startswith("n") and length != _MAX else length
        return f"{kind}({'max' if length == _MAX else letters})"
    if kind in {"decimal", "numeric"}:
        return f"{kind}({precision},{scale})"
    if kind in _WITH_SCALE and scale != _MOST_SCALE:
        return f"{kind}({scale})"
    return kind


def _fetched(column: ColumnFacts) -> str:
    name = bracketed(column.name)
    if column.kind in {"hierarchyid", "geometry", "geography"}:
        return f"{name}.ToString()"
    if column.kind == "sql_variant":
        return f"CAST({name} AS nvarchar(4000))"
    return f"CAST({name} AS nvarchar(max))" if column.kind == "xml" else name


def _column(row: Sequence[Any]) -> ColumnFacts:
    kind = str(row[3])
    shown = f"{row[13]}.{kind}" if row[13] and row[13] != "dbo" else kind if row[13] else type_text(kind, *row[4:7])
    return ColumnFacts(
        number=row[1],
        name=row[2],
        type=shown,
        kind=kind,
        nullable=bool(row[7]),
        identity=bool(row[8]),
        computed=str(row[11]) if row[9] else "",
        default=str(row[10]),
        comment=str(row[12]),
        generated=bool(row[15]),
        collation=str(row[14]),
    )


def _add_indexes(tables: dict[int, TableFacts], rows: Sequence[Sequence[Any]]) -> None:
    grouped: dict[tuple[int, int], list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        grouped[row[0], row[1]].append(row)
    for (table, _), members in grouped.items():
        if table in tables:
            first = members[0]
            tables[table].indexes.append(
                IndexFacts(
                    name=first[2],
                    primary=bool(first[3]),
                    unique=bool(first[4]),
                    constraint=bool(first[5]),
                    where=str(first[6]),
                    keys=tuple((row[7], bool(row[9])) for row in members if not row[8]),
                    included=tuple(row[7] for row in members if row[8]),
                )
            )


def _add_foreign_keys(tables: dict[int, TableFacts], rows: Sequence[Sequence[Any]]) -> None:
    grouped: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    for members in grouped.values():
        first = members[0]
        if first[1] in tables:
            tables[first[1]].foreign_keys.append(
                ForeignKeyFacts(
                    columns=tuple(row[3] for row in members),
                    other=first[2],
                    referred=tuple(row[4] for row in members),
                    on_delete=first[5],
                    on_update=first[6],
                )
            )
