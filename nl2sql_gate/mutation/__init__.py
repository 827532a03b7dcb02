"""Query mutation: golden SQL with the errors that models make, deterministic by seed, in every dialect that can be parsed.

Pure text to text; whether a mutant runs and differs is found out by `nl2sql_gate.mutation_testing`. Importing this costs nothing:
each name brings its module, and with it the parser, when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2sql_gate.mutation.conflicts import conflict
    from nl2sql_gate.mutation.engine import Mutant, Mutations, Recipe, mutate, mutate_in_turn
    from nl2sql_gate.mutation.operator import Operator
    from nl2sql_gate.mutation.operators import OPERATORS

__all__ = ["OPERATORS", "Mutant", "Mutations", "Operator", "Recipe", "conflict", "mutate", "mutate_in_turn"]

_MODULES = {
    **dict.fromkeys(("Mutant", "Mutations", "Recipe", "mutate", "mutate_in_turn"), "engine"),
    "OPERATORS": "operators",
    "Operator": "operator",
    "conflict": "conflicts",
}


def __getattr__(name: str) -> Any:
    """The public name, from its module."""
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
