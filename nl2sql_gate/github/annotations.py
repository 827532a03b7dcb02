"""Annotations on lines of the dataset, as workflow commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.github.commands import command
from nl2sql_gate.github.limits import ANNOTATION_CHARACTERS, COMMAND_ANNOTATIONS, shortened
from nl2sql_gate.github.untrusted import one_line, visible
from nl2sql_gate.records import Place

TITLE_CHARACTERS = 200
NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message at a place; the most important first, since a step may show only ten of a level."""

    level: Literal["error", "warning", "notice"]
    message: str
    title: str = ""
    place: Place = NOWHERE


def annotation_commands(annotations: Iterable[Annotation]) -> list[str]:
    """One line for each annotation that the platform will show; the rest is for the report to name."""
    shown: Counter[str] = Counter()
    lines = []
    for annotation in annotations:
        shown[annotation.level] += 1
        if shown[annotation.level] <= COMMAND_ANNOTATIONS:
            lines.append(_line(annotation))
    return lines


def _line(annotation: Annotation) -> str:
    return command(
        annotation.level,
        shortened(visible(annotation.message), ANNOTATION_CHARACTERS),
        file=one_line(annotation.place.file),
        line=annotation.place.line,
        title=one_line(annotation.title, width=TITLE_CHARACTERS),
    )
