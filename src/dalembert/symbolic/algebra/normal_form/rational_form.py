"""e = Σ k xᵃ yᵇ … / Σ k xᵃ yᵇ …: expressions multiplied out, as plain values.

A `Form` is what a normal form is made of and what printers read. It knows names, not tapes: it can
be pickled, compared term by term, collected on symbols, and written back on a tape to check its
value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm, prod
from typing import NamedTuple

from dalembert.errors import Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


class Atom(NamedTuple):
    """What terms are products of: a symbol, π, or a function of forms (`op` is the tape's word
    for it).
    """

    op: str
    name: str = ""
    arguments: tuple[RationalForm, ...] = ()


Powers = tuple[tuple[Atom, int], ...]


class Term(NamedTuple):
    """k xᵃ yᵇ …"""

    coefficient: Fraction
    powers: Powers = ()

    def power(self, atom: Atom) -> int:
        """The exponent of one atom."""
        return next((k for a, k in self.powers if a == atom), 0)

    def __neg__(self) -> Term:
        return Term(-self.coefficient, self.powers)


UNIT = (Term(Fraction(1)),)


@dataclass(frozen=True)
class RationalForm:
    """numerator / denominator, each a sum of terms with different powers; zero has no term."""

    numerator: tuple[Term, ...]
    denominator: tuple[Term, ...] = UNIT

    @property
    def terms(self) -> frozenset[tuple[Fraction, frozenset[tuple[Atom, int]]]]:
        """The numerator's terms without their order."""
        return _term_set(self.numerator)

    @property
    def is_zero(self) -> bool:
        return not self.numerator

    @property
    def is_polynomial(self) -> bool:
        """Whether nothing is divided by."""
        return self.denominator == UNIT

    @property
    def term_count(self) -> int:
        """The number of terms above and, if there is a fraction bar, below it."""
        return len(self.numerator) + (0 if self.is_polynomial else len(self.denominator))

    def __hash__(self) -> int:
        # forms stand inside atoms inside forms: each is hashed once
        value = self.__dict__.get("_hash")
        if value is None:
            value = self.__dict__["_hash"] = hash((self.numerator, self.denominator))
        return int(value)

    def __reduce__(self) -> tuple[type[RationalForm], tuple[tuple[Term, ...], tuple[Term, ...]]]:
        # without the hash, which is another one in another process
        return RationalForm, (self.numerator, self.denominator)

    def __neg__(self) -> RationalForm:
        return RationalForm(tuple(-t for t in self.numerator), self.denominator)

    def same_terms(self, other: RationalForm, *, up_to_factor: bool = False) -> bool:
        """Whether both have the same terms in any order; optionally up to a common factor k xᵃ
        yᵇ ….
        """
        if not up_to_factor:
            return self.terms == other.terms and _term_set(self.denominator) == _term_set(
                other.denominator
            )
        a, b = factor_common(self)[1], factor_common(other)[1]
        return _term_set(a.denominator) == _term_set(b.denominator) and b.terms in (
            a.terms,
            (-a).terms,
        )

    def atoms(self) -> list[Atom]:
        """The atoms of its terms, each once, in order of appearance; not what stands inside
        functions.
        """
        return list(
            dict.fromkeys(a for t in self.numerator + self.denominator for a, _ in t.powers)
        )

    def symbols(self) -> list[str]:
        """The names of all symbols, also inside functions, each once, in order of appearance."""
        return list(dict.fromkeys(_symbols(self)))


ZERO = RationalForm(())


def constant(value: Fraction | int) -> RationalForm:
    """A number as a form."""
    return RationalForm((Term(Fraction(value)),)) if value else ZERO


def symbol(name: str) -> RationalForm:
    """A symbol as a form."""
    return RationalForm((Term(Fraction(1), ((Atom("symbol", name), 1),)),))


def _term_set(terms: Iterable[Term]) -> frozenset[tuple[Fraction, frozenset[tuple[Atom, int]]]]:
    return frozenset((t.coefficient, frozenset(t.powers)) for t in terms)


