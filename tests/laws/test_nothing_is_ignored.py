"""What is accepted is never ignored: another parameter gives another motion, another energy or
another reaction.

The declarations are found by reflection, so that a new one without a case here fails. What rightly
changes nothing is listed as noncontributing where the system is described.
"""

import inspect

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery, sin
from dalembert.interface.report import system_tables
from dalembert.interface.report.formula_writer import FormulaWriter

# what only reads, or names things for print
NOT_DECLARING = {"accept", "display", "expand", "expression", "snapshot", "cache_key"}
NOT_DECLARING |= {"length", "link", "save", "view"}
# what units say changes no number
NOT_DECLARING |= {"conjugate_unit", "dimension", "known_dimensions", "unit", "units"}
# declares again what another system declares: tests/model/test_attach.py
NOT_DECLARING |= {"attach"}
# continua: tests/flexible
CONTINUA = {"bar", "beam", "end", "shaft", "string"}


def declarations():
    public = [
        name
        for name, f in inspect.getmembers(da.System, inspect.isfunction)
        if not name.startswith("_")
    ]
    return sorted(set(public) - NOT_DECLARING - CONTINUA)


# ---- systems with one parameter ------------------------------------------------------------------


def swing(s):
    """A rod on a pin, askew, so that everything does work on it."""
    return s.rod("rod", s.pin("theta", s.O), 1, 0.8)


def loaded(declare):
    def build(p):
        s = da.System("loaded", gravity=9.81)
        declare(s, swing(s), p)
        return s

    return build


def point(s, names="x y z"):
    """A particle free in space; its point."""
    x, y, z = s.coordinates(names)
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, names.replace(" ", ""), s.N)
    s.particle(P.name, 1, P)
    return P


def given_by_energy(p):
    s = da.System("energies")
    x = s.coordinate("x")
    s.kinetic_energy(p * x.dot**2)
    s.potential(x**2 + x)
    return s


def held(declare):
    def build(p):
        s = da.System("held", gravity=9.81)
        declare(s, point(s), p)
        return s

    return build


def free(s, shape):
    """A free body of some shape, pulled out of its middle by springs on two of its points."""
    at = s.free("x y z a b c")
    shape(s, at)
    F = at.frame
    for k, r in ((3, F.x + 0.3 * F.y), (5, F.z - 0.2 * F.x)):
        s.spring(k, at.offset(0.5 * r, frame=F), s.O.offset(0.3 * s.N.x + 0.2 * s.N.y))


def shaped(shape):
    def build(p):
        s = da.System("shaped", gravity=9.81)
        free(s, lambda s, at: shape(s, at, p))
        return s

    return build


def jointed(joint):
    """A brick beside a joint, with a spring askew."""

    def build(p):
        s = da.System("jointed", gravity=9.81)
        at = joint(s, p)
        F = at.frame
        s.box("brick", at.offset(0.3 * F.x + 0.2 * F.y - 0.4 * F.z, "G", F), F, 2, 0.3, 0.2, 0.1)
        s.spring(9, s.bodies[0].G, s.O.offset(0.2 * s.N.x + 0.5 * s.N.z))
        return s

    return build


def wheels(ratio, offset=0.1):
    s = da.System("wheels", gravity=9.81)
    theta, phi = s.coordinates("theta phi")
    A, B = s.N.rotated(theta, s.N.z), s.N.rotated(phi, s.N.z)
    s.disk("A", s.O, A, 3, 0.4, A.z)
    s.particle("weight", 0.5, s.O.offset(0.1 * B.x))
    s.gear(phi, theta, ratio, offset=offset)
    return s


def nut(p):
    s = da.System("nut", gravity=9.81, up="z")
    theta, z = s.coordinates("theta z")
    B = s.N.rotated(theta, s.N.z)
    s.cylinder("nut", s.O.offset(z * s.N.z), B, 1, 0.04, 0.03, B.z)
    s.screw(z, theta, p)
    return s


