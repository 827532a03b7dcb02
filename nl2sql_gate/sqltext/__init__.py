"""SQL as text: splitting scripts, finding SQL in replies, and what a parser can tell about it.

Importing this costs nothing: each name brings its module when it is first used, and the parser is loaded by the first function
that needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2sql_gate.sqltext.canonical import canonical_sql
    from nl2sql_gate.sqltext.database_names import with_database_renamed
    from nl2sql_gate.sqltext.extract import extract_sql
    from nl2sql_gate.sqltext.kinds import query_type_of, statement_kinds
    from nl2sql_gate.sqltext.limits import limit_of, with_limit
    from nl2sql_gate.sqltext.order import TopLevelOrder, top_level_order, with_keys_appended
    from nl2sql_gate.sqltext.split import Statement, is_blank, iter_statements, split_batches, split_statements
    from nl2sql_gate.sqltext.transactions import transaction_control
    from nl2sql_gate.sqltext.volatile import names_clock_or_random
    from nl2sql_gate.sqltext.written import tables_written

__all__ = [
    "Statement",
    "TopLevelOrder",
    "canonical_sql",
    "extract_sql",
    "is_blank",
    "iter_statements",
    "limit_of",
    "names_clock_or_random",
    "query_type_of",
    "split_batches",
    "split_statements",
    "statement_kinds",
    "tables_written",
    "top_level_order",
    "transaction_control",
    "with_database_renamed",
    "with_keys_appended",
    "with_limit",
]

_MODULES = {
    **dict.fromkeys(("Statement", "is_blank", "iter_statements", "split_batches", "split_statements"), "split"),
    **dict.fromkeys(("TopLevelOrder", "top_level_order", "with_keys_appended"), "order"),
    **dict.fromkeys(("limit_of", "with_limit"), "limits"),
    **dict.fromkeys(("query_type_of", "statement_kinds"), "kinds"),
    "canonical_sql": "canonical",
    "extract_sql": "extract",
    "names_clock_or_random": "volatile",
    "tables_written": "written",
    "transaction_control": "transactions",
    "with_database_renamed": "database_names",
}


def __getattr__(name: str) -> Any:
    """The public name, from its module."""
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
