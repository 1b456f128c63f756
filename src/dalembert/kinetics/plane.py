"""v·n = 0, ω × n = 0: whether everything moves in one plane, so that three balances are left for every body."""

from __future__ import annotations

from dalembert.algebra.exact.field import shown_zero
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.free_bodies import Booked
from dalembert.kinetics.joints import RigidGroups


def plane_normal(kin: Kinematics) -> Vector | None:
    """The axis of N along which no mass moves and about which alone bodies turn; None if there is none."""
    N, motion, t = kin.system.N, kin.motion_in_rates, kin.tape
    for k, n in enumerate((N.x, N.y, N.z)):
        along = [motion.v(b.G).components(N)[k] for b in kin.system.bodies]
        across = [c for b in kin.system.bodies if b.frame is not None for j, c in enumerate(motion.w(b.frame).components(N)) if j != k]
        if all(shown_zero(t, [*along, *across])):
            return n
    return None


def acting_plane(groups: RigidGroups, loads: list[Booked]) -> str:
    """The axis of N at right angles to the plane in which everything moves and acts; empty if there is none."""
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
        unwanted += [] if load.at is None else [groups.arm(load.at, load.group).components(N)[k]]
    for group in groups.groups[1:]:
        unwanted += [rho.components(N)[k] for _, rho in group.masses] + [group.offset.components(N)[k]]
        for body, _ in group.masses:
            if body.inertia is not None:
                unwanted += [x for j, x in enumerate((body.inertia @ n).components(N)) if j != k]
    return "xyz"[k] if all(shown_zero(t, unwanted)) else ""
