"""Addresses, certificates, and the words for an endpoint that cannot be reached."""

from __future__ import annotations

import ssl
from itertools import pairwise
from pathlib import Path

import pytest

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.connection import connection_failure, is_loopback, tls_context, unreachable, without_secrets

IN_AN_ACTION = {"GITHUB_WORKSPACE": "/github/workspace"}
HINTS = ("services:", "172.17.0.1", "replies.jsonl")


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "http://127.0.0.1:8000/v1", "http://127.0.1.1/v1", "http://[::1]:80/v1"]
)
def test_loopback_in_a_container_names_the_ways_out(url: str) -> None:
    message = str(unreachable(url, "connection refused", IN_AN_ACTION))
    assert "localhost is the container itself" in message
    assert [hint for hint in HINTS if hint not in message] == []


def test_another_host_gets_no_such_hint() -> None:
    message = str(unreachable("https://user:secret@api.example.com/v1?key=secret", "connection refused", IN_AN_ACTION))
    assert "https://api.example.com/v1: connection refused" in message
    assert "container" not in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "claim, url",
    [(True, "http://127.8.8.8"), (True, "http://localhost"), (False, "http://localhost.example.com"), (False, "http://1.2.7.0")],
)
def test_what_is_loopback(claim: bool, url: str) -> None:
    assert claim == is_loopback(url)


def test_an_address_is_shown_without_secrets() -> None:
    assert without_secrets("https://u:p@host:8000/v1?key=k#f") == "https://host:8000/v1"


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_bundle_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=name):
        tls_context("https://host", {name: str(tmp_path / "none.pem")})


def test_a_bundle_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "bundle.pem").write_text("no certificate", encoding="utf-8")
    with pytest.raises(SettingsError, match="SSL_CERT_FILE"):
        tls_context("https://host", {"SSL_CERT_FILE": str(tmp_path / "bundle.pem")})


@pytest.mark.parametrize("url", ["https://host", "http://host"])
def test_certificates_are_always_checked(url: str) -> None:
    context = tls_context(url, {})
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def caused_by(*errors: BaseException) -> BaseException:
    for outer, inner in pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


@pytest.mark.parametrize(
    "words, unreached, error",
    [
        ("connection refused", True, caused_by(Exception("Connection error."), ConnectionRefusedError(111, "refused"))),
        ("the connection was closed before an answer came", False, caused_by(Exception("timed out"), ConnectionResetError())),
        ("no answer within 5 s", False, TimeoutError()),
        ("out of luck", False, caused_by(Exception("Connection error."), ValueError("out of luck"), ValueError())),
        ("Exception", False, Exception()),
    ],
)
def test_a_failure_is_told_by_its_cause(words: str, unreached: bool, error: BaseException) -> None:
    failure = connection_failure(error, limit_s=5)
    assert (words, unreached) == (failure.words, failure.unreachable)
