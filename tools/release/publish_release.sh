#!/usr/bin/env bash
# A GitHub release for the tag $1 with the notes in the file $2; a second run of the workflow finds it there and goes on.
set -euo pipefail
tag=${1:?usage: publish_release.sh TAG NOTES}
notes=${2:?usage: publish_release.sh TAG NOTES}
if gh release view "$tag" >/dev/null 2>&1; then
    echo "the release $tag is there already"
    exit 0
fi
flags=(--verify-tag --title "$tag" --notes-file "$notes")
case $tag in
    *a* | *b* | *rc*) flags+=(--prerelease --latest=false) ;;
esac
gh release create "$tag" "${flags[@]}"
