#!/usr/bin/env bash
# The gate in the workspace, from the inputs that the action passes as INPUT_… variables.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec "${RUNNER_TEMP:?this script runs in a workflow}/nl2sql-gate/bin/python" "$root/entrypoint.py"
