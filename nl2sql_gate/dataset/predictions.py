r"""Predictions files of other evaluators as recorded replies, each paired with its item by what the file says, never by chance.

| Form | Key |
|---|---|
| BIRD: `{"0": "SQL\t----- bird -----\tdb_id"}` | the position in the question file, from 0 |
| a map `{"id": "SQL"}`, a list of objects, JSON lines | the item's id |
| Spider: one SQL a line, `SQL\tdb_id` or `SQL` | the line |
| a list of SQL in JSON | the position |
| EvalBench: `evals.csv` of a run | `id`, `dialects`, `trial_index` |
| EvalBench: items with `generated_sql` | the item's id |
| a folder of `<id>.sql` | the file's name |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nl2sql_gate.dataset.prediction_files import Prediction, read_predictions
from nl2sql_gate.dataset.problems import capped, listed, printable
from nl2sql_gate.dataset.read_options import dialect_of_file
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item, Place, Warned

_PAIRINGS = ("auto", "id", "position")


@dataclass(frozen=True, slots=True)
class Reply:
    """One recorded reply; `dialect` and `trial` are absent where the file does not say them."""

    id: str
    database: str
    reply: str
    dialect: str = ""
    trial: int | None = None


@dataclass(frozen=True, slots=True)
class Paired:
    """Replies in the order of the items, and what did not fit."""

    replies: tuple[Reply, ...]
    warnings: tuple[Warned, ...]


def pair_predictions(path: str | Path, items: Sequence[Item], *, dialect: str = "", pairing: str = "auto") -> Paired:
    """The replies that a predictions file holds for `items`.

    `pairing` `id` or `position` says what its keys are where `auto` would take them for the other. Without `dialect`, the file's
    name may tell it. Items without a prediction and predictions without an item are warnings; the first are unscored, not wrong.
    Raises `DatasetError` where nothing pairs, and where a prediction is for another database than its item.
    """
    file = str(path)
    if pairing not in _PAIRINGS:
        raise DatasetError(
            f"there is no pairing {pairing!r}",
            where=[f"known: {', '.join(_PAIRINGS)}"],
            meaning="No prediction was read.",
            next_step="Leave it out, and the form of the file decides.",
        )
    found = _with_trials(read_predictions(Path(path)))
    dialect = dialect or dialect_of_file(file)
    by_id = {item.id: item for item in items}
    warnings: list[Warned] = []
    is_positional = _is_positional(found, by_id, pairing, file, warnings)
    replies: dict[tuple[str, str, int | None], Reply] = {}
    unknown: list[Prediction] = []
    foreign: list[str] = []
    for each in found:
        item = _at(items, each) if is_positional else by_id.get(each.key)
        item = item or (None if is_positional else _by_stripped(each, by_id, file, warnings))
        if item is None:
            unknown.append(each)
            continue
        if each.database and each.database != item.database:
            foreign.append(f"{Place(file, each.line)}: {each.key} is for {each.database}, item {item.id} is on {item.database}")
            continue
        reply = Reply(item.id, item.database, each.sql, each.dialect or dialect, each.trial)
        slot = (reply.id, reply.dialect, reply.trial)
        if slot in replies:
            _refuse_twice(file, each, item)
        replies[slot] = reply
    if foreign:
        _refuse_foreign(file, foreign, is_positional=is_positional)
    warnings += _mismatches(file, items, unknown, {reply.id for reply in replies.values()})
    if not replies:
        _refuse_none(file, found, items)
    order = {item.id: at for at, item in enumerate(items)}
    ordered = sorted(replies.values(), key=lambda reply: (order[reply.id], reply.dialect, reply.trial or 0))
    return Paired(tuple(ordered), tuple(warnings))


def replies_text(replies: Sequence[Reply]) -> str:
    """Recorded replies as JSON lines, as `replies:` takes them."""
    lines = []
    for reply in replies:
        entry: dict[str, object] = {"id": reply.id}
        if reply.dialect:
            entry["dialect"] = reply.dialect
        if reply.trial is not None:
            entry["trial"] = reply.trial
        lines.append(json.dumps({**entry, "reply": reply.reply}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def generated_in(items: Sequence[Item]) -> tuple[Reply, ...]:
    """The replies that items of a dataset carry themselves, as EvalBench's `generated_sql`."""
    found = []
    for item in items:
        sql = item.other.get("generated_sql")
        if isinstance(sql, str):
            found.append(Reply(item.id, item.database, sql))
        elif isinstance(sql, dict):
            found += [Reply(item.id, item.database, text, str(dialect)) for dialect, text in sql.items() if isinstance(text, str)]
    return tuple(found)


