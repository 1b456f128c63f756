"""Frames are defined relative to frames: each has a parent and a rotation relative to it.

So velocities come by recursion, v_P = v_parent + d(offset)/dt and ω_F = ω_parent + spin. The same
recursion serves two sets of velocity variables: the rates q', and the speeds u, where a frame or a
point whose motion *defines* speeds (ω = u₁ b₁ + u₂ b₂ + u₃ b₃) enters as that vector itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadDescription, BadExpression
from dalembert.foundation.renamed_names import renamed_attribute
from dalembert.foundation.suggestions import attribute_error
from dalembert.mechanics.geometry.declaration_log import record_declaration
from dalembert.mechanics.geometry.rotation import (
    AxisRotation,
    BasisRotation,
    DirectionCosines,
    Matrix3,
    Quaternion,
    Rotation,
    cross3,
    dot3,
    identity,
    orthogonality_residuals,
    scale3,
    transpose,
)
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.tape import Tape, Triple
from dalembert.symbolic.units.quantities import COMMON_DEGREES, warn_if_degrees

if TYPE_CHECKING:
    from dalembert.mechanics.geometry.point import Point, Space


# this number of frames away, a vector along one axis is turned as a unit vector, which all others
# along it share
_LONG_CHAIN: Final = 12


# what other libraries call it
_ELSEWHERE: Final = {
    **dict.fromkeys(
        ("orient", "orientnew", "orient_axis", "orient_body_fixed", "rotate"),
        "a rotated frame is N.rotated(angle, N.z)",
    ),
    **dict.fromkeys(
        ("omega", "ang_vel_in", "set_ang_vel", "angular_velocity"),
        "angular velocities follow from rotations: B.w",
    ),
    **dict.fromkeys(
        ("ang_acc_in", "alpha", "set_ang_acc"),
        "angular accelerations follow from rotations: those of B are in its rates",
    ),
    **dict.fromkeys(
        ("dcm", "rotation_matrix", "R", "matrix"),
        "the components of its axes along N are B.x.to(N), B.y.to(N), B.z.to(N)",
    ),
    **dict.fromkeys(
        ("X", "Y", "Z", "i", "j", "k", "e1", "e2", "e3", "ex", "ey", "ez"),
        "the axes of a frame are N.x, N.y and N.z",
    ),
    **dict.fromkeys(
        ("offset", "origin", "G", "v"),
        "a frame has axes and no position; points have one, s.O.offset(vector)",
    ),
}


class Frame:
    """Three right-handed orthogonal unit vectors x, y, z and their rotation."""

    def __init__(
        self, space: Space, name: str, parent: Frame | None, rotation: Rotation | None
    ) -> None:
        self.space, self.name, self.parent, self.rotation = space, name, parent, rotation
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.number = len(space.frames)
        space.frames.append(self)

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there."""
        new = renamed_attribute(self, name)
        if new is not None:
            return getattr(self, new)
        raise attribute_error(self, name, _ELSEWHERE.get(name, ""))

    # ---- axes --------------------------------------------------------------------------------

    @property
    def x(self) -> Vector:
        """The first unit vector."""
        return self._axis(0)

    @property
    def y(self) -> Vector:
        """The second unit vector."""
        return self._axis(1)

    @property
    def z(self) -> Vector:
        """The third unit vector."""
        return self._axis(2)

    def _axis(self, k: int) -> Vector:
        t = self.space.tape
        return Vector(t, {self: identity(t)[k]})

    @property
    def w(self) -> Vector:
        """ω: the angular velocity in the inertial frame, in the rates q'."""
        return self.space.motion.w(self)

    @property
    def rotation_axes(self) -> list[int]:
        """Those of its axes about which it turns."""
        w = self.w
        return [k for k, c in enumerate(w.components(self)) if c != w.tape.zero]

    # ---- child frames ------------------------------------------------------------------------

    @record_declaration
    def rotated(self, angle: Any, axis: Vector, name: str | None = None) -> Frame:
        """The frame that results when this one is turned through `angle` about the unit vector
        `axis`.
        """
        t = self.space.tape
        if (
            isinstance(angle, str)
            and angle in ("x", "y", "z")
            and not isinstance(axis, str | Vector)
        ):
            msg = (
                f"rotated({angle!r}, …): the angle comes first, then the axis: rotated({axis}, "
                f"{angle!r})"
            )
            raise BadDescription(msg)
        theta = as_node(t, angle)
        if (turn := t.value(theta)) is not None and abs(turn) in COMMON_DEGREES:
            warn_if_degrees("rotated: an angle", turn)
        n = self.unit_axis(axis)
        for k in range(3):
            v = t.value(n[k])
            if v in (1, -1) and all(n[j] == t.zero for j in range(3) if j != k):
                return self._child(name, BasisRotation(theta, k, int(v)))
        return self._child(name, AxisRotation(theta, n))

    def named_axis(self, axis: Vector | str) -> Vector:
        """The axis of this frame that "x", "y" or "z" names; anything else as it is."""
        is_name = isinstance(axis, str) and axis in ("x", "y", "z")
        return getattr(self, axis) if is_name else axis  # type: ignore[arg-type, return-value]

    def unit_axis(self, axis: Vector | str) -> Triple:
        """n/|n|: the components of a rotation axis, which is fixed in this frame; anything else
        is refused.
        """
        t = self.space.tape
        direction = self.named_axis(axis)
        self.space.check_vector(direction, "rotation axis")
        n = direction.on(t).components(self)
        moving = [t.nodes[i][1] for i in symbols_of(t, n) if i in t.moving]
        if moving:
            msg = (
                f"rotation axis: it depends on {', '.join(moving)} in frame {self.name}; an "
                f"axis "
                f"must be fixed in the parent frame"
            )
            raise BadDescription(msg)
        square = dot3(t, n, n)
        if decide_all_zero(t, [square], "rotation axis: whether it has a direction"):
            msg = "rotation axis: it is the zero vector, which has no direction"
            raise BadDescription(msg)
        if provably_zero(t, [t.sub(square, t.one)])[0]:
            return n
        length = t.call("sqrt", square)
        return (t.div(n[0], length), t.div(n[1], length), t.div(n[2], length))

    @record_declaration
    def rotations(
        self, axes: str, *angles: Any, names: Sequence[str] | None = None
    ) -> tuple[Frame, ...]:
        """Successive turns about the axes of each new frame, e.g. "zxz"; all the intermediate
        frames.
        """
        check_axes(axes, len(angles))
        # refused before the first frame is made
        angles = tuple(Scalar(self.space.tape, as_node(self.space.tape, angle)) for angle in angles)
        frames: list[Frame] = []
        F = self
        for k, (axis, angle) in enumerate(zip(axes, angles, strict=True)):
            F = F.rotated(angle, getattr(F, axis), names[k] if names else None)
            frames.append(F)
        return tuple(frames)

    @record_declaration
    def oriented(self, cosines: Sequence[Sequence[Any]], name: str | None = None) -> Frame:
        """The frame with v_this = R v_new, R given by its direction cosines (row i: this frame's
        axis i).
        """
        t = self.space.tape
        if len(cosines) != 3 or any(len(row) != 3 for row in cosines):
            msg = "direction cosines: give a 3 by 3 matrix"
            raise BadDescription(msg)
        R: Matrix3 = tuple(  # type: ignore[assignment]
            tuple(as_node(t, c) for c in row) for row in cosines
        )
        if not decide_all_zero(
            t,
            orthogonality_residuals(t, R),
            "direction cosines: whether the rows are orthogonal unit vectors",
        ):
            msg = (
                "direction cosines: the rows are not orthogonal unit vectors for every value of "
                "the coordinates"
            )
            raise BadDescription(msg)
        if not decide_all_zero(
            t,
            [t.sub(dot3(t, R[0], cross3(t, R[1], R[2])), t.one)],
            "direction cosines: whether the determinant is 1",
        ):
            msg = (
                "direction cosines: the determinant is −1, a reflection; exchange two columns "
                "or "
                "change a sign"
            )
            raise BadDescription(msg)
        return self._child(name, DirectionCosines(R))

    @record_declaration
    def quaternion(self, e0: Any, e1: Any, e2: Any, e3: Any, *, name: str | None = None) -> Frame:
        """The frame turned by the quaternion e₀ + e₁ i + e₂ j + e₃ k, normalised, so any e ≠ 0
        will do.
        """
        t = self.space.tape
        e = (as_node(t, e0), as_node(t, e1), as_node(t, e2), as_node(t, e3))
        if len(set(e)) != 4 or any(t.nodes[i][0] != "symbol" for i in e):
            msg = "quaternion: give four different coordinates"
            raise BadDescription(msg)
        return self._child(name, Quaternion(e))

    def _child(self, name: str | None, rotation: Rotation) -> Frame:
        return Frame(self.space, self.space.frame_name(name), self, rotation)

    def is_ancestor_of(self, other: Frame) -> bool:
        """Whether the other is this frame, or a descendant of it."""
        F: Frame | None = other
        while F is not None and F.depth > self.depth:
            F = F.parent
        return F is self

    # ---- components from frame to frame ------------------------------------------------------

    def express(self, t: Tape, v: Triple, G: Frame) -> Triple:
        """The components here of a vector whose components in G are v."""
        if G is self:
            return v
        if self.depth - G.depth >= _LONG_CHAIN and v.count(t.zero) == 2 and G.is_ancestor_of(self):
            axis = next(k for k in range(3) if v[k] != t.zero)
            return scale3(t, v[axis], self._ancestor_axis(t, G, axis))
        down: list[Frame] = []
        a: Frame | None = G
        b: Frame | None = self
        while a is not b:
            # climb from whichever of the two is deeper until they meet
            if b is None or (a is not None and a.depth >= b.depth):
                v = a.transform_components(t, v, to_parent=True)  # type: ignore[union-attr]
                a = a.parent  # type: ignore[union-attr]
            else:
                down.append(b)
                b = b.parent
        for F in reversed(down):
            v = F.transform_components(t, v, to_parent=False)
        return v

    def _ancestor_axis(self, t: Tape, G: Frame, axis: int) -> Triple:
        """The components here of a unit vector of G, which carries this frame; turned on frame
        by frame, once for all loads along it.
        """
        down: list[Frame] = []
        F: Frame = self
        while F is not G and (F.number, G.number, axis) not in t.rotated_components:
            down.append(F)
            assert F.parent is not None
            F = F.parent
        v = identity(t)[axis] if F is G else t.rotated_components[F.number, G.number, axis]
        for F in reversed(down):
            v = t.rotated_components[F.number, G.number, axis] = F.transform_components(
                t, v, to_parent=False
            )
        return v

    def transform_components(self, t: Tape, v: Triple, *, to_parent: bool) -> Triple:
        """Components in this frame from those in its parent (`back`: the other way), remembered
        both ways.
        """
        key = (self.number, to_parent, v)
        components = t.rotated_components.get(key)
        if components is None:
            if v == (t.zero, t.zero, t.zero) or self.rotation is None:
                return v
            components = t.rotated_components[key] = self.rotation.transform(t, v, back=to_parent)
            t.rotated_components.setdefault((self.number, not to_parent, components), v)
        return components

    def dcm_nodes(self, t: Tape) -> Matrix3:
        """R: v_N = R v_here, row by row, on tape t (built from the rotations alone)."""
        N = self.space.frames[0]
        x, y, z = (N.express(t, axis, self) for axis in identity(t))
        return transpose((x, y, z))

    def __getitem__(self, k: object) -> Vector:
        msg = (
            f"{self.name}[{k!r}]: the axes of a frame are {self.name}.x, {self.name}.y and "
            f"{self.name}.z"
        )
        raise BadExpression(msg)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Frame({self.name!r})"


