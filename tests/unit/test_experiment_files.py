"""An experiment file: what it may leave out, and how every mistake in it is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.errors import InputError
from kalibre.experiment import load as load_module
from kalibre.experiment.experiment import Experiment
from kalibre.experiment.load import load_experiment, load_experiments, select_experiments

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config/experiments").glob("*.yaml"))

GIVEN = """\
title: Ten answers
data:
  source: predictions
  inline:
    model_a:
      probability: [0.6, 0.7]
      outcome: [1, 0]
"""
FITTED = """\
data:
  source: subscribers
split:
  method: shuffle
  parts: {train: 756, validation: 252}
  rest: test
models:
  bayes: {estimator: sklearn.naive_bayes.GaussianNB}
calibration:
  calibrators: [none, temperature]
  learn_on: [validation]
"""

Load = Callable[[str], Experiment]
Refuse = Callable[[str], str]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads a text as the file `x.yaml`."""
    monkeypatch.chdir(tmp_path)

    def loaded(text: str) -> Experiment:
        Path("x.yaml").write_text(text, encoding="utf-8")
        return load_experiment(Path("x.yaml"))

    return loaded


@pytest.fixture
def refuse(load: Load) -> Refuse:
    """The message with which a text is refused."""

    def message(text: str) -> str:
        with pytest.raises(InputError) as refusal:
            load(text)
        return str(refusal.value)

    return message


# ---- the project's own files


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_experiment_of_the_project_says_what_it_asks(path: Path):
    experiment = load_experiment(path)
    assert experiment.title
    assert experiment.question


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_lessons_file_bears_its_lessons_name(path: Path):
    assert load_experiment(path).lesson in (None, path.stem)


@pytest.mark.parametrize("name", ["trivia", "spam"])
def test_small_lessons_hold_their_predictions_inline(name: str):
    data = load_experiment(ROOT / f"config/experiments/{name}.yaml").data
    assert data.source == "predictions"


def test_the_subscribers_lesson_says_its_seed_and_candidates():
    content = yaml.safe_load((ROOT / "config/experiments/subscribers.yaml").read_text())
    assert (content["data"]["seed"], content["data"]["candidates"]) == (20260218, 1400)


# ---- what may be left out


def test_a_file_of_predictions_needs_nothing_but_data(load: Load):
    experiment = load(GIVEN)
    assert experiment.model_names() == ["model_a"]
    assert experiment.parts() == ["all"]
    assert experiment.evaluated_parts() == ["all"]
    assert list(experiment.variants("model_a")) == ["none"]


@pytest.mark.parametrize(
    ("parts", "rest", "measured"),
    [
        ("{train: 10, test: 5}", "validation", "test"),
        ("{train: 10, validation: 5}", "spare", "validation"),
    ],
)
def test_measured_is_the_test_part_or_else_the_validation_part(
    load: Load, parts: str, rest: str, measured: str
):
    text = f"data: {{source: biopsies}}\nsplit: {{parts: {parts}, rest: {rest}}}\n"
    assert load(text).evaluated_parts() == [measured]


def test_calibrators_may_be_a_list_of_methods(load: Load):
    variants = load(FITTED).variants("bayes")
    assert {name: v.method for name, v in variants.items()} == {
        "none": "none",
        "temperature": "temperature",
    }
    assert variants["temperature"].learn_on == "validation"
    assert variants["none"].learn_on is None


@pytest.mark.parametrize("method", ["logistic", "sigmoid"])
def test_platts_calibrator_is_found_by_its_other_names(load: Load, method: str):
    variants = load(FITTED.replace("temperature]", f"{method}]")).variants("bayes")
    assert variants[method].method == "platt"


def test_a_calibrator_learned_on_several_parts_is_several(load: Load):
    text = FITTED.replace("learn_on: [validation]", "learn_on: [validation, test]")
    declared = "declared_overlap: [{stages: [calibrate, evaluate], part: test, reason: r}]"
    variants = load(text + declared).variants("bayes")
    assert list(variants) == ["none", "temperature_on_test", "temperature_on_validation"]


def test_a_calibrator_may_be_for_some_models_only(load: Load):
    text = FITTED.replace(
        "models:\n", "models:\n  tree: {estimator: kalibre.models.tree.GiniTree}\n"
    )
    text = text.replace(
        "[none, temperature]", "{none: {method: none}, t: {method: temperature, models: [tree]}}"
    )
    experiment = load(text)
    assert list(experiment.variants("tree")) == ["none", "t"]
    assert list(experiment.variants("bayes")) == ["none"]


