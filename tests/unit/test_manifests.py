"""Rows used to fit, to calibrate and to evaluate are disjoint, unless somebody says why not."""

from typing import Any

import numpy as np
import pytest

from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.manifests import check_overlap
from kalibre.scores import Scores

DECLARED = [{"stages": ["evaluate", "fit"], "part": "train", "reason": "shown on purpose"}]


def scores(*, fitted: list[int] = (), calibrated: list[int] = ()) -> Scores:
    """Six rows, of which a model and a calibrator have learned from those named."""
    rows = np.arange(6)
    return Scores(
        row=rows,
        part=Categories.of(["train"] * 3 + ["test"] * 3),
        outcome=(rows % 2).astype(np.int8),
        probability=np.full(6, 0.5),
        logit=np.zeros(6),
        uncalibrated_logit=np.zeros(6),
        fitted=np.isin(rows, fitted),
        calibrated=np.isin(rows, calibrated),
    )


def check(given: Scores, part: str, *, stage: str = "evaluate", declared: Any = ()) -> tuple:
    return check_overlap(given, given.in_parts([part]), stage=stage, part=part, declared=declared)


def test_rows_that_no_stage_learned_from_may_be_used():
    assert check(scores(fitted=[0, 1, 2]), "test") == ()


def test_a_planted_overlap_is_caught_with_the_stages_and_the_number_of_rows():
    with pytest.raises(InputError, match="2 of 3 rows of part 'test' are used both to fit and"):
        check(scores(fitted=[0, 3, 5]), "test")


def test_the_message_says_how_to_declare_it():
    expected = r"declared_overlap: \[\{stages: \[fit, evaluate\], part: test, reason: \.\.\.\}\]"
    with pytest.raises(InputError, match=expected):
        check(scores(fitted=[3]), "test")


def test_rows_a_calibrator_learned_from_are_not_measured():
    with pytest.raises(InputError, match=r"1 of 3 rows .* both to calibrate and to evaluate"):
        check(scores(calibrated=[4]), "test")


def test_rows_a_model_learned_from_are_not_calibrated_on():
    with pytest.raises(InputError, match="both to fit and to calibrate"):
        check(scores(fitted=[4]), "test", stage="calibrate")


def test_a_second_calibrator_may_learn_from_the_first_ones_rows():
    assert check(scores(calibrated=[4]), "test", stage="calibrate") == ()


def test_a_declared_overlap_is_allowed_and_said_with_its_reason():
    assert check(scores(fitted=[0, 1]), "train", declared=DECLARED) == (
        "2 rows of part train used to fit and to evaluate: shown on purpose",
    )


def test_a_declared_overlap_that_does_not_occur_is_not_said():
    assert check(scores(), "train", declared=DECLARED) == ()


@pytest.mark.parametrize(
    "other",
    [
        {"stages": ["fit", "calibrate"], "part": "train", "reason": "another stage"},
        {"stages": ["fit", "evaluate"], "part": "test", "reason": "another part"},
    ],
)
def test_a_declaration_covers_its_own_stages_and_part_only(other: dict[str, Any]):
    with pytest.raises(InputError):
        check(scores(fitted=[0]), "train", declared=[other])


def test_each_of_two_overlaps_needs_its_declaration():
    both = scores(fitted=[0], calibrated=[1])
    with pytest.raises(InputError, match="both to calibrate and to evaluate"):
        check(both, "train", declared=DECLARED)
    second = {"stages": ["calibrate", "evaluate"], "part": "train", "reason": "too"}
    assert len(check(both, "train", declared=[*DECLARED, second])) == 2
