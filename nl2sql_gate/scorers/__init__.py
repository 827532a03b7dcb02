"""Scorers: one metric each, found through the entry points `nl2sql_gate.scorers`."""
