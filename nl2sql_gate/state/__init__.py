"""What a database holds before and after a statement, and how two effects differ, in words."""

from nl2sql_gate.state.difference import StateDifference, describe_difference
from nl2sql_gate.state.tables import Content, TableState, content_of

__all__ = ["Content", "StateDifference", "TableState", "content_of", "describe_difference"]
