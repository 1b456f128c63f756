"""Reactions along a run: by multipliers and by the balances of free bodies, at rest, in motion,
and the power behind it all.
"""

import csv

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import Unknown

g = 9.81


def run_of(name, duration=1.0, **more):
    entry = gallery.entry(name)
    return da.simulate(
        entry.build(),
        duration,
        start=dict(entry.start),
        inputs=dict(entry.inputs),
        progress=False,
        **more,
    )


def pendulum_in_x_and_y(m=2.0, k=1):
    s = da.System("Pendulum in x and y", gravity=g)
    x, y = s.coordinates("x y")
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y, "bob"))
    s.constrain(k * (x**2 + y**2 - 1), "rod")
    return s


# ---- at rest -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, -2, 0.5])
def test_at_rest_the_rod_carries_the_weight_however_its_row_is_written(k):
    run = da.simulate(pendulum_in_x_and_y(k=k), 1, start={"x": 0, "y": -1}, progress=False)
    rod = run.reaction("rod")
    assert ("bob", "the ground") == (rod.on, rod.against)
    assert rod.force == pytest.approx(np.tile([0, 2 * g, 0], (len(run), 1)), abs=1e-12)
    # +λ ∂φ/∂y with ∂φ/∂y = −2k
    assert rod.multiplier == pytest.approx(np.full(len(run), 2 * g / (-2 * k)))
    assert rod.along["y"] == pytest.approx(np.full(len(run), 2 * g))


def test_hanging_chain_every_link_carries_what_hangs_below():
    run = da.simulate(gallery.build("pendulum-absolute"), 0.5, progress=False)
    for k, below in (("theta_1", 3), ("theta_2", 2), ("theta_3", 1)):
        joint = run.reactions.joints[k]
        assert joint.force[0] == pytest.approx([0, below * g, 0], abs=1e-12)
        assert joint.at[-1] == pytest.approx([0, below - 3, 0])


def test_chain_of_rows_carries_the_same():
    s = da.System("Chain", gravity=g)
    q = s.coordinates("x1 y1 x2 y2")
    P1, P2 = (s.O.offset(q[k] * s.N.x + q[k + 1] * s.N.y, f"P{k}") for k in (0, 2))
    s.particle("upper", 1, P1)
    s.particle("lower", 3, P2)
    s.constrain((P1 - s.O) @ (P1 - s.O) - 1, "first")
    s.constrain((P2 - P1) @ (P2 - P1) - 1, "second")
    run = da.simulate(s, 0.2, start={"x1": 0, "y1": -1, "x2": 0, "y2": -2}, progress=False)
    assert run.reaction("first").force[-1] == pytest.approx([0, 4 * g, 0], abs=1e-9)
    second = run.reaction("second")
    sign = 1 if second.on == "lower" else -1
    assert sign * second.force[-1] == pytest.approx([0, 3 * g, 0], abs=1e-9)


# ---- in motion -----------------------------------------------------------------------------------


def test_swinging_rod_against_the_text_book():
    """T = m g cos θ + m l θ̇², by the row of the (x, y) pendulum and by the hinge of the angular
    one.
    """
    by_row = da.simulate(
        pendulum_in_x_and_y(),
        2,
        start={"x": 0.8, "y": -0.6},
        rtol=1e-11,
        atol=1e-11,
        progress=False,
    )
    force = by_row.reaction("rod").force
    tension = 2 * (-g * by_row["y"] + by_row["x.dot"] ** 2 + by_row["y.dot"] ** 2)
    assert np.linalg.norm(force, axis=1) == pytest.approx(tension, rel=1e-9)
    s = da.System("Pendulum", gravity=g)
    hinge = s.pin("theta", s.O)
    s.particle("bob", 2, hinge.offset(-hinge.frame.y))
    by_hinge = da.simulate(
        s, 2, start={"theta": np.arcsin(0.8)}, rtol=1e-11, atol=1e-11, progress=False
    )
    times = np.linspace(0, 2, 9)
    assert by_row.at(times).reaction("rod").force == pytest.approx(
        by_hinge.at(times).reaction("theta").force, abs=1e-8
    )


