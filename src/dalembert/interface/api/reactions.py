"""What holds a system together, as expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import saddle_equations, select_equations

if TYPE_CHECKING:
    from dalembert.analysis.inverse.lagrange_multipliers import Multipliers
    from dalembert.mechanics.geometry.point import Point
    from dalembert.mechanics.kinetics.balance import Balance
    from dalembert.mechanics.kinetics.reactions import Reactions
    from dalembert.mechanics.model.elements import Body


def reactions(system: System) -> Reactions:
    """The wrench in every joint and the force of every constraint row, as expressions."""
    from dalembert.mechanics.kinetics.reactions import reactions as reactions_of

    return reactions_of(kinematics(system))


def balance(system: System, bodies: Iterable[Body | str], about: Point) -> Balance:
    """Σ m a − Σ F − Σ f and the same of moments about any point, for any bodies of a system;
    both vanish on every motion.
    """
    from dalembert.mechanics.kinetics.balance import balance as balance_of

    return balance_of(kinematics(system), bodies, about)


def multipliers(system: System) -> Multipliers:
    """λ of every constraint row: {row: expression of q, q̇ and t} with the accelerations
    eliminated, for up to three rows.

    Constraint forces are + Aᵀλ. Where a divisor of the elimination vanishes, as at a singular
    attitude, an expression has no value. `.compile()` gives f(q, u, t=0, **values) as native code
    for any number of rows, which solves at each state. Of a run they are in `run.reactions`.
    """
    from dalembert.analysis.inverse.lagrange_multipliers import Multipliers, NativeMultipliers

    def compile_multipliers() -> NativeMultipliers:
        kin, _ = select_equations(system, "native")
        return NativeMultipliers(kin, *saddle_equations(unreduced_kinematics(kinematics(system))))

    return Multipliers(kinematics(system), compile_multipliers)
