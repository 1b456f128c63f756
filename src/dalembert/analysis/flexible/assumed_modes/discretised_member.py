"""r(x, t) = r_P + (x + u − ½∫₀ˣ (v′² + w′²) dx) e_x + v e_y + w e_z with v = Σ φ_i(x/L) q_i: a
member in its amplitudes.

Its strain energy is V = ½∫ (EI v″² + N v′² + EA u′² + GJ φ′² + kGA (v′ − ψ)²) dx in the amplitudes,
with what the springs at the ends add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dalembert.analysis.flexible.assumed_modes.member_properties import (
    end_springs,
    section_rotation_field,
)
from dalembert.analysis.flexible.assumed_modes.polynomials import (
    AdmissibleFunction,
    Polynomial,
    QuadratureRule,
    gauss_rule,
    modal_integrals,
)
from dalembert.errors import BadDescription
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.flexible_member import Member, MemberExpansion
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar, exact
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Number

# nodes for ∫₀^ξ φ_i′ φ_j′ dξ of functions that are no polynomials
_SHORTENING_NODES: Final = 24


# deflections, stretch, twist and turns of sections; those that a member does not have are zero
_FIELDS: Final = ("v", "w", "u", "phi", "psi", "psi_v", "psi_w")


@dataclass(frozen=True, eq=False)
class Discretised(MemberExpansion, Displayable):
    """A member whose fields are sums of admissible functions, with their amplitudes as
    coordinates of the system.
    """

    functions: dict[str, tuple[AdmissibleFunction, ...]]
    rule: QuadratureRule
    system: System = field(repr=False)

    # ---- fields ------------------------------------------------------------------------------

    @property
    def _zero(self) -> Scalar:
        tape = self.member.length.tape
        return Scalar(tape, tape.zero)

    def value(self, symbol: str, x_ratio: Any, order: int = 0) -> Scalar:
        """∂ᵏv/∂xᵏ = Σ φ_i⁽ᵏ⁾(ξ) q_i / Lᵏ at the share ξ = x/L of the length."""
        if not isinstance(symbol, str) or symbol not in _FIELDS:
            msg = (
                f"{self.member.kind} {self.member.name!r} has no field {symbol!r:.60}; its "
                f"fields are {', '.join(self.functions)}"
            )
            raise BadDescription(msg)
        if symbol not in self.functions:
            return self._zero
        xi, L = _check_xi(x_ratio), self.member.length
        whole = sum_scalars(
            L.tape,
            (q * self._number(f.at(xi, order)) for q, f in self._expansion(symbol)),
        )
        return whole / L**order if order else whole

    def shortening(self, share: Any) -> Scalar:
        """½∫₀ˣ (v′² + w′²) dx = Σ_ij ½∫₀^ξ φ_i′ φ_j′ dξ q_i q_j / L: by how much the bent member
        is drawn in.
        """
        xi, L = _check_xi(share), self.member.length
        t, number = L.tape, self._number
        total = t.zero
        for q, p, integral in self._shortening_terms:
            total = t.add(total, t.mul(t.mul(q, p), t.const(number(integral(xi)))))
        return Scalar(t, total) / L

    @cached_property
    def _shortening_terms(self) -> list[tuple[int, int, Callable[[Number], Fraction]]]:
        """(q_i, q_j, ½∫₀^ξ φ_i′ φ_j′ dξ as a function of ξ), doubled for i ≠ j"""
        return [
            (q.i, p.i, _shortening_integral(f, g, Fraction(1, 2 if f is g else 1)))
            for symbol in ("v", "w")
            for each in [list(self._expansion(symbol))]
            for i, (q, f) in enumerate(each)
            for p, g in [(q, f), *each[:i]]
        ]

    def _expansion(self, symbol: str) -> Iterator[tuple[Scalar, AdmissibleFunction]]:
        """The amplitudes of a field with their functions."""
        functions = self.functions.get(symbol, ())
        return zip(self.amplitudes.get(symbol, ()), functions, strict=True)

    def _number(self, x: Fraction) -> Number:
        """A value of a function, rounded where integrals are: exact values at the nodes of Gauss
        have thousands of digits.
        """
        return x if self.rule.exact is not None else Fraction(float(x))

    def position(self, share: Any) -> Vector:
        """From the point of the member's attachment to the position ξ = x/L of the bent member."""
        m, xi = self.member, _check_xi(share)
        along = m.length * xi + self.value("u", xi)
        if m.shortening:
            along -= self.shortening(xi)
        r: Vector = along * m.along
        for symbol, direction in zip("vw", m.bending, strict=False):
            r += self.value(symbol, xi) * direction
        return r

    # ---- places ------------------------------------------------------------------------------

    def point(self, share: Any, name: str | None = None) -> Point:
        """The place ξ = x/L of the bent member, a point like any other."""
        xi = _check_xi(share)
        return self.member.at.offset(
            self.position(xi),
            name or f"{self.member.name} at {float(xi):g} of its length",
            self.member.frame,
        )

    @cached_property
    def tip(self) -> Point:
        """The far end."""
        return self.point(1, f"tip of {self.member.name}")

    def section_rotation(self, plane: int, share: Any) -> Scalar:
        """The angle of a section about the axis across one bending plane: the slope v′, or ψ
        where the member shears.
        """
        symbol, order = section_rotation_field(self.member, plane)
        return self.value(symbol, share, order)

    def section(self, share: Any) -> Frame:
        """A frame that turns with the section at ξ = x/L: by its slopes and its twist, as
        successive angles.
        """
        m, xi = self.member, _check_xi(share)
        F = m.frame
        for plane, axis in enumerate(m.bending_axes):
            F = F.rotated(self.section_rotation(plane, xi), _in_frame(axis, m.frame, F))
        if "phi" in self.functions:
            F = F.rotated(self.value("phi", xi), _in_frame(m.along, m.frame, F))
        return F

    def frequencies(self, values: Mapping[Any, Any] | None = None) -> FloatArray:
        """ω of the member by itself, held in its frame, lowest first; `values` for constants
        other than declared.
        """
        from dalembert.analysis.flexible.assumed_modes.ritz import ritz_matrices

        return ritz_matrices(self, values).frequencies()

    def __str__(self) -> str:
        from dalembert.analysis.flexible.assumed_modes.ritz import convergence

        return "\n".join((self.summary(), str(convergence(self))))

    def summary(self) -> str:
        """What it is made of, in one line."""
        m = self.member
        fields = ", ".join(f"{len(f)} in {name}" for name, f in self.functions.items())
        kind = "exact integrals" if self.rule.exact is not None else "integrals to rounding"
        return (
            f"{m.kind} {m.name!r}, {m.left.support}–{m.right.support}: functions {fields}; "
            f"{len(self.rule)} slices, {kind}"
        )


