"""A member in its amplitudes is an ordinary system: frequencies, statics, agreement, and the
hybrid equations it came from.
"""

import math
import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.flexible.assumed_modes.ritz import ritz_matrices
from dalembert.analysis.flexible.hybrid.extended_hamilton import extended_hamilton
from dalembert.analysis.flexible.hybrid.galerkin import galerkin
from dalembert.errors import BadDescription


def made(declare, functions=8, **more):
    s = da.System("member")
    return s, da.discretise(s, declare(s), functions, **more)


def lowest(declare, functions=8, count=1):
    return ritz_matrices(made(declare, functions)[1]).frequencies()[:count]


def through_the_system(s):
    return np.sort(np.abs(da.linearize(s).eigenvalues.imag))[::2]


# ---- frequencies in closed form, or published ----------------------------------------------------


def test_string_bar_and_shaft():
    assert np.pi * np.array([1, 2]) == pytest.approx(
        lowest(lambda s: s.string("m", s.O, s.N.x, s.N.y, 1, 1, tension=1), 9, 2), rel=1e-9
    )
    assert np.pi * np.array([0.5, 1.5]) == pytest.approx(
        lowest(lambda s: s.bar("m", s.O, s.N.x, 1, 1, 1), 9, 2), rel=1e-9
    )
    assert np.pi * np.array([0.5, 1.5]) == pytest.approx(
        lowest(lambda s: s.shaft("m", s.O, s.N.x, 1, 1, 1), 9, 2), rel=1e-9
    )


def test_a_shaft_with_a_disk_at_its_end():
    # β tan β = 1
    found = lowest(lambda s: s.shaft("m", s.O, s.N.x, 1, 1, 1, right=s.end(mass=1, inertia=1)))
    assert pytest.approx(0.8603335890193797, rel=1e-10) == found[0]


def test_rotary_inertia_and_shear_on_two_hinges():
    EI, kGA, mu, rho_I, b = 1.0, 50.0, 1.0, 0.01, np.pi
    thin, thick = ({"rotary": rho_I}, {"rotary": rho_I, "shear": kGA})

    def declare(more):
        return lambda s: s.beam(
            "m", s.O, s.N.x, s.N.y, 1, EI, mu, left="pinned", right="pinned", **more
        )

    assert (
        pytest.approx(math.sqrt(EI * b**4 / (mu + rho_I * b**2)), rel=1e-12)
        == lowest(declare(thin), 10)[0]
    )
    # mu ρI ω⁴ − (mu EI b² + ρI kGA b² + mu kGA) ω² + EI kGA b⁴ = 0
    B = mu * EI * b**2 + rho_I * kGA * b**2 + mu * kGA
    omega2 = (B - math.sqrt(B**2 - 4 * mu * rho_I * EI * kGA * b**4)) / (2 * mu * rho_I)
    assert pytest.approx(math.sqrt(omega2), rel=1e-12) == lowest(declare(thick), 12)[0]


def test_a_wedge():
    # Kirchhoff: 5.315 √(EI/μL⁴) of a cantilever whose thickness goes to zero at the tip
    found = lowest(
        lambda s: s.beam("m", s.O, s.N.x, s.N.y, 1, lambda x: (1 - x) ** 3, lambda x: 1 - x), 10, 2
    )
    assert np.array([5.315, 15.207]) == pytest.approx(found, rel=1e-4)


def test_what_is_no_polynomial_is_integrated_to_rounding():
    def declare(s):
        return s.beam("m", s.O, s.N.x, s.N.y, 1, lambda x: da.exp(-x), lambda x: da.exp(-x))

    s, bent = made(declare, 3)
    assert bent.rule.exact is None
    assert ritz_matrices(bent).frequencies() == pytest.approx(through_the_system(s), rel=1e-9)


