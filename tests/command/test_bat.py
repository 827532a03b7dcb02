"""EvalBench's own dataset through the real command, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.server

GOLDEN_ERRORS = {
    ("200", "sqlite"): "UNIQUE constraint failed",
    ("200", "postgres"): "duplicate key value",
    ("43", "sqlite"): "CHECK constraint failed",
    ("43", "postgres"): 'column "comments_description"',
    ("185", "sqlite"): "post_content",
    ("185", "postgres"): "post_content",
}


class Bat:
    """Runs of the dataset in one folder."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder = folder
        self.data = data / "data"
        # Short: the path of a server's socket may hold 107 characters.
        self.temporary = Path(tempfile.mkdtemp(prefix="bat"))
        self.temporary.chmod(0o755)

    def gate(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nl2sql_gate", *arguments],
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def run(self, model: str, out: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        bat = self.data / "evalbench-bat"
        return self.gate(
            "run",
            "--dataset",
            str(bat / "prompts.json"),
            "--setup-directory",
            str(bat / "setup"),
            "--dialect",
            "sqlite",
            "--dialect",
            "postgres",
            "--replies",
            str(self.data / "replies" / f"bat_{model}.jsonl"),
            "--out",
            out,
            *arguments,
        )

    def report(self, out: str, name: str = "run.json") -> Any:
        return json.loads((self.folder / out / name).read_text())


@pytest.fixture(scope="module")
def bat(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bat]:
    """The dataset, run once with model a, which then stands as the baseline."""
    given = Bat(tmp_path_factory.mktemp("bat"), shared_data)
    ran = given.run("model_a", "a")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    blessed = given.gate("bless", "a/run.json", "--to", "baseline.json")
    assert blessed.returncode == 0, blessed.stderr
    yield given
    given.temporary.rmdir()


def test_every_case_has_one_outcome_and_they_add_up(bat: Bat) -> None:
    cases = bat.report("a")["cases"]
    assert len(cases) == 46
    assert Counter(case["outcome"] for case in cases) == {"answered": 40, "golden_error": 6}


def test_every_golden_error_is_named_with_the_databases_message(bat: Bat) -> None:
    failed = {
        (case["id"], case["dialect"]): case["reason"]["message"]
        for case in bat.report("a")["cases"]
        if case["outcome"] == "golden_error"
    }
    assert failed.keys() == GOLDEN_ERRORS.keys()
    assert [key for key, words in GOLDEN_ERRORS.items() if words not in failed[key]] == []


def test_a_weaker_model_fails_and_what_broke_is_listed(bat: Bat) -> None:
    ran = bat.run("model_b", "b", "--baseline", "baseline.json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    verdict = bat.report("b")["verdict"]
    assert verdict["status"] == "fail"
    broke = re.findall(r"^  (\S+) \[(sqlite|postgres)\][^:]*: (.+)$", ran.stdout[ran.stdout.index("broke (") :], re.MULTILINE)
    assert ("3", "sqlite") in {(item, dialect) for item, dialect, _ in broke}
    assert any("no such function: YEAR" in why for _, _, why in broke)
    before = {(case["id"], case["dialect"]): case for case in bat.report("a")["cases"]}
    after = {(case["id"], case["dialect"]): case for case in bat.report("b")["cases"]}
    expected = {key for key in before if passed(before[key]) and not passed(after[key])}
    assert len(expected) >= 10
    assert expected <= {(item, dialect) for item, dialect, _ in broke}


def passed(case: Any) -> bool:
    return case["scores"].get("execution_accuracy", {}).get("value") == 1.0


def test_the_same_model_passes_and_the_same_run_gives_the_same_bytes(bat: Bat) -> None:
    """But for provenance and timings, as the format says."""
    for out in ("same", "again"):
        ran = bat.run("model_a", out, "--baseline", "baseline.json")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stdout.startswith("PASS")
    for name in ("summary.md", "report.json", "run.json", "junit.xml", "report.html"):
        one, other = ((bat.folder / out / name).read_text() for out in ("same", "again"))
        assert without_clock(one) == without_clock(other), name


def without_clock(text: str) -> str:
    text = re.sub(r'"(latency_s|sql_s|golden_s|duration_s|elapsed_s)": ?[0-9.e-]+', r'"\1": 0', text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)", "<time>", text)
    text = re.sub(r"(same|again)/(run\.json|replies\.jsonl)", r"out/\2", text)
    text = re.sub(r'"[0-9.]+ (s|ms|µs)"', '"0 s"', text)
    return re.sub(r'time="[0-9.]+"', 'time="0"', text)


def test_the_engines_are_in_the_provenance(bat: Bat) -> None:
    engines = bat.report("a")["provenance"]["fingerprint"]["engines"]
    assert engines["sqlite"]["product"] == "SQLite"
    assert engines["postgres"]["product"] == "PostgreSQL"
    assert engines["postgres"]["way"] == "embedded"


def test_nothing_is_left_behind(bat: Bat) -> None:
    """No server process, no data directory: the folder for temporary files is this test's own."""
    assert list(bat.temporary.iterdir()) == []
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert [line for line in shown.splitlines() if str(bat.temporary) in line] == []
