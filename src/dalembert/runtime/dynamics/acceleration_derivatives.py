"""∂u̇/∂(q, u, loads, …): link by link for open trees, otherwise through M u̇ = f or the
saddle-point equations.

Trees with few degrees of freedom are written out; beyond, the generic kernel keeps the code short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.caching import PerOwnerCache
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.derivatives.column_function import ColumnFunction
from dalembert.runtime.derivatives.parts import ImplicitPart, Part, Symbols, TreePart
from dalembert.runtime.derivatives.sparse import Slopes, forward_slopes
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.derivatives.tree_columns import Column as Entries
from dalembert.runtime.derivatives.tree_columns import TreeColumns
from dalembert.runtime.derivatives.tree_tables import TreeTables, tree_tables
from dalembert.runtime.dynamics.compile import forward_dynamics_of
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix

# degrees of freedom up to which pairs and columns are written out as nodes
_WRITTEN_OUT: Final = 10
_TABLES: Final = PerOwnerCache[TreeTables | None]()


def equations_of_motion(kin: Kinematics) -> tuple[Kinematics, tuple[int, ...], tuple[int, ...]]:
    """The kinematics with their tape, residuals r(q, u, u̇, λ) and their unknowns: M u̇ − f − Aᵀλ,
    and Ȧ rows that are held.
    """
    loads = required_loads(kin)
    if loads.route == "link by link":
        return loads.kinematics, loads.nodes, kin.udot
    results = cached_derivation(derive_equations_of_motion, kin)
    fork = kin.fork(results.equations.tape)
    t, r = fork.tape, Column(fork.tape, results.equations.residuals)
    A = SparseMatrix(t, (row.A for row in fork.velocity_rows), len(r))
    r = r - A.T @ Column(t, fork.multipliers)
    rows = [fork.in_speeds(fork.rate(row.e)) for row in fork.velocity_rows]
    return fork, (*r, *rows), (*kin.udot, *kin.multipliers)


def load_variable(speed: int) -> int:
    """The generalized load along the speed of this number, as a variable: a negative number, since
    it is no symbol.
    """
    return -1 - speed


def acceleration_part(kin: Kinematics, symbols: Symbols, bindings: Mapping[int, int]) -> Part:
    """u̇ with its derivatives by symbols and by generalized loads; `bindings` are expressions of
    prescribed motions.
    """
    fork, residuals, unknowns = equations_of_motion(kin)
    t = fork.tape.fork()
    insert = Substitution(
        t, dict(zip(bindings, copy_expressions(kin.tape, t, [*bindings.values()]), strict=True))
    )
    whole = [*map(insert, residuals)]
    loads = {
        x: t.private_symbol(f"load along {kin.name(kin.u[-1 - x])}") for x in symbols.wrt if x < 0
    }
    for x, tau in loads.items():
        whole[-1 - x] = t.sub(whole[-1 - x], tau)
    own = replace(symbols, wrt=tuple(loads.get(x, x) for x in symbols.wrt))
    implicit = ImplicitPart(t, whole, unknowns, own, len(kin.udot), tuple(loads.values()))
    tables = None if bindings else link_tables(kin)
    return implicit if tables is None else _tree_part(kin, tables, symbols, implicit)


def link_tables(kin: Kinematics) -> TreeTables | None:
    """The tables of an open tree; None for other systems."""
    return _TABLES(kin, None, lambda: _tables(kin))


def _tables(kin: Kinematics) -> TreeTables | None:
    try:
        return tree_tables(kin)
    except (NotApplicable, BadExpression):
        return None


def _tree_part(
    kin: Kinematics, tables: TreeTables, symbols: Symbols, implicit: ImplicitPart
) -> TreePart:
    equations = forward_dynamics_of(kin)
    tape = tables.tape
    known = (*kin.q, *kin.u)
    extra = tuple(x for x in symbols.wrt if x not in known)
    columns = _extra_columns(kin, tables, extra)
    slopes: TapeFunction | ColumnFunction
    order = [tables.speeds.index(u) for u in kin.u]
    if len(kin.u) <= _WRITTEN_OUT:
        whole = _written_out(tables, symbols.wrt, dict(zip(extra, columns, strict=True)))
        nodes = [column.get(i, tape.zero) for i in order for column in whole]
        slopes = symbols.function(tape, nodes)
        picked = tuple(range(len(symbols.wrt)))
    else:
        slopes = ColumnFunction(tables, symbols.state, symbols.parameters, columns)
        places = {x: k for k, x in enumerate((*known, *extra))}
        picked = tuple(places[x] for x in symbols.wrt)
    accelerations = symbols.function(equations.tape, equations.udot)
    inside = {*symbols_of(equations.tape, equations.udot), *(x for x in extra if x < 0)}
    pattern = np.tile([x in inside for x in symbols.wrt], (len(kin.u), 1))
    return TreePart(len(kin.u), accelerations, slopes, picked, pattern, implicit)


def _written_out(
    tables: TreeTables, wrt: Sequence[int], extra: dict[int, Entries]
) -> list[Entries]:
    """The columns of −M⁻¹ ∂ID as nodes."""
    columns, minus = TreeColumns(tables), tables.tape.const(-1)
    inverse = None
    results = []
    for column in _columns_by(columns, wrt, extra):
        if [*column.values()] == [minus]:
            inverse = columns.inverse_mass_matrix() if inverse is None else inverse
            results.append(inverse[next(iter(column))])
        else:
            results.append(columns.solve(column))
    return results


def load_slopes(kin: Kinematics, tables: TreeTables, wrt: Sequence[int]) -> list[Entries]:
    """The columns of ∂ID at u̇, rows being those of the tables' degrees of freedom."""
    extra = [x for x in wrt if x not in kin.q and x not in kin.u]
    others = dict(zip(extra, _extra_columns(kin, tables, extra), strict=True))
    return _columns_by(TreeColumns(tables), wrt, others)


def _columns_by(
    columns: TreeColumns, wrt: Sequence[int], extra: dict[int, Entries]
) -> list[Entries]:
    """∂ID by q, u and the variables with columns of their own."""
    kin, speeds = columns.tables.kinematics, columns.tables.speeds
    by_speeds = dict(zip(speeds, columns.by_speeds(), strict=True))
    known = dict(zip(kin.q, columns.by_coordinates(), strict=True)) | by_speeds
    applied = dict(zip(known, columns.of_loads(tuple(known)), strict=True))
    return [extra[x] if x in extra else columns.added(known[x], applied[x]) for x in wrt]


def _extra_columns(kin: Kinematics, tables: TreeTables, extra: Sequence[int]) -> list[Entries]:
    """∂ID/∂y at u̇ for variables other than q and u; −1 for the load along a speed."""
    t, loads = tables.tape, required_loads(kin)
    place = {u: tables.speeds.index(u) for u in kin.u}
    columns: list[Entries] = [{place[kin.u[-1 - x]]: t.const(-1)} if x < 0 else {} for x in extra]
    seeds: dict[int, Slopes] = {x: {j: t.one} for j, x in enumerate(extra) if x >= 0}
    if seeds:
        nodes = copy_expressions(loads.tape, t, loads.nodes)
        results = dict(zip(tables.speeds, tables.accelerations, strict=True))
        insert = Substitution(t, {a: results[u] for a, u in zip(kin.udot, kin.u, strict=True)})
        for u, row in zip(kin.u, forward_slopes(t, nodes, seeds), strict=True):
            for j, d in row.items():
                columns[j][place[u]] = insert(d)
    return columns
