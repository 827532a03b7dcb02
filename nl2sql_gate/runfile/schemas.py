"""The published JSON Schemas of our files: `python -m nl2sql_gate.runfile.schemas docs/schemas` writes them again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nl2sql_gate.runfile.format import BaselineFile, ReplyLine, RunFile
from nl2sql_gate.runfile.pr_format import PullRequestFile
from nl2sql_gate.runfile.report_format import ReportFile

BASE_URL = "https://raw.githubusercontent.com/nl2sql-gate/nl2sql-gate/v1/docs/schemas"

MODELS: dict[str, type[BaseModel]] = {
    "run": RunFile,
    "baseline": BaselineFile,
    "report": ReportFile,
    "replies": ReplyLine,
    "pr": PullRequestFile,
}


def schema(name: str) -> dict[str, Any]:
    """The schema of one format: `run`, `baseline`, `report`, `pr`, or `replies` (one line of the file)."""
    made = MODELS[name].model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{BASE_URL}/{name}-v1.json", **made}


def schema_text(name: str) -> str:
    """The content of `docs/schemas/<name>-v1.json`."""
    return json.dumps(schema(name), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write all schemas."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        (folder / f"{name}-v1.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
