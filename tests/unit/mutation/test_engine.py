"""Mutants as a whole: the same for the same seed, distinct, parsable, and never more than the recipe allows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlglot

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.mutation import Recipe, conflict, mutate, mutate_in_turn
from nl2sql_gate.sqltext import canonical_sql

RICH = (
    "SELECT c.city, COUNT(DISTINCT o.id) AS n FROM customer AS c LEFT JOIN purchase AS o ON o.customer_id = c.id AND o.paid = 1 "
    "WHERE (c.city = 'Oslo' OR c.city IS NULL) AND c.born >= '2000-01-01' AND c.id IN (SELECT x FROM y WHERE y.z > 3) "
    "GROUP BY c.city HAVING COUNT(*) > 2 ORDER BY n DESC, c.city LIMIT 10"
)
PROGRAM = """
import json, sys
from nl2sql_gate.mutation import Recipe, mutate
print(json.dumps([mutant.sql for mutant in mutate(sys.argv[1], "sqlite", recipe=Recipe(7, depth=2, most=200)).mutants]))
"""


def bundled(root: Path) -> list[tuple[str, str]]:
    items = json.loads((root / "datasets/thistledown/items.json").read_text(encoding="utf-8"))
    return [(dialect, sql) for item in items for dialect, listed in item["golden_sql"].items() for sql in listed]


def test_the_same_seed_gives_the_same_mutants_in_any_process() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, RICH],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert found[0] == found[1]
    assert [mutant.sql for mutant in mutate(RICH, "sqlite", recipe=Recipe(7, depth=2, most=200)).mutants] == json.loads(found[0])


def test_another_seed_gives_other_mutants() -> None:
    one, other = ({mutant.sql for mutant in mutate(RICH, "sqlite", recipe=Recipe(seed)).mutants} for seed in (1, 2))
    assert one != other


def test_mutants_do_not_depend_on_what_was_mutated_before() -> None:
    alone = mutate(RICH, "postgres")
    mutate("SELECT 1", "postgres")
    assert alone == mutate(RICH, "postgres")


def test_mutants_are_distinct_and_none_is_golden() -> None:
    mutations = mutate(RICH, "sqlite", recipe=Recipe(depth=2, most=400))
    texts = [mutant.sql for mutant in mutations.mutants]
    assert len(texts) == len(set(texts))
    assert mutations.rendered not in texts


def test_the_number_of_errors_is_the_number_of_operators_and_none_conflict() -> None:
    found = mutate(RICH, "sqlite", recipe=Recipe(depth=2, most=300)).mutants
    assert {1, 2} == {mutant.depth for mutant in found}
    assert all(len(mutant.changes) == len(mutant.operators) for mutant in found)
    assert not [mutant.operators for mutant in found if mutant.depth == 2 and conflict(*mutant.operators)]


def test_at_most_as_many_as_wanted() -> None:
    assert len(mutate(RICH, "sqlite", recipe=Recipe(most=5)).mutants) == 5


def test_one_place_of_an_operator_or_all() -> None:
    one = mutate(RICH, "sqlite", recipe=Recipe(operators=("where_predicate_delete",))).mutants
    every = mutate(RICH, "sqlite", recipe=Recipe(sites=None, operators=("where_predicate_delete",))).mutants
    assert 1 == len(one) < len(every)
    assert one[0].sql in {mutant.sql for mutant in every}


def test_only_the_statement_with_the_error_is_written_anew() -> None:
    script = "DELETE  FROM line -- all of them\nWHERE x = 1;\nDELETE FROM head WHERE y = 2"
    found = mutate(script, "sqlite", recipe=Recipe(sites=None, operators=("where_condition_flip",))).mutants
    assert "DELETE  FROM line -- all of them\nWHERE x = 1;\nDELETE FROM head WHERE y <> 2" in {mutant.sql for mutant in found}


def test_errors_in_turn() -> None:
    names = ("projection_drop", "distinct_toggle", "where_remove")
    mutant = mutate_in_turn("SELECT a, b FROM t WHERE a = 1", "sqlite", names)
    assert mutant is not None
    assert names == mutant.operators
    assert mutant.sql in {"SELECT DISTINCT a FROM t", "SELECT DISTINCT b FROM t"}


def test_errors_in_turn_that_do_not_apply_give_nothing() -> None:
    assert None is mutate_in_turn("SELECT a, b FROM t", "sqlite", ("where_remove",))


def test_conflicting_errors_in_turn_are_refused() -> None:
    with pytest.raises(SettingsError, match="where_remove cannot follow where_weaken"):
        mutate_in_turn(RICH, "sqlite", ("where_weaken", "where_remove"))


def test_an_unknown_operator_is_named_with_its_neighbour() -> None:
    with pytest.raises(SettingsError, match="where_removed") as caught:
        mutate(RICH, "sqlite", recipe=Recipe(operators=("where_removed",)))
    assert "where_remove" in caught.value.next_step


@pytest.mark.parametrize("sql", ["", "CALL f()", "SELEKT a", "x", "SELECT a FROM t; VACUUM INTO 'x' WHAT"])
def test_what_is_not_understood_has_no_mutants(sql: str) -> None:
    assert not mutate(sql, "sqlite").mutants


def test_hostile_sql_does_no_harm() -> None:
    deep = "SELECT " + "(" * 3000 + "1" + ")" * 3000
    assert not mutate(deep, "sqlite").mutants
    assert mutate("SELECT a FROM t WHERE a = '" + "%s" * 2000 + "' AND b = 1", "sqlite").mutants


def test_conflicts_hold_both_ways_and_with_oneself() -> None:
    assert conflict("where_remove", "where_remove")
    assert conflict("limit_increase", "limit_decrease")
    assert conflict("limit_decrease", "limit_increase")
    assert not conflict("projection_drop", "where_remove")


def test_every_bundled_golden_mutates_in_every_dialect_and_every_mutant_parses(root: Path) -> None:
    wrong: list[str] = []
    for dialect, sql in bundled(root)[::9]:
        mutations = mutate(sql, dialect)
        if not mutations.mutants:
            wrong.append(f"no mutant: {dialect} {sql}")
        for mutant in mutations.mutants:
            try:
                sqlglot.parse(mutant.sql, read=sqlglot_name(dialect))
            except sqlglot.errors.SqlglotError as error:
                wrong.append(f"{dialect} {mutant.operators} {mutant.sql}: {error}")
    assert wrong == []


def test_making_mutants_leaves_the_golden_tree_as_it_was(root: Path) -> None:
    wrong: list[str] = []
    for dialect, sql in bundled(root)[::23]:
        first = mutate(sql, dialect, recipe=Recipe(sites=None))
        if first.rendered != mutate(sql, dialect).rendered:
            wrong.append(sql)
        # What the parser keeps for others must not have been touched either.
        if canonical_sql(sql, dialect) != canonical_sql(sql + "\n", dialect):
            wrong.append(sql)
    assert wrong == []


def test_public_goldens_mutate(shared_data: Path) -> None:
    """Every seventh here; `benchmarks/mutation.py` takes them all."""
    from nl2sql_gate.dataset import load

    files = (
        "bird-mini-dev/mini_dev_sqlite.json",
        *(f"defog/questions/questions_gen_{name}.csv" for name in ("postgres", "sqlite")),
    )
    missing = [
        f"{file}: {item.id}"
        for file in files
        for item in load(str(shared_data / "data" / file)).items[::7]
        for dialect in item.dialects
        if (golden := item.golden_sql.pick(dialect)) and not mutate(golden[0], dialect, recipe=Recipe(most=1)).mutants
    ]
    assert missing == []


def test_every_golden_of_bat_is_understood_and_keeps_its_placeholders(shared_data: Path) -> None:
    from nl2sql_gate.dataset import load

    checked = 0
    for item in load(str(shared_data / "data" / "evalbench-bat" / "prompts.json")).items:
        for golden in item.golden_sql.pick("bigquery"):
            found = mutate(golden, "bigquery", recipe=Recipe(most=5))
            assert found.understood, golden
            assert found.rendered.count("{{dataset}}") == golden.count("{{dataset}}"), found.rendered
            assert found.mutants, golden
            checked += 1
    assert checked >= 23
