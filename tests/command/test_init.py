"""`nl2sql-gate init`: what it finds, what it writes, and that both linters and the gate itself take it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shop import Shop, item

SETTINGS = "nl2sql-gate.yml"
WORKFLOW = ".github/workflows/nl2sql-gate.yml"
FORKS = ".github/workflows/nl2sql-gate-forks.yml"
TOOLS = Path(sys.executable).parent


def _init(shop: Shop, *arguments: str) -> str:
    ran = shop.gate("init", *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def test_the_dataset_its_setup_and_dialects_are_found(shop: Shop) -> None:
    said = _init(shop)
    assert "dataset  items.json: 6 items, 1 databases, sqlite; setup in setup" in said
    settings = _yaml(shop.folder / SETTINGS)
    assert (settings["dataset"], settings["setup_directory"], settings["services"]) == ("items.json", "setup", {"sqlite": "auto"})


def test_the_settings_are_valid_and_the_gate_runs_with_them(shop: Shop, root: Path) -> None:
    _init(shop)
    assert (shop.folder / SETTINGS).read_text().startswith("# yaml-language-server: $schema=https://")
    checked = subprocess.run(
        [TOOLS / "check-jsonschema", "--schemafile", root / "docs/schemas/settings-v1.json", shop.folder / SETTINGS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    missing = shop.gate("run")
    assert missing.returncode == 2
    assert "MODEL_URL" in missing.stderr
    with shop.endpoint() as address:
        shop.environment |= {"MODEL_URL": address, "MODEL_NAME": "m", "OPENAI_API_KEY": "sk-planted-0"}
        ran = shop.gate("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6/6" in ran.stdout


def test_few_questions_bring_a_proposal_of_required_ones(shop: Shop) -> None:
    shop.items = [
        item(f"{kind}-{number}", "?", golden, query_type=kind, database=f"db{number % 2}")
        for kind, golden in (("dql", "SELECT 1"), ("dml", "DELETE FROM customer"))
        for number in range(20)
    ]
    shop.write()
    _init(shop)
    text = (shop.folder / SETTINGS).read_text()
    assert "With 40 questions only a large drop can be proven" in text
    proposed = [line.removeprefix("  #     - ") for line in text.splitlines() if line.startswith("  #     - ")]
    assert len(proposed) == 10
    assert {name.partition("-")[0] for name in proposed} == {"dql", "dml"}
    # Uncommented, the proposal is valid.
    (shop.folder / SETTINGS).write_text(
        "\n".join(
            line.replace("  # ", "  ", 1)
            if "required:" in line or "ids:" in line or line in {f"  #     - {n}" for n in proposed}
            else line
            for line in text.splitlines()
        )
    )
    assert _yaml(shop.folder / SETTINGS)["policy"]["required"]["ids"] == proposed


def test_many_questions_bring_none(shop: Shop) -> None:
    shop.items = [item(f"q{number}", "?", "SELECT 1") for number in range(100)]
    shop.write()
    _init(shop)
    assert "only a large drop" not in (shop.folder / SETTINGS).read_text()


def test_nothing_is_written_over_without_force(shop: Shop) -> None:
    (shop.folder / SETTINGS).write_text("mine\n")
    refused = shop.gate("init")
    assert refused.returncode == 2
    assert "nl2sql-gate.yml is there already" in refused.stderr
    assert (shop.folder / SETTINGS).read_text() == "mine\n"
    assert not (shop.folder / WORKFLOW).exists()
    _init(shop, "--force")
    assert (shop.folder / SETTINGS).read_text() != "mine\n"


def test_a_dry_run_writes_nothing(shop: Shop) -> None:
    said = _init(shop, "--dry-run", "--forks")
    assert all(f"# ---- {name}" in said for name in (SETTINGS, WORKFLOW, FORKS))
    assert not (shop.folder / SETTINGS).exists()


def test_an_empty_repository_gets_settings_to_fill_in(tmp_path: Path) -> None:
    said = _init(Shop(tmp_path), "--no-workflow")
    assert "none was found" in said
    assert "# change this" in (tmp_path / SETTINGS).read_text()
    assert not (tmp_path / WORKFLOW).exists()


def test_what_is_there_already_is_named(shop: Shop) -> None:
    (shop.folder / ".github/workflows").mkdir(parents=True)
    (shop.folder / ".github/workflows/ci.yml").write_text("on: push\n")
    (shop.folder / ".github/workflows/eval.yml").write_text("uses: nl2sql-gate/nl2sql-gate@v1\n")
    (shop.folder / ".gitlab-ci.yml").write_text("test: {}\n")
    (shop.folder / "broken.json").write_text('{"nl_prompt": ')
    said = _init(shop)
    for words in ("workflows ci.yml, eval.yml", "eval.yml already runs a gate", ".gitlab-ci.yml", "passed   broken.json"):
        assert words in said


def test_a_given_dataset_that_cannot_be_read_is_an_error(shop: Shop) -> None:
    assert shop.gate("init", "--dataset", "absent.json").returncode == 2


def test_a_gates_name_is_held_to_the_settings_rule(shop: Shop) -> None:
    assert shop.gate("init", "--gate", "../x").returncode == 2


@pytest.mark.parametrize("form", ["action", "runner", "reusable"])
def test_the_workflows_are_clean_to_every_linter(shop: Shop, root: Path, form: str) -> None:
    _init(shop, "--form", form, "--forks", "--gate", "orders-eval")
    paths = [str(shop.folder / name) for name in (WORKFLOW, FORKS)]
    commands = [
        [TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *paths],
        [TOOLS / "zizmor", "--offline", "--quiet", "--config", root / ".github/zizmor.yml", *paths],
        [TOOLS / "actionlint", *paths],
    ]
    for command in commands:
        ran = subprocess.run(list(map(str, command)), cwd=shop.folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.dumps(_yaml(shop.folder / WORKFLOW)["permissions"]) == "{}"
