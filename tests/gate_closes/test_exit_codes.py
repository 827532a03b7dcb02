"""Everything deliberately broken, and the exit code that it must give. A new feature of the gate adds a row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from shop import Shop, item

FOUR_PARTS = re.compile(r"^error: .+\n(  .+\n)*  .+\n(  .+\n)*  .+", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What is broken, the exit code, and what the message must say."""

    name: str
    code: int
    says: tuple[str, ...]
    breaks: Callable[[Shop], list[str]]
    outcome: str = ""


def nothing(shop: Shop) -> list[str]:
    return []


def wrong_answers(shop: Shop) -> list[str]:
    """All six right in the baseline, five of them wrong now."""
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies({name: "SELECT 'nobody'" if name != "q1" else text for name, text in shop.replies.items()})
    return ["--baseline", "baseline.json"]


def same_answers(shop: Shop) -> list[str]:
    wrong_answers(shop)
    shop.write_replies(shop.replies)
    return ["--baseline", "baseline.json"]


def below_floor(shop: Shop) -> list[str]:
    shop.write_replies({name: "SELECT 'nobody'" if name == "q2" else text for name, text in shop.replies.items()})
    return ["--set", "policy.floors={execution_accuracy: 0.9}"]


def required_item(shop: Shop) -> list[str]:
    shop.write_replies({name: "SELECT 'nobody'" if name == "q2" else text for name, text in shop.replies.items()})
    return ["--set", "policy.required.ids=[q2]"]


def required_unknown(shop: Shop) -> list[str]:
    return ["--set", "policy.required.ids=[q99]"]


def half_missing(shop: Shop) -> list[str]:
    same_answers(shop)
    shop.write_replies({name: shop.replies[name] for name in ("q1", "q2", "q3")})
    return ["--baseline", "baseline.json"]


def nothing_answered(shop: Shop) -> list[str]:
    shop.write_replies({"somebody-else": "SELECT 1"})
    return []


def endpoint_down(shop: Shop) -> list[str]:
    return ["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--generator", "openai_chat", "--api-key", "k"]


def golden_fails_everywhere(shop: Shop) -> list[str]:
    shop.items = [item(name, "q", "SELECT no_such_column FROM customer") for name in ("q1", "q2")]
    shop.write()
    return []


def empty_dataset(shop: Shop) -> list[str]:
    (shop.folder / "items.json").write_text("[]")
    return []


def empty_filter(shop: Shop) -> list[str]:
    return ["--tag", "no-such-tag"]


def broken_json(shop: Shop) -> list[str]:
    (shop.folder / "items.json").write_text('[{"id": 1, ')
    return []


def tolerated_json_under_strict(shop: Shop) -> list[str]:
    (shop.folder / "items.json").write_text(json.dumps(shop.items).replace('"]}', '",]}'))
    return ["--strict", "true"]


def unknown_setting(shop: Shop) -> list[str]:
    (shop.folder / "nl2sql-gate.yml").write_text("policy:\n  min_dorp: 0.1\n")
    return []


def threshold_not_a_number(shop: Shop) -> list[str]:
    return ["--set", "policy.floors={execution_accuracy: .nan}"]


def missing_baseline(shop: Shop) -> list[str]:
    return ["--baseline", "absent.json"]


def missing_baseline_in_settings(shop: Shop) -> list[str]:
    (shop.folder / "nl2sql-gate.yml").write_text("baseline: file:absent.json\n")
    return []


def missing_baseline_under_fail(shop: Shop) -> list[str]:
    (shop.folder / "nl2sql-gate.yml").write_text("baseline: file:absent.json\npolicy: {on_missing_baseline: fail}\n")
    return []


def unreadable_baseline(shop: Shop) -> list[str]:
    (shop.folder / "baseline.json").write_bytes(b"\x00\x01not json")
    return ["--baseline", "baseline.json"]


def newer_baseline(shop: Shop) -> list[str]:
    (shop.folder / "baseline.json").write_text('{"format": "nl2sql-gate/baseline/v9", "cases": []}')
    return ["--baseline", "baseline.json"]


