#!/usr/bin/env bash
# Containers that a cancelled run left behind; nothing to do where the installation did not succeed.
set -euo pipefail
sweep=${RUNNER_TEMP:?this script runs in a workflow}/nl2sql-gate/bin/nl2sql-gate-sweep
if [ -x "$sweep" ]; then
    exec "$sweep"
fi
