"""The contract suite as the author of another engine runs it: the example of the documentation, whole and with each guard broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.testing import EngineUnderTest, Oddity, Spelling, never, notimpl, notyet

ENTRY_POINTS = "[nl2sql_gate.engines]\ntoy = toy_engine:ToyEngine\n"
METADATA = "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n"
OUTCOME = re.compile(r"^(PASSED|FAILED|XFAIL|ERROR|SKIPPED) test_toy\.py::TestToy::(\w+)", re.MULTILINE)


@dataclass
class Toy:
    """The three files of the example, in a folder of their own."""

    folder: Path

    def change(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        (self.folder / name).write_text(text.replace(old, new), encoding="utf-8")

    def install(self) -> None:
        """What pip writes, in a folder that Python looks into."""
        folder = self.folder / "toy-1.0.dist-info"
        folder.mkdir()
        (folder / "entry_points.txt").write_text(ENTRY_POINTS)
        (folder / "METADATA").write_text(METADATA)

    def run(self, *tests: str) -> subprocess.CompletedProcess[str]:
        words = [*tests, "-rA", "--tb=short", "--strict-markers", "-W", "error", "-p", "no:cacheprovider", "-p", "no:asyncio"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )

    def failed(self, *tests: str) -> set[str]:
        ran = self.run(*tests)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        return _with("FAILED", ran.stdout)


def _with(outcome: str, output: str) -> set[str]:
    return {name for found, name in OUTCOME.findall(output) if found == outcome}


@pytest.fixture
def toy(root: Path, tmp_path: Path) -> Toy:
    page = (root / "docs/engine_contract.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    assert sorted(blocks) == ["conftest.py", "test_toy.py", "toy_engine.py"]
    for name, text in blocks.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Toy(tmp_path)


def test_the_documented_engine_keeps_the_contract_but_for_what_it_declares(toy: Toy) -> None:
    ran = toy.run()
    assert ran.returncode == 0, ran.stdout
    assert _with("XFAIL", ran.stdout) == {
        "test_effects_are_compared_in_words",
        "test_other_types_are_reported_and_decide_only_when_strict",
        "test_what_the_clock_fills_in_is_ignored",
        "test_the_schema_shows_keys_types_and_samples",
    }
    assert len(_with("PASSED", ran.stdout)) > 30
    assert "SKIPPED" not in ran.stdout
    assert "left out (1): toy, automatic_numbers: Nobody needs them in a toy." in ran.stdout


def test_an_installed_engine_is_found_by_its_entry_point(toy: Toy) -> None:
    toy.install()
    toy.change("test_toy.py", "engine=ToyEngine", 'engine="toy"')
    ran = toy.run("-k", "keep_the_protocols")
    assert ran.returncode == 0, ran.stdout
    assert _with("PASSED", ran.stdout) == {"test_engines_keep_the_protocols"}


def test_the_gate_runs_on_an_installed_engine(toy: Toy) -> None:
    toy.install()
    setup = toy.folder / "setup/shop/toy"
    setup.mkdir(parents=True)
    (setup / "setup.sql").write_text("CREATE TABLE stock(a INTEGER); INSERT INTO stock VALUES (1), (2);")
    item = {"id": "1", "nl_prompt": "How many?", "query_type": "DQL", "database": "shop", "dialects": ["toy"]}
    (toy.folder / "items.json").write_text(json.dumps([{**item, "golden_sql": {"toy": ["SELECT COUNT(*) FROM stock"]}}]))
    (toy.folder / "replies.jsonl").write_text('{"id": "1", "reply": "SELECT 2"}')
    words = ["run", "--dataset", "items.json", "--setup-directory", "setup", "--replies", "replies.jsonl"]
    ran = subprocess.run(
        [sys.executable, "-m", "nl2sql_gate", *words],
        cwd=toy.folder,
        env={**os.environ, "PYTHONPATH": str(toy.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (case,) = json.loads((toy.folder / "nl2sql-gate-out/run.json").read_text())["cases"]
    assert (case["dialect"], case["outcome"], case["scores"]["execution_accuracy"]["value"]) == ("toy", "answered", 1)


@pytest.mark.parametrize(
    ("old", "new", "select", "failed"),
    [
        (
            "            connection.set_authorizer(only_reads)\n            yield",
            "            yield",
            "hostile or write or refusals or results",
            {"test_no_write_passes_a_reading_session", "test_refusals_say_so"},
        ),
        (
            "copy = shutil.copy(self.path, folder)",
            "copy = self.path",
            "next_case or same_state or way_out",
            {"test_nothing_reaches_the_next_case", "test_each_side_starts_from_the_same_state"},
        ),
        (
            "                connection.set_authorizer(stays_inside)\n",
            "",
            "next_case or same_state or way_out",
            {"test_no_way_out_of_a_private_copy"},
        ),
        (
            "if len(rows) > self.limits.rows:",
            "if len(rows) > self.limits.rows + 1:",
            "limit",
            {"test_exactly_the_row_limit_is_allowed"},
        ),
        (
            "self.connection.execute(text)",
            "self.connection.execute(' '.join(text.split()))",
            "untouched or positional",
            {"test_the_text_of_a_statement_is_untouched"},
        ),
        (
            "                if isinstance(ran, SqlError):\n                    return ran\n",
            "",
            "statements or first_error",
            {"test_the_first_error_ends_a_text"},
        ),
        (
            'where=[f"{place}: {error}", sql]',
            "where=[str(error)]",
            "named",
            {"test_a_failing_setup_statement_is_named_with_its_place", "test_rows_that_do_not_fit_are_named"},
        ),
        (
            "        if key not in self.databases:\n",
            "        if True:\n",
            "built_once or apart",
            {"test_the_same_database_is_built_once"},
        ),
        (
            "    def protect(self):\n        self.connection.set_authorizer(only_reads)\n",
            "    def protect(self):\n        pass\n",
            "protected or same_state",
            {"test_a_protected_session_refuses_writes"},
        ),
    ],
    ids=["reads", "copies", "outside", "rows", "text", "errors", "places", "once", "protect"],
)
def test_a_broken_engine_fails_the_test_about_it(toy: Toy, old: str, new: str, select: str, failed: set[str]) -> None:
    toy.change("toy_engine.py", old, new)
    assert toy.failed("-k", select) == failed


def test_a_mark_on_what_passes_fails(toy: Toy) -> None:
    mark = 'notyet(raises=AssertionError, reason="SQLite is too old")'
    toy.change("test_toy.py", "    marks={\n", f'    marks={{\n        "test_modulo_and_casts_are_no_placeholders": {mark},\n')
    toy.change("test_toy.py", "notimpl\n", "notimpl, notyet\n")
    ran = toy.run("-k", "modulo or positional")
    assert _with("FAILED", ran.stdout) == {"test_modulo_and_casts_are_no_placeholders"}
    assert "XPASS(strict)" in ran.stdout
    assert "notyet: SQLite is too old" in ran.stdout
    assert ran.returncode == 1


def test_a_mark_excuses_no_other_failure(toy: Toy) -> None:
    toy.change("test_toy.py", "raises=EngineFault", "raises=ZeroDivisionError")
    assert toy.failed("-k", "clock_fills_in or positional") == {"test_what_the_clock_fills_in_is_ignored"}


def test_a_mark_may_be_about_one_row_of_a_table(toy: Toy) -> None:
    toy.change("test_toy.py", '"test_effects_are_compared_in_words"', '"test_effects_are_compared_in_words[same_rows]"')
    ran = toy.run("-k", "effects and (same_rows or more_rows)")
    assert _with("XFAIL", ran.stdout) == {"test_effects_are_compared_in_words"}
    assert re.findall(r"^FAILED \S+\[(\S+)\]", ran.stdout, re.MULTILINE) == ["toy-more_rows"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"test_other_types',
            '"test_other_tipes',
            "marks['test_other_tipes_are_reported_and_decide_only_when_strict']: the suite has no test",
        ),
        ('compared_in_words"', 'compared_in_words[nothing]"', "the test has no such parameters"),
        ("engines = [TOY]", "engines = [TOY, TOY]", "two engines under test have one name"),
        ("engines = [TOY]", "pass", "has no engine to run on"),
    ],
    ids=["name", "parameters", "twice", "none"],
)
def test_mistakes_in_a_declaration_stop_the_tests(toy: Toy, old: str, new: str, said: str) -> None:
    toy.change("test_toy.py", old, new)
    ran = toy.run("--collect-only")
    assert ran.returncode not in {0, 1}, ran.stdout
    assert said in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: notimpl(raises=IndexError, reason=" "), "notimpl needs reason="),
        (lambda: notyet(raises="IndexError", reason="so it is"), "notyet needs raises="),  # type: ignore[arg-type]
        (lambda: never(raises=(IndexError, None), reason="so it is"), "never needs raises="),  # type: ignore[arg-type]
        (lambda: Oddity("quote", "`", "so"), "needs a whole sentence"),
        (lambda: Oddity("qoute", "`", "Backticks are what it takes."), "did you mean 'quote'?"),
        (lambda: Oddity("quote", '"', "The standard is what it takes."), "is what every engine is taken to be like"),
        (lambda: Oddity("quote", 1, "Numbers are what it takes."), "of type str"),
        (lambda: Oddity("quote", None, "Nothing is what it takes."), "of type str"),
        (lambda: Spelling("BOOLEAN", "BIT", ""), "needs a sentence"),
        (lambda: declared(name="two words"), "is a word"),
        (lambda: declared(oddities=(Oddity("sleep", "A", "It is called A."), Oddity("sleep", "B", "It is called B."))), "twice"),
    ],
)
def test_mistakes_in_a_record_are_named_at_once(make: Callable[[], object], said: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert said in str(caught.value)


def declared(**fields: Any) -> EngineUnderTest:
    return EngineUnderTest(**{"name": "toy", "dialect": "toy", "engine": "toy", **fields})


@pytest.mark.parametrize(("absent", "outcome"), [("", "ERROR"), ("    may_be_absent=True,\n", "SKIPPED")])
def test_a_server_that_does_not_start_is_a_failure_unless_it_may_be_absent(toy: Toy, absent: str, outcome: str) -> None:
    toy.change("toy_engine.py", "EngineFault, ProvisionError", "EngineFault, ProvisionError, ServiceError")
    toy.change(
        "toy_engine.py", "        self.folder.mkdir(parents=True, exist_ok=True)\n", '        raise ServiceError("no toy here")\n'
    )
    toy.change("test_toy.py", '    dialect="toy",\n', f'    dialect="toy",\n{absent}')
    ran = toy.run("-k", "protocols")
    assert outcome in ran.stdout
    assert "no toy here" in ran.stdout
    assert (ran.returncode == 0) == bool(absent)


def test_without_pytest_the_extra_is_named() -> None:
    code = "import sys; sys.modules['pytest'] = None; import nl2sql_gate.evaluate, nl2sql_gate.testing"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip install 'nl2sql-gate[testing]'" in ran.stderr
