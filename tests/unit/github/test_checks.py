"""Check runs: never neutral, annotations in batches, troubles as words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nl2sql_gate.github.annotations import Annotation
from nl2sql_gate.github.checks import Check, publish
from nl2sql_gate.github.client import Client
from nl2sql_gate.records import Place

CHECK = Check(
    "nl2sql-gate (orders-eval)", "a" * 40, passed=False, title="fail\x1b[31m", summary="text", details_url="https://host/run"
)


@pytest.mark.parametrize(("passed", "conclusion"), [(True, "success"), (False, "failure")])
def test_the_conclusion_is_what_the_exit_code_says(github: Any, client: Client, passed: bool, conclusion: str) -> None:
    assert "created" in publish(client, replace(CHECK, passed=passed)).words
    assert github.checks[0]["conclusion"] == conclusion
    assert github.checks[0]["output"]["title"] == "fail"


def test_annotations_come_in_batches_of_fifty(github: Any, client: Client) -> None:
    annotations = [Annotation("warning", f"m{n}" * 3000, "t", Place("items.json", n)) for n in range(120)] + [
        Annotation("error", "nowhere")
    ]
    publish(client, replace(CHECK, annotations=annotations))
    assert [len(batch) for batch in github.checks[0]["batches"]] == [50, 50, 20]
    assert github.checks[0]["batches"][0][0]["start_line"] == 1


def test_403_is_words_with_the_permission(github: Any, client: Client, faults: Any) -> None:
    faults("POST", "check-runs", 403, message="Resource not accessible by integration")
    published = publish(client, CHECK)
    assert published.failed
    assert "checks: write" in published.words
