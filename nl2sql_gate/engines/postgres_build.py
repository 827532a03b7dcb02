"""Builds a PostgreSQL database from a database source, owned by the writing role, readable by the reading role."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from nl2sql_gate.engines.postgres_cluster import Cluster
from nl2sql_gate.engines.postgres_session import lost
from nl2sql_gate.engines.provision_errors import fails
from nl2sql_gate.engines.setup_statements import chooses_database
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import DatabaseSource, Json, SetupStatement, TableData

_OURS = "n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
_NO_EXTENSION = "NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = o.oid AND d.deptype = 'e')"

_FOREIGN_OWNED = f"""
SELECT format('ALTER %s %s OWNER TO {{role}}',
    CASE o.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE'
      ELSE 'TABLE' END,
    o.oid::regclass)
  FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
  WHERE {_OURS} AND o.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND o.relowner <> {{oid}} AND {_NO_EXTENSION}
    AND NOT EXISTS (
      SELECT 1 FROM pg_depend d WHERE d.objid = o.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i'))
UNION ALL
SELECT format('ALTER ROUTINE %s OWNER TO {{role}}', o.oid::regprocedure)
  FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace
  WHERE {_OURS} AND o.proowner <> {{oid}} AND {_NO_EXTENSION}
UNION ALL
SELECT format('ALTER TYPE %s OWNER TO {{role}}', o.oid::regtype)
  FROM pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace
  WHERE {_OURS} AND o.typtype IN ('e', 'd', 'r') AND o.typowner <> {{oid}} AND {_NO_EXTENSION}
UNION ALL
SELECT format('ALTER SCHEMA %I OWNER TO {{role}}', n.nspname)
  FROM pg_namespace n WHERE {_OURS} AND n.nspname <> 'public' AND n.nspowner <> {{oid}}
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = n.oid AND d.deptype = 'e')
"""

_GRANTS = """
DO $$
DECLARE s name; f regprocedure;
BEGIN
  FOR s IN SELECT nspname FROM pg_namespace n WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' LOOP
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', s);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO {reader}, {writer}', s);
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO {writer}', s);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC', s);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %I FROM PUBLIC', s);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO {reader}, {writer}', s);
    EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %I TO {reader}, {writer}', s);
  END LOOP;
  -- Such a function acts with its owner's rights, who may write.
  FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prosecdef AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' LOOP
    EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', f);
  END LOOP;
