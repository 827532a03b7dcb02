"""Streams, folders and step files that fail under the command: its exit code stays that of the verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shop import Shop


@pytest.fixture
def regressed(shop: Shop) -> Shop:
    """The shop with a baseline of right answers and replies that are all wrong: a run ends 1."""
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies(dict.fromkeys(shop.replies, "SELECT 1"))
    return shop


def code(shop: Shop, redirection: str, *, baseline: bool = True, **environment: str) -> int:
    """The exit code of a run started by a shell with `redirection`."""
    words = [sys.executable, "-m", "nl2sql_gate", "run", "--dataset", "items.json", "--setup-directory", "setup"]
    words += ["--replies", "replies.jsonl", *(["--baseline", "baseline.json"] if baseline else [])]
    script = f"{' '.join(words)} {redirection}; exit ${{PIPESTATUS[0]}}"
    given = {"PATH": os.environ["PATH"], "HOME": str(shop.folder), **environment}
    return subprocess.run(
        ["bash", "-c", script], cwd=shop.folder, env=given, capture_output=True, timeout=60, check=False
    ).returncode


@pytest.mark.parametrize("redirection", [">/dev/full", "2>/dev/full", ">&-", "2>&-", "| true"])
def test_a_verdict_is_told_by_the_code_where_nothing_can_be_printed(regressed: Shop, redirection: str) -> None:
    assert code(regressed, redirection) == 1


@pytest.mark.parametrize("redirection", [">/dev/full", "2>/dev/full", "| true"])
def test_a_pass_that_nobody_reads_is_no_closed_gate(shop: Shop, redirection: str) -> None:
    assert code(shop, redirection, baseline=False) == 0


def test_an_encoding_without_the_letters_shows_their_numbers(regressed: Shop) -> None:
    assert code(regressed, "", PYTHONIOENCODING="ascii") == 1


@pytest.mark.parametrize("place", ["/dev/full", "/nowhere/file", "."])
def test_step_files_that_take_nothing_change_no_verdict(regressed: Shop, place: str) -> None:
    told = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_STEP_SUMMARY": place, "GITHUB_OUTPUT": place}
    assert code(regressed, "", **told) == 1


def test_an_error_that_cannot_be_told_keeps_its_code(shop: Shop) -> None:
    shop.environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/dev/full", "GITHUB_OUTPUT": "/dev/full"}
    ran = shop.gate("run", "--dataset", "absent.json")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("out", ["/dev/null", "/proc/out"])
def test_an_output_folder_that_cannot_be_is_the_callers(shop: Shop, out: str) -> None:
    ran = shop.run("--out", out)
    assert (ran.returncode, "cannot be written" in ran.stderr) == (2, True)


def test_a_working_directory_that_is_gone_is_the_callers(shop: Shop, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd gone && rmdir ../gone && {sys.executable} -m nl2sql_gate run --dataset ../items.json"
    ran = subprocess.run(["bash", "-c", script], cwd=shop.folder, capture_output=True, text=True, check=False)
    assert (ran.returncode, "the working directory is gone" in ran.stderr) == (2, True)


def test_an_action_whose_working_directory_is_not_there_is_a_usage_error(shop: Shop, root: Path) -> None:
    given = {"PATH": os.environ["PATH"], "GITHUB_WORKSPACE": str(shop.folder), "INPUT_WORKING-DIRECTORY": "absent"}
    ran = subprocess.run([sys.executable, str(root / "entrypoint.py")], env=given, capture_output=True, text=True, check=False)
    assert (ran.returncode, "Traceback" in ran.stderr, "absent" in ran.stderr) == (2, False, True)
