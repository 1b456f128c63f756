"""q(t₀), u(t₀) in a page: the rows and conditions of `states.start` as functions, and which of the
start values are free to choose.

r(q, t) and J for the positions, C(q, t) u = d for the velocities, with the same conditions as the
recorded run; a free value that was not given becomes a condition when somebody changes it.
Coordinates that were given although the rows determine them from others are
first guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dalembert.errors import NotLinear
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.simulator.integrator_module import ModuleSection, expression_function
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.assembly import Assembler, perturbations
from dalembert.runtime.states.evaluator import Evaluator, Level, label
from dalembert.runtime.states.initial_values import (
    InitialCondition,
    PositionRow,
    default_coordinates,
    read_conditions,
)
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient

# singular values of rows of length one below this are zero
_RANK: Final = 1e-8


@dataclass(frozen=True)
class InitialValueField:
    """A start value that may be chosen: its name and recorded value, whether it was given, and
    the coordinate or speed it is (or −1).
    """

    name: str
    value: float
    given: bool
    q: int = -1
    u: int = -1


def initial_condition_functions(
    run: Trajectory, evaluator: Evaluator, given: Mapping[Any, Any]
) -> tuple[ModuleSection, tuple[InitialValueField, ...]]:
    """The functions `positions` and `velocities` with the rows and conditions of the start of a
    run, and the values that are free.
    """
    kin, start = evaluator.kin, run.start
    state = (*kin.state, evaluator.time)
    asked = read_conditions(evaluator, given, start.t)
    # first-order states begin at their given values, as coordinates that no row restrains
    places, q = (*kin.q, *kin.x), np.concatenate([start.q, start.x])
    place = {i: k for k, i in enumerate(places)}
    rows = [
        PositionRow(r.name, evaluator.in_state(r.phi), float(r.is_norm), r.is_norm)
        for r in kin.linear_rows
        if r.phi is not None
    ]
    own = len(rows)
    expressed = [c for c in asked if c.level is Level.POSITION and c.symbol not in place]
    rows += [PositionRow(c.name, c.node, c.value, is_given=True) for c in expressed]
    assembler = Assembler.from_rows(evaluator, rows, start.t)
    tape = evaluator.tape
    slopes = [i for row in rows for i in gradient(tape, {row.node: tape.one}, places)]
    directions = _pad_columns(
        _normalize_rows(assembler(start.q)[1]) if rows else np.zeros((0, kin.n_q)), len(q)
    )
    guessed = _dependent_coordinates(
        q, directions, [place[c.symbol] for c in asked if c.symbol in place]
    )
    asked = [c for c in asked if c.symbol not in place or place[c.symbol] not in guessed]
    bent = _dependent_speeds(evaluator, run, asked) if kin.nonlinear else {}
    asked = [c for c in asked if c.name not in bent]
    fields = [_given_field(evaluator, c, place) for c in asked]
    fields += _free_coordinates(
        [label(kin.name(i)) for i in places], q, directions, {f.q for f in fields} | set(guessed)
    )
    fast = [c for c in asked if c.level is Level.VELOCITY]
    fields += [f for f in _free_speeds(evaluator, run, fast) if f.name not in bent]
    velocity = [
        *(
            (f.name, k)
            for k, f in enumerate(fields)
            if f.q < 0 and f.name not in {c.name for c in expressed}
        )
    ]
    nodes = {c.name: c.node for c in fast} | {label(kin.name(i)): i for i in kin.u}
    table = [(name, nodes[name], k) for name, k in velocity] + [
        (r.row.name, evaluator.in_state(r.e), -1) for r in kin.velocity_rows
    ]
    lines = [_affine_in_speeds(evaluator, node) for _, node, _ in table]
    outs = [i for _, line in lines for i in line]
    names = {f.name: k for k, f in enumerate(fields)}
    data = {
        "q": [
            guessed.get(k, x)
            for k, x in enumerate([*default_coordinates(run.system).tolist(), *start.x.tolist()])
        ],
        "guess": {label(kin.name(places[k])): [k, x] for k, x in guessed.items()},
        "bent": {
            name: [kin.u.index(c.symbol), c.value]
            for name, c in bent.items()
            if c.symbol is not None
        },
        "t": start.t,
        "rows": [
            {
                "name": r.name,
                "target": r.target,
                "norm": r.is_norm,
                "field": names.get(r.name, -1) if k >= own else -1,
            }
            for k, r in enumerate(rows)
        ],
        "structure": _pad_columns(assembler.structure.astype(int), len(q)).tolist(),
        "nudges": _pad_columns(perturbations(kin.n_q), len(q)).tolist() if rows else [],
        "velocities": [
            {"name": name, "field": k, "curved": curved}
            for (name, _, k), (curved, _) in zip(table, lines, strict=True)
        ],
        "quaternions": _quaternions(run, evaluator, names),
        "between": {
            c.name: [c.name.rpartition(" ")[0], *(P.name for P in c.gap_points)]
            for c in run.system.constraints
            if c.gap_points
        },
        "augmented": bool(kin.multipliers),
    }
    parts = (
        expression_function("positions", tape, [*(r.node for r in rows), *slopes], state),
        expression_function("velocities", tape, outs, state),
    )
    return ModuleSection(parts, data), tuple(fields)


def _pad_columns(rows: Any, width: int) -> Any:
    """Rows over the coordinates, with zeros for the first-order states behind them."""
    return (
        np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]), dtype=rows.dtype)])
        if len(rows)
        else np.zeros((0, width))
    )


def _independent_rows(rows: FloatArray, more: FloatArray) -> list[bool]:
    """Which of further rows, one after another, say something that those before them do not."""
    rank, kept, independent = _rank(rows), rows, []
    for row in more:
        grown = np.vstack([kept, row])
        independent.append(_rank(grown) > rank)
        kept, rank = (grown, rank + 1) if independent[-1] else (kept, rank)
    return independent


def _rank(rows: FloatArray) -> int:
    return int(np.linalg.matrix_rank(rows, tol=_RANK)) if len(rows) else 0


def _dependent_coordinates(
    q: FloatArray, rows: FloatArray, given: Sequence[int]
) -> dict[int, float]:
    """{place: value} of given coordinates that the rows determine from those given before."""
    return {
        k: float(q[k])
        for k, new in zip(given, _independent_rows(rows, np.eye(len(q))[list(given)]), strict=True)
        if not new
    }


def _dependent_speeds(
    evaluator: Evaluator, run: Trajectory, asked: Sequence[InitialCondition]
) -> dict[str, InitialCondition]:
    """Given speeds that rows not linear in the rates determine from those given before: they only
    select the root.
    """
    fast = [c for c in asked if c.level is Level.VELOCITY]
    rows = _velocity_jacobian(
        evaluator, run, [evaluator.in_state(r.e) for r in evaluator.kin.velocity_rows]
    )
    slopes = _velocity_jacobian(evaluator, run, [c.node for c in fast])
    return {
        c.name: c
        for c, new in zip(fast, _independent_rows(rows, slopes), strict=True)
        if not new and c.symbol in evaluator.kin.u
    }


def _velocity_jacobian(evaluator: Evaluator, run: Trajectory, nodes: Sequence[int]) -> FloatArray:
    """∂e/∂u at the start of the run, rows of length one."""
    kin, start = evaluator.kin, run.start
    numbers = (*start.q.tolist(), *start.x.tolist(), *start.u.tolist())
    state = {**dict(zip(kin.state, numbers, strict=True)), evaluator.time: start.t}
    slopes = [
        i for node in nodes for i in gradient(evaluator.tape, {node: evaluator.tape.one}, kin.u)
    ]
    return _normalize_rows(evaluator.values_at(slopes, state).reshape(len(nodes), kin.n_u))


def _given_field(
    evaluator: Evaluator, c: InitialCondition, place: Mapping[int, int]
) -> InitialValueField:
    speeds = {i: k for k, i in enumerate(evaluator.kin.u)}
    q, u = (-1, -1) if c.symbol is None else (place.get(c.symbol, -1), speeds.get(c.symbol, -1))
    return InitialValueField(c.name, c.value, True, q, u)


def _free_coordinates(
    names: Sequence[str], q: FloatArray, rows: FloatArray, given: set[int]
) -> list[InitialValueField]:
    """Coordinates that the rows leave open besides those that were given, first declared first."""
    units, others = np.eye(len(q)), [k for k in range(len(q)) if k not in given]
    free = _independent_rows(np.vstack([rows, units[sorted(given - {-1})]]), units[others])
    return [
        InitialValueField(names[k], float(q[k]), False, q=k)
        for k, new in zip(others, free, strict=True)
        if new
    ]


def _free_speeds(
    evaluator: Evaluator, run: Trajectory, asked: Sequence[InitialCondition]
) -> list[InitialValueField]:
    """Speeds that rows and given velocities leave open."""
    kin, start = evaluator.kin, run.start
    rows = _velocity_jacobian(
        evaluator,
        run,
        [*(c.node for c in asked), *(evaluator.in_state(r.e) for r in kin.velocity_rows)],
    )
    free = enumerate(zip(kin.u, _independent_rows(rows, np.eye(kin.n_u)), strict=True))
    return [
        InitialValueField(label(kin.name(i)), float(start.u[k]), False, u=k)
        for k, (i, new) in free
        if new
    ]


def _normalize_rows(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    normalized: FloatArray = rows / np.where(lengths > 0, lengths, 1.0)
    return normalized


def _affine_in_speeds(evaluator: Evaluator, node: int) -> tuple[bool, list[int]]:
    """c and the coefficients of c + Σ a_r u_r; of what is not linear its value and its slopes,
    marked as curved.
    """
    tape, u = evaluator.tape, evaluator.kin.u
    try:
        constant, coefficients = LinearCoefficients(tape, u)(node)
    except NotLinear:
        return True, [node, *gradient(tape, {node: tape.one}, u)]
    return False, [constant, *(coefficients.get(r, tape.zero) for r in range(len(u)))]


def _quaternions(
    run: Trajectory, evaluator: Evaluator, names: Mapping[str, int]
) -> list[dict[str, Any]]:
    """The fields of every quaternion that is given whole, and of its rates: they are divided by
    its length.
    """
    groups = []
    for F in run.system.space.frames:
        if isinstance(F.rotation, Quaternion):
            e = [label(evaluator.kin.name(i)) for i in F.rotation.e]
            if all(name in names for name in e):
                rates = [names[f"{name}.dot"] for name in e if f"{name}.dot" in names]
                groups.append({"frame": F.name, "e": [names[name] for name in e], "rates": rates})
    return groups