def test_the_system_has_the_frequencies_of_the_member():
    def declare(s):
        ends = {
            "left": s.end("pinned", turning_spring=2),
            "right": s.end("free", mass=1, inertia=0.1, spring=3),
        }
        return s.beam(
            "m",
            s.O,
            s.N.x,
            (s.N.y, s.N.z),
            1.5,
            (1, 2),
            lambda x: 1 + x,
            rotary=(0.01, 0.02),
            axial=5,
            torsion=3,
            polar=0.5,
            **ends,
        )

    s, bent = made(declare, 3)
    assert ritz_matrices(bent).frequencies() == pytest.approx(through_the_system(s), rel=1e-9)


def test_a_loose_beam_has_its_motions_as_a_whole():
    _, bent = made(lambda s: s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1, left="free", loose=True), 12)
    found = ritz_matrices(bent).frequencies()
    assert [0, 0] == found[:2].tolist()
    assert pytest.approx(4.730040744862704**2, rel=1e-7) == found[2]


# ---- statics in closed form ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "deflection"),
    [
        (lambda s, F: {"right": s.end(force=F * s.N.y)}, 1 / 3),
        (lambda s, F: {"right": s.end(moment=F * s.N.z)}, 1 / 2),
        (lambda s, F: {"right": s.end(force=F * s.N.y, spring=3)}, 1 / 6),
        (lambda s, F: {"load": F * s.N.y}, 1 / 8),
        (lambda s, F: {"load": lambda x: F * x * s.N.y}, 11 / 120),
    ],
)
def test_deflection_of_a_cantilever(more, deflection):
    s = da.System("statics")
    F = s.constant("F", 1)
    bent = da.discretise(s, s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1, **more(s, F)), 4)
    point = da.equilibrium(s).point
    tip = sum(
        point[q.name] * float(f.at(1))
        for q, f in zip(bent.amplitudes["v"], bent.functions["v"], strict=True)
    )
    assert pytest.approx(deflection, rel=1e-12) == tip


def test_euler_buckling_is_where_the_stiffness_ends():
    s = da.System("buckling")
    N = s.constant("N", -1)
    bent = da.discretise(s, s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1, tension=N), 8)
    assert ritz_matrices(bent, {"N": -(np.pi**2) / 4 * (1 - 1e-9)}).is_stable
    assert not ritz_matrices(bent, {"N": -(np.pi**2) / 4 * (1 + 1e-9)}).is_stable


# ---- the same equations three ways ---------------------------------------------------------------


def ball(s, **more):
    psi, theta, phi = s.coordinates("psi theta phi")
    EI, mu, L, J = s.constants(EI=1, mu=2, L=3, J=4)
    B = s.N.rotations("zyx", psi, theta, phi)[-1]
    beam = s.beam("beam", s.O, B.x, B.y, L, EI, mu, polar=J, **more)
    s.speeds("omega_x omega_y omega_z", B.w, B)
    return beam


def swinging(s, **more):
    EI, mu, L, m, c, k, g = s.constants(EI=1, mu=2, L=3, m=1, c=1, k=2, g=9.81)
    s.gravity(-g * s.N.y)
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    end = s.end("free", mass=m, inertia=m * L**2, spring=k, damper=c, force=k * L * s.N.x)
    return s.beam(
        "beam",
        s.O,
        -B.y,
        B.x,
        L,
        lambda x: EI * (2 - x / L),
        lambda x: mu * (1 + x / L),
        right=end,
        **more,
    )


def thick(s):
    EI, mu, L, kGA, rho_I, EA, GJ, J, F = s.constants(
        EI=1, mu=2, L=3, kGA=5, rho_I=1, EA=7, GJ=2, J=3, F=2
    )
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    inertias = {"rotary": rho_I, "polar": J}
    return s.beam(
        "beam",
        s.O,
        B.x,
        (B.y, B.z),
        L,
        EI,
        mu,
        shear=kGA,
        axial=EA,
        torsion=GJ,
        load=lambda x: F * x * B.y,
        **inertias,
    )


