"""Loops closed in the description: each against the same mechanism described without a loop."""

import numpy as np
import pytest

import dalembert as da
from dalembert import acos, atan2, cos, sin, sqrt
from dalembert.errors import BadDescription
from dalembert.symbolic.algebra.exact.zero_test import provably_zero

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def same_motion(a, b, pairs, tolerance=1e-9):
    """Whether quantities of two runs are equal at ten times."""
    t = np.linspace(0, min(a.t[-1], b.t[-1]), 10)
    for x, y in pairs:
        assert np.abs(a.at(t)[x] - b.at(t)[y]).max() <= tolerance, (x, y)


# ---- a plane loop ------------------------------------------------------------------------------

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.6, 0.5, 0.6


def bars(s, alpha, beta, gamma):
    """Three uniform bars at angles from the ground; the two points that meet."""
    ends = []
    feet = {"crank": s.O, "rocker": s.O.offset(GROUND * s.N.x, "D")}
    for name, angle, l in (
        ("crank", alpha, CRANK),
        ("coupler", beta, COUPLER),
        ("rocker", gamma, ROCKER),
    ):
        B = s.N.rotated(angle, s.N.z, name)
        foot = feet.get(name) or ends[0]
        s.body(name, l, foot.offset(l / 2 * B.x, frame=B), B, da.rod_inertia(B.x, l, l))
        ends.append(foot.offset(l * B.x, f"end of {name}", B))
    return ends[1], ends[2]


def looped(close):
    s = da.System("four-bar", gravity=9.81)
    close(s, *bars(s, *s.coordinates("alpha beta gamma")))
    s.speeds(omega=s["alpha"].dot)
    return s


def minimal():
    """β and γ as functions of α: the two circles about the crank's end and the rocker's foot
    meet.
    """
    s = da.System("four-bar", gravity=9.81)
    alpha = s.coordinate("alpha")
    x, y = GROUND - CRANK * cos(alpha), -CRANK * sin(alpha)
    d = sqrt(x**2 + y**2)
    beta = atan2(y, x) + acos((d**2 + COUPLER**2 - ROCKER**2) / (2 * COUPLER * d))
    tip_x, tip_y = (
        CRANK * cos(alpha) + COUPLER * cos(beta) - GROUND,
        CRANK * sin(alpha) + COUPLER * sin(beta),
    )
    bars(s, alpha, beta, atan2(tip_y, tip_x))
    s.speeds(omega=alpha.dot)
    return s


@pytest.mark.parametrize(
    "close",
    [
        lambda s, P, Q: s.coincide(P, Q),
        lambda s, P, Q: s.close(P, Q, "pin"),
        lambda s, P, Q: s.coincide(P, Q, seen=s.bodies[0].frame),
    ],
    ids=["coincide", "pin", "seen from the crank"],
)
def test_a_four_bar_moves_as_with_one_coordinate(close):
    s = looped(close)
    start = {"alpha": 1.0, "omega": 12.0}
    run = da.simulate(s, 2, start=start, guess={"beta": 0.6, "gamma": 1.5}, **TIGHT)
    same_motion(
        run,
        da.simulate(minimal(), 2, start=start, **TIGHT),
        [("alpha", "alpha"), ("omega", "omega")],
    )
    assert np.ptp(run.energy) <= 1e-9


def test_rows_that_vanish_are_dropped_and_reported():
    s = looped(lambda s, P, Q: s.close(P, Q, "pin", name="closure"))
    assert ["closure x", "closure y"] == [c.name for c in s.constraints]
    assert ["closure z", "closure axis 1", "closure axis 2"] == s.trivial_constraints


def test_closures_without_a_name_are_numbered():
    s = da.System("two loops")
    P = [s.particle(f"P{k}", 1, s.free(f"x{k} y{k} z{k} a{k} b{k} c{k}")).G for k in range(3)]
    s.coincide(P[0], P[1])
    s.coincide(P[1], P[2])
    assert ["loop closure x", "loop closure y", "loop closure z"] == [
        c.name for c in s.constraints[:3]
    ]
    assert ["loop closure 2 x", "loop closure 2 y", "loop closure 2 z"] == [
        c.name for c in s.constraints[3:]
    ]


# ---- every joint -------------------------------------------------------------------------------

