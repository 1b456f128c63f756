"""What holds a system together, as expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.algebra.scalar import Scalar
    from dalembert.geometry.point import Point
    from dalembert.kinetics.balance import Balance
    from dalembert.kinetics.reactions import Reactions
    from dalembert.model.elements import Body


def reactions(system: System) -> Reactions:
    """The wrench in every joint and the force of every constraint row, as expressions."""
    from dalembert.kinetics.reactions import reactions as reactions_of

    return reactions_of(kinematics(system))


def balance(system: System, bodies: Iterable[Body | str], about: Point) -> Balance:
    """Σ m a − Σ F − Σ f and the same of moments about any point, for any bodies of a system; both vanish on every motion."""
    from dalembert.kinetics.balance import balance as balance_of

    return balance_of(kinematics(system), bodies, about)


def multipliers(system: System) -> dict[str, Scalar]:
    """λ of every constraint row as an expression of q, q̇ and t, with the accelerations eliminated; for up to three rows.

    Constraint forces are + Aᵀλ. Where a divisor of the elimination vanishes, as at a singular attitude, it has no value.
    Of a run they are in `run.reactions` for any number of rows.
    """
    from dalembert.equations.multiplier_expressions import solved_multipliers
    from dalembert.principles.lagrange import lagrange

    d = lagrange(kinematics(system))
    return {name: d.scalar(i) for name, i in solved_multipliers(d.kinematics, d.native.residuals, d.native.multipliers).items()}