def rolling(p):
    s = da.System("rolling", gravity=9.81)
    x, theta = s.coordinates("x theta")
    C = s.O.offset(x * s.N.x, "C")
    B = s.N.rotated(theta, s.N.z)
    ball = s.sphere("ball", C.offset(0.1 * s.N.y, frame=s.N), B, 2, 0.1)
    s.force(p * s.N.x, at=ball.G)
    s.roll(ball, C)
    return s


def symbols(kind):
    """A cart driven by a symbol of some kind."""

    def build(p):
        s = da.System("symbols")
        x = s.coordinate("x")
        P = s.O.offset(x * s.N.x)
        s.particle("cart", 2, P)
        s.force(kind(s, p) * s.N.x, at=P)
        return s

    return build


def along(s, P, w, p):
    """A second particle, w from the first in a direction askew, on a spring."""
    Q = P.offset(w * (s.N.x + p * s.N.y))
    s.particle("Q", 1, Q)
    s.spring(5, Q, s.O.offset(s.N.x))


def plank(p):
    """A ball rolls on a plank that is pushed."""
    s = da.System("plank")
    X, x, theta = s.coordinates("X x theta")
    cart = s.box("cart", s.O.offset(X * s.N.x), s.N.rotated(0, s.N.z), 3 * p, 1, 0.1, 0.1)
    ball = s.sphere("ball", s.O.offset(x * s.N.x + 0.2 * s.N.y), s.N.rotated(theta, s.N.z), 2, 0.1)
    s.roll(ball, ball.G.offset(-0.1 * s.N.y, frame=s.N), on=cart)
    s.force(5 * s.N.x, at=cart.G)
    return s


def two_frames(p):
    s = da.System("aligned", gravity=9.81)
    free(s, lambda s, at: s.box("brick", at, at.frame, 2, 0.3, 0.2, 0.1))
    s.align(s.bodies[0].frame, s.N.rotated(p / 4, s.N.z))
    return s


def closed(p):
    s = da.System("closed", gravity=9.81)
    free(s, lambda s, at: s.box("brick", at, at.frame, 2, 0.3, 0.2, 0.1))
    at = s.bodies[0].G
    s.close(s.O, at, "pin", s.N.rotated(p / 4, s.N.x).z, at.frame.z)
    return s


