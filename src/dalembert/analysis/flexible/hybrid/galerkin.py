"""∫ R(x, t) δv dx + (conditions at the ends) δv = 0: Galerkin's method on the hybrid equations.

The fields in the partial differential equations and in the natural boundary conditions are replaced
by v = Σ φ_i(x/L) q_i, and the residual is weighted with the functions themselves; s = ½∫₀ˣ v′² dx
and its variation go along, and the axial force N, which only keeps that condition, drops out. So
the partial differential equations give the same ordinary ones as the discretised energies do: this
is the check that they were integrated by parts correctly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from dalembert.analysis.flexible.assumed_modes.discretised_member import Discretised
from dalembert.analysis.flexible.assumed_modes.member_properties import section_properties
from dalembert.analysis.flexible.assumed_modes.polynomials import (
    QuadratureRule,
    degree_in_x,
    max_degree,
    quadrature_for_degree,
)
from dalembert.analysis.flexible.hybrid.energy_densities import FORCE, SHORTENING, Continuum
from dalembert.analysis.flexible.hybrid.hybrid_equations import HybridEquations
from dalembert.errors import BadDescription, NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.symbolic.algebra.exact.verdict import Verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution, copy_expressions
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    gradient_column,
    sum_by_key,
    sum_of_products,
)
from dalembert.symbolic.algebra.tape import Number, Tape

# the highest derivatives that occur in the field equations of beams
_MAX_X_ORDER, _DOTS = 4, 2


@dataclass(frozen=True)
class GalerkinEquations(Displayable):
    """One equation for each speed of a derivation, obtained from the hybrid equations, on a tape
    of its own.
    """

    tape: Tape = field(repr=False)
    names: tuple[str, ...]
    nodes: tuple[int, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {e} = 0" for name, e in zip(self.names, self.equations, strict=True)
        )

    @property
    def equations(self) -> tuple[Scalar, ...]:
        """The left sides; each is zero along the motion."""
        return tuple(Scalar(self.tape, i) for i in self.nodes)

    def verdicts(self, d: Derivation) -> dict[str, Verdict]:
        """For each speed whether a derivation says the same along it: shown to, shown not to, or
        undecided.
        """
        t = self.tape
        theirs = copy_expressions(d.tape, t, d.equations.residuals)
        same = decide_zero(t, (Column(t, self.nodes) - Column(t, theirs)).nodes)
        return dict(zip(self.names, same.verdicts, strict=True))

    def differences(self, d: Derivation) -> list[str]:
        """The speeds along which a derivation says something else; none, if all was shown to be
        equal.
        """
        return [name for name, equal in self.verdicts(d).items() if not equal]


def galerkin(hybrid: HybridEquations, d: Derivation) -> GalerkinEquations:
    """The hybrid equations of a system in the functions in which its members were expanded
    afterwards; d is any derivation of these.
    """
    _check_arguments(hybrid, d)
    kin = d.kinematics.fork()
    tape = kin.tape
    rows = {kin.name(u): tape.zero for u in kin.u}
    place = (
        dict(zip((kin.name(q) for q in kin.q), rows, strict=False))
        if hybrid.along == "q"
        else {name: name for name in rows}
    )
    expanded = {
        name: _FieldExpansion(
            c, _require_discretised(kin.system.expansions.get(name), name), kin.rate, tape
        )
        for name, c in hybrid.continua.items()
    }
    terms = _ordinary_terms(hybrid, expanded, place)
    terms += _member_terms(kin, hybrid, expanded)
    rows |= sum_by_key(tape, terms)
    return GalerkinEquations(tape, tuple(rows), tuple(rows.values()))


def _check_arguments(hybrid: HybridEquations, d: Derivation) -> None:
    if not isinstance(hybrid, HybridEquations) or not isinstance(d, Derivation):
        given = ", ".join(type(x).__name__ for x in (hybrid, d))
        msg = (
            "galerkin: give hybrid equations and a derivation, "
            f"da.galerkin(da.extended_hamilton(s), da.kane(s)), not {given}"
        )
        raise BadDescription(msg)
    if d.kinematics.rows and hybrid.along == "q":
        msg = (
            "with constraint rows the equations in coordinates hold together, not separately; "
            "derive them in speeds, speeds=True"
        )
        raise NotApplicable(msg)


def _ordinary_terms(
    hybrid: HybridEquations, expanded: Mapping[str, _FieldExpansion], place: Mapping[str, str]
) -> list[tuple[str, int]]:
    """(speed, term) of the ordinary equations: the rigid part and the integrals over members."""
    terms: list[tuple[str, int]] = []
    for e in hybrid.ordinary:
        terms.append((place[e.name], _insert_end_values(hybrid, expanded, e.rigid_part)))
        terms += [
            (place[e.name], expanded[name].integral(hybrid.tape, density))
            for name, density in e.integrands.items()
        ]
    return terms


def _member_terms(
    kin: Kinematics, hybrid: HybridEquations, expanded: Mapping[str, _FieldExpansion]
) -> list[tuple[str, int]]:
    """(speed, term) of the field equations, weighted by the function of each amplitude."""
    speed_of = {
        q: kin.name(u)
        for q, rate in zip(kin.q, kin.qdot_of_u, strict=True)
        for u in kin.u
        if u == rate
    }
    return [
        (speed_of[q], node)
        for name, x in expanded.items()
        for q, node in x.weighted_residuals(hybrid, name)
    ]


def _require_discretised(expansion: object, name: str) -> Discretised:
    if not isinstance(expansion, Discretised):
        msg = f"{name!r} has not been expanded in functions: da.discretise(s, {name}, 3)"
        raise NotApplicable(msg)
    return expansion


def _insert_end_values(
    hybrid: HybridEquations, expanded: Mapping[str, _FieldExpansion], e: int
) -> int:
    """An expression outside all integrals, with the values of the fields at the ends put in."""
    tape = next(iter(expanded.values())).tape
    (node,) = copy_expressions(hybrid.tape, tape, [e])
    for x in expanded.values():
        node = Substitution(tape, x.at_ends)(node)
    return node


class _FieldExpansion:
    """The fields of one member and all their derivatives in the amplitudes, node by node."""

    def __init__(self, c: Continuum, bent: Discretised, rate: Derivative, tape: Tape) -> None:
        self.c, self.bent, self.rate, self.tape = c, bent, rate, tape
        m = bent.member
        varying = max_degree(
            degree_in_x(m, e)
            for e in (*(e for _, e in section_properties(m)), m.tension)
            if e is not None
        )
        exact = bent.rule.exact
        self.rule: QuadratureRule = quadrature_for_degree(
            None if exact is None or varying is None else exact + varying
        )
        _, start, end = c.stations
        self.at_ends = self._values(start.label, 0) | self._values(end.label, 1)

    def _symbol(self, name: str, along: int, dots: int, label: str) -> int:
        """The field's derivative as the symbol it has on the tape of the hybrid equations, found
        here by its name.
        """
        symbol = self.c.fields.symbol(name, along, dots, label)
        return self.tape.symbol(str(self.c.fields.tape.nodes[symbol][1]))

    def _values(self, label: str, xi: Number) -> dict[int, int]:
        """{∂ⁱ⁺ʲ v/∂xⁱ∂tʲ: its value in the amplitudes} at a place."""
        substitutions = {}
        for name, symbol in self.c.symbols.items():
            for along in range(_MAX_X_ORDER + 1):
                value = self._value(name, xi, along)
                for dots in range(_DOTS + 1):
                    substitutions[self._symbol(symbol, along, dots, label)] = value
                    value = self.rate(value)
        return substitutions

    def _value(self, name: str, xi: Number, along: int) -> int:
        """∂ⁱv/∂xⁱ at a place; the axial force N only keeps a condition, and drops out."""
        if name == FORCE or (name == SHORTENING and along):
            return self.tape.zero
        return as_node(
            self.tape,
            self.bent.shortening(xi) if name == SHORTENING else self.bent.value(name, xi, along),
        )

    def _insert_fields_at(self, xi: Number) -> Substitution:
        m = self.bent.member
        return Substitution(
            self.tape, self._values("", xi) | {m.x.i: as_node(self.tape, m.length * xi)}
        )

    def integral(self, source: Tape, density: int) -> int:
        """∫ e dx"""
        (e,) = copy_expressions(source, self.tape, [density])
        return sum_of_products(
            self.tape,
            (
                (self._dx(w), self._insert_fields_at(xi)(e))
                for xi, w in zip(self.rule.nodes, self.rule.weights, strict=True)
            ),
        )

    def _dx(self, w: Number) -> int:
        return as_node(self.tape, self.bent.member.length * w)

    def weighted_residuals(self, hybrid: HybridEquations, name: str) -> list[tuple[int, int]]:
        """(q_j, Σ_fields ∫ R δv_j dx − Σ_ends B δv_j) for every amplitude."""
        t = self.tape
        partial = [
            (e.field, copy_expressions(hybrid.tape, t, [e.residual])[0])
            for e in hybrid.partial
            if e.member == name
        ]
        pairs: list[tuple[int, int]] = []
        for xi, w in zip(self.rule.nodes, self.rule.weights, strict=True):
            here = self._insert_fields_at(xi)
            for symbol, residual in partial:
                pairs += self._weight_residual(
                    symbol, 0, xi, Scalar(t, self._dx(w)) * Scalar(t, here(residual))
                )
        for b in hybrid.boundary:
            if b.member == name and b.kind == "natural":
                (residual,) = copy_expressions(hybrid.tape, t, [b.residual])
                value = Scalar(t, Substitution(t, self.at_ends)(residual))
                pairs += self._weight_residual(b.field, b.order, b.end, -value if b.end else value)
        return list(sum_by_key(t, pairs).items())

    def _weight_residual(
        self, symbol: str, order: int, xi: Number, value: Scalar
    ) -> Iterator[tuple[int, int]]:
        """(q_j, value ∂v⁽ᵏ⁾/∂q_j): the residual at a position, weighted with how each amplitude
        varies a field there.
        """
        t = self.tape
        name = next(key for key, s in self.c.symbols.items() if s == symbol)
        amplitudes = Column(t, (q.i for each in self.bent.amplitudes.values() for q in each))
        weights = gradient_column(Scalar(t, self._value(name, xi, order)), amplitudes)
        yield from (
            (q, (Scalar(t, w) * value).i)
            for q, w in zip(amplitudes, weights, strict=True)
            if w != t.zero
        )