TREES = {
    "pin": lambda s: s.pin("theta", s.O, s.N.z),
    "ball": lambda s: s.ball("c b a", s.O),
    "slide": lambda s: s.slide("d", s.O, s.N.x),
    "cylinder": lambda s: s.pin("theta", s.slide("d", s.O, s.N.z), s.N.z),
    "universal": lambda s: s.universal("a b", s.O, "xy"),
}


def brick(s, at):
    """A brick beside the joint, under gravity askew, on a spring so that it stays near."""
    F = at.frame
    s.box("brick", at.offset(0.3 * F.x + 0.2 * F.y - 0.4 * F.z, "G", F), F, 2, 0.3, 0.2, 0.1)
    s.spring(9, s.bodies[0].G, s.O)
    s.gravity(1.3 * s.N.x - 0.9 * s.N.y - 2.1 * s.N.z)
    return s


@pytest.mark.each_time(3)
@pytest.mark.parametrize("joint", TREES)
def test_a_free_body_held_by_a_joint_moves_as_on_that_joint(joint):
    tree, loop = da.System("tree"), da.System("loop")
    brick(tree, TREES[joint](tree))
    at = loop.free("x y z phi theta psi")
    brick(loop, at)
    loop.close(loop.O, at, joint)
    expected, actual = da.simulate(tree, 0.8, **TIGHT), da.simulate(loop, 0.8, **TIGHT)
    axes = [(expected.system.N, actual.system.N, axis) for axis in "xyz"]
    for N, M, axis in axes:
        one = expected.at([0.3, 0.8])[
            (expected.system.bodies[0].G - expected.system.O) @ getattr(N, axis)
        ]
        other = actual.at([0.3, 0.8])[
            (actual.system.bodies[0].G - actual.system.O) @ getattr(M, axis)
        ]
        assert np.abs(one - other).max() <= 1e-8, axis


def test_a_weld_leaves_nothing_to_move():
    s = da.System("weld")
    at = s.free("x y z phi theta psi")
    brick(s, at)
    s.close(s.O, at, "weld")
    assert 0 == da.kinematics(s).n_u
    assert 6 == len(s.constraints)


def test_aligned_axes_leave_what_a_planar_joint_and_a_turn_leave():
    s = da.System("aligned")
    at = s.free("x y z phi theta psi")
    brick(s, at)
    s.align(at.frame.z, s.N.z)
    assert ["alignment axis 1", "alignment axis 2"] == [c.name for c in s.constraints]
    run = da.simulate(s, 0.5, start={"phi.dot": 1.0})
    assert np.abs(run[at.frame.z @ s.N.z] - 1).max() <= 1e-12
    assert np.abs(run["phi.dot"]).min() > 0.1


def test_aligned_frames_do_not_turn():
    s = da.System("aligned")
    at = s.free("x y z phi theta psi")
    brick(s, at)
    s.align(s.N, at.frame)
    assert [f"alignment about {axis}" for axis in "xyz"] == [c.name for c in s.constraints]
    run = da.simulate(s, 0.5, start={"x.dot": 1.0})
    assert max(np.abs(run[q]).max() for q in ("phi", "theta", "psi")) <= 1e-12


# ---- distances and couplings -------------------------------------------------------------------


