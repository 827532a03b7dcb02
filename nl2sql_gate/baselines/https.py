"""A baseline at an address: fetched by GET, stored by PUT."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nl2sql_gate.errors import BaselineError
from nl2sql_gate.runfile import MAX_BYTES

if TYPE_CHECKING:
    import requests

TIMEOUT_S = 60
TOKEN = "NL2SQL_GATE_BASELINE_TOKEN"  # noqa: S105 - the name of a variable
_ABSENT = (404, 410)
_REDIRECTED = 300
_CHUNK = 1 << 16


class HttpsStore:
    """The address after `https:`. A token in `NL2SQL_GATE_BASELINE_TOKEN` is sent as bearer; proxies and CA bundles as usual."""

    def __init__(
        self, location: str, *, gate: str = "nl2sql", scheme: str = "https", environment: Mapping[str, str] | None = None
    ) -> None:
        del gate
        self._url = f"{scheme}:{location}"
        self._token = (os.environ if environment is None else environment).get(TOKEN, "")

    def fetch(self) -> bytes | None:
        """The content, or `None` where the server says that there is none. Raises `BaselineError` for everything else."""
        import requests

        try:
            with requests.get(self._url, headers=self._headers(), timeout=TIMEOUT_S, stream=True) as response:
                if response.status_code in _ABSENT:
                    return None
                if response.status_code >= _REDIRECTED:
                    raise self._failed("the baseline cannot be fetched", _said(response))
                return self._bounded(response)
        except requests.RequestException as error:
            raise self._failed("the baseline cannot be fetched", _name(error)) from error

    def store(self, content: bytes, *, message: str) -> str:
        """PUT the content. Raises `BaselineError` where the server does not take it."""
        import requests

        del message
        headers = {**self._headers(), "Content-Type": "application/json"}
        try:
            response = requests.put(self._url, data=content, headers=headers, timeout=TIMEOUT_S)
        except requests.RequestException as error:
            raise self._failed("the baseline cannot be stored", _name(error)) from error
        if response.status_code >= _REDIRECTED:
            raise self._failed("the baseline cannot be stored", _said(response))
        return self._shown()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _bounded(self, response: requests.Response) -> bytes:
        parts, size = [], 0
        for part in response.iter_content(_CHUNK):
            size += len(part)
            if size > MAX_BYTES:
                raise self._failed("the baseline cannot be fetched", f"it is larger than {MAX_BYTES / 1e6:.0f} MB")
            parts.append(part)
        return b"".join(parts)

    def _shown(self) -> str:
        """The address without a user's name, password and query: those may be secrets."""
        from urllib.parse import urlsplit

        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def _failed(self, what: str, detail: str) -> BaselineError:
        return BaselineError(
            what,
            where=[self._shown(), detail],
            meaning="There is nothing to compare with: a regression would not be seen.",
            next_step=f"Correct baseline:, or give a token in {TOKEN}.",
        )


def _said(response: requests.Response) -> str:
    return f"HTTP {response.status_code} {response.reason}"


def _name(error: Exception) -> str:
    # The text of these errors repeats the whole address, secrets included.
    return {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "no answer in time",
        "SSLError": "the certificate is not trusted here (set REQUESTS_CA_BUNDLE for your own CA)",
        "ProxyError": "the proxy refused",
        "TooManyRedirects": "redirected in a circle",
    }.get(type(error).__name__, f"no connection ({type(error).__name__})")
