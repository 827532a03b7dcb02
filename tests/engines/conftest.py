"""The engines on which tests of this folder run, and the databases that they ask for."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.testing import Bench, EngineUnderTest

sys.path.insert(0, str(Path(__file__).parent))

from declared import ENGINES

_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - folders inside are private
if _MEMORY_DISK.is_dir() and shutil.disk_usage(_MEMORY_DISK).free > 6 * 2**30:
    # Hundreds of databases are made and thrown away; on a disk the throwing away alone takes minutes.
    tempfile.tempdir = str(_MEMORY_DISK)


def pytest_nl2sql_gate_engines() -> Sequence[EngineUnderTest]:
    """A test that asks for `bench` runs on each of these, or on those that its `engines` marker names."""
    return ENGINES


@pytest.fixture
def stock(bench: Bench) -> Any:
    """Three articles and a log of one line."""
    return bench.stock()


@pytest.fixture
def target(bench: Bench) -> Any:
    """What hostile SQL attacks."""
    return bench.target()
