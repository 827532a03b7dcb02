"""The errors that this package raises, as a tree that answers one question: whose turn is it to act?

GateError
├── UsageError            the caller must act; the run does not start (exit 2)
│   ├── SettingsError     nl2sql-gate.yml, flags, environment, action inputs
│   ├── DatasetError      the dataset, its filters, its golden SQL
│   ├── ProvisionError    a statement or table of a setup directory, a dump
│   ├── BaselineError     a baseline that is absent, unreadable or of a newer format
│   └── CredentialsError  the endpoint refused the key, the model or the path
├── NoVerdictError        nothing can be said (exit 3)
│   ├── ServiceError      a database server that does not start or answer
│   └── EndpointError     a model endpoint that does not answer at all
└── Fault                 one thing could not be measured; caught once, becomes `unscored`
    ├── EndpointFault
    ├── EngineFault
    │   └── StateTimeout  what a statement left behind cannot be read within its limit
    └── ScorerFault

A wrong answer is never an exception: the model's failures are values (`SqlError`, `NoSql`, a low `Score`).
"""

from __future__ import annotations

from collections.abc import Sequence


class GateError(Exception):
    """Base of all errors of this package: a message in four parts.

    `what` happened, `where` (one line each), what it `meaning`s, and what to do `next_step`.
    """

    exit_code = 4

    def __init__(
        self,
        what: str,
        *,
        where: Sequence[str] = (),
        meaning: str = "",
        next_step: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = tuple(where)
        self.meaning = meaning
        self.next_step = next_step

    def __str__(self) -> str:
        """The four parts, a line each, indented below the first."""
        rest = [*self.where, self.meaning, self.next_step]
        return "\n".join([self.what, *(f"  {line}" for line in rest if line)])


class UsageError(GateError):
    """The caller must act; nothing was measured."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, impossible or missing."""


class DatasetError(UsageError):
    """The dataset cannot be used as it is."""


class ProvisionError(UsageError):
    """A database could not be built from what the dataset gives."""


class BaselineError(UsageError):
    """A baseline named by the caller cannot be read or compared."""


class CredentialsError(UsageError):
    """The endpoint refused the key, the model's name or the path."""


class NoVerdictError(GateError):
    """Nothing can be said about the change."""

    exit_code = 3


class ServiceError(NoVerdictError):
    """A database server does not start or answer."""


class EndpointError(NoVerdictError):
    """A model endpoint does not answer at all."""


class Fault(GateError):
    """One thing could not be measured, and the model is not to blame."""

    exit_code = 3


class EndpointFault(Fault):
    """A completion could not be had after all retries."""


class EngineFault(Fault):
    """The database or the connection to it failed."""


class StateTimeout(EngineFault):
    """Reading what a statement has left behind took longer than its limit: a view without end, say. The statement is to blame."""


class ScorerFault(Fault):
    """A scorer failed; other scorers of the case stand."""
