#!/usr/bin/env bash
# The Dockerfile's base with the digest that its tag has now, so that both platforms and the provenance name the same one.
set -euo pipefail
dockerfile=${1:-Dockerfile}
base=$(sed -n 's/^ARG BASE=//p' "$dockerfile" | head -n 1)
if [ -z "$base" ]; then
    echo "error: $dockerfile has no line ARG BASE=…" >&2
    exit 2
fi
digest=$(docker buildx imagetools inspect "$base" --format '{{.Manifest.Digest}}')
case $digest in
    sha256:*) echo "$base@$digest" ;;
    *)
        echo "error: $base has no digest: $digest" >&2
        exit 1
        ;;
esac
