"""Forces that have a potential are found, and no others: 100 random fields with one, 100
without, and the traps.
"""

import random

import pytest
import sympy as sp

import dalembert as da

X = sp.symbols("x y z")
K = sp.symbols("k c")
# fields on one particle: a system has room for many
EACH = 25


def particle(*rows: str) -> tuple[da.System, da.Point]:
    s = da.System("Particle")
    x, y, z = s.coordinates("x y z")
    mass = s.constant("k", 1) + s.constant("c", 1)
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("particle", mass, P)
    for k, row in enumerate(rows):
        s.constrain(s.expression(row), f"row {k}")
    return s, P


def push(s: da.System, P: da.Point, F, name: str) -> None:
    x, y, z = (s.expression(str(e)) for e in F)
    s.force(x * s.N.x + y * s.N.y + z * s.N.z, P, name=name)


def grad(V):
    return [-sp.diff(V, x) for x in X]


def curl(F):
    return [
        sp.expand(sp.diff(F[j], X[i]) - sp.diff(F[i], X[j])) for i in range(3) for j in range(i)
    ]


def polynomial(r: random.Random):
    return sum(
        r.randint(-4, 4) * r.choice(K) * sp.prod(x ** r.randint(0, 2) for x in X) for _ in range(3)
    )


def wave(r: random.Random):
    return (
        r.choice(K)
        * r.choice(X) ** r.randint(0, 1)
        * r.choice((sp.sin, sp.cos))(sum(r.randint(-2, 2) * x for x in X) + r.choice(X))
    )


def of_distance(r: random.Random):
    d = sp.sqrt(sum((x - r.randint(-2, 2)) ** 2 for x in X))
    return r.choice(K) * r.choice((1 / d, d, d**2 - 2 * d, d**3, 3 / d**2))


def potential(r: random.Random):
    V = sp.Integer(0)
    while all(sp.expand(e) == 0 for e in grad(V)):
        V = (
            of_distance(r)
            if r.random() < 0.3
            else polynomial(r) + (wave(r) if r.random() < 0.5 else 0)
        )
    return V


def verdicts(fields) -> list[da.LoadVerdict]:
    s, P = particle()
    for k, F in enumerate(fields):
        push(s, P, F, f"field {k}")
    return [v for v in da.conservative(s) if len(v.loads) == 1]


@pytest.mark.each_time(2)
@pytest.mark.parametrize("seed", range(4))
def test_fields_with_a_potential(seed):
    r = random.Random(seed)
    potentials = [potential(r) for _ in range(EACH)]
    for V, found in zip(potentials, verdicts(map(grad, potentials)), strict=True):
        assert (True, True) == (found.closed, found.conservative), V
        assert found.has_potential, V


@pytest.mark.each_time(2)
@pytest.mark.parametrize("seed", range(4))
def test_fields_without_a_potential(seed):
    r = random.Random(1000 + seed)
    fields = []
    while len(fields) < EACH:
        swirl = [r.randint(-1, 1) * r.choice(K) * r.choice(X) ** r.randint(1, 2) for _ in X]
        F = [a + b for a, b in zip(grad(potential(r)), swirl, strict=True)]
        if any(e != 0 for e in curl(swirl)):
            fields.append(F)
    for F, found in zip(fields, verdicts(fields), strict=True):
        assert (False, False) == (found.closed, found.conservative), F


def test_trap_velocities():
    r = random.Random(7)
    fields = []
    for k in range(12):
        v = (
            [sp.Symbol("y.dot"), -sp.Symbol("x.dot"), 0]
            if k % 2
            else [-sp.Symbol(f"{x}.dot") for x in X]
        )
        fields.append([a + r.choice(K) * b for a, b in zip(grad(potential(r)), v, strict=True)])
    assert [(False, "it depends on velocities")] * 12 == [
        (v.conservative, v.why) for v in verdicts(fields)
    ]


def test_trap_time():
    r = random.Random(8)
    fields = [[sp.sin((k + 1) * sp.Symbol("t")) * e for e in grad(potential(r))] for k in range(12)]
    assert [(False, "it depends on time")] * 12 == [
        (v.conservative, v.why) for v in verdicts(fields)
    ]


def test_trap_inputs():
    s, P = particle()
    s.force(s.input("F") * s.N.x, P, name="drive")
    (found,) = da.conservative(s)
    assert (False, "F may be anything") == (found.conservative, found.why)


def test_trap_rows():
    """Closed along z = h(x, y) though not in space, and the other way round."""
    x, y, z = X
    r = random.Random(9)
    for k in range(6):
        h = r.randint(1, 3) * x**2 + r.randint(-2, 2) * x * y + y
        s, P = particle(str(z - h))
        # (z − h) times anything vanishes with its area along the row; x dy does not
        push(
            s,
            P,
            [a + (z - h) * b for a, b in zip(grad(polynomial(r)), (y**2, -x, x * y), strict=True)],
            "closed",
        )
        push(s, P, [0, (k + 1) * x, 0], "open")
        closed, not_closed = (v for v in da.conservative(s) if len(v.loads) == 1)
        assert (True, None) == (closed.closed, closed.conservative)
        assert (False, False) == (not_closed.closed, not_closed.conservative)


def test_trap_rows_on_velocities_stay_undecided():
    s, P = particle("x.dot - y*z.dot")
    push(s, P, [-X[1], X[0], 0], "swirl")
    push(s, P, [-X[0], 0, 0], "spring")
    swirl, spring = da.conservative(s)
    assert (None, None) == (swirl.closed, swirl.conservative)
    assert True is spring.conservative


def test_trap_many_values():
    r = random.Random(10)
    x, y = X[:2]
    centres = [(x - r.randint(-3, 3), y - r.randint(-3, 3)) for _ in range(10)]
    for found in verdicts(
        [[-b * K[0] / (a**2 + b**2), a * K[0] / (a**2 + b**2), 0] for a, b in centres]
    ):
        assert (True, False, True) == (found.closed, found.conservative, found.many_valued)


def turned(M: str) -> da.System:
    s = da.System("Wheel")
    (theta,) = s.coordinates("theta")
    B = s.N.rotated(theta, s.N.z, "B")
    s.body("wheel", s.constant("M", 1) + s.constant("k", 1), s.O, B, da.inertia(B, 1, 1, 2))
    s.torque(s.expression(M) * s.N.z, B, name="torque")
    return s


@pytest.mark.parametrize(
    ("M", "single"),
    [
        ("M", False),
        ("M*sin(theta)", True),
        ("M*cos(theta)**2", False),
        ("-k*theta", True),
        ("M - k*theta", True),
    ],
)
def test_a_torque_on_an_angle(M, single):
    (found,) = da.conservative(turned(M))
    assert (True, single, not single) == (found.closed, found.conservative, found.many_valued)


def test_a_many_valued_potential_gives_a_first_integral_and_no_U():
    found = da.energy_integrals(turned("M"))
    assert False is found.potential_exists
    assert ["θ̇² − M θ"] == [str(f.expression) for f in found.first]


@pytest.mark.parametrize("force", ["-x - sign(x')/2", "x*sign(t - 1)", "sign(y)"])
def test_a_jump_has_no_slope_and_is_seen_all_the_same(force):
    s = da.System("plane")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("P", 1, P)
    s.force(s.expression(force) * s.N.x, at=P)
    assert [None] == [load.conservative for load in da.energy_integrals(s).loads]