def two_planes(s):
    EI, mu, L, rho_I, S = s.constants(EI=1, mu=2, L=3, rho_I=1, S=2)
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    return s.beam(
        "beam",
        s.O,
        B.x,
        (B.y, B.z),
        L,
        EI,
        mu,
        rotary=rho_I,
        tension=S,
        shortening=True,
        right="pinned",
    )


def chain(s):
    mu, L, g = s.constants(mu=1, L=2, g=9.81)
    s.gravity(-g * s.N.y)
    return s.string(
        "chain",
        s.O.offset(s.coordinate("x") * s.N.x),
        -s.N.y,
        s.N.x,
        L,
        mu,
        right="free",
        shortening=True,
    )


def twisted(s):
    GJ, J, mu, L, I, c = s.constants(GJ=1, J=2, mu=1, L=2, I=1, c=0.5)
    B = s.N.rotated(s.coordinate("theta"), s.N.x)
    return s.shaft(
        "shaft",
        s.O,
        B.x,
        L,
        GJ,
        J,
        density=mu,
        right=s.end("free", mass=mu * L, inertia=I, damper=c, moment=c * s.N.x),
    )


CASES = {
    "ball joint": ball,
    "ball joint, shortened": lambda s: ball(s, shortening=True),
    "pendulum": swinging,
    "pendulum, shortened": lambda s: swinging(s, shortening=True),
    "thick beam": thick,
    "two planes": two_planes,
    "chain": chain,
    "shaft": twisted,
}


@pytest.mark.parametrize("case", CASES)
def test_galerkin_on_the_hybrid_equations_lagrange_on_the_energies_and_kane_on_the_kinematics_agree(
    case,
):
    s = da.System(case)
    member = CASES[case](s)
    hybrid = extended_hamilton(s)
    da.discretise(s, member, 2)
    kane, lagrange = da.kane(s), da.lagrange(s)
    found = galerkin(hybrid, kane)
    assert [] == found.differences(kane)
    assert [] == found.differences(lagrange)


def test_another_load_is_noticed():
    s = da.System("planted")
    member = swinging(s)
    hybrid = extended_hamilton(s)
    da.discretise(s, member, 2)
    s.potential(s["v_2"] ** 3)
    kane = da.kane(s)
    assert ["v_2'"] == galerkin(hybrid, kane).differences(kane)


@pytest.mark.parametrize("case", ["thick beam", "two planes", "shaft"])
def test_every_principle_agrees(case):
    s = da.System(case)
    da.discretise(s, CASES[case](s), 1)
    assert [] == [row.verdict for row in da.agreement(s, compiled=False).rows if not row.agrees]


@pytest.mark.slow
def test_a_flexible_arm_on_a_flexible_arm():
    s = da.System("arm", gravity=9.81)
    shoulder = s.pin("alpha", s.O)
    B = shoulder.frame
    upper = da.discretise(
        s, s.beam("upper", shoulder, -B.y, B.x, 1, 20, 1, shortening=True), 1, names={"v": "eta"}
    )
    elbow = s.pin("beta", upper.tip.offset(0 * B.x, "elbow", upper.section(1)))
    C = elbow.frame
    da.discretise(
        s, s.beam("lower", elbow, -C.y, C.x, 1, 10, 1, shortening=True), 1, names={"v": "zeta"}
    )
    assert [] == [row.verdict for row in da.agreement(s).rows if not row.agrees]
    run = da.simulate(s, 2, start={"alpha": 0.3, "beta": 0.4}, rtol=1e-11, atol=1e-11)
    assert run.integrals.relative_drift <= 1e-9


def test_gauss_halves_the_slices_and_changes_nothing_but_rounding():
    def declare(s):
        return s.beam("m", s.O, s.N.rotated(3 * s.t, s.N.z).x, s.N.z, 1, 1, 1, shortening=True)

    (s, exact), (r, rounded) = made(declare, 3), made(declare, 3, exact=False)
    assert (15, 8) == (len(exact.rule), len(rounded.rule))
    assert through_the_system(s) == pytest.approx(through_the_system(r), rel=1e-11)


