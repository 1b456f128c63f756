"""F_r + F_r* = 0: Kane's equations.

Partial velocities project the balances of force and moment onto the directions that the independent
speeds affect.

Source: Bar00 (26)–(30), Mar (7)–(11).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.kinetics.virtual_displacements import time_partial
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    speed_derivation,
)

PRINCIPLE = texts.KANE
TEXTS = texts.KANE_STEPS


@check_options
def kane(system: System | Kinematics) -> Derivation:
    """F_r + F_r* = 0      (r = 1, …, p)"""
    x = Quantities(forked_kinematics(system, nonlinear=True))
    motion = _velocity_steps(x)
    _, v, w, v_r, w_r = motion
    v_t = time_partial(x, v, v_r).as_step(*TEXTS["v_t"])
    w_t = time_partial(x, w, w_r).as_step(*TEXTS["w_t"])
    F = (
        x.speeds.generalized_force(x.speeds.forces, x.speeds.moments, v_r, w_r, "r")
        .with_letter("F", "r")
        .as_step(*TEXTS["F"])
    )
    a = x.speeds.a.with_parts(v).as_step(*TEXTS["a"])
    Hdot = x.speeds.d_dt(x.inertia.dot(w)).with_letter("H", dots=1).as_step(*TEXTS["Hdot"])
    F_star = (
        (-total((x.m * a).dot(v_r)) - total(Hdot.dot(w_r)))
        .with_letter("F", "r", star=True)
        .as_step(*TEXTS["F_star"])
    )
    return speed_derivation(
        PRINCIPLE, x, (*motion, v_t, w_t, F, a, Hdot, F_star), equation(F + F_star), negate=True
    )


def _velocity_steps(x: Quantities) -> tuple[Quantity, Quantity, Quantity, Quantity, Quantity]:
    """q̇, v and ω in the speeds, and the factor of each speed in v and ω."""
    speeds = x.qdot_of_u.as_step(
        "Speeds",
        "Bar00 (23), Gre03 (4.7)",
        "The rates as combinations of the independent speeds."
        + " They satisfy the constraint rows for all values of the speeds, so no multipliers are "
        "needed." * bool(x.kin.rows),
    )
    v = x.speeds.v.with_parts(speeds).as_step(*TEXTS["v"])
    w = x.speeds.w.with_parts(speeds).as_step(*TEXTS["w"])
    v_r = diff(v, x.u.at("r")).with_letter("v", "r").as_step(*TEXTS["v_r"])
    w_r = diff(w, x.u.at("r")).with_letter("ω", "r").as_step(*TEXTS["w_r"])
    return speeds, v, w, v_r, w_r


def generalized_inertia_forces(kin: Kinematics) -> list[int]:
    """F_r* = −Σ m a·v_r − Σ Ḣ·ω_r, as nodes      (r = 1, …, p)

    Source: Bar00 (29), Mar (10).
    """
    x = Quantities(kin).speeds
    u = x.of.u.at("r")
    F_star = -total((x.of.m * x.a).dot(diff(x.v, u))) - total(x.Hdot.dot(diff(x.w, u)))
    return list(F_star.value)
