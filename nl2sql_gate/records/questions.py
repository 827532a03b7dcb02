"""A question on its way to the generator and back: key, prompt, completion, and the SQL in it or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nl2sql_gate.records.databases import Schema
from nl2sql_gate.records.items import Item


class CaseKey(NamedTuple):
    """One item in one dialect in one trial. `dialect` is the service's name where several services speak one dialect."""

    id: str
    dialect: str
    database: str
    trial: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is sent, as chat messages `(role, content)`; `digest` is the template's, not the text's."""

    messages: tuple[tuple[str, str], ...]
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question for a generator: the prompt, and the parts for generators that build their own request."""

    key: CaseKey
    dialect: str
    item: Item
    prompt: Prompt
    schema: Schema
    dsn: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. `finish` is `stop`, `length`, `content_filter`, `refusal` or the provider's own word.

    `text` is the reply whole, or the arguments of its tool call. `cost` in the currency of the settings' prices.
    """

    text: str
    finish: str = "stop"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency_s: float | None = None
    attempts: int = 1
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class SqlText:
    """SQL as it stood in a completion, unedited; `rule` names how it was found."""

    sql: str
    rule: str


@dataclass(frozen=True, slots=True)
class NoSql:
    """Why a completion holds no SQL: `code` is `empty`, `prose`, `refusal`, `truncated`, `content_filter`, `context_length` …"""

    code: str
    message: str
