"""SQL Server at the driver's boundary: what is sent, as whom, and what becomes of what comes back."""

from __future__ import annotations

import datetime as dt
import logging
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyodbc
import pytest
import sqlglot

from nl2sql_gate.dataset import read_source
from nl2sql_gate.engines.cells_sqlserver import UserDefined, datetimeoffset, tolerant_text
from nl2sql_gate.engines.sqlserver import SqlServerEngine
from nl2sql_gate.engines.sqlserver_address import given_address
from nl2sql_gate.engines.sqlserver_build import batch_without_database
from nl2sql_gate.engines.sqlserver_errors import sql_error
from nl2sql_gate.engines.sqlserver_fetch import literal
from nl2sql_gate.engines.sqlserver_schema import read_schema
from nl2sql_gate.engines.sqlserver_session import SqlServerSession, batches
from nl2sql_gate.errors import EngineFault, ProvisionError, ServiceError, SettingsError
from nl2sql_gate.protocols import Database, Engine, Session
from nl2sql_gate.records import (
    DatabaseSource,
    Execution,
    Json,
    Limits,
    Place,
    ResultSet,
    SetupStatement,
    SqlError,
    State,
    TableData,
)
from nl2sql_gate.sqltext import split_batches

sys.path.insert(0, str(Path(__file__).parent))

from sqlserver_fake import CATALOGUE, FACTS, FakeServer, error

PLACE = Place("setup.sql", 3)
SETUP = ("CREATE TABLE stock(id INT)", "DECLARE @n INT = 1; INSERT INTO stock VALUES (@n)")


def source(*setup: str, tables: tuple[TableData, ...] = (), name: str = "shop") -> DatabaseSource:
    return DatabaseSource(
        name, "sqlserver", f"digest-{name}", setup=tuple(SetupStatement(s, PLACE) for s in setup), tables=tables
    )


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@contextmanager
def engine(server: FakeServer, way: str = "sqlserver://sa:x@db", **options: Any) -> Iterator[SqlServerEngine]:
    limits = options.pop("limits", Limits(statement_s=0.3, rows=3, bytes=1000))
    made = SqlServerEngine(
        name="ms", dialect="sqlserver", way=way, limits=limits, workdir="", workers=1, connect=server.connect, **options
    )
    try:
        yield made
    finally:
        made.stop()
        made.stop()
        assert server.open_connections() == 0


@contextmanager
def built(server: FakeServer, **options: Any) -> Iterator[Any]:
    with engine(server, **options) as made:
        made.start()
        yield made.provision(source(*SETUP))


def read(server: FakeServer, sql: str, **options: Any) -> Execution:
    with built(server, **options) as database, database.reading() as session:
        return session.execute(sql)


def rows(server: FakeServer, answer: Any, sql: str = "SELECT 42", **options: Any) -> Execution:
    server.on(r"\ASELECT 42", answer)
    return read(server, sql, **options)


# ---- starting and stopping -----------------------------------------------------------------------------------------


def test_a_start_says_what_runs_and_makes_logins_without_powers(server: FakeServer) -> None:
    with engine(server) as made:
        facts = made.start()
        assert isinstance(made, Engine)
        assert (facts.product, facts.version, facts.way) == ("SQL Server", "16.0.4125.3", "given")
        assert len(server.sent("CREATE LOGIN")) == 2
        assert len(server.sent("DENY VIEW ANY DATABASE")) == 2
        assert len(server.sent("DENY EXECUTE ON sys.xp_dirtree")) == 2
    assert server.sent("sysadmin.*ADD MEMBER") == []


def test_a_dead_runs_databases_go_and_a_live_ones_stay(server: FakeServer) -> None:
    left = ["nl2sql_gate_0000dead_1", "nl2sql_gate_0000dead_reader", "nl2sql_gate_0000beef_1", "nl2sql_gate_notes"]
    server.on(r"FROM sys\.databases WHERE name LIKE .*\nUNION", (("name",), [(name,) for name in left]))
    server.on(r"sp_getapplock.*0000beef", (("taken",), [(-1,)]))
    server.on(r"FROM sys\.databases WHERE name LIKE N'nl2sql\[_\]gate\[_\]0000dead\[_\]%'\Z", (("name",), [(left[0],)]))
    server.on(r"FROM sys\.server_principals WHERE .*0000dead", (("name",), [(left[1],)]))
    with engine(server) as made:
        made.start()
        assert server.sent(r"\ADROP DATABASE") == ["DROP DATABASE IF EXISTS [nl2sql_gate_0000dead_1]"]
        assert server.sent(r"\ADROP LOGIN") == ["DROP LOGIN [nl2sql_gate_0000dead_reader]"]
        assert server.sent("beef.*DROP|DROP.*beef") == []


def test_stopping_drops_what_we_made_and_nothing_else(server: FakeServer) -> None:
    with built(server):
        server.on(r"FROM sys\.databases WHERE name LIKE N'nl2sql[^\n]*\Z", (("name",), [("nl2sql_gate_x_1",)]))
    dropped = server.sent(r"\ADROP DATABASE")
    assert dropped[-1] == "DROP DATABASE IF EXISTS [nl2sql_gate_x_1]"
    assert all("nl2sql_gate_" in statement for statement in server.sent(r"\A(?:DROP|ALTER) (?:DATABASE|LOGIN|USER) \["))


