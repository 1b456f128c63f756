"""λ as an expression of the state: against the runs, and against the text book."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import BadExpression, NotApplicable


def test_the_rod_of_a_pendulum():
    s = da.System("Pendulum in x and y")
    m, g = s.constants(m=2, g=9.81)
    s.gravity(-g * s.N.y)
    x, y = s.coordinates("x y")
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    found = da.multipliers(s)["rod"].sympy()
    x, y, vx, vy = (s[n].sympy() for n in ("x", "y", "x.dot", "y.dot"))
    expected = (s["m"].sympy() * (s["g"].sympy() * y - vx**2 - vy**2)) / (2 * (x**2 + y**2))
    assert 0 == (found - expected).simplify()


@pytest.mark.parametrize(
    "name",
    [
        "rolling-disk",
        "four-bar",
        "chaplygin-sleigh",
        "dumbbell",
        "knife-edge-rod",
        "moving-knife-edge",
    ],
)
def test_it_is_the_multiplier_of_the_run(name):
    entry = gallery.entry(name)
    s = entry.build()
    run = da.simulate(s, 0.1, start=dict(entry.start), inputs=dict(entry.inputs), progress=False)
    for row, lam in da.multipliers(s).items():
        known = run.reactions.rows[row].multiplier
        assert run[lam] == pytest.approx(known, abs=1e-8 * max(1.0, np.abs(known).max()))


# ---- compiled -----------------------------------------------------------------------------------


def run_of(name, duration=0.1):
    entry = gallery.entry(name)
    s = entry.build()
    return da.simulate(
        s, duration, start=dict(entry.start), inputs=dict(entry.inputs), progress=False
    )


@pytest.mark.each_time(2)
@pytest.mark.parametrize(
    "name", ["four-bar", "rolling-disk", "appell-hamel", "n-four-bar", "bricard"]
)
def test_the_program_gives_the_multipliers_of_the_run(name):
    # four-bar has independent speeds chosen, the disk declared ones, n-four-bar more rows than are
    # written out, appell-hamel's is not linear, those of bricard depend on one another
    run = run_of(name)
    lam = da.multipliers(run.system).compile()
    known = np.column_stack([run.reactions.rows[row].multiplier for row in lam.rows])
    found = lam(run.q, run.u, run.t)
    assert found == pytest.approx(known, abs=1e-9 * max(1.0, np.abs(known).max()))
    assert lam(run.q[-1], run.u[-1], run.t[-1]) == pytest.approx(found[-1], rel=1e-12, abs=1e-12)


def test_the_program_with_a_quaternion():
    # m r̈ = λ by the printed law r̈ = (2/7) Ω k × ṙ, since the rows are m r̈'s own directions
    lam = da.multipliers(gallery.build("ball-on-turntable", attitude="quaternion")).compile()
    e = np.array([0.1, -0.7, 0.5, 0.5])
    q, u = [0.3, -0.2, *(e / np.linalg.norm(e))], [0.4, 0.5, 7]
    assert lam(q, u, m=2) == pytest.approx(2 * 6 / 7 * np.array([-0.5, 0.4]), rel=1e-13)


def pendulum():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    m = s.constant("m", 2)
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    return s


def test_a_pendulum_through_the_positions_where_a_pivot_vanishes():
    lam = da.multipliers(pendulum()).compile()
    angle = np.linspace(0, 2 * np.pi, 9)
    Q = np.column_stack([np.cos(angle), np.sin(angle)])
    Q[np.abs(Q) < 1e-12] = 0  # exactly where ẋ or ẏ is free
    U = 3 * np.column_stack([-Q[:, 1], Q[:, 0]])
    assert lam(Q, U)[:, 0] == pytest.approx(2 * (9.81 * Q[:, 1] - 9) / 2, rel=1e-14)
    assert lam([1, 0], [0, 3], m=4) == pytest.approx([-18])
    run = da.simulate(pendulum(), 1.5, start={"x": 1, "y": 0}, progress=False)
    assert np.diff(np.sign(run["x"])).any()
    assert lam(run.q, run.u, run.t)[:, 0] == pytest.approx(
        run.reactions.rows["rod"].multiplier, abs=1e-9
    )


def test_where_no_multiplier_exists_the_row_is_named():
    with pytest.raises(BadExpression, match="'rod' constrains no velocity"):
        da.multipliers(pendulum()).compile()([0, 0], [1, 0])
    s = pendulum()
    s.speeds(u=s["x.dot"])
    with pytest.raises(
        BadExpression, match=r"'rod' has no finite value .* speeds u may be singular"
    ):
        da.multipliers(s).compile()([1, 0], [0])
    s = pendulum()
    s.constrain(
        s["x"] - 1, "wall"
    )  # touches the circle at (1, 0): there ẍ would have to be both 0 and −9
    with pytest.raises(BadExpression, match=r"(rod|wall)' depends on the other rows"):
        da.multipliers(s).compile()([1, 0], [0, 3])


def test_beyond_three_rows_there_is_no_expression_but_a_program():
    found = da.multipliers(gallery.build("n-four-bar"))
    with pytest.raises(NotApplicable, match="written out for up to 3"):
        list(found)
    assert "compile()" in str(found)
