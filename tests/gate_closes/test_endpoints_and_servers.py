"""Endpoints and servers that do not do their work: never a wrong answer, never a pass."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from shop import Shop

ASK = ("run", "--dataset", "items.json", "--setup-directory", "setup", "--model", "m", "--api-key", "sk-planted-key-0815")
AS_CHAT = ("--set", """model.request='{"messages": {{ prompt | tojson }}}'""")
IMPATIENT = ("--set", "model.retries=1")


class Refusing(BaseHTTPRequestHandler):
    """Answers every request with a status and a body that quotes the key, as some providers do."""

    status = 401

    def do_POST(self) -> None:
        key = self.headers.get("Authorization", "")
        body = f'{{"error": {{"message": "Incorrect API key provided: {key}", "code": "invalid_api_key"}}}}'.encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815 - the name is the method's

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    """The address of an endpoint that refuses the key."""
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_refused_key_is_the_callers_and_stops_the_run_before_a_question(shop: Shop, refusing: str) -> None:
    ran = shop.gate(*ASK, "--base-url", refusing)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "Incorrect API key provided" in ran.stderr
    assert "sk-planted-key-0815" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(("fault", "code"), [("500:1.0", 3), ("429:1.0", 3), ("empty:1.0", 0), ("cut-off:1.0", 0)])
def test_an_endpoint_that_only_fails_gives_no_verdict_and_an_empty_answer_is_the_models(
    shop: Shop, fault: str, code: int
) -> None:
    """Empty and cut-off replies are answers: 0 of 6 without a baseline, which is the policy's to judge."""
    with shop.endpoint("--fault", fault) as address:
        ran = shop.gate(*ASK, *IMPATIENT, "--base-url", address)
    assert ran.returncode == code, ran.stdout + ran.stderr
    if code == 0:
        assert {case["outcome"] for case in shop.report()["cases"]} == {"no_sql"}
        assert "0/6" in ran.stdout


FLOODED = """
import resource, subprocess, sys
code = subprocess.run([sys.executable, "-m", "nl2sql_gate", *sys.argv[1:]]).returncode
print("peak MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)
"""


@pytest.mark.parametrize("generator", ["openai_chat", "http_json"])
def test_a_reply_without_end_and_a_packed_bomb_cost_their_questions_and_no_memory(shop: Shop, generator: str) -> None:
    """The other questions are answered and scored; what could not be read is unscored and never a pass."""
    with shop.endpoint("--fault", "endless:q2", "--fault", "bomb:q3") as address:
        service = (
            ("--base-url", address)
            if generator == "openai_chat"
            else ("--set", "model.generator=http_json", "--set", f"model.url={address}/chat/completions")
        )
        paths = () if generator == "openai_chat" else ("--set", "model.reply_path=choices[0].message.content", *AS_CHAT)
        ran = shop.python(FLOODED, *ASK, *service, *paths)
    assert ran.returncode == 3, ran.stdout + ran.stderr
    cases = {case["id"]: case for case in shop.report()["cases"]}
    assert {name: case["outcome"] for name, case in cases.items()} == {
        name: "unscored" if name in {"q2", "q3"} else "answered" for name in cases
    }
    assert "its reply is larger than 16 MiB" in cases["q2"]["reason"]["message"]
    assert "its reply is larger than 16 MiB" in cases["q3"]["reason"]["message"]
    assert int(ran.stdout.rpartition("peak MiB")[2]) < 600


def test_empty_answers_fail_against_a_baseline(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    with shop.endpoint("--fault", "empty:1.0") as address:
        ran = shop.gate(*ASK, "--base-url", address, "--baseline", "baseline.json")
    assert ran.returncode == 1, ran.stdout + ran.stderr


def test_an_endpoint_that_hangs_on_what_it_would_fail_never_passes(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    with shop.endpoint("--fault", "hang:q2", "--fault", "hang:q3", "--fault", "hang:q4", "--fault", "hang:q5") as address:
        ran = shop.gate(
            *ASK, "--base-url", address, "--baseline", "baseline.json", "--set", "model.timeout_s=1", "--set", "model.retries=0"
        )
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert not ran.stdout.startswith("PASS")


def test_a_database_that_does_not_start_stops_the_run_before_a_question(shop: Shop) -> None:
    setup = shop.folder / "setup/shop/postgres"
    setup.mkdir()
    (setup / "setup.sql").write_text("CREATE TABLE customer (id INTEGER, name TEXT, city TEXT);")
    for entry in shop.items:
        entry["dialects"] = ["postgres"]
        entry["golden_sql"] = {"postgres": entry["golden_sql"]["sqlite"]}
    shop.write()
    ran = shop.run("--set", "services.postgres=postgresql://nobody:secret-word@127.0.0.1:9/postgres")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "127.0.0.1" in ran.stderr
    assert "secret-word" not in ran.stdout + ran.stderr
    assert not (shop.folder / "nl2sql-gate-out" / "run.json").exists()


def test_a_run_deadline_still_writes_the_report(shop: Shop) -> None:
    with shop.endpoint("--fault", "hang:q6") as address:
        ran = shop.gate(*ASK, "--base-url", address, "--set", "limits.run_s=6", "--concurrency", "8")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    cases = {case["id"]: case for case in shop.report()["cases"]}
    assert cases["q6"]["outcome"] == "unscored"
    assert cases["q6"]["reason"]["code"] == "deadline"
    assert cases["q1"]["scores"]["execution_accuracy"]["value"] == 1.0
