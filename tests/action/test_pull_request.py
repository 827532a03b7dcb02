"""The wired action beside GitHub: one comment in the end or a warning, and always the same verdict."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from nl2sql_gate.github import comment_body

from action_step import HEAD, Step, pull_request
from github_standin import Fault

REQUIRED = "policy.required.ids=[q1]"


def test_the_first_comment_then_an_update_in_place_with_what_was_said_before(blessed: Step) -> None:
    code, log = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    assert "comment on pull request 5 created" in log
    assert blessed.output["verdict"] == "fail"
    assert blessed.github.own()[0].startswith("<!-- nl2sql-gate:v1 gate=nl2sql -->")
    blessed.shop.write_replies(blessed.shop.replies)
    code, log = blessed.run(payload=pull_request(head="d" * 40), baseline="baseline.json", set=REQUIRED)
    assert code == 0, log
    assert "comment on pull request 5 updated" in log
    assert len(blessed.github.own()) == 1
    assert "🟢" in blessed.github.own()[0]
    assert "Earlier: fail at `aaaaaaaa`" in blessed.github.own()[0]


def test_a_green_run_is_quiet(blessed: Step) -> None:
    blessed.shop.write_replies(blessed.shop.replies)
    code, log = blessed.run(baseline="baseline.json")
    assert code == 0, log
    assert blessed.github.own() == []
    assert "POST" not in blessed.github.methods()


@pytest.mark.parametrize(("mode", "comments"), [("off", 0), ("regressions", 1), ("changes", 1), ("always", 1)])
def test_when_a_comment_is_made(blessed: Step, mode: str, comments: int) -> None:
    code, _ = blessed.run(baseline="baseline.json", comment=mode, set=REQUIRED)
    assert code == 1
    assert len(blessed.github.own()) == comments
    assert mode != "off" or blessed.github.requests == []


def test_403_is_a_warning_with_the_permission_to_add_and_the_verdict_stands(blessed: Step) -> None:
    blessed.github.faults.append(Fault("POST", "comments", 403, message="Resource not accessible by integration", times=99))
    code, log = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    warning = next(line for line in log.splitlines() if line.startswith("::warning title=nl2sql-gate::"))
    assert "403" in warning
    assert "pull-requests: write" in warning
    assert "### 🔴" in blessed.summary
    assert blessed.output["verdict"] == "fail"
    assert blessed.file("comment.md").startswith("<!-- nl2sql-gate:v1")


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "comments", 403, {"Retry-After": "1"}, "You have exceeded a secondary rate limit"),
        Fault("POST", "comments", 429, {"Retry-After": "0"}),
        Fault("GET", "comments", 502),
        Fault("POST", "comments", 500, carried_out=True),
    ],
    ids=["secondary limit", "429", "502", "an answer that got lost"],
)
def test_one_comment_in_the_end_whatever_the_platform_does_meanwhile(blessed: Step, fault: Fault) -> None:
    blessed.github.faults.append(fault)
    code, log = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    assert len(blessed.github.own()) == 1


@pytest.mark.parametrize("status", [422, 404, 410])
def test_what_github_refuses_for_good_is_a_warning(blessed: Step, status: int) -> None:
    blessed.github.faults.append(Fault("POST", "comments", status, times=99))
    code, log = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    assert "::warning title=nl2sql-gate::" in log
    assert "The verdict stands" in log


def test_the_comment_on_page_seven_is_edited(blessed: Step) -> None:
    for number in range(640):
        blessed.github.add_comment(f"comment {number}")
    blessed.github.add_comment(comment_body.marker("nl2sql"), "github-actions[bot]")
    blessed.github.add_comment(comment_body.marker("nl2sql"), "someone")
    code, _ = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1
    assert len(blessed.github.own()) == 1
    assert "🔴" in blessed.github.own()[0]
    assert "POST" not in blessed.github.methods()


def test_a_comment_that_is_deleted_in_between_is_made_again(blessed: Step) -> None:
    github = blessed.github
    github.add_comment(comment_body.marker("nl2sql"), github.login)
    github.before_write = github.comments.clear
    code, log = blessed.run(baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    assert len(github.own()) == 1


def test_two_legs_of_a_matrix_at_once_share_one_comment(blessed: Step) -> None:
    legs = ('{"dialect": "sqlite", "python": 3.12}', '{"dialect": "postgres", "python": 3.12}')
    started = [blessed.start(baseline="baseline.json", leg=leg, out=f"out{n}", set=REQUIRED) for n, leg in enumerate(legs)]
    for process in started:
        log, _ = process.communicate(timeout=120)
        assert process.returncode == 1, log
    assert len(blessed.github.own()) == 1
    sections = comment_body.sections(blessed.github.own()[0])
    assert set(sections) == {"sqlite%203.12", "postgres%203.12"}
    assert "(sqlite 3.12)" in sections["sqlite%203.12"].text


@pytest.mark.parametrize("event", ["push", "merge_group", "workflow_dispatch", "schedule"])
def test_other_events_are_not_commented(blessed: Step, event: str) -> None:
    payload = {"merge_group": {"head_sha": HEAD, "base_sha": "b" * 40}} if event == "merge_group" else {"ref": "refs/heads/main"}
    code, log = blessed.run(event, payload, baseline="baseline.json", set=REQUIRED)
    assert code == 1, log
    assert blessed.github.requests == []
    assert "### 🔴" in blessed.summary
    assert not (blessed.shop.folder / "nl2sql-gate-out" / "pr.json").exists()


def test_the_check_run_is_made_on_demand_with_annotations_at_the_datasets_lines(blessed: Step) -> None:
    code, log = blessed.run(baseline="baseline.json", check_run="true", set=REQUIRED)
    assert code == 1, log
    check = blessed.github.checks[0]
    assert (check["name"], check["conclusion"], check["head_sha"]) == ("nl2sql-gate nl2sql", "failure", HEAD)
    assert {each["path"] for each in check["batches"][0]} == {"items.json"}
    assert "details_url" in check


def test_without_the_permission_for_checks_there_is_a_warning_and_the_comment_all_the_same(blessed: Step) -> None:
    blessed.github.faults.append(Fault("POST", "check-runs", 403))
    code, log = blessed.run(baseline="baseline.json", check_run="true", set=REQUIRED)
    assert code == 1, log
    assert "checks: write" in log
    assert len(blessed.github.own()) == 1


def test_without_a_token_there_is_a_warning(blessed: Step) -> None:
    code, log = blessed.run(baseline="baseline.json", github_token="", set=REQUIRED)
    assert code == 1, log
    assert "::warning title=nl2sql-gate::there is no token" in log


def test_a_refused_token_is_a_warning(blessed: Step) -> None:
    code, log = blessed.run(baseline="baseline.json", github_token="ghs_of_somebody_else", set=REQUIRED)
    assert code == 1, log
    assert "401" in log
    assert "ghs_of_somebody_else" not in log.replace("::add-mask::ghs_of_somebody_else", "")


def test_the_outputs_name_every_metric_with_its_delta_and_every_file(blessed: Step) -> None:
    blessed.run(baseline="baseline.json", set=REQUIRED)
    output = blessed.output
    assert output["broke"] == "2"
    assert output["fixed"] == "0"
    assert output["cases"] == output["measured"] == "6"
    assert output["execution_accuracy"] == "0.666667"
    assert output["execution_accuracy_delta"] == "-0.333333"
    metrics: Any = json.loads(output["metrics"])
    assert metrics["execution_accuracy_bird"] == {"delta": -0.333333, "value": 0.666667}
    for name in ("run_file", "summary_file", "comment_file", "html_file", "json_file", "junit_file"):
        assert (blessed.shop.folder / output[name]).is_file()


def test_the_first_things_printed_are_masks(step: Step) -> None:
    _, log = step.run(api_key="sk-planted-value-1")
    lines = log.splitlines()
    masks = [number for number, line in enumerate(lines) if line.startswith("::add-mask::")]
    assert "::add-mask::sk-planted-value-1" in lines
    assert masks[: len(set(masks))][0] == 0


def test_a_usage_error_is_an_annotation_and_a_summary_too(step: Step) -> None:
    code, log = step.run(dataset="absent.json")
    assert code == 2
    assert "::error title=nl2sql-gate" in log
    assert "no verdict" in step.summary
    assert step.output == {"verdict": "no_verdict", "exit_code": "2"}


def test_a_cancelled_run_says_so_in_the_summary_and_leaves_the_comment_alone(blessed: Step) -> None:
    blessed.github.add_comment(comment_body.marker("nl2sql"), blessed.github.login)
    with blessed.shop.endpoint("--fault", "hang:*") as address:
        process = blessed.start(replies="", base_url=address, model="m", baseline="baseline.json")
        try:
            # The journal is there as soon as questions are asked.
            until = time.monotonic() + 60
            while not (blessed.shop.folder / "nl2sql-gate-out").exists() and time.monotonic() < until:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            log, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, log
    assert "cancelled" in blessed.summary
    assert blessed.github.requests == []
