"""What a page is made of, without a browser: words, markup, charts, labs, headlines, the index."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.made import Made, biopsy, everything, record, trivia
from kalibre.columns import Columns
from kalibre.logits import expit
from kalibre.metrics.proper import brier_score
from kalibre.metrics.reliability import expected_calibration_error
from kalibre.pages import labs, markup
from kalibre.pages.figure import Figure, Section
from kalibre.pages.headlines import headlines
from kalibre.pages.index import index
from kalibre.pages.inputs import lab_models, lab_scores, page_records
from kalibre.pages.ladder import rung_name
from kalibre.pages.material import Material, material_files
from kalibre.pages.page import sections
from kalibre.pages.words import bin_name, cell, counted, listed, signed
from kalibre.plan import Plan

ROOT = Path(__file__).parents[2]
MADE = {"trivia": trivia, "biopsy": biopsy, "everything": lambda: Made(everything(), [], [])}


def sections_of(made: Made) -> list[Section]:
    return list(sections(made.material, made.models, made.scores))


def figures_of(made: Made) -> list[Figure]:
    return [figure for section in sections_of(made) for figure in section.figures()]


# Words and markup ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), ("", "–"), (0.17241, "0.1724"), (3, "3"), (12345, "12,345"), (252.0, "252")],
)
def test_a_cell_shows_what_people_read(value: object, text: str) -> None:
    assert cell(value) == text


def test_a_signed_number_has_a_true_minus_and_zero_has_none() -> None:
    assert signed(-0.0123) == "\u22120.0123"
    assert signed(0.5, 1) == "+0.5"
    assert signed(-0.00001) == "0.0000"


def test_counts_and_lists_read_as_sentences() -> None:
    assert counted(1, "row", "rows") == "1 row"
    assert counted(2000, "row", "rows") == "2,000 rows"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_a_bin_is_closed_on_the_left_the_last_on_both_sides() -> None:
    assert bin_name({"lower": "0.6", "upper": "0.8"}, last=False) == "[0.6, 0.8)"
    assert bin_name({"lower": "0.8", "upper": "1.0"}, last=True) == "[0.8, 1]"
    assert bin_name({"lower": "1.0", "upper": "1.0"}, last=True) == "[1]"


class Texts(HTMLParser):
    """The texts of a piece of HTML, and the elements in it."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.feed(piece)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= dict(attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1)


@given(text=words, attribute=words)
def test_no_text_becomes_markup(text: str, attribute: str) -> None:
    read = Texts(markup.tag("p", text, title=attribute))
    assert read.tags == ["p"]
    assert "".join(read.texts) == text
    assert read.attributes == {"title": attribute}


@given(st.dictionaries(words, words))
def test_data_in_a_page_cannot_end_its_element(value: dict[str, str]) -> None:
    piece = markup.data(value)
    inside = piece.removeprefix('<script type="application/json">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == value


def test_a_table_scrolls_by_keyboard_and_says_what_it_holds() -> None:
    rows = [{"bin": "[0, 1]", "gap": 0.1}, {"bin": "[1]", "gap": None}]
    piece = markup.table(rows, {"bin": "bin", "gap": "gap"}, label="Bins")
    assert 'tabindex="0"' in piece
    assert 'aria-label="Bins"' in piece
    assert piece.count('scope="row"') == 2
    assert '<td class="number">0.1000</td>' in piece


# Charts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MADE)
def test_every_chart_is_valid_vega_lite(name: str) -> None:
    for figure in figures_of(MADE[name]()):
        # Altair's own check against the schema, which the pages leave out.
        figure.chart.properties(width=300, height=figure.height).to_dict()


@pytest.mark.parametrize("name", MADE)
def test_every_chart_has_words_and_its_own_name(name: str) -> None:
    figures = figures_of(MADE[name]())
    assert len({figure.name for figure in figures}) == len(figures) > 0
    for figure in figures:
        assert re.fullmatch(r"[A-Za-z0-9_]+", figure.name)
        assert figure.title[0].isupper() or figure.title[0].isdigit()
        assert figure.sentence.endswith(".")
        assert ". " not in re.sub(r"\d\. ", "", figure.sentence), "one sentence says what to see"


def test_a_still_picture_is_svg_and_always_the_same() -> None:
    figure = figures_of(trivia())[0]
    picture = figure.still()
    assert picture.startswith("<svg")
    assert picture == figure.still()


def test_two_pages_of_the_same_records_are_the_same() -> None:
    first, second = trivia().report(), trivia().report()
    assert first.html == second.html
    assert first.stills == second.stills


def test_a_page_names_no_address_to_load_from() -> None:
    html = Made(everything(), [], []).report().html
    page = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"""(src|href)=["']?https?:""", page)
    assert "@import" not in page
    assert "url(" not in page