def foreign_baseline(shop: Shop) -> list[str]:
    """The baseline holds other items: nothing can be paired."""
    same_answers(shop)
    text = (shop.folder / "baseline.json").read_text()
    (shop.folder / "baseline.json").write_text(re.sub(r'"id": ?"q', '"id": "x', text))
    return ["--baseline", "baseline.json"]


def deleted_items(shop: Shop) -> list[str]:
    """Nobody passes by deleting the items that fail."""
    same_answers(shop)
    shop.items = shop.items[:3]
    shop.write()
    return ["--baseline", "baseline.json"]


def setup_fails(shop: Shop) -> list[str]:
    (shop.folder / "setup/shop/sqlite/setup.sql").write_text("CREATE TABLE a (x);\nCREATE TABEL b (y);\n")
    return []


def no_setup_directory(shop: Shop) -> list[str]:
    return ["--setup-directory", "elsewhere"]


def unknown_metric(shop: Shop) -> list[str]:
    return ["--set", "metrics=[execution_accuracy, exekution]"]


def unknown_option(shop: Shop) -> list[str]:
    return ["--basline", "x"]


def broken_replies(shop: Shop) -> list[str]:
    (shop.folder / "replies.jsonl").write_text('{"id": "q1", "reply": "SELECT 1"}\n{"id": \n')
    return []


ROWS = (
    Row("no baseline", 0, ("no baseline",), nothing),
    Row("the same answers", 0, ("PASS",), same_answers),
    Row("wrong answers", 1, ("FAIL", "q2", "q6"), wrong_answers),
    Row("below a floor", 1, ("FAIL", "5/6"), below_floor),
    Row("a required item breaks", 1, ("q2",), required_item),
    Row("a required item does not exist", 2, ("q99",), required_unknown),
    Row("half the answers are missing", 3, ("NO VERDICT", "3 of 6"), half_missing),
    Row("no answer at all", 3, ("0 items were measured",), nothing_answered),
    Row("the endpoint is down", 3, ("127.0.0.1:9",), endpoint_down),
    Row(
        "golden SQL fails everywhere",
        2,
        ("golden SQL fails for 2 of 2", "no_such_column", "No model was called"),
        golden_fails_everywhere,
    ),
    Row("an empty dataset", 2, ("items.json",), empty_dataset),
    Row("a filter that selects nothing", 2, ("no-such-tag",), empty_filter),
    Row("broken JSON", 2, ("items.json", "line 1"), broken_json),
    Row("JSON that is not strict, under strict", 2, ("items.json", "line 1"), tolerated_json_under_strict),
    Row("an unknown setting", 2, ("nl2sql-gate.yml:2", "min_drop"), unknown_setting),
    Row("a threshold that is not a number", 2, ("floors.execution_accuracy",), threshold_not_a_number),
    Row("a named baseline that is absent", 2, ("absent.json", "does not exist"), missing_baseline),
    Row("a baseline of the settings that is not there yet", 0, ("first run",), missing_baseline_in_settings),
    Row("no baseline yet, under fail", 3, ("no baseline",), missing_baseline_under_fail),
    Row("an unreadable baseline", 2, ("baseline.json",), unreadable_baseline),
    Row("a baseline of a newer format", 2, ("v9",), newer_baseline),
    Row("a baseline of other items", 3, ("NO VERDICT",), foreign_baseline),
    Row("deleted items", 3, ("NO VERDICT", "min_paired"), deleted_items),
    Row("a setup statement fails", 2, ("setup.sql:2", "CREATE TABEL b (y)"), setup_fails),
    Row("no setup directory", 2, ("elsewhere",), no_setup_directory),
    Row("an unknown metric", 2, ("exekution", "execution_accuracy"), unknown_metric),
    Row("an unknown option", 2, ("--basline",), unknown_option),
    Row("broken recorded replies", 2, ("replies.jsonl", "2"), broken_replies),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_broken_gives_its_exit_code(shop: Shop, row: Row) -> None:
    ran = shop.run(*row.breaks(shop))
    said = ran.stdout + ran.stderr
    assert ran.returncode == row.code, said
    assert [part for part in row.says if part not in said] == [], said
    if row.code == 2:
        assert FOUR_PARTS.search(ran.stderr), ran.stderr
    assert "Traceback" not in said
