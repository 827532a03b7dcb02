"""Read a dataset from a file: bytes to text, text to a document, the document to items."""

from __future__ import annotations

import os
from pathlib import Path

from nl2sql_gate.dataset.digest import content_digest
from nl2sql_gate.dataset.documents import Document, Oddity
from nl2sql_gate.dataset.formats import Format, format_by_name, format_of
from nl2sql_gate.dataset.problems import Problems, listed
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.shapes import shape_of
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Dataset, Place, Warned

_CONTAINERS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_NO_OPTIONS = ReadOptions()
_NOT_STARTED = "No item was read and no model was called."


def load(
    path: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002 (the setting's name)
    *,
    strict: bool = False,
    options: ReadOptions = _NO_OPTIONS,
) -> Dataset:
    """The dataset in the file `path`, items in file order.

    `format` is a name of `formats.FORMATS` or `auto`. `strict` refuses text that is not JSON to the letter. `options` say what a
    foreign file leaves open. Raises `DatasetError` with every error of the file, each with line, item and field; what stops
    nothing is in `warnings`.
    """
    chosen = format_by_name(format)
    file = str(path)
    _refuse_unreadable(chosen, file)
    document, container = _parsed(Path(path), chosen, strict=strict)
    _refuse_non_lists(document, file)
    chosen = chosen or format_of(document, container)
    _refuse_unreadable(chosen, file)
    problems = Problems(file)
    items = chosen.read_items(document, problems, options) if chosen.read_items else []
    problems.raise_errors(
        meaning=_NOT_STARTED,
        next_step="Correct these items and run again.",
    )
    return Dataset(
        items=tuple(items),
        path=file,
        digest=content_digest([*document.values, problems.attached] if problems.attached else document.values),
        warnings=(*_oddity_warnings(document.oddities, file), *problems.warnings),
    )


def read_document(path: str | os.PathLike[str], *, strict: bool = False) -> tuple[Document, str]:
    """(the parsed file, its container) whatever its format is. Raises `DatasetError`."""
    return _parsed(Path(path), None, strict=strict)


def _parsed(path: Path, chosen: Format | None, *, strict: bool) -> tuple[Document, str]:
    container = chosen.container if chosen is not None else ""
    container = container or _CONTAINERS.get(path.suffix.lower(), "")
    if container == "parquet":
        from nl2sql_gate.dataset.csv_documents import read_parquet

        return read_parquet(path), container
    text = read_text(path, error=DatasetError, what="the dataset")
    container = container or _guessed(text)
    return _document(text, file=str(path), container=container, strict=strict), container


def _guessed(text: str) -> str:
    """How a text is to be parsed whose file's name does not say it."""
    from nl2sql_gate.dataset.json_lines import looks_like_json_lines

    return "jsonl" if looks_like_json_lines(text) else "json"


def _document(text: str, *, file: str, container: str, strict: bool) -> Document:
    if container == "yaml":
        from nl2sql_gate.dataset.yaml_text import read_yaml

        return read_yaml(text.removeprefix("\ufeff"), file=file)
    if container == "csv":
        from nl2sql_gate.dataset.csv_documents import read_csv

        return read_csv(text, file=file, strict=strict)
    if container == "jsonl":
        from nl2sql_gate.dataset.json_lines import read_json_lines

        return read_json_lines(text, file=file, strict=strict)
    from nl2sql_gate.dataset.tolerant_json import read_json

    return read_json(text, file=file, strict=strict)


def _refuse_non_lists(document: Document, file: str) -> None:
    """Stop at a file without items. One bare item, as EvalBench's documentation prints it, is a dataset of one."""
    if not document.values:
        raise DatasetError(
            f"the dataset {file} is empty",
            where=[f"{file}: the list has no items"],
            meaning="Nothing would be measured, and nothing measured is not a pass.",
            next_step="Add items, or point dataset: at another file.",
        )
    if document.is_list:
        return
    value = document.values[0]
    if isinstance(value, dict) and "scenarios" in value:
        _refuse_unreadable(format_by_name("agentic"), file)
    if not isinstance(value, dict) or shape_of(value) is None:
        lists = [key for key, inner in value.items() if isinstance(inner, list)] if isinstance(value, dict) else []
        found = f"an object with the keys {listed(value)}" if isinstance(value, dict) and value else "something else"
        raise DatasetError(
            f"{file} holds no list of items",
            where=[f"{Place(file, document.lines[0])}: expected a list of items (or one item), found {found}"],
            meaning=_NOT_STARTED,
            next_step=f"Keep only the list under {lists[0]!r}." if lists else "Put the items into a list: [ {…}, {…} ].",
        )


def _refuse_unreadable(chosen: Format | None, file: str) -> None:
    """Stop at a format that is known but not read."""
    if chosen is None or chosen.read_items is not None:
        return
    raise DatasetError(
        f"{file} is {chosen.title}, which cannot be used as a dataset",
        where=[f"{file}: format {chosen.name}"],
        meaning=chosen.why_not,
        next_step="Give a dataset in EvalBench's format; if this file is one, set format: evalbench.",
    )


def _oddity_warnings(oddities: tuple[Oddity, ...], file: str) -> list[Warned]:
    return [
        Warned(
            one.code,
            f"not strict {'CSV' if one.code == 'csv_quote' else 'JSON'}: {one}",
            subject=file,
            place=Place(file, one.line),
        )
        for one in oddities
    ]
