"""`python -m nl2sql_gate`."""

from nl2sql_gate.cli import main

main()
