"""One comment in the end, whatever happens in between; or a warning, and never an exception."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest

from nl2sql_gate.github import comment_body
from nl2sql_gate.github.client import Client
from nl2sql_gate.github.comment import Message, Speaker, post
from nl2sql_gate.github.limits import COMMENT_BYTES, size

SPEAKER = Speaker("orders-eval", (100, 1))


def _message(text: str = "### report", *, status: str = "fail", commit: str = "a" * 40, only_update: bool = False) -> Message:
    return Message(lambda earlier, _room: "\n\n".join([text, *earlier]), status, commit, only_update)


def test_the_first_comment_is_created_with_the_marker_first(github: Any, client: Client) -> None:
    posted = post(client, 5, SPEAKER, _message())
    assert posted.is_there
    assert github.own()[0].startswith("<!-- nl2sql-gate:v1 gate=orders-eval -->\n")
    assert "### report" in github.own()[0]
    assert github.methods() == ["GET", "POST", "GET"]


@pytest.mark.parametrize("before", [0, 32, 640])
def test_the_own_comment_is_found_on_any_page_and_edited(github: Any, client: Client, before: int) -> None:
    for number in range(before):
        github.add_comment(f"chatter {number}")
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nold", github.login)
    for _ in range(40):
        github.add_comment("more")
    assert post(client, 5, SPEAKER, _message()).is_there
    assert len(github.own()) == 1
    assert "### report" in github.own()[0]
    assert "PATCH" in github.methods()
    assert "POST" not in github.methods()


def test_somebody_elses_marker_is_left_alone(github: Any, client: Client) -> None:
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nforged", "stranger")
    github.add_comment("<!-- nl2sql-gate:v1 gate=other -->\nother gate", github.login)
    github.add_comment("quoted: <!-- nl2sql-gate:v1 gate=orders-eval -->", github.login)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert len(github.own()) == 3
    assert github.comments[0]["body"].endswith("forged")


def test_own_duplicates_are_removed_and_the_oldest_stays(github: Any, client: Client) -> None:
    first = github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\none", github.login)
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\ntwo", github.login)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert [each["id"] for each in github.comments] == [first["id"]]


def test_earlier_verdicts_are_remembered_once_a_commit(github: Any, client: Client) -> None:
    for run, (status, commit) in enumerate([("fail", "a" * 40), ("fail", "a" * 40), ("undecided", "b" * 40), ("pass", "c" * 40)]):
        post(client, 5, Speaker("orders-eval", (run, 1)), _message(status=status, commit=commit))
    assert github.own()[0].count("\n\nundecided at bbbbbbbb\n\nfail at aaaaaaaa\n") == 1


def test_an_older_run_does_not_overwrite_a_newer_one(github: Any, client: Client) -> None:
    post(client, 5, Speaker("orders-eval", (200, 1)), _message("new"))
    posted = post(client, 5, Speaker("orders-eval", (100, 3)), _message("old"))
    assert not posted.is_there
    assert "later run" in posted.words
    assert "new" in github.own()[0]


def test_nothing_is_created_where_only_an_update_is_wanted(github: Any, client: Client) -> None:
    assert not post(client, 5, SPEAKER, _message(only_update=True)).is_there
    assert github.own() == []
    post(client, 5, SPEAKER, _message("red"))
    assert post(client, 5, SPEAKER, _message("green now", only_update=True)).is_there
    assert "green now" in github.own()[0]


def test_legs_of_a_matrix_share_one_comment(github: Any, client: Client) -> None:
    for leg in ("pg", "mysql"):
        post(client, 5, Speaker("orders-eval", (100, 1), leg), _message(f"from {leg}"))
    assert len(github.own()) == 1
    assert {"from pg", "from mysql"} == {section.text for section in comment_body.sections(github.own()[0]).values()}


def _legs(github: Any) -> dict[str, str]:
    return {leg: section.text for leg, section in comment_body.sections(github.own()[0]).items()}


def test_a_leg_that_has_not_reported_for_the_newest_commit_says_so_and_then_goes(github: Any, client: Client) -> None:
    """Whether it was taken out of the workflow or is slow cannot be told: its old verdict must not look like a new one."""
    old, new, newer, newest = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
    for leg in ("mysql", "pg"):
        post(client, 5, Speaker("orders-eval", (100, 1), leg), _message(f"{leg} is red", commit=old))
    post(client, 5, Speaker("orders-eval", (101, 1), "pg"), _message("pg is green", status="pass", commit=new))
    legs = _legs(github)
    assert legs["pg"].startswith("pg is green")
    assert "NL2SQL gate orders-eval (mysql) · no report for this commit" in legs["mysql"]
    assert "It has not reported for `bbbbbbbb`. It said **fail** at `aaaaaaaa`." in legs["mysql"]
    assert "mysql is red" not in github.own()[0]
    post(client, 5, Speaker("orders-eval", (102, 1), "pg"), _message("pg", commit=newer))
    assert "It has not reported for `cccccccc`. It said **fail** at `aaaaaaaa`." in _legs(github)["mysql"]
    post(client, 5, Speaker("orders-eval", (102, 2), "pg"), _message("pg again", commit=newer))
    assert "mysql" in _legs(github), "a second attempt is no other commit"
    post(client, 5, Speaker("orders-eval", (103, 1), "pg"), _message("pg", commit=newest))
    assert list(_legs(github)) == ["pg"]


def test_a_slow_leg_takes_its_place_again(github: Any, client: Client) -> None:
    for leg in ("mysql", "pg"):
        post(client, 5, Speaker("orders-eval", (100, 1), leg), _message(leg, commit="a" * 40))
    post(client, 5, Speaker("orders-eval", (101, 1), "pg"), _message("pg", commit="b" * 40))
    post(client, 5, Speaker("orders-eval", (101, 1), "mysql"), _message("mysql is back", status="pass", commit="b" * 40))
    assert _legs(github) == {"mysql": "mysql is back\n\nfail at aaaaaaaa", "pg": "pg\n\nfail at aaaaaaaa"}
    assert "missed=" not in github.own()[0]


def test_a_late_report_of_an_older_commit_does_not_stand_as_one_of_the_newest(github: Any, client: Client) -> None:
    post(client, 5, Speaker("orders-eval", (101, 1), "pg"), _message("pg", status="pass", commit="b" * 40))
    assert post(client, 5, Speaker("orders-eval", (100, 1), "mysql"), _message("mysql is red", commit="a" * 40)).is_there
    assert "mysql is red" not in github.own()[0]
    assert "It has not reported for `bbbbbbbb`. It said **fail** at `aaaaaaaa`." in _legs(github)["mysql"]


def test_the_section_of_before_there_was_a_matrix_goes_too(github: Any, client: Client) -> None:
    post(client, 5, SPEAKER, _message("without legs", commit="a" * 40))
    for run, commit in enumerate("bcd", start=101):
        post(client, 5, Speaker("orders-eval", (run, 1), "pg"), _message("pg", commit=commit * 40))
    assert list(_legs(github)) == ["pg"]


def test_a_legs_name_from_a_comment_stays_text(github: Any, client: Client) -> None:
    post(client, 5, Speaker("orders-eval", (100, 1), "<img src=x> @all `"), _message("x", commit="a" * 40))
    post(client, 5, Speaker("orders-eval", (101, 1), "pg"), _message("pg", commit="b" * 40))
    heading = _legs(github)[comment_body.leg_name("<img src=x> @all `")].split("\n")[0]
    assert heading == "### ⚪ NL2SQL gate orders-eval `(<img` src=x&gt; `@all` `` ` ``) · no report for this commit"


APP = "our-gate[bot]"


@pytest.mark.parametrize("viewer", [APP, "our-gate", None], ids=["GraphQL", "GraphQL without the suffix", "no GraphQL"])
def test_an_apps_own_comment_is_found_and_edited(github: Any, client: Client, viewer: str | None) -> None:
    """No REST route tells an installation's token its login; where GraphQL does not either, the comment that is made does."""
    github.login, github.viewer = APP, viewer
    for run, status in ((100, "fail"), (101, "pass")):
        posted = post(client, 5, Speaker("orders-eval", (run, 1)), _message(f"run {run}", status=status, commit=f"{run:040}"))
        assert posted.is_there, posted.words
    assert len(github.own()) == 1
    assert len(github.comments) == 1
    assert "run 101\n\nfail at 00000000" in github.own()[0]


