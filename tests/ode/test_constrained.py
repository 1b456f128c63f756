"""Runs with every rate in the state and the rows beside the equations: singular positions,
redundancy, massless coordinates, drift.
"""

import importlib.util
import math
import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert import sin
from dalembert.gallery import andrews_squeezer, n_four_bar
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.failures import BadRun, BadStart, ProjectionFailed, RunStopped
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.states.run_values import parameter_vector, run_values
from truth.published import DATA
from truth.test_mechanisms import ANGLES, content

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
assert DATA.is_dir()


def pendulum(**redundant):
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain((x**2 + y**2 - 1) / 2, "rod")
    for name, row in redundant.items():
        s.constrain(row(s, x, y), name, redundant=True)
    return s


def bricard():
    """Six angles, six rows of rank five, and the last angle moves no mass."""
    s = da.System("Bricard, closed by a weld", gravity=9.81)
    F, P, points = s.N, s.O, [s.O]
    angles = s.coordinates("a b c d e f")
    for k, (axis, along, sign) in enumerate(
        (("y", "x", 1), ("z", "y", -1), ("x", "z", 1), ("y", "x", -1), ("z", "y", 1))
    ):
        F = F.rotated(angles[k], getattr(F, axis))
        e = sign * getattr(F, along)
        s.body(
            f"rod {k}",
            1,
            P.offset(e / 2),
            F,
            da.inertia(F, *(0.01 / 6 if i == along else 1.01 / 12 for i in "xyz")),
        )
        P = P.offset(e)
        points.append(P)
    last = F.rotated(angles[5], F.x)
    for axis in "xyz":
        s.constrain((P - s.O - 1 * s.N.z) @ getattr(s.N, axis), f"P5 {axis}")
    for name, a, b in (
        ("turn y", last.x, s.N.y),
        ("turn z", last.x, s.N.z),
        ("turn x", last.y, s.N.z),
    ):
        s.constrain(a @ b, name)
    return s, points[3]


def andrews():
    """The mechanism of the gallery with no speed declared."""
    s = andrews_squeezer.build()
    s.speed_list.clear()
    del s.symbols["u_1"]
    return s


def solver(system, values=None):
    """The native rates, their parameters, and the size of a state."""
    kin, equations = select_equations(system, "native")
    chosen = run_values(kin, values or {}, {})
    model = native_model(chosen, equations)
    return model.rates, np.array(parameter_vector(chosen, model.parameters), dtype=float)


# ---- the native solve
# ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build", [pendulum, andrews, lambda: n_four_bar.build(windows=5), lambda: bricard()[0]]
)
def test_rates_and_multipliers_solve_the_saddle_system(build):
    rates, p = solver(build())
    X = np.random.default_rng(5).uniform(0.3, 0.9, (6, rates.n_in))
    Y, at = rates.with_multipliers(X, p), rates.rows(X, p, mass=True)
    n_q, n, m = rates.layout.n_q, rates.layout.n, rates.layout.m
    for k in range(len(X)):
        M, A = at["M"][k], at["A"][k]
        K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
        expected = np.linalg.solve(K, np.concatenate([at["f"][k], -at["gamma"][k]]))
        found = Y[k, n_q:]
        assert np.abs(found[:n] - expected[:n]).max() <= 1e-9 * np.abs(expected[:n]).max()
        assert np.abs(found[n:] - expected[n:]).max() <= 1e-8 * np.abs(expected[n:]).max()
        # one state alone has the bits it has among others
        assert (rates.call(X[k], p) == Y[k, : n_q + n]).all()


