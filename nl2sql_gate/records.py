"""The values of a run, frozen, in the order in which an item becomes them.

Cells are `None | bool | int | float | Decimal | str | bytes | date | datetime | time | timedelta | UUID`,
`list` for arrays and `Json` for documents. What Python cannot hold (years beyond 9999, BC, `infinity`) is the
database's own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nl2sql_gate.dialects import lookup_order

QueryType = Literal["dql", "dml", "ddl"]
Cell = Any
Row = tuple[Cell, ...]


# ---- the dataset ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SqlField:
    """The SQL of one field of an item, per dialect: non-blank strings only, possibly none."""

    by_dialect: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()

    def pick(self, dialect: str) -> tuple[str, ...]:
        """The SQL for `dialect`; MariaDB takes MySQL's where it has none of its own."""
        for name in lookup_order(dialect):
            if self.by_dialect.get(name):
                return self.by_dialect[name]
        return self.everywhere

    def __bool__(self) -> bool:
        """Whether any dialect has SQL here."""
        return bool(self.everywhere) or any(self.by_dialect.values())


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something stands; `line` counts from 1, 0 where unknown."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its golden SQL in every dialect that the author gives."""

    id: str
    question: str
    query_type: QueryType
    database: str
    dialects: tuple[str, ...]
    golden_sql: SqlField
    evidence: str = ""
    eval_query: SqlField = SqlField()
    setup_sql: SqlField = SqlField()
    cleanup_sql: SqlField = SqlField()
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)
    columns: str = ""
    golden_mode: str = ""
    state: str = ""
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a user should know that stops nothing. `code` is stable, `subject` an item id or a file."""

    code: str
    message: str
    subject: str = ""
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items in file order, and what was odd about the file. `digest` is sha256 over the parsed content."""

    items: tuple[Item, ...]
    path: str
    digest: str
    warnings: tuple[Warned, ...] = ()


# ---- databases -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetupStatement:
    """One statement of a setup script, unedited, with the place of its first word.

    `data` holds the lines that follow PostgreSQL's `COPY … FROM stdin`, as a dump has them.
    """

    text: str
    place: Place
    data: str = ""


@dataclass(frozen=True, slots=True)
class TableData:
    """Rows for one table. `columns` is empty where the file has no header: then rows are positional."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """All that builds one database in one dialect, in order: pre, setup, tables, post. `digest` covers all of it.

    `sqlite_file` is the path of a SQLite file to be copied instead, where `dialect` is sqlite; the rest is then empty.
    `transpiled_from` is the dialect whose scripts or files this was translated from; `warnings` say what could not be.
    """

    name: str
    dialect: str
    digest: str
    pre: tuple[SetupStatement, ...] = ()
    setup: tuple[SetupStatement, ...] = ()
    tables: tuple[TableData, ...] = ()
    post: tuple[SetupStatement, ...] = ()
    sqlite_file: str = ""
    transpiled_from: str = ""
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one statement. `None` is no limit."""

    statement_s: float = 30.0
    rows: int = 100_000
    bytes: int | None = None
    memory_mb: int | None = None
    max_clone_mb: int = 512


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What runs the SQL: product and version as the server says, and how we came to it (embedded, given, container)."""

    name: str
    dialect: str
    product: str
    version: str
    way: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column as the catalogue has it; `samples` are distinct values as text, at most as many as were asked for."""

    name: str
    type: str
    nullable: bool = True
    primary_key: bool = False
    comment: str = ""
    default: str = ""
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """One table with its keys. `foreign_keys` holds `(columns, other table, other columns)`."""

    name: str
    columns: tuple[Column, ...]
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    comment: str = ""
    is_view: bool = False
    ddl: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one database, by name; `ddl` is what a prompt shows."""

    database: str
    dialect: str
    tables: tuple[Table, ...]
    ddl: str


# ---- asking --------------------------------------------------------------------------------------------------------


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


# ---- running -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Rows as positional tuples beside their column names; `rowcount` is what the driver says of a write, −1 if unknown."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    rowcount: int = -1
    elapsed_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class SqlError:
    """The database refused the SQL, in its own words.

    `code` is the database's (SQLSTATE, number), `reason` ours: `error`, `timeout`, `too_many_rows`, `too_many_bytes`, `refused`.
    """

    message: str
    code: str = ""
    reason: str = "error"
    elapsed_s: float = field(default=0.0, compare=False)


Execution = ResultSet | SqlError


@dataclass(frozen=True, slots=True, eq=False)
class Json:
    """A JSON document as a cell: compared by content, never by its text. `value` is what `json.loads` gives.

    The order of keys does not count, 1 equals 1.0, and true is not 1, as JSON has it and Python has not.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and _typed(self.value) == _typed(other.value)

    def __hash__(self) -> int:
        return hash(_typed(self.value))


