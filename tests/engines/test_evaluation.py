"""The class `Evaluation` on servers of the user's own: every technique, read-only, under its limits, in the server's words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pyodbc
import pytest

from nl2sql_gate.engines.mysql_server import EmbeddedMysql, has_binary
from nl2sql_gate.engines.mysql_server import connect as connect_mysql
from nl2sql_gate.engines.postgres_server import EmbeddedPostgres, has_binaries
from nl2sql_gate.evaluation import DBMS, ConfigurationError, Evaluation, EvaluationTechnique

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "engines"))

from sqlserver_fake import FakeServer, error
from tds_server import HANG, TdsServer

TECHNIQUES = list(EvaluationTechnique)
SETUP = (
    "CREATE TABLE stock(id INT, item VARCHAR(20))",
    "INSERT INTO stock VALUES (1, 'nut'), (2, 'bolt'), (3, NULL)",
)
NOTHING = {"EX": 0, "EXP": 0.0, "EXR": 0.0, "F1": 0.0}


class ByName:
    """A column is like those of its name, a row like its equals, and nothing is like anything else."""

    def embed(self, texts: Any) -> Any:
        keys = [text.split(". ")[0] for text in texts]
        places = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        return [[float(i == places[key]) for i in range(len(places))] for key in keys]


class Given:
    """One server with a database `shop` of two users: `viewer`, who may read, and `editor`, who may do all."""

    def __init__(self, dbms: DBMS, url: Callable[[str], str], ask: Callable[[str], list[Any]], stop: Callable[[], None]) -> None:
        self.dbms, self.url, self.ask, self.stop = dbms, url, ask, stop

    def evaluation(self, user: str = "viewer", technique: Any = "exact_column_and_partial_cell", **more: Any) -> Evaluation:
        """An evaluation on it."""
        parameters = {"dbms": self.dbms, "db_path": self.url(user), **more.pop("db_params", {})}
        return Evaluation({"evaluation_technique": technique, "db_params": parameters, "embedding_model": ByName(), **more})


def _postgres() -> Given:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    server = EmbeddedPostgres()
    server.start()

    def ask(statement: str, database: str = "shop") -> list[Any]:
        with psycopg.connect(**server.address.parameters(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    ask("CREATE DATABASE shop", "postgres")
    for statement in (
        *SETUP,
        "CREATE ROLE viewer LOGIN PASSWORD 'pass-word'",
        "CREATE ROLE editor LOGIN PASSWORD 'pass-word'",
        "GRANT SELECT ON stock TO viewer",
        "GRANT ALL ON stock TO editor",
    ):
        ask(statement)
    host = quote(server.address.host, safe="")
    return Given(DBMS.POSTGRES, lambda user: f"postgresql://{user}:pass-word@/shop?host={host}&port=5432", ask, server.stop)


def _mariadb(dbms: DBMS) -> Given:
    if not has_binary("MariaDB"):
        pytest.skip("no MariaDB server is installed")
    server = EmbeddedMysql("MariaDB")
    server.start()

    def ask(statement: str) -> list[Any]:
        with closing(connect_mysql(server.address.parameters())) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    for statement in (
        "CREATE DATABASE shop",
        *(statement.replace("stock", "shop.stock") for statement in SETUP),
        "CREATE USER viewer IDENTIFIED BY 'pass-word'",
        "CREATE USER editor IDENTIFIED BY 'pass-word'",
        "GRANT SELECT ON shop.* TO viewer",
        "GRANT ALL ON shop.* TO editor",
    ):
        ask(statement)
    for (host,) in ask("SELECT Host FROM mysql.user WHERE User = ''"):
        ask(f"DROP USER ''@'{host}'")
    socket = quote(server.address.socket, safe="")
    return Given(dbms, lambda user: f"mysql://{user}:pass-word@localhost/shop?unix_socket={socket}", ask, server.stop)


@pytest.fixture(scope="module", params=[DBMS.POSTGRES, DBMS.MARIADB, DBMS.MYSQL], ids=lambda dbms: dbms.value)
def given(request: pytest.FixtureRequest) -> Iterator[Given]:
    """A server of each kind; MySQL's adapter speaks to MariaDB here, which its protocol allows."""
    made = _postgres() if request.param is DBMS.POSTGRES else _mariadb(request.param)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def running(evaluation: Evaluation) -> Iterator[Callable[..., dict[str, Any]]]:
    """`run_evaluation` without a log, closed at the end."""
    try:
        yield lambda predicted, truth="SELECT id, item FROM stock": evaluation.run_evaluation(predicted, truth, log=False)
    finally:
        evaluation.close()


