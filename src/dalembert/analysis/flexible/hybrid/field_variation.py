"""v, v′, v″, v̇, v̇′, …: fields over a member, and their total derivatives D_x and D_t.

A field v(x, t) and each of its derivatives is a symbol of the tape: ′ counts derivatives along the
member, ' those in time, as in v′′'. D_t is the tape's own derivative along rates; D_x is the same
fold along another set of rates, x → 1, v → v′, v̇ → v̇′.

Their variation is δ∫ℒ dx = ∫ E δv dx + [B₀ δv + B₁ δv′ + …]₀ᴸ: each term (∂ℒ/∂v⁽ⁱʲ⁾) δv⁽ⁱʲ⁾ is
integrated by parts, j times in time, where the variations vanish at both instants, and i times
along the member, until δv stands without a derivative inside. The boundary terms multiply δv, δv′,
….

Of an integral over a member inside ordinary expressions, ∫₀ᴸ f(x, v, v′, …) dx, what does not vary
along the member is taken out, powers of x alone are integrated, and the remaining integral is a
symbol of the tape whose name is the integral as it is printed. So integrals can be added, collected
and printed like anything else.

Source: Bar00 (60)–(62) and the text after; Mei85 ch. 7 for the discrete case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple, TypeVar

from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.symbolic.algebra import printing
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution, symbols_of
from dalembert.symbolic.algebra.formula import Formula, Name, Partial, Rate
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import (
    Atom,
    Powers,
    RationalForm,
    Term,
    to_scalar,
)
from dalembert.symbolic.algebra.printing import print_tree as shown
from dalembert.symbolic.algebra.printing.common_subexpressions import with_intermediates
from dalembert.symbolic.algebra.printing.print_tree import Group, Tree
from dalembert.symbolic.algebra.printing.symbol_names import field
from dalembert.symbolic.algebra.printing.term_layout import (
    FUNCTION,
    Naming,
    Printer,
    TermOrder,
    symbol_namer,
)
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars
from dalembert.symbolic.algebra.tape import Tape, base_name

PRIME = "′"


class FieldDerivative(NamedTuple):
    """∂ⁱ⁺ʲ v / ∂xⁱ ∂tʲ of one field."""

    field: str
    along: int
    dots: int


class Fields:
    """The fields of one member: the symbols of their derivatives, D_x, D_t, and their values at
    a place.
    """

    def __init__(
        self,
        tape: Tape,
        x: int,
        names: Sequence[str],
        rate: Callable[[int], int | None] | None = None,
    ) -> None:
        self.tape, self.x, self.names = tape, x, tuple(names)
        for name in names:
            tape.moving_symbol(name)
        self.D_x = Derivative(tape, self._slope)
        self.D_t = Derivative(tape, rate or tape.rate)

    # ---- symbols -----------------------------------------------------------------------------

    def symbol(self, field: str, along: int = 0, dots: int = 0, place: str = "") -> int:
        """∂ⁱ⁺ʲ v / ∂xⁱ ∂tʲ, in general or at a place such as "L"."""
        t = self.tape
        i: int | None = t.moving_symbol(field + PRIME * along + (f"({place})" if place else ""))
        for _ in range(dots):
            i = t.rate(i) if i is not None else None
        assert i is not None
        return i

    def named(self, i: int) -> Quantity:
        """A symbol as printed in formulas."""
        name = Name(str(self.tape.nodes[i][1]))
        return Quantity(name, Scalar(self.tape, i), symbol=name)

    def derivative_of(self, i: int) -> FieldDerivative | None:
        """Which derivative of which field a symbol is; None for any other."""
        op, name, _ = self.tape.nodes[i]
        if op != "symbol":
            return None
        bare = name.rstrip("'")
        field = bare.rstrip(PRIME)
        return (
            FieldDerivative(field, len(bare) - len(field), len(name) - len(bare))
            if field in self.names
            else None
        )

    def jets(self, outs: Iterable[int]) -> Iterator[tuple[int, FieldDerivative]]:
        """(symbol, derivative) of every field that occurs in some expressions."""
        for i in symbols_of(self.tape, outs):
            jet = self.derivative_of(i)
            if jet is not None:
                yield i, jet

    # ---- derivatives and values --------------------------------------------------------------

    def _slope(self, i: int) -> int | None:
        if i == self.x:
            return self.tape.one
        jet = self.derivative_of(i)
        return None if jet is None else self.symbol(jet.field, jet.along + 1, jet.dots)

    def at(self, e: int, place: str, position: int) -> int:
        """e at x = position, where the fields are v(place), v′(place), …"""
        values = {i: self.symbol(*jet, place) for i, jet in self.jets((e,))}
        return Substitution(self.tape, values | {self.x: position})(e)


# ---- variation -----------------------------------------------------------------------------------

# (field, order): the variation δv⁽ᵒʳᵈᵉʳ⁾ at an end
Variation = tuple[str, int]
Key = TypeVar("Key")


@dataclass(frozen=True)
class VariationTerms:
    """What multiplies −δv inside, and δv, δv′, … at a section anywhere: shear force, bending
    moment.
    """

    domain: dict[str, Quantity]
    boundary: dict[Variation, Quantity]


def vary_density(fields: Fields, density: Quantity) -> VariationTerms:
    """δ∫₀ᴸ ℒ dx: −E = −Σ (−D_x)ⁱ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾, and Σ_k (−D_x)ᵏ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾ δv⁽ⁱ⁻¹⁻ᵏ⁾
    at a section.
    """
    along = partial(Rate, by=fields.named(fields.x).ref)
    jets = dict(fields.jets((density.value.i,)))
    by_parts = [
        (jet, _repeated_derivatives(P, along, fields.D_x, jet.along))
        for jet, P in _by_parts_in_time(fields, density, jets)
    ]
    inside = sum_by_key(
        (jet.field, steps[-1] if (jet.along + jet.dots) % 2 else -steps[-1])
        for jet, steps in by_parts
    )
    left = ((jet, k, P) for jet, steps in by_parts for k, P in enumerate(steps[:-1]))
    section = sum_by_key(
        ((jet.field, jet.along - 1 - k), -P if (jet.dots + k) % 2 else P) for jet, k, P in left
    )
    return VariationTerms(inside, section)


def vary_end_energy(fields: Fields, energy: Quantity, place: str) -> dict[Variation, Quantity]:
    """δv⁽ⁱ⁾: ∂L/∂v⁽ⁱ⁾ − D_t ∂L/∂v̇⁽ⁱ⁾ of an energy that stands at one place: end masses, end
    springs.
    """
    marks = {
        fields.symbol(f, i, j, place): FieldDerivative(f, i, j)
        for f in fields.names
        for i in range(4)
        for j in range(2)
    }
    inside = symbols_of(fields.tape, (energy.value.i,))
    terms = _by_parts_in_time(fields, energy, {i: marks[i] for i in inside if i in marks})
    return sum_by_key(((jet.field, jet.along), -P if jet.dots % 2 else P) for jet, P in terms)


def _by_parts_in_time(
    fields: Fields, energy: Quantity, jets: dict[int, FieldDerivative]
) -> Iterator[tuple[FieldDerivative, Quantity]]:
    """D_tʲ ∂ℒ/∂v⁽ⁱʲ⁾: what multiplies ±δv⁽ⁱ⁾ after the integrations by parts in time."""
    t = fields.tape
    for (i, jet), P in zip(
        jets.items(), gradient_column(energy.value, Column(t, jets)), strict=True
    ):
        yield (
            jet,
            _repeated_derivatives(
                Quantity(Partial, Scalar(t, P), (energy, fields.named(i))),
                Rate,
                fields.D_t,
                jet.dots,
            )[-1],
        )


def _repeated_derivatives(
    P: Quantity, tree: Callable[[Formula], Rate], D: Derivative, times: int
) -> list[Quantity]:
    """P, DP, D²P, …"""
    steps = [P]
    for _ in range(times):
        steps.append(steps[-1].map(tree, D))
    return steps


def sum_by_key(pairs: Iterable[tuple[Key, Quantity]]) -> dict[Key, Quantity]:
    """{key: Σ of what came with it}"""
    sums: dict[Key, Quantity] = {}
    for key, a in pairs:
        sums[key] = sums[key] + a if key in sums else a
    return sums


# ---- integrals -----------------------------------------------------------------------------------

MAX_TERMS: Final = 5_000


@dataclass(frozen=True)
class Integral(Displayable):
    """∫₀ᴸ integrand dx: the symbol that stands for it, and how it is written."""

    symbol: int
    integrand: int
    tree: Tree

    def __str__(self) -> str:
        return Text()(self.tree)


class MemberIntegrals:
    """The integrals over one member that a derivation needs."""

    def __init__(self, fields: Fields, length: int) -> None:
        self.fields, self.length = fields, length
        self.by_name: dict[str, Integral] = {}

    def __call__(self, density: int) -> int:
        """∫₀ᴸ density dx, with what is constant along the member outside the integral signs."""
        t = self.fields.tape
        if density == t.zero:
            return t.zero
        try:
            (form,) = normal_form(t, (density,), limit=MAX_TERMS)
        except DalembertError:
            return self._unsplit_integral(density)
        if any(self._varies(a) for term in form.denominator for a, _ in term.powers):
            return self._unsplit_integral(density)
        groups = self._group_by_varying_part(form.numerator).items()
        parts = (
            to_scalar(RationalForm(tuple(rest), form.denominator), t)
            * Scalar(t, self._product_integral(powers))
            for powers, rest in groups
        )
        return sum_scalars(t, parts).i

    def _group_by_varying_part(self, terms: Iterable[Term]) -> dict[Powers, list[Term]]:
        """Terms by the part that varies along the member."""
        groups: dict[Powers, list[Term]] = {}
        for term in terms:
            inside = tuple(p for p in term.powers if self._varies(p[0]))
            outside = tuple(p for p in term.powers if not self._varies(p[0]))
            groups.setdefault(tuple(sorted(inside, key=self._sort_key)), []).append(
                Term(term.coefficient, outside)
            )
        return groups

    def _varies(self, atom: Atom) -> bool:
        t = self.fields.tape
        names = (
            [atom.name] if atom.op == "symbol" else [n for a in atom.arguments for n in a.symbols()]
        )
        return any(
            n in t.names
            and (t.names[n] == self.fields.x or self.fields.derivative_of(t.names[n]) is not None)
            for n in names
        )

    def _sort_key(self, power: tuple[Atom, int]) -> tuple[object, ...]:
        """x first, then the fields in order, with fewer dots and primes first."""
        atom = power[0]
        if atom.op != "symbol":
            return 2, 0, 0, 0, str(atom.arguments)
        jet = self.fields.derivative_of(self.fields.tape.names[atom.name])
        return (
            (0, 0, 0, 0, "")
            if jet is None
            else (1, self.fields.names.index(jet.field), jet.dots, jet.along, "")
        )

    def _product_integral(self, powers: Powers) -> int:
        t = self.fields.tape
        if not powers:
            return self.length
        ((atom, n), *others) = powers
        if not others and atom.op == "symbol" and t.names[atom.name] == self.fields.x:
            return (Scalar(t, self.length) ** (n + 1) / (n + 1)).i
        form = RationalForm((Term(Fraction(1), powers),))
        return self._symbol(to_scalar(form, t).i, form)

    def _unsplit_integral(self, density: int) -> int:
        return self._symbol(density, None)

    def _symbol(self, integrand: int, form: RationalForm | None) -> int:
        t = self.fields.tape
        x = str(t.nodes[self.fields.x][1])
        whole = shown.IntegralSign(
            self._integrand_tree(integrand, form),
            symbol_namer(t)(x),
            printing.expression_tree(Scalar(t, self.length)),
        )
        name = Text()(whole)
        i = t.moving_symbol(name)
        self.by_name[name] = Integral(i, integrand, whole)
        return i

    def _integrand_tree(self, integrand: int, form: RationalForm | None) -> Tree:
        t = self.fields.tape
        return (
            Group(with_intermediates(t, integrand))
            if form is None
            else Printer(symbol_namer(t), _FieldOrder(self.fields)).form(form)
        )


class _FieldOrder(TermOrder):
    """Products in the order x, v, v′, v̇, …"""

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields.tape, (), ())
        self.fields = fields

    def kind(self, atom: Atom) -> int:
        """Functions last, so that cos x v is not read as cos(x v)."""
        return super().kind(atom) if atom.op == "symbol" else FUNCTION

    def declaration_key(self, name: str) -> tuple[object, ...]:
        bare, primes, _ = field(name)
        known = self.fields.names
        symbol = base_name(bare)
        return (
            known.index(symbol) if symbol in known else -1,
            len(bare) - len(symbol),
            primes,
            name,
        )


def integral_naming(tape: Tape, integrals: Mapping[str, Integral]) -> Naming:
    """Symbols as they are displayed, and those that stand for integrals as integrals."""
    plain = symbol_namer(tape)
    return lambda name: integrals[name].tree if name in integrals else plain(name)