def test_the_subscribers_split_has_the_datas_seed_and_90000(load: Load):
    assert load(FITTED).split_settings()["seed"] == 20260218 + 90000
    text = FITTED.replace("source: subscribers", "source: subscribers\n  seed: 7")
    assert load(text).split_settings()["seed"] == 90007


def test_a_seed_of_the_splits_own_stays(load: Load):
    assert load(FITTED.replace("split:", "split:\n  seed: 3")).split_settings()["seed"] == 3


def test_any_other_split_has_the_seed_0(load: Load):
    text = FITTED.replace("subscribers", "biopsies").replace("shuffle", "random")
    assert load(text).split_settings()["seed"] == 0


def test_cuts_keep_their_order(load: Load):
    text = FITTED.replace("{train: 756, validation: 252}", "{validation: 252, train: 756}")
    assert load(text).split_settings()["parts"] == [["validation", 252], ["train", 756]]
    assert load(FITTED).split_settings()["parts"] == [["train", 756], ["validation", 252]]


def test_on_off_yes_and_no_are_words(load: Load):
    """YAML 1.1 reads them as true and false, and `on:` as a key that nobody knows."""
    text = GIVEN.replace("model_a", "no") + "evaluation: {on: [all]}\n"
    experiment = load(text)
    assert experiment.model_names() == ["no"]
    assert experiment.evaluated_parts() == ["all"]


def test_a_byte_order_mark_is_no_mistake(load: Load):
    assert load("\ufeff" + GIVEN).title == "Ten answers"


# ---- the order of keys


def _reordered(value: Any, data: st.DataObject, key: str = "") -> Any:
    if isinstance(value, dict):
        keys = list(value)
        # The cuts of a split are made in their order: that order is a setting.
        if key != "parts":
            keys = data.draw(st.permutations(keys))
        return {k: _reordered(value[k], data, k) for k in keys}
    if isinstance(value, list):
        return [_reordered(item, data) for item in value]
    return value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@settings(max_examples=15)
@given(data=st.data())
def test_the_order_of_keys_does_not_matter(path: Path, data: st.DataObject):
    content = load_experiment(path).model_dump(mode="json", exclude_unset=True)
    one, other = (Experiment.model_validate(c) for c in (content, _reordered(content, data)))
    assert one.settings() == other.settings()
    assert repr(one.settings()) == repr(other.settings())
    for model in one.model_names():
        assert list(one.variants(model)) == list(other.variants(model))


# ---- mistakes: where, what was found, what is allowed, how to mend it


def test_a_misspelt_key_is_named_with_file_line_and_the_nearest_key(refuse: Refuse):
    assert refuse(GIVEN.replace("title", "titel")) == (
        "x.yaml, line 1: titel is not a known key; did you mean 'title'?"
    )


@pytest.mark.parametrize(
    ("right", "wrong"), [("outcome", "outcom"), ("inline", "inlin"), ("data", "dta")]
)
def test_a_misspelt_key_that_is_needed_is_one_mistake_not_two(
    refuse: Refuse, right: str, wrong: str
):
    message = refuse(GIVEN.replace(f"{right}:", f"{wrong}:"))
    assert len(message.splitlines()) == 1
    assert f"{wrong} is not a known key; did you mean {right!r}?" in message


def test_a_key_like_no_other_is_told_what_is_allowed(refuse: Refuse):
    message = refuse(GIVEN + "evaluation: {zzz: 1}\n")
    assert "x.yaml, line 8: evaluation.zzz is not a known key; allowed: bins, each_row" in message


@pytest.mark.parametrize("gone", ["data", "outcome"])
def test_a_missing_key_is_named(refuse: Refuse, gone: str):
    content = yaml.safe_load(GIVEN)
    place = {"data": content}.get(gone)
    del (place or content["data"]["inline"]["model_a"])[gone]
    assert f"{gone} is missing" in refuse(yaml.safe_dump(content))