def test_many_unknowns_are_solved_by_numbers_with_the_same_result():
    s = da.System("Chain of absolute angles", gravity=9.81)
    P = s.O
    for k, q in enumerate(s.coordinates(" ".join(f"q_{k}" for k in range(14)))):
        F = s.N.rotated(q, s.N.z)
        s.body(f"link {k}", 1, P.offset(-F.y / 2), F, da.rod_inertia(F.y, 1, 1))
        P = P.offset(-F.y)
    rates, p = solver(s)
    x = np.random.default_rng(2).uniform(-1, 1, rates.n_in)
    expected = da.compile(s)(x[:14], x[14:28])
    assert np.abs(rates.call(x, p)[14:] - expected).max() <= 1e-11 * np.abs(expected).max()
    assert da.simulate(s, 0.5, start={"q_0": 1.0}).energy_drift <= 1e-9


# ---- singular positions
# ----------------------------------------------------------------------------


def test_the_pendulum_in_x_and_y_for_ten_seconds():
    run = da.simulate(pendulum(), 10, start={"x": 1, "y": 0, "y.dot": 0}, rtol=1e-11, atol=1e-11)
    assert max(np.abs(r).max() for r in run.residuals.values()) <= 1e-10
    assert np.abs(run.energy - run.energy[0]).max() <= 1e-9
    assert max(np.abs(r).max() for r in run.acceleration_residuals.values()) <= 1e-10
    # the rod carries +mg at rest, and 3 mg at the bottom after a fall from the side
    assert -3 * 9.81 == pytest.approx(run.multipliers["rod"].min(), rel=1e-3)


def test_a_start_where_no_single_rate_is_independent():
    # y = 0: the row has no y', so that x' cannot be chosen
    run = da.simulate(pendulum(), 1, start={"x": 1, "y": 0, "y.dot": 2}, **TIGHT)
    s = da.System("Pendulum", gravity=9.81)
    theta = s.coordinate("theta")
    F = s.N.rotated(theta, s.N.z)
    s.particle("bob", 1, s.O.offset(F.x))
    polar = da.simulate(s, 1, start={"theta.dot": 2}, **TIGHT)
    assert math.cos(polar["theta"][-1]) == pytest.approx(run["x"][-1], abs=1e-10)
    assert math.sin(polar["theta"][-1]) == pytest.approx(run["y"][-1], abs=1e-10)


@pytest.mark.parametrize("speed", [0.7, 2.3, 5.1])
@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
def test_windows_pass_their_singular_positions_straight(speed, rtol):
    s, tolerance = n_four_bar.build(windows=2), {"rtol": rtol, "atol": rtol, "audit": False}
    nearby = speed * (1.0 + 1e-3 * np.arange(-4, 5))
    runs = [
        da.simulate(s, 10, start={**dict.fromkeys(s.q, 0.0), "phi_0.dot": v}, **tolerance)
        for v in nearby
    ]
    for run in runs:
        # several turns, two singular positions in each
        assert run["phi_0"][-1] > 4 * math.pi
    # at 1e-12 chance decides how near to a singular position a step ends: a tenth of all starts
    # drifts by 4e-11
    assert np.median([run.energy_drift for run in runs]) <= 10 * rtol
    assert np.median([np.abs(run["phi_1"] - run["phi_0"]).max() for run in runs]) <= 1e-9
    if rtol > 1e-12:
        assert max(run.energy_drift for run in runs) <= 10 * rtol
        assert max(np.abs(run["phi_1"] - run["phi_0"]).max() for run in runs) <= 1e-9


@pytest.mark.parametrize("length", [0.01, 1.0, 100.0])
def test_windows_in_any_unit_of_length_and_in_other_coordinates(length):
    s = da.System("Windows of rods between points", gravity=9.81 * length)
    tops = []
    for k in range(3):
        x, y = s.coordinates(f"x_{k} y_{k}")
        tops.append(s.O.offset(x * s.N.x + y * s.N.y))
        s.particle(f"top {k}", 1, tops[-1])
        s.constrain(((x - k * length) ** 2 + y**2 - length**2) / 2, f"post {k}")
    for k in (0, 1):
        gap = tops[k + 1] - tops[k]
        s.constrain((gap @ gap - length**2) / 2, f"bar {k}")
    start = (
        {f"x_{k}": k * length for k in range(3)}
        | {f"y_{k}": length for k in range(3)}
        | {"x_0.dot": length}
    )
    run = da.simulate(s, 10, start=start, rtol=1e-10, atol=1e-10 * min(1.0, length))
    assert np.abs(run["y_1"] - run["y_0"]).max() <= 1e-10 * length
    assert run.energy_drift <= 1e-9
    assert run.worst_residual <= 1e-12 * length**2


