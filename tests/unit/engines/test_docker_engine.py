"""Where an engine is looked for, and where we stand as it sees us."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import docker.errors
import pytest

from nl2sql_gate.engines import container_images, container_owner, containers
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.engines.docker_engine import Standpoint, _in, addresses, remote_host
from nl2sql_gate.engines.server_process import started_at
from nl2sql_gate.errors import ServiceError, SettingsError


def test_docker_host_is_honoured_alone(tmp_path: Path) -> None:
    assert addresses({"DOCKER_HOST": "tcp://docker:2375", "XDG_RUNTIME_DIR": str(tmp_path)}) == ["tcp://docker:2375"]


def test_sockets_of_the_user_are_found(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "docker.sock"))
        assert f"unix://{tmp_path}/docker.sock" in addresses({"XDG_RUNTIME_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("", ""),
        ("unix:///var/run/docker.sock", ""),
        ("tcp://docker:2375", "docker"),
        ("ssh://me@build.example", "build.example"),
        ("tcp://127.0.0.1:2375", ""),
        ("npipe:////./pipe/docker_engine", ""),
    ],
)
def test_only_an_engine_elsewhere_has_a_host(address: str, host: str) -> None:
    assert host == remote_host(address)


class Client:
    """An engine that knows a few containers."""

    def __init__(self, containers: dict[str, dict[str, Any]]) -> None:
        self.api = self
        self._containers = containers

    def inspect_container(self, name: str) -> dict[str, Any]:
        if name not in self._containers:
            raise docker.errors.NotFound(name)
        return self._containers[name]


def seen(mode: str, *networks: str, running: bool = True) -> dict[str, Any]:
    return {
        "Id": f"id-{mode}",
        "HostConfig": {"NetworkMode": mode},
        "NetworkSettings": {"Networks": {name: {} for name in networks}},
        "State": {"Running": running},
    }


@pytest.mark.parametrize(
    ("ours", "wanted"),
    [
        (seen("github_network_1", "github_network_1"), Standpoint(container="id-github_network_1", network="github_network_1")),
        (seen("default", "bridge"), Standpoint(container="id-default")),
        (seen("bridge", "bridge", "zoo"), Standpoint(container="id-bridge", network="zoo")),
        (seen("host", "host"), Standpoint()),
        (seen("container:pause"), Standpoint(container="id-pod", network="pod")),
    ],
)
def test_our_container_is_on_a_network_that_siblings_can_join(ours: dict[str, Any], wanted: Standpoint) -> None:
    client: Any = Client({"pause": seen("pod", "pod")})
    assert wanted == _in(client, ours, published_at="")


def test_an_owner_is_dead_when_its_process_or_its_container_is() -> None:
    client: Any = Client({"gone": seen("x", running=False), "here": seen("x")})
    here = container_owner.labels("s", own_container="")
    elsewhere = here | {"nl2sql-gate.owner.namespace": "another machine"}
    judged = {
        "alive": here,
        "another process": here | {"nl2sql-gate.owner.started": "1"},
        "no process": here | {"nl2sql-gate.owner.pid": "999999999"},
        "unknown": elsewhere,
        "stopped container": elsewhere | {"nl2sql-gate.owner.container": "gone"},
        "removed container": elsewhere | {"nl2sql-gate.owner.container": "nowhere"},
        "running container": elsewhere | {"nl2sql-gate.owner.container": "here"},
    }
    dead = {name for name, labels in judged.items() if container_owner._is_dead(client, labels)}
    assert dead == {"another process", "no process", "stopped container", "removed container"}
    assert started_at(os.getpid())


def test_no_engine_names_the_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    for recipe in (container_images.postgres(), container_images.mysql(), container_images.mariadb()):
        with pytest.raises(ServiceError) as caught:
            ServerContainer(recipe, service="db").start()
        assert "unix:///nowhere/docker.sock" in str(caught.value)
        assert "embedded" in str(caught.value)
        assert "URL" in str(caught.value)
    assert containers.sweep() == []


def test_sql_servers_licence_is_the_users_to_accept() -> None:
    with pytest.raises(SettingsError, match="ACCEPT_EULA=Y"):
        container_images.sqlserver("ms", {})
    recipe = container_images.sqlserver("ms", {"ACCEPT_EULA": "Y"})
    assert recipe.environment["ACCEPT_EULA"] == "Y"
    assert "UTF8" in recipe.environment["MSSQL_COLLATION"]


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("postgres", ("postgres", "latest")),
        ("postgres:17", ("postgres", "17")),
        ("localhost:5000/a/b", ("localhost:5000/a/b", "latest")),
        ("localhost:5000/a/b:1", ("localhost:5000/a/b", "1")),
        ("a/b@sha256:00", ("a/b", "sha256:00")),
    ],
)
def test_an_images_name_comes_apart(image: str, parts: tuple[str, str]) -> None:
    assert parts == containers._split(image)


def test_passwords_are_random_and_fit_every_server() -> None:
    one, other = (ServerContainer(container_images.postgres(), service="a b/c") for _ in range(2))
    assert one._password != other._password
    assert one.name != other.name
    assert one.name.startswith("nl2sql-gate-")
    assert set(one.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert any(c.isupper() for c in one._password)
    assert any(c.isdigit() for c in one._password)
    assert "-" in one._password
