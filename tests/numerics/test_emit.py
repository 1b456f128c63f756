import ctypes
from dataclasses import replace

import numpy
import pytest

from dalembert.errors import BadExpression, Unknown
from dalembert.runtime.numerics import emit, jit, lowering
from dalembert.runtime.numerics.jit import host
from dalembert.symbolic.algebra.tape import Tape
from numerics.tapes import bits, random_tape, reference


def compiled(tape, outs, state, parameters, **options):
    """The emitted functions, for one state."""
    text = emit.emit(tape.nodes, outs, state, parameters, **options)
    library = jit.load(text.ir, ("f", "f.prologue"), optimize=0)
    prologue = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(library.address("f.prologue"))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("f"))

    def run(x, p, _keep=library):
        y, work = numpy.empty(len(outs)), numpy.full(text.work_size + 1, numpy.nan)
        prologue(p.ctypes.data, work.ctypes.data)
        function(x.ctypes.data, p.ctypes.data, y.ctypes.data, work.ctypes.data)
        return y

    return run


def close(expected, actual):
    return (numpy.abs(expected - actual) <= 1e-13 * numpy.maximum(1, numpy.abs(expected))).all()


@pytest.mark.parametrize("seed", range(6))
def test_every_operation_against_python(seed):
    tape, outs, state, parameters = random_tape(seed)
    f = compiled(tape, outs, state, parameters)
    rng = numpy.random.default_rng(seed)
    for _ in range(5):
        x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
        values = dict(zip((*state, *parameters), (*x, *p), strict=True))
        assert close(reference(tape, outs, values), f(x, p))


def test_all_operations_occur():
    ops = {node[0] for seed in range(6) for node in random_tape(seed)[0].nodes}
    assert {
        "atan2",
        "sin",
        "cos",
        "exp",
        "log",
        "sqrt",
        "sinh",
        "cosh",
        "asin",
        "acos",
        "atan",
        "abs",
        "sign",
        "neg",
        "pi",
        "div",
    } <= ops


@pytest.mark.parametrize("chunk", [1, 2, 7, 50, 333])
def test_chunks_do_not_change_a_bit(chunk):
    tape, outs, state, parameters = random_tape(11)
    rng = numpy.random.default_rng(0)
    x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
    whole = compiled(tape, outs, state, parameters, chunk=10**6)(x, p)
    assert (bits(whole) == bits(compiled(tape, outs, state, parameters, chunk=chunk)(x, p))).all()


def test_what_is_a_parameter_and_what_is_state_changes_nothing_but_the_place():
    tape, outs, state, parameters = random_tape(4)
    rng = numpy.random.default_rng(0)
    x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
    apart = compiled(tape, outs, state, parameters)(x, p)
    together = compiled(tape, outs, [*state, *parameters], [])(
        numpy.concatenate([x, p]), numpy.empty(0)
    )
    assert close(apart, together)


def test_all_outs_may_be_fixed():
    t = Tape()
    a, b = t.symbol("a"), t.symbol("b")
    outs = [a, t.const(7), t.call("sqrt", t.const(2)), t.mul(a, b), t.pi, a]
    y = compiled(t, outs, [], [a, b])(numpy.empty(0), numpy.array([2.0, 3.0]))
    assert [2, 7, 2**0.5, 6, numpy.pi, 2] == list(y)


def test_no_outs():
    t = Tape()
    assert 0 == compiled(t, [], [t.symbol("a")], [])(numpy.ones(1), numpy.empty(0)).size


def test_sign_and_abs_at_the_edges():
    t = Tape()
    a = t.symbol("a")
    f = compiled(t, [t.call("sign", a), t.call("abs", a)], [a], [])
    for x, expected in ((3.0, (1, 3)), (-2.0, (-1, 2)), (0.0, (0, 0)), (-0.0, (0, 0))):
        assert expected == tuple(f(numpy.array([x]), numpy.empty(0)))
    assert numpy.isnan(f(numpy.array([numpy.nan]), numpy.empty(0))).all()


def test_nested_angles():
    t = Tape()
    a, b = t.symbol("a"), t.symbol("b")
    inner = t.add(t.call("sin", a), t.call("cos", b))
    middle = t.call("cos", t.mul(inner, t.call("sin", t.add(a, b))))
    outs = [t.call("sin", middle), t.call("cos", t.add(middle, a)), t.call("sin", a)]
    y = compiled(t, outs, [a], [b])(numpy.array([0.3]), numpy.array([0.4]))
    assert close(reference(t, outs, {a: 0.3, b: 0.4}), y)


def test_a_product_used_once_is_fused_and_a_shared_denominator_inverted_once():
    t = Tape()
    a, b, c = (t.symbol(name) for name in "abc")
    outs = [
        t.add(t.mul(a, b), c),
        t.sub(c, t.mul(a, a)),
        t.sub(t.mul(b, b), c),
        t.div(a, c),
        t.div(b, c),
    ]
    program = lowering.lower(t.nodes, outs, [a, b, c], [], fuse=True)
    assert [
        "multiply-add",
        "subtract-product",
        "multiply-subtract",
        "reciprocal",
        "mul",
        "mul",
    ] == [o.op for o in program.body]
    plain = lowering.lower(t.nodes, outs, [a, b, c], [], fuse=False)
    assert {"mul", "add", "sub", "reciprocal"} == {o.op for o in plain.body}


def test_a_fused_sum_is_rounded_once():
    t = Tape()
    a, b = t.symbol("a"), t.symbol("b")
    x = numpy.array([1 + 2.0**-30, -1 - 2.0**-29])
    # (1 + ε)² − 1 − 2ε = ε²
    assert 2.0**-60 == compiled(t, [t.add(t.mul(a, a), b)], [a, b], [])(x, numpy.empty(0))[0]


def test_work_is_used_again():
    t = Tape()
    x = t.symbol("x")
    e = x
    for _ in range(2000):
        e = t.call("sqrt", t.add(t.mul(e, e), x))
    assert emit.emit(t.nodes, [e], [x], [], chunk=10).work_size <= 2


def test_long_chains_do_not_recurse():
    t = Tape()
    x = e = t.symbol("x")
    for _ in range(5000):
        e = t.add(t.call("abs", e), x)
    assert 5001.0 == compiled(t, [e], [x], [])(numpy.ones(1), numpy.empty(0))[0]


def test_a_symbol_without_a_place_is_named():
    t = Tape()
    with pytest.raises(Unknown, match="mass is neither part of the state nor a parameter"):
        emit.emit(t.nodes, [t.mul(t.symbol("mass"), t.symbol("x"))], [t.symbol("x")], [])


def test_a_constant_beyond_doubles_is_refused():
    t = Tape()
    with pytest.raises(BadExpression, match="too large"):
        emit.emit(t.nodes, [t.mul(t.const(10**400), t.symbol("x"))], [t.symbol("x")], [])


def test_the_same_text_every_time():
    texts = set()
    for _ in range(2):
        tape, outs, state, parameters = random_tape(2)
        texts.add(emit.emit(tape.nodes, outs, state, parameters, target=host(4)).ir)
    assert 1 == len(texts)


def test_without_fused_operations():
    tape, outs, state, parameters = random_tape(3)
    rng = numpy.random.default_rng(0)
    x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
    with_fused = compiled(tape, outs, state, parameters)(x, p)
    plain = replace(host(), fused=False)
    assert "llvm.fma.f64(" not in emit.emit(
        tape.nodes, outs, state, parameters, target=plain
    ).ir.replace("declare double @llvm.fma", "")
    assert close(with_fused, compiled(tape, outs, state, parameters, target=plain)(x, p))
