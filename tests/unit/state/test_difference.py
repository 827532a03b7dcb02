from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2sql_gate.records import State
from nl2sql_gate.state import TableState, content_of, describe_difference
from nl2sql_gate.state.tables import frozen_row


def table(columns: str, rows: Sequence[tuple[Any, ...]], key: str = "") -> TableState:
    content = content_of(rows)
    return TableState(columns.split(), key.split(), lambda: content)


def state(rows: Sequence[tuple[Any, ...]], *, key: str = "", default: str = "", columns: str = "id v") -> State:
    catalogue: dict[str, Any] = {"table t": {"table": "t"}}
    for name in columns.split():
        catalogue[f"column t.{name}"] = {"table": "t", "name": name, "type": "int", "default": default if name == "v" else ""}
    return State({"t": table(columns, rows, key)}, catalogue)


START = [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.parametrize("key", ["id", ""])
@pytest.mark.parametrize(
    ("golden", "generated", "kind"),
    [
        (START[1:], START[1:], ""),
        (START[1:], START[::-1][:2], ""),
        (START[1:], START[2:], "collateral"),
        (START[1:], START, "missing"),
        ([*START, (4, "d")], START, "missing"),
        ([*START, (4, "d")], [*START, (4, "e")], "different"),
        ([*START, (4, "d")], [*START, (4, "d"), (5, "e")], "collateral"),
        ([(1, "x"), *START[1:]], [(1, "y"), *START[1:]], "different"),
        ([(1, "x"), *START[1:]], [(1, "x"), (2, "x"), (3, "c")], "collateral"),
        ([], [], ""),
        (START, [], "collateral"),
        ([], START, "missing"),
    ],
)
def test_rows_beyond_short_of_and_other_than_golden(key: str, golden: Any, generated: Any, kind: str) -> None:
    before = state(START, key=key)
    found = describe_difference(before, state(golden, key=key), before, state(generated, key=key))
    assert [name for name in ("collateral", "missing", "different") if getattr(found, name)] == ([kind] if kind else [])


def test_a_lost_duplicate_is_seen() -> None:
    before = state([(1, "a"), (1, "a")])
    found = describe_difference(before, state([(1, "a"), (1, "a")]), before, state([(1, "a")]))
    assert found.collateral == ("deletes or changes 1 row of t that golden keeps",)


def test_float_noise_is_no_difference() -> None:
    before = state([(1, 0.1)])
    for key in ("id", ""):
        after = state([(1, 0.1 + 0.2)], key=key)
        assert describe_difference(before, after, before, state([(1, 0.3)], key=key)).different == ()


def test_values_that_differ_between_goldens_own_runs_are_ignored() -> None:
    before = state([], key="id")
    golden, again, generated = (state([(number, "x")], key="id") for number in (7, 8, 9))
    found = describe_difference(before, golden, before, generated, golden_again=again)
    assert found.wrong(eval_decides=False, strict=False) == ()
    assert found.ignored == ("t.id",)


def test_a_wrong_value_beside_an_ignored_one_is_still_wrong() -> None:
    before = state([], key="id")
    golden, again = state([(7, "x")], key="id"), state([(8, "x")], key="id")
    found = describe_difference(before, golden, before, state([(9, "y")], key="id"), golden_again=again)
    assert found.wrong(eval_decides=False, strict=False) != ()


def test_clock_defaults_are_ignored_within_a_run_only() -> None:
    before = state([], default="CURRENT_TIMESTAMP")
    golden = state([(1, "2024-05-01 12:00:00")], default="CURRENT_TIMESTAMP")
    soon = state([(1, "2024-05-01 12:00:09")], default="CURRENT_TIMESTAMP")
    far = state([(1, "1999-01-01 00:00:00")], default="CURRENT_TIMESTAMP")
    assert describe_difference(before, golden, before, soon).ignored == ("t.v",)
    assert describe_difference(before, golden, before, far).different != ()
    assert (
        describe_difference(
            state([]), state([(1, "2024-05-01 12:00:00")]), state([]), state([(1, "2024-05-01 12:00:09")])
        ).different
        != ()
    )


def test_a_statement_that_changes_nothing_never_passes_where_golden_does() -> None:
    before = state(START)
    after = State(before.tables, {**before.catalogue, "index t(v)": {"table": "t"}})
    found = describe_difference(before, after, before, before)
    assert found.missing == ("changes nothing, golden does",)
    assert describe_difference(before, before, before, before).missing == ()


def test_catalogue_differences_are_reported_and_strict_decides() -> None:
    before = State({}, {})
    golden = State({}, {"table t": {"table": "t"}, "column t.a": {"table": "t", "name": "a", "type": "VARCHAR(10)"}})
    generated = State(
        {}, {"table t": {"table": "t"}, "column t.a": {"table": "t", "name": "a", "type": "TEXT"}, "index t(a)": {"table": "t"}}
    )
    found = describe_difference(before, golden, before, generated)
    assert found.wrong(eval_decides=False, strict=False) == ()
    assert found.catalogue == ("column t.a: type is TEXT, golden's VARCHAR(10)", "creates index t(a), which golden does not")
    assert found.wrong(eval_decides=False, strict=True) == found.catalogue


def test_a_table_that_one_side_lacks_is_said_once() -> None:
    before = State({}, {})
    after = {"table t": {"table": "t"}, "column t.a": {"table": "t", "name": "a"}, "primary key t(a)": {"table": "t"}}
    found = describe_difference(before, State({}, after), before, State({}, {}))
    assert found.missing == ("does not create table t",)


def test_unread_tables_stay_unread() -> None:
    def unread() -> Any:
        raise AssertionError

    same = TableState(("a",), (), unread)
    before = State({"big": same}, {})
    assert describe_difference(before, before, before, State({"big": same}, {})).wrong(eval_decides=False, strict=True) == ()


def test_large_tables_are_compared_by_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nl2sql_gate.state.tables.MAX_ROWS", 2)
    before = state(START)
    assert before.tables["t"].content.rows is None
    assert describe_difference(before, state(START), before, state(START[::-1])).different == ()
    assert "compared by digest" in describe_difference(before, state(START), before, state([*START[:2], (3, "z")])).different[0]


cells = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(allow_nan=True), st.text(max_size=2), st.lists(st.integers(), max_size=2)
)


@given(st.lists(st.tuples(cells, cells), max_size=6), st.randoms())
def test_equality_does_not_depend_on_row_order(rows: list[tuple[Any, ...]], random: Any) -> None:
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert table("a b", rows) == table("a b", shuffled)


@given(st.lists(st.tuples(cells, cells), max_size=6))
def test_any_row_can_be_counted_and_equals_itself(rows: list[tuple[Any, ...]]) -> None:
    assert [frozen_row(row) for row in rows] == [frozen_row(row) for row in rows]
    before = state([])
    assert describe_difference(before, state(rows), before, state(rows)).wrong(eval_decides=False, strict=True) == ()
