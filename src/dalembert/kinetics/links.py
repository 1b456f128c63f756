"""a_C = a_P + α × ρ + ω × (ω × ρ) + 2 ω × v_rel + a_rel: how each rigid group is accelerated by the one that holds it.

Groups that have neither mass nor load and hold one other group only are passed over: their joint is part of the next one's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dalembert.algebra.exact.field import Trials, rank_mod
from dalembert.algebra.folds import Linear
from dalembert.algebra.tape import Tape
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import linear_parts
from dalembert.kinetics.free_bodies import Wrench
from dalembert.kinetics.joints import RigidGroup, RigidGroups
from dalembert.model.elements import Body


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid group with the one that holds it; all in the rates q̇ and q̈."""

    group: RigidGroup
    before: Link | None
    # its joint from the joint before
    offset: Vector
    # of the joint as a point of this group, and of the group
    a: Vector
    w: Vector
    alpha: Vector
    # {k: (∂v/∂q̇_k, ∂ω/∂q̇_k)} at the joint against the group before
    twists: dict[int, tuple[Vector, Vector]]
    # coordinates whose twists are independent and span all of them
    freedoms: tuple[int, ...]

    def on(self, t: Tape, group: RigidGroup, before: Link | None) -> Link:
        """The same on the tape of a fork."""
        twists = {k: (v.on(t), w.on(t)) for k, (v, w) in self.twists.items()}
        return Link(group, before, self.offset.on(t), self.a.on(t), self.w.on(t), self.alpha.on(t), twists, self.freedoms)

    @property
    def name(self) -> str:
        """The joint's name."""
        return self.group.name

    def acceleration(self, rho: Vector) -> Vector:
        """a of the point at ρ from the joint: a_J + α × ρ + ω × (ω × ρ)."""
        return self.a + self.alpha.cross(rho) + self.w.cross(self.w.cross(rho))

    def inertia(self, body: Body, rho: Vector) -> Wrench:
        """m a and Ḣ = I·α + ω × I·ω about the mass centre, which is at ρ from the joint."""
        force = body.mass * self.acceleration(rho)
        if body.inertia is None:
            return Wrench(force, Vector(self.a.tape, {}))
        return Wrench(force, body.inertia @ self.alpha + self.w.cross(body.inertia @ self.w))


def links(groups: RigidGroups, acting: Iterable[RigidGroup]) -> list[Link]:
    """The groups that are cut free, those they hang on first; the ground is none of them."""
    loaded = [g for g in groups.groups if g in {*acting}]
    kept = groups.loaded(loaded)
    children = {g: [x for x in kept if x.before is g] for g in kept}
    free = [g for g in kept[1:] if g.masses or g in loaded or len(children[g]) != 1]
    found: dict[RigidGroup, Link] = {}
    for group in free:
        offset, ancestor = group.offset, group.before
        while ancestor is not None and ancestor not in found and ancestor is not groups.ground:
            offset, ancestor = ancestor.offset + offset, ancestor.before
        found[group] = _link(groups, group, found.get(ancestor) if ancestor is not None else None, offset)
    return list(found.values())


def _link(groups: RigidGroups, group: RigidGroup, before: Link | None, rho: Vector) -> Link:
    motion, none = groups.kin.motion_in_rates, Vector(groups.kin.tape, {})
    w = motion.w(group.frame)
    linear = Linear(groups.kin.tape, groups.kin.qdot)
    frame = groups.kin.system.N if before is None else before.group.frame
    v_rel = groups.relative_rate(rho, frame)
    a_rel = groups.relative_rate(v_rel, frame)
    if before is None:
        a, alpha, w_rel = a_rel, motion.derivative(w), w
    else:
        w_rel = w - before.w
        a = before.acceleration(rho) + 2 * before.w.cross(v_rel) + a_rel
        alpha = before.alpha + groups.relative_rate(w_rel, frame) + before.w.cross(w_rel)
    v_k, w_k = linear_parts(linear, v_rel)[0], linear_parts(linear, w_rel)[0]
    twists = groups.not_vanishing({k: (v_k.get(k, none), w_k.get(k, none)) for k in sorted({*v_k, *w_k})})
    return Link(group, before, rho, a, w, alpha, twists, _independent(groups, twists))


def _independent(groups: RigidGroups, twists: dict[int, tuple[Vector, Vector]]) -> tuple[int, ...]:
    N = groups.kin.system.N
    columns = {k: [*v.components(N), *w.components(N)] for k, (v, w) in twists.items()}
    if not columns:
        return ()
    dependent = Trials(groups.kin.tape, 1).at(0, lambda p: rank_mod([[p.plain(x) for x in c] for c in columns.values()], p.prime).dependent)
    return tuple(k for i, k in enumerate(columns) if i not in dependent)
