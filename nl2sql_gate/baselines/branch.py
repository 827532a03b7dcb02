"""A baseline in a branch of its own, which no checkout ever touches: every blessing is a commit, so nothing is lost."""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from nl2sql_gate.baselines.git_commands import Git, GitError
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.runfile import MAX_BYTES

ATTEMPTS = 8
REMOTE = "origin"
_FETCHED = "refs/nl2sql-gate/baselines"
_FORM = "Write branch:NAME or branch:NAME:PATH."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


class BranchStore:
    """The branch named after `branch:`, and in it the file after a second colon, else `<gate>/baseline.json`.

    The remote `origin` holds it where there is one, else the local repository.
    """

    def __init__(
        self,
        location: str,
        *,
        gate: str = "nl2sql",
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        branch, _, path = location.partition(":")
        self._branch, self._path = branch, path or f"{gate}/baseline.json"
        if not _NAME.fullmatch(branch) or ".." in branch or branch.endswith((".lock", "/", ".")):
            raise _failed(
                "the name of the baseline's branch is impossible", repr(location), "Write branch:NAME or branch:NAME:PATH."
            )
        if self._path.startswith("/") or ".." in Path(self._path).parts:
            raise _failed(
                "the path in the baseline's branch is impossible", repr(location), "Write branch:NAME or branch:NAME:PATH."
            )
        self._git = Git(folder or Path.cwd(), environment=environment)
        self._wait = wait

    def fetch(self) -> bytes | None:
        """The file's content at the branch's tip, or `None` where branch or file is not there yet."""
        try:
            tip = self._tip()
            return None if tip is None else self._read(tip)
        except GitError as error:
            step = "Give the checkout leave to fetch (contents: read), or correct baseline: in nl2sql-gate.yml."
            raise _failed("the baseline's branch cannot be read", str(error), step) from error

    def store(self, content: bytes, *, message: str) -> str:
        """Commit the file on top of the branch's tip and push it; whoever pushed meanwhile keeps their commit below ours."""
        last: GitError | None = None
        for attempt in range(ATTEMPTS):
            try:
                tip = self._tip()
                commit = self._commit(tip, content, message)
                self._push(commit, tip)
            except GitError as error:
                last = error
                # Somebody else pushed, or the network failed half-way: look again at what is there. The pause is random, so that
                # two who met do not meet again.
                self._wait(random.uniform(0.1, 0.5) * (attempt + 1))  # noqa: S311 - no secret
                continue
            return f"branch {self._branch}, {self._path} ({commit[:12]})"
        step = "Give the job permissions: contents: write, or store the baseline in a file."
        raise _failed("the baseline cannot be pushed", str(last), step, meaning="The old baseline still stands.") from last

    def _has_remote(self) -> bool:
        return REMOTE in self._git.text_of("remote").split()

    def _tip(self) -> str | None:
        """The commit at the branch's tip, fetched; `None` where there is no such branch."""
        if not self._has_remote():
            found = self._git.text_of("for-each-ref", "--format=%(objectname)", f"refs/heads/{self._branch}")
            return found or None
        line = self._git.text_of("ls-remote", "--heads", REMOTE, f"refs/heads/{self._branch}")
        if not line:
            return None
        self._git.text_of("fetch", "--quiet", "--no-tags", "--depth=1", REMOTE, f"+refs/heads/{self._branch}:{_FETCHED}")
        return self._git.text_of("rev-parse", "--verify", f"{_FETCHED}^{{commit}}")

    def _read(self, tip: str) -> bytes | None:
        if not self._git.text_of("ls-tree", tip, "--", self._path):
            return None
        name = f"{tip}:{self._path}"
        size = int(self._git.text_of("cat-file", "-s", name))
        if size > MAX_BYTES:
            step = "Bless a run of a smaller dataset, or split the gate."
            raise _failed("the baseline cannot be read", f"{self._path} has {size / 1e6:.0f} MB", step)
        return self._git.bytes_of("cat-file", "blob", name)

    def _commit(self, tip: str | None, content: bytes, message: str) -> str:
        """A commit with the file, made without a checkout: the workspace and its index are the user's."""
        blob = self._git.text_of("hash-object", "-w", "--stdin", given=content)
        with tempfile.TemporaryDirectory(prefix="nl2sql-gate-") as folder:
            index = Path(folder) / "index"
            self._git.text_of("read-tree", *([tip] if tip else ["--empty"]), index=index)
            self._git.text_of("update-index", "--add", "--cacheinfo", f"100644,{blob},{self._path}", index=index)
            tree = self._git.text_of("write-tree", index=index)
        parents = ["-p", tip] if tip else []
        return self._git.text_of("commit-tree", tree, *parents, "-F", "-", given=message.encode())

    def _push(self, commit: str, tip: str | None) -> None:
        name = f"refs/heads/{self._branch}"
        if self._has_remote():
            # The lease makes a branch that appeared meanwhile a refusal too, not only one that moved.
            self._git.text_of("push", "--quiet", f"--force-with-lease={name}:{tip or ''}", REMOTE, f"{commit}:{name}")
        else:
            self._git.text_of("update-ref", name, commit, tip or "0" * len(commit))


def _failed(
    what: str,
    where: str,
    next_step: str,
    *,
    meaning: str = "There is nothing to compare with: a regression would not be seen.",
) -> BaselineError:
    return BaselineError(what, where=[where], meaning=meaning, next_step=next_step)
