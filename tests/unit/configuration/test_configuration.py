from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql_gate.configuration import load
from nl2sql_gate.errors import SettingsError


def write(folder: Path, text: str) -> Path:
    path = folder / "nl2sql-gate.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    write(tmp_path, "trials: 2\ngate: from-file\nmodel: {name: file-model, concurrency: 3}\n")
    environ = {"NL2SQL_GATE_GATE": "from-environment", "NL2SQL_GATE_MODEL": "environment-model"}
    settings = load({"model": "flag-model"}, environ=environ, folder=tmp_path).settings
    assert (settings.trials, settings.gate, settings.model.name) == (2, "from-environment", "flag-model")
    assert settings.model.concurrency == 3
    assert settings.limits.statement_s == 30


def test_a_misspelled_setting_is_named_with_its_line_and_the_nearest_known_one(tmp_path: Path) -> None:
    path = write(tmp_path, "version: 1\npolicy:\n  max_drp: 0.5\n  min_dorp: 0.1\n")
    with pytest.raises(SettingsError) as caught:
        load({}, environ={}, folder=tmp_path)
    assert caught.value.where[1] == f"{path}:4: policy.min_dorp: unknown setting, did you mean 'min_drop'?"
    assert caught.value.where[0].startswith(f"{path}:3: policy.max_drp: unknown setting")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("policy: {floors: {execution_accuracy: 80}}", "floors.execution_accuracy: input should be less than or equal to 1"),
        ("policy: {min_drop: .nan}", "min_drop"),
        ("policy: {alpha: 0}", "alpha: input should be greater than 0"),
        ("trials: 0", "trials: input should be greater than or equal to 1"),
        ("version: 2", "version: input should be 1"),
        ("policy: {floors: {exekution: 0.5}}", "metric 'exekution', which is not under metrics"),
        ("gate: ../x", "gate"),
        ("- a", "not a mapping"),
        ("gate: [", "cannot be read"),
        ("gate: a\ngate: b", "gives a setting twice"),
    ],
)
def test_an_impossible_setting_stops_the_run(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load({}, environ={}, folder=tmp_path)
    assert expected in str(caught.value)


def test_variables_come_from_the_environment_only_and_an_unset_one_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "gate: a\nservices:\n  staging: {dialect: postgres, url: '${STAGING_DSN}'}\n")
    loaded = load({}, environ={"STAGING_DSN": "postgresql://u:p@h/d"}, folder=tmp_path)
    assert loaded.settings.services["staging"].source() == "postgresql://u:p@h/d"
    with pytest.raises(SettingsError, match="not set") as caught:
        load({}, environ={}, folder=tmp_path)
    assert caught.value.where == (f"{path}:3: services.staging.url names ${{STAGING_DSN}}",)


def test_a_missing_model_variable_is_remembered_and_stops_nothing(tmp_path: Path) -> None:
    """On a fork every secret is an empty string: what follows is the policy's word, not a usage error."""
    write(tmp_path, "model: {base_url: 'http://h/v1', api_key: '${KEY}'}\n")
    assert dict(load({}, environ={"KEY": ""}, folder=tmp_path).missing) == {"model.api_key": "KEY"}
    assert not load({"api_key": "k"}, environ={}, folder=tmp_path).missing


def test_paths_are_relative_to_where_they_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "evals"
    folder.mkdir()
    path = write(folder, "dataset: items.json\nbaseline: file:b.json\npolicy: {waivers: w.yml}\n")
    settings = load({"setup_directory": "setup"}, config=str(path), environ={}, folder=tmp_path).settings
    assert settings.dataset == str(folder / "items.json")
    assert settings.baseline == f"file:{folder / 'b.json'}"
    assert settings.policy.waivers == str(folder / "w.yml")
    assert settings.setup_directory == str(tmp_path / "setup")


def test_a_bare_path_as_baseline_is_a_file_and_other_stores_keep_their_word(tmp_path: Path) -> None:
    assert load({"baseline": "b.json"}, environ={}, folder=tmp_path).settings.baseline == f"file:{tmp_path / 'b.json'}"
    assert load({"baseline": "branch:baselines"}, environ={}, folder=tmp_path).settings.baseline == "branch:baselines"


def test_set_takes_any_setting_as_yaml(tmp_path: Path) -> None:
    settings = load({}, assignments=["policy.floors={execution_accuracy: 0.5}", "trials=3"], environ={}, folder=tmp_path).settings
    assert settings.policy.floors == {"execution_accuracy": 0.5}
    assert settings.trials == 3
    with pytest.raises(SettingsError, match="KEY=VALUE"):
        load({}, assignments=["policy"], environ={}, folder=tmp_path)


def test_a_secret_never_shows_in_the_settings(tmp_path: Path) -> None:
    settings = load({"api_key": "sk-very-secret"}, environ={}, folder=tmp_path).settings
    assert "sk-very-secret" not in repr(settings)


def test_a_named_settings_file_that_is_absent_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load({}, config="other.yml", environ={}, folder=tmp_path)


def bomb() -> str:
    """Ten lines that stand for 10^10 values."""
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *lines])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bomb(), "stand for more than 100,000 values"),
        ("filters: &a {tags: [*a]}", "inside its own anchor"),
        ("filters: " + "[" * 3000, "nested too deeply"),
        ("trials: 2024-99-99", "month must be in 1..12"),
        ("trials: !!timestamp x", "cannot be read"),
        ("trials: !!int ''", "cannot be read"),
        ("? [a]\n: b", "cannot be read"),
        (f"dataset: {'x' * 300}", "File name too long"),
        ('dataset: "a\\0b"', "embedded null"),
    ],
)
def test_a_file_of_traps_stops_the_run_with_a_message(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load({}, environ={}, folder=tmp_path)
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["2024-99-99", "&a [*a]", "[" * 3000])
def test_a_value_of_traps_on_the_command_line_stops_the_run_with_a_message(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="the value of --set trials cannot be read"):
        load({}, assignments=[f"trials={text}"], environ={}, folder=tmp_path)


@pytest.mark.parametrize("config", ["x" * 10_000, "a\0b"])
def test_a_settings_file_that_the_system_will_not_look_for_is_named(tmp_path: Path, config: str) -> None:
    with pytest.raises(SettingsError, match="cannot be looked up") as caught:
        load({}, config=config, environ={}, folder=tmp_path)
    assert len(str(caught.value)) < 1000
