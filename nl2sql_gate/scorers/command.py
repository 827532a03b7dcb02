"""A scorer that is somebody else's program."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from nl2sql_gate.errors import ScorerFault, SettingsError
from nl2sql_gate.github.child_environment import scrubbed
from nl2sql_gate.records import Case, Reason, Score
from nl2sql_gate.scorers.typed_json import case_json

SHOWN = 300


class CommandScorer:
    """What a program makes of a case, in [0, 1]. Rows, columns and values are its own affair.

    The program reads one case as JSON (`nl2sql-gate/case/v1`, cells with their types) from standard input and writes
    `{"score": 0..1, "reason": "…"}` to standard output. Anything else is a fault and no score: another exit code than 0, no or
    bad JSON, a value out of range, or `timeout_s` passed, after which the program and its children are killed.
    Options: `command` (a text, split as a shell would, or a list; also `NL2SQL_GATE_SCORER_COMMAND`), `timeout_s` (60), `name`.
    """

    name = "command"
    version = "1"

    def __init__(self, *, command: str | Sequence[str] = "", timeout_s: float = 60.0, name: str = "command") -> None:
        given = command or os.environ.get("NL2SQL_GATE_SCORER_COMMAND", "")
        self._command = shlex.split(given) if isinstance(given, str) else list(given)
        if not self._command:
            raise SettingsError(
                "the scorer command has no command",
                meaning="There is no program to ask.",
                next_step="Give it the option command, or set NL2SQL_GATE_SCORER_COMMAND.",
            )
        self.name = name
        self._timeout_s = timeout_s

    def score(self, case: Case) -> Score:
        """The program's score. Raises `ScorerFault` where it gives none."""
        reply = self._ask(json.dumps(case_json(case), ensure_ascii=True, allow_nan=False))
        value = reply.get("score")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ScorerFault(f"{self._command[0]}: the score is {value!r}, not a number from 0 to 1")
        words = str(reply.get("reason") or "")[:SHOWN]
        return Score(float(value), Reason("command", words) if words or value < 1 else None, self.version)

    def _ask(self, text: str) -> dict[str, Any]:
        program = self._command[0]
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, named in the user's own settings
                self._command,
                env=scrubbed(os.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ScorerFault(f"{program} cannot be started: {error}") from error
        with process:
            try:
                out, complaint = process.communicate(text.encode(), timeout=self._timeout_s)
            except subprocess.TimeoutExpired as error:
                raise ScorerFault(f"{program} gave no score within {self._timeout_s:g} s") from error
            finally:
                _end(process)
        if process.returncode:
            words = complaint.decode(errors="replace").strip()[-SHOWN:]
            raise ScorerFault(f"{program} ended with exit code {process.returncode}", where=[words] if words else ())
        try:
            reply = json.loads(out)
        except ValueError as error:
            raise ScorerFault(f"{program} wrote no JSON: {error}", where=[out[:SHOWN].decode(errors="replace")]) from error
        if not isinstance(reply, dict):
            raise ScorerFault(f"{program} wrote no JSON object")
        return reply


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the program and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