END $$
"""


def build(source: DatabaseSource, cluster: Cluster, database: str) -> None:
    """Fill the empty database. Raises `ProvisionError` with the statement or the row, `ServiceError` where the server fails."""
    writer = sql.Identifier(cluster.writer)
    cluster.let_in(database, cluster.writer, "CONNECT, CREATE, TEMPORARY")
    try:
        with cluster.connect(database) as connection:
            connection.execute(sql.SQL("GRANT ALL ON SCHEMA public TO {}").format(writer))
            _as_writer(connection, cluster)
            _run(connection, (*source.pre, *source.setup), cluster)
            _load(connection, source.tables)
            _run(connection, source.post, cluster)
            connection.execute("RESET ROLE")
            connection.execute("RESET ALL")
            _hand_over(connection, cluster)
            connection.execute("ANALYZE")
    except psycopg.OperationalError as error:
        raise ServiceError("PostgreSQL failed while a database was built", where=[" ".join(str(error).split())]) from error


def _as_writer(connection: psycopg.Connection[Any], cluster: Cluster) -> None:
    connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(cluster.writer)))


def _run(connection: psycopg.Connection[Any], statements: Sequence[SetupStatement], cluster: Cluster) -> None:
    for statement in statements:
        if chooses_database(statement.text):
            continue
        try:
            try:
                _execute(connection, statement)
            except psycopg.errors.InsufficientPrivilege:
                # An extension, say, needs the administrator; what it makes is handed over at the end.
                if not cluster.superuser or connection.info.transaction_status:
                    raise
                connection.execute("RESET ROLE")
                _execute(connection, statement)
                _as_writer(connection, cluster)
        except psycopg.Error as error:
            if connection.closed or connection.broken:
                raise lost(error) from error
            raise fails(
                "a setup statement fails on postgres", error.diag.message_primary or error, statement.place, statement.text
            ) from error


def _execute(connection: psycopg.Connection[Any], statement: SetupStatement) -> None:
    if statement.data:
        # A dump's COPY … FROM stdin: its rows go through the driver's copy protocol, as they stand in the dump.
        with connection.cursor() as cursor, cursor.copy(statement.text.encode()) as copy:
            copy.write(statement.data.encode())
        return
    # Without parameters, so that % and : are what they are.
    connection.execute(statement.text)


def _load(connection: psycopg.Connection[Any], tables: Sequence[TableData]) -> None:
    waiting = list(tables)
    while waiting:
        refused: list[tuple[TableData, psycopg.Error]] = []
        for table in waiting:
            try:
                with connection.transaction():
                    _copy(connection, table)
            except psycopg.errors.ForeignKeyViolation as error:
                # Files come in no particular order: the table that it refers to may be next.
                refused.append((table, error))
            except psycopg.Error as error:
                if connection.closed or connection.broken:
                    raise
                raise _row_fails(table, error) from error
        if len(refused) == len(waiting):
            raise _row_fails(*refused[0]) from refused[0][1]
        waiting = [table for table, _ in refused]


def _row_fails(table: TableData, error: psycopg.Error) -> Exception:
    said = [error.diag.message_primary, error.diag.message_detail, error.diag.context]
    return fails(
        f"the rows of table {table.table} cannot be inserted", "; ".join(part for part in said if part) or error, table.place
    )


def _copy(connection: psycopg.Connection[Any], table: TableData) -> None:
    oid, name = _find(connection, table)
    described = connection.execute(
        "SELECT attname::text, format_type(atttypid, NULL), atttypid::regtype::text FROM pg_attribute"
        " WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        (oid,),
    ).fetchall()
    types = {row[0]: row[1] for row in described}
    columns = [_column(column, types, table) for column in table.columns] or list(types)
    wanted = [types[column] for column in columns]
    listed = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.SQL(name), listed)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in table.rows:
            copy.write_row(
                [cell if cell is None else _as_postgres(cell, wanted[i] if i < len(wanted) else "") for i, cell in enumerate(row)]
            )
    _advance_sequences(connection, name, columns)


def _find(connection: psycopg.Connection[Any], table: TableData) -> tuple[int, str]:
    parts = table.table.split(".")
    spelled = [[table.table], [table.table.lower()], parts, [part.lower() for part in parts]]
    for words in spelled:
        quoted = ".".join('"' + word.replace('"', '""') + '"' for word in words)
        found = connection.execute("SELECT to_regclass(%s)::oid::int8", (quoted,)).fetchone()
        if found and found[0]:
            return int(found[0]), quoted
    raise fails(f"there is no table {table.table}", "its rows have nowhere to go", table.place)


def _column(column: str, types: dict[str, str], table: TableData) -> str:
    for name in (column, column.lower()):
        if name in types:
            return name
    for name in types:
        if name.lower() == column.lower():
            return name
    raise fails(f"table {table.table} has no column {column}", "the header names it", table.place)


def _as_postgres(cell: Any, wanted: str) -> Any:
    """A value that COPY's text form of the wanted type takes."""
    if wanted in {"json", "jsonb"} and not isinstance(cell, str):
        return json.dumps(cell.value if isinstance(cell, Json) else cell, ensure_ascii=False, default=str)
    if isinstance(cell, Json):
        return json.dumps(cell.value, ensure_ascii=False)
    if isinstance(cell, bool) and wanted != "boolean":
        return (
            int(cell) if wanted in {"smallint", "integer", "bigint", "numeric", "real", "double precision"} else str(cell).lower()
        )
    if isinstance(cell, dict):
        return json.dumps(cell, ensure_ascii=False, default=str)
    if isinstance(cell, float) and wanted == "boolean":
        return int(cell)
    return cell


def _advance_sequences(connection: psycopg.Connection[Any], name: str, columns: Sequence[str]) -> None:
    """Let serial columns go on after the rows that brought their own numbers, as other products do by themselves."""
    advance = (
        "SELECT setval({sequence}, m) FROM (SELECT max({column})::int8 AS m FROM {table}) AS t"
        " WHERE m > (SELECT last_value FROM {relation}) OR m = 1"
    )
    for column in columns:
        row = connection.execute("SELECT pg_get_serial_sequence(%s, %s)", (name, column)).fetchone()
        if row and row[0]:
            connection.execute(
                sql.SQL(advance).format(
                    sequence=sql.Literal(row[0]), column=sql.Identifier(column), table=sql.SQL(name), relation=sql.SQL(row[0])
                )
            )


def _hand_over(connection: psycopg.Connection[Any], cluster: Cluster) -> None:
    """Everything belongs to the writing role, may be read by the reading role, and by nobody else."""
    row = connection.execute("SELECT oid::int8 FROM pg_roles WHERE rolname = %s", (cluster.writer,)).fetchone()
    role = sql.Identifier(cluster.writer).as_string(connection)
    if cluster.superuser:
        foreign = connection.execute(_FOREIGN_OWNED.format(role=role, oid=row[0] if row else 0)).fetchall()
        for (statement,) in foreign:
            connection.execute(statement)
    connection.execute(_GRANTS.format(reader=sql.Identifier(cluster.reader).as_string(connection), writer=role))
