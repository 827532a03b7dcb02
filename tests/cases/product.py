"""A reported fault as one case of the product: its database provisioned, its golden SQL run, its reply judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned, Rules, Target, judge, preflight
from nl2sql_gate.protocols import Database, Engine
from nl2sql_gate.records import (
    CaseKey,
    CaseResult,
    Completion,
    DatabaseSource,
    Item,
    Limits,
    Place,
    Score,
    SetupStatement,
    SqlField,
)

METRICS = {"EX": "execution_accuracy", "EX_set": "execution_accuracy_bird"}
STANDS_IN = {"mysql": "mariadb"}
"""Dialect of a case → the engine on which it runs where its own product cannot be started."""


def read_cases(path: Path, *kinds: str) -> list[dict[str, Any]]:
    """The cases of `kinds`, in file order."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [entry for entry in entries if entry["kind"] in kinds]


def can_start(dialect: str) -> bool:
    """Whether an engine for `dialect` is built in and its server is found here."""
    if dialect not in plugins.names("engine"):
        return False
    programs = {"postgres": ("/usr/lib/postgresql", "initdb"), "mariadb": ("/usr/sbin/mariadbd", "mariadbd")}
    folder, program = programs.get(dialect, ("/", dialect))
    return dialect in {"sqlite", "duckdb"} or Path(folder).exists() or shutil.which(program) is not None


@dataclass
class Bench:
    """One engine, with the databases of the cases on it."""

    dialect: str
    engine: Engine
    limits: Limits

    def database(self, case: dict[str, Any]) -> Database:
        """The database of `case`."""
        statements = tuple(SetupStatement(sql, Place(case["id"], n)) for n, sql in enumerate(case["setup_sql"], 1))
        digest = sha256(json.dumps([case["id"], self.dialect, case["setup_sql"]]).encode()).hexdigest()
        name = "c_" + digest[:12]
        return self.engine.provision(DatabaseSource(name, self.dialect, digest, setup=statements))

    def judge(self, database: Database, case: dict[str, Any]) -> tuple[Golden, CaseResult | None]:
        """Golden and, where it has answers, the judged reply."""
        sql = case["predicted_sql"]
        item = Item(
            id=case["id"],
            question="?",
            query_type=case.get("query_type") or "dql",
            database=database.name,
            dialects=(self.dialect,),
            golden_sql=SqlField(everywhere=(case.get("golden_sql") or "SELECT 1",)),
            eval_query=SqlField(everywhere=(case["eval_query"],)) if case.get("eval_query") else SqlField(),
        )
        deterministic = bool(getattr(self.engine, "deterministic", False))
        target = Target(self.dialect, self.dialect, {database.name: database}, deterministic=deterministic)
        planned = Planned(CaseKey(item.id, self.dialect, database.name, 1), item, target, "digest")
        golden = preflight(planned, Rules())
        if golden.failure is not None or golden.skip is not None:
            return golden, None
        scorers = [plugins.load("scorer", name)() for name in METRICS.values()]
        fence = "`" * 8
        reply = Completion(f"{fence}sql\n{sql}\n{fence}")
        return golden, judge(planned, reply, golden, scorers=scorers, rules=Rules())


def value(result: CaseResult, metric: str) -> float | None:
    """The case's value by a metric."""
    score = result.scores.get(METRICS[metric])
    return score.value if isinstance(score, Score) else None


def make_bench(dialect: str, workdir: Path, **limits: Any) -> Iterator[Bench]:
    """A started engine, stopped at the end."""
    given = Limits(**{"statement_s": 20.0, **limits})
    engine = plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way="auto", limits=given, workdir=str(workdir), workers=2
    )
    try:
        engine.start()
        yield Bench(dialect, engine, given)
    finally:
        engine.stop()
