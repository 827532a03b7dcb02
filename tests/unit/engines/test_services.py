from __future__ import annotations

import pytest

from nl2sql_gate.engines.postgres_server import given_address
from nl2sql_gate.engines.services import chosen_way, unreachable
from nl2sql_gate.engines.sqlite import SqliteEngine
from nl2sql_gate.errors import ServiceError, SettingsError
from nl2sql_gate.records import Limits


def test_a_url_is_given_and_words_are_taken_at_their_word() -> None:
    assert chosen_way("pg", "postgresql://x/y", product="PostgreSQL", has_server=lambda: True) == "given"
    assert chosen_way("pg", "embedded", product="PostgreSQL", has_server=lambda: False) == "embedded"
    assert chosen_way("pg", "container:postgres:16", product="PostgreSQL", has_server=lambda: True) == "container"
    assert chosen_way("pg", "auto", product="PostgreSQL", has_server=lambda: True) == "embedded"


def test_an_unknown_way_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match=r"services\.pg"):
        chosen_way("pg", "magic", product="PostgreSQL", has_server=lambda: True)


def test_auto_without_server_and_docker_names_all_ways_out() -> None:
    with pytest.raises(ServiceError) as caught:
        chosen_way("pg", "auto", product="PostgreSQL", has_server=lambda: False, has_docker=lambda: False)
    text = str(caught.value)
    assert "Install PostgreSQL" in text
    assert "Docker" in text
    assert "URL" in text


def test_docker_host_counts_as_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert chosen_way("pg", "auto", product="PostgreSQL", has_server=lambda: False) == "container"


def test_a_server_that_does_not_answer_is_named() -> None:
    text = str(unreachable("pg", product="PostgreSQL", host="db.test", error="connection\n refused"))
    assert "services.pg" in text
    assert "connection refused" in text


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"])
def test_postgres_urls_are_taken_apart(scheme: str) -> None:
    address = given_address(f"{scheme}://ann:s%40x@db.test:5433/shop?sslmode=require")
    assert (address.host, address.port, address.user, address.password) == ("db.test", 5433, "ann", "s@x")
    assert address.maintenance == "shop"
    assert address.parameters()["sslmode"] == "require"
    assert address.parameters("other", user="eve", password="x")["user"] == "eve"


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "postgresql+http:://ann:s3cr3t@db:5432/x", "postgresql://ann:s3cr3t@db:notaport/x"]
)
def test_a_bad_url_is_refused_without_its_password(url: str) -> None:
    from nl2sql_gate.engines.postgres import PostgresEngine

    engine = PostgresEngine(name="pg", dialect="postgres", way=url, limits=Limits(), workdir="", workers=1)
    with pytest.raises(SettingsError) as caught:
        engine.start()
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("way", ["container", "postgresql://x/y", "sqlite:///a.db"])
def test_sqlite_knows_its_own_ways_only(way: str) -> None:
    with pytest.raises(SettingsError):
        SqliteEngine(name="s", dialect="sqlite", way=way, limits=Limits(), workdir="", workers=1).start()
