"""Reaching an endpoint: certificates, addresses, and what to say where nothing answers."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from nl2sql_gate.errors import EndpointError, SettingsError
from nl2sql_gate.generators.retries import Transient
from nl2sql_gate.settings import Model

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - an address that users write, not one we bind
CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
CONNECT_S = 10.0


def checked_url(url: str, *, key: str) -> str:
    """`url` without blanks and trailing slashes. Raises `SettingsError` where it is no http(s) address with a host."""
    cleaned = url.strip().rstrip("/")
    try:
        parts = urlsplit(cleaned)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(
            f"{key} is no address of an endpoint",
            where=[f"{key}: {without_secrets(cleaned)!r}"],
            meaning="No question was asked.",
            next_step="Write it with its scheme, for example https://api.example.com/v1.",
        )
    return cleaned


def checked_headers(headers: Mapping[str, SecretStr], key: SecretStr | None) -> dict[str, str]:
    """Headers as text, with the key as a bearer token where none of them authorizes. Blanks around values are cut off.

    Raises `SettingsError`, which does not show the value, for what no header can hold: most often a line break in a secret.
    """
    checked = {name: value.get_secret_value().strip() for name, value in headers.items()}
    token = key.get_secret_value().strip() if key else ""
    if token and "authorization" not in {name.lower() for name in checked}:
        checked["Authorization"] = f"Bearer {token}"
    for name, value in checked.items():
        if TOKEN.fullmatch(name) and value.isascii() and value.isprintable():
            continue
        place = "model.api_key" if name == "Authorization" and name not in headers else f"model.headers: {name!r}"
        raise SettingsError(
            "a header cannot be sent",
            where=[f"{place}: only printable ASCII characters fit into a header"],
            meaning="No question was asked.",
            next_step="Look for a line break or a foreign character in the secret, as they come with copying.",
        )
    return checked


def secrets_of(model: Model) -> tuple[str, ...]:
    """The key and the values of headers, as they may turn up in what an endpoint says."""
    given = (model.api_key, *model.headers.values())
    texts = [secret.get_secret_value().strip() for secret in given if secret is not None]
    return tuple(part for text in texts for part in dict.fromkeys((text, text.rpartition(" ")[2])) if part)


def without_secrets(url: str) -> str:
    """`url` without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(unreadable)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def tls_context(url: str, environment: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """Certificates to trust: the bundle that one of the usual variables names, else the system's.

    Raises `SettingsError` where such a bundle cannot be read.
    """
    if url.startswith("http://"):
        # Reading the system's bundle takes longer than many a question. After a redirect to https nothing is trusted.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"):
        path = environment.get(name)
        if not path:
            continue
        try:
            is_folder = Path(path).is_dir()
            return ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
        except OSError as error:
            raise SettingsError(
                f"the certificates that {name} names cannot be read",
                where=[f"{path}: {error.strerror or error}"],
                meaning="No endpoint could be trusted.",
                next_step=f"Correct {name}, or unset it.",
            ) from error
    return ssl.create_default_context()


def connection_failure(error: BaseException, *, limit_s: float) -> Transient:
    """What a failed connection looked like, from the exceptions of the client libraries and of the system below them."""
    chain = list(_chain(error))
    refused = next((cause for cause in chain if isinstance(cause, ConnectionRefusedError)), None)
    if refused is not None:
        return Transient("connection refused", unreachable=True)
    kinds = {type(cause).__name__ for cause in chain}
    if kinds & {"ClientConnectorDNSError", "gaierror"}:
        return Transient(f"the host's name cannot be resolved: {_deepest(chain)}", unreachable=True)
    if kinds & {"ClientConnectorCertificateError", "SSLCertVerificationError"}:
        return Transient(f"its certificate is not trusted: {_deepest(chain)}", unreachable=True)
    if kinds & {"ServerDisconnectedError", "ConnectionResetError", "ClientConnectionResetError", "ClientOSError"}:
        return Transient("the connection was closed before an answer came")
    if kinds & {"ClientPayloadError", "ReadError", "RemoteProtocolError"}:
        return Transient("the connection was closed in the middle of the answer")
    if kinds & {"ClientConnectorError", "ConnectionTimeoutError", "ClientProxyConnectionError", "ConnectError"}:
        return Transient(f"no connection: {_deepest(chain)}", unreachable=True)
    if "TooManyRedirects" in kinds:
        return Transient("it redirects without end")
    if kinds & {"BadHttpMessage", "BadStatusLine", "InvalidHeader", "LineTooLong", "ClientResponseError"}:
        return Transient(f"the answer is no HTTP: {_deepest(chain)}")
    if any(isinstance(cause, TimeoutError) for cause in chain) or "ReadTimeout" in kinds:
        return Transient(f"no answer within {limit_s:g} s")
    return Transient(_deepest(chain))


def unreachable(url: str, words: str, environment: Mapping[str, str] = os.environ) -> EndpointError:
    """The error for an endpoint that does not answer at all, with the ways out where its address is a container's own."""
    here = without_secrets(url)
    if is_loopback(url) and in_container(environment):
        return EndpointError(
            "the model endpoint cannot be reached",
            where=[f"{here}: {words}"],
            meaning="This runs in a container, where localhost is the container itself, not the machine around it.",
            next_step=(
                "Start the endpoint under services: and use its label as host (http://LABEL:PORT/v1), or let it listen on "
                "0.0.0.0 and reach it at the bridge gateway (http://172.17.0.1:PORT/v1), or let an earlier step write "
                "replies.jsonl on the runner and pass it as replies."
            ),
        )
    return EndpointError(
        "the model endpoint cannot be reached",
        where=[f"{here}: {words}"],
        meaning="No question was asked, so nothing can be said about the change.",
        next_step="Check the address, that the endpoint runs, and HTTPS_PROXY and NO_PROXY where a proxy stands between.",
    )


def is_loopback(url: str) -> bool:
    """Whether the address is the machine's own."""
    host = urlsplit(url).hostname or ""
    return host in LOOPBACK or host.startswith("127.")


def in_container(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process runs in a container: by the engine's mark, or as a container action with the runner's mounts."""
    if any(Path(mark).exists() for mark in CONTAINER_MARKS):
        return True
    return environment.get("GITHUB_WORKSPACE") == "/github/workspace"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = getattr(current, "os_error", None)
        waiting += [current.__context__, current.__cause__, inner if isinstance(inner, BaseException) else None]


def _deepest(chain: list[BaseException]) -> str:
    """The words of the exception nearest to the cause that has any."""
    return next((words for error in reversed(chain) if (words := " ".join(str(error).split()))), type(chain[-1]).__name__)
