"""The dataset formats by name: how a file becomes a document, and a document items.

A new format is a line in `FORMATS` with a function that takes the document and the file's `Problems`; its shape is in `shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nl2sql_gate.dataset.bird import read_bird
from nl2sql_gate.dataset.bird_interact import read_bird_interact
from nl2sql_gate.dataset.defog_csv import read_defog
from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.evalbench import read_evalbench
from nl2sql_gate.dataset.evalbench_legacy import read_evalbench_legacy
from nl2sql_gate.dataset.mapped_rows import read_mapped
from nl2sql_gate.dataset.problems import Problems, nearest
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.shapes import shape_of
from nl2sql_gate.dataset.spider import read_spider
from nl2sql_gate.dataset.spider2 import read_spider2
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item

ReadItems = Callable[[Document, Problems, ReadOptions], list[Item]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format by name. `container` forces how the file is parsed (`json`, `jsonl`, `yaml`, `csv`, `parquet`).

    `read_items` is absent for a format that is recognised but not read; `why_not` then says why.
    """

    name: str
    title: str
    read_items: ReadItems | None = None
    container: str = ""
    why_not: str = ""


FORMATS: tuple[Format, ...] = (
    Format("evalbench", "EvalBench's format", read_evalbench),
    Format("json", "EvalBench's format as JSON", read_evalbench, container="json"),
    Format("jsonl", "EvalBench's format as JSON lines", read_evalbench, container="jsonl"),
    Format("yaml", "EvalBench's format as YAML", read_evalbench, container="yaml"),
    Format("evalbench_legacy", "EvalBench's format of 2024", read_evalbench_legacy),
    Format("bird", "BIRD", read_bird),
    Format("bird_interact", "BIRD-Interact", read_bird_interact),
    Format("spider", "Spider", read_spider),
    Format("spider2", "Spider 2", read_spider2),
    Format("defog_csv", "defog's question files", read_defog, container="csv"),
    Format("csv", "a table of questions as CSV", read_mapped, container="csv"),
    Format("parquet", "a table of questions as Parquet", read_mapped, container="parquet"),
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
    "bird_mini_dev": "bird",
    "mini_dev": "bird",
    "bird-interact-format": "bird_interact",
    "defog": "defog_csv",
    "spider2_lite": "spider2",
    "spider2-lite": "spider2",
    "spider2-snow": "spider2",
    "agent-format": "agentic",
    "gemini-cli-format": "agentic",
    "cortado-format": "agentic",
}
_TABLES = ("csv", "parquet")


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


def format_of(document: Document, container: str) -> Format:
    """The format that most of the items look like, else EvalBench's, whose messages then say what is missing.

    A table is defog's where it has defog's columns, else one whose columns are found by name.
    """
    if container in _TABLES:
        is_defog = container == "csv" and all(_is_of(value, "defog_csv") for value in document.values)
        return next(known for known in FORMATS if known.name == ("defog_csv" if is_defog else container))
    counts: dict[str, int] = {}
    for value in document.values:
        shape = shape_of(value)
        if shape is not None:
            counts[shape.name] = counts.get(shape.name, 0) + 1
    # One item with EvalBench's keys is enough: then the others are named as foreign, item by item.
    name = "evalbench" if "evalbench" in counts or not counts else max(counts, key=lambda shape: counts[shape])
    return next(known for known in FORMATS if known.name == name)


def _is_of(value: object, name: str) -> bool:
    shape = shape_of(value)
    return shape is not None and shape.name == name
