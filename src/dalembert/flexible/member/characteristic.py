"""1 + cos βL cosh βL = 0: the characteristic equation of a uniform member, from its field equation and its boundary conditions.

With v = φ(x) cos ωt the field equation is an ordinary one with constant coefficients. Its solutions are cos βx, sin βx, cosh αx, sinh αx
(or 1, x, cos kx, sin kx under a compressive force), the conditions at the ends are linear in their amplitudes, and a motion other than
rest exists where the determinant of these conditions vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dalembert.algebra.exact.field import all_zero, shown_zero
from dalembert.algebra.folds import Rewrite
from dalembert.algebra.normal_form.forms import Atom, Form, Term, factor_common, to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.printing.latex_notation import Latex
from dalembert.algebra.printing.layout import Printer, Ranking
from dalembert.algebra.printing.notation import Text
from dalembert.algebra.printing.tree import ZERO, Equation, Letter, Tree
from dalembert.algebra.tape import Tape
from dalembert.flexible.member.characteristic_writing import BETA_2, BETA_4, DIFFERENCE, K_2, PRODUCT, symbols, written
from dalembert.flexible.member.small_motion import Form as Linear
from dalembert.flexible.member.small_motion import Key, SmallMotion


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


def characteristic_equation(motion: SmallMotion) -> CharacteristicEquation | None:
    """The characteristic equation in readable form; None where many fields are coupled or coefficients vary."""
    if not motion.is_uniform or motion.has_damping:
        return None
    if len(motion.fields) == 2:
        from dalembert.flexible.member.timoshenko import coupled

        return coupled(motion)
    if len(motion.fields) != 1:
        return None
    (name,) = motion.fields
    by_order = _by_order(motion.equations[name])
    if any(i % 2 for i in by_order):
        return None
    return Characteristic(motion, name, by_order).equation()


def _by_order(form: Linear) -> dict[int, list[tuple[int, int]]]:
    """{i: [(j, c_ij)]}"""
    found: dict[int, list[tuple[int, int]]] = {}
    for (_, i, j), c in form.coefficients.items():
        found.setdefault(i, []).append((j, c))
    return found


class Characteristic:
    """The solutions of one field equation, and the determinant of the conditions on them."""

    # functions that are zero somewhere
    vanishing: tuple[str, ...] = ("sin", "cos")

    def __init__(self, motion: SmallMotion, name: str, by_order: dict[int, list[tuple[int, int]]]) -> None:
        self.motion, self.name = motion, name
        self.tape = t = motion.tape.fork()
        self.L = motion.member.length.i
        self.omega = t.private_symbol("omega")
        self.by_order = by_order
        self.order = motion.order[name]
        self.compressed = motion.compression is not None
        self.relations: list[tuple[Tree, int, int, int]] = []
        self.solutions = self._solutions()

    # ---- solutions ---------------------------------------------------------------------------

    def _coefficient(self, i: int) -> int:
        """c_i(ω²) of φ⁽ⁱ⁾; at rest under a compressive force nothing moves."""
        t, total = self.tape, self.tape.zero
        for j, c in self.by_order.get(i, []):
            if j == 0:
                total = t.add(total, c)
            elif not self.compressed:
                total = t.sub(total, t.mul(c, t.mul(self.omega, self.omega)))
        return total

    def _argument(self, label: str) -> int:
        return self.tape.symbol(f"{label}L")

    def _solutions(self) -> list[tuple[str, int]]:
        """(kind, argument) of every solution, and what the arguments are."""
        t = self.tape
        lead, c2, c0 = self._coefficient(self.order), self._coefficient(2), self._coefficient(0)
        still = [all_zero(t, [c], f"{self.name}: whether a coefficient of its equation vanishes") for c in (c2, c0)]
        if self.order == 2:
            z = self._argument("β")
            self._relate(BETA_2, 2, z, t.div(c0, lead))
            return [("cos", z), ("sin", z)]
        if still[1]:
            z = self._argument("k")
            self._relate(K_2, 2, z, t.div(c2, lead))
            return [("one", z), ("x", z), ("cos", z), ("sin", z)]
        z = self._argument("β")
        if still[0]:
            self._relate(BETA_4, 4, z, t.neg(t.div(c0, lead)))
            return [(kind, z) for kind in ("cos", "sin", "cosh", "sinh")]
        y = self._argument("α")
        self.relations = [(DIFFERENCE, 0, z, t.div(c2, lead)), (PRODUCT, 0, z, t.neg(t.div(c0, lead)))]
        return [("cos", z), ("sin", z), ("cosh", y), ("sinh", y)]

    def _relate(self, left: Tree, power: int, z: int, value: int) -> None:
        self.relations.append((left, power, z, value))

    def _value(self, kind: str, z: int, i: int, side: int) -> int:
        """The i-th derivative of a solution at an end, with β = z/L."""
        t = self.tape
        if kind == "one":
            return t.one if i == 0 else t.zero
        if kind == "x":
            return (self.L if side else t.zero) if i == 0 else t.one if i == 1 else t.zero
        scale = t.power(t.div(z, self.L), i)
        if kind in ("cos", "sin"):
            turned = (("cos", "sin", "cos", "sin"), (1, -1, -1, 1)) if kind == "cos" else (("sin", "cos", "sin", "cos"), (1, 1, -1, -1))
            function, sign = turned[0][i % 4], turned[1][i % 4]
        else:
            function, sign = ("cosh", "sinh")[(i + (kind == "sinh")) % 2], 1
        at = t.call(function, z if side else t.zero)
        return t.mul(t.const(sign), t.mul(scale, at))

    # ---- determinant -------------------------------------------------------------------------

    def _square(self) -> int:
        """ω² in terms of βL (and αL), where the member's own inertia is all that ω² multiplies in its equation's last term."""
        t = self.tape
        own = t.mul(self.omega, self.omega)
        if self.compressed or len(self.by_order.get(0, [])) != 1:
            return own
        lead = self._coefficient(self.order)
        mass = next(c for j, c in self.by_order[0] if j == 2)
        if len(self.relations) == 1:
            ((_, power, z, _),) = self.relations
            size = t.power(t.div(z, self.L), power)
        else:
            y, z = (t.names[f"{label}L"] for label in "αβ")
            size = t.power(t.div(t.mul(y, z), t.mul(self.L, self.L)), 2)
        product = t.div(t.mul(size, lead), mass)
        return product if self.order == 4 else t.neg(product)

    def _row(self, form: Linear, side: int, square: int) -> list[int]:
        t = self.tape
        orders = {i: self._at_order(form, i, square) for i in sorted({key[1] for key in form.coefficients})}
        row = []
        for kind, z in self.solutions:
            total = t.zero
            for i, c in orders.items():
                total = t.add(total, t.mul(c, self._value(kind, z, i, side)))
            row.append(total)
        return row

    def _at_order(self, form: Linear, i: int, square: int) -> int:
        """What multiplies φ⁽ⁱ⁾ in a condition, in terms of αL and βL as far as they say it."""
        t, own = self.tape, _square(self.tape, self.omega)
        parts = [(key, c) for key, c in form.coefficients.items() if key[1] == i]
        plain = self._summed(parts, own)
        if self.compressed or len(self.relations) == 1:
            return self._summed(parts, square)
        # the shear force holds the same EI (β² − α²) as the equation
        c2 = self._coefficient(2)
        y, z = (t.names[f"{label}L"] for label in "αβ")
        short = t.mul(self._coefficient(self.order), t.div(t.sub(t.mul(z, z), t.mul(y, y)), t.mul(self.L, self.L)))
        for sign in (1, -1):
            if shown_zero(t, [t.sub(plain, t.mul(t.const(sign), c2))])[0]:
                return t.mul(t.const(sign), short)
        return self._summed(parts, square)

    def _summed(self, parts: list[tuple[Key, int]], square: int) -> int:
        t, total = self.tape, self.tape.zero
        for key, c in parts:
            total = t.add(total, self._factor(key, c, square))
        return total

    def _factor(self, key: Key, c: int, square: int) -> int:
        t = self.tape
        if key[2] == 2:
            return t.zero if self.compressed else t.neg(t.mul(c, square))
        if self.compressed and self.motion.compression is not None:
            # P = k² EI
            k2 = t.power(t.div(t.names["kL"], self.L), 2)
            return Rewrite(t, {self.motion.compression: t.mul(k2, self._coefficient(self.order))})(c)
        return c

    def equation(self) -> CharacteristicEquation:
        t = self.tape
        square = self._square()
        rows = [self._row(e.form, e.side, square) for e in self.motion.ends]
        form = self._reduced(determinant(t, rows))
        arguments = tuple(dict.fromkeys(z for _, z in self.solutions))
        whole = Equation(written(form, t), ZERO)
        related = self._relations()
        plain, tex = (tuple(map(write, related)) for write in (Text(), Latex()))
        return CharacteristicEquation(t, to_scalar(form, t).i, arguments, Text()(whole), Latex()(whole), plain, tex)

    def _reduced(self, node: int) -> Form:
        """Without common factors, with cosh² − sinh² = 1 used up."""
        t = self.tape
        (form,) = normal_form(t, (node,))
        total = t.zero
        for term in form.numerator:
            product = to_scalar(Form((Term(term.coefficient, tuple(p for p in term.powers if p[0].op != "sinh")),)), t).i
            for atom, k in term.powers:
                if atom.op == "sinh":
                    product = t.mul(product, self._powers(atom, k))
            total = t.add(total, product)
        total = self._divided(total)
        (form,) = normal_form(t, (total,))
        common, rest = factor_common(Form(form.numerator))
        # sin βL = 0 is an equation; constants, βL and sinh βL never vanish
        kept = tuple((a, 1) for a, _ in common.powers if a.op in self.vanishing)
        return Form(tuple(Term(term.coefficient, term.powers + kept) for term in rest.numerator))

    def _divided(self, node: int) -> int:
        """Without the factors that never vanish."""
        t = self.tape
        for factor in self._factors():
            while True:
                (form,) = normal_form(t, (t.div(node, factor),))
                if not form.is_polynomial or form.is_zero:
                    break
                node = to_scalar(form, t).i
        return node

    def _factors(self) -> list[int]:
        """α² + β²"""
        t = self.tape
        if len(self.relations) == 1:
            return []
        y, z = (t.names[f"{label}L"] for label in "αβ")
        return [t.add(t.mul(y, y), t.mul(z, z))]

    def _powers(self, sinh: Atom, k: int) -> int:
        t = self.tape
        S, C = (to_scalar(Form((Term(Fraction(1), ((a, 1),)),)), t).i for a in (sinh, sinh._replace(op="cosh")))
        return t.mul(t.power(t.sub(t.mul(C, C), t.one), k // 2), t.power(S, k % 2))

    def _relations(self) -> list[Equation]:
        from dalembert.algebra.printing import readable

        found = []
        for left, _, _, value in self.relations:
            form = readable(self.tape, value)
            right = Letter("…") if form is None else Printer(symbols(self.tape), Ranking(self.tape, (), ())).form(form)
            found.append(Equation(left, right))
        return found


def _square(t: Tape, x: int) -> int:
    """x²"""
    return t.mul(x, x)


def determinant(t: Tape, rows: list[list[int]]) -> int:
    """By the first row, zeros left out."""
    if len(rows) == 1:
        return rows[0][0]
    total = t.zero
    for k, a in enumerate(rows[0]):
        if a == t.zero:
            continue
        minor = t.mul(a, determinant(t, [row[:k] + row[k + 1 :] for row in rows[1:]]))
        total = t.sub(total, minor) if k % 2 else t.add(total, minor)
    return total
