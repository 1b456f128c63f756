"""F_r + F_r* = 0: Kane's equations.

Partial velocities project the balances of force and moment onto the directions that the independent
speeds affect.

Source: Bar00 (26)–(30), Mar (7)–(11).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.kinetics.virtual_displacements import time_partial
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import (
    Derivation,
    Principle,
    forked_kinematics,
    speed_derivation,
)

PRINCIPLE = Principle(
    "kane",
    "Kane's equations",
    principle_statements.KANE,
    "Bar00 (29)–(30), Mar (11)",
    "velocities",
    "vector",
    "u",
    "Applied and inertia forces balance along the direction of motion of each independent speed. "
    "Reactions of ideal constraints have no power along these directions, so they do not enter.",
)


@check_options
def kane(system: System | Kinematics) -> Derivation:
    """F_r + F_r* = 0      (r = 1, …, p)"""
    x = Quantities(forked_kinematics(system, nonlinear=True))
    motion = _velocity_steps(x)
    _, v, w, v_r, w_r = motion
    v_t = time_partial(x, v, v_r).as_step(
        "Time-partial velocities",
        "Bar00 (27)",
        "The velocities when all speeds are zero: the part that prescribed motions impose.",
    )
    w_t = time_partial(x, w, w_r).as_step(
        "Time-partial angular velocities", "Bar00 (27)", "The same for rotations."
    )
    F = (
        x.speeds.generalized_force(x.speeds.forces, x.speeds.moments, v_r, w_r, "r")
        .with_letter("F", "r")
        .as_step(
            "Generalized active forces",
            "Bar00 (30)",
            "The power of the applied loads per unit of each speed. A load perpendicular to all "
            "partial velocities drops out.",
        )
    )
    a = x.speeds.a.with_parts(v).as_step(
        "Accelerations", "Bar00 (29)", "The velocities of the mass centres, differentiated in N."
    )
    Hdot = (
        x.speeds.d_dt(x.inertia.dot(w))
        .with_letter("H", dots=1)
        .as_step(
            "Rates of the angular momenta",
            "Bar00 (29)",
            "H = I·ω about the mass centre, differentiated in the inertial frame: I α + ω × I ω.",
        )
    )
    F_star = (
        (-total((x.m * a).dot(v_r)) - total(Hdot.dot(w_r)))
        .with_letter("F", "r", star=True)
        .as_step(
            "Generalized inertia forces",
            "Bar00 (29)",
            "m a and Ḣ are projected on the partial velocities like the loads; no kinetic energy "
            "is differentiated.",
        )
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
    v = x.speeds.v.with_parts(speeds).as_step(
        "Velocities",
        "Bar00 (27)",
        "Every velocity is linear in the speeds. The factor of a speed is a direction in which the "
        "system can move.",
    )
    w = x.speeds.w.with_parts(speeds).as_step(
        "Angular velocities", "Gre03 (4.42)", "Angular velocities of nested frames add."
    )
    v_r = (
        diff(v, x.u.at("r"))
        .with_letter("v", "r")
        .as_step(
            "Partial velocities",
            "Bar00 (26)",
            "The factors of the speeds in the velocities: the direction that each speed affects.",
        )
    )
    w_r = (
        diff(w, x.u.at("r"))
        .with_letter("ω", "r")
        .as_step(
            "Partial angular velocities",
            "Bar00 (26)",
            "The factors of the speeds in the angular velocities; moments are projected on them.",
        )
    )
    return speeds, v, w, v_r, w_r


def generalized_inertia_forces(kin: Kinematics) -> list[int]:
    """F_r* = −Σ m a·v_r − Σ Ḣ·ω_r, as nodes      (r = 1, …, p)

    Source: Bar00 (29), Mar (10).
    """
    x = Quantities(kin).speeds
    u = x.of.u.at("r")
    F_star = -total((x.of.m * x.a).dot(diff(x.v, u))) - total(x.Hdot.dot(diff(x.w, u)))
    return list(F_star.value)
