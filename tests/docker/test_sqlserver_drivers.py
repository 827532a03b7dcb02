"""The ways to SQL Server inside our image: FreeTDS out of the box, Microsoft's driver for who accepts its licence."""

from __future__ import annotations

from pathlib import Path

import pytest

from docker_engine import STANDIN, docker

pytestmark = pytest.mark.docker

ASK = """
import pyodbc
from nl2sql_gate.engines.sqlserver_address import find_driver, given_address, open_connection
print(find_driver())
try:
    open_connection(given_address("sqlserver://sa:x@127.0.0.1:1"), login_s=1)
except pyodbc.Error as error:
    print(error)
"""


def _answer(docker_host: str, image: str) -> str:
    python = ["--network", "host", "--entrypoint", "/opt/nl2sql-gate/bin/python"]
    return docker(docker_host, "run", "--rm", *python, image, "-c", ASK).stdout


def test_freetds_works_out_of_the_box(docker_host: str, image: str) -> None:
    said = _answer(docker_host, image)
    assert said.startswith("FreeTDS")
    assert "[FreeTDS][SQL Server]Unable to connect" in said


def test_microsofts_driver_is_put_in_for_who_accepts_its_licence(docker_host: str, image: str, root: Path) -> None:
    arguments = ["--build-arg", f"BASE={STANDIN}", "--build-arg", "MICROSOFT_ODBC=accept_eula"]
    built = docker(docker_host, "build", "--network=host", *arguments, "-t", "nl2sql-gate:odbc", str(root), check=False)
    assert built.returncode == 0, built.stderr[-3000:]
    said = _answer(docker_host, "nl2sql-gate:odbc")
    assert "libmsodbcsql-18" in said
    assert "[Microsoft][ODBC Driver 18 for SQL Server]" in said
    docker(docker_host, "image", "rm", "nl2sql-gate:odbc", check=False)
