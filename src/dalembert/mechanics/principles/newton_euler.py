"""m a = F + f, Ḣ = M + μ for every body, and f·v_k + μ·ω_k = τ_k in every joint: Newton–Euler with
all bodies free.

What a joint does to a body it does, reversed, to the body before it. Unknown are the accelerations
and these wrenches. Two things close the system: the acceleration of a body against the one that
holds it has only the directions that the joint allows, and the joint exerts nothing along them but
the loads declared in it, τ: neither partial velocities of bodies nor an energy are formed.
Loads without a point of application cannot act on a free body.

Source: Bar00 (14), Mei85 (7.24), (7.18); Mar (1).
"""

from __future__ import annotations

from collections.abc import Mapping

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import (
    ConstraintAction,
    multipliers,
)
from dalembert.mechanics.kinetics.free_body_diagrams import (
    BodyBalances,
    FreeBodyDiagram,
    free_body_diagrams,
    free_body_system,
    joint_equations,
)
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    PrincipleForm,
    Step,
    StepItem,
)
from dalembert.symbolic.algebra.expression_graph import Substitution

PRINCIPLE = texts.NEWTON_EULER
TEXTS = texts.NEWTON_EULER_STEPS


@check_options
def newton_euler(
    system: System | Kinematics, about: Mapping[Body | str, Point] | None = None
) -> Derivation:
    """m a − F − f = 0, Ḣ + (r_G − r_P) × m a − M_P − μ_P = 0 for every body, f·v_k + μ·ω_k − τ_k =
    0 in every joint.

    Moments are taken about the mass centre, or about the point P that `about` names for a body.
    """
    first = forked_kinematics(system)
    known = free_body_system(first)
    kin = first.fork(known.groups.kin.tape)
    free = known.copy_to(kin)
    actions = free.actions
    cuts = free_body_diagrams(free, dict(about or {}))
    balances = BodyBalances(free.groups, cuts, free.loads)
    laws = joint_equations(kin, cuts, free.tau, actions)
    # from the tips to the ground every balance gives the wrench in its joint
    eliminate = Substitution(kin.tape, balances.reactions)
    residuals = tuple(eliminate(e) for e in laws.values())
    lam = multipliers(kin)[: len(actions)]
    native = PrincipleForm(
        "q", residuals, kin.qddot, lam, printed=(*balances.equations.values(), *laws.values())
    )
    steps = _steps(kin, cuts, balances, laws, actions, about_points=bool(about))
    return Derivation(PRINCIPLE, kin, steps, native)


def _steps(
    kin: Kinematics,
    cuts: list[FreeBodyDiagram],
    balances: BodyBalances,
    laws: dict[str, int],
    actions: list[ConstraintAction],
    *,
    about_points: bool,
) -> tuple[Step, ...]:
    moving = [
        StepItem(f"a of {body.name}", cut.link.acceleration(rho))
        for cut in cuts
        for body, rho in cut.link.group.masses
    ]
    turning = [StepItem(f"α of {cut.name}", cut.link.alpha) for cut in cuts if cut.link.alpha.parts]
    written = tuple(map(StepItem, balances.equations, balances.equations.values()))
    reactions = balances.reactions
    a_G = "a_G = a_P + α × ρ + ω × (ω × ρ) + 2 ω × v_rel + a_rel"
    Hdot = "Ḣ + (r_G − r_P) × m a − M_P − μ_P = 0" if about_points else "Ḣ − M − μ = 0"
    named = tuple(map(StepItem, map(kin.name, reactions), reactions.values()))
    return (
        _step("accelerations", a_G, (*moving, *turning)),
        _step("bodies", f"m a − F − f = 0, {Hdot}", written),
        _step("joints", "Σ f·v_k + μ·ω_k − τ_k = 0", tuple(map(StepItem, laws, laws.values()))),
        _step("reactions", "f = m a − F, μ = Ḣ − M", named, _undetermined_reactions(kin, actions)),
    )


def _step(key: str, formula: str, items: tuple[StepItem, ...], note: str = "") -> Step:
    title, source, why = TEXTS[key]
    return Step(title, formula, items, source, why + note)


def _undetermined_reactions(kin: Kinematics, actions: list[ConstraintAction]) -> str:
    """Which reactions the balances leave open."""
    unknown = [action.unknown_reason for action in actions if action.unknown_reason]
    note = f" Undetermined are the wrenches in the joints, for {unknown[0]}." if unknown else ""
    if kin.redundant:
        shared = f"{kin.redundant[0].name!r} repeats other rows"
        note += f" {shared}: how they share their reactions is undetermined."
    return note