@pytest.mark.parametrize(
    ("facts", "says"),
    [([("12.0.5000.0", 3, 1)], "older than 2016"), ([("12.0.2000.8", 5, 0)], "Azure SQL Database")],
)
def test_servers_that_cannot_serve_say_why(server: FakeServer, facts: Any, says: str) -> None:
    server.on(r"SERVERPROPERTY", (FACTS[0], facts))
    with engine(server) as made, pytest.raises(ServiceError, match=says):
        made.start()


def test_a_user_without_rights_is_told_what_is_needed(server: FakeServer) -> None:
    server.on("CREATE LOGIN", error("42000", 15247, "User does not have permission to perform this action."))
    with engine(server) as made, pytest.raises(ServiceError) as caught:
        made.start()
    assert "15247" in str(caught.value)
    assert "existing: true" in str(caught.value)


def test_a_refused_certificate_says_what_to_add(server: FakeServer) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise pyodbc.OperationalError(
            "08001",
            "[08001] [Microsoft][ODBC Driver 18 for SQL Server]SSL Provider: certificate verify failed (-1) (SQLDriverConnect)",
        )

    made = SqlServerEngine(
        name="ms", dialect="sqlserver", way="sqlserver://sa:x@db", limits=Limits(), workdir="", workers=1, connect=refuse
    )
    with pytest.raises(ServiceError, match="TrustServerCertificate=yes"):
        made.start()


