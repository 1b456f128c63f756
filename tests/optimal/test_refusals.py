"""Bad input: what is wrong, where, and what to do."""

import sys

import pytest

import dalembert as da
from optimal.optimal_systems import REST, UPRIGHT, block, cart_pole, pendulum

FROM, TO = {"x": 0.0, "x.dot": 0.0}, {"x": 1.0, "x.dot": 0.0}
EFFORT = {"minimize": "F**2", "start": FROM, "end": TO}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"start": FROM, "end": TO}, "nothing to minimize"),
        ({**EFFORT, "minimize": "G**2"}, "minimize: .*unknown name 'G'"),
        ({**EFFORT, "minimize": ["F"]}, "minimize: .*not an expression"),
        ({**EFFORT, "minimize": float("nan")}, "not finite"),
        ({**EFFORT, "minimize": "sqrt(-1 - F**2)"}, "the cost is not a finite number at the guess"),
        ({**EFFORT, "path": {"log(-1 - F**2)": 1}}, "log.* is not a finite number at the guess"),
        ({**EFFORT, "start": {"y": 0}}, "start: .*'y'"),
        ({**EFFORT, "bounds": {"FF": 1}}, "bounds: .*'FF'.*did you mean"),
        ({**EFFORT, "bounds": {"F": (2, 1)}}, "the lower one is larger"),
        ({**EFFORT, "bounds": {"F": (1, 2, 3)}}, "3 limits"),
        ({**EFFORT, "bounds": {"F": "many"}}, "bounds: .*not a number"),
        ({**EFFORT, "bounds": {"x": 0.5}}, "end: x = 1 lies outside its bounds"),
        ({**EFFORT, "end": {"F": 0}}, "end: F contains F, which may jump"),
        ({**EFFORT, "end": {"x": "far"}}, "end: .*not a number"),
        ({**EFFORT, "way_points": {2.0: {"x": 0}}}, "not inside the duration"),
        ({**EFFORT, "way_points": [1]}, "give times with their conditions"),
        ({**EFFORT, "held": {"G": 3}}, "'G' is not an input"),
        ({**EFFORT, "periodic": ["F"]}, "periodic: F is not a state"),
        ({**EFFORT, "parameters": {"M": (0, 1)}}, "'M' is not a constant"),
        ({**EFFORT, "guess": {"z": 1}}, "guess: 'z' is not an unknown"),
        ({**EFFORT, "guess": 3}, "guess: int is no guess"),
        ({**EFFORT, "guess": {"x": "x.dot"}}, "as a function of t alone"),
        ({**EFFORT, "order": 0}, "order=0"),
        ({**EFFORT, "intervals": 2.5}, "intervals=2.5"),
        ({**EFFORT, "tolerance": -1}, "tolerance=-1"),
        ({**EFFORT, "form": "both"}, "form='both'"),
        ({**EFFORT, "solver": "snopt"}, "choose one of pounce, ipopt"),
        ({**EFFORT, "links": [1, 2, 3]}, "3 links and 1 phases"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], text: str) -> None:
    with pytest.raises(da.DalembertError, match=text):
        da.optimize(block(), 1.0, **options)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (-1, "positive"),
        ("soon", "not a time"),
        ((2, 1), "shortest"),
        ((1, 2, 3), "pair"),
        (None, "give the duration"),
    ],
)
def test_a_wrong_duration_is_named(duration: object, text: str) -> None:
    with pytest.raises(da.DalembertError, match=text):
        da.optimize(block(), duration, **EFFORT)


@pytest.mark.filterwarnings("ignore:optimize. no solution")
def test_degrees_are_noticed() -> None:
    with pytest.warns(da.DalembertWarning, match="end: theta = 180 is in radians"):
        da.optimize(
            pendulum(),
            2.0,
            minimize="T**2",
            end={"theta": 180},
            most_iterations=1,
            intervals=2,
            audit=False,
        )


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(da.DalembertError, match="did you mean 'bounds'"):
        da.optimize(block(), 1.0, **EFFORT, bound={"F": 1})


def test_contacts_are_refused_except_as_phases() -> None:
    s = block()
    s.contact(s.bodies[0].G, s.N.x)
    with pytest.raises(da.DalembertError, match="as phases"):
        da.optimize(s, 1.0, **EFFORT)


def test_what_is_no_system_is_refused() -> None:
    with pytest.raises(da.DalembertError, match="give a System, or a list of phases"):
        da.optimize("block", 1.0, **EFFORT)
    with pytest.raises(da.DalembertError, match="belongs to a phase"):
        da.optimize([da.phase(block(), 1.0, minimize="F**2")], 1.0)


def test_end_values_that_contradict_a_constraint_are_named() -> None:
    rest = {"x.dot": 0, "X.dot": 0, "Y.dot": 0}
    with pytest.raises(
        da.DalembertError, match=r"end: .*Y = 0.3.* contradict the constraint 'bar'"
    ):
        da.optimize(
            cart_pole(cartesian=True),
            2.0,
            minimize="F**2",
            start={"x": 0, "X": 0, "Y": -0.5, **rest},
            end={"x": 1, "X": 1, "Y": 0.3, **rest},
        )


def test_a_missing_value_is_named() -> None:
    s = da.System("block")
    x, F = s.coordinate("x"), s.input("F")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("block", s.constant("m"), P)
    s.force(F * s.N.x, at=P)
    with pytest.raises(da.DalembertError, match="no value for the constant m"):
        da.optimize(s, 1.0, **EFFORT)


def test_an_infeasible_problem_names_the_largest_violation() -> None:
    with pytest.warns(da.DalembertWarning, match="no solution: .*largest violation: "):
        best = da.optimize(block(), 1.0, **EFFORT, bounds={"F": 1}, most_iterations=100)
    assert not best.converged
    assert "did not converge" in str(best.audit)


def test_a_guess_outside_the_bounds_is_moved_with_a_warning() -> None:
    with pytest.warns(da.DalembertWarning, match="guess: F lies outside its bounds"):
        best = da.optimize(block(), 1.0, **EFFORT, bounds={"F": 20}, guess={"F": 30})
    assert 12.0 == pytest.approx(best.cost, rel=1e-8)


def test_a_missing_solver_says_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pounce", None)
    with pytest.raises(da.DalembertError, match=r"dalembert\[optimal\]"):
        da.optimize(block(), 1.0, **EFFORT)


def test_units_are_read() -> None:
    best = da.optimize(
        cart_pole(),
        "2000 ms",
        minimize="F**2",
        start=REST,
        end={**UPRIGHT, "theta": "180 deg"},
        audit=False,
    )
    assert 58.8076674588 == pytest.approx(best.cost, abs=1e-6)


def test_rules_of_collocation_are_checked() -> None:
    given = {"minimize": "F**2", "start": {"x": 0}, "end": {"x": 1}}
    with pytest.raises(da.BadOptimization, match="did you mean 'midpoint'"):
        da.optimize(block(), 1.0, rule="midpiont", **given)
    with pytest.raises(da.BadOptimization, match="has 1 point"):
        da.optimize(block(), 1.0, rule="midpoint", order=3, **given)
    with pytest.raises(da.BadOptimization, match="constraint equations"):
        da.optimize(cart_pole(cartesian=True), 1.0, minimize="F**2", end={"x": 1}, rule="gauss")
