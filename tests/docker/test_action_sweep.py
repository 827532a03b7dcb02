"""The step after the action's own: database containers of a run that was cancelled are removed, others are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from docker_engine import docker

pytestmark = pytest.mark.docker

LABELS = ("nl2sql-gate.run=dead", "nl2sql-gate.service=pg16")


def _sleeper(docker_host: str, image: str, *labels: str) -> str:
    flags = [part for label in labels for part in ("--label", label)]
    ran = docker(docker_host, "run", "--detach", "--network=host", *flags, "--entrypoint", "sleep", image, "300")
    return ran.stdout.strip()


def _is_there(docker_host: str, container: str) -> bool:
    return docker(docker_host, "container", "inspect", container, check=False).returncode == 0


def test_the_posts_program_is_the_one_that_the_action_names(docker_host: str, image: str, root: Path) -> None:
    post = yaml.safe_load((root / "action.yml").read_text())["runs"]["post-entrypoint"]
    socket = docker_host.removeprefix("unix://")
    owner = _sleeper(docker_host, image)
    living = _sleeper(docker_host, image, *LABELS, f"nl2sql-gate.owner.container={owner}")
    dead = _sleeper(docker_host, image, *LABELS, "nl2sql-gate.owner.container=" + "0" * 64)
    foreign = _sleeper(docker_host, image, "somebody.else=1")
    try:
        mount = ["-v", f"{socket}:/var/run/docker.sock"]
        ran = docker(docker_host, "run", "--rm", "--network=host", *mount, "--entrypoint", post, image, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "which a dead run left behind" in ran.stdout
        assert not _is_there(docker_host, dead)
        assert all(_is_there(docker_host, each) for each in (owner, living, foreign))
    finally:
        docker(docker_host, "rm", "--force", owner, living, dead, foreign, check=False)


def test_without_an_engine_there_is_nothing_to_do(docker_host: str, image: str, root: Path) -> None:
    post = yaml.safe_load((root / "action.yml").read_text())["runs"]["post-entrypoint"]
    ran = docker(docker_host, "run", "--rm", "--network=none", "--entrypoint", post, image, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
