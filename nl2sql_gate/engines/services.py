"""Which way a service's server comes, and what to say when none does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from nl2sql_gate.errors import ServiceError, SettingsError

_LOOPBACK = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)\Z", re.IGNORECASE)
_DOCKER_SOCKET = "/var/run/docker.sock"


def docker_is_there() -> bool:
    """Whether a Docker engine seems to be in reach."""
    host = os.environ.get("DOCKER_HOST", "")
    return bool(host) or Path(_DOCKER_SOCKET).is_socket()


def chosen_way(
    name: str, way: str, *, product: str, has_server: Callable[[], bool], has_docker: Callable[[], bool] = docker_is_there
) -> str:
    """`given`, `embedded` or `container`. `auto` is embedded where the product's own server is installed, else container.

    Raises `SettingsError` for a word that is no way, `ServiceError` where `auto` finds none.
    """
    if "://" in way:
        return "given"
    word = way.partition(":")[0]
    if word in {"embedded", "container"}:
        return word
    if word != "auto":
        raise SettingsError(
            f"services.{name}: {way!r} is no way to a database server",
            meaning="The run did not start.",
            next_step="Use auto, embedded, container, container:<image>, or a URL.",
        )
    if has_server():
        return "embedded"
    if has_docker():
        return "container"
    raise ServiceError(
        f"services.{name}: there is no way to a {product} server here",
        where=[f"no {product} server is installed", "no Docker engine answers"],
        meaning="Nothing was started, and no model was called.",
        next_step=f"Install {product}, make Docker's socket reachable, or set services.{name} to the URL of a server.",
    )


def unreachable(name: str, *, product: str, host: str, error: object) -> ServiceError:
    """The error of a server that was given and does not answer."""
    advice = "Check the URL, the server and the network between them."
    if _LOOPBACK.match(host) and in_container():
        advice = (
            "In a container localhost is the container itself. As the host use the label of the job's service, "
            "the bridge's gateway or host.docker.internal."
        )
    return ServiceError(
        f"services.{name}: the {product} server does not let the gate in",
        where=[" ".join(str(error).split())],
        meaning="Nothing was measured, and no model was called.",
        next_step=advice,
    )


def in_container() -> bool:
    """Whether this process runs in a container."""
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
