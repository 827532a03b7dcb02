"""The reported bugs of other evaluators, run on every engine that a case names."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2sql_gate.golden import answer
from nl2sql_gate.records import Case, Item, ResultSet, Side, SqlError, SqlField
from nl2sql_gate.scorers.execution_accuracy import ExecutionAccuracy
from nl2sql_gate.scorers.execution_accuracy_bird import ExecutionAccuracyBird
from nl2sql_gate.state import describe_difference
from nl2sql_gate.testing import LIMITS, Bench, read

OTHER_SETS = {"sc-bit1": "a BIT is a number already when it leaves the engine, so that BIRD's sets see numbers too"}
NOT_HERE = {
    "sc-cut-equal": "sets a row limit of its own",
    "sc-huge-pg": "its cap is a run's, the suite's is lower; see test_limits",
}


def _load(folder: Path, kind: str, dialect: str) -> list[dict[str, Any]]:
    lines = (folder / "cases" / "public.jsonl").read_text().splitlines()
    cases = [json.loads(line) for line in lines]
    named = {"mariadb": "mysql"}.get(dialect, dialect)
    return [case for case in cases if case["kind"] == kind and named in case["dialects"]]


@dataclass
class Judged:
    """Both sides of a case, and what about them is not as expected."""

    case: dict[str, Any]
    golden: Side | SqlError
    generated: Side | SqlError
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, database: Any, case: dict[str, Any], dialect: str) -> Judged:
        """Run both sides and hold them to what the case expects."""
        judged = cls(case, _golden(database, case, dialect), _generated(database, case))
        judged._errors()
        judged._rows()
        if isinstance(judged.golden, Side) and isinstance(judged.generated, Side):
            judged._scores(judged.golden, judged.generated, dialect)
        elif case["expect"].get("EX") == 1:
            judged.wrong.append(f"{judged.golden} / {judged.generated}")
        return judged

    def _errors(self) -> None:
        expect = self.case["expect"]
        for key, side in (("golden_error", self.golden), ("predicted_error", self.generated)):
            if key in expect and isinstance(side, SqlError) != expect[key]:
                self.wrong.append(f"{key}: {side}")
        failed = self.golden if expect.get("golden_error") else self.generated
        if "error_class" in expect and not (isinstance(failed, SqlError) and failed.reason == expect["error_class"]):
            self.wrong.append(f"error_class: {failed}")

    def _rows(self) -> None:
        wanted = self.case["expect"].get("expect_rows")
        if wanted is None or isinstance(self.golden, SqlError):
            return
        shown = self.golden.evals[0] if self.golden.evals else self.golden.result
        if not isinstance(shown, ResultSet) or sorted(map(list, shown.rows), key=repr) != sorted(wanted, key=repr):
            self.wrong.append(f"expect_rows: {shown}")

    def _scores(self, golden: Side, generated: Side, dialect: str) -> None:
        expect, query_type = self.case["expect"], self.case["query_type"]
        scored = Case(_item(self.case, dialect), dialect, query_type, (golden,), generated)
        value = ExecutionAccuracy().score(scored).value
        if query_type != "dql":
            states = (golden.before, golden.after, generated.before, generated.after)
            difference = describe_difference(*states)  # type: ignore[arg-type]
            value = min(value, 0.0 if difference.wrong(eval_decides=bool(golden.evals), strict=False) else 1.0)
        if "EX" in expect and value != expect["EX"]:
            self.wrong.append(f"EX {value}: {golden.result} / {generated.result} {golden.evals} {generated.evals}")
        if query_type == "dql" and expect.get("EX_set") in (0, 1) and self.case.get("id") not in OTHER_SETS:
            value = ExecutionAccuracyBird().score(scored).value
            if value != expect["EX_set"]:
                self.wrong.append(f"EX_set {value}")


def _item(case: dict[str, Any], dialect: str) -> Item:
    evals = SqlField(everywhere=(case["eval_query"],) if case.get("eval_query") else ())
    return Item(case["id"], "", case["query_type"], "d", (dialect,), SqlField(everywhere=(case["golden_sql"],)), eval_query=evals)


def _golden(database: Any, case: dict[str, Any], dialect: str) -> Side | SqlError:
    golden = answer(_item(case, dialect), dialect, database)
    return golden.sides[0] if golden.sides else golden.error or SqlError("unstable")


def _generated(database: Any, case: dict[str, Any]) -> Side | SqlError:
    sql = case["predicted_sql"]
    if case["query_type"] == "dql":
        result = read(database, sql)
        return result if isinstance(result, SqlError) else Side(sql, result)
    evals = [case["eval_query"]] if case.get("eval_query") else []
    with database.writing([sql, *evals]) as session:
        before = session.state()
        result = session.execute(sql)
        if isinstance(result, SqlError):
            return result
        return Side(sql, result, evals=tuple(session.execute(text) for text in evals), before=before, after=session.state())


def test_score_cases_hold(bench: Bench, shared_data: Path) -> None:
    failures = []
    count = 0
    for case in _load(shared_data, "score", bench.dialect):
        if case["id"] in NOT_HERE:
            continue
        database = bench.build(*case["setup_sql"])
        for step in case.get("sequence") or [case]:
            count += 1
            wrong = Judged.of(database, {"query_type": "dql", **step}, bench.dialect).wrong
            failures += [f"{case['id']}: {text[:300]}" for text in wrong]
    assert failures == []
    assert count > 60


def test_security_cases_hold(bench: Bench, shared_data: Path) -> None:
    failures = []
    count = 0
    for case in _load(shared_data, "security", bench.dialect):
        count += 1
        database = bench.build(*case["setup_sql"])
        expect = case["expect"]
        result = read(database, case["predicted_sql"])
        if expect.get("predicted_error") and not isinstance(result, SqlError):
            failures.append(f"{case['id']}: ran: {result}")
        if expect.get("EX") == 0 and not isinstance(result, SqlError):
            failures.append(f"{case['id']}: ran: {result}")
        if "check_sql" in expect:
            seen = read(database, expect["check_sql"])
            if not isinstance(seen, ResultSet) or [list(map(_plain, row)) for row in seen.rows] != expect["check_rows"]:
                failures.append(f"{case['id']}: {seen}")
        if "no_table" in expect and any(t.name == expect["no_table"] for t in database.schema(sample_values=0).tables):
            failures.append(f"{case['id']}: the table is there")
        if "no_file_created" in expect and Path(expect["no_file_created"]).exists():
            failures.append(f"{case['id']}: the file is there")
        if expect.get("no_leak") and Path("/etc/hostname").read_text().strip() in str(result):
            failures.append(f"{case['id']}: leaked")
    assert failures == []
    assert count >= 3


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, bool | int | str | None) else int(cell)


def test_the_row_limit_is_no_silent_cut(bench: Bench) -> None:
    database = bench.build("CREATE TABLE n(i INTEGER)", "INSERT INTO n VALUES (1),(2),(3)")
    result = read(database, f"SELECT a.i FROM n a, {', '.join(f'n b{i}' for i in range(6))}")
    assert LIMITS.rows < 3**7
    assert isinstance(result, SqlError)
    assert result.reason == "too_many_rows"
