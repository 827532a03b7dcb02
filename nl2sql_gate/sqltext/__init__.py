"""SQL as text: splitting scripts, finding SQL in replies, and what a parser can tell about it.

Importing this costs nothing: the parser is loaded by the first function that needs it.
"""

from nl2sql_gate.sqltext.extract import extract_sql
from nl2sql_gate.sqltext.split import Statement, is_blank, iter_statements, split_batches, split_statements

__all__ = ["Statement", "extract_sql", "is_blank", "iter_statements", "split_batches", "split_statements"]
