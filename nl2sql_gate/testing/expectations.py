"""What an engine is known to fail, marked strictly: the day it passes, the mark is wrong and the test fails.

The three say who would have to act: `notimpl` the engine's author, `notyet` the database's makers, `never` nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nl2sql_gate.testing.under_test import EngineUnderTest

KINDS = {
    "notimpl": "the database can do this, the engine does not yet",
    "notyet": "the database cannot do this yet",
    "never": "this is against the database's nature",
}
Raises = type[BaseException] | tuple[type[BaseException], ...]


def notimpl(*engines: str, raises: Raises, reason: str) -> pytest.MarkDecorator:
    """The database can do this, the engine does not yet. `raises` is how the test fails, and no other failure is excused."""
    return _mark("notimpl", engines, raises, reason)


def notyet(*engines: str, raises: Raises, reason: str) -> pytest.MarkDecorator:
    """The database cannot do this yet; its makers may change that."""
    return _mark("notyet", engines, raises, reason)


def never(*engines: str, raises: Raises, reason: str) -> pytest.MarkDecorator:
    """This is against the database's nature, and will not change."""
    return _mark("never", engines, raises, reason)


def _mark(kind: str, engines: tuple[str, ...], raises: Raises, reason: str) -> pytest.MarkDecorator:
    made: pytest.MarkDecorator = getattr(pytest.mark, kind)(*engines, raises=raises, reason=reason)
    wrong = mistake(made.mark)
    if wrong:
        raise ValueError(wrong)
    return made


def mistake(mark: pytest.Mark) -> str:
    """What is wrong with a mark as it is written; empty where nothing is."""
    raises, reason = mark.kwargs.get("raises"), mark.kwargs.get("reason", "")
    kinds = raises if isinstance(raises, tuple) else (raises,)
    if not kinds or not all(isinstance(each, type) and issubclass(each, BaseException) for each in kinds):
        return f"{mark.name} needs raises=, the exception with which the test fails"
    if not isinstance(reason, str) or not reason.strip():
        return f"{mark.name} needs reason=, a sentence that says why"
    unknown = set(mark.kwargs) - {"raises", "reason"}
    return f"{mark.name} takes no {min(unknown)}=" if unknown else ""


def about(item: pytest.Item, under_test: EngineUnderTest, *, parameters: str) -> list[pytest.Mark]:
    """The marks of a test that are about this engine: those on the test, and those that the engine declares."""
    written = [mark for kind in KINDS for mark in item.iter_markers(kind)]
    found = [mark for mark in written if under_test.name in mark.args or under_test.dialect in mark.args]
    name = getattr(item, "originalname", item.name)
    declared = [under_test.marks[key].mark for key in (name, f"{name}[{parameters}]") if key in under_test.marks]
    return [*found, *declared]


def strict_xfail(mark: pytest.Mark) -> pytest.MarkDecorator:
    """How pytest is told: another exception fails the test, and so does none."""
    return pytest.mark.xfail(raises=mark.kwargs["raises"], reason=f"{mark.name}: {mark.kwargs['reason']}", strict=True)
