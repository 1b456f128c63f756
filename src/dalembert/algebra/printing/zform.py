"""z1 = …, z2 = …: a long expression as it was computed, with a name for every part that is used more than once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from dalembert.algebra.folds import Linear, needed, operands
from dalembert.algebra.printing.names import base, displayed, parts
from dalembert.algebra.printing.notation import Notation
from dalembert.algebra.tape import BINARY, LEAVES, Tape
from dalembert.errors import NotLinear

SUM, QUOTIENT, NUMBER, PRODUCT, FACTOR = range(5)
# longer parts get a name too, so that no line grows without bound
LONGEST_PART = 240
# and so do the entries of M and f beyond this
_LONGEST_ENTRY: Final = 40


class Part(NamedTuple):
    """A printed part, how tightly it binds, and whether a minus stands before it."""

    text: str
    binding: int
    negative: bool = False


def with_intermediates(tape: Tape, e: int, notation: Notation) -> str:
    """The expression with named intermediates, their number and their definitions."""
    definitions, last = intermediates(tape, (e,), notation)
    main = _signed(last[0], notation)
    return notation.aside(main, len(definitions), definitions) if definitions else main


def equation_with_intermediates(tape: Tape, residual: int, notation: Notation, unknowns: Sequence[int] = ()) -> str:
    """Σ_s M_s u̇_s = f with named intermediates."""
    definitions, (main,) = equations_with_intermediates(tape, (residual,), unknowns, notation)
    return notation.aside(main, len(definitions), definitions) if definitions else main


def equations_with_intermediates(
    tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], notation: Notation
) -> tuple[list[str], list[str]]:
    """Definitions z1 = … and Σ_s M_rs u̇_s = f_r for every residual; residual = 0 where it is not linear in the unknowns."""
    t = tape.fork()
    linear = Linear(t, list(unknowns))
    try:
        rows = [linear(r) for r in residuals]
    except NotLinear:
        rows = [(r, {}) for r in residuals]
    sides = [(dict(sorted(M.items())), t.neg(rest) if M else rest) for rest, M in rows]
    outs = tuple(dict.fromkeys(i for M, f in sides for i in (*M.values(), f)))
    definitions, found = intermediates(t, outs, notation, longest_out=_LONGEST_ENTRY)
    parts = dict(zip(outs, found, strict=True))
    zero = notation.number(Fraction(0))
    written = []
    for M, f in sides:
        if not M:
            written.append(notation.equation(_signed(parts[f], notation), zero))
            continue
        left = [_term(parts[m], notation.symbol(str(t.nodes[unknowns[k]][1])), notation, one=m == t.one) for k, m in M.items()]
        written.append(notation.equation(notation.sum(left), _signed(parts[f], notation)))
    return definitions, written


def _term(part: Part, symbol: str, n: Notation, *, one: bool) -> tuple[bool, str]:
    """M_rs u̇_s, and whether a minus stands before it."""
    if one:
        return False, symbol
    size = Part(part.text, part.binding)
    return part.negative, n.product([_within(size, NUMBER, n), symbol])


def intermediates(tape: Tape, outs: tuple[int, ...], notation: Notation, longest_out: int | None = None) -> tuple[list[str], list[Part]]:
    """Definitions z1 = … in order, and the expressions in terms of them, named too where they are longer than `longest_out`."""
    nodes = tape.nodes
    live = needed(tape, outs)
    uses = dict.fromkeys(live, 0)
    for i in live:
        # a square mentions its base once
        for a in dict.fromkeys(operands(*nodes[i])):
            uses[a] += 1
    prefix = free_letters(tape)
    parts: dict[int, Part] = {}
    definitions: list[str] = []
    ends = set(outs)
    for i in live:
        part = _part(tape, i, parts, notation)
        shared = uses[i] > 1 and nodes[i][0] not in (*LEAVES, "neg")
        longest = LONGEST_PART if i not in ends else longest_out
        if shared or (longest is not None and len(part.text) > longest):
            name = notation.symbol(f"{prefix}{len(definitions) + 1}")
            definitions.append(notation.equation(name, _signed(part, notation)))
            part = Part(name, FACTOR)
        parts[i] = part
    return definitions, [parts[i] for i in outs]


def free_letters(tape: Tape) -> str:
    """z, or zz, zzz … where a symbol of the tape prints as z₁, z₂ …, whether it is called z1 or z_1 or is only displayed so."""
    shown = [parts(displayed(base(name), tape.displays)) for name in tape.names]
    numbered = {name.letters for name in shown if name.subscripts and name.subscripts[0].isdigit()}
    prefix = "z"
    while prefix in numbered:
        prefix += "z"
    return prefix


def _signed(part: Part, n: Notation) -> str:
    return n.sum([(part.negative, part.text)])


def _within(part: Part, binding: int, n: Notation) -> str:
    """A part inside something that binds more tightly."""
    return n.group(_signed(part, n)) if part.negative or part.binding < binding else part.text


def _part(tape: Tape, i: int, parts: dict[int, Part], n: Notation) -> Part:
    op, a, b = tape.nodes[i]
    if op == "const":
        k = abs(Fraction(a))
        return Part(n.number(k), FACTOR if k.denominator == 1 else NUMBER, a < 0)
    if op == "symbol":
        return Part(n.symbol(a), FACTOR)
    if op == "pi":
        return Part(n.pi(), FACTOR)
    x = parts[a]
    if op == "neg":
        return Part(_within(x, QUOTIENT, n), max(x.binding, QUOTIENT), negative=True)
    if op not in BINARY:
        return Part(n.call(op, [_signed(x, n)], 1, bare=False), FACTOR)
    y = parts[b]
    if op == "atan2":
        return Part(n.call(op, [_signed(x, n), _signed(y, n)], 1, bare=False), FACTOR)
    return _operation(op, x, y, n, square=a == b)


def _operation(op: str, x: Part, y: Part, n: Notation, *, square: bool) -> Part:
    if op in ("add", "sub"):
        return Part(_added(x, y, n, minus=op == "sub"), SUM)
    if op == "div":
        simple = y.binding == FACTOR and not y.negative
        return Part(n.quotient(_within(x, PRODUCT, n), _signed(y, n), simple=simple), QUOTIENT)
    if square:
        return Part(n.power(_signed(x, n), 2, simple=x.binding == FACTOR and not x.negative), PRODUCT)
    # a fraction may stand first without parentheses
    return Part(n.product([_within(x, NUMBER, n), _within(y, PRODUCT, n)]), PRODUCT)


def _added(x: Part, y: Part, n: Notation, *, minus: bool) -> str:
    first = (x.negative, n.group(x.text) if x.negative and x.binding == SUM else x.text)
    if minus:
        return n.sum([first, (True, _within(y, QUOTIENT, n))])
    return n.sum([first, (y.negative, n.group(y.text) if y.negative and y.binding == SUM else y.text)])
