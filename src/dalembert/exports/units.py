"""rad, m, kg, per second: the units that a description itself decides; what it leaves open has none."""

from __future__ import annotations

from dalembert.algebra.folds import Linear, symbols_of
from dalembert.errors import NotLinear
from dalembert.geometry.rotation import Quaternion
from dalembert.kinematics.system_kinematics import Kinematics


def units_of(kin: Kinematics) -> dict[int, str]:
    """{symbol: unit}: angles of rotations, lengths along unit vectors, rates of both, masses of bodies."""
    system, t = kin.system, kin.tape
    found: dict[int, str] = {body.mass.i: "kg" for body in system.bodies if t.nodes[body.mass.i][0] == "symbol"}
    inside = set(kin.q)
    for F in system.space.frames:
        if F.rotation is None:
            continue
        unit = "1" if isinstance(F.rotation, Quaternion) else "rad"
        found |= {i: unit for i in symbols_of(t, F.rotation.variables()) if i in inside}
    along = Linear(t, kin.q)
    for P in system.space.points:
        for components in P.r.parts.values():
            for c in components:
                try:
                    slopes = along(c)[1]
                except NotLinear:
                    continue
                found |= {kin.q[k]: "m" for k, slope in slopes.items() if slope in (t.one, t.neg(t.one)) and kin.q[k] not in found}
    for q, qdot in zip(kin.q, kin.qdot, strict=True):
        if q in found:
            found[qdot] = {"1": "1/s"}.get(found[q], f"{found[q]}/s")
    return found
