#!/usr/bin/env bash
# The package with its locked dependencies, in a virtual environment of the runner's temporary folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${RUNNER_TEMP:?this script runs in a workflow}/nl2sql-gate
python=${NL2SQL_GATE_PYTHON:-python3}
mark=$venv/.ready-$(cat "$root/requirements.lock" "$root/pyproject.toml" "$root/runner/build.lock" | cksum | cut -d' ' -f1)
[ -e "$mark" ] && exit 0

"$python" - <<'PY' || exit 2
import sys
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print(f"::error title=nl2sql-gate::Python {sys.version.split()[0]} is not supported: nl2sql-gate runs on Python 3.11 to 3.13. "
          "Put actions/setup-python before this step.")
    sys.exit(2)
PY
rm -rf "$venv"
"$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
if command -v uv >/dev/null 2>&1; then
    pip=(uv pip install --quiet --python "$venv/bin/python")
fi
"${pip[@]}" --require-hashes -r "$root/requirements.lock" -r "$root/runner/build.lock"
"${pip[@]}" --no-build-isolation --no-deps "$root"
touch "$mark"