def check_axes(axes: str, count: int) -> None:
    """Refuse a sequence of turns that is not one letter x, y or z for each angle."""
    if (
        not isinstance(axes, str)
        or len(axes) != count
        or not axes
        or any(a not in "xyz" for a in axes)
    ):
        turned = (
            "".join("xyz"[int(a) - 1] for a in axes)
            if isinstance(axes, str) and axes and not axes.strip("123")
            else ""
        )
        hint = f"; 1, 2, 3 are x, y, z: {turned!r}" if turned else ""
        msg = (
            f"rotations({axes!r}, …): give one angle for each of the letters x, y, z; got "
            f"{count} angles{hint}"
        )
        raise BadDescription(msg)


class VelocityRecursion:
    """Velocities and angular velocities in the inertial frame, given d/dt of any scalar."""

    def __init__(
        self,
        tape: Tape,
        rate: Callable[[int], int],
        w: Mapping[Frame, Vector] | None = None,
        v: Mapping[Point, Vector] | None = None,
        spins: Mapping[Frame, Triple] | None = None,
    ) -> None:
        self.tape, self.rate = tape, rate
        self._spins: dict[Frame, Triple] = dict(spins or {})
        self._w: dict[Frame, Vector] = dict(w or {})
        self._v: dict[Point, Vector] = dict(v or {})

    def w(self, F: Frame) -> Vector:
        """ω of F: its parent's, and its own spin written in the parent."""
        missing = []
        G = F
        while G not in self._w and G.parent is not None:
            missing.append(G)
            G = G.parent
        total = self._w.get(G, Vector(self.tape, {}))
        for H in reversed(missing):
            total = self._w[H] = total + self._relative_angular_velocity(H)
        return total

    def w_between(self, G: Frame, F: Frame) -> Vector:
        """ω_G − ω_F: the sum of the spins on the way from F to G."""
        total = Vector(self.tape, {})
        above: Frame | None = G
        below: Frame | None = F
        while above is not below:
            if above is not None and (below is None or above.depth >= below.depth):
                total, above = total + self._relative_angular_velocity(above), above.parent
            elif below is not None:
                total, below = total - self._relative_angular_velocity(below), below.parent
        return total

    def _relative_angular_velocity(self, F: Frame) -> Vector:
        rotation, parent = F.rotation, F.parent
        assert rotation is not None
        assert parent is not None
        components = (
            self._spins[F] if F in self._spins else rotation.angular_velocity(self.tape, self.rate)
        )
        return Vector(self.tape, {F if rotation.velocity_in_child else parent: components})

    def v(self, P: Point) -> Vector:
        """v of P: its parent's, and the rate of its offset."""
        missing = []
        Q = P
        while Q not in self._v and Q.parent is not None:
            missing.append(Q)
            Q = Q.parent
        total = self._v.get(Q, Vector(self.tape, {}))
        for H in reversed(missing):
            total = self._v[H] = total + self.derivative(H.r)
        return total

    def derivative_in(self, a: Vector, F: Frame) -> Vector:
        """da/dt as an observer on F sees it: da/dt − ω_F × a."""
        return self.derivative(a) - self.w(F).cross(a.on(self.tape))

    def derivative(self, a: Vector) -> Vector:
        """da/dt in the inertial frame: Σ_F (ȧ₁ f₁ + ȧ₂ f₂ + ȧ₃ f₃) + ω_F × a_F."""
        t, rate = self.tape, self.rate
        total: Vector | None = None
        for F, c in a.on(t).parts.items():
            x, y, z = c
            seen = Vector(t, {F: (rate(x), rate(y), rate(z))})
            total = seen if total is None else total + seen
            if F.parent is not None:
                total = total + self.w(F).cross(Vector(t, {F: c}))
        return Vector(t, {}) if total is None else total
