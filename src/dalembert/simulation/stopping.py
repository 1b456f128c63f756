"""Why a motion cannot go on, in the system's own terms."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dalembert.equations.form import Equations
from dalembert.simulation.failures import NotFinite, RunStopped
from dalembert.simulation.reading import label
from dalembert.simulation.trajectory import Trajectory

_SINGULAR: Final = 1e-9
_LARGE: Final = 1e6


def explain(failure: RunStopped, equations: Equations) -> None:
    """Add the state by name and the likely cause: a singular WᵀMW, or rates that the speeds do not determine there."""
    run = failure.trajectory
    if run is None or not len(run):
        return
    state = ", ".join(f"{name} = {value:.6g}" for name, value in zip(run.names, (*run.q[-1], *run.u[-1]), strict=True))
    reason = re.sub(r"component (\d+)", lambda m: run.names[int(m[1])], failure.reason)
    cause = f"\n{_cause(run, equations)}" if isinstance(failure, NotFinite) else ""
    failure.reason = f"{reason}\nstate: {state}{cause}"


def _cause(run: Trajectory, equations: Equations) -> str:
    last = run.at(run.t[-1:])
    n = len(equations.u)
    M = np.zeros((n, n))
    for r, row in enumerate(equations.M):
        for s, node in row.items():
            M[r, s] = last[equations.scalar(node)][0]
    values, vectors = np.linalg.eigh((M + M.T) / 2) if np.isfinite(M).all() else (np.zeros(n), np.eye(n))
    if values[0] <= _SINGULAR * max(abs(values[-1]), 1e-300):
        worst = int(np.argmax(np.abs(vectors[:, 0])))
        name = label(str(equations.tape.nodes[equations.u[worst]][1]))
        return f"likely cause: the mass matrix is singular there; nothing resists the speed {name} (a body without inertia along it?)"
    fastest = int(np.argmax(np.abs(run.qdot[-1])))
    if abs(run.qdot[-1][fastest]) > _LARGE:
        name = label(str(equations.tape.nodes[equations.q[fastest]][1]))
        return f"likely cause: the rate of {name} grows without bound; other coordinates or speeds avoid such a singular position"
    return "likely cause: a load or a specified motion that is infinite there"
