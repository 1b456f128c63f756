"""∂S/∂u̇_r = U_r: the Gibbs–Appell equations.

S = Σ ½ m a·a + ½ α·I·α + α·(ω × I·ω), up to terms free of u̇: the energy of acceleration.
Constraints may be imposed
before differentiating.

Source: Bar00 (31)–(32).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import diff, equation
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    speed_derivation,
)

PRINCIPLE = texts.GIBBS_APPELL
TEXTS = texts.GIBBS_APPELL_STEPS


@check_options
def gibbs_appell(system: System | Kinematics) -> Derivation:
    """∂S/∂u̇_r = U_r      (r = 1, …, p)"""
    x = Quantities(forked_kinematics(system))
    S = x.speeds.S.as_step(
        "Energy of acceleration",
        "Bar00 (31)",
        "S is written in the independent speeds from the start, since it is differentiated by u̇ "
        "only. Terms free of u̇ drop out."
        + " So the constraint rows may be imposed first, unlike in the kinetic energy."
        * bool(x.kin.rows),
    )
    u, F, M = x.u.at("r"), x.speeds.forces, x.speeds.moments
    U = (
        x.speeds.generalized_force(F, M, diff(x.speeds.v, u), diff(x.speeds.w, u), "r")
        .with_letter("U", "r")
        .as_step(*TEXTS["U"])
    )
    S_r = diff(S, x.udot.at("r")).as_step(*TEXTS["S_r"])
    return speed_derivation(PRINCIPLE, x, (S, U, S_r), equation(S_r, U))
