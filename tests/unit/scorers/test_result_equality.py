"""Multisets of rows, order with ties, and columns in other orders."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from nl2sql_gate.records import ResultSet, RowOrder
from nl2sql_gate.scorers.result_equality import equal_results
from nl2sql_gate.scorers.row_matching import match_rows


def table(*rows: tuple[Any, ...], width: int = 0) -> ResultSet:
    return ResultSet(tuple(f"c{i}" for i in range(width or len(rows[0]))), rows)


def test_row_order_does_not_count_without_order_by() -> None:
    assert equal_results(table((1,), (2,)), table((2,), (1,)))


def test_lost_duplicates_are_wrong() -> None:
    assert not equal_results(table((1,), (1,), (2,)), table((1,), (2,)))
    assert not equal_results(table((1,), (1,), (2,)), table((1,), (2,), (2,)))


def test_scrambled_columns_are_wrong() -> None:
    assert not equal_results(table((1, "a"), (2, "b")), table((1, "b"), (2, "a")))


def test_column_names_do_not_count() -> None:
    assert equal_results(ResultSet(("n",), ((1,),)), ResultSet(("total",), ((1,),)))


def test_empty_results_are_equal_when_they_are_as_wide() -> None:
    assert equal_results(table(width=1), table(width=1))
    assert not equal_results(table(width=1), table(width=2))
    assert not equal_results(table((1,)), table(width=1))


def test_an_empty_result_with_more_columns_is_a_superset() -> None:
    assert equal_results(table(width=1), table(width=2), columns="superset")
    assert not equal_results(table(width=2), table(width=1), columns="superset")


@pytest.mark.parametrize(
    "keys, generated, equal",
    [
        ([(7,), (2,), (2,)], ["Kobe", "Lodz", "Nice"], True),
        ([(7,), (2,), (2,)], ["Kobe", "Nice", "Lodz"], True),
        ([(7,), (2,), (2,)], ["Lodz", "Kobe", "Nice"], False),
        ([(None,), (None,), (2,)], ["Lodz", "Kobe", "Nice"], True),
        ([(0.3,), (0.1 + 0.2,), (2,)], ["Lodz", "Kobe", "Nice"], True),
        ([(1, "a"), (1, "b"), (1, "b")], ["Kobe", "Nice", "Lodz"], True),
        ([(1, "a"), (1, "b"), (1, "b")], ["Nice", "Lodz", "Kobe"], False),
    ],
)
def test_only_rows_that_tie_may_change_places(keys: list[Any], generated: list[str], equal: bool) -> None:
    golden = table(("Kobe",), ("Lodz",), ("Nice",))
    order = RowOrder("keys", tuple(keys))
    assert equal_results(golden, table(*((name,) for name in generated)), order=order) is equal


def test_strict_order_lets_no_row_move() -> None:
    assert equal_results(table((1,), (2,)), table((1.0,), (2,)), order=RowOrder("strict"))
    assert not equal_results(table((1,), (2,)), table((2,), (1,)), order=RowOrder("strict"))


def test_keys_that_do_not_fit_the_rows_let_no_row_move() -> None:
    assert not equal_results(table((1,), (2,)), table((2,), (1,)), order=RowOrder("keys", ((1,),)))


@pytest.mark.parametrize(
    "columns, generated, equal",
    [
        ("position", table(("a", 1), ("b", 2)), False),
        ("any_order", table(("a", 1), ("b", 2)), True),
        ("any_order", table(("b", 1), ("a", 2)), False),
        ("any_order", table(("a", 1, 0), ("b", 2, 0)), False),
        ("superset", table(("a", 0, 1), ("b", 0, 2)), True),
        ("superset", table(("a", 0, 2), ("b", 0, 1)), False),
        ("superset", table((1,), (2,)), False),
    ],
)
def test_columns_setting(columns: str, generated: ResultSet, equal: bool) -> None:
    assert equal_results(table((1, "a"), (2, "b")), generated, columns=columns) is equal


def test_reordered_columns_still_keep_the_order_of_rows() -> None:
    golden, order = table((1, "b"), (2, "a")), RowOrder("strict")
    assert equal_results(golden, table(("b", 1), ("a", 2)), order=order, columns="any_order")
    assert not equal_results(golden, table(("a", 2), ("b", 1)), order=order, columns="any_order")


def test_reordered_columns_of_noisy_floats_and_nulls_and_arrays() -> None:
    golden = table((0.3, None, [1]), (1.0, "x", [2]))
    generated = table(([2], 1, "x"), ([1], 0.1 + 0.2, None))
    assert equal_results(golden, generated, columns="any_order")


def test_many_rows_of_noisy_floats_pair_up() -> None:
    rng = random.Random(5)  # noqa: S311 - reproducible tables
    golden = [(i % 7, rng.choice([0.1, 0.2, 0.3])) for i in range(5000)]
    generated = [(i, value * (1 + rng.choice([0, 1e-12, -1e-12]))) for i, value in golden]
    rng.shuffle(generated)
    assert match_rows(golden, generated).equal
    generated[17] = (generated[17][0], 0.2000001)
    assert len(match_rows(golden, generated).missing) == 1


def test_near_floats_pair_by_a_maximum_matching() -> None:
    """Each pair is close, but a greedy choice would leave one pair over."""
    step = 0.7e-9
    golden = [(1.0, 5.0), (1.0 + step, 5.0 + 5 * step / 7)]
    generated = [(1.0 + step / 7, 5.0 + step), (1.0 - step / 7, 5.0)]
    assert match_rows(golden, generated).equal


def test_decimals_close_to_one_float_are_not_equal_to_each_other() -> None:
    one, other = Decimal("1.0000000001"), Decimal("1.0000000002")
    assert not match_rows([(one,)], [(other,)]).equal
    assert match_rows([(one,), (1.0,)], [(1.0,), (other,)]).matched == 1
    assert match_rows([(one,), (1.00000000005,)], [(1.0,), (other,)]).equal


def test_column_order_is_exact_against_brute_force() -> None:
    rng = random.Random(11)  # noqa: S311 - reproducible tables
    wrong = []
    for _ in range(4000):
        width, height, values = rng.randrange(1, 6), rng.randrange(1, 8), rng.randrange(1, 4)
        golden = [tuple(rng.randrange(values) for _ in range(width)) for _ in range(height)]
        order = rng.sample(range(width), width)
        generated = [tuple(row[c] for c in order) for row in golden]
        rng.shuffle(generated)
        if rng.random() < 0.5:
            row = rng.randrange(height)
            generated[row] = (*generated[row][:-1], rng.randrange(values))
        truth = any(
            Counter(golden) == Counter(tuple(row[c] for c in choice) for row in generated)
            for choice in itertools.permutations(range(width))
        )
        if equal_results(table(*golden), table(*generated), columns="any_order") is not truth:
            wrong.append((golden, generated, truth))
    assert wrong == []


def test_added_columns_are_exact_against_brute_force() -> None:
    rng = random.Random(12)  # noqa: S311 - reproducible tables
    wrong = []
    for _ in range(700):
        width, more, height, values = rng.randrange(1, 4), rng.randrange(1, 3), rng.randrange(1, 7), rng.randrange(1, 4)
        golden = [tuple(rng.randrange(values) for _ in range(width)) for _ in range(height)]
        order = rng.sample(range(width + more), width + more)
        wide = [(*row, *(rng.randrange(values) for _ in range(more))) for row in golden]
        generated = [tuple(row[c] for c in order) for row in wide]
        rng.shuffle(generated)
        if rng.random() < 0.5:
            row = rng.randrange(height)
            generated[row] = (rng.randrange(values), *generated[row][1:])
        truth = any(
            Counter(golden) == Counter(tuple(row[c] for c in choice) for row in generated)
            for choice in itertools.permutations(range(width + more), width)
        )
        if equal_results(table(*golden), table(*generated), columns="superset") is not truth:
            wrong.append((golden, generated, truth))
    assert wrong == []
