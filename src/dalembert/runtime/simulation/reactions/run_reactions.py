"""λ(t), the wrench in every joint, and the load behind every prescribed motion, found along a whole
run.

The multipliers of the rows follow from Lagrange's equations along q, Aᵀλ = d/dt ∂T/∂q̇ − ∂T/∂q +
∂V/∂q − Q, with the accelerations of the run; the wrenches in the joints from the balances of the
bodies cut free. Where rows repeat one another λ is the one of least Σ λ_j², each in the unit of its
row: the motion is the same for every other, and so is Aᵀλ.

Every free body is checked against its positions: the accelerations are then those of differentiated
positions and rotations, which the reactions were not made from. What a joint exerts along the
freedom it gives is zero, or what acts in it; the multipliers behind it come from Lagrange's
equations. So a load that was booked to the wrong body shows there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.balance import BalanceEquations
from dalembert.mechanics.kinetics.constraint_actions import multipliers, reaction_rows
from dalembert.mechanics.kinetics.free_bodies import joint_loads
from dalembert.mechanics.kinetics.reactions import (
    PrescribedMotion,
    PrescribedMotionLoads,
    Reactions,
    RowReaction,
    prescribed_motion_loads,
    reactions,
)
from dalembert.runtime.simulation.reactions.loads import (
    DriveLoad,
    JointLoad,
    RowLoad,
    RunReactions,
    units_of_loads,
)
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory


# singular values below this part of the largest are zero
_RANK: Final = 1e-9
_LOOSEST: Final = 1e-5
_FACTOR: Final = 1e3
# of A held at once by the solver
_MOST_NUMBERS: Final = 2_000_000
_GAUSS: Final = 5
_MOST_TIMES: Final = 200_000
# of the run's times at which the bodies are weighed
_BALANCE_TIMES: Final = 16


def run_reactions(run: Trajectory) -> RunReactions:
    """All reactions of a run at its times."""
    kin = run.kinematics.fork()
    table = functools.partial(_evaluate, run, kin.tape)
    driving_loads = prescribed_motion_loads(kin)
    lam, balance, is_shared = _multipliers(run, kin, driving_loads)
    symbolic_reactions = reactions(kin)
    moves = _is_rheonomic(kin, driving_loads)
    supplied = _supplied_power(kin, table, driving_loads, lam, moves=moves)
    drives = supplied.drives
    own = [k for k, row in enumerate(reaction_rows(kin)) if not row.is_norm]
    rows = {
        row.row: _row_load(run, symbolic_reactions, row, lam[k], supplied.of_rows[k])
        for k, row in zip(own, symbolic_reactions.rows, strict=True)
    }
    joints = _joint_wrenches(run, symbolic_reactions, lam[own])
    work = _integrate_power(run, kin.tape, driving_loads.power) if moves else np.zeros(len(run))
    off = functools.partial(body_balance_residual, run, lam) if joints else None
    loads: list[JointLoad | RowLoad | DriveLoad] = [
        *rows.values(),
        *joints.values(),
        *drives.values(),
    ]
    units = units_of_loads(loads, run.system.conjugate_unit) if run.system.has_units else {}
    why = symbolic_reactions.why_no_joints
    return RunReactions(
        run.system.name,
        run.t,
        joints,
        rows,
        drives,
        supplied.total,
        supplied.of_time,
        work,
        balance,
        is_shared,
        why,
        units,
        off,
    )


class _SuppliedPower(NamedTuple):
    """What moves by itself supplies: in all, by drives, by moving rows, and by explicit time."""

    total: FloatArray
    drives: dict[str, DriveLoad]
    of_rows: FloatArray
    of_time: FloatArray


def _supplied_power(
    kin: Kinematics,
    table: Callable[[Sequence[int]], FloatArray],
    driving_loads: PrescribedMotionLoads,
    lam: FloatArray,
    *,
    moves: bool,
) -> _SuppliedPower:
    """Powers at the times of the run."""
    # without anything that moves by itself only rounding would be left
    total = table([driving_loads.power])[0] if moves else np.zeros(lam.shape[1])
    drives = {
        d.name: _drive_load(table, d.name, d.rate, d.load, d.rows, lam)
        for d in driving_loads.drives
        if has_own_load(kin, d)
    }
    dust = _RANK * float(np.max(np.abs(total), initial=0.0))
    of_rows = (
        _zero_roundoff(lam * table(driving_loads.row_rates), dust) if moves else np.zeros_like(lam)
    )
    known = sum((d.power for d in drives.values()), np.sum(of_rows, axis=0))
    return _SuppliedPower(total, drives, of_rows, _zero_roundoff(total - known, dust))


def _zero_roundoff(x: FloatArray, dust: float) -> FloatArray:
    """Zero where nothing but rounding is left at any time, row by row."""
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    return np.where(largest > dust, x, 0.0)


def has_own_load(kin: Kinematics, drive: PrescribedMotion) -> bool:
    """A motion that only says how a row moves has no load of its own; the row has."""
    t = kin.tape
    return drive.load != t.zero or any(a != t.zero for a in drive.rows)


def _integrate_power(run: Trajectory, tape: Tape, power: int) -> FloatArray:
    """∫ P dt by Gauss's rule on the polynomials between the steps, or else by the trapezoidal
    rule.
    """
    t, count = run.t, len(run)
    if count < 2:
        return np.zeros(count)
    if not run.solution.has_full_dense_output or count * _GAUSS > _MOST_TIMES:
        P = _evaluate(run, tape, [power])[0]
        steps = np.diff(t) * (P[1:] + P[:-1]) / 2
    else:
        nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
        half, middle = np.diff(t) / 2, (t[1:] + t[:-1]) / 2
        fine = run.at((middle[:, np.newaxis] + half[:, np.newaxis] * nodes).ravel())
        steps = half * (_evaluate(fine, tape, [power])[0].reshape(-1, _GAUSS) @ weights)
    return np.concatenate([np.zeros(1), np.cumsum(steps)])


def _is_rheonomic(kin: Kinematics, needs: PrescribedMotionLoads) -> bool:
    """Whether a row moves, something is specified, or time enters the energies."""
    t = kin.tape
    own = {*kin.q, *kin.qdot, *kin.qddot}
    inside = symbols_of(t, (needs.power, *(row.b for row in kin.rows)))
    timed = any(i in t.moving and i not in own and i not in t.inputs for i in inside)
    return timed or any(row.b != t.zero for row in kin.rows) or bool(kin.nonlinear)


def _evaluate(run: Trajectory, tape: Tape, nodes: Sequence[int]) -> FloatArray:
    """Nodes of a tape as numbers along the run: a row for each, over the times."""
    return run.rows([Scalar(tape, i) for i in nodes]) if nodes else np.zeros((0, len(run)))


def _multipliers(
    run: Trajectory, kin: Kinematics, needs: PrescribedMotionLoads
) -> tuple[FloatArray, float, bool]:
    """λ of least norm with Aᵀλ = what the rows have to balance, at all times at once; the residual;
    whether rows repeat others.
    """
    n, m, length = kin.n_q, len(needs.A), len(run)
    left = _evaluate(run, kin.tape, needs.along_q).T
    if not m or not length:
        return np.zeros((m, length)), 0.0, False
    A = _evaluate(run, kin.tape, [a for row in needs.A for a in row]).T.reshape(length, m, n)
    if not (np.isfinite(A).all() and np.isfinite(left).all()):
        msg = (
            "the reactions of this run are not available: a row or a load has no finite value at "
            "one "
            "of its times"
        )
        raise BadExpression(msg)
    lam, rank = np.empty((length, m)), m
    # rows that repeat others where they hold do so only as nearly as they are held
    smallest = max(_RANK, min(_LOOSEST, _FACTOR * run.worst_residual))
    piece = max(1, _MOST_NUMBERS // (m * n))
    for begin in range(0, length, piece):
        part = slice(begin, begin + piece)
        lam[part], lowest = _min_norm_multipliers(A[part], left[part], smallest)
        rank = min(rank, lowest)
    remains = left - np.einsum("tmn,tm->tn", A, lam)
    size = float(np.abs(A * lam[:, :, np.newaxis]).max(initial=0.0))
    return lam.T, float(np.abs(remains).max()) / (size or 1.0), rank < m


def _min_norm_multipliers(
    A: FloatArray, left: FloatArray, smallest: float
) -> tuple[FloatArray, int]:
    """λ of least norm with Aᵀλ nearest to what is needed, time by time, and the lowest rank of
    A.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > smallest * s[:, :1]
    along = np.einsum("tkn,tn->tk", Vt, left)
    over = np.divide(along, s, out=np.zeros_like(s), where=kept)
    return np.einsum("tmk,tk->tm", U, over), int(kept.sum(axis=1).min())