def _symbols(form: RationalForm) -> Iterator[str]:
    stack = [form]
    while stack:
        for atom in stack.pop().atoms():
            if atom.op == "symbol":
                yield atom.name
            stack.extend(atom.arguments)


def divide_powers(powers: Powers, divisor: Powers) -> Powers:
    """xᵃ yᵇ … / divisor; exponents that reach zero are left out, and none may fall below."""
    drop = dict(divisor)
    return tuple((a, k - drop.get(a, 0)) for a, k in powers if k != drop.get(a, 0))


def split_powers(powers: Powers, inside: Iterable[Atom]) -> tuple[Powers, Powers]:
    """The part of a product in the given atoms, and the rest."""
    chosen = frozenset(inside)
    return tuple(p for p in powers if p[0] in chosen), tuple(
        p for p in powers if p[0] not in chosen
    )


def rational_gcd(values: Sequence[Fraction]) -> Fraction:
    """The largest rational, a positive one, of which all are whole multiples."""
    return Fraction(gcd(*(v.numerator for v in values)), lcm(*(v.denominator for v in values)))


def content(terms: Sequence[Term]) -> Fraction:
    """The largest rational that leaves whole coefficients without common divisor; its sign is
    the first term's.
    """
    if not terms:
        return Fraction(1)
    measure = rational_gcd([t.coefficient for t in terms])
    return measure if terms[0].coefficient > 0 else -measure


def common_powers(terms: Sequence[Term]) -> Powers:
    """The largest product xᵃ yᵇ … that divides every term."""
    if not terms:
        return ()
    least = dict(terms[0].powers)
    for t in terms[1:]:
        here = dict(t.powers)
        least = {a: min(k, here[a]) for a, k in least.items() if a in here}
    return tuple(least.items())


def factor_common(form: RationalForm) -> tuple[Term, RationalForm]:
    """e = k xᵃ yᵇ … · rest, where the rest has whole coefficients, no common factor, and starts
    with a plus sign.
    """
    k, powers = content(form.numerator), common_powers(form.numerator)
    rest = tuple(Term(t.coefficient / k, divide_powers(t.powers, powers)) for t in form.numerator)
    return Term(k, powers), RationalForm(rest, form.denominator)


def collect(form: RationalForm, names: Iterable[str]) -> dict[Powers, RationalForm]:
    """e = Σ (product of the named symbols) · coefficient, in order of appearance.

    The coefficients are free of the named symbols outside functions and below the fraction bar.
    """
    inside = [Atom("symbol", name) for name in names]
    parts: dict[Powers, list[Term]] = {}
    for t in form.numerator:
        powers, rest = split_powers(t.powers, inside)
        parts.setdefault(powers, []).append(Term(t.coefficient, rest))
    return {powers: RationalForm(tuple(terms), form.denominator) for powers, terms in parts.items()}


def to_scalar(form: RationalForm, tape: Tape) -> Scalar:
    """The form written back on a tape that has its symbols."""
    above = _sum(form.numerator, tape)
    return above if form.is_polynomial else above / _sum(form.denominator, tape)


def _sum(terms: Iterable[Term], tape: Tape) -> Scalar:
    """Σ c Π aᵏ"""
    products = (
        prod(
            (Scalar(tape, _node(a, tape)) ** k for a, k in t.powers),
            start=Scalar(tape, tape.const(t.coefficient)),
        )
        for t in terms
    )
    return sum(products, Scalar(tape, tape.zero))


def _node(atom: Atom, tape: Tape) -> int:
    if atom.op == "symbol":
        if atom.name not in tape.names:
            msg = f"{atom.name} is not a symbol of this system"
            raise Unknown(msg)
        return tape.names[atom.name]
    if atom.op == "pi":
        return tape.pi
    arguments = [to_scalar(a, tape).i for a in atom.arguments]
    return tape.atan2(*arguments) if atom.op == "atan2" else tape.call(atom.op, arguments[0])
