"""Exact match: whether generated SQL is golden SQL but for its spelling."""

from __future__ import annotations

from nl2sql_gate.records import Case, Reason, Score
from nl2sql_gate.sqltext.canonical import canonical_sql


class ExactMatch:
    """1 if the generated SQL is one of the golden queries in canonical spelling, else 0.

    Rows, columns and values are not looked at. Spelling that makes no difference: white space, comments, letter case where the
    dialect folds it, needless quotes, and synonyms of the dialect (`!=`, INNER, AS). Aliases and the order of conditions do.
    SQL that the parser does not understand compares as text without regard to white space.
    Forgives nothing else: an equivalent query written otherwise is 0, so this is no measure of being right.
    Differs from Spider's exact set match, which compares clauses as sets and ignores literal values.
    """

    name = "exact_match"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        generated = _spelling(case.generated.sql, case.dialect)
        golden = [_spelling(side.sql, case.dialect) for side in case.goldens]
        if generated in golden:
            return Score(1.0, version=self.version)
        return Score(0.0, Reason("other_sql", "the SQL is written otherwise", {"golden": golden[0], "generated": generated}))


def _spelling(sql: str, dialect: str) -> str:
    return canonical_sql(sql, dialect) or " ".join(sql.split()).rstrip("; ")
