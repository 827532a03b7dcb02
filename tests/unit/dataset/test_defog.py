"""defog's question files: several golden queries in a cell, groups of columns in braces."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql_gate.dataset import ReadOptions, load
from nl2sql_gate.dataset.defog_goldens import MOST_ALTERNATIVES, goldens_of
from nl2sql_gate.errors import DatasetError


@pytest.mark.parametrize(
    "cell, alternatives",
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;SELECT 1", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' AS a", ["SELECT ';' AS a"]),
        ("SELECT {a} FROM t", ["SELECT a FROM t"]),
        ("SELECT {a, b} FROM t", ["SELECT a FROM t", "SELECT b FROM t", "SELECT a, b FROM t", "SELECT b, a FROM t"]),
        (
            "SELECT {a,b}, SUM(c) FROM t GROUP BY {}",
            [
                "SELECT a, SUM(c) FROM t GROUP BY a",
                "SELECT b, SUM(c) FROM t GROUP BY b",
                "SELECT a, b, SUM(c) FROM t GROUP BY a, b",
                "SELECT b, a, SUM(c) FROM t GROUP BY b, a",
            ],
        ),
        (
            "SELECT {f(a, b), c} AS x FROM t",
            [
                "SELECT f(a, b) AS x FROM t",
                "SELECT c AS x FROM t",
                "SELECT f(a, b), c AS x FROM t",
                "SELECT c, f(a, b) AS x FROM t",
            ],
        ),
        ("SELECT '{a, b}' FROM t -- {c, d}", ["SELECT '{a, b}' FROM t -- {c, d}"]),
        ("SELECT a FROM t GROUP BY {}", ["SELECT a FROM t GROUP BY {}"]),
    ],
)
def test_a_cell_stands_for_these_queries(cell: str, alternatives: list[str]) -> None:
    assert list(goldens_of(cell, "postgres").alternatives) == alternatives


@pytest.mark.parametrize("columns, count", [(2, 4), (3, 15), (4, 64)])
def test_every_ordered_choice_of_up_to_four_columns_is_there(columns: int, count: int) -> None:
    names = ", ".join(f"c{number}" for number in range(columns))
    goldens = goldens_of(f"SELECT {{{names}}} FROM t", "postgres")
    assert len(goldens.alternatives) == len(set(goldens.alternatives)) == count <= MOST_ALTERNATIVES
    assert not goldens.shortened


def test_more_columns_leave_the_single_ones_and_the_whole(tmp_path: Path) -> None:
    goldens = goldens_of("SELECT {a, b, c, d, e} FROM t", "postgres")
    assert goldens.shortened
    assert list(goldens.alternatives) == [f"SELECT {column} FROM t" for column in ("a", "b", "c", "d", "e", "a, b, c, d, e")]
    path = tmp_path / "questions_postgres.csv"
    path.write_text('question,query,db_name,query_category,instructions\nq,"SELECT {a, b, c, d, e} FROM t",harbour,x,\n')
    (item,) = load(path).items
    assert item.columns == "superset"
    assert [warned.code for warned in load(path).warnings] == ["many_alternatives"]


def test_groups_without_measure_are_refused(tmp_path: Path) -> None:
    group = "{" + ", ".join(f"c{number}" for number in range(40)) + "}"
    path = tmp_path / "questions.csv"
    path.write_text(f'question,query,db_name\nq,"SELECT {group}, {group} FROM t",harbour\n')
    with pytest.raises(DatasetError, match="item defog-000: query: the groups of one query stand for more than 1000 queries"):
        load(path)


def test_ids_evidence_and_tags_of_a_question_file(tmp_path: Path) -> None:
    path = tmp_path / "instruct_basic_postgres.csv"
    path.write_text(
        "db_name,query_category,question,instructions,query,full_instructions\n"
        "broker,basic_join,How many?,count them,SELECT 1,count them all\n"
        "broker,basic_join,And now?,,SELECT 2,\n"
    )
    first, second = load(path).items
    assert (first.id, second.id) == ("defog-000", "defog-001")
    assert (first.evidence, second.evidence) == ("count them", "")
    assert (first.tags, first.dialects, first.database) == (("basic_join",), ("postgres",), "broker")
    assert (first.other, second.other) == ({"full_instructions": "count them all"}, {})


@pytest.mark.parametrize(
    "name, db_type, option, dialect",
    [
        ("q_sqlite.csv", "", "", "sqlite"),
        ("q_postgres.csv", "tsql", "", "sqlserver"),
        ("q_postgres.csv", "", "duckdb", "duckdb"),
        ("q.csv", "", "", "postgres"),
    ],
)
def test_the_dialect_is_the_rows_the_options_or_the_names(
    tmp_path: Path, name: str, db_type: str, option: str, dialect: str
) -> None:
    (tmp_path / name).write_text(f"question,query,db_name,db_type\nq,SELECT 1,harbour,{db_type}\n")
    (item,) = load(tmp_path / name, options=ReadOptions(dialect=option)).items
    assert item.golden_sql.by_dialect == {dialect: ("SELECT 1",)}


@pytest.mark.parametrize(
    ("question", "category", "golden", "row_order"),
    [
        ("How many sales per city?", "group_by", "SELECT city, COUNT(*) FROM s GROUP BY city ORDER BY 2", "free"),
        ("How many sales per city?", "group_by", "SELECT city, COUNT(*) FROM s GROUP BY city", ""),
        ("How many sales per city?", "order_by", "SELECT city, COUNT(*) FROM s GROUP BY city ORDER BY 2", ""),
        ("Sales per city, ordered by number", "group_by", "SELECT city, COUNT(*) FROM s GROUP BY city ORDER BY 2", ""),
        ("Sort the cities by sales", "group_by", "SELECT city, COUNT(*) FROM s GROUP BY city ORDER BY 2", ""),
        ("What are the orders of each city?", "group_by", "SELECT city FROM s ORDER BY 1", "free"),
    ],
)
def test_the_order_of_rows_is_free_where_nobody_asks_for_it(
    tmp_path: Path, question: str, category: str, golden: str, row_order: str
) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(f'question,query,db_name,query_category\n"{question}","{golden}",shop,{category}\n')
    (item,) = load(path).items
    assert item.row_order == row_order