def free_body_solution(run, k):
    """The four-bar cut into three bars: nine balances for the forces in four pins, solved at one
    time.
    """
    l, rho = np.array([0.2, 0.6, 0.5]), 2.0
    m, a = rho * l, np.array([run[f"theta_{i}"][k] for i in (1, 2, 3)])
    w, acc = (
        np.array([run[f"theta_{i}.dot"][k] for i in (1, 2, 3)]),
        np.array([run[f"theta_{i}.dot.dot"][k] for i in (1, 2, 3)]),
    )
    e, n = np.column_stack([np.cos(a), np.sin(a)]), np.column_stack([-np.sin(a), np.cos(a)])
    rate = acc[:, None] * n - w[:, None] ** 2 * e
    pivot = np.array([run["w.dot.dot"][k], 0.0])
    centres = [l[0] / 2 * rate[0], l[0] * rate[0] + l[1] / 2 * rate[1], pivot + l[2] / 2 * rate[2]]
    A, b = np.zeros((9, 8)), np.zeros(9)
    # forces on the bar at its first end, and at its second: pins O, B, C, D in columns 0, 2, 4, 6
    ends = [((0, 1), (2, -1)), ((2, 1), (4, 1)), ((6, 1), (4, -1))]
    for bar, ((first, s1), (second, s2)) in enumerate(ends):
        rows = slice(3 * bar, 3 * bar + 2)
        A[rows, first : first + 2] += s1 * np.eye(2)
        A[rows, second : second + 2] += s2 * np.eye(2)
        b[rows] = m[bar] * centres[bar] + np.array([0, m[bar] * g])
        arm = l[bar] / 2 * e[bar]
        for column, sign, r in ((first, s1, -arm), (second, s2, arm)):
            A[3 * bar + 2, column : column + 2] += sign * np.array([-r[1], r[0]])
        b[3 * bar + 2] = m[bar] * l[bar] ** 2 / 12 * acc[bar]
    x, _, rank, _ = np.linalg.lstsq(A, b, rcond=None)
    assert 8 == rank
    assert A @ x == pytest.approx(b, abs=1e-9 * np.abs(b).max())
    return x


def test_four_bar_against_its_bars_cut_free():
    run = run_of("four-bar", 1.0)
    found = run.reactions
    closure = found["closure"]
    assert ("coupler", "rocker") == (closure.on, closure.against)
    for k in range(0, len(run), 7):
        x = free_body_solution(run, k)
        scale = np.abs(x).max()
        for pin, force in enumerate(
            (found["theta_1"].force, found["theta_2"].force, closure.force, found["theta_3"].force)
        ):
            assert force[k, :2] == pytest.approx(x[2 * pin : 2 * pin + 2], abs=1e-10 * scale)
            assert 0 == force[k, 2]
    # pins transmit no moment: by the balances of free bodies with the forces that Lagrange's
    # equations gave the rows
    for joint in found.joints.values():
        assert np.abs(joint.moment).max() < 1e-12 * np.abs(joint.force).max()


@pytest.mark.parametrize("name", ["slider-crank", "n-four-bar", "andrews-squeezer"])
def test_pins_of_closed_loops_transmit_no_moment(name):
    entry = gallery.entry(name)
    run = run_of(name, min(entry.duration, 1.0))
    # the spring of Andrews' mechanism was declared by its potential, and pulls at its ends all the
    # same
    for joint in run.reactions.joints.values():
        assert np.abs(joint.moment).max() < 1e-10 * np.abs(joint.force).max()


@pytest.mark.parametrize(
    "name",
    [
        "rolling-disk",
        "four-bar",
        "whipple-bicycle",
        "chaplygin-sleigh",
        "suslov",
        "dumbbell",
        "bricard",
    ],
)
def test_multipliers_balance_the_equations_and_equal_those_of_the_run(name):
    run = run_of(name, 0.5)
    found = run.reactions
    assert found.balance < 1e-11
    for row, lam in run.multipliers.items():
        assert found.rows[row].multiplier == pytest.approx(
            lam, rel=1e-8, abs=1e-9 * np.abs(lam).max()
        )


def test_rolling_disk_is_carried_by_the_plane():
    """The force at the contact moves the mass centre: friction from the rows, the normal force
    from the plane of C.
    """
    run = run_of("rolling-disk", 1.0)
    normal = run.reaction("x, y").force
    assert np.abs(normal[:, :2]).max() < 1e-12
    s = run.system
    times = np.linspace(0.3, 0.7, 5)
    h = 1e-3
    at = lambda t: np.column_stack(  # noqa: E731
        [run.at(t)[(s.bodies[0].G - s.O) @ axis] for axis in (s.N.x, s.N.y, s.N.z)]
    )
    by_difference = (at(times + h) - 2 * at(times) + at(times - h)) / h**2
    found = run.at(times).reactions
    total = found["rolling of disk"].force + found["x, y"].force
    assert total == pytest.approx(by_difference + np.array([0, 0, g]), abs=1e-4)