# at 1e-8 the energy error is some 700 tolerances, which is warned about
@pytest.mark.filterwarnings("ignore:the energy error is")
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_linkage_that_only_comes_near_a_singular_position_turns_there(distance):
    s = da.System("Four-bar near its change point", gravity=9.81)
    A, B, C = (s.N.rotated(q, s.N.z) for q in s.coordinates("a b c"))
    top, pivot = s.O.offset(A.x, frame=A), s.O.offset((1 + distance) * s.N.x)
    for name, base, F in (("crank", s.O, A), ("coupler", top, B), ("rocker", pivot, C)):
        s.body(name, 1, base.offset(F.x / 2, frame=F), F, da.rod_inertia(F.x, 1, 1))
    s.coincide(top.offset(B.x, frame=B), pivot.offset(C.x, frame=C), "joint")
    run = da.simulate(
        s, 2, start={"a": math.pi / 2, "a.dot": 6.0}, guess={"b": 0.0, "c": math.pi / 2}, **TIGHT
    )
    assert run.energy_drift <= 1e-8
    assert run.worst_residual <= 1e-11
    # it is thrown onto the other branch, where the rocker does not follow the crank
    assert np.abs(run["c"] - run["a"]).max() > 0.5


def test_andrews_with_all_rates_against_many_digits():
    known = np.array(content("andrews_squeezer")["reference"]["high_precision_here"], dtype=float)
    run = da.simulate(andrews(), 0.03, start=andrews_squeezer.ENTRY.start, rtol=1e-13, atol=1e-13)
    assert np.abs([run[q][-1] for q in ANGLES] - known[:7]).max() <= 1e-11
    assert np.abs([run[f"{q}.dot"][-1] for q in ANGLES] / known[7:14] - 1).max() <= 1e-10
    assert np.abs([run[f"{q}.dot.dot"][-1] for q in ANGLES] / known[14:21] - 1).max() <= 1e-9
    # the source has M q̈ = f − Gᵀλ
    assert np.abs([-lam[-1] for lam in run.multipliers.values()] / known[21:] - 1).max() <= 1e-9


# ---- redundancy
# ------------------------------------------------------------------------------------


def test_bricard_with_six_rows_of_rank_five_and_a_massless_angle():
    known = content("iftomm_A04_bricard")["reference"]["P3"]
    s, P3 = bricard()
    run = da.simulate(s, 10, at=[float(row["t"]) for row in known], rtol=1e-10, atol=1e-10)
    assert "5 of 6 constraint rows are independent" in run.start.notes[0]
    assert np.abs(run["a"] - [float(row["theta_odd"]) for row in known]).max() <= 1e-8
    assert np.abs(run[P3 - s.O] - np.array([row["P3"] for row in known], dtype=float)).max() <= 1e-8
    assert run.worst_residual <= 1e-10


