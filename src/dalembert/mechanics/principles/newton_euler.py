"""m a = F + f, Ḣ = M + μ for every body, and f·v_k + μ·ω_k = τ_k in every joint: Newton–Euler with all bodies free.

What a joint does to a body it does, reversed, to the body before it. Unknown are the accelerations and these wrenches. Two things
close the system: the acceleration of a body against the one that holds it has only the directions that the joint allows, and the
joint exerts nothing along them but what was said to act in it, τ: neither partial velocities of bodies nor an energy are formed.
Loads that have no place cannot act on a free body.

Source: Bar00 (14), Mei85 (7.24), (7.18); Mar (1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dalembert.errors import BadDescription
from dalembert.foundation.caching import MadeOnce
from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import Action, booked_rows, multipliers, row_actions
from dalembert.mechanics.kinetics.free_bodies import Booked, Link, Wrench, acting_plane, booked_loads, joint_loads, links
from dalembert.mechanics.kinetics.rigid_groups import RigidGroups
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Item, NativeForm, Principle, Step, on_fork
from dalembert.symbolic.algebra.expression_graph import Rewrite
from dalembert.symbolic.algebra.tape import Triple

PRINCIPLE = Principle(
    "newton-euler",
    "Newton–Euler equations",
    principle_statements.NEWTON_EULER,
    "Bar00 (14), Mei85 (7.24)",
    "free bodies",
    "vector",
    "q̇",
    "Every body is cut free; what its neighbours do to it becomes an unknown reaction beside the applied loads.",
)


@dataclass(frozen=True, eq=False)
class _Cut:
    """A body cut free: the symbols of what its joint exerts on it, along the axes in which its balances are written."""

    link: Link
    name: str
    axes: Frame
    # which components are written: all, or in a plane two of the force and one of the moment
    along: str
    about: str
    f: Triple
    mu: Triple
    # the point about which moments are taken, from the joint
    point: Vector

    def wrench(self) -> Wrench:
        """f and μ at the joint."""
        t = self.link.a.tape
        f = tuple(x if axis in self.along else t.zero for axis, x in zip("xyz", self.f, strict=True))
        mu = tuple(x if axis in self.about else t.zero for axis, x in zip("xyz", self.mu, strict=True))
        return Wrench(Vector(t, {self.axes: f}), Vector(t, {self.axes: mu}))  # type: ignore[dict-item]

    def written(self, total: Wrench) -> Iterator[tuple[str, int, int]]:
        """(which balance, the symbol of what the joint exerts in it, the component) for every component that is written."""
        parts = (("force", self.along, self.f, total.force), ("moment", self.about, self.mu, total.moment))
        for what, axes, symbols, vector in parts:
            for axis, x, c in zip("xyz", symbols, vector.components(self.axes), strict=True):
                if axis in axes:
                    yield f"{what} on {self.name} along {axis}", x, c


@options_by_name
def newton_euler(system: System | Kinematics, about: Mapping[Body | str, Point] | None = None) -> Derivation:
    """m a − F − f = 0, Ḣ + (r_G − r_P) × m a − M_P − μ_P = 0 for every body, f·v_k + μ·ω_k − τ_k = 0 in every joint.

    Moments are taken about the mass centre, or about the point P that `about` names for a body.
    """
    first = on_fork(system)
    known = _KNOWN(first, None, lambda: _description(first))
    kin = first.fork(known.groups.kin.tape)
    free = known.on(kin)
    actions = free.actions
    cuts = _cuts(free, dict(about or {}))
    balances = _Balances(free.groups, cuts, free.loads)
    laws = _laws(kin, cuts, free.tau, actions)
    # from the tips to the ground every balance gives the wrench in its joint
    eliminate = Rewrite(kin.tape, balances.reactions)
    residuals = tuple(eliminate(e) for e in laws.values())
    lam = multipliers(kin)[: len(actions)]
    native = NativeForm("q", residuals, kin.qddot, lam, printed=(*balances.equations.values(), *laws.values()))
    return Derivation(PRINCIPLE, kin, _steps(kin, cuts, balances, laws, actions), native)


# ---- bodies --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Description:
    """The bodies and what acts on them, whatever their moments are taken about: searched for and decided once for a kinematics."""

    groups: RigidGroups
    actions: list[Action]
    tau: dict[int, int]
    loads: list[Booked]
    chain: list[Link]
    # the axis of N at right angles to the plane of everything, if there is one
    normal: str

    def on(self, kin: Kinematics) -> _Description:
        """The same on the tape of a fork."""
        groups, same = self.groups.on(kin)
        loads = [x._replace(group=same[x.group], vector=x.vector.on(kin.tape)) for x in self.loads]
        chain: dict[Link | None, Link] = {}
        for link in self.chain:
            chain[link] = link.on(kin.tape, same[link.group], chain.get(link.before))
        return _Description(groups, self.actions, self.tau, loads, list(chain.values()), self.normal)


_KNOWN: Final = MadeOnce[_Description]()


def _description(kin: Kinematics) -> _Description:
    groups = RigidGroups(kin)
    actions = row_actions(groups)[: len(kin.acting_rows)]
    tau = joint_loads(groups)
    loads = [*(x._replace(vector=kin.vector_in_rates(x.vector)) for x in booked_loads(groups)), *booked_rows(groups, actions)]
    chain = links(groups, [load.group for load in loads])
    return _Description(groups, actions, tau, loads, chain, acting_plane(groups, loads))


def _cuts(free: _Description, about: dict[Body | str, Point]) -> list[_Cut]:
    groups, chain, normal = free.groups, free.chain, free.normal
    kin, t = groups.kin, groups.kin.tape
    points = _points(kin, about)
    acting = zip(kin.acting_rows, free.actions, strict=True)
    driven = {*free.tau, *(k for row, action in acting if not action.forces + action.moments for k in row.A)}
    moments = _with_moments(groups, chain, free.loads, driven) if normal else set(chain)
    cuts = []
    for k, link in enumerate(chain, 1):
        bodies = [body for body, _ in link.group.masses]
        f, mu = ((t.private_symbol(f"{s}_{k}x"), t.private_symbol(f"{s}_{k}y"), t.private_symbol(f"{s}_{k}z")) for s in ("f", "mu"))
        given = next((points[b] for b in bodies if b in points), None)
        centre = link.group.masses[0][1] if len(bodies) == 1 else Vector(t, {})
        point = centre if given is None else groups.arm(given, link.group)
        name = " and ".join(b.name for b in bodies) or f"massless part at {link.name}"
        axes, along = (kin.system.N, "xyz".replace(normal, "")) if normal else (link.group.frame, "xyz")
        cuts.append(_Cut(link, name, axes, along, (normal or "xyz") if link in moments else "", f, mu, point))
    return cuts


def _points(kin: Kinematics, about: dict[Body | str, Point]) -> dict[Body, Point]:
    """The points about which moments are wanted, by body."""
    by_name: dict[object, Body] = {b.name: b for b in kin.system.bodies} | {b: b for b in kin.system.bodies}
    for body, P in about.items():
        if body not in by_name:
            msg = f"newton_euler: about={{{getattr(body, 'name', body)!r}: …}} names no body of this system"
            raise BadDescription(msg)
        kin.system.space.has(P, Point, "newton_euler, about=")
    return {by_name[body]: P for body, P in about.items()}


def _with_moments(groups: RigidGroups, chain: list[Link], loads: list[Booked], driven: set[int]) -> set[Link]:
    """In a plane: all but the particles at their joints that are pulled there only, and whose neighbours turn on smooth pins."""
    felt: set[Link] = set()
    for link in reversed(chain):
        group = link.group
        own = [load for load in loads if load.group is group]
        held = [x for x in chain if x.before is link]
        arms = [groups.arm(load.at, group) for load in own if load.at is not None] + [x.offset for x in held]
        point_like = bool(group.masses) and not any(body.frame is not None or rho.parts for body, rho in group.masses)
        quiet = all(load.at is not None for load in own) and not any(a.parts for a in arms)
        if not (point_like and quiet and all(x not in felt or _is_smooth(x, chain, driven) for x in held)):
            felt.add(link)
    return felt


def _is_smooth(link: Link, chain: list[Link], driven: set[int]) -> bool:
    """A pin in a plane whose angle moves nothing else, and in which nothing acts."""
    own = [k for k, (v, w) in link.twists.items() if w.parts and not v.parts and k not in driven]
    return any(all(k not in x.twists for x in chain if x is not link) for k in own)


class _Balances:
    """inertia − loads − own joint + joints beyond = 0, and from it what each joint exerts."""

    def __init__(self, groups: RigidGroups, cuts: list[_Cut], loads: list[Booked]) -> None:
        self.groups, self.cuts = groups, cuts
        self.equations: dict[str, int] = {}
        self.reactions: dict[int, int] = {}
        needed = {cut.link: self._own(cut, loads) for cut in cuts}
        for cut in cuts:
            self._write(cut, needed[cut.link])
        # the same at the joints, with what lies beyond put in
        at_joint = {
            cut.link: needed[cut.link].plus(Wrench(Vector(groups.kin.tape, {}), cut.point.cross(needed[cut.link].force))) for cut in cuts
        }
        for cut in reversed(cuts):
            total = at_joint[cut.link]
            before = cut.link.before
            if before is not None:
                at_joint[before] = at_joint[before].plus(total, cut.link.offset)
            self.reactions |= {symbol: node for _, symbol, node in cut.written(total)}

    def _own(self, cut: _Cut, loads: list[Booked]) -> Wrench:
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
                total = total.minus(Wrench(load.vector, none), self.groups.arm(load.at, load.group) - cut.point)
        return total

    def _write(self, cut: _Cut, own: Wrench) -> None:
        balance = own.minus(cut.wrench(), -cut.point)
        for other in self.cuts:
            if other.link.before is cut.link:
                balance = balance.plus(other.wrench(), other.link.offset - cut.point)
        self.equations |= {label: node for label, _, node in cut.written(balance)}


# ---- joints --------------------------------------------------------------------------------------


def _laws(kin: Kinematics, cuts: list[_Cut], tau: dict[int, int], actions: list[Action]) -> dict[str, int]:
    """Σ f·v_k + μ·ω_k − τ_k = 0 over the joints that coordinate k moves: they exert nothing along it but what acts in them."""
    t = kin.tape
    laws = {}
    for k, q in enumerate(kin.q):
        total = -kin.scalar(tau.get(k, t.zero))
        for cut in cuts:
            if k in cut.link.twists:
                v, w = cut.link.twists[k]
                wrench = cut.wrench()
                total += v @ wrench.force + w @ wrench.moment
        for lam, row, action in zip(multipliers(kin), kin.acting_rows, actions, strict=False):
            # gears, drives, norms of quaternions, and rows of which only this is known
            if k in row.A and not (action.forces or action.moments):
                total -= kin.scalar(lam) * kin.scalar(row.A[k])
        laws[f"along {kin.name(q)}"] = total.i
    return laws


def _steps(kin: Kinematics, cuts: list[_Cut], balances: _Balances, laws: dict[str, int], actions: list[Action]) -> tuple[Step, ...]:
    moving = [Item(f"a of {body.name}", cut.link.acceleration(rho)) for cut in cuts for body, rho in cut.link.group.masses]
    turning = [Item(f"α of {cut.name}", cut.link.alpha) for cut in cuts if cut.link.alpha.parts]
    unknown = [action.unknown for action in actions if action.unknown]
    note = "".join(f" Undetermined are the wrenches in the joints, for {reason}." for reason in unknown[:1])
    if kin.redundant:
        note += f" {kin.redundant[0].name!r} repeats other rows: how they share their reactions is undetermined."
    return (
        Step(
            "Accelerations from neighbour to neighbour",
            "a_G = a_P + α × ρ + ω × (ω × ρ) + 2 ω × v_rel + a_rel",
            (*moving, *turning),
            "Bar00 (14)",
            "Against the body that holds it, a body is accelerated only in the directions that its joint allows.",
        ),
        Step(
            "Bodies cut free",
            "m a − F − f = 0, Ḣ − M − μ = 0",
            tuple(map(Item, balances.equations, balances.equations.values())),
            "Bar00 (14)",
            "Force and moment balance of each body along its axes. What a joint does to a body it does, reversed, to the one before it.",
        ),
        Step(
            "Joints",
            "Σ f·v_k + μ·ω_k − τ_k = 0",
            tuple(map(Item, laws, laws.values())),
            "Mei85 (7.18)",
            "Along what it allows a joint exerts nothing but what was said to act in it. These equations close the system.",
        ),
        Step(
            "Reactions",
            "f = m a − F, μ = Ḣ − M",
            tuple(map(Item, map(kin.name, balances.reactions), balances.reactions.values())),
            "Mei85 (7.24)",
            f"From the tips to the ground the balances give every reaction; put into the last equations they leave those of motion.{note}",
        ),
    )
