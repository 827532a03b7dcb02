"""What readers insist on in `provenance`: the parts that commands count with or walk through. All else is free, and kept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

_Count = Annotated[int, Field(ge=0)]
_Number = Annotated[int, Field(ge=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, hide_input_in_errors=True, protected_namespaces=())


class _Model(_Part):
    """The model as it was asked for, and the names under which the endpoint served it."""

    served: list[str] = Field(default_factory=list)


class _Fingerprint(_Part):
    """What must agree, or is announced, before two runs are compared."""

    dataset: dict[str, Any] = Field(default_factory=dict)
    data: dict[str, Any] = Field(default_factory=dict)
    prompt: dict[str, Any] = Field(default_factory=dict)
    model: _Model = _Model()
    engines: dict[str, Any] = Field(default_factory=dict)
    scorers: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)


class _Facts(_Part):
    """What people want to know of a run."""

    gate: str = ""
    created: str = ""
    commit: str = ""
    branch: str = ""
    asked_beside: str = ""
    no_credentials: str = ""
    replayed: _Count = 0
    asked: _Count = 0


class _Shard(_Part):
    """Which part of the whole this is: `index` of `count`, and the ids of all items of the whole."""

    index: _Number
    count: _Number
    items: list[str]


class Provenance(_Part):
    """The whole."""

    fingerprint: _Fingerprint = _Fingerprint()
    facts: _Facts = _Facts()
    shard: _Shard | None = None
    blessed: dict[str, Any] = Field(default_factory=dict)
    rescored: dict[str, Any] = Field(default_factory=dict)


def checked(provenance: dict[str, Any]) -> dict[str, Any]:
    """`provenance` as it is. Raises pydantic's `ValidationError` where a part of it is of another kind."""
    Provenance.model_validate(provenance)
    return provenance