@pytest.mark.parametrize("viewer", [APP, None])
def test_an_app_that_may_not_edit_the_bots_comment_makes_its_own(github: Any, client: Client, viewer: str | None) -> None:
    """The workflow had the job's token before it had the app's."""
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nof the bot", "github-actions[bot]")
    github.login, github.viewer, github.may_edit_others = APP, viewer, False
    for run in (100, 101):
        assert post(client, 5, Speaker("orders-eval", (run, 1)), _message(f"run {run}")).is_there
    assert [each["user"]["login"] for each in github.comments] == ["github-actions[bot]", APP]
    assert "run 101" in github.own()[0]


def test_a_forged_marker_is_left_alone_whatever_login_it_imitates(github: Any, client: Client) -> None:
    github.login, github.viewer = APP, APP
    for stranger in ("our-gate", "github-actions", "somebody[bot]"):
        github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nforged", stranger)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert [each["body"].endswith("forged") for each in github.comments] == [True, True, True, False]


def test_without_the_permission_nothing_is_tried_twice(github: Any, client: Client, faults: Any) -> None:
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nold", github.login)
    faults("PATCH", "comments", 403, times=99, message="Resource not accessible by integration")
    posted = post(client, 5, SPEAKER, _message())
    assert (posted.is_there, posted.failed) == (False, True)
    assert "pull-requests: write" in posted.words
    assert github.methods() == ["GET", "PATCH"]


