"""A reported fault as one case of the product: its database provisioned, its golden SQL run, its reply judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.audit.auditor import Material, audit
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned, Rules, Target, judge, preflight
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Database, Engine
from nl2sql_gate.records import (
    CaseKey,
    CaseResult,
    Completion,
    DatabaseSource,
    Dataset,
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
    """Whether the server for `dialect` is found here; MariaDB stands in for MySQL, whose server is tested as a container."""
    servers = {"postgres": "/usr/lib/postgresql", "mariadb": "/usr/sbin/mariadbd"}
    return dialect in {"sqlite", "duckdb"} or (dialect in servers and Path(servers[dialect]).exists())


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

    def plan(self, database: Database, case: dict[str, Any]) -> Planned:
        """The case as the product plans it."""
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
        return Planned(CaseKey(item.id, self.dialect, database.name, 1), item, target, "digest")

    def judge(self, database: Database, case: dict[str, Any]) -> tuple[Golden, CaseResult | None]:
        """Golden and, where it has answers, the judged reply."""
        planned = self.plan(database, case)
        golden = preflight(planned, Rules())
        if golden.failure is not None or golden.skip is not None:
            return golden, None
        scorers = [plugins.load("scorer", name)() for name in METRICS.values()]
        fence = "`" * 8
        reply = Completion(f"{fence}sql\n{case['predicted_sql']}\n{fence}")
        return golden, judge(planned, reply, golden, scorers=scorers, rules=Rules())

    def audit(self, database: Database, case: dict[str, Any]) -> set[str]:
        """The ids of what an audit finds in the case's golden SQL."""
        planned = self.plan(database, case)
        key = (planned.key.id, planned.key.dialect)
        with ThreadPoolExecutor(max_workers=1) as executor:
            material = Material(
                dataset=Dataset((planned.item,), "", ""),
                items=(planned.item,),
                planned=(planned,),
                goldens={key: preflight(planned, Rules(clock=datetime.now(UTC)))},
                schemas={},
                prompts=PromptBuilder(),
                scorer=plugins.load("scorer", "execution_accuracy")(),
                reversed_rows={},
            )
            return {finding.id for finding in audit(material, executor=executor)}


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