def test_the_wheels_of_an_upright_bicycle_share_its_weight():
    """Mei07 Table 1: 94 kg, of which the front wheel carries Σ m x/w; no rear contact transmits
    a moment.
    """
    run = da.simulate(gallery.build("whipple-bicycle"), 0.5, start={"v": 5.0}, progress=False)
    front, rear = run.reaction("front wheel on the ground"), run.reaction("x, y")
    assert ("front wheel", "the ground") == (front.on, front.against)
    share = (85 * 0.3 + 4 * 0.9 + 3 * 1.02) / 1.02 * g
    # z points down
    assert front.force[:, 2] == pytest.approx(np.full(len(run), -share), rel=1e-9)
    assert rear.force[:, 2] == pytest.approx(np.full(len(run), -(94 * g - share)), rel=1e-9)
    assert np.abs(rear.moment).max() < 1e-9


# ---- what is specified ---------------------------------------------------------------------------


def test_motor_of_the_hoist():
    """(m_Q + m_B) ẍ, Mit22 34.2; its power feeds the energy."""
    run = run_of("hoist", 2.0, rtol=1e-11, atol=1e-11)
    joint = run.reactions.joints["x"]
    assert joint.force[:, 0] == pytest.approx(3 * -3 * np.cos(run.t), abs=1e-9)
    drive = run.reactions.drives["x"]
    assert drive.load == pytest.approx(-9 * np.cos(run.t), abs=1e-9)
    assert drive.power == pytest.approx(27 * np.cos(run.t) * np.sin(run.t), abs=1e-9)
    assert run.reaction("x") is joint


@pytest.mark.parametrize("name", ["hoist", "bead-on-hoop", "four-bar"])
def test_energy_changes_by_the_work_fed_in(name):
    run = run_of(name, 1.0, rtol=1e-11, atol=1e-11)
    found = run.reactions
    assert np.abs(found.power_in).max() > 0.1
    assert run.energy - run.energy[0] == pytest.approx(
        found.work_in, abs=1e-7 * np.abs(run.kinetic_energy).max()
    )
    assert found.power_in == pytest.approx(
        sum(d.power for d in found.drives.values()), abs=1e-9 * np.abs(found.power_in).max()
    )


def test_a_moving_row_feeds_in_minus_lambda_b():
    run = run_of("moving-knife-edge", 2.0, rtol=1e-11, atol=1e-11)
    found = run.reactions
    row = found.rows["sliding knife edge"]
    # v_A·j − w − X/4 = 0
    assert row.power == pytest.approx(row.multiplier * (run["w"] + run["X"] / 4), abs=1e-12)
    assert {} == found.drives
    # the spring's anchor moves too, so that time does work on the potential ½ k (X − sin t)²
    by_time = -5.0 * (run["X"] - np.sin(run.t)) * np.cos(run.t)
    assert found.power_of_time == pytest.approx(by_time, abs=1e-10)
    assert found.power_in == pytest.approx(row.power + by_time, abs=1e-10)


def test_a_drive_written_as_a_row_is_the_moment_in_its_joint():
    s = da.System("Driven pendulum", gravity=g)
    hinge = s.pin("theta", s.O)
    s.rod("rod", hinge, mass=3, length=2)
    s.slide("x", s.O)
    s.particle("cart", 1, s.O.offset(s["x"] * s.N.x))
    s.constrain(s["theta"] - s.t**2, "motor")
    run = da.simulate(s, 1, progress=False)
    motor = run.reaction("motor").multiplier
    # I θ̈ = M − m g (l/2) sin θ with I = m l²/3
    assert motor == pytest.approx(3 * 4 / 3 * 2 + 3 * g * np.sin(run.t**2), rel=1e-9)
    assert run.reaction("theta").moment[:, 2] == pytest.approx(motor, rel=1e-9)
    assert run.reaction("motor").power == pytest.approx(motor * 2 * run.t, abs=1e-9)