@pytest.mark.server
@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.value)
def test_every_technique_scores_results_of_a_server(given: Given, technique: EvaluationTechnique, tmp_path: Path) -> None:
    evaluation = given.evaluation(technique=technique, logs_dir_path=tmp_path)
    same = evaluation.run_evaluation("SELECT id, item FROM stock ORDER BY id DESC", "SELECT id, item FROM stock")
    less = evaluation.run_evaluation("SELECT id, item FROM stock WHERE id = 1", "SELECT id, item FROM stock")
    evaluation.close()
    if technique is EvaluationTechnique.EXECUTION_ACCURACY:
        assert (same["metrics"], less["metrics"]) == ({"EX": 1}, {"EX": 0})
    else:
        assert same["metrics"] == {"EX": 1, "EXP": 1.0, "EXR": 1.0, "F1": 1.0}
        assert less["metrics"] == {"EX": 0, "EXP": 1.0, "EXR": 1 / 3, "F1": 0.5}
    assert (same["has_error"], less["has_error"]) == (False, False)
    assert sorted(map(repr, same["gt_rows"])) == ["(1, 'nut')", "(2, 'bolt')", "(3, None)"]
    logs = sorted((tmp_path / technique.value).iterdir())
    assert [json.loads(log.read_text())["db_params"]["dbms"] for log in logs] == [given.dbms.value] * 2
    assert "pass-word" not in "".join(log.read_text() for log in logs)


_ODD = {
    DBMS.POSTGRES: (
        "SELECT 1.50 AS a, ARRAY[1, 2] AS b, '{\"k\": [1]}'::jsonb AS c, 'x'::bytea AS d, DATE '2024-02-29' AS e,"
        " TIMESTAMPTZ '2024-02-29 12:00+02' AS f, INTERVAL '1 day' AS g, gen_random_uuid() AS h, 'infinity'::float8 AS i,"
        " 'NaN'::numeric AS j, true AS k, 'infinity'::date AS l"
    ),
    DBMS.MARIADB: (
        "SELECT 1.50 AS a, JSON_OBJECT('k', 1) AS b, X'78' AS c, DATE '2024-02-29' AS d, TIMESTAMP '2024-02-29 12:00:00' AS e,"
        " TIME '-01:00:00' AS f, UUID() AS g, TRUE AS h, CAST(1 AS DOUBLE) AS i, b'101' AS j"
    ),
}


@pytest.mark.server
@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.value)
def test_no_type_of_a_server_is_an_exception(given: Given, technique: EvaluationTechnique, tmp_path: Path) -> None:
    sql = _ODD.get(given.dbms, _ODD[DBMS.MARIADB])
    evaluation = given.evaluation(technique=technique, logs_dir_path=tmp_path)
    found = evaluation.run_evaluation(f"{sql} UNION ALL {sql}" if "jsonb" not in sql else sql, sql)
    evaluation.close()
    assert found["has_error"] is False, found.get("error_message")
    assert all(0 <= value <= 1 for value in found["metrics"].values())
    assert json.loads(next((tmp_path / technique.value).iterdir()).read_text())["gt_rows"]


_WRITES = (
    "DELETE FROM stock",
    "SELECT 1; DROP TABLE stock",
    "COMMIT; DELETE FROM stock",
    "UPDATE stock SET id = 9",
    "SET ROLE x",
)


@pytest.mark.server
@pytest.mark.parametrize("user", ["viewer", "editor"])
def test_a_prediction_writes_nothing_whoever_runs_it(given: Given, user: str) -> None:
    before = sorted(given.ask("SELECT * FROM shop.stock" if given.dbms is not DBMS.POSTGRES else "SELECT * FROM stock"), key=str)
    with running(given.evaluation(user, db_params={"insist": user == "editor"})) as run:
        for sql in _WRITES:
            found = run(sql)
            assert (found["has_error"], found["error_side"], found["metrics"]) == (True, "predicted_sql", NOTHING), sql
        assert run("SELECT id, item FROM stock")["metrics"]["EX"] == 1
    after = sorted(given.ask("SELECT * FROM shop.stock" if given.dbms is not DBMS.POSTGRES else "SELECT * FROM stock"), key=str)
    assert after == before