def _in_frame(axis: Vector, base: Frame, F: Frame) -> Vector:
    """The vector that has in F the components that `axis` has in `base`."""
    return axis if F is base else Vector(axis.tape, {F: axis.components(base)})


def _check_xi(share: Any) -> Number:
    xi = exact(share)
    if not 0 <= xi <= 1:
        msg = f"place {share!r}: give a fraction of the member's length from 0 to 1"
        raise BadDescription(msg)
    return xi


def _shortening_integral(
    f: AdmissibleFunction, g: AdmissibleFunction, factor: Fraction
) -> Callable[[Number], Fraction]:
    """ξ ↦ c ∫₀^ξ f′ g′ dξ"""
    if isinstance(f, Polynomial) and isinstance(g, Polynomial):
        return (f.derivative(1) * g.derivative(1)).antiderivative.scale(factor)
    rule = gauss_rule(_SHORTENING_NODES)

    def integral(xi: Number) -> Fraction:
        value = sum(
            float(w) * float(f.at(xi * x, 1)) * float(g.at(xi * x, 1))
            for w, x in zip(rule.weights, rule.nodes, strict=True)
        )
        return Fraction(float(xi) * value) * factor

    return integral


# ---- strain and inertia --------------------------------------------------------------------------

# a part of a strain: amplitudes with their functions, the order of derivative in it, and its sign
StrainTerm = tuple[tuple[Scalar, ...], tuple[AdmissibleFunction, ...], int, int]
_DISPLACEMENTS: Final = ("v", "w", "u")
# a rigidity with the parts of the strain it resists
Rigidity = tuple[Scalar, list[StrainTerm]]


def strain_energy(bent: Discretised) -> Scalar:
    """Σ ½ c_ij q_i q_j"""
    m = bent.member
    energy = Scalar(m.length.tape, m.length.tape.zero)
    for rigidity, parts in rigidities(bent):
        for a, first in enumerate(parts):
            for second in parts[a:]:
                factor = (1 if first is second else 2) * first[3] * second[3]
                energy += _quadratic_form(bent, rigidity, first, second) * factor / 2
    return energy


