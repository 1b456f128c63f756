"""p·ξ, m v·n, H_O·n and T₂ − T₀ + V: quantities that keep their value, each proved on the motion.
Keywords: first integral.

Along a symmetry ξ of T and V, d(p·ξ)/dt = (Q_nc + Aᵀλ)·ξ, so p·ξ is constant if no load acts along
ξ and A ξ = 0: an ignorable coordinate counts only if its column of A vanishes. The moving energy H
− p·ξ with A ξ + b = 0 is, for ξ = X, the generalized Hamiltonian 𝓗 in the chosen speeds.

Σ c_j J_j and T₂ − T₀ + V − Σ c_j J_j may keep their value though no term alone does. The
coefficients are rational numbers, or such times a symbol that moves a row (Ω of a turntable). They
are found as the null space of the rates dJ_j/dt at random points of one prime field, u̇ from the
equations of motion, and each combination is then proved on the motion by other points and other
primes.

Source: PRINCIPLES: d/dt(p·ξ) = (Q_nc + Aᵀλ)·ξ; H − p·ξ with A ξ + b = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Final

from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.identity_test import MotionIdentityTest, sampled
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.exact.finite_field import Element, mul
from dalembert.symbolic.algebra.exact.linear_algebra import (
    nullspace_mod,
    rational_reconstruction,
    solve_mod,
    solve_unknowns,
)
from dalembert.symbolic.algebra.exact.zero_test import BadPoint, SamplePoint
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars


@dataclass(frozen=True)
class Momentum:
    """A momentum J in q̇."""

    name: str
    in_rates: Scalar
    why: str


def kinetic_energy_in_rates(E: Energies) -> Scalar:
    """T in q̇."""
    T: Scalar = Quantities(E.kin).rates.T.value
    return T


def momenta(E: Energies) -> Iterator[Momentum]:
    """p_k of every coordinate, then the linear and angular momentum along the axes of N.

    Source: Mei85 (7.44).
    """
    kin = E.kin
    for k, p in enumerate(gradient_column(kinetic_energy_in_rates(E), Column(E.t, kin.qdot))):
        name = str(kin.scalar(kin.q[k]))
        yield Momentum(
            f"momentum of {name}", kin.scalar(p), f"{name} is ignorable and no row holds its rate"
        )
    N = kin.system.N
    axes = ((N.x, "x"), (N.y, "y"), (N.z, "z"))
    for n, axis in axes:
        yield Momentum(
            f"linear momentum along N.{axis}",
            _linear_momentum_along(E, n),
            f"no force acts along N.{axis}",
        )
    for n, axis in axes:
        yield Momentum(
            f"angular momentum about O along N.{axis}",
            _angular_momentum_along(E, n),
            "no moment acts about this axis",
        )


def _linear_momentum_along(E: Energies, n: Vector) -> Scalar:
    """Σ m v·n"""
    return sum_scalars(
        E.t,
        (n.on(E.t) @ E.kin.motion_in_rates.v(body.G) * body.mass for body in E.kin.system.bodies),
    )


def _angular_momentum_along(E: Energies, n: Vector) -> Scalar:
    """Σ (r × m v + I·ω)·n"""
    t, motion, bodies = E.t, E.kin.motion_in_rates, E.kin.system.bodies
    orbital = (
        n.on(t) @ (body.G - E.kin.system.O).on(t).cross(motion.v(body.G)) * body.mass
        for body in bodies
    )
    rigid = (
        (body.frame, body.inertia)
        for body in bodies
        if body.frame is not None and body.inertia is not None
    )
    return sum_scalars(t, orbital) + sum_scalars(t, (n.on(t) @ (I @ motion.w(F)) for F, I in rigid))


def jacobi_integral(E: Energies) -> Scalar:
    """p·q̇ − L = T₂ − T₀ + V, by degrees in q̇, in the speeds."""
    T, qdot = kinetic_energy_in_rates(E), Column(E.t, E.kin.qdot)
    # p·q̇ = 2 T₂ + T₁, so that p·q̇ − T = T₂ − T₀
    return E.kin.scalar(E.kin.in_speeds((E.V - T + qdot @ gradient_column(T, qdot)).i))


# beyond, finding u̇ at as many points as there are momenta takes too long
MAX_SPEEDS: Final = 12
_EXTRA_POINTS: Final = 4
_ATTEMPTS: Final = 200


@dataclass(frozen=True)
class CombinationTerm:
    """factor · J, or T₂ − T₀ + V where there is no momentum."""

    factor: Scalar | None
    momentum: Momentum | None
    expression: Scalar
    rate: Scalar


# what may be a first integral: its name, itself, and why it is one
Candidate = tuple[str, Scalar, str]


def constant_combinations(
    E: Energies,
    motion: MotionIdentityTest,
    alone: Sequence[Momentum],
    where: Mapping[int, int],
    energy_is_constant: bool,
) -> list[Candidate]:
    """Every independent combination of momenta that are not constant alone, and of these with
    the energy.
    """
    if E.kin.n_u > MAX_SPEEDS:
        return []
    terms = list(_terms(E, alone, with_energy=not energy_is_constant))
    search = _CombinationSearch(E, motion, where, terms)
    return [c for x in search.constant_coefficients() if (c := search.combination(x)) is not None]


def _terms(
    E: Energies, momenta: Sequence[Momentum], *, with_energy: bool
) -> Iterator[CombinationTerm]:
    t, kin = E.t, E.kin
    factors: list[Scalar | None] = [None]
    if with_energy:
        moving = [row.b for row in kin.rows if row.b != t.zero]
        # the symbol first, so that Ω J is written and not 3 J where Ω = 3
        factors = [
            *(kin.scalar(i) for i in symbols_of(t, moving) if i not in (*kin.q, *kin.qdot)),
            None,
        ]
    for J in momenta:
        in_speeds = kin.scalar(kin.in_speeds(J.in_rates.i))
        for f in factors:
            product = in_speeds if f is None else f * in_speeds
            yield CombinationTerm(f, J, product, E.rate(product))
    if with_energy:
        H = jacobi_integral(E)
        yield CombinationTerm(None, None, H, E.rate(H))


class _CombinationSearch:
    def __init__(
        self,
        E: Energies,
        motion: MotionIdentityTest,
        where: Mapping[int, int],
        terms: list[CombinationTerm],
    ) -> None:
        self.E, self.t, self.motion, self.where = E, E.t, motion, where
        self.insert = Substitution(E.t, where)
        self.terms = terms

    def constant_coefficients(self) -> list[list[Fraction]]:
        """Coefficients c with Σ c_j dJ_j/dt = 0, the J_j being independent."""
        if not self.terms:
            return []
        values, rates, p = self._sample_rates()
        # a term that is a sum of others is redundant
        dependent = {max(j for j, c in enumerate(x) if c) for x in nullspace_mod(values, p)}
        kept = [j for j in range(len(self.terms)) if j not in dependent]
        coefficient_sets = []
        for x in nullspace_mod([[row[j] for j in kept] for row in rates], p):
            exact = [rational_reconstruction(c, p) for c in x]
            if all(c is not None for c in exact):
                full = [Fraction(0)] * len(self.terms)
                for j, c in zip(kept, exact, strict=True):
                    full[j] = c or Fraction(0)
                coefficient_sets.append(_normalize_leading(full))
        return coefficient_sets

    def _sample_rates(self) -> tuple[list[list[Element]], list[list[Element]], int]:
        """The terms and their rates at as many points of one field as it takes."""
        nodes = [self.insert(x.expression.i) for x in self.terms]
        rates = [self.insert(x.rate.i) for x in self.terms]
        residuals = [self.insert(r) for r in self.motion.residuals]
        asked = [*nodes, *rates, *residuals, *(row.e for row in self.motion.rows)]

        def at(point: SamplePoint) -> list[list[Element]]:
            point = self.motion.point_on_rows(point)
            udot = solve_unknowns(point, residuals, self.motion.udot)
            return [
                point.on(self.t, dict(zip(self.motion.udot, udot, strict=True))).values(
                    [*nodes, *rates]
                )
            ]

        # where no point on the rows is found the question is undecided
        n = len(self.terms)
        prime, rows = sampled(self.t, range(7_000, 7_000 + _ATTEMPTS), at, n + _EXTRA_POINTS, asked)
        return [r[:n] for r in rows], [r[n:] for r in rows], prime

    # ---- what was found, in words --------------------------------------------------------------

    def combination(self, c: Sequence[Fraction]) -> Candidate | None:
        """The sum itself, if it is constant indeed."""
        kept = [(x, term) for x, term in zip(c, self.terms, strict=True) if x]
        whole, rate = (
            sum_scalars(self.t, (x * term.expression for x, term in kept)),
            sum_scalars(self.t, (x * term.rate for x, term in kept)),
        )
        if (
            not self.motion.is_zero(rate, self.where)
            or self.motion.is_zero(whole, self.where) is not False
        ):
            return None
        return self._name(c), whole, self._why(c)

    def _name(self, c: Sequence[Fraction]) -> str:
        has_energy = any(x and term.momentum is None for x, term in zip(c, self.terms, strict=True))
        parts: list[str] = []
        for x, term in sorted(
            zip(c, self.terms, strict=True), key=lambda pair: pair[1].momentum is not None
        ):
            if not x:
                continue
            sign = ("+ " if parts else "") if x > 0 else ("− " if parts else "−")
            factor = "" if term.factor is None else f"{term.factor} "
            number = "" if abs(x) == 1 else f"{abs(x)} "
            parts.append(f"{sign}{number}{factor}{_term_text(term)}")
        return f"{'moving energy' if has_energy else 'sum of momenta'} {' '.join(parts)}"

    def _why(self, c: Sequence[Fraction]) -> str:
        """By the direction ξ with 𝓜 ξ = ∂J/∂q̇: whether the rows hold it."""
        kin = self.E.kin
        kept = [(x, term) for x, term in zip(c, self.terms, strict=True) if x]
        moving = any(term.momentum is None for _, term in kept)
        momenta = (
            (x if term.factor is None else x * term.factor, term.momentum) for x, term in kept
        )
        J = sum_scalars(
            self.t,
            (factor * momentum.in_rates for factor, momentum in momenta if momentum is not None),
        )
        # H − p·ξ
        along = self._along_rows(-J if moving else J)
        if along is None:
            return "its rate vanishes on every motion"
        if moving:
            held = all((a + b) % p == 0 for a, b, p in along)
            return (
                "along a symmetry ξ with A ξ + b = 0"
                if held
                else "its rate vanishes on every motion"
            )
        if not kin.rows:
            return "along a symmetry of T and V"
        return (
            "along a symmetry ξ with A ξ = 0"
            if not any(a for a, _, _ in along)
            else "its rate vanishes on every motion"
        )

    def _along_rows(self, J: Scalar) -> list[tuple[int, int, int]] | None:
        """(A_j·ξ, b_j, p) of every row at one point, or None where 𝓜 determines no ξ."""
        t, kin = self.t, self.E.kin
        linear, qdot = LinearCoefficients(t, kin.qdot), Column(t, kin.qdot)
        M = [linear(p)[1] for p in gradient_column(kinetic_energy_in_rates(self.E), qdot)]
        try:
            point = SamplePoint(t, 9_000)
            A = [[point(self.insert(row.get(k, t.zero))) for k in range(kin.n_q)] for row in M]
            xi = solve_mod(
                A, [point(self.insert(s)) for s in gradient_column(J, qdot)], point.prime
            )
            p = point.prime
            along = [
                sum(_require_real(mul(point(self.insert(a)), xi[k], p)) for k, a in row.A.items())
                % p
                for row in kin.rows
            ]
            return [
                (a, point.real_value(self.insert(row.b)), p)
                for a, row in zip(along, kin.rows, strict=True)
            ]
        except BadPoint:
            return None


def _require_real(x: Element) -> int:
    if isinstance(x, tuple):
        msg = "a direction that is not real at this point"
        raise BadPoint(msg)
    return x


def _term_text(term: CombinationTerm) -> str:
    return "T₂ − T₀ + V" if term.momentum is None else f"({term.momentum.name})"


def _normalize_leading(c: list[Fraction]) -> list[Fraction]:
    """The energy, which is the last term, or else the first term with the coefficient one."""
    lead = c[-1] or next(x for x in c if x)
    return [x / lead for x in c]


@dataclass(frozen=True)
class FirstIntegral:
    """A quantity that is constant on every motion, and the symmetry behind it."""

    name: str
    expression: Scalar = field(repr=False)
    why: str
    # whether it is the generalized Hamiltonian 𝓗 once more
    is_H: bool = False


def first_integrals(
    E: Energies, motion: MotionIdentityTest, where: Mapping[int, int]
) -> tuple[FirstIntegral, ...]:
    """Every candidate whose rate vanishes on the motion; none twice."""
    H = E.E - E.K0
    single = [J for J in momenta(E) if symbols_of(E.t, [J.in_rates.i])]
    energy = (
        "Jacobi integral T₂ − T₀ + V",
        jacobi_integral(E),
        "neither T, V nor the rows depend on time",
    )
    candidates = [
        *((J.name, E.kin.scalar(E.kin.in_speeds(J.in_rates.i)), J.why) for J in single),
        *_multivalued_candidates(E),
        energy,
    ]
    constant = motion.are_zero([E.rate(e) for _, e, _ in candidates], where)
    kept: list[Candidate] = []

    def keep(name: str, e: Scalar, why: str) -> None:
        if motion.is_zero(e, where) is False and not any(
            motion.is_zero(e - other, where) for _, other, _ in kept
        ):
            kept.append((name, e, why))

    for candidate, holds in zip(candidates, constant, strict=True):
        if holds:
            keep(*candidate)
    varying = [J for J, holds in zip(single, constant, strict=False) if holds is False]
    for candidate in constant_combinations(E, motion, varying, where, bool(constant[-1])):
        keep(*candidate)
    return tuple(
        FirstIntegral(name, e, why, bool(motion.is_zero(e - H, where))) for name, e, why in kept
    )


def _multivalued_candidates(E: Energies) -> Iterator[Candidate]:
    """T₂ − T₀ + V with the potentials that have another value after a closed path: a first
    integral, but no energy U.
    """
    multivalued = [
        (load, load.potential)
        for load in E.loads
        if load.many_valued and len(load.loads) == 1 and load.potential is not None
    ]
    if multivalued:
        names = ", ".join(name for load, _ in multivalued for name in load.loads)
        whole = sum((potential for _, potential in multivalued), jacobi_integral(E))
        yield (
            f"T₂ − T₀ + V with {names}",
            whole,
            "its potential has many values, so it is no potential energy U",
        )
