"""A configuration names a class and its parameters; whatever is wrong with them is one message."""

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