@pytest.mark.server
def test_a_user_who_may_write_is_a_bad_configuration(given: Given) -> None:
    with running(given.evaluation("editor")) as run, pytest.raises(ConfigurationError, match='"insist": True') as caught:
        run("SELECT 1")
    assert "editor" in caught.value.what
    assert "services." not in str(caught.value)


@pytest.mark.server
def test_errors_are_in_the_servers_words(given: Given) -> None:
    with running(given.evaluation()) as run:
        predicted, truth = run("SELECT absent FROM stock"), run("SELECT 1", "SELECT 1 FROM absent")
    words = ('column "absent" does not exist', 'relation "absent" does not exist')
    if given.dbms is not DBMS.POSTGRES:
        words = ("Unknown column 'absent' in 'SELECT'", "Table 'shop.absent' doesn't exist")
    assert (predicted["error_side"], predicted["error_message"]) == ("predicted_sql", words[0])
    assert (truth["error_side"], truth["error_message"]) == ("ground_truth_sql", words[1])


@pytest.mark.server
def test_deadline_and_row_limit_hold_and_the_next_pair_is_scored(given: Given) -> None:
    long = "SELECT pg_sleep(30)" if given.dbms is DBMS.POSTGRES else "SELECT SLEEP(30)"
    with running(given.evaluation(timeout_s=0.5, max_rows=20)) as run:
        late = run(long)
        many = run("SELECT a.id FROM stock a, stock b, stock c")
        assert run("SELECT id, item FROM stock")["metrics"]["EX"] == 1
    assert late["error_message"] == "cancelled at the limit of 0.5 s (timeout_s)"
    assert late["latency"] < 15
    assert many["error_message"] == "the result has more than 20 rows (max_rows)"


@pytest.mark.server
@pytest.mark.parametrize("sql", ["", ";", "--", "SELECT '\x00'", "SELECT '\ud800'", "SELECT %s", "SELECT '", "\\", "SELECT ?"])
def test_no_text_is_an_exception(given: Given, sql: str) -> None:
    with running(given.evaluation()) as run:
        assert run(sql)["metrics"]["EX"] == 0
        assert run("SELECT 1", sql)["metrics"]["EX"] == 0
        assert run("SELECT id, item FROM stock")["metrics"]["EX"] == 1


@pytest.mark.server
def test_a_refused_login_is_the_databases_failure_and_its_password_stays_secret(given: Given) -> None:
    url = given.url("stranger").replace("pass-word", "un-known")
    with running(given.evaluation(db_params={"db_path": url})) as run:
        found = run("SELECT 1")
    assert (found["error_side"], found["metrics"]) == ("database", NOTHING)
    assert "stranger" in found["error_message"]
    assert "un-known" not in str(found)


@pytest.mark.server
def test_a_server_that_dies_is_the_databases_failure() -> None:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    given = _postgres()
    with running(given.evaluation()) as run:
        assert run("SELECT id, item FROM stock")["metrics"]["EX"] == 1
        given.stop()
        lost = run("SELECT 1")
        assert (lost["error_side"], lost["has_error"]) == ("database", True)


# ---- SQL Server, at the driver's boundary -----------------------------------------------------------------------------


@pytest.fixture
def sqlserver() -> Iterator[TdsServer]:
    """A scripted server on loopback, spoken to by a real ODBC driver."""
    if "FreeTDS" not in pyodbc.drivers():
        pytest.skip("no ODBC driver for SQL Server is installed")
    fake = FakeServer()
    fake.on("IS_SRVROLEMEMBER", (("a", "b", "c", "d"), [(0, 0, 0, None)]))
    fake.on("SELECT item", (("item", "qty"), [("nut", 1), ("bolt", 2)]))
    fake.on("SELECT less", (("item", "qty"), [("nut", 1)]))
    fake.on("SELECT absent", error("42S22", 207, "Invalid column name 'absent'."))
    fake.on("WAITFOR", HANG)
    with TdsServer(fake).listening() as server:
        yield server


def _on_sqlserver(path: str, **more: Any) -> Evaluation:
    parameters = {"dbms": "mssql", "db_path": path, **more.pop("db_params", {})}
    return Evaluation({"evaluation_technique": "exact_column_and_partial_cell", "db_params": parameters, **more})


