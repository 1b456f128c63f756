"""1 + cos βL cosh βL = 0, and not βL⁴ + …: how characteristic equations are written."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dalembert.algebra.normal_form.forms import Form, Powers, Term, content, without
from dalembert.algebra.printing.layout import Printer, Ranking
from dalembert.algebra.printing.notation import Latex, Notation, Text
from dalembert.algebra.tape import Tape

# what the arguments of the solutions are called, and how paper writes them
GREEK: Final = {"βL": r"\beta L", "αL": r"\alpha L", "kL": "kL"}


class Lines(Text):
    """Text in which powers of βL keep it together."""

    def power(self, base: str, k: int, *, simple: bool) -> str:
        return super().power(base, k, simple=simple and base not in GREEK)


class Words(Latex):
    """LaTeX in which βL is two letters."""

    def symbol(self, name: str) -> str:
        return GREEK.get(name) or super().symbol(name)

    def power(self, base: str, k: int, *, simple: bool) -> str:
        return super().power(base, k, simple=simple and base not in GREEK.values())


class ConstantsFirst(Ranking):
    """1 + cos βL cosh βL: whatever stands without a function comes first."""

    def term(self, term: Term) -> tuple[object, ...]:
        return len([a for a, _ in term.powers if a.op != "symbol"]), self.powers(term.powers)


def latex_label(label: str) -> str:
    """β² − α² in LaTeX."""
    return label.replace("β", r"\beta").replace("α", r"\alpha").replace("²", "^{2}").replace("⁴", "^{4}").replace("−", "-")


def written(form: Form, tape: Tape, notation: Notation) -> str:
    """Σ k · (sum of products of functions), the first without a factor."""
    groups: dict[Powers, list[Term]] = {}
    for term in form.numerator:
        outside = tuple(p for p in term.powers if p[0].op == "symbol")
        functions = tuple(p for p in term.powers if p[0].op != "symbol")
        groups.setdefault(outside, []).append(Term(term.coefficient, functions))
    ranking = ConstantsFirst(tape, (), ())
    ordered = {p: tuple(sorted(terms, key=ranking.term)) for p, terms in groups.items()}
    first, *others = sorted(ordered, key=lambda p: (len(ordered[p][0].powers), ranking.powers(p)))
    unit = content(ordered[first])
    printer = Printer(notation, ranking)
    parts = [(False, printer.form(Form(tuple(Term(x.coefficient / unit, x.powers) for x in ordered[first]))))]
    for p in others:
        k = content(ordered[p])
        inner = Form(tuple(Term(x.coefficient / k, x.powers) for x in ordered[p]))
        factor = Form((Term(abs(k / unit), p),), (Term(Fraction(1), first),))
        parts.append((k / unit < 0, _product(factor, inner, printer)))
    return notation.sum(parts)


def _product(factor: Form, inner: Form, printer: Printer) -> str:
    (above,), (below,) = factor.numerator, factor.denominator
    shared = tuple((a, min(n, dict(below.powers)[a])) for a, n in above.powers if a in dict(below.powers))
    reduced = Form((Term(above.coefficient, without(above.powers, shared)),), (Term(Fraction(1), without(below.powers, shared)),))
    functions = printer.form(inner)
    if reduced == Form((Term(Fraction(1)),)):
        return functions
    if inner == Form((Term(Fraction(1)),)):
        return printer.form(reduced)
    several = len(inner.numerator) > 1
    return printer.notation.product([printer.form(reduced), printer.notation.group(functions) if several else functions])
