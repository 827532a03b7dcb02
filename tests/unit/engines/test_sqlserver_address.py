"""URLs of SQL Server, drivers, and what a driver is told."""

from __future__ import annotations

import pyodbc
import pytest

from nl2sql_gate.engines.sqlserver_address import (
    SqlServerAddress,
    address_url,
    connection_string,
    find_driver,
    given_address,
    open_connection,
)
from nl2sql_gate.engines.sqlserver_errors import connection_lost, read


@pytest.mark.parametrize(
    ("url", "host", "port", "user", "password", "database"),
    [
        ("sqlserver://sa:p%40ss@db:1444/shop", "db", 1444, "sa", "p@ss", "shop"),
        ("mssql+pyodbc://sa:x@db/shop?driver=FreeTDS", "db", 1433, "sa", "x", "shop"),
        ("mssql://db", "db", 1433, "", "", ""),
        (
            "mssql+pyodbc:///?odbc_connect=DRIVER%3D%7BFreeTDS%7D%3BSERVER%3Ddb%3BPORT%3D1444%3BUID%3Dsa%3BPWD%3D%7Ba%7D%7Db%3Bc%7D%3BDatabase%3Dshop",
            *("db", 1444, "sa", "a}b;c", "shop"),
        ),
        ("mssql+pyodbc:///?odbc_connect=Server%3Dtcp%3Adb%2C1444%3BUser%20Id%3Dsa%3BPassword%3Dx", "db", 1444, "sa", "x", ""),
        ("mssql+pyodbc:///?odbc_connect=Server%3Ddb%5CSQLEXPRESS", "db\\SQLEXPRESS", 0, "", "", ""),
    ],
)
def test_every_spelling_of_an_address_is_understood(
    url: str, host: str, port: int, user: str, password: str, database: str
) -> None:
    found = given_address(url)
    assert (host, port, user, password, database) == (found.host, found.port, found.user, found.password, found.database)


@pytest.mark.parametrize("url", ["postgresql://a/b", "sqlserver:///x", "mssql+pyodbc:///?odbc_connect=UID%3Dsa"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the engine's
        given_address(url)


def test_a_password_cannot_add_words_of_its_own() -> None:
    hostile = SqlServerAddress("db", user="sa", password="x};DRIVER={evil")
    assert connection_string(hostile, driver="FreeTDS", database="").count("DRIVER=") == 2
    assert "PWD={x}};DRIVER={evil}" in connection_string(hostile, driver="FreeTDS", database="")
    assert "x};" not in repr(hostile)


def test_each_driver_is_told_in_its_own_words() -> None:
    address = given_address("sqlserver://sa:x@db/shop?Encrypt=yes&TrustServerCertificate=yes")
    microsoft = connection_string(address, driver="ODBC Driver 18 for SQL Server", database="d")
    assert "SERVER=db,1433;DATABASE=d;UID=sa;PWD=x;Encrypt=yes;TrustServerCertificate=yes;ConnectRetryCount=0" in microsoft
    freetds = connection_string(address, driver="/usr/lib/odbc/libtdsodbc.so", database="d")
    assert "SERVER=db;PORT=1433;" in freetds
    assert freetds.endswith("TDS_Version=7.4;ClientCharset=UTF-8;Encryption=require")
    assert "Trust" not in freetds


def test_a_server_on_this_machine_may_have_a_certificate_of_its_own() -> None:
    words = connection_string(given_address("sqlserver://sa:x@127.0.0.1"), driver="ODBC Driver 18 for SQL Server", database="")
    assert "TrustServerCertificate=yes" in words
    words = connection_string(given_address("sqlserver://sa:x@db"), driver="ODBC Driver 18 for SQL Server", database="")
    assert "TrustServerCertificate" not in words


def test_a_data_source_name_is_left_to_the_driver_manager() -> None:
    address = given_address("mssql+pyodbc:///?odbc_connect=DSN%3Dprod%3BUID%3Dsa%3BPWD%3Dx")
    assert connection_string(address, driver="", database="d").startswith("DSN=prod;DATABASE=d;UID=sa;PWD=x")
    assert address_url(address, database="d", user="u", password="p") == ""


def test_the_url_for_another_program_leads_back() -> None:
    address = given_address("sqlserver://sa:x@db:1444/shop?TrustServerCertificate=yes&driver=FreeTDS")
    found = given_address(address_url(address, database="d", user="reader", password="p/w"))
    assert (found.host, found.port, found.user, found.password, found.database) == ("db", 1444, "reader", "p/w", "d")


def test_a_driver_is_found_and_a_dead_server_is_our_fault() -> None:
    assert find_driver()
    with pytest.raises(pyodbc.Error) as caught:
        open_connection(given_address("sqlserver://sa:x@127.0.0.1:1"), login_s=2)
    fault = connection_lost(caught.value)
    assert fault.what == "the connection to SQL Server failed"
    assert read(caught.value)[2]
