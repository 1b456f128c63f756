"""∫₀ᴸ f(x, v, v′, …) dx: integrals over a member inside ordinary expressions.

What does not vary along the member is taken out, powers of x alone are integrated, and what is left is a symbol of the tape whose
name is the integral as it is printed. So integrals can be added, collected and printed like anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dalembert.algebra import printing
from dalembert.algebra.columns import total
from dalembert.algebra.normal_form.forms import Atom, Form, Powers, Term, to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.printing import tree as shown
from dalembert.algebra.printing.layout import FUNCTION, Naming, Printer, Ranking, naming
from dalembert.algebra.printing.names import field
from dalembert.algebra.printing.notation import Text
from dalembert.algebra.printing.tree import Group, Tree
from dalembert.algebra.printing.zform import with_intermediates
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape, base
from dalembert.errors import DalembertError
from dalembert.flexible.hybrid.fields import Fields
from dalembert.notebook import Shown

TERMS: Final = 5_000


@dataclass(frozen=True)
class Integral(Shown):
    """∫₀ᴸ integrand dx: the symbol that stands for it, and how it is written."""

    symbol: int
    integrand: int
    tree: Tree

    def __str__(self) -> str:
        return Text()(self.tree)


class Integrals:
    """The integrals over one member that a derivation needs."""

    def __init__(self, fields: Fields, length: int) -> None:
        self.fields, self.length = fields, length
        self.found: dict[str, Integral] = {}

    def __call__(self, density: int) -> int:
        """∫₀ᴸ density dx, with what is constant along the member outside the integral signs."""
        t = self.fields.tape
        if density == t.zero:
            return t.zero
        try:
            (form,) = normal_form(t, (density,), limit=TERMS)
        except DalembertError:
            return self._whole(density)
        if any(self._varies(a) for term in form.denominator for a, _ in term.powers):
            return self._whole(density)
        groups = self._grouped(form.numerator).items()
        parts = (to_scalar(Form(tuple(rest), form.denominator), t) * Scalar(t, self._of_product(powers)) for powers, rest in groups)
        return total(t, parts).i

    def _grouped(self, terms: Iterable[Term]) -> dict[Powers, list[Term]]:
        """Terms by the part that varies along the member."""
        groups: dict[Powers, list[Term]] = {}
        for term in terms:
            inside = tuple(p for p in term.powers if self._varies(p[0]))
            outside = tuple(p for p in term.powers if not self._varies(p[0]))
            groups.setdefault(tuple(sorted(inside, key=self._place)), []).append(Term(term.coefficient, outside))
        return groups

    def _varies(self, atom: Atom) -> bool:
        t = self.fields.tape
        names = [atom.name] if atom.op == "symbol" else [n for a in atom.arguments for n in a.symbols()]
        return any(n in t.names and (t.names[n] == self.fields.x or self.fields.jet(t.names[n]) is not None) for n in names)

    def _place(self, power: tuple[Atom, int]) -> tuple[object, ...]:
        """x first, then the fields in order, with fewer dots and primes first."""
        atom = power[0]
        if atom.op != "symbol":
            return 2, 0, 0, 0, str(atom.arguments)
        jet = self.fields.jet(self.fields.tape.names[atom.name])
        return (0, 0, 0, 0, "") if jet is None else (1, self.fields.names.index(jet.field), jet.dots, jet.along, "")

    def _of_product(self, powers: Powers) -> int:
        t = self.fields.tape
        if not powers:
            return self.length
        ((atom, n), *others) = powers
        if not others and atom.op == "symbol" and t.names[atom.name] == self.fields.x:
            return (Scalar(t, self.length) ** (n + 1) / (n + 1)).i
        form = Form((Term(Fraction(1), powers),))
        return self._symbol(to_scalar(form, t).i, form)

    def _whole(self, density: int) -> int:
        return self._symbol(density, None)

    def _symbol(self, integrand: int, form: Form | None) -> int:
        t = self.fields.tape
        x = str(t.nodes[self.fields.x][1])
        whole = shown.IntegralSign(self._inside(integrand, form), naming(t)(x), printing.expression_tree(Scalar(t, self.length)))
        name = Text()(whole)
        i = t.moving_symbol(name)
        self.found[name] = Integral(i, integrand, whole)
        return i

    def _inside(self, integrand: int, form: Form | None) -> Tree:
        t = self.fields.tape
        return Group(with_intermediates(t, integrand)) if form is None else Printer(naming(t), _AsGiven(self.fields)).form(form)


class _AsGiven(Ranking):
    """Products in the order x, v, v′, v̇, …"""

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields.tape, (), ())
        self.fields = fields

    def kind(self, atom: Atom) -> int:
        """Functions last, so that nobody reads cos x v as cos(x v)."""
        return super().kind(atom) if atom.op == "symbol" else FUNCTION

    def place(self, name: str) -> tuple[object, ...]:
        bare, primes, _ = field(name)
        known = self.fields.names
        symbol = base(bare)
        return (known.index(symbol) if symbol in known else -1, len(bare) - len(symbol), primes, name)


def integral_naming(tape: Tape, integrals: Mapping[str, Integral]) -> Naming:
    """Symbols as they are displayed, and those that stand for integrals as integrals."""
    plain = naming(tape)
    return lambda name: integrals[name].tree if name in integrals else plain(name)