# Sections ------------------------------------------------------------------------------------------------


def test_a_stage_that_is_not_there_leaves_its_section_out() -> None:
    anchors = [section.anchor for section in sections_of(trivia())]
    assert anchors[:3] == ["lab", "reliability", "scores"]
    assert not {"ladder", "decisions", "study", "gate", "learned_on"} & set(anchors)


def test_all_stages_have_a_section() -> None:
    anchors = {section.anchor for section in sections_of(MADE["everything"]())}
    wanted = {
        "reliability",
        "scores",
        "ladder",
        "decisions",
        "study",
        "leak_sheet",
        "gate",
        "printed",
    }
    assert wanted <= anchors


def test_the_study_says_how_many_rows_a_calibrator_needs_and_which_is_better() -> None:
    study = next(s for s in sections_of(MADE["everything"]()) if s.anchor == "study")
    figure = next(f for f in study.figures() if f.name == "study_rows_naive_bayes_brier")
    assert "temperature from 133 rows on" in figure.sentence
    assert [(row["calibrator"], row["rows"]) for row in figure.rows] == [
        ("beta", 20),
        ("beta", 133),
        ("temperature", 20),
        ("temperature", 133),
    ]
    assert any("beta and temperature" in str(item) for item in study.body)


def test_an_experiment_without_anything_measured_still_has_a_page() -> None:
    made = trivia()
    empty = replace(
        made, material=replace(made.material, records=[], tables={}), models=[], scores=[]
    )
    assert "Is a stated confidence kept?" in empty.report().html


def test_the_bins_in_front_are_the_fewest_but_more_than_one() -> None:
    material = trivia().material
    assert list(material.bin_rules) == ["thirds", "stated"]
    rule = {"rule": "equal_width", "edges": None}
    sizes = {"whole": {**rule, "count": 1}, "halves": {**rule, "count": 2}}
    settings = {**material.settings, "evaluation": {"bins": sizes}}
    assert Material("x", settings, []).bin_rule == "halves"


def test_rungs_are_named_by_their_steps() -> None:
    steps = ["fill", "target_code"]
    names = [rung_name(r, steps) for r in ("0_outside", "1_outside", "2_outside", "only_2_outside")]
    assert names == ["nothing outside", "fill", "+ target code", "only target code"]


def test_headlines_begin_with_what_the_experiment_is_about() -> None:
    assert headlines(trivia().material)[0].value == "0.420"
    first = headlines(everything())[0]
    assert first.value.endswith("of 30")
    assert "temperature lowers the Brier score of naive bayes" in first.label


def test_a_copy_of_a_lesson_is_not_held_against_its_page() -> None:
    made = trivia()
    figures = [{"what": "A figure.", "printed": "0.1", "measured": 0.2, "status": "differs"}]
    own = replace(made, material=made.material.beside(figures)).report().html
    assert "state differs" in own
    copied = replace(made.material, experiment="mine").beside(figures)
    copy = replace(made, material=copied).report().html
    assert "state differs" not in copy
    assert "a copy of the lesson" in copy


# Labs ----------------------------------------------------------------------------------------------------


def test_many_predictions_are_shown_evenly_along_what_is_stated() -> None:
    random = np.random.default_rng(3)
    probability = random.random(5000)
    outcome = (random.random(5000) < probability).astype(np.int8)
    chosen = labs.spread_evenly(probability, outcome)
    assert len(chosen) == labs.ANSWERS
    stated = probability[chosen]
    assert np.all(np.diff(stated) >= 0)
    np.testing.assert_allclose(stated, (np.arange(40) + 0.5) / 40, atol=0.03)


