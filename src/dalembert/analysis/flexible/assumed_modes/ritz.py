"""K q = ω² M q: a member by itself, held in its frame, in the functions it was expanded in.
Keywords: Ritz method.

Solved as M q = (1/ω²) K q, so that the lowest frequencies come out to rounding however many
functions there are.

|ω_n − ω_(n−1)|/ω_n is what the last admissible function still changed, as an estimate of how far
the expansion is from the continuum.

Ω > ω₁ is where a beam that turns with its frame and does not shorten has lost its stiffness: the
inertia force of the frame pushes a bent beam outward, across its axis, with ρA Ω² v. What balances
it is the pull along the beam, which reaches the bending only through the shortening ½∫v′² dx.
Without it the beam bends without bound as soon as Ω exceeds its lowest frequency ω₁, however stiff
the real one becomes by turning.

Source: Rayleigh and Ritz; the strain energy and the ends are those of the description.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.flexible.assumed_modes.discretised_member import (
    Discretised,
    Rigidity,
    end_inertias,
    inertias,
    rigidities,
)
from dalembert.analysis.flexible.assumed_modes.member_properties import end_springs
from dalembert.analysis.flexible.assumed_modes.polynomials import modal_integrals
from dalembert.errors import DalembertError, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import constant_values, finite_number, require_values
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_by_key

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class RitzMatrices:
    """M and K of a member in its amplitudes, field after field; `sizes` is how many functions
    each field has.
    """

    M: FloatArray
    K: FloatArray
    sizes: tuple[int, ...]

    def frequencies(self) -> FloatArray:
        """ω, lowest first; motions as a whole have ω = 0."""
        from scipy.linalg import eigh

        M, K = self.M, self.K
        scale = 1 / np.sqrt(
            np.maximum(np.diag(K), 0.0)
            + np.diag(M) * np.max(np.diag(K), initial=0.0) * 1e-12
            + 1e-300
        )
        M, K = M * scale * scale[:, None], K * scale * scale[:, None]
        if np.linalg.eigvalsh(K).min() <= 1e-9:
            eigenvalues = eigh(K, M, eigvals_only=True)
            eigenvalues[np.abs(eigenvalues) < 1e-12 * np.abs(eigenvalues).max()] = 0.0
            return np.asarray(np.sqrt(np.maximum(eigenvalues, 0.0)))
        return np.asarray(1 / np.sqrt(eigh(M, K, eigvals_only=True)[::-1]))

    @property
    def is_stable(self) -> bool:
        """Whether the straight member resists every deflection, motions as a whole apart."""
        size = np.abs(np.diag(self.K))
        scale = 1 / np.sqrt(np.where(size > 0, size, 1.0))
        return bool(np.linalg.eigvalsh(self.K * scale * scale[:, None]).min() >= -1e-13)

    def drop_last_function(self) -> RitzMatrices | None:
        """The same member with one function less in each field."""
        if min(self.sizes) < 2:
            return None
        starts = np.cumsum((0, *self.sizes))
        kept = [i for a, n in zip(starts, self.sizes, strict=False) for i in range(a, a + n - 1)]
        return RitzMatrices(
            self.M[np.ix_(kept, kept)], self.K[np.ix_(kept, kept)], tuple(n - 1 for n in self.sizes)
        )


def ritz_matrices(bent: Discretised, values: Mapping[Any, Any] | None = None) -> RitzMatrices:
    """M_ij = ∫ ρA φ_i φ_j dx + …, K_ij = ∫ EI φ_i″ φ_j″ dx + … with numbers for the constants."""
    sides = (0, 1)
    M = [
        *_distributed_entries(bent, inertias(bent)),
        *_end_entries(
            bent, ((side, *each) for side in sides for each in end_inertias(bent.member, side))
        ),
    ]
    springs = (
        (side, k, name, order)
        for side in sides
        for k, name, order, _ in end_springs(bent.member, side)
    )
    K = [*_distributed_entries(bent, rigidities(bent)), *_end_entries(bent, springs)]
    sizes = tuple(map(len, bent.functions.values()))
    return RitzMatrices(
        _assemble_matrix(bent, M, sum(sizes), values or {}),
        _assemble_matrix(bent, K, sum(sizes), values or {}),
        sizes,
    )


# ((row, column), what is added there)
Entry = tuple[tuple[int, int], int]


def _distributed_entries(bent: Discretised, sizes: Sequence[Rigidity]) -> Iterator[Entry]:
    """∫ c f⁽ᵏ⁾ g⁽ˡ⁾ dx of every rigidity or inertia per length c, for all parts of the motion it
    resists.
    """
    L, place = bent.member.length, _amplitude_index(bent)
    for size, parts in sizes:
        for (p, f, k, sign), (r, g, l, other) in product(parts, repeat=2):
            table = modal_integrals(bent.member, size, [(x, k) for x in f], [(x, l) for x in g])
            pairs = (
                (q, s, c)
                for q, row in zip(p, table, strict=True)
                for s, c in zip(r, row, strict=True)
            )
            yield from (
                ((place[q], place[s]), (c * (sign * other) * L / L ** (k + l)).i)
                for q, s, c in pairs
            )


def _end_entries(
    bent: Discretised, sizes: Iterable[tuple[int, Scalar, str, int]]
) -> Iterator[Entry]:
    """c f⁽ᵏ⁾ g⁽ᵏ⁾ of every spring and inertia c at an end."""
    L, place = bent.member.length, _amplitude_index(bent)
    for side, size, symbol, order in sizes:
        values = [
            (place[q], f.at(side, order))
            for q, f in zip(bent.amplitudes[symbol], bent.functions[symbol], strict=True)
        ]
        yield from (
            ((i, j), (size * (a * b) / L ** (2 * order)).i)
            for (i, a), (j, b) in product(values, repeat=2)
            if a * b
        )


def _amplitude_index(bent: Discretised) -> dict[Scalar, int]:
    return {q: k for k, q in enumerate(chain.from_iterable(bent.amplitudes.values()))}


def _assemble_matrix(
    bent: Discretised, entries: Iterable[Entry], n: int, values: Mapping[Any, Any]
) -> FloatArray:
    """The entries as an array, with numbers for the constants."""
    tape, known = bent.member.length.tape, constant_values(bent.system, values)

    def value(i: int) -> float:
        name = str(tape.nodes[i][1])
        require_values(bent.system, [name], known)
        return known[name]

    whole, A = sum_by_key(tape, entries), np.zeros((n, n))
    for place, x in zip(
        whole, evaluate(tape, list(whole.values()), value, FloatArithmetic()), strict=True
    ):
        A[place] = x
    return A


# ---- convergence ---------------------------------------------------------------------------------

_FREQUENCIES_SHOWN: Final = 3


@dataclass(frozen=True)
class Convergence:
    """The lowest frequencies of a member held in its frame, with n functions in each field and
    with n − 1.
    """

    functions: int
    frequencies: tuple[float, ...]
    before: tuple[float, ...]
    # why there is no estimate
    reason: str = ""

    @property
    def changes(self) -> tuple[float, ...]:
        """The relative change of each frequency by the last function."""
        return tuple(
            abs(b - a) / a if a else 0.0
            for a, b in zip(self.frequencies, self.before, strict=False)
        )

    def __str__(self) -> str:
        if self.reason:
            return f"  convergence: no estimate, {self.reason}"
        lines = []
        for k, a in enumerate(self.frequencies):
            change = (
                f"changed by {self.changes[k]:.1e} with the last function"
                if k < len(self.before)
                else "available with all functions only"
            )
            lines.append(f"  ω_{k + 1} = {a:.10g} with its frame fixed, {change}")
        return "\n".join(lines)


def convergence(bent: Discretised, values: Mapping[Any, Any] | None = None) -> Convergence:
    """The estimate, or the reason why there is none."""
    n = min(map(len, bent.functions.values()))
    try:
        whole = ritz_matrices(bent, values)
    except DalembertError as problem:
        return Convergence(n, (), (), str(problem))
    if not whole.K.any():
        return Convergence(
            n, (), (), "its stiffness comes from its loads alone: compare runs with more functions"
        )
    if not whole.is_stable:
        return Convergence(
            n,
            (),
            (),
            "it is compressed beyond its buckling load, so its straight shape is unstable",
        )
    less = whole.drop_last_function()
    before = () if less is None else tuple(map(float, less.frequencies()[:_FREQUENCIES_SHOWN]))
    return Convergence(n, tuple(map(float, whole.frequencies()[:_FREQUENCIES_SHOWN])), before)


# ---- beams that turn too fast --------------------------------------------------------------------

# how many times of a run are checked before it begins
_SPIN_SAMPLES: Final = 256


def warn_missing_stiffening(
    kin: Kinematics,
    duration: float,
    t0: float,
    start: Mapping[Any, Any],
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
) -> None:
    """Say before a run that a beam without shortening will turn faster than it can stand."""
    softened = _members_without_stiffening(kin.system)
    if not softened:
        return
    try:
        span = (
            finite_number("t0", t0),
            finite_number("t0", t0) + finite_number("duration", duration),
        )
        chosen = run_values(kin, values, inputs)
        checks = [
            (
                bent,
                _lowest_bending_frequency(ritz_matrices(bent, values), bent, plane),
                list(_spin_rates(chosen, bent, plane, start, span)),
            )
            for bent in softened
            for plane in range(len(bent.member.bending))
        ]
    except DalembertError:
        return  # errors in the times, the start or the values are reported by the run itself
    for bent, omega, turning in checks:
        _warn_if_too_fast(bent, omega, turning)


def warn_missing_stiffening_after(run: Trajectory, values: Mapping[Any, Any]) -> None:
    """Say after a run that a beam whose frame turns as the motion has it came to turn faster
    than it can stand.
    """
    for bent in _members_without_stiffening(run.system):
        for plane in range(len(bent.member.bending)):
            e = _spin_rate_squared(bent, plane)
            # where only given motions turn it, and where it was too fast at the start, this was
            # reported before
            if _depends_on_motion(run.system, e) and len(run):
                rates = np.sqrt(np.maximum(np.asarray(run[e], dtype=float), 0.0)).tolist()
                omega = _lowest_bending_frequency(ritz_matrices(bent, values), bent, plane)
                if rates[0] <= omega:
                    _warn_if_too_fast(bent, omega, list(zip(run.t.tolist(), rates, strict=True)))


def _members_without_stiffening(system: System) -> list[Discretised]:
    """The members that bend, turn with their frame and do not shorten."""
    expansions = system.expansions.values()
    return [
        b
        for b in expansions
        if isinstance(b, Discretised) and b.member.bending and not b.member.shortening
    ]


def _warn_if_too_fast(
    bent: Discretised, omega: float, turning: Sequence[tuple[float, float]]
) -> None:
    m, too_fast = bent.member, [t for t, rate in turning if rate > omega]
    if too_fast:
        turns = (
            f"rotates at up to {max(rate for _, rate in turning):.4g} rad/s in its plane of bending"
        )
        limit = (
            f"faster than its lowest frequency {omega:.4g} rad/s (from t = {too_fast[0]:.3g} on)"
        )
        happens = "its shortening is not modelled, so its deflection grows without bound"
        warn(
            f"{m.kind} {m.name!r} {turns}, {limit}, and {happens}; declare it with shortening=True"
        )


def _lowest_bending_frequency(matrices: RitzMatrices, bent: Discretised, plane: int) -> float:
    """ω₁ of bending in one plane."""
    k = list(bent.functions).index("vw"[plane])
    own = slice(sum(matrices.sizes[:k]), sum(matrices.sizes[: k + 1]))
    return float(
        RitzMatrices(
            matrices.M[own, own], matrices.K[own, own], (matrices.sizes[k],)
        ).frequencies()[0]
    )


def _spin_rate_squared(bent: Discretised, plane: int) -> Scalar:
    """ω·ω − (ω·e_y)²: how fast the frame turns about axes across the direction of bending,
    squared.
    """
    w = bent.member.frame.w
    return w @ w - (w @ bent.member.bending[plane]) ** 2


def _depends_on_motion(system: System, e: Scalar) -> bool:
    """Whether coordinates or their rates enter."""
    moved = {i for q in system.q for i in (q.i, q.dot.i)}
    return bool(moved & set(symbols_of(e.tape, [e.i])))


def _spin_rates(
    chosen: RunValues,
    bent: Discretised,
    plane: int,
    start: Mapping[Any, Any],
    span: tuple[float, float],
) -> Iterator[tuple[float, float]]:
    """(t, Ω) at times of the run, as far as that is known before it begins."""
    kin, e = chosen.kin, _spin_rate_squared(bent, plane)
    inside = symbols_of(e.tape, [e.i])
    state: dict[int, float] = {}
    times = np.linspace(*span, _SPIN_SAMPLES).tolist()
    if _depends_on_motion(kin.system, e):
        # it turns as the motion will have it: only the start is known
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = solve_initial_conditions(kin, start, chosen.symbol_values_at(span[0]), span[0])
        state = {
            **dict(zip(kin.q, begin.q.tolist(), strict=True)),
            **dict(zip(kin.qdot, begin.qdot.tolist(), strict=True)),
        }
        times = times[:1]
    for t in times:
        known = {**chosen.symbol_values_at(t), **state, kin.system.t.i: t}
        if any(i not in known for i in inside):
            return
        yield (
            t,
            math.sqrt(max(evaluate(e.tape, [e.i], known.__getitem__, FloatArithmetic())[0], 0.0)),
        )
