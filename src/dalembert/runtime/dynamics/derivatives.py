"""da.derivatives: first and second derivatives of accelerations, matrices, constraints, energies
and any expression, by native code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import BadExpression, NotASystem, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options, suggest_name
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics,
    unreduced_kinematics,
)
from dalembert.mechanics.kinetics.energy_and_momentum import kinetic_energy, potential_energy
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.derivatives.parts import ExpressionPart, Part, Symbols
from dalembert.runtime.dynamics.acceleration_derivatives import (
    acceleration_part,
    equations_of_motion,
    load_variable,
)
from dalembert.runtime.dynamics.compile import forward_dynamics_of, nonsingular_kinematics
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.runtime.numerics.python_binding import BadArguments
from dalembert.runtime.numerics.symbol_values import finite_number, require_values, symbol_name
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of
from dalembert.symbolic.algebra.tape import Tape

Numbers = NDArray[np.float64]
# how groups of variables are called
GROUPS: Final = ("q", "x", "u", "udot", "loads", "inputs", "constants", "t")


class Derivatives(Displayable):
    """d(q, u, t=0, **values): ∂y/∂x at one state, or at states in rows (bit for bit the same).

    `d.rows` are the names of y, `d.columns` those of x. With order=2, d(q, u, multipliers=μ) is the
    symmetric matrix ∂²(μᵀy)/∂x². `d.pattern` shows which entries may differ from zero.
    """

    def __init__(self, given: DerivedQuantity, variables: Variables, order: int) -> None:
        self.order, self.rows, self.columns = order, given.names, variables.names
        self.parts, self._kin, self.parameters = given.parts, given.kin, given.parameters
        self._state, kin = given.state_parts, given.kin
        self._names = tuple(str(kin.tape.nodes[i][1]) for i in self.parameters)
        values = {s.name: s.value for s in kin.system.symbols.values() if s.value is not None}
        self._defaults = np.array([float(values.get(n, math.nan)) for n in self._names])

    def __str__(self) -> str:
        of, by = ", ".join(self.rows), ", ".join(self.columns)
        what = "∂y/∂x" if self.order == 1 else "∂²(μᵀy)/∂x²"
        return f"{self._kin.system.name}: {what}\n  y = {of}\n  x = {by}"

    def __call__(
        self, q: Any, u: Any, t: Any = 0.0, *, multipliers: Any = None, **values: Any
    ) -> Numbers:
        """∂y/∂x, or with order=2 the symmetric ∂²(μᵀy)/∂x²."""
        if self.order == 1:
            return self.jacobian(q, u, t, **values)
        return self.hessian(q, u, t, multipliers=multipliers, **values)

    def values(self, q: Any, u: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """y itself."""
        return self._at(q, u, t, values, lambda X, p: [part.values(X, p) for part in self.parts], 1)

    def jacobian(self, q: Any, u: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """∂y/∂x, a row for each y."""
        return self._at(
            q, u, t, values, lambda X, p: [part.jacobian(X, p) for part in self.parts], 1
        )

    def hessian(self, q: Any, u: Any, t: Any = 0.0, *, multipliers: Any, **values: Any) -> Numbers:
        """∂²(μᵀy)/∂x², symmetric; multipliers one row for all states, or one for each."""

        def results(X: Numbers, p: Numbers) -> list[Numbers]:
            each = zip(self.parts, self._shared(multipliers, len(X), len(self.rows)), strict=True)
            return [np.asarray(sum(part.hessian(X, mu, p) for part, mu in each))]

        return self._at(q, u, t, values, results, 1)

    def hessian_vector(
        self, q: Any, u: Any, t: Any = 0.0, *, multipliers: Any, vector: Any, **values: Any
    ) -> Numbers:
        """∂²(μᵀy)/∂x² v, without the matrix where the quantities are expressions."""

        def results(X: Numbers, p: Numbers) -> list[Numbers]:
            v = np.broadcast_to(np.asarray(vector, dtype=float), (len(X), len(self.columns)))
            each = zip(self.parts, self._shared(multipliers, len(X), len(self.rows)), strict=True)
            return [np.asarray(sum(part.hessian_vector(X, mu, v, p) for part, mu in each))]

        return self._at(q, u, t, values, results, 1)

    @cached_property
    def pattern(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of the entries that may differ from zero; with order=2 of the lower
        triangle.
        """
        if self.order == 1:
            whole = np.concatenate([part.pattern for part in self.parts])
        else:
            whole = np.any([part.hessian_pattern for part in self.parts], axis=0)
        rows, columns = np.nonzero(whole)
        return rows, columns

    def entries(self, q: Any, u: Any, t: Any = 0.0, **options: Any) -> Numbers:
        """The entries at the places of `pattern`, in their order."""
        rows, columns = self.pattern
        return self(q, u, t, **options)[..., rows, columns]

    def _shared(self, multipliers: Any, states: int, count: int) -> list[Numbers]:
        """The multipliers of each part, in rows."""
        if multipliers is None:
            msg = f"derivatives: give multipliers=, a number for each of {', '.join(self.rows)}"
            raise BadArguments(msg)
        try:
            mu = np.broadcast_to(np.asarray(multipliers, dtype=float), (states, count))
        except ValueError as error:
            msg = (
                f"derivatives: {count} multipliers are needed, one for each of "
                f"{', '.join(self.rows)}"
            )
            raise BadArguments(msg) from error
        return np.split(mu, np.cumsum([part.n_out for part in self.parts])[:-1], axis=1)

    def _at(
        self,
        q: Any,
        u: Any,
        t: Any,
        values: dict[str, Any],
        evaluate: Callable[[Numbers, Numbers], list[Numbers]],
        axis: int,
    ) -> Numbers:
        """The arrays of all parts, one below the other, at one state or many."""
        several = np.ndim(q) == 2 or np.ndim(u) == 2
        X = self._rows(q, u, t, values)
        results = evaluate(X, self._values(values))
        whole = results[0] if len(results) == 1 else np.concatenate(results, axis=axis)
        return whole if several else whole[0]

    def _rows(self, q: Any, u: Any, t: Any, values: dict[str, Any]) -> Numbers:
        """States in rows: q, x, u, u̇ where it is needed, t."""
        given = {"q": q, "u": u, "t": np.reshape(np.asarray(t, dtype=float), (-1, 1))}
        for name in ("x", "udot"):
            if self._state.get(name, 0) or name in values:
                given[name] = values.pop(name, None)
        columns, count = [], 1
        for name, size in self._state.items():
            if given.get(name) is None:
                if not size:
                    continue
                msg = f"derivatives: give {name}=, {size} numbers, or as many in each row"
                raise BadArguments(msg)
            part = np.atleast_2d(np.asarray(given[name], dtype=float))
            if part.shape[1] != size:
                msg = f"derivatives: {name} has {size} numbers, not {part.shape[1]}"
                raise BadArguments(msg)
            columns.append(part)
            count = max(count, len(part))
        if any(len(part) not in (1, count) for part in columns):
            lengths = ", ".join(str(len(part)) for part in columns)
            msg = f"derivatives: as many rows of each are needed, not {lengths}"
            raise BadArguments(msg)
        return np.hstack([np.broadcast_to(part, (count, part.shape[1])) for part in columns])

    def _values(self, given: dict[str, Any]) -> Numbers:
        p, system = self._defaults.copy(), self._kin.system
        for key, value in given.items():
            known = key in system.symbols
            name = key if known else key.replace("_ddot", "''").replace("_dot", "'")
            if name in self._names:
                p[self._names.index(name)] = finite_number(key, value)
            else:
                symbol_name(system, key, ("constant", "input", "specified"))
        if np.isnan(p).any():
            pairs = zip(self._names, p.tolist(), strict=True)
            require_values(system, self._names, {n: x for n, x in pairs if not math.isnan(x)})
        return p


