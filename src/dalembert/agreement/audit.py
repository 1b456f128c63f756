"""v = ṙ, a = v̇, [ω]ₓ = Ṙ Rᵀ, α = ω̇: the kinematic audit.

All principles share the kinematics, and a wrong ω would make all of them agree. So positions and rotations, which
come from the description alone, are differentiated on the tape and compared, exactly, with what the recursion gave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dalembert.algebra.field import is_zero
from dalembert.algebra.tape import Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector, dot3
from dalembert.kinematics.kinematics import Kinematics


@dataclass(frozen=True)
class Finding:
    """One identity for one body, and whether it holds."""

    what: str
    where: str
    holds: bool


def audit(kin: Kinematics) -> tuple[Finding, ...]:
    """Every identity for every body, decided exactly."""
    kin = kin.fork()
    findings: list[Finding] = []
    frames: list[Frame] = []
    for body in kin.system.bodies:
        findings += _of_point(kin, body.name, body.G)
        if body.frame is not None and body.frame not in frames:
            frames.append(body.frame)
            findings += _of_frame(kin, body.name, body.frame)
    for load in kin.system.loads:
        for _, P in load.forces:
            findings += _of_point(kin, load.name, P)
    return tuple(findings)


def _vanish(kin: Kinematics, what: str, where: str, differences: list[int]) -> Finding:
    return Finding(what, where, all(is_zero(kin.tape, differences)))


def _minus(kin: Kinematics, a: Triple, b: Triple) -> list[int]:
    return [kin.tape.sub(x, y) for x, y in zip(a, b, strict=True)]


def _rates(rate: Callable[[int], int], c: Triple) -> Triple:
    return rate(c[0]), rate(c[1]), rate(c[2])


def _in_N(kin: Kinematics, v: Vector) -> Triple:
    return v.on(kin.tape).components(kin.system.N)


def _of_point(kin: Kinematics, name: str, P: Point) -> list[Finding]:
    N = kin.system.N
    r = _in_N(kin, P - kin.system.O)
    v = kin.v(P).components(N)
    a = kin.a(P).components(N)
    return [
        _vanish(kin, "v = dr/dt", name, _minus(kin, v, _rates(kin.rate, r))),
        _vanish(kin, "a = dv/dt", name, _minus(kin, a, _rates(kin.rate, v))),
    ]


def _of_frame(kin: Kinematics, name: str, F: Frame) -> list[Finding]:
    t, N = kin.tape, kin.system.N
    R = F.matrix(t)
    Rd = [_rates(kin.rate, row) for row in R]
    w = kin.w(F).components(N)
    alpha = kin.alpha(F).components(N)
    gram = [t.sub(dot3(t, R[i], R[j]), t.one if i == j else t.zero) for i in range(3) for j in range(i, 3)]
    # [ω]ₓ = Ṙ Rᵀ: all nine entries
    w_x = ((t.zero, t.neg(w[2]), w[1]), (w[2], t.zero, t.neg(w[0])), (t.neg(w[1]), w[0], t.zero))
    spin = [t.sub(w_x[i][j], dot3(t, Rd[i], R[j])) for i in range(3) for j in range(3)]
    return [
        _vanish(kin, "R Rᵀ = 1", name, gram),
        _vanish(kin, "[ω]ₓ = Ṙ Rᵀ", name, spin),
        _vanish(kin, "α = dω/dt", name, _minus(kin, alpha, _rates(kin.rate, w))),
    ]
