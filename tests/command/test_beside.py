"""Head against base in one run: from a git ref, or at a second endpoint; what changed asked again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from shop import Shop

ASK = """
import json, pathlib, sys
asked = json.load(sys.stdin)
with open({log!r}, "a") as log:
    log.write(json.dumps({{"side": {side!r}, "id": asked["id"], "trial": asked["trial"], "prompt": asked["prompt"][-1]["content"]}}) + "\\n")
answers = json.loads(pathlib.Path("answers.json").read_text())
wrong = answers.get(f"{{asked['id']}}#{{asked['trial']}}", answers.get(asked["id"]))
print(json.dumps({{"sql": wrong}}))
"""
SETTINGS = """
dataset: items.json
setup_directory: setup
model: {{generator: command, command: [python3, ask.py], prompt: prompt.j2, concurrency: 1, name: asker}}
baseline: {baseline}
policy: {policy}
"""
RIGHT = {
    "q1": "SELECT COUNT(*) FROM customer",
    "q2": "SELECT name FROM customer WHERE city = 'Oslo'",
    "q3": "SELECT SUM(amount) FROM purchase WHERE paid = 1",
    "q4": "SELECT c.name, COUNT(p.id) FROM customer c LEFT JOIN purchase p ON p.customer_id = c.id GROUP BY c.id, c.name",
    "q5": "SELECT name FROM customer WHERE city IS NULL",
    "q6": "SELECT name FROM customer ORDER BY name",
}
WRONG = "SELECT 'nobody'"


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
    ran = subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def write_side(shop: Shop, name: str, answers: dict[str, str], *, baseline: str = "ref:main", policy: str = "{}") -> None:
    """The program, its answers, the prompt and the settings of one side."""
    (shop.folder / "ask.py").write_text(ASK.format(side=name, log=str(shop.folder / "asked.jsonl")))
    (shop.folder / "answers.json").write_text(json.dumps(answers))
    (shop.folder / "prompt.j2").write_text(f"{name}: {{{{ question }}}}")
    (shop.folder / "nl2sql-gate.yml").write_text(SETTINGS.format(baseline=baseline, policy=policy))


def asked(shop: Shop) -> list[dict[str, str]]:
    return [json.loads(line) for line in (shop.folder / "asked.jsonl").read_text().splitlines()]


@pytest.fixture
def repository(shop: Shop) -> Shop:
    """A repository whose `main` answers all questions rightly, with a branch `change` checked out."""
    write_side(shop, "base", RIGHT)
    (shop.folder / ".gitignore").write_text("asked.jsonl\nnl2sql-gate-out/\n")
    git(shop.folder, "init", "-q", "-b", "main")
    git(shop.folder, "add", "-A")
    git(shop.folder, "commit", "-qm", "Right")
    git(shop.folder, "checkout", "-qb", "change")
    return shop


def test_a_ref_is_asked_with_its_own_prompt_and_program_in_turn_with_the_head(repository: Shop) -> None:
    write_side(repository, "head", RIGHT | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG))
    ran = repository.gate("run")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "4 broke, 0 fixed of 6 items" in ran.stdout
    assert f"main at {git(repository.folder, 'rev-parse', 'main')[:8]}, asked in the same run" in ran.stdout
    sides = [(each["side"], each["id"], each["prompt"].partition(":")[0]) for each in asked(repository)]
    assert sides == [(side, f"q{n}", side) for n in range(1, 7) for side in ("head", "base")]
    base = repository.report("base.json")
    assert base["provenance"]["facts"]["commit"] == git(repository.folder, "rev-parse", "main")
    assert [case["sql"] for case in base["cases"]] == list(RIGHT.values())
    assert git(repository.folder, "status", "--porcelain", "--", "items.json", "setup") == ""


def test_what_the_branch_won_meanwhile_is_not_held_against_the_change(repository: Shop) -> None:
    """The base is the merge base: `main` repaired q2 after the change began."""
    write_side(repository, "old", RIGHT | {"q2": WRONG})
    git(repository.folder, "checkout", "-q", "main")
    git(repository.folder, "add", "-A")
    git(repository.folder, "commit", "-qm", "q2 is wrong")
    git(repository.folder, "checkout", "-q", "-B", "change")
    write_side(repository, "base", RIGHT)
    git(repository.folder, "checkout", "-q", "main")
    git(repository.folder, "add", "-A")
    git(repository.folder, "commit", "-qm", "q2 repaired")
    git(repository.folder, "checkout", "-q", "change")
    ran = repository.gate("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broke, 0 fixed of 6 items" in ran.stdout
    assert "the merge base with main" in ran.stdout


def test_a_ref_without_settings_of_this_gate_is_the_first_run(repository: Shop) -> None:
    git(repository.folder, "checkout", "-q", "--orphan", "empty")
    git(repository.folder, "rm", "-rqf", "--cached", ".")
    git(repository.folder, "commit", "-q", "--allow-empty", "-m", "Nothing")
    ran = repository.gate("run", "--set", "baseline=ref:empty")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no settings of this gate yet: this is the first run" in ran.stderr


def test_a_ref_that_does_not_exist_stops_the_run(repository: Shop) -> None:
    ran = repository.gate("run", "--baseline", "ref:nowhere")
    assert (ran.returncode, (repository.folder / "asked.jsonl").exists()) == (2, False)
    assert "ref:nowhere" in ran.stderr


def test_what_flips_by_chance_is_asked_again_on_both_sides_and_the_fresh_answers_decide(repository: Shop) -> None:
    """The head's first answers to four questions are unlucky; asked again, both sides are right."""
    unlucky = {f"{name}#1": WRONG for name in ("q2", "q3", "q4", "q5")}
    write_side(repository, "head", RIGHT | unlucky, policy="{confirm: true}")
    ran = repository.gate("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 questions that changed asked again of both sides" in ran.stdout
    fresh = [(each["side"], each["id"]) for each in asked(repository) if each["trial"] == 2]
    assert sorted(fresh) == sorted((side, name) for side in ("head", "base") for name in ("q2", "q3", "q4", "q5"))
    rows = {row["name"]: row for row in repository.report("report.json")["verdict"]["rows"]}
    assert (rows["first answers"]["broke"], rows["first answers"]["gated"]) == (4, False)
    assert rows["execution_accuracy"]["broke"] == 0
    assert ran.stdout.startswith("PASS  execution accuracy unchanged at 100.0 % (6/6)")


def test_a_drop_that_is_there_again_fails(repository: Shop) -> None:
    write_side(repository, "head", RIGHT | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG), policy="{confirm: true}")
    assert repository.gate("run").returncode == 1


