"""All error operators, in the order in which they are tried: SQLMorph's fifteen first."""

from __future__ import annotations

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators import (
    definitions,
    filters,
    functions,
    grouping,
    joins,
    nulls,
    ordering,
    projection,
    scopes,
    sets,
    values,
    windows,
    writes,
)

_MODULES = (
    projection, filters, joins, grouping, ordering, values, nulls, functions, scopes, sets, windows, writes, definitions,
)  # fmt: skip
_ALL = tuple(operator for module in _MODULES for operator in module.OPERATORS)

OPERATORS: tuple[Operator, ...] = (
    *(operator for operator in _ALL if operator.published),
    *(operator for operator in _ALL if not operator.published),
)
BY_NAME: dict[str, Operator] = {operator.name: operator for operator in OPERATORS}
