"""What is wrong with a dataset before a model is asked: findings with id, severity, item and the smallest evidence."""

from nl2sql_gate.audit.findings import CATALOGUE, Finding, Severity

__all__ = ["CATALOGUE", "Finding", "Severity"]
