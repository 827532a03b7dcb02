"""A database server in a sibling container: started through the Docker API, reached by name or on loopback, removed for sure.

Nothing is mounted, since paths would be the host's: all data goes over the wire.
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nl2sql_gate.engines import container_owner, docker_engine
from nl2sql_gate.engines.container_owner import PREFIX, RUN
from nl2sql_gate.engines.docker_engine import Standpoint
from nl2sql_gate.errors import ServiceError

if TYPE_CHECKING:
    from docker import DockerClient

_SHOWN_LINES = 12
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_numbers = itertools.count(1)
_images = threading.Lock()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a product runs in its official image.

    `url` and the values of `environment` have the places `{password}`, `{host}` and `{port}`. `answers` asks the server at a URL
    one query, and raises while there is no answer. `other_ways` says in words how else a server can be had.
    """

    product: str
    image: str
    port: int
    environment: Mapping[str, str]
    url: str
    answers: Callable[[str], None]
    other_ways: str
    command: tuple[str, ...] = ()
    shm_size: str = ""
    start_s: float = 120.0


class ServerContainer:
    """One server of ours in one container. `way` is `container` or `container:<image>`."""

    def __init__(self, recipe: Recipe, *, service: str, way: str = "container") -> None:
        self._recipe = recipe
        self._service = service
        self.image = way.partition(":")[2] or recipe.image
        # Servers want letters of both kinds, figures and a sign; no sign here means anything in a URL or a shell.
        self._password = f"Aa1-{secrets.token_urlsafe(24)}"
        self.name = f"{PREFIX}-{RUN}-{_NOT_IN_NAMES.sub('-', service.lower()).strip('-')}-{next(_numbers)}"
        self._client: DockerClient | None = None
        self._place = Standpoint()
        self._container = ""
        self._network = ""
        self._stopping = threading.Event()
        self._removal = threading.Lock()

    def start(self) -> str:
        """Start the server and wait until a query answers; the URL of its administrator. Raises `ServiceError`."""
        client = self._client = docker_engine.connect(self._service, other_ways=self._recipe.other_ways)
        try:
            container_owner.sweep(client)
            self._place = docker_engine.standpoint(client)
            self._have_image(client)
            network = self._place.network or self._make_network(client)
            self._container = self._create(client, network)
            client.api.start(self._container)
            return self._wait(client)
        except docker_engine.errors() as error:
            self.stop()
            raise self._failure("cannot be started in a container", [f"{self.image}: {' '.join(str(error).split())}"]) from error
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Whether the container still runs."""
        if self._client is None or not self._container:
            return False
        with suppress(*docker_engine.errors()):
            return bool(self._client.api.inspect_container(self._container)["State"]["Running"])
        return False

    def last_lines(self) -> list[str]:
        """The end of the server's output."""
        if self._client is None or not self._container:
            return []
        with suppress(*docker_engine.errors()):
            said = self._client.api.logs(self._container, tail=200)
            return [line for line in said.decode(errors="replace").splitlines() if line.strip()][-_SHOWN_LINES:]
        return []

    def stop(self) -> None:
        """Remove the container, its volumes and the network that was made for it. Safe to call twice and from any thread."""
        self._stopping.set()
        with self._removal:
            client, container, network = self._client, self._container, self._network
            self._container = self._network = ""
            if client is None:
                return
            if container:
                with suppress(*docker_engine.errors()):
                    client.api.remove_container(container, v=True, force=True)
            if network:
                with suppress(*docker_engine.errors()):
                    container_owner.remove_network(client, network)
            self._client = None
            client.close()

    def _have_image(self, client: DockerClient) -> None:
        import docker.errors

        # Two services of one image pull it once.
        with _images:
            try:
                client.images.get(self.image)
            except docker.errors.ImageNotFound:
                repository, tag = _split(self.image)
                client.images.pull(repository, tag=tag)

    def _make_network(self, client: DockerClient) -> str:
        """A network of its own, so that no other container is in reach of hostile SQL, or the other way round."""
        inside = bool(self._place.container)
        made = client.api.create_network(
            self.name,
            driver="bridge",
            labels=self._labels(),
            # Where we are on it ourselves, nothing has to be published, and the server needs no way out.
            internal=inside,
        )
        self._network = str(made["Id"])
        if inside:
            client.api.connect_container_to_network(self._place.container, self._network)
        return self._network

    def _create(self, client: DockerClient, network: str) -> str:
        recipe, api = self._recipe, client.api
        by_name = bool(self._place.container)
        host: dict[str, Any] = {"network_mode": network}
        if recipe.shm_size:
            host["shm_size"] = recipe.shm_size
        if not by_name:
            host["port_bindings"] = {recipe.port: (self._place.published_on, None)}
        made = api.create_container(
            self.image,
            command=list(recipe.command) or None,
            name=self.name,
            hostname="server",
            # All that it is told: no token, key, proxy or runner variable.
            environment={name: value.format(password=self._password) for name, value in recipe.environment.items()},
            use_config_proxy=False,
            ports=None if by_name else [recipe.port],
            labels=self._labels(),
            host_config=api.create_host_config(**host),
        )
        return str(made["Id"])

    def _wait(self, client: DockerClient) -> str:
        url = self._url(client)
        until = time.monotonic() + self._recipe.start_s
        pause = 0.02
        while True:
            if self._stopping.is_set():
                raise self._failure("was stopped while it started", [])
            try:
                self._recipe.answers(url)
            except Exception as error:
                # Each driver has its own errors, and a server that is not up yet causes most of them.
                if not self.alive():
                    raise self._failure("ends instead of starting in its container", self.last_lines()) from error
                if time.monotonic() > until:
                    said = [*self.last_lines(), f"last answer: {' '.join(str(error).split())}"]
                    raise self._failure(f"does not answer within {self._recipe.start_s:g} s", said) from error
                self._stopping.wait(pause)
                pause = min(pause * 1.5, 0.5)
            else:
                return url

    def _url(self, client: DockerClient) -> str:
        host, port = self.name, self._recipe.port
        if not self._place.container:
            host, port = self._place.published_at, self._published_port(client)
        return self._recipe.url.format(password=self._password, host=host, port=port)

    def _published_port(self, client: DockerClient) -> int:
        seen = client.api.inspect_container(self._container)
        bound = (seen["NetworkSettings"].get("Ports") or {}).get(f"{self._recipe.port}/tcp")
        if bound:
            return int(bound[0]["HostPort"])
        raise self._failure("ends instead of starting in its container", self.last_lines())

    def _labels(self) -> dict[str, str]:
        return container_owner.labels(self._service, own_container=self._place.container)

    def _failure(self, what: str, where: list[str]) -> ServiceError:
        return ServiceError(
            f"services.{self._service}: {self._recipe.product} {what}",
            where=where,
            meaning="No verdict: the database server is not there to answer. The lines above are the last that were said.",
            next_step=f"Name another image (container:<image>), or choose another way: {self._recipe.other_ways}.",
        )


def sweep() -> list[str]:
    """Remove the containers that dead runs left on the engine in reach; their names. For a step that runs after all others."""
    with suppress(ServiceError):
        client = docker_engine.connect("sweep", other_ways="")
        try:
            return container_owner.sweep(client)
        finally:
            client.close()
    return []


def _split(image: str) -> tuple[str, str]:
    """(repository, tag or digest) of an image's name; a colon before a slash is a registry's port."""
    if "@" in image:
        repository, _, digest = image.partition("@")
        return repository, digest
    repository, colon, tag = image.rpartition(":")
    if not colon or "/" in tag:
        return image, "latest"
    return repository, tag
