"""Reactions as expressions, in the joints and behind prescribed motions.

f = Σ (m a − F), μ = Σ (Ḣ − M + ρ × (m a − F)) over the bodies beyond a joint. A constraint row
brings the generalized reaction λ A on q; where it is known on which bodies it acts, a closed loop
is cut at its rows, and the forces λ d of the rows act on the bodies. Springs pull at their ends. A
load declared by another potential has no point of application; where it acts across a joint the
joint's wrench contains it, and also the effect of rows that relate joint coordinates (a gear, a
drive).

τ_x = d/dt ∂T/∂ẋ − ∂T/∂x + ∂V/∂x − Q_x − λᵀA_x: the load that makes a prescribed motion x(t) happen,
and the power it takes. Whatever moves as prescribed is held by a load that the equations of motion
never contain. Lagrange's equation along x, as if x were one more coordinate, gives it. A row that
moves by itself (b ≠ 0) feeds in the power −λ b. Both together, and what time does where it is
written into a position or a potential, are the power fed in, P_in = d(T + V)/dt − P of the loads
without potential.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import (
    ConstraintAction,
    multipliers,
    reaction_rows,
    row_actions,
    row_loads_by_group,
)
from dalembert.mechanics.kinetics.free_bodies import GroupLoad, Wrench, inertia, loads_by_group
from dalembert.mechanics.kinetics.quantity import total
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.formula import Symbol
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, gradient_column, jacobian
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class PrescribedMotion:
    """A prescribed motion: its rate ẋ, the load without the rows, and A_x of every row, so that τ
    = load − λᵀA_x.
    """

    name: str
    rate: int
    load: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class PrescribedMotionLoads:
    """Nodes in q, q̇, q̈ and t: Aᵀλ along q, the drives, A q̇ + Σ A_x ẋ of every row, and P_in."""

    # d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q, which the rows balance
    along_q: tuple[int, ...]
    # A, row by row
    A: tuple[tuple[int, ...], ...]
    drives: tuple[PrescribedMotion, ...]
    row_rates: tuple[int, ...]
    power: int


def prescribed_motion_loads(kin: Kinematics) -> PrescribedMotionLoads:
    """What the rows and the prescribed motions have to exert along a motion; `kin` is a fork of
    its own.
    """
    t, n = kin.tape, kin.n_q
    of = Quantities(kin)
    T, V, given = of.rates.T.value, of.V.value, of.rates
    specified = [s for s in kin.system.symbols.values() if s.kind == "specified"]
    xdot = Column(t, (t.rate(s.scalar.i) or t.zero for s in specified))
    x, rates = Column(t, (*kin.q, *(s.scalar.i for s in specified))), Column(t, (*kin.qdot, *xdot))
    Q = given.nonpotential_force(
        of.variables(Symbol("x", dots=1), rates, tuple(map(kin.name, rates)))
    ).value
    left = (
        gradient_column(T, rates).map(given.rate)
        - gradient_column(T, x)
        + gradient_column(V, x)
        - Q
    )
    rows = reaction_rows(kin)
    A = SparseMatrix(t, (row.A for row in rows), n)
    A_x = jacobian(Column(t, (row.nonlinear or row.b for row in rows)), xdot)
    drives = tuple(
        map(PrescribedMotion, (s.name for s in specified), xdot, left.nodes[n:], A_x.T.dense())
    )
    row_rates = A @ Column(t, kin.qdot) + A_x @ xdot
    power = _input_power(of, rates)
    return PrescribedMotionLoads(left.nodes[:n], A.dense(), drives, row_rates.nodes, power)


def _input_power(of: Quantities, rates: Column) -> int:
    """P_in: d(T + V)/dt less the power of the other loads, dissipation included."""
    given = of.rates
    energy_rate = given.rate((given.T.value + of.V.value).i)
    power = (
        total(given.forces_without_potential.dot(given.v)).value
        + total(given.moments.dot(given.w)).value
    )
    D = given.dissipation.value
    input_power: Scalar = of.kin.scalar(energy_rate) - (power - rates @ gradient_column(D, rates))
    return input_power.i


@dataclass(frozen=True)
class JointReaction:
    """The wrench on what lies beyond a joint, at the joint, in q, u, u̇ and λ; `at` is the
    joint's place from O.
    """

    joint: str
    force: Vector
    moment: Vector
    at: Vector


@dataclass(frozen=True)
class RowReaction:
    """What a constraint row exerts: λ A_k along each coordinate, and as a force and a moment where
    a body carries it.

    The force acts at the point `at` on the body `on`, the moment is about that point; their
    opposites act on the body `against`, or on the ground.
    """

    row: str
    multiplier: Scalar
    along: dict[str, Scalar]
    force: Vector | None = None
    at: Point | None = None
    moment: Vector | None = None
    on: str = ""
    against: str = ""


@dataclass(frozen=True)
class Reactions(Displayable):
    """The reactions in every joint (or the reason why there are none) and of every constraint
    row.
    """

    tape: Tape
    joints: tuple[JointReaction, ...]
    rows: tuple[RowReaction, ...]
    why_no_joints: str = ""

    def __str__(self) -> str:
        lines = [f"{j.joint}: force {j.force}, moment {j.moment}" for j in self.joints]
        for row in self.rows:
            on = f"on {row.on}: " if row.on else ""
            parts = [
                f"{what} {v}"
                for what, v in (("force", row.force), ("moment", row.moment))
                if v is not None
            ]
            along = [f"{e} along {q}" for q, e in row.along.items()]
            lines.append(f"{row.row}: {on}{', '.join(parts or along)}")
        return "\n".join(
            [*lines, *([f"no joints: {self.why_no_joints}"] if self.why_no_joints else [])]
        )


def reactions(kin: Kinematics) -> Reactions:
    """The reactions of a system as symbols.

    Source: Mei85 (7.24), Gre03 (4.14).
    """
    kin = kin.fork()
    groups = RigidGroups(kin)
    actions = row_actions(groups)
    try:
        joints, reason = _joint_reactions(groups, actions), ""
    except NotApplicable as problem:
        joints, reason = (), str(problem)
    return Reactions(kin.tape, joints, _row_reactions(kin, actions), reason)


# ---- joints -------------------------------------------------------------------------------------


def _joint_reactions(
    groups: RigidGroups, actions: list[ConstraintAction]
) -> tuple[JointReaction, ...]:
    wrenches = joint_wrenches(groups, actions)
    return tuple(
        JointReaction(group.name, *wrench, groups.joint_position(group))
        for group, wrench in wrenches.items()
    )


def joint_wrenches(
    groups: RigidGroups, actions: list[ConstraintAction]
) -> dict[RigidGroup, Wrench]:
    """f = Σ (m a − F) − Σ λ d, μ likewise about the joint, of everything from a group outwards:
    what the joint must exert.
    """
    kin = groups.kin
    _check_loads_located(kin, actions)
    loads = [*_in_speeds(kin, loads_by_group(groups)), *row_loads_by_group(groups, actions)]
    none = Wrench(Vector(kin.tape, {}), Vector(kin.tape, {}))
    own = dict.fromkeys(groups.groups_in_load_path(load.group for load in loads), none)
    for group in own:
        for body, rho in group.masses:
            own[group] = own[group].plus(inertia(kin, body), rho)
    for load in loads:
        own[load.group] = own[load.group].minus(*_load_wrench(groups, load, none))
    for group in reversed(own):
        if group.before is not None:
            own[group.before] = own[group.before].plus(own[group], group.offset)
    del own[groups.ground]
    return own


def _in_speeds(kin: Kinematics, loads: Iterable[GroupLoad]) -> Iterator[GroupLoad]:
    return (load._replace(vector=kin.vector_in_speeds(load.vector)) for load in loads)


def _load_wrench(
    groups: RigidGroups, load: GroupLoad, none: Wrench
) -> tuple[Wrench, Vector | None]:
    """A load as a wrench at a place, from the joint of its group."""
    if load.at is None:
        return none._replace(moment=load.vector), None
    return none._replace(force=load.vector), groups.offset_from_joint(load.at, load.group)


def _check_loads_located(kin: Kinematics, actions: list[ConstraintAction]) -> None:
    if kin.system.members:
        msg = "the loads along flexible members do not act at a joint"
        raise NotApplicable(msg)
    for action in actions:
        if action.unknown_reason:
            raise NotApplicable(action.unknown_reason)


# ---- rows ---------------------------------------------------------------------------------------


def _row_reactions(kin: Kinematics, actions: list[ConstraintAction]) -> tuple[RowReaction, ...]:
    row_reactions = []
    for lam, row, action in zip(multipliers(kin), reaction_rows(kin), actions, strict=True):
        if row.is_norm:
            continue  # no body feels the norm of a quaternion
        row_reactions.append(_row_reaction(kin, row, lam, action))
    return tuple(row_reactions)


def _row_reaction(
    kin: Kinematics, row: ConstraintRow, lam: int, action: ConstraintAction
) -> RowReaction:
    t = kin.tape
    along = {kin.name(kin.q[k]): kin.scalar(t.mul(lam, a)) for k, a in row.A.items()}
    if action.on is None or action.body_pair is None:
        if action.ground_force is None:
            return RowReaction(row.name, kin.scalar(lam), along)
        P, d = action.ground_force
        force = d.on(t).scale(lam)
        return RowReaction(row.name, kin.scalar(lam), along, force, P, against="the ground")
    unit_forces = [(P, d.on(t).scale(lam)) for group, P, d in action.forces if group is action.on]
    at = unit_forces[0][0] if unit_forces else None
    force, moment = Vector(t, {}), Vector(t, {})
    for P, f in unit_forces:
        force = force + f
        moment = moment + (P - unit_forces[0][0]).on(t).cross(f)
    for group, d in action.moments:
        moment = moment + d.on(t).scale(lam) if group is action.on else moment
    nonzero_moment = (
        moment if any(c != t.zero for part in moment.parts.values() for c in part) else None
    )
    return RowReaction(
        row.name,
        kin.scalar(lam),
        along,
        force if unit_forces else None,
        at,
        nonzero_moment,
        *action.body_pair,
    )
