"""Batches of ours on a connection: run to their end, or for their rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any


def run_to_end(connection: Any, statement: str) -> None:
    """Run one batch and take all that it answers: the server stops a backup whose messages nobody reads."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        while cursor.nextset():
            pass


def rows_of(connection: Any, query: str) -> list[tuple[Any, ...]]:
    """The rows of a batch's first result that has columns."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(query)
        while not cursor.description and cursor.nextset():
            pass
        return [tuple(row) for row in cursor.fetchall()]


def results_of(connection: Any, queries: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    """The rows of several queries, sent in one batch."""
    results = []
    with closing(connection.cursor()) as cursor:
        cursor.execute(";\n".join(query.strip() for query in queries))
        while True:
            if cursor.description:
                results.append([tuple(row) for row in cursor.fetchall()])
            if not cursor.nextset():
                return results
