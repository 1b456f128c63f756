"""The open tree behind a description: links that turn or slide against their parent, and the masses
they carry.
Keywords: kinematic tree, spanning tree.

Read off the frames and points alone: along the frames from N to a body, the offsets written in each
frame are made first, then the turn into the next frame. Bodies that share their first moves share
links. Where a point moves against the body it belongs to, the description is no open tree. A
coordinate may move several links, as coupled joints do.

A spanning tree leaves the constraint rows out. It also has links that keep the orientation of N:
the tip of a bar with an absolute angle carries the next bar, which rotates against N.
"""

from __future__ import annotations

from dataclasses import field

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import BasisRotation, DirectionCosines, Quaternion, add3
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import LEAVES, Tape, Triple


@dataclass(eq=False)
class TreeLink:
    """A frame at a point: `r` from the parent's point in the parent's axes, its degrees of freedom,
    and the masses fixed to it.
    """

    parent: TreeLink | None
    frame: Frame
    r: Triple
    # q̇ (or spin) symbol, direction of turning, direction of sliding, in the link's own axes
    joint_axes: list[tuple[int, Triple, Triple]]
    # relative angular velocity and acceleration at q̈ = 0 (link's axes); rates of r (parent's axes)
    spin: Triple
    spin_bias: Triple
    r_dot: Triple
    r_bias: Triple
    masses: list[tuple[Body, Triple]] = field(default_factory=list)
    children: dict[object, TreeLink] = field(default_factory=dict)
    # carried by a point of its parent, but not rotated with it
    keeps_orientation: bool = False

    @property
    def ball(self) -> Quaternion | None:
        """The quaternion of a ball joint; a link that slides in the same frame has none of its
        own.
        """
        turns = self.parent is not None and self.frame is not self.parent.frame
        return (
            self.frame.rotation if turns and isinstance(self.frame.rotation, Quaternion) else None
        )


