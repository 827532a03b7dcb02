"""What every test may use: the shared data, a scrubbed environment, and sockets on loopback only."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from shop import Shop  # noqa: E402 - a module beside the tests

pytest_plugins = ["nl2sql_gate.testing.plugin"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in a shell's background: the runs that tests interrupt would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(os.environ.get("GATE_TEST_DATA") or ROOT.parent / "shared").resolve()
FORBID_SKIPS = os.environ.get("GATE_FORBID_SKIPS") == "1"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data and cases; a test that needs it skips where it is absent."""
    if not (DATA / "data" / "README.md").is_file():
        pytest.skip(f"no test data at {DATA} (set GATE_TEST_DATA)")
    return DATA


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a CI service or a shell sets must not change a test's outcome."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_", "NL2SQL_GATE_")) or name in {
            "CI",
            "NO_COLOR",
            "FORCE_COLOR",
            "COLUMNS",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
        }:
            monkeypatch.delenv(name)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # noqa: ANN201 - pytest's own protocol
    """Where nothing may skip (`GATE_FORBID_SKIPS=1`), a skip is a failure: a test that never runs holds nothing."""
    outcome = yield
    report = outcome.get_result()
    if FORBID_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped, and GATE_FORBID_SKIPS=1 forbids it: {call.excinfo and call.excinfo.value}"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A small dataset, its databases and right replies, in a folder of its own."""
    return Shop.open(tmp_path)
