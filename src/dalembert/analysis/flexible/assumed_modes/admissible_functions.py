"""v(x, t) = Σ φ_i(x/L) q_i(t): functions that satisfy the geometric conditions of a member's ends.

Orthogonalised polynomials: ∫ φ_i⁽ᵏ⁾ φ_j⁽ᵏ⁾ dξ = 0 for i ≠ j, where k is the highest derivative in
the strain energy. The strain energy of the uniform member is then a sum of squares, which keeps its
lowest frequencies to rounding with a dozen functions and more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from flint import fmpq_mat

from dalembert.analysis.flexible.assumed_modes.polynomials import (
    AdmissibleFunction,
    Polynomial,
    fraction,
    gram_schmidt,
    inner_product,
    polynomial_coefficients,
    quadrature_for_degree,
)
from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.flexible_member import Field, Member
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import Derivative, evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar, as_node, is_python_function
from dalembert.symbolic.algebra.tape import Number, Tape

# how far from zero, against the size of the function, a value may be that a geometric condition
# sets to zero
_BOUNDARY_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class SmoothFunction:
    """A user's function that is no polynomial: its values are rounded to floating point numbers."""

    tape: Tape
    xi: int
    node: int
    degree: None = None

    @cached_property
    def _derivatives(self) -> list[int]:
        along = Derivative(self.tape, lambda i: self.tape.one if i == self.xi else None)
        derivatives = [self.node]
        for _ in range(4):
            derivatives.append(along(derivatives[-1]))
        return derivatives

    def at(self, xi: Number, order: int = 0) -> Fraction:
        """φ⁽ᵏ⁾(ξ)"""
        (value,) = evaluate(
            self.tape, [self._derivatives[order]], lambda _: float(xi), FloatArithmetic()
        )
        return Fraction(value)


# ---- orthogonalised polynomials ------------------------------------------------------------------


def orthogonal_polynomials(
    conditions: Sequence[tuple[int, int]], order: int, count: int
) -> tuple[Polynomial, ...]:
    """The first `count` polynomials, by degree, that satisfy φ⁽ᵏ⁾(end) = 0 for all (end, k);
    orthogonal in ∫ φ⁽ᵒʳᵈᵉʳ⁾ φ⁽ᵒʳᵈᵉʳ⁾ dξ.

    Those without strain, by which the member moves as a whole, come first and are orthogonal in ∫ φ
    φ dξ.
    """
    candidates = _null_space_polynomials(conditions, count)
    rigid = [p for p in candidates if not p.derivative(order)]
    bent = [p for p in candidates if p.derivative(order)]
    basis = [*gram_schmidt(rigid, inner_product(0)), *gram_schmidt(bent, inner_product(order))]
    return tuple(_normalize(p) for p in basis)


def _null_space_polynomials(conditions: Sequence[tuple[int, int]], count: int) -> list[Polynomial]:
    """The null space of the conditions on the coefficients, one polynomial for each degree that
    is not used up by them.
    """
    size = count + len(conditions)
    monomials = [Polynomial.of([0] * d + [1]) for d in range(size)]
    rows, rank = fmpq_mat(
        len(conditions), size, [int(p.at(end, k)) for end, k in conditions for p in monomials]
    ).rref()
    # the conditions are met with the lowest degrees
    pivots = [next(d for d in range(size) if rows[i, d] != 0) for i in range(rank)]
    free = [d for d in range(size) if d not in pivots][:count]
    return [
        sum((monomials[j].scale(-fraction(rows[i, d])) for i, j in enumerate(pivots)), monomials[d])
        for d in free
    ]


def _normalize(p: Polynomial) -> Polynomial:
    """φ(1) = 1, or else about 1 where it is largest: an amplitude is then a displacement one can
    picture.
    """
    if p(1):
        return p.scale(1 / p(1))
    largest = max((p(Fraction(k, 32)) for k in range(33)), key=abs)
    return p.scale(_round_to_one_digit(1 / largest))


def _round_to_one_digit(x: Fraction) -> Fraction:
    """x if it is a whole number, otherwise x to one digit."""
    return x if x.denominator == 1 else Fraction(f"{float(x):.0e}")


# ---- eigenfunctions of the uniform member --------------------------------------------------------


