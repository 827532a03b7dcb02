"""The pytest plugin: starts the engines under test, runs tests on each, and knows the markers.

Switched on by `pytest_plugins = ["nl2sql_gate.testing.plugin"]` in the top `conftest.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from nl2sql_gate.errors import ServiceError
from nl2sql_gate.testing.bench import LIMITS, WORKERS, Bench
from nl2sql_gate.testing.expectations import KINDS, about, mistake, strict_xfail
from nl2sql_gate.testing.suite import PARTS, test_names
from nl2sql_gate.testing.suite.part import needed
from nl2sql_gate.testing.traits import lacking
from nl2sql_gate.testing.under_test import EngineUnderTest

_LEFT_OUT: pytest.StashKey[dict[str, int]] = pytest.StashKey()


class Hooks:
    """What a `conftest.py` may add."""

    @pytest.hookspec(firstresult=True)
    def pytest_nl2sql_gate_engines(self, config: pytest.Config) -> Sequence[EngineUnderTest] | None:
        """The engines on which a test runs that asks for `bench` outside a class with `engines`."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hook."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.stash[_LEFT_OUT] = {}
    for kind, meaning in KINDS.items():
        config.addinivalue_line("markers", f"{kind}(*engines, raises, reason): {meaning}; strict")
    config.addinivalue_line("markers", "engines(*names): the engines or dialects that a test is about")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `bench` once on every engine."""
    if "bench" not in metafunc.fixturenames:
        return
    owner = metafunc.cls
    engines = getattr(owner, "engines", ())
    if not engines:
        engines = metafunc.config.hook.pytest_nl2sql_gate_engines(config=metafunc.config)
    if not engines:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid} has no engine to run on: give its class `engines`, or write pytest_nl2sql_gate_engines"
        )
    names = [each.name for each in engines]
    if len(set(names)) < len(names):
        raise pytest.UsageError(f"two engines under test have one name: {', '.join(names)}")
    if owner is not None and issubclass(owner, PARTS):
        _hold_marks_to_tests(engines, owner)
    metafunc.parametrize("bench", engines, indirect=True, ids=names)


def _hold_marks_to_tests(engines: Sequence[EngineUnderTest], owner: type) -> None:
    known = test_names() | {name for name in dir(owner) if name.startswith("test")}
    for engine in engines:
        for key, mark in engine.marks.items():
            wrong = mistake(mark.mark) if mark.name in KINDS else f"{mark.name} is no mark of an engine: use {', '.join(KINDS)}"
            if key.partition("[")[0] not in known:
                wrong = "the suite has no test of that name"
            if wrong:
                raise pytest.UsageError(f"engine {engine.name}, marks[{key!r}]: {wrong}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what an engine lacks, and excuse, strictly, what it is known to fail."""
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    used: set[tuple[str, str]] = set()
    declared: dict[tuple[str, str], EngineUnderTest] = {}
    for item in items:
        engine = _engine_of(item)
        if engine is None:
            kept.append(item)
            continue
        if _is_left_out(config, item, engine):
            left_out.append(item)
            continue
        kept.append(item)
        parameters = _parameters(item, engine)
        name = getattr(item, "originalname", item.name)
        declared |= {(engine.name, key): engine for key in engine.marks if key.startswith(f"{name}[")}
        used.add((engine.name, f"{name}[{parameters}]"))
        for mark in about(item, engine, parameters=parameters):
            if wrong := mistake(mark):
                raise pytest.UsageError(f"{item.nodeid}: {wrong}")
            item.add_marker(strict_xfail(mark))
    stale = sorted(set(declared) - used)
    if stale and not any("::" in argument for argument in config.args):
        raise pytest.UsageError(f"engine {stale[0][0]}, marks[{stale[0][1]!r}]: the test has no such parameters")
    if left_out:
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)


def _engine_of(item: pytest.Item) -> EngineUnderTest | None:
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    found = parameters.get("bench")
    return found if isinstance(found, EngineUnderTest) else None


def _parameters(item: pytest.Item, engine: EngineUnderTest) -> str:
    """The test's own parameters, as pytest names them, without the engine's."""
    text: str = getattr(item, "callspec").id  # noqa: B009 - an item of a function has one; Item does not say so
    if text == engine.name:
        return ""
    return text.removeprefix(f"{engine.name}-") if text.startswith(f"{engine.name}-") else text.removesuffix(f"-{engine.name}")


def _is_left_out(config: pytest.Config, item: pytest.Item, engine: EngineUnderTest) -> bool:
    marker = item.get_closest_marker("engines")
    if marker is not None and not {engine.name, engine.dialect} & set(marker.args):
        return True
    trait = needed(getattr(item, "function", None))
    if not trait or getattr(engine.traits, trait):
        return False
    counted = config.stash[_LEFT_OUT]
    sentence = f"{engine.name}, {trait}: {lacking(trait, engine.oddities)}"
    counted[sentence] = counted.get(sentence, 0) + 1
    return True


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Say which tests are left out because an engine lacks what they are about."""
    return [f"left out ({count}): {sentence}" for sentence, count in sorted(config.stash[_LEFT_OUT].items())]


class _Engines:
    """The engines that were started, each once."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._known: dict[str, tuple[EngineUnderTest, Bench | ServiceError]] = {}

    def started(self, under_test: EngineUnderTest) -> Bench | ServiceError:
        """The engine, running, or why it is not: a start that failed is not tried again by every test."""
        if under_test.name not in self._known:
            self._known[under_test.name] = under_test, self._start(under_test)
        known, found = self._known[under_test.name]
        if known is not under_test:
            raise pytest.UsageError(f"two engines under test are called {under_test.name}")
        return found

    def stop(self) -> None:
        """Stop them all."""
        for _, found in self._known.values():
            if isinstance(found, Bench):
                found.engine.stop()

    def _start(self, under_test: EngineUnderTest) -> Bench | ServiceError:
        folder = self._folders.getbasetemp() / "engines" / under_test.name
        engine = under_test.make(limits=LIMITS, workdir=str(folder), workers=WORKERS)
        try:
            return Bench(under_test, engine, engine.start(), folder)
        except ServiceError as error:
            return error


@pytest.fixture(scope="session")
def _engines_under_test(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Engines]:
    engines = _Engines(tmp_path_factory)
    yield engines
    engines.stop()


@pytest.fixture
def bench(request: pytest.FixtureRequest, _engines_under_test: _Engines) -> Bench:
    """The engine of the test's parameter, running."""
    under_test: EngineUnderTest = request.param
    found = _engines_under_test.started(under_test)
    if isinstance(found, Bench):
        return found
    if under_test.may_be_absent:
        pytest.skip(str(found).splitlines()[0])
    pytest.fail(str(found), pytrace=False)
