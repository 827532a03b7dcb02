"""What runs after the gate's step, also after a cancel: removal of the database containers that a dead run left behind."""

from __future__ import annotations

import sys


def main() -> None:
    """Sweep, and say what was removed. Ends with 0 whatever happens: the verdict was given by the step before."""
    # Only here: the Docker client is of no use to most runs.
    from nl2sql_gate.engines.containers import sweep

    try:
        removed = sweep()
    except Exception as error:  # noqa: BLE001 - a step that only tidies up must not turn a green job red
        sys.stdout.write(f"containers of dead runs could not be looked for: {type(error).__name__}: {error}\n")
        return
    for name in removed:
        sys.stdout.write(f"removed {name}, which a dead run left behind\n")
