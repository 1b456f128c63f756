"""Ways to write mathematics on one line: Unicode for the terminal, LaTeX for paper, and what a program reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from dalembert.algebra.printing.names import displayed, latex_name, superscript, unicode_name

# functions whose power stands after their name: cos² θ
RAISED = frozenset({"sin", "cos", "sinh", "cosh"})
LATEX_FUNCTIONS = {
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
    "sign": r"\operatorname{sign}",
    "atan2": r"\operatorname{atan2}",
}


class Notation(Protocol):
    """What a printer must know; strings go in and out."""

    # whether functions above a fraction bar need parentheses, so that nobody reads sin θ/r as sin(θ/r)
    closes_quotients: bool

    def number(self, k: Fraction) -> str:
        """A rational number that is not negative."""
        ...

    def symbol(self, name: str) -> str: ...
    def pi(self) -> str: ...
    def power(self, base: str, k: int, *, simple: bool) -> str: ...
    def call(self, op: str, arguments: Sequence[str], k: int, *, bare: bool) -> str:
        """function(arguments) to the power k; `bare` where the argument is one symbol and needs no parentheses."""
        ...

    def product(self, factors: Sequence[str]) -> str: ...
    def sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        """Parts with their signs (True for minus)."""
        ...

    def group(self, inside: str) -> str: ...
    def quotient(self, above: str, below: str, *, simple: bool) -> str:
        """above/below; `simple` where what stands below is a single factor."""
        ...

    def equation(self, left: str, right: str) -> str: ...
    def aside(self, main: str, count: int, definitions: Sequence[str]) -> str:
        """A main formula with named intermediates."""
        ...


def decimal(k: Fraction) -> str | None:
    """9.81 for 981/100: a fraction that is shorter, and better known, as a decimal number; else None."""
    if k.denominator < 20:
        return None
    places, left = 0, k.denominator
    while left % 10 == 0 or left % 5 == 0 or left % 2 == 0:
        left //= 10 if left % 10 == 0 else 5 if left % 5 == 0 else 2
        places += 1
    if left != 1:
        return None
    whole, part = divmod(k * 10**places, 10**places)
    shown = f"{whole}.{int(part):0{places}d}".rstrip("0")
    return shown if len(shown) < len(str(k)) else None


class Text:
    """Unicode on one line: 1/4 m r² (1 + 5 cos² θ) φ̈"""

    closes_quotients = True

    def __init__(self, displays: Mapping[str, str] | None = None) -> None:
        self.displays = {} if displays is None else displays

    def number(self, k: Fraction) -> str:
        return decimal(k) or str(k)

    def symbol(self, name: str) -> str:
        return unicode_name(displayed(name, self.displays))

    def pi(self) -> str:
        return "π"

    def power(self, base: str, k: int, *, simple: bool) -> str:
        if k == 1:
            return base
        return (base if simple else f"({base})") + superscript(k)

    def call(self, op: str, arguments: Sequence[str], k: int, *, bare: bool) -> str:
        inside = ", ".join(arguments)
        if op == "abs":
            return self.power(f"|{inside}|", k, simple=True)
        if op == "sqrt":
            return self.power(f"√{inside}" if bare else f"√({inside})", k, simple=False)
        tail = f" {inside}" if bare and op in RAISED else f"({inside})"
        if op in RAISED:
            return op + (superscript(k) if k != 1 else "") + tail
        return self.power(op + tail, k, simple=True)

    def product(self, factors: Sequence[str]) -> str:
        return " ".join(factors)

    def sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        (negative, first), *rest = parts
        return ("−" if negative else "") + first + "".join((" − " if minus else " + ") + part for minus, part in rest)

    def group(self, inside: str) -> str:
        return f"({inside})"

    def quotient(self, above: str, below: str, *, simple: bool) -> str:
        return f"{above}/{below}" if simple else f"{above}/({below})"

    def equation(self, left: str, right: str) -> str:
        return f"{left} = {right}"

    def aside(self, main: str, count: int, definitions: Sequence[str]) -> str:
        return f"{main}, with {count} intermediate{'s' if count > 1 else ''}: " + "; ".join(definitions)


class Latex:
    r"""LaTeX for one formula: \frac{1}{4} m r^{2} \left(1 + 5 \cos^{2} \theta\right) \ddot{\phi}"""

    closes_quotients = False

    def __init__(self, displays: Mapping[str, str] | None = None) -> None:
        self.displays = {} if displays is None else displays

    def number(self, k: Fraction) -> str:
        return str(k) if k.denominator == 1 else decimal(k) or f"\\frac{{{k.numerator}}}{{{k.denominator}}}"

    def symbol(self, name: str) -> str:
        return latex_name(displayed(name, self.displays))

    def pi(self) -> str:
        return r"\pi"

    def power(self, base: str, k: int, *, simple: bool) -> str:
        if k == 1:
            return base
        return (base if simple else self.group(base)) + f"^{{{k}}}"

    def call(self, op: str, arguments: Sequence[str], k: int, *, bare: bool) -> str:
        inside = ", ".join(arguments)
        if op == "abs":
            return self.power(f"\\left|{inside}\\right|", k, simple=True)
        if op == "sqrt":
            return self.power(f"\\sqrt{{{inside}}}", k, simple=True)
        name = LATEX_FUNCTIONS.get(op, f"\\{op}")
        tail = f" {inside}" if bare and op in RAISED else self.group(inside)
        if op in RAISED:
            return name + (f"^{{{k}}}" if k != 1 else "") + tail
        return self.power(name + tail, k, simple=True)

    def product(self, factors: Sequence[str]) -> str:
        # words need a thin space to stay apart; letters do not
        words = [f.startswith("\\mathrm") for f in factors]
        return factors[0] + "".join(("\\, " if words[n] or words[n + 1] else " ") + f for n, f in enumerate(factors[1:]))

    def sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        (negative, first), *rest = parts
        return ("-" if negative else "") + first + "".join((" - " if minus else " + ") + part for minus, part in rest)

    def group(self, inside: str) -> str:
        return f"\\left({inside}\\right)"

    def quotient(self, above: str, below: str, *, simple: bool) -> str:  # noqa: ARG002 - a bar needs no parentheses
        return f"\\frac{{{above}}}{{{below}}}"

    def equation(self, left: str, right: str) -> str:
        return f"{left} = {right}"

    def aside(self, main: str, count: int, definitions: Sequence[str]) -> str:
        words = f"\\quad\\text{{with {count} intermediate{'s' if count > 1 else ''}: }}"
        return f"{main} {words} " + r",\; ".join(definitions)


class Source:
    """What `s.expression` reads: 1/4*m*r**2*(1 + 5*cos(theta)**2)*phi''"""

    closes_quotients = True

    def number(self, k: Fraction) -> str:
        return str(k.numerator) if k.denominator == 1 else f"{k.numerator}/{k.denominator}"

    def symbol(self, name: str) -> str:
        return name

    def pi(self) -> str:
        return "pi"

    def power(self, base: str, k: int, *, simple: bool) -> str:
        return base if k == 1 else (base if simple else f"({base})") + f"**{k}"

    def call(self, op: str, arguments: Sequence[str], k: int, *, bare: bool) -> str:  # noqa: ARG002 - always in parentheses
        return self.power(f"{op}({', '.join(arguments)})", k, simple=True)

    def product(self, factors: Sequence[str]) -> str:
        return "*".join(factors)

    def sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        (negative, first), *rest = parts
        return ("-" if negative else "") + first + "".join((" - " if minus else " + ") + part for minus, part in rest)

    def group(self, inside: str) -> str:
        return f"({inside})"

    def quotient(self, above: str, below: str, *, simple: bool) -> str:
        return f"{above}/{below}" if simple else f"{above}/({below})"

    def equation(self, left: str, right: str) -> str:
        return left if right == "0" else f"{left} - ({right})"

    def aside(self, main: str, count: int, definitions: Sequence[str]) -> str:
        raise NotImplementedError(main, count, definitions)
