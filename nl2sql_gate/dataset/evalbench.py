"""EvalBench's standard items, read completely: every key, every shape that its files use, and nothing dropped in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.problems import Problems, did_you_mean, listed
from nl2sql_gate.dataset.query_types import query_type_of_statements
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.shapes import shape_of
from nl2sql_gate.dataset.sql_fields import database_fault, dialect_list, id_text, kind_of, plain_text, sql_field, text_list
from nl2sql_gate.dialects import lookup_order
from nl2sql_gate.records import Item, Place, QueryType

REQUIRED = ("id", "nl_prompt", "query_type", "database", "golden_sql")
_SQL_KEYS = ("golden_sql", "eval_query", "setup_sql", "cleanup_sql")
_COMPARED = ("columns", "golden_mode", "state", "row_order")
_KNOWN = (*REQUIRED, "dialects", *_SQL_KEYS[1:], "tags", "other", "evidence", "difficulty", *_COMPARED)
_KEPT = ("generated_sql", "sql_generator_error", "sql_generator_time", "job_id", "trace_id", "payload", "dataset_format")
"""Keys of EvalBench's result rows: kept in `other`, used by nothing else here."""

_CHOICES = {
    "columns": ("position", "any_order", "superset"),
    "golden_mode": ("auto", "alternatives", "sequence"),
    "state": ("effects", "strict"),
    "row_order": ("as_golden", "free"),
}
_QUERY_TYPES = ("dql", "dml", "ddl")


