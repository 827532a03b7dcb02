"""Values of an item's keys, coerced: SQL per dialect, lists of dialects, ids, names of databases."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nl2sql_gate.dataset.dialect_names import PRODUCTS, fault_of
from nl2sql_gate.dialects import canonical
from nl2sql_gate.records import SqlField

_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NAME = 200

Report = Callable[[str, str], None]
"""Takes (field, message)."""


def sql_field(value: Any, field: str, *, refuse: Report, warn: Report) -> SqlField:
    """The SQL of one key: a map of dialects, or a list or a string that holds for all. Null and blank SQL is none."""
    if not isinstance(value, dict):
        return SqlField(everywhere=_statements(value, field, refuse))
    found: dict[str, tuple[str, ...]] = {}
    spelled: dict[str, str] = {}
    # Own names first: a product's name or another spelling only adds what is not there yet.
    for name in sorted(value, key=lambda key: canonical(key) != key):
        label = f"{field}.{name}"
        statements = _statements(value[name], label, refuse)
        dialect = canonical(name)
        fault = fault_of(name)
        if fault:
            refuse(field, fault)
        elif dialect not in found or not found[dialect]:
            found[dialect], spelled[dialect] = statements, name
        elif statements and statements != found[dialect]:
            both = f"{spelled[dialect]!r} and {name!r} are the same dialect and hold different SQL"
            if name.strip().lower() in PRODUCTS:
                warn(field, f"{both}; {spelled[dialect]!r} is used")
            else:
                refuse(field, both)
    in_file_order = dict.fromkeys(canonical(name) for name in value)
    return SqlField(by_dialect={dialect: found[dialect] for dialect in in_file_order if found.get(dialect)})


def _statements(value: Any, field: str, refuse: Report) -> tuple[str, ...]:
    if value is None or value == {}:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        refuse(field, f"expected SQL or a list of SQL, found {kind_of(value)}")
        return ()
    for one in listed:
        if one is not None and not isinstance(one, str):
            refuse(field, f"expected a list of SQL, found {kind_of(one)} in it")
            return ()
    for one in listed:
        if one and _SURROGATE.search(one):
            refuse(field, "half of a surrogate pair in the text")
            return ()
    return tuple(one for one in listed if one and one.strip())


def dialect_list(value: Any, *, refuse: Report) -> tuple[str, ...]:
    """Canonical names in the item's order, each once; a bare string is a list of one."""
    listed = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) and name.strip() for name in listed):
        refuse("dialects", f"expected a list of names, found {kind_of(value)}")
        return ()
    for name in listed:
        fault = fault_of(name)
        if fault:
            refuse("dialects", fault)
    return tuple(dict.fromkeys(canonical(name) for name in listed))


def text_list(value: Any, field: str, *, refuse: Report) -> tuple[str, ...]:
    """A list of short texts (tags); a bare string is a list of one, numbers become text, null is none."""
    listed = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str | int | float) or one is None for one in listed):
        refuse(field, f"expected a list of texts, found {kind_of(value)}")
        return ()
    return tuple(dict.fromkeys(str(one).strip() for one in listed if one is not None and str(one).strip()))


def plain_text(value: Any, field: str, *, refuse: Report) -> str:
    """A text as it stands; null is the empty text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        refuse(field, f"expected text, found {kind_of(value)}")
        return ""
    if _SURROGATE.search(value):
        refuse(field, "half of a surrogate pair in the text")
        return ""
    return value


def id_text(value: Any) -> tuple[str, str]:
    """(the id as text, what is wrong with it)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), ""
    if not isinstance(value, str):
        return "", f"expected text or a whole number, found {kind_of(value)}"
    if not value.strip():
        return "", "is blank"
    if _CONTROL.search(value) or _SURROGATE.search(value):
        return "", f"{value[:40]!r} holds a line break or another control character"
    return value.strip(), ""


def database_fault(name: str) -> str:
    """Why `name` may not name a database, or nothing: it becomes a folder's name and must not reach outside of its parent."""
    if not name.strip():
        return "is blank"
    if _CONTROL.search(name) or _SURROGATE.search(name):
        return f"{name[:40]!r} holds a control character"
    if "/" in name or "\\" in name or name in {".", ".."} or re.match(r"[A-Za-z]:", name) or name.startswith("~"):
        return f"{name[:80]!r} is a path; only the plain name of a database is allowed"
    if name != name.strip():
        return f"{name[:40]!r} begins or ends with a blank"
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    return ""


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")
