"""Planted errors are caught, in the prime fields and in floats: a certificate that cannot fail
proves nothing.

Each error is planted here, by patching or by deriving a variant; the library has no switch for any
of them.
"""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from agreement.floats import accelerations, close, value
from agreement.planted import components_only, only, reduced, with_wrong_sign
from dalembert import gallery
from dalembert.gallery import ball_on_turntable, bead_on_hoop, moving_knife_edge
from dalembert.mechanics.agreement.agreement_table import agreement, certify_equal
from dalembert.mechanics.geometry.frame import VelocityRecursion
from dalembert.mechanics.geometry.rotation import dot3
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quasi_velocities import QuasiVelocities
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, evaluate
from dalembert.symbolic.algebra.scalar import as_node


def caught(right, wrong):
    """Whether both the prime fields and floats tell two sets of equations apart."""
    in_field = certify_equal(right, wrong).holds is False
    in_floats = not close(accelerations(right), accelerations(wrong))
    assert in_field == in_floats
    return in_field


def by_families(system):
    """{family: whether all its principles agree with Kane}, and whether the audit holds."""
    result = agreement(system)
    families = {}
    for row in result.rows:
        families[row.principle.family] = families.get(row.principle.family, True) and row.agrees
    return families, all(f.holds for f in result.audit)


@pytest.mark.parametrize("name", ["bead-on-hoop", "cart-and-bar", "rolling-disk", "spatial-chain"])
def test_without_an_error_nothing_is_caught(name):
    s = gallery.build(name)
    right = da.kane(s).equations
    for principle in (da.lagrange, da.dalembert, da.gibbs_appell, da.boltzmann_hamel):
        assert not caught(right, principle(s).equations)


# ---- a dropped Coriolis term ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["cart-and-bar", "rolling-disk", "spherical-pendulum", "knife-edge-rod"]
)
def test_dropped_coriolis_term(name, monkeypatch):
    s = gallery.build(name)
    right = da.lagrange(s).equations
    monkeypatch.setattr(Kinematics, "a", components_only)
    assert caught(right, da.kane(s).equations)
    assert caught(right, da.gibbs_appell(s).equations)
    families, audit = by_families(s)
    # accelerations from the speeds are wrong; positions, kinetic energy and momenta have their own
    assert not families["positions"]
    assert not families["kinetic energy"]
    assert not families["momenta"]
    assert not audit


def test_half_of_the_coriolis_term(monkeypatch):
    # ω × v_rel once instead of twice, on a bead that slides along a turning rod
    s = da.System("bead on a turning rod")
    r, theta = s.coordinates("r theta")
    (m,) = s.constants("m")
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bead", m, s.O.offset(r * B.x))
    right = da.lagrange(s).equations
    whole = Kinematics.a

    def halved(kin, P):
        coriolis = kin.w(B).cross(
            Vector(kin.tape, {B: (kin.rate(r.i), kin.tape.zero, kin.tape.zero)})
        )
        return whole(kin, P) - coriolis

    monkeypatch.setattr(Kinematics, "a", halved)
    assert caught(right, da.kane(s).equations)


# ---- the sign of ω × Iω --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["free-body", "free-body-quaternion", "lagrange-top", "spatial-chain", "rolling-disk"]
)
@pytest.mark.parametrize("principle", ["gibbs_appell", "gauss"])
def test_wrong_sign_of_w_cross_Iw(name, principle, monkeypatch):
    s = gallery.build(name)
    right, derive = da.kane(s).equations, getattr(da, principle)
    assert not caught(right, derive(s).equations)
    monkeypatch.setattr(
        "dalembert.mechanics.kinetics.system_quantities.gibbs_function", with_wrong_sign
    )
    assert caught(right, derive(s).equations)


# ---- Hamel coefficients --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["knife-edge-rod", "vehicle", "chaplygin-sleigh", "rolling-disk", "free-body", "suslov"]
)
def test_dropped_gamma(name, monkeypatch):
    s = gallery.build(name)
    right = da.kane(s).equations
    assert not caught(right, da.boltzmann_hamel(s).equations)
    monkeypatch.setattr(QuasiVelocities, "transposition", only("time"))
    assert caught(right, da.boltzmann_hamel(s).equations)


