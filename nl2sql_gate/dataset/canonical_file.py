"""Dataset files in canonical form: the same content, in one layout, as strict JSON."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.export import canonical_json, ordered
from nl2sql_gate.dataset.load import read_document
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Canonical:
    """A file as it should be. `lost` are its comments, which JSON cannot hold; `mended` what was no strict JSON."""

    text: str
    is_canonical: bool
    mended: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def canonical_file(path: str | os.PathLike[str]) -> Canonical:
    """The canonical form of a JSON or JSON lines file, whatever format its items have. Raises `DatasetError`."""
    document, container = read_document(path)
    if container not in {"json", "jsonl"}:
        raise DatasetError(
            f"{os.fspath(path)} is no JSON file",
            where=[f"{os.fspath(path)}: read as {container}"],
            meaning="Only JSON and JSON lines have a canonical form here. Nothing was written.",
            next_step="Convert it first: nl2sql-gate import FILE --to items.json",
        )
    text = _lines(document) if container == "jsonl" else _json(document)
    before = read_text(Path(path), error=DatasetError, what="the dataset")
    mended = tuple(str(oddity) for oddity in document.oddities)
    lost = tuple(str(oddity) for oddity in document.oddities if oddity.code == "comment")
    return Canonical(text, text == before, mended, lost)


def _json(document: Document) -> str:
    if document.is_list:
        return canonical_json(document.values)
    # One bare item stays one: a list around it would be another file.
    return json.dumps(ordered(document.values[0]) if document.values else {}, indent=2, ensure_ascii=False) + "\n"


def _lines(document: Document) -> str:
    return "".join(f"{json.dumps(ordered(value), ensure_ascii=False)}\n" for value in document.values)
