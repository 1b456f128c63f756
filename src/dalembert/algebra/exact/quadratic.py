"""F_{p²} = F_p(i), i² = −1: every number of F_p has a root there, √f = i √−f where f is no square of F_p.

A number a + b i is the pair (a, b); one with b = 0 is the plain number a, so that zero is 0 wherever it comes from.
√f √g = √(f g) and signs are not kept: the roots must be independent of one another, which whoever uses them has to show.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.modular import BadPoint, NoRoot, sign

Pair = tuple[int, int]
Element = int | Pair


def pair(x: Element) -> Pair:
    """a + b i as (a, b)."""
    return x if isinstance(x, tuple) else (x, 0)


def element(a: int, b: int, p: int) -> Element:
    """a + b i, plain where b = 0."""
    a, b = a % p, b % p
    return (a, b) if b else a


def add(x: Element, y: Element, p: int) -> Element:
    """x + y"""
    if x.__class__ is int and y.__class__ is int:
        return (x + y) % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a + c, b + d, p)


def sub(x: Element, y: Element, p: int) -> Element:
    """x − y"""
    if x.__class__ is int and y.__class__ is int:
        return (x - y) % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a - c, b - d, p)


def mul(x: Element, y: Element, p: int) -> Element:
    """x y"""
    if x.__class__ is int and y.__class__ is int:
        return x * y % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a * c - b * d, a * d + b * c, p)


def neg(x: Element, p: int) -> Element:
    """−x"""
    return -x % p if isinstance(x, int) else element(-x[0], -x[1], p)


def inverse(x: Element, p: int) -> Element:
    """1/x; BadPoint for zero."""
    if not x:
        msg = "division by zero"
        raise BadPoint(msg)
    if isinstance(x, int):
        return pow(x, -1, p)
    a, b = x
    # a² + b² ≠ 0 because −1 is no square of F_p
    n = pow(a * a + b * b, -1, p)
    return element(a * n, -b * n, p)


def root(x: Element, p: int) -> Element:
    """A number with the square x: always there for x in F_p, for half of the others."""
    if isinstance(x, int):
        if sign(x, p) >= 0:
            return pow(x, (p + 1) // 4, p)
        return element(0, pow(-x % p, (p + 1) // 4, p), p)
    a, b = x
    norm = (a * a + b * b) % p
    if sign(norm, p) != 1:
        msg = "a root inside a root that does not exist at this point"
        raise NoRoot(msg)
    half = (p + 1) // 2
    s = pow(norm, (p + 1) // 4, p)
    t = (a + s) * half % p
    if sign(t, p) != 1:
        t = (a - s) * half % p
    c = pow(t, (p + 1) // 4, p)
    return element(c, b * half * pow(c, -1, p), p)


def reduced(rows: Sequence[Sequence[Element]], p: int) -> tuple[list[list[Element]], list[int]]:
    """The reduced row echelon form without its zero rows, and the columns of its pivots."""
    m = [list(row) for row in rows]
    pivots: list[int] = []
    for j in range(len(m[0])):
        r = len(pivots)
        k = next((k for k in range(r, len(m)) if m[k][j]), None)
        if k is None:
            continue
        m[r], m[k] = m[k], m[r]
        d = inverse(m[r][j], p)
        top = m[r] = [mul(x, d, p) for x in m[r]]
        for i, row in enumerate(m):
            f = row[j]
            if f and i != r:
                m[i] = [sub(x, mul(f, y, p), p) for x, y in zip(row, top, strict=True)]
        pivots.append(j)
        if len(pivots) == len(m):
            break
    return m[: len(pivots)], pivots
