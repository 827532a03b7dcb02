"""Which commit a ref means, and its files in a folder of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nl2sql_gate.commands.commits import commit_messages
from nl2sql_gate.commands.git_tree import tree_of
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.github.event import Event

AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *AUTHOR, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def commit(folder: Path, text: str) -> str:
    (folder / "evals").mkdir(exist_ok=True)
    (folder / "evals" / "prompt.j2").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """`main` with two commits, the first tagged `v1`; `change` forked from the first, with a commit of its own."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "one")
    git(folder, "tag", "v1")
    git(folder, "checkout", "-qb", "change")
    commit(folder, "mine")
    git(folder, "checkout", "-q", "main")
    commit(folder, "two")
    git(folder, "checkout", "-q", "change")
    return folder


@pytest.mark.parametrize(
    ("ref", "text", "words"),
    [
        ("main", "one", "the merge base with main, "),
        ("v1", "one", "v1 at "),
        ("HEAD", "mine", "HEAD at "),
        ("HEAD~1", "one", "HEAD~1 at "),
    ],
)
def test_a_branch_means_its_merge_base_and_everything_else_itself(repository: Path, ref: str, text: str, words: str) -> None:
    with tree_of(ref, folder=repository) as tree:
        assert (tree.root / "evals" / "prompt.j2").read_text() == text
        assert tree.words == f"{words}{tree.commit[:8]}"


def test_the_tip_of_a_branch_is_itself_where_nothing_forked(repository: Path) -> None:
    git(repository, "checkout", "-q", "main")
    with tree_of("main", folder=repository) as tree:
        assert (tree.root / "evals" / "prompt.j2").read_text() == "two"


def test_a_sub_folder_has_its_counterpart_and_the_checkout_is_left_alone(repository: Path) -> None:
    (repository / "evals" / "prompt.j2").write_text("staged")
    git(repository, "add", "-A")
    (repository / "evals" / "prompt.j2").write_text("not staged")
    before = git(repository, "status", "--porcelain=v2")
    with tree_of("v1", folder=repository / "evals") as tree:
        assert (tree.folder / "prompt.j2").read_text() == "one"
        kept = tree.root
    assert git(repository, "status", "--porcelain=v2") == before
    assert (repository / "evals" / "prompt.j2").read_text() == "not staged"
    assert not kept.exists()


def test_a_shallow_checkout_fetches_the_ref_and_says_that_the_merge_base_is_unknown(repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{repository}", str(shallow))
    with tree_of("main", folder=shallow) as tree:
        assert (tree.root / "evals" / "prompt.j2").read_text() == "two"
        assert "too shallow to hold the merge base" in tree.words


@pytest.mark.parametrize("ref", ["", "nowhere", "--upload-pack=touch x", "main:evals", "a b"])
def test_what_is_no_commit_is_refused(repository: Path, ref: str) -> None:
    with pytest.raises(BaselineError, match="cannot be had"), tree_of(ref, folder=repository):
        pass


def test_a_folder_outside_any_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be had"), tree_of("main", folder=tmp_path):
        pass


def test_the_messages_of_a_pull_request_are_those_of_its_own_commits(repository: Path) -> None:
    event = Event("pull_request", base_sha=git(repository, "rev-parse", "main"), head_sha=git(repository, "rev-parse", "change"))
    assert commit_messages(Event("pull_request", pull_request=0), {}, folder=repository) == ()
    found = commit_messages(_numbered(event), {}, folder=repository)
    assert found == ("mine",)


def test_a_shallow_checkout_has_the_last_message_only_and_none_without_the_commit(repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{repository}", str(shallow))
    base, head = git(repository, "rev-parse", "main"), git(repository, "rev-parse", "change")
    event = _numbered(Event("pull_request", base_sha=base, head_sha=head))
    assert commit_messages(event, {}, folder=shallow) == ("mine",)
    assert commit_messages(_numbered(Event("pull_request", base_sha=base, head_sha="0" * 40)), {}, folder=shallow) == ()
    assert commit_messages(event, {}, folder=tmp_path) == ()


def test_a_run_by_schedule_accepts_nothing(repository: Path) -> None:
    assert commit_messages(Event("schedule"), {}, folder=repository) == ()


def _numbered(event: Event) -> Event:
    from dataclasses import replace

    return replace(event, pull_request=5)
