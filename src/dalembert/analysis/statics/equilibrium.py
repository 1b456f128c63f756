"""WᵀQ = 0, φ(q) = 0: equilibria and steady motions by numbers; δ²(V − T₀ − λ·φ) > 0 on the
constraint tangent: their stability.
Keywords: static equilibrium.

At rest (T₀ = 0) a minimum is stable and a negative direction unstable. With running prescribed
motions, a minimum of V − T₀ is stable, and a negative direction proves nothing where gyroscopic
forces may act. With nonholonomic rows the Hessian does not decide stability: eigenvalues do, with
as many zeros as the rows leave equilibria in a continuous family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from dalembert.analysis.statics.equilibrium_equations import EquilibriumEquations, NoEquilibrium
from dalembert.analysis.statics.root_finding import (
    TOLERANCE,
    Root,
    continue_to_root,
    find_root,
    unknown_sizes,
)
from dalembert.analysis.statics.static_state import StaticState
from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.model.system import System, units_by_name
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.mechanics.principles.lagrange import lagrange
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    finite_number,
    require_mapping,
    strip_unit,
)
from dalembert.runtime.states.constraint_rank import regular_kinematics
from dalembert.runtime.states.evaluator import Key, label
from dalembert.runtime.states.magnitude_bounds import magnitude_bounds, sums_of_terms
from dalembert.runtime.states.run_values import operating_values
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, gradient

Verdict = Literal["stable", "unstable", "undetermined"]
# second derivatives below this part of the largest are zero
_ZERO_CURVATURE: Final = 1e-9
# rounding of an equation whose own terms vanish, relative to the largest of the others
_ROUNDING: Final = 1e-13


@dataclass(frozen=True, eq=False)
class Stability:
    """The verdict, why, and the eigenvalues of the Hessian on the tangent (none where the
    Hessian does not decide).
    """

    verdict: Verdict
    reason: str
    hessian: FloatArray | None = None


class CoordinateBalance:
    """Q + Aᵀλ = 0 along every coordinate, inertia forces included in Q: λ, and what remains.

    No row is eliminated here: nothing is divided by a pivot that may vanish, so that the terms of
    an equation are those that an engineer would write.
    """

    def __init__(self, balance: EquilibriumEquations) -> None:
        self.balance = balance
        kin, tape = balance.kin, balance.tape
        d = cached_derivation(lagrange, balance.chosen.kin)
        own = d.tape.fork()
        without = Substitution(own, dict.fromkeys(d.native.multipliers, own.zero))
        here = copy_expressions(own, tape, [without(i) for i in d.native.residuals])
        self.nodes = [balance.insert_rest_speeds(balance.evaluator.in_state(i)) for i in here]
        self.terms = sums_of_terms(tape, self.nodes)
        self.bounds = magnitude_bounds(tape, self.nodes)
        self.places = [
            (j, k, balance.evaluator.in_state(a))
            for j, row in enumerate(kin.rows)
            for k, a in row.A.items()
        ]

    def solve(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """λ of least norm, Q + Aᵀλ, and the sum of the absolute terms of each."""
        balance, n_q = self.balance, self.balance.kin.n_q
        nodes = [*self.nodes, *self.terms, *(a for _, _, a in self.places)]
        values = jacobian(balance.tape, nodes, (), balance.at(y))[0][0]
        Q, sizes = values[:n_q], np.abs(values[n_q : 2 * n_q])
        A = np.zeros((len(balance.kin.rows), n_q))
        for (j, k, _), a in zip(self.places, values[2 * n_q :], strict=True):
            A[j, k] = a
        lam = np.linalg.lstsq(A.T, Q, rcond=1e-12)[0]
        return lam, Q - A.T @ lam, sizes + np.abs(A.T) @ np.abs(lam)

    def holds(self, y: FloatArray) -> bool:
        """Whether every equation holds to 1e-9 of its own terms."""
        with np.errstate(all="ignore"):
            try:
                _, left, sizes = self.solve(y)
            except np.linalg.LinAlgError:
                return False
            bounds = jacobian(self.balance.tape, self.bounds, (), self.balance.at(y))[0][0]
            rounding = np.nan_to_num(np.abs(bounds), posinf=0.0) + sizes.max(initial=0.0)
            allowed = TOLERANCE * sizes + _ROUNDING * rounding
        return bool(np.isfinite(left).all() and (np.abs(left) <= allowed).all())


def multipliers(balance: EquilibriumEquations, y: FloatArray) -> dict[str, float]:
    """λ of every row from Q + Aᵀλ = 0, inertia forces included in Q; of least norm where rows
    repeat one another here.
    """
    if not balance.kin.rows:
        return {}
    lam, _, _ = CoordinateBalance(balance).solve(y)
    return {row.name: float(x) + 0.0 for row, x in zip(balance.kin.rows, lam, strict=True)}


def potential_residual(balance: EquilibriumEquations, y: FloatArray) -> float | None:
    """max |W_r · ∂(V − T₀)/∂q|: what the second route, stationary potential, leaves at y; None
    where it does not apply.
    """
    if balance.nonzero_speeds:
        return None
    rest = StaticState(balance.chosen.kin, balance.zero_inputs)
    try:
        slope = rest.potential_gradient
    except NotApplicable:
        return None
    nodes = [
        balance.evaluator.in_state(i) for i in copy_expressions(rest.tape, balance.tape, slope)
    ]
    return float(np.abs(jacobian(balance.tape, nodes, (), balance.at(y))[0]).max(initial=0.0))


def stability(balance: EquilibriumEquations, y: FloatArray, lam: dict[str, float]) -> Stability:
    """The Hessian of V − T₀ − λ·φ on the tangent of the holonomic rows, and what follows from
    it.
    """
    kin = balance.kin
    if balance.nonzero_speeds:
        return Stability(
            "undetermined",
            "no energy test for a steady motion; da.linearize gives its eigenvalues",
        )
    if not all(row.holonomic for row in kin.rows):
        return Stability(
            "undetermined",
            "no energy test for nonholonomic systems; da.linearize gives the eigenvalues",
        )
    rest = StaticState(balance.chosen.kin, balance.zero_inputs)
    try:
        rest.check_potential()
    except NotApplicable as reason:
        return Stability("undetermined", str(reason))
    e = _reduced_hessian(balance, rest, y, lam)
    flat = _ZERO_CURVATURE * np.abs(e).max(initial=0.0)
    return Stability(*_stability_verdict(e, flat, moves=rest.has_prescribed_motion), e)


def _reduced_hessian(
    balance: EquilibriumEquations, rest: StaticState, y: FloatArray, lam: dict[str, float]
) -> FloatArray:
    tape, q = balance.tape, balance.kin.q
    energy = balance.evaluator.in_state(
        copy_expressions(rest.tape, tape, [rest.tape.sub(rest.V, rest.T0)])[0]
    )
    seeds = {energy: tape.one}
    rows = [row for row in balance.kin.rows if row.phi is not None]
    for row, phi in zip(rows, balance.phi, strict=True):
        seeds[phi] = tape.const(Fraction(-lam[row.name]))
    slopes = gradient(tape, seeds, q)
    hessian = jacobian(tape, slopes, q, balance.at(y))[1][0]
    J = jacobian(tape, balance.phi, q, balance.at(y))[1][0]
    _, s, Vt = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(len(q)))
    S = Vt[int(np.sum(s > 1e-10 * s.max(initial=0.0))) :].T
    return np.asarray(np.linalg.eigvalsh(S.T @ (hessian + hessian.T) @ S / 2))


def _stability_verdict(e: FloatArray, flat: float, *, moves: bool) -> tuple[Verdict, str]:
    name = "V − T₀" if moves else "V"
    if not e.size or e.min() > flat:
        return "stable", f"{name} has a minimum on the constraints"
    if e.min() >= -flat:
        return "undetermined", f"{name} is flat in {int(np.sum(e <= flat))} of {e.size} directions"
    if moves and e.size > 1:
        return (
            "undetermined",
            (
                f"{name} has no minimum; gyroscopic forces may stabilize: da.linearize gives the "
                f"eigenvalues"
            ),
        )
    return "unstable", f"{name} decreases in {int(np.sum(e < -flat))} of {e.size} directions"


# how far from the guess a search begins again
_PERTURBATIONS: Final = (0.01, 0.1, 0.3, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0)
_DISTINCT_TOLERANCE: Final = 1e-6
_MAX_STARTS: Final = 1_000_000
# values below this are printed as zero
_PRINT_ROUNDOFF: Final = 1e-14


@dataclass(frozen=True, eq=False)
class Equilibrium(Displayable):
    """A state in which no speed changes: every coordinate and speed, the multipliers, the
    residual and the stability.
    """

    system: str
    t: float
    point: dict[str, float]
    q: FloatArray
    u: FloatArray
    multipliers: dict[str, float]
    residual: float
    # what stationary potential, the second route, leaves at this point; None where a load has no
    # potential
    potential_residual: float | None
    stability: Stability
    # whether enough functions of expanded members are kept
    notes: tuple[str, ...] = ()
    # of the values at the point, and of the multipliers by the names of their rows
    units: Mapping[str, str] = field(default_factory=dict)
    # whether the equations are the same at every time; otherwise this is the balance of one moment
    steady: bool = True
    # coordinates that no equation depends on: they may have any value, and have that of the guess
    undetermined: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        return self.point[name]

    def __str__(self) -> str:
        what = "equilibrium" if self.steady else "balance of one moment,"
        lines = [
            f"{self.system}, {what} at t = {self.t:.6g}"
            if self.t or not self.steady
            else f"{self.system}, {what}"
        ]
        lines += [self._line(name, x) for name, x in self.point.items()]
        dust = _PRINT_ROUNDOFF * max([1.0, *map(abs, self.multipliers.values())])
        lines += [
            f"  λ of {name!r} = {0.0 if abs(x) < dust else x:.12g}{self._unit(f'λ {name}')}"
            for name, x in self.multipliers.items()
        ]
        lines.append(
            f"  residual {self.residual:.2g}; {self.stability.verdict}: {self.stability.reason}"
        )
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _line(self, name: str, x: float) -> str:
        value = f"{0.0 if abs(x) < _PRINT_ROUNDOFF else x:.12g}{self._unit(name)}"
        return f"  {name} = {f'any ({value} here)' if name in self.undetermined else value}"

    def _unit(self, name: str) -> str:
        return f" {self.units[name]}" if self.units.get(name) else ""


@check_options
def equilibrium(
    system: System,
    given: Mapping[Any, Any] | None = None,
    *,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> Equilibrium:
    """Q + Aᵀλ = 0 with φ(q) = 0, near a guess.

    given   coordinates, rates or speeds that are to have these values; a rate other than zero makes
            it a steady motion
    guess   where to begin; a rate that is guessed is solved for, one that is not named is zero; an
            input that is guessed is solved for too: guess={"T": 10} is the trim of a hovering drone

    Unknowns and equations are scaled, so that pressures and angles may be unknowns together. Where
    Newton's method fails, the equations are followed from the guess by continuation. What is
    returned is an equilibrium: every residual is at most 1e-9 of the terms of its own equation.

    Source: Mei85 (7.19); for steady motions the inertia forces are counted with the loads, u̇ = 0.
    """
    chosen = operating_values(system, values or {}, inputs or {})
    near = EquilibriumEquations(chosen, given or {}, guess or {}, t)
    first = _with_regular_speeds(near, near.initial_guess(), values or {}, inputs or {})
    try:
        balance, root = _solve_from_guess(first)
    except NoEquilibrium:
        # the speeds may be singular at the very equilibrium
        other = _with_regular_speeds(
            first, first.initial_guess(), values or {}, inputs or {}, other=True
        )
        if other is first:
            raise
        balance, root = _solve_from_guess(other)
    again = _with_regular_speeds(balance, root.y, values or {}, inputs or {})
    return _equilibrium_at(*((balance, root) if again is balance else _solve_from_guess(again)))


def _with_regular_speeds(
    balance: EquilibriumEquations,
    y: FloatArray,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    *,
    other: bool = False,
) -> EquilibriumEquations:
    """The same balance in speeds that are regular at y; itself where its own are."""
    kin, state = balance.chosen.kin, balance.at(y)
    q, numbers = np.array([state[i] for i in kin.q]), balance.chosen.symbol_values_at(balance.t)
    regular = regular_kinematics(kin, q, numbers, balance.t, other=other)
    if regular is kin:
        return balance
    near: dict[Key, Any] = {
        label(kin.name(i)): x
        for i, x in zip(balance.unknown, y.tolist(), strict=True)
        if i in kin.q
    }
    chosen = operating_values(kin.system, values, inputs, regular)
    return EquilibriumEquations(chosen, balance.given, {**balance.guess, **near}, balance.t)


def _solve_from_guess(balance: EquilibriumEquations) -> tuple[EquilibriumEquations, Root]:
    """The root that a search from where the balance begins, or from nearby, leads to."""
    best: Root | None = None
    # rows that were eliminated may have left large terms: the balance of all coordinates has none
    whole = CoordinateBalance(balance) if balance.kin.rows else None
    for root in _attempts(balance):
        converged = root.converged or balance.is_satisfied_to_rounding(root.y)
        if converged and (whole is None or whole.holds(root.y)):
            return balance, root
        best = root if best is None or root.residual < best.residual else best
    assert best is not None
    raise NoEquilibrium(_failure_message(balance, best))


def _attempts(balance: EquilibriumEquations) -> Iterator[Root]:
    """From the guess in two scales, along a continuation, and from points near the guess."""
    f, tolerance, y = balance.residual_and_jacobian, balance.tolerance, balance.initial_guess()
    yield find_root(f, y, tolerance)
    if not y.size:
        return
    unit = unknown_sizes(y, np.nan_to_num(f(y)[1]), balance.row_sizes(y))
    # a turn is the scale of every angle
    unit[[i in balance.evaluator.angles for i in balance.unknown]] = 1.0
    yield find_root(f, y, tolerance, unit)
    yield continue_to_root(f, y, tolerance, unit)
    determined = ~balance.undetermined()
    for near in _perturbed_guesses(y, determined):
        yield find_root(f, near, tolerance)
    for near in _perturbed_guesses(y, determined, unit):
        yield find_root(f, near, tolerance, unit)


def equilibria(
    system: System,
    box: Mapping[Any, tuple[float, float]],
    given: Mapping[Any, Any] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
    starts: int = 64,
) -> tuple[Equilibrium, ...]:
    """The equilibria found in a box by searches from many points, sorted by the first key of
    the box.

    Searches begin at points that fill the box evenly. Others may exist; more starts make that less
    likely.
    """
    box = _validated_box(system, box, starts)
    middle = {key: (low + high) / 2 for key, (low, high) in box.items()}
    balance = EquilibriumEquations(
        operating_values(system, values or {}, inputs or {}), given or {}, middle, t
    )
    places = [balance.unknown.index(balance.evaluator.node(key)) for key in box]
    low, high = np.array([b[0] for b in box.values()]), np.array([b[1] for b in box.values()])
    roots: list[Root] = []
    for fraction in _low_discrepancy_points(starts, len(box)):
        y = balance.initial_guess()
        y[places] = low + fraction * (high - low)
        root = find_root(balance.residual_and_jacobian, y, balance.tolerance)
        room = _DISTINCT_TOLERANCE * (high - low)
        inside = root.converged and bool(
            ((root.y[places] >= low - room) & (root.y[places] <= high + room)).all()
        )
        if inside and all(
            np.abs(root.y - other.y).max() > _DISTINCT_TOLERANCE * max(1.0, np.abs(root.y).max())
            for other in roots
        ):
            roots.append(root)
    roots.sort(key=lambda r: tuple(r.y[places]))
    return tuple(_equilibrium_at(balance, root) for root in roots)


def _validated_box(
    system: System, box: object, starts: object
) -> Mapping[Any, tuple[float, float]]:
    """Refuse what is no box: two finite ends for each of some coordinates."""
    ranges = require_mapping("box", box)
    if isinstance(starts, bool) or not isinstance(starts, int) or not 0 <= starts <= _MAX_STARTS:
        msg = f"equilibria: starts={starts!r:.60}; give a whole number up to {_MAX_STARTS}"
        raise BadValue(msg)
    checked = {}
    for key, ends in ranges.items():
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            msg = (
                f"equilibria: the box of {key} is {ends!r:.60}; give its two ends, such as (-1, 1)"
            )
            raise BadValue(msg)
        low, high = (
            finite_number(f"end of the box of {key}", strip_unit(system, key, x)) for x in ends
        )
        if low > high:
            msg = (
                f"equilibria: the box of {key} goes from {low:g} to {high:g}; give the smaller "
                f"end first"
            )
            raise BadValue(msg)
        checked[key] = (low, high)
    return checked


def _perturbed_guesses(
    y: FloatArray, determined: BoolArray, unit: FloatArray | float = 1.0
) -> Iterator[FloatArray]:
    """Points near the guess in directions fixed once for all, in the units of the unknowns;
    unknowns that no equation depends on stay.
    """
    directions = np.random.default_rng(0)
    for size in _PERTURBATIONS if y.size else ():
        yield y + size * unit * directions.uniform(-1.0, 1.0, y.size) * determined


def _low_discrepancy_points(count: int, dimensions: int) -> Iterator[FloatArray]:
    """Points of the unit cube by the generalized golden ratio, ends of the box first."""
    root = 2.0
    for _ in range(50):
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1.0)
    yield np.zeros(dimensions)
    yield np.ones(dimensions)
    for k in range(count):
        yield (0.5 + k * steps) % 1.0


def _equilibrium_at(balance: EquilibriumEquations, root: Root) -> Equilibrium:
    balance.check_rows_at_rest(root.y)
    point, q, u = balance.state_at(root.y)
    lam = multipliers(balance, root.y)
    stationarity_residual = potential_residual(balance, root.y)
    steady = not balance.evaluator.depends_on_time(balance.nodes)
    verdict = (
        stability(balance, root.y, lam)
        if steady
        else Stability("undetermined", "the equations change with time; simulate it")
    )
    expansions = balance.kin.system.expansions.values()
    notes = tuple(
        line for x in expansions for line in x.truncation_report(lambda q: abs(point[str(q.name)]))
    )
    s = balance.kin.system
    units = units_by_name(s, point) | {f"λ {row}": s.conjugate_unit(row) for row in lam}
    unknowns = zip(balance.unknown, balance.undetermined(), strict=True)
    undetermined = tuple(label(balance.kin.name(i)) for i, free in unknowns if free)
    return Equilibrium(
        s.name,
        balance.t,
        point,
        q,
        u,
        lam,
        root.residual,
        stationarity_residual,
        verdict,
        notes,
        units,
        steady,
        undetermined,
    )


def _failure_message(balance: EquilibriumEquations, root: Root) -> str:
    """The equation that fails worst where the search came nearest."""
    F, _ = balance.residual_and_jacobian(root.y)
    kin = balance.kin
    names = [f"balance along {label(kin.name(u))}" for u in kin.u] + [
        repr(r.name) for r in kin.rows if r.phi is not None
    ]
    names += [f"the rate of {label(kin.name(x))}" for x in kin.x]
    worst = int(np.argmax(np.nan_to_num(np.abs(F), nan=np.inf))) if F.size else 0
    what = names[worst] if worst < len(names) else "a given value"
    left = f"{F[worst] if F.size else 0.0:.6g} in {what}"
    if not balance.unknown:
        return (
            f"the given point is no equilibrium: residual {left}; to search from there, pass it "
            "as guess="
        )
    near = ", ".join(
        f"{label(kin.name(i))} = {x:.6g}" for i, x in zip(balance.unknown, root.y, strict=True)
    )
    msg = f"no equilibrium found: at the best point ({near}) the residual is {left}"
    return f"{msg}; give a guess nearer to it, or leave more values free"
