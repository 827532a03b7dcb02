"""Everything a model writes is untrusted: each way out is shut by the database's own means."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from nl2sql_gate.records import SqlError
from nl2sql_gate.testing.bench import PROBE, Bench, read, rows
from nl2sql_gate.testing.suite.part import Part

WRITES = (
    "DELETE FROM stock",
    "UPDATE stock SET qty = 0",
    "INSERT INTO stock VALUES (9, 'x', 1)",
    "DROP TABLE stock",
    "CREATE TABLE other(a INTEGER)",
    "CREATE TABLE copy_of AS SELECT * FROM stock",
    "CREATE VIEW w AS SELECT 1 AS a",
    "CREATE INDEX i ON stock(item)",
    "ALTER TABLE stock ADD COLUMN x INTEGER",
    "SELECT COUNT(*) FROM stock; DROP TABLE stock; SELECT 2",
    "BEGIN; DELETE FROM stock; COMMIT",
    "COMMIT; DELETE FROM stock",
    "ROLLBACK; DELETE FROM stock; COMMIT",
    "SELECT 1 -- harmless\n; DELETE FROM stock",
    "/* ; */ DELETE FROM stock",
)
"""What no reading session lets through, in any dialect."""


def checksum(bench: Bench, database: Any) -> str:
    """All rows, all objects, the engine's own witnesses and files, as one digest."""
    seen: list[Any] = [rows(database, "SELECT id, item, qty FROM stock ORDER BY id"), database.schema(sample_values=9).ddl]
    seen += [sorted(map(repr, rows(database, query))) for query in bench.under_test.witnesses]
    seen += [hashlib.sha256(path.read_bytes()).hexdigest() for path in bench.under_test.files(database)]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


class Hostility(Part):
    """What hostile SQL meets."""

    @pytest.fixture(autouse=True)
    def _probe_is_removed(self) -> Iterator[None]:
        """A file that one test finds must not fail the next."""
        yield
        with suppress(PermissionError):
            PROBE.unlink(missing_ok=True)

    def test_no_write_passes_a_reading_session(self, bench: Bench, target: Any) -> None:
        before = checksum(bench, target)
        passed = []
        for hostile in (*WRITES, *bench.under_test.hostile, *bench.under_test.ways_out):
            result = read(target, hostile)
            if not isinstance(result, SqlError):
                passed.append((hostile, result))
            assert checksum(bench, target) == before, hostile
            assert not PROBE.exists(), hostile
        assert passed == []

    def test_refusals_say_so(self, target: Any) -> None:
        for hostile in ("DELETE FROM stock", "CREATE TABLE other(a INTEGER)"):
            result = read(target, hostile)
            assert isinstance(result, SqlError)
            assert result.reason == "refused", result

    def test_no_way_out_of_a_private_copy(self, bench: Bench, target: Any) -> None:
        before = checksum(bench, target)
        for hostile in bench.under_test.ways_out:
            with target.writing([hostile]) as session:
                assert isinstance(session.execute(hostile), SqlError), hostile
            assert not PROBE.exists(), hostile
        assert checksum(bench, target) == before
