"""`setup.yml` of a setup directory or of one database in it: what its files are written in and may be translated to.

```yaml
dialect: postgres              # of <database>.sql and of dumps, where the text does not show it
transpile: [sqlite, duckdb]    # dialects that may be built from another's files; `true` for all
types: {sale: {paid: decimal(10, 2)}}     # declared types of tables that come as CSV only
primary_keys: {sale: [id]}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2sql_gate.dataset.column_types import type_of
from nl2sql_gate.dataset.dialect_names import fault_of
from nl2sql_gate.dataset.problems import Problems, did_you_mean
from nl2sql_gate.dataset.sql_fields import kind_of
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Place

FILE = "setup.yml"
_KEYS = ("dialect", "transpile", "types", "primary_keys")


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """What the files say; the database's own file wins key by key. `text` is for the digest."""

    dialect: str = ""
    transpile: frozenset[str] = frozenset()
    transpile_all: bool = False
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    primary_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""

    def may_transpile(self, dialect: str) -> bool:
        """Whether a database in `dialect` may be built from another's files."""
        return self.transpile_all or dialect in self.transpile


def read_setup_options(root: Path, database: str) -> SetupOptions:
    """The options for one database. Raises `DatasetError` with every fault."""
    given: dict[str, Any] = {}
    texts = []
    for path in (root / FILE, root / database / FILE):
        if path.is_file():
            found, text = _read(path)
            given.update(found)
            texts.append(text)
    transpile = given.get("transpile", ())
    return SetupOptions(
        dialect=canonical(given.get("dialect", "")),
        transpile=frozenset(map(canonical, () if isinstance(transpile, bool) else transpile)),
        transpile_all=transpile is True,
        types={table.lower(): {c.lower(): t for c, t in columns.items()} for table, columns in given.get("types", {}).items()},
        primary_keys={table.lower(): tuple(columns) for table, columns in given.get("primary_keys", {}).items()},
        text="\0".join(texts),
    )


def _read(path: Path) -> tuple[dict[str, Any], str]:
    from nl2sql_gate.dataset.yaml_text import read_yaml

    text = read_text(path, error=DatasetError, what="the options of a setup directory").removeprefix("\ufeff")
    document = read_yaml(text, file=str(path))
    problems = Problems(str(path))
    value = document.values[0] if len(document.values) == 1 and not document.is_list else {} if not document.values else None
    if not isinstance(value, dict):
        problems.refuse(Place(str(path), 1), "", "expected keys with values")
        value = {}
    kept = {key: given for key, given in value.items() if given is not None}
    for key, given in kept.items():
        fault = _fault(key, given)
        if fault:
            problems.refuse(Place(str(path)), "", f"{key}: {fault}")
    problems.raise_errors(meaning="The databases cannot be built, so nothing was started.", next_step="Correct these keys.")
    return kept, text.replace("\r\n", "\n")


def _fault(key: str, given: Any) -> str:
    if key not in _KEYS:
        return f"is not a known key{did_you_mean(key, _KEYS)}; there are {', '.join(_KEYS)}"
    if key == "dialect":
        return fault_of(given) if isinstance(given, str) else f"expected a dialect, found {kind_of(given)}"
    if key == "transpile":
        if isinstance(given, bool):
            return ""
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            return f"expected true or a list of dialects, found {kind_of(given)}"
        return next((fault for fault in map(fault_of, given) if fault), "")
    if key == "types":
        return _fault_of_types(given)
    if not isinstance(given, dict) or not all(isinstance(names, list) and names for names in given.values()):
        return "expected a list of columns for each table"
    return ""


def _fault_of_types(given: Any) -> str:
    if not isinstance(given, dict) or not all(isinstance(columns, dict) for columns in given.values()):
        return "expected table: {column: type}"
    for table, columns in given.items():
        for column, declared in columns.items():
            if not isinstance(declared, str) or not type_of(declared).kind:
                return f"{table}.{column}: {declared!r} is no type that every dialect has"
    return ""
