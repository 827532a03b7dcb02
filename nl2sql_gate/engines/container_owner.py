"""Whose container is it? Labels that say which run started it, and the removal of what dead runs left."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nl2sql_gate.engines.docker_engine import errors
from nl2sql_gate.engines.server_process import started_at

if TYPE_CHECKING:
    from docker import DockerClient

PREFIX = "nl2sql-gate"
RUN = secrets.token_hex(4)
"""This process's run, in the names and labels of all that it starts."""

_RUN, _GATE, _SERVICE = f"{PREFIX}.run", f"{PREFIX}.gate", f"{PREFIX}.service"
_CONTAINER, _NAMESPACE = f"{PREFIX}.owner.container", f"{PREFIX}.owner.namespace"
_PID, _STARTED = f"{PREFIX}.owner.pid", f"{PREFIX}.owner.started"


def labels(service: str, *, own_container: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Labels of a container of this process. The gate's name is taken from the environment variable of its option."""
    return {
        _RUN: RUN,
        _GATE: environ.get("NL2SQL_GATE_GATE") or environ.get("INPUT_GATE") or "",
        _SERVICE: service,
        _CONTAINER: own_container,
        _NAMESPACE: _namespace(),
        _PID: str(os.getpid()),
        _STARTED: started_at(os.getpid()),
    }


def sweep(client: DockerClient) -> list[str]:
    """Remove containers and networks of runs that are dead; their names. What cannot be judged from here is left alone."""
    removed = []
    for found in client.api.containers(all=True, filters={"label": _RUN}):
        if _is_dead(client, found.get("Labels") or {}):
            with suppress(*errors()):
                client.api.remove_container(found["Id"], v=True, force=True)
                removed.append(str(found["Names"][0]).lstrip("/"))
    for network in client.api.networks(filters={"label": _RUN}):
        if _is_dead(client, network.get("Labels") or {}):
            with suppress(*errors()):
                remove_network(client, network["Id"])
                removed.append(str(network["Name"]))
    return removed


def remove_network(client: DockerClient, network: str) -> None:
    """Remove a network and whoever is still on it from it."""
    for member in client.api.inspect_network(network).get("Containers") or {}:
        with suppress(*errors()):
            client.api.disconnect_container_from_network(member, network, force=True)
    client.api.remove_network(network)


def _is_dead(client: DockerClient, of: Mapping[str, str]) -> bool:
    if of.get(_NAMESPACE) == _namespace() and of.get(_STARTED):
        return started_at(int(of.get(_PID) or 0)) != of[_STARTED]
    owner = of.get(_CONTAINER)
    if not owner:
        # Started by a process that cannot be seen from here.
        return False
    import docker.errors

    try:
        return not client.api.inspect_container(owner)["State"]["Running"]
    except docker.errors.NotFound:
        return True


def _namespace() -> str:
    """What tells this boot of this machine and this process-id namespace from others."""
    with suppress(OSError):
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    return ""
