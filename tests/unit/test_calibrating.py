"""The stage `calibrate`: one map, learned on the rows it names and applied to every row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kalibre.calibrating import calibrate
from kalibre.calibrators.registry import make_calibrator
from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.logits import expit
from kalibre.manifests import check_overlap
from kalibre.records import manifest
from kalibre.scores import Scores

ROWS = 200


def scores(**parts: Any) -> Scores:
    """Overconfident scores: logits three times too large. The first half is the model's own."""
    draws = np.random.default_rng(3)
    true = draws.normal(size=ROWS)
    z = 3.0 * true
    filled: dict[str, Any] = {
        "row": np.arange(ROWS)[::-1].copy(),
        "part": Categories.of(["train"] * 100 + ["calibration"] * 50 + ["test"] * 50),
        "outcome": (draws.random(ROWS) < expit(true)).astype(np.int8),
        "probability": expit(z),
        "logit": z,
        "uncalibrated_logit": z,
        "fitted": np.arange(ROWS) < 100,
        "calibrated": np.zeros(ROWS, dtype=bool),
    }
    return Scores(**(filled | parts))


def calibrated(given: Scores | None = None, **settings: Any):
    filled = {"method": "temperature", "params": {}, "learn_on": "calibration", "declared": []}
    return calibrate(given or scores(), **(filled | settings))


def test_it_learns_from_the_named_part_alone():
    before = scores()
    shuffled = before.outcome.copy()
    shuffled[~before.in_parts(["calibration"])] ^= 1
    _, one, _ = calibrated(before)
    _, other, _ = calibrated(scores(outcome=shuffled))
    assert one == other


def test_it_is_applied_to_every_row():
    before = scores()
    after, learned, _ = calibrated(before)
    assert len(after) == len(before)
    np.testing.assert_allclose(after.logit, before.logit / learned["temperature"], rtol=1e-12)
    np.testing.assert_allclose(after.probability, expit(after.logit), atol=1e-15)


def test_it_undoes_what_was_overconfident():
    _, learned, _ = calibrated()
    assert learned["temperature"] > 1.5


def test_the_rows_it_learned_from_are_marked_and_said():
    before = scores()
    chosen = before.in_parts(["calibration"])
    after, _, result = calibrated(before)
    assert after.calibrated.tolist() == chosen.tolist()
    assert result.rows["learned"] == manifest(before.row[chosen])
    assert result.metrics["learned_rows"] == 50


def test_the_models_own_logit_and_manifest_travel_on():
    before = scores()
    after, _, _ = calibrated(before)
    assert after.uncalibrated_logit.tolist() == before.logit.tolist()
    assert after.fitted.tolist() == before.fitted.tolist()


def test_what_it_learned_is_a_metric_and_is_written_down():
    _, learned, result = calibrated(method="logistic_descent")
    assert learned["method"] == "logistic_descent"
    assert result.metrics["slope"] == learned["slope"]
    assert result.metrics["intercept"] == learned["intercept"]


def test_the_settings_are_said_with_their_defaults():
    _, _, result = calibrated(method="logistic_descent")
    assert result.params["method"] == "logistic_descent"
    assert result.params["learn_on"] == "calibration"
    assert result.params["params"]["rounds"] == 600
    assert result.params["params"]["step"] == 0.5


def test_a_fixed_map_learns_from_no_row():
    after, _, result = calibrated(method="sharpen", params={"power": 3.0}, learn_on=None)
    np.testing.assert_allclose(after.logit, 3 * scores().logit)
    assert not after.calibrated.any()
    assert result.rows == {}
    assert "learned_rows" not in result.metrics


def test_rows_the_model_learned_from_are_refused():
    with pytest.raises(InputError, match="100 of 100 rows of part 'train' are used both to fit"):
        calibrated(learn_on="train")


def test_a_declared_overlap_is_learned_from_and_said():
    declared = [{"stages": ["fit", "calibrate"], "part": "train", "reason": "shown on purpose"}]
    _, _, result = calibrated(learn_on="train", declared=declared)
    assert "100 rows of part train used to fit and to calibrate: shown on purpose" in result.notes


def test_a_part_without_rows_is_refused_with_its_name():
    with pytest.raises(InputError, match="calibrator 'temperature' on part 'nowhere'"):
        calibrated(learn_on="nowhere")


def test_the_calibrators_warnings_reach_the_record():
    outcome = np.ones(ROWS, dtype=np.int8)
    _, _, result = calibrated(scores(outcome=outcome))
    assert any("nothing to tell apart" in note for note in result.notes)


def test_integer_weights_count_as_repeated_rows():
    before = scores()
    weight = (1 + np.arange(ROWS) % 3).astype(float)
    repeat = np.repeat(np.arange(ROWS), weight.astype(int))
    repeated = Scores(
        **{
            name: column.take(repeat) if isinstance(column, Categories) else column[repeat]
            for name, column in before.to_columns().items()
        }
    )
    _, weighted, _ = calibrated(scores(weight=weight))
    _, expected, _ = calibrated(repeated)
    assert weighted["temperature"] == pytest.approx(expected["temperature"], rel=1e-6)


# ---- out of fold


def out_of_fold(**parts: Any) -> Scores:
    """The training rows once more, less extreme, scored by models that did not learn from them."""
    own = scores().take(np.arange(ROWS) < 100)
    fresh = {"logit": own.logit / 2.0, "fitted": np.zeros(100, dtype=bool)}
    return replace(own, probability=expit(own.logit / 2.0), **(fresh | parts))


def test_out_of_fold_it_learns_from_other_scores_than_those_it_maps():
    _, learned, _ = calibrated(learn_on="out_of_fold", out_of_fold=out_of_fold())
    own = out_of_fold()
    expected = make_calibrator("temperature").fit(own.logit, own.outcome)
    assert learned == expected.to_dict()


def test_out_of_fold_the_training_rows_are_marked_as_the_calibrators_too():
    after, _, result = calibrated(learn_on="out_of_fold", out_of_fold=out_of_fold())
    assert after.calibrated.tolist() == after.fitted.tolist()
    assert result.rows["learned"] == manifest(out_of_fold().row)
    assert result.metrics["learned_rows"] == 100
    assert result.params["learn_on"] == "out_of_fold"


def test_out_of_fold_scores_of_a_model_that_knew_the_row_are_refused():
    known = out_of_fold(fitted=np.ones(100, dtype=bool))
    with pytest.raises(
        InputError, match="100 of 100 rows of part 'out_of_fold' are used both to fit"
    ):
        calibrated(learn_on="out_of_fold", out_of_fold=known)


def test_rows_calibrated_out_of_fold_are_not_measured_undeclared():
    after, _, _ = calibrated(learn_on="out_of_fold", out_of_fold=out_of_fold())
    declared = [{"stages": ["fit", "evaluate"], "part": "train", "reason": "to see"}]
    with pytest.raises(InputError, match="are used both to calibrate and to evaluate"):
        check_overlap(
            after, after.in_parts(["train"]), stage="evaluate", part="train", declared=declared
        )


def test_out_of_fold_scores_pass_through_the_calibrators_before():
    sharper = {"method": "sharpen", "power": 4.0, "notes": []}
    _, plain, _ = calibrated(learn_on="out_of_fold", out_of_fold=out_of_fold())
    _, after, _ = calibrated(learn_on="out_of_fold", out_of_fold=out_of_fold(), before=[sharper])
    assert after["temperature"] == pytest.approx(4.0 * plain["temperature"], rel=1e-9)
