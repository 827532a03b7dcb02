"""Findings that need no database: what the file and its texts say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from nl2sql_gate.audit.findings import Finding, found
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.records import Dataset, Item, Schema, SqlField

_PROJECT = re.compile(r"`?[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?:\.[A-Za-z_]\w*){2}`?")
_TEMPORARY = re.compile(r"\b(?:tmp|temp)_(?:db|database|schema)\w*\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
ALIKE = 0.9
FEWEST_WORDS = 4
SHORTEST_GOLDEN = 20


def file_findings(dataset: Dataset) -> Iterator[Finding]:
    """What reading the file warned of; a contradicted type is a finding of its own."""
    for warned in dataset.warnings:
        kind = "type-contradicts" if "type" in warned.code else "dataset-warning"
        yield Finding(kind, warned.subject, warned.message, place=warned.place)


def literal_findings(items: Sequence[Item]) -> Iterator[Finding]:
    """SQL that names somebody's project, or a database that a harness once made."""
    for item in items:
        for dialect, sql in _all_sql(item):
            named = _PROJECT.search(sql) or _TEMPORARY.search(sql)
            if named:
                yield found("foreign-literal", item, f"the SQL names {named.group(0)}", dialect)
                break


def similar_questions(items: Sequence[Item]) -> Iterator[Finding]:
    """Pairs of items on one database whose questions share nearly all words."""
    by_database: dict[str, list[tuple[Item, frozenset[str]]]] = {}
    for item in items:
        words = frozenset(word.lower() for word in _WORD.findall(f"{item.question} {item.evidence}"))
        if len(words) >= FEWEST_WORDS:
            by_database.setdefault(item.database, []).append((item, words))
    for entries in by_database.values():
        for (one, left), (other, right) in combinations(entries, 2):
            shorter, longer = sorted((len(left), len(right)))
            if shorter < ALIKE * longer:
                continue
            share = len(left & right) / len(left | right)
            # Questions that differ in a number or a name only are meant; those that share every word are not.
            if share >= ALIKE and not _differ_in_a_value(left ^ right):
                yield found("similar-questions", other, f"shares {share:.0%} of its words with {one.id}")


def _differ_in_a_value(words: frozenset[str]) -> bool:
    return any(any(character.isdigit() for character in word) for word in words)


def golden_in_prompt(
    items: Sequence[Item], prompts: PromptBuilder, schemas: Mapping[tuple[str, str], Schema]
) -> Iterator[Finding]:
    """Prompts in which the golden SQL stands, blanks and case aside."""
    for (dialect, database), schema in schemas.items():
        for item in items:
            if item.database != database:
                continue
            text = _squeezed("\n".join(content for _, content in prompts.build(item, schema, dialect).messages))
            for sql in item.golden_sql.pick(dialect):
                golden = _squeezed(sql).rstrip("; ")
                if len(golden) >= SHORTEST_GOLDEN and golden in text:
                    yield found("golden-in-prompt", item, "the model is shown the answer", dialect)
                    break


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())


def _all_sql(item: Item) -> Iterator[tuple[str, str]]:
    for each in (item.golden_sql, item.eval_query, item.setup_sql, item.cleanup_sql):
        yield from _field_sql(each)


def _field_sql(given: SqlField) -> Iterator[tuple[str, str]]:
    for dialect, listed in given.by_dialect.items():
        yield from ((dialect, sql) for sql in listed)
    yield from (("", sql) for sql in given.everywhere)
