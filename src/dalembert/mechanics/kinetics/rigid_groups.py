"""Where a system can be cut: the rigid groups that its points and frames form, each held by its
parent group.

Points are defined relative to points. Going from O to a mass centre, a new group begins where the
offset varies (a slider) or where the frame turns against the one before (a hinge), whatever the
angle is measured from. Bodies that share a group share its joint. A point belongs to the group it
is attached to, O to the ground; so does a load that acts there.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import field

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of


@dataclass(eq=False)
class RigidGroup:
    """What moves as one: its frame, the joint it begins at (from the joint of the group before),
    and the masses fixed to it.
    """

    before: RigidGroup | None
    frame: Frame
    offset: Vector
    name: str
    # with their mass centres from the joint
    masses: list[tuple[Body, Vector]] = field(default_factory=list)

    def label(self, P: Point | None = None) -> str:
        """The body that a load at P acts on, in words."""
        if self.before is None:
            return "the ground"
        bodies = [body for body, _ in self.masses]
        own = min(
            bodies, key=lambda b: (b.G is not P, P is None or b.frame is not P.frame), default=None
        )
        return self.name if own is None else own.name


class RigidGroups:
    """All groups, parents first."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin
        self._zero_vector = Vector(kin.tape, {})
        self.ground = RigidGroup(None, kin.system.N, self._zero_vector, "the ground")
        self.groups = [self.ground]
        self.of_body: dict[Body, RigidGroup] = {}
        self._locations: dict[Point, tuple[RigidGroup, Vector]] = {
            kin.system.O: (self.ground, self._zero_vector)
        }
        self._sliders: dict[tuple[RigidGroup, object], RigidGroup] = {}
        self._rotating_groups: dict[tuple[RigidGroup, Frame], list[RigidGroup]] = {}
        self._rotates_with_cache: dict[tuple[Frame, Frame], bool] = {}
        self._named: set[int] = set()
        self._twists: dict[RigidGroup, dict[int, tuple[Vector, Vector]]] = {}
        for body in kin.system.bodies:
            group, rho = self._locate(body.G)
            if body.frame is not None and not self.rotates_with(body.frame, group.frame):
                group, rho = self._rotating_group(group, body.frame, rho)
            group.masses.append((body, rho))
            self.of_body[body] = group
        for group in self.groups:
            group.name = group.name or self._unique_name(
                group.masses[0][0].name if group.masses else f"frame {group.frame.name}"
            )

    def on(self, kin: Kinematics) -> tuple[RigidGroups, dict[RigidGroup, RigidGroup]]:
        """The same groups on the tape of a fork, which go on from there by themselves, and which
        of them is which.
        """
        t = kin.tape
        new: RigidGroups = copy(self)
        copies: dict[RigidGroup, RigidGroup] = {}
        for g in self.groups:
            before = None if g.before is None else copies[g.before]
            copies[g] = RigidGroup(
                before,
                g.frame,
                g.offset.on(t),
                g.name,
                [(body, rho.on(t)) for body, rho in g.masses],
            )
        new.kin, new._zero_vector, new.ground, new.groups = (
            kin,
            Vector(t, {}),
            copies[self.ground],
            list(copies.values()),
        )
        new.of_body = {body: copies[g] for body, g in self.of_body.items()}
        new._locations = {P: (copies[g], rho.on(t)) for P, (g, rho) in self._locations.items()}
        new._sliders = {
            (copies[before], kind): copies[g] for (before, kind), g in self._sliders.items()
        }
        new._rotating_groups = {
            (copies[before], F): [copies[g] for g in known]
            for (before, F), known in self._rotating_groups.items()
        }
        new._rotates_with_cache, new._named = dict(self._rotates_with_cache), set(self._named)
        new._twists = {
            copies[g]: {k: (v.on(t), w.on(t)) for k, (v, w) in found.items()}
            for g, found in self._twists.items()
        }
        return new, copies

    def groups_in_load_path(self, acting: Iterable[RigidGroup]) -> list[RigidGroup]:
        """The ground, and the groups that have a mass, or on which something acts, or which hold
        such a group; parents first.
        """
        needed = {self.ground, *acting, *(g for g in self.groups if g.masses)}
        for group in reversed(self.groups):
            if group in needed and group.before is not None:
                needed.add(group.before)
        return [g for g in self.groups if g in needed]

    # ---- places --------------------------------------------------------------------------------

    def _locate(self, P: Point) -> tuple[RigidGroup, Vector]:
        """The group that a point is attached to, and the point from the group's joint."""
        chain = []
        Q: Point | None = P
        while Q is not None and Q not in self._locations:
            chain.append(Q)
            Q = Q.parent
        for X in reversed(chain):
            assert X.parent is not None
            self._locations[X] = self._locate_from_parent(X, *self._locations[X.parent])
        return self._locations[P]

    def _locate_from_parent(
        self, X: Point, group: RigidGroup, rho: Vector
    ) -> tuple[RigidGroup, Vector]:
        t = self.kin.tape
        r = X.r.on(t)
        moving = [
            i
            for i in symbols_of(t, [c for part in r.parts.values() for c in part])
            if i in t.moving
        ]
        if moving:
            # the joint of a slider is where it has come to
            group = self._prismatic_group(
                group, rho + r, (X.parent, tuple(r.parts.items())), moving
            )
            turned = not self.rotates_with(X.frame, group.frame)
            return (
                self._rotating_group(group, X.frame, self._zero_vector)
                if turned
                else (group, self._zero_vector)
            )
        if self.rotates_with(X.frame, group.frame):
            return group, rho + r
        # what is written in the frames before leads to the joint, the rest away from it
        there = Vector(t, {F: c for F, c in r.parts.items() if self.rotates_with(F, X.frame)})
        beyond, shift = self._rotating_group(group, X.frame, rho + (r - there))
        return beyond, shift + there

    def rotates_with(self, F: Frame, G: Frame) -> bool:
        """ω_F = ω_G, decided exactly."""
        if F is G:
            return True
        key = (F, G) if F.number < G.number else (G, F)
        if key not in self._rotates_with_cache:
            self._rotates_with_cache[key] = self._is_zero(self.kin.motion_in_rates.w_between(F, G))
        return self._rotates_with_cache[key]

    def _is_zero(self, v: Vector) -> bool:
        # in any axes: the nearest make the shortest expressions
        nearest = max(v.parts, key=lambda F: F.depth, default=self.kin.system.N)
        return not v.parts or decide_all_zero(
            self.kin.tape, v.components(nearest), "whether two frames rotate together"
        )

    def _prismatic_group(
        self, before: RigidGroup, offset: Vector, kind: object, moving: list[int]
    ) -> RigidGroup:
        key = (before, kind)
        if key not in self._sliders:
            self._sliders[key] = self._add_group(before, before.frame, offset, moving)
        return self._sliders[key]

    def _rotating_group(
        self, before: RigidGroup, frame: Frame, offset: Vector
    ) -> tuple[RigidGroup, Vector]:
        """The group that turns with a frame about a joint there, and how far along the joint's
        axis the place is from its origin.
        """
        known = self._rotating_groups.setdefault((before, frame), [])
        for group in known:
            shift = offset - group.offset
            w_rel = self.kin.motion_in_rates.w_between(frame, before.frame)
            if not shift.parts or self._is_zero(w_rel.cross(shift)):
                return group, shift
        known.append(self._add_group(before, frame, offset))
        return known[-1], self._zero_vector

    def _add_group(
        self, before: RigidGroup, frame: Frame, offset: Vector, moving: list[int] | None = None
    ) -> RigidGroup:
        name = self._joint_name(before, frame, moving)
        # a part without a mass that a load acts on is met last
        late = len(self.of_body) == len(self.kin.system.bodies)
        group = RigidGroup(
            before,
            frame,
            offset,
            name or (self._unique_name(f"frame {frame.name}") if late else ""),
        )
        self.groups.append(group)
        return group

    def _joint_name(self, before: RigidGroup, frame: Frame, moving: list[int] | None) -> str:
        """The coordinates and prescribed motions that move the joint and none before it; empty if
        there are none.
        """
        kin, t = self.kin, self.kin.tape
        if moving is None:
            relative = [
                c
                for axis in (frame.x, frame.y, frame.z)
                for c in axis.on(t).components(before.frame)
            ]
            moving = [i for i in symbols_of(t, relative) if i in t.moving]
        own = [i for i in moving if i not in self._named and i != kin.system.t.i]
        self._named.update(own)
        names = [kin.name(i) for i in own if i in kin.q or kin.name(i) in kin.system.symbols]
        return self._unique_name(", ".join(names)) if names else ""

    def _unique_name(self, name: str) -> str:
        taken = [group.name for group in self.groups]
        return name if name not in taken else f"{name} ({len(taken)})"

    def joint_position(self, group: RigidGroup) -> Vector:
        """The joint of a group from O."""
        total = self._zero_vector
        here: RigidGroup | None = group
        while here is not None:
            total = here.offset + total
            here = here.before
        return total

    def offset_from_joint(self, P: Point, group: RigidGroup) -> Vector:
        """From the joint of a group to a point."""
        own, rho = self._locate(P)
        return (
            rho
            if own is group
            else (P - self.kin.system.O).on(self.kin.tape) - self.joint_position(group)
        )

    # ---- on what a load acts -------------------------------------------------------------------

    def group_of_point(self, P: Point, what: str) -> RigidGroup:
        """The group that a load at P acts on: the one P is attached to. Where two bodies have P as
        their own, it is undecided.
        """
        group, _ = self._locate(P)
        centred = [b for b in self.kin.system.bodies if b.G is P and P is not self.kin.system.O]
        if group is self.ground or group.masses:
            others = [b for b in centred if self.of_body[b] is not group]
            if others:
                self._raise_ambiguous(what, P, [group.label(P), *(b.name for b in others)])
            return group
        return self._unique_group(centred, what, P) or group

    def massive_group_of_point(self, P: Point, what: str) -> RigidGroup:
        """The same for a row found by its variation alone: a massless part hands it on to the
        one body that moves with it there.
        """
        group = self.group_of_point(P, what)
        if group is self.ground or group.masses:
            return group
        return (
            self._unique_group(
                [b for b in self.kin.system.bodies if self._moves_with(b, P)], what, P
            )
            or group
        )

    def _moves_with(self, body: Body, P: Point) -> bool:
        """v_P = v_G + ω × (r_P − r_G), decided exactly; a particle carries what is always where
        it is.
        """
        r = (P - body.G).on(self.kin.tape)
        if body.frame is None:
            return self._is_zero(r)
        v, w = self.kin.motion_in_rates.v, self.kin.motion_in_rates.w
        return self._is_zero(v(P) - v(body.G) - w(body.frame).cross(r))

    def groups_rotating_with(self, F: Frame) -> list[RigidGroup]:
        """The groups that a torque on a frame may act on: those of the bodies with this frame,
        or that turn with it; on N the ground.
        """
        if F.parent is None:
            return [self.ground]
        bodies = self._bodies_rotating_with(F)
        if bodies or self.rotates_with(F, self.kin.system.N):
            return list(dict.fromkeys(self.of_body[b] for b in bodies)) or [self.ground]
        return [g for g in self.groups[1:] if self.rotates_with(g.frame, F)][:1]

    def _bodies_rotating_with(self, F: Frame) -> list[Body]:
        bodies = [b for b in self.kin.system.bodies if b.frame is not None]
        return [b for b in bodies if b.frame is F] or [
            b for b in bodies if b.frame is not None and self.rotates_with(b.frame, F)
        ]

    def group_of_frame(self, F: Frame, what: str) -> RigidGroup:
        """The same, where there must be one and only one."""
        groups = self.groups_rotating_with(F)
        if not groups:
            msg = f"{what} acts on frame {F.name}, with which no body rotates"
            raise NotApplicable(msg)
        return (
            groups[0]
            if len(groups) == 1
            else self._unique_group(self._bodies_rotating_with(F), what, F) or groups[0]
        )

    def _unique_group(
        self, bodies: list[Body], what: str, place: Point | Frame
    ) -> RigidGroup | None:
        groups = {self.of_body[b]: b for b in reversed(bodies)}
        if len(groups) > 1:
            self._raise_ambiguous(what, place, [b.name for b in reversed(groups.values())])
        return next(iter(groups), None)

    @staticmethod
    def _raise_ambiguous(what: str, place: Point | Frame, names: Iterable[str]) -> None:
        first, second, *_ = names
        where = f"at {place.name}" if isinstance(place, Point) else f"on frame {place.name}"
        msg = f"{what} {where} may act on {first!r} or on {second!r}; say which with on="
        raise NotApplicable(msg)

    # ---- how neighbours move against each other --------------------------------------------------

    def relative_rate(self, v: Vector, frame: Frame) -> Vector:
        """Σ_G (v̇₁ g₁ + v̇₂ g₂ + v̇₃ g₃) + (ω_G − ω_F) × v_G: dv/dt as seen from a frame F, in the
        rates q̇. Rates of joints before both frames never enter.
        """
        motion, t = self.kin.motion_in_rates, self.kin.tape
        total = self._zero_vector
        for G, (x, y, z) in v.on(t).parts.items():
            total = total + Vector(t, {G: (motion.rate(x), motion.rate(y), motion.rate(z))})
            total = total + motion.w_between(G, frame).cross(Vector(t, {G: (x, y, z)}))
        return total

    def joint_twists(self, group: RigidGroup) -> dict[int, tuple[Vector, Vector]]:
        """{k: (∂v/∂q̇_k, ∂ω/∂q̇_k)} of a group at its joint, against the group before: what the
        joint lets happen.
        """
        if group not in self._twists:
            self._twists[group] = self._relative_twists(group)
        return self._twists[group]

    def _relative_twists(self, group: RigidGroup) -> dict[int, tuple[Vector, Vector]]:
        assert group.before is not None
        before = group.before.frame
        linear = LinearCoefficients(self.kin.tape, self.kin.qdot)
        v_k, _ = split_linear(linear, self.relative_rate(group.offset, before))
        w_rel = self.kin.motion_in_rates.w_between(group.frame, before)
        w_k, _ = split_linear(linear, w_rel)
        none = self._zero_vector
        return self.nonzero_twists(
            {k: (v_k.get(k, none), w_k.get(k, none)) for k in sorted({*v_k, *w_k})}
        )

    def nonzero_twists(
        self, twists: dict[int, tuple[Vector, Vector]]
    ) -> dict[int, tuple[Vector, Vector]]:
        """Those that are not zero identically."""
        return {
            k: (v, w) for k, (v, w) in twists.items() if not (self._is_zero(v) and self._is_zero(w))
        }

    def joints_by_coordinate(self) -> dict[int, list[RigidGroup]]:
        """{k: the joints that coordinate k moves}"""
        moved: dict[int, list[RigidGroup]] = {}
        for group in self.groups[1:]:
            for k in self.joint_twists(group):
                moved.setdefault(k, []).append(group)
        return moved
