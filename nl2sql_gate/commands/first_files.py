"""The files with which a repository starts: commented settings, and a workflow in one of three forms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.commands.survey import PROVABLE_FROM, Found, proposed
from nl2sql_gate.settings import SCHEMA_URL

Form = Literal["action", "runner", "reusable"]
FORMS: tuple[Form, ...] = ("action", "runner", "reusable")
SETTINGS_FILE = "nl2sql-gate.yml"
WORKFLOW_FILE = ".github/workflows/nl2sql-gate.yml"
FORKS_FILE = ".github/workflows/nl2sql-gate-forks.yml"
ACTION = "nl2sql-gate/nl2sql-gate"
VERSION = "v1"
CHECKOUT = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0"
UPLOAD = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
_EMBEDDED = {"sqlite", "duckdb", "postgres", "mysql", "mariadb"}


@dataclass(frozen=True, slots=True)
class Start:
    """What the files are written from. `found` is the dataset, where the repository has one."""

    gate: str
    form: Form
    found: Found | None = None
    default_branch: str = "main"


def settings_text(start: Start) -> str:
    """`nl2sql-gate.yml`, with the line by which editors find its schema."""
    found = start.found
    lines = [
        f"# yaml-language-server: $schema={SCHEMA_URL}",
        "# What the gate runs and when it closes. Every setting: docs/settings.md of nl2sql-gate.",
        "version: 1",
        f"gate: {start.gate}   # names the comment, the baseline and the artifact",
        "",
        *_dataset(found),
        "",
        *_services(found),
        "",
        "# The model under test. ${NAME} is taken from the environment; the workflow passes these on.",
        "model:",
        "  base_url: ${MODEL_URL}          # any endpoint that speaks OpenAI's chat API; take the line out for OpenAI itself",
        "  name: ${MODEL_NAME}             # the model, as the endpoint knows it",
        "  api_key: ${OPENAI_API_KEY}",
        "  # prompt: prompts/nl2sql.j2     # instead of the built-in prompt",
        "  # For a service of your own use generator: http_json, for a program generator: command.",
        "",
        "# Replies are kept by what was asked, so an unchanged question is paid once, and forks without a key can replay.",
        "# cache: .nl2sql-cache",
        "",
        f"baseline: {_baseline(start)}",
        "",
        *_policy(found),
        "",
        "report:",
        "  comment: changes     # always | changes | regressions | off",
    ]
    return "\n".join(lines) + "\n"


def workflow_text(start: Start) -> str:
    """The workflow that runs the gate on pull requests, in the merge queue, and on the default branch."""
    on = [
        "name: NL2SQL gate",
        "on:",
        "  pull_request:",
        "  merge_group:",
        "  push:",
        f"    branches: [{json.dumps(start.default_branch)}]",
        "permissions: {}",
        "jobs:",
        "  gate:",
    ]
    body = _reusable(start) if start.form == "reusable" else _steps(start)
    return "\n".join([*on, *body]) + "\n"


def forks_text(start: Start) -> str:
    """The workflow that comments for forks: it runs on the default branch's code, and never checks out anything."""
    lines = [
        "# Comments on pull requests of forks, whose own run has a read-only token. It takes one text file from that run,",
        "# cleans it, and asks GitHub which pull request the commit belongs to. It works once it is on the default branch.",
        "name: NL2SQL gate, comments for forks",
        "on:  # zizmor: ignore[dangerous-triggers] nothing of the fork is checked out or run",
        "  workflow_run:",
        '    workflows: ["NL2SQL gate"]',
        "    types: [completed]",
        "permissions: {}",
        "jobs:",
        "  comment:",
        "    if: >-",
        "      github.event.workflow_run.event == 'pull_request'",
        "      && github.event.workflow_run.head_repository.full_name != github.repository",
        "    runs-on: ubuntu-latest",
        "    timeout-minutes: 10",
        "    permissions:",
        "      actions: read          # the artifact of that run",
        "      pull-requests: write   # the comment",
        "    steps:",
        f"      - uses: {ACTION}@{VERSION}",
        "        with:",
        "          mode: post",
        f"          gate: {start.gate}",
    ]
    return "\n".join(lines) + "\n"


