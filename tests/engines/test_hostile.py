"""Everything a model writes is untrusted: each way out is shut by the database's own means."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
import tsql
from conftest import Bench, read, rows

from nl2sql_gate.records import SqlError

PROBE = Path("/tmp/nl2sql_gate_probe")  # noqa: S108 - the name that hostile SQL would write to

WRITES = (
    "DELETE FROM stock",
    "UPDATE stock SET qty = 0",
    "INSERT INTO stock VALUES (9, 'x', 1)",
    "DROP TABLE stock",
    "CREATE TABLE other(a INTEGER)",
    "CREATE TABLE copy_of AS SELECT * FROM stock",
    "CREATE VIEW w AS SELECT 1 AS a",
    "CREATE INDEX i ON stock(item)",
    "ALTER TABLE stock ADD COLUMN x INTEGER",
    "SELECT COUNT(*) FROM stock; DROP TABLE stock; SELECT 2",
    "BEGIN; DELETE FROM stock; COMMIT",
    "COMMIT; DELETE FROM stock",
    "ROLLBACK; DELETE FROM stock; COMMIT",
    "SELECT 1 -- harmless\n; DELETE FROM stock",
    "/* ; */ DELETE FROM stock",
)

MYSQL = (
    "WITH x AS (SELECT 1) DELETE FROM stock",
    "DELETE s FROM stock s",
    "REPLACE INTO stock VALUES (1, 'x', 1)",
    "SET SESSION TRANSACTION READ WRITE; DELETE FROM stock",
    "START TRANSACTION READ WRITE; DELETE FROM stock; COMMIT",
    "SET autocommit = 0; DELETE FROM stock; COMMIT",
    f"SELECT * FROM stock INTO OUTFILE '{PROBE}'",
    f"SELECT 'x' INTO DUMPFILE '{PROBE}'",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE stock",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE stock",
    "TRUNCATE stock",
    "RENAME TABLE stock TO gone",
    "CREATE TEMPORARY TABLE t(a INT)",
    "CREATE DATABASE eve",
    "CREATE USER eve",
    "GRANT ALL ON *.* TO CURRENT_USER()",
    "SET GLOBAL max_connections = 1",
    "SET GLOBAL general_log = ON",
    f"SET GLOBAL general_log_file = '{PROBE}'",
    "SET PERSIST max_connections = 1",
    "INSTALL PLUGIN x SONAME 'x.so'",
    "CREATE FUNCTION sys_exec RETURNS INT SONAME 'x.so'",
    "CREATE PROCEDURE p() DELETE FROM stock",
    "CREATE TRIGGER t BEFORE INSERT ON stock FOR EACH ROW SET NEW.qty = 0",
    "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM stock",
    "LOCK TABLES stock WRITE",
    "FLUSH TABLES WITH READ LOCK",
    "FLUSH PRIVILEGES",
    "SHUTDOWN",
    "KILL 1",
    "SELECT * FROM mysql.user",
    "SELECT * FROM mysql.global_priv",
    "USE mysql",
    "SELECT * FROM no_such_db.t",
    "SET @@GLOBAL.read_only = 0",
    "SET SQL_LOG_BIN = 0",
    "CHANGE MASTER TO MASTER_HOST = 'x'",
    "PREPARE s FROM 'DELETE FROM stock'; EXECUTE s",
    "EXECUTE IMMEDIATE 'DELETE FROM stock'",
    "ANALYZE TABLE no_such",
    "XA START 'x'; DELETE FROM stock",
)

PER_ENGINE: dict[str, tuple[str, ...]] = {
    "sqlite": (
        "WITH x AS (SELECT 1) DELETE FROM stock",
        "DELETE FROM stock RETURNING id",
        "REPLACE INTO stock VALUES (1, 'x', 1)",
        f"ATTACH DATABASE '{PROBE}' AS p",
        f"ATTACH DATABASE '{PROBE}' AS p; CREATE TABLE p.x(a)",
        "ATTACH DATABASE ':memory:' AS p",
        f"VACUUM INTO '{PROBE}'",
        "VACUUM",
        "SELECT load_extension('/tmp/x')",
        "PRAGMA query_only = 0; DELETE FROM stock",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = ''",
        "UPDATE sqlite_master SET sql = ''",
        "PRAGMA journal_mode = DELETE",
        f"PRAGMA temp_store_directory = '{PROBE}'",
        "PRAGMA user_version = 7",
        "CREATE TEMP TABLE t AS SELECT 1",
        "CREATE TEMP TRIGGER t AFTER INSERT ON stock BEGIN DELETE FROM stock; END",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "SELECT fts3_tokenizer('x', x'00')",
        "ANALYZE",
        "DETACH DATABASE main",
    ),
    "mysql": MYSQL,
    "sqlserver": tsql.HOSTILE,
    "mariadb": MYSQL,
    "duckdb": (
        "WITH x AS (SELECT 1) DELETE FROM stock",
        "DELETE FROM stock RETURNING id",
        f"COPY stock TO '{PROBE}'",
        "COPY stock FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_blob('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd', header = false)",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'data.csv'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM parquet_scan('https://example.com/x.parquet')",
        "SELECT * FROM sqlite_scan('/tmp/x', 't')",
        f"ATTACH '{PROBE}' AS p",
        f"EXPORT DATABASE '{PROBE}'",
        "IMPORT DATABASE '/tmp'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET GLOBAL threads = 4",
        "PRAGMA threads = 4",
        f"SET temp_directory = '{PROBE}'",
        f"SET log_query_path = '{PROBE}'",
        f"PRAGMA profiling_output = '{PROBE}'",
        "SET enable_external_access = true; SELECT * FROM read_csv('/etc/passwd', header = false)",
        "CREATE SECRET s (TYPE s3)",
        "SELECT getenv('HOME')",
        "SELECT * FROM session",
        "CREATE MACRO f(a) AS a + 1",
        "CREATE SCHEMA eve",
        "CREATE SEQUENCE eve",
        "COMMENT ON TABLE stock IS 'x'",
        "USE memory",
    ),
    "postgres": (
        "WITH x AS (SELECT 1) DELETE FROM stock",
        "WITH gone AS (DELETE FROM stock RETURNING id) SELECT id FROM gone",
        "SELECT * INTO stock_copy FROM stock",
        "SET default_transaction_read_only = off; DELETE FROM stock",
        "SET TRANSACTION READ WRITE; DELETE FROM stock",
        "BEGIN READ WRITE; DELETE FROM stock; COMMIT",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM stock",
        "SELECT set_config('transaction_read_only', 'off', false); DELETE FROM stock",
        "RESET ALL; DELETE FROM stock",
        "DISCARD ALL; DELETE FROM stock",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION nl2sql_gate_admin",
        "COPY stock FROM PROGRAM 'id'",
        f"COPY stock TO PROGRAM 'touch {PROBE}'",
        f"COPY stock TO '{PROBE}'",
        "COPY stock FROM '/etc/passwd'",
        "COPY stock TO STDOUT",
        "COPY stock FROM STDIN",
        "SELECT pg_read_file('/etc/hostname')",
        "SELECT pg_read_binary_file('/etc/hostname')",
        "SELECT pg_ls_dir('/')",
        "SELECT lo_import('/etc/hostname')",
        "SELECT lo_create(0)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_reload_conf()",
        "SELECT nextval('numbers')",
        "SELECT setval('numbers', 99)",
        "SET default_transaction_read_only = off; SELECT nextval('numbers')",
        "ALTER SYSTEM SET work_mem = '1GB'",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "CREATE ROLE eve",
        "CREATE DATABASE eve",
        "CREATE EXTENSION dblink",
        "CREATE EXTENSION plpython3u",
        "CREATE TEMP TABLE t(a INTEGER)",
        "CREATE SCHEMA eve",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DO $$ BEGIN DELETE FROM stock; END $$",
        "DO $$ BEGIN EXECUTE 'CREATE TABLE x(a int)'; END $$",
        "LOCK TABLE stock IN ACCESS EXCLUSIVE MODE",
        "SELECT * FROM stock FOR UPDATE",
        "TRUNCATE stock",
        "SELECT rolpassword FROM pg_authid",
        "SELECT query_to_xml('DELETE FROM stock', true, true, '')",
        "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public",
    ),
}


@pytest.fixture
def target(bench: Bench) -> Any:
    """A database with a sequence where there are such things, and nothing that may change."""
    if bench.dialect not in _targets:
        extra = {
            "postgres": [
                "CREATE SEQUENCE numbers",
                "GRANT ALL ON SEQUENCE numbers TO PUBLIC",
                "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC",
            ],
            "sqlserver": ["CREATE SEQUENCE numbers"],
        }
        _targets[bench.dialect] = bench.build(
            "CREATE TABLE stock(id INTEGER PRIMARY KEY, item VARCHAR(20), qty INTEGER)",
            "INSERT INTO stock VALUES (1,'nut',10),(2,'bolt',20),(3,'gear',30)",
            *extra.get(bench.dialect, []),
        )
    return _targets[bench.dialect]


_targets: dict[str, Any] = {}


def checksum(bench: Bench, database: Any) -> str:
    """All rows, all objects, all databases and roles, as one digest."""
    seen: list[Any] = [rows(database, "SELECT id, item, qty FROM stock ORDER BY id"), database.schema(sample_values=9).ddl]
    if bench.dialect == "postgres":
        seen.append(rows(database, "SELECT last_value, is_called FROM numbers"))
        seen.append(sorted(rows(database, "SELECT rolname, rolsuper FROM pg_roles")))
        seen.append(rows(database, "SELECT name, setting FROM pg_file_settings") if False else [])
    state = getattr(database, "_path", None)
    if state is not None:
        seen.append(hashlib.sha256(Path(state).read_bytes()).hexdigest())
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def test_no_write_passes_a_reading_session(bench: Bench, target: Any) -> None:
    before = checksum(bench, target)
    passed = []
    for hostile in (*WRITES, *PER_ENGINE.get(bench.dialect, ())):
        result = read(target, hostile)
        if not isinstance(result, SqlError):
            passed.append((hostile, result))
        assert checksum(bench, target) == before, hostile
        assert not PROBE.exists(), hostile
    assert passed == []


def test_refusals_say_so(target: Any) -> None:
    for hostile in ("DELETE FROM stock", "CREATE TABLE other(a INTEGER)"):
        result = read(target, hostile)
        assert isinstance(result, SqlError)
        assert result.reason == "refused", result


def test_no_way_out_of_a_private_copy(bench: Bench, target: Any) -> None:
    outside = {
        "sqlite": [
            s
            for s in PER_ENGINE["sqlite"]
            if "ATTACH" in s or "INTO '" in s or "load_ext" in s or "writable" in s or "temp_store" in s
        ],
        "postgres": [
            s
            for s in PER_ENGINE["postgres"]
            if any(
                w in s
                for w in (
                    "PROGRAM",
                    "COPY",
                    "pg_read",
                    "pg_ls",
                    "lo_",
                    "terminate",
                    "cancel",
                    "ALTER",
                    "ROLE",
                    "DATABASE",
                    "EXTENSION",
                    "AUTHORI",
                    "authid",
                )
            )
        ],
    }
    inside = ("DELETE", "MACRO", "SCHEMA", "SEQUENCE", "COMMENT")
    beyond = (
        "FILE",
        "DATABASE",
        "USER",
        "GRANT",
        "GLOBAL",
        "PERSIST",
        "SONAME",
        "FLUSH",
        "SHUTDOWN",
        "KILL 1",
        "mysql.",
        "MASTER",
    )
    outside |= {name: [text for text in MYSQL if any(word in text for word in beyond)] for name in ("mysql", "mariadb")}
    outside["sqlserver"] = list(tsql.OUTSIDE)
    outside["duckdb"] = [text for text in PER_ENGINE["duckdb"] if not any(word in text for word in inside)]
    before = checksum(bench, target)
    for hostile in outside.get(bench.dialect, []):
        with target.writing([hostile]) as session:
            assert isinstance(session.execute(hostile), SqlError), hostile
        assert not PROBE.exists(), hostile
    assert checksum(bench, target) == before


@pytest.mark.engines("mysql", "mariadb")
def test_a_file_is_not_read(target: Any) -> None:
    assert rows(target, "SELECT LOAD_FILE('/etc/hostname')") == [(None,)]


@pytest.mark.engines("mysql", "mariadb")
def test_other_sessions_of_a_server_are_neither_seen_nor_ended(target: Any) -> None:
    with target.reading() as golden, target.reading() as generated:
        number = golden.execute("SELECT CONNECTION_ID() -- secret of golden").rows[0][0]
        assert "secret" not in str(generated.execute("SELECT * FROM information_schema.processlist"))
        assert isinstance(generated.execute(f"KILL {number}"), SqlError)
        assert isinstance(generated.execute(f"KILL QUERY {number}"), SqlError)
        assert not isinstance(golden.execute("SELECT 1"), SqlError)


@pytest.mark.engines("mysql", "mariadb")
def test_a_session_that_ends_itself_is_the_models_error(target: Any) -> None:
    with target.reading() as session:
        assert isinstance(session.execute("KILL CONNECTION_ID()"), SqlError)
    assert rows(target, "SELECT COUNT(*) FROM stock") == [(3,)]


@pytest.mark.engines("mysql", "mariadb")
def test_user_variables_and_locks_do_not_survive(target: Any) -> None:
    read(target, "SET @x = 42")
    read(target, "SELECT @y := 42")
    assert read(target, "SELECT GET_LOCK('eve', 0)").rows == ((1,),)
    for _ in range(3):
        assert rows(target, "SELECT @x, @y, IS_FREE_LOCK('eve')") == [(None, None, 1)]


@pytest.mark.engines("postgres")
def test_other_sessions_sql_is_not_readable(target: Any) -> None:
    with target.reading() as golden, target.reading() as generated:
        golden.execute("SELECT 'secret of golden'")
        shown = generated.execute("SELECT query FROM pg_stat_activity").rows
    assert not any("secret" in str(row) for row in shown)


@pytest.mark.engines("postgres")
def test_a_lifted_time_limit_does_not_last(bench: Bench, target: Any) -> None:
    result = read(target, "SET statement_timeout = 0; SELECT pg_sleep(60)")
    assert isinstance(result, SqlError)
    assert result.reason == "timeout"
    assert rows(target, "SHOW statement_timeout") == [("2s",)]


@pytest.mark.engines("postgres")
def test_other_databases_cannot_be_entered(bench: Bench, target: Any) -> None:
    import psycopg

    for database in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            psycopg.connect(target.dsn(), dbname=database)


@pytest.mark.engines("postgres")
def test_a_roles_own_settings_do_not_outlive_its_clone(target: Any) -> None:
    hostile = "ALTER ROLE CURRENT_USER SET search_path = nowhere"
    for _ in range(3):
        with target.writing([hostile]) as session:
            session.execute(hostile)
    with target.writing(["UPDATE stock SET qty = 1"]) as session:
        assert not isinstance(session.execute("UPDATE stock SET qty = 1"), SqlError)


def test_a_server_is_told_no_secrets(bench: Bench) -> None:
    pid = getattr(bench.engine, "server_pid", 0)
    if not pid:
        return
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    names = {entry.partition(b"=")[0].decode() for entry in environment.split(b"\0") if entry}
    assert names <= {"PATH", "LC_ALL", "TZ", "HOME", "PGDATA", "PG_GRANDPARENT_PID", "PWD", "SHLVL", "_"}
    if os.geteuid() == 0:
        assert Path(f"/proc/{pid}").stat().st_uid != 0
