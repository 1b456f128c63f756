"""Loops and starts that cannot be: each with the closure, the distance and the remedy."""

import pytest

import dalembert as da
from dalembert.errors import DalembertError


def linkage(ground, close=lambda s, P, Q: s.coincide(P, Q)):
    s = da.System("four-bar", gravity=9.81)
    a = s.rod("a", s.pin("alpha", s.O), 1, 0.2)
    b = s.rod("b", s.pin("beta", a.tip), 1, 0.6)
    c = s.rod("c", s.pin("gamma", s.O.offset(ground * s.N.x, "D")), 1, 0.5)
    close(s, b.tip, c.tip)
    return s


def point(declare):
    s = da.System("point")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    declare(s, P, x)
    return s


CASES = {
    "too long for its bars": (
        lambda: da.simulate(linkage(2), 1),
        (
            r"^start: 'loop closure' cannot be closed: tip of b and tip of c stay 0.7 apart at the "
            r"nearest position found; change a length"
        ),
    ),
    "too long with the crank held": (
        lambda: da.simulate(
            linkage(2, lambda s, P, Q: s.close(P, Q, "pin", name="elbow")), 1, start={"alpha": 1.0}
        ),
        (
            r"^start: 'elbow' cannot be closed: tip of b and tip of c stay 0.7348\d* apart at the "
            r"nearest position found with alpha = 1;"
        ),
    ),
    "given and contradictory": (
        lambda: da.simulate(linkage(0.6), 1, start={"alpha": 1.0, "beta": 0.0, "gamma": 0.0}),
        (
            r"^start: alpha = 1, beta = 0, gamma = 0 contradict 'loop closure x': residual "
            r"0.0731\d*; "
            r"change a value, or leave one out"
        ),
    ),
    "two circles that do not meet": (
        lambda: da.simulate(
            point(
                lambda s, P, x: (
                    s.distance(P, s.O, 1),
                    s.distance(P, s.O.offset(3 * s.N.x, "Q"), 1),
                )
            ),
            1,
        ),
        (
            r"^start: no position found that satisfies 'distance of P and O': least-squares "
            r"residual "
            r"1.25 "
        ),
    ),
    "a row that has moved on": (
        lambda: da.simulate(
            point(lambda s, P, x: s.constrain(x - 1 - s.t, "carriage")), 1, start={"x": 1.0}, t0=2.0
        ),
        r"^start: x = 1 contradicts 'carriage': residual -2; change a value",
    ),
    "an infinite start": (
        lambda: da.simulate(
            point(lambda s, P, x: s.constrain(x - 1 - s.t, "carriage")),
            1,
            start={"y": float("inf")},
        ),
        r"^start: y = inf is not finite$",
    ),
    "a length without a number": (
        lambda: da.simulate(
            point(lambda s, P, x: s.distance(P, s.O, s.constant("l", 1))),
            1,
            start={"x": 1},
            values={"l": float("nan")},
        ),
        r"l = nan is not finite",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    run, message = CASES[name]
    with pytest.raises(DalembertError, match=message):
        run()


def test_a_start_may_depend_on_the_time_at_which_it_is_made():
    s = point(lambda s, P, x: s.constrain(x - 1 - s.t, "carriage"))
    run = da.simulate(s, 1, start={"x": 1 + s.t}, t0=2.0)
    assert (3.0, 1.0) == (run["x"][0], run["x.dot"][0])
    assert 4.0 == pytest.approx(run["x"][-1], abs=1e-12)


def test_what_is_not_given_follows_the_rows_at_that_time():
    s = point(lambda s, P, x: s.constrain(x - 1 - s.t**2, "carriage"))
    run = da.simulate(s, 1, t0=2.0)
    assert (5.0, 4.0) == (run["x"][0], run["x.dot"][0])
