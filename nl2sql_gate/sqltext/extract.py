"""Find the SQL in a completion, or say why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql_gate.records import Completion, NoSql, SqlText
from nl2sql_gate.sqltext.fences import Fence, fenced_blocks
from nl2sql_gate.sqltext.json_reply import JsonField, embedded_sql_field, sql_field
from nl2sql_gate.sqltext.lexis import code_at
from nl2sql_gate.sqltext.prose import Budget, find_unmarked
from nl2sql_gate.sqltext.refusal import is_refusal
from nl2sql_gate.sqltext.split import is_blank
from nl2sql_gate.sqltext.statement_words import LOOKED_AT, is_plausible, starts_statement
from nl2sql_gate.sqltext.tags import tagged_texts
from nl2sql_gate.sqltext.thinking import without_thinking
from nl2sql_gate.sqltext.typography import decoded

_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "content-filter", "safety", "recitation", "blocklist", "prohibited_content"}
_TOO_LONG = {"context_length", "context_length_exceeded", "model_context_window_exceeded"}

_MOST_BLOCKS = 500
"""The last of a reply's blocks that are looked at."""


@dataclass(frozen=True, slots=True)
class _Found:
    """SQL with the rule that found it; `is_closed` where marks show that it is complete."""

    sql: str
    rule: str
    is_closed: bool = False


def extract_sql(completion: Completion, dialect: str) -> SqlText | NoSql:
    """The SQL in `completion`, or why there is none.

    In this order: fenced blocks (the last that holds SQL wins, since models restate and correct themselves), a JSON field, tags,
    the bare reply, the first statement among prose. Thinking is left out. A text that no parser understands is returned as it is:
    the engine decides what is valid in its dialect. `rule` is `fence`, `json:<key>`, `tag:<name>`, `bare` or `prose`, followed by
    `+typography` where curly quotes or no-break blanks were decoded.
    """
    finish = completion.finish.lower()
    if finish in _FILTERED:
        return NoSql("content_filter", f"The provider's content filter withheld the reply (finish reason {completion.finish}).")
    if finish == "refusal":
        return NoSql("refusal", "The model refused to answer (finish reason refusal).")
    if finish in _TOO_LONG:
        return NoSql(
            "context_length", "The prompt does not fit into the model's context window: show fewer tables or sample values."
        )
    spoken = without_thinking((completion.text or "").removeprefix("\ufeff"))
    found = _find(spoken.text, dialect, Budget()) if spoken.text.strip() else None
    if finish in _CUT_OFF and not (found and found.is_closed and not is_blank(found.sql, dialect)):
        return NoSql(
            "truncated",
            f"The reply was cut off at the token limit (finish reason {completion.finish}) before its SQL was complete:"
            " raise the limit on output tokens.",
        )
    if found is not None and not is_blank(found.sql, dialect):
        sql = decoded(found.sql, dialect)
        return SqlText(sql, found.rule if sql == found.sql else f"{found.rule}+typography")
    return _why_none(spoken.text, found, is_unfinished=spoken.is_unfinished, had_thoughts=bool((completion.text or "").strip()))


def _why_none(text: str, found: _Found | None, *, is_unfinished: bool, had_thoughts: bool) -> NoSql:
    if is_refusal(text):
        return NoSql("refusal", "The model declined to answer in words.")
    if is_unfinished and not text.strip():
        return NoSql("empty", "The reply holds nothing but thinking that never came to an answer.")
    if not text.strip():
        return NoSql("empty", "The reply holds nothing but thinking." if had_thoughts else "The reply is empty.")
    if found is not None:
        if found.sql.strip():
            return NoSql("comment_only", "The reply's SQL is only a comment.")
        return NoSql("empty", "The reply has a place for SQL and nothing in it.")
    return NoSql("prose", "The reply holds text and no SQL statement.")


def _find(text: str, dialect: str, budget: Budget) -> _Found | None:
    whole = sql_field(text)
    if whole is not None:
        return _from_json(whole, dialect, budget)
    blocks = fenced_blocks(text)
    return (
        _from_fences(blocks, dialect, budget)
        or (_from_json(field, dialect, budget) if not blocks and (field := embedded_sql_field(text)) else None)
        or _from_tags(text, dialect, budget)
        or _from_words(text, dialect, budget)
        or _empty_block(blocks)
    )


def _from_fences(blocks: list[Fence], dialect: str, budget: Budget) -> _Found | None:
    """The last block that holds SQL; blocks in another language only where no other does."""
    blocks = [block for block in blocks[-_MOST_BLOCKS:] if block.content]
    for block in reversed(blocks):
        if block.is_sql and not is_blank(block.content, dialect):
            return _Found(block.content, "fence", is_closed=block.is_closed)
        if not block.language and _is_sql(block.content, dialect):
            return _Found(block.content, "fence", is_closed=block.is_closed)
        if (block.is_json or not block.language) and (field := sql_field(block.content)) and field.value.strip():
            inner = _from_json(field, dialect, budget)
            if inner is not None:
                return _Found(inner.sql, f"fence+{inner.rule}", is_closed=block.is_closed)
    for block in reversed(blocks):
        if _is_sql(block.content, dialect) and budget.understood(block.content, dialect):
            return _Found(block.content, "fence", is_closed=block.is_closed)
    return None


def _empty_block(blocks: list[Fence]) -> _Found | None:
    """A block that was meant for SQL and holds none: better told than prose."""
    return next((_Found(block.content, "fence") for block in reversed(blocks) if block.is_sql or not block.content), None)


def _from_json(field: JsonField, dialect: str, budget: Budget) -> _Found | None:
    rule = f"json:{field.key}"
    value = field.value.strip()
    if not value or _is_sql(value, dialect) or starts_statement(value):
        return _Found(value, rule, is_closed=field.is_closed)
    blocks = fenced_blocks(value)
    inner = _from_fences(blocks, dialect, budget) or _from_tags(value, dialect, budget) or _from_words(value, dialect, budget)
    return _Found(inner.sql, rule, is_closed=field.is_closed) if inner else None


def _from_tags(text: str, dialect: str, budget: Budget) -> _Found | None:
    texts = [tagged for tagged in tagged_texts(text)[-_MOST_BLOCKS:] if tagged.content]
    for tagged in reversed(texts):
        if _is_sql(tagged.content, dialect):
            return _Found(tagged.content, f"tag:{tagged.name}", is_closed=tagged.is_closed)
    for tagged in reversed(texts):
        if tagged.name.startswith(("sql", "final", "answer")) and (inner := _from_words(tagged.content, dialect, budget)):
            return _Found(inner.sql, f"tag:{tagged.name}", is_closed=tagged.is_closed)
    return None


def _from_words(text: str, dialect: str, budget: Budget) -> _Found | None:
    found = find_unmarked(text, dialect, budget)
    return _Found(found.sql, "bare" if found.is_whole else "prose") if found else None


def _is_sql(text: str, dialect: str) -> bool:
    """Whether `text` begins, after comments, as a statement does and a sentence does not."""
    return is_plausible(code_at(text, 0, dialect, length=LOOKED_AT))
