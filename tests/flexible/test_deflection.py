"""Static shapes: the formulas of every handbook, exactly; everything else against a second way."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import IllPosed
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar


def member(left="clamped", right="free", load=None, gravity=None, **more):
    s = da.System("member", gravity=gravity)
    L, EI, mu, p, F, M = s.constants(L=2, EI=3, mu=1, p=5, F=7, M=11)
    given = {"L": L, "EI": EI, "p": p, "F": F, "M": M}
    ends = [e(s, given) if callable(e) else e for e in (left, right)]
    force = None if load is None else load(s, given)
    more = {key: value(given) if callable(value) else value for key, value in more.items()}
    s.beam(
        "beam",
        s.O,
        s.N.x,
        s.N.y,
        L,
        **({"stiffness": EI, "density": mu} | more),
        left=ends[0],
        right=ends[1],
        load=force,
    )
    return s


def uniform(s, c):
    return c["p"] * s.N.y


def growing(s, c):
    return lambda x: c["p"] * x / c["L"] * s.N.y


def pulled(s, c):
    return s.end("free", force=c["F"] * s.N.y)


def bent(s, c):
    return s.end("free", moment=c["M"] * s.N.z)


HANDBOOK = [
    (member(load=uniform), "p*x**2*(6*L**2 - 4*L*x + x**2)/(24*EI)"),
    (member("pinned", "pinned", load=uniform), "p*x*(L**3 - 2*L*x**2 + x**3)/(24*EI)"),
    (member("clamped", "clamped", load=uniform), "p*x**2*(L - x)**2/(24*EI)"),
    (member("clamped", "pinned", load=uniform), "p*x**2*(L - x)*(3*L - 2*x)/(48*EI)"),
    (member(right=pulled), "F*x**2*(3*L - x)/(6*EI)"),
    (member(right=bent), "M*x**2/(2*EI)"),
    (member("pinned", "pinned", load=growing), "p*x*(7*L**4 - 10*L**2*x**2 + 3*x**4)/(360*L*EI)"),
    (member(gravity=9.81), "-9.81*mu*x**2*(6*L**2 - 4*L*x + x**2)/(24*EI)"),
]


@pytest.mark.parametrize(("s", "expected"), HANDBOOK, ids=[e for _, e in HANDBOOK])
def test_handbook(s, expected):
    found = da.member_deflection(s)
    v = found.expressions["v"]
    names = {
        name: Scalar(v.tape, v.tape.names[name])
        for name in ("p", "L", "EI", "F", "M", "mu")
        if name in v.tape.names
    }
    e = parse(expected, names | {"x": Scalar(v.tape, s.members["beam"].x.i)}, v.tape)
    assert provably_zero(v.tape, [v.tape.sub(v.i, e.i)])[0]
    assert 0.0 == found.error
    assert "exact" in found.remarks


def test_numbers_and_the_place_of_the_largest_deflection():
    found = da.member_deflection(member("pinned", "pinned", load=uniform))
    x, v = found.shapes["v"].peak()
    assert (1.0, 5 * 5 * 2**4 / (384 * 3)) == pytest.approx((x, v), rel=1e-13)
    assert "v(x) = 1/24 (L³ − 2 L x² + x³) p x/EI" in str(found)


def test_a_sheared_beam():
    # the bending of Euler's beam and p (2Lx − x²)/(2 kGA) on top
    s = member(load=uniform, shear=100, rotary=1)
    found = da.member_deflection(s)
    assert 5 * 2**4 / (8 * 3) + 5 * 2**2 / (2 * 100) == pytest.approx(found.at(2.0), rel=1e-14)
    assert {"v", "psi"} == set(found.expressions)


def test_a_beam_under_tension():
    # EI v⁗ − N v″ = p, clamped–free: no polynomial, so by collocation; against the closed solution
    N, EI, p, L = 7.0, 3.0, 5.0, 2.0
    found = da.member_deflection(member(load=uniform, tension=7))
    k = math.sqrt(N / EI)
    # v′ = u with EI u″ − N u = −p (L − x), u(0) = 0, u′(L) = 0
    A = np.array([[1.0, 1.0], [k * math.exp(k * L), -k * math.exp(-k * L)]])
    a, b = np.linalg.solve(A, [-p * L / N, p / N])
    v = a / k * (math.exp(k * L) - 1) - b / k * (math.exp(-k * L) - 1) + p * (L * L - L * L / 2) / N
    assert v == pytest.approx(found.at(L), rel=1e-13)
    assert {} == found.expressions
    assert 1e-12 > found.error > 0
    assert any("degree" in remark for remark in found.remarks)


def test_a_tapered_beam():
    # EI (1 − x/2L) v″ = F (L − x): v(L) = ∫ F (L − x)²/EI(x) dx
    found = da.member_deflection(
        member(right=pulled, stiffness=lambda c: lambda x: c["EI"] * (1 - x / (2 * c["L"])))
    )
    z, w = np.polynomial.legendre.leggauss(60)
    x = z + 1
    assert float(np.sum(w * 7 * (2 - x) ** 2 / (3 * (1 - x / 4)))) == pytest.approx(
        found.at(2.0), rel=1e-13
    )


def test_a_turning_bar_stretches():
    # EA u″ + μΩ² (x + u) = 0, u(0) = 0, u′(L) = 0: u = sin kx/(k cos kL) − x
    s = da.System("bar")
    EA, mu, L, Omega = s.constants(EA=2.8e7, mu=1.2, L=10, Omega=6)
    B = s.N.rotated(s.specified("theta", Omega * s.t), s.N.z)
    s.bar("bar", s.O, B.x, L, EA, mu)
    found = da.member_deflection(s)
    k = math.sqrt(1.2 * 36 / 2.8e7)
    assert math.tan(k * 10) / k - 10 == pytest.approx(found.at(10.0), rel=1e-9)
    assert 5.143e-4 == pytest.approx(found.at(10.0), rel=1e-4)


def test_without_load_it_stays_straight():
    assert "nothing loads it" in str(da.member_deflection(member()))


def test_a_loose_member_has_no_static_shape():
    with pytest.raises(IllPosed, match="allow a rigid motion"):
        da.member_deflection(member("free", "free", load=uniform, loose=True))
    with pytest.raises(IllPosed, match="allow a rigid motion"):
        da.member_deflection(
            member(
                "free",
                "free",
                load=uniform,
                loose=True,
                stiffness=lambda c: lambda x: c["EI"] * (1 + x),
            )
        )


def test_symbols_without_numbers_give_the_formula_alone(tmp_path):
    s = da.System("member")
    L, EI, p = s.constants("L EI p")
    s.beam("beam", s.O, s.N.x, s.N.y, L, EI, 1, load=p * s.N.y)
    found = da.member_deflection(s)
    assert "v(x) = 1/24 (6 L² − 4 L x + x²) p x²/EI" in str(found)
    assert {} == found.shapes
    da.member_deflection(member(load=uniform)).plot(tmp_path / "rest.png")
    assert (tmp_path / "rest.png").stat().st_size > 5_000
