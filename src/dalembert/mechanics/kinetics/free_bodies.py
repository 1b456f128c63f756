"""Bodies cut free: every load booked to the rigid group it acts on, and the loads that act at a
joint only.
Keywords: free-body diagram.

a_C = a_P + α × ρ + ω × (ω × ρ) + 2 ω × v_rel + a_rel: how each rigid group is accelerated by the
one that holds it. Groups that have neither mass nor load and hold one other group only are skipped:
their joint is part of the next one's.

v·n = 0, ω × n = 0: where everything moves in one plane, three balances are left for every body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.model.elements import Body, Load, Potential
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient
from dalembert.symbolic.algebra.tape import Tape


class GroupLoad(NamedTuple):
    """A load on a rigid group: a force at a point, or a couple (no point)."""

    name: str
    group: RigidGroup
    vector: Vector
    at: Point | None = None


class Wrench(NamedTuple):
    """A force and a moment, about a point that is known where it is used."""

    force: Vector
    moment: Vector

    def plus(self, other: Wrench, arm: Vector | None = None) -> Wrench:
        """The sum; the other's force acts at an arm from the point."""
        moment = self.moment + other.moment
        return Wrench(
            self.force + other.force, moment if arm is None else moment + arm.cross(other.force)
        )

    def minus(self, other: Wrench, arm: Vector | None = None) -> Wrench:
        """The difference."""
        return self.plus(Wrench(-other.force, -other.moment), arm)


def loads_by_group(groups: RigidGroups) -> Iterator[GroupLoad]:
    """Weights, declared loads and the pull of springs, each on the group it acts on.

    Source: Bar00 (14), Mei85 (7.24).
    """
    system = groups.kin.system
    if system.gravity_field is not None:
        for b in system.bodies:
            yield GroupLoad(
                f"weight of {b.name}", groups.of_body[b], b.mass * system.gravity_field.g, b.G
            )
    for load in system.loads:
        yield from _assign_load(groups, load)
    for spring in system.potentials:
        yield from _assign_load(groups, spring)


def _assign_load(groups: RigidGroups, load: Load | Potential) -> Iterator[GroupLoad]:
    torques = load.torques if isinstance(load, Load) else ()
    if isinstance(load, Load) and load.coordinates:
        unknown = "given by its virtual work, which does not say on which body it acts"
        msg = f"{load.name} has no point of application: it is {unknown}; give a force or a torque"
        raise NotApplicable(msg)
    named = load.bodies or (None,) * (len(load.forces) + len(torques))
    for (F, P), body in zip(load.forces, named, strict=False):
        yield GroupLoad(
            load.name,
            groups.group_of_point(P, load.name) if body is None else groups.of_body[body],
            F,
            P,
        )
    for (T, B), body in zip(torques, named[len(load.forces) :], strict=True):
        yield GroupLoad(
            load.name,
            groups.group_of_frame(B, load.name) if body is None else groups.of_body[body],
            T,
        )


def joint_loads(groups: RigidGroups) -> dict[int, int]:
    """τ_k = −∂V/∂q_k − ∂D/∂q̇_k of the potentials and dissipation functions that name no points:
    they act in the joint that q_k moves.
    """
    kin, t = groups.kin, groups.kin.tape
    tau: dict[int, int] = {}
    functions = [
        (p.name, kin.in_rates(p.V.i), kin.q) for p in kin.system.potentials if not p.forces
    ]
    functions += [(d.name, kin.in_rates(d.D.i), kin.qdot) for d in kin.system.dissipations]
    for name, e, by in functions:
        slopes = gradient(t, {e: t.one}, by)
        acting = [k for k, gone in enumerate(provably_zero(t, slopes)) if not gone]
        check_joint_coordinates(groups, name, acting)
        for k in acting:
            tau[k] = t.sub(tau.get(k, t.zero), slopes[k])
    return tau


def check_joint_coordinates(groups: RigidGroups, name: str, acting: Iterable[int]) -> None:
    """Refuse a load along a coordinate that moves several joints: it may act in any of them."""
    moved = groups.joints_by_coordinate()
    for k in acting:
        joints = moved.get(k, [])
        if len(joints) != 1:
            q = groups.kin.name(groups.kin.q[k])
            through = " and ".join(repr(g.name) for g in joints[:2]) or "no joint"
            remedy = "give it as forces or torques, or as a spring between points"
            where = f"it acts along {q}, which moves {through}"
            msg = f"{name} has no point of application: {where}; {remedy}"
            raise NotApplicable(msg)