def test_a_distance_is_a_massless_rod():
    s = da.System("pendulum", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("bob", 2, P)
    l = s.constant("l", 0.7)
    s.distance(P, s.O, l)
    assert "distance of P and O" == s.constraints[0].name
    q = da.System("pendulum", gravity=9.81)
    theta = q.coordinate("theta")
    q.particle("bob", 2, q.O.offset(0.7 * sin(theta) * q.N.x - 0.7 * cos(theta) * q.N.y))
    run = da.simulate(s, 2, start={"x": 0.7 * np.sin(1.0), "y": -0.7 * np.cos(1.0)}, **TIGHT)
    other = da.simulate(q, 2, start={"theta": 1.0}, **TIGHT)
    same_motion(run, other, [("x", 0.7 * sin(theta)), ("y", -0.7 * cos(theta))])


def wheels(geared):
    """Two wheels, the second driven by the first at −5/2 of its speed, ahead by 0.3; a weight on
    a crank of the second.
    """
    s = da.System("gear", gravity=9.81)
    theta = s.coordinate("theta")
    phi = s.coordinate("phi") if geared else -2.5 * theta + 0.3
    A = s.N.rotated(theta, s.N.z)
    B = s.N.rotated(phi, s.N.z)
    s.disk("A", s.O, A, 3, 0.4, A.z)
    s.disk("B", s.O.offset(0.6 * s.N.x), B, 1, 0.2, B.z)
    s.particle("weight", 0.5, s.O.offset(0.6 * s.N.x + 0.1 * B.x))
    if geared:
        s.gear(phi, theta, -2.5, offset=0.3)
    return s


def test_a_gear_is_one_coordinate():
    run = da.simulate(wheels(True), 2, start={"theta": 0.4}, **TIGHT)
    same_motion(
        run,
        da.simulate(wheels(False), 2, start={"theta": 0.4}, **TIGHT),
        [("theta", "theta"), ("theta.dot", "theta.dot")],
    )
    assert "gear of φ and θ" == run.system.constraints[0].name


def nut(screwed):
    """A nut sinks on a vertical screw of pitch 0.05 and must turn with it."""
    s = da.System("screw", gravity=9.81, up="z")
    theta = s.coordinate("theta")
    z = s.coordinate("z") if screwed else 0.05 * theta / (2 * np.pi)
    B = s.N.rotated(theta, s.N.z)
    s.cylinder("nut", s.O.offset(z * s.N.z), B, 1, 0.04, 0.03, B.z)
    if screwed:
        s.screw(z, theta, 0.05)
    return s


def test_a_screw_is_one_coordinate():
    run = da.simulate(nut(True), 2, **TIGHT)
    same_motion(run, da.simulate(nut(False), 2, **TIGHT), [("theta", "theta")])
    # z̈ = −g/(1 + I (2π/h)²/m), I = m r²/2
    assert -9.81 / (1 + 0.5 * 0.04**2 * (2 * np.pi / 0.05) ** 2) * 2 == pytest.approx(
        run["z"][-1], rel=1e-10
    )


# ---- rolling -----------------------------------------------------------------------------------


def test_a_ball_that_rolls_on_a_cart_pushes_it_back():
    # a solid ball on a plank: ẍ of the ball is 2/7 of that of the plank, so m (2/7) a + M a = F
    s = da.System("ball on a plank")
    X, x, theta = s.coordinates("X x theta")
    plank = s.O.offset(X * s.N.x)
    P = s.N.rotated(0, s.N.z, "plank")
    cart = s.box("cart", plank, P, 3, 1, 0.1, 0.1)
    B = s.N.rotated(theta, s.N.z)
    ball = s.sphere("ball", s.O.offset(x * s.N.x + 0.2 * s.N.y), B, 2, 0.1)
    s.roll(ball, ball.G.offset(-0.1 * s.N.y, frame=s.N), on=cart)
    s.force(5 * s.N.x, at=plank)
    assert ["rolling of ball along x"] == [c.name for c in s.constraints]
    run = da.simulate(s, 1, **TIGHT)
    assert 5 / (3 + 2 * 2 / 7) / 2 == pytest.approx(run["X"][-1], rel=1e-10)
    assert 2 / 7 == pytest.approx(run["x"][-1] / run["X"][-1], rel=1e-10)


def test_the_lowest_point_of_an_ellipsoid_and_of_a_ring():
    s = da.System("contact")
    a, b = s.coordinates("a b")
    B = s.N.rotations("xy", a, b)[-1]
    # on a sphere it lies below the centre, whatever the attitude
    lowest = da.ellipsoid_contact(-s.N.z, B, 0.3, 0.3, 0.3)
    assert [True] * 3 == provably_zero(
        s.space.tape, [e.i for e in (lowest @ s.N.x, lowest @ s.N.y, lowest @ lowest - 0.09)]
    )
    # the steepest direction in the plane of the ring has no part along its axis, and none across
    # the fall line
    ring = da.ring_contact(-s.N.z, B.z, 0.3, 0.05)
    level = (ring + 0.05 * s.N.z) @ B.z
    across = (ring + 0.05 * s.N.z) @ B.z.cross(s.N.z)
    assert [True, True] == provably_zero(s.space.tape, [level.i, across.i])


def test_rows_of_rolling_that_say_the_same_are_refused_at_the_line():
    s = da.System("disk in a trough", gravity=9.81)
    alpha, theta = s.coordinates("alpha theta")
    A, B = s.N.rotated(alpha, s.N.z, "A"), s.N.rotated(theta, s.N.z)
    disk = s.disk("disk", s.O.offset(-0.9 * A.y, frame=A), B, 2, 0.1, B.z)
    contact = s.O.offset(-A.y, "contact", A)
    with pytest.raises(
        BadDescription,
        match=r"^rolling of disk: its rows along x and along y are the same condition; give the "
        r"frame of the contact, seen=",
    ):
        s.roll(disk, contact)
    assert ([], []) == (s.constraints, s.trivial_constraints)
    s.roll(disk, contact, seen=A)
    assert ["rolling of disk along x"] == [c.name for c in s.constraints]


# ---- what is refused ---------------------------------------------------------------------------


def two():
    s = da.System("bad")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    return s, P


BAD = [
    (lambda s, P: s.coincide(P, P), r"coincide: P is given twice; give two points"),
    (lambda s, P: s.coincide(P, s.N), r"coincide: expected a point, got Frame\('N'\)"),
    (
        lambda s, P: s.coincide(P, s.bodies[0].frame),
        r"got None \(a particle has no frame; name its point, particle.G\)",
    ),
    (
        lambda s, P: s.coincide(P, s.O, seen=s.bodies[0].frame),
        r"coincide, seen=: expected a frame, got None \(a particle has no frame",
    ),
    (
        lambda s, P: s.coincide(s.O, s.O.offset(0 * s.N.x)),
        r"loop closure: this condition always holds, so it closes no loop",
    ),
    (
        lambda s, P: s.coincide(P, s.O, redundant="u"),
        r"loop closure: redundant='u' names none of its rows; they are 'x', 'y', 'z'",
    ),
    (
        lambda s, P: s.align(s.N.z, s.N),
        r"align: give two axes such as B.z and C.z, or two frames; got N.z and Frame\('N'\)",
    ),
    (lambda s, P: s.align(0 * s.N.z, s.N.z), r"the axis of a joint is the vector 0"),
    (
        lambda s, P: s.close(P, s.O, "hinge"),
        r"close: no joint 'hinge'; there are pin, ball, slide, cylinder, universal, weld",
    ),
    (lambda s, P: s.close(P, s.O, "ball", s.N.z), r"close: a ball joint has no axis; leave it out"),
    (
        lambda s, P: s.distance(P, s.O, 0),
        r"distance of P and O: it is 0; for distance zero write s.coincide\(P, Q\)",
    ),
    (lambda s, P: s.distance(P, s.O, -1), r"distance of P and O: it is -1; a distance is positive"),
    (lambda s, P: s.gear(s["x"], s["y"], 0), r"gear: its ratio is 0, so nothing is coupled"),
    (
        lambda s, P: s.gear(s["x"], 3, 2),
        r"gear: 3 is no coordinate; give two coordinates or expressions of them",
    ),
    (
        lambda s, P: s.gear(s["x"], s["y"], s["x"]),
        r"gear: its ratio depends on x; it must be constant",
    ),
    (
        lambda s, P: s.gear(s["x"], s["y"], 2, offset=s.t),
        r"gear: its offset depends on t; it must be constant",
    ),
    (lambda s, P: s.screw(s["x"], s["y"], 0), r"screw: its pitch is 0, so nothing is coupled"),
    (lambda s, P: s.roll(s.bodies[0], P), r"roll: give a rigid body and the point of contact"),
    (lambda s, P: s.constrain(float("nan") * s["x"]), r"not finite|is not a finite number|nan"),
]


@pytest.mark.parametrize(("declare", "message"), BAD, ids=[m[:30] for _, m in BAD])
def test_refused_at_the_line(declare, message):
    s, P = two()
    with pytest.raises(da.DalembertError, match=message):
        declare(s, P)
    assert [] == s.constraints


def test_a_name_is_used_once():
    s, P = two()
    s.coincide(P, s.O, "closure")
    with pytest.raises(BadDescription, match="'closure x' is declared already, as a constraint"):
        s.coincide(P, s.O.offset(s.N.x), "closure")


def test_a_closure_that_is_refused_leaves_no_rows_behind():
    s = da.System("Points in two planes")
    a, b = s.coordinates("a b")
    P = s.O.offset(s.N.rotated(a, s.N.z).x)
    Q = s.O.offset(s.N.rotated(b, s.N.z).x + s.N.z)
    with pytest.raises(da.BadDescription, match="does not depend on the motion"):
        s.coincide(P, Q)
    assert [] == s.constraints
    assert [] == s.trivial_constraints
