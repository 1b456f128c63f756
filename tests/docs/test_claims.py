"""Every numbered equation of the five sources has its row, and no claim is without a test."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import dalembert as da

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from claims import LAST, MARK, Row, rows, with_claims
from shown_lines import lines

ROWS = rows()


def test_every_numbered_equation_has_one_row():
    for key, last in LAST.items():
        numbered = sorted(n for row in ROWS if row.key == key for n in row.numbers)
        assert list(range(1, int(last.rpartition(".")[2]) + 1)) == numbered, key


def test_kinds_are_the_four_there_are():
    assert {"definition", "claim", "law", "figure absent"} == {row.kind for row in ROWS}


def shown_calls(row):
    """The calls that print a line with one of the row's numbers."""
    return {x.python_call for x in lines() if x.key == row.key and row.shares_number(x.number)}


def test_the_call_of_every_claim_prints_a_line_with_it():
    """tests/docs/test_shown_lines.py checks that the lines are printed."""
    claims = [row for row in ROWS if row.kind == "claim"]
    assert len(claims) > 100
    assert [] == [row for row in claims if row.call not in shown_calls(row)]


def test_a_claim_whose_call_does_not_show_it_is_noticed():
    row = next(row for row in ROWS if row.kind == "claim" and row.call.startswith("da.maggi"))
    assert replace(row, call="da.gauss(s).explain()").call not in shown_calls(row)


def test_few_claims_are_laws_that_only_a_test_shows():
    laws = [row for row in ROWS if row.kind == "law"]
    assert len(laws) <= 14
    assert all(row.is_tested for row in laws)


def test_no_claim_is_without_a_call_and_a_test():
    assert [] == [row for row in ROWS if row.kind == "claim" and not (row.call and row.is_tested)]
    assert [] == [row for row in ROWS if row.test and not row.is_tested]


def test_a_test_that_is_not_there_is_noticed():
    assert not Row(
        "Bar00", "1", "claim", "", "da.kane(s)", "books/mei85/test_ch07.py::test_nothing"
    ).is_tested


def test_the_calls_are_public_names():
    called = {
        row.call.partition("(")[0].removeprefix("da.") for row in ROWS if row.call.startswith("da.")
    }
    assert set() == called - set(da.__all__)


def test_the_page_shows_them():
    shown = with_claims(f"before\n{MARK}\nafter")
    assert all(f"### {key}\n" in shown for key in LAST)
    assert "| 4.46–4.50 | claim |" in shown