# ---- what a user meets ---------------------------------------------------------------------------


def test_points_and_sections_are_ordinary_ones():
    s, bent = made(
        lambda s: s.beam("m", s.O, s.N.x, s.N.y, 2, 1, 1, torsion=1, polar=1), {"v": 2, "phi": 1}
    )
    v1, v2 = bent.amplitudes["v"]
    assert (bent.tip - s.O) @ s.N.y == v1 + v2
    assert (bent.point(0.5) - s.O) @ s.N.x == 1
    assert bent.value("v", 1, 1) == (2 * v1) / 2
    s.particle("load", 1, bent.tip)
    assert bent.section(1).depth == 2
    with pytest.raises(BadDescription, match="give a fraction of the member's length from 0 to 1"):
        bent.point(1.5)


def test_estimates_are_printed():
    s, bent = made(lambda s: s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1), 4)
    first, *rest = str(bent).splitlines()
    assert "beam 'm', clamped–free: functions 4 in v; 11 slices, exact integrals" == first
    assert rest[0].startswith("  ω_1 = 3.51602")
    assert rest[0].endswith("changed by 3.0e-04 with the last function")
    run = da.simulate(s, 0.1, start={"v_1": 0.1})
    assert "m: amplitude of the last of 4 functions of v at most" in str(run)


def test_an_estimate_that_cannot_be_had_says_why():
    s = da.System("open")
    EI = s.constant("EI")
    bent = da.discretise(s, s.beam("m", s.O, s.N.x, s.N.y, 1, EI, 1), 2)
    assert "convergence: no estimate" in str(bent)
    assert "EI" in str(bent).splitlines()[1]
    N = s.constant("N", -30)
    pressed = da.discretise(
        s, s.beam("n", s.O, s.N.x, s.N.y, 1, 1, 1, tension=N), 2, names={"v": "eta"}
    )
    assert "beyond its buckling load" in str(pressed)
    assert ("eta_1", "eta_2") == tuple(q.name for q in pressed.amplitudes["v"])


def test_misuse_is_refused():
    s, bent = made(lambda s: s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1), 2)
    with pytest.raises(BadDescription, match="'m' is expanded already"):
        da.discretise(s, bent.member, 2)
    with pytest.raises(BadDescription, match="belongs to another system"):
        da.discretise(da.System("other"), bent.member, 2)
    with pytest.raises(BadDescription, match="give the system and one of its members"):
        da.discretise(s, 3)
    second = s.beam("n", s.O, s.N.x, s.N.y, 1, 1, 1)
    with pytest.raises(BadDescription, match=r"'v_1' is declared already.* names=\{'v': 'v_n'\}"):
        da.discretise(s, second, 2)
    with pytest.raises(BadDescription, match="family 'sines'"):
        da.discretise(s, second, 2, family="sines")
    with pytest.raises(BadDescription, match="names for 'w'"):
        da.discretise(s, second, 2, names={"w": "eta"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"EI": -1}, "EI = -1: the stiffness of beam 'beam' is -1; it must be positive"),
        ({"L": 0}, "L = 0: the length of beam 'beam' is 0; it must be positive"),
        ({"mu": -2}, "the mass of 'beam 1' is"),
    ],
)
def test_values_of_a_run_are_judged_as_those_of_the_description(values, message):
    with pytest.raises(da.DalembertError, match=message):
        da.simulate(gallery.build("cantilever"), 1, start={"v_1": 0.1}, values=values)


def test_a_system_with_a_member_can_be_pickled():
    s, _ = made(lambda s: s.beam("m", s.O, s.N.x, s.N.y, 1, 1, 1), 2)
    again = pickle.loads(pickle.dumps(s))
    assert str(da.kane(s).equations) == str(da.kane(again).equations)
