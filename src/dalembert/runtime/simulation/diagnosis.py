"""Diagnosis of a run: why it stops, in the system's own terms, or where its accuracy suffers.

q̇ = W u + X near a position where W grows without bound; a motion so small that the absolute
tolerance decides about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import split_linear
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.ode.failures import (
    Cause,
    LikelyCause,
    NoProgress,
    NotFinite,
    ProjectionFailed,
    RunStopped,
    StepCollapsed,
    energy_message,
)
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.runtime.states.run_values import RunValues, parameter_vector
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.runtime.ode.constrained.constrained_rates import Workspace
    from dalembert.runtime.simulation.energy_audit import BoundAudit
    from dalembert.runtime.simulation.trajectory import Trajectory


_SINGULAR: Final = 1e-9
_LARGE: Final = 1e6
# entries of W, times a speed
_STEEP: Final = 300.0
# of E_Z, which no motion changes
_LOST: Final = 0.1
# only runs with looser tolerances are checked at their end, which takes time
_LOOSE: Final = 1e-5
# allowed energy error in tolerances; no tolerance is smaller than the rounding of a long run
EXCESSIVE: Final = 300.0
_RESOLVED: Final = 1e-12
# of the energies: these are quadratic, and a norm of errors is a mean over all components
_TOLERANCES_PER_STEP: Final = 10.0
_NEARLY_SINGULAR: Final = 1e-3
# of the time of a run: through a singular position it is less by orders of magnitude
_LONG: Final = 1e-3
# of the largest slope of a row; of the largest coordinates, or speeds
_FALLEN: Final = 1e-5
_APART: Final = 1e-5
# how much of the turning a direction of the rates may leave where angles are singular, and from
# where on a rate counts in it
_NO_TURN: Final = 1e-3
_COUNTS: Final = 0.1


def explain_failure(failure: RunStopped, equations: Equations) -> None:
    """Add the state by name and the likely cause: a singular WᵀMW, or rates that the speeds do
    not determine there.
    """
    run = failure.trajectory
    if run is None or not len(run):
        return
    failure.names, failure.values = tuple(run.names), tuple(run.y[-1].tolist())
    attitude = (
        _gimbal_lock(run, equations)
        if isinstance(failure, NoProgress | StepCollapsed | NotFinite)
        else None
    )
    if attitude is not None:
        failure.cause, failure.facts = attitude.cause, {**failure.facts, **attitude.facts}
        return
    failure.energy_lost = _energy_lost(run)
    likely = _constraint_cause(
        run, failed=isinstance(failure, ProjectionFailed)
    ) or _singularity_cause(run, equations)
    if likely is None and isinstance(failure, NotFinite):
        likely = LikelyCause(Cause.INFINITE_LOAD, {})
    failure.likely = None if failure.energy_lost else likely


def _gimbal_lock(run: Trajectory, equations: Equations) -> LikelyCause | None:
    """Two angles that turn a body about one axis, so that their rates grow or shrink without the
    body's doing anything.

    Along the fastest rates, or along those that nothing resists, ω = Σ ω_k q̇_k vanishes though no
    ω_k does.
    """
    ends = run.at(run.t[-1:])
    kin = ends.kinematics
    values, vectors = np.linalg.eigh(_mass_matrix(ends, equations))
    W = _evaluate_matrix(ends, kin.tape, [row for _, row in kin.WX], kin.n_u)
    least = W @ vectors[:, int(np.argmin(np.abs(values)))]
    for direction in (ends.qdot[0], least):
        d = direction / max(float(np.abs(direction).max()), np.finfo(float).tiny)
        turning = [k for k in range(kin.n_q) if abs(d[k]) > _COUNTS]
        spins = {
            b: _partial_velocities(ends, kin.motion_in_rates.w(b.frame), turning)
            for b in kin.system.bodies
            if b.frame is not None
        }
        speeds = [
            _partial_velocities(ends, kin.motion_in_rates.v(b.G), turning)
            for b in kin.system.bodies
        ]
        body = next((b for b, axes in spins.items() if len(axes) > 1), None)
        if body is not None and all(_cancels(columns, d) for columns in (*spins.values(), *speeds)):
            names = " and ".join(_name(equations, kin.q[k]) for k in spins[body])
            return LikelyCause(Cause.SINGULAR_ATTITUDE, {"angles": names, "body": body.name})
    return None


def _partial_velocities(ends: Trajectory, v: Vector, rates: list[int]) -> dict[int, FloatArray]:
    """∂v/∂q̇_k at the last state, those that are not zero."""
    kin = ends.kinematics
    parts = split_linear(LinearCoefficients(kin.tape, kin.qdot), v)[0]
    columns = {
        k: np.array([ends[kin.scalar(c)][-1] for c in parts[k].components(kin.system.N)])
        for k in rates
        if k in parts
    }
    return {k: c for k, c in columns.items() if c.any()}


def _cancels(columns: dict[int, FloatArray], d: FloatArray) -> bool:
    """Whether Σ v_k d_k is negligible relative to its terms."""
    terms = [d[k] * c for k, c in columns.items()]
    return not terms or bool(
        np.linalg.norm(np.sum(terms, axis=0)) < _NO_TURN * max(np.linalg.norm(x) for x in terms)
    )


def warn_of_integrator_error(
    run: Trajectory, rtol: float, atol: ArrayLike, *, stiff: bool = False
) -> None:
    """Warn about a completed run that did not keep its energy integral.

    A stiff solver steps over the powers of stiff loads, so Z may be wrong though the motion is not.
    """
    if rtol >= _LOOSE and (lost := _energy_lost(run)):
        warn(f"{energy_message(lost)} than {rtol:g}, or energy_tolerance=")
        return
    _warn_of_energy_error(run, rtol, atol, stiff=stiff)


def _warn_of_energy_error(run: Trajectory, rtol: float, atol: ArrayLike, *, stiff: bool) -> None:
    """Warn where the energy error is larger than the tolerances explain."""
    if run.energy_audit is None or len(run) < 2:
        return
    drift, scale = run.integrals.drift, run.integrals.largest_energies
    if not np.isfinite(drift):
        when = run.t[int(np.argmin(np.isfinite(run.integrals.E_Z)))]
        warn(
            f"the energy audit of this run has no value from t = {when:.6g} on: an energy or a "
            "power is not a real number there"
        )
        return
    tolerance, allowed = allowed_energy_error(run, rtol, atol)
    if drift <= allowed:
        return
    relative = drift / scale
    meaning = _meaning_of_error(run, relative / tolerance, stiff=stiff)
    warn(
        f"the energy error is {relative:.1e} of the energies, {relative / tolerance:.0e} times the "
        f"tolerance: {meaning}"
    )


def keeps_energy(run: Trajectory, watched: BoundAudit, rtol: float) -> bool:
    """Whether native code finds less than half of the allowed energy error, so that no warning is
    due; False where that is not known.
    """
    if rtol >= _LOOSE or run.sampled is not None or run.values.callback_inputs:
        return False
    t, y = run.solution.t, run.solution.y
    errors = watched.largest_errors(t, y)
    if errors is None:
        return False
    drift, energies = errors
    # the relative tolerance alone clears most runs
    return drift < 0.5 * EXCESSIVE * max(rtol, _RESOLVED) * energies


def allowed_energy_error(run: Trajectory, rtol: float, atol: ArrayLike) -> tuple[float, float]:
    """The relative tolerance of the energies, and the largest energy error without a warning."""
    size, largest = float(np.max(np.abs(run.y), initial=0.0)), float(np.max(atol))
    tolerance = energy_tolerance_unit(rtol, largest / size if size else 0.0)
    # at rest all energies are rounding: what the absolute tolerance allows is no error
    return tolerance, max(EXCESSIVE * tolerance * run.integrals.largest_energies, largest)


def _meaning_of_error(run: Trajectory, tolerances: float, *, stiff: bool) -> str:
    """Every step may be wrong by some tolerances; more than their sum is another motion."""
    row, steps = _violated_row(run), run.solution.steps
    if tolerances <= _TOLERANCES_PER_STEP * steps and not row:
        return f"the local errors of {steps} steps may add up to this; give a smaller rtol"
    stiffness = ", or the steps do not resolve the powers of its stiff loads" if stiff else ""
    return (
        f"this is not the system's motion{stiffness}{row}; start elsewhere, or give a smaller "
        "rtol or energy_tolerance="
    )


def energy_tolerance_unit(rtol: float, atol: float) -> float:
    """The tolerance by which a relative energy error is measured; none is less than rounding."""
    return max(rtol, _RESOLVED, atol)


def _violated_row(run: Trajectory) -> str:
    """The constraint row that is violated most, where one is."""
    residuals = {name: np.abs(r) for name, r in run.residuals.items()}
    largest = {name: float(np.max(r, initial=0.0)) for name, r in residuals.items()}
    worst = max(largest, key=largest.__getitem__, default=None)
    if worst is None or not largest[worst] > _APART:
        return ""
    when = run.t[int(np.argmax(residuals[worst] > largest[worst] / 2))]
    return (
        f" ({worst!r} is violated by {largest[worst]:.2g} from t = {when:.6g} on, where its slope "
        "may vanish or have a pole)"
    )


def warn_dropped_rows(run: Trajectory, space: Workspace) -> bool:
    """A row that was taken for one near a singular position, since its slope fell, and that the
    motion has left; whether there is one.
    """
    longest, row = space.longest_violation
    if not longest or longest < _LONG * abs(run.solution.t[-1] - run.solution.t[0]):
        return False
    n_q, n = space.rates.layout.n_q, space.rates.layout.n
    q, z = run.solution.y[:, :n_q], run.solution.y[:, n_q : n_q + n]
    rows = space.rates.rows(np.column_stack([q, z, run.solution.t]), space.p)
    slopes = np.abs(rows["A"][:, row]).sum(axis=1)
    fallen = (slopes > 0.0) & (slopes < _FALLEN * slopes.max())
    # a motion that comes to rest in a singular position leaves a row by less than matters in the
    # motion as a whole
    gaps = [(rows["phi"], q), (rows["e"], z)]
    if not fallen.any() or all(
        np.median(np.abs(a[fallen, row]) / slopes[fallen]) <= _APART * np.abs(x).max()
        for a, x in gaps
    ):
        return False
    name = run.kinematics.velocity_rows[row].row.name
    warn(
        f"{name!r} does not hold for a time of {longest:.3g}: its slope has fallen below 1e-5 of "
        f"its largest, as it"
        " does near a singular position, and the motion leaves it; where the row has a factor "
        "that becomes small, as in"
        " exp(6*x)*(z - x**2), leave out the factor"
    )
    return True


def warn_of_lost_rank(run: Trajectory, space: Workspace, rtol: float, atol: ArrayLike) -> bool:
    """Warn where constraint rows are violated relative to their terms, with the least rank of the
    rows along the run; whether they are.

    |e_j| ≤ max(ε max (Σ |A_jk z_k| + |b_j|), |A_j| atol), e = A z + b: a row that has a pole, or
    that the motion carries to a position where its slope vanishes, is dropped there.
    """
    n_q, n, m = space.rates.layout.n_q, space.rates.layout.n, space.rates.layout.m
    y, t = run.solution.y, run.solution.t
    if not m or len(t) < 2:
        return False
    z = y[:, n_q : n_q + n]
    rows = space.rates.rows(np.column_stack([y[:, :n_q], z, t]), space.p)
    A, e = rows["A"], np.abs(rows["e"])
    terms = np.abs(A * z[:, None, :]).sum(axis=2) + np.abs(rows["e"] - (A @ z[:, :, None])[..., 0])
    allowed = max(_APART, EXCESSIVE * rtol) * terms.max(axis=0)
    if not (e > allowed).any():
        return False
    # where nothing moves all terms are rounding: speeds within their tolerance violate no row
    still = np.median(np.linalg.norm(A, axis=2), axis=0) * float(np.max(atol))
    allowed = np.maximum(allowed, still)
    violated = e > allowed
    if not violated.any():
        return False
    first = int(np.argmax(violated.any(axis=1)))
    row = int(np.argmax(e[first] - allowed))
    at, rank = _least_rank(A, max(first - 1, 0))
    name = run.kinematics.velocity_rows[row].row.name
    warn(
        f"constraint row {name!r} is violated from t = {t[first]:.6g} on, by up to "
        f"{e[:, row].max():.2g}: the constraint rows have a pole or lose rank at "
        f"t = {t[at]:.6g} (smallest relative singular value {rank:.1e}); end the run before it, or "
        f"write the constraint without a pole"
    )
    return True


def _least_rank(A: FloatArray, until: int) -> tuple[int, float]:
    """(index, σ): where the rows, relative to their largest lengths, are nearest to dependence,
    from the start to one step behind the index.
    """
    lengths = np.linalg.norm(A, axis=2).max(axis=0)
    unit = A[: until + 3] / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    sigma = np.linalg.svd(unit, compute_uv=False)[:, -1]
    k = int(np.argmin(sigma))
    return k, float(sigma[k])


def _energy_lost(run: Trajectory) -> float:
    """The part of E_Z that changed in an explosion that is no motion of the system; 0 where it
    may be one.
    """
    if run.energy_audit is None or len(run) < 2:
        return 0.0
    lost = float(run.integrals.relative_loss)
    return lost if lost > _LOST and run.integrals.is_model_consistent else 0.0


def _singularity_cause(run: Trajectory, equations: Equations) -> LikelyCause | None:
    """What the matrices show at the last state."""
    ends = run.at(run.t[[0, -1]])
    first, M = (_mass_matrix(ends, equations, k) for k in (0, -1))
    # kilograms next to kg m²: measured by what each speed carries at the ends
    size = np.sqrt(np.maximum(np.abs(np.diag(first)), np.abs(np.diag(M))))
    scale = np.where(size > 0, size, 1.0)
    A = _normalized_rows(ends, scale)
    # rows in augmented form determine what moves no mass
    K = M / np.outer(scale, scale) + A.T @ A
    values, vectors = np.linalg.eigh(K) if np.isfinite(K).all() else (np.ones(1), np.ones((1, 1)))
    if values[0] <= _SINGULAR:
        name = _name(equations, equations.u[int(np.argmax(np.abs(vectors[:, 0])))])
        return LikelyCause(
            Cause.SINGULAR_MASS_MATRIX, {"speed": name, "why": _missing_inertia_hint(run)}
        )
    fastest = int(np.argmax(np.abs(ends.qdot[-1])))
    others = float(np.max(np.abs(ends.u[-1]), initial=1.0))
    if abs(ends.qdot[-1][fastest]) > _LARGE * others:
        return LikelyCause(
            Cause.UNBOUNDED_RATE, {"coordinate": _name(equations, equations.q[fastest])}
        )
    return None


def _normalized_rows(ends: Trajectory, scale: FloatArray) -> FloatArray:
    """The rows in augmented form at the last state, each of length one."""
    kin = ends.kinematics
    A = _evaluate_matrix(ends, kin.tape, [row.A for row in kin.velocity_rows], kin.n_u) / scale
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    unit: FloatArray = A / np.where(lengths > 0.0, lengths, 1.0)
    return unit


def _constraint_cause(run: Trajectory, *, failed: bool) -> LikelyCause | None:
    """Why no position satisfies the rows any more: found where the projection failed, or next to
    a dead point.
    """
    rows = _normalized_rows(run.at(run.t[-1:]), np.ones(run.kinematics.n_u))
    if not len(rows) or not np.isfinite(rows).all():
        return None
    sizes = {name: float(np.max(np.abs(r))) for name, r in run.at(run.t[-1:]).residuals.items()}
    worst = max(sizes, key=lambda name: sizes[name])
    # of as many as are independent where the rows hold
    values, last = (
        np.linalg.svd(rows, compute_uv=False),
        run.start.rank - sum(row.is_norm for row in run.kinematics.rows),
    )
    near = float(values[max(min(last, len(values)), 1) - 1])
    if not failed and near >= _NEARLY_SINGULAR:
        return None
    cause = Cause.DEAD_POINT if near < _NEARLY_SINGULAR else Cause.CONTRADICTING_ROWS
    return LikelyCause(cause, {"least": near, "residual": sizes[worst], "row": worst})


def _missing_inertia_hint(run: Trajectory) -> str:
    """A member without polar inertia is a line: while it is straight it has no inertia about
    itself (Bar00 (62)).
    """
    lines = [m for m in run.system.members.values() if m.polar is None]
    if not lines:
        return "a body without inertia along it?"
    m = lines[0]
    return (
        f"{m.kind} {m.name!r} is a line: while it is straight it has no inertia about itself; "
        f"give it polar=, ρI_p per length"
    )


def _evaluate_matrix(
    run: Trajectory, tape: Tape, rows: Sequence[Mapping[int, int]], width: int, k: int = -1
) -> FloatArray:
    """A sparse matrix of nodes at the k-th time, by default the last."""
    matrix = np.zeros((len(rows), width))
    for r, row in enumerate(rows):
        matrix[r, list(row)] = run.rows([Scalar(tape, i) for i in row.values()])[:, k]
    return matrix


def _mass_matrix(run: Trajectory, equations: Equations, k: int = -1) -> FloatArray:
    """WᵀMW at the k-th time."""
    M = _evaluate_matrix(run, equations.tape, equations.mass_nodes, len(equations.u), k)
    symmetric: FloatArray = (M + M.T) / 2
    return symmetric


def _name(equations: Equations, i: int) -> str:
    return label(str(equations.tape.nodes[i][1]))


@dataclass(frozen=True)
class _SingularEntries:
    """The entries of W that depend on the position, and the name of the coordinate in whose row
    each stands.
    """

    entries: CompiledFunction
    parameters: tuple[int, ...]
    names: tuple[str, ...]


_SUSPECTS: Final = PerOwnerCache[_SingularEntries | None]()


def warn_of_singular_speeds(run: Trajectory) -> bool:
    """Warn where the run passed close to positions in which the speeds no longer determine the
    rates; whether it did.
    """
    values = run.values
    suspects = _SUSPECTS(values.kin, values.binding_key, lambda: _singular_entries(values))
    if suspects is None:
        return False
    p = parameter_vector(values, suspects.parameters)
    y, t = run.state_rows, run.t
    states = np.empty((len(t), y.shape[1] + 1))
    states[:, :-1], states[:, -1] = y, t
    entries = suspects.entries.at_states(states, p)
    # for most this is all there is to see
    if entries.max() <= _STEEP and entries.min() >= -_STEEP:
        return False
    size = np.abs(entries)
    largest = size.max(axis=0)
    suspicious = (largest > _STEEP * np.maximum(1.0, size.min(axis=0))).nonzero()[0]
    if suspicious.size:
        worst = suspicious[np.argmax(largest[suspicious])]
        msg = (
            f"near t = {run.t[np.argmax(size[:, worst])]:.6g} the rate of {suspects.names[worst]} "
            f"is {largest[worst]:.0e} times a speed: "
            f"the speeds are singular close to that position, and energy drifted by "
            f"{_drift(run):.0e}; declare speeds that stay regular "
            "there (s.speeds), or none: then all rates are kept; where angles are singular, use a "
            "quaternion"
        )
        warn(msg)
    return bool(suspicious.size)


def _singular_entries(values: RunValues) -> _SingularEntries | None:
    """Compiled on a tape of their own; None where W depends on no coordinate."""
    evaluator = Evaluator(values.kin, values.numbers, values.bindings)
    kin, tape = evaluator.kin, evaluator.tape
    inside = [(q, w) for q, (_, W) in zip(kin.q, kin.WX, strict=True) for w in W.values()]
    moving = [
        (q, evaluator.in_state(w))
        for q, w in inside
        if not set(kin.q).isdisjoint(symbols_of(tape, (w,)))
    ]
    if not moving:
        return None
    nodes, state = [w for _, w in moving], (*kin.state, evaluator.time)
    parameters = tuple(i for i in symbols_of(tape, nodes) if i not in state)
    return _SingularEntries(
        CompiledFunction(tape, nodes, state, parameters),
        parameters,
        tuple(label(kin.name(q)) for q, _ in moving),
    )


def _drift(run: Trajectory) -> float:
    """The drift of K₂ + 𝒰 + Z, or where it was not carried along that of T + V."""
    return run.energy_drift if run.energy_audit is None else run.integrals.relative_drift


# no warning if the motion and the tolerance differ by this factor
_DIGITS: Final = 1e3


def warn_of_small_motion(run: Trajectory, rtol: float, atol: ArrayLike) -> None:
    """Where every coordinate and speed stays near the absolute tolerance their errors are not
    those that rtol promises.
    """
    if (type(atol) is not float and np.ndim(atol)) or not len(run):
        return
    tolerance = atol if type(atol) is float else float(np.asarray(atol))
    # most motions begin large enough, and need not be looked at to their end
    if (
        max(map(abs, (*run.start.q.tolist(), *run.start.u.tolist())), default=0.0)
        >= _DIGITS * tolerance
    ):
        return
    largest = float(np.max(np.abs(run.y), initial=0.0))
    if 0.0 < largest < _DIGITS * tolerance and rtol * largest < tolerance:
        wanted = f"{10.0 ** np.floor(np.log10(largest * 1e-9)):.0e}"
        warn(
            f"all coordinates and speeds stay below {largest:.1e}, where the absolute tolerance "
            f"atol = {tolerance:g} decides and "
            f"relative errors may be large; give atol={wanted}, or larger units"
        )