def test_hidden_redundancy_need_not_be_declared():
    # by count one freedom; the fifth row follows where the others hold, and there are two
    def made(**said):
        s = da.System("Bricard with a pendulum", gravity=9.81)
        F, P = s.N, s.O
        for k, (axis, along, sign) in enumerate(
            (("y", "x", 1), ("z", "y", -1), ("x", "z", 1), ("y", "x", -1), ("z", "y", 1))
        ):
            F = F.rotated(s.coordinate(f"theta_{k}"), getattr(F, axis))
            e = sign * getattr(F, along)
            s.body(
                f"rod {k}",
                1,
                P.offset(e / 2, frame=F),
                F,
                da.inertia(F, *(0.01 / 6 if i == along else 1.01 / 12 for i in "xyz")),
            )
            P = P.offset(e, frame=F)
            if k == 1:
                H = F.rotated(s.coordinate("beta"), F.x)
                s.particle("bob", 0.5, P.offset(0.3 * H.z, frame=H))
        s.close(P, s.O.offset(1 * s.N.z, "foot", s.N), "pin", F.x, s.N.x, "hinge", **said)
        return s, da.simulate(s, 3, start={"beta": 0.4}, rtol=1e-11, atol=1e-11)

    (silent, run), (told, expected) = made(), made(redundant=("axis 2",))
    assert (1, 2) == (da.kinematics(silent).n_u, da.kinematics(told).n_u)
    assert (run.q == expected.q).all()
    assert run.energy_drift <= 1e-10
    assert np.ptp(run["beta"]) > 0.1
    assert np.ptp(run["theta_0"]) > 0.1


def test_two_rows_that_say_the_same_share_the_load():
    alone = da.simulate(pendulum(), 2, start={"x": 0.6, "y": -0.8}, **TIGHT)
    twice = da.simulate(
        pendulum(again=lambda _s, x, y: (x**2 + y**2 - 1) / 2),
        2,
        start={"x": 0.6, "y": -0.8},
        **TIGHT,
    )
    assert np.abs(twice.at(alone.t).q - alone.q).max() <= 1e-11
    lam = twice.multipliers
    assert np.abs(lam["rod"] - lam["again"]).max() <= 1e-12
    assert (
        np.abs(
            lam["rod"]
            + lam["again"]
            - da.simulate(pendulum(), 2, start={"x": 0.6, "y": -0.8}, **TIGHT)
            .at(twice.t)
            .multipliers["rod"]
        ).max()
        <= 1e-9
    )


def test_rows_that_contradict_one_another_are_refused_with_the_residual():
    with pytest.raises(BadStart, match=r"no position found that satisfies 'rod'.*residual 0\.25"):
        da.simulate(pendulum(other=lambda _s, x, y: (x**2 + y**2 - 2) / 2), 1, start={"x": 0.6})
    with pytest.raises(BadStart, match=r"the constraints contradict one another: .* residual"):
        da.simulate(
            pendulum(other=lambda s, x, y: (x**2 + y**2 - 1 - s.t) / 2),
            1,
            start={"x": 0.6, "y": -0.8},
        )
    with pytest.raises(ProjectionFailed, match=r"contradict one another from there on.*'other"):
        da.simulate(
            pendulum(other=lambda s, x, y: (x**2 + y**2 - 1 + s.t**3) / 2),
            1,
            start={"x": 0.6, "y": -0.8},
        )


def test_a_loop_that_is_pulled_beyond_its_reach_stops_at_the_dead_point():
    s = da.System("Pulled")
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    s.constrain(x - 0.5 - s.t, "pull")
    with pytest.raises(RunStopped, match="a dead point") as caught:
        da.simulate(s, 1, guess={"y": -1})
    assert 0.5 == pytest.approx(caught.value.time, abs=1e-6)


# ---- drift
# -----------------------------------------------------------------------------------------


def test_three_ways_to_treat_drift():
    start = {"x": 0.8, "y": -0.6}
    runs = {
        name: da.simulate(pendulum(), 10, start=start, rtol=1e-8, atol=1e-8, stabilize=name)
        for name in ("projection", "baumgarte", "none")
    }
    residual = {name: np.abs(run.residuals["rod"]).max() for name, run in runs.items()}
    assert residual["projection"] <= 1e-14 < residual["baumgarte"] < 1e-9 < residual["none"] < 1e-5
    # what projections do to the energy is told apart
    assert (
        runs["projection"].integrals.constraint_drift > 0 == runs["none"].integrals.constraint_drift
    )


