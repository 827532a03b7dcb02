"""The Docker engine in reach, and where this process stands as it sees it: on the host, or in a container on its networks."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nl2sql_gate.engines.services import in_container
from nl2sql_gate.errors import ServiceError

if TYPE_CHECKING:
    from docker import DockerClient

_BUILT_IN = frozenset({"bridge", "host", "none", "default"})
_OWN_ID = re.compile(r"containers?/([0-9a-f]{64})\b")
_PODS_OWN_ID = re.compile(r"(?:docker|libpod)[-/]([0-9a-f]{64})\b")
_SHORT_ID = re.compile(r"[0-9a-f]{12}(?:[0-9a-f]{52})?\Z")
_CALL_S = 60


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where this process stands. `container` is our own container's id, empty on a host or where the engine does not know us.

    `network` is a user-defined network that we are on: its members find each other by name. `published_on` is the address on
    which a published port must be bound, and `published_at` the one under which we then reach it.
    """

    container: str = ""
    network: str = ""
    published_on: str = "127.0.0.1"
    published_at: str = "127.0.0.1"


def errors() -> tuple[type[Exception], ...]:
    """What the Docker library raises."""
    import docker.errors
    import requests.exceptions

    return (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


def connect(service: str, *, other_ways: str) -> DockerClient:
    """A client of the engine that answers. Raises `ServiceError` that names the `other_ways` to a server."""
    import docker

    problems = []
    for address in addresses():
        try:
            _knock(address)
            client = docker.DockerClient(**_parameters(address), version="auto", timeout=_CALL_S)
        except errors() as error:
            problems.append(f"{address}: {_first_line(error)}")
        else:
            return client
    raise ServiceError(
        f"services.{service}: no Docker engine answers",
        where=problems or ["DOCKER_HOST is not set, and there is no socket at /var/run/docker.sock"],
        meaning="A container needs one. Nothing was started, and no model was called.",
        next_step=f"Mount or start Docker's socket, set DOCKER_HOST, or choose another way: {other_ways}.",
    )


def addresses(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Where an engine may listen, the likeliest first: `DOCKER_HOST` alone where it is set."""
    given = environ.get("DOCKER_HOST", "")
    if given:
        return [given]
    sockets = [Path("/var/run/docker.sock")]
    if environ.get("XDG_RUNTIME_DIR"):
        sockets += [Path(environ["XDG_RUNTIME_DIR"]) / name for name in ("docker.sock", "podman/podman.sock")]
    sockets.append(Path("~/.docker/run/docker.sock").expanduser())
    found = [f"unix://{path}" for path in sockets if path.is_socket()]
    current = _context_address()
    return [*found, current] if current and current not in found else found


def standpoint(client: DockerClient, environ: Mapping[str, str] = os.environ) -> Standpoint:
    """Where this process stands for that engine."""
    host = remote_host(environ.get("DOCKER_HOST", ""))
    if in_container():
        for own in _own_ids():
            with suppress(*errors()):
                return _in(client, client.api.inspect_container(own), published_at=host)
    return Standpoint(published_on="0.0.0.0", published_at=host) if host else Standpoint()  # noqa: S104 -- an engine elsewhere


def remote_host(address: str) -> str:
    """The host of an engine that is reached over the network; empty for one on a socket or on loopback."""
    parts = urlsplit(address)
    if parts.scheme not in {"tcp", "http", "https", "ssh"} or not parts.hostname:
        return ""
    return "" if parts.hostname in {"localhost", "127.0.0.1", "::1"} else parts.hostname


def _knock(address: str) -> None:
    """Raise where nobody listens on a socket: the library would leave its half-open connection to the garbage."""
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_CALL_S)
            line.connect(address.removeprefix("unix://"))


def _in(client: DockerClient, seen: Mapping[str, Any], *, published_at: str) -> Standpoint:
    mode = str(seen["HostConfig"].get("NetworkMode", ""))
    if mode == "host":
        return Standpoint(published_at=published_at or "127.0.0.1", container="")
    if mode.startswith("container:"):
        # Our network is another container's.
        return _in(client, client.api.inspect_container(mode.partition(":")[2]), published_at=published_at)
    named = sorted(name for name in seen["NetworkSettings"].get("Networks") or {} if name not in _BUILT_IN)
    return Standpoint(container=str(seen["Id"]), network=named[0] if named else "")


def _own_ids() -> Iterator[str]:
    """What may be our own container's id: from the mounts that an engine makes, the control group, the host name."""
    for file, pattern in (("mountinfo", _OWN_ID), ("cgroup", _PODS_OWN_ID)):
        with suppress(OSError):
            yield from dict.fromkeys(pattern.findall(Path("/proc/self", file).read_text()))
    with suppress(OSError):
        name = Path("/etc/hostname").read_text().strip()
        if _SHORT_ID.match(name):
            yield name


def _parameters(address: str) -> dict[str, Any]:
    from docker.utils import kwargs_from_env

    found: dict[str, Any] = {**kwargs_from_env(), "base_url": address}
    if address.startswith("ssh://"):
        found["use_ssh_client"] = True
    return found


def _context_address() -> str:
    """The engine that the docker client is set to by `docker context use`."""
    from docker.context import ContextAPI

    # Any fault of that file is the docker client's business.
    with suppress(Exception):
        current = ContextAPI.get_current_context()
        return str(current.Host) if current is not None and current.name != "default" else ""
    return ""


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
