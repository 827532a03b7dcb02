"""The examples of the page that the class was described on, as they are printed there but for the import paths."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DATABASE = Path("data/benchmarks/Bird/dev_databases/california_schools/california_schools.sqlite")
OLD_IMPORTS = ("src.metrics.evaluation", "src.core.database.database_handler", "src.core.model_manager")


@pytest.fixture
def page(shared_data: Path) -> str:
    return (shared_data / "seeds" / "000_f9053338f41059fe.txt").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small database of our own under the name that the examples use."""
    path = tmp_path / DATABASE
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE schools (CDSCode TEXT PRIMARY KEY, Phone TEXT, City TEXT, State TEXT, MailStreet TEXT);
            CREATE TABLE satscores (cds TEXT PRIMARY KEY, NumTstTakr INTEGER, NumGE1500 INTEGER);
        """)
        for i in range(30):
            address = (f"s{i:02d}", f"555-{1000 + i}", f"City {i % 7}", "CA", f"{i} Main St")
            connection.execute("INSERT INTO schools VALUES (?, ?, ?, ?, ?)", address)
            connection.execute(
                "INSERT INTO satscores VALUES (?, ?, ?)", (f"s{i:02d}", 100 + i, None if i % 9 == 0 else 97 - 3 * i)
            )
    connection.close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Handler(BaseHTTPRequestHandler):
    """Vectors by what a text is about: telephone columns are alike, whatever they hold."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [self.server.vector(text) for text in body["input"]]  # type: ignore[attr-defined]
        data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        raw = json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint(stubs: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.vector = lambda text: stubs.hashed("phone" if "Phone" in text else text)  # type: ignore[attr-defined]
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("NL2SQL_GATE_EMBEDDING_CACHE", str(tmp_path / "cache"))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield
        server.shutdown()
        thread.join()


def example(page: str, after: str, before: str) -> str:
    code = page.split(after, maxsplit=1)[1].split(before, maxsplit=1)[0].strip()
    for old in OLD_IMPORTS:
        code = code.replace(f"from {old} import", "from nl2sql_gate.evaluation import")
    assert code
    return code


def run(code: str, **names: Any) -> dict[str, Any]:
    space = dict(names)
    exec(compile(code, "seed page", "exec"), space)  # noqa: S102 - the page's own example
    return space


@pytest.mark.usefixtures("folder", "endpoint")
def test_basic_usage(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    space = run(example(page, "block in src/metrics/evaluation.py.\n", "Python: minimal binary check"))
    assert space["res"]["metrics"] == {"EX": 0, "EXP": 0.25, "EXR": 1.0, "F1": 0.4}
    assert space["res"]["matched_cols"] == [("Phone", "Phone")]
    assert "Semantic Evaluation Results:" in capsys.readouterr().out
    assert len(list(Path("data/evaluation_outputs/semantic_column_and_partial_cell").iterdir())) == 1


@pytest.mark.usefixtures("folder")
def test_minimal_binary_check(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(example(page, "and runs with the fewest dependencies.\n", "CLI usage via"))
    assert capsys.readouterr().out == "{'EX': 0}\n"


VARIABLES = {
    "EVAL_TECHNIQUE": "exact_column_and_exact_cell",
    "DBMS": "SQLITE",
    "DB_PATH": str(DATABASE),
    "EMBEDDING_MODEL": "TEXT_EMBEDDING_3_SMALL",
    "LOGS_DIR_PATH": "data/evaluation_logs",
}


@pytest.mark.usefixtures("folder")
def test_configuration_from_the_environment(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    arguments = SimpleNamespace(predicted_sql="SELECT Phone FROM schools LIMIT 10", ground_truth_sql="SELECT Phone FROM schools")
    code = example(page, "and then invoke evaluation.py as a script.\n", "load_config_from_env() reads the following")
    metrics = run(code, args=arguments)["res"]["metrics"]
    assert (metrics["EX"], metrics["EXP"], metrics["EXR"]) == (0, 1.0, 1 / 3)


def test_command_line(page: str, folder: Path) -> None:
    command = example(page, "# 2. Run evaluation\n", "Set ENABLE_LOG=true").replace(
        "src/metrics/evaluation.py", "-m nl2sql_gate.evaluation"
    )
    words = [word for word in shlex.split(command) if word.strip()]
    assert words[0] == "python"
    environment = {**os.environ, **VARIABLES, "ENABLE_LOG": "true"}
    done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=True, env=environment, cwd=folder)
    assert done.stdout.startswith("Evaluation Results:\nMetrics: {'EX': 0, ")
    assert len(list((folder / "data/evaluation_logs/exact_column_and_exact_cell").iterdir())) == 1
