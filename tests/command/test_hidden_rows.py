"""`show_rows: false`: a value that stands in a cell is in no output, whatever could quote it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from shop import SETUP, Shop, item

PLANTED = "Zyxwvut4711"
NUMBER = "8675309"
TECHNIQUES = (
    *("exact_column_and_exact_cell", "exact_column_and_partial_cell", "no_column_and_partial_cell"),
    *("semantic_column_and_partial_cell", "unified_column_and_semantic_row"),
)
METRICS = (
    *("execution_accuracy", "execution_accuracy_bird", "execution_accuracy_spider", "soft_f1_bird", "r_ves", "exact_match"),
    *("evalbench_exact_match", "evalbench_set_match", "evalbench_recall_match", "echo"),
    *(f"{technique}_{part}" for technique in TECHNIQUES[:3] for part in ("exp", "exr", "f1")),
)
ECHO = """
import json, sys
case = json.load(sys.stdin)
rows = case["generated"]["result"]["rows"]
if case["id"] == "order":
    sys.exit(f"no score for {rows}")
print(json.dumps({"score": 0.5, "reason": f"the rows are {rows}"}))
"""
ANSWERS = {
    # Every way in which a result can differ, so that every reason is written.
    "names": ("SELECT name FROM customer", "SELECT name FROM customer WHERE id > 1"),
    "more": ("SELECT name, city FROM customer WHERE id > 1", "SELECT name, city FROM customer"),
    "values": ("SELECT id, name FROM customer", "SELECT id, city FROM customer"),
    "order": ("SELECT name FROM customer ORDER BY id", "SELECT name FROM customer ORDER BY id DESC"),
    "columns": ("SELECT id, name FROM customer", "SELECT name, id FROM customer"),
    "extra": ("SELECT name FROM customer", "SELECT name, city FROM customer"),
    "numbers": ("SELECT amount FROM purchase", "SELECT amount + 0.5 FROM purchase"),
    "cast": ("SELECT id FROM customer", "SELECT CAST(name AS INTEGER) FROM customer"),
    "golden": ("SELECT CAST(name AS INTEGER) FROM customer", "SELECT 1"),
    "right": ("SELECT name FROM customer", "SELECT name FROM customer"),
}


@pytest.fixture
def planted(tmp_path: Path) -> Shop:
    """The shop with a customer and an amount that no SQL names, in SQLite and in DuckDB, whose errors quote values."""
    shop = Shop.open(tmp_path)
    shop.items = [
        item(name, f"Question {name}?", golden, dialects=["sqlite", "duckdb"], golden_sql=golden)
        for name, (golden, _) in ANSWERS.items()
    ]
    effect = "UPDATE customer SET city = 'Rome' WHERE id = 2"
    dml = {"query_type": "dml", "eval_query": ["SELECT * FROM customer"], "golden_sql": effect, "dialects": ["sqlite"]}
    shop.items.append({**item("effect", "Move Bo to Rome?", effect), **dml})
    shop.replies = {name: f"```sql\n{answer};\n```" for name, (_, answer) in ANSWERS.items()}
    shop.replies["effect"] = "UPDATE customer SET city = name"
    shop.write()
    setup = tmp_path / "setup" / "shop"
    (setup / "duckdb").mkdir()
    (setup / "duckdb" / "setup.sql").write_text(SETUP)
    (setup / "data" / "customer.csv").write_text(f"1,'{PLANTED}','Oslo'\n2,'Bo','{PLANTED}'\n3,'Cy',NULL\n4,'Di','Oslo'\n")
    (setup / "data" / "purchase.csv").write_text(f"1,1,{NUMBER},1\n2,1,20,0\n")
    (tmp_path / "echo.py").write_text(ECHO)
    return shop


def _everything(shop: Shop, show: str) -> tuple[dict[str, str], str]:
    """The text of every output by its name, and of `run.json`."""
    outside = {name: shop.folder / f"{name}.txt" for name in ("summary", "output")}
    shop.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_STEP_SUMMARY": str(outside["summary"]),
        "GITHUB_OUTPUT": str(outside["output"]),
    }
    scorers = f"scorers={{echo: {{type: command, command: [{sys.executable}, echo.py]}}}}"
    settings = (f"metrics=[{', '.join(METRICS)}]", scorers, f"report.show_rows={show}", "policy.min_coverage=0.1")
    baseline = shop.folder / "baseline.json"
    shop.write_replies({**shop.replies, **{name: golden for name, (golden, _) in ANSWERS.items()}}, "right.jsonl")
    common = ("run", "--dataset", "items.json", "--setup-directory", "setup", "--set", "limits.max_golden_errors=1")
    first = shop.gate(*common, "--replies", "right.jsonl", "--out", "first")
    baseline.write_bytes((shop.folder / "first" / "run.json").read_bytes())
    for path in outside.values():
        path.unlink(missing_ok=True)
    assignments = [part for each in settings for part in ("--set", each)]
    ran = shop.gate(*common, "--replies", "replies.jsonl", "--baseline", str(baseline), *assignments)
    assert ran.returncode in {0, 1, 3}, first.stderr + ran.stderr
    texts = {path.name: path.read_text() for path in (shop.folder / "nl2sql-gate-out").iterdir() if path.is_file()}
    run = texts.pop("run.json")
    again = {
        f"report --format {name}": shop.gate(
            "report", "nl2sql-gate-out/run.json", "--format", name, "--config", "hidden.yml", "--baseline", str(baseline)
        ).stdout
        for name in ("terminal", "markdown", "html", "json", "junit")
        if show == "false"
    }
    texts |= {"stdout": ran.stdout, "stderr": ran.stderr, **{name: path.read_text() for name, path in outside.items()}, **again}
    return texts, run


def test_a_value_of_a_cell_is_in_no_output(planted: Shop) -> None:
    (planted.folder / "hidden.yml").write_text("version: 1\nreport: {show_rows: false}\n")
    texts, run = _everything(planted, "false")
    assert {"report.html", "report.json", "summary.md", "junit.xml", "baseline.json", "comment.md", "summary", "stdout"} <= set(
        texts
    )
    for name, text in texts.items():
        assert PLANTED not in text, name
        assert NUMBER not in text, name
    assert PLANTED in run
    cases = json.loads(texts["report.json"])["cases"]
    assert {case["outcome"] for case in cases} >= {"answered", "sql_error", "golden_error"}
    kept = next(case for case in cases if (case["id"], case["dialect"]) == ("names", "sqlite"))["scores"]
    assert kept["execution_accuracy"]["reason"]["message"] == "1 row missing of 4"
    assert kept["execution_accuracy"]["reason"]["detail"]["missing_rows"] == 1
    assert kept["echo"]["reason"]["message"] == "command; the scorer's words may quote rows"
    assert "Could not convert string '…' to INT32" in texts["report.json"]


def test_the_same_run_shows_it_where_rows_may_be_shown(planted: Shop) -> None:
    texts, _ = _everything(planted, "true")
    for name in ("report.html", "report.json", "summary.md", "stdout"):
        assert PLANTED in texts[name], name
