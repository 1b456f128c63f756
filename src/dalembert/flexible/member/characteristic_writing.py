"""1 + cos βL cosh βL = 0, and not βL⁴ + …: how characteristic equations are written."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dalembert.algebra.normal_form.forms import Form, Powers, Term, content, without
from dalembert.algebra.printing.layout import Naming, Printer, Ranking, naming
from dalembert.algebra.printing.tree import Adjacent, Factors, Group, Letter, Raised, SignedTerms, Tree, total
from dalembert.algebra.tape import Tape

# what the arguments of the solutions are called: βL is two letters
ARGUMENTS: Final = {f"{letter}L": Adjacent((Letter(letter), Letter("L"))) for letter in "βαk"}
BETA_2, BETA_4, ALPHA_2, K_2 = Raised(Letter("β"), 2), Raised(Letter("β"), 4), Raised(Letter("α"), 2), Raised(Letter("k"), 2)
DIFFERENCE: Final = SignedTerms(((False, BETA_2), (True, ALPHA_2)))
PRODUCT: Final = Factors((ALPHA_2, BETA_2))


def symbols(tape: Tape) -> Naming:
    """Symbols as they are displayed, and the arguments of the solutions."""
    plain = naming(tape)
    return lambda name: ARGUMENTS[name] if name in ARGUMENTS else plain(name)


class ConstantsFirst(Ranking):
    """1 + cos βL cosh βL: whatever stands without a function comes first."""

    def term(self, term: Term) -> tuple[object, ...]:
        return len([a for a, _ in term.powers if a.op != "symbol"]), self.powers(term.powers)


def written(form: Form, tape: Tape) -> Tree:
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
    printer = Printer(symbols(tape), ranking)
    parts = [(False, printer.form(Form(tuple(Term(x.coefficient / unit, x.powers) for x in ordered[first]))))]
    for p in others:
        k = content(ordered[p])
        inner = Form(tuple(Term(x.coefficient / k, x.powers) for x in ordered[p]))
        factor = Form((Term(abs(k / unit), p),), (Term(Fraction(1), first),))
        parts.append((k / unit < 0, _product(factor, inner, printer)))
    return total(parts)


def _product(factor: Form, inner: Form, printer: Printer) -> Tree:
    (above,), (below,) = factor.numerator, factor.denominator
    shared = tuple((a, min(n, dict(below.powers)[a])) for a, n in above.powers if a in dict(below.powers))
    reduced = Form((Term(above.coefficient, without(above.powers, shared)),), (Term(Fraction(1), without(below.powers, shared)),))
    functions = printer.form(inner)
    if reduced == Form((Term(Fraction(1)),)):
        return functions
    if inner == Form((Term(Fraction(1)),)):
        return printer.form(reduced)
    several = len(inner.numerator) > 1
    return Factors((printer.form(reduced), Group(functions) if several else functions))
