"""What predictions files hold, form by form, before anyone asks which item each is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from nl2sql_gate.dataset.csv_documents import read_csv
from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.json_lines import looks_like_json_lines, read_json_lines
from nl2sql_gate.dataset.sql_fields import id_text, kind_of
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.dataset.tolerant_json import read_json
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Place

_BIRD = re.compile(r"\t?-{3,} bird -{3,}\t?")
_IDS = ("id", "question_id", "instance_id", "item_id", "prompt_id")
_SQL = ("generated_sql", "predicted_sql", "prediction", "pred_sql", "pred", "predSQL", "reply", "response", "sql", "SQL", "query")
_TRIAL = re.compile(r"_trial_([0-9]+)\Z")


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction. `key` is an id or a position from 0; `is_positional` where the form of the file says which."""

    key: str
    sql: str
    line: int
    database: str = ""
    dialect: str = ""
    trial: int | None = None
    is_positional: bool = False


def read_predictions(path: Path) -> list[Prediction]:
    """All predictions of a file or a folder, in its order. Raises `DatasetError` where it is none of the known forms."""
    if path.is_dir():
        return _folder(path)
    text = read_text(path, error=DatasetError, what="the predictions").removeprefix("\ufeff")
    file = str(path)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _objects(read_csv(text, file=file, strict=False), file)
    if suffix in {".jsonl", ".ndjson"} or (suffix != ".txt" and looks_like_json_lines(text)):
        return _objects(read_json_lines(text, file=file, strict=False), file)
    if suffix == ".json" or text.lstrip()[:1] in {"{", "["}:
        return _json(read_json(text, file=file, strict=False), file)
    return _lines(text, file)


def _json(document: Document, file: str) -> list[Prediction]:
    if document.is_list:
        if document.values and all(isinstance(value, str) for value in document.values):
            pairs = zip(document.values, document.lines, strict=True)
            return [_bird(str(at), text, line, is_positional=True) for at, (text, line) in enumerate(pairs)]
        return _objects(document, file)
    value = document.values[0] if document.values else {}
    if not isinstance(value, dict) or not value:
        _refuse(file, document.lines[0] if document.lines else 1, f"expected a map of predictions, found {kind_of(value)}")
    if set(value) & set(_IDS) and set(value) & set(_SQL):
        return _objects(document, file)
    found = []
    for key, given in value.items():
        sql = given[0] if isinstance(given, list) and len(given) == 1 else given
        # BIRD's own generator writes a number or a blank where the model gave nothing.
        text = (
            sql
            if isinstance(sql, str)
            else ""
            if sql is None or isinstance(sql, int | float)
            else _refuse(file, 1, f"{key}: expected SQL, found {kind_of(sql)}")
        )
        found.append(_bird(key, text, document.lines[0], is_positional=bool(_BIRD.search(text))))
    # The separator tells BIRD's form, whose keys are positions, also for the few predictions that are blank.
    if any(each.is_positional for each in found):
        return [Prediction(each.key, each.sql, each.line, each.database, is_positional=True) for each in found]
    return found


def _bird(key: str, text: str, line: int, *, is_positional: bool) -> Prediction:
    """A prediction with BIRD's tail taken off: what stands behind the separator is the database."""
    parts = _BIRD.split(text)
    database = parts[-1].strip() if len(parts) > 1 else ""
    return Prediction(key, parts[0], line, database, is_positional=is_positional)


def _objects(document: Document, file: str) -> list[Prediction]:
    """Objects with an id and SQL: lists, JSON lines, rows of EvalBench's evals.csv."""
    return [_object(value, line, file) for value, line in zip(document.values, document.lines, strict=True)]


def _object(value: Any, line: int, file: str) -> Prediction:
    if not isinstance(value, Mapping):
        _refuse(file, line, f"expected an object with an id and SQL, found {kind_of(value)}")
    raw = next((value[key] for key in ("prompt_id", *_IDS) if value.get(key) not in (None, "")), None)
    name = next((key for key in _SQL if key in value), None)
    if raw is None or name is None:
        missing = f"an id ({', '.join(_IDS)})" if raw is None else f"SQL ({', '.join(_SQL)})"
        _refuse(file, line, f"has no {missing}")
    key = raw if isinstance(raw, str) else id_text(raw)[0] or _refuse(file, line, f"the id is {kind_of(raw)}")
    found = _TRIAL.search(key) if "dialects" in value else None
    trial = value.get("trial", value.get("trial_index"))
    number = int(found.group(1)) if found else _whole(trial)
    sql = value[name]
    return Prediction(
        key[: found.start()] if found else key,
        sql
        if isinstance(sql, str)
        else ""
        if sql is None
        else _refuse(file, line, f"{name}: expected SQL, found {kind_of(sql)}"),
        line,
        _text(value.get("db_id", value.get("database"))),
        _dialect(value.get("dialect", value.get("dialects"))),
        number,
    )


def _lines(text: str, file: str) -> list[Prediction]:
    """One prediction a line, as Spider's evaluator reads them; a blank line is a prediction that is blank."""
    lines = text.split("\n")
    if lines and not lines[-1].strip():
        lines.pop()
    if not any(line.strip() for line in lines):
        _refuse(file, 1, "the file holds no prediction")
    found = []
    for at, line in enumerate(lines):
        sql, tab, database = line.rstrip("\r").rpartition("\t")
        is_pair = bool(tab) and re.fullmatch(r"[\w .-]+", database.strip()) is not None
        plain = sql if is_pair else line.rstrip("\r")
        found.append(Prediction(str(at), plain, at + 1, database.strip() if is_pair else "", is_positional=True))
    return found


def _folder(path: Path) -> list[Prediction]:
    files = sorted(entry for entry in path.iterdir() if entry.suffix.lower() == ".sql" and entry.is_file())
    if not files:
        _refuse(str(path), 0, "the folder holds no <id>.sql")
    return [
        Prediction(each.stem, read_text(each, error=DatasetError, what="a prediction").removeprefix("\ufeff"), 1)
        for each in files
    ]


def _dialect(value: Any) -> str:
    """The one dialect that a row names; EvalBench writes Python's list of one."""
    text = value[0] if isinstance(value, list) and len(value) == 1 else value
    found = re.findall(r"[\w-]+", text) if isinstance(text, str) else []
    return canonical(found[0]) if len(found) == 1 else ""


def _whole(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _refuse(file: str, line: int, message: str) -> NoReturn:
    raise DatasetError(
        f"{file} is no predictions file that is known",
        where=[f"{Place(file, line)}: {message}"],
        meaning="No replies were written: a prediction that is lost would look like a question that was not answered.",
        next_step='Known are BIRD\'s {"0": "SQL"}, {"id": "SQL"}, objects with an id and SQL, and one SQL a line.',
    )
