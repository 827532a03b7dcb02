"""Which two errors are not put into one statement: the second would undo the first, hide it, or be the same again."""

from __future__ import annotations

_SAME_PLACE: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "where_condition_flip where_strengthen where_weaken where_remove",
        "where_predicate_delete where_remove",
        "where_column_swap where_remove",
        "connective_swap where_remove",
        "parenthesis_remove where_remove",
        "parenthesis_remove connective_swap",
        "having_condition_flip having_boundary having_remove",
        "having_predicate_delete having_remove",
        "limit_increase limit_decrease limit_remove limit_add",
        "order_remove order_direction_flip",
        "order_remove order_key_drop",
        "order_remove order_key_swap",
        "order_remove nulls_order_flip",
        "order_direction_flip nulls_order_flip",
        "join_break join_type_to_left join_type_to_inner",
        "join_break join_key_swap",
        "join_break join_condition_drop",
        "join_break join_comparison",
        "join_break join_condition_to_where",
        "join_condition_to_where join_type_to_inner",
        "aggregation_swap aggregate_distinct_toggle count_rows aggregate_remove",
        "group_by_key_drop group_by_key_add group_by_key_swap group_by_remove",
        "null_check_flip null_compare",
        "round_digits round_remove dialect_function",
        "nested_condition_flip nested_boundary nested_filter_remove",
        "nested_predicate_delete nested_filter_remove",
        "nested_predicate_delete correlation_remove",
        "arithmetic_swap operand_swap",
        "union_all_toggle set_operation_swap set_branch_drop",
        "window_order_flip rank_swap",
        "case_branch_drop case_condition",
        "date_boundary where_remove",
        "number_shift where_remove",
        "text_case where_remove",
        "text_case case_fold_remove",
        "projection_add_column projection_drop",
        "add_star_wildcard projection_add_column",
        "assignment_drop assignment_column_swap",
        "constraint_drop default_change",
        "index_columns index_unique_toggle",
    )
)
_PAIRS: frozenset[frozenset[str]] = frozenset(
    frozenset((one, other)) for names in _SAME_PLACE for one in names for other in names if one != other
)


def conflict(one: str, other: str) -> bool:
    """Whether these two operators are kept apart; every operator conflicts with itself."""
    return one == other or frozenset((one, other)) in _PAIRS


def fits(names: tuple[str, ...], name: str) -> bool:
    """Whether `name` may follow the operators that were applied already."""
    return not any(conflict(earlier, name) for earlier in names)
