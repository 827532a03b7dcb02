"""Run and baseline files that somebody edited: every field of a wrong type ends in words, never in a bug of ours."""

from __future__ import annotations

import copy
import io
import json
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.cli import exit_code

from shop import Shop

WRONG: tuple[Any, ...] = (None, True, -7.5, "x", [], [None], {"a": [1]}, "", 10**30)
TRIED = int(os.environ.get("NL2SQL_GATE_TRIED_VALUES", "1"))
"""Wrong values a field and command; all of them take minutes."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop with a whole run, two shards, and a baseline."""
    shop = Shop.open(tmp_path_factory.mktemp("edited"))
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies({**shop.replies, "q1": "SELECT 1", "q2": "SELEC", "q3": "I do not know"}, "worse.jsonl")
    ran = shop.gate(
        *("run", "--dataset", "items.json", "--setup-directory", "setup", "--replies", "worse.jsonl"),
        *("--baseline", "baseline.json", "--out", "worse"),
    )
    assert ran.returncode in {0, 1}, ran.stderr
    for index in (1, 2):
        assert shop.run("--shard", f"{index}/2", "--out", f"s{index}").returncode == 0
    return shop.folder


def places(tree: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of a JSON tree; of a list its first element."""
    inner: Any = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for name, part in inner:
        yield (*above, name)
        # Nobody reads the rows of an old verdict: they are made anew.
        if (*above, name) != ("verdict", "rows"):
            yield from places(part, (*above, name))


def edited(tree: Any, place: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at one place."""
    changed = copy.deepcopy(tree)
    holder = changed
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    return changed


COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "compare the head": ("worse/run.json", ("compare", "odd.json", "baseline.json")),
    "compare with it": ("baseline.json", ("compare", "worse/run.json", "odd.json")),
    "report": ("worse/run.json", ("report", "odd.json", "--format", "html", "--output", "again.html")),
    "report beside it": ("baseline.json", ("report", "worse/run.json", "--baseline", "odd.json")),
    "merge": ("s2/run.json", ("merge", "s1/run.json", "odd.json")),
    "rescore": (
        "worse/run.json",
        ("rescore", "odd.json", "--to", "rescored.json", "--dataset", "items.json", "--setup-directory", "setup"),
    ),
    "bless": ("nl2sql-gate-out/run.json", ("bless", "odd.json", "--to", "blessed.json")),
    "show": ("baseline.json", ("baseline", "show", "odd.json")),
    "fetch": ("baseline.json", ("baseline", "fetch", "odd.json", "--to", "fetched.json")),
    "push": ("baseline.json", ("baseline", "push", "odd.json", "--to", "file:pushed.json")),
}


def told(words: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and standard error of a command, without a process of its own."""
    errors = io.StringIO()
    with redirect_stderr(errors), redirect_stdout(io.StringIO()):
        code = exit_code(words)
    return code, errors.getvalue()


def wrong_values(tree: Any, at: int, place: tuple[Any, ...]) -> Iterator[Any]:
    """Values of another type than the one at `place`, others for the next place."""
    value: Any = tree
    for name in place:
        value = value[name]
    others = [each for each in WRONG if type(each) is not type(value) and not (isinstance(value, float) and each == -7.5)]
    for step in range(min(TRIED, len(others))):
        yield others[(at + step * 3) % len(others)]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_field_of_a_wrong_type_is_words_and_never_a_bug(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    """What is refused is refused in four parts; what nobody reads changes nothing."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NL2SQL_GATE_TRACEBACK", "1")
    source, words = COMMANDS[name]
    tree = json.loads((folder / source).read_text())
    found = []
    refused = 0
    for at, place in enumerate(places(tree)):
        for value in wrong_values(tree, at, place):
            (folder / "odd.json").write_text(json.dumps(edited(tree, place, value)))
            for made in ("blessed.json", "pushed.json", "blessed.history.jsonl", "pushed.history.jsonl"):
                (folder / made).unlink(missing_ok=True)
            code, errors = told(words)
            refused += code == 2
            parts = [line for line in errors.splitlines() if line.startswith("  ")]
            if code not in {0, 1, 2, 3} or "Traceback" in errors or (code == 2 and len(parts) < 3):
                found.append((place, value, code, errors[-400:]))
    assert found == []
    assert refused > 20


SHARD = {"facts": {"asked": "many"}}, {"facts": {"replayed": None}}, {"shard": {"index": "x"}}, {"fingerprint": {"data": 7}}


@pytest.mark.parametrize("change", SHARD, ids=["asked", "replayed", "index", "data"])
def test_a_shard_with_no_number_where_one_is_counted_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    monkeypatch.chdir(folder)
    tree = json.loads((folder / "s2/run.json").read_text())
    for part, values in change.items():
        tree["provenance"][part].update(values)
    (folder / "odd.json").write_text(json.dumps(tree))
    code, errors = told(("merge", "s1/run.json", "odd.json"))
    (part, values), *_ = change.items()
    assert code == 2, errors
    assert f"provenance.{part}.{next(iter(values))}: " in errors
    assert "odd.json" in errors