def test_no_server_of_its_own_and_no_licence_accepted_for_the_user(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCEPT_EULA", raising=False)
    for way, says in {"embedded": "container", "container": "ACCEPT_EULA", "mysql://a": "sqlserver://"}.items():
        with engine(server, way) as made, pytest.raises(SettingsError, match=says):
            made.start()


# ---- building ------------------------------------------------------------------------------------------------------


def test_setup_runs_batch_by_batch_as_a_login_that_sees_one_database(server: FakeServer) -> None:
    with built(server) as database:
        assert isinstance(database, Database)
        assert server.sent("stock", user="writer") == list(SETUP)
    order = [entry.sql.split("\n")[0] for entry in server.log]
    made = next(i for i, sql in enumerate(order) if sql.startswith("CREATE DATABASE"))
    taken = next(i for i, sql in enumerate(order) if "db_owner DROP MEMBER" in sql)
    closed = next(i for i, sql in enumerate(order) if "SET READ_ONLY" in sql)
    assert made < order.index(SETUP[0]) < order.index(SETUP[1]) < taken < closed


def test_a_failing_batch_is_named_with_its_place(server: FakeServer) -> None:
    server.on("INSERT INTO nowhere", error("42S02", 208, "Invalid object name 'nowhere'."))
    with engine(server) as made:
        made.start()
        with pytest.raises(ProvisionError) as caught:
            made.provision(source("INSERT INTO nowhere VALUES (1)"))
    assert "setup.sql:3: Invalid object name 'nowhere'." in str(caught.value)
    assert "INSERT INTO nowhere VALUES (1)" in str(caught.value)


def test_an_error_after_the_first_result_of_a_batch_is_seen(server: FakeServer) -> None:
    server.on("batch of two", [1, error("23000", 2627, "Violation of PRIMARY KEY constraint.")])
    with engine(server) as made:
        made.start()
        with pytest.raises(ProvisionError, match="PRIMARY KEY"):
            made.provision(source("INSERT t VALUES (1); /* batch of two */ INSERT t VALUES (1)"))


@pytest.mark.parametrize(
    ("batch", "left"),
    [
        ("USE [Chinook];\n", ""),
        ("-- start\nUSE master\nCREATE TABLE t(a INT)", "-- start\nCREATE TABLE t(a INT)"),
        ("CREATE DATABASE [Chinook]", ""),
        ("/* x */ ALTER DATABASE x SET RECOVERY SIMPLE", ""),
        ("IF EXISTS (SELECT name FROM sysdatabases) BEGIN DROP DATABASE x END", ""),
        ("IF OBJECT_ID('t') IS NULL CREATE TABLE t(a INT)", "IF OBJECT_ID('t') IS NULL CREATE TABLE t(a INT)"),
        ("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 2", "ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 2"),
        ("SELECT 'USE x'", "SELECT 'USE x'"),
    ],
)
def test_what_chooses_a_database_is_passed_over(batch: str, left: str) -> None:
    assert batch_without_database(batch) == left


STOCK_COLUMNS = (
    ("schema", "table", "name", "type", "length", "precision", "scale", "identity"),
    [
        ("dbo", "Stock", "id", "int", 4, 10, 0, True),
        ("dbo", "Stock", "item", "nvarchar", 40, 0, 0, False),
        ("dbo", "Stock", "price", "money", 8, 19, 4, False),
        ("dbo", "Stock", "raw", "varbinary", -1, 0, 0, False),
        ("dbo", "Stock", "ok", "bit", 1, 1, 0, False),
        ("dbo", "Stock", "share", "decimal", 9, 8, 2, False),
    ],
)


def test_rows_are_loaded_as_one_text_that_the_server_converts(server: FakeServer) -> None:
    server.on(r"LOWER\(o\.name\) = LOWER\(N'stock'\)", STOCK_COLUMNS)
    given = ((1, "it's\\\nso", 1.5, b"\xde\xad", True, 1e-7), (2, None, None, "\\x00ff", False, Decimal("1E+2")))
    table = TableData("stock", (), given, Place("stock.csv", 1))
    with engine(server) as made:
        made.start()
        made.provision(source(tables=(table,)))
    loaded = server.sent("OPENJSON", user="writer")
    assert len(loaded) == 1
    assert "INSERT INTO [dbo].[Stock] ([id], [item], [price], [raw], [ok], [share])" in loaded[0]
    assert "CONVERT(int, j.c0), j.c1, CONVERT(money, j.c2), CONVERT(varbinary(max), j.c3, 1)" in loaded[0]
    assert '["1", "it\'\'s\\\\\\nso", "1.5", "0xdead", "1", "0.0000001"]' in loaded[0]
    assert '["2", null, null, "0x00ff", "0", "100"]' in loaded[0]
    order = [entry.sql for entry in server.log if "writer" in entry.user]
    switched = [sql for sql in order if "IDENTITY_INSERT" in sql]
    assert switched == ["SET IDENTITY_INSERT [dbo].[Stock] ON", "SET IDENTITY_INSERT [dbo].[Stock] OFF"]


def test_tables_load_whatever_order_foreign_keys_want(server: FakeServer) -> None:
    tries: list[str] = []

    def child(_: Any, sql: str) -> Any:
        tries.append(sql)
        return error("23000", 547, "The INSERT statement conflicted with the FOREIGN KEY constraint.") if len(tries) == 1 else 1

    for name in ("child", "parent"):
        columns = [("dbo", name, "id", "int", 4, 10, 0, False)]
        server.on(rf"LOWER\(o\.name\) = LOWER\(N'{name}'\)", (STOCK_COLUMNS[0], columns))
    server.on(r"INSERT INTO \[dbo\]\.\[child\]", child)
    tables = tuple(TableData(name, ("ID",), ((1,),), Place(f"{name}.csv", 1)) for name in ("child", "parent"))
    with engine(server) as made:
        made.start()
        made.provision(source(tables=tables))
    assert [sql.split("]")[1] for sql in server.sent("OPENJSON")] == [".[child", ".[parent", ".[child"]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (TableData("nope", (), ((1,),), Place("n.csv", 1)), "there is no table nope"),
        (TableData("stock", ("nope",), ((1,),), Place("n.csv", 1)), "has no column nope"),
        (TableData("stock", ("id", "item"), ((1, "a"), (2,)), Place("n.csv", 1)), "row 2 of table stock has not 2 cells"),
    ],
)
def test_rows_that_do_not_fit_are_named(server: FakeServer, table: TableData, says: str) -> None:
    server.on(r"LOWER\(o\.name\) = LOWER\(N'nope'\)", (STOCK_COLUMNS[0], []))
    server.on(r"LOWER\(o\.name\) = LOWER\(N'stock'\)", STOCK_COLUMNS)
    with engine(server) as made:
        made.start()
        with pytest.raises(ProvisionError, match=says):
            made.provision(source(tables=(table,)))


# ---- reading -------------------------------------------------------------------------------------------------------


def test_a_reading_session_is_the_reader_in_a_read_only_database(server: FakeServer) -> None:
    with built(server) as database, database.reading() as session:
        assert isinstance(session, Session)
        session.execute("SELECT 42")
    sent = next(entry for entry in server.log if entry.sql == "SELECT 42")
    assert sent.user.endswith("_reader")
    assert server.sent(rf"ALTER DATABASE \[{sent.database}\] SET READ_ONLY")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT '100%', '?', ':a', '{fn now()}'",
        "SELECT 42;;\n-- that is all;\n",
        "DECLARE @a INT = 1; SELECT @a",
        "SELECT [a]]b]",
    ],
)
def test_the_text_of_a_batch_is_untouched(server: FakeServer, sql: str) -> None:
    read(server, sql)
    assert sql in server.sent(".", user="reader")


def test_go_ends_a_batch_and_repeats_it(server: FakeServer) -> None:
    assert batches("SELECT 1\nGO\nSELECT 2;\ngo 2\n") == ["SELECT 1", "SELECT 2;", "SELECT 2;"]
    assert batches("SELECT 'x\nGO\n'") == ["SELECT 'x\nGO\n'"]
    assert len(batches("SELECT 1\nGO 999999999")) == 1000
    for nothing in ("", "-- none", " /* x */ ", "GO"):
        assert isinstance(read(server, nothing), SqlError)