def read_evalbench(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a document in file order; what is wrong stands in `problems`. The format leaves no option open."""
    del options
    reader = ItemReader(problems)
    read = (
        reader.read(raw, position=position, line=line)
        for position, (raw, line) in enumerate(zip(document.values, document.lines, strict=True), start=1)
    )
    items = [item for item in read if item is not None]
    reader.refuse_duplicates()
    return items


class ItemReader:
    """Reads the items of one file into `Item`s, collecting what is wrong in `problems`.

    `labels` are the words that the file's own format has for our keys, for messages.
    """

    def __init__(self, problems: Problems, *, labels: Mapping[str, str] | None = None) -> None:
        self.problems = problems
        self._labels = labels or {}
        self._place = Place()
        self._subject = ""
        self._seen: dict[str, list[tuple[Place, Any]]] = {}

    def read(self, raw: Any, *, position: int, line: int) -> Item | None:
        """The item, or `None` where an error was reported. `position` counts from 1."""
        self._place = Place(self.problems.file, line)
        self._subject = f"item number {position}"
        if not isinstance(raw, dict):
            self._refuse("", f"expected an object, found {kind_of(raw)}")
            return None
        errors = len(self.problems.errors)
        item_id, fault = id_text(raw["id"]) if raw.get("id") is not None else ("", "")
        self._subject = f"item {item_id}" if item_id else self._subject
        if self._is_foreign(raw):
            return None
        if fault:
            self._refuse("id", fault)
        elif item_id != str(raw.get("id", "")) and item_id:
            self._warn("id_blank", "id", f"{raw['id']!r} begins or ends with a blank, which is left out")
        if item_id:
            self._seen.setdefault(item_id, []).append((self._place, raw["id"]))
        self._check_keys(raw)
        item = self._item(raw, item_id)
        return item if len(self.problems.errors) == errors else None

    def refuse_duplicates(self) -> None:
        """Report every id that comes more than once; 43 and "43" are the same id, since ids are text."""
        for item_id, uses in self._seen.items():
            places = ", ".join(f"line {place.line} ({raw!r})" for place, raw in uses)
            if len(uses) > 1:
                self.problems.refuse(uses[1][0], f"item {item_id}", f"id: duplicate id, used by {len(uses)} items: {places}")

    def _item(self, raw: dict[str, Any], item_id: str) -> Item:
        other = self._other(raw)
        tags = text_list(raw.get("tags"), "tags", refuse=self._refuse)
        golden, evals, setup, cleanup = (
            sql_field(raw.get(key), key, refuse=self._refuse, warn=self._warn_products) for key in _SQL_KEYS
        )
        dialects = dialect_list(raw.get("dialects"), refuse=self._refuse) or tuple(golden.by_dialect)
        declared = self._query_type(raw.get("query_type"))
        item = Item(
            id=item_id,
            question=self._question(raw.get("nl_prompt"), is_given="nl_prompt" in raw),
            query_type=declared or "dql",
            database=self._database(raw.get("database")),
            dialects=dialects,
            golden_sql=golden,
            evidence=self._evidence(raw, other),
            eval_query=evals,
            setup_sql=setup,
            cleanup_sql=cleanup,
            tags=tags,
            difficulty=self._difficulty(raw.get("difficulty"), tags),
            other=other,
            columns=self._choice(raw, "columns"),
            golden_mode=self._choice(raw, "golden_mode"),
            state=self._choice(raw, "state"),
            row_order=self._choice(raw, "row_order"),
            place=self._place,
        )
        if declared and item_id:
            self._check_golden(item, is_given="golden_sql" in raw)
            return self._with_effective_type(item)
        return item

    # ---- single keys -----------------------------------------------------------------------------------------------

    def _question(self, value: Any, *, is_given: bool) -> str:
        question = plain_text(value, "nl_prompt", refuse=self._refuse)
        if is_given and (value is None or isinstance(value, str)) and not question.strip():
            self._refuse("nl_prompt", "the question is empty")
        return question

    def _query_type(self, value: Any) -> QueryType | None:
        """The declared type; where it is missing, `_check_keys` has said so."""
        if value is None:
            return None
        name = value.strip().lower() if isinstance(value, str) else ""
        if name not in _QUERY_TYPES:
            self._refuse("query_type", f"{value!r} is none of {', '.join(_QUERY_TYPES)}{did_you_mean(str(value), _QUERY_TYPES)}")
            return None
        return cast("QueryType", name)

    def _database(self, value: Any) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            self._refuse("database", f"expected a name, found {kind_of(value)}")
            return ""
        fault = database_fault(value)
        if fault:
            self._refuse("database", fault)
        return value

    def _other(self, raw: dict[str, Any]) -> dict[str, Any]:
        value = raw.get("other")
        other = dict(value) if isinstance(value, dict) else {} if value is None else {"other": value}
        return {**other, **{key: raw[key] for key in _KEPT if key in raw}}

    def _evidence(self, raw: dict[str, Any], other: dict[str, Any]) -> str:
        if raw.get("evidence") is not None:
            return plain_text(raw["evidence"], "evidence", refuse=self._refuse)
        value = other.get("evidence")
        return value if isinstance(value, str) else ""

    def _difficulty(self, value: Any, tags: tuple[str, ...]) -> str:
        if value is not None:
            return plain_text(value, "difficulty", refuse=self._refuse).strip()
        for tag in tags:
            name, colon, rest = tag.partition(":")
            if colon and name.strip().lower() == "difficulty":
                return rest.strip()
        return ""

    def _choice(self, raw: dict[str, Any], key: str) -> str:
        value = raw.get(key)
        if value is None:
            return ""
        if value not in _CHOICES[key]:
            self._refuse(key, f"{value!r} is none of {', '.join(_CHOICES[key])}{did_you_mean(str(value), _CHOICES[key])}")
            return ""
        return str(value)

    # ---- checks over several keys ----------------------------------------------------------------------------------

    def _check_keys(self, raw: dict[str, Any]) -> None:
        unknown = [key for key in raw if key not in _KNOWN and key not in _KEPT]
        for key in REQUIRED:
            if key not in raw or (raw[key] is None and key != "golden_sql"):
                self._refuse(key, f"is required and missing{did_you_mean(key, unknown)}")
        for key in unknown:
            if key == "preprocess_sql":
                self._warn("unused_key", key, "is not run: put what a case needs into setup_sql")
            else:
                self._warn("unknown_key", key, f"is not a known key and is left out{did_you_mean(key, _KNOWN)}")

    def _check_golden(self, item: Item, *, is_given: bool) -> None:
        without = [dialect for dialect in item.dialects if not item.golden_sql.pick(dialect)]
        if is_given and not item.golden_sql:
            where = f" for {listed(item.dialects)}" if item.dialects else ""
            self._warn("no_golden_sql", "golden_sql", f"holds no golden SQL{where}; the item is skipped")
        elif without:
            has = listed(item.golden_sql.by_dialect)
            message = f"holds no golden SQL for {listed(without)} (only for {has}); skipped there"
            self._warn("no_golden_sql", "golden_sql", message)
        unlisted = [dialect for dialect in item.golden_sql.by_dialect if not _is_listed(dialect, item.dialects)]
        if unlisted:
            message = f"does not list {listed(unlisted)}, for which there is golden SQL; the item does not run there"
            self._warn("unlisted_dialect", "dialects", message)

    def _with_effective_type(self, item: Item) -> Item:
        """The item as what its SQL is: a ddl item whose golden SQL is an UPDATE runs as dml."""
        found: dict[str, QueryType] = {}
        for dialect, statements in _golden_by_dialect(item):
            kind = query_type_of_statements(statements, dialect, declared=item.query_type)
            if kind is not None:
                found[dialect] = kind
        kinds = set(found.values())
        if kinds and kinds != {item.query_type}:
            against = [dialect for dialect, kind in found.items() if kind != item.query_type]
            actual = " and ".join(sorted({found[dialect] for dialect in against}))
            in_dialects = f" in {listed(against)}" if any(against) else ""
            message = f"is {item.query_type}, but the golden SQL is {actual}{in_dialects}; it runs as {actual}"
            self._warn("type_contradicted", "query_type", message)
            if len(kinds) == 1:
                item = replace(item, query_type=kinds.pop())
        if item.query_type != "dql" and item.golden_sql:
            self._check_eval_query(item)
        return item

    def _check_eval_query(self, item: Item) -> None:
        dialects = item.dialects or tuple(item.golden_sql.by_dialect) or ("",)
        without = [dialect for dialect in dialects if item.golden_sql.pick(dialect) and not item.eval_query.pick(dialect)]
        if without:
            where = f" for {listed(without)}" if any(without) else ""
            self._warn("no_eval_query", "eval_query", f"holds no query{where}; the difference in the database's state decides")

    def _is_foreign(self, raw: dict[str, Any]) -> bool:
        """Whether the item is of another format; reported as one error instead of five missing keys."""
        if "nl_prompt" in raw or "golden_sql" in raw:
            return False
        other = shape_of(raw)
        if other is None:
            return False
        own_id = raw.get("question_id", raw.get("instance_id", raw.get("id")))
        named = f" ({own_id})" if own_id is not None else ""
        self._refuse("", f"looks like an item of {other.title}{named}, not of EvalBench's format; one file has one format")
        return True

    def _refuse(self, field: str, message: str) -> None:
        self.problems.refuse(self._place, self._subject, f"{self._label(field)}: {message}" if field else message)

    def _warn_products(self, field: str, message: str) -> None:
        self._warn("same_dialect", field, message)

    def _warn(self, code: str, field: str, message: str) -> None:
        subject = self._subject.removeprefix("item ")
        self.problems.warn(code, self._place, subject, f"{self._label(field)}: {message}")

    def _label(self, field: str) -> str:
        """The field as the file calls it; what stands behind a dot is a dialect and stays."""
        key, dot, rest = field.partition(".")
        return f"{self._labels.get(key, key)}{dot}{rest}"


def _golden_by_dialect(item: Item) -> list[tuple[str, tuple[str, ...]]]:
    """(dialect, golden SQL) pairs to look at; SQL that holds everywhere is looked at once."""
    if item.golden_sql.everywhere:
        return [((item.dialects or ("",))[0], item.golden_sql.everywhere)]
    return list(item.golden_sql.by_dialect.items())


def _is_listed(dialect: str, dialects: tuple[str, ...]) -> bool:
    """Whether SQL in `dialect` is used by one of `dialects`: MySQL's by MariaDB, MariaDB's where MySQL is listed."""
    return any(name in dialects for name in lookup_order(dialect)) or any(dialect in lookup_order(name) for name in dialects)
