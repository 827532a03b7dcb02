"""A place that takes no file is the caller's to change, and never an exit code of 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql_gate.errors import UsageError
from nl2sql_gate.runfile import write_file


@pytest.mark.parametrize("place", ["/dev/null/run.json", "/proc/self/run.json", "x" * 300])
def test_a_place_that_takes_no_file_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(UsageError, match="cannot be written") as caught:
        write_file(tmp_path / place, b"{}")
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []
