"""The format of run and baseline files as pydantic models: what readers insist on, and the source of the published JSON Schemas.

Unknown keys are ignored, so that a later minor release may add some.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nl2sql_gate.runfile.provenance_format import checked

Outcome = Literal["answered", "no_sql", "sql_error", "timeout", "golden_error", "unscored", "skipped"]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Entry(BaseModel):
    """Base of all objects of the format."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True, protected_namespaces=())


class ReasonEntry(Entry):
    """Why, for programs (`code`) and for people (`message`)."""

    code: str
    message: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)


class ScoreEntry(Entry):
    """A score in [0, 1]; two `version`s of one metric are not comparable."""

    value: Share
    reason: ReasonEntry | None = None
    version: str = "1"


class FaultEntry(Entry):
    """A score that could not be had."""

    fault: str


class ErrorEntry(Entry):
    """What the database said, its code, and our `reason`: `error`, `timeout`, `too_many_rows`, `too_many_bytes`, `refused`."""

    message: str = ""
    code: str = ""
    reason: str = "error"
    elapsed_s: Amount = 0.0


class TokensEntry(Entry):
    """Tokens of the prompt (`in`) and of the reply (`out`)."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_alias=True)

    tokens_in: Count | None = Field(default=None, alias="in")
    tokens_out: Count | None = Field(default=None, alias="out")


class ResultEntry(Entry):
    """Rows as arrays beside the column names; cells as the page on run files says."""

    columns: list[str]
    rows: list[list[Any]]
    rowcount: int = -1
    elapsed_s: Amount = 0.0


class PlaceEntry(Entry):
    """A file and a line, 0 where unknown."""

    file: str = ""
    line: Count = 0


class WarnedEntry(Entry):
    """Something a user should know that stopped nothing."""

    code: str
    message: str = ""
    subject: str = ""
    place: PlaceEntry = PlaceEntry()


class BaselineCaseEntry(Entry):
    """One case: an item (`id`) in one dialect, on one database, in one trial."""

    id: str
    dialect: str
    database: str
    trial: Count = 0
    digest: str
    outcome: Outcome
    type: Literal["dql", "dml", "ddl"] = "dql"
    sql: str = ""
    scores: dict[str, ScoreEntry | FaultEntry] = Field(default_factory=dict)
    reason: ReasonEntry | None = None
    error: ErrorEntry | None = None
    latency_s: Amount | None = None
    tokens: TokensEntry | None = None
    cost: Amount | None = None


class RunCaseEntry(BaselineCaseEntry):
    """A case with all that a run knows of it. Results are capped; `result_rows` and `golden_rows` count what there was."""

    question: str = ""
    tags: list[str] = Field(default_factory=list)
    difficulty: str = ""
    golden_sql: list[str] = Field(default_factory=list)
    reply: str = ""
    rule: str = ""
    result: ResultEntry | None = None
    golden_result: ResultEntry | None = None
    result_rows: Count = 0
    golden_rows: Count = 0
    sql_s: Amount | None = None
    golden_s: Amount | None = None
    model: str = ""
    replayed: bool = False
    warnings: list[WarnedEntry] = Field(default_factory=list)


class VerdictReasonEntry(Entry):
    """A reason of the verdict, with whatever belongs to its code."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str = ""


class VerdictEntry(Entry):
    """What the gate decided."""

    model_config = ConfigDict(extra="allow")

    status: Literal["pass", "fail", "undecided", "no_verdict", ""] = ""
    reasons: list[VerdictReasonEntry] = Field(default_factory=list)


class BaselineFile(Entry):
    """`baseline.json`: what later runs are compared with."""

    format: Annotated[str, Field(pattern=r"^nl2sql-gate/(baseline|run)/v1(\.\d+)?$")]
    metrics: list[str]
    provenance: Annotated[dict[str, Any], AfterValidator(checked)]
    cases: list[BaselineCaseEntry]
    complete: bool = True
    verdict: VerdictEntry | None = None


class RunFile(BaselineFile):
    """`run.json`: everything, for the team alone."""

    cases: list[RunCaseEntry]  # type: ignore[assignment]
    warnings: list[WarnedEntry] = Field(default_factory=list)


class ReplyLine(Entry):
    """One line of a file of recorded replies."""

    model_config = ConfigDict(extra="allow")

    id: str | int
    dialect: str | None = None
    trial: Count | None = None
    reply: str
