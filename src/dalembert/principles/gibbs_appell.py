"""∂S/∂u̇_r = U_r: the Gibbs–Appell equations.

S = Σ ½ m a·a + ½ α·I·α + α·(ω × I·ω), up to terms free of u̇: the energy of acceleration. Constraints may be imposed
before differentiating.

Source: Bar00 (31)–(32).
"""

from __future__ import annotations

from dalembert.algebra.folds import gradient
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import generalized_active_forces
from dalembert.kinetics.gibbs import gibbs_function
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "gibbs-appell",
    "Gibbs–Appell equations",
    "∂S/∂u̇_r = U_r",
    "Bar00 (31)–(32)",
    "accelerations",
    "scalar",
    "u",
    "The slope of the energy of acceleration along each independent u̇ is the generalized force along that speed.",
)


def gibbs_appell(system: System | Kinematics) -> Derivation:
    """∂S/∂u̇_r − U_r = 0      (r = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    S = gibbs_function(kin, kin.a, kin.w, kin.alpha)
    U = generalized_active_forces(kin)
    slopes = gradient(t, {S: t.one}, kin.udot)
    residuals = tuple(t.sub(a, b) for a, b in zip(slopes, U, strict=True))
    steps = (
        Step(
            "Energy of acceleration",
            "S = Σ ½ m a·a + ½ α·I·α + α·(ω × I·ω)",
            (Item("S", S),),
            "Bar00 (31)",
            "Unlike the kinetic energy, S may be written in the independent speeds from the start: only u̇ is differentiated, so the "
            "constraints can be imposed first. Terms free of u̇ would drop out.",
        ),
        Step(
            "Generalized forces",
            "U_r = Σ F·v_r + M·ω_r",
            items((f"U_{r}" for r in range(1, kin.n_u + 1)), U),
            "Bar00 (32)",
            "Only these depend on the loads; they are the coefficients of the speeds in the power.",
        ),
        Step(
            "Slopes of S",
            "∂S/∂u̇_r",
            items((f"∂S/∂{kin.name(x)}" for x in kin.udot), slopes),
            "Bar00 (32)",
            "Each is linear in u̇, since S is quadratic: the mass matrix stands beside u̇.",
        ),
    )
    return Derivation(PRINCIPLE, kin, steps, NativeForm("u", residuals, kin.udot))