def test_the_load_of_a_motion_is_the_force_in_its_joint():
    """By Lagrange's equation along w, and by the balances of the bars."""
    run = run_of("four-bar", 1.0)
    found = run.reactions
    assert found.drives["w"].load == pytest.approx(
        found.joints["w"].force[:, 0], abs=1e-10 * np.abs(found.joints["w"].force).max()
    )
    hoop = run_of("bead-on-hoop", 1.0)
    bead = hoop.reactions.joints["theta, psi"]
    about = bead.moment + np.cross(bead.at, bead.force)
    torque = hoop.reactions.drives["psi"].load
    assert any(
        torque == pytest.approx(sign * about[:, k], abs=1e-10 * np.abs(torque).max())
        for k in range(3)
        for sign in (1, -1)
    )


def test_a_body_that_rolls_on_another_pushes_it_back():
    s = da.System("Cylinder on a cart", gravity=g)
    x, X, phi = s.coordinates("x X phi")
    F = s.input("F")
    cart = s.O.offset(X * s.N.x, "cart")
    C = s.N.rotated(phi, s.N.z, "C")
    G = s.O.offset(x * s.N.x + s.N.y, "G")
    table = s.body("cart", 3, cart, s.N.rotated(0, s.N.z, "T"), da.inertia(s.N, 0, 0, 1))
    wheel = s.cylinder("wheel", G, C, 2, 1, 1, s.N.z)
    s.roll(wheel, G.offset(-s.N.y, "contact"), along="x", on=table)
    s.force(F * s.N.x, at=G)
    run = da.simulate(s, 1, inputs={F: 4}, progress=False)
    friction = run.reaction("rolling of wheel along x")
    assert ("wheel", "cart") == (friction.on, friction.against)
    assert 3 * run["X.dot.dot"] == pytest.approx(-friction.force[:, 0], abs=1e-12)
    assert 2 * run["x.dot.dot"] == pytest.approx(4 + friction.force[:, 0], abs=1e-12)
    # nothing holds either of them along x
    for joint in run.reactions.joints.values():
        assert np.abs(joint.force[:, 0]).max() < 1e-12


def test_a_spring_pulls_at_its_ends():
    s = da.System("Spring on an arm", gravity=g)
    hinge = s.pin("theta", s.O)
    s.rod("arm", hinge, mass=1, length=1)
    tip, hook = s.bodies[0].tip, s.O.offset(2 * s.N.x, "hook")
    s.spring(30, tip, hook, rest=0.5)
    run = da.simulate(s, 1, start={"theta": 0.2}, progress=False)
    r = run[hook - tip]
    pull = 30 * (1 - 0.5 / np.linalg.norm(r, axis=1))[:, np.newaxis] * r
    a = run["theta.dot.dot"], run["theta.dot"], run["theta"]
    centre = 0.5 * np.column_stack(
        [
            a[0] * np.cos(a[2]) - a[1] ** 2 * np.sin(a[2]),
            a[0] * np.sin(a[2]) + a[1] ** 2 * np.cos(a[2]),
        ]
    )
    expected = centre - pull[:, :2] + np.array([0, g])
    assert run.reaction("theta").force[:, :2] == pytest.approx(expected, abs=1e-9)
    assert np.abs(run.reaction("theta").moment).max() < 1e-11


# ---- rows that repeat others ---------------------------------------------------------------------


def test_redundant_rows_share_by_the_least_norm_and_say_so():
    s = pendulum_in_x_and_y()
    s.constrain(2 * (s["x"] ** 2 + s["y"] ** 2 - 1), "second rod", redundant=True)
    run = da.simulate(s, 0.5, start={"x": 0, "y": -1}, progress=False)
    found = run.reactions
    # λ₁ + 2 λ₂ = L with least λ₁² + λ₂²
    first, second = found.rows["rod"].multiplier, found.rows["second rod"].multiplier
    assert first + 2 * second == pytest.approx(np.full(len(run), -g))
    assert second == pytest.approx(2 * first)
    assert found.is_shared
    assert "least Σ λ²" in str(found)


def test_rows_that_repeat_others_only_where_they_hold_share_too():
    for loose in ({}, {"rtol": 1e-6, "atol": 1e-6, "stabilize": "none"}):
        found = run_of("bricard", 1.0, **loose).reactions
        assert found.is_shared
        assert "sixth hinge axis 2" in found.rows
        assert np.abs([row.multiplier for row in found.rows.values()]).max() < 100
        assert found.balance < 1e-4
    plain = run_of("bricard", 1.0)
    # no other multipliers with the same sum are smaller
    lam = np.array([row.multiplier[-1] for row in plain.reactions.rows.values()])
    kin = plain.kinematics
    names = [kin.name(i) for i in kin.q]
    along = np.array(
        [
            [row.along[q][-1] if q in row.along else 0.0 for q in names]
            for row in plain.reactions.rows.values()
        ]
    )
    A = along / lam[:, np.newaxis]
    assert lam == pytest.approx(np.linalg.pinv(A.T, rcond=1e-7) @ along.sum(axis=0), rel=1e-6)


