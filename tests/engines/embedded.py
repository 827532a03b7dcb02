"""An engine with a server of its own, for tests of one product."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nl2sql_gate import plugins
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import Limits


@contextmanager
def embedded(dialect: str) -> Iterator[Any]:
    """The engine, running; the test skips where its server is not installed."""
    engine = plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way="embedded", limits=Limits(statement_s=30), workdir="", workers=2
    )
    try:
        engine.start()
    except ServiceError as error:
        pytest.skip(str(error).splitlines()[0])
    try:
        yield engine
    finally:
        engine.stop()
