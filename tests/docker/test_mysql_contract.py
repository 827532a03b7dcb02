"""The whole contract suite, the hostile statements, Chinook and EvalBench's bat on MySQL 9 in a container."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from server_images import MYSQL, have

pytestmark = pytest.mark.docker

FEWEST = 100


def test_mysql_in_a_container_keeps_the_contract(docker_host: str, root: Path) -> None:
    image = have(docker_host, MYSQL)
    environment = {**os.environ, "DOCKER_HOST": docker_host, "GATE_TEST_MYSQL": f"container:{image}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/engines", "-k", "mysql-container"]
    ran = subprocess.run(command, cwd=root, env=environment, check=False, capture_output=True, text=True, timeout=900)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed, ran.stdout[-2000:]
    assert int(passed.group(1)) >= FEWEST
