"""Database servers in sibling containers: from the host, from inside our own image, by URL, after a kill, and when they fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest

from nl2sql_gate import plugins
from nl2sql_gate.engines import container_images, container_owner, containers
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import DatabaseSource, Limits, Place, ResultSet, SetupStatement, SqlError

from docker_engine import docker
from server_images import MYSQL, POSTGRES, have
from shop import Shop

pytestmark = pytest.mark.docker

OURS = "nl2sql-gate.run"
NETWORK = "nl2sql-gate-test-network"
SETUP = (SetupStatement("CREATE TABLE t(a INTEGER)", Place("setup.sql", 1)),)


@pytest.fixture(autouse=True)
def engine_of_the_tests(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    containers.sweep()


@pytest.fixture(scope="session")
def postgres(docker_host: str) -> str:
    return have(docker_host, POSTGRES)


@pytest.fixture(scope="session")
def mysql(docker_host: str) -> str:
    return have(docker_host, MYSQL)


@pytest.fixture(scope="session")
def network(docker_host: str) -> Iterator[str]:
    """A user-defined network, as the platform makes one for every job with services."""
    docker(docker_host, "network", "create", NETWORK, check=False)
    yield NETWORK
    docker(docker_host, "network", "rm", NETWORK, check=False)


def started(dialect: str, way: str = "container", **limits: Any) -> Any:
    """An engine of one dialect, not started yet."""
    return plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way=way, limits=Limits(**{"statement_s": 2.0, **limits}), workdir="", workers=2
    )


def ours(docker_host: str, kind: str = "container") -> list[str]:
    """Names of the containers (or networks) that carry our label."""
    listing = ["network", "ls", "--format", "{{.Name}}"] if kind == "network" else ["ps", "--all", "--format", "{{.Names}}"]
    return docker(docker_host, *listing, "--filter", f"label={OURS}").stdout.split()


def inspect(docker_host: str, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(docker(docker_host, "inspect", name).stdout)
    return found[0]


@contextmanager
def running(container: ServerContainer) -> Iterator[str]:
    url = container.start()
    try:
        yield url
    finally:
        container.stop()


def test_postgres_in_a_container_does_what_an_engine_does(docker_host: str, postgres: str) -> None:
    engine = started("postgres", f"container:{postgres}")
    try:
        facts = engine.start()
        assert (facts.way, facts.product, facts.version.partition(".")[0]) == ("container", "PostgreSQL", "17")
        database = engine.provision(DatabaseSource("d", "postgres", "x", setup=SETUP))
        with database.writing(["INSERT INTO t VALUES (1)"]) as session:
            assert isinstance(session.execute("INSERT INTO t VALUES (1)"), ResultSet)
        with database.reading() as session:
            assert session.execute("SELECT COUNT(*) FROM t").rows == ((0,),)
            assert session.execute("DELETE FROM t").reason == "refused"
            assert session.execute("SELECT pg_sleep(60)").reason == "timeout"
            assert isinstance(session.execute("COPY t TO PROGRAM 'id'"), SqlError)
    finally:
        engine.stop()
        engine.stop()
    assert ours(docker_host) == []
    assert ours(docker_host, "network") == []


def test_mysql_in_a_container_does_what_an_engine_does(docker_host: str, mysql: str) -> None:
    engine = started("mysql", f"container:{mysql}")
    try:
        facts = engine.start()
        assert (facts.way, facts.product, facts.version.partition(".")[0]) == ("container", "MySQL", "9")
        database = engine.provision(DatabaseSource("d", "mysql", "x", setup=SETUP))
        with database.writing(["INSERT INTO t VALUES (1)"]) as session:
            assert isinstance(session.execute("INSERT INTO t VALUES (1)"), ResultSet)
            assert session.execute("SELECT COUNT(*) FROM t").rows == ((1,),)
        with database.reading() as session:
            assert session.execute("SELECT COUNT(*) FROM t").rows == ((0,),)
            assert isinstance(session.execute("DELETE FROM t"), SqlError)
            assert session.execute("SELECT SLEEP(60)").reason == "timeout"
    finally:
        engine.stop()
    assert ours(docker_host) == []


def test_two_products_start_side_by_side(postgres: str, mysql: str) -> None:
    one = ServerContainer(container_images.postgres(), service="pg", way=f"container:{postgres}")
    other = ServerContainer(container_images.mysql(), service="my", way=f"container:{mysql}")
    with running(one), running(other) as url:
        assert one.alive()
        assert other.alive()
        assert _mysql_version(url).startswith("9.")
        one.stop()
        assert not one.alive()
        assert other.alive()


def test_a_container_is_told_no_secret_and_reached_on_loopback_only(
    docker_host: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ACTIONS_RUNTIME_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "planted-secret")
    monkeypatch.setenv("NL2SQL_GATE_GATE", "orders")
    container = ServerContainer(container_images.postgres(), service="Pg Main", way=f"container:{postgres}")
    with running(container):
        seen = inspect(docker_host, container.name)
        assert "planted-secret" not in json.dumps(seen)
        assert [binding["HostIp"] for binding in seen["NetworkSettings"]["Ports"]["5432/tcp"]] == ["127.0.0.1"]
        assert seen["HostConfig"]["Binds"] in (None, [])
        assert [mount for mount in seen["Mounts"] if mount["Type"] == "bind"] == []
        labels = seen["Config"]["Labels"]
        assert (labels["nl2sql-gate.gate"], labels["nl2sql-gate.service"]) == ("orders", "Pg Main")
        assert labels[OURS] == container_owner.RUN
        assert container_owner.RUN in container.name
        # A network of its own: no other container is in reach.
        assert list(seen["NetworkSettings"]["Networks"]) == [container.name]


def test_a_server_that_does_not_start_shows_its_last_lines(docker_host: str, postgres: str) -> None:
    recipe = replace(container_images.postgres(), command=("postgres", "-c", "no_such_setting=1"))
    with pytest.raises(ServiceError) as caught:
        ServerContainer(recipe, service="pg", way=f"container:{postgres}").start()
    assert 'unrecognized configuration parameter "no_such_setting"' in str(caught.value)
    assert "embedded" in str(caught.value)
    assert ours(docker_host) == []
    assert ours(docker_host, "network") == []


def test_a_server_that_never_answers_shows_its_last_lines(docker_host: str, postgres: str) -> None:
    def refuses(url: str) -> None:
        raise ConnectionError(f"nobody at {url.rpartition('@')[2]}")

    recipe = replace(container_images.postgres(), answers=refuses, start_s=8.0)
    with pytest.raises(ServiceError) as caught:
        ServerContainer(recipe, service="pg", way=f"container:{postgres}").start()
    assert "does not answer within 8 s" in str(caught.value)
    assert "nobody at 127.0.0.1" in str(caught.value)
    assert "ready to accept connections" in str(caught.value)
    assert ours(docker_host) == []


def test_an_image_that_cannot_be_had_is_named_with_the_other_ways(docker_host: str) -> None:
    with pytest.raises(ServiceError) as caught:
        started("postgres", "container:nowhere.invalid/none:1").start()
    assert "nowhere.invalid/none:1" in str(caught.value)
    assert "the URL of a server" in str(caught.value)
    assert ours(docker_host, "network") == []


def test_stopping_ends_a_start_that_waits(postgres: str) -> None:
    import threading

    def refuses(url: str) -> None:
        raise ConnectionError(url)

    container = ServerContainer(
        replace(container_images.postgres(), answers=refuses, start_s=60.0), service="pg", way=f"container:{postgres}"
    )
    stop = threading.Timer(2, container.stop)
    stop.start()
    begun = time.monotonic()
    with pytest.raises(ServiceError):
        container.start()
    assert time.monotonic() - begun < 30
    stop.join()
    assert not container.alive()


KILLED = """
import os, signal
from nl2sql_gate.engines import container_images
from nl2sql_gate.engines.containers import ServerContainer
container = ServerContainer(container_images.postgres(), service="pg", way="container:{image}")
container.start()
print(container.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_runs_container_is_swept_by_the_next_and_a_live_ones_is_not(docker_host: str, postgres: str) -> None:
    script = KILLED.format(image=postgres)
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=Path.cwd())
    name = killed.stdout.strip()
    assert name, killed.stderr
    assert name in ours(docker_host)
    live = ServerContainer(container_images.postgres(), service="live", way=f"container:{postgres}")
    with running(live):
        assert ours(docker_host) == [live.name]
        assert ours(docker_host, "network") == [live.name]
        assert containers.sweep() == []
        assert live.alive()