MOVING = {
    "ball-on-turntable": ball_on_turntable.build,
    "ball-on-turntable, Omega(t)": lambda: ball_on_turntable.build(Omega=None),
    "moving-knife-edge": moving_knife_edge.build,
    "moving-knife-edge, w(t)": lambda: moving_knife_edge.build(w=None),
}


@pytest.mark.parametrize("name", MOVING)
def test_dropped_gamma_t(name, monkeypatch):
    s = MOVING[name]()
    right = da.kane(s).equations
    assert not caught(right, da.boltzmann_hamel(s).equations)
    monkeypatch.setattr(QuasiVelocities, "transposition", only("speeds"))
    assert caught(right, da.boltzmann_hamel(s).equations)


def test_gamma_t_is_not_missed_where_nothing_moves(monkeypatch):
    s = gallery.build("rolling-disk")
    monkeypatch.setattr(QuasiVelocities, "transposition", only("speeds"))
    assert not caught(da.kane(s).equations, da.boltzmann_hamel(s).equations)


# ---- T reduced by the constraints before differentiating -----------------------------------------


@pytest.mark.parametrize(
    "name", ["rolling-disk", "vehicle", "knife-edge-rod", "chaplygin-sleigh", "ball-on-turntable"]
)
@pytest.mark.parametrize("principle", ["lagrange", "maggi", "boltzmann_hamel", "hamilton"])
def test_kinetic_energy_reduced_before_differentiating(name, principle, monkeypatch):
    s = gallery.build(name)
    right, derive = da.kane(s).equations, getattr(da, principle)
    assert not caught(right, derive(s).equations)
    monkeypatch.setattr("dalembert.mechanics.kinetics.system_quantities.kinetic_energy", reduced)
    assert caught(right, derive(s).equations)


@pytest.mark.parametrize("name", ["atwood-machine", "slider-crank"])
def test_holonomic_rows_may_be_used_before_differentiating(name, monkeypatch):
    # the rows of these integrate to φ(q) = 0, and T on φ = 0 is all that Lagrange needs
    s = gallery.build(name)
    monkeypatch.setattr("dalembert.mechanics.kinetics.system_quantities.kinetic_energy", reduced)
    assert not caught(da.kane(s).equations, da.lagrange(s).equations)


# ---- Bar00 (58) ----------------------------------------------------------------------------------


def test_bar00_58_as_the_matrix_of_the_speeds():
    # (39) with T̄ of (56), 𝒵 = Ẏ − ∂u/∂q of (58), and W of the corrected (54)
    d = da.kane(gallery.build("vehicle"))
    kin, t, s = d.kinematics, d.tape, d.kinematics.system
    T = as_node(t, s.expression("1/2*m*u1**2 + 1/2*(I_G + m*L**2)*u2**2"))
    Y = [
        [as_node(t, s.expression(e)) for e in row]
        for row in (["cos(theta)", "sin(theta)", "0"], ["0", "0", "1"])
    ]
    U = [as_node(t, s.expression(e)) for e in ("F_C + F_D", "h*(F_D - F_C)")]
    P = [as_node(t, s.expression(e)) for e in ("m*u1", "(I_G + m*L**2)*u2")]
    assert all(
        provably_zero(
            t,
            [
                t.sub(Derivative(t, lambda i, u=u: t.one if i == u else None)(T), p)
                for u, p in zip(kin.u, P, strict=True)
            ],
        )
    )
    along = [Derivative(t, lambda i, q=q: t.one if i == q else None) for q in kin.q]
    u = [
        t.add(
            t.add(t.mul(row[0], kin.qdot[0]), t.mul(row[1], kin.qdot[1])),
            t.mul(row[2], kin.qdot[2]),
        )
        for row in Y
    ]
    residuals = []
    for r in range(2):
        total = t.sub(kin.rate(P[r]), U[r])
        for p, row, u_s in zip(P, Y, u, strict=True):
            for i, (_, W) in enumerate(kin.WX):
                Z = t.sub(kin.rate(row[i]), kin.in_speeds(along[i](u_s)))
                total = t.add(total, t.mul(p, t.mul(Z, W.get(r, t.zero))))
        residuals.append(total)
    # what it gives: (50) without −m L u₂² and + m L u₁ u₂
    printed = [
        as_node(t, s.expression(e))
        for e in ("m*u1' - (F_C + F_D)", "(I_G + m*L**2)*u2' - h*(F_D - F_C)")
    ]
    assert all(provably_zero(t, [t.sub(a, b) for a, b in zip(residuals, printed, strict=True)]))
    assert caught(d.equations, replace(d.equations, residuals=tuple(residuals)))