def test_rows_are_held_between_the_steps_too():
    run = da.simulate(pendulum(), 10, start={"x": 1, "y": 0})
    fine = run.at(np.linspace(0, 10, 2001))
    assert fine.worst_residual <= 1e-14
    assert (run.at(run.t).q == run.q).all()
    drifting = da.simulate(pendulum(), 10, start={"x": 1, "y": 0}, stabilize="none")
    assert drifting.at(fine.t).worst_residual > 1e-10


def test_drift_with_declared_speeds():
    def made(name):
        s = pendulum()
        s.speeds(h=s["x"] * s["y"].dot - s["y"] * s["x"].dot)
        return da.simulate(s, 10, start={"x": 0.6, "y": -0.8}, rtol=1e-8, atol=1e-8, stabilize=name)

    residual = {
        name: np.abs(made(name).residuals["rod"]).max()
        for name in ("projection", "baumgarte", "none")
    }
    assert residual["projection"] <= 1e-12
    assert residual["baumgarte"] < residual["none"] / 2


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (
            {"stabilize": "hope"},
            "stabilize = 'hope' is unknown: choose one of projection, baumgarte, none",
        ),
        ({"stabilize": "projection", "integrator": "RK45"}, "only the native integrator"),
        (
            {"stabilize": "baumgarte", "baumgarte_rate": 0},
            "baumgarte_rate = 0: give a positive number",
        ),
        ({"baumgarte_rate": 5}, "has no meaning with stabilize = 'projection'"),
    ],
)
def test_what_cannot_be_done_about_drift_is_said(wish, sentence):
    with pytest.raises(da.DalembertError, match=sentence):
        da.simulate(pendulum(), 1, start={"x": 1, "y": 0}, **wish)
    assert issubclass(BadRun, da.DalembertError)


# ---- the audit
# -------------------------------------------------------------------------------------


def carried(spec=False):
    s = da.System("Pendulum on a moving pivot", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 2, s.O.offset(x * s.N.x + y * s.N.y))
    pivot = s.specified("w", 0.3 * sin(2 * s.t)) if spec else 0.3 * sin(2 * s.t)
    s.constrain(((x - pivot) ** 2 + y**2 - 1) / 2, "rod")
    return s


@pytest.mark.parametrize("spec", [False, True])
def test_moving_rows_feed_in_what_the_audit_counts(spec):
    given = {"start": {"x": 0.3}, "guess": {"y": -1}, **TIGHT}
    run = da.simulate(carried(spec), 5, **given)
    assert run.integrals.relative_drift <= 1e-11
    assert run.integrals.model_residual <= 1e-12
    # the pivot drives the bob with λ(x − w): its power integrated is the energy gained
    t = np.linspace(0, 5, 20001)
    fine = run.at(t)
    power = fine.multipliers["rod"] * (fine["x"] - 0.3 * np.sin(2 * t)) * 0.6 * np.cos(2 * t)
    assert np.trapezoid(power, t) == pytest.approx(fine.energy[-1] - fine.energy[0], abs=1e-6)
    plain = da.simulate(carried(spec), 5, audit=False, **given)
    assert (plain.q == run.q).all()
    assert (plain.u == run.u).all()


def test_a_rate_that_may_be_zero_is_zero():
    start = da.simulate(carried(), 1e-3, start={"x": 0.3}, guess={"y": -1}).start
    origins = {m.name: m.origin for m in start.values}
    assert ("zero", "solved") == (origins["x.dot"], origins["y.dot"])
    # y (y' + 0) = (x − w) w'
    assert 0.3 * 0.6 / start.q[1] == pytest.approx(start.u[1])


def test_keep_energy_refuses_rows_that_move():
    with pytest.raises(da.DalembertError, match="'rod' moves"):
        da.simulate(carried(), 1, start={"x": 0.3}, guess={"y": -1}, keep_energy=True)


def test_a_run_can_be_pickled_with_its_multipliers():
    run = da.simulate(pendulum(), 1, start={"x": 0.6, "y": -0.8})
    again = pickle.loads(pickle.dumps(run))
    assert (again.multipliers["rod"] == run.multipliers["rod"]).all()


