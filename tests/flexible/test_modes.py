"""Natural modes: roots that are published or follow from closed forms, shapes that are
orthogonal, and what is refused.
"""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.chebyshev_collocation import eigenpairs
from dalembert.analysis.flexible.linear_vibration.eigenvalue_count import (
    count_eigenvalues_below,
    eigenvalues,
)
from dalembert.analysis.flexible.linear_vibration.linearization import linearize_member
from dalembert.errors import BadDescription, NotApplicable, Unknown
from dalembert.symbolic.algebra.arithmetic import evaluate_balls

DIGITS = 1e-14


def system(declare):
    s = da.System("member")
    declare(s)
    return s


def beam(left="clamped", right="free", **more):
    def declare(s):
        ends = [e(s) if callable(e) else e for e in (left, right)]
        s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1, left=ends[0], right=ends[1], **more)

    return system(declare)


def roots(s, count=3, **more):
    return da.member_modes(s, count=count, **more).wave_numbers


# ---- roots ---------------------------------------------------------------------------------------

# to sixteen digits, from 1 ± cos βL cosh βL = 0 and tan βL = ± tanh βL
BETA = [
    (
        "clamped",
        "free",
        [1.875104068711961, 4.694091132974175, 7.854757438237613],
        "1 + cos βL cosh βL = 0",
    ),
    ("pinned", "pinned", [math.pi, 2 * math.pi, 3 * math.pi], "sin βL = 0"),
    (
        "clamped",
        "clamped",
        [4.730040744862704, 7.853204624095838, 10.99560783800167],
        "1 − cos βL cosh βL = 0",
    ),
    (
        "clamped",
        "pinned",
        [3.926602312047919, 7.068582745628732, 10.21017612281303],
        "sin βL cosh βL − cos βL sinh βL = 0",
    ),
    (
        "clamped",
        "sliding",
        [2.365020372431352, 5.497803919000836, 8.639379828699740],
        "sin βL cosh βL + cos βL sinh βL = 0",
    ),
    ("free", "free", [0, 0, 4.730040744862704, 7.853204624095838], "1 − cos βL cosh βL = 0"),
    (
        "pinned",
        "free",
        [0, 3.926602312047919, 7.068582745628732],
        "sin βL cosh βL − cos βL sinh βL = 0",
    ),
]


@pytest.mark.parametrize(
    ("left", "right", "expected", "printed"), BETA, ids=lambda x: x if isinstance(x, str) else ""
)
def test_beams(left, right, expected, printed):
    found = da.member_modes(beam(left, right, loose=True), count=len(expected))
    assert expected == pytest.approx(found.wave_numbers, rel=DIGITS, abs=0)
    assert [b**2 for b in expected] == pytest.approx(found.frequencies, rel=DIGITS, abs=0)
    (equation,) = found.characteristic
    assert printed == equation.text
    assert 1e-17 > max(m.error for m in found.modes)


@pytest.mark.parametrize(
    ("end", "f"),
    [
        (
            {"mass": 2},
            lambda b: (
                1
                + math.cos(b) * math.cosh(b)
                - 2 * b * (math.sin(b) * math.cosh(b) - math.cos(b) * math.sinh(b))
            ),
        ),
        (
            {"spring": 50},
            lambda b: (
                1
                + math.cos(b) * math.cosh(b)
                + 50 / b**3 * (math.sin(b) * math.cosh(b) - math.cos(b) * math.sinh(b))
            ),
        ),
        (
            {"turning_spring": 5},
            lambda b: (
                1
                + math.cos(b) * math.cosh(b)
                + 5 / b * (math.sin(b) * math.cosh(b) + math.cos(b) * math.sinh(b))
            ),
        ),
    ],
)
def test_what_sits_on_the_end_of_a_cantilever(end, f):
    from scipy.optimize import brentq

    found = roots(beam(right=lambda s: s.end("free", **end)))
    for b in found:
        assert b == pytest.approx(
            brentq(f, b * (1 - 1e-4), b * (1 + 1e-4), xtol=1e-15, rtol=1e-14), rel=DIGITS
        )


