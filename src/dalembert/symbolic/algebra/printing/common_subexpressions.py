"""z1 = …, z2 = …: a long expression as it was computed, with a name for every part that is used
more than once.
Keywords: common subexpression.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from dalembert.errors import NotLinear
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, dependencies, operands
from dalembert.symbolic.algebra.printing import print_tree as t
from dalembert.symbolic.algebra.printing.symbol_names import display_name
from dalembert.symbolic.algebra.printing.symbol_names import parts as parts_of
from dalembert.symbolic.algebra.printing.term_layout import Naming, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.tape import BINARY, DATA, LEAVES, Tape, base_name

SUM, QUOTIENT, NUMBER, PRODUCT, FACTOR = range(5)
# longer parts get a name too, so that no line grows without bound
LONGEST_PART = 240
# and so do the entries of M and f beyond this
_LONGEST_ENTRY: Final = 40


class TreeWithPrecedence(NamedTuple):
    """A part, how tightly it binds, and whether a minus stands before it."""

    tree: t.Tree
    binding: int
    negative: bool = False


def with_intermediates(tape: Tape, e: int) -> t.Tree:
    """The expression with named intermediates and their definitions."""
    definitions, (last,) = intermediates(tape, (e,))
    return t.WithDefinitions(last, definitions) if definitions else last


def equation_with_intermediates(
    tape: Tape, residual: int, unknowns: Sequence[int] = (), symbol: Naming | None = None
) -> t.Tree:
    """Σ_s M_s u̇_s = f with named intermediates."""
    definitions, (main,) = equations_with_intermediates(tape, (residual,), unknowns, symbol)
    return t.WithDefinitions(main, definitions) if definitions else main


def equations_with_intermediates(
    tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], symbol: Naming | None = None
) -> tuple[tuple[t.Equality, ...], list[t.Equality]]:
    """Definitions z1 = … and Σ_s M_rs u̇_s = f_r for every residual; residual = 0 where it is
    not linear in the unknowns.
    """
    own = tape.fork()
    linear = LinearCoefficients(own, list(unknowns))
    try:
        rows = [linear(r) for r in residuals]
    except NotLinear:
        rows = [(r, {}) for r in residuals]
    sides = [(dict(sorted(M.items())), own.neg(rest) if M else rest) for rest, M in rows]
    outs = tuple(dict.fromkeys(i for M, f in sides for i in (*M.values(), f)))
    named = symbol or symbol_namer(tape)
    definitions, named_parts = _name_subexpressions(own, outs, named, longest_out=_LONGEST_ENTRY)
    parts = dict(zip(outs, named_parts, strict=True))
    written = []
    for M, f in sides:
        left = [
            _term(parts[m], named(str(own.nodes[unknowns[k]][1])), one=m == own.one)
            for k, m in M.items()
        ]
        written.append(
            t.Equality(t.total(left), _with_sign(parts[f]))
            if M
            else t.Equality(_with_sign(parts[f]), t.ZERO)
        )
    return definitions, written


def _term(part: TreeWithPrecedence, symbol: t.Tree, *, one: bool) -> tuple[bool, t.Tree]:
    """M_rs u̇_s, and whether a minus stands before it."""
    if one:
        return False, symbol
    return part.negative, t.Factors(
        (*_factors(_parenthesize(TreeWithPrecedence(part.tree, part.binding), NUMBER)), symbol)
    )


def intermediates(
    tape: Tape, outs: tuple[int, ...], symbol: Naming | None = None
) -> tuple[tuple[t.Equality, ...], list[t.Tree]]:
    """Definitions z1 = … in order, and the expressions in terms of them."""
    definitions, parts = _name_subexpressions(tape, outs, symbol or symbol_namer(tape))
    return definitions, [_with_sign(part) for part in parts]


def _name_subexpressions(
    tape: Tape, outs: tuple[int, ...], symbol: Naming, longest_out: int | None = None
) -> tuple[tuple[t.Equality, ...], list[TreeWithPrecedence]]:
    """Definitions, and the expressions in terms of them, named too where they are longer than
    `longest_out`.
    """
    nodes = tape.nodes
    live = dependencies(tape, outs)
    uses = dict.fromkeys(live, 0)
    for i in live:
        # a square mentions its base once
        for a in dict.fromkeys(operands(*nodes[i])):
            uses[a] += 1
    prefix = unused_prefix(tape)
    parts: dict[int, TreeWithPrecedence] = {}
    definitions: list[t.Equality] = []
    ends = set(outs)
    length = _Length().length
    for i in live:
        part = _part(tape, i, parts, symbol)
        shared = uses[i] > 1 and nodes[i][0] not in (*LEAVES, "neg")
        longest = LONGEST_PART if i not in ends else longest_out
        if shared or (longest is not None and length(part.tree) > longest):
            name = f"{prefix}{len(definitions) + 1}"
            definitions.append(t.Equality(t.NamedSymbol(name, name), _with_sign(part)))
            part = TreeWithPrecedence(definitions[-1].left, FACTOR)
        parts[i] = part
    return tuple(definitions), [parts[i] for i in outs]


def unused_prefix(tape: Tape) -> str:
    """z, or zz, zzz … where a symbol of the tape prints as z₁, z₂ …, whether it is called z1 or
    z_1 or is only displayed so.
    """
    shown = [parts_of(display_name(base_name(name), tape.displays)) for name in tape.names]
    numbered = {name.letters for name in shown if name.subscripts and name.subscripts[0].isdigit()}
    prefix = "z"
    while prefix in numbered:
        prefix += "z"
    return prefix


class _Length(Text):
    """How many signs it takes to write a tree on one line; trees that were measured are
    remembered.
    """

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, tuple[t.Tree, str]] = {}

    def _write(self, tree: t.Tree, level: int, *, closed: bool = False) -> str:
        known = self.known.get(id(tree))
        if known is None:
            known = self.known[id(tree)] = tree, super()._write(tree, level, closed=closed)
        return known[1]

    def length(self, tree: t.Tree) -> int:
        return len(self(tree))


def _with_sign(part: TreeWithPrecedence) -> t.Tree:
    return t.total([(part.negative, part.tree)])


def _parenthesize(part: TreeWithPrecedence, binding: int) -> t.Tree:
    """A part inside something that binds more tightly."""
    return t.Group(_with_sign(part)) if part.negative or part.binding < binding else part.tree


def _factors(tree: t.Tree) -> tuple[t.Tree, ...]:
    return tree.factors if isinstance(tree, t.Factors) else (tree,)


def _part(
    tape: Tape, i: int, parts: dict[int, TreeWithPrecedence], symbol: Naming
) -> TreeWithPrecedence:
    op, a, b = tape.nodes[i]
    if op == "const":
        k = abs(Fraction(a))
        return TreeWithPrecedence(t.Numeral(k), FACTOR if k.denominator == 1 else NUMBER, a < 0)
    if op == "symbol":
        return TreeWithPrecedence(symbol(a), FACTOR)
    if op == "pi":
        return TreeWithPrecedence(t.PI, FACTOR)
    x = parts[a]
    if op == "neg":
        return TreeWithPrecedence(
            _parenthesize(x, QUOTIENT), max(x.binding, QUOTIENT), negative=True
        )
    if op not in BINARY:
        return TreeWithPrecedence(t.Call(op, (_with_sign(x),)), FACTOR)
    y = parts[b]
    if op == "atan2" or op in DATA:
        return TreeWithPrecedence(t.Call(op, (_with_sign(x), _with_sign(y))), FACTOR)
    return _operation(op, x, y, square=a == b)


def _operation(
    op: str, x: TreeWithPrecedence, y: TreeWithPrecedence, *, square: bool
) -> TreeWithPrecedence:
    if op in ("add", "sub"):
        return TreeWithPrecedence(_sum_tree(x, y, minus=op == "sub"), SUM)
    if op == "div":
        return TreeWithPrecedence(t.FractionBar(_parenthesize(x, PRODUCT), _with_sign(y)), QUOTIENT)
    if square:
        base = x.tree if x.binding == FACTOR and not x.negative else t.Group(_with_sign(x))
        return TreeWithPrecedence(t.Superscript(base, 2), PRODUCT)
    # a fraction may stand first without parentheses
    return TreeWithPrecedence(
        t.Factors((*_factors(_parenthesize(x, NUMBER)), *_factors(_parenthesize(y, PRODUCT)))),
        PRODUCT,
    )


def _sum_tree(x: TreeWithPrecedence, y: TreeWithPrecedence, *, minus: bool) -> t.Tree:
    first = _summands(x)
    if minus:
        return t.SignedTerms((*first, (True, _parenthesize(y, QUOTIENT))))
    return t.SignedTerms((*first, *_summands(y)))


def _summands(x: TreeWithPrecedence) -> tuple[tuple[bool, t.Tree], ...]:
    """The parts of a sum, so that sums in sums are one; a minus before a sum keeps its
    parentheses.
    """
    if isinstance(x.tree, t.SignedTerms):
        return ((True, t.Group(x.tree)),) if x.negative else x.tree.parts
    return ((x.negative, x.tree),)
