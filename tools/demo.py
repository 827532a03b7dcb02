"""The main job on the bundled dataset, offline: recorded replies over real HTTP, on SQLite and, where it is, PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATASET = next(path.parent for path in sorted((ROOT / "datasets").glob("*/items.json")))


def postgres_is_here() -> bool:
    """Whether the gate would find PostgreSQL's server programs."""
    return bool(shutil.which("initdb") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb")))


def main() -> int:
    """Serve the recorded replies, run the gate against them, and return its exit code."""
    model = os.environ.get("MODEL", "model_a")
    replies = DATASET / "replies" / f"{model}.jsonl"
    program = [sys.executable, "-m", "nl2sql_gate"]
    serve = [*program, "serve", "--replies", str(replies), "--dataset", str(DATASET / "items.json"), "--model", model]
    endpoint = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        address = endpoint.stdout.readline().strip().rpartition(" ")[2] if endpoint.stdout else ""
        if not address.startswith("http"):
            print("error: the endpoint did not start")
            return 3
        dialects = ["sqlite", "postgres"] if postgres_is_here() else ["sqlite"]
        print(f"{model}, recorded, answers at {address}; databases: {', '.join(dialects)}", flush=True)
        command = [*program, "run", "--dataset", f"{DATASET / 'items.json'}", "--setup-directory", f"{DATASET / 'setup'}"]
        command += [part for dialect in dialects for part in ("--dialect", dialect)]
        command += ["--base-url", address, "--model", model, "--api-key", "not-needed", "--concurrency", "16"]
        command += ["--baseline", f"{DATASET / 'baseline.json'}", "--out", f"{ROOT / 'nl2sql-gate-out'}"]
        code = subprocess.run(command, check=False).returncode
        print(f"\nexit code {code}. The report is in nl2sql-gate-out/. To see the gate close: make demo MODEL=model_b")
        return code
    finally:
        endpoint.terminate()
        endpoint.wait(10)


if __name__ == "__main__":
    sys.exit(main())
