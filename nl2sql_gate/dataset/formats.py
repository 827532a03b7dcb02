"""The dataset formats by name: how a file becomes a document, and a document items.

A new format is a line in `FORMATS` with a function that takes the document and the file's `Problems`; its shape is in `shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.evalbench import read_evalbench
from nl2sql_gate.dataset.problems import Problems, nearest
from nl2sql_gate.dataset.shapes import shape_of
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item

ReadItems = Callable[[Document, Problems], list[Item]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format by name. `container` forces how the text is parsed (`json`, `jsonl`, `yaml`).

    `read_items` is absent for a format that is recognised but not read; `why_not` then says why.
    """

    name: str
    title: str
    read_items: ReadItems | None = None
    container: str = ""
    why_not: str = ""


_NO_READER = "This version reads EvalBench's format as JSON, JSON lines and YAML."
FORMATS: tuple[Format, ...] = (
    Format("evalbench", "EvalBench's format", read_evalbench),
    Format("json", "EvalBench's format as JSON", read_evalbench, container="json"),
    Format("jsonl", "EvalBench's format as JSON lines", read_evalbench, container="jsonl"),
    Format("yaml", "EvalBench's format as YAML", read_evalbench, container="yaml"),
    Format("bird", "BIRD", why_not=_NO_READER),
    Format("bird_interact", "BIRD-Interact", why_not=_NO_READER),
    Format("spider", "Spider", why_not=_NO_READER),
    Format("defog_csv", "defog's question files", why_not=_NO_READER),
    Format("evalbench_legacy", "EvalBench's format of 2024", why_not=_NO_READER),
    Format(
        "agentic",
        "an agentic dataset",
        why_not="It describes conversations of an agent (scenarios), without golden SQL or a database: nothing to compare.",
    ),
)
_ALIASES = {
    "evalbench-standard-format": "evalbench",
    "evalbench_standard": "evalbench",
    "ndjson": "jsonl",
    "json_lines": "jsonl",
    "yml": "yaml",
    "bird-standard-format": "bird",
    "bird-interact-format": "bird_interact",
    "agent-format": "agentic",
    "gemini-cli-format": "agentic",
    "cortado-format": "agentic",
}


def format_by_name(name: str) -> Format | None:
    """The format called `name`, or `None` for `auto`. Raises `DatasetError` for a name that does not exist."""
    wanted = name.strip().lower() or "auto"
    if wanted == "auto":
        return None
    wanted = _ALIASES.get(wanted, wanted)
    for known in FORMATS:
        if known.name == wanted:
            return known
    readable = [known.name for known in FORMATS if known.read_items]
    near = nearest(wanted, [known.name for known in FORMATS] + list(_ALIASES), most=1)
    raise DatasetError(
        f"there is no dataset format {name!r}",
        where=[f"known: auto, {', '.join(readable)}"],
        meaning="The dataset was not read.",
        next_step=f"Did you mean format: {near[0]}?" if near else "Correct format:, or leave it out: auto looks at the file.",
    )


def format_of(document: Document) -> Format:
    """The format that most of the items look like, else EvalBench's, whose messages then say what is missing."""
    counts: dict[str, int] = {}
    for value in document.values:
        shape = shape_of(value)
        if shape is not None:
            counts[shape.name] = counts.get(shape.name, 0) + 1
    # One item with EvalBench's keys is enough: then the others are named as foreign, item by item.
    name = "evalbench" if "evalbench" in counts or not counts else max(counts, key=lambda shape: counts[shape])
    return next(known for known in FORMATS if known.name == name)