def test_a_printed_characteristic_equation_has_the_roots_that_are_listed():
    def declare(s):
        L, EI, mu, m, J = s.constants(L=2, EI=3, mu=5, m=7, J=2)
        s.beam("beam", s.O, s.N.x, s.N.y, L, EI, mu, right=s.end(mass=m, inertia=J))

    s = system(declare)
    found = da.member_modes(s, count=4)
    (equation,) = found.characteristic
    (z,) = equation.arguments
    (motion,) = linearize_member(s)
    for beta in found.wave_numbers:
        at = [
            evaluate_balls(equation.tape, [equation.residual], motion.numbers | {z: beta * k})[0]
            for k in (1 - 1e-14, 1 + 1e-14)
        ]
        assert (at[0] > 0) != (at[1] > 0)


def test_a_characteristic_equation_in_two_arguments():
    # α and β from β² − α² = (ρI ω² − N)/EI and α² β² = μω²/EI
    found = da.member_modes(beam(tension=3, rotary=0.1), count=3)
    (equation,) = found.characteristic
    assert equation.text.startswith("1 + 1/2 (βL)²/(αL)² cos βL cosh αL")
    for m in found.modes:
        at = []
        for omega in (m.frequency * (1 - 1e-12), m.frequency * (1 + 1e-12)):
            p = 0.1 * omega**2 - 3
            beta = math.sqrt((p + math.sqrt(p * p + 4 * omega**2)) / 2)
            alpha = math.sqrt((-p + math.sqrt(p * p + 4 * omega**2)) / 2)
            arguments = {
                i: {"βL": beta, "αL": alpha}[equation.tape.nodes[i][1]] for i in equation.arguments
            }
            at.append(evaluate_balls(equation.tape, [equation.residual], arguments)[0])
        assert (at[0] > 0) != (at[1] > 0)


def test_strings_bars_and_shafts():
    string = system(lambda s: s.string("m", s.O, s.N.x, s.N.y, 2, 3, tension=12))
    assert [math.pi * k for k in (1, 2, 3)] == pytest.approx(
        da.member_modes(string, count=3).frequencies, rel=DIGITS
    )
    bar = system(lambda s: s.bar("m", s.O, s.N.x, 1, 4, 1))
    assert [math.pi, 3 * math.pi] == pytest.approx(
        da.member_modes(bar, count=2).frequencies, rel=DIGITS
    )
    # β tan β = μL/m
    ended = system(lambda s: s.bar("m", s.O, s.N.x, 1, 1, 1, right=s.end(mass=1)))
    assert 0.8603335890193797 == pytest.approx(roots(ended, 1)[0], rel=DIGITS)
    shaft = system(lambda s: s.shaft("m", s.O, s.N.x, 1, 9, polar=1, density=1, right="clamped"))
    assert [3 * math.pi] == pytest.approx(da.member_modes(shaft, count=1).frequencies, rel=DIGITS)


def test_a_pinned_beam_under_tension():
    # ω² = (kπ)⁴ EI/μ + (kπ)² N/μ
    found = da.member_modes(beam("pinned", "pinned", tension=7), count=3)
    assert [
        math.sqrt((k * math.pi) ** 4 + 7 * (k * math.pi) ** 2) for k in (1, 2, 3)
    ] == pytest.approx(found.frequencies, rel=DIGITS)


def test_rotary_inertia_and_shear():
    # pinned: v = sin kπx, and with shear (ρI ω² − EI k² − kGA)(μω² − kGA k²) = (kGA k)²
    rayleigh = da.member_modes(beam("pinned", "pinned", rotary=0.01), count=2)
    k = math.pi * np.arange(1, 3)
    assert list(k**2 / np.sqrt(1 + 0.01 * k**2)) == pytest.approx(rayleigh.frequencies, rel=DIGITS)
    timoshenko = da.member_modes(beam("pinned", "pinned", rotary=0.01, shear=10), count=8)
    expected = [
        math.sqrt(10 / 0.01)
    ]  # the sections swing to and fro while the beam stays where it is
    for n in range(1, 9):
        a, b, c = (
            0.01,
            -(0.01 * 10 * (n * math.pi) ** 2 + (n * math.pi) ** 2 + 10),
            10 * (n * math.pi) ** 4,
        )
        expected += [
            math.sqrt((-b + sign * math.sqrt(b * b - 4 * a * c)) / (2 * a)) for sign in (-1, 1)
        ]
    assert sorted(expected)[:8] == pytest.approx(timoshenko.frequencies, rel=DIGITS)
    # the second spectrum is sinh αL = 0 with an imaginary α
    assert "sin βL sinh αL = 0" == timoshenko.characteristic[0].text


