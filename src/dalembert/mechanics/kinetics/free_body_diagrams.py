"""Bodies cut free: the wrench in every joint as unknowns, the balances of every body, and what
each joint exerts along the directions that it allows.

    m a − F − f = 0,  Ḣ + (r_G − r_P) × m a − M_P − μ_P = 0,  Σ f·v_k + μ·ω_k − τ_k = 0

Source: Bar00 (14), Mei85 (7.24), (7.18).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dalembert.errors import BadDescription
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import (
    ConstraintAction,
    multipliers,
    row_actions,
    row_loads_by_group,
)
from dalembert.mechanics.kinetics.free_bodies import (
    FreeBody,
    GroupLoad,
    Wrench,
    free_bodies,
    joint_loads,
    loads_by_group,
    plane_of_motion,
)
from dalembert.mechanics.kinetics.rigid_groups import RigidGroups
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.tape import Tape, Triple


@dataclass(frozen=True, eq=False)
class FreeBodyDiagram:
    """A body cut free: the symbols of what its joint exerts on it, along the axes in which its
    balances are written.
    """

    link: FreeBody
    name: str
    axes: Frame
    # which components are written: all, or in a plane two of the force and one of the moment
    force_axes: str
    moment_axes: str
    f: Triple
    mu: Triple
    # the point about which moments are taken, from the joint
    point: Vector

    def wrench(self) -> Wrench:
        """f and μ at the joint."""
        t = self.link.a.tape
        f = tuple(
            x if axis in self.force_axes else t.zero for axis, x in zip("xyz", self.f, strict=True)
        )
        mu = tuple(
            x if axis in self.moment_axes else t.zero
            for axis, x in zip("xyz", self.mu, strict=True)
        )
        force, moment = (Vector(t, {self.axes: x}) for x in (f, mu))  # type: ignore[dict-item]
        return Wrench(force, moment)

    def component_equations(self, total: Wrench) -> Iterator[tuple[str, int, int]]:
        """(which balance, the symbol of what the joint exerts in it, the component) for every
        component that is written.
        """
        parts = (
            ("force", self.force_axes, self.f, total.force),
            ("moment", self.moment_axes, self.mu, total.moment),
        )
        for what, axes, symbols, vector in parts:
            for axis, x, c in zip("xyz", symbols, vector.components(self.axes), strict=True):
                if axis in axes:
                    yield f"{what} on {self.name} along {axis}", x, c


# ---- bodies --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FreeBodySystem:
    """The bodies and what acts on them, whatever their moments are taken about: searched for and
    decided once for a kinematics.
    """

    groups: RigidGroups
    actions: list[ConstraintAction]
    tau: dict[int, int]
    loads: list[GroupLoad]
    chain: list[FreeBody]
    # the axis of N at right angles to the plane of everything, if there is one
    normal: str

    def copy_to(self, kin: Kinematics) -> FreeBodySystem:
        """The same on the tape of a fork."""
        groups, same = self.groups.on(kin)
        loads = [x._replace(group=same[x.group], vector=x.vector.on(kin.tape)) for x in self.loads]
        chain: dict[FreeBody | None, FreeBody] = {}
        for link in self.chain:
            chain[link] = link.on(kin.tape, same[link.group], chain.get(link.before))
        return FreeBodySystem(
            groups, self.actions, self.tau, loads, list(chain.values()), self.normal
        )


_FREE_BODY_CACHE: Final = PerOwnerCache[FreeBodySystem]()


def free_body_system(kin: Kinematics) -> FreeBodySystem:
    """The bodies of a system and what acts on them, found once for a kinematics."""
    return _FREE_BODY_CACHE(kin, None, lambda: _cut_free(kin))


def _cut_free(kin: Kinematics) -> FreeBodySystem:
    groups = RigidGroups(kin)
    actions = row_actions(groups)[: len(kin.rows_with_multipliers)]
    tau = joint_loads(groups)
    loads = [
        *(x._replace(vector=kin.vector_in_rates(x.vector)) for x in loads_by_group(groups)),
        *row_loads_by_group(groups, actions),
    ]
    chain = free_bodies(groups, [load.group for load in loads])
    return FreeBodySystem(groups, actions, tau, loads, chain, plane_of_motion(groups, loads))


def free_body_diagrams(
    free: FreeBodySystem, about: dict[Body | str, Point]
) -> list[FreeBodyDiagram]:
    """Every body with the unknown wrench of its joint; `about` names points for moments."""
    groups, normal, kin = free.groups, free.normal, free.groups.kin
    points = _moment_points(kin, about)
    with_moments = _bodies_with_moment_balance(free) if normal else set(free.chain)
    cuts = []
    for k, link in enumerate(free.chain, 1):
        bodies = [b for b, _ in link.group.masses]
        f, mu = _unknown_triple(kin.tape, f"f_{k}"), _unknown_triple(kin.tape, f"mu_{k}")
        point = link.group.masses[0][1] if len(bodies) == 1 else Vector(kin.tape, {})
        for given in [points[b] for b in bodies if b in points][:1]:
            point = groups.offset_from_joint(given, link.group)
        name = " and ".join(b.name for b in bodies) or f"massless part at {link.name}"
        axes = kin.system.N if normal else link.group.frame
        along = "xyz".replace(normal, "") if normal else "xyz"
        moments = (normal or "xyz") if link in with_moments else ""
        cuts.append(FreeBodyDiagram(link, name, axes, along, moments, f, mu, point))
    return cuts


def _unknown_triple(t: Tape, name: str) -> Triple:
    """The three unknown components of a force or a moment."""
    return (
        t.private_symbol(f"{name}x"),
        t.private_symbol(f"{name}y"),
        t.private_symbol(f"{name}z"),
    )


def _driven_coordinates(free: FreeBodySystem) -> set[int]:
    """The coordinates along which a joint load, or a row that acts on no body, does work."""
    acting = zip(free.groups.kin.rows_with_multipliers, free.actions, strict=True)
    return {
        *free.tau,
        *(k for row, action in acting if not action.forces + action.moments for k in row.A),
    }


def _moment_points(kin: Kinematics, about: dict[Body | str, Point]) -> dict[Body, Point]:
    """The points about which moments are wanted, by body."""
    by_name: dict[object, Body] = {b.name: b for b in kin.system.bodies} | {
        b: b for b in kin.system.bodies
    }
    for body, P in about.items():
        if body not in by_name:
            msg = (
                f"newton_euler: about={{{getattr(body, 'name', body)!r}: …}} names no body of "
                f"this system"
            )
            raise BadDescription(msg)
        kin.system.space.check_element(P, Point, "newton_euler, about=")
    return {by_name[body]: P for body, P in about.items()}


def _bodies_with_moment_balance(free: FreeBodySystem) -> set[FreeBody]:
    """In a plane: all but the particles at their joints that are pulled there only, and whose
    neighbours turn on smooth pins.
    """
    groups, chain, driven = free.groups, free.chain, _driven_coordinates(free)
    with_moment: set[FreeBody] = set()
    for link in reversed(chain):
        group = link.group
        own = [load for load in free.loads if load.group is group]
        children = [x for x in chain if x.before is link]
        arms = [groups.offset_from_joint(load.at, group) for load in own if load.at is not None] + [
            x.offset for x in children
        ]
        point_like = bool(group.masses) and not any(
            body.frame is not None or rho.parts for body, rho in group.masses
        )
        has_no_moment = all(load.at is not None for load in own) and not any(a.parts for a in arms)
        if not (
            point_like
            and has_no_moment
            and all(
                x not in with_moment or _is_frictionless_pin(x, chain, driven) for x in children
            )
        ):
            with_moment.add(link)
    return with_moment


def _is_frictionless_pin(link: FreeBody, chain: list[FreeBody], driven: set[int]) -> bool:
    """A pin in a plane whose angle moves nothing else, and in which nothing acts."""
    own = [k for k, (v, w) in link.twists.items() if w.parts and not v.parts and k not in driven]
    return any(all(k not in x.twists for x in chain if x is not link) for k in own)


class BodyBalances:
    """inertia − loads − own joint + joints beyond = 0, and from it what each joint exerts."""

    def __init__(
        self, groups: RigidGroups, cuts: list[FreeBodyDiagram], loads: list[GroupLoad]
    ) -> None:
        self.groups, self.cuts = groups, cuts
        self.equations: dict[str, int] = {}
        self.reactions: dict[int, int] = {}
        needed = {cut.link: self._inertia_minus_loads(cut, loads) for cut in cuts}
        for cut in cuts:
            self._write_balance(cut, needed[cut.link])
        # the same at the joints, with what lies beyond put in
        at_joint = {
            cut.link: needed[cut.link].plus(
                Wrench(Vector(groups.kin.tape, {}), cut.point.cross(needed[cut.link].force))
            )
            for cut in cuts
        }
        for cut in reversed(cuts):
            total = at_joint[cut.link]
            before = cut.link.before
            if before is not None:
                at_joint[before] = at_joint[before].plus(total, cut.link.offset)
            self.reactions |= {symbol: node for _, symbol, node in cut.component_equations(total)}

    def _inertia_minus_loads(self, cut: FreeBodyDiagram, loads: list[GroupLoad]) -> Wrench:
        """m a − F and Ḣ + (r_G − r_P) × m a − M_P of a body itself."""
        none = Vector(self.groups.kin.tape, {})
        total = Wrench(none, none)
        for body, rho in cut.link.group.masses:
            total = total.plus(cut.link.inertia(body, rho), rho - cut.point)
        for load in loads:
            if load.group is not cut.link.group:
                continue
            if load.at is None:
                total = total.minus(Wrench(none, load.vector))
            else:
                total = total.minus(
                    Wrench(load.vector, none),
                    self.groups.offset_from_joint(load.at, load.group) - cut.point,
                )
        return total

    def _write_balance(self, cut: FreeBodyDiagram, own: Wrench) -> None:
        balance = own.minus(cut.wrench(), -cut.point)
        for other in self.cuts:
            if other.link.before is cut.link:
                balance = balance.plus(other.wrench(), other.link.offset - cut.point)
        self.equations |= {label: node for label, _, node in cut.component_equations(balance)}


# ---- joints --------------------------------------------------------------------------------------


def joint_equations(
    kin: Kinematics,
    cuts: list[FreeBodyDiagram],
    tau: dict[int, int],
    actions: list[ConstraintAction],
) -> dict[str, int]:
    """Σ f·v_k + μ·ω_k − τ_k = 0 over the joints that coordinate k moves: they exert nothing
    along it but what acts in them.
    """
    t = kin.tape
    laws = {}
    for k, q in enumerate(kin.q):
        total = -kin.scalar(tau.get(k, t.zero))
        for cut in cuts:
            if k in cut.link.twists:
                v, w = cut.link.twists[k]
                wrench = cut.wrench()
                total += v @ wrench.force + w @ wrench.moment
        for lam, row, action in zip(
            multipliers(kin), kin.rows_with_multipliers, actions, strict=False
        ):
            # gears, drives, norms of quaternions, and rows of which only this is known
            if k in row.A and not (action.forces or action.moments):
                total -= kin.scalar(lam) * kin.scalar(row.A[k])
        laws[f"along {kin.scalar(q)}"] = total.i
    return laws