def eigenfunctions(
    conditions: Sequence[tuple[int, int]], order: int, count: int
) -> tuple[Polynomial, ...]:
    """The lowest natural modes of the uniform member, (−1)ᵏ φ⁽²ᵏ⁾ = λ φ, as combinations of
    polynomials to rounding.

    A combination satisfies the geometric conditions exactly, the natural ones and the differential
    equation to rounding.
    """
    import numpy as np
    from scipy.linalg import eigh

    basis = orthogonal_polynomials(conditions, order, 2 * count + 10)
    mass, strain = inner_product(0), inner_product(order)
    M = np.array([[float(mass(p, r)) for r in basis] for p in basis])
    K = np.array([[float(strain(p, r)) for r in basis] for p in basis])
    rigid = sum(not p.derivative(order) for p in basis)
    # 1/λ from M φ = (1/λ) (K + c M_r) φ: the lowest λ come out to rounding; M_r lifts the motions
    # as a whole
    shifted_stiffness = K + M[:, :rigid] @ M[:rigid, :]
    _, vectors = eigh(M, shifted_stiffness)
    modes = list(basis[:rigid])
    for column in vectors.T[::-1]:
        mode = sum(
            (p.scale(Fraction(float(c))) for p, c in zip(basis, column, strict=True)),
            Polynomial.of([]),
        )
        if rigid and abs(float(strain(mode, mode))) < _BOUNDARY_TOLERANCE * float(mass(mode, mode)):
            continue
        modes.append(_normalize(mode))
    return tuple(modes[:count])


# ---- the user's own ------------------------------------------------------------------------------


def user_functions(
    member: Member, field: Field, functions: Sequence[Callable[[Scalar], Any]]
) -> tuple[AdmissibleFunction, ...]:
    """Functions of ξ = x/L that a user wrote, each checked against every geometric condition of the
    field.
    """
    functions_read: list[AdmissibleFunction] = []
    for number, f in enumerate(functions, 1):
        name = f"{member.kind} {member.name!r}: function {number} of {field.symbol}"
        function = _parse_function(name, f)
        _check_conditions(name, member, field, function)
        functions_read.append(function)
    _check_independent(member, field, functions_read)
    return tuple(functions_read)


def _parse_function(name: str, f: Callable[[Scalar], Any]) -> AdmissibleFunction:
    if not is_python_function(f):
        msg = (
            f"{name}: {f!r} is no function; write it as lambda xi: xi**2, with xi = x/length "
            f"from 0 to 1"
        )
        raise BadDescription(msg)
    tape = Tape()
    xi = tape.symbol("xi")
    try:
        node = as_node(tape, f(Scalar(tape, xi)))
    except TypeError as problem:
        msg = (
            f"{name}: {problem}; write it as lambda xi: xi**2, with dalembert's own functions "
            f"(da.sin) where it needs any"
        )
        raise BadDescription(msg) from problem
    if any(i != xi for i in symbols_of(tape, [node])):
        msg = (
            f"{name}: it contains other symbols; a function of a member depends on xi = "
            f"x/length "
            f"alone"
        )
        raise BadDescription(msg)
    powers = polynomial_coefficients(Scalar(tape, node), Scalar(tape, xi))
    c = {} if powers is None else {n: tape.value(e.i) for n, e in powers.items()}
    if powers is None or None in c.values():
        return SmoothFunction(tape, xi, node)
    return Polynomial.of(c.get(n) or 0 for n in range(max(c, default=0) + 1))


def _check_conditions(
    name: str, member: Member, field: Field, function: AdmissibleFunction
) -> None:
    for end, k in member.essential_conditions(field):
        size = max(abs(float(function.at(Fraction(j, 8), k))) for j in range(9))
        value = float(function.at(end, k))
        if abs(value) > _BOUNDARY_TOLERANCE * max(size, 1.0):
            what = field.symbol + "′" * k
            where = "0" if end == 0 else "L"
            support = member.ends[end].support
            violated = f"violates {what}({where}) = 0, a geometric condition of the {support} end"
            msg = (
                f"{name} {violated}: its {'slope' if k else 'value'} there is {value:.6g}; "
                f"choose functions that satisfy it"
            )
            raise BadDescription(msg)


def _check_independent(
    member: Member, field: Field, functions: Sequence[AdmissibleFunction]
) -> None:
    import numpy as np

    values = np.array(
        [[float(f.at(x)) for x in quadrature_for_degree(None).nodes] for f in functions]
    )
    scaled = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-300)
    if np.linalg.matrix_rank(scaled, tol=1e-11) < len(functions):
        which = f"the {len(functions)} functions of {field.symbol}"
        msg = (
            f"{member.kind} {member.name!r}: {which} are not independent; leave out the "
            f"superfluous ones"
        )
        raise BadDescription(msg)
