"""The settings of a run as users write them in `nl2sql-gate.yml`; how they are found and merged is in `configuration`."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from nl2sql_gate.dialects import canonical

SCHEMA_URL = "https://raw.githubusercontent.com/nl2sql-gate/nl2sql-gate/v1/docs/schemas/settings-v1.json"


def _finite(value: float) -> float:
    if not math.isfinite(value):
        message = "must be a finite number"
        raise ValueError(message)
    return value


Share = Annotated[float, Field(ge=0, le=1), AfterValidator(_finite)]
Positive = Annotated[float, Field(gt=0), AfterValidator(_finite)]
Amount = Annotated[float, Field(ge=0), AfterValidator(_finite)]
Dialect = Annotated[str, AfterValidator(canonical)]


class Section(BaseModel):
    """Base of all sections: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Filters(Section):
    """Which items run. Empty lists select all."""

    dialects: tuple[Dialect, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[Literal["dql", "dml", "ddl"], ...] = ()
    ids: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()

    @field_validator("ids", "tags", "databases", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Ids are text: 43 and "43" are the same id."""
        return [str(v) if isinstance(v, int) else v for v in value] if isinstance(value, list | tuple) else value


class Service(Section):
    """One database server by name. Exactly one of `url`, `container`, `way` says where it comes from."""

    dialect: Dialect = ""
    way: str = "auto"
    container: str | None = None
    url: SecretStr | None = None
    existing: bool = False
    insist: bool = False

    def source(self) -> str:
        """The way as one word: `auto`, `embedded`, `embedded-mariadb`, `container[:image]` or the URL."""
        if self.url is not None:
            return self.url.get_secret_value()
        if self.container is not None:
            return f"container:{self.container}" if self.container else "container"
        return self.way


class RateLimits(Section):
    """Requests and tokens a minute that the endpoint allows."""

    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None


class Prices(Section):
    """Price of a million tokens; both or none."""

    input_per_million: Amount | None = None
    output_per_million: Amount | None = None


class Model(Section):
    """The model under test: which generator asks it, where and how."""

    generator: str = ""
    base_url: str | None = None
    name: str = ""
    api_key: SecretStr | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    prompt: str | None = None
    sample_values: Annotated[int, Field(ge=0, le=100)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    limits: RateLimits = RateLimits()
    prices: Prices = Prices()
    timeout_s: Positive = 120
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    url: str | None = None
    method: Literal["POST", "PUT", "GET"] = "POST"
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    request: str | None = None
    reply_path: str | None = None
    sql_path: str | None = None
    command: str | tuple[str, ...] | None = None
    error_rate: Share | None = None
    seed: int | None = None


class Scoring(Section):
    """How results and effects are compared; an item's own keys win."""

    columns: Literal["position", "any_order", "superset"] = "position"
    golden_mode: Literal["auto", "alternatives", "sequence"] = "auto"
    state: Literal["effects", "strict"] = "effects"


class RunLimits(Section):
    """Limits on statements and on the run."""

    statement_s: Positive = 30
    rows: Annotated[int, Field(ge=1)] = 100_000
    bytes: Annotated[int, Field(ge=1)] | None = None
    memory_mb: Annotated[int, Field(ge=16)] | None = None
    max_clone_mb: Annotated[int, Field(ge=1)] = 512
    run_s: Positive | None = None
    max_golden_errors: Share = 0.25


class Required(Section):
    """Items that must pass: all with one of the tags, and the ids."""

    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


class SliceRule(Section):
    """A rule for one slice of the cases, judged like the whole and corrected by Holm."""

    by: Literal["dialect", "tag", "difficulty", "type", "database"]
    value: str
    floor: Share | None = None
    min_drop: Share | None = None


class Slices(Section):
    """Slices under `min_items` are shown, never gated."""

    min_items: Annotated[int, Field(ge=1)] = 30
    rules: tuple[SliceRule, ...] = ()


class Policy(Section):
    """What makes a run fail."""

    primary: str = "execution_accuracy"
    mode: Literal["regression", "non_inferiority"] = "regression"
    alpha: Annotated[float, Field(gt=0, lt=0.5), AfterValidator(_finite)] = 0.05
    min_drop: Annotated[float, Field(ge=0, lt=1), AfterValidator(_finite)] = 0.02
    floors: dict[str, Share] = Field(default_factory=dict)
    required: Required = Required()
    budgets: dict[Literal["cost", "tokens", "latency_p50_s", "latency_p95_s"], Amount] = Field(default_factory=dict)
    slices: Slices = Slices()
    min_coverage: Share = 0.9
    min_paired: Share = 0.8
    cluster: Literal["item", "database"] = "item"
    confirm: bool = False
    waivers: str | None = None
    on_missing_baseline: Literal["warn", "fail", "bless"] = "warn"
    on_undecided: Literal["warn", "fail"] = "warn"
    on_no_verdict: Literal["fail", "warn"] = "fail"
    on_no_credentials: Literal["warn", "fail"] = "warn"


class Report(Section):
    """What is written for people."""

    comment: Literal["always", "changes", "regressions", "off"] = "changes"
    check_run: bool = False
    show_rows: bool | None = None
    formats: tuple[Literal["markdown", "html", "json", "junit"], ...] = ("markdown", "html", "json", "junit")


class Settings(Section):
    """All settings of a run, version 1."""

    version: Literal[1] = 1
    gate: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] = "nl2sql"
    dataset: str = ""
    format: str = "auto"
    setup_directory: str | None = None
    filters: Filters = Filters()
    services: dict[str, Service] = Field(default_factory=dict)
    reference: str | None = None
    model: Model = Model()
    replies: str | None = None
    cache: str | None = None
    out: str = "nl2sql-gate-out"
    strict: bool = False
    scoring: Scoring = Scoring()
    trials: Annotated[int, Field(ge=1, le=100)] = 1
    limits: RunLimits = RunLimits()
    metrics: tuple[str, ...] = ("execution_accuracy", "execution_accuracy_bird")
    scorers: dict[str, dict[str, Any]] = Field(default_factory=dict)
    policy: Policy = Policy()
    baseline: str | None = None
    anchor: str | None = None
    report: Report = Report()

    @field_validator("services", mode="before")
    @classmethod
    def _expand_services(cls, value: Any) -> Any:
        """The shorthand `postgres: auto` becomes a service of that name and dialect."""
        return {name: _service(name, given) for name, given in value.items()} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _metrics_hold_primary(self) -> Settings:
        """A policy about a metric that is not computed would never fire."""
        for name in self.scorers:
            if name not in self.metrics:
                message = f"scorers gives options for {name!r}, which is not under metrics: {', '.join(self.metrics)}"
                raise ValueError(message)
        for name in (self.policy.primary, *self.policy.floors):
            if name not in self.metrics:
                message = f"policy names the metric {name!r}, which is not under metrics: {', '.join(self.metrics)}"
                raise ValueError(message)
        return self


def _service(name: str, given: Any) -> Any:
    if given is None:
        return {"dialect": name}
    if isinstance(given, dict):
        return {"dialect": name, **given}
    if isinstance(given, str) and "://" in given:
        return {"dialect": name, "url": given}
    if isinstance(given, str) and given.partition(":")[0] == "container":
        return {"dialect": name, "container": given.partition(":")[2]}
    return {"dialect": name, "way": given}


def secrets_in(settings: BaseModel) -> list[str]:
    """The values of all secret settings, for masking."""
    found: list[str] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        values = list(value.values()) if isinstance(value, dict) else [value]
        for each in values:
            if isinstance(each, SecretStr):
                found.append(each.get_secret_value())
            elif isinstance(each, BaseModel):
                found += secrets_in(each)
    return found
