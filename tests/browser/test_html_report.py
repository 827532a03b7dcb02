"""The HTML report in a real browser: every control used, nothing fetched, nothing on the console, accessible, fast."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reports import case, report_on

from nl2sql_gate.records import CaseResult, Reason, ResultSet, SqlError
from nl2sql_gate.reporters.html import HtmlReporter
from nl2sql_gate.reporters.report import Report, Trend

HERE = Path(__file__).parent
COLUMNS = ("id", "name", "total")
GOLDEN = ResultSet(COLUMNS, tuple((n, f"name {n}", n * 10) for n in range(5)))
WRONG = ResultSet(COLUMNS, tuple((n, f"name {n}", n * 10 + (n == 2)) for n in range(4)))
EVIL = "</script><script>alert('x')</script><img src=https://evil.example/x onerror=alert(1)>"


@pytest.fixture(scope="session")
def browser() -> dict[str, str]:
    """Node, Chromium and the packages of package.json, which are installed once into this folder."""
    node, npm = shutil.which("node"), shutil.which("npm")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if node is None or npm is None or chromium is None:
        pytest.skip("needs node, npm and chromium")
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        done = subprocess.run([npm, "ci", "--silent"], cwd=HERE, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"npm ci failed: {done.stderr[-300:]}")
    return {"node": node, "chromium": chromium}


def _case(number: int, dialect: str, value: int, **changes: Any) -> CaseResult:
    sql = (
        f"SELECT c.id, c.name, SUM(o.total) AS total FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.id = {number}"
    )
    return case(
        f"orders-{number:05d}",
        value,
        dialect=dialect,
        question=f"What did customer number {number} order in all, by name?",
        sql=sql + (" ORDER BY total" if value else " ORDER BY c.name"),
        golden_sql=(sql.replace("JOIN", "LEFT JOIN") + " ORDER BY total DESC",),
        reply=f"Here it is:\n```sql\n{sql}\n```",
        result=GOLDEN if value else WRONG,
        golden_result=GOLDEN,
        result_rows=5 if value else 4,
        golden_rows=5,
        latency_s=0.2 + (number % 37) / 20,
        cost=0.001,
        tags=(*(("joins", "money") if number % 3 else ("dates",)), f"kind-{number % 60}"),
        **changes,
    )


def _report(items: int) -> Report:
    dialects = ("sqlite", "postgres", "mysql")
    base = [_case(n, dialect, int(n % 7 != 0)) for n in range(items) for dialect in dialects]
    head = [
        _case(n, dialect, int(n % 7 != 0 and not (n % 11 == 0 and dialect == "mysql")))
        for n in range(items)
        for dialect in dialects
    ]
    head[4] = replace(head[4], outcome="sql_error", error=SqlError("not in GROUP BY clause", "1055"), result=None)
    head[8] = replace(head[8], outcome="unscored", scores={}, reason=Reason("endpoint", "HTTP 503"))
    head[10] = replace(head[10], outcome="golden_error", scores={}, reason=Reason("golden", "no such column: totl"))
    head[12] = replace(head[12], question=EVIL, sql=f"SELECT '{EVIL}'", reply=EVIL, tags=(EVIL,), reason=Reason("x", EVIL))
    history = tuple(Trend(f"run {n}", 0.8 + n / 100, 200, "pass") for n in range(8))
    return report_on(head, base, required=frozenset({"orders-00011"}), history=history, hints=(EVIL,), provenance=(EVIL,))


def _drive(browser: dict[str, str], report: Report, folder: Path) -> dict[str, Any]:
    page = folder / "report.html"
    page.write_text(HtmlReporter().render(report), encoding="utf-8")
    command = [browser["node"], str(HERE / "drive_report.mjs"), str(HERE), browser["chromium"], str(page), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.fixture(scope="module")
def seen(browser: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a visit to a report of 300 cases saw."""
    return _drive(browser, _report(100), tmp_path_factory.mktemp("report"))


def test_nothing_is_fetched_run_or_complained_about(seen: dict[str, Any]) -> None:
    assert (seen["requests"], seen["dialogs"], seen["console"]) == ([], [], [])


def test_it_is_accessible_in_light_in_dark_and_on_a_phone(seen: dict[str, Any]) -> None:
    assert seen["axe"] == {"light": [], "dark": [], "phone": []}
    assert seen["overflow"]["phone"] <= 0
    assert len(seen["phone_rows"]) > 8
    assert set(seen["phone_rows"]) == {1}, "the cells of one row lie side by side"


def test_the_cases_are_not_pages_down(seen: dict[str, Any]) -> None:
    assert seen["cases_at"] < 2600


def test_it_opens_on_what_broke_and_every_filter_counts(seen: dict[str, Any]) -> None:
    assert seen["first"] == "9 of 300 cases"
    assert seen["all"] == "300 cases"
    assert seen["filtered_change"] == ["broke", "9 of 300 cases"]
    assert seen["filtered_outcome"] == ["golden_error", "1 of 300 cases"]
    assert seen["filtered_dialect"] == ["mysql", "100 of 300 cases"]
    assert seen["searched"] == "30 of 300 cases"
    assert seen["nothing"] == "0 of 300 cases"


def test_every_column_sorts_both_ways(seen: dict[str, Any]) -> None:
    directions = {by: (up[0], down[0]) for by, (up, down) in seen["sorts"].items()}
    assert set(directions.values()) == {("ascending", "descending")}
    assert len(directions) == 8
    assert seen["sorts"]["id"] == [["ascending", "orders-00000"], ["descending", "orders-00099"]]
    assert seen["pages"] == ["page 2 of 6", True, "page 1 of 6"]


def test_a_case_opens_from_the_keyboard_and_shows_what_differs(seen: dict[str, Any]) -> None:
    assert seen["expanded"] == ["true", 1]
    assert seen["marked"] == ["LEFT", "total", "DESC", "c.name"]
    assert seen["cells"] == ["20", "21"]
    assert seen["lost_rows"] == 1
    assert seen["against_baseline"] == "The baseline's SQL"
    assert "--only orders-00000:sqlite" in seen["detail"]
    assert seen["copied"] in {"Copied", "Selected"}
    assert seen["closed"] == [0, "open"]


def test_a_link_leads_to_its_case(seen: dict[str, Any]) -> None:
    assert seen["hash"] == "#case/orders-00000/sqlite/shop/0"
    assert seen["linked"] == [1, "orders-00000"]


def test_20000_cases_stay_usable(browser: dict[str, str], tmp_path: Path) -> None:
    visit = _drive(browser, _report(6667), tmp_path)
    assert visit["console"] == []
    assert visit["load_ms"] < 3000
    assert max(visit["filter_ms"], visit["second_search_ms"]) < 100