def _typed(value: Any) -> Any:
    """A hashable form of a JSON value in which true and 1 differ."""
    if isinstance(value, bool):
        return ("true",) if value else ("false",)
    if isinstance(value, Mapping):
        return ("object", frozenset((key, _typed(each)) for key, each in value.items()))
    if isinstance(value, list | tuple):
        return ("array", *(_typed(each) for each in value))
    return value


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order that golden SQL demands.

    `free` (no top-level ORDER BY), `keys` (rows may change places within equal `keys`, one key tuple per golden row),
    `strict` (ordered, but the keys could not be had: the item is flagged).
    """

    kind: Literal["free", "keys", "strict"]
    keys: tuple[Row, ...] = ()


FREE_ORDER = RowOrder("free")


@dataclass(frozen=True, slots=True)
class State:
    """What a database held at a moment, so far as comparing effects needs it.

    `tables` maps a table to its rows' multiset digest and count;
    `catalogue` maps an object (`table.column`, `view v`) to a description.
    """

    tables: Mapping[str, Any]
    catalogue: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a case did: its last result; for dml and ddl the eval_query's results and the state before and after.

    An eval query that fails after generated SQL (a missing column, say) is a `SqlError` among `evals`, and a wrong answer.
    `evals_before` are the eval queries' results before the SQL: where golden leaves them as they are, they decide nothing.
    `varies` holds, per eval result (for dql: for the one result), the columns that differ between two golden runs: the cells
    there read `<varies>` on both sides before any scorer sees them.
    `after_again` is golden's state after its second run: what differs there differs by nature.
    """

    sql: str
    result: ResultSet
    evals: tuple[Execution, ...] = ()
    evals_before: tuple[Execution, ...] = ()
    before: State | None = None
    after: State | None = None
    after_again: State | None = None
    order: RowOrder = FREE_ORDER
    eval_orders: tuple[RowOrder, ...] = ()
    varies: tuple[frozenset[int], ...] = ()


# ---- scoring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """What a scorer sees: an answered case. `goldens` are alternatives, any of which is right; for dml and ddl there is one.

    `columns` is `position`, `any_order` or `superset`; `state` is `effects` or `strict`.
    """

    item: Item
    dialect: str
    query_type: QueryType
    goldens: tuple[Side, ...]
    generated: Side
    columns: str = "position"
    state: str = "effects"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, for people (`message`) and for grouping (`code`); `detail` is plain JSON."""

    code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """A value in [0, 1] with its reason; `version` changes when old values stop being comparable."""

    value: float
    reason: Reason | None = None
    version: str = "1"


@dataclass(frozen=True, slots=True)
class ScoreFault:
    """A scorer that could not score this case."""

    fault: str


Outcome = Literal["answered", "no_sql", "sql_error", "timeout", "golden_error", "unscored", "skipped"]
MODEL_FAILURES: tuple[str, ...] = ("no_sql", "sql_error", "timeout")
"""Outcomes that score 0 in every scorer."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case as a run stores it. Results are capped copies for reports, never for scoring."""

    key: CaseKey
    outcome: Outcome
    digest: str
    query_type: QueryType = "dql"
    question: str = ""
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    sql: str = ""
    golden_sql: tuple[str, ...] = ()
    reply: str = ""
    rule: str = ""
    scores: Mapping[str, Score | ScoreFault] = field(default_factory=dict)
    reason: Reason | None = None
    error: SqlError | None = None
    result: ResultSet | None = None
    golden_result: ResultSet | None = None
    result_rows: int = 0
    golden_rows: int = 0
    latency_s: float | None = None
    sql_s: float | None = None
    golden_s: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    model: str = ""
    replayed: bool = False
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """All cases in dataset order, and where they come from.

    `provenance` is plain JSON: what must agree or be announced before two runs are compared (`fingerprint`), and facts (`facts`).
    `complete` is false for a filtered, sharded, interrupted or otherwise partial run.
    """

    cases: tuple[CaseResult, ...]
    metrics: tuple[str, ...]
    provenance: Mapping[str, Any]
    warnings: tuple[Warned, ...] = ()
    complete: bool = True
    verdict: Mapping[str, Any] | None = None
