"""The real image, built once from the checkout, on a Docker engine that answers or that we start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from docker_engine import STANDIN, docker, engine, import_standin


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str]:
    """The address of a Docker engine."""
    with engine() as host:
        if host is None:
            pytest.skip("no Docker engine answers and none can be started (root, dockerd and mmdebstrap are needed)")
        yield host


@pytest.fixture(scope="session")
def image(docker_host: str, root: Path) -> str:
    """The image of this checkout."""
    import_standin(docker_host)
    built = docker(
        docker_host, "build", "--network=host", "--build-arg", f"BASE={STANDIN}", "-t", "nl2sql-gate:test", str(root), check=False
    )
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    return "nl2sql-gate:test"