def rigidities(bent: Discretised) -> list[Rigidity]:
    """Every rigidity of the member with the strain it resists."""
    m = bent.member
    stiffnesses: list[Rigidity] = []
    for plane, symbol in enumerate("vw"[: len(m.bending)]):
        turn, order = section_rotation_field(m, plane)
        if m.stiffness:
            stiffnesses.append((m.stiffness[plane], [_strain_term(bent, turn, order + 1)]))
        if m.shear:
            stiffnesses.append(
                (m.shear[plane], [_strain_term(bent, symbol, 1), _strain_term(bent, turn, 0, -1)])
            )
        if m.tension is not None:
            stiffnesses.append((m.tension, [_strain_term(bent, symbol, 1)]))
    stiffnesses += [
        (c, [_strain_term(bent, symbol, 1)])
        for symbol, c in (("u", m.axial), ("phi", m.torsion))
        if c is not None
    ]
    return stiffnesses


def inertias(bent: Discretised) -> list[Rigidity]:
    """Every inertia per length of the member with the motion it resists: ρA, ρI and ρI_p."""
    m = bent.member
    turns = [(*section_rotation_field(m, plane), rho_I) for plane, rho_I in enumerate(m.rotary)]
    table = [
        *((symbol, 0, m.density) for symbol in bent.functions if symbol in _DISPLACEMENTS),
        *turns,
        ("phi", 0, m.polar),
    ]
    return [
        (c, [_strain_term(bent, symbol, order)])
        for symbol, order, c in table
        if c is not None and symbol in bent.functions
    ]


def end_inertias(m: Member, side: int) -> Iterator[tuple[Scalar, str, int]]:
    """(m, field, order): what sits on an end, by the motion that it takes part in."""
    end = m.ends[side]
    if end.mass is not None:
        yield from ((end.mass, f.symbol, 0) for f in m.fields if f.symbol in _DISPLACEMENTS)
    if end.inertia is not None:
        turns = (
            [("phi", 0)]
            if m.kind == "shaft"
            else [section_rotation_field(m, plane) for plane in range(len(m.bending))]
        )
        yield from ((end.inertia, symbol, order) for symbol, order in turns)


def _strain_term(bent: Discretised, symbol: str, order: int, sign: int = 1) -> StrainTerm:
    return bent.amplitudes[symbol], bent.functions[symbol], order, sign


def _quadratic_form(
    bent: Discretised, rigidity: Scalar, first: StrainTerm, second: StrainTerm
) -> Scalar:
    """∫ c f⁽ᵏ⁾ g⁽ˡ⁾ dx = Σ_ij q_i q_j L^(1−k−l) ∫₀¹ c f_i⁽ᵏ⁾ g_j⁽ˡ⁾ dξ"""
    L = bent.member.length
    p, f, k, _ = first
    r, g, l, _ = second
    table = modal_integrals(bent.member, rigidity, [(x, k) for x in f], [(x, l) for x in g])
    power = 1 - k - l
    scale = L**power if power >= 0 else 1 / L ** (-power)
    return (
        sum_scalars(
            L.tape,
            (
                _form_row(p[i], r, row, i if first is second else None)
                for i, row in enumerate(table)
            ),
        )
        * scale
    )


def _form_row(
    p: Scalar, r: Sequence[Scalar], row: Sequence[Scalar], diagonal: int | None
) -> Scalar:
    """p Σ_j c_j r_j; of a symmetric form only the terms up to the diagonal, the off-diagonal ones
    twice.
    """
    if diagonal is None:
        return sum_scalars(p.tape, (c * p * q for c, q in zip(row, r, strict=True)))
    terms = zip(row[: diagonal + 1], r, range(diagonal, -1, -1), strict=False)
    return sum_scalars(p.tape, (c * p * q * (2 if distance else 1) for c, q, distance in terms))


def spring_energy(bent: Discretised) -> tuple[Scalar, Scalar]:
    """½ k v² + ½ k_t v′² + … at the ends, and the dissipation ½ c v̇² of the dampers."""
    m, t = bent.member, bent.member.length.tape
    springs = (
        (k, bent.value(name, side, order))
        for side in (0, 1)
        for k, name, order, _ in end_springs(m, side)
    )
    dampers = (
        (end.damper, bent.value(name, side).dot)
        for side, end in enumerate(m.ends)
        for name in m.damped_fields
    )
    return sum_scalars(t, (k * v**2 / 2 for k, v in springs)), sum_scalars(
        t, (c * v**2 / 2 for c, v in dampers if c is not None)
    )
