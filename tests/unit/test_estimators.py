"""A configuration names a class and its parameters; whatever is wrong with them is one message."""

from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from kalibre.errors import InputError
from kalibre.estimators import build, import_class
from kalibre.models.tree import GiniTree

NEEDS = ("fit", "predict", "get_params")


def made(path: str, *, seed: int = 0, **params: Any) -> Any:
    return build(path, params, needs=NEEDS, seed=seed)


def test_a_class_is_imported_by_its_path():
    assert import_class("sklearn.naive_bayes.GaussianNB", needs=NEEDS) is GaussianNB
    assert import_class("kalibre.models.tree.GiniTree", needs=NEEDS) is GiniTree


def test_an_estimator_gets_its_parameters():
    assert made("sklearn.linear_model.LogisticRegression", C=0.5).C == 0.5


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("sklearn.naive_bayes.GausianNB", r"has no 'GausianNB'; did you mean 'GaussianNB'\?"),
        ("sklearn.naive_bays.GaussianNB", "module 'sklearn.naive_bays' cannot be imported"),
        ("nosuchpackage.Model", "install the package that has it"),
        ("math.sqrt", "not a class with the methods fit, predict, get_params"),
        ("collections.OrderedDict", "not a class with the methods"),
        ("sklearn.preprocessing.StandardScaler", "not a class with the methods"),
    ],
)
def test_what_is_no_such_class_is_refused_with_its_path(path: str, message: str):
    with pytest.raises(InputError, match=message) as refusal:
        made(path)
    assert repr(path) in str(refusal.value)


def test_a_misspelt_parameter_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="no parameter 'max_itr'; did you mean 'max_iter'"):
        made("sklearn.linear_model.LogisticRegression", max_itr=5)


def test_a_parameter_the_class_refuses_is_said():
    with pytest.raises(InputError, match=r"'kalibre\.models\.tree\.GiniTree' .*depth"):
        made("kalibre.models.tree.GiniTree", depth=3)


# ---- seeds


def test_a_value_the_estimator_would_refuse_when_fitted_is_said_when_it_is_made():
    with pytest.raises(InputError, match=r"refuses its parameters: The 'C' parameter"):
        made("sklearn.linear_model.LogisticRegression", C="much")


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 5.0}, {"0": 1.0, "1": 5.0}])
def test_weights_of_classes_have_the_classes_as_keys(weights: dict[Any, float]):
    model = made("sklearn.linear_model.LogisticRegression", class_weight=weights)
    assert model.class_weight == {0: 1.0, 1: 5.0}


def test_a_class_that_no_model_sees_is_said():
    with pytest.raises(
        InputError, match=r"class_weight: found the class 'yes'; a model here sees 1"
    ):
        made("sklearn.linear_model.LogisticRegression", class_weight={"yes": 2.0})


def test_an_estimator_within_needs_its_path():
    with pytest.raises(InputError, match=r"found \{'estimator': 'GaussianNB'\}; it is written"):
        made("sklearn.ensemble.BaggingClassifier", estimator={"estimator": "GaussianNB"})


def test_a_module_that_fails_on_import_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "broken_module_of_mine.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"fails when it is imported \(ZeroDivisionError"):
        made("broken_module_of_mine.Model")


def test_every_draw_has_its_seed():
    path = "sklearn.ensemble.RandomForestClassifier"
    assert made(path, seed=7).random_state == 7
    assert made(path, seed=7, random_state=None).random_state == 7


def test_a_seed_of_ones_own_stays():
    assert made("sklearn.ensemble.RandomForestClassifier", seed=7, random_state=3).random_state == 3


def test_a_class_without_draws_gets_no_seed():
    assert not hasattr(made("sklearn.naive_bayes.GaussianNB", seed=7), "random_state")


# ---- estimators within estimators


def test_a_parameter_may_be_an_estimator_itself():
    inner = {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"C": 2.0}}
    outer = made("sklearn.ensemble.BaggingClassifier", estimator=inner, seed=7)
    assert isinstance(outer, BaggingClassifier)
    assert isinstance(outer.estimator, LogisticRegression)
    assert outer.estimator.C == 2.0
    assert outer.estimator.random_state == 7


def test_estimators_in_a_list_are_made_too():
    steps = [["bayes", {"estimator": "sklearn.naive_bayes.GaussianNB"}]]
    voting = made("sklearn.ensemble.VotingClassifier", estimators=steps)
    assert isinstance(voting.estimators[0][1], GaussianNB)


def test_a_mistake_within_is_said_with_the_inner_path():
    inner = {"estimator": "sklearn.naive_bayes.GaussianNB", "params": {"smoothing": 1}}
    with pytest.raises(InputError, match=r"'sklearn\.naive_bayes\.GaussianNB' takes no parameter"):
        made("sklearn.ensemble.BaggingClassifier", estimator=inner)


def test_an_ordinary_mapping_stays_a_mapping():
    weights = {0: 1.0, 1: 3.0}
    model = made("sklearn.linear_model.LogisticRegression", class_weight=weights)
    assert model.class_weight == weights