def test_with_a_stored_baseline_fresh_answers_of_the_head_inform_and_decide_nothing(repository: Shop) -> None:
    assert repository.gate("run").returncode == 0
    assert repository.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    unlucky = {f"{name}#1": WRONG for name in ("q2", "q3", "q4", "q5")}
    write_side(repository, "head", RIGHT | unlucky, baseline="file:baseline.json", policy="{confirm: true}")
    ran = repository.gate("run")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    rows = {row["name"]: row for row in repository.report("report.json")["verdict"]["rows"]}
    assert (rows["asked again"]["broke"], rows["asked again"]["gated"]) == (0, False)
    assert "asked again of the head alone: shown, and decides nothing" in ran.stdout


def test_shards_bring_their_base_along(repository: Shop) -> None:
    write_side(repository, "head", RIGHT | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG), policy="{confirm: true}")
    for part in (1, 2):
        ran = repository.gate("run", "--shard", f"{part}/2", "--out", f"shard-{part}")
        assert ran.returncode in {0, 1}, ran.stdout + ran.stderr
    ran = repository.gate("merge", "shard-1/run.json", "shard-2/run.json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "4 broke, 0 fixed of 6 items" in ran.stdout
    assert "4 questions that changed asked again of both sides" in ran.stdout
    (repository.folder / "shard-2" / "base.json").unlink()
    ran = repository.gate("merge", "shard-1/run.json", "shard-2/run.json")
    assert (ran.returncode, "shard 2/2 is missing" in ran.stderr) == (2, True)


SERVICE = """
dataset: items.json
setup_directory: setup
model: {{generator: http_json, url: "{head}", request: '{{"id": {{{{ id | tojson }}}}}}', sql_path: $.sql, name: service}}
baseline: "endpoint:{base}"
"""


@contextmanager
def service(answers: dict[str, str]) -> Iterator[str]:
    """A service that answers by id; its address."""

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            said = json.dumps({"sql": answers.get(asked.get("id", ""), "SELECT 1")}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/ask"
        finally:
            server.shutdown()
            thread.join()


def test_a_second_endpoint_is_asked_beside_the_first(shop: Shop) -> None:
    broken = RIGHT | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG)
    with service(broken) as head, service(RIGHT) as base:
        (shop.folder / "nl2sql-gate.yml").write_text(SERVICE.format(head=head, base=base))
        ran = shop.gate("run")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "4 broke, 0 fixed of 6 items" in ran.stdout
    assert f"compared with {base}, asked in the same run" in ran.stdout
