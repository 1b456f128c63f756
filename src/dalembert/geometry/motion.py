"""v_P = v_parent + d(offset)/dt and ω_F = ω_parent + spin: velocities by recursion from the parent.

The same recursion serves two sets of velocity variables: the rates q', and the speeds u, where a frame or a
point whose motion *defines* speeds (ω = u₁ b₁ + u₂ b₂ + u₃ b₃) enters as that vector itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dalembert.algebra.tape import Tape, Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector


class Motion:
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
            total = self._w[H] = total + self._spin(H)
        return total

    def _spin(self, F: Frame) -> Vector:
        rotation, parent = F.rotation, F.parent
        assert rotation is not None
        assert parent is not None
        components = self._spins[F] if F in self._spins else rotation.spin(self.tape, self.rate)
        return Vector(self.tape, {F if rotation.spin_in_child else parent: components})

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

    def seen(self, a: Vector, F: Frame) -> Vector:
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
