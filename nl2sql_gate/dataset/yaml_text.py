"""YAML as data: the plain values of JSON, no dates, no octal numbers, `yes` and `no` as text, duplicate keys refused.

PyYAML's own loader follows YAML 1.1, where `no` is false, `012` is ten and `2024-01-01` is a date; an id or a tag must not
change that way.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from nl2sql_gate.dataset.documents import MAX_DEPTH, Document, too_deep, unreadable

_MOST_NODES = 5_000_000
_TAG = "tag:yaml.org,2002:"


def read_yaml(text: str, *, file: str) -> Document:
    """The items of a YAML file: a list, one mapping, or several documents of either.

    Raises `DatasetError` with line and column.
    """
    import yaml

    try:
        documents = [node for node in yaml.compose_all(text, Loader=_loader()) if node is not None]
        converter = _Converter(file)
        if len(documents) == 1 and not isinstance(documents[0], yaml.SequenceNode):
            return Document((converter.value(documents[0]),), (_line(documents[0]),), is_list=False)
        nodes = [item for node in documents for item in (node.value if isinstance(node, yaml.SequenceNode) else [node])]
        return Document(tuple(converter.value(node) for node in nodes), tuple(_line(node) for node in nodes), is_list=True)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = f"{error.problem or error.context or 'cannot be read'}"
        raise unreadable(
            file, kind="YAML", where=[f"{file}{at}: {message}"], next_step="Correct the file at that place."
        ) from error
    except yaml.YAMLError as error:
        where = [f"{file}: {' '.join(str(error).split())}"]
        raise unreadable(file, kind="YAML", where=where, next_step="Correct the file.") from error
    except RecursionError as error:
        raise too_deep(file, 1) from error


@lru_cache(maxsize=1)
def _loader() -> Any:
    """A loader class whose plain scalars resolve as in YAML's JSON schema."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own class attribute)

    Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
    Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    whole = r"-?(?:0|[1-9][0-9]*)"
    Loader.add_implicit_resolver(f"{_TAG}int", re.compile(f"^{whole}$"), list("-0123456789"))
    Loader.add_implicit_resolver(f"{_TAG}float", re.compile(rf"^{whole}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"), list("-0123456789"))
    return Loader


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


class _Converter:
    """Nodes into values. Counts nodes, because aliases can make a short file expand without end."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._left = _MOST_NODES

    def value(self, node: Any, depth: int = 0) -> Any:
        import yaml

        self._left -= 1
        if self._left < 0:
            raise self._refusal(node, f"anchors and aliases expand to more than {_MOST_NODES:,} values")
        if depth > MAX_DEPTH:
            raise too_deep(self._file, _line(node))
        if not isinstance(node, yaml.ScalarNode) and str(node.tag) not in {f"{_TAG}seq", f"{_TAG}map"}:
            raise self._refusal(node, f"the tag {str(node.tag)!r} is not read here; only plain values are")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, depth + 1) for one in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        return self._scalar(node)

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key.value, str) else ""
            if not isinstance(key.value, str):
                raise self._refusal(key, "a key must be plain text")
            if name in found:
                raise self._refusal(key, f"the key {name!r} comes twice in one mapping")
            found[name] = self.value(value, depth + 1)
        return found

    def _scalar(self, node: Any) -> Any:
        tag = str(node.tag).removeprefix(_TAG)
        text = str(node.value)
        try:
            if tag == "str":
                return text
            if tag == "null":
                return None
            if tag == "bool":
                return text.lower() == "true"
            if tag == "int":
                return int(text)
            if tag == "float":
                return float(text)
        except ValueError as error:
            raise self._refusal(node, f"{text[:40]!r} is no {tag}") from error
        raise self._refusal(node, f"the tag {str(node.tag)!r} is not read here; only plain values are")

    def _refusal(self, node: Any, message: str) -> Exception:
        at = f"line {_line(node)}, column {node.start_mark.column + 1}"
        return unreadable(
            self._file,
            kind="a YAML file of plain values",
            where=[f"{self._file}, {at}: {message}"],
            next_step="Correct the file at that place.",
        )
