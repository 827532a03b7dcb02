"""The values of a run, frozen, in the order in which an item becomes them.

`items` and `databases` are read, `questions` are asked, `results` come of running SQL, `scores` of comparing them, `runs` hold
all of it. What a cell may be is told in `results`.
"""

from __future__ import annotations

from nl2sql_gate.records.databases import Column, DatabaseSource, Limits, Schema, ServiceFacts, SetupStatement, Table, TableData
from nl2sql_gate.records.items import Dataset, Item, Place, QueryType, SqlField, Warned
from nl2sql_gate.records.questions import Ask, CaseKey, Completion, NoSql, Prompt, SqlText
from nl2sql_gate.records.results import FREE_ORDER, Cell, Execution, Json, ResultSet, Row, RowOrder, Side, SqlError, State
from nl2sql_gate.records.runs import MODEL_FAILURES, CaseResult, Outcome, Run
from nl2sql_gate.records.scores import Case, Reason, Score, ScoreFault

__all__ = [
    "FREE_ORDER",
    "MODEL_FAILURES",
    "Ask",
    "Case",
    "CaseKey",
    "CaseResult",
    "Cell",
    "Column",
    "Completion",
    "DatabaseSource",
    "Dataset",
    "Execution",
    "Item",
    "Json",
    "Limits",
    "NoSql",
    "Outcome",
    "Place",
    "Prompt",
    "QueryType",
    "Reason",
    "ResultSet",
    "Row",
    "RowOrder",
    "Run",
    "Schema",
    "Score",
    "ScoreFault",
    "ServiceFacts",
    "SetupStatement",
    "Side",
    "SqlError",
    "SqlField",
    "SqlText",
    "State",
    "Table",
    "TableData",
    "Warned",
]