def test_of_several_results_the_last_with_columns_counts(server: FakeServer) -> None:
    result = rows(server, [1, (("a",), [(1,)]), 1, (("b", "b"), [(2, 3)]), 1])
    assert isinstance(result, ResultSet)
    assert (result.columns, result.rows) == (("b", "b"), ((2, 3),))


def test_a_write_says_how_many_rows(server: FakeServer) -> None:
    result = rows(server, 7)
    assert isinstance(result, ResultSet)
    assert (result.columns, result.rowcount) == ((), 7)


def test_the_row_limit_is_exact(server: FakeServer) -> None:
    three = (("a",), [(1,), (2,), (3,)])
    assert isinstance(rows(server, three), ResultSet)
    four = rows(server, (three[0], [*three[1], (4,)]))
    assert isinstance(four, SqlError)
    assert four.reason == "too_many_rows"


@pytest.mark.parametrize(
    ("cell", "reason"), [("x" * 500, ""), ("x" * 501, "too_many_bytes"), (b"x" * 1000, ""), (b"x" * 1001, "too_many_bytes")]
)
def test_what_a_result_may_weigh_is_counted_as_the_server_sends_it(server: FakeServer, cell: Any, reason: str) -> None:
    result = rows(server, (("a",), [(cell,)]))
    assert (result.reason if isinstance(result, SqlError) else "") == reason
    # The server sends no more of one value than tells that it passes the limit.
    assert server.sent("SET TEXTSIZE 1002", user="reader")


@pytest.mark.parametrize(
    ("raised", "code", "reason"),
    [
        (error("42S02", 208, "Invalid object name 'nope'."), "208", "error"),
        (error("42000", 229, "The SELECT permission was denied on the object 'x'."), "229", "refused"),
        (error("25000", 3906, "Failed to update database because the database is read-only."), "3906", "refused"),
        (error("42000", 15281, "SQL Server blocked access to procedure 'sys.xp_cmdshell'."), "15281", "refused"),
        (error("22012", 8134, "Divide by zero error encountered."), "8134", "error"),
        (pyodbc.ProgrammingError("07002", "[07002] [Microsoft]COUNT field incorrect (0) (SQLExecDirectW)"), "07002", "error"),
        (
            pyodbc.ProgrammingError("42000", "[42000] [FreeTDS][SQL Server]Incorrect syntax near 'x'. (102) (SQLExecDirectW)"),
            "102",
            "error",
        ),
    ],
)
def test_errors_are_the_servers_own_words(server: FakeServer, raised: pyodbc.Error, code: str, reason: str) -> None:
    result = rows(server, raised)
    assert isinstance(result, SqlError)
    assert (result.code, result.reason) == (code, reason)
    assert "[" not in result.message
    assert "(SQL" not in result.message


@pytest.mark.parametrize(
    "raised",
    [
        pyodbc.OperationalError("08S01", "[08S01] [Microsoft]TCP Provider: Error code 0x68 (104) (SQLExecDirectW)"),
        pyodbc.Error("08S01", "[08S01] [FreeTDS][SQL Server]Write to the server failed (20006) (SQLExecDirectW)"),
        pyodbc.Error(
            "HY000", "[HY000] [Microsoft][SQL Server]Cannot continue, session is in the kill state. (596) (SQLExecDirectW)"
        ),
        error("40001", 1205, "Transaction was deadlocked and has been chosen as the deadlock victim."),
        error("42000", 9002, "The transaction log for database 'x' is full."),
        error("42000", 1222, "Lock request time out period exceeded."),
        pyodbc.ProgrammingError("HY106", "ODBC SQL type -150 is not yet supported.  column-index=0  type=-150"),
        ValueError("year 0 is out of range"),
    ],
)
def test_what_is_not_the_models_fault_is_a_fault(server: FakeServer, raised: Exception) -> None:
    with pytest.raises(EngineFault):
        rows(server, raised)


def test_a_connection_that_cannot_be_had_is_a_fault(server: FakeServer) -> None:
    with built(server) as database:
        server.on("SET XACT_ABORT", pyodbc.OperationalError("08001", "[08001] gone (0) (SQLExecDirectW)"))
        with pytest.raises(EngineFault), database.reading():
            pass
        with pytest.raises(EngineFault), database.writing(["UPDATE stock SET id = 1"]):
            pass
        with pytest.raises(EngineFault):
            database.schema(sample_values=0)


def test_a_statement_at_its_limit_is_cancelled_in_the_server(server: FakeServer) -> None:
    def hangs(cursor: Any, _: str) -> Any:
        assert cursor.cancelled.wait(5)
        return pyodbc.OperationalError("HY008", "[HY008] [Microsoft]Operation canceled (0) (SQLExecDirectW)")

    started = time.monotonic()
    result = rows(server, hangs)
    assert isinstance(result, SqlError)
    assert (result.reason, "0.3 s" in result.message) == ("timeout", True)
    assert 0.3 <= time.monotonic() - started < 2


