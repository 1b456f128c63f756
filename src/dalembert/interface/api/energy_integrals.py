"""Energy integrals, symmetries and ignorable coordinates of a system, by Kane's equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.equations.equations_of_motion import Equations, check_regular
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.dynamics.compile import nonsingular_kinematics
from dalembert.symbolic.algebra.exact.verdict import Undecided
from dalembert.symbolic.algebra.scalar import as_node
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products

if TYPE_CHECKING:
    from dalembert.analysis.integrals.conservative_loads import LoadVerdict
    from dalembert.analysis.integrals.energies import Energies
    from dalembert.analysis.integrals.energy_integrals import EnergyIntegrals
    from dalembert.analysis.integrals.symmetry import RouthReduction, Symmetry


@check_options
def energy_integrals(
    system: System,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    about: Mapping[Any, Any] | None = None,
) -> EnergyIntegrals:
    """The six energy integrals of a system in its speeds, each decided: constant or not, and under
    which condition.

    values   constants that are to count as zero, or as arbitrary (any other number)
    inputs   prescribed motions and inputs: numbers or expressions such as 2*sin(s.t)
    about    a position at which the speeds, where none were declared, are to be regular
    """
    from dalembert.analysis.integrals.energy_integrals import energy_integrals as decide

    return decide(*_energy_problem(system, values or {}, inputs or {}, about))


def conservative(system: System) -> tuple[LoadVerdict, ...]:
    """Which loads that were declared as forces have a potential: ∂Q/∂q̇ = 0, ∂Q/∂t = 0, dQ = 0,
    decided exactly.

    One verdict for each load, and one for those together that have none alone; potentials and
    gravity have theirs already.
    """
    from dalembert.analysis.integrals.conservative_loads import load_verdicts

    return tuple(load_verdicts(kinematics(system).fork()))


def symmetry(
    system: System,
    xi: Mapping[Any, Any],
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
) -> Symmetry:
    """Whether p·ξ or H − p·ξ is constant for a direction of the coordinates: da.symmetry(s, {x:
    -y, y: x, phi: 1}).
    """
    from dalembert.analysis.integrals.identity_test import MotionIdentityTest
    from dalembert.analysis.integrals.symmetry import symmetry as decide

    E, equations, where = _energy_problem(system, values or {}, inputs or {})
    direction = _direction(system, E, xi)
    return decide(E, MotionIdentityTest(E.t, equations, E.kin.nonlinear_rows), direction, where)


def _direction(system: System, E: Energies, xi: Mapping[Any, Any]) -> dict[int, int]:
    """ξ by coordinates, as nodes."""
    from dalembert.runtime.numerics.symbol_values import require_mapping

    names = {q.name: q.i for q in system.q}
    direction: dict[int, int] = {}
    for key, e in require_mapping("symmetry", xi).items():
        name = key if isinstance(key, str) else getattr(key, "name", None)
        if name not in names:
            msg = (
                f"symmetry: {key!r} is no coordinate of {system.name!r}; the coordinates are "
                f"{', '.join(map(str, names))}"
            )
            raise BadExpression(msg)
        direction[names[name]] = as_node(E.t, system.expression(e) if isinstance(e, str) else e)
    return direction


def routh(system: System) -> RouthReduction:
    """Routh's reduction: ignorable coordinates removed, their momenta constants."""
    from dalembert.analysis.integrals.identity_test import MotionIdentityTest
    from dalembert.analysis.integrals.symmetry import routh as reduce

    E, equations, _ = _energy_problem(system, {}, {})
    return reduce(E, MotionIdentityTest(E.t, equations, E.kin.nonlinear_rows))


def _energy_problem(
    system: System,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    about: Mapping[Any, Any] | None = None,
) -> tuple[Energies, Equations, dict[int, int]]:
    """The energies and powers, the equations of motion, and the known constants, motions and
    inputs.
    """
    from dalembert.analysis.integrals.energies import Energies
    from dalembert.analysis.integrals.energy_integrals import known_substitutions
    from dalembert.runtime.states.run_values import run_values

    kin = kinematics(system) if about is None else nonsingular_kinematics(kinematics(system), about)
    equations = cached_derivation(derive_equations_of_motion, kin).equations
    check_regular(equations)
    E = Energies(kin)
    _check_workless(E, equations)
    return E, equations, known_substitutions(E, run_values(kin, values, inputs))


def _check_workless(E: Energies, equations: Equations) -> None:
    """A u = 0 where φ = 0: otherwise the reaction of a row that is not linear has power, which
    none of the energies counts.
    """
    from dalembert.analysis.integrals.identity_test import MotionIdentityTest

    motion = MotionIdentityTest(E.t, equations, E.kin.nonlinear_rows)
    for row in E.kin.nonlinear_rows:
        powerless = motion.is_zero(
            E.kin.scalar(sum_of_products(E.t, ((a, E.kin.u[r]) for r, a in row.A.items())))
        )
        if powerless is None:
            msg = (
                f"energy integrals: whether the reaction of {row.row.name!r} has power: "
                f"undecided ({motion.undecided_reason})"
            )
            raise Undecided(msg)
        if not powerless:
            why = "is not linear in the velocities, and its reaction has power"
            msg = (
                f"energy integrals: {row.row.name!r} {why}; run.energy and run.integrals of a "
                f"simulation show what is kept"
            )
            raise NotApplicable(msg)
