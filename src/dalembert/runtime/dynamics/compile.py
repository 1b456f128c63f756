"""Which equations become native code: link by link where the bodies form an open tree, otherwise
Kane's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression, NotApplicable, NotASystem, Unknown
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.articulated_body import recursive
from dalembert.mechanics.equations.equations_of_motion import (
    ExplicitEquations,
    check_regular,
    solve_accelerations,
)
from dalembert.mechanics.equations.saddle_point import (
    SaddlePointEquations,
    eliminate_multipliers,
    saddle_point_equations,
)
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics,
    unreduced_kinematics,
)
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation

if TYPE_CHECKING:
    from dalembert.runtime.numerics.forward_dynamics import NativeDynamics
    from dalembert.symbolic.algebra.scalar import Scalar

# p up to which M = L D Lᵀ is written out on the tape for a run: beyond, native elimination is
# compiled three times as fast
_MAX_SYMBOLIC_SIZE: Final = 12
_FORWARD_DYNAMICS: Final = PerOwnerCache[ExplicitEquations]()
_RECURSIVE: Final = PerOwnerCache[ExplicitEquations | None]()
_SADDLE: Final = PerOwnerCache[SaddlePointEquations]()
_ALL_RATES: Final = PerOwnerCache[ExplicitEquations | None]()


@check_options
def compile(  # noqa: A001 - da.compile is the verb a user looks for
    system: System | Derivation,
    expressions: Any = None,
    *,
    start: Mapping[Any, Any] | None = None,
    speeds: str | None = None,
) -> NativeDynamics:
    """f = da.compile(s): native u̇ = f(q, u, t=0, **values); f(Q, U) for states in rows.

    da.compile(s, e) gives the values of an expression, a vector, a Jacobian or a list of them in
    place of u̇.

    Where no speeds were declared and those chosen can become singular, `start` chooses others that
    are regular there, and speeds="all" keeps all rates, which no position makes singular: u = q̇
    (spins where there are quaternions), on the rows.
    """
    from dalembert.runtime.numerics.forward_dynamics import NativeDynamics

    _check_compile(system, expressions, start, speeds)
    if isinstance(system, Derivation):
        equations = solve_accelerations(system.equations)
        return NativeDynamics(system.kinematics.system, equations, _speed_pivots(system.kinematics))
    kin = kinematics(system)
    if speeds == "all" and system.constraints:
        from dalembert.runtime.dynamics.compiled_functions import AllRatesDynamics

        return AllRatesDynamics(system, *saddle_equations(unreduced_kinematics(kin)))
    kin = kin if start is None else nonsingular_kinematics(kin, start)
    if expressions is not None:
        from dalembert.runtime.dynamics.compiled_functions import native_expressions

        return native_expressions(kin, expressions, _speed_pivots(kin))
    return NativeDynamics(system, forward_dynamics_of(kin), _speed_pivots(kin))


def _check_compile(
    system: System | Derivation,
    expressions: Any,
    start: Mapping[Any, Any] | None,
    speeds: str | None,
) -> None:
    """Refuse arguments of da.compile that contradict one another."""
    if speeds not in (None, "all"):
        msg = f"compile: speeds={speeds!r:.40}; give 'all', or declare speeds with s.speeds(…)"
        raise Unknown(msg)
    if isinstance(system, Derivation) and not (start is None and speeds is None):
        msg = (
            "compile: a derivation keeps its speeds; leave out start= and speeds=, or give "
            "the system in its place"
        )
        raise NotApplicable(msg)
    if not isinstance(system, System) and not (
        isinstance(system, Derivation) and expressions is None
    ):
        wanted = (
            "give a System or a Derivation, not"
            if expressions is None
            else "expressions are those of a System, not of a"
        )
        msg = f"compile: {wanted} {type(system).__name__}"
        raise NotASystem(msg)
    if speeds == "all" and expressions is not None:
        msg = (
            "compile: expressions are functions of q and of independent speeds; leave out "
            "speeds=, or choose them with start={…}"
        )
        raise NotApplicable(msg)


def _speed_pivots(kin: Kinematics) -> tuple[Scalar, ...]:
    """Divisors that may vanish with speeds that are not declared."""
    return () if kin.system.speed_list else tuple(kin.scalar(i) for i in kin.state_dependent_pivots)


def nonsingular_kinematics(kin: Kinematics, start: Mapping[Any, Any]) -> Kinematics:
    """The kinematics with speeds that are regular at a start."""
    from dalembert.runtime.states.constraint_rank import regular_kinematics
    from dalembert.runtime.states.initial_conditions import solve_initial_conditions
    from dalembert.runtime.states.run_values import operating_values

    if not kin.state_dependent_pivots:
        return kin
    forces = {str(x.name): 0 for c in kin.system.contacts for x in c.forces}
    numbers = operating_values(kin.system, {}, forces).symbol_values_at(0.0)
    return regular_kinematics(
        kin, solve_initial_conditions(unreduced_kinematics(kin), start, numbers).q, numbers, 0.0
    )


def forward_dynamics(system: System) -> ExplicitEquations:
    """u̇ = g(q, u, t) by the route native code takes: link by link for open trees, otherwise
    Kane and M = L D Lᵀ.
    """
    return forward_dynamics_of(kinematics(system))


def forward_dynamics_of(kin: Kinematics) -> ExplicitEquations:
    """The same in the speeds of these kinematics; computed once."""
    return _FORWARD_DYNAMICS(kin, None, lambda: _derive_explicit(kin))


def _derive_explicit(kin: Kinematics) -> ExplicitEquations:
    recursive_form = _recursive_equations(kin)
    if recursive_form is not None:
        return recursive_form
    from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion

    equations = derive_equations_of_motion(kin).equations
    check_regular(equations)
    return solve_accelerations(equations)


def _recursive_equations(kin: Kinematics) -> ExplicitEquations | None:
    """u̇ link by link; None where there is no open tree, or a joint moves nothing."""

    def derive() -> ExplicitEquations | None:
        try:
            return recursive(kin)
        except (NotApplicable, BadExpression):
            return None

    return _RECURSIVE(kin, None, derive)


def select_equations(
    system: System, integrator: str
) -> tuple[Kinematics, ExplicitEquations | SaddlePointEquations]:
    """What a run integrates: independent speeds where they can never be singular or were
    declared, otherwise all rates.
    """
    kin = kinematics(system)
    if system.contacts:
        _check_contact_rows(kin, integrator)
        return _contact_dynamics(system, kin)
    auto_speeds = not system.speed_list
    needs_saddle = bool(kin.nonlinear) or (
        auto_speeds and bool(system.constraints) and (bool(kin.redundant) or kin.n_u == 0)
    )
    prefers_saddle = auto_speeds and bool(kin.state_dependent_pivots)
    # solved by numbers rather than on the tape, which takes n³/6 operations to write and to compile
    large = (
        kin.n_u > _MAX_SYMBOLIC_SIZE
        and (auto_speeds or not system.constraints)
        and _recursive_equations(kin) is None
    )
    if integrator == "heyoka" and needs_saddle:
        msg = (
            "heyoka needs independent speeds in closed form, which these constraints do not "
            "give; choose another integrator"
        )
        raise NotApplicable(msg)
    # these two want the rates in closed form, whatever that takes
    if (
        integrator == "heyoka"
        or not (needs_saddle or prefers_saddle or large)
        or (integrator == "rosenbrock" and not needs_saddle)
    ):
        return kin, forward_dynamics_of(kin)
    return saddle_equations(unreduced_kinematics(kin) if system.constraints else kin)


def independent_contact_equations(system: System) -> tuple[Kinematics, ExplicitEquations]:
    """u̇ = c + H λ of a system with contacts in independent speeds, singular or not."""
    kin = kinematics(system)
    _check_contact_rows(kin, "native")
    if _lacks_independent_speeds(system, kin):
        msg = (
            "contacts and friction need independent speeds here, which redundant constraints do "
            "not give; leave out those that are redundant, or declare speeds with s.speeds(…)"
        )
        raise NotApplicable(msg)
    return kin, forward_dynamics_of(kin)


def _lacks_independent_speeds(system: System, kin: Kinematics) -> bool:
    chosen = bool(system.constraints) and not system.speed_list
    return chosen and (bool(kin.redundant) or kin.n_u == 0)


def _check_contact_rows(kin: Kinematics, integrator: str) -> None:
    """Refuse what changes of mode cannot pass."""
    if integrator not in ("native", "auto", "rosenbrock"):
        msg = (
            f"contacts and friction need an integrator that locates changes of mode: 'native', "
            f"'auto' or 'rosenbrock'; leave out integrator={integrator!r}"
        )
        raise NotApplicable(msg)
    if kin.nonlinear:
        msg = (
            "contacts and friction: constraints that are not linear in the velocities are not "
            "supported, because an impact is not defined with them"
        )
        raise NotApplicable(msg)


def _contact_dynamics(system: System, kin: Kinematics) -> tuple[Kinematics, ExplicitEquations]:
    """u̇ = c + H λ of a system with contacts, and modes that the native integrator changes:
    independent speeds, or all rates where independent speeds are singular or do not exist.
    """
    needs_all_rates = _lacks_independent_speeds(system, kin)
    may_be_singular = not system.speed_list and bool(kin.state_dependent_pivots)
    # friction that constraint forces press needs these as functions of independent speeds
    pressed = any(c.row is not None for c in system.contacts)
    if (needs_all_rates or may_be_singular) and not pressed:
        all_rates = unreduced_kinematics(kin)
        found = _ALL_RATES(
            all_rates, None, lambda: eliminate_multipliers(saddle_equations(all_rates)[1])
        )
        if found is not None:
            return all_rates, found
    if needs_all_rates:
        msg = (
            "contacts and friction: with redundant constraints every rate needs a mass, no "
            "friction may be pressed by a constraint force, and the constraints must be few "
            "enough to be eliminated; declare independent speeds with s.speeds(…)"
        )
        raise NotApplicable(msg)
    return kin, forward_dynamics_of(kin)


def saddle_equations(kin: Kinematics) -> tuple[Kinematics, SaddlePointEquations]:
    """The equations in augmented form; computed once."""

    def derive() -> SaddlePointEquations:
        from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion

        d = derive_equations_of_motion(kin)
        return saddle_point_equations(d.kinematics, d.equations)

    return kin, _SADDLE(kin, None, derive)