def test_predictions_stand_in_a_file_or_in_the_experiment(refuse: Refuse):
    content = yaml.safe_load(GIVEN)
    del content["data"]["inline"]
    assert refuse(yaml.safe_dump(content)).endswith(
        "data: the predictions stand in a `file` or `inline`; both are missing, give one"
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GIVEN.replace("Ten answers", ""), "x.yaml, line 1: title"),
        (
            GIVEN.replace("[0.6, 0.7]", "[0.6, null]"),
            "x.yaml, line 6: data.inline.model_a.probability, row 2",
        ),
        (GIVEN + "evaluation:\n", "x.yaml, line 8: evaluation"),
        (FITTED.replace("shuffle", "~"), "x.yaml, line 4: split.method"),
    ],
)
def test_a_null_is_no_value(refuse: Refuse, text: str, where: str):
    message = refuse(text)
    assert message == f"{where} has no value (null); give it one, or delete the line"


def test_a_null_among_an_estimators_parameters_is_a_value(load: Load):
    text = FITTED.replace("GaussianNB}", "GaussianNB, params: {priors: null}}")
    assert load(text).models["bayes"].params == {"priors": None}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1.2", "found 1.2: it should be less than or equal to 1"),
        ("-0.1", "found -0.1: it should be greater than or equal to 0"),
        ("high", "found 'high'"),
        ("true", "found True: a number is wanted, not true or false"),
        (".nan", "found nan"),
        (".inf", "found inf"),
    ],
)
def test_a_probability_that_is_none_is_named_by_model_and_row(
    refuse: Refuse, value: str, said: str
):
    message = refuse(GIVEN.replace("0.7]", f"{value}]"))
    assert message.startswith("x.yaml, line 6: data.inline.model_a.probability, row 2: ")
    assert said in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("value", ["2", "0.5", "true", "yes"])
def test_an_outcome_is_0_or_1(refuse: Refuse, value: str):
    message = refuse(GIVEN.replace("outcome: [1, 0]", f"outcome: [1, {value}]"))
    assert "data.inline.model_a.outcome, row 2: found" in message


def test_a_score_and_its_outcome_go_together(refuse: Refuse):
    message = refuse(GIVEN.replace("outcome: [1, 0]", "outcome: [1]"))
    assert "`probability` has 2 values and `outcome` has 1" in message


@pytest.mark.parametrize("row", ["", "logit: [0.1, 0.2], probability: [0.6, 0.7], "])
def test_one_kind_of_score_is_given(refuse: Refuse, row: str):
    text = f"data: {{source: predictions, inline: {{a: {{{row}outcome: [1, 0]}}}}}}"
    assert "give either `probability` or `logit`" in refuse(text)


def test_an_unknown_source_is_told_which_there_are(refuse: Refuse):
    message = refuse("data: {source: predictons}\n")
    assert "x.yaml, line 1: data" in message
    assert (
        "found 'predictons'; allowed: 'subscribers', 'biopsies', 'table', 'predictions'" in message
    )