def _is_positional(found: Sequence[Prediction], by_id: dict[str, Item], pairing: str, file: str, warnings: list[Warned]) -> bool:
    """Whether keys are positions: by the option, by the file's form, else where no key is an id and all are positions."""
    if pairing != "auto":
        return pairing == "position"
    if all(each.is_positional for each in found):
        return True
    if any(each.key in by_id or each.key.strip() in by_id for each in found):
        return False
    if found and all(each.key.isdecimal() and int(each.key) < len(by_id) for each in found):
        message = "no key is an id of the dataset, so keys are taken for positions from 0"
        warnings.append(Warned("paired_by_position", message, subject=file, place=Place(file)))
        return True
    return False


def _with_trials(found: Sequence[Prediction]) -> list[Prediction]:
    """Trials counted from 1, as ours are; where there is but one, its reply holds for all."""
    trials = {each.trial for each in found if each.trial is not None}
    if len(trials) <= 1:
        return [replace(each, trial=None) for each in found]
    shift = 1 if 0 in trials else 0
    return [each if each.trial is None else replace(each, trial=each.trial + shift) for each in found]


def _at(items: Sequence[Item], each: Prediction) -> Item | None:
    position = int(each.key) if each.key.isdecimal() else -1
    return items[position] if 0 <= position < len(items) else None


def _by_stripped(each: Prediction, by_id: dict[str, Item], file: str, warnings: list[Warned]) -> Item | None:
    item = by_id.get(each.key.strip())
    if item is not None:
        message = f"the prediction's id {each.key!r} begins or ends with a blank; taken for item {item.id}"
        warnings.append(Warned("id_blank", printable(message), subject=item.id, place=Place(file, each.line)))
    return item


def _mismatches(file: str, items: Sequence[Item], unknown: Sequence[Prediction], answered: set[str]) -> list[Warned]:
    missing = [item.id for item in items if item.id not in answered]
    found = []
    if missing:
        message = f"{len(missing)} of {len(items)} items have no prediction and will be unscored: {listed(missing)}"
        found.append(Warned("missing_predictions", message, subject=file, place=Place(file)))
    if unknown:
        message = f"{len(unknown)} predictions are for no item and are left out: {listed(each.key for each in unknown)}"
        found.append(Warned("unknown_predictions", message, subject=file, place=Place(file, unknown[0].line)))
    return found


def _refuse_twice(file: str, each: Prediction, item: Item) -> None:
    raise DatasetError(
        f"{file} holds two predictions for one item",
        where=[f"{Place(file, each.line)}: a second one for item {item.id}"],
        meaning="Which of them the model meant cannot be told. No replies were written.",
        next_step="Keep one of them, or give each a trial.",
    )


def _refuse_foreign(file: str, foreign: list[str], *, is_positional: bool) -> None:
    raise DatasetError(
        f"{len(foreign)} predictions of {file} are for other databases than their items",
        where=capped(foreign),
        meaning="They belong to another question file, or to another order of this one. No replies were written.",
        next_step="Use the question file that the model was asked with"
        + (", or --pairing id if the keys are ids." if is_positional else "."),
    )


def _refuse_none(file: str, found: Sequence[Prediction], items: Sequence[Item]) -> None:
    raise DatasetError(
        f"no prediction of {file} is for an item of the dataset",
        where=[
            f"keys of the predictions: {listed(each.key for each in found) or 'none'}",
            f"ids of the items: {listed(item.id for item in items)}",
        ],
        meaning="Nothing would be measured. No replies were written.",
        next_step="Give the dataset that the predictions were made for, or say --pairing id or --pairing position.",
    )
