"""The parser is loaded by the first function that needs it, not by the import."""

from __future__ import annotations

import subprocess
import sys


def test_importing_loads_no_parser() -> None:
    script = (
        "import sys, nl2sql_gate.sqltext as s; s.split_statements('SELECT 1; SELECT 2', 'mysql'); print('sqlglot' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
