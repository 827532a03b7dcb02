"""The file `nl2sql-gate.yml` as a tree: environment variables put in, the line of every key known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.bounded_yaml import YamlFault, read_yaml
from nl2sql_gate.errors import SettingsError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def read_settings_file(file: Path, environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, int], dict[str, str]]:
    """The file's tree with variables replaced, the line of each dotted key, and the model's variables that are empty.

    Raises `SettingsError`.
    """
    try:
        node, tree = read_yaml(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, YamlFault) as error:
        raise SettingsError(
            f"{file.name} cannot be read",
            where=[f"{file}: {' '.join(str(error).split())}"],
            meaning="The run did not start.",
            next_step="Correct the file. It is YAML; nl2sql-gate init writes one with comments.",
        ) from error
    lines: dict[str, int] = {}
    if tree is None:
        return {}, lines, {}
    if not isinstance(tree, dict):
        raise SettingsError(
            f"{file.name} is not a mapping of settings",
            where=[f"{file}:1 holds a {type(tree).__name__}"],
            meaning="The run did not start.",
            next_step="Write KEY: VALUE lines, as nl2sql-gate init does.",
        )
    duplicates: list[str] = []
    _mark(node, "", lines, duplicates)
    if duplicates:
        raise SettingsError(
            f"{file.name} gives a setting twice",
            where=[f"{file}:{line}" for line in duplicates],
            meaning="Only the last one would count, so the run did not start.",
            next_step="Keep one of them.",
        )
    missing: dict[str, str] = {}
    unset: list[str] = []
    tree = _expand(tree, "", environ, missing, unset)
    if unset:
        raise SettingsError(
            f"{file.name} names environment variables that are not set",
            where=[f"{file}:{lines.get(key.partition(' ')[0], 0)}: {key}" for key in unset],
            meaning="The run did not start.",
            next_step="Set them, in a workflow under env:, or remove the setting.",
        )
    return tree, lines, missing


def _mark(node: Any, prefix: str, lines: dict[str, int], duplicates: list[str]) -> None:
    """Collect the line of every key below `node`."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            dotted = f"{prefix}.{key.value}" if prefix else str(key.value)
            lines[dotted] = key.start_mark.line + 1
            if key.value in seen:
                duplicates.append(f"{key.start_mark.line + 1}: {dotted}")
            seen.add(key.value)
            _mark(value, dotted, lines, duplicates)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[f"{prefix}.{index}"] = value.start_mark.line + 1
            _mark(value, f"{prefix}.{index}", lines, duplicates)


def _expand(value: Any, key: str, environ: Mapping[str, str], missing: dict[str, str], unset: list[str]) -> Any:
    """`value` with `${NAME}` replaced. An empty one under `model` is remembered: on a fork there are no secrets."""
    if isinstance(value, dict):
        inner = {name: f"{key}.{name}" if key else str(name) for name in value}
        expanded = {name: _expand(each, inner[name], environ, missing, unset) for name, each in value.items()}
        # As if it were not written: an empty value would be an error of its own, and hide what is missing.
        return {name: each for name, each in expanded.items() if inner[name] not in missing}
    if isinstance(value, list):
        return [_expand(v, f"{key}.{i}", environ, missing, unset) for i, v in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in _VARIABLE.findall(value):
        if environ.get(name, "") == "":
            if key.startswith("model."):
                missing[key] = name
                return None
            unset.append(f"{key} names ${{{name}}}")
    return _VARIABLE.sub(lambda match: environ.get(match.group(1), ""), value)
