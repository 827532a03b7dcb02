"""YAML that people write by hand, read within bounds: a few lines with anchors can stand for more than any memory holds."""

from __future__ import annotations

from typing import Any

_MOST_NODES = 100_000


class YamlFault(ValueError):
    """The text is no YAML of plain values, or stands for too many."""


def read_yaml(text: str) -> tuple[Any, Any]:
    """The syntax tree of `text`, which knows lines, and its value. Raises `YamlFault` for whatever cannot be read."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _size(node, {})
        return node, yaml.safe_load(text)
    except YamlFault:
        raise
    except RecursionError as error:
        message = "it is nested too deeply"
        raise YamlFault(message) from error
    # A tag or a look that its text belies (a date in month 99, `!!int x`) fails inside PyYAML in any of these ways.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise YamlFault(" ".join(str(error).split())) from error


def _size(node: Any, known: dict[int, int | None]) -> int:
    """How many nodes `node` has with its aliases written out."""
    if not isinstance(node.value, list):
        return 1
    if id(node) in known:
        size = known[id(node)]
        if size is None:
            raise _fault(node, "an alias stands inside its own anchor")
        return size
    known[id(node)] = None
    size = 1
    for each in node.value:
        # In a mapping these are pairs of key and value.
        size += sum(_size(part, known) for part in each) if isinstance(each, tuple) else _size(each, known)
    if size > _MOST_NODES:
        raise _fault(node, f"anchors and aliases stand for more than {_MOST_NODES:,} values")
    known[id(node)] = size
    return size


def _fault(node: Any, words: str) -> YamlFault:
    return YamlFault(f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}: {words}")