# ---- a wrong ω in the recursion ------------------------------------------------------------------


def planted_spins(monkeypatch, wrong, depth):
    """The spin of every frame beyond some depth, as `wrong` makes it."""
    right = VelocityRecursion._relative_angular_velocity

    def spin(motion, F):
        vector = right(motion, F)
        return wrong(vector) if F.depth > depth else vector

    monkeypatch.setattr(VelocityRecursion, "_relative_angular_velocity", spin)


@pytest.mark.parametrize("wrong", [lambda v: -v, lambda v: 2 * v], ids=["sign", "twice"])
@pytest.mark.parametrize(
    "name", ["lagrange-top", "free-body", "spherical-pendulum", "gyroscope", "spatial-chain"]
)
def test_wrong_angular_velocity(name, wrong, monkeypatch):
    planted_spins(monkeypatch, wrong, depth=1)
    s = gallery.build(name)
    families, audit = by_families(s)
    assert not audit
    assert not families["positions"]
    assert caught(da.kane(s).equations, da.dalembert(s).equations)
    assert not audit_in_floats(s)


def test_wrong_angular_velocity_that_only_the_audit_and_positions_notice(monkeypatch):
    # twice the spin about a fixed axis is the ω of another motion: every other principle agrees,
    # and conserves its own energy
    planted_spins(monkeypatch, lambda v: 2 * v, depth=0)
    s = da.System("arm")
    m, l, I, k = s.constants("m l I k")
    joint = s.pin("theta", s.O)
    s.body("arm", m, joint.offset(l * joint.frame.x), joint.frame, da.inertia(joint.frame, 0, 0, I))
    s.potential(k * s["theta"] ** 2 / 2)
    families, audit = by_families(s)
    assert not audit
    assert families.pop("positions") is False
    assert all(families.values())
    assert caught(da.kane(s).equations, da.dalembert(s).equations)
    assert not audit_in_floats(s)


@pytest.mark.parametrize(
    "name", ["lagrange-top", "free-body", "spherical-pendulum", "gyroscope", "spatial-chain"]
)
def test_right_angular_velocity(name):
    families, audit = by_families(gallery.build(name))
    assert audit
    assert all(families.values())
    assert audit_in_floats(gallery.build(name))


def audit_in_floats(system):
    """[ω]ₓ = Ṙ Rᵀ and v = ṙ at one state, in floats."""
    kin = da.kinematics(system).fork()
    t, N = kin.tape, system.N
    differences = []
    for body in kin.system.bodies:
        r = (body.G - system.O).on(t).components(N)
        differences += [
            t.sub(a, kin.rate(b)) for a, b in zip(kin.v(body.G).components(N), r, strict=True)
        ]
        if body.frame is not None:
            R, w = body.frame.dcm_nodes(t), kin.w(body.frame).components(N)
            Rd = [tuple(kin.rate(x) for x in row) for row in R]
            axial = [dot3(t, Rd[(k + 2) % 3], R[(k + 1) % 3]) for k in range(3)]
            differences += [t.sub(a, b) for a, b in zip(w, axial, strict=True)]
    values = evaluate(t, differences, lambda i: value(t.nodes[i][1]), FloatArithmetic())
    return bool(np.max(np.abs(values)) < 1e-12)


def test_the_controls_would_not_see_what_is_not_there():
    # a bead whose hoop stands still has no Coriolis force to drop
    s = bead_on_hoop.build(psi="1")
    assert not caught(da.kane(s).equations, da.dalembert(s).equations)
