"""A baseline at an address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from nl2sql_gate.baselines.https import HttpsStore
from nl2sql_gate.errors import BaselineError


@pytest.fixture
def server() -> Iterator[Any]:
    """A server that keeps what is put, and answers with `status` where that is set."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(made.kept.get(self.path))

        def do_PUT(self) -> None:
            made.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(b"")

        def _answer(self, content: bytes | None) -> None:
            made.authorizations.append(self.headers.get("Authorization"))
            status = made.status or (404 if content is None else 200)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: Any) -> None:
            pass

    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.kept, made.status, made.authorizations = {}, 0, []
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join(10)


def _store(server: Any, path: str = "/baseline.json?sig=s3cr3t", **environment: str) -> HttpsStore:
    return HttpsStore(f"//ann:pw@127.0.0.1:{server.server_address[1]}{path}", scheme="http", environment=environment)


def test_what_is_stored_is_fetched(server: Any, content: Any) -> None:
    store = _store(server)
    assert store.fetch() is None
    where = store.store(content("1"), message="m")
    assert store.fetch() == content("1")
    assert "s3cr3t" not in where
    assert "pw" not in where


def test_the_token_is_sent(server: Any, content: Any) -> None:
    HttpsStore(
        f"//127.0.0.1:{server.server_address[1]}/b", scheme="http", environment={"NL2SQL_GATE_BASELINE_TOKEN": "t0k"}
    ).fetch()
    assert server.authorizations == ["Bearer t0k"]


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_refusals_name_status_and_address_without_secrets(server: Any, content: Any, status: int) -> None:
    server.status = status
    for act in (lambda: _store(server).fetch(), lambda: _store(server).store(content(), message="m")):
        with pytest.raises(BaselineError) as caught:
            act()
        assert f"HTTP {status}" in str(caught.value)
        assert "127.0.0.1" in str(caught.value)
        assert "s3cr3t" not in str(caught.value)
        assert "pw@" not in str(caught.value)


def test_no_server_says_so_without_secrets() -> None:
    with pytest.raises(BaselineError, match="cannot be fetched") as caught:
        HttpsStore("//ann:s3cr3t@127.0.0.1:9/x", scheme="http", environment={}).fetch()
    assert "no connection" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
