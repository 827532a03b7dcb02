"""A run without credentials: on forks there are no secrets, and that is no fault of the change."""

from __future__ import annotations

from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import NoVerdictError, SettingsError
from nl2sql_gate.github.event import Event


def check_credentials(loaded: Configuration, event: Event | None) -> str | None:
    """`None` where the model can be asked. On a fork the words that say what is missing; elsewhere that is a `SettingsError`.

    Raises `NoVerdictError` on a fork whose policy says `on_no_credentials: fail`.
    """
    settings = loaded.settings
    if not loaded.missing or (settings.replies and not settings.model.base_url):
        return None
    named = [f"{key} names ${{{variable}}}, which is not set" for key, variable in sorted(loaded.missing.items())]
    if event is None or not event.lacks_secrets:
        raise SettingsError(
            "the model's settings name environment variables that are not set",
            where=named,
            meaning="The model cannot be asked. The run did not start.",
            next_step="Set them, in a workflow under env: or with:, or give recorded replies.",
        )
    words = "no credentials: this pull request comes from a fork or from Dependabot, which get no secrets"
    if settings.policy.on_no_credentials == "fail":
        raise NoVerdictError(
            words,
            where=named,
            meaning="No model was called, so nothing can be said about the change.",
            next_step="Give recorded replies or a cache, or set policy.on_no_credentials: warn.",
        )
    return words