def inertia(kin: Kinematics, body: Body) -> Wrench:
    """m a and Ḣ of a body about its mass centre, in the speeds."""
    none = Vector(kin.tape, {})
    rigid = body.frame is not None and body.inertia is not None
    torque = none
    if rigid:
        torque = kin.motion.derivative(body.inertia @ kin.w(body.frame))  # type: ignore[arg-type]
    return Wrench(body.mass * kin.a(body.G), torque)


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A rigid group with the one that holds it; all in the rates q̇ and q̈."""

    group: RigidGroup
    before: FreeBody | None
    # its joint from the joint before
    offset: Vector
    # of the joint as a point of this group, and of the group
    a: Vector
    w: Vector
    alpha: Vector
    # {k: (∂v/∂q̇_k, ∂ω/∂q̇_k)} at the joint against the group before
    twists: dict[int, tuple[Vector, Vector]]

    def on(self, t: Tape, group: RigidGroup, before: FreeBody | None) -> FreeBody:
        """The same on the tape of a fork."""
        twists = {k: (v.on(t), w.on(t)) for k, (v, w) in self.twists.items()}
        return FreeBody(
            group, before, self.offset.on(t), self.a.on(t), self.w.on(t), self.alpha.on(t), twists
        )

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


def free_bodies(groups: RigidGroups, acting: Iterable[RigidGroup]) -> list[FreeBody]:
    """The groups that are cut free, parents first; the ground is none of them."""
    loaded = [g for g in groups.groups if g in {*acting}]
    kept = groups.groups_in_load_path(loaded)
    children = {g: [x for x in kept if x.before is g] for g in kept}
    free = [g for g in kept[1:] if g.masses or g in loaded or len(children[g]) != 1]
    bodies: dict[RigidGroup, FreeBody] = {}
    for group in free:
        offset, ancestor = group.offset, group.before
        while ancestor is not None and ancestor not in bodies and ancestor is not groups.ground:
            offset, ancestor = ancestor.offset + offset, ancestor.before
        bodies[group] = _free_body(
            groups, group, bodies.get(ancestor) if ancestor is not None else None, offset
        )
    return list(bodies.values())


def _free_body(
    groups: RigidGroups, group: RigidGroup, before: FreeBody | None, rho: Vector
) -> FreeBody:
    motion, none = groups.kin.motion_in_rates, Vector(groups.kin.tape, {})
    w = motion.w(group.frame)
    linear = LinearCoefficients(groups.kin.tape, groups.kin.qdot)
    frame = groups.kin.system.N if before is None else before.group.frame
    v_rel = groups.relative_rate(rho, frame)
    a_rel = groups.relative_rate(v_rel, frame)
    if before is None:
        a, alpha, w_rel = a_rel, motion.derivative(w), w
    else:
        w_rel = motion.w_between(group.frame, frame)
        a = before.acceleration(rho) + 2 * before.w.cross(v_rel) + a_rel
        alpha = before.alpha + groups.relative_rate(w_rel, frame) + before.w.cross(w_rel)
    v_k, w_k = split_linear(linear, v_rel)[0], split_linear(linear, w_rel)[0]
    twists = groups.nonzero_twists(
        {k: (v_k.get(k, none), w_k.get(k, none)) for k in sorted({*v_k, *w_k})}
    )
    return FreeBody(group, before, rho, a, w, alpha, twists)


def plane_normal(kin: Kinematics) -> Vector | None:
    """The axis of N along which no mass moves and about which alone bodies turn; None if there
    is none.
    """
    N, motion, t = kin.system.N, kin.motion_in_rates, kin.tape
    velocities = [motion.v(b.G).components(N) for b in kin.system.bodies]
    spins = [motion.w(b.frame).components(N) for b in kin.system.bodies if b.frame is not None]
    for k, n in enumerate((N.x, N.y, N.z)):
        if all(
            provably_zero(
                t, [*(v[k] for v in velocities), *(w[j] for w in spins for j in range(3) if j != k)]
            )
        ):
            return n
    return None


def plane_of_motion(groups: RigidGroups, loads: list[GroupLoad]) -> str:
    """The axis of N at right angles to the plane in which everything moves and acts; empty if
    there is none.
    """
    kin, N, t = groups.kin, groups.kin.system.N, groups.kin.tape
    n = plane_normal(kin)
    if n is None:
        return ""
    k = next(i for i, axis in enumerate((N.x, N.y, N.z)) if axis.parts == n.parts)
    unwanted = []
    for load in loads:
        c = load.vector.components(N)
        unwanted += [c[k]] if load.at is not None else [x for j, x in enumerate(c) if j != k]
        # forces in parallel planes turn bodies out of theirs
        unwanted += (
            []
            if load.at is None
            else [groups.offset_from_joint(load.at, load.group).components(N)[k]]
        )
    for group in groups.groups[1:]:
        unwanted += [rho.components(N)[k] for _, rho in group.masses] + [
            group.offset.components(N)[k]
        ]
        for body, _ in group.masses:
            if body.inertia is not None:
                unwanted += [x for j, x in enumerate((body.inertia @ n).components(N)) if j != k]
    return "xyz"[k] if all(provably_zero(t, unwanted)) else ""
