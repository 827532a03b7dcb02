"""Writes what the docs show of the code: settings, options, action inputs, exit codes, JSON Schemas. `--check` only compares."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import cli
from nl2sql_gate.audit import CATALOGUE
from nl2sql_gate.dialects import FALLBACKS
from nl2sql_gate.github.inputs import EXTRA
from nl2sql_gate.github.outputs import NAMED_METRICS, OUTPUTS, declared
from nl2sql_gate.options import OPTIONS
from nl2sql_gate.settings import SCHEMA_URL, Settings
from nl2sql_gate.testing import EngineUnderTest, Traits

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- generated: {} -->", "<!-- end generated -->"


def settings_schema() -> str:
    """The JSON Schema of `nl2sql-gate.yml`."""
    schema = Settings.model_json_schema()
    service = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Service"}]}
    schema["properties"]["services"]["additionalProperties"] = service
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_URL, "title": "nl2sql-gate settings"}
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def settings_table() -> str:
    """Every setting with its type and default, from the schema."""
    schema = Settings.model_json_schema()
    rows = ["| Setting | Type | Default |", "|---|---|---|"]
    rows += _rows(schema, schema, "")
    return "\n".join(rows)


def _rows(node: dict[str, Any], schema: dict[str, Any], prefix: str) -> list[str]:
    rows = []
    for name, given in node.get("properties", {}).items():
        target = _target(given, schema)
        key = f"{prefix}{name}"
        if target.get("properties"):
            rows += _rows(target, schema, key + ".")
        else:
            default = given.get("default", target.get("default"))
            shown = "" if default in (None, "", [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"
            rows.append(f"| `{key}` | {_type(given, schema)} | {shown} |")
    return rows


def _target(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    reference = node.get("$ref") or next((part["$ref"] for part in node.get("allOf", []) if "$ref" in part), None)
    return schema["$defs"][reference.rpartition("/")[2]] if reference else node


def _type(node: dict[str, Any], schema: dict[str, Any]) -> str:
    node = _target(node, schema)
    if "enum" in node:
        return " · ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    if "anyOf" in node:
        return " or ".join(_type(part, schema) for part in node["anyOf"])
    if node.get("type") == "array":
        return "list of " + _type(node.get("items", {}), schema) if isinstance(node.get("items"), dict) else "list"
    return {"null": "nothing", "object": "mapping", "integer": "integer"}.get(node.get("type", ""), node.get("type", "any"))


def options_table() -> str:
    """Flags, environment variables, inputs and settings side by side."""
    rows = ["| Flag | Environment | Action input | Setting | Meaning |", "|---|---|---|---|---|"]
    rows += [f"| `{o.flag}` | `{o.variable}` | `{o.name}` | `{o.key}` | {o.help} |" for o in OPTIONS]
    rows += [f"| | | `{each.name}` | | {each.help} |" for each in EXTRA]
    return "\n".join(rows)


def help_text(name: str) -> str:
    """`--help` of a command, as a terminal of 100 columns shows it."""
    command: click.Command = cli.gate if not name else cli.gate.get_command(click.Context(cli.gate), name) or cli.gate
    context = click.Context(command, info_name=f"nl2sql-gate {name}".strip(), terminal_width=100, max_content_width=100)
    return f"```text\n{command.get_help(context)}\n```"


def commands_text() -> str:
    """Every command with its help."""
    parts = [help_text("")]
    for name in cli.COMMANDS:
        parts += [f"## {name}", help_text(name)]
    return "\n\n".join(parts)


def outputs_table() -> str:
    """The action's outputs."""
    rows = ["| Output | Meaning |", "|---|---|"]
    rows += [f"| `{name}` | {text} |" for name, text in OUTPUTS.items()]
    named = ", ".join(f"`{name}`" for name in NAMED_METRICS)
    rows.append(
        f"| {named} | The metric as a share from 0 to 1, where it is computed. With `_delta`: its change from the baseline. |"
    )
    return "\n".join(rows)


def action_outputs() -> str:
    """The outputs of `action.yml`."""
    lines = ["outputs:"]
    for name, text in declared().items():
        lines += [f"  {name}:", f"    description: {json.dumps(text)}"]
    return "\n".join(lines)


def runner_outputs() -> str:
    """The outputs of `runner/action.yml`, handed on from its step."""
    lines = ["outputs:"]
    for name, text in declared().items():
        lines += [f"  {name}:", f"    description: {json.dumps(text)}", f"    value: ${{{{ steps.gate.outputs.{name} }}}}"]
    return "\n".join(lines)


