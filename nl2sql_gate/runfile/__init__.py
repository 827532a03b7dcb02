"""The on-disk form of a run, version 1: what other programs may rely on, apart from what the records look like inside.

`write_run` stores everything (`run.json`), `write_baseline` what a repository keeps (`baseline.json`);
`read_run` takes either back.
"""

from nl2sql_gate.runfile.cells import decode_cell, encode_cell
from nl2sql_gate.runfile.reading import MAX_BYTES, read_run
from nl2sql_gate.runfile.redacting import redact_run
from nl2sql_gate.runfile.writing import baseline_bytes, run_bytes, write_atomically, write_baseline, write_file, write_run

__all__ = [
    "MAX_BYTES",
    "baseline_bytes",
    "decode_cell",
    "encode_cell",
    "read_run",
    "redact_run",
    "run_bytes",
    "write_atomically",
    "write_baseline",
    "write_file",
    "write_run",
]