# ---- other integrators
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["DOP853", "Radau", "CVODE", "IDA"])
@pytest.mark.parametrize(
    "build", [carried, lambda: pendulum(again=lambda _s, x, y: x**2 + y**2 - 1)]
)
def test_other_integrators_give_the_same_motion(name, build):
    if name in ("CVODE", "IDA") and importlib.util.find_spec("sksundae") is None:
        pytest.skip("scikit-sundae is not installed")
    given = {"start": {"x": 0.3}, "guess": {"y": -1}}
    expected = da.simulate(build(), 1, **given, **TIGHT)
    run = da.simulate(build(), 1, **given, integrator=name, rtol=1e-8, atol=1e-8)
    assert np.abs(run.q[-1] - expected.q[-1]).max() <= 1e-6
    assert run.integrals.relative_drift <= 1e-5
    assert run.integrals.is_model_consistent


# ---- quaternions
# -----------------------------------------------------------------------------------


def hanging(attitude):
    """A box that hangs from the ceiling by a rod: six coordinates and one row."""
    s = da.System("Hanging box", gravity=9.81, up="z")
    x, y, z = s.coordinates("x y z")
    G = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    frames = (
        [s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"))]
        if attitude == "quaternion"
        else s.N.rotations("xyz", *s.coordinates("a b c"))
    )
    B = frames[-1]
    s.body("box", 2, G, B, da.inertia(B, 0.1, 0.2, 0.25))
    hook = G.offset(0.3 * B.z + 0.1 * B.x, frame=B)
    s.constrain((hook - s.O) @ (hook - s.O) - 1, "rod")
    return s, G, B


def test_quaternions_and_angles_give_one_motion():
    runs = []
    for attitude in ("quaternion", "angles"):
        s, G, B = hanging(attitude)
        start = {
            "x": -0.1,
            "y": 0,
            "z": -1.3,
            "x.dot": 0.3,
            B.w @ B.x: 2.0,
            B.w @ B.y: -1.0,
            B.w @ B.z: 1.5,
        }
        run = da.simulate(s, 3, start=start, rtol=1e-13, atol=1e-13).at(np.linspace(0, 3, 31))
        assert run.kinematics.velocity_rows
        assert run.worst_residual <= 1e-10
        runs.append(np.hstack([run[G - s.O], run[B.x], run[B.y], run[B.w]]))
    assert np.abs(runs[0] - runs[1]).max() <= 1e-10


def test_mirrored_quaternions_are_the_same_attitude():
    ends = []
    for sign in (1, -1):
        s, G, B = hanging("quaternion")
        start = {
            "x": -0.1,
            "y": 0,
            "z": -1.3,
            "e_0": sign,
            "e_1": 0,
            "e_2": 0,
            "e_3": 0,
            B.w @ B.x: 2.0,
            B.w @ B.z: 1.5,
        }
        run = da.simulate(s, 2, start=start)
        ends.append((run.q[-1], run[B.x][-1], run[G.v][-1]))
    assert (ends[0][0][3:] == -ends[1][0][3:]).all()
    assert all((a == b).all() for a, b in zip(ends[0][1:], ends[1][1:], strict=True))


def test_a_state_that_no_way_leads_onto_the_rows_stays_and_the_others_move():
    rates, p = solver(pendulum())
    # x, y, dx/dt, dy/dt, t; at the pivot the rod has no direction
    states = np.array(
        [[1.01, 0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.3, 0.0, 0.1], [0.0, -0.99, 0.2, 0.1, 0.2]]
    )
    found = rates.project_states(states, p)
    assert found[1].tolist() == states[1, :-1].tolist()
    x, y, dx, dy = found[[0, 2]].T
    assert np.abs(x**2 + y**2 - 1).max() < 1e-14
    assert np.abs(x * dx + y * dy).max() < 1e-14
