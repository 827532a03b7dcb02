"""The words with which SQL statements begin, and how a sentence that begins with one of them differs."""

from __future__ import annotations

import re

_KINDS = (
    r"(?:OR\s+REPLACE\s+|OR\s+ALTER\s+|GLOBAL\s+|LOCAL\s+|TEMP\s+|TEMPORARY\s+|UNLOGGED\s+|EXTERNAL\s+|MATERIALIZED\s+"
    r"|RECURSIVE\s+|UNIQUE\s+|CLUSTERED\s+|NONCLUSTERED\s+|FULLTEXT\s+|SPATIAL\s+|VIRTUAL\s+|DEFINER\b.{0,80}?\s|CONSTRAINT\s+|EVENT\s+)*"
    r"(?:TABLE|VIEW|INDEX|TRIGGER|FUNCTION|PROCEDURE|PROC|SCHEMA|DATABASE|SEQUENCE|TYPE|DOMAIN|ROLE|USER|LOGIN|EXTENSION|MACRO"
    r"|EVENT|RULE|POLICY|COLLATION|CAST|AGGREGATE|OPERATOR|SYNONYM|SERVER|LANGUAGE|PUBLICATION|STATISTICS|SYSTEM|TRIGGER|SECRET)\b"
)
_FORMS = rf"""
    SELECT\b(?!\w) | VALUES\s*(?:\(|ROW\b) | TABLE\s+[\w"`\[] | FROM\s+[\w"`\[(]
  | WITH\s+(?:RECURSIVE\s+)?[\w"`\[\]. ]+?\s*(?:\([^()]*\)\s*)?AS\b
  | INSERT\s+(?:INTO|OR|IGNORE|OVERWRITE|LOW_PRIORITY|DELAYED|HIGH_PRIORITY|TOP|[\w"`\[.\]]+\s*(?:\(|VALUES\b|SELECT\b))
  | REPLACE\s+(?:INTO\b|[\w"`\[.\]]+\s*(?:\(|VALUES\b|SELECT\b))
  | UPDATE\s+(?:[^;'"]|'[^']*'|"[^"]*"){{1,400}}?\bSET\b
  | DELETE\s+(?:FROM|TOP|IGNORE|QUICK|LOW_PRIORITY|[\w"`\[.\]]+\s+(?:FROM|WHERE)\b)
  | MERGE\s+(?:INTO\s+)?\S+ .{{0,200}}?\bUSING\b | TRUNCATE\s+(?:TABLE\s+)?[\w"`\[]
  | CREATE\s+{_KINDS} | ALTER\s+{_KINDS} | DROP\s+{_KINDS} | RENAME\s+TABLE\b | COMMENT\s+ON\b
  | EXPLAIN\b | DESCRIBE\s+\S | DESC\s+\S | SHOW\s+[A-Z] | PRAGMA\s+\w | SUMMARIZE\s+\S | (?:UN)?PIVOT\s+\S
  | BEGIN\b | START\s+TRANSACTION\b | COMMIT\b | ROLLBACK\b | SAVEPOINT\s+\w | RELEASE\s+\w | END\b | DECLARE\s+@?\w
  | SET\s+[\w@]
  | EXEC(?:UTE)?\s+[\w\[(] | CALL\s+[\w.]+\s*\( | USE\s+[\w`\[]+\s*(?:;|\n|\Z) | GRANT\s+\w.{{0,200}}?\bON\b | REVOKE\s+\w
  | ANALY[ZS]E\b | VACUUM\b | COPY\s+\S | LOAD\s+\S | ATTACH\s+\S | DETACH\s+\S | LOCK\s+\S | DO\s+(?:\$|') | RESET\s+\w
  | INSTALL\s+\w | REINDEX\b | REFRESH\s+MATERIALIZED\b | PREPARE\s+\w | DEALLOCATE\s+\w
  | IF\s+.{{0,200}}?\b(?:BEGIN|SELECT|DROP)\b
  | PRINT\s+['@N] | OPTIMIZE\s+TABLE\b | HANDLER\s+\w | KILL\s+\d
"""
_FORM = re.compile(rf"\(*+\s*+(?:{_FORMS})", re.IGNORECASE | re.VERBOSE | re.DOTALL)
_FIRST_WORD = re.compile(
    r"[\s(]*+(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|REPLACE|CREATE|ALTER|DROP|TRUNCATE|VALUES|EXPLAIN|PRAGMA|DECLARE|BEGIN|EXEC"
    r"|EXECUTE|CALL|SHOW|DESCRIBE|SET|USE|FROM|TABLE|GRANT|REVOKE|COPY|ATTACH|VACUUM|COMMIT|ROLLBACK|START|COMMENT|RENAME|PIVOT"
    r"|SUMMARIZE|ANALYZE|LOAD|--|/\*)(?!\w)",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    # Not in `i.name`: there it is the alias of a table.
    r"(?<!\.)\b(?:the|this|that|these|those|you|we|i|it|are|will|would|which|should|because|here|your|our|they|be|of|to|there|has|have)\b(?!\.\w)",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'(?:[^']|'')*'")
_PUNCTUATION = re.compile(r"""[*=<>(),;'"`\[\]\d|]""")
_SENTENCE_END = re.compile(r"[.:!?…][\"'*_)`]*+\s*+\Z")
_LONGEST_LINE = 300
LOOKED_AT = 4000
"""Characters from which the beginning of a statement is judged."""


def starts_statement(text: str) -> bool:
    """Whether `text` begins with a word that begins a statement, or with a comment."""
    return _FIRST_WORD.match(text[:LOOKED_AT]) is not None


def is_plausible(text: str) -> bool:
    """Whether the beginning of `text` has the form of a statement and not that of an English sentence."""
    head = text[:LOOKED_AT]
    if _FORM.match(head) is None:
        return False
    line = head.lstrip()[:_LONGEST_LINE].partition("\n")[0]
    english = english_words(line)
    if _SENTENCE_END.search(line) and english:
        return False
    return not english or _PUNCTUATION.search(line) is not None


def english_words(line: str) -> int:
    """How many words of `line` are common in English sentences and rare in SQL."""
    return len(_ENGLISH.findall(_LITERAL.sub("''", line)))