def _drive_load(
    table: Callable[[Sequence[int]], FloatArray],
    name: str,
    rate: int,
    load: int,
    rows: Sequence[int],
    lam: FloatArray,
) -> DriveLoad:
    """τ = load − λᵀA_x, P = τ ẋ"""
    xdot, total, *A_x = table([rate, load, *rows])
    tau = total - sum((x * y for x, y in zip(lam, A_x, strict=True)), np.zeros(len(total)))
    return DriveLoad(name, tau, tau * xdot)


def _row_load(
    run: Trajectory,
    symbolic_reactions: Reactions,
    row: RowReaction,
    lam: FloatArray,
    power: FloatArray,
) -> RowLoad:
    nodes = [e.i for e in row.along.values()]
    vectors = [v for v in (row.force, row.moment) if v is not None]
    nodes += [c for v in vectors for c in v.components(run.system.N)]
    values = evaluate_with_multipliers(run, symbolic_reactions.tape, nodes, {row.multiplier.i: lam})
    along = dict(zip(row.along, values, strict=False))
    rest = iter(values[len(along) :])
    force = None if row.force is None else np.column_stack([next(rest) for _ in range(3)])
    moment = None if row.moment is None else np.column_stack([next(rest) for _ in range(3)])
    at = None if row.at is None else run[row.at - run.system.O]
    return RowLoad(row.row, lam, along, power, force, moment, at, row.on, row.against)


