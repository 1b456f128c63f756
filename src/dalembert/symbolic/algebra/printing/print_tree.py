"""What is to be written, before anyone decides how: letters, products, fractions and parentheses,
in the order in which they are read.

The layout of a formula makes such a tree once; text, LaTeX and MathML are three ways to write it.
Signs, order and parentheses are decided here, except those that only a line of text needs, (a +
b)/(c d).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, dataclass_transform

from dalembert.foundation.deferred_dataclass import dataclass


@dataclass_transform(frozen_default=True)
class _Node:
    """Every kind of node is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Numeral(_Node):
    """A rational number that is not negative; `small` in formulas of the books, ½."""

    value: Fraction
    small: bool = False


class NamedSymbol(_Node):
    """A symbol of the model: its name, and the name that is shown for it, both as programs spell
    them (theta_1').
    """

    name: str
    shown: str


class Letter(_Node):
    """T, q̇_k, T̄, F_r*, γ³₁₂: a letter of the books with indices, dots, accents and a star."""

    letter: str
    below: tuple[Tree, ...] = ()
    above: tuple[Tree, ...] = ()
    dots: int = 0
    accent: str = ""
    star: bool = False
    # a vector
    bold: bool = False


class Subscript(_Node):
    """(Aᵀλ)_k, Q_θ: an index on whatever is no single letter."""

    base: Tree
    below: Tree


class Prose(_Node):
    """Words between formulas; spaces at their ends count."""

    text: str


class Superscript(_Node):
    """x², Aᵀ, Ψ⁻¹: anything that needs parentheses below an exponent has them already."""

    base: Tree
    exponent: int | str


class Call(_Node):
    """f(a, b) to a power; `bare` where the argument is so short that sin and cos need no
    parentheses around it.
    """

    function: str
    arguments: tuple[Tree, ...]
    exponent: int = 1
    bare: bool = False


class Factors(_Node):
    """a b c"""

    factors: tuple[Tree, ...]


class SignedTerms(_Node):
    """± a ± b: parts with their signs, True for minus."""

    parts: tuple[tuple[bool, Tree], ...]


class Group(_Node):
    """(a)"""

    inside: Tree


class FractionBar(_Node):
    """a/b"""

    above: Tree
    below: Tree


class Infix(_Node):
    """a·b, a × b, a → b"""

    left: Tree
    sign: str
    right: Tree


class Equality(_Node):
    """left = right"""

    left: Tree
    right: Tree


class Continuation(_Node):
    """+ b, = b: a part of a formula that begins with the sign that joins it to what stands
    before.
    """

    sign: str
    part: Tree


class Adjacent(_Node):
    """Parts that touch one another: ∂T, V(q), ∫₀ᴸ f dx; `spaced` ones do not."""

    parts: tuple[Tree, ...]
    spaced: bool = False


class CommaList(_Node):
    """a, b, c"""

    parts: tuple[Tree, ...]


class SummationSign(_Node):
    """Σ_i a"""

    of: Tree
    over: str = ""


class IntegralSign(_Node):
    """∫₀ᴸ f dx, or without ends ∫ f dt"""

    inside: Tree
    by: Tree
    end: Tree | None = None


class UnitVector(_Node):
    """B.x, the unit vector of a frame along one of its axes."""

    frame: str
    axis: str


class MatrixBrackets(_Node):
    """Rows between brackets."""

    rows: tuple[tuple[Tree, ...], ...]


class OmittedPart(_Node):
    """…: what there is no room for."""


class Annotated(_Node):
    """a    [what it is about]"""

    of: Tree
    note: Tree


class WithDefinitions(_Node):
    """A formula and the intermediates it is written in."""

    main: Tree
    definitions: tuple[Equality, ...]

    @property
    def words(self) -> str:
        """with 3 intermediates"""
        return f"with {len(self.definitions)} intermediate{'s' * (len(self.definitions) > 1)}"


Tree = (
    Numeral | NamedSymbol | Letter | Subscript | Prose | Superscript | Call | Factors
    | SignedTerms | Group | FractionBar | Infix | Equality | Continuation
    | Adjacent | CommaList | SummationSign | IntegralSign | UnitVector | MatrixBrackets
    | OmittedPart | Annotated | WithDefinitions
)  # fmt: skip

ZERO: Final = Numeral(Fraction(0))
ONE: Final = Numeral(Fraction(1))
PI: Final = Letter("π")


def total(parts: list[tuple[bool, Tree]]) -> Tree:
    """± a ± b; a single part without a minus is itself."""
    return parts[0][1] if len(parts) == 1 and not parts[0][0] else SignedTerms(tuple(parts))


def product(factors: list[Tree]) -> Tree:
    """a b c; a single factor is itself."""
    return factors[0] if len(factors) == 1 else Factors(tuple(factors))


def power(base: Tree, exponent: int) -> Tree:
    """xⁿ; x¹ is x, and what is written with several letters keeps them together: (βL)²."""
    if exponent == 1:
        return base
    return Superscript(Group(base) if isinstance(base, Adjacent | IntegralSign) else base, exponent)


def split_sign(tree: Tree) -> tuple[bool, Tree]:
    """Whether a minus stands before it, and what stands after that minus."""
    return (
        tree.parts[0] if isinstance(tree, SignedTerms) and len(tree.parts) == 1 else (False, tree)
    )


def line_parts(tree: Tree) -> list[Tree]:
    """The formula cut before every sign outside parentheses: a, + b, = c."""
    match tree:
        case Equality(left, right):
            first, *rest = line_parts(right)
            return [*line_parts(left), Continuation("=", first), *rest]
        case SignedTerms(parts):
            segments: list[Tree] = []
            for n, (minus, part) in enumerate(parts):
                first, *rest = line_parts(part)
                lead = (
                    SignedTerms(((True, first),))
                    if minus and not n
                    else first
                    if not n
                    else Continuation("−" if minus else "+", first)
                )
                segments += [lead, *rest]
            return segments
    return [tree]


def join_signed(terms: list[tuple[bool, str]]) -> str:
    """-a + b - c, of terms that are written already; the flag says which are negative."""
    (negative, first), *rest = terms
    later = "".join((" - " if minus else " + ") + term for minus, term in rest)
    return ("-" if negative else "") + first + later
