"""The ledger: where each printed figure is found, and whether the measurement prints the same."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.errors import InputError
from kalibre.files import read_csv
from kalibre.ledger import (
    LedgerError,
    agrees,
    check_claims,
    compare,
    figures,
    measure,
    paths,
    published_text,
    values,
)

ROOT = Path(__file__).parents[2]
VALUES: dict[str, float | int | None] = {
    "a/x": 6,
    "a/y": 2.5,
    "a/zero": 0,
    "a/minus": -4.0,
    "a/null": None,
    "evaluate/linear/none/test/confidence_above_0.99/count": 149,
    "settings/repeats/first-seed": 7,
}


# ---- expressions


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("3", 3),
        ("0.25", 0.25),
        ("1e-6", 1e-6),
        ("1.5E+2", 150),
        ("a/x", 6),
        ("evaluate/linear/none/test/confidence_above_0.99/count", 149),
        ("settings/repeats/first-seed", 7),
        ("a/x + a/y", 8.5),
        ("a/x - a/y", 3.5),
        ("a/x * a/y", 15),
        ("a/x / a/y", 2.4),
        ("-a/x", -6),
        ("- a/x", -6),
        ("--3", 3),
        ("abs(a/minus)", 4),
        ("max(a/x, a/y)", 6),
        ("min(a/x, a/y, 1)", 1),
        ("max(abs(a/minus), a/y) + 1", 5),
        ("(a/x + a/y) / 2", 4.25),
    ],
)
def test_an_expression_is_a_number_a_path_or_arithmetic_on_these(expression: str, value: float):
    assert measure(expression, VALUES) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("24 / 4 / 2", 3),
        ("24 / 4 * 2", 12),
        ("2 - -3 * 2", 8),
        ("-2 * 3 + 1", -5),
        ("1 - (2 - (3 - 4))", -2),
    ],
)
def test_products_bind_before_sums_and_both_go_from_left_to_right(expression: str, value: float):
    assert measure(expression, {}) == value


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(-99, 99)), max_size=8))
def test_it_counts_as_arithmetic_does(steps: list[tuple[str, int]]):
    expression = "1" + "".join(f" {sign} {number}" for sign, number in steps)
    assert measure(expression, {}) == eval(expression)


@pytest.mark.parametrize("expression", ["  a/x+ a/y ", "a/x +a/y", "( a/x + a/y )", "a/x\t+\ta/y"])
def test_spaces_around_signs_do_not_matter(expression: str):
    assert measure(expression, VALUES) == 8.5


def test_a_slash_without_spaces_belongs_to_a_path():
    assert paths("a/x / a/y") == ["a/x", "a/y"]
    assert paths("a/x/a/y") == ["a/x/a/y"]


def test_the_paths_of_an_expression_are_all_it_hangs_on():
    assert paths("max(a/x, 2) - abs(b/c) * 3") == ["a/x", "b/c"]


@pytest.mark.parametrize("expression", ["a/null", "no/such/path", "a/x + a/null", "abs(a/null)"])
def test_what_hangs_on_a_path_without_a_value_has_none(expression: str):
    assert measure(expression, VALUES) is None


def test_a_division_by_zero_has_no_value():
    assert measure("a/x / a/zero", VALUES) is None
    assert measure("1 + a/x / a/zero", VALUES) is None


@pytest.mark.parametrize("expression", ["1e999", "1e300 * 1e300", "1e999 - 1e999"])
def test_what_is_too_large_for_a_number_has_no_value(expression: str):
    assert measure(expression, VALUES) is None


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        "a/x +",
        "+ a/x",
        "a/x a/y",
        "(a/x",
        "a/x)",
        "()",
        "abs a/x",
        "abs()",
        "abs(a/x",
        "abs(a/x, a/y)",
        "max(a/x)",
        "max(a/x,)",
        "sqrt(a/x)",
        "a",
        "a/",
        "/a",
        "a//x",
        "a/x ** 2",
        "a/x % 2",
        "a/x == 6",
        "1.2.3",
        "1e",
        "nan",
        "'a/x'",
        "a/x; a/y",
        "[1]",
        "lambda: 1",
        "__import__('os').getcwd()",
        "(1).__class__",
    ],
)
def test_anything_else_cannot_be_read(expression: str):
    with pytest.raises(LedgerError):
        measure(expression, VALUES)


@given(st.text(max_size=30))
def test_text_is_parsed_and_never_run(text: str):
    """Whatever it is: a number, no value, or an error of the ledger."""
    try:
        value = measure(text, VALUES)
    except LedgerError:
        return
    assert value is None or math.isfinite(value)


def test_a_mistake_in_the_ledger_names_the_figure_and_what_stands_there():
    row = figure(id="trivia/x", metric="a/x +")
    with pytest.raises(InputError, match=r"trivia/x: metric 'a/x \+': the expression ends"):
        compare([row], {"trivia": VALUES})


# ---- printed digits


@pytest.mark.parametrize(
    ("printed", "measured", "decimals"),
    [
        ("0.0242", 0.02424999, 4),
        ("+0.0136", 0.01361, 4),
        ("-0.1302", -0.13018, 4),
        ("0.0000", -0.00001, 4),
        ("-0.0000", 0.0, 4),
        ("0.00", -0.0, 2),
        ("252", 252, 0),
        ("3.0", 3, 1),
        ("-0", 0.4, 0),
    ],
)
def test_a_measurement_agrees_when_it_prints_the_same(printed: str, measured: float, decimals: int):
    assert agrees(printed, measured, decimals)


@pytest.mark.parametrize(
    ("printed", "measured", "decimals"),
    [
        ("0.0242", 0.02425001, 4),
        ("+0.0136", -0.0136, 4),
        ("0.0000", -0.00006, 4),
        ("252", 252.6, 0),
        ("0.25", 0.2449, 2),
    ],
)
def test_a_measurement_that_prints_otherwise_differs(printed: str, measured: float, decimals: int):
    assert not agrees(printed, measured, decimals)


# Halves are printed as Python prints them: to the even digit, where the double is the half itself.
def test_a_half_is_rounded_as_the_pages_code_rounds_it():
    assert agrees("0.12", 0.125, 2)
    assert agrees("0.38", 0.375, 2)


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_every_number_agrees_with_its_own_print(number: float, decimals: int):
    assert agrees(f"{number:.{decimals}f}", number, decimals)
    assert agrees(f"{number:+.{decimals}f}", number, decimals)


# ---- a lesson's figures


def figure(**cells: str) -> dict[str, str]:
    """A row of the ledger."""
    row = {
        "id": "trivia/x",
        "lesson": "trivia",
        "printed": "6.0",
        "decimals": "1",
        "what": "An x.",
        "expectation": "exact",
        "note": "",
        "metric": "a/x",
    }
    return row | cells


def compared(measured: Mapping[str, Any] | None = None, **cells: str) -> dict[str, Any]:
    lessons = {"trivia": VALUES if measured is None else measured}
    (row,) = compare([figure(**cells)], lessons)
    return row


def test_a_lesson_that_the_ledger_does_not_have_is_named():
    with pytest.raises(InputError, match=r"lesson: found 'triva'.* did you mean 'trivia'"):
        figures([{"id": "1", "lesson": "trivia", "printed": "1"}], "triva", {})


def test_a_lessons_figures_are_its_own_in_the_order_of_the_ledger():
    ledger = [figure(id="trivia/b"), figure(lesson="spam"), figure(id="trivia/a", metric="")]
    assert figures(ledger, "trivia", VALUES) == [
        {"id": "trivia/b", "printed": "6.0", "measured": 6.0},
        {"id": "trivia/a", "printed": "6.0", "measured": None},
    ]


def test_a_figure_that_prints_the_same_matches():
    row = compared(printed="6.1", metric="a/x + 0.06")
    assert row["status"] == "match"
    assert row["measured"] == pytest.approx(6.06)
    assert row["difference"] == pytest.approx(-0.04)


@pytest.mark.parametrize("expectation", ["exact", "inferred"])
@pytest.mark.parametrize("cells", [{"printed": "6.2"}, {"metric": "a/null"}, {"metric": ""}])
def test_a_figure_that_prints_otherwise_or_is_not_measured_differs(
    expectation: str, cells: dict[str, str]
):
    assert compared(expectation=expectation, **cells)["status"] == "differs"


@pytest.mark.parametrize("printed", ["6.0", "9.9"])
def test_an_open_figure_stays_open_with_its_measurement_beside_it(printed: str):
    row = compared(expectation="open", printed=printed)
    assert row["status"] == "open"
    assert row["measured"] == 6
    assert row["difference"] == pytest.approx(6 - float(printed))


def test_an_open_figure_needs_no_measurement():
    row = compared(expectation="open", metric="")
    assert (row["status"], row["measured"], row["difference"]) == ("open", None, None)


def test_a_lesson_without_an_experiment_is_absent():
    (row,) = compare([figure()], {"spam": VALUES})
    assert (row["status"], row["measured"], row["difference"]) == ("absent", None, None)


# ---- claims in words


def claim(relation: str, bound: str, **cells: str) -> dict[str, str]:
    row = {"id": "trivia/claim", "lesson": "trivia", "what": "", "expectation": "exact"}
    return row | {"relation": relation, "bound": bound, "metric": "a/x"} | cells


@pytest.mark.parametrize(
    ("relation", "bound", "status"),
    [
        (">", "5", "holds"),
        (">", "6", "fails"),
        ("<", "6.5", "holds"),
        ("<", "6", "fails"),
        ("=", "6", "holds"),
        ("=", "7", "fails"),
        ("about", "7", "holds"),
        ("about", "9", "fails"),
        ("rounds", "6.00", "holds"),
        ("rounds", "6.01", "fails"),
    ],
)
def test_a_claim_holds_when_the_measurement_stands_so_to_its_bound(
    relation: str, bound: str, status: str
):
    (row,) = check_claims([claim(relation, bound)], {"trivia": VALUES})
    assert (row["status"], row["measured"]) == (status, 6.0)


def test_a_claim_that_is_not_measured_fails():
    (row,) = check_claims([claim(">", "0", metric="a/null")], {"trivia": VALUES})
    assert row["status"] == "fails"


def test_an_open_claim_is_not_judged_and_a_missing_lesson_is_absent():
    rows = check_claims(
        [claim(">", "99", expectation="open"), claim(">", "1", lesson="spam")], {"trivia": VALUES}
    )
    assert [row["status"] for row in rows] == ["open", "absent"]


# ---- what an expression may name


def test_settings_are_named_under_settings_and_only_numbers_are():
    found = values({"a/x": 1.5, "a/null": None}, {"data/seed": 7, "title": "T", "data/gone": None})
    assert found == {"a/x": 1.5, "a/null": None, "settings/data/seed": 7}


# ---- the table people read


def printed_rows(*statuses: str) -> list[dict[str, str]]:
    return [
        {
            "id": f"trivia/{i}",
            "lesson": "trivia",
            "printed": "0.25",
            "measured": "0.26",
            "status": s,
        }
        for i, s in enumerate(statuses)
    ]


def test_the_table_counts_each_lessons_figures_by_their_status():
    text, differing = published_text(printed_rows("match", "match", "open"), [])
    assert text.splitlines()[0].split() == ["lesson", "match", "differs", "open", "absent"]
    assert text.splitlines()[1].split() == ["trivia", "2", "0", "1", "0"]
    assert differing == 0


def test_a_figure_that_differs_is_named_with_both_numbers():
    text, differing = published_text(printed_rows("match", "differs"), [])
    assert "trivia/1: published 0.25, measured 0.26" in text.splitlines()
    assert differing == 1


def test_a_figure_that_is_not_measured_is_said_so():
    rows = [printed_rows("differs")[0] | {"measured": ""}]
    assert "trivia/0: published 0.25, measured nothing" in published_text(rows, [])[0]


def test_claims_are_counted_and_those_that_fail_are_named():
    claims = [
        claim(">", "5") | {"status": "holds", "measured": "6.0"},
        claim("<", "5") | {"status": "fails", "measured": "6.0"},
    ]
    text, differing = published_text([], claims)
    assert "claims in words: 1 holds, 1 fails, 0 open, 0 absent" in text
    assert "trivia/claim: published < 5, measured 6.0" in text
    assert differing == 1


# ---- the ledger itself


@pytest.mark.parametrize("file", ["published.csv", "claims.csv"])
def test_every_expression_of_the_ledger_can_be_read(file: str):
    for row in read_csv(ROOT / "config" / file):
        if row["metric"]:
            measure(row["metric"], {})


def test_a_figure_has_one_row():
    for file in ("published.csv", "claims.csv"):
        ids = [row["id"] for row in read_csv(ROOT / "config" / file)]
        assert len(ids) == len(set(ids))


def test_a_printed_figure_has_as_many_decimals_as_the_ledger_says():
    for row in read_csv(ROOT / "config/published.csv"):
        assert len(row["printed"].partition(".")[2]) == int(row["decimals"]), row["id"]