CASES = {
    "kinetic_energy": given_by_energy,
    "generalized_force": loaded(lambda s, rod, p: s.generalized_force(s["theta"], p)),
    "virtual_work": loaded(lambda s, rod, p: s.virtual_work(f"{p}*delta(theta)")),
    "align": two_frames,
    "ball": jointed(lambda s, p: s.ball("a b c", s.O.offset(p * s.N.x / 9, frame=s.N))),
    "body": shaped(lambda s, at, p: s.body("B", 1, at, at.frame, da.inertia(at.frame, p, 2, 2.5))),
    "box": shaped(lambda s, at, p: s.box("B", at, at.frame, 1, p, 0.5, 0.9)),
    "close": closed,
    "coincide": held(lambda s, P, p: s.coincide(P, s.slide("d", s.O, s.N.rotated(p / 4, s.N.z).x))),
    "constant": symbols(lambda s, p: s.constant("c", p)),
    "constants": symbols(lambda s, p: s.constants(c=p)[0]),
    "constrain": held(lambda s, P, p: s.constrain(s["x"] - p * s["y"])),
    "contact": held(
        lambda s, P, p: s.contact(P, through=s.O.offset((p - 1) * s.N.y), friction=0.1)
    ),
    "coordinate": held(lambda s, P, p: along(s, P, s.coordinate("w"), p)),
    "coordinates": held(lambda s, P, p: along(s, P, s.coordinates("w")[0], p)),
    "cylinder": shaped(lambda s, at, p: s.cylinder("B", at, at.frame, 1, p, 0.9, at.frame.z)),
    "damper": held(lambda s, P, p: s.damper(p, P, s.O.offset(s.N.x))),
    "disk": shaped(lambda s, at, p: s.disk("B", at, at.frame, 1, p, at.frame.z)),
    "dissipation": loaded(lambda s, rod, p: s.dissipation(p * s["theta"].dot ** 2)),
    "distance": held(lambda s, P, p: s.distance(P, s.O, p)),
    "force": loaded(lambda s, rod, p: s.force(p * s.N.x, at=rod.tip)),
    "free": jointed(lambda s, p: s.free("x y z a b c", s.O.offset(p * s.N.x / 9, frame=s.N))),
    "friction": loaded(lambda s, rod, p: s.friction(s["theta"].dot, 0.3, normal=p)),
    "gear": wheels,
    "gravity": lambda p: (s := da.System("falling"), point(s), s.gravity(-p * s.N.y))[0],
    "input": symbols(lambda s, p: p * s.input("F")),
    "inputs": symbols(lambda s, p: p * s.inputs("F")[0]),
    "rate": symbols(lambda s, p: (x := s.state("z"), s.rate(x, p - x))[0]),
    "state": symbols(lambda s, p: s.state("z", rate=lambda z: p - z)),
    "particle": loaded(lambda s, rod, p: s.particle("Q", p, rod.tip)),
    "pin": jointed(lambda s, p: s.pin("a", s.O, s.N.rotated(p / 4, s.N.x).z)),
    "potential": loaded(lambda s, rod, p: s.potential(p * s["theta"])),
    "rod": lambda p: (s := da.System("rod", gravity=9.81), s.rod("rod", s.pin("theta", s.O), 1, p))[
        0
    ],
    "roll": rolling,
    "rope": held(lambda s, P, p: s.rope(s.O.offset(s.N.x / 2 + 1.5 * s.N.y), P, p)),
    "screw": nut,
    "slide": jointed(lambda s, p: s.slide("d", s.O, s.N.rotated(p / 4, s.N.z).x)),
    "specified": symbols(lambda s, p: s.specified("d", p * sin(s.t))),
    "sphere": shaped(lambda s, at, p: s.sphere("B", at, at.frame, 1, p)),
    "spring": held(lambda s, P, p: s.spring(p, P, s.O, rest=0.3)),
    "stop": loaded(lambda s, rod, p: s.stop(s["theta"], lower=0.1 * p, restitution=0.5)),
    "torque": loaded(lambda s, rod, p: s.torque(p * s.N.z, on=rod)),
    "universal": jointed(lambda s, p: s.universal("a b", s.O.offset(p * s.N.x / 9, frame=s.N))),
    "weld": jointed(lambda s, p: s.pin("a", s.weld(s.O, p * s.N.x / 9))),
}
# options of a declaration that are parameters too
OPTIONS = {
    "body about": shaped(
        lambda s, at, p: s.body(
            "B", 1, at, at.frame, da.inertia(at.frame, 3, 3, 3), about=at.offset(p / 9 * at.frame.x)
        )
    ),
    "force and reaction": held(
        lambda s, P, p: s.force(s.N.x, at=P, reaction=P.offset(p * s.N.y) if p == 1 else s.O)
    ),
    "gear offset": lambda p: wheels(2, p),
    "contact friction": held(
        lambda s, P, p: s.contact(
            P, through=s.O.offset(0.5 * s.N.y), friction=0.1 * p, along=s.N.x, speed=1
        )
    ),
    "contact restitution": held(
        lambda s, P, p: s.contact(P, through=s.O.offset(0.7 * s.N.y), restitution=p / 2)
    ),
    "roll on": plank,
    "specified rate": symbols(lambda s, p: s.specified("d", rate=s.input("F")) * p),
    "specified acceleration": symbols(lambda s, p: s.specified("d", acceleration=s.input("F")) * p),
    "spring rest": held(lambda s, P, p: s.spring(4, P, s.O, rest=p / 2)),
    "torque and reaction": loaded(
        lambda s, rod, p: s.torque(s.N.z, on=rod, reaction=s.N if p == 1 else rod)
    ),
}
# a choice of variables: the motion stays, what the speed is called and counts in changes
SPEEDS = {
    "speed": loaded(lambda s, rod, p: s.speed("u", p * s["theta"].dot)),
    "speeds": loaded(lambda s, rod, p: s.speeds(u=p * s["theta"].dot)),
}
START = {"theta": 0.5, "x": 0.6, "y": 0.8, "a": 0.3}


