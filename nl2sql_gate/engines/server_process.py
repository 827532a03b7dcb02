"""A database server as a child process: private folder, unprivileged user, own process group, scrubbed environment, sure end.

A folder holds everything of one server and a note of who started it; the next run sweeps the folders of runs that are dead.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from nl2sql_gate.errors import ServiceError

_OWNER = "owner.json"
_LOG = "server.log"
_SHOWN_LINES = 12
_SOCKET_ROOM = 60  # a socket's path may have 107 bytes, and the socket's own name comes after the folder's
_STOP_S = 8.0
_UNSIGNED_S = 3600.0


class ServerProcess:
    """One server in one throw-away folder. `prefix` names the folder and thereby the product."""

    def __init__(self, prefix: str, *, users: Sequence[str]) -> None:
        self._account = unprivileged_account(users)
        self.folder = _private_folder(prefix, self._account)
        self._process: subprocess.Popen[bytes] | None = None
        sign(self.folder)

    def run(self, command: Sequence[str], *, timeout_s: float = 120.0) -> None:
        """Run a tool to its end as the server's user. Raises `ServiceError` with what it printed last."""
        with (self.folder / _LOG).open("ab") as log:
            process = self._spawn(command, log=log)
            try:
                code = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                _kill_group(process, signal.SIGKILL)
                process.wait()
                code = -1
        if code:
            raise self.failure(f"{Path(command[0]).name} ended with {code}")

    def take(self, source: Path, target: Path) -> None:
        """Copy a folder that we can read into this one and give it to the server's user. Raises `ServiceError`."""
        commands = [["cp", "-R", str(source), str(target)]]
        if self._account is not None:
            commands.append(["chown", "-R", f"{self._account.pw_uid}:{self._account.pw_gid}", str(target)])
        for command in commands:
            ran = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")  # noqa: S603 -- from PATH
            if ran.returncode:
                raise ServiceError(f"{source} cannot be copied", where=ran.stderr.splitlines()[-_SHOWN_LINES:])
        target.chmod(0o700)

    def give(self, file: Path) -> None:
        """Make `file` the server's user's."""
        if self._account is not None:
            os.chown(file, self._account.pw_uid, self._account.pw_gid)

    def start(self, command: Sequence[str]) -> None:
        """Start the server itself; it may not answer yet."""
        with (self.folder / _LOG).open("ab") as log:
            self._process = self._spawn(command, log=log)

    @property
    def pid(self) -> int:
        """The server's process id; 0 before it was started."""
        return 0 if self._process is None else self._process.pid

    def alive(self) -> bool:
        """Whether the server still runs."""
        return self._process is not None and self._process.poll() is None

    def failure(self, what: str) -> ServiceError:
        """An error that shows the server's last log lines."""
        return ServiceError(
            what,
            where=self.last_lines(),
            meaning="No verdict: the database server is not there to answer.",
            next_step="The lines above are the server's own; a URL or a container under services: is another way to a server.",
        )

    def last_lines(self) -> list[str]:
        """The end of the server's log."""
        with suppress(OSError):
            text = (self.folder / _LOG).read_bytes()[-20_000:].decode(errors="replace")
            return [line for line in text.splitlines() if line.strip()][-_SHOWN_LINES:]
        return []

    def stop(self, *, ask: signal.Signals) -> None:
        """End the server, first by `ask`, then by force, and remove its folder. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            children = _children(process.pid)
            _kill_group(process, ask, group=False)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_S)
            # Whatever is left of its group, the server itself included.
            _kill_group(process, signal.SIGKILL)
            process.wait()
            # PostgreSQL's are in groups of their own, and one that is halted does not see its server go.
            for child, started in children.items():
                if started_at(child) == started:
                    with suppress(OSError):
                        os.kill(child, signal.SIGKILL)
        _remove(self.folder)

    def _spawn(self, command: Sequence[str], *, log: IO[bytes]) -> subprocess.Popen[bytes]:
        account = self._account
        return subprocess.Popen(  # noqa: S603 -- a server binary that we found, and our own flags
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env=scrubbed_environment(self.folder),
            start_new_session=True,
            user=None if account is None else account.pw_uid,
            group=None if account is None else account.pw_gid,
            extra_groups=None if account is None else [],
            umask=0o077,
        )


def scrubbed_environment(home: Path) -> Mapping[str, str]:
    """All that a server is told: no token, key or runner variable."""
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": str(home)}


def unprivileged_account(users: Sequence[str]) -> pwd.struct_passwd | None:
    """Whom to run as; `None` where this process has no privileges to give up."""
    if os.geteuid() != 0:
        return None
    for user in (*users, "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(user)
    raise ServiceError(
        "there is no unprivileged user to run a database server as",
        where=[f"tried: {', '.join((*users, 'nobody'))}"],
        next_step="Run the gate as another user than root, or give the server by URL.",
    )


def started_at(pid: int) -> str:
    """When a process began, as the kernel counts; empty where there is no such process."""
    with suppress(OSError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text()
        return text.rpartition(")")[2].split()[19]
    return ""


def working_folder(prefix: str, parent: str) -> Path:
    """A folder for an engine without a server. Where it lies among everybody's, dead runs' are swept and this one is signed."""
    if parent:
        Path(parent).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    sign(folder)
    return folder


def sign(folder: Path) -> None:
    """Note in a folder who made it, for the sweep."""
    (folder / _OWNER).write_text(json.dumps({"pid": os.getpid(), "started": started_at(os.getpid())}))


def sweep(prefix: str) -> list[Path]:
    """Stop and remove what dead runs left behind; returns the folders removed."""
    removed = []
    for parent in _parents():
        for folder in parent.glob(f"{prefix}*"):
            with suppress(OSError, ValueError, KeyError):
                if not (folder / _OWNER).exists():
                    if _forgotten(folder):
                        _remove(folder)
                        removed.append(folder)
                    continue
                if (folder / _OWNER).lstat().st_uid != os.geteuid():
                    continue
                owner = json.loads((folder / _OWNER).read_text())
                if owner["started"] and started_at(int(owner["pid"])) == owner["started"]:
                    continue
                _kill_servers_of(folder)
                _remove(folder)
                removed.append(folder)
    return removed


def _forgotten(folder: Path) -> bool:
    """Whether a folder without a note is ours and old: its maker died between making and signing, or a late tool made it anew."""
    about = folder.lstat()
    is_ours = stat.S_ISDIR(about.st_mode) and os.geteuid() in {0, about.st_uid}
    return is_ours and time.time() - about.st_mtime > _UNSIGNED_S


def _children(pid: int) -> dict[int, str]:
    """The processes that `pid` has started, each with when it began."""
    with suppress(OSError, ValueError):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return {int(word): began for word in found if (began := started_at(int(word)))}
    return {}


def _kill_servers_of(folder: Path) -> None:
    mark = str(folder).encode()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with suppress(OSError):
            # The folder's name is random, so only its own server carries it in the command line.
            if any(word.startswith(mark) for word in (process / "cmdline").read_bytes().replace(b"=", b"\0").split(b"\0")):
                os.kill(int(process.name), signal.SIGKILL)
    time.sleep(0.05)


def _kill_group(process: subprocess.Popen[bytes], number: signal.Signals, *, group: bool = True) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _remove(folder: Path) -> None:
    _release_shared_memory(folder)
    for _ in range(5):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        # A dying server may write a last file.
        time.sleep(0.05)


def _release_shared_memory(folder: Path) -> None:
    """Remove the segment that a killed PostgreSQL leaves; its number stands in its pid file."""
    with suppress(OSError, ValueError, IndexError):
        words = (folder / "data" / "postmaster.pid").read_text().splitlines()[6].split()
        subprocess.run(["ipcrm", "-m", str(int(words[1]))], check=False, capture_output=True)  # noqa: S603, S607 -- from PATH


def _parents() -> list[Path]:
    found = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]  # noqa: S108 -- folders inside are private
    return [path for index, path in enumerate(found) if path.is_dir() and path not in found[:index]]


def _private_folder(prefix: str, account: pwd.struct_passwd | None) -> Path:
    problems = []
    for parent in _parents():
        if len(str(parent)) + len(prefix) > _SOCKET_ROOM:
            problems.append(f"{parent}: too long for a socket")
            continue
        if account is not None and not _open_to_all(parent):
            problems.append(f"{parent}: closed to user {account.pw_name}")
            continue
        try:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            if account is not None:
                os.chown(folder, account.pw_uid, account.pw_gid)
        except OSError as error:
            problems.append(f"{parent}: {error}")
            continue
        return folder
    raise ServiceError(
        "there is no folder for a database server", where=problems, next_step="Point TMPDIR to a short path with free space."
    )


def _open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))
