#!/usr/bin/env python3
"""The container's entry: action inputs become options of the same command line that people use."""

import os
import sys
from pathlib import Path

from nl2sql_gate.cli import exit_code, guarded
from nl2sql_gate.errors import GateError
from nl2sql_gate.github.inputs import arguments_from_inputs, read_inputs, variables_from_inputs
from nl2sql_gate.github.step_files import give_back


def main() -> int:
    """Run the gate as the action's step, in a container or on the runner, or as `docker run IMAGE COMMAND …`."""
    if len(sys.argv) > 1 or "GITHUB_WORKSPACE" not in os.environ:
        return exit_code(sys.argv[1:])
    workspace = Path(os.environ["GITHUB_WORKSPACE"])
    try:
        inputs = read_inputs(os.environ)
        os.chdir(workspace / inputs.get("working_directory", "."))
        for name, value in variables_from_inputs(inputs).items():
            os.environ.setdefault(name, value)
        arguments = arguments_from_inputs(os.environ)
    except (GateError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    try:
        return exit_code(arguments)
    finally:
        # Files of root would break the next checkout on a runner that is kept.
        give_back([workspace], owner_of=workspace)


if __name__ == "__main__":
    sys.exit(guarded(main))
