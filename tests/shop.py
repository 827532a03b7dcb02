"""A small dataset of our own for tests of the whole command: a shop with six questions on SQLite, and replies to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SETUP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), amount NUMERIC, paid INTEGER);
"""
ROWS = {
    "customer": "1,'Ana','Oslo'\n2,'Bo','Bern'\n3,'Cy',NULL\n4,'Di','Oslo'\n",
    "purchase": "1,1,10.5,1\n2,1,20,0\n3,2,5,1\n4,4,7.25,1\n5,4,7.25,0\n",
}
QUESTIONS: dict[str, tuple[str, str]] = {
    "q1": ("How many customers are there?", "SELECT COUNT(*) FROM customer"),
    "q2": ("Which customers live in Oslo?", "SELECT name FROM customer WHERE city = 'Oslo'"),
    "q3": ("What is the total paid amount?", "SELECT SUM(amount) FROM purchase WHERE paid = 1"),
    "q4": (
        "List customers with their number of purchases.",
        ("SELECT c.name, COUNT(p.id) FROM customer c LEFT JOIN purchase p ON p.customer_id = c.id GROUP BY c.id, c.name"),
    ),
    "q5": ("Which customers have no city?", "SELECT name FROM customer WHERE city IS NULL"),
    "q6": ("Names from A to Z?", "SELECT name FROM customer ORDER BY name"),
}


def item(item_id: str, question: str, golden: str, **more: Any) -> dict[str, Any]:
    """One item in EvalBench's format."""
    return {
        "id": item_id,
        "nl_prompt": question,
        "query_type": "dql",
        "database": "shop",
        "dialects": ["sqlite"],
        "golden_sql": {"sqlite": [golden]},
        **more,
    }


@dataclass
class Shop:
    """A folder with dataset, setup directory and replies, and the command run in it."""

    folder: Path
    items: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> Shop:
        """The shop with right answers to all questions."""
        shop = cls(folder, [item(name, *given) for name, given in QUESTIONS.items()])
        shop.replies = {name: f"```sql\n{golden};\n```" for name, (_, golden) in QUESTIONS.items()}
        shop.write()
        return shop

    def write(self) -> None:
        """Write all files."""
        setup = self.folder / "setup" / "shop"
        (setup / "sqlite").mkdir(parents=True, exist_ok=True)
        (setup / "data").mkdir(exist_ok=True)
        (setup / "sqlite" / "setup.sql").write_text(SETUP)
        for table, rows in ROWS.items():
            (setup / "data" / f"{table}.csv").write_text(rows)
        (self.folder / "items.json").write_text(json.dumps(self.items, indent=1))
        self.write_replies(self.replies)

    def write_replies(self, replies: dict[str, str], name: str = "replies.jsonl") -> None:
        """Write a file of recorded replies."""
        (self.folder / name).write_text("".join(json.dumps({"id": key, "reply": text}) + "\n" for key, text in replies.items()))

    def gate(self, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """The command as a user runs it; output as text."""
        return self._run([sys.executable, "-m", "nl2sql_gate", *arguments], timeout=timeout)

    def python(self, program: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """A program around the command, in the same folder and environment."""
        return self._run([sys.executable, "-c", program, *arguments], timeout=timeout)

    def _run(self, command: list[str], *, timeout: float) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "NL2SQL_GATE_TRACEBACK": "1",
            **self.environment,
        }
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(self, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """`nl2sql-gate run` on the shop with its recorded replies."""
        return self.gate(
            "run",
            "--dataset",
            "items.json",
            "--setup-directory",
            "setup",
            "--replies",
            "replies.jsonl",
            *arguments,
            timeout=timeout,
        )

    @contextmanager
    def endpoint(self, *arguments: str) -> Iterator[str]:
        """The address of `nl2sql-gate serve` on the shop's replies."""
        command = [
            sys.executable,
            "-m",
            "nl2sql_gate",
            "serve",
            "--replies",
            "replies.jsonl",
            "--dataset",
            "items.json",
            *arguments,
        ]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                yield process.stdout.readline().split()[-1]
            finally:
                process.terminate()

    def report(self, name: str = "run.json") -> Any:
        """A JSON file of the output folder."""
        return json.loads((self.folder / "nl2sql-gate-out" / name).read_text())
