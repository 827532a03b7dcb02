"""Everything a model writes is untrusted: each way out is shut by the database's own means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.records import SqlError
from nl2sql_gate.testing import Bench, Hostility, never, read, rows

from declared import ENGINES


class TestHostility(Hostility):
    engines = ENGINES


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


@never(
    "postgres-given",
    raises=pytest.fail.Exception,
    reason="who may enter the databases of a given server is its owner's to say, and nothing is changed in them",
)
@pytest.mark.engines("postgres")
def test_other_databases_cannot_be_entered(bench: Bench, target: Any) -> None:
    import psycopg

    for database in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            psycopg.connect(target.dsn(), dbname=database).close()


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
