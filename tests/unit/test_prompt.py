"""Prompts: the packaged template, templates of users, and what goes wrong in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.records import Column, Item, Schema, SqlField, Table

ITEM = Item("o-1", "How many orders?", "dql", "shop", ("postgres",), SqlField(), evidence="an order is a row")
TABLE = Table("orders", (Column("id", "INTEGER", primary_key=True), Column("state", "TEXT", samples=("new", "paid"))))
SCHEMA = Schema("shop", "postgres", (TABLE,), "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT);\n")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    def to_file(text: str, name: str = "prompt.j2") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return to_file


def messages(template: str | None, item: Item = ITEM) -> list[tuple[str, str]]:
    return list(PromptBuilder(template).build(item, SCHEMA, "postgres").messages)


def test_the_packaged_prompt_holds_all_that_is_known() -> None:
    (system, rules), (user, asked) = messages(None)
    assert (system, user) == ("system", "user")
    assert "PostgreSQL" in rules
    assert asked == (
        "Database: shop (PostgreSQL)\n\n"
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT);\n\n"
        "Known facts: an order is a row\n\n"
        "Question: How many orders?"
    )


def test_without_evidence_no_facts_are_spoken_of() -> None:
    assert "facts" not in messages(None, replace(ITEM, evidence=""))[1][1]


def test_a_change_is_a_task() -> None:
    assert messages(None, replace(ITEM, query_type="dml"))[1][1].endswith("Task: How many orders?")


@pytest.mark.parametrize(
    "expected, template",
    [
        ([("user", "postgres: How many orders?")], "\n{{ dialect }}: {{ question }}\n"),
        ([("system", "S"), ("user", "shop")], "{% block user %}{{ database }}{% endblock %} ignored {% block system %}S{% endblock %}"),
        ([("user", "id state=new,paid")], "{% for c in tables[0].columns %}{{ c.name }}{% if c.samples %}={{ c.samples | join(',') }}{% endif %} {% endfor %}"),
        ([("user", "o-1 (dql)")], "{% set shown = item.id %}{% block user %}{{ shown }} ({{ item.query_type }}){% endblock %}"),
        ([("user", "{{ question }}")], "{% raw %}{{ question }}{% endraw %}"),
    ],
)  # fmt: skip
def test_what_a_template_may_do(write: Callable[..., str], expected: list[tuple[str, str]], template: str) -> None:
    assert expected == messages(write(template))


def test_a_question_is_text_and_never_a_template(write: Callable[..., str]) -> None:
    assert messages(write("{{ question }}"), replace(ITEM, question="{{ 7 * 7 }} <b>")) == [("user", "{{ 7 * 7 }} <b>")]


def test_templates_of_the_same_folder_may_be_extended_and_included(write: Callable[..., str]) -> None:
    write("{% block system %}Rules{% endblock %}{% block user %}{% endblock %}", "base.j2")
    write("Q: {{ question }}", "ask.j2")
    path = write("{% extends 'base.j2' %}{% block user %}{% include 'ask.j2' %}{% endblock %}")
    assert messages(path) == [("system", "Rules"), ("user", "Q: How many orders?")]


@pytest.mark.parametrize("name", ["../secret.j2", "/etc/hostname"])
def test_other_folders_are_out_of_reach(write: Callable[..., str], tmp_path: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    write("secret", "secret.j2")
    path = write(f"{{% include '{name}' %}}", "inner/prompt.j2")
    with pytest.raises(SettingsError, match="cannot be read"):
        PromptBuilder(path).build(ITEM, SCHEMA, "postgres")


@pytest.mark.parametrize(
    "line, problem, template",
    [
        (3, "'nope' is undefined", "a\n\n{{ nope }}"),
        (2, "has no attribute 'questoin'", "{% block user %}\n{{ item.questoin }}{% endblock %}"),
        (2, "end of statement block", "a\n{% if %}"),
        (4, "Unexpected end of template", "{% block user %}\n\n\n{{ question }}"),
        (2, "division by zero", "\n{{ 1 / 0 }}"),
        (1, "is unsafe", "{{ question.__class__.__mro__ }}"),
        (1, "attribute 'update' of 'dict' object is unsafe", "{% set _ = item.other.update(a=1) %}"),
        (1, "No filter named 'nofilter'", "{{ question | nofilter }}"),
    ],
)
def test_a_broken_template_is_named_with_its_line(write: Callable[..., str], line: int, problem: str, template: str) -> None:
    path = write(template)
    with pytest.raises(SettingsError) as caught:
        messages(path)
    assert f"{path}:{line}: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("template", ["", " \n", "{% block system %}only rules{% endblock %}"])
def test_a_template_that_asks_nothing_is_refused(write: Callable[..., str], template: str) -> None:
    with pytest.raises(SettingsError, match="gives nothing to send"):
        messages(write(template))


def test_an_absent_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.j2: cannot be read"):
        PromptBuilder(str(tmp_path / "none.j2"))


def test_the_digest_is_the_templates_with_all_that_it_names(write: Callable[..., str]) -> None:
    path = write("{% include 'part.j2' %}")
    write("one {{ question }}", "part.j2")
    first = PromptBuilder(path)
    assert first.digest == PromptBuilder(path).build(replace(ITEM, question="other"), SCHEMA, "sqlite").digest
    write("two {{ question }}", "part.j2")
    assert first.digest != PromptBuilder(path).digest
