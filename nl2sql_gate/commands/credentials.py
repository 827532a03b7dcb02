"""A run without credentials: on forks there are no secrets, and that is no fault of the change."""

from __future__ import annotations

from dataclasses import replace

from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import NoVerdictError, SettingsError
from nl2sql_gate.github.event import Event
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import Reason, Run
from nl2sql_gate.settings import Settings


def check_credentials(loaded: Configuration, event: Event | None) -> str | None:
    """`None` where the model can be asked. On a fork the words that say what is missing; elsewhere that is a `SettingsError`.

    Raises `NoVerdictError` on a fork whose policy says `on_no_credentials: fail`, unless replies can be replayed.
    """
    settings = loaded.settings
    on_fork = event is not None and event.lacks_secrets
    if not loaded.missing or (settings.replies and not settings.model.base_url and not on_fork):
        return None
    named = [f"{key} names ${{{variable}}}, which is not set" for key, variable in sorted(loaded.missing.items())]
    if not on_fork:
        raise SettingsError(
            "the model's settings name environment variables that are not set",
            where=named,
            meaning="The model cannot be asked. The run did not start.",
            next_step="Set them, in a workflow under env: or with:, or give recorded replies.",
        )
    words = "no credentials: this pull request comes from a fork or from Dependabot, which get no secrets"
    if settings.policy.on_no_credentials == "fail" and not can_replay(settings):
        raise NoVerdictError(
            words,
            where=named,
            meaning="No model was called, so nothing can be said about the change.",
            next_step="Give recorded replies or a cache, or set policy.on_no_credentials: warn.",
        )
    return words


def can_replay(settings: Settings) -> bool:
    """Whether there are recorded or cached replies that a run without credentials may find its own among."""
    return bool(settings.replies or settings.cache)


def excused(decided: Verdict, head: Run) -> Verdict:
    """The verdict on a run that could only replay: where it says nothing, that is for want of credentials.

    What is proven on the replayed cases stands, and so does a pass.
    """
    words = head.provenance.get("facts", {}).get("no_credentials")
    if not words or decided.status != "no_verdict":
        return decided
    replayed = sum(case.replayed for case in head.cases)
    reason = Reason("no_credentials", f"{words}; {replayed} of {len(head.cases)} replayed")
    causes = tuple(cause for cause in decided.causes if cause[1] == cause[2] == "fail") or (
        ("no_credentials", "no_verdict", "no_verdict"),
    )
    return replace(decided, reasons=(reason, *decided.reasons), causes=causes, readings=("no_verdict", "no_verdict"))
