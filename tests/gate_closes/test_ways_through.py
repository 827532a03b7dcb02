"""A change that is meant gets through by a waiver, a trailer or a label, says so everywhere, and by nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from shop import Shop

WRONG = "SELECT 'nobody'"
BROKEN = ("q2", "q3", "q4", "q5", "q6")
WAIVER = """
- item: {item}
  old: pass
  new: wrong
  reason: the city column is going away
  expiry: {expiry}
  link: https://example.com/issues/7
"""


@pytest.fixture
def broken(shop: Shop) -> Shop:
    """Six right answers in the baseline, five of them wrong now: a proven drop."""
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies({name: text if name == "q1" else WRONG for name, text in shop.replies.items()})
    (shop.folder / "nl2sql-gate.yml").write_text("baseline: file:baseline.json\npolicy: {waivers: waivers.yml}\n")
    (shop.folder / "waivers.yml").write_text("[]")
    return shop


def waive(shop: Shop, *items: str, expiry: str = "2999-01-01") -> None:
    (shop.folder / "waivers.yml").write_text("".join(WAIVER.format(item=name, expiry=expiry) for name in items))


def everywhere(shop: Shop, said: str) -> dict[str, str]:
    """All reports by name, with what the terminal said."""
    out = shop.folder / "nl2sql-gate-out"
    return {"terminal": said} | {name: (out / name).read_text() for name in ("summary.md", "report.html", "report.json")}


def commit(folder: Path, message: str) -> str:
    """Commit everything in `folder`; the commit's name."""
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, "commit", "--allow-empty", "-qm", message], cwd=folder, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def pull_request(shop: Shop, *, base: str = "", head: str = "", labels: tuple[str, ...] = ()) -> None:
    """The environment of a pull request's workflow run."""
    event = {
        "pull_request": {
            "number": 5,
            "head": {"sha": head, "ref": "change", "repo": {"full_name": "acme/shop"}},
            "base": {"sha": base, "ref": "main"},
            "labels": [{"name": name} for name in labels],
        },
        "repository": {"default_branch": "main"},
    }
    (shop.folder / "event.json").write_text(json.dumps(event))
    shop.environment |= {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(shop.folder / "event.json"),
        "GITHUB_REPOSITORY": "acme/shop",
    }


def test_the_drop_fails_without_any_way_through(broken: Shop) -> None:
    assert broken.run().returncode == 1


def test_waived_items_pass_and_stand_in_every_report(broken: Shop) -> None:
    waive(broken, *BROKEN)
    ran = broken.run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    missing = [name for name, text in everywhere(broken, ran.stdout).items() if "the city column is going away" not in text]
    assert missing == []
    excluded = broken.report("report.json")["verdict"]["excluded"]
    again = broken.gate("report", "nl2sql-gate-out/run.json", "--baseline", "baseline.json")
    assert again.stdout.startswith("PASS")
    assert "the city column is going away" in again.stdout
    assert [each["id"] for each in excluded] == list(BROKEN)
    assert {each["kind"] for each in excluded} == {"waiver"}
    assert {each["link"] for each in excluded} == {"https://example.com/issues/7"}


def test_an_expired_waiver_stops_the_run_before_anything_is_asked(broken: Shop) -> None:
    waive(broken, "q2", expiry="2001-01-01")
    ran = broken.run("--out", "fresh")
    assert (ran.returncode, (broken.folder / "fresh").exists()) == (2, False)
    assert "2001-01-01" in ran.stderr


def test_a_waiver_for_an_item_that_recovered_is_an_error_and_the_report_is_there(broken: Shop) -> None:
    broken.write_replies(broken.replies)
    waive(broken, "q2")
    ran = broken.run()
    assert ran.returncode == 2
    assert "q2: pass → wrong" in ran.stderr
    assert broken.report("run.json")["verdict"]["status"] == "pass"


def test_a_waiver_for_an_item_that_this_partial_run_leaves_out_is_no_error(broken: Shop) -> None:
    waive(broken, *BROKEN)
    assert broken.run("--only", "q1").returncode == 0


def test_a_missing_file_of_waivers_is_an_error(broken: Shop) -> None:
    (broken.folder / "waivers.yml").unlink()
    ran = broken.run()
    assert (ran.returncode, "waivers.yml" in ran.stderr) == (2, True)


def test_a_label_accepts_all_that_broke(broken: Shop) -> None:
    pull_request(broken, labels=("bug", "nl2sql-accept"))
    ran = broken.run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    missing = [name for name, text in everywhere(broken, ran.stdout).items() if "nl2sql-accept" not in text]
    assert missing == []
    assert {each["kind"] for each in broken.report("report.json")["verdict"]["excluded"]} == {"label"}


def test_another_label_accepts_nothing(broken: Shop) -> None:
    pull_request(broken, labels=("accept",))
    assert broken.run().returncode == 1


def test_a_label_does_not_lift_a_floor(broken: Shop) -> None:
    pull_request(broken, labels=("nl2sql-accept",))
    assert broken.run("--set", "policy.floors={execution_accuracy: 0.9}").returncode == 1


def test_a_trailer_in_the_pull_requests_commits_accepts_the_items_that_it_names(broken: Shop) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=broken.folder, check=True)
    base = commit(broken.folder, f"Old\n\nNl2sql-Gate-Accept: {BROKEN[-1]} (before this change)")
    commit(broken.folder, "Drop cities\n\nNl2sql-Gate-Accept: q2 q3 (cities go away)")
    head = commit(broken.folder, "Drop names\n\nNl2sql-Gate-Accept: q4, q5:sqlite")
    pull_request(broken, base=base, head=head)
    ran = broken.run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    excluded = broken.report("report.json")["verdict"]["excluded"]
    assert sorted((each["id"], each["kind"]) for each in excluded) == [(name, "trailer") for name in BROKEN[:4]]
    missing = [name for name, text in everywhere(broken, ran.stdout).items() if "cities go away" not in text]
    assert missing == []


def test_a_trailer_that_names_no_item_stops_the_run(broken: Shop) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=broken.folder, check=True)
    base = commit(broken.folder, "Old")
    pull_request(broken, base=base, head=commit(broken.folder, "New\n\nNl2sql-Gate-Accept: q22"))
    ran = broken.run("--out", "fresh")
    assert (ran.returncode, (broken.folder / "fresh").exists()) == (2, False)
    assert "q22" in ran.stderr


def test_trailers_of_a_push_come_from_the_event(broken: Shop) -> None:
    event = {"commits": [{"message": f"Merge\n\nNl2sql-Gate-Accept: {' '.join(BROKEN)}"}]}
    (broken.folder / "event.json").write_text(json.dumps(event))
    broken.environment |= {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(broken.folder / "event.json"),
    }
    assert broken.run().returncode == 0