class KinematicTree:
    """All links, parents first; with `spanning` those of the system without its constraint rows."""

    def __init__(self, kin: Kinematics, *, spanning: bool = False) -> None:
        self._spanning = spanning
        if not spanning and any(not row.is_norm for row in kin.rows_with_multipliers):
            msg = (
                "the constraint rows close loops or couple joints; only an open tree without "
                "rows can be treated from link to link"
            )
            raise NotApplicable(msg)
        self.kin, self.tape = kin, kin.tape
        t = self.tape
        self.rate = Derivative(t, t.rate)
        self.linear = LinearCoefficients(t, kin.qdot)
        self.drop_accelerations = Substitution(t, dict.fromkeys(kin.qddot, t.zero))
        self.zero: Triple = (t.zero, t.zero, t.zero)
        self.root = TreeLink(
            None, kin.system.N, self.zero, [], self.zero, self.zero, self.zero, self.zero
        )
        self.links = [self.root]
        # {q̇ or spin: the links it moves}
        self.links_moved_by: dict[int, list[TreeLink]] = {}
        # {q̇: J} of flywheels: they stand still and turn as fast as a joint that carries other
        # links
        self.flywheels: dict[int, int] = {}
        # offsets seen before, taken apart, and those of points: bodies far from the root pass by
        # all joints before theirs
        self._split_cache: dict[Triple, tuple[Triple, Triple]] = {}
        self._offset_cache: dict[Point, dict[Frame, Triple]] = {}
        self._attach_bodies()
        if len(self.links_moved_by) < kin.n_u:
            msg = "a coordinate moves no mass"
            raise NotApplicable(msg)

    def _attach_bodies(self) -> None:
        """All bodies but the flywheels, then those flywheels whose joint carries nothing else."""
        bodies, t = self.kin.system.bodies, self.tape
        wheels = {
            body: flywheel for body in bodies if (flywheel := self._flywheel(body)) is not None
        }
        for body in bodies:
            if body not in wheels:
                self._attach_body(body)
        for body, (x, J) in wheels.items():
            if x in self.links_moved_by:
                self.flywheels[x] = t.add(self.flywheels.get(x, t.zero), J)
            else:
                self._attach_body(body)

    def _attach_body(self, body: Body) -> None:
        offsets = self._offsets(body)
        deepest = max(offsets, key=lambda F: F.depth, default=self.kin.system.N)
        end = body.frame or deepest
        path: list[Frame] = []
        F: Frame | None = end
        while F is not None:
            path.append(F)
            F = F.parent
        if not {*offsets} <= {*path}:
            if self._spanning:
                self._attach_by_points(body, offsets, end)
                return
            msg = (
                f"the mass centre of {body.name} is defined by a frame that does not carry the body"
            )
            raise NotApplicable(msg)
        link = self.root
        for G, following in zip(reversed(path), [*reversed(path[:-1]), None], strict=True):
            moving, fixed = self._split_offset(offsets.get(G, self.zero))
            if moving != self.zero:
                link = self._add_prismatic(link, moving)
            if following is not None:
                link = self._add_rotation(link, following, fixed)
            else:
                link.masses.append((body, fixed))

    def _attach_by_points(self, body: Body, offsets: dict[Frame, Triple], end: Frame) -> None:
        """The offsets in order from O to the mass centre, each in its frame."""
        link, fixed = self.root, self.zero
        order = [F for F in reversed(offsets) if F is not end]
        for F in (*order, end):
            link = self._rotate_to(link, F, fixed)
            moving, fixed = self._split_offset(offsets.get(F, self.zero))
            if moving != self.zero:
                link = self._add_prismatic(link, moving)
        link.masses.append((body, fixed))

    def _rotate_to(self, link: TreeLink, F: Frame, at: Triple) -> TreeLink:
        """A link in the frame F at a point of another one, by way of N where F is not carried by
        that one's frame.
        """
        path = [F]
        while path[-1] is not link.frame and (parent := path[-1].parent) is not None:
            path.append(parent)
        if path[-1] is not link.frame:
            key = ("carry", at)
            if key not in link.children:
                N, zero = self.kin.system.N, self.zero
                carrier = TreeLink(link, N, at, [], zero, zero, zero, zero, keeps_orientation=True)
                self._add_link(link, key, carrier)
            link, at = link.children[key], self.zero
        for G in reversed(path[:-1]):
            link, at = self._add_rotation(link, G, at), self.zero
        return link

    def _flywheel(self, body: Body) -> tuple[int, int] | None:
        """(q̇, J) of a body on an axis fixed to the ground, its mass centre at rest, turned
        through k q: T = ½ J q̇².
        """
        F, t = body.frame, self.tape
        if (
            F is None
            or body.inertia is None
            or F.parent is not self.kin.system.N
            or not isinstance(F.rotation, BasisRotation)
        ):
            return None
        axes_of_motion = self._joint_axes(F.rotation.angular_velocity(t, self.rate))
        if self._offsets(body) or len(axes_of_motion) != 1:
            return None
        axis, (x, direction) = F.rotation.axis, axes_of_motion[0]
        k = direction[axis]
        if any(s in t.moving for s in symbols_of(t, (k,))):
            return None
        return x, t.mul(t.mul(k, k), body.inertia.on(t).to(F).rows[axis][axis])

    def _offsets(self, body: Body) -> dict[Frame, Triple]:
        """The position of G from O, summed frame by frame."""
        total: dict[Frame, Triple] = {}
        P = body.G
        while P.parent is not None:
            if P not in self._offset_cache:
                self._offset_cache[P] = P.r.on(self.tape).parts
            for F, c in self._offset_cache[P].items():
                total[F] = add3(self.tape, total[F], c) if F in total else c
            P = P.parent
        return total

    def _split_offset(self, c: Triple) -> tuple[Triple, Triple]:
        parts = self._split_cache.get(c)
        if parts is None:
            moving, fixed = zip(*(_split_variable_terms(self.tape, x) for x in c), strict=True)
            parts = self._split_cache[c] = moving, fixed
        return parts

    def common_ancestor(self, x: int) -> TreeLink:
        """The link nearest to the tips that carries, or is, every link that x moves."""
        if len(self.links_moved_by[x]) == 1:
            return self.links_moved_by[x][0]
        first, *others = (_path_to_root(link) for link in self.links_moved_by[x])
        return next(link for link in first if all(link in branch for branch in others))

    # ---- moves -------------------------------------------------------------------------------

    def _add_prismatic(self, link: TreeLink, c: Triple) -> TreeLink:
        key = ("slide", c)
        if key not in link.children:
            r_dot: Triple = tuple(self.rate(x) for x in c)  # type: ignore[assignment]
            axes_of_motion = self._joint_axes(r_dot)
            bias: Triple = tuple(  # type: ignore[assignment]
                self.drop_accelerations(self.rate(x)) for x in r_dot
            )
            self._add_link(
                link,
                key,
                TreeLink(
                    link,
                    link.frame,
                    c,
                    [(x, self.zero, s) for x, s in axes_of_motion],
                    self.zero,
                    self.zero,
                    r_dot,
                    bias,
                ),
            )
        return link.children[key]

    def _add_rotation(self, link: TreeLink, frame: Frame, at: Triple) -> TreeLink:
        key = ("turn", frame.number, at)
        if key not in link.children:
            t, rotation = self.tape, frame.rotation
            if isinstance(rotation, DirectionCosines) and any(
                x in t.moving for x in symbols_of(t, rotation.variables())
            ):
                msg = f"frame {frame.name} is given by direction cosines, not by a rotation"
                raise NotApplicable(msg)
            if isinstance(rotation, Quaternion):
                new = self._spherical_link(link, frame, at)
            else:
                assert rotation is not None
                # about an axis fixed in parent and child, so its components are the same in both
                spin = rotation.angular_velocity(t, self.rate)
                bias: Triple = tuple(  # type: ignore[assignment]
                    self.drop_accelerations(self.rate(x)) for x in spin
                )
                axes_of_motion = [(x, s, self.zero) for x, s in self._joint_axes(spin)]
                new = TreeLink(link, frame, at, axes_of_motion, spin, bias, self.zero, self.zero)
            self._add_link(link, key, new)
        return link.children[key]

    def _spherical_link(self, link: TreeLink, frame: Frame, at: Triple) -> TreeLink:
        """Three turns about the child's own axes, with the spin's components as speeds."""
        t = self.tape
        spins = self.kin.spin_symbols(frame)
        if spins is None:
            msg = f"the speeds of the ball joint of {frame.name} are not its own spin components"
            raise NotApplicable(msg)
        axes: list[Triple] = [
            (t.one, t.zero, t.zero),
            (t.zero, t.one, t.zero),
            (t.zero, t.zero, t.one),
        ]
        axes_of_motion = [(x, s, self.zero) for x, s in zip(spins, axes, strict=True)]
        return TreeLink(link, frame, at, axes_of_motion, spins, self.zero, self.zero, self.zero)

    def _joint_axes(self, velocity: Triple) -> list[tuple[int, Triple]]:
        forms = [self.linear(x)[1] for x in velocity]
        zero = self.tape.zero
        rate_indices = sorted({k for f in forms for k in f})
        return [
            (self.kin.qdot[k], tuple(f.get(k, zero) for f in forms))  # type: ignore[misc]
            for k in rate_indices
        ]

    def _add_link(self, parent: TreeLink, key: object, link: TreeLink) -> None:
        for x, _, _ in link.joint_axes:
            self.links_moved_by.setdefault(x, []).append(link)
        parent.children[key] = link
        self.links.append(link)


def _path_to_root(link: TreeLink) -> list[TreeLink]:
    """From a link to the root."""
    path = [link]
    while (parent := path[-1].parent) is not None:
        path.append(parent)
    return path


def _split_variable_terms(t: Tape, x: int) -> tuple[int, int]:
    """x = moving + fixed, the sum taken apart."""
    parts = {True: t.zero, False: t.zero}
    stack = [(x, False)]
    while stack:
        i, negative = stack.pop()
        op, a, b = t.nodes[i]
        if op in ("add", "sub"):
            stack += [(b, negative != (op == "sub")), (a, negative)]
        elif op == "neg" and t.nodes[a][0] not in LEAVES:
            stack.append((a, not negative))
        else:
            moves = any(s in t.moving for s in symbols_of(t, (i,)))
            parts[moves] = t.sub(parts[moves], i) if negative else t.add(parts[moves], i)
    return parts[True], parts[False]