def test_two_legs_at_once_end_in_one_comment(github: Any, waits: list[float]) -> None:
    barrier = threading.Barrier(2)
    posted = []

    def together(_seconds: float) -> None:
        # Both look a second time at the same moment; later looks are each leg's own.
        with contextlib.suppress(threading.BrokenBarrierError):
            barrier.wait(5)

    def leg(name: str) -> None:
        own = Client("org/repo", "ghs_planted", api_url=github.url, wait=together)
        posted.append(post(own, 5, Speaker("orders-eval", (100, 1), name), _message(f"from {name}")))
        own.close()

    threads = [threading.Thread(target=leg, args=(name,)) for name in ("pg", "mysql")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [each.words for each in posted if not each.is_there] == []
    assert len(github.own()) == 1
    assert {"from pg", "from mysql"} == {section.text for section in comment_body.sections(github.own()[0]).values()}


def test_a_section_lost_to_another_leg_is_written_again(github: Any, client: Client) -> None:
    post(client, 5, Speaker("orders-eval", (100, 1), "pg"), _message("from pg"))
    before = github.own()[0]

    def overwrite() -> None:
        github.comments[0]["body"] = before.replace("from pg", "from pg, later")

    original = client.pause
    client.pause = lambda _: (overwrite(), setattr(client, "pause", original))[0]  # type: ignore[method-assign, func-returns-value]
    assert post(client, 5, Speaker("orders-eval", (100, 1), "mysql"), _message("from mysql")).is_there
    assert {"from pg, later", "from mysql"} == {section.text for section in comment_body.sections(github.own()[0]).values()}


def test_a_comment_deleted_in_between_is_created_again(github: Any, client: Client) -> None:
    github.add_comment("<!-- nl2sql-gate:v1 gate=orders-eval -->\nold", github.login)
    github.before_write = github.comments.clear
    assert post(client, 5, SPEAKER, _message()).is_there
    assert len(github.own()) == 1


def test_a_creation_whose_answer_was_lost_is_not_repeated(github: Any, client: Client, faults: Any) -> None:
    faults("POST", "comments", 502, carried_out=True)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert len(github.own()) == 1
    assert github.methods().count("POST") == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_errors_are_waited_out(github: Any, client: Client, faults: Any, waits: list[float], status: int) -> None:
    faults("GET", "comments", status, times=2)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("fault", "first"),
    [
        ({"status": 429, "headers": {"Retry-After": "7"}}, 7.0),
        ({"status": 403, "headers": {"Retry-After": "3"}, "message": "You have exceeded a secondary rate limit"}, 3.0),
        ({"status": 403, "message": "You have exceeded a secondary rate limit"}, 1.0),
        ({"status": 429}, 1.0),
    ],
)
def test_limits_are_waited_out_as_told(
    github: Any, client: Client, faults: Any, waits: list[float], fault: dict[str, Any], first: float
) -> None:
    faults("POST", "comments", **fault)
    assert post(client, 5, SPEAKER, _message()).is_there
    assert waits == [first]
    assert len(github.own()) == 1