# ---- out of here ---------------------------------------------------------------------------------


def test_every_component_in_a_table(tmp_path):
    run = run_of("rolling-disk", 0.2)
    path = tmp_path / "forces.csv"
    run.reactions.to_csv(path)
    with path.open(encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    assert names[:5] == [
        "t",
        *(f"rolling of disk along x: {c}" for c in ("lambda", "f_x", "f_y", "f_z")),
    ]
    # the name of the joint has a comma in it
    assert "x, y: f_z" in names
    table = np.array(lines, dtype=float)
    assert (len(run), len(names)) == table.shape
    assert np.array_equal(run.reaction("x, y").force[:, 2], table[:, names.index("x, y: f_z")])


def test_plot_and_summary(tmp_path):
    run = run_of("hoist", 1.0)
    plot = run.reactions.plot("x", path=tmp_path / "forces.svg")
    assert (tmp_path / "forces.svg").stat().st_size > 1000
    assert plot.path is not None
    text = str(run.reactions)
    assert "load of x" in text
    assert "power supplied: at most" in text


def test_a_name_that_is_none_gets_the_nearest():
    run = run_of("four-bar", 0.1)
    with pytest.raises(Unknown, match="no joint, row or prescribed motion named 'closure along z'"):
        run.reaction("closure along z")


def test_where_a_row_acts_must_be_known_for_the_joints():
    run = run_of("two-wheeled-robot", 0.2)
    assert {} == run.reactions.joints
    assert (
        "'no slip of the axle sideways' at A may act on 'body' or on 'right wheel'; say which with "
        "on=" in str(run.reactions)
    )


def test_nothing_held_and_nothing_driven():
    run = run_of("double-pendulum", 0.5)
    found = run.reactions
    assert ({}, {}) == (found.rows, found.drives)
    assert not np.any(found.power_in)
    assert ["alpha", "beta"] == list(found.joints)


def test_a_closure_is_not_mixed_up_with_one_whose_name_begins_alike():
    s = da.System("Bar on a hinge and a rod", gravity=9.81)
    x, y, th = s.coordinates("x y th")
    G, B = s.O.offset(x * s.N.x + y * s.N.y), s.N.rotated(th, s.N.z)
    s.body("bar", 2, G, B, da.inertia(B, 0.1, 0.1, 0.2))
    s.coincide(G.offset(-B.x), s.O, name="loop")
    s.distance(G.offset(B.x), s.O.offset(2 * s.N.x + s.N.y), 1, name="loop closure x")
    found = da.simulate(s, 0.1, start={"x": 1}, progress=False).reactions
    assert found["loop"].force == pytest.approx(
        found["loop x"].force + found["loop y"].force, abs=1e-12
    )
    assert (
        np.abs(found["loop"].force + found["loop closure x"].force - [0, 2 * 9.81, 0]).max() < 1e-9
    )


def test_a_spin_row_on_a_body_that_only_translates():
    """(ω_wheel − ω_cart)·z = 2 t, the cart on a rail: M = J ω̇ on the wheel, −M on the cart and
    through it on the rail.
    """
    s = da.System("Cart and wheel")
    x, theta = s.coordinates("x theta")
    N, B = s.N, s.N.rotated(theta, s.N.z, "B")
    P = s.O.offset(x * N.x, "P", N)
    cart = s.body("cart", 3, P, N, da.inertia(N, 1, 1, 1))
    wheel = s.body("wheel", 2, P.offset(0 * N.x, "Q", B), B, da.inertia(B, 3, 3, 5))
    s.constrain((B.w - N.w) @ N.z - 2 * s.t, "drive", on=(wheel, cart))
    run = da.simulate(s, 1, at=[0.5])
    row = run.reactions["drive"]
    assert {row.on, row.against} == {"wheel", "cart"}
    moment = row.moment[0] * (1 if row.on == "wheel" else -1)
    assert [0, 0, 10] == pytest.approx(moment)
    rail = run.reactions["x"]
    assert [0, 0, 10] == pytest.approx(rail.moment[0])
