"""f = Σ (m a − F), μ = Σ (Ḣ − M + ρ × (m a − F)) over the bodies beyond a joint: reactions as expressions.

For an open tree the wrench in every joint follows from the balances of the bodies it carries. A constraint row brings the
generalized reaction λ A on q, and where a body carries it (a contact) the force λ along its direction at its point.
Loads that were declared by a potential have no place of action; where one acts across a joint the joint's wrench contains it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import NotApplicable
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinematics.tree import Link, Tree
from dalembert.kinetics.free_bodies import FreeBody, free_bodies
from dalembert.kinetics.generalized_forces import multipliers


@dataclass(frozen=True)
class JointReaction:
    """The wrench that a link's parent exerts on it at the joint, in q, u and u̇."""

    joint: str
    force: Vector
    moment: Vector


@dataclass(frozen=True)
class RowReaction:
    """What a constraint row exerts: λ A_k along each coordinate, and as a force where a body carries it."""

    row: str
    multiplier: Scalar
    along: dict[str, Scalar]
    force: Vector | None = None
    at: Point | None = None


@dataclass(frozen=True)
class Reactions:
    """Every joint of the tree (empty where there is none, with the reason) and every row."""

    tape: Tape
    joints: tuple[JointReaction, ...]
    rows: tuple[RowReaction, ...]
    why_no_joints: str = ""


def reactions(kin: Kinematics) -> Reactions:
    """The reactions of a system as symbols.

    Source: Mei85 (7.24), Gre03 (4.14).
    """
    kin = kin.fork()
    try:
        joints, reason = _joints(kin), ""
    except NotApplicable as problem:
        joints, reason = (), str(problem)
    return Reactions(kin.tape, joints, _rows(kin), reason)


def _joints(kin: Kinematics) -> tuple[JointReaction, ...]:
    tree = Tree(kin)
    bodies = {b.name: b for b in free_bodies(kin)}
    strangers = [name for name in bodies if name not in {b.name for b in kin.system.bodies}]
    if strangers:
        msg = f"{strangers[0]} acts on a point that no body carries"
        raise NotApplicable(msg)
    wrenches: dict[Link, tuple[Vector, Vector]] = {}
    for link in reversed(tree.links):
        wrenches[link] = _beyond(kin, link, bodies, wrenches)
    return tuple(JointReaction(_name(kin, link), *wrenches[link]) for link in tree.links[1:])


def _beyond(kin: Kinematics, link: Link, bodies: dict[str, FreeBody], known: dict[Link, tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Force and moment about the link's point that everything from this link outwards needs."""
    t = kin.tape
    force, moment = Vector(t, {}), Vector(t, {})
    for body, rho in link.masses:
        free = bodies[body.name]
        force = force + free.force
        moment = moment + free.moment + Vector(t, {link.frame: rho}).cross(free.force)
    for child in link.children.values():
        f, mu = known[child]
        force, moment = force + f, moment + mu + Vector(t, {link.frame: child.r}).cross(f)
    return force, moment


def _name(kin: Kinematics, link: Link) -> str:
    moved = ", ".join(kin.name(x).rstrip("'") for x, _, _ in link.freedoms)
    return moved or f"frame {link.frame.name}"


def _rows(kin: Kinematics) -> tuple[RowReaction, ...]:
    t = kin.tape
    found = []
    for lam, row in zip(multipliers(kin), kin.rows, strict=True):
        if row.is_norm:
            continue  # no body feels the norm of a quaternion
        along = {kin.name(kin.q[k]): kin.scalar(t.mul(lam, a)) for k, a in row.A.items()}
        contact = row.contact
        force = None if contact is None else contact.direction.on(t).scaled(lam)
        found.append(RowReaction(row.name, kin.scalar(lam), along, force, None if contact is None else contact.point))
    return tuple(found)
