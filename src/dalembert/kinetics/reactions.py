"""f = Σ (m a − F), μ = Σ (Ḣ − M + ρ × (m a − F)) over the bodies beyond a joint: reactions as expressions.

The wrench in every joint follows from the balances of the bodies beyond it. A constraint row brings the generalized reaction
λ A on q; where it is known which bodies it takes hold of, a closed loop is cut at its rows, and the forces λ d of the rows act
on the bodies. Springs pull at their ends. A load declared by another potential has no place of action; where it acts across a
joint the joint's wrench contains it, as it contains what a row does that relates joint coordinates (a gear, a drive).
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Linear
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import NotApplicable
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.rows import ConstraintRow
from dalembert.kinematics.system_kinematics import Kinematics, linear_parts
from dalembert.kinetics.free_bodies import FreeBody, carrier, free_bodies
from dalembert.kinetics.joints import RigidGroup, RigidGroups
from dalembert.kinetics.row_actions import Action, held_rows, row_actions
from dalembert.kinetics.springs import spring_forces
from dalembert.model.elements import Body


@dataclass(frozen=True)
class JointReaction:
    """The wrench on what lies beyond a joint, at the joint, in q, u, u̇ and λ; `at` is the joint's place from O."""

    joint: str
    force: Vector
    moment: Vector
    at: Vector


