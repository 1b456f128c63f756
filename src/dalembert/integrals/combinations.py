"""Σ c_j J_j and T₂ − T₀ + V − Σ c_j J_j: combinations of momenta that keep their value though no term alone does.

The coefficients are rational numbers, or such times a symbol that moves a row (Ω of a turntable). They are found as the
null space of the rates dJ_j/dt at random points of one prime field, u̇ from the equations of motion, and each
combination is then proved on the motion by other points and other primes.

Source: PRINCIPLES: d/dt(p·ξ) = (Q_nc + Aᵀλ)·ξ; H − p·ξ with A ξ + b = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dalembert.algebra.columns import Column, slopes, total
from dalembert.algebra.exact.field import BadPoint, PrimePoint
from dalembert.algebra.exact.matrices import nullspace_mod, small_fraction, solve_mod, solve_unknowns
from dalembert.algebra.exact.quadratic import Element, mul
from dalembert.algebra.folds import Linear, Rewrite, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.integrals.decide import OnTheMotion
from dalembert.integrals.energies import Energies
from dalembert.integrals.momenta import Momentum, jacobi, kinetic_energy_in_rates

# beyond, finding u̇ at as many points as there are momenta takes too long
MOST_SPEEDS: Final = 12
_SPARE: Final = 4
_ATTEMPTS: Final = 200


@dataclass(frozen=True)
class CombinationTerm:
    """factor · J, or T₂ − T₀ + V where there is no momentum."""

    factor: Scalar | None
    momentum: Momentum | None
    expression: Scalar
    rate: Scalar


@dataclass(frozen=True)
class Combination:
    """A sum of terms that is constant on every motion, and the direction ξ of its momenta."""

    name: str
    expression: Scalar
    why: str


def combinations(
    E: Energies, motion: OnTheMotion, alone: Sequence[Momentum], where: Mapping[int, int], energy_is_constant: bool
) -> list[Combination]:
    """Every independent combination of momenta that are not constant alone, and of these with the energy."""
    if E.kin.n_u > MOST_SPEEDS:
        return []
    terms = list(_terms(E, alone, with_energy=not energy_is_constant))
    search = _Search(E, motion, where, terms)
    return [c for x in search.constants() if (c := search.combination(x)) is not None]


def _terms(E: Energies, momenta: Sequence[Momentum], *, with_energy: bool) -> Iterator[CombinationTerm]:
    t, kin = E.t, E.kin
    factors: list[Scalar | None] = [None]
    if with_energy:
        moving = [row.b for row in kin.rows if row.b != t.zero]
        # the symbol first, so that Ω J is written and not 3 J where Ω = 3
        factors = [*(kin.scalar(i) for i in symbols_of(t, moving) if i not in (*kin.q, *kin.qdot)), None]
    for J in momenta:
        in_speeds = kin.scalar(kin.in_speeds(J.in_rates.i))
        for f in factors:
            product = in_speeds if f is None else f * in_speeds
            yield CombinationTerm(f, J, product, E.rate(product))
    if with_energy:
        H = jacobi(E)
        yield CombinationTerm(None, None, H, E.rate(H))


class _Search:
    def __init__(self, E: Energies, motion: OnTheMotion, where: Mapping[int, int], terms: list[CombinationTerm]) -> None:
        self.E, self.t, self.motion, self.where = E, E.t, motion, where
        self.insert = Rewrite(E.t, where)
        self.terms = terms

    def constants(self) -> list[list[Fraction]]:
        """Coefficients c with Σ c_j dJ_j/dt = 0, the J_j being independent."""
        if not self.terms:
            return []
        values, rates, p = self._sampled()
        # a term that others add up to says nothing new
        dependent = {max(j for j, c in enumerate(x) if c) for x in nullspace_mod(values, p)}
        kept = [j for j in range(len(self.terms)) if j not in dependent]
        found = []
        for x in nullspace_mod([[row[j] for j in kept] for row in rates], p):
            exact = [small_fraction(c, p) for c in x]
            if all(c is not None for c in exact):
                full = [Fraction(0)] * len(self.terms)
                for j, c in zip(kept, exact, strict=True):
                    full[j] = c or Fraction(0)
                found.append(_scaled(full))
        return found

    def _sampled(self) -> tuple[list[list[Element]], list[list[Element]], int]:
        """The terms and their rates at as many points of one field as it takes."""
        nodes = [self.insert(x.expression.i) for x in self.terms]
        rates = [self.insert(x.rate.i) for x in self.terms]
        residuals = [self.insert(r) for r in self.motion.residuals]
        asked = [*nodes, *rates, *residuals, *(row.e for row in self.motion.rows)]
        prime: int | None = None
        rows: list[list[Element]] = []
        n = len(self.terms)
        for seed in range(_ATTEMPTS):
            try:
                point = self.motion.on_rows(PrimePoint(self.t, 7_000 + seed, prime, outs=asked))
                udot = solve_unknowns(point, residuals, self.motion.udot)
                row = point.on(self.t, dict(zip(self.motion.udot, udot, strict=True))).values([*nodes, *rates])
            except BadPoint:
                continue
            prime = point.prime
            rows.append(row)
            if len(rows) == n + _SPARE:
                break
        if prime is None:
            # no point was found on the rows: nothing can be said
            return [], [], 2
        return [r[:n] for r in rows], [r[n:] for r in rows], prime

    # ---- what was found, in words --------------------------------------------------------------

    def combination(self, c: Sequence[Fraction]) -> Combination | None:
        """The sum itself, if it is constant indeed."""
        kept = [(x, term) for x, term in zip(c, self.terms, strict=True) if x]
        whole, rate = total(self.t, (x * term.expression for x, term in kept)), total(self.t, (x * term.rate for x, term in kept))
        if not self.motion.vanishes(rate, self.where) or self.motion.vanishes(whole, self.where) is not False:
            return None
        return Combination(self._name(c), whole, self._why(c))

    def _name(self, c: Sequence[Fraction]) -> str:
        has_energy = any(x and term.momentum is None for x, term in zip(c, self.terms, strict=True))
        parts: list[str] = []
        for x, term in sorted(zip(c, self.terms, strict=True), key=lambda pair: pair[1].momentum is not None):
            if not x:
                continue
            sign = ("+ " if parts else "") if x > 0 else ("− " if parts else "−")
            factor = "" if term.factor is None else f"{term.factor} "
            number = "" if abs(x) == 1 else f"{abs(x)} "
            parts.append(f"{sign}{number}{factor}{_short(term)}")
        return f"{'moving energy' if has_energy else 'sum of momenta'} {' '.join(parts)}"

    def _why(self, c: Sequence[Fraction]) -> str:
        """By the direction ξ with 𝓜 ξ = ∂J/∂q̇: whether the rows hold it."""
        kin = self.E.kin
        kept = [(x, term) for x, term in zip(c, self.terms, strict=True) if x]
        moving = any(term.momentum is None for _, term in kept)
        momenta = ((x if term.factor is None else x * term.factor, term.momentum) for x, term in kept)
        J = total(self.t, (factor * momentum.in_rates for factor, momentum in momenta if momentum is not None))
        # H − p·ξ
        along = self._along_rows(-J if moving else J)
        if along is None:
            return "its rate vanishes on every motion"
        if moving:
            held = all((a + b) % p == 0 for a, b, p in along)
            return "along a symmetry ξ with A ξ + b = 0" if held else "its rate vanishes on every motion"
        if not kin.rows:
            return "along a symmetry of T and V"
        return "along a symmetry ξ with A ξ = 0" if not any(a for a, _, _ in along) else "its rate vanishes on every motion"

    def _along_rows(self, J: Scalar) -> list[tuple[int, int, int]] | None:
        """(A_j·ξ, b_j, p) of every row at one point, or None where 𝓜 determines no ξ."""
        t, kin = self.t, self.E.kin
        linear, qdot = Linear(t, kin.qdot), Column(t, kin.qdot)
        M = [linear(p)[1] for p in slopes(kinetic_energy_in_rates(self.E), qdot)]
        try:
            point = PrimePoint(t, 9_000)
            A = [[point(self.insert(row.get(k, t.zero))) for k in range(kin.n_q)] for row in M]
            xi = solve_mod(A, [point(self.insert(s)) for s in slopes(J, qdot)], point.prime)
            p = point.prime
            along = [sum(_plain(mul(point(self.insert(a)), xi[k], p)) for k, a in row.A.items()) % p for row in kin.rows]
            return [(a, point.plain(self.insert(row.b)), p) for a, row in zip(along, kin.rows, strict=True)]
        except BadPoint:
            return None


def _plain(x: Element) -> int:
    if isinstance(x, tuple):
        msg = "a direction that is not real at this point"
        raise BadPoint(msg)
    return x


def _short(term: CombinationTerm) -> str:
    return "T₂ − T₀ + V" if term.momentum is None else f"({term.momentum.name})"


def _scaled(c: list[Fraction]) -> list[Fraction]:
    """The energy, which is the last term, or else the first term with the coefficient one."""
    lead = c[-1] or next(x for x in c if x)
    return [x / lead for x in c]
