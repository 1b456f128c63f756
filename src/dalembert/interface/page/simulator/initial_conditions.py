"""q(t₀), u(t₀) in a page: the native search for initial conditions with the rows and conditions
of a run, and which of the initial values are free to choose.

A free value that was not given becomes a condition when somebody changes it. Coordinates that were
given although the rows determine them from others are first guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.simulator.integrator_module import (
    ModuleSection,
    field_types,
    names,
    recompile_for_wasm,
)
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.assembly import Assembler
from dalembert.runtime.states.assembly_ir import PROBLEM_FIELDS
from dalembert.runtime.states.evaluator import Evaluator, Level, label
from dalembert.runtime.states.initial_form import InitialForm, build_form
from dalembert.runtime.states.initial_solver import (
    TABLES,
    initial_solver_ir,
    problem_sizes,
    problem_structure,
    scratch_sizes,
)
from dalembert.runtime.states.initial_values import (
    GivenQuantity,
    InitialCondition,
    PositionRow,
    read_conditions,
    read_quantity,
)
from dalembert.symbolic.algebra.expression_graph import gradient

_PREFIX: Final = "initial"
_EXPORTS: Final = ("solve_start", "place_targets", "evaluate", "assemble", "consistent", "least")
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
    """The native search for initial conditions with all its functions, and the values that are
    free.

    Every value that may be chosen is a condition of the form; the page leaves out those that are
    not given.
    """
    start = run.start
    asked = read_conditions(evaluator, given, start.t)
    quantities = {x.name: x for x in (read_quantity(evaluator, key, "start") for key in given)}
    fields, guessed, bent = _free_values(run, evaluator, asked)
    chosen = tuple(
        quantities[f.name] if f.name in quantities else _free_quantity(evaluator, f) for f in fields
    )
    form = build_form(evaluator, chosen, ())
    tape = evaluator.tape
    parts = [
        recompile_for_wasm(name, arrays.function, names(tape, arrays.parameters))
        for name, arrays in (("conditions", form.at_position), ("nonlinear", form.at_state))
        if arrays.function is not None
    ]
    data = {
        **_problem_data(form),
        "t": start.t,
        "q": [*form.default_q.tolist(), *start.x.tolist()],
        "states": list(names(tape, evaluator.kin.x)),
        "guess": {name: [k, x] for name, (k, x) in guessed.items()},
        "bent": {name: [k, x] for name, (k, x) in bent.items()},
        "quaternions": _quaternions(run, evaluator, {f.name: k for k, f in enumerate(fields)}),
        "between": _gap_points(run),
    }
    exports = tuple(f"{_PREFIX}.{name}" for name in _EXPORTS)
    return ModuleSection(tuple(parts), data, ((_PREFIX, initial_solver_ir()),), exports), fields


def _gap_points(run: Trajectory) -> dict[str, list[str]]:
    """Of constraints between two points the name and those of the points."""
    return {
        c.name: [c.name.rpartition(" ")[0], *(P.name for P in c.gap_points)]
        for c in run.system.constraints
        if c.gap_points
    }


def _free_quantity(evaluator: Evaluator, f: InitialValueField) -> GivenQuantity:
    """A coordinate, first-order state or speed that was not given."""
    kin = evaluator.kin
    symbol = (*kin.q, *kin.x)[f.q] if f.q >= 0 else kin.u[f.u]
    level = Level.POSITION if f.q >= 0 else Level.VELOCITY
    return GivenQuantity(f.name, symbol, symbol, level, symbol, is_angle=False)


def _problem_data(form: InitialForm) -> dict[str, Any]:
    """The structure of the search: sizes, tables and arrays by field, and the names of rows and
    conditions.
    """
    sizes = problem_sizes(form)
    arrays = {name: np.asarray(x) for name, x in problem_structure(form).items()}
    tables = {
        memory: {
            "constants": table.template.tolist(),
            "places": table.places.tolist(),
            "arrays": {name: list(table.shapes[name][:2]) for name in TABLES[memory]},
        }
        for memory, table in (("D", form.at_position), ("e", form.at_state))
    }
    return {
        "fields": field_types(PROBLEM_FIELDS),
        "sizes": sizes,
        # floating-point arrays
        "numbers": {name: arrays.pop(name).ravel().tolist() for name in ("own_target", "nudges")},
        "indices": {name: x.astype(int).ravel().tolist() for name, x in arrays.items()},
        "scratch": scratch_sizes(sizes),
        "tables": tables,
        "rows": [r.name for r in form.rows],
        "velocities": [
            *(form.conditions[k].name for k in form.velocities),
            *(c.name for c in form.constraint_rows),
        ],
        "first_order": [list(pair) for pair in form.first_order],
    }


# {name: (place, value)}
_Guesses: TypeAlias = dict[str, tuple[int, float]]


def _free_values(
    run: Trajectory, evaluator: Evaluator, asked: list[InitialCondition]
) -> tuple[tuple[InitialValueField, ...], _Guesses, _Guesses]:
    """The values that may be chosen; {name: (place, value)} of given coordinates and speeds that
    the rows determine from the others, which only select the root.
    """
    kin, start = evaluator.kin, run.start
    # first-order states begin at their given values, as coordinates that no row restrains
    places, q = (*kin.q, *kin.x), np.concatenate([start.q, start.x])
    place = {i: k for k, i in enumerate(places)}
    rows = _position_rows(evaluator, asked, place)
    slopes = (
        Assembler.from_rows(evaluator, rows, start.t)(start.q)[1]
        if rows
        else np.zeros((0, kin.n_q))
    )
    directions = _pad_columns(_normalize_rows(slopes), len(q))
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
    return (
        tuple(fields),
        {label(kin.name(places[k])): (k, x) for k, x in guessed.items()},
        {
            name: (kin.u.index(c.symbol), c.value)
            for name, c in bent.items()
            if c.symbol is not None
        },
    )


def _position_rows(
    evaluator: Evaluator, asked: list[InitialCondition], place: dict[int, int]
) -> list[PositionRow]:
    """Constraint rows, and given expressions of positions, as rows."""
    rows = [
        PositionRow(r.name, evaluator.in_state(r.phi), float(r.is_norm), r.is_norm)
        for r in evaluator.kin.linear_rows
        if r.phi is not None
    ]
    return rows + [
        PositionRow(c.name, c.node, c.value, is_given=True)
        for c in asked
        if c.level is Level.POSITION and c.symbol not in place
    ]


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