def _dataset(found: Found | None) -> list[str]:
    if found is None:
        return [
            "# Questions with golden SQL: EvalBench, BIRD, Spider, defog and others; docs/datasets.md has the formats.",
            "dataset: evals/items.json          # change this",
            "setup_directory: evals/setup       # change this: a setup script and data for each database",
        ]
    lines = [f"dataset: {_scalar(found.path)}   # {len(found.dataset.items):,} items"]
    if found.setup_directory:
        lines.append(f"setup_directory: {_scalar(found.setup_directory)}")
    else:
        lines.append("# setup_directory: evals/setup     # a setup script and data for each database; none was found")
    return lines


def _services(found: Found | None) -> list[str]:
    lines = [
        "# Where databases come from: auto starts a throw-away one. Or container[:image], a URL, or your own server:",
        '#   staging: {dialect: postgres, url: "${STAGING_DSN}", existing: true}',
        "services:",
    ]
    if found is None:
        return [*lines, "  sqlite: auto"]
    for dialect in found.dialects:
        note = "" if dialect in _EMBEDDED else "   # needs a container engine, or a URL of a server"
        lines.append(f"  {dialect}: auto{note}")
    return lines


def _baseline(start: Start) -> str:
    if start.form == "reusable":
        return "branch:nl2sql-gate-baselines   # blessed by the workflow on the default branch"
    return "file:nl2sql-baseline.json   # nl2sql-gate bless nl2sql-gate-out/run.json writes it; commit it"


def _policy(found: Found | None) -> list[str]:
    lines = [
        "policy:",
        "  min_drop: 0.02       # a drop of two points that is proven closes the gate",
        "  # floors: {execution_accuracy: 0.7}",
        "  # budgets: {cost: 1.00, latency_p50_s: 3}",
    ]
    count = len(found.dataset.items) if found else 0
    if found is None or count >= PROVABLE_FROM:
        return [*lines, "  # required: {tags: [must-pass]}   # questions that have to pass, whatever the statistics say"]
    lines += [
        f"  # With {count} questions only a large drop can be proven, so name questions that have to pass. A proposal,",
        "  # spread over databases and kinds of statement; keep those that your model gets right every time:",
        "  # required:",
        "  #   ids:",
    ]
    return [*lines, *(f"  #     - {_scalar(name)}" for name in proposed(found.dataset.items))]


def _steps(start: Start) -> list[str]:
    action = ACTION if start.form == "action" else f"{ACTION}/runner"
    return [
        "    runs-on: ubuntu-latest",
        "    timeout-minutes: 60",
        "    permissions:",
        "      contents: read",
        "      pull-requests: write   # the comment",
        "    steps:",
        f"      - uses: {CHECKOUT}",
        "        with:",
        "          persist-credentials: false",
        f"      - uses: {action}@{VERSION}",
        "        env:",
        *_environment("          "),
        "      - name: Keep the report",
        "        if: always()",
        f"        uses: {UPLOAD}",
        "        with:",
        f"          name: nl2sql-gate-{start.gate}",
        "          path: nl2sql-gate-out",
        "          if-no-files-found: ignore",
    ]


def _reusable(start: Start) -> list[str]:
    return [
        "    permissions:",
        "      contents: write        # the baseline's branch, written on the default branch only",
        "      pull-requests: write   # the comment",
        f"    uses: {ACTION}/.github/workflows/gate.yml@{VERSION}",
        "    with:",
        f"      gate: {start.gate}",
        "      model_url: ${{ vars.MODEL_URL }}",
        "      model_name: ${{ vars.MODEL_NAME }}",
        "    secrets:",
        "      api_key: ${{ secrets.OPENAI_API_KEY }}",
    ]


def _environment(indent: str) -> list[str]:
    return [
        f"{indent}MODEL_URL: ${{{{ vars.MODEL_URL }}}}",
        f"{indent}MODEL_NAME: ${{{{ vars.MODEL_NAME }}}}",
        f"{indent}OPENAI_API_KEY: ${{{{ secrets.OPENAI_API_KEY }}}}",
    ]


def _scalar(text: str) -> str:
    """`text` as a YAML scalar: as it is where nothing in it means anything, else quoted as JSON, which YAML reads."""
    plain = text.replace("-", "").replace("_", "").replace("/", "").replace(".", "")
    return text if plain.isalnum() and not plain.isdecimal() and plain.isascii() else json.dumps(text)


def names(values: Sequence[str]) -> str:
    """Names in a row, for a sentence."""
    return ", ".join(values) or "none"
