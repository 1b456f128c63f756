"""Bar00 table 1, for any system."""

import pytest

from dalembert import gallery
from dalembert.errors import NotApplicable
from dalembert.mechanics.agreement.comparison import APPROACHES, COLUMNS, comparison
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from report.test_vector_frames import spelled


@pytest.fixture(scope="module")
def table():
    return comparison(gallery.build("vehicle"))


def names(routes):
    return {r.principle.name for r in routes}


def test_every_cell_holds_what_is_printed_there(table):
    printed = {
        ("vector", "q̇"): {"dalembert"},
        # the fundamental equations (29), (30), which Kane's equations and Jourdain's principle both
        # are
        ("vector", "u"): {"kane", "jourdain"},
        ("scalar", "q̇"): {"lagrange"},
        ("scalar", "u"): {"gibbs-appell", "boltzmann-hamel", "maggi"},
    }
    for (approach, variables), expected in printed.items():
        assert expected <= names(table.cell(approach, variables))


def test_gauss_stands_in_both_rows_and_every_other_principle_once(table):
    cells = [table.cell(a, v) for a in APPROACHES for v in COLUMNS]
    places = {p.name: sum(p.name in names(cell) for cell in cells) for p, _ in PRINCIPLES}
    assert {p.name: 2 if p.name == "gauss" else 1 for p, _ in PRINCIPLES} == places


def test_the_effort_is_measured(table):
    assert [p.name for p, _ in PRINCIPLES] == [r.principle.name for r in table.routes]
    assert all(r.operations > 0 and r.seconds > 0 and r.unknowns > 0 for r in table.routes)


def test_the_effort_does_not_depend_on_how_speeds_are_typed():
    first, second = (comparison(spelled(how)) for how in ("vector", "angles"))
    sizes = [
        [(r.equations, r.unknowns, r.operations, r.reduced_operations) for r in c.routes]
        for c in (first, second)
    ]
    assert sizes[0] == sizes[1]


def test_equations_and_unknowns_of_the_vehicle(table):
    by_name = {r.principle.name: (r.equations, r.unknowns) for r in table.routes}
    # Bar00 (53) with (46); (55) in three accelerations; (50)
    assert (4, 4) == by_name["lagrange"]
    assert (2, 3) == by_name["maggi"]
    assert (2, 2) == by_name["kane"] == by_name["boltzmann-hamel"]
    assert 1 == len({r.reduced_operations for r in table.routes})


def test_it_reads_as_a_table(table):
    text = str(table)
    assert "generalized velocities" in text
    assert "generalized speeds" in text
    assert text.count("Gauss's least constraint") >= 2
    assert max(map(len, text.splitlines())) < 140


def test_it_names_the_smallest_and_the_quickest(table):
    assert f"({min(r.operations for r in table.routes)})" in table.statement
    assert "derived fastest" in table.statement


def test_a_principle_that_does_not_apply_says_why():
    def refuse(kin):
        msg = "it needs a potential for every load"
        raise NotApplicable(msg)

    table = comparison(gallery.build("vehicle"), [PRINCIPLES[0], (PRINCIPLES[1][0], refuse)])
    assert [True, False] == [r.applicable for r in table.routes]
    assert "Newton–Euler equations does not apply: it needs a potential for every load" in str(
        table
    )
