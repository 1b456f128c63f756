"""z1 = …, z2 = …: a long expression as it was computed, with a name for every part that is used more than once."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dalembert.algebra.folds import needed, operands
from dalembert.algebra.printing.notation import Notation
from dalembert.algebra.tape import BINARY, LEAVES, Tape

SUM, QUOTIENT, NUMBER, PRODUCT, FACTOR = range(5)
# longer parts get a name too, so that no line grows without bound
LONGEST_PART = 240


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


def equation_with_intermediates(tape: Tape, residual: int, notation: Notation) -> str:
    """residual = 0 with named intermediates."""
    definitions, last = intermediates(tape, (residual,), notation)
    main = notation.equation(_signed(last[0], notation), notation.number(Fraction(0)))
    return notation.aside(main, len(definitions), definitions) if definitions else main


def intermediates(tape: Tape, outs: tuple[int, ...], notation: Notation) -> tuple[list[str], list[Part]]:
    """Definitions z1 = … in order, and the expressions in terms of them."""
    nodes = tape.nodes
    live = needed(tape, outs)
    uses = dict.fromkeys(live, 0)
    for i in live:
        # a square mentions its base once
        for a in dict.fromkeys(operands(*nodes[i])):
            uses[a] += 1
    prefix = "z"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in tape.names):
        prefix += "z"
    parts: dict[int, Part] = {}
    definitions: list[str] = []
    for i in live:
        part = _part(tape, i, parts, notation)
        shared = uses[i] > 1 and nodes[i][0] not in (*LEAVES, "neg")
        if shared or (len(part.text) > LONGEST_PART and i not in outs):
            name = notation.symbol(f"{prefix}{len(definitions) + 1}")
            definitions.append(notation.equation(name, _signed(part, notation)))
            part = Part(name, FACTOR)
        parts[i] = part
    return definitions, [parts[i] for i in outs]


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
