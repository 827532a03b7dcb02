from __future__ import annotations

from nl2sql_gate.audit.static import literal_findings, similar_questions
from nl2sql_gate.records import Item, SqlField


def item(item_id: str, question: str = "?", sql: str = "SELECT 1") -> Item:
    return Item(item_id, question, "dql", "shop", ("sqlite",), SqlField(everywhere=(sql,)))


def test_a_project_and_a_temporary_database_in_sql_are_found() -> None:
    items = [
        item("a", sql="SELECT * FROM `my-project-1.sales.orders`"),
        item("b", sql="SELECT COUNT(*) FROM tmp_db_blog_x.users"),
        item("c", sql="SELECT a.b, c-d FROM schema.t"),
    ]
    assert [(finding.id, finding.item) for finding in literal_findings(items)] == [
        ("foreign-literal", "a"),
        ("foreign-literal", "b"),
    ]


def test_questions_that_differ_in_a_number_are_not_the_same() -> None:
    items = [
        item("a", "How many orders were placed in the city of Oslo?"),
        item("b", "In the city of Oslo, how many orders were placed?"),
        item("c", "How many orders over 10 were placed in the city of Oslo by members?"),
        item("d", "How many orders over 20 were placed in the city of Oslo by members?"),
    ]
    assert [(finding.item, finding.message.rpartition(" ")[2]) for finding in similar_questions(items)] == [("b", "a")]
