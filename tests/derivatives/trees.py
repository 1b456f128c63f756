"""Trees with every kind of joint, and accelerations differentiated by imaginary steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as da
from dalembert.runtime.dynamics.compile import forward_dynamics
from dalembert.runtime.numerics.symbol_values import constant_values
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate

_STEP = 1e-40


def walker(*, quaternions: bool) -> da.System:
    """A free base with two branches of a hinge, a slider and a ball joint, a spring and a damper
    between them.
    """
    s = da.System("Walker", gravity=9.81, up="z")
    base = s.free("x y z e0 e1 e2 e3" if quaternions else "x y z a1 a2 a3")
    B = base.frame
    s.body("base", 3, base.offset(0.1 * B.x), B, da.inertia(B, 0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    tips = []
    for side in (1, -1):
        hip = s.pin(f"hip{side + 1}", base.offset(side * 0.3 * B.y), B.x)
        s.rod(f"thigh{side + 1}", hip, mass=1, length=0.5)
        knee = s.slide(f"knee{side + 1}", hip.offset(-0.5 * hip.frame.y), hip.frame.y)
        names = [f"b{side + 1}{k}" for k in range(4 if quaternions else 3)]
        foot = s.ball(" ".join(names), knee)
        G = foot.offset(0.2 * foot.frame.z - 0.1 * foot.frame.x)
        inertia = da.inertia(foot.frame, 0.02, 0.03, 0.04, 0.001, 0.002, 0.003)
        s.body(f"foot{side + 1}", 0.5, G, foot.frame, inertia)
        tips.append(G)
    s.spring(30, tips[0], tips[1], rest=0.2)
    s.damper(2, tips[0], s.O)
    s.force(s.input("F") * s.N.x, at=tips[0])
    return s


def gimbal() -> da.System:
    """A body on a ball joint with a quaternion that carries a hinge and, on another branch, a
    slider.
    """
    s = da.System("Gimbal", gravity=9.81, up="z")
    base = s.ball("e0 e1 e2 e3", s.O.offset(0.2 * s.N.x))
    B = base.frame
    s.body("base", 3, base.offset(0.1 * B.x), B, da.inertia(B, 0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    s.rod("arm", s.pin("hip", base.offset(0.3 * B.y), B.x), mass=1, length=0.5)
    tip = s.slide("rail", base.offset(0.1 * B.z), B.y)
    s.particle("mass", 0.7, tip)
    s.spring(30, tip, base, rest=0.2)
    s.force(s.input("F") * s.N.x, at=tip)
    return s


def cartesian_pendulum() -> da.System:
    """A particle on a rod, in Cartesian coordinates."""
    s = da.System("Pendulum in x and y")
    x, y = s.coordinates("x y")
    m, g, l, c = s.constants(m=1.5, g=9.81, l=1.0, c=0.2)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bob", m, P)
    s.gravity(-g * s.N.y)
    s.force(-c * P.v, at=P)
    s.constrain(x**2 + y**2 - l**2, name="rod")
    return s


def states(system: da.System, count: int, seed: int = 0) -> tuple[Any, Any]:
    """Random q and u in rows."""
    kin, random = da.kinematics(system), np.random.default_rng(seed)
    return random.uniform(0.2, 1.0, (count, kin.n_q)), random.uniform(-1.0, 1.0, (count, kin.n_u))


def complex_steps(system: da.System, q: Any, u: Any, inputs: dict[str, float]) -> Any:
    """∂u̇/∂(q, u) of the equations that native code uses, states × speeds × (q, u)."""
    equations = forward_dynamics(system)
    known = {
        system.symbols[n].scalar.i: x for n, x in {**constant_values(system, {}), **inputs}.items()
    }
    symbols, X = (*equations.q, *equations.u), np.hstack([q, u])
    columns = []
    for k in range(len(symbols)):
        moved = X.astype(complex)
        moved[:, k] += 1j * _STEP
        values = known | dict(zip(symbols, moved.T, strict=True)) | {system.t.i: 0.0}
        found = evaluate(
            equations.tape, equations.udot, lambda i, v=values: np.asarray(v[i]), ArrayArithmetic()
        )
        columns.append(np.stack([np.broadcast_to(x, len(X)) for x in found], axis=1).imag / _STEP)
    return np.stack(columns, axis=2)