def test_a_limit_counts_for_a_whole_text(server: FakeServer) -> None:
    def slow(_: Any, __: str) -> Any:
        time.sleep(0.05)
        return 1

    result = rows(server, slow, "SELECT 42\nGO 500")
    assert isinstance(result, SqlError)
    assert result.reason == "timeout"
    assert len(server.sent("SELECT 42")) < 20


def test_a_session_that_does_not_obey_is_ended_by_the_administrator(server: FakeServer) -> None:
    killed = threading.Event()

    def hangs(_: Any, __: str) -> Any:
        assert killed.wait(5)
        return pyodbc.OperationalError("08S01", "[08S01] [Microsoft]Communication link failure (0) (SQLExecDirectW)")

    server.on(r"\ASELECT 42", hangs)
    connection = server.connect(given_address("sqlserver://u:x@db"))
    session = SqlServerSession(
        connection, limits=Limits(statement_s=0.1), take_state=lambda _: State({}, {}), kill=killed.set, hang_s=0.2
    )
    with pytest.raises(EngineFault):
        session.execute("SELECT 42")


@pytest.mark.parametrize("text", ["SELECT '\ud800'", "SELECT 'a\0b'"])
def test_odd_text_is_the_models_error_or_a_result(server: FakeServer, text: str) -> None:
    assert isinstance(read(server, text), SqlError | ResultSet)


def test_text_that_is_no_unicode_is_read_a_second_time(server: FakeServer) -> None:
    tries: list[int] = []

    def broken(_: Any, __: str) -> Any:
        tries.append(1)
        if len(tries) == 1:
            b"\x00\xd8".decode("utf-16-le")
        return ("a",), [("\ud800",)]

    with built(server) as database, database.reading() as session:
        server.on(r"\ASELECT 42", broken)
        assert session.execute("SELECT 42").rows == (("\ud800",),)
    assert tolerant_text(b"\x00\xd8") == "\ud800"


# ---- cells ---------------------------------------------------------------------------------------------------------