@dataclass(frozen=True)
class Variables:
    """The variables of differentiation: symbols, or negative numbers for loads along speeds."""

    symbols: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class DerivedQuantity:
    """What is differentiated: parts, the names of their rows, and what they are functions of."""

    kin: Kinematics
    parts: tuple[Part, ...]
    names: tuple[str, ...]
    state_parts: dict[str, int]
    parameters: tuple[int, ...]


@check_options
def derivatives(
    system: System,
    of: Any = "udot",
    with_respect_to: Any = ("q", "u"),
    *,
    order: int = 1,
    speeds: str | None = None,
    start: Mapping[Any, Any] | None = None,
    points: int = 0,
) -> Derivatives:
    """d = da.derivatives(s, of=…, with_respect_to=…): native ∂y/∂x = d(q, u, t=0, **values).

    of               "udot", "qdot", "rates" (q̇, ẋ, u̇), "M", "f", "constraints", "T", "V",
                     "inverse dynamics", or an expression, a text, or a list of them
    with_respect_to  "q", "u", "x" (first-order states), "loads" (generalized loads along u),
                     "inputs", "constants", "t", "udot" (of inverse dynamics), or names, or a list
                     of all these
    order            1, or 2: ∂²(μᵀy)/∂x² = d(q, u, multipliers=μ)
    speeds           "all": u are all rates, and the constraint equations stay in saddle-point form
    start            a state at which the speeds chosen by default must be regular
    points           how many states are expected; with 200 000 or more they are compiled at once,
                     otherwise when they have been evaluated so often that it pays, with the same
                     bits
    """
    if not isinstance(system, System):
        msg = f"derivatives: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if order not in (1, 2):
        msg = f"derivatives: order={order!r}; give 1 or 2"
        raise Unknown(msg)
    if speeds not in (None, "all"):
        msg = f"derivatives: speeds={speeds!r:.40}; give 'all', or leave it out"
        raise Unknown(msg)
    kin = unreduced_kinematics(kinematics(system)) if speeds == "all" else kinematics(system)
    kin = kin if start is None else nonsingular_kinematics(kin, start)
    return derivatives_of(kin, of, with_respect_to, order, points)


