"""Why a motion cannot go on, in the system's own terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import Linear
from dalembert.equations.form import Equations
from dalembert.errors import warn
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import linear_parts
from dalembert.ode.failures import Crawling, NotFinite, ProjectionFailed, RunStopped, StepCollapsed
from dalembert.simulation.trajectory import Trajectory
from dalembert.states.evaluator import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SINGULAR: Final = 1e-9
_LARGE: Final = 1e6
# of E_Z, which no motion changes
_LOST: Final = 0.1
# only looser runs are looked at when they end: others need not pay for it
_LOOSE: Final = 1e-5
_NEARLY_SINGULAR: Final = 1e-3
# how much of the turning a direction of the rates may leave where angles are singular, and from where on a rate counts in it
_NO_TURN: Final = 1e-3
_COUNTS: Final = 0.1


def explain(failure: RunStopped, equations: Equations) -> None:
    """Add the state by name and the likely cause: a singular WᵀMW, or rates that the speeds do not determine there."""
    run = failure.trajectory
    if run is None or not len(run):
        return
    state = ", ".join(f"{name} = {value:.6g}" for name, value in zip(run.names, run.y[-1], strict=True))
    reason = re.sub(r"component (\d+)", lambda m: run.names[int(m[1])], failure.reason)
    attitude = _singular_attitude(run, equations) if isinstance(failure, Crawling | StepCollapsed | NotFinite) else None
    if attitude is not None:
        begin, found, _ = reason.partition(" steps: ")
        failure.reason = f"{begin + found.rstrip(' ') if found else reason} {attitude}\nstate: {state}"
        return
    cause = _off_the_rows(run, failed=isinstance(failure, ProjectionFailed)) or _cause(run, equations)
    if cause is None and isinstance(failure, NotFinite):
        cause = "a load or a specified motion that is infinite, or not a number, there"
    blame = _integrator_error(run)
    if blame:
        # a tolerance that is loose already is not to be loosened
        reason = reason.partition("; make it shorter")[0]
    failure.reason = f"{reason}\nstate: {state}" + (f"\nlikely cause: {cause}" if cause and not blame else "") + blame


def _singular_attitude(run: Trajectory, equations: Equations) -> str | None:
    """Two angles that turn a body about one axis, so that their rates grow or shrink without the body's doing anything.

    Along the fastest rates, or along those that nothing resists, ω = Σ ω_k q̇_k vanishes though no ω_k does.
    """
    ends = run.at(run.t[-1:])
    kin = ends.kinematics
    values, vectors = np.linalg.eigh(_mass_matrix(ends, equations, 0))
    W = np.zeros((kin.n_q, kin.n_u))
    for k, (_, row) in enumerate(kin.WX):
        for r, node in row.items():
            W[k, r] = ends[kin.scalar(node)][0]
    least = W @ vectors[:, int(np.argmin(np.abs(values)))]
    for direction in (ends.qdot[0], least):
        d = direction / max(float(np.abs(direction).max()), np.finfo(float).tiny)
        turning = [k for k in range(kin.n_q) if abs(d[k]) > _COUNTS]
        spins = {b: _moved_by(ends, kin.motion_in_rates.w(b.frame), turning) for b in kin.system.bodies if b.frame is not None}
        speeds = [_moved_by(ends, kin.motion_in_rates.v(b.G), turning) for b in kin.system.bodies]
        body = next((b for b, axes in spins.items() if len(axes) > 1), None)
        if body is not None and all(_cancels(columns, d) for columns in (*spins.values(), *speeds)):
            names = " and ".join(_name(equations, kin.q[k]) for k in spins[body])
            return (
                f"approach to a singular attitude: {names} turn {body.name!r} about the same axis there, so their rates blow up while"
                f" the motion is smooth; describe the attitude by a quaternion, or by angles about other axes"
            )
    return None


def _moved_by(ends: Trajectory, v: Vector, rates: list[int]) -> dict[int, NDArray[np.float64]]:
    """∂v/∂q̇_k at the last state, those that are not zero."""
    kin = ends.kinematics
    parts = linear_parts(Linear(kin.tape, kin.qdot), v)[0]
    columns = {k: np.array([ends[kin.scalar(c)][-1] for c in parts[k].components(kin.system.N)]) for k in rates if k in parts}
    return {k: c for k, c in columns.items() if c.any()}


def _cancels(columns: dict[int, NDArray[np.float64]], d: NDArray[np.float64]) -> bool:
    """Whether Σ v_k d_k is nothing beside its terms."""
    terms = [d[k] * c for k, c in columns.items()]
    return not terms or bool(np.linalg.norm(np.sum(terms, axis=0)) < _NO_TURN * max(np.linalg.norm(x) for x in terms))


def warn_of_integrator_error(run: Trajectory, rtol: float) -> None:
    """A run that came to its end with a loose tolerance and on the way lost its energy integral."""
    if rtol >= _LOOSE and (blame := _integrator_error(run)):
        warn(f"{blame.strip()} than {rtol:g}, or energy_tolerance=")


def _integrator_error(run: Trajectory) -> str:
    """An explosion that E_Z shows to be no motion of the system."""
    if run.energy_audit is None or len(run) < 2:
        return ""
    lost = run.integrals.lost
    if not lost > _LOST or not run.integrals.model_is_right:
        return ""
    what = "this is the integrator's error, not the system's motion"
    return f"\n{what}: K₂ + 𝒰 + Z has changed by {lost:.0%} of itself; give a smaller rtol"


def _cause(run: Trajectory, equations: Equations) -> str | None:
    """What the matrices show at the last state."""
    ends = run.at(run.t[[0, -1]])
    first, M = (_mass_matrix(ends, equations, k) for k in (0, 1))
    # kilograms beside kg m²: measured by what each speed carries at the ends
    size = np.sqrt(np.maximum(np.abs(np.diag(first)), np.abs(np.diag(M))))
    scale = np.where(size > 0, size, 1.0)
    A = _unit_rows(ends, scale)
    # rows beside the equations determine what moves no mass
    K = M / np.outer(scale, scale) + A.T @ A
    values, vectors = np.linalg.eigh(K) if np.isfinite(K).all() else (np.ones(1), np.ones((1, 1)))
    if values[0] <= _SINGULAR:
        name = _name(equations, equations.u[int(np.argmax(np.abs(vectors[:, 0])))])
        return f"the mass matrix is singular there; nothing resists the speed {name} ({_without_inertia(run)})"
    fastest = int(np.argmax(np.abs(ends.qdot[-1])))
    others = float(np.max(np.abs(ends.u[-1]), initial=1.0))
    if abs(ends.qdot[-1][fastest]) > _LARGE * others:
        name = _name(equations, equations.q[fastest])
        return f"the rate of {name} grows without bound; other coordinates or speeds avoid such a singular position"
    return None


def _unit_rows(ends: Trajectory, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows beside the equations at the last state, each of length one."""
    kin = ends.kinematics
    A = np.zeros((len(kin.velocity_rows), kin.n_u))
    for j, row in enumerate(kin.velocity_rows):
        for r, a in row.A.items():
            A[j, r] = ends[kin.scalar(a)][-1] / scale[r]
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    unit: NDArray[np.float64] = A / np.where(lengths > 0.0, lengths, 1.0)
    return unit


