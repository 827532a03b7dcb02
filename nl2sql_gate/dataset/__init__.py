"""Datasets: items with golden SQL from files, the filters over them, and the data that their databases are built from."""

from nl2sql_gate.dataset.digest import case_digest
from nl2sql_gate.dataset.filters import Only, effective_dialects, parse_only, select
from nl2sql_gate.dataset.load import load
from nl2sql_gate.dataset.query_types import effective_query_type
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.setup_directory import read_source, read_sources

__all__ = [
    "Only",
    "ReadOptions",
    "case_digest",
    "effective_dialects",
    "effective_query_type",
    "load",
    "parse_only",
    "read_source",
    "read_sources",
    "select",
]
