"""What an endpoint has shown of itself so far, and so what its next refusal means: for one question, or for the run."""

from __future__ import annotations

from collections.abc import Collection

from nl2sql_gate.errors import CredentialsError, EndpointFault, GateError, SettingsError
from nl2sql_gate.generators.refusals import Refusal
from nl2sql_gate.records import Completion

UNAUTHORIZED = 401


class Standing:
    """Remembers whether an endpoint has ever answered, and the refusal after which asking again would be in vain.

    `where` names endpoint and model in messages, `params` are the parameters that every request carries.
    """

    def __init__(self, where: str, params: Collection[str] = ()) -> None:
        self._where = where
        self._params = params
        self._has_answered = False
        self._final: GateError | None = None

    def check(self) -> None:
        """Raise the refusal after which nothing need be asked any more."""
        if self._final is not None:
            raise self._final.with_traceback(None)

    def answered(self) -> None:
        """Note that key, path, model and parameters are accepted."""
        self._has_answered = True

    def settle(self, refusal: Refusal, *, is_preflight: bool = False) -> Completion:
        """The completion that a refusal amounts to, where it is the model's.

        Raises `CredentialsError` or `SettingsError` where every question would be refused, `EndpointFault` where it is this one.
        """
        kind = refusal.kind(self._params)
        if kind in ("content_filter", "context_length"):
            return Completion(text="", finish=kind)
        # Once it has answered, key and parameters are right, and what it refuses is this one request.
        concerns_all = is_preflight or not (self._has_answered or refusal.in_answer)
        if kind == "credentials" and concerns_all:
            self._final = CredentialsError(
                "the model endpoint refused the credentials, the model or the path",
                where=[f"{self._where}: {refusal}"],
                meaning="Every question would be refused, so the run stops here.",
                next_step="Check model.api_key, model.name and the address (a base_url usually ends in /v1).",
            )
            raise self._final
        if concerns_all and (kind == "parameter" or (is_preflight and not refusal.in_answer)):
            sent = ", ".join(sorted(self._params)) or "none"
            self._final = SettingsError(
                "the model endpoint refused the request",
                where=[f"{self._where}: {refusal}", f"model.params that were sent: {sent}"],
                meaning="Parameters go out as they are set, so every question would be refused, and the run stops here.",
                next_step="Correct model.params: remove or rename what the endpoint does not support.",
            )
            raise self._final
        said = "the endpoint's answer cannot be used" if refusal.in_answer else "the endpoint refused the request"
        fault = EndpointFault(f"{said}: {refusal}")
        if refusal.status == UNAUTHORIZED and not refusal.in_answer:
            # The key has been revoked or has expired: the questions that are left stay unscored without a request each.
            self._final = fault
        raise fault
