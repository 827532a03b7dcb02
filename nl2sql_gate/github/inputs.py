"""Action inputs (`INPUT_…`) as arguments of the command line: the same words, checked by us, since the runner checks nothing."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.options import BY_NAME, OPTIONS


@dataclass(frozen=True, slots=True)
class Input:
    """An input that is no option of a run. Where it has a `variable`, the command reads it from there."""

    name: str
    help: str
    default: str = ""
    variable: str = ""


EXTRA: tuple[Input, ...] = (
    Input("mode", "run: the gate. merge: join shards. bless: make the run in out the baseline. post: comment for a fork.", "run"),
    Input("config", "Settings file, relative to the workspace.", "nl2sql-gate.yml"),
    Input("only", "Items to run, one ID[:DIALECT] a line."),
    Input("shard", "Run the I-th of N parts, as I/N; mode merge joins the parts."),
    Input("runs", "Mode merge: the run.json files of all shards, a path or pattern a line.", "shards/*/run.json"),
    Input("set", "Other settings, one KEY=VALUE a line, for example policy.alpha=0.01."),
    Input("working_directory", "Folder of the workspace in which the gate runs.", "."),
    Input(
        "github_token",
        "Token for the pull-request comment and stored baselines.",
        "${{ github.token }}",
        variable="GITHUB_TOKEN",
    ),
    Input(
        "leg",
        "Name of this leg of a matrix: each has a section in the one comment.",
        "${{ strategy.job-total > 1 && toJSON(matrix) || '' }}",
        variable="NL2SQL_GATE_LEG",
    ),
    Input("artifact", "Mode post: name of the artifact that the fork's run uploaded; nl2sql-gate-<gate> where not given."),
    Input(
        "allow_untrusted_code",
        "The word that lets a fork's code run beside your secrets; the documentation of forks says why not to.",
        variable="NL2SQL_GATE_ALLOW_UNTRUSTED_CODE",
    ),
)
MODES = ("run", "merge", "bless", "post")
DEFAULT_OUT = "nl2sql-gate-out"
_DEFAULTS = {each.name: each.default for each in EXTRA}
KNOWN = tuple(option.name for option in OPTIONS) + tuple(each.name for each in EXTRA)
_HOST_PATH = re.compile(r"^/(?:home/runner/work|__w)/(?P<repository>[^/]+)/(?P=repository)/?")


def read_inputs(environ: Mapping[str, str]) -> dict[str, str]:
    """The inputs that are set, by name. The runner keeps hyphens and upper-cases; both spellings are taken.

    Raises `SettingsError` for an input that does not exist: a misspelled one would otherwise do nothing.
    """
    found: dict[str, str] = {}
    unknown: list[str] = []
    for variable, value in environ.items():
        if not variable.startswith("INPUT_"):
            continue
        name = variable.removeprefix("INPUT_").lower().replace("-", "_").replace(" ", "_")
        if name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, n=1)
            unknown.append(f"{name}" + (f": did you mean {near[0]!r}?" if near else ""))
        elif value.strip():
            found[name] = value.strip()
    if unknown:
        raise SettingsError(
            f"the action has no input {', '.join(part.partition(':')[0] for part in unknown)}",
            where=[part for part in unknown if ":" in part],
            meaning="The run did not start.",
            next_step="Correct the names under with:. Any other setting goes through set:, one KEY=VALUE a line.",
        )
    return found


def variables_from_inputs(inputs: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for what the command line has no flag for, since it may be secret or is the platform's."""
    return {each.variable: inputs[each.name] for each in EXTRA if each.variable and each.name in inputs}


def arguments_from_inputs(environ: Mapping[str, str]) -> list[str]:
    """Arguments of the command line. A settings file that nobody named may be absent."""
    inputs = read_inputs(environ)
    mode = inputs.get("mode", MODES[0])
    if mode not in MODES:
        raise SettingsError(
            f"the action has no mode {mode!r}",
            where=[f"modes: {', '.join(MODES)}"],
            meaning="The run did not start.",
            next_step="Correct mode:, or leave it out to run the gate.",
        )
    return {"run": _run_arguments, "merge": _merge_arguments, "bless": _bless_arguments, "post": _post_arguments}[mode](inputs)


def _run_arguments(inputs: Mapping[str, str]) -> list[str]:
    arguments = ["run", *_config(inputs)]
    for name, value in inputs.items():
        option = BY_NAME.get(name)
        if option is None:
            continue
        values = [part.strip() for part in re.split(r"[,\n]", value) if part.strip()] if option.many else [value]
        for each in values:
            arguments += [option.flag, workspace_path(each) if option.path else each]
    for name in ("only", "set"):
        for line in inputs.get(name, "").splitlines():
            if line.strip():
                arguments += [f"--{name}", line.strip()]
    return [*arguments, *(["--shard", inputs["shard"]] if "shard" in inputs else [])]


def _merge_arguments(inputs: Mapping[str, str]) -> list[str]:
    patterns = [workspace_path(line.strip()) for line in inputs.get("runs", _DEFAULTS["runs"]).splitlines() if line.strip()]
    found = [path for pattern in patterns for path in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - ** and absolute
    if not found:
        raise SettingsError(
            "mode merge finds no run",
            where=[f"runs: {pattern}" for pattern in patterns],
            meaning="Nothing was judged.",
            next_step="Download the shards' artifacts before this step, and name their run.json files under runs:.",
        )
    flags = ("baseline", "out")
    given = [part for name in flags if name in inputs for part in (f"--{name}", workspace_path(inputs[name]))]
    # The command has few flags of its own; every other option is a setting to it.
    others = [option for option in OPTIONS if option.name in inputs and option.name not in flags and not option.many]
    given += [part for option in others for part in ("--set", f"{option.key}={inputs[option.name]}")]
    return ["merge", *found, *given, *_settings(inputs), *_config(inputs)]


def _settings(inputs: Mapping[str, str]) -> list[str]:
    return [part for line in inputs.get("set", "").splitlines() if line.strip() for part in ("--set", line.strip())]


def _bless_arguments(inputs: Mapping[str, str]) -> list[str]:
    out = workspace_path(inputs.get("out", DEFAULT_OUT))
    target = ["--to", inputs["baseline"]] if "baseline" in inputs else []
    return ["bless", f"{out}/run.json", *target, *_config(inputs)]


def _post_arguments(inputs: Mapping[str, str]) -> list[str]:
    given = [part for name in ("gate", "artifact") if name in inputs for part in (f"--{name}", inputs[name])]
    return ["post", *given]


def _config(inputs: Mapping[str, str]) -> list[str]:
    config = inputs.get("config")
    return ["--config", workspace_path(config)] if config and config != _DEFAULTS["config"] else []


def workspace_path(path: str) -> str:
    """`path` relative to the workspace where it is the runner's own absolute path: in the container that one does not exist."""
    return _HOST_PATH.sub("", path) or "." if _HOST_PATH.match(path) else path
