"""The settings of this run: flags over environment over nl2sql-gate.yml over defaults."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2sql_gate.bounded_yaml import YamlFault, read_yaml
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.options import OPTIONS, Option, set_dotted
from nl2sql_gate.settings import Settings
from nl2sql_gate.settings_file import read_settings_file

DEFAULT_FILE = "nl2sql-gate.yml"
_PATHS = {option.key for option in OPTIONS if option.path} | {"policy.waivers"}
_SHOWN = 200
"""Characters of a path that a message shows."""
_STORE = re.compile(r"(file|branch|artifact|https?|ref|endpoint):")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings with what the run must know about where they came from.

    `missing` maps a `model.…` key to the environment variable that it names and that is empty: no credentials, as on a fork.
    `baseline_named` tells that the baseline was named on the command line, where an absent one is a usage error.
    """

    settings: Settings
    file: Path | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    baseline_named: bool = False


def load(
    flags: Mapping[str, Any],
    *,
    config: str | None = None,
    assignments: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """The merged, checked settings. `flags` maps option names to values; `assignments` are `KEY=VALUE` with a YAML value.

    Raises `SettingsError` that lists every fault with file and line.
    """
    environ = os.environ if environ is None else environ
    folder = Path.cwd() if folder is None else folder
    file = _find(config or environ.get("NL2SQL_GATE_CONFIG"), folder)
    tree, lines, missing = read_settings_file(file, environ) if file else ({}, {}, {})
    if file:
        _absolute(tree, file.parent)
    given = _from_environment(environ) | {name: value for name, value in flags.items() if value not in (None, ())}
    for option in OPTIONS:
        if option.name in given:
            set_dotted(tree, option.key, _located(option, given[option.name], folder))
            missing.pop(option.key, None)
    for assignment in assignments:
        _assign(tree, assignment, folder)
    return Configuration(
        _check(tree, file, lines), file, missing, baseline_named="baseline" in flags and flags["baseline"] is not None
    )


def _find(config: str | None, folder: Path) -> Path | None:
    if config is None:
        default = folder / DEFAULT_FILE
        return default if default.is_file() else None
    path = folder / config
    problem = _impossible(path)
    if problem or not path.is_file():
        raise SettingsError(
            f"the settings file {_short(config)} {'cannot be looked up: ' + problem if problem else 'does not exist'}",
            where=[f"looked for {_short(str(path))}"],
            meaning="The run did not start.",
            next_step="Correct --config, or write one with: nl2sql-gate init",
        )
    return path


def _impossible(path: Path) -> str:
    """Why the system will not even look for `path`: a name that is too long, a folder that may not be entered, a NUL in it."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return error.strerror or str(error)
    except ValueError as error:
        return str(error)
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Options given as `NL2SQL_GATE_…`; several values of one option are separated by commas or line ends."""
    found: dict[str, Any] = {}
    for option in OPTIONS:
        text = environ.get(option.variable, "").strip()
        if text:
            found[option.name] = tuple(part.strip() for part in re.split(r"[,\n]", text) if part.strip()) if option.many else text
    return found


def _located(option: Option, value: Any, folder: Path) -> Any:
    if option.path:
        return str((folder / str(value)).absolute())
    if option.name in {"baseline", "anchor"}:
        return locate_baseline(str(value), folder)
    return list(value) if option.many else value


def locate_baseline(value: str, folder: Path) -> str:
    """A bare path is a file; a path is relative to where it was written."""
    if value.startswith("file:"):
        return "file:" + str((folder / value.removeprefix("file:")).absolute())
    return value if _STORE.match(value) else "file:" + str((folder / value).absolute())


def _absolute(tree: dict[str, Any], folder: Path) -> None:
    """Paths in the file are relative to the file."""
    for key in _PATHS:
        *sections, last = key.split(".")
        inner: Any = tree
        for section in sections:
            inner = inner.get(section) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get(last), str):
            inner[last] = str((folder / inner[last]).absolute())
    for name in ("baseline", "anchor"):
        if isinstance(tree.get(name), str):
            tree[name] = locate_baseline(tree[name], folder)


def _assign(tree: dict[str, Any], assignment: str, folder: Path) -> None:
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise SettingsError(
            f"--set {assignment!r} is not KEY=VALUE",
            meaning="The run did not start.",
            next_step="Write for example --set policy.min_drop=0.03",
        )
    try:
        _, value = read_yaml(text)
    except YamlFault as error:
        raise SettingsError(
            f"the value of --set {key} cannot be read",
            where=[str(error)],
            meaning="The run did not start.",
            next_step="The value is YAML: quote text with special characters.",
        ) from error
    if key.strip() in _PATHS and isinstance(value, str):
        value = str((folder / value).absolute())
    set_dotted(tree, key.strip(), value)


def _check(tree: dict[str, Any], file: Path | None, lines: Mapping[str, int]) -> Settings:
    from pydantic import ValidationError

    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        source = file.name if file else "the settings"
        places = [_fault(fault, file, lines) for fault in error.errors(include_url=False, include_input=False)]
        raise SettingsError(
            f"{source}: {len(places)} setting{'s are' if len(places) > 1 else ' is'} wrong",
            where=places,
            meaning="The run did not start; nothing was asked or written.",
            next_step="Correct them. docs/settings.md lists every setting.",
        ) from error
    lost = [line for key in sorted(_PATHS) for line in _lost(settings, key, file, lines)]
    if lost:
        raise SettingsError(
            "a path cannot be looked up",
            where=lost,
            meaning="The run did not start; nothing was asked or written.",
            next_step="Correct the path, or the permissions on its folders.",
        )
    return settings


def _lost(settings: Settings, key: str, file: Path | None, lines: Mapping[str, int]) -> Iterable[str]:
    value: Any = settings
    for section in key.split("."):
        value = getattr(value, section, None)
    problem = _impossible(Path(value)) if isinstance(value, str) else ""
    if problem:
        place = f"{file}:{lines[key]}: " if file and key in lines else ""
        yield f"{place}{key}: {problem}: {_short(str(value))}"


def _fault(fault: Any, file: Path | None, lines: Mapping[str, int]) -> str:
    parts = [str(part) for part in fault["loc"] if part != "[key]"]
    key = ".".join(parts)
    line = next((lines[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in lines), 0)
    place = f"{file}:{line}: " if file and line else ""
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(parts[-1], _known_keys(parts[:-1]), n=1)
        return f"{place}{key}: unknown setting" + (f", did you mean {near[0]!r}?" if near else "")
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"{place}{key + ': ' if key else ''}{message[:1].lower()}{message[1:]}"


def _known_keys(parts: list[str]) -> list[str]:
    """Keys of the section at `parts`, by walking the models."""
    model: Any = Settings
    for part in parts:
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            from nl2sql_gate.settings import Service

            model = Service if parts[0] == "services" else None
            continue
        model = fields[part].annotation
    return list(getattr(model, "model_fields", {}))
