"""1 + cos βL cosh βL = 0: the characteristic equation of a uniform member, from its field equation
and its boundary conditions.

With v = φ(x) cos ωt the field equation is an ordinary one with constant coefficients. Its solutions
are cos βx, sin βx, cosh αx, sinh αx (or 1, x, cos kx, sin kx under a compressive force), the
conditions at the ends are linear in their amplitudes, and a motion other than rest exists where the
determinant of these conditions vanishes.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Final

from dalembert.analysis.flexible.linear_vibration.linearization import (
    Key,
    LinearForm,
    LinearMemberEquations,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import (
    Powers,
    RationalForm,
    Term,
    content,
    divide_powers,
    factor_common,
    to_scalar,
)
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.print_tree import (
    ZERO,
    Adjacent,
    Equality,
    Factors,
    Group,
    Letter,
    SignedTerms,
    Superscript,
    Tree,
)
from dalembert.symbolic.algebra.printing.print_tree import total as signed_sum
from dalembert.symbolic.algebra.printing.term_layout import Naming, Printer, TermOrder, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.scalar import Scalar, apply
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class CharacteristicEquation:
    """residual = 0 in βL, and what βL says about ω or P."""

    tape: Tape = field(repr=False)
    residual: int = field(repr=False)
    # the symbols βL, αL
    arguments: tuple[int, ...]
    text: str
    latex: str
    # β⁴ = ρA ω²/EI
    relations: tuple[str, ...]
    latex_relations: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text}    with {', '.join(self.relations)}" if self.relations else self.text


def characteristic_equation(motion: LinearMemberEquations) -> CharacteristicEquation | None:
    """The characteristic equation in readable form; None where many fields are coupled or
    coefficients vary.
    """
    if not motion.is_uniform or motion.has_damping:
        return None
    if len(motion.fields) == 2:
        from dalembert.analysis.flexible.linear_vibration.timoshenko_beam import (
            timoshenko_characteristic,
        )

        return timoshenko_characteristic(motion)
    if len(motion.fields) != 1:
        return None
    (name,) = motion.fields
    if any(i % 2 for _, i, _ in motion.equations[name].coefficients):
        return None
    return CharacteristicSolver(motion, name).equation()


class CharacteristicSolver:
    """The solutions of one field equation, and the determinant of the conditions on them."""

    # functions that are zero somewhere
    functions_with_zeros: tuple[str, ...] = ("sin", "cos")

    def __init__(self, motion: LinearMemberEquations, name: str) -> None:
        self.motion, self.name = motion, name
        self.tape = motion.tape.fork()
        self.none, self.L = self.scalar(self.tape.zero), self.scalar(motion.member.length.i)
        # ω²
        self.square = self.scalar(self.tape.private_symbol("omega")) ** 2
        self.order = motion.order[name]
        self.compressed = motion.compression is not None
        self.relations: list[tuple[Tree, int, Scalar, Scalar]] = []
        self.solutions = self._solutions()

    def scalar(self, i: int) -> Scalar:
        """A node as an expression."""
        return Scalar(self.tape, i)

    # ---- solutions ---------------------------------------------------------------------------

    def _coefficient(self, i: int, equation: str = "", field: str = "") -> Scalar:
        """c_i(ω²) of φ⁽ⁱ⁾ in an equation, by default the field's own; at rest under a
        compressive force nothing moves.
        """
        terms = self.motion.equations[equation or self.name].coefficients.items()
        parts = [
            (j, self.scalar(c))
            for (name, order, j), c in terms
            if name == (field or self.name) and order == i
        ]
        return sum_scalars(
            self.tape,
            (c if j == 0 else -c * self.square for j, c in parts if j == 0 or not self.compressed),
        )

    def _argument(self, label: str) -> Scalar:
        return self.scalar(self.tape.symbol(f"{label}L"))

    def _solutions(self) -> list[tuple[str, Scalar]]:
        """(kind, argument) of every solution, and what the arguments are."""
        lead, c2, c0 = self._coefficient(self.order), self._coefficient(2), self._coefficient(0)
        question = f"{self.name}: whether a coefficient of its equation vanishes"
        still = [decide_all_zero(self.tape, [c.i], question) for c in (c2, c0)]
        if self.order == 2:
            z = self._argument("β")
            self.relations = [(BETA_2, 2, z, c0 / lead)]
            return [("cos", z), ("sin", z)]
        if still[1]:
            z = self._argument("k")
            self.relations = [(K_2, 2, z, c2 / lead)]
            return [("one", z), ("x", z), ("cos", z), ("sin", z)]
        z = self._argument("β")
        if still[0]:
            self.relations = [(BETA_4, 4, z, -(c0 / lead))]
            return [(kind, z) for kind in ("cos", "sin", "cosh", "sinh")]
        y = self._argument("α")
        self.relations = [(DIFFERENCE, 0, z, c2 / lead), (PRODUCT, 0, z, -(c0 / lead))]
        return [("cos", z), ("sin", z), ("cosh", y), ("sinh", y)]

    def _value(self, kind: str, z: Scalar, i: int, side: int) -> Scalar:
        """The i-th derivative of a solution at an end, with β = z/L."""
        if kind in ("one", "x"):
            power = int(kind == "x")
            return (
                self.none + 1 if i == power else self.L if side and power and i == 0 else self.none
            )
        if kind in ("cos", "sin"):
            turned = (
                (("cos", "sin", "cos", "sin"), (1, -1, -1, 1))
                if kind == "cos"
                else (("sin", "cos", "sin", "cos"), (1, 1, -1, -1))
            )
            function, sign = turned[0][i % 4], turned[1][i % 4]
        else:
            function, sign = ("cosh", "sinh")[(i + (kind == "sinh")) % 2], 1
        return sign * (z / self.L) ** i * apply(function, z if side else self.none)

    # ---- determinant -------------------------------------------------------------------------

    def _frequency_squared(self) -> Scalar:
        """ω² in terms of βL (and αL), where the member's own inertia is all that ω² multiplies
        in its equation's last term.
        """
        last = {
            j: c for (_, i, j), c in self.motion.equations[self.name].coefficients.items() if i == 0
        }
        if self.compressed or set(last) != {2}:
            return self.square
        mass = self.scalar(last[2])
        if len(self.relations) == 1:
            ((_, power, z, _),) = self.relations
            size = (z / self.L) ** power
        else:
            y, z = self._alpha_beta()
            size = (y * z / self.L**2) ** 2
        product = size * self._coefficient(self.order) / mass
        return product if self.order == 4 else -product

    def _alpha_beta(self) -> tuple[Scalar, Scalar]:
        """αL, βL"""
        return self._argument("α"), self._argument("β")

    def _row(self, form: LinearForm, side: int, square: Scalar) -> list[Scalar]:
        orders = {
            i: self._at_order(form, i, square)
            for i in sorted({key[1] for key in form.coefficients})
        }
        return [
            sum_scalars(self.tape, (c * self._value(kind, z, i, side) for i, c in orders.items()))
            for kind, z in self.solutions
        ]

    def _at_order(self, form: LinearForm, i: int, square: Scalar) -> Scalar:
        """What multiplies φ⁽ⁱ⁾ in a condition, in terms of αL and βL as far as they say it."""
        parts = [(key, self.scalar(c)) for key, c in form.coefficients.items() if key[1] == i]
        if not self.compressed and len(self.relations) != 1:
            # the shear force holds the same EI (β² − α²) as the equation
            plain, c2 = self._sum_terms(parts, self.square), self._coefficient(2)
            y, z = self._alpha_beta()
            for sign in (1, -1):
                if provably_zero(self.tape, [(plain - sign * c2).i])[0]:
                    return sign * self._coefficient(self.order) * ((z**2 - y**2) / self.L**2)
        return self._sum_terms(parts, square)

    def _sum_terms(self, parts: list[tuple[Key, Scalar]], square: Scalar) -> Scalar:
        return sum_scalars(self.tape, (self._factor(key, c, square) for key, c in parts))

    def _factor(self, key: Key, c: Scalar, square: Scalar) -> Scalar:
        if key[2] == 2:
            return self.none if self.compressed else -(c * square)
        if self.motion.compression is None:
            return c
        # P = k² EI
        P = (self._argument("k") / self.L) ** 2 * self._coefficient(self.order)
        return self.scalar(Substitution(self.tape, {self.motion.compression: P.i})(c.i))

    def equation(self) -> CharacteristicEquation:
        t = self.tape
        square = self._frequency_squared()
        rows = [self._row(e.form, e.side, square) for e in self.motion.ends]
        form = self._simplify_determinant(determinant(self.none, rows))
        arguments = tuple(dict.fromkeys(z.i for _, z in self.solutions))
        whole = Equality(determinant_tree(form, t), ZERO)
        related = self._relations()
        plain, tex = (tuple(map(write, related)) for write in (Text(), Latex()))
        return CharacteristicEquation(
            t, to_scalar(form, t).i, arguments, Text()(whole), Latex()(whole), plain, tex
        )

    def _simplify_determinant(self, e: Scalar) -> RationalForm:
        """Without common factors, with cosh² − sinh² = 1 used up."""
        t = self.tape
        (form,) = normal_form(t, (e.i,))
        (form,) = normal_form(
            t,
            (
                self._divide_nonzero_factors(
                    sum_scalars(t, map(self._eliminate_sinh, form.numerator))
                ).i,
            ),
        )
        common, rest = factor_common(RationalForm(form.numerator))
        # sin βL = 0 is an equation; constants, βL and sinh βL never vanish
        kept = tuple((a, 1) for a, _ in common.powers if a.op in self.functions_with_zeros)
        return RationalForm(
            tuple(Term(term.coefficient, term.powers + kept) for term in rest.numerator)
        )

    def _eliminate_sinh(self, term: Term) -> Scalar:
        """sinh² → cosh² − 1"""
        product = to_scalar(
            RationalForm(
                (Term(term.coefficient, tuple(p for p in term.powers if p[0].op != "sinh")),)
            ),
            self.tape,
        )
        for sinh, k in term.powers:
            if sinh.op == "sinh":
                S, C = (
                    to_scalar(RationalForm((Term(Fraction(1), ((a, 1),)),)), self.tape)
                    for a in (sinh, sinh._replace(op="cosh"))
                )
                product = product * (C**2 - 1) ** (k // 2) * S ** (k % 2)
        return product

    def _divide_nonzero_factors(self, e: Scalar) -> Scalar:
        """Without the factors that never vanish."""
        for factor in self._nonzero_factors():
            while True:
                (form,) = normal_form(self.tape, ((e / factor).i,))
                if not form.is_polynomial or form.is_zero:
                    break
                e = to_scalar(form, self.tape)
        return e

    def _nonzero_factors(self) -> list[Scalar]:
        """α² + β²"""
        if len(self.relations) == 1:
            return []
        y, z = self._alpha_beta()
        return [y**2 + z**2]

    def _relations(self) -> list[Equality]:
        from dalembert.symbolic.algebra.printing import readable_form

        relations = []
        for left, _, _, value in self.relations:
            form = readable_form(self.tape, value.i)
            right = (
                Letter("…")
                if form is None
                else Printer(argument_naming(self.tape), TermOrder(self.tape, (), ())).form(form)
            )
            relations.append(Equality(left, right))
        return relations


def determinant(zero: Scalar, rows: list[list[Scalar]]) -> Scalar:
    """By the first row, zeros left out."""
    if len(rows) == 1:
        return rows[0][0]
    expansion = zero
    for k, a in enumerate(rows[0]):
        if a != zero:
            minor = a * determinant(zero, [row[:k] + row[k + 1 :] for row in rows[1:]])
            expansion = expansion - minor if k % 2 else expansion + minor
    return expansion


# ---- how it is written ---------------------------------------------------------------------------

# what the arguments of the solutions are called: βL is two letters
ARGUMENTS: Final = {f"{letter}L": Adjacent((Letter(letter), Letter("L"))) for letter in "βαk"}
BETA_2, BETA_4, ALPHA_2, K_2 = (
    Superscript(Letter("β"), 2),
    Superscript(Letter("β"), 4),
    Superscript(Letter("α"), 2),
    Superscript(Letter("k"), 2),
)
DIFFERENCE: Final = SignedTerms(((False, BETA_2), (True, ALPHA_2)))
PRODUCT: Final = Factors((ALPHA_2, BETA_2))


def argument_naming(tape: Tape) -> Naming:
    """Symbols as they are displayed, and the arguments of the solutions."""
    plain = symbol_namer(tape)
    return lambda name: ARGUMENTS[name] if name in ARGUMENTS else plain(name)


class ConstantsFirst(TermOrder):
    """1 + cos βL cosh βL: whatever stands without a function comes first."""

    def term(self, term: Term) -> tuple[object, ...]:
        return len([a for a, _ in term.powers if a.op != "symbol"]), self.powers(term.powers)


def determinant_tree(form: RationalForm, tape: Tape) -> Tree:
    """Σ k · (sum of products of functions), the first without a factor: 1 + cos βL cosh βL, and
    not βL⁴ + …
    """
    groups: dict[Powers, list[Term]] = {}
    for term in form.numerator:
        outside = tuple(p for p in term.powers if p[0].op == "symbol")
        functions = tuple(p for p in term.powers if p[0].op != "symbol")
        groups.setdefault(outside, []).append(Term(term.coefficient, functions))
    ranking = ConstantsFirst(tape, (), ())
    ordered = {p: tuple(sorted(terms, key=ranking.term)) for p, terms in groups.items()}
    first, *others = sorted(ordered, key=lambda p: (len(ordered[p][0].powers), ranking.powers(p)))
    unit = content(ordered[first])
    printer = Printer(argument_naming(tape), ranking)
    parts = [
        (
            False,
            printer.form(
                RationalForm(tuple(Term(x.coefficient / unit, x.powers) for x in ordered[first]))
            ),
        )
    ]
    for p in others:
        k = content(ordered[p])
        inner = RationalForm(tuple(Term(x.coefficient / k, x.powers) for x in ordered[p]))
        factor = RationalForm((Term(abs(k / unit), p),), (Term(Fraction(1), first),))
        parts.append((k / unit < 0, _product(factor, inner, printer)))
    return signed_sum(parts)


def _product(factor: RationalForm, inner: RationalForm, printer: Printer) -> Tree:
    (above,), (below,) = factor.numerator, factor.denominator
    shared = tuple(
        (a, min(n, dict(below.powers)[a])) for a, n in above.powers if a in dict(below.powers)
    )
    reduced = RationalForm(
        (Term(above.coefficient, divide_powers(above.powers, shared)),),
        (Term(Fraction(1), divide_powers(below.powers, shared)),),
    )
    functions = printer.form(inner)
    if reduced == RationalForm((Term(Fraction(1)),)):
        return functions
    if inner == RationalForm((Term(Fraction(1)),)):
        return printer.form(reduced)
    several = len(inner.numerator) > 1
    return Factors((printer.form(reduced), Group(functions) if several else functions))
