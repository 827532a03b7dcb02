"""An audit from file to findings: the texts, the goldens of every dialect, and probes on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TypeVar

from nl2sql_gate.audit import probes, results, static
from nl2sql_gate.audit.findings import CATALOGUE, GRAVITY, Finding
from nl2sql_gate.errors import Fault
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Database, Scorer
from nl2sql_gate.records import DatabaseSource, Dataset, Item, Schema

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Material:
    """What an audit works on. `reversed_rows` holds, per service and database, the same data filled in reverse."""

    dataset: Dataset
    items: Sequence[Item]
    planned: Sequence[Planned]
    goldens: Mapping[tuple[str, str], Golden | Fault]
    schemas: Mapping[tuple[str, str], Schema]
    prompts: PromptBuilder
    scorer: Scorer
    reversed_rows: Mapping[tuple[str, str], Database]


def audit(material: Material, *, executor: Executor) -> list[Finding]:
    """All findings, the file's first, then by item in dataset order, the gravest first."""
    chosen = {item.id for item in material.items}
    found = [finding for finding in static.file_findings(material.dataset) if not finding.item or finding.item in chosen]
    found += static.literal_findings(material.items)
    found += static.similar_questions(material.items)
    found += static.golden_in_prompt(material.items, material.prompts, material.schemas)
    probed = [executor.submit(_probe, case, material) for case in material.planned]
    found += [finding for future in probed for finding in future.result()]
    for item in material.items:
        by_dialect = {
            name: golden
            for (item_id, name), golden in material.goldens.items()
            if item_id == item.id and isinstance(golden, Golden) and golden.failure is None and results.firm(golden)
        }
        found += results.disagreements(item, by_dialect, material.scorer)
    order = {item.id: index for index, item in enumerate(material.items)}
    return sorted(
        _distinct(found),
        key=lambda finding: (order.get(finding.item, -1), -GRAVITY[CATALOGUE[finding.id].severity], finding.id, finding.dialect),
    )


def _probe(case: Planned, material: Material) -> list[Finding]:
    golden = material.goldens[case.key.id, case.key.dialect]
    if isinstance(golden, Fault):
        raise golden
    return list(_probes(case, golden, material))


def _probes(case: Planned, golden: Golden, material: Material) -> Iterator[Finding]:
    item, dialect = case.item, case.target.dialect
    yield from results.golden_findings(item, dialect, golden)
    database = case.target.databases[item.database]
    if item.query_type != "dql" and golden.failure is None:
        yield from probes.written_clock(item, dialect)
    if item.query_type == "ddl":
        yield from probes.effect_findings(item, dialect, database, golden)
    if item.query_type != "dql" or golden.failure is not None or golden.skip is not None:
        return
    limits = list(probes.limit_findings(item, dialect, database, golden))
    yield from limits
    yield from probes.clock_findings(item, dialect, database, golden, material.scorer)
    if golden.volatile:
        return
    yield from probes.setting_findings(item, dialect, database, golden, material.scorer)
    other = material.reversed_rows.get((case.key.dialect, item.database))
    if other is not None:
        yield from probes.order_findings(item, dialect, other, golden, material.scorer)
    if not limits:
        # A tie at the limit depends on the order too, and is said already, with better evidence.
        yield from probes.backward_findings(item, dialect, database, golden, material.scorer)


def in_reverse(source: DatabaseSource) -> DatabaseSource | None:
    """The same data with every table filled from its last row to its first; `None` where scripts bring the rows."""
    if not source.tables:
        return None
    tables = tuple(replace(table, rows=table.rows[::-1]) for table in source.tables)
    return replace(source, name=f"{source.name}_reversed", tables=tables, digest=f"reversed-{source.digest}"[:64])


def _distinct(found: Sequence[Finding]) -> list[Finding]:
    """One finding of a kind for an item and dialect: the first has the evidence."""
    kept: dict[tuple[str, str, str, str], Finding] = {}
    for finding in found:
        key = (finding.id, finding.item, finding.dialect, finding.message if finding.id == "dataset-warning" else "")
        kept.setdefault(key, finding)
    return list(kept.values())
