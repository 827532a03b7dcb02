"""The files of a commit in a folder of their own, so that the base of a change can be asked beside its head."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nl2sql_gate.baselines.git_commands import Git, GitError
from nl2sql_gate.errors import BaselineError

REMOTE = "origin"


@dataclass(frozen=True, slots=True)
class Tree:
    """A commit's files below `root`. `folder` is the counterpart of the working directory, `words` say which commit and why."""

    root: Path
    folder: Path
    commit: str
    words: str


@contextmanager
def tree_of(ref: str, *, folder: Path) -> Iterator[Tree]:
    """The files of `ref` in the repository around `folder`; of a branch, those of its merge base with HEAD.

    What the branch won meanwhile is not what the change lost. The checkout, its index and its worktrees are left alone.
    Raises `BaselineError` where there is no such commit here nor in the remote.
    """
    if not re.fullmatch(r"[^\s:?*\[\\-][^\s:?*\[\\]*", ref):
        raise _absent(ref, "it is no name of a commit")
    try:
        top = Path(Git(folder).text_of("rev-parse", "--show-toplevel"))
        git = Git(top)
        commit, words = _commit(git, ref)
        with tempfile.TemporaryDirectory(prefix="nl2sql-gate-base-") as made:
            index, root = Path(made) / "index", Path(made) / "tree"
            git.text_of("read-tree", commit, index=index)
            git.text_of("checkout-index", "--all", "--quiet", f"--prefix={root}/", index=index)
            inner = folder.resolve().relative_to(top.resolve())
            yield Tree(root, root / inner, commit, words)
    except GitError as error:
        raise _absent(ref, str(error)) from error


def _commit(git: Git, ref: str) -> tuple[str, str]:
    """The commit that is meant, and the words for it."""
    name, tip = _resolve(git, ref) or _fetched(git, ref)
    if not name.startswith(("refs/heads/", "refs/remotes/")):
        return tip, f"{ref} at {tip[:8]}"
    fork = _try(git, "merge-base", "HEAD", tip)
    if fork and fork != tip:
        return fork, f"the merge base with {ref}, {fork[:8]}"
    return tip, f"{ref} at {tip[:8]}" + ("" if fork else " (its tip: this checkout is too shallow to hold the merge base)")


def _resolve(git: Git, ref: str) -> tuple[str, str] | None:
    """The full name, empty where it has none, and the commit."""
    for name in (ref, f"{REMOTE}/{ref}"):
        commit = _try(git, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if commit:
            return _try(git, "rev-parse", "--symbolic-full-name", name), commit
    return None


def _fetched(git: Git, ref: str) -> tuple[str, str]:
    """The ref from the remote: a workflow's checkout usually holds one commit and no other branch."""
    git.text_of("fetch", "--quiet", "--no-tags", "--depth=1", REMOTE, ref.removeprefix(f"{REMOTE}/"))
    return f"refs/remotes/{REMOTE}/{ref}", git.text_of("rev-parse", "--verify", "FETCH_HEAD^{commit}")


def _try(git: Git, *arguments: str) -> str:
    """What a command prints, nothing where it fails."""
    try:
        return git.text_of(*arguments)
    except GitError:
        return ""


def _absent(ref: str, why: str) -> BaselineError:
    return BaselineError(
        "the baseline's commit cannot be had",
        where=[f"baseline: ref:{ref}", why],
        meaning="There is nothing to ask beside this change. Nothing was asked.",
        next_step="Correct the ref, or let the checkout hold it: actions/checkout with fetch-depth: 0.",
    )