def test_sql_server_is_scored_through_a_url_and_through_odbc_words(sqlserver: TdsServer) -> None:
    port = sqlserver.port
    for path in (
        f"sqlserver://viewer:pass-word@127.0.0.1:{port}/shop?driver=FreeTDS",
        f"DRIVER={{FreeTDS}};SERVER=127.0.0.1;PORT={port};DATABASE=shop;UID=viewer;PWD={{pass-word}}",
    ):
        with running(_on_sqlserver(path, timeout_s=1)) as run:
            truth = "SELECT item FROM stock"
            assert run("SELECT item, qty FROM stock", truth)["metrics"]["EX"] == 1
            less = run("SELECT less", truth)
            assert less["metrics"] == {"EX": 0, "EXP": 1.0, "EXR": 0.5, "F1": 2 / 3}
            assert "pass-word" not in str(less)
            refused = run("SELECT absent", truth)
            assert (refused["error_side"], refused["error_message"]) == ("predicted_sql", "Invalid column name 'absent'.")
            assert run("WAITFOR DELAY '1:00'", truth)["error_message"] == "cancelled at the limit of 1 s (timeout_s)"
    assert {entry.user for entry in sqlserver.fake.log} == {"viewer"}
    assert sqlserver.fake.sent("ROLLBACK TRANSACTION")


def test_sql_server_refuses_a_user_who_may_write(sqlserver: TdsServer) -> None:
    sqlserver.fake.on("IS_SRVROLEMEMBER", (("a", "b", "c", "d"), [(1, 1, 1, "stock")]))
    path = f"sqlserver://sa:x@127.0.0.1:{sqlserver.port}/shop?driver=FreeTDS"
    with running(_on_sqlserver(path)) as run, pytest.raises(ConfigurationError, match="system administrator"):
        run("SELECT item", "SELECT item")
    with running(_on_sqlserver(path, db_params={"insist": True})) as run:
        assert run("SELECT item FROM t", "SELECT item FROM t")["metrics"]["EX"] == 1
        assert "only queries run" in run("DELETE FROM t", "SELECT item FROM t")["error_message"]


# ---- connection strings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dbms", [DBMS.POSTGRES, DBMS.MYSQL, DBMS.MARIADB, DBMS.SQLSERVER], ids=lambda dbms: dbms.value)
@pytest.mark.parametrize("path", ["shop.sqlite", "auto", "embedded", "container", "", "sqlite:///x", "https://me:pass-word@x/y"])
def test_what_is_no_connection_string_is_a_bad_configuration(dbms: DBMS, path: str) -> None:
    with pytest.raises(ConfigurationError, match=f"no connection string for {dbms.name}") as caught:
        Evaluation({"evaluation_technique": "execution_accuracy", "db_params": {"dbms": dbms, "db_path": path}})
    assert "pass-word" not in str(caught.value)
    assert f"{dbms.value[:3]}" in caught.value.next_step


@pytest.mark.server
def test_postgres_takes_key_value_words() -> None:
    given = _postgres()
    try:
        (host,) = given.ask("SHOW unix_socket_directories")[0]
        path = f"host={host} port=5432 dbname=shop user=viewer password='pass-word'"
        with running(given.evaluation(db_params={"db_path": path})) as run:
            found = run("SELECT id, item FROM stock")
    finally:
        given.stop()
    assert found["metrics"]["EX"] == 1
    assert found["db_params"]["db_path"] == f"host={host} port=5432 dbname=shop user=viewer password=***"


@pytest.mark.parametrize(
    "path, shown",
    [
        ("postgresql://ann:p@ss-w:rd@h/shop", "postgresql://ann:***@h/shop"),
        ("postgresql://h:1/shop?user=ann&password=p%40ss", "postgresql://h:1/shop?user=ann&password=***"),
        ("host=h password = 'p ss' dbname=x", "host=h password = *** dbname=x"),
        ("mysql://ann:p%40ss@127.0.0.1/x", "mysql://ann:***@127.0.0.1/x"),
        (
            "mssql+pyodbc:///?odbc_connect=Server%3Dh%3BPWD%3Dp%40ss%3BUID%3Da",
            "mssql+pyodbc:///?odbc_connect=Server%3Dh%3BPWD%3D***%3BUID%3Da",
        ),
        ("Driver={FreeTDS};Server=h;Pwd={p;ss};Uid=a", "Driver={FreeTDS};Server=h;Pwd=***;Uid=a"),
    ],
)
def test_passwords_are_hidden_wherever_they_stand(path: str, shown: str) -> None:
    from nl2sql_gate.evaluation.connection import Passwords

    assert Passwords(path).shown == shown
