#!/usr/bin/env bash
# Source archive and wheel into the folder $1, built by the locked backend, and the wheel tried in an environment of its own.
set -euo pipefail
out=${1:?usage: package.sh FOLDER}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}

"$python" -m venv "$work/build"
"$work/build/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r runner/build.lock
"$work/build/bin/python" - "$out" <<'PY'
import sys

from hatchling import build

for name in (build.build_sdist(sys.argv[1]), build.build_wheel(sys.argv[1])):
    print(f"built {name}")
PY

# What is published must start: a wheel without its entry points would only fail at a user's.
"$python" -m venv "$work/try"
"$work/try/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
"$work/try/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$out"/*.whl
"$work/try/bin/nl2sql-gate" --version