def _joint_wrenches(
    run: Trajectory, symbolic_reactions: Reactions, lam: FloatArray
) -> dict[str, JointLoad]:
    symbols = {row.multiplier.i: x for row, x in zip(symbolic_reactions.rows, lam, strict=True)}
    vectors: list[Vector] = [
        v for joint in symbolic_reactions.joints for v in (joint.force, joint.moment, joint.at)
    ]
    values = evaluate_with_multipliers(
        run,
        symbolic_reactions.tape,
        [c for v in vectors for c in v.components(run.system.N)],
        symbols,
    )
    tables = (
        iter(np.reshape(values, (len(vectors), 3, len(run))).transpose(0, 2, 1))
        if vectors
        else iter(())
    )
    loads: dict[str, JointLoad] = {}
    for joint in symbolic_reactions.joints:
        name = joint.joint if joint.joint not in loads else f"{joint.joint} ({len(loads)})"
        loads[name] = JointLoad(name, next(tables), next(tables), next(tables))
    return loads


def evaluate_with_multipliers(
    run: Trajectory,
    tape: Tape,
    nodes: Sequence[int],
    lam: Mapping[int, FloatArray],
    times: slice | IndexArray = slice(None),
) -> list[Any]:
    """c + Σ k_j λ_j for nodes that are linear in the multipliers, at some of the run's times."""
    linear = LinearCoefficients(tape, list(lam))
    forms = [linear(i) for i in nodes]
    wanted = list(dict.fromkeys(i for c, k in forms for i in (c, *k.values())))
    values = dict(zip(wanted, _evaluate(run, tape, wanted)[:, times], strict=True))
    columns = [x[times] for x in lam.values()]
    return [
        values[c] + sum((values[i] * columns[j] for j, i in k.items()), np.zeros_like(values[c]))
        for c, k in forms
    ]


def body_balance_residual(run: Trajectory, lam: FloatArray) -> float:
    """The largest residual of any body at some of the run's times, relative to the largest force or
    moment.
    """
    kin = run.kinematics.fork()
    balances = BalanceEquations(kin)
    parts = [
        balances.for_bodies([b for b, _ in g.masses], g.masses[0][0].G)
        for g in balances.groups.groups[1:]
        if g.masses
    ]
    N = kin.system.N
    left = [c for part in parts for v in (part.force, part.moment) for c in v.components(N)]
    scale = [
        c
        for part in parts
        for w in (part.inertia, part.loads, part.reactions)
        for v in w
        for c in v.components(N)
    ]
    chosen = np.unique(np.linspace(0, len(run) - 1, min(len(run), _BALANCE_TIMES)).astype(int))
    symbols = dict(zip(multipliers(kin), lam, strict=True))
    values = np.array(
        evaluate_with_multipliers(
            run, kin.tape, [*left, *_joint_axis_residuals(balances), *scale], symbols, chosen
        )
    )
    cut = len(values) - len(scale)
    largest = float(np.max(np.abs(values[cut:]), initial=0.0))
    return float(np.max(np.abs(values[:cut]), initial=0.0)) / (largest or 1.0)


def _joint_axis_residuals(balances: BalanceEquations) -> list[int]:
    """Σ f·v_k + μ·ω_k − τ_k − (Aᵀλ)_k of what acts in the joints, for every coordinate."""
    groups, kin, t = balances.groups, balances.kin, balances.kin.tape
    try:
        tau = joint_loads(groups)
    except NotApplicable:
        return []
    totals = [
        kin.scalar(kin.in_speeds(t.neg(tau[k])) if k in tau else t.zero) for k in range(kin.n_q)
    ]
    for group, wrench in balances.joints.items():
        for k, (v, w) in groups.joint_twists(group).items():
            totals[k] += v @ wrench.force + w @ wrench.moment
    for lam, row, action in zip(
        multipliers(kin), reaction_rows(kin), balances.actions, strict=True
    ):
        for k, a in row.A.items() if not (action.forces or action.moments) else ():
            totals[k] -= kin.scalar(lam) * kin.scalar(a)
    return [e.i for e in totals]