def test_moments_with_an_offset_arrive_from_either_driver() -> None:
    noon = dt.datetime(2024, 5, 1, 14, 0, 0, 123456, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    microsoft = struct.pack("<6hI2h", 2024, 5, 1, 14, 0, 0, 123456700, 2, 0)
    ticks = ((12 * 3600) * 10**6 + 123456) * 10
    freetds = struct.pack("<QihH", ticks, (dt.date(2024, 5, 1) - dt.date(1900, 1, 1)).days, 120, 0)
    text = b"2024-05-01 14:00:00.1234567 +02:00"
    assert [noon] * 3 == [datetimeoffset(raw) for raw in (microsoft, freetds, text)]
    assert (
        dt.timedelta(hours=-3, minutes=-30) == datetimeoffset(struct.pack("<6hI2h", 2024, 5, 1, 0, 0, 0, 0, -3, -30)).utcoffset()
    )  # type: ignore[union-attr]
    assert datetimeoffset(b"\x01\x02") == "0x0102"
    assert datetimeoffset(struct.pack("<6hI2h", 2024, 13, 1, 0, 0, 0, 0, 0, 0)).startswith("0x")  # type: ignore[union-attr]


def test_class_types_become_the_servers_text(server: FakeServer) -> None:
    server.on("dm_exec_describe_first_result_set", (("n", "type"), [(1, "int"), (2, "hierarchyid  ")]))
    server.on(r"CAST\(v\.b AS hierarchyid\)\.ToString\(\)", (("t",), [("/1/",), ("/2/",)]))
    answer = (("a", "h"), [(1, UserDefined(b"\x58")), (2, UserDefined(b"\x68")), (3, None)])
    result = rows(server, answer)
    assert isinstance(result, ResultSet)
    assert result.rows == ((1, "/1/"), (2, "/2/"), (3, None))
    assert "(0, 0x58), (1, 0x68)" in server.sent("ToString")[0]


def test_class_types_that_the_server_cannot_describe_stay_hexadecimal(server: FakeServer) -> None:
    server.on("dm_exec_describe_first_result_set", error("42000", 11525, "it uses a temporary table"))
    result = rows(server, (("h",), [(UserDefined(b"\x58"),)]))
    assert isinstance(result, ResultSet)
    assert result.rows == (("0x58",),)


@pytest.mark.parametrize("text", ["it's", "a\\\nb", "a\\\r\nb", "\\", "plain", "'\\\n'"])
def test_a_literal_stands_for_its_text(text: str) -> None:
    written = literal(text)
    parts = written.removeprefix("CAST(N'' AS nvarchar(max)) + ").removeprefix("N'").removesuffix("'").split("' + N'")
    assert "".join(part.replace("''", "'") for part in parts) == text
    assert not any(part.endswith("\\\n") for part in written.splitlines(keepends=True)[:-1])


# ---- writing -------------------------------------------------------------------------------------------------------


def test_dml_runs_in_a_transaction_of_a_copy_that_is_used_again(server: FakeServer) -> None:
    update = "UPDATE stock SET id = 2"
    with built(server) as database:
        for _ in range(3):
            with database.writing([update]) as session:
                session.execute(update)
        places = {entry.database for entry in server.log if entry.sql == update}
    assert len(places) == 1
    assert len(server.sent(r"\ABACKUP DATABASE")) == 1
    writer = [
        entry.sql for entry in server.log if "writer" in entry.user and entry.database in places and "SET XACT" not in entry.sql
    ]
    assert writer[1:3] == ["BEGIN TRANSACTION", "SELECT XACT_STATE(), @@TRANCOUNT, CURRENT_TRANSACTION_ID()"]
    assert writer[3:8] == [
        "SELECT @@SPID",
        "SELECT XACT_STATE()",
        "SAVE TRANSACTION nl2sql_gate",
        update,
        "SELECT XACT_STATE(), @@TRANCOUNT, CURRENT_TRANSACTION_ID()",
    ]
    assert writer[8] == "ROLLBACK TRANSACTION"


def test_an_error_undoes_its_text_and_nothing_else(server: FakeServer) -> None:
    server.on("again", error("23000", 2627, "Violation of PRIMARY KEY constraint."))
    with built(server) as database, database.writing(["INSERT INTO stock VALUES ('again')"]) as session:
        assert isinstance(session.execute("INSERT INTO stock VALUES ('again')"), SqlError)
    assert server.sent(r"\AROLLBACK TRANSACTION nl2sql_gate\Z")


def test_an_error_that_ends_the_transaction_leaves_the_case_unmeasured(server: FakeServer) -> None:
    with built(server) as database:
        insert, ask = "INSERT INTO stock VALUES (1)", "SELECT CAST('a' AS INT)"
        with database.writing([insert, ask]) as session:
            session.execute(insert)
            server.on(r"\ASELECT XACT_STATE\(\)", (("state", "count", "id"), [(0, 0, 1)]))
            with pytest.raises(EngineFault, match="ended the transaction"):
                session.execute(insert)


@pytest.mark.parametrize("statement", ["COMMIT", "EXEC refill", "WAITFOR DELAY '0:0:1'", "nonsense that no parser knows"])
def test_what_could_end_a_transaction_gets_a_copy_that_is_thrown_away(server: FakeServer, statement: str) -> None:
    with built(server) as database:
        for _ in range(2):
            with database.writing([statement]) as session:
                session.execute(statement)
    places = {entry.database for entry in server.log if entry.sql == statement}
    assert len(places) == 2
    assert {sql.split("]")[0].split("[")[1] for sql in server.sent(r"\ARESTORE")} >= places


def test_a_transaction_that_is_not_ours_any_more_costs_the_copy(server: FakeServer) -> None:
    with built(server) as database:
        with database.writing(["UPDATE stock SET id = 2"]):
            server.on("CURRENT_TRANSACTION_ID", (("state", "count", "id"), [(1, 1, 901)]))
        server.on("CURRENT_TRANSACTION_ID", (("state", "count", "id"), [(1, 1, 902)]))
        with database.writing(["UPDATE stock SET id = 2"]):
            pass
    assert len({entry.database for entry in server.log if entry.sql == "BEGIN TRANSACTION" and "writer" in entry.user}) == 2


def test_automatic_numbers_are_put_back(server: FakeServer) -> None:
    columns = ("id", "value", "schema", "name")
    with built(server) as database:
        server.on(r"sys\.identity_columns", (columns, [(10, 5, "dbo", "o'stock")]))
        with database.writing(["INSERT INTO stock DEFAULT VALUES"]):
            seen: list[int] = []

            def moved(_: Any, __: str) -> Any:
                seen.append(1)
                return columns, [(10, 6 if len(seen) == 1 else 5, "dbo", "o'stock")]

            server.on(r"sys\.identity_columns", moved)
        assert server.sent("CHECKIDENT") == ["DBCC CHECKIDENT (N'[dbo].[o''stock]', RESEED, 5) WITH NO_INFOMSGS"]
        with database.writing(["INSERT INTO stock DEFAULT VALUES"]):
            pass
    assert len(server.sent(r"\ARESTORE DATABASE")) <= 2


def test_whoever_may_not_restore_builds_each_copy(server: FakeServer) -> None:
    server.on(r"SERVERPROPERTY", (FACTS[0], [("16.0.1", 3, 0)]))
    with built(server) as database, database.writing(["UPDATE stock SET id = 2"]) as session:
        session.execute("UPDATE stock SET id = 2")
    assert server.sent("BACKUP|RESTORE") == []
    assert len(server.sent("CREATE TABLE stock", user="writer")) >= 2


def test_a_protected_session_becomes_the_reader(server: FakeServer) -> None:
    with built(server) as database, database.writing(["UPDATE stock SET id = 2"]) as session:
        session.protect()
    assert server.sent(r"\AEXECUTE AS USER = N'nl2sql_gate_\w+_reader' WITH NO REVERT\Z", user="writer")


# ---- schema and state ----------------------------------------------------------------------------------------------


@pytest.fixture
def catalogue(server: FakeServer) -> FakeServer:
    server.on(r"OBJECT_DEFINITION\(o\.object_id\)", CATALOGUE)
    server.on(r"FROM \[dbo\]\.\[stock\]", (("id", "item", "qty", "double"), [(1, "nut", 10, 20), (2, "bolt", 20, 40)]))
    server.on(r"FROM \[sales\]\.\[Order Line\]", (("a",) * 5, [(1, Decimal("0.50"), "/1/", "n", "c")]))
    server.on(r"FROM \[dbo\]\.\[low\]", (("item",), [("nut",)]))
    return server


def test_the_schema_is_valid_t_sql_with_keys_and_samples(catalogue: FakeServer) -> None:
    with built(catalogue) as database:
        schema = database.schema(sample_values=2)
    stock, line, low = schema.tables
    assert [stock.name, line.name, low.name] == ["stock", "sales.Order Line", "low"]
    assert stock.columns[1].samples == ("nut", "bolt")
    assert [column.type for column in line.columns] == ["int", "decimal(8,2)", "hierarchyid", "varchar(max)", "postcode"]
    assert stock.unique == (("item",),)
    assert line.foreign_keys == ((("stock_id",), "stock", ("id",)),)
    for piece in (
        "id int IDENTITY NOT NULL",
        "item nvarchar(20) NOT NULL",
        "qty int DEFAULT ((7))",
        "double AS ([qty]*(2))",
        'CREATE TABLE sales."Order Line"',
        "FOREIGN KEY (stock_id) REFERENCES stock (id)",
        "-- its name",
        "CREATE VIEW low AS",
    ):
        assert piece in schema.ddl.replace('"double"', "double"), schema.ddl
    assert len(sqlglot.parse(schema.ddl, dialect="tsql")) >= 3


def test_values_of_class_types_are_asked_for_as_text(catalogue: FakeServer) -> None:
    with built(catalogue) as database:
        database.schema(sample_values=1)
    assert "[place].ToString()" in catalogue.sent(r"FROM \[sales\]\.\[Order Line\]")[0]


def test_only_tables_that_are_written_to_are_read(catalogue: FakeServer) -> None:
    update = "UPDATE stock SET qty = 1"
    with built(catalogue) as database, database.writing([update]) as session:
        before = session.state()
        session.execute(update)
        after = session.state()
    assert before.tables.keys() == {"stock", "sales.Order Line"}
    assert after.tables["sales.Order Line"] is before.tables["sales.Order Line"]
    assert after.tables["stock"].content.count == 2
    assert catalogue.sent(r"FROM \[sales\]\.\[Order Line\]") == []
    assert before.catalogue == after.catalogue
    assert before.catalogue["primary key stock(id)"] == {"table": "stock"}
    assert before.catalogue["foreign key sales.Order Line(stock_id) → stock(id)"]["on delete"] == "NO_ACTION"
    for thing in (
        "column stock.double",
        "unique stock(item)",
        "check stock ([qty]>=(0))",
        "index sales.Order Line (price DESC) INCLUDE (stock_id) WHERE ([price]>(0))",
        "view low",
        "procedure refill",
        "sequence numbers",
        "schema sales",
        "type postcode",
    ):
        assert thing in before.catalogue, thing


@pytest.mark.parametrize("statement", ["EXEC refill", "MERGE something odd"])
def test_where_it_is_unknown_what_was_written_all_is_read(catalogue: FakeServer, statement: str) -> None:
    with built(catalogue) as database, database.writing([statement]) as session:
        before = session.state()
        session.execute(statement)
        after = session.state()
    assert after.tables["sales.Order Line"] is not before.tables["sales.Order Line"]


def test_triggers_make_every_table_suspect(catalogue: FakeServer) -> None:
    others = [*CATALOGUE[5][1], ("TR", "dbo", "audit", 10, "CREATE TRIGGER audit ON stock AFTER UPDATE AS DELETE FROM x")]
    catalogue.on(r"OBJECT_DEFINITION\(o\.object_id\)", [*CATALOGUE[:5], (("others",), others), *CATALOGUE[6:]])
    update = "UPDATE stock SET qty = 1"
    with built(catalogue) as database, database.writing([update]) as session:
        before = session.state()
        session.execute(update)
        after = session.state()
    assert after.tables["sales.Order Line"] is not before.tables["sales.Order Line"]
    assert "trigger stock.audit" in after.catalogue


# ---- a database of the user's own ----------------------------------------------------------------------------------

POWERS = ("sysadmin", "owner", "creates", "writable")


@pytest.mark.parametrize(
    ("powers", "says"),
    [((1, 1, 1, None), "system administrator"), ((0, 1, 1, "t"), "owns"), ((0, 0, 0, "orders"), "write to table orders")],
)
def test_a_user_who_may_write_is_refused_on_an_existing_database(server: FakeServer, powers: Any, says: str) -> None:
    server.on("HAS_PERMS_BY_NAME", (POWERS, [powers]))
    with engine(server, "sqlserver://u:x@db/prod", existing=True) as made, pytest.raises(SettingsError, match=says):
        made.start()
    assert server.sent(r"\A\s*(?:CREATE|DROP|ALTER)\b") == []


def test_an_existing_database_is_read_in_transactions_that_are_rolled_back(server: FakeServer) -> None:
    server.on("HAS_PERMS_BY_NAME", (POWERS, [(0, 0, 0, None)]))
    server.on(r"\ASELECT 42", (("a",), [(1,)]))
    with engine(server, "sqlserver://u:x@db/prod", existing=True) as made:
        assert made.start().version == "16.0.4125.3"
        database = made.provision(source(name="prod"))
        assert (database.digest, database.dsn()) == ("unknown", "")
        with database.reading() as session:
            assert session.execute("SELECT 42").rows == ((1,),)
        with pytest.raises(SettingsError, match="questions only"), database.writing(["SELECT 1"]):
            pass
    sent = [entry.sql for entry in server.log]
    at = sent.index("SELECT 42")
    assert (sent[at - 1], sent[at + 1]) == ("BEGIN TRANSACTION", "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION")
    assert {entry.database for entry in server.log} == {"prod"}
    assert server.sent(r"\A\s*(?:CREATE|DROP|ALTER)\b") == []


@pytest.mark.parametrize(
    "hostile", ["DELETE FROM stock", "COMMIT; DELETE FROM stock", "EXEC refill", "SELECT * INTO x FROM stock"]
)
def test_who_insists_gets_nothing_but_queries(server: FakeServer, hostile: str) -> None:
    server.on("HAS_PERMS_BY_NAME", (POWERS, [(1, 1, 1, None)]))
    with engine(server, "sqlserver://u:x@db/prod", existing=True, insist=True) as made:
        made.start()
        with made.provision(source(name="prod")).reading() as session:
            result = session.execute(hostile)
    assert isinstance(result, SqlError)
    assert result.reason == "refused"
    assert hostile not in server.sent(".")


# ---- T-SQL ---------------------------------------------------------------------------------------------------------


def test_all_that_we_send_is_t_sql(catalogue: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    """All queries; statements of administration are none that a parser knows."""
    caplog.set_level(logging.CRITICAL, logger="sqlglot")
    catalogue.on(r"LOWER\(o\.name\) = LOWER\(N'stock'\)", STOCK_COLUMNS)
    tables = (TableData("stock", (), ((1, "a", 1, b"", True, 1),), Place("s.csv", 1)),)
    with engine(catalogue) as made:
        made.start()
        database = made.provision(source(*SETUP, tables=tables))
        database.schema(sample_values=1)
        with database.writing(["EXEC refill"]) as session:
            session.execute("EXEC refill")
            session.state()
    asked = [sql for sql in dict.fromkeys(entry.sql.strip() for entry in catalogue.log) if sql.startswith(("SELECT", "INSERT"))]
    wrong = []
    for batch in asked:
        try:
            sqlglot.parse(batch, dialect="tsql")
        except sqlglot.ParseError as refused:
            wrong.append(f"{batch}: {refused}")
    assert len(asked) > 15
    assert wrong == []


def test_scripts_of_real_databases_come_apart_at_go(shared_data: Path, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="sqlglot")
    script = (shared_data / "data/chinook/Chinook_SqlServer.sql").read_text(encoding="utf-8-sig")
    kept = [batch for statement in split_batches(script) if (batch := batch_without_database(statement.text))]
    parsed = [sqlglot.parse(batch, dialect="tsql") for batch in kept]
    kinds = [type(tree).__name__ for trees in parsed for tree in trees if tree is not None]
    assert (kinds.count("Create"), kinds.count("Insert") > 15) == (22, True), kinds
    for name in ("honey_market", "bee_yards"):
        made = read_source(str(root / "datasets/thistledown/setup"), name, "sqlserver")
        assert made.tables
        assert all(batch_without_database(statement.text) for statement in (*made.setup, *made.post))


def test_json_and_lists_are_written_as_json(server: FakeServer) -> None:
    columns = [("dbo", "t", "a", "nvarchar", -1, 0, 0, False)]
    server.on(r"LOWER\(o\.name\) = LOWER\(N't'\)", (STOCK_COLUMNS[0], columns))
    table = TableData("t", (), ((Json({"a": 1}),), ([1, None],)), Place("t.csv", 1))
    with engine(server) as made:
        made.start()
        made.provision(source(tables=(table,)))
    assert '[["{\\"a\\": 1}"], ["[1, null]"]]' in server.sent("OPENJSON")[0]


def test_an_error_of_several_messages_says_the_first() -> None:
    text = (
        "[42000] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Incorrect syntax near 'FORM'. (102) (SQLExecDirectW);"
        " [42000] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Statement(s) could not be prepared. (8180)"
    )
    found = sql_error(pyodbc.ProgrammingError("42000", text))
    assert (found.message, found.code) == ("Incorrect syntax near 'FORM'.", "102")


def test_reading_a_catalogue_needs_one_round_trip(catalogue: FakeServer) -> None:
    connection = catalogue.connect(type("Address", (), {"user": "u"})())
    read_schema(connection, "shop", sample_values=0)
    assert len(catalogue.log) == 1
