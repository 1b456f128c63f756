"""Errors planted in printed equations: twelve kinds, and whether a planted row is false, in
floating point.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.normal_form.rational_form import Atom, Term
from verify.systems import Example, form_text, terms_text

KINDS = (
    "sign",
    "double",
    "half",
    "lost",
    "extra",
    "constant",
    "power",
    "trig",
    "rate",
    "acceleration",
    "inertia",
    "angle",
)
_INERTIAS = (Fraction(1, 3), Fraction(1, 4), Fraction(3, 4), Fraction(3), Fraction(4))
FALSE = 1e-7


def _swap(term: Term, a: Atom, b: Atom | None, step: int = 1) -> Term:
    powers = Counter(dict(term.powers))
    powers[a] -= step
    if b is not None:
        powers[b] += step
    return Term(term.coefficient, tuple((x, k) for x, k in powers.items() if k))


def planted(
    e: Example, row: int, kind: str, rng: Random, terms: list[Term] | None = None
) -> list[Term] | None:
    """The terms of a row with one error; None where this kind cannot be planted there."""
    terms = list(e.forms[row].numerator) if terms is None else list(terms)
    j = rng.randrange(len(terms))
    term = terms[j]
    scale = {
        "sign": Fraction(-1),
        "double": Fraction(2),
        "half": Fraction(1, 2),
        "inertia": rng.choice(_INERTIAS),
    }
    if kind in scale:
        terms[j] = Term(term.coefficient * scale[kind], term.powers)
    elif kind == "lost":
        del terms[j]
    elif kind == "extra":
        other = rng.choice(rng.choice(e.forms).numerator)
        if any(dict(x.powers) == dict(other.powers) for x in terms):
            return None
        terms.append(other)
    else:
        new = _exchanged(e, term, kind, rng)
        if new is None:
            return None
        terms[j] = new
    return terms or None


def _exchanged(e: Example, term: Term, kind: str, rng: Random) -> Term | None:
    """A symbol or a function of a term exchanged for another of its kind."""
    t, kin = e.truth.tape, e.truth.kin
    every = list(dict.fromkeys(a for f in e.forms for x in f.numerator for a, _ in x.powers))
    turning = kind in ("trig", "angle")
    names = {str(t.nodes[i][1]) for i in (kin.u if kind == "rate" else kin.udot)}
    moving = {str(t.nodes[i][1]) for i in t.moving}
    group = (
        names
        if kind in ("rate", "acceleration")
        else {a.name for a in every if a.op == "symbol"} - moving
    )
    mine = [
        a
        for a, _ in term.powers
        if (a.op in ("sin", "cos") if turning else a.op == "symbol" and a.name in group)
    ]
    if not mine:
        return None
    a = rng.choice(mine)
    if kind == "power":
        return _swap(term, a, None, rng.choice((-1, 1)))
    if kind == "trig":
        return _swap(term, a, Atom("cos" if a.op == "sin" else "sin", "", a.arguments))
    others = [b for b in every if b != a and b.op == a.op and (turning or b.name in group)]
    return _swap(term, a, rng.choice(others)) if others else None


# ---- floating point ----------------------------------------------------------------------------


def value(line: str, v: dict[str, float]) -> float:
    """A text of `form_text` as a number; these texts are written here alone."""
    names: dict[str, Any] = {
        f.__name__: f for f in (math.sin, math.cos, math.tan, math.sqrt, math.exp, math.log)
    }
    names |= {
        "abs": abs,
        "sign": lambda x: math.copysign(1.0, x),
        "pi": math.pi,
        "_v": v,
        "sinh": math.sinh,
        "cosh": math.cosh,
    }
    names |= {"atan2": math.atan2, "asin": math.asin, "acos": math.acos, "atan": math.atan}
    text = re.sub(r"[A-Za-z_]\w*'*", lambda m: m[0] if m[0] in names else f"_v[{m[0]!r}]", line)
    return float(eval(text, {"__builtins__": {}}, names))


def state_values(e: Example, rng: Random) -> dict[str, float]:
    """Numbers for all symbols: a consistent position, constants as declared, everything else
    random.
    """
    t, kin = e.truth.tape, e.truth.kin
    numbers: dict[int, float] = {x: rng.uniform(0.4, 1.6) for x in symbols_of(t, e.truth.along_u)}
    for symbol in e.system.symbols.values():
        if symbol.kind == "constant":
            numbers[symbol.scalar.i] = float(symbol.value)
    numbers |= {q: e.q[kin.name(q)] for q in kin.q if kin.name(q) in e.q}
    return {str(t.nodes[i][1]): x for i, x in numbers.items()}


def is_false(e: Example, line: str, rng: Random) -> bool:
    """Whether a row fails where M a = f, in floating point, without the exact machinery."""
    rows = [form_text(f) for f in e.forms]
    accelerations = [str(e.truth.tape.nodes[i][1]) for i in e.truth.udot]
    v = state_values(e, rng) | dict.fromkeys(accelerations, 0.0)
    try:
        f = np.array([value(r, v) for r in rows])
        M = np.array([[value(r, v | {a: 1.0}) for r in rows] for a in accelerations]).T - f[:, None]
        solution = np.linalg.solve(M, -f)
        here = v | dict(zip(accelerations, map(float, solution), strict=True))
        size = max(abs(value(terms_text((x,)), here)) for x in e.forms[0].numerator) + 1.0
        return abs(value(line, here)) > FALSE * size
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return False
