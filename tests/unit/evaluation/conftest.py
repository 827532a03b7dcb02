"""Evaluations on small SQLite files, and embeddings whose similarities are given."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nl2sql_gate.evaluation import DBMS, Evaluation, EvaluationTechnique


def select(table: Sequence[Any]) -> str:
    """A query that returns the table `[columns, rows]`."""
    columns, rows = table

    def line(values: Sequence[Any]) -> str:
        return ", ".join(f"{_literal(value)} AS {name}" for value, name in zip(values, columns, strict=True))

    if not rows:
        return f"SELECT {line([None] * len(columns))} WHERE 0"
    return " UNION ALL ".join(f"SELECT {line(row)}" for row in rows)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


class Alien:
    """Every text is like itself and like nothing else."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += texts
        places = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        return [[float(i == places[text]) for i in range(len(places))] for text in texts]


class Given:
    """Vectors by the name of a column, or by the whole text."""

    def __init__(self, vectors: dict[str, Sequence[float]]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [self._vectors[self._key(text)] for text in texts]

    def _key(self, text: str) -> str:
        if text in self._vectors:
            return text
        name = text.removeprefix("Column name: ").split(".")[0]
        values = text.rsplit(": ", maxsplit=1)[-1]
        return name if name in self._vectors else f"{name}: {values}"


def hashed(text: str) -> list[float]:
    """A unit vector that depends on the text alone."""
    digest = hashlib.sha256(text.encode()).digest()
    vector = [byte - 127.5 for byte in digest]
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]


@pytest.fixture
def evaluate(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Evaluate a predicted and a ground-truth table or query by a technique."""
    path = tmp_path / "some.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("k", 1), ("l", 2)])
    connection.close()

    def run(technique: str, predicted: Any, truth: Any, **config: Any) -> dict[str, Any]:
        made = {
            "evaluation_technique": EvaluationTechnique(technique),
            "db_params": {"dbms": DBMS.SQLITE, "db_path": str(path)},
            "embedding_model": Alien(),
            **config,
        }
        evaluator = Evaluation(made)
        queries = [query if isinstance(query, str) else select(query) for query in (predicted, truth)]
        found = evaluator.run_evaluation(*queries, log="logs_dir_path" in made)
        evaluator.close()
        return found

    return run


@pytest.fixture(scope="session")
def stubs() -> SimpleNamespace:
    """The helpers above."""
    return SimpleNamespace(Alien=Alien, Given=Given, hashed=hashed, select=select)
