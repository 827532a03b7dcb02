"""What SQLite's values become as cells: the driver's own, since SQLite knows five kinds of value and no more."""

from __future__ import annotations

TABLE: dict[str, str] = {
    "INTEGER, BOOLEAN": "int",
    "REAL, NUMERIC, DECIMAL": "float, or int where the value is whole; infinity; NaN is NULL",
    "TEXT, DATE, DATETIME, JSON": "text; bytes where it is not UTF-8",
    "BLOB": "bytes",
}
"""Types of the database → what a scorer sees, in the words of `docs/engines.md`."""
