"""Random expressions with every operation of the tape, defined for all real arguments."""

import random

import numpy

from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Tape


def bounded(t, a):
    """a / (1 + a²), between −1/2 and 1/2"""
    return t.div(a, t.add(t.one, t.mul(a, a)))


def grown(t, draw, pool):
    """One more expression made of some in the pool."""
    a, b = draw.choice(pool), draw.choice(pool)
    square = t.add(t.one, t.mul(a, a))
    return draw.choice(
        [
            lambda: t.add(a, b),
            lambda: t.sub(a, b),
            lambda: t.mul(bounded(t, a), bounded(t, b)),
            lambda: t.add(t.mul(bounded(t, a), b), t.mul(b, bounded(t, b))),
            lambda: t.div(a, t.add(t.one, t.mul(b, b))),
            lambda: t.neg(a),
            lambda: t.atan2(a, square),
            lambda: t.call("sin", a),
            lambda: t.call("cos", a),
            lambda: t.mul(t.call("sin", a), t.call("cos", a)),
            lambda: t.call("exp", bounded(t, a)),
            lambda: t.call("log", square),
            lambda: t.call("sqrt", square),
            lambda: t.call("sinh", bounded(t, a)),
            lambda: t.call("cosh", bounded(t, a)),
            lambda: t.call("asin", bounded(t, a)),
            lambda: t.call("acos", bounded(t, a)),
            lambda: t.call("atan", a),
            lambda: t.call("abs", a),
            lambda: t.call("sign", a),
            lambda: t.mul(t.pi, a),
        ]
    )()


def random_tape(seed, n_state=5, n_parameters=4, size=300, n_out=12):
    """(tape, outs, state, parameters)"""
    draw, t = random.Random(seed), Tape()
    state = [t.symbol(f"x{k}") for k in range(n_state)]
    parameters = [t.symbol(f"p{k}") for k in range(n_parameters)]
    pool = [*state, *parameters, t.const(3)]
    # expressions of the parameters alone, for the prologue
    for _ in range(size // 10):
        pool.append(grown(t, draw, [*parameters, *pool[n_state:]]))
    for _ in range(size):
        pool.append(
            bounded(t, grown(t, draw, pool)) if draw.random() < 0.3 else grown(t, draw, pool)
        )
    outs = [*draw.sample(pool, n_out - 5), state[0], parameters[0], t.const(2), pool[-1], pool[-1]]
    return t, outs, state, parameters


def reference(tape, outs, values):
    """The values by Python's own arithmetic."""
    return numpy.array(evaluate(tape, outs, lambda i: float(values[i]), FloatArithmetic()))


def bits(a):
    """Equal bits, except that one NaN is as good as another."""
    a = numpy.asarray(a)
    return numpy.where(numpy.isnan(a), -1, a.view(numpy.int64))