def test_a_missing_source_is_said(refuse: Refuse):
    assert "data.source is missing" in refuse("data: {seed: 7}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FITTED.replace("rest: test", "rest: train"), "which `parts` cuts already"),
        (FITTED.replace("756", "0"), "a whole number of rows from 1, or a share between 0 and 1"),
        (FITTED.replace("756", "1.0"), "a whole number of rows from 1, or a share between 0 and 1"),
        (FITTED.replace("756", "true"), "a whole number of rows from 1"),
        (FITTED.replace("bayes:", "naive-bayes:"), "a name is made of letters, digits"),
        (FITTED.replace("sklearn.naive_bayes.GaussianNB", "GaussianNB"), "importable path"),
        (FITTED.replace("shuffle", "shuffel"), "found 'shuffel'; allowed: "),
        (FITTED.replace("temperature]", "temperatur]"), "did you mean 'temperature'?"),
        (FITTED.replace("[validation]", "[valdation]"), "did you mean 'validation'?"),
        (FITTED + "evaluation: {on: [tst]}\n", "did you mean 'test'?"),
        (FITTED + "evaluation: {metrics: [brir]}\n", "did you mean 'brier'?"),
        (FITTED + "evaluation: {bins: {b: {}}}\n", "give either `count` or `edges`"),
        (FITTED + "evaluation: {bins: {b: {count: 0}}}\n", "found 0: it should be greater than"),
        (FITTED + "evaluation: {bins: {b: {count: true}}}\n", "found True: a number is wanted"),
        (FITTED + "evaluation: {bins: {b: {count: 2.5}}}\n", "found 2.5"),
        (FITTED + "evaluation: {bins: {b: {edges: [0.5, 0.2, 1]}}}\n", "edges must rise"),
        (FITTED + "evaluation: {levels: [{of: confidence}]}\n", "either `above` or `at_least`"),
        (FITTED.replace("[none, temperature]", "{none: {method: temperature}}"), "`none` is kept"),
        (FITTED.replace("subscribers", "subscribers\n  seed: -1"), "found -1"),
        (FITTED.replace("subscribers", "subscribers\n  candidates: 1.5"), "found 1.5"),
        (FITTED.partition("split:")[0] + FITTED[FITTED.index("models:") :], "section `split`"),
        (GIVEN + "models: {a: {estimator: sklearn.dummy.DummyClassifier}}\n", "nothing is fitted"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_with_its_place(refuse: Refuse, text: str, said: str):
    message = refuse(text)
    assert message.startswith("x.yaml, line ")
    assert said in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("calibrators", "said"),
    [
        ("{a: {method: temperature, after: a}}", "'a' leads back to itself"),
        (
            "{a: {method: temperature, after: b}, b: {method: temperature, after: a}}",
            "leads back to itself",
        ),
        ("{a: {method: temperature, after: sharpen}}", "found 'sharpen'"),
        ("{a: {method: sharpen, params: {power: -1}}}", "power"),
        ("{a: {method: sharpen, params: {strength: 2}}}", "strength"),
        ("{a: {method: temperature, models: [tree]}}", "found 'tree'"),
    ],
)
def test_calibrators_that_cannot_work_are_refused(refuse: Refuse, calibrators: str, said: str):
    message = refuse(FITTED.replace("[none, temperature]", calibrators))
    assert "calibration.calibrators.a" in message
    assert said in message


# ---- overlaps


@pytest.mark.parametrize(
    ("change", "stages"),
    [
        (("learn_on: [validation]", "learn_on: [train]"), "fit and to calibrate"),
        (("learn_on: [validation]", "learn_on: [test]"), "calibrate and to evaluate"),
        (("GaussianNB}", "GaussianNB, learn_on: [test]}"), "fit and to evaluate"),
    ],
)
def test_a_part_that_two_stages_use_has_to_be_declared(
    load: Load, refuse: Refuse, change: tuple[str, str], stages: str
):
    text = FITTED.replace(*change)
    message = refuse(text)
    assert f"is used both to {stages}" in message
    declaration = message[message.index("declared_overlap: [") :].replace("...", "on purpose")
    assert load(text + declaration + "\n").declared_overlap[0].reason == "on purpose"


def test_a_declaration_names_two_stages_a_part_and_a_reason(refuse: Refuse):
    start = FITTED + "declared_overlap: [{stages: "
    assert "two different stages" in refuse(start + "[fit, fit], part: test, reason: r}]")
    assert "found 'tst'" in refuse(start + "[fit, evaluate], part: tst, reason: r}]")
    assert "reason" in refuse(start + '[fit, evaluate], part: test, reason: ""}]')


# ---- files that are no experiment


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "words\n", "3\n"])
def test_an_experiment_is_a_mapping_of_sections(refuse: Refuse, text: str):
    assert refuse(text).startswith("x.yaml: an experiment is a mapping of sections")


def test_what_is_no_yaml_is_said_with_its_line(refuse: Refuse):
    assert refuse("title: a\ndata: [1, 2\n").startswith("x.yaml, line 3: is not valid YAML: ")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("repeats: {splits: 3, metrics: [briar]}", "repeats.metrics: found 'briar'; did you mean"),
        ("gate: {step_leak: 0.01}", "gate.step_leak: the ladder, which it limits, needs a section"),
        ("gate: {step_leak_upper: 0.01}", "gate.step_leak_upper: the ladder, which it limits"),
    ],
)
def test_a_section_that_asks_for_what_is_not_measured_is_refused(
    refuse: Refuse, section: str, said: str
):
    assert said in refuse(FITTED + section + "\n")


def test_a_calibrators_method_is_a_word(refuse: Refuse):
    message = refuse(FITTED.replace("[none, temperature]", "{a: {method: [platt]}}"))
    assert "calibration.calibrators.a.method: it should be a valid string" in message


def test_preparation_of_given_predictions_is_refused(refuse: Refuse):
    text = GIVEN + "preparation: [{step: sklearn.impute.SimpleImputer, columns: numeric}]\n"
    assert "preparation: predictions are given" in refuse(text)