def _off_the_rows(run: Trajectory, *, failed: bool) -> str | None:
    """Why no position satisfies the rows any more: found where the projection failed, or next to a dead point."""
    rows = _unit_rows(run.at(run.t[-1:]), np.ones(run.kinematics.n_u))
    if not len(rows) or not np.isfinite(rows).all():
        return None
    sizes = {name: float(np.max(np.abs(r))) for name, r in run.at(run.t[-1:]).residuals.items()}
    worst = max(sizes, key=lambda name: sizes[name])
    # of as many as are independent where the rows hold
    values, last = np.linalg.svd(rows, compute_uv=False), run.start.rank - sum(row.is_norm for row in run.kinematics.rows)
    near = float(values[max(min(last, len(values)), 1) - 1])
    if not failed and near >= _NEARLY_SINGULAR:
        return None
    place = "a singular position, a dead point" if near < _NEARLY_SINGULAR else "rows that contradict one another from there on"
    return f"{place} (smallest singular value of the rows {near:.1e}, largest residual {sizes[worst]:.1e} of {worst!r})"


def _without_inertia(run: Trajectory) -> str:
    """A member without polar inertia is a line: while it is straight it has no inertia about itself (Bar00 (62))."""
    lines = [m for m in run.system.members.values() if m.polar is None]
    if not lines:
        return "a body without inertia along it?"
    m = lines[0]
    return f"{m.kind} {m.name!r} is a line: while it is straight it has no inertia about itself; give it polar=, ρI_p per length"


def _mass_matrix(run: Trajectory, equations: Equations, k: int) -> NDArray[np.float64]:
    """WᵀMW at the k-th time."""
    n = len(equations.u)
    M = np.zeros((n, n))
    for r, row in enumerate(equations.M):
        for s, node in row.items():
            M[r, s] = run[equations.scalar(node)][k]
    symmetric: NDArray[np.float64] = (M + M.T) / 2
    return symmetric


def _name(equations: Equations, i: int) -> str:
    return label(str(equations.tape.nodes[i][1]))
