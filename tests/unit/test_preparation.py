"""The lessons' steps, and a chain of any transformers: what is learned, from which rows, and seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter, ValidationError
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from kalibre.columns import Categories
from kalibre.data.subscribers import generate_subscribers
from kalibre.errors import InputError
from kalibre.experiment.preparation import Preparation
from kalibre.models.gini import best_root_gain
from kalibre.preparation.chain import Chain, ColumnStep, build_chain, check_numbers, uses_label
from kalibre.preparation.corrections import RestoreUnit, TextNumbers, TidyText
from kalibre.preparation.frames import to_frame
from kalibre.preparation.steps import MeanTargetCode, RootGainSelect, TukeyFences, UpperMedianFill
from reference import preparation as oracle
from reference import subscribers as oracle_table

LESSON = [
    {"step": "kalibre.preparation.steps.UpperMedianFill", "columns": ["satisfaction_masked"]},
    {
        "step": "kalibre.preparation.steps.MeanTargetCode",
        "columns": ["tariff_code"],
        "params": {"names": {"tariff_code": "tariff_target"}},
    },
    {"step": "kalibre.preparation.steps.RootGainSelect"},
]


def frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns)


class TestUpperMedianFill:
    def test_takes_the_upper_of_the_two_middle_values(self):
        filled = UpperMedianFill().fit_transform(frame(a=[4.0, 1.0, np.nan, 3.0, 2.0]))
        assert filled["a"].tolist() == [4, 1, 3, 3, 2]

    def test_fills_other_rows_with_what_it_learned(self):
        step = UpperMedianFill().fit(frame(a=[1.0, 5.0, 5.0]))
        assert step.transform(frame(a=[np.nan, 9.0]))["a"].tolist() == [5, 9]

    def test_a_column_without_any_value_is_refused_by_name(self):
        with pytest.raises(ValueError, match="column 'a' has no value in the 2 rows"):
            UpperMedianFill().fit(frame(a=[np.nan, np.nan]))


class TestMeanTargetCode:
    def test_gives_each_code_its_mean_outcome(self):
        coded = MeanTargetCode().fit_transform(frame(code=["x", "x", "y", "x"]), [1, 0, 1, 0])
        assert coded["code_target"].tolist() == [0.3333, 0.3333, 1, 0.3333]

    def test_gives_an_unseen_and_a_missing_code_the_overall_rate(self):
        step = MeanTargetCode(digits=2).fit(frame(code=[7.0, 7.0, 8.0]), [1, 1, 0])
        assert step.transform(frame(code=[9.0, np.nan, 8.0]))["code_target"].tolist() == [
            0.67,
            0.67,
            0,
        ]

    def test_rounds_as_python_does(self):
        # 0.03125 to four digits: the tie goes to the even digit, 0.0312.
        coded = MeanTargetCode().fit_transform(frame(c=[1] * 32), [1] + [0] * 31)
        assert set(coded["c_target"]) == {round(1 / 32, 4)} == {0.0312}

    def test_new_columns_can_be_named(self):
        step = MeanTargetCode(names={"code": "rate"}).fit(frame(code=[1, 2]), [0, 1])
        assert list(step.transform(frame(code=[1])).columns) == ["rate"]

    def test_all_codes_missing_leaves_the_overall_rate(self):
        coded = MeanTargetCode().fit_transform(frame(code=[np.nan, np.nan]), [1, 0])
        assert coded["code_target"].tolist() == [0.5, 0.5]


class TestRootGainSelect:
    def test_keeps_columns_of_enough_gain_in_their_order(self):
        y = np.array([0, 1] * 50)
        table = frame(noise=np.arange(100) // 50, second=y * 2.0, first=y)
        assert list(RootGainSelect().fit_transform(table, y).columns) == ["second", "first"]

    def test_a_threshold_needs_enough_rows_on_either_side(self):
        y = np.array([1] * 10 + [0] * 90)
        assert RootGainSelect(min_side=20).fit(frame(a=y), y).kept_ == []
        assert RootGainSelect(min_side=10).fit(frame(a=y), y).kept_ == ["a"]

    def test_its_gains_are_the_trees_own(self):
        rng = np.random.default_rng(0)
        values, y = rng.integers(0, 30, 300), rng.integers(0, 2, 300)
        step = RootGainSelect().fit(frame(a=values), y)
        assert step.gains_["a"] == best_root_gain(values, y, 20)


class TestOtherSteps:
    def test_fences_are_those_of_the_rows_learned_from(self):
        step = TukeyFences().fit(frame(a=[1.0, 2.0, 3.0, 4.0, 5.0]))
        # Quartiles 2 and 4, so the fences stand at -1 and 7.
        assert step.transform(frame(a=[-9.0, 0.0, 100.0]))["a"].tolist() == [-1, 0, 7]

    def test_a_unit_is_restored_for_the_whole_record(self):
        table = frame(mean=[12.5, 20000.0, -30000.0], range=[0.5, 40.0, 500.0])
        mended = RestoreUnit(told_by="mean", above=200).fit_transform(table)
        assert mended["mean"].tolist() == [12.5, 20, -30]
        assert mended["range"].tolist() == [0.5, 0.04, 0.5]

    def test_text_is_tidied_and_missing_text_stays_missing(self):
        tidy = TidyText().fit_transform(frame(a=["  North ", "SOUTH  east", None]))
        assert tidy["a"].tolist()[:2] == ["north", "south east"]
        assert tidy["a"].isna().tolist() == [False, False, True]

    def test_a_note_becomes_numbers(self):
        step = TextNumbers(phrases=["seal broken"])
        numbers = step.fit_transform(frame(note=["Seal broken, 3 of 12", None]))
        assert list(numbers.columns) == ["note_words", "note_figures", "note_seal_broken"]
        assert numbers.to_numpy().tolist() == [[5, 2, 1], [0, 0, 0]]

    @pytest.mark.parametrize("step", [UpperMedianFill(), TukeyFences(), TidyText()])
    def test_a_bare_array_is_refused(self, step):
        with pytest.raises(TypeError, match="works on a pandas DataFrame, found ndarray"):
            step.fit(np.zeros((3, 1)))

    def test_other_columns_than_those_learned_from_are_refused(self):
        with pytest.raises(ValueError, match=r"learned from columns \['a'\], found \['b'\]"):
            UpperMedianFill().fit(frame(a=[1.0])).transform(frame(b=[1.0]))


@pytest.mark.parametrize(
    ("transformer", "expected"),
    [
        (StandardScaler(), False),
        (SimpleImputer(), False),
        (OneHotEncoder(), False),
        (VarianceThreshold(), False),
        (UpperMedianFill(), False),
        (TargetEncoder(), True),
        (SelectKBest(), True),
        (RFE(LogisticRegression()), True),
        (SelectFromModel(LogisticRegression()), True),
        (LinearDiscriminantAnalysis(), True),
        (make_pipeline(StandardScaler(), SelectKBest()), True),
        (make_column_transformer((TargetEncoder(), ["a"])), True),
        (make_pipeline(StandardScaler()), False),
        (MeanTargetCode(), True),
        (RootGainSelect(), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_step_that_uses_the_label_is_known(transformer, expected):
    assert uses_label(transformer) is expected


class LabelSpy(TransformerMixin, BaseEstimator):
    """Takes a label if it is given one, as some transformers of other packages do."""

    def fit(self, X, y=None):
        self.seen_ = y is not None
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(("said", "seen"), [(None, False), (False, False), (True, True)])
def test_a_step_is_shown_the_label_only_if_it_is_said_to_use_it(said, seen):
    step = ColumnStep(LabelSpy(), label=said).fit(frame(a=[1.0, 2.0]), [0, 1])
    assert step.transformer_.seen_ is seen
    assert step.uses_label is seen


class TestChain:
    table = frame(
        age=[30.0, np.nan, 50.0, 40.0],
        city=["Ankara", "Izmir", "Ankara", "Van"],
        member=[True, False, True, True],
    )
    y = np.array([0, 1, 1, 0])

    def test_kept_names_keep_their_place_and_new_ones_are_appended(self):
        steps = [
            {"step": "sklearn.preprocessing.OneHotEncoder", "columns": ["city"]},
            {"step": "sklearn.impute.SimpleImputer", "columns": ["age"]},
        ]
        prepared = build_chain(steps).fit_transform(self.table, self.y)
        assert list(prepared.columns) == ["age", "member", "city_Ankara", "city_Izmir", "city_Van"]
        assert prepared["age"].tolist() == [30, 40, 50, 40]

    @pytest.mark.parametrize(
        ("word", "columns"),
        [
            ("numeric", ["age", "member"]),
            ("categorical", ["city"]),
            ("all", ["age", "city", "member"]),
        ],
    )
    def test_a_word_stands_for_the_columns_that_arrive(self, word, columns):
        step = ColumnStep(LabelSpy(), word).fit(self.table)
        assert step.columns_ == columns

    def test_a_word_that_fits_no_column_leaves_the_frame_as_it_is(self):
        step = ColumnStep(OneHotEncoder(), "categorical").fit(self.table[["age"]])
        pd.testing.assert_frame_equal(step.transform(self.table[["age"]]), self.table[["age"]])

    def test_categories_of_a_table_become_categoricals(self):
        made = to_frame({"part": Categories.of(["b", "a", "b"]), "n": np.array([1, 2, 3])})
        assert made["part"].tolist() == ["b", "a", "b"]
        assert ColumnStep(OneHotEncoder(), "categorical").fit(made).columns_ == ["part"]

    def test_rows_learned_from_get_fit_transform_and_others_transform(self):
        # TargetEncoder cross-fits the rows it learns from, so that the two differ.
        rng = np.random.default_rng(1)
        codes, y = frame(code=rng.integers(0, 30, 200)), rng.integers(0, 2, 200)
        chain = build_chain([{"step": "sklearn.preprocessing.TargetEncoder"}], seed=3)
        encoder = TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=3))
        learned = chain.fit_transform(codes, y)
        np.testing.assert_array_equal(learned, encoder.fit_transform(codes, y))
        np.testing.assert_array_equal(chain.transform(codes), encoder.transform(codes))
        assert not np.array_equal(learned, chain.transform(codes))

    def test_applying_a_chain_changes_nothing_it_learned(self):
        chain = build_chain(
            [{"step": "sklearn.preprocessing.StandardScaler", "columns": ["age"]}]
        ).fit(self.table.dropna(), self.y[[0, 2, 3]])
        first = chain.transform(self.table)
        chain.transform(self.table * 1)
        pd.testing.assert_frame_equal(chain.transform(self.table), first)

    def test_a_chain_without_steps_gives_the_frame_and_says_so(self):
        pd.testing.assert_frame_equal(Chain().fit_transform(self.table), self.table)
        assert "no preparation steps" in Chain().notes()[0]

    def test_a_chain_that_does_not_use_the_label_says_so(self):
        chain = build_chain([{"step": "sklearn.preprocessing.StandardScaler"}])
        assert chain.label_steps == []
        assert "no preparation step uses the label" in chain.notes()[0]
        assert build_chain(LESSON).notes() == ()

    def test_steps_of_one_class_get_names_of_their_own(self):
        steps = [{"step": "sklearn.preprocessing.StandardScaler"}] * 2
        assert build_chain(steps).names == ["standard_scaler", "standard_scaler_2"]

    def test_a_parameter_may_be_an_estimator_or_a_function(self):
        chain = build_chain(
            [
                {
                    "step": "sklearn.feature_selection.SelectFromModel",
                    "params": {"estimator": {"estimator": "sklearn.tree.DecisionTreeClassifier"}},
                },
                {
                    "step": "sklearn.preprocessing.FunctionTransformer",
                    "params": {"func": {"function": "numpy.absolute"}},
                },
            ],
            seed=5,
        )
        assert chain.steps[0].transformer.estimator.random_state == 5
        assert chain.steps[1].transformer.func is np.absolute

    def test_it_is_a_scikit_learn_transformer(self):
        chain = clone(build_chain(LESSON))
        assert chain.names == ["upper_median_fill", "mean_target_code", "root_gain_select"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"step": "sklearn.impute.SimpleImputr"}, "did you mean 'SimpleImputer'"),
        ({"step": "sklearn.no_such.Thing"}, "'sklearn.no_such' cannot be imported"),
        ({"step": "sklearn.linear_model.LogisticRegression"}, "fit, transform"),
        ({"step": "sklearn.impute.SimpleImputer", "columns": "numerical"}, "numeric, categorical"),
        (
            {"step": "sklearn.impute.SimpleImputer", "params": {"stratgy": "mean"}},
            "did you mean 'strategy'",
        ),
        (
            {
                "step": "sklearn.preprocessing.FunctionTransformer",
                "params": {"func": {"function": "numpy.absolut"}},
            },
            "did you mean 'absolute'",
        ),
    ],
)
def test_a_step_that_cannot_be_made_is_named_with_what_is_near(step, message):
    with pytest.raises(InputError, match=message) as caught:
        build_chain([step])
    assert str(caught.value).startswith("preparation step 1")


def test_a_column_that_is_not_there_is_named_with_what_is_near():
    chain = build_chain([{"step": "sklearn.impute.SimpleImputer", "columns": ["satisfction"]}])
    with pytest.raises(InputError, match=r"step 'simple_imputer' .* 'satisfaction'"):
        chain.fit(frame(satisfaction=[1.0], age=[2.0]))


def test_a_step_that_cannot_learn_from_its_columns_says_which():
    chain = build_chain([{"step": "sklearn.preprocessing.StandardScaler", "columns": ["city"]}])
    with pytest.raises(InputError, match=r"'standard_scaler' .* cannot learn from column 'city'"):
        chain.fit(frame(city=["Ankara", "Izmir"]))


def test_a_new_column_must_not_hide_one_that_passes_through():
    step = ColumnStep(MeanTargetCode(names={"code": "age"}), ["code"], name="code")
    with pytest.raises(InputError, match="makes a column 'age', but the table has one"):
        step.fit_transform(frame(code=[1, 2], age=[3, 4]), [0, 1])


def test_text_that_reaches_the_model_is_named():
    with pytest.raises(InputError, match=r"'city' still holds text .*OneHotEncoder"):
        check_numbers(frame(age=[1.0], city=["Ankara"]))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([{"step": "a.B", "columns": "numerc"}], "did you mean 'numeric'"),
        ([{"step": "a.B", "columns": []}], "give a list of columns"),
        ([{"step": "a.B", "columns": ["x", "x"]}], "column 'x' is named twice"),
        ([{"step": "a.B", "name": "n"}, {"step": "a.C", "name": "n"}], "two steps are named 'n'"),
        ([{"step": "Imputer"}], "pattern"),
        ([{"step": "a.B", "colums": ["x"]}], "Extra inputs"),
    ],
)
def test_a_section_with_a_mistake_is_refused(steps, message):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(Preparation).validate_python(steps)


@pytest.mark.parametrize(("seed", "candidates"), [(20260218, 1400), (7, 600)])
def test_the_lessons_chain_prepares_every_row_as_the_oracle_does(seed, candidates):
    columns = generate_subscribers(seed=seed, candidates=candidates)
    rows = oracle_table.generate(seed, candidates)
    half = len(rows) // 2
    expected = oracle.Chain().fit(rows[:half])
    names = [c for c in oracle.CHAIN_COLUMNS if c != "tariff_target"] + ["tariff_code"]
    table, y = to_frame(columns, names), columns["suspicious"]
    chain = build_chain(LESSON).fit(table[:half], y[:half])
    prepared = chain.transform(table)
    assert list(prepared.columns) == expected.selection.kept
    for name in prepared.columns:
        assert prepared[name].tolist() == [row[name] for row in expected.prepare(rows)]
