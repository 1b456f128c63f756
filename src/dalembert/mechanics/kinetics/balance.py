"""Σ m a − Σ F − Σ f = 0, Σ (Ḣ + ρ × m a) − M_P − μ_P = 0: the balances of any part of a system
about any point.

The moment of inertia forces about P is Ḣ_G + (r_G − r_P) × m a_G for every P, moving or not; it is
the rate of the angular momentum about P only where P is fixed or the mass centre. Accelerations and
Ḣ come from differentiating positions and rotations, not from the velocities that gave the
reactions: so this checks them.

Source: Bar00, after (30) and after (50).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dalembert.errors import BadDescription, NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.position_kinematics import PositionKinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import row_actions, row_loads_by_group
from dalembert.mechanics.kinetics.free_bodies import GroupLoad, Wrench, loads_by_group
from dalembert.mechanics.kinetics.reactions import joint_wrenches
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.expression_graph import Substitution


@dataclass(frozen=True)
class Balance(Displayable):
    """Inertia terms and loads of a part of a system, as forces and as moments about a point, in
    q, u, u̇, λ.
    """

    bodies: tuple[str, ...]
    about: str
    # Σ m a and Σ Ḣ + ρ × m a
    inertia: Wrench
    # applied loads
    loads: Wrench
    # joints that were cut, and rows
    reactions: Wrench

    @property
    def force(self) -> Vector:
        """Σ m a − Σ F − Σ f, which vanishes on every motion, along the axes of one frame."""
        return (self.inertia.force - self.loads.force - self.reactions.force).in_one_frame()

    @property
    def moment(self) -> Vector:
        """The same of moments."""
        return (self.inertia.moment - self.loads.moment - self.reactions.moment).in_one_frame()


class BalanceEquations:
    """Wrenches and bookings of one system, for the balances of any of its parts."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.groups = kin, RigidGroups(kin)
        self.actions = actions = row_actions(self.groups)
        self.joints = joint_wrenches(self.groups, actions)
        self._loads = [
            x._replace(vector=kin.vector_in_speeds(x.vector)) for x in loads_by_group(self.groups)
        ]
        self._rows = list(row_loads_by_group(self.groups, actions))
        self._positions = PositionKinematics(kin)
        rates = {
            **dict(zip(kin.qdot, kin.qdot_of_u, strict=True)),
            **dict(zip(kin.qddot, kin.qddot_of_u, strict=True)),
        }
        self._in_speeds = Substitution(kin.tape, rates)
        self._zero_wrench = Wrench(Vector(kin.tape, {}), Vector(kin.tape, {}))

    def for_bodies(self, bodies: Sequence[Body], about: Point) -> Balance:
        """The balance of bodies about a point."""
        own = {self.groups.of_body[b] for b in bodies}
        left = [b.name for g in own for b, _ in g.masses if b not in bodies]
        if left:
            msg = (
                f"{left[0]!r} is fixed to one of these bodies, and the load between them is not "
                "known; include it"
            )
            raise NotApplicable(msg)
        inertia = self._zero_wrench
        for body in bodies:
            inertia = inertia.plus(self._inertia_wrench(body), self._arm(about, body.G))
        names = tuple(b.name for b in bodies)
        cut = self._total_wrench(about, [x for x in self._rows if x.group in own])
        for wrench, arm in self._cut_joint_wrenches(own, about):
            cut = cut.plus(wrench, arm)
        return Balance(
            names,
            about.name,
            inertia,
            self._total_wrench(about, [x for x in self._loads if x.group in own]),
            cut,
        )

    def _cut_joint_wrenches(
        self, own: set[RigidGroup], about: Point
    ) -> Iterator[tuple[Wrench, Vector]]:
        """The wrenches in the joints between a part and the rest, and the joints from the point."""
        origin = self._vector_in_speeds(self._positions.r(about))
        for group, wrench in self.joints.items():
            if (group in own) != (group.before in own):
                arm = (
                    self._vector_in_speeds(self._positions.in_N(self.groups.joint_position(group)))
                    - origin
                )
                yield (wrench if group in own else Wrench(-wrench.force, -wrench.moment)), arm

    def _inertia_wrench(self, body: Body) -> Wrench:
        """m r̈ and d/dt (I ω) with ω from Ṙ Rᵀ, along N."""
        at, t = self._positions, self.kin.tape
        a = at.time_derivative(at.time_derivative(at.r(body.G)))
        force = body.mass * self._vector_in_speeds(a)
        if body.frame is None or body.inertia is None:
            return Wrench(force, self._zero_wrench.moment)
        w = Vector(t, {self.kin.system.N: at.w(body.frame)})
        return Wrench(force, self._vector_in_speeds(at.time_derivative(at.in_N(body.inertia @ w))))

    def _total_wrench(self, about: Point, loads: Iterable[GroupLoad]) -> Wrench:
        total = self._zero_wrench
        for load in loads:
            if load.at is None:
                total = total.plus(self._zero_wrench._replace(moment=load.vector))
            else:
                total = total.plus(
                    self._zero_wrench._replace(force=load.vector), self._arm(about, load.at)
                )
        return total

    def _arm(self, P: Point, Q: Point) -> Vector:
        return self._vector_in_speeds(self._positions.r(Q)) - self._vector_in_speeds(
            self._positions.r(P)
        )

    def _vector_in_speeds(self, c: Sequence[int]) -> Vector:
        f = self._in_speeds
        return Vector(self.kin.tape, {self.kin.system.N: (f(c[0]), f(c[1]), f(c[2]))})


def balance(kin: Kinematics, bodies: Iterable[Body | str], about: Point) -> Balance:
    """The balance of some bodies of a system about a point."""
    kin = kin.fork()
    known: dict[object, Body] = {b.name: b for b in kin.system.bodies}
    known |= {b: b for b in kin.system.bodies}
    given = list(bodies)
    unknown_bodies = [b for b in given if b not in known]
    if unknown_bodies or not given:
        what = (
            f"{getattr(unknown_bodies[0], 'name', unknown_bodies[0])!r} is no body of this system"
            if unknown_bodies
            else "no body is named"
        )
        msg = f"balance: {what}; there are {', '.join(repr(b.name) for b in kin.system.bodies)}"
        raise BadDescription(msg)
    kin.system.space.check_element(about, Point, "balance, about=")
    return BalanceEquations(kin).for_bodies(list(dict.fromkeys(known[b] for b in given)), about)
