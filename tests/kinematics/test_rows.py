"""A q̇ + b = 0: holonomic rows differentiated, nonholonomic ones as they are, norm rows of
quaternions last.
"""

import pytest

import dalembert as da
from dalembert.mechanics.kinematics import constraint_rows
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.scalar import as_node


@pytest.fixture
def s():
    s = da.System("rows")
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z)
    s.body("body", 1, s.O.offset(x * s.N.x + y * s.N.y), B, da.inertia(B, 0, 0, 1))
    return s


def row_of(s, k=0):
    return da.kinematics(s).rows[k]


def equal(s, row, A, b):
    kin = da.kinematics(s)
    t = kin.tape
    actual = [row.A.get(k, t.zero) for k in range(kin.n_q)] + [row.b]
    return all(
        provably_zero(
            t, [t.sub(a, as_node(t, s.expression(e))) for a, e in zip(actual, [*A, b], strict=True)]
        )
    )


def test_holonomic_row_is_the_rate_of_its_position(s):
    # A = ∂φ/∂q, b = ∂φ/∂t (Gre03 (4.11))
    s.constrain(s["x"] ** 2 + s["y"] ** 2 - (2 + da.sin(s.t)) ** 2, "circle")
    row = row_of(s)
    assert row.holonomic
    assert ("circle", False) == (row.name, row.is_norm)
    assert equal(s, row, ["2*x", "2*y", "0"], "-2*(2 + sin(t))*cos(t)")


def test_holonomic_row_with_a_specified_motion(s):
    w = s.specified("w")
    s.constrain(s["y"] - w * s["x"])
    assert row_of(s).holonomic
    assert equal(s, row_of(s), ["-w", "1", "0"], "-w'*x")


def test_nonholonomic_row(s):
    w = s.specified("w")
    s.constrain(-s["x"].dot * da.sin(s["phi"]) + s["y"].dot * da.cos(s["phi"]) - w - s["x"] / 4)
    row = row_of(s)
    assert not row.holonomic
    assert row.phi is None
    assert equal(s, row, ["-sin(phi)", "cos(phi)", "0"], "-w - x/4")


def test_row_through_a_declared_speed(s):
    u = s.speed("u", s["x"].dot + s["y"].dot)
    s.speeds(v=s["y"].dot, w=s["phi"].dot)
    s.constrain(u - s.t)
    assert equal(s, row_of(s), ["1", "1", "0"], "-t")


def test_vanishing_coefficients_are_left_out(s):
    phi = s["phi"]
    s.constrain((da.sin(phi) ** 2 + da.cos(phi) ** 2 - 1) * s["x"].dot + s["y"].dot)
    assert {1} == set(row_of(s).A)


def test_norm_rows_of_quaternions_come_last(s):
    e = s.coordinates("e0 e1 e2 e3")
    Q = s.N.quaternion(*e, name="Q")
    s.body("second", 1, s.O, Q, da.inertia(Q, 1, 1, 1))
    s.constrain(s["x"])
    constraint_rows = da.kinematics(s).rows
    assert [False, True] == [r.is_norm for r in constraint_rows]
    assert "norm of the quaternion of Q" == constraint_rows[1].name
    assert equal(s, constraint_rows[1], ["0", "0", "0", "e0", "e1", "e2", "e3"], "0")


def test_rolling_drops_what_the_geometry_already_holds():
    s = da.System("disk")
    x, y, phi, theta, psi = s.coordinates("x y phi theta psi")
    r = s.constant("r", 1)
    _, B, D = s.N.rotations("zxz", phi, theta, psi)
    C = s.O.offset(x * s.N.x + y * s.N.y)
    disk = s.disk("disk", C.offset(r * B.y), D, 1, r, axis=B.z)
    s.roll(disk, C)
    assert ["rolling of disk along x", "rolling of disk along y"] == [
        row.name for row in da.kinematics(s).rows
    ]
    assert ["rolling of disk along z"] == s.trivial_constraints
    assert equal(s, row_of(s, 0), ["1", "0", "0", "0", "r*cos(phi)"], "0")
    assert equal(s, row_of(s, 1), ["0", "1", "0", "0", "r*sin(phi)"], "0")
    assert all(
        row.contact is not None and row.contact.body is disk for row in da.kinematics(s).rows
    )


def test_unnamed_constraints_are_numbered(s):
    s.constrain(s["x"])
    s.constrain(s["y"].dot)
    assert ["constraint 1", "constraint 2"] == [c.name for c in s.constraints]


def test_rows_with_rates_of_their_own_need_no_point_of_a_field(monkeypatch):
    """ẋ = y ẏ, ẏ sin φ = z ż, and x ẋ + y ẏ + z ż beside them: only the third takes more than a
    look.
    """
    s = da.System("rows")
    s.coordinates("x y z phi")
    s.particle("P", 1, s.O.offset(s["x"] * s.N.x + s["y"] * s.N.y + (s["z"] + s["phi"]) * s.N.z))
    kin = da.kinematics(s)
    t = kin.tape
    own, turned, full = (
        {k: as_node(t, s.expression(e)) for k, e in A.items()}
        for A in ({0: "1", 1: "y"}, {1: "sin(phi)", 2: "z"}, {0: "x", 1: "y", 2: "z"})
    )
    assert constraint_rows._is_triangular(t, [own, turned])
    assert not constraint_rows._is_triangular(t, [own, turned, full])
    assert not constraint_rows._is_triangular(t, [own, own])
    assert constraint_rows._is_triangular(t, [])
    opened = []
    monkeypatch.setattr(constraint_rows, "RandomPoints", lambda *given: opened.append(given))
    constraint_rows._check_independent(
        t,
        [
            constraint_rows.ConstraintRow("a", False, own, t.zero),
            constraint_rows.ConstraintRow("b", False, turned, t.zero),
        ],
        4,
        {},
    )
    assert opened == []
