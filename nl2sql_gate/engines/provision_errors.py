"""The error of a statement or a row from which a database cannot be built."""

from __future__ import annotations

from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Place

_SHOWN = 300


def fails(what: str, error: object, place: Place, text: str = "") -> ProvisionError:
    """`what` failed at `place` because of `error`; `text` is the statement."""
    shown = " ".join(text.split())
    return ProvisionError(
        what,
        where=[f"{place}: {error}", shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"],
        meaning="The database could not be built, so nothing was measured.",
        next_step="Correct the setup; every statement of it must run.",
    )