def derivatives_of(
    kin: Kinematics, of: Any, with_respect_to: Any, order: int = 1, points: int = 0
) -> Derivatives:
    """The same in the speeds of these kinematics."""
    described = _Description(kin, points)
    inverse = isinstance(of, str) and of == "inverse dynamics"
    variables = described.variables(with_respect_to, accelerations=inverse)
    return Derivatives(described.quantity(of, variables.symbols), variables, order)


class _Description:
    """Reads the quantities and variables that a user names."""

    def __init__(self, kin: Kinematics, points: int) -> None:
        self.kin, self.system, self.points = kin, kin.system, points
        self.evaluator = Evaluator(kin, {})
        motions = {
            s.scalar.i: s.motion for s in self.system.symbols.values() if s.motion is not None
        }
        self.bindings = derivative_bindings(self.evaluator.tape, motions)

    # ---- variables ---------------------------------------------------------------------------

    def variables(self, wanted: Any, *, accelerations: bool) -> Variables:
        """Symbols and names of what is differentiated by."""
        several = isinstance(wanted, list | tuple)
        symbols: list[int] = []
        for each in wanted if several else [wanted]:
            symbols += (
                self._group(each, accelerations) if isinstance(each, str) else [self._symbol(each)]
            )
        symbols = [*dict.fromkeys(symbols)]
        if not symbols:
            msg = f"derivatives: {wanted!r} names no variable of {self.system.name!r}"
            raise Unknown(msg)
        return Variables(tuple(symbols), tuple(map(self._name, symbols)))

    def _group(self, name: str, accelerations: bool) -> list[int]:
        kin, symbols = self.kin, self.system.symbols.values()
        if name in self.system.symbols:
            return [self._symbol(name)]
        if name == "udot" and not accelerations:
            msg = (
                "derivatives: u̇ follows from q and u; only of='inverse dynamics' is a function of "
                "it"
            )
            raise Unknown(msg)
        groups: dict[str, Sequence[int]] = {
            "q": kin.q,
            "x": kin.x,
            "u": kin.u,
            "udot": kin.udot,
            "loads": [load_variable(r) for r in range(kin.n_u)],
            "inputs": [s.scalar.i for s in symbols if s.kind == "input"],
            "constants": [s.scalar.i for s in symbols if s.kind == "constant"],
            "t": [self.system.t.i],
        }
        return list(groups[name]) if name in groups else [self._symbol(name)]

    def _symbol(self, key: Any) -> int:
        kinds = ("coordinate", "constant", "input", "state", "speed")
        try:
            i = self.evaluator.node(key)
        except BadExpression as problem:
            hint = suggest_name(str(key), (*GROUPS, *self.system.symbols))
            msg = f"derivatives: with_respect_to={key!r}: {hint or problem}"
            raise Unknown(msg) from problem
        known = {s.scalar.i for s in self.system.symbols.values() if s.kind in kinds}
        if i not in known and i not in (*self.kin.x, *self.kin.u):
            groups = ", ".join(GROUPS)
            msg = f"derivatives: with_respect_to={key!s}: give a symbol, or one of {groups}"
            raise Unknown(msg)
        return i

    def _name(self, i: int) -> str:
        if i < 0:
            return f"load along {label(self.kin.name(self.kin.u[-1 - i]))}"
        return label(self.kin.name(i))

    # ---- quantities --------------------------------------------------------------------------

    def quantity(self, of: Any, wrt: tuple[int, ...]) -> DerivedQuantity:
        """The parts that `of` consists of."""
        kin = self.kin
        rates = [label(kin.name(i)) for i in kin.qdot]
        if isinstance(of, str) and of in ("udot", "rates"):
            nodes = self._reduced((*kin.qdot, *kin.xdot))
            first = [] if of == "udot" else [(self.evaluator.tape, nodes)]
            rates += [f"{label(kin.name(i))}.dot" for i in kin.x]
            names = (*(() if of == "udot" else rates), *map(self._name, kin.udot))
            return self._with_accelerations(first, names, wrt)
        named: dict[str, Callable[[], tuple[Tape, list[int], Sequence[str]]]] = {
            "qdot": lambda: (self.evaluator.tape, self._reduced(kin.qdot), rates),
            "M": lambda: self._matrices()[0],
            "f": lambda: self._matrices()[1],
            "constraints": self._constraints,
            "T": lambda: self._energies("T"),
            "V": lambda: self._energies("V"),
            "inverse dynamics": self._inverse,
        }
        known = isinstance(of, str) and of in named
        tape, nodes, called = named[of]() if known else self._expressions(of)
        return self._of_nodes(tape, nodes, tuple(called), wrt)

    def _reduced(self, nodes: Sequence[int]) -> list[int]:
        return [self.evaluator.in_speeds(i) for i in nodes]

    def _matrices(
        self,
    ) -> tuple[tuple[Tape, list[int], list[str]], tuple[Tape, list[int], list[str]]]:
        """M row by row, and f."""
        equations, n = (
            cached_derivation(derive_equations_of_motion, self.kin).equations,
            self.kin.n_u,
        )
        t, names = equations.tape, [label(self.kin.name(u)) for u in self.kin.u]
        M = [row.get(s, t.zero) for row in equations.mass_nodes for s in range(n)]
        pairs = [f"M[{a}, {b}]" for a in names for b in names]
        return (t, M, pairs), (t, list(equations.forcing_nodes), [f"f[{a}]" for a in names])

    def _constraints(self) -> tuple[Tape, list[int], list[str]]:
        """φ(q, t) of the holonomic rows, then A q̇ + b of all rows that are not eliminated from the
        rates.
        """
        kin, t = self.evaluator.kin, self.evaluator.tape
        rows = [row for row in kin.linear_rows if row.phi is not None]
        nodes = [self.evaluator.in_speeds(i) for i in position_residuals(t, rows)]
        names = [row.name for row in rows]
        held = [*kin.velocity_rows]
        nodes += [self.evaluator.in_speeds(row.e) for row in held]
        names += [f"rate of {row.row.name}" if row.row.holonomic else row.row.name for row in held]
        if not nodes:
            msg = (
                f"derivatives: {self.system.name!r} has no constraint equation left in independent "
                "speeds; with speeds='all' those on velocities are kept"
            )
            raise Unknown(msg)
        return t, nodes, names

    def _energies(self, which: str) -> tuple[Tape, list[int], list[str]]:
        energy = (kinetic_energy if which == "T" else potential_energy)(self.system)
        return self.evaluator.tape, self._reduced([self.evaluator.node(energy)]), [which]

    def _inverse(self) -> tuple[Tape, list[int], list[str]]:
        loads = required_loads(self.kin)
        return (
            loads.tape,
            list(loads.nodes),
            [f"load along {label(self.kin.name(u))}" for u in self.kin.u],
        )

    def _expressions(self, of: Any) -> tuple[Tape, list[int], list[str]]:
        given = list(of) if isinstance(of, list | tuple) else [of]
        try:
            nodes = self._reduced([self.evaluator.node(e) for e in given])
        except BadExpression as problem:
            words = ("udot", "qdot", "rates", "M", "f", "constraints", "T", "V", "inverse dynamics")
            hint = suggest_name(of, words) if isinstance(of, str) else ""
            msg = f"derivatives: of={of!r:.60}: {hint or problem}"
            raise Unknown(msg) from problem
        tape, names = self.evaluator.tape, [str(e) for e in given]
        if self.evaluator.contains(nodes, self.kin.udot):
            motion = forward_dynamics_of(self.kin)
            tape = motion.tape.fork()
            solved = Substitution(tape, dict(zip(self.kin.udot, motion.udot, strict=True)))
            nodes = [solved(i) for i in copy_expressions(self.evaluator.tape, tape, nodes)]
        return tape, nodes, names

    # ---- parts -------------------------------------------------------------------------------

    def _of_nodes(
        self, tape: Tape, nodes: list[int], names: tuple[str, ...], wrt: tuple[int, ...]
    ) -> DerivedQuantity:
        t = tape.fork()
        nodes = self._bound(t, nodes)
        moving = not {*self.kin.udot}.isdisjoint(symbols_of(t, nodes))
        symbols, sizes = self._symbols(symbols_of(t, nodes), wrt, accelerations=moving)
        return DerivedQuantity(
            self.kin, (ExpressionPart(t, nodes, symbols),), names, sizes, symbols.parameters
        )

    def _with_accelerations(
        self, first: list[tuple[Tape, list[int]]], names: tuple[str, ...], wrt: tuple[int, ...]
    ) -> DerivedQuantity:
        fork, residuals, _ = equations_of_motion(self.kin)
        t = fork.tape.fork()
        inside = symbols_of(t, self._bound(t, residuals))
        inside += [i for tape, nodes in first for i in symbols_of(tape, nodes)]
        symbols, sizes = self._symbols(inside, wrt, accelerations=False)
        parts: list[Part] = [
            ExpressionPart(tape, self._bound(tape, nodes), symbols) for tape, nodes in first
        ]
        bound = dict(self.bindings)
        if bound:
            bound = dict(
                zip(bound, copy_expressions(self.evaluator.tape, t, [*bound.values()]), strict=True)
            )
        parts.append(acceleration_part(self.kin, symbols, bound))
        return DerivedQuantity(self.kin, tuple(parts), names, sizes, symbols.parameters)

    def _bound(self, tape: Tape, nodes: Sequence[int]) -> list[int]:
        """Prescribed motions inserted."""
        if not self.bindings:
            return list(nodes)
        values = copy_expressions(self.evaluator.tape, tape, [*self.bindings.values()])
        return [*map(Substitution(tape, dict(zip(self.bindings, values, strict=True))), nodes)]

    def _symbols(
        self, inside: Sequence[int], wrt: tuple[int, ...], *, accelerations: bool
    ) -> tuple[Symbols, dict[str, int]]:
        """The state by parts, and all other symbols as parameters."""
        kin = self.kin
        a = kin.udot if accelerations or not {*wrt}.isdisjoint(kin.udot) else ()
        state = (*kin.q, *kin.x, *kin.u, *a, self.system.t.i)
        sizes = {"q": len(kin.q), "x": len(kin.x), "u": len(kin.u), "udot": len(a), "t": 1}
        known = {*state, *kin.udot, *kin.multipliers}
        others = {i for i in (*inside, *wrt) if i >= 0 and i not in known}
        return Symbols(state, tuple(sorted(others)), wrt, self.points), sizes