@dataclass(frozen=True)
class RowReaction:
    """What a constraint row exerts: λ A_k along each coordinate, and as a force and a moment where a body carries it.

    The force acts at the point `at` on the body `on`, the moment is about that point; their opposites act on the body
    `against`, or on the ground.
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
class Reactions:
    """Every joint (empty where they cannot be had, with the reason) and every row."""

    tape: Tape
    joints: tuple[JointReaction, ...]
    rows: tuple[RowReaction, ...]
    why_no_joints: str = ""

    def __str__(self) -> str:
        lines = [f"{j.joint}: force {j.force}, moment {j.moment}" for j in self.joints]
        for row in self.rows:
            on = f"on {row.on}: " if row.on else ""
            parts = [f"{what} {v}" for what, v in (("force", row.force), ("moment", row.moment)) if v is not None]
            lines.append(f"{row.row}: {on}{', '.join(parts) or ', '.join(f'{e} along {q}' for q, e in row.along.items())}")
        return "\n".join([*lines, *([f"no joints: {self.why_no_joints}"] if self.why_no_joints else [])])


def reactions(kin: Kinematics) -> Reactions:
    """The reactions of a system as symbols.

    Source: Mei85 (7.24), Gre03 (4.14).
    """
    kin = kin.fork()
    actions = row_actions(kin)
    try:
        joints, reason = _joints(kin, actions), ""
    except NotApplicable as problem:
        joints, reason = (), str(problem)
    return Reactions(kin.tape, joints, _rows(kin, actions), reason)


# ---- joints -------------------------------------------------------------------------------------

# forces and moments about the mass centre that rows put on a body, by its name
_OnBody = dict[str, tuple[Vector, Vector]]


def _joints(kin: Kinematics, actions: list[Action | None]) -> tuple[JointReaction, ...]:
    _check_placed(kin, actions)
    cuts = RigidGroups(kin)
    bodies = {b.name: b for b in free_bodies(kin)}
    _add_springs(kin, bodies)
    strangers = [name for name in bodies if name not in {b.name for b in kin.system.bodies}]
    if strangers:
        msg = f"{strangers[0]} acts on a point that no body carries"
        raise NotApplicable(msg)
    held = _on_bodies(kin, actions)
    wrenches: dict[RigidGroup, tuple[Vector, Vector]] = {}
    for piece in reversed(cuts.pieces):
        wrenches[piece] = _beyond(kin, piece, bodies, held, wrenches)
    return tuple(JointReaction(piece.name, *wrenches[piece], _place(kin, piece)) for piece in cuts.pieces[1:])


def _add_springs(kin: Kinematics, bodies: dict[str, FreeBody]) -> None:
    """The forces of springs on the bodies that carry their ends."""
    t = kin.tape
    for name, F, P in spring_forces(kin):
        body = carrier(kin, list(bodies.values()), P)
        if body is not None:
            body.F = body.F + F
            body.M = body.M if body.frame is None else body.M + (P - body.point).on(t).cross(F)
        elif linear_parts(Linear(t, kin.qdot), kin.motion_in_rates.v(P))[0]:
            msg = f"{name} acts on a point that no body carries"
            raise NotApplicable(msg)


def _check_placed(kin: Kinematics, actions: list[Action | None]) -> None:
    if kin.system.members:
        msg = "the loads along flexible members have no place among the joints"
        raise NotApplicable(msg)
    for row, action in zip(held_rows(kin), actions, strict=True):
        if action is None:
            remedy = "declare it by what it holds (s.roll, s.coincide, s.close, s.distance) to have the wrenches in the joints"
            msg = f"it is not known on which bodies {row.name!r} acts; {remedy}"
            raise NotApplicable(msg)


def _on_bodies(kin: Kinematics, actions: list[Action | None]) -> _OnBody:
    """Σ λ_j d and Σ λ_j (μ + (r_P − r_G) × d) of all rows, body by body."""
    t = kin.tape
    found: _OnBody = {}
    for lam, action in zip(_multipliers(kin), actions, strict=True):
        if action is None:
            continue
        wrenches = [(b, d, (P - b.G).on(t).cross(d.on(t))) for b, P, d in action.forces if b is not None]
        wrenches += [(b, Vector(t, {}), d) for b, d in action.moments if b is not None]
        for body, f, mu in wrenches:
            force, moment = found.get(body.name, (Vector(t, {}), Vector(t, {})))
            # a particle feels no moment
            turned = mu.on(t).scaled(lam) if body.frame is not None else Vector(t, {})
            found[body.name] = force + f.on(t).scaled(lam), moment + turned
    return found


def _beyond(
    kin: Kinematics, piece: RigidGroup, bodies: dict[str, FreeBody], held: _OnBody, known: dict[RigidGroup, tuple[Vector, Vector]]
) -> tuple[Vector, Vector]:
    """Force and moment about the joint that everything from this piece outwards needs, beside what the rows give."""
    t = kin.tape
    force, moment = Vector(t, {}), Vector(t, {})
    for body, rho in piece.masses:
        f, mu = bodies[body.name].force, bodies[body.name].moment
        if body.name in held:
            f, mu = f - held[body.name][0], mu - held[body.name][1]
        force = force + f
        moment = moment + mu + rho.cross(f)
    for further in piece.beyond:
        f, mu = known[further]
        force, moment = force + f, moment + mu + further.offset.cross(f)
    return force, moment


def _place(kin: Kinematics, piece: RigidGroup) -> Vector:
    """The joint from O."""
    total = Vector(kin.tape, {})
    here: RigidGroup | None = piece
    while here is not None:
        total = here.offset + total
        here = here.before
    return total


def _multipliers(kin: Kinematics) -> tuple[int, ...]:
    """λ_1, …, λ_m: one symbol for each row, the same as in the principles, and more where rows are marked redundant."""
    return tuple(kin.tape.private_symbol(f"lambda_{j}") for j in range(1, len(held_rows(kin)) + 1))


# ---- rows ---------------------------------------------------------------------------------------


def _rows(kin: Kinematics, actions: list[Action | None]) -> tuple[RowReaction, ...]:
    found = []
    for lam, row, action in zip(_multipliers(kin), held_rows(kin), actions, strict=True):
        if row.is_norm:
            continue  # no body feels the norm of a quaternion
        found.append(_row(kin, row, lam, action))
    return tuple(found)


def _row(kin: Kinematics, row: ConstraintRow, lam: int, action: Action | None) -> RowReaction:
    t = kin.tape
    along = {kin.name(kin.q[k]): kin.scalar(t.mul(lam, a)) for k, a in row.A.items()}
    bodies = () if action is None else action.touches
    if action is None or not bodies:
        return RowReaction(row.name, kin.scalar(lam), along)
    on, against = bodies[0], bodies[1] if len(bodies) > 1 else None
    held = [(P, d.on(t).scaled(lam)) for body, P, d in action.forces if body is on]
    at = held[0][0] if held else None
    force, moment = Vector(t, {}), Vector(t, {})
    for P, f in held:
        force = force + f
        moment = moment + (P - held[0][0]).on(t).cross(f)
    for body, d in action.moments:
        moment = moment + d.on(t).scaled(lam) if body is on else moment
    turned = moment if any(c != t.zero for part in moment.parts.values() for c in part) else None
    return RowReaction(row.name, kin.scalar(lam), along, force if held else None, at, turned, *_names(on, against))


def _names(on: Body | None, against: Body | None) -> tuple[str, str]:
    return "the ground" if on is None else on.name, "the ground" if against is None else against.name