def test_a_printed_characteristic_equation_of_a_sheared_beam():
    kGA, rI = 10, 0.01
    found = da.member_modes(beam(rotary=rI, shear=kGA), count=3)
    (equation,) = found.characteristic
    names = {str(equation.tape.nodes[i][1]): i for i in equation.arguments} | {
        n: equation.tape.names[n] for n in "ab"
    }
    for m in found.modes:
        at = []
        for w in (m.frequency * (1 - 1e-12), m.frequency * (1 + 1e-12)):
            p, q = w**2 * (1 / kGA + rI), w**2 * (kGA - rI * w**2) / kGA
            beta, alpha = (
                math.sqrt((p + math.sqrt(p * p + 4 * q)) / 2),
                math.sqrt((-p + math.sqrt(p * p + 4 * q)) / 2),
            )
            values = {
                "βL": beta,
                "αL": alpha,
                "a": alpha + w**2 / (kGA * alpha),
                "b": beta - w**2 / (kGA * beta),
            }
            at.append(
                evaluate_balls(
                    equation.tape, [equation.residual], {i: values[n] for n, i in names.items()}
                )[0]
            )
        assert (at[0] > 0) != (at[1] > 0)


def test_high_modes_lose_no_digits():
    # βL → (n − ½)π faster than any float can tell
    found = da.member_modes(beam(), count=20)
    assert 19.5 * math.pi == pytest.approx(found.wave_numbers[-1], rel=1e-15)
    assert list(range(1, 21)) == [round(b / math.pi + 0.5) for b in found.wave_numbers]


@pytest.mark.parametrize(("L", "EI", "mu"), [(1e-3, 1e-9, 1e-5), (1e3, 1e14, 1e5)])
def test_units_do_not_matter(L, EI, mu):
    s = system(lambda s: s.beam("beam", s.O, s.N.x, s.N.y, L, EI, mu))
    assert [1.875104068711961, 4.694091132974175] == pytest.approx(roots(s, 2), rel=DIGITS)


def test_extreme_ends_and_forces():
    heavy = da.member_modes(beam(right=lambda s: s.end(mass=10**6)), count=2)
    # a spring 3 EI/L³ with the mass and 33/140 of the beam's
    assert math.sqrt(3 / (1e6 + 33 / 140)) == pytest.approx(heavy.frequencies[0], rel=1e-10)
    nearly_loose = da.member_modes(
        beam(lambda s: s.end("free", spring=1e-9), "free", loose=True), count=2
    )
    assert [0, math.sqrt(4e-9)] == pytest.approx(nearly_loose.frequencies, rel=1e-6, abs=0)
    limp = system(
        lambda s: s.beam(
            "b", s.O, s.N.x, s.N.y, 1, 1e-4, 1, left="pinned", right="pinned", tension=1
        )
    )
    nearly_a_string = da.member_modes(limp, count=1)
    assert math.pi * math.sqrt(1 + 1e-4 * math.pi**2) == pytest.approx(
        nearly_a_string.frequencies[0], rel=DIGITS
    )


# ---- counting ------------------------------------------------------------------------------------


def test_counting_says_how_many_lie_below():
    (motion,) = linearize_member(beam())
    problem = BoundaryValueProblem(motion)
    found = [e.value for e in eigenvalues(problem, 6)]
    tried = [
        found[0] * 0.999,
        found[0] * 1.001,
        found[1] * 0.999,
        found[1] * 1.001,
        found[5] * 1.01,
    ]
    assert [0, 1, 1, 2, 6] == [count_eigenvalues_below(problem, x) for x in tried]


def test_two_ways_to_the_same_frequencies():
    # the boundary determinant in balls, and collocation with polynomials
    for s in (beam(right=lambda s: s.end(mass=1)), beam(rotary=0.01, shear=10)):
        (motion,) = linearize_member(s)
        problem = BoundaryValueProblem(motion)
        by_polynomials, _ = eigenpairs(problem, 3)
        assert [e.value for e in eigenvalues(problem, 3)] == pytest.approx(
            [e.value for e, _ in by_polynomials], rel=1e-14
        )


# ---- properties that vary, frames that turn ------------------------------------------------------

# Rotating cantilever, flapwise, clamped at the axis: ω√(ρAL⁴/EI) at the dimensionless speeds of the
# literature
FLAPWISE = {
    0: 3.51601527,
    1: 3.68164681,
    2: 4.13731957,
    5: 6.44954475,
    10: 11.20232776,
    12: 13.17015049,
}


