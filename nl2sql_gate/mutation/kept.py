"""Mutants from a file that `nl2sql-gate mutate` wrote: those that were run and differ from golden SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from nl2sql_gate.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Kept:
    """Mutants by (item id, dialect), in file order; `digest` is the file's."""

    path: str
    digest: str
    by_case: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def find(self, item_id: str, dialects: Iterable[str]) -> tuple[str, ...]:
        """The mutants of an item in the first of `dialects` that has any."""
        return next((found for name in dialects if (found := self.by_case.get((item_id, name)))), ())


def read_kept(path: str) -> Kept:
    """The mutants of `fate: killed`. Raises `SettingsError` with the line that is none, and where there is not one."""
    try:
        content = Path(path).read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(path, str(error)) from error
    found: dict[tuple[str, str], list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
            case, fate, sql = (str(given["id"]), str(given["dialect"])), given["fate"], given["sql"]
        except (ValueError, TypeError, KeyError) as error:
            raise _bad(f"{path}:{number}", f"no line of a mutants file ({type(error).__name__}: {error})") from error
        if fate == "killed" and isinstance(sql, str):
            found.setdefault(case, []).append(sql)
    if not found:
        raise _bad(path, "no mutant of fate 'killed' in it")
    return Kept(path, sha256(content).hexdigest(), {case: tuple(sqls) for case, sqls in found.items()})


def _bad(place: str, problem: str) -> SettingsError:
    return SettingsError(
        "the mutants cannot be read",
        where=[f"{place}: {problem}"],
        meaning="No question was asked.",
        next_step="Write them with: nl2sql-gate mutate --to FILE",
    )
