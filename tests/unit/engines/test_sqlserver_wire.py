"""SQL Server through real ODBC drivers, against a scripted server on loopback."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyodbc
import pytest

from nl2sql_gate.engines.cells_sqlserver import UserDefined
from nl2sql_gate.engines.sqlserver import SqlServerEngine
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import DatabaseSource, Execution, Limits, Place, ResultSet, SetupStatement, SqlError

sys.path.insert(0, str(Path(__file__).parent))

from sqlserver_fake import FakeServer, error
from tds_server import HANG, TdsServer, Variant

SOURCE = DatabaseSource("shop", "sqlserver", "x", setup=(SetupStatement("CREATE TABLE t(a INT)", Place("setup.sql", 1)),))
DRIVERS = ["FreeTDS"] if "FreeTDS" in pyodbc.drivers() else []
if importlib.util.find_spec("mssql_python_odbc"):
    DRIVERS.append("Microsoft")


@pytest.fixture(params=DRIVERS)
def server(request: pytest.FixtureRequest) -> Iterator[TdsServer]:
    with TdsServer(FakeServer()).listening() as made:
        made.driver = "driver=FreeTDS" if request.param == "FreeTDS" else "Encrypt=no"  # type: ignore[attr-defined]
        yield made


@contextmanager
def built(server: TdsServer) -> Iterator[Any]:
    url = f"sqlserver://sa:x@127.0.0.1:{server.port}/master?{server.driver}"  # type: ignore[attr-defined]
    engine = SqlServerEngine(
        name="ms", dialect="sqlserver", way=url, limits=Limits(statement_s=0.5, rows=100), workdir="", workers=1
    )
    assert engine.start().version == "16.0.4125.3"
    try:
        yield engine.provision(SOURCE)
    finally:
        engine.stop()


def ask(server: TdsServer, answer: Any, sql: str = "SELECT 42") -> Execution:
    server.fake.on(r"\ASELECT 42", answer)
    with built(server) as database, database.reading() as session:
        return session.execute(sql)  # type: ignore[no-any-return]


def test_a_run_logs_in_as_its_own_logins(server: TdsServer) -> None:
    assert isinstance(ask(server, (("a",), [(1,)])), ResultSet)
    users = {entry.user.rpartition("_")[2] for entry in server.fake.log}
    assert users == {"sa", "reader", "writer"}
    assert server.fake.sent(r"\ACREATE TABLE t\(a INT\)\Z", user="writer")


@pytest.mark.parametrize("sql", ["SELECT 42, '100%', '?', ':a', '{fn now()}', N'ünï😀'", "SELECT 42 -- ?", "SELECT 42;;"])
def test_the_text_of_a_batch_arrives_untouched(server: TdsServer, sql: str) -> None:
    ask(server, (("a",), [(1,)]), sql)
    assert sql in server.fake.sent("SELECT 42")


NOON = dt.datetime(2024, 5, 1, 14, 0, 0, 123456)  # noqa: DTZ001 - a reading of a clock on the wall
GUID = uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")


@pytest.mark.parametrize(
    "cell",
    [
        9007199254740993,
        True,
        0.1,
        Decimal("0.1000"),
        Decimal("-12345678901234567890.1234"),
        "ünï😀 100%",
        "",
        b"\xde\xad\x00",
        GUID,
        dt.date(2024, 5, 1),
        dt.date(1, 1, 1),
        dt.time(12, 30, 15, 123456),
        NOON,
        dt.datetime(9999, 12, 31, 23, 59, 59),  # noqa: DTZ001 - likewise
        NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
        NOON.replace(tzinfo=dt.timezone(-dt.timedelta(hours=3, minutes=30))),
    ],
    ids=repr,
)
def test_values_arrive_as_cells(server: TdsServer, cell: Any) -> None:
    result = ask(server, (("a", "b"), [(1, cell), (2, None)]))
    assert isinstance(result, ResultSet), result
    assert result.rows == ((1, cell), (2, None))
    assert type(result.rows[0][1]) is type(cell)


def test_class_types_become_the_servers_text(server: TdsServer) -> None:
    server.fake.on("dm_exec_describe_first_result_set", (("n", "type"), [(1, "hierarchyid  ")]))
    server.fake.on(r"CAST\(v\.b AS hierarchyid\)\.ToString\(\)", (("t",), [("/1/",)]))
    result = ask(server, (("a",), [(UserDefined(b"\x58"),), (None,)]))
    assert isinstance(result, ResultSet), result
    assert result.rows == (("/1/",), (None,))


@pytest.mark.parametrize("number", [7, -7])
def test_a_variant_is_its_value_or_leaves_the_case_unmeasured(server: TdsServer, number: int) -> None:
    answer = (("a", "b"), [(1, Variant(number)), (2, None)])
    if "FreeTDS" in server.driver:  # type: ignore[attr-defined]
        with pytest.raises(EngineFault, match="cannot read a type"):
            ask(server, answer)
        return
    result = ask(server, answer)
    assert isinstance(result, ResultSet), result
    assert result.rows == ((1, number), (2, None))


def test_of_several_results_the_last_with_columns_counts(server: TdsServer) -> None:
    result = ask(server, [3, (("a",), [(1,)]), 1, (("b", "b"), [(2, 3)]), 1])
    assert isinstance(result, ResultSet)
    assert (result.columns, result.rows) == (("b", "b"), ((2, 3),))


def test_errors_carry_the_servers_number_and_words(server: TdsServer) -> None:
    result = ask(server, error("42S02", 208, "Invalid object name 'nope'."))
    assert isinstance(result, SqlError)
    assert (result.code, result.message) == ("208", "Invalid object name 'nope'.")


def test_an_error_after_a_result_is_seen(server: TdsServer) -> None:
    result = ask(server, [(("a",), [(1,)]), error("42000", 229, "The DELETE permission was denied.")])
    assert isinstance(result, SqlError)
    assert (result.code, result.reason) == ("229", "refused")


def test_a_statement_at_its_limit_gets_an_attention(server: TdsServer) -> None:
    started = time.monotonic()
    result = ask(server, HANG)
    assert isinstance(result, SqlError), result
    assert result.reason == "timeout"
    assert time.monotonic() - started < 5
    assert server.cancels


def test_a_session_goes_on_after_a_cancel(server: TdsServer) -> None:
    server.fake.on(r"\ASELECT 42", HANG)
    server.fake.on(r"\ASELECT 43", (("a",), [(1,)]))
    with built(server) as database, database.reading() as session:
        assert session.execute("SELECT 42").reason == "timeout"
        assert session.execute("SELECT 43").rows == ((1,),)


def test_a_server_that_dies_is_a_fault(server: TdsServer) -> None:
    server.fake.on(r"\ASELECT 42", HANG)
    with built(server) as database:
        killer = threading.Timer(0.2, server.hang_up)
        killer.start()
        with pytest.raises(EngineFault), database.reading() as session:
            session.execute("SELECT 42")
        killer.join()


def test_rows_beyond_the_limit_do_not_end_the_session(server: TdsServer) -> None:
    many = (("a",), [(number,) for number in range(5000)])
    server.fake.on(r"\ASELECT 42", many)
    server.fake.on(r"\ASELECT 43", (("a",), [(1,)]))
    with built(server) as database, database.reading() as session:
        assert session.execute("SELECT 42").reason == "too_many_rows"
        assert session.execute("SELECT 43").rows == ((1,),)