@pytest.mark.parametrize("speed", FLAPWISE)
def test_rotating_cantilever(speed):
    s = gallery.build("rotating-beam")
    numbers = {
        name: float(symbol.value) for name, symbol in s.symbols.items() if symbol.value is not None
    }
    scale = math.sqrt(numbers["EI"] / numbers["mu"]) / numbers["L"] ** 2
    found = da.member_modes(s, count=2, values={"Omega": speed * scale})
    assert FLAPWISE[speed] == pytest.approx(found.frequencies[0] / scale, abs=6e-9)
    if speed == 10:
        assert 33.64036585 == pytest.approx(found.frequencies[1] / scale, abs=6e-9)
    assert 1e-12 > max(m.error for m in found.modes)


def turning(shortening):
    def declare(s):
        B = s.N.rotated(s.specified("theta", s.constant("Omega", 5) * s.t), s.N.z)
        s.beam("beam", s.O, B.x, (B.y, B.z), 1, 1, 1, shortening=shortening)

    return system(declare)


def test_in_the_plane_of_rotation_the_frequency_is_lower():
    # ω² in the plane is ω² across it less Ω²
    found = da.member_modes(turning(shortening=True), count=4)
    by_field = {m.fields[0]: m.frequency for m in reversed(found.modes)}
    assert by_field["w"] ** 2 - 25 == pytest.approx(by_field["v"] ** 2, rel=1e-12)


def test_without_shortening_a_fast_turning_beam_is_refused():
    with pytest.raises(NotApplicable, match="not stable in its straight state"):
        da.member_modes(turning(shortening=False))
    slow = da.member_modes(turning(shortening=False), values={"Omega": 1}, count=1)
    assert math.sqrt(1.875104068711961**4 - 1) == pytest.approx(slow.frequencies[0], rel=1e-13)


def test_hanging_chain():
    # ω = ½ j₀ₖ √(g/L)
    from scipy.special import jn_zeros

    s = gallery.build("hanging-chain")
    numbers = {
        name: float(symbol.value) for name, symbol in s.symbols.items() if symbol.value is not None
    }
    expected = jn_zeros(0, 3) / 2 * math.sqrt(numbers["g"] / numbers["L"])
    assert list(expected) == pytest.approx(da.member_modes(s, count=3).frequencies, rel=1e-13)


def test_a_tapered_bar():
    # A(x) = A (1 + x)²: u (1 + x) is a sine; clamped at both ends ω = kπ
    s = system(
        lambda s: s.bar(
            "m", s.O, s.N.x, 1, lambda x: (1 + x) ** 2, lambda x: (1 + x) ** 2, right="clamped"
        )
    )
    found = da.member_modes(s, count=3)
    assert [math.pi * k for k in (1, 2, 3)] == pytest.approx(found.frequencies, rel=1e-13)
    assert any("degree" in remark for remark in found.remarks)


def test_a_beam_whose_properties_vary_and_that_floats():
    s = system(
        lambda s: s.beam("b", s.O, s.N.x, s.N.y, 1, lambda x: 1 + x, 1, left="free", loose=True)
    )
    assert [[0], [0, 0]] == [da.member_modes(s, count=n).frequencies for n in (1, 2)]
    found = da.member_modes(s, count=3)
    assert [0, 0] == found.frequencies[:2]
    assert {} == found[0].shapes
    assert found.frequencies[2] > 22.37


# ---- shapes --------------------------------------------------------------------------------------


def integral(f):
    x, w = np.polynomial.legendre.leggauss(80)
    return float(np.sum(w * f((x + 1) / 2)) / 2)


def test_shapes_of_the_cantilever():
    found = da.member_modes(beam(), count=5)
    for k, (m, b) in enumerate(zip(found.modes, found.wave_numbers, strict=True), 1):
        sigma = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
        x = np.linspace(0, 1, 11)
        closed = np.cosh(b * x) - np.cos(b * x) - sigma * (np.sinh(b * x) - np.sin(b * x))
        assert closed / closed[-1] == pytest.approx(m.shape(x), abs=1e-9 if k > 3 else 1e-12)
        assert 1.0 == pytest.approx(m.shape(1.0), rel=1e-13)
        phi = m.shapes["v"]
        assert [0, 0, 0] == pytest.approx(
            [phi(0.0), phi.derivative()(0.0), phi.derivative(2)(1.0) / b**2], abs=1e-9
        )


