#!/usr/bin/env bash
# Sign an image by digest, keyless, and verify that what was signed is what the workflow of this repository built.
set -euo pipefail
image=${1:?usage: sign_image.sh NAME@sha256:DIGEST REPOSITORY}
repository=${2:?usage: sign_image.sh NAME@sha256:DIGEST REPOSITORY}
case $image in
    *@sha256:*) ;;
    *)
        # A tag may point elsewhere a moment later.
        echo "error: $image names no digest" >&2
        exit 2
        ;;
esac
cosign sign --yes "$image"
cosign verify \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com \
    --certificate-identity-regexp "^https://github.com/$repository/\.github/workflows/release\.yml@refs/tags/v" \
    "$image" >/dev/null
echo "signed $image"