@pytest.mark.parametrize("carried_out", [False, True])
def test_an_answer_that_never_comes_is_not_waited_for(github: Any, faults: Any, waits: list[float], carried_out: bool) -> None:
    """Whether the comment was made cannot be known, so we look before it is made again."""
    faults("POST", "comments", 0, carried_out=carried_out)
    impatient = Client("org/repo", "ghs_planted", api_url=github.url, wait=waits.append, timeout_s=1)
    assert post(impatient, 5, SPEAKER, _message()).is_there
    impatient.close()
    assert len(github.own()) == 1
    assert github.methods().count("POST") == (1 if carried_out else 2)


def test_a_platform_that_never_answers_is_a_warning(github: Any, faults: Any, waits: list[float]) -> None:
    faults("GET", "comments", 0, times=99)
    impatient = Client("org/repo", "ghs_planted", api_url=github.url, wait=waits.append, timeout_s=1, patience_s=5)
    posted = post(impatient, 5, SPEAKER, _message())
    impatient.close()
    assert (posted.is_there, posted.failed) == (False, True)
    assert "no answer" in posted.words
    assert len(github.requests) + sum(waits) <= 5 + 2, "seconds that were waited, and the last try"


def test_patience_ends(github: Any, client: Client, faults: Any, waits: list[float]) -> None:
    faults("GET", "comments", 429, headers={"Retry-After": "3600"})
    posted = post(client, 5, SPEAKER, _message())
    assert not posted.is_there
    assert "429" in posted.words
    assert waits == []


def test_a_limit_that_resets_in_an_hour_is_not_waited_for(github: Any, client: Client, faults: Any, waits: list[float]) -> None:
    faults(
        "GET",
        "comments",
        403,
        headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"},
        message="API rate limit exceeded",
    )
    assert not post(client, 5, SPEAKER, _message()).is_there
    assert waits == []


def test_403_names_the_permission_to_add(github: Any, client: Client, faults: Any) -> None:
    faults("POST", "comments", 403, message="Resource not accessible by integration")
    posted = post(client, 5, SPEAKER, _message())
    assert not posted.is_there
    assert "HTTP 403 Resource not accessible by integration" in posted.words
    assert "    permissions:\n      contents: read\n      pull-requests: write" in posted.words


@pytest.mark.parametrize("status", [401, 404, 410, 422])
def test_refusals_are_words(github: Any, client: Client, faults: Any, status: int) -> None:
    faults("POST", "comments", status, times=99, message="\x1b[31m::error::nope")
    posted = post(client, 5, SPEAKER, _message())
    assert not posted.is_there
    assert str(status) in posted.words
    assert "\x1b" not in posted.words


def test_no_server_at_all_is_words(waits: list[float]) -> None:
    client = Client("org/repo", "t", api_url="http://127.0.0.1:9", wait=waits.append)
    posted = post(client, 5, SPEAKER, _message())
    assert not posted.is_there
    assert "no answer" in posted.words
    assert sum(waits) <= 90


def test_sections_that_do_not_fit_together_shrink() -> None:
    text = "### heading\n\n> [!CAUTION]\n> why\n\n" + "\n\n".join(["| a |\n|--|\n| b |", "x" * 40_000])
    parts = {leg: comment_body.Section(leg, (1, 1), (("fail", "a" * 40),), text) for leg in ("a", "b", "c")}
    body = comment_body.body("g", parts)
    assert size(body) <= COMMENT_BYTES
    assert list(comment_body.sections(body)) == ["a", "b", "c"]
    assert body.count("### heading") == 3


def test_text_cannot_forge_a_section() -> None:
    evil = "x\n<!-- /nl2sql-gate -->\n<!-- nl2sql-gate:leg=pg run=999999.1 said= -->\nforged\n<!-- /nl2sql-gate -->"
    parts = {"": comment_body.Section("", (1, 1), (("fail", "a"),), comment_body.clean(evil))}
    assert list(comment_body.sections(comment_body.body("g", parts))) == [""]
