"""The steps of a release, each fit to run anywhere: `python3 tools/release STEP …`. Standard library only.

| Step | Does |
|---|---|
| prepare VERSION [DATE] | writes version, changelog and the image's name into the checkout |
| check TAG | says what is wrong with the checkout as the commit of TAG |
| notes TAG | prints the changelog's section |
| image-tags TAG | prints the image's names, one a line |
| move-tags TAG [REMOTE] | moves v1.2 and v1 to TAG and pushes them, never backwards |
| reopen | makes the checkout a branch again |
"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from changelog import section
from checkout import IMAGE, Checkout
from versions import Version, image_tags, may_move, parse

CHECKOUT = Checkout(Path.cwd())


def prepare(version: str, date: str = "") -> None:
    """Write the release into the checkout; it is committed and tagged by whoever releases."""
    day = date or datetime.now(UTC).date().isoformat()
    for path in CHECKOUT.prepare(parse(version), day):
        print(f"wrote {path.relative_to(CHECKOUT.root)}")
    print(
        f"next: git commit -am 'Release {parse(version).text}', git tag {parse(version).tag}, then: python3 tools/release reopen"
    )


def check(tag: str) -> None:
    """Fail, with reasons, where the checkout is not what TAG says."""
    faults = CHECKOUT.faults(parse(tag))
    for fault in faults:
        print(f"error: {fault}")
    if faults:
        raise SystemExit(1)
    print(f"the checkout is {parse(tag).text}")


def notes(tag: str) -> None:
    """The release notes."""
    print(section(CHECKOUT.text("CHANGELOG.md"), parse(tag).text))


def names(tag: str) -> None:
    """Names of the image for TAG."""
    for each in image_tags(parse(tag)):
        print(f"{IMAGE}:{each}")


def move_tags(tag: str, remote: str = "origin") -> None:
    """Move the tags that people follow, and push them; a patch of an older line moves only its own line's."""
    version: Version = parse(tag)
    commit = _git("rev-parse", "--verify", f"refs/tags/{version.tag}^{{commit}}").strip()
    existing = _git("tag", "--list", "v*").split()
    for moving in version.moving_tags:
        if not may_move(moving, version, existing):
            print(f"{moving} stays: a newer version has it")
            continue
        _git("tag", "--force", moving, commit)
        _git("push", "--force", remote, f"refs/tags/{moving}")
        print(f"{moving} is {version.tag} ({commit[:12]})")


def reopen() -> None:
    """Undo what only a release's commit has."""
    for path in CHECKOUT.reopen():
        print(f"wrote {path.relative_to(CHECKOUT.root)}")


STEPS = {
    "prepare": prepare,
    "check": check,
    "notes": notes,
    "image-tags": names,
    "move-tags": move_tags,
    "reopen": reopen,
}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main(arguments: list[str]) -> int:
    """Run one step."""
    step = STEPS.get(arguments[0]) if arguments else None
    if step is None:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        step(*arguments[1:])
    except (ValueError, TypeError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