def test_sigterm_removes_the_containers_of_a_run(docker_host: str, postgres: str, shop: Shop) -> None:
    slow = shop.items[0] | {"dialects": ["postgres"], "golden_sql": {"postgres": ["SELECT pg_sleep(60)"]}}
    shop.items = [slow]
    _add_postgres(shop, f"container:{postgres}")
    process = subprocess.Popen(
        [sys.executable, "-m", "nl2sql_gate", "run", "--replies", "replies.jsonl"],
        cwd=shop.folder,
        env={"PATH": os.environ["PATH"], "HOME": str(shop.folder), "DOCKER_HOST": docker_host, "PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _until(lambda: _is_asked(docker_host), process)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert ours(docker_host) == []
    assert ours(docker_host, "network") == []


def test_our_image_starts_a_sibling_on_its_own_network(
    docker_host: str, image: str, postgres: str, network: str, shop: Shop
) -> None:
    _add_postgres(shop, f"container:{postgres}")
    ran = _in_our_image(docker_host, image, shop, "--network", network)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "PostgreSQL 17" in ran.stdout
    assert "6/6" in ran.stdout
    assert ours(docker_host) == []
    assert network in docker(docker_host, "network", "ls", "--format", "{{.Name}}").stdout.split()


def test_our_image_on_the_hosts_network_starts_a_sibling(docker_host: str, image: str, postgres: str, shop: Shop) -> None:
    _add_postgres(shop, f"container:{postgres}")
    ran = _in_our_image(docker_host, image, shop, "--network", "host")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6/6" in ran.stdout
    assert ours(docker_host) == []


def test_our_image_on_the_default_network_gets_one_with_its_server(
    docker_host: str, image: str, postgres: str, shop: Shop
) -> None:
    if "bridge" not in docker(docker_host, "network", "ls", "--format", "{{.Name}}").stdout.split():
        # The throw-away engine has no such network; every real one has.
        return
    _add_postgres(shop, f"container:{postgres}")
    ran = _in_our_image(docker_host, image, shop)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ours(docker_host) == []
    assert ours(docker_host, "network") == []


def test_what_a_killed_container_of_ours_left_is_swept(
    docker_host: str, image: str, postgres: str, network: str, shop: Shop
) -> None:
    shop.items[0]["golden_sql"]["postgres"] = ["SELECT pg_sleep(60)"]
    _add_postgres(shop, f"container:{postgres}")
    gate = docker(docker_host, *_arguments(docker_host, image, shop, "--network", network, "--detach", "--name", "gate-killed"))
    try:
        _until(lambda: _is_asked(docker_host))
        docker(docker_host, "rm", "--force", gate.stdout.strip())
        assert len(ours(docker_host)) == 1
        assert len(containers.sweep()) == 1
        assert ours(docker_host) == []
    finally:
        docker(docker_host, "rm", "--force", "gate-killed", check=False)


def test_services_of_a_job_are_reached_by_label_and_container_port(
    docker_host: str, image: str, postgres: str, network: str, shop: Shop
) -> None:
    """A container action is put on the network of the job's services, where each has its label as its name."""
    labelled = ["--network", network, "--network-alias", "warehouse", "--env", "POSTGRES_PASSWORD=pw"]
    service = docker(docker_host, "run", "--detach", "--rm", *labelled, postgres).stdout.strip()
    try:
        _until(
            lambda: "ready to accept" in docker(docker_host, "logs", service).stderr + docker(docker_host, "logs", service).stdout
        )
        url = "postgresql://postgres:pw@warehouse:5432/postgres"
        _add_postgres(shop, url)
        ran = _in_our_image(docker_host, image, shop, "--network", network)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "6/6" in ran.stdout
        count = "SELECT count(*) FROM pg_database WHERE datname LIKE 'nl2sql%'"
        ask = f"import psycopg; print(psycopg.connect({url!r}).execute({count!r}).fetchone()[0])"
        python = ["--entrypoint", "/opt/nl2sql-gate/bin/python"]
        left = docker(docker_host, "run", "--rm", "--network", network, *python, image, "-c", ask)
        assert left.stdout.strip() == "0"
        # The same server from the host's side of a published port is not this container's localhost.
        _add_postgres(shop, "postgresql://postgres:pw@localhost:5432/postgres")
        refused = _in_our_image(docker_host, image, shop, "--network", network)
        assert refused.returncode == 3
        assert "localhost is the container itself" in refused.stderr
        assert "label" in refused.stderr
        assert "gateway" in refused.stderr
    finally:
        docker(docker_host, "rm", "--force", service, check=False)


def test_a_missing_socket_inside_our_image_names_the_other_ways(docker_host: str, image: str, network: str, shop: Shop) -> None:
    _add_postgres(shop, "container")
    mounted = ["--network", network, "-v", f"{shop.folder}:/shop", "-w", "/shop"]
    ran = docker(docker_host, "run", "--rm", *mounted, image, "run", "--replies", "replies.jsonl", check=False)
    assert ran.returncode == 3
    for way in ("Docker", "embedded", "URL"):
        assert way in ran.stderr


def _add_postgres(shop: Shop, way: str) -> None:
    setup = shop.folder / "setup/shop/postgres"
    setup.mkdir(exist_ok=True)
    (setup / "setup.sql").write_text((shop.folder / "setup/shop/sqlite/setup.sql").read_text())
    for entry in shop.items:
        entry["dialects"] = ["sqlite", "postgres"] if "sqlite" in entry["golden_sql"] else ["postgres"]
        entry["golden_sql"].setdefault("postgres", entry["golden_sql"].get("sqlite"))
    shop.write()
    (shop.folder / "nl2sql-gate.yml").write_text(
        textwrap.dedent(f"""
            version: 1
            dataset: items.json
            setup_directory: setup
            services: {{postgres: "{way}"}}
            limits: {{statement_s: 120}}
        """)
    )


def _arguments(docker_host: str, image: str, shop: Shop, *flags: str) -> list[str]:
    socket = docker_host.removeprefix("unix://")
    if not socket.startswith("/"):
        pytest.skip("the engine is not on a socket that could be mounted")
    mounts = ["-v", f"{socket}:/var/run/docker.sock", "-v", f"{shop.folder}:/shop", "-w", "/shop"]
    return ["run", *flags, *mounts, image, "run", "--replies", "replies.jsonl"]


def _in_our_image(docker_host: str, image: str, shop: Shop, *flags: str) -> subprocess.CompletedProcess[str]:
    return docker(docker_host, *_arguments(docker_host, image, shop, "--rm", *flags), check=False)


def _is_asked(docker_host: str) -> bool:
    """Whether a container of ours runs a slow query, seen from inside."""
    for name in ours(docker_host):
        shown = docker(docker_host, "top", name, "-ww", "-eo", "pid,args", check=False).stdout
        if "SELECT" in shown:
            return True
    return False


def _until(happens: Any, process: subprocess.Popen[str] | None = None, within_s: float = 240) -> None:
    deadline = time.monotonic() + within_s
    while not happens():
        assert time.monotonic() < deadline
        if process is not None and process.poll() is not None:
            raise AssertionError(process.stdout.read() if process.stdout else process.returncode)
        time.sleep(0.2)


def _mysql_version(url: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    connection = pymysql.connect(host=parts.hostname, port=parts.port or 0, user="root", password=parts.password or "")
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        return str(cursor.fetchone()[0])  # type: ignore[index]
