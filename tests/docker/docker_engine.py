"""A Docker engine for the tests: the one that answers, or a throw-away one that we start ourselves (root on Debian)."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STANDIN = "python:3.13-slim-trixie"


def docker(host: str, *arguments: str, check: bool = True, timeout: float = 900) -> subprocess.CompletedProcess[str]:
    """Run the docker client against `host`."""
    environment = {**os.environ, "DOCKER_HOST": host, "DOCKER_BUILDKIT": "0"}
    return subprocess.run(["docker", *arguments], env=environment, check=check, capture_output=True, text=True, timeout=timeout)


def answers(host: str) -> bool:
    """Whether an engine answers at `host`."""
    return docker(host, "version", check=False, timeout=20).returncode == 0


@contextlib.contextmanager
def engine() -> Iterator[str | None]:
    """The address of a Docker engine, or `None` where none can be had."""
    given = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if shutil.which("docker") and answers(given):
        yield given
        return
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="gate-docker-"))
    host = f"unix://{folder}/docker.sock"
    log = (folder / "log").open("wb")
    daemon = subprocess.Popen(
        [
            "dockerd",
            "--data-root",
            str(folder / "data"),
            "--exec-root",
            str(folder / "exec"),
            "--pidfile",
            str(folder / "pid"),
            "-H",
            host,
            "--iptables=false",
            "--ip6tables=false",
            "--ip-forward=false",
            "--bridge=none",
            "--storage-driver=overlay2",
        ],
        stdout=log,
        stderr=log,
    )
    try:
        deadline = time.monotonic() + 30
        while not answers(host):
            if time.monotonic() > deadline or daemon.poll() is not None:
                raise RuntimeError((folder / "log").read_text(errors="replace")[-3000:])
            time.sleep(0.1)
        yield host
    finally:
        daemon.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(30)
        daemon.kill()
        log.close()
        subprocess.run(["sh", "-c", f"umount -l {folder}/data/overlay2/*/merged {folder}/exec/netns/* 2>/dev/null"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def import_standin(host: str) -> None:
    """Where no registry can be reached, a stand-in for the official base image, made from Debian's packages."""
    if docker(host, "image", "inspect", STANDIN, check=False).returncode == 0:
        return
    if docker(host, "pull", "--quiet", STANDIN, check=False, timeout=120).returncode == 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        # This machine's certificates and package index, in the stand-in only: the shipped Dockerfile knows neither.
        extra = Path(folder) / "hook"
        extra.write_text(
            "#!/bin/sh\nset -e\n"
            'mkdir -p "$1/etc/ssl/certs" "$1/root/.config/pip"\n'
            'cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"\n'
            'printf "[global]\\ncert = /etc/ssl/certs/ca-certificates.crt\\n" > "$1/etc/pip.conf"\n'
        )
        extra.chmod(0o755)
        rootfs = subprocess.Popen(
            [
                "mmdebstrap",
                "--variant=minbase",
                "--include=ca-certificates,python3,python3-pip,python3-venv",
                f'--customize-hook={extra} "$1"',
                "trixie",
                "-",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        subprocess.run(
            ["docker", "import", "-", STANDIN],
            stdin=rootfs.stdout,
            env={**os.environ, "DOCKER_HOST": host},
            check=True,
            capture_output=True,
        )
        _, error = rootfs.communicate(timeout=900)
        if rootfs.returncode:
            raise RuntimeError(error.decode(errors="replace")[-3000:])