def test_two_calibrators_of_one_full_name_are_refused(refuse: Refuse):
    calibrators = (
        "{a: {method: platt, learn_on: [validation, test]}, a_on_test: {method: temperature}}"
    )
    message = refuse(FITTED.replace("[none, temperature]", calibrators))
    assert "two calibrators would be called 'a_on_test'" in message


def test_a_word_where_a_list_belongs_is_shown_as_one(refuse: Refuse):
    message = refuse(FITTED + "evaluation: {on: test}\n")
    assert message.endswith("evaluation.on: found 'test'; it should be a list: [test]")


def test_an_empty_file_and_an_alias_within_itself_are_said(refuse: Refuse):
    assert refuse("").endswith("the file is empty")
    assert "line 1: keys lie more than 50 deep; is there an alias" in refuse("a: &a {b: *a}\n")


def test_aliases_of_aliases_do_not_keep_anybody_waiting(
    refuse: Refuse, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load_module, "MOST_VALUES", 1000)
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 6)]
    assert "too many values; is there an alias" in refuse("\n".join(["a0: &a0 [x]", *levels]))


def test_a_key_given_twice_is_a_mistake(refuse: Refuse):
    message = refuse(GIVEN + "title: Again\n")
    assert message == (
        "x.yaml, line 8: key 'title' is given twice (first on line 1); keep one of them"
    )


def test_a_file_that_is_no_text_is_said(tmp_path: Path):
    path = tmp_path / "x.yaml"
    path.write_bytes("title: größer\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load_experiment(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(InputError, match=r"nosuch\.yaml: cannot be read \(No such file"):
        load_experiment(tmp_path / "nosuch.yaml")


def test_many_mistakes_are_listed_and_the_rest_counted(refuse: Refuse):
    wrong = ", ".join(["7.5"] * 8)
    text = f"data: {{source: predictions, inline: {{a: {{probability: [{wrong}], outcome: [1]}}}}}}"
    lines = refuse(text).splitlines()
    assert len(lines) == 6
    assert lines[-1] == "(and 3 more)"


# ---- a folder of experiments


def folder(tmp_path: Path, *names: str) -> Path:
    for name in names:
        (tmp_path / name).write_text(GIVEN)
    return tmp_path


def test_an_experiment_is_named_by_its_file(tmp_path: Path):
    found = load_experiments(folder(tmp_path, "b.yaml", "a.yml", "notes.txt"), reserved=())
    assert sorted(found) == ["a", "b"]


def test_the_name_of_a_rule_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"evaluate\.yaml: 'evaluate' is the name of one of"):
        load_experiments(folder(tmp_path, "evaluate.yaml"), reserved={"evaluate"})


@pytest.mark.parametrize("name", ["my-lesson.yaml", "1st.yaml", "a b.yaml", "größe.yaml"])
def test_a_name_that_is_no_target_is_refused(tmp_path: Path, name: str):
    with pytest.raises(InputError, match="letters, digits and underscores and starts with a"):
        load_experiments(folder(tmp_path, name), reserved=())


def test_a_name_that_starts_with_an_underscore_is_refused(tmp_path: Path):
    """It would be a target that no rule's wildcard matches."""
    with pytest.raises(InputError, match="starts with a letter"):
        load_experiments(folder(tmp_path, "_draft.yaml"), reserved=())


def test_two_files_of_one_name_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="another file for experiment 'a'"):
        load_experiments(folder(tmp_path, "a.yaml", "a.yml"), reserved=())


@pytest.mark.parametrize("place", [".", "nosuch"])
def test_a_folder_without_experiments_is_said(tmp_path: Path, place: str):
    with pytest.raises(InputError, match=r"no experiment file \(\*\.yaml\)"):
        load_experiments(tmp_path / place, reserved=())


@pytest.mark.parametrize("chosen", [None, "all"])
def test_all_experiments_are_built_unless_some_are_named(chosen: Any):
    assert select_experiments(chosen, ["b", "a"]) == ["a", "b"]


@pytest.mark.parametrize("chosen", ["a", ["a"]])
def test_named_experiments_alone_are_built(chosen: Any):
    assert select_experiments(chosen, ["b", "a"]) == ["a"]


def test_a_name_without_a_file_is_told_the_nearest():
    with pytest.raises(InputError, match=r"no experiment 'trivai'; did you mean 'trivia'\?"):
        select_experiments(["trivai"], ["trivia", "spam"])
