"""The run command as a user meets it: what it writes, how it stops, how it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shop import Shop


def test_help_answers_at_once() -> None:
    """0.25 s is what the benchmark holds; here only that no heavy module is loaded."""
    code = "import sys; from nl2sql_gate.cli import exit_code; exit_code(['--help']); print(sorted(m for m in ('numpy', 'sqlalchemy', 'pydantic', 'openai', 'sqlglot', 'rich', 'jinja2', 'scipy') if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip().endswith("[]")


def test_the_files_are_written_whole_and_say_what_they_are(shop: Shop) -> None:
    assert shop.run().returncode == 0
    run, baseline, report = shop.report("run.json"), shop.report("baseline.json"), shop.report("report.json")
    assert run["format"] == "nl2sql-gate/run/v1"
    assert baseline["format"] == "nl2sql-gate/baseline/v1"
    assert report["format"].startswith("nl2sql-gate/report/v1")
    assert [case["id"] for case in run["cases"]] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert "reply" not in baseline["cases"][0]
    assert "result" not in baseline["cases"][0]


def test_only_runs_that_case_and_is_compared_on_it_alone(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    ran = shop.run("--only", "q2:sqlite", "--baseline", "baseline.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [case["id"] for case in shop.report()["cases"]] == ["q2"]
    # Lines are folded where they end, and a folder with a long name moves the ends.
    assert "1 of its 6 cases" in " ".join(ran.stdout.split())


def test_a_filtered_run_cannot_become_the_baseline(shop: Shop) -> None:
    assert shop.run("--only", "q2").returncode == 0
    refused = shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json")
    assert refused.returncode == 2
    assert "partial" in refused.stderr
    assert not (shop.folder / "baseline.json").exists()


def test_a_failing_run_becomes_the_baseline_only_by_name(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies(dict.fromkeys(shop.replies, "SELECT 1"))
    assert shop.run("--baseline", "baseline.json").returncode == 1
    refused = shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json")
    assert (refused.returncode, "fail" in refused.stderr) == (2, True)
    assert (
        shop.gate(
            "bless", "nl2sql-gate-out/run.json", "--to", "baseline.json", "--accept-drop", "the old prompt cheated"
        ).returncode
        == 0
    )
    assert "the old prompt cheated" in (shop.folder / "baseline.json").read_text()


def test_the_plan_starts_nothing_and_counts(shop: Shop) -> None:
    ran = shop.gate(
        "plan",
        "--dataset",
        "items.json",
        "--setup-directory",
        "setup",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--trials",
        "2",
    )
    assert ran.returncode == 0, ran.stderr
    assert "cases     12: 6 on sqlite" in ran.stdout
    assert "calls     12" in ran.stdout


def test_a_case_that_cannot_be_measured_is_neither_right_nor_wrong(shop: Shop) -> None:
    shop.write_replies({name: text for name, text in shop.replies.items() if name != "q3"})
    shop.run()
    cases = {case["id"]: case for case in shop.report()["cases"]}
    assert cases["q3"]["outcome"] == "unscored"
    assert cases["q3"]["scores"] == {}


def test_a_write_in_a_question_is_refused_by_the_database(shop: Shop) -> None:
    shop.write_replies({**shop.replies, "q1": "```sql\nDELETE FROM customer\n```"})
    shop.run()
    cases = {case["id"]: case for case in shop.report()["cases"]}
    assert cases["q1"]["outcome"] == "sql_error"
    assert cases["q2"]["scores"]["execution_accuracy"]["value"] == 1.0


def test_an_endless_query_is_a_timeout_and_burns_nothing_after_it(shop: Shop) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
    shop.write_replies({**shop.replies, "q1": endless})
    started = time.monotonic()
    ran = shop.run("--set", "limits.statement_s=2")
    assert ran.returncode == 0, ran.stderr
    assert time.monotonic() - started < 20
    case = next(case for case in shop.report()["cases"] if case["id"] == "q1")
    assert case["outcome"] == "timeout"
    assert 2.0 <= case["sql_s"] <= 2.5


def test_an_interrupt_ends_with_130_and_the_next_run_pays_only_for_the_rest(shop: Shop) -> None:
    """The endpoint answers three questions and hangs on the others; after Ctrl-C it answers all."""
    base = [
        "run",
        "--dataset",
        "items.json",
        "--setup-directory",
        "setup",
        "--model",
        "recorded",
        "--api-key",
        "k",
        "--concurrency",
        "1",
    ]
    command = [sys.executable, "-m", "nl2sql_gate", *base]
    with shop.endpoint("--fault", "hang:q4") as address:
        with subprocess.Popen([*command, "--base-url", address], cwd=shop.folder, stderr=subprocess.PIPE, text=True) as gate:
            deadline = time.monotonic() + 30
            while sum(len(path.read_text().splitlines()) for path in (shop.folder / "nl2sql-gate-out").glob("replies*")) < 3:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            gate.send_signal(signal.SIGTERM)
            _, said = gate.communicate(timeout=30)
        assert gate.returncode == 130, said
    with shop.endpoint("--port", address.rsplit(":", 1)[1].partition("/")[0]) as address:
        ran = shop.gate(*base, "--base-url", address)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [case.get("replayed", False) for case in shop.report()["cases"]] == [True, True, True, False, False, False]


@pytest.mark.parametrize(("secret_in", "arguments"), [("api key", ["--api-key", "sk-planted-secret-0042"])])
def test_a_planted_secret_is_in_no_output(shop: Shop, secret_in: str, arguments: list[str]) -> None:
    shop.write_replies({**shop.replies, "q1": "SELECT 'sk-planted-secret-0042'"})
    ran = shop.run(*arguments)
    everything = ran.stdout + ran.stderr + "".join(path.read_text() for path in (shop.folder / "nl2sql-gate-out").iterdir())
    assert "sk-planted-secret-0042" not in everything
    assert "***" in everything


def test_in_actions_summary_outputs_and_annotations_are_written(shop: Shop, tmp_path: Path) -> None:
    summary, output = tmp_path / "summary.md", tmp_path / "output.txt"
    shop.write_replies({**shop.replies, "q2": "SELECT 'nobody'"})
    shop.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
        "CI": "true",
    }
    ran = shop.run("--set", "policy.required.ids=[q2]")
    assert ran.returncode == 1, ran.stderr
    assert "NL2SQL gate" in summary.read_text()
    assert "verdict" in output.read_text()
    lines = [line for line in ran.stdout.splitlines() if line.startswith("::")]
    assert any(line.startswith("::error") for line in lines)
    assert any("file=items.json" in line and "q2" in line for line in lines)


def test_a_fork_without_secrets_warns_and_passes(shop: Shop, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps(
            {
                "pull_request": {
                    "number": 1,
                    "head": {"sha": "a" * 40, "ref": "x", "repo": {"full_name": "someone/shop", "fork": True}},
                    "base": {"sha": "b" * 40, "ref": "main"},
                },
                "repository": {"full_name": "org/shop", "default_branch": "main"},
            }
        )
    )
    (shop.folder / "nl2sql-gate.yml").write_text("model: {base_url: '${MODEL_URL}', name: m, api_key: '${KEY}'}\n")
    shop.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "org/shop",
        "KEY": "",
    }
    arguments = ("run", "--dataset", "items.json", "--setup-directory", "setup")
    ran = shop.gate(*arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no credentials" in ran.stdout
    shop.environment.pop("GITHUB_EVENT_NAME")
    elsewhere = shop.gate(*arguments)
    assert elsewhere.returncode == 2, elsewhere.stdout + elsewhere.stderr


def test_an_output_folder_that_cannot_be_written_is_said(shop: Shop) -> None:
    (shop.folder / "blocked").write_text("a file")
    ran = shop.run("--out", "blocked")
    assert ran.returncode in {2, 4}
    assert "blocked" in ran.stderr
    assert os.path.isfile(shop.folder / "blocked")  # noqa: PTH113 - the file must still be there, whatever it is


def test_scorers_take_options_and_stand_under_several_names(shop: Shop) -> None:
    options = "scorers={joins: {type: evalbench_regexp_matcher, regexp_string_list: [JOIN]}, ends: {type: evalbench_regexp_matcher, regexp_string_list: ['ORDER BY']}}"
    assert shop.run("--set", "metrics=[execution_accuracy, joins, ends]", "--set", options).returncode == 0
    scores = {case["id"]: {name: score["value"] for name, score in case["scores"].items()} for case in shop.report()["cases"]}
    assert scores["q4"] == {"execution_accuracy": 1.0, "joins": 1.0, "ends": 0.0}
    assert scores["q6"] == {"execution_accuracy": 1.0, "joins": 0.0, "ends": 1.0}


@pytest.mark.parametrize(
    ("assignments", "says"),
    [
        (["metrics=[execution_accuracy, command]", "scorers={command: {programme: x}}"], "programme"),
        (["scorers={joins: {type: command}}"], "not under metrics"),
        (
            [
                "metrics=[llm_judge]",
                "policy.primary=llm_judge",
                "scorers={llm_judge: {model: m, base_url: 'http://127.0.0.1:9/v1', api_key: k}}",
            ],
            "never decides alone",
        ),
    ],
)
def test_wrong_options_of_scorers_stop_the_run(shop: Shop, assignments: list[str], says: str) -> None:
    ran = shop.run(*(part for each in assignments for part in ("--set", each)))
    assert (ran.returncode, says in ran.stderr) == (2, True), ran.stderr
