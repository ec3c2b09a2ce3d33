"""Click and slide as a person does, and read the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from browser.conftest import PHONE, Opened
from browser.made import biopsy
from kalibre.logits import expit
from kalibre.metrics.proper import brier_score
from kalibre.metrics.ranking import Level, count_at_level, mean_confidence
from kalibre.metrics.reliability import expected_calibration_error

Show = Callable[..., Opened]


def check(page: Opened, name: str) -> None:
    """Choose a radio button by what it says."""
    page.page.get_by_role("radio", name=name, exact=True).check(force=True)


# Single predictions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "ece", "brier"),
    [("overconfident", "0.420", "0.432"), ("calibrated", "0.040", "0.172")],
)
def test_presets_give_the_lessons_numbers(
    show: Show, trivia_page: Path, preset: str, ece: str, brier: str
) -> None:
    page = show(trivia_page)
    check(page, preset)
    assert page.shown("ece") == ece
    assert page.shown("brier") == brier
    assert page.shown("mean_probability") == "0.820"


def test_a_click_flips_an_answer_and_the_numbers_follow(show: Show, trivia_page: Path) -> None:
    page = show(trivia_page)
    check(page, "overconfident")
    chips = page.page.locator(".chip")
    assert chips.count() == 10
    for place in (1, 4, 6, 9):
        assert chips.nth(place).get_attribute("aria-pressed") == "false"
        chips.nth(place).click()
        assert chips.nth(place).get_attribute("aria-pressed") == "true"
    # These four make of the one model's answers the other's.
    assert page.number("ece") == pytest.approx(0.04, abs=1e-9)
    assert page.number("brier") == pytest.approx(0.172, abs=1e-9)
    assert page.page.locator(".diagram .ghost").count() == 3


def test_an_answer_flips_by_the_keyboard(show: Show, trivia_page: Path) -> None:
    page = show(trivia_page)
    before = page.number("brier")
    page.page.locator(".chip").first.focus()
    page.page.keyboard.press("Space")
    assert page.number("brier") != before
    page.page.keyboard.press("Enter")
    assert page.number("brier") == before


def test_start_again_brings_the_preset_back(show: Show, trivia_page: Path) -> None:
    page = show(trivia_page)
    check(page, "calibrated")
    page.page.locator(".chip").nth(2).click()
    assert page.shown("ece") != "0.040"
    page.page.get_by_role("button", name="Start again").click()
    assert page.shown("ece") == "0.040"


def test_other_bins_give_another_ece(show: Show, trivia_page: Path) -> None:
    page = show(trivia_page)
    check(page, "calibrated")
    check(page, "stated")
    assert page.shown("ece") == "0.260"


def test_predictions_outside_the_bins_have_no_ece_and_the_lab_says_why(
    show: Show, trivia_page: Path
) -> None:
    page = show(trivia_page)
    check(page, "constant half")
    assert page.shown("ece") == "–"
    assert "10 of 10 lie outside" in page.page.locator("[data-note='ece']").inner_text()
    assert page.shown("brier") == "0.250"


def test_always_right_never_sure(show: Show, trivia_page: Path) -> None:
    page = show(trivia_page)
    slider = page.page.get_by_label("stated each time")
    eces = []
    for stated in (1.0, 0.9, 0.75, 0.5):
        slider.fill(str(stated))
        assert page.shown("sure/accuracy") == "1.000"
        assert page.number("sure/ece") == pytest.approx(1 - stated, abs=1e-9)
        assert page.number("sure/brier") == pytest.approx((1 - stated) ** 2, abs=1e-9)
        eces.append(page.number("sure/ece"))
    assert eces == sorted(eces)


# One number --------------------------------------------------------------------------------------------


def expected(model: str, temperature: float) -> dict[str, float]:
    """What Python measures of a model's rows at a temperature."""
    made = biopsy()
    place = [m["model"] for m in made.models].index(model)
    outcome = np.asarray(made.scores[place]["outcome"])
    probability = expit(np.asarray(made.scores[place]["logit"]) / temperature)
    above = count_at_level(outcome, probability, level=Level("confidence", above=0.99))
    return {
        "ece": expected_calibration_error(outcome, probability, bins=10),
        "brier": brier_score(outcome, probability),
        "mean_confidence": mean_confidence(outcome, probability),
        "above/count": above.count,
        "above/errors": above.errors,
    }


def learned(model: str) -> float:
    """The temperature that was learned."""
    for record in biopsy().material.of_rule("calibrate"):
        if record["subject"]["model"] == model:
            return float(record["metrics"]["temperature"])
    raise AssertionError(model)


def assert_shows(page: Opened, model: str, temperature: float) -> None:
    for reading, value in expected(model, temperature).items():
        assert page.number(reading) == pytest.approx(value, abs=1e-9), reading


@pytest.mark.parametrize("model", ["naive_bayes", "logistic"])
def test_calibration_off_and_on_is_what_python_measures(
    show: Show, biopsy_page: Path, model: str
) -> None:
    page = show(biopsy_page)
    check(page, model.replace("_", " "))
    assert_shows(page, model, 1.0)
    check(page, f"on (T = {learned(model):.2f})")
    assert page.number("temperature") == learned(model)
    assert_shows(page, model, learned(model))


def test_the_slider_sets_any_temperature(show: Show, biopsy_page: Path) -> None:
    page = show(biopsy_page)
    slider = page.page.get_by_label("your own T")
    for position in (-1.5, 0.0, 0.7, 2.9):
        slider.fill(str(position))
        assert page.number("temperature") == pytest.approx(np.exp(position), rel=1e-3)
        assert_shows(page, "naive_bayes", page.number("temperature"))


def test_order_and_decisions_stay_and_the_lab_says_so(show: Show, biopsy_page: Path) -> None:
    page = show(biopsy_page)
    slider = page.page.get_by_label("your own T")
    area, right = page.number("roc_auc"), page.number("accuracy")
    for position in (-2.9, -0.4, 1.3, 2.9):
        slider.fill(str(position))
        assert page.number("roc_auc") == area
        assert page.number("accuracy") == right
        assert page.number("decisions_changed") == 0
    said = page.page.locator(".stays").inner_text()
    assert "0 of 171 decisions changed" in said
    assert f"ROC AUC stays {area:.4f}" in said


def test_the_slider_moves_by_the_keyboard(show: Show, biopsy_page: Path) -> None:
    page = show(biopsy_page)
    slider = page.page.get_by_label("your own T")
    slider.focus()
    for _ in range(5):
        page.page.keyboard.press("ArrowRight")
    assert page.number("temperature") > 1
    assert slider.get_attribute("aria-valuetext") == page.shown("temperature")


def test_another_model_keeps_calibration_on(show: Show, biopsy_page: Path) -> None:
    page = show(biopsy_page)
    check(page, f"on (T = {learned('naive_bayes'):.2f})")
    check(page, "logistic")
    assert page.number("temperature") == learned("logistic")


@pytest.mark.parametrize("lab", ["trivia_page", "biopsy_page"])
def test_labs_answer_on_a_phone(show: Show, request: pytest.FixtureRequest, lab: str) -> None:
    page = show(request.getfixturevalue(lab), PHONE)
    before = page.page.locator(".diagram").get_attribute("aria-label")
    if lab == "trivia_page":
        page.page.locator(".chip").first.click()
    else:
        page.page.get_by_label("your own T").fill("1.2")
    assert page.page.locator(".diagram").get_attribute("aria-label") != before
