"""0 = 0: coordinates without inertia, load and constraint, whose motion no equation determines.

A rod that spins about its own axis is one: its inertia about the axis is zero and nothing turns it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.errors import IllPosed
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of

if TYPE_CHECKING:
    from dalembert.mechanics.geometry.frame import Frame
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics


def check_equations_exist(kin: Kinematics) -> None:
    """Refuse a system in which the equation of a coordinate is 0 = 0."""
    system = kin.system
    if system.contacts or system.members:
        return
    candidates = _candidates(kin)
    # velocities on a tape of their own: what is derived later does not depend on this check
    work = WorkAlongCoordinates(kin.fork()) if candidates else None
    turning = work.turned_inertia() if work is not None else set()
    for k in candidates:
        if work is not None and k not in turning and work.vanishes(k):
            name = kin.name(kin.q[k])
            msg = (
                f"the equation of {name!r} is 0 = 0: nothing that it moves has inertia, and no "
                f"load or constraint acts along it; give the part a mass or an inertia about this "
                f"axis, or remove the coordinate"
            )
            raise IllPosed(msg, [name])


def _candidates(kin: Kinematics) -> list[int]:
    """Coordinates that neither a row nor a potential, a dissipation or a position contains."""
    system, t = kin.system, kin.tape
    given = [
        *(p.V.i for p in system.potentials),
        *(d.D.i for d in system.dissipations),
        *(e.i for e in system.given_kinetic_energies),
        *(e for row in (*kin.linear_rows, *kin.nonlinear) for e in (*row.A.values(), row.b)),
        *(x for P in system.space.points for triple in P.r.parts.values() for x in triple),
    ]
    inside = {*symbols_of(t, given)}
    inside.update(kin.q[k] for row in (*kin.linear_rows, *kin.nonlinear) for k in row.A)
    pairs = enumerate(zip(kin.q, kin.qdot, strict=True))
    return [k for k, (q, rate) in pairs if q not in inside and rate not in inside]


class WorkAlongCoordinates:
    """m v_k·v_k, ω_k·I·ω_k, F·v_k and M·ω_k of a system: what the equation of q_k is made of."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.motion = kin, kin.motion_in_rates
        self._linear = LinearCoefficients(kin.tape, kin.qdot)

    def turned_inertia(self) -> set[int]:
        """Coordinates that turn one frame only, against its parent, and with it a body whose
        inertia about that axis is not zero: settled without the velocities of whole chains.
        """
        kin, spins = self.kin, {}
        for F in kin.system.space.frames:
            if F.parent is not None:
                spins[F] = self.motion.w_between(F, F.parent)
        rates = {rate: k for k, rate in enumerate(kin.qdot)}
        turned: dict[int, list[Frame]] = {}
        for F, spin in spins.items():
            nodes = [e for triple in spin.parts.values() for e in triple]
            for i in symbols_of(kin.tape, nodes):
                if i in rates:
                    turned.setdefault(rates[i], []).append(F)
        bodies = {b.frame: b for b in kin.system.bodies if b.inertia is not None}
        settled = set()
        for k, frames in turned.items():
            body = bodies.get(frames[0]) if len(frames) == 1 else None
            if body is not None and body.inertia is not None:
                axis = self._along(spins[frames[0]], k)
                e = (axis @ (body.inertia.on(kin.tape) @ axis)).i
                if e != kin.tape.zero and not provably_zero(kin.tape, [e])[0]:
                    settled.add(k)
        return settled

    def vanishes(self, k: int) -> bool:
        """Whether all of them are zero."""
        t = self.kin.tape
        return all(e == t.zero or provably_zero(t, [e])[0] for e in self._terms(k))

    def _along(self, v: Vector, k: int) -> Vector:
        return v.map(lambda e: self._linear(e)[1].get(k, self.kin.tape.zero))

    def _terms(self, k: int) -> Iterator[int]:
        kin, v, w = self.kin, self.motion.v, self.motion.w
        bodies = kin.system.bodies
        # one term settles it: in a chain that of the body which the coordinate moves first
        near = k * len(bodies) // len(kin.q)
        for body in (*bodies[near:], *bodies[:near]):
            if body.frame is not None and body.inertia is not None:
                w_k = self._along(w(body.frame), k)
                yield (w_k @ (body.inertia.on(kin.tape) @ w_k)).i
            v_k = self._along(v(body.G), k)
            yield ((v_k @ v_k) * body.mass).i
        for load in kin.system.loads:
            yield from ((self._along(v(P), k) @ kin.vector_in_rates(F)).i for F, P in load.forces)
            yield from ((self._along(w(B), k) @ kin.vector_in_rates(T)).i for T, B in load.torques)
