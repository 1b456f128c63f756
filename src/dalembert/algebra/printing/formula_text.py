"""d/dt ∂T/∂q̇ − ∂T/∂q = Q + Aᵀλ: a formula's tree in Unicode on one line."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatchmethod
from typing import Final

from dalembert.algebra import formula as f
from dalembert.algebra.printing.names import DOTS, SUBSCRIPTS, SUPERSCRIPTS, unicode_name

FRACTIONS: Final = {Fraction(1, 2): "½", Fraction(1, 3): "⅓", Fraction(2, 3): "⅔", Fraction(1, 4): "¼"}
BAR: Final = "\u0304"


class FormulaText:
    """Writes trees; `symbol` writes the symbols of the model."""

    def __init__(self, symbol: Callable[[str], str] = unicode_name) -> None:
        self.symbol = symbol

    def __call__(self, a: f.Formula) -> str:
        """The formula on one line."""
        return self._write(a)

    def _index(self, index: str | f.Formula) -> str:
        return index if isinstance(index, str) else self._write(index)

    def _factor(self, a: f.Formula) -> str:
        """In parentheses where a sign or a sum stands inside."""
        return f"({self._write(a)})" if isinstance(a, f.Sum | f.Negative | f.With | f.Equation) else self._write(a)

    def _vector(self, a: f.Formula) -> str:
        """Beside a dot or a cross, where a cross needs parentheses too."""
        return f"({self._write(a)})" if isinstance(a, f.Cross | f.Total) else self._factor(a)

    def _atom(self, a: f.Formula) -> str:
        """Under a derivative or an index: anything but a single symbol stands in parentheses."""
        return self._write(a) if isinstance(a, f.Symbol | f.Name | f.Partial | f.Varied) else f"({self._write(a)})"

    @singledispatchmethod
    def _write(self, a: f.Formula) -> str:
        raise TypeError(a)

    @_write.register
    def _symbol(self, a: f.Symbol) -> str:
        marked = unicodedata.normalize("NFC", a.letter + BAR * a.bar + DOTS.get(a.dots, ""))
        below, above = [self._index(i) for i in a.below], [self._index(i) for i in a.above]
        # F₁, Qₓ and γ³₁ₜ, but F_r, p_θ and γ^s_rk
        raised = all(i.isdigit() for i in below[:1]) or isinstance(a.below[0], f.Name)
        plain = raised and all(ord(c) in SUBSCRIPTS for i in below for c in i)
        low = _digits(below).translate(SUBSCRIPTS) if plain else "_" + "".join(below)
        high = _digits(above).translate(SUPERSCRIPTS) if all(i.isdigit() for i in above) else "^" + "".join(above)
        return marked + high + low + "*" * a.star

    @_write.register
    def _name(self, a: f.Name) -> str:
        return self.symbol(a.name)

    @_write.register
    def _number(self, a: f.Number) -> str:
        return FRACTIONS.get(a.value, str(a.value))

    @_write.register
    def _negative(self, a: f.Negative) -> str:
        return f"−{self._factor(a.of)}"

    @_write.register
    def _sum(self, a: f.Sum) -> str:
        first, *rest = a.terms
        signed = ((" − ", self._factor(term.of)) if isinstance(term, f.Negative) else (" + ", self._write(term)) for term in rest)
        return self._write(first) + "".join(sign + term for sign, term in signed)

    @_write.register
    def _product(self, a: f.Product) -> str:
        # Aᵀλ, but M q̇
        spaces = ["" if isinstance(factor, f.Transposed) and isinstance(a.factors[-1], f.Symbol) else " " for factor in a.factors[:-1]]
        return "".join(space + self._factor(factor) for space, factor in zip(["", *spaces], a.factors, strict=True))

    @_write.register
    def _dot(self, a: f.Dot) -> str:
        return f"{self._vector(a.left)}·{self._vector(a.right)}"

    @_write.register
    def _cross(self, a: f.Cross) -> str:
        return f"{self._vector(a.left)} × {self._vector(a.right)}"

    @_write.register
    def _partial(self, a: f.Partial) -> str:
        return f"∂{self._atom(a.of)}/∂{self._atom(a.by)}"

    @_write.register
    def _rate(self, a: f.Rate) -> str:
        return f"d{self._write(a.of)}/dt" if isinstance(a.of, f.Symbol) else f"d/dt {self._factor(a.of)}"

    @_write.register
    def _varied(self, a: f.Varied) -> str:
        return f"δ{self._atom(a.of)}"

    @_write.register
    def _transposed(self, a: f.Transposed) -> str:
        return f"{self._atom(a.of)}ᵀ"

    @_write.register
    def _inverse(self, a: f.Inverse) -> str:
        return f"{self._atom(a.of)}⁻¹"

    @_write.register
    def _total(self, a: f.Total) -> str:
        return f"Σ{f'_{a.over}' if a.over else ''} {self._factor(a.of)}"

    @_write.register
    def _component(self, a: f.Component) -> str:
        return f"{self._atom(a.of)}_{self._index(a.index)}"

    @_write.register
    def _function(self, a: f.Function) -> str:
        return f"{self._atom(a.of)}({', '.join(map(self._write, a.arguments))})"

    @_write.register
    def _equation(self, a: f.Equation) -> str:
        return f"{self._write(a.left)} = {self._write(a.right)}"

    @_write.register
    def _with(self, a: f.With) -> str:
        return f"{self._write(a.of)}, with {', '.join(map(self._write, a.given))}"


def _digits(indices: list[str]) -> str:
    """12, or 1,12 where an index has two digits."""
    return (", " if any(len(i) > 1 for i in indices) else "").join(indices).replace(" ", "")
