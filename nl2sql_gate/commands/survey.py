"""What a repository already has for a gate: datasets, their setup directories and dialects, workflows."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nl2sql_gate.dataset import load
from nl2sql_gate.dataset.setup_layout import materials
from nl2sql_gate.errors import GateError
from nl2sql_gate.records import Dataset, Item

_ENDINGS = (".json", ".jsonl", ".csv", ".yaml", ".yml")
_SIGNS = re.compile(rb"nl_prompt|golden_sql|golden_query|\"question\"|\"SQL\"|\"query\"|db_id|db_name|nl_question", re.IGNORECASE)
_SKIPPED = {"node_modules", "nl2sql-gate-out", "__pycache__", "site-packages", "dist", "build", "vendor"}
_MOST_FILES = 20_000
_MOST_TRIED = 25
_MOST_BYTES = 50_000_000
_HEAD_BYTES = 64 * 1024
_FEWEST_ITEMS = 2
PROVABLE_FROM = 100
"""Below so many questions only a large drop can be proven, so single questions should be required to pass."""

MOST_REQUIRED = 10
_EASY = ("simple", "easy", "low")


@dataclass(frozen=True, slots=True)
class Found:
    """A dataset that can be read, its path relative to the repository, and where its databases come from (or nothing)."""

    path: str
    dataset: Dataset
    setup_directory: str = ""

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects of the items, the most frequent first."""
        counted = Counter(dialect for item in self.dataset.items for dialect in item.dialects)
        return tuple(sorted(counted, key=lambda dialect: (-counted[dialect], dialect)))


@dataclass(frozen=True, slots=True)
class Survey:
    """All that was found; the largest dataset first. `tried` are files that look like datasets and cannot be read, with why."""

    datasets: tuple[Found, ...] = ()
    tried: tuple[tuple[str, str], ...] = ()
    workflows: tuple[str, ...] = ()
    gated: tuple[str, ...] = ()
    has_gitlab: bool = False
    default_branch: str = "main"


def survey(root: Path, *, dataset: str | None = None) -> Survey:
    """Look through `root`. With `dataset`, only that file is read, and an unreadable one raises `DatasetError`."""
    workflows = sorted((root / ".github/workflows").glob("*.y*ml"))
    texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in workflows}
    found, tried = ([_found(root, root / dataset)], []) if dataset else _datasets(root)
    return Survey(
        datasets=tuple(sorted(found, key=lambda each: (-len(each.dataset.items), each.path))),
        tried=tuple(tried),
        workflows=tuple(texts),
        gated=tuple(name for name, text in texts.items() if "nl2sql-gate" in text),
        has_gitlab=(root / ".gitlab-ci.yml").is_file(),
        default_branch=_default_branch(root),
    )


def proposed(items: Sequence[Item]) -> tuple[str, ...]:
    """Ids that should have to pass: easy ones first, spread over databases and types of statement, in dataset order."""
    by_kind: dict[tuple[str, str], list[Item]] = {}
    for item in sorted(items, key=lambda each: each.difficulty.lower() not in _EASY):
        by_kind.setdefault((item.database, item.query_type), []).append(item)
    chosen: list[str] = []
    while by_kind and len(chosen) < MOST_REQUIRED:
        for kind in list(by_kind):
            chosen.append(by_kind[kind].pop(0).id)
            if not by_kind[kind]:
                del by_kind[kind]
    wanted = set(chosen[:MOST_REQUIRED])
    return tuple(item.id for item in items if item.id in wanted)


def _datasets(root: Path) -> tuple[list[Found], list[tuple[str, str]]]:
    found, tried = [], []
    for number, path in enumerate(_candidates(root)):
        if number == _MOST_TRIED:
            break
        try:
            each = _found(root, path)
        except GateError as error:
            tried.append((str(path.relative_to(root)), error.what))
            continue
        if len(each.dataset.items) >= _FEWEST_ITEMS and any(item.golden_sql for item in each.dataset.items):
            found.append(each)
    return found, tried


def _found(root: Path, path: Path) -> Found:
    dataset = load(path)
    shown = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    return Found(shown, dataset, _setup_directory(root, path.parent, dataset))


def _candidates(root: Path) -> Iterator[Path]:
    """Files that may be datasets: of a fitting kind and size, with words of one near their start."""
    for path in _files(root):
        if path.name.endswith(_ENDINGS) and 0 < path.stat().st_size <= _MOST_BYTES:
            with path.open("rb") as file:
                if _SIGNS.search(file.read(_HEAD_BYTES)):
                    yield path


def _files(root: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                return
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _setup_directory(root: Path, beside: Path, dataset: Dataset) -> str:
    """The folder with material for the most databases, the nearest to the dataset first; empty where there is none."""
    databases = {item.database for item in dataset.items}
    near = [beside, *(path for path in sorted(beside.rglob("*")) if path.is_dir() and not _hidden(path, beside))]
    best, most = "", 0
    for folder in [*near[:500], *(path for path in sorted(root.iterdir()) if path.is_dir() and not path.name.startswith("."))]:
        count = sum(bool(materials(folder, database)) for database in databases)
        if count > most:
            best, most = str(folder.relative_to(root)), count
    return best


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in path.relative_to(below).parts)


def _default_branch(root: Path) -> str:
    """The branch that `origin` shows first; `main` where git does not know."""
    try:
        ran = subprocess.run(
            ["git", "symbolic-ref", "--short", "refs/remotes/origin/HEAD"],  # noqa: S607 - whichever git there is
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return "main"
    name = ran.stdout.strip().removeprefix("origin/")
    return name if ran.returncode == 0 and re.fullmatch(r"[A-Za-z0-9._/-]+", name) else "main"