def scored(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    z = random.normal(0, 3, rows)
    return z, (random.random(rows) < expit(z / 2)).astype(np.int8)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_groups_of_neighbours_keep_the_scores(temperature: float) -> None:
    z, outcome = scored(200_000, 1)
    logit, happened, weight = labs.neighbours(z, outcome, None)
    assert len(logit) <= labs.GROUPS + 4
    whole, grouped = expit(z / temperature), expit(logit / temperature)
    assert brier_score(happened, grouped, weights=weight) == pytest.approx(
        brier_score(outcome, whole), abs=2e-4
    )
    assert expected_calibration_error(happened, grouped, weights=weight) == pytest.approx(
        expected_calibration_error(outcome, whole), abs=2e-3
    )


@given(st.integers(0, 1000), st.booleans())
def test_groups_of_neighbours_keep_rows_outcomes_and_decisions(seed: int, weighted: bool) -> None:
    z, outcome = scored(300, seed)
    z[::50] = np.inf
    weights = np.random.default_rng(seed).integers(0, 4, 300) * 1.0 if weighted else None
    logit, happened, weight = labs.neighbours(z, outcome, weights)
    count = np.ones(300) if weights is None else weights
    assert weight.sum() == pytest.approx(count.sum())
    assert (weight * happened).sum() == pytest.approx((count * outcome).sum())
    assert weight[logit >= 0].sum() == pytest.approx(count[z >= 0].sum())


def test_infinite_scores_travel_as_words_because_json_has_none() -> None:
    made = biopsy()
    columns: Columns = dict(made.scores[0])
    z = np.array(columns["logit"])
    z[0], z[1] = np.inf, -np.inf
    section = labs.temperature_section(made.material, made.models[:1], [columns | {"logit": z}])
    assert section is not None
    assert '"Infinity","-Infinity"' in str(section.body[0])


# What the rules ask --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.read(ROOT / "config/experiments", chosen="all", scripts=ROOT / "workflow/scripts")


def test_predictions_open_in_one_lab_temperatures_in_the_other(plan: Plan) -> None:
    kinds = {(lab["kind"], lab["model"]) for lab in lab_models(plan, "trivia")}
    assert ("answers", "overconfident") in kinds
    tempered = lab_models(plan, "biopsy")
    assert {lab["model"] for lab in tempered} == {"naive_bayes", "logistic"}
    assert all(lab["learned_on"] == "calibration" for lab in tempered)
    assert lab_scores(plan, "biopsy")[0] == "results/biopsy/fit_model/logistic/scores.parquet"


def test_a_page_takes_the_tables_beside_its_records(plan: Plan) -> None:
    records = page_records(plan, "folds")
    assert not [path for path in records if "report_page" in path]
    taken = material_files(records)
    assert "results/folds/measure_leak/tree/leak.csv" in taken
    assert "results/folds/summary.csv" in taken
    assert "results/folds/evaluate/tree/none/reliability.csv" in taken


def test_page_code_is_no_input_of_a_rule_that_computes(plan: Plan) -> None:
    for rule in ("make_table", "fit_model", "calibrate", "evaluate", "summarise", "join_repeats"):
        assert not [path for path in plan.code(rule) if "/pages/" in path]


# The index -----------------------------------------------------------------------------------------------


def test_the_index_says_what_differs() -> None:
    params = {"title": "A <title>", "question": "", "picture": "reliability_a_none"}
    page = record("report_page", {}, {}, params=params, experiment="mine")
    figures = [
        {
            "lesson": "trivia",
            "id": "trivia/ece",
            "status": "differs",
            "printed": "0.420",
            "measured": "0.5",
        }
    ]
    html = index([page], figures, [])
    assert "A &lt;title&gt;" in html
    assert 'href="mine/report.html"' in html
    assert 'src="mine/report_page/figures/reliability_a_none.svg"' in html
    assert "1 differ" in html
    assert "trivia/ece" in html


def test_an_index_without_lessons_has_no_ledger() -> None:
    figures = [{"lesson": "trivia", "id": "trivia/ece", "status": "absent"}]
    assert "The ledger" not in index([], figures, [])
