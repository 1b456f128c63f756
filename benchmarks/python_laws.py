"""Control laws in Python: the chain of seven joints, its torques set at 1 kHz by one function."""

from __future__ import annotations

from typing import Any

import numpy
import systems
from measure import race
from peers import Unavailable, peer
from results import Report, Slower

import dalembert as da

NOTE = (
    "Seven joints with τ = −K q − D u, sampled at 1 kHz for ten seconds and held in between; "
    "CPU time for a sample, the law included. dalembert integrates with error control "
    "(rtol 1e-9) and keeps every step; MuJoCo's loop takes one step of 1 ms and keeps nothing."
)
JOINTS, SECONDS, STIFFNESS, DAMPING = 7, 10.0, 20.0, 2.0
SAMPLES = round(1000 * SECONDS)


def _actuated() -> da.System:
    s = systems.chain(JOINTS)
    for k in range(1, JOINTS + 1):
        s.generalized_force(s.symbols[f"q_{k}"].scalar, s.input(f"tau_{k}"))
    return s


def _law(_t: float, now: Any) -> Any:
    return -STIFFNESS * now.q - DAMPING * now.u


def run(report: Report, *, quick: bool) -> None:
    """One function for all torques, one for each, and MuJoCo's loops."""
    report.section("Laws in Python", NOTE)
    s, names = _actuated(), tuple(f"tau_{k}" for k in range(1, JOINTS + 1))
    start = {f"q_{k}": 0.3 for k in range(1, JOINTS + 1)}

    def simulate(inputs: dict[Any, Any]) -> Any:
        return lambda: da.simulate(s, SECONDS, start=start, inputs=inputs, audit=False)

    alone = {
        name: da.sampled(lambda _t, now, k=k: -STIFFNESS * now.q[k] - DAMPING * now.u[k], 1e-3)
        for k, name in enumerate(names)
    }
    contenders = {
        "dalembert": simulate({names: da.sampled(_law, every=1e-3)}),
        "dalembert, seven functions": simulate(alone),
    }
    goals = {}
    try:
        chain = peer("mujoco").Chain(systems.links(JOINTS))
        contenders["MuJoCo, RK4"] = lambda: _mujoco(chain, 1)
        contenders["MuJoCo, Euler"] = lambda: _mujoco(chain, 0)
        goals = {"MuJoCo, RK4": Slower(1.0)}
    except Unavailable as reason:
        report.progress(str(reason))
    times = race(contenders, rounds=2 if quick else 4, long=60.0)
    report.compare(
        "law at 1 kHz on seven joints, one sample",
        {name: time.per(SAMPLES) for name, time in times.items()},
        goals,
    )


def _mujoco(chain: Any, integrator: int) -> None:
    import mujoco

    model, data = chain.model, chain.data
    model.opt.timestep, model.opt.integrator = 1e-3, integrator
    mujoco.mj_resetData(model, data)
    data.qpos[:] = 0.3
    q, u, applied = data.qpos, data.qvel, data.qfrc_applied
    for _ in range(SAMPLES):
        applied[:] = -STIFFNESS * q - DAMPING * u
        mujoco.mj_step(model, data)
    assert numpy.isfinite(q).all()