def input_variables() -> str:
    """The inputs as variables of a composite action's step: a runner gives them to container actions only."""
    names = [each.name for each in (*EXTRA, *OPTIONS)]
    return "\n".join(f"        INPUT_{name.upper()}: ${{{{ inputs.{name} }}}}" for name in names)


def action_inputs() -> str:
    """The inputs of `action.yml`."""
    lines = ["inputs:"]
    for each in EXTRA:
        lines += [f"  {each.name}:", f"    description: {json.dumps(each.help)}", "    required: false"]
        lines += [f"    default: {json.dumps(each.default)}"] if each.default else []
    for option in OPTIONS:
        many = " One a line, or separated by commas." if option.many else ""
        lines += [f"  {option.name}:", f"    description: {json.dumps(option.help + many)}", "    required: false"]
    return "\n".join(lines)


def audit_catalogue() -> str:
    """A section for every finding of an audit, under its id."""
    return "\n\n".join(
        f"### {name}\n\n{kind.title.capitalize()} ({kind.severity}). {kind.advice}" for name, kind in CATALOGUE.items()
    )


def cells_tables() -> str:
    """What each engine's types become."""
    names = {
        "sqlite": "SQLite",
        "duckdb": "DuckDB",
        "postgres": "PostgreSQL",
        "mysql": "MySQL, MariaDB",
        "sqlserver": "SQL Server",
    }
    parts = []
    for name, title in {**names, "generic": "Other products"}.items():
        table = importlib.import_module(f"nl2sql_gate.engines.cells_{name}").TABLE
        rows = [f"| {types} | {cell} |" for types, cell in table.items()]
        parts.append("\n".join([f"### {title}", "", "| Type | Cell |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def traits_table() -> str:
    """What the contract suite takes every engine to be like."""
    rows = ["| Trait | Every engine, if it says nothing else | What it is | None means |", "|---|---|---|---|"]
    for trait in fields(Traits):
        shown = "" if trait.default is None else f"`{str(trait.default).replace('|', chr(92) + '|')}`"
        rows.append(f"| `{trait.name}` | {shown} | {trait.metadata['about']} | {trait.metadata['optional']} |")
    return "\n".join(rows)


def oddities_list() -> str:
    """What is declared about our own engines."""
    sys.path.insert(0, str(ROOT / "tests/engines"))
    declared = importlib.import_module("declared")
    parts = []
    for engine in declared.ALL:
        said = _said(engine)
        for other in declared.ALL:
            if FALLBACKS.get(engine.dialect) == other.dialect:
                said = [f"- All that is said of {other.dialect}.", *(line for line in said if line not in _said(other))]
        parts.append("\n".join([f"### {engine.dialect}", "", *said]))
    return "\n\n".join(parts)


def _said(engine: EngineUnderTest) -> list[str]:
    said = [f"- {oddity.sentence} (`{oddity.trait}`)" for oddity in engine.oddities]
    said += [f"- {spelling.sentence} (spelling)" for spelling in engine.spelling]
    return [*said, *(f"- {note}" for note in engine.notes)]


def generated() -> dict[Path, str]:
    """Every generated file whole, by path."""
    files = {ROOT / "docs/schemas/settings-v1.json": settings_schema()}
    parts = {
        "settings": settings_table,
        "options": options_table,
        "inputs": action_inputs,
        "audit": audit_catalogue,
        "cells": cells_tables,
        "traits": traits_table,
        "oddities": oddities_list,
    }
    parts |= {"action outputs": action_outputs, "runner outputs": runner_outputs, "outputs": outputs_table}
    parts |= {"input variables": input_variables, "commands": commands_text}
    parts |= {f"help {name}".strip(): (lambda n=name: help_text(n)) for name in ("", *cli.COMMANDS)}
    actions = [ROOT / "action.yml", ROOT / "runner/action.yml"]
    for path in [ROOT / "README.md", *actions, *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for name, make in parts.items():
            text = _replaced(text, name, make, comment="#" if path.suffix == ".yml" else "")
        if text:
            files[path] = text
    return files


def _replaced(text: str, name: str, make: Any, *, comment: str) -> str:
    begin = f"# generated: {name}" if comment else BEGIN.format(name)
    end = "# end generated" if comment else END
    if begin not in text:
        return text
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{make()}\n{end}{after}"


def main() -> int:
    """Write the files, or say which differ."""
    stale = []
    for path, content in generated().items():
        if path.is_file() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"error: generated text is stale in {', '.join(stale)}\n  Run: make docs")
        return 1
    print(f"{'written' if stale else 'current'}: {', '.join(stale) or 'all generated text'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
