"""Two descriptions, whether they have the same equations."""

from __future__ import annotations

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import apply_operation, dependencies


def moved(source, target, outs):
    """Expressions of one system on the tape of another, symbol for symbol."""
    new = {}
    for i in dependencies(source, outs):
        op, name, b = source.nodes[i]
        leaf = {
            "symbol": lambda name=name: target.symbol(name),
            "const": lambda name=name: target.const(name),
            "pi": lambda: target.pi,
        }
        new[i] = leaf[op]() if op in leaf else apply_operation(target, op, new[name], new.get(b))
    return [new[i] for i in outs]


def equal(a, b):
    """Whether two systems have the same equations M u̇ = f, q̇ = W u + X, decided in prime
    fields.
    """
    x, y = da.kane(a).equations, da.kane(b).equations
    tape = x.tape.fork()
    mine, theirs = (*x.residuals, *x.qdot), moved(y.tape, tape, (*y.residuals, *y.qdot))
    return len(mine) == len(theirs) and all(
        provably_zero(tape, [tape.sub(m, n) for m, n in zip(mine, theirs, strict=True)])
    )
