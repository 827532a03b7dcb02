"""Secrets leave no trace, and what is no secret stays."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2sql_gate.github.redaction import Redactor

SECRET = 'sk-live/ABC+123 "quoted" <é>'


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_encoding(written: str) -> None:
    assert Redactor([SECRET])(f"before {written} after") == "before *** after"


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_a_secret_inside_base64_is_found_at_every_offset(before: bytes, after: bytes) -> None:
    secret = "sk-live-ABCDEF123456"
    shown = Redactor([secret])(base64.b64encode(before + secret.encode() + after).decode())
    assert "***" in shown
    assert len(shown) < 24


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:s3cr3t-Pa55@db.test:5432/x",
        "postgresql+http:://ann:s3cr3t-Pa55@db.test:5432/x",
        "mysql+pymysql://ann:s3cr3t-Pa55@db.test/x?charset=utf8",
        "mssql+pyodbc:///?odbc_connect=Driver%3D%7BX%7D%3BServer%3Ddb%3BUID%3Dann%3BPWD%3Ds3cr3t-Pa55%3B",
        "Driver={ODBC Driver 18};Server=db;UID=ann;PWD={s3cr3t-Pa55};Encrypt=yes",
        "host=db.test user=ann password=s3cr3t-Pa55 dbname=x",
    ],
)
def test_the_password_of_a_connection_string(dsn: str) -> None:
    redactor = Redactor([dsn])
    assert "s3cr3t-Pa55" not in redactor(f"cannot connect to {dsn}: driver missing, tried s3cr3t-Pa55")
    assert "db" in redactor(dsn)
    assert redactor.values() == ["s3cr3t-Pa55"]


@pytest.mark.parametrize(
    "text",
    [
        "cannot parse 'postgresql://ann:s3cr3t-Pa55@db.test:5432/x'",
        "Could not parse postgresql+http:://ann:s3cr3t-Pa55@db.test:5432/x",
        "odd password: mysql://ann:s3cr3t-Pa55/x@y@db.test/x",
        "host=db password=s3cr3t-Pa55",
        "Authorization: Bearer s3cr3t-Pa55",
    ],
)
def test_an_unknown_password_is_masked_where_its_place_gives_it_away(text: str) -> None:
    assert "s3cr3t-Pa55" not in Redactor()(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM users WHERE password = 'x'",
        "SELECT 1 FROM a JOIN b ON a.password=b.password",
        "http://localhost:8080/path?mail=a@b.example",
        "postgres on postgres, user root, test passed, EMPTY result",
        "see https://example.org/a:b",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    redactor = Redactor(["postgresql://postgres:postgres@localhost/x", "EMPTY", "abc", "", "  "])
    assert text == redactor(text)


def test_a_longer_secret_is_not_left_half_masked() -> None:
    assert Redactor(["abcdef", "abcdefghij"])("abcdefghij") == "***"


def test_lines_of_a_key_are_masked_one_by_one() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
    shown = Redactor([key])("log: MIIEvQIBADANBgkq and hkiG9w0BAQEFAASC")
    assert shown == "log: *** and ***"
