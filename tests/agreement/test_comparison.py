"""Bar00 table 1, for any system."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import BadDescription, NotApplicable
from dalembert.mechanics.agreement.comparison import APPROACHES, COLUMNS, comparison
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.runtime.dynamics.principle_runs import (
    integrated_state,
    integration_effort,
    prepare_measured_run,
)
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
        [
            (r.equations, r.unknowns, r.operations, r.reduced_operations, r.evaluation)
            for r in c.routes
        ]
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


# ---- ease of integration ------------------------------------------------------------------------


def measured(system, duration=2.0, **run):
    return {e.state: e for e, _ in da.comparison(system, duration, **run).integration_efforts}


def run_of(name):
    entry = gallery.entry(name)
    return {"start": entry.start, "inputs": entry.inputs}


def test_steps_are_those_of_a_run_in_the_same_variables():
    ease = measured(gallery.build("vehicle"), **run_of("vehicle"))
    run = da.simulate(
        gallery.build("vehicle"), 2.0, rtol=1e-6, atol=1e-6, audit=False, **run_of("vehicle")
    )
    assert run.solution.steps == ease["q, u"].steps


def test_multipliers_let_the_rows_drift_and_projection_does_not():
    ease = measured(gallery.build("vehicle"), **run_of("vehicle"))
    assert {"q, u", "q, q̇, λ", "q, p, λ"} == set(ease)
    # (46) holds for every u by q̇ = W u + X
    assert ease["q, u"].violation < 1e-14
    assert ease["q, u"].projected_steps is None
    for state in ("q, q̇, λ", "q, p, λ"):
        assert 1e-12 < ease[state].violation
        assert ease[state].projected_violation < 1e-14


def test_body_components_of_the_angular_velocity_take_fewer_steps_than_rates_of_angles():
    ease = measured(gallery.build("free-body"), 10.0, **run_of("free-body"))
    assert ease["q, u"].steps < 0.8 * ease["q, q̇"].steps


def test_ease_does_not_depend_on_how_speeds_are_typed():
    values = {"m": 1.0, "I_1": 1.0, "I_2": 2.0, "I_3": 3.0}
    run = {"start": {"theta": 0.3, "w1": 1.0, "w2": 0.2, "w3": 0.5}, "values": values}
    first, second = (measured(spelled(how), **run) for how in ("vector", "angles"))
    assert {k: (e.steps, e.evaluations) for k, e in first.items()} == {
        k: (e.steps, e.evaluations) for k, e in second.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vehicle", "four-bar", "hoist"])
def test_principles_with_one_state_take_the_same_steps(name):
    system, run = gallery.build(name), run_of(name)
    motion = prepare_measured_run(system, 1.0, run["start"], {}, run["inputs"], 1e-6)
    steps = {}
    for _, derive in PRINCIPLES:
        d = derive(da.kinematics(system))
        steps.setdefault(integrated_state(d), set()).add(integration_effort(d, motion).steps)
    assert all(len(counts) == 1 for counts in steps.values()), steps


def bouncing():
    s = da.System("ball", gravity=9.81)
    ball = s.particle("ball", 1.0, s.O.offset(s.coordinate("y") * s.N.y))
    s.contact(ball.G)
    return s


def test_what_cannot_be_measured_says_why():
    with pytest.raises(NotApplicable, match="ease of integration is not measured with contacts"):
        da.comparison(bouncing(), 1.0)
    with pytest.raises(BadDescription, match="give its duration"):
        da.comparison(gallery.build("vehicle"), start={"u1": 1.0})