def test_shapes_are_orthogonal():
    # with the tip mass in the scalar product
    tip = 2
    found = da.member_modes(beam(right=lambda s: s.end(mass=tip)), count=4)
    for i, a in enumerate(found.modes):
        for b in found.modes[:i]:
            inside = integral(lambda x, a=a, b=b: a.shape(x) * b.shape(x))
            assert 0 == pytest.approx(inside + tip * a.shape(1.0) * b.shape(1.0), abs=1e-12)


def test_rayleighs_quotient_gives_the_frequency_back():
    for s in (beam(), gallery.build("rotating-beam")):
        m = da.member_modes(s, count=2)[1]
        if s.name == "member":
            phi = m.shapes["v"]
            quotient = integral(lambda x: phi.derivative(2)(x) ** 2) / integral(  # noqa: B023
                lambda x: phi(x) ** 2  # noqa: B023
            )
            assert m.frequency**2 == pytest.approx(quotient, rel=1e-9)
        else:
            assert 1.0 == pytest.approx(
                max(abs(m.shape(np.linspace(0, m.shapes["v"].length, 2001)))), abs=1e-5
            )


def test_a_high_shape_keeps_to_its_ends():
    m = da.member_modes(beam(right="clamped"), count=20)[-1]
    x = np.linspace(0, 1, 1001)
    assert 20 - 1 == int(np.sum(np.diff(np.sign(m.shape(x)[1:-1])) != 0))
    assert [0, 0] == pytest.approx([m.shape(0.0), m.shape(1.0)], abs=1e-11)


# ---- what is said, what is refused ---------------------------------------------------------------


def test_the_table_and_the_plot(tmp_path):
    found = da.member_modes(beam(), count=2)
    assert "1.875104068711961" in str(found)
    assert "characteristic equation  1 + cos βL cosh βL = 0    with β⁴ = ω²" in str(found)
    assert "relative error of ω: at most 5e-19; counting shows that no mode is missing" in str(
        found
    )
    found.plot(tmp_path / "modes.png")
    assert (tmp_path / "modes.png").stat().st_size > 10_000


def test_refusals():
    with pytest.raises(BadDescription, match="whole number from 1 to 60, not 0"):
        da.member_modes(beam(), count=0)
    with pytest.raises(NotApplicable, match="no undamped modes"):
        da.member_modes(beam(right=lambda s: s.end(damper=1)))
    with pytest.raises(NotApplicable, match="has no string, bar, shaft or beam"):
        da.member_modes(gallery.build("rolling-disk"))
    with pytest.raises(Unknown, match="there is no member 'rod'"):
        da.member_modes(beam(), "rod")
    with pytest.raises(Unknown, match="'rho' is not a symbol"):
        da.member_modes(beam(), values={"rho": 1})
    with pytest.raises(NotApplicable, match="change with time"):
        da.member_modes(gallery.build("spin-up-beam"))
    two = system(lambda s: [s.beam(n, s.O, s.N.x, s.N.y, 1, 1, 1) for n in "ab"])
    with pytest.raises(Unknown, match="several members"):
        da.member_modes(two)
    assert 2 == len(da.member_modes(two, "b", 2))
    unset = system(lambda s: s.beam("b", s.O, s.N.x, s.N.y, 1, s.constant("EI"), 1))
    with pytest.raises(BadDescription, match="the constant EI has no value"):
        da.member_modes(unset)
    assert 4 * 1.875104068711961**4 == pytest.approx(
        da.member_modes(unset, count=1, values={"EI": 4}).frequencies[0] ** 2
    )
    with pytest.raises(BadDescription, match="its stiffness is -4; it must be positive"):
        da.member_modes(unset, values={"EI": -4})
    with pytest.raises(BadDescription, match="from x = 0 to x = 1, which excludes x = 2"):
        da.member_modes(beam(), count=1)[0].shape(2)
    with pytest.raises(Unknown, match="there is no field 'w' here"):
        da.member_modes(beam(), count=1)[0].shape(0.5, "w")
    unbound = system(
        lambda s: s.beam("b", s.O, (B := s.N.rotated(s.specified("theta"), s.N.z)).x, B.y, 1, 1, 1)
    )
    with pytest.raises(NotApplicable, match="the prescribed motion theta is not bound"):
        da.member_modes(unbound)