def fingerprint(s):
    """Where the system is after half a second, how it moves and what energy it has."""
    start = {} if s.constraints else {q: START[q.name] for q in s.q if q.name in START}
    found = {str(force) for c in s.contacts for force in c.forces}
    inputs = {
        x.scalar: 1.0 for x in s.symbols.values() if x.kind == "input" and x.name not in found
    }
    run = da.simulate(s, 0.5, start=start, inputs=inputs, audit=False)
    return np.concatenate([run.q[-1], run.u[-1], [run.energy[-1]]])


def test_every_declaration_has_a_case():
    assert declarations() == sorted({**CASES, **SPEEDS})


@pytest.mark.each_time(16)
@pytest.mark.parametrize("name", [*CASES, *OPTIONS])
def test_another_parameter_gives_another_motion(name):
    build = (CASES | OPTIONS)[name]
    one, other = fingerprint(build(1.0)), fingerprint(build(1.25))
    assert np.isfinite(one).all()
    assert np.abs(one - other).max() > 1e-6 * max(1.0, np.abs(one).max())


@pytest.mark.parametrize("name", SPEEDS)
def test_another_speed_is_another_variable_of_the_same_motion(name):
    one, other = (
        da.simulate(SPEEDS[name](p), 0.5, start={"theta": 0.5}, rtol=1e-12, atol=1e-12)
        for p in (1.0, 1.25)
    )
    assert one["theta"][-1] == pytest.approx(other["theta"][-1], rel=1e-10)
    assert 1.25 * one["u"][-1] == pytest.approx(other["u"][-1], rel=1e-10)


# ---- what changes no motion is listed -----------------------------------------------------------


def listed(s):
    """The loads that the description of the system calls noncontributing."""
    (table,) = system_tables.load_table(da.kinematics(s), FormulaWriter())
    return {row[0] for row in table.rows if "noncontributing" in str(row[2])}


def across(p):
    s = da.System("across")
    rod = swing(s)
    s.force(p * s.N.z, at=rod.tip, name="across the plane")
    s.torque(p * s.N.x, on=rod, name="about the rod")
    s.force(s.N.x, at=rod.tip, name="along the plane")
    return s


def test_loads_that_only_the_joint_feels_are_listed_and_change_its_reaction():
    one, other = across(1.0), across(1.25)
    assert np.array_equal(fingerprint(one), fingerprint(other))
    assert {"across the plane", "about the rod"} == listed(one)
    assert str(da.reactions(one).joints[0]) != str(da.reactions(other).joints[0])


def test_rows_that_hold_already_are_listed():
    s = da.System("plane")
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z)
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.body("B", 1, P, B, da.inertia(B, 1, 1, 1))
    s.coincide(P.offset(B.x), s.O.offset(2 * s.N.x))
    assert ["loop closure z"] == s.trivial_constraints


def test_a_row_declared_redundant_is_listed():
    s = gallery.build("bricard")
    lines = [
        str(line.note)
        for block in system_tables.constraints(da.kinematics(s), FormulaWriter())
        for line in getattr(block, "lines", ())
    ]
    assert ["axis 2" in line for line in lines] == [
        "redundant: noncontributing" in line for line in lines
    ]
    assert 1 == sum("redundant" in line for line in lines)
