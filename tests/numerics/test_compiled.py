import ctypes
import gc
import multiprocessing
import os
import pickle
import sys
import threading
import weakref

import numpy
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import DalembertError
from dalembert.runtime.numerics import (
    batch_evaluation,
    compiled_function,
    emit,
    jit,
    python_binding,
)
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.python_binding import BadArguments
from dalembert.symbolic.algebra.tape import Tape
from numerics.chain import chain
from numerics.tapes import bits, random_tape, reference
from numerics.test_jit import STATM, resident


@pytest.fixture(scope="module")
def sample():
    """A function of five state symbols and four parameters, with 33 states."""
    tape, outs, state, parameters = random_tape(21)
    rng = numpy.random.default_rng(0)
    return (
        CompiledFunction(tape, outs, state, parameters),
        rng.normal(size=(33, 5)),
        rng.normal(size=4),
    )


def quadratic(parts=None):
    """(a x² + b, a b) with the state (x, y, z)."""
    t = Tape()
    x, y, z, a, b = (t.symbol(name) for name in "xyzab")
    return CompiledFunction(
        t, [t.add(t.mul(a, t.mul(x, x)), b), t.mul(a, b), t.sub(z, y)], [x, y, z], [a, b], parts
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_batch_has_the_bits_of_single_calls(seed):
    tape, outs, state, parameters = random_tape(seed)
    f = CompiledFunction(tape, outs, state, parameters)
    rng = numpy.random.default_rng(seed)
    X, p = (
        rng.normal(size=(21, len(state))) * 10.0 ** rng.uniform(-3, 8, size=(21, 1)),
        rng.normal(size=len(parameters)),
    )
    X[4, 0], X[9] = numpy.nan, numpy.inf
    single = numpy.array([f.call(x, p) for x in X])
    assert (bits(single) == bits(f.batch(X, p))).all()


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_with_any_number_of_lanes(lanes, sample, monkeypatch):
    f, X, p = sample
    single = numpy.array([f.call(x, p) for x in X])
    monkeypatch.setattr(compiled_function, "simd_width", lambda: lanes)
    monkeypatch.setattr(batch_evaluation, "_SMALL", 0)
    monkeypatch.setattr(compiled_function, "codegen_version", lambda: b"one register")
    again = pickle.loads(pickle.dumps(f))
    assert (bits(single) == bits(again.batch(X, p))).all()
    assert (bits(single[:1]) == bits(again.batch(X[:1], p))).all()


@pytest.mark.parametrize("n", [1, 3, 9])
@pytest.mark.parametrize("width", [15, 16, 17, 35])
def test_rows_of_any_width(width, n):
    t = Tape()
    x, p = [t.symbol(f"x{k}") for k in range(width)], [t.symbol(f"p{k}") for k in range(width)]
    f = CompiledFunction(t, [t.mul(a, b) for a, b in zip(x, reversed(p), strict=True)], x, p)
    X, P = (numpy.random.default_rng(seed).normal(size=(n, width)) for seed in (0, 1))
    assert (X * P[:, ::-1] == f.batch(X, P)).all()
    assert (X * P[0, ::-1] == f.batch(X, P[0])).all()


def test_columns_that_nothing_needs_may_hold_anything():
    t = Tape()
    x = [t.symbol(f"x{k}") for k in range(5)]
    f = CompiledFunction(t, [t.mul(x[1], x[4])], x, [], (2, 2, 1))
    X = numpy.array([[numpy.nan, 2.0, numpy.nan, numpy.inf, 5.0]] * 9)
    assert [[10.0]] * 9 == f.batch(X[:, :2].copy(), X[:, 2:4].copy(), X[:, 4:].copy(), []).tolist()


def test_a_batch_holds_no_references(sample):
    f, X, p = sample
    f.batch(X, p)
    before = (
        sys.getrefcount(X),
        sys.getrefcount(p),
        sys.getrefcount(f.batch),
        sys.getrefcount(f.n_out),
    )
    for _ in range(100):
        f.batch(X, p)
    assert before == (
        sys.getrefcount(X),
        sys.getrefcount(p),
        sys.getrefcount(f.batch),
        sys.getrefcount(f.n_out),
    )
    Y = f.batch(X, p)
    assert 2 == sys.getrefcount(Y)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 16, 17, 33])
def test_any_number_of_states(n, sample):
    f, X, p = sample
    single = numpy.array([f.call(x, p) for x in X[:n]]).reshape(n, f.n_out)
    assert (bits(single) == bits(f.batch(X[:n], p))).all()


def test_a_row_of_parameters_for_each_state(sample):
    f, X, _ = sample
    P = numpy.random.default_rng(1).normal(size=(len(X), f.n_parameters))
    single = numpy.array([f.call(x, p) for x, p in zip(X, P, strict=True)])
    assert (bits(single) == bits(f.batch(X, P))).all()


@pytest.mark.parametrize("small", [True, False])
def test_one_row_of_a_part_for_all_states(small, monkeypatch):
    if not small:
        # called instead of written into the loop
        monkeypatch.setattr(compiled_function, "_MAX_INLINED_NODES", 0)
        monkeypatch.setattr(compiled_function, "codegen_version", lambda: b"nothing inlined")
    tape, outs, state, parameters = random_tape(3)
    f = CompiledFunction(tape, outs, state, parameters, (2, len(state) - 2))
    rng = numpy.random.default_rng(3)
    A, B, p = (
        rng.normal(size=(19, 2)),
        rng.normal(size=(19, len(state) - 2)),
        rng.normal(size=len(parameters)),
    )
    single = numpy.array([f.call(a, b, p) for a, b in zip(A, B, strict=True)])
    assert (bits(single) == bits(f.batch(A, B, p))).all()
    with_one = numpy.array([f.call(A[0], b, p) for b in B])
    assert (bits(with_one) == bits(f.batch(A[0], B, p))).all()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_chain_of_bodies(n):
    c = chain(n)
    f = CompiledFunction(c.tape, c.udot, c.q + c.u, [])
    X, p = numpy.random.default_rng(0).normal(size=(9, 2 * n)), numpy.empty(0)
    expected = numpy.array(
        [reference(c.tape, c.udot, dict(zip(c.q + c.u, x, strict=True))) for x in X]
    )
    actual = f.batch(X, p)
    assert (bits(numpy.array([f.call(x, p) for x in X])) == bits(actual)).all()
    assert numpy.abs(expected - actual).max() <= 1e-13 * numpy.abs(expected).max()


def test_arguments_of_every_kind():
    f = quadratic()
    p, expected = numpy.array([2.0, 3.0]), [5.0, 6.0, 2.0]
    strided = numpy.array([[1.0, 9], [-5, 9], [-3, 9]])[:, 0]
    unaligned = numpy.frombuffer(
        b"\0" + numpy.array([1.0, -5, -3]).tobytes(), dtype=float, offset=1
    )
    swapped = numpy.array([1.0, -5, -3]).astype(">f8")
    for x in (
        [1, -5, -3],
        (1.0, -5.0, -3.0),
        numpy.array([1, -5, -3]),
        strided,
        unaligned,
        swapped,
        numpy.array([1, -5, -3], dtype="f4"),
    ):
        assert expected == list(f.call(x, p))
        assert [expected] == f.batch([x], p).tolist()
    assert expected == list(f.call(numpy.array([1.0, -5, -3]), [2, 3]))


def test_the_state_in_parts():
    f, p = quadratic((1, 0, 2)), numpy.array([2.0, 3.0])
    expected, empty = [5.0, 6.0, 2.0], numpy.empty(0)
    for x in (1.0, 1, numpy.ones(1), numpy.float64(1), [1]):
        assert expected == list(f.call(x, empty, numpy.array([-5.0, -3.0]), p))
    table = f.batch([[1.0], [2.0]], numpy.empty((2, 0)), [[-5.0, -3.0], [1.0, 1.0]], p)
    assert [expected, [11.0, 6.0, 0.0]] == table.tolist()


def test_a_part_may_hold_for_all_states():
    f, p = quadratic((1, 2)), [2.0, 3.0]
    assert [[5.0, 6.0, 2.0], [11.0, 6.0, 2.0]] == f.batch([[1.0], [2.0]], [-5.0, -3.0], p).tolist()
    assert [[5.0, 6.0, 2.0], [5.0, 6.0, 0.0]] == f.batch(
        1.0, [[-5.0, -3.0], [1.0, 1.0]], p
    ).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([1.0, 2.0], [1.0, 2.0]),
            "expected 3 numbers for the state; got an array of shape \\(2,\\)",
        ),
        (([1.0, 2.0, 3.0], [1.0]), "expected 2 numbers for the parameters"),
        (([1.0, 2.0, 3.0],), "expected 2 arguments"),
        (([1.0, 2.0, 3.0], [1.0, 2.0], 0.0), "expected 2 arguments"),
        ((), "expected 2 arguments"),
        (("abc", [1.0, 2.0]), "the state must be numbers"),
        (([1.0, [2.0], 3.0], [1.0, 2.0]), "the state must be numbers"),
        (([1.0, 2.0, 3.0j], [1.0, 2.0]), "the state must be real"),
        ((None, [1.0, 2.0]), "expected 3 numbers for the state|must be numbers"),
        ((numpy.ones((3, 1)), [1.0, 2.0]), "shape \\(3, 1\\)"),
        ((1.0, [1.0, 2.0]), "expected 3 numbers"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(BadArguments, match=message):
        quadratic().call(*arguments)


def test_wrong_rows_are_named():
    f = quadratic()
    with pytest.raises(BadArguments, match="rows of 3 numbers for the state"):
        f.batch(numpy.ones((5, 2)), [1.0, 2.0])
    with pytest.raises(BadArguments, match="a row of them for each of 5 states"):
        f.batch(numpy.ones((5, 3)), numpy.ones((4, 2)))
    with pytest.raises(BadArguments, match="expected 2 arguments"):
        f.batch(numpy.ones((5, 3)))
    with pytest.raises(BadArguments, match="part 2 of the state"):
        quadratic((1, 2)).batch(numpy.ones((5, 1)), numpy.ones((4, 2)), [1.0, 2.0])
    with pytest.raises(BadArguments, match="1 \\+ 1 numbers do not make up a state of 3"):
        quadratic((1, 1))
    assert issubclass(BadArguments, DalembertError)


def test_results_are_new_each_time(sample):
    f, X, p = sample
    first = f.call(X[0], p)
    kept = first.copy()
    f.call(X[1], p)
    assert (bits(kept) == bits(first)).all()
    assert first.flags.owndata


def test_references_are_counted_right(sample):
    f, X, p = sample
    x = X[0].copy()
    before = sys.getrefcount(x), sys.getrefcount(p), sys.getrefcount(f.call)
    for _ in range(1000):
        f.call(x, p)
        f.call(list(x), p)
    assert before == (sys.getrefcount(x), sys.getrefcount(p), sys.getrefcount(f.call))
    y = f.call(x, p)
    assert 2 == sys.getrefcount(y)


def test_much_work_is_not_done_on_the_stack(monkeypatch):
    tape, outs, state, parameters = random_tape(5, size=2000)
    x, p = numpy.ones(len(state)), numpy.ones(len(parameters))
    expected = CompiledFunction(tape, outs, state, parameters).call(x, p)
    monkeypatch.setattr("dalembert.runtime.numerics.batch_evaluation.MAX_STACK_BYTES", 8)
    monkeypatch.setattr(compiled_function, "codegen_version", lambda: b"another version")
    again = CompiledFunction(tape, outs, state, parameters)
    assert (bits(expected) == bits(again.call(x, p))).all()
    assert (bits(expected) == bits(again.batch(numpy.tile(x, (9, 1)), p))).all()


def test_where_objects_lie_otherwise_calls_are_converted(sample, monkeypatch):
    f, X, p = sample
    expected = f.call(X[0], p)
    monkeypatch.setattr(python_binding, "OBJECT_LAYOUT_IS_KNOWN", False)
    again = pickle.loads(pickle.dumps(f))
    assert (bits(expected) == bits(again.call(X[0], p))).all()
    assert (bits(f.batch(X, p)) == bits(again.batch(X, p))).all()


def test_native_code_calls_by_address(sample):
    f, X, p = sample
    y, work = numpy.empty(f.n_out), numpy.empty(f.work_size + 1)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(f.prologue_address)(
        p.ctypes.data, work.ctypes.data
    )
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(f.address)
    for x in X:
        run(x.ctypes.data, p.ctypes.data, y.ctypes.data, work.ctypes.data)
        assert (bits(f.call(x, p)) == bits(y)).all()


def test_pickle_keeps_every_bit(sample):
    f, X, p = sample
    again = pickle.loads(pickle.dumps(f))
    assert (bits(f.batch(X, p)) == bits(again.batch(X, p))).all()
    assert (f.n_in, f.n_parameters, f.n_out, f.parts, f.work_size) == (
        again.n_in,
        again.n_parameters,
        again.n_out,
        again.parts,
        again.work_size,
    )


def test_a_pickle_carries_only_what_is_needed():
    t = Tape()
    x = e = t.symbol("x")
    first = t.mul(x, x)
    for k in range(5000):
        e = t.add(t.mul(e, x), t.const(k))
    last = t.call("exp", x)
    small = CompiledFunction(t, [first, last], [x], [])
    assert (
        len(pickle.dumps(small)) < len(pickle.dumps(CompiledFunction(t, [first, e], [x], []))) / 3
    )
    assert [4.0, numpy.exp(2.0)] == list(pickle.loads(pickle.dumps(small)).call([2.0], []))


def test_a_pickle_is_found_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    f = quadratic()
    f.batch(numpy.ones((1, 3)), [1.0, 2.0])
    monkeypatch.setattr(emit, "emit", None)
    again = pickle.loads(pickle.dumps(f))
    assert [[3.0, 2.0, 0.0]] == again.batch(numpy.ones((1, 3)), [1.0, 2.0]).tolist()


def test_equal_expressions_are_compiled_once_and_different_ones_apart(monkeypatch):
    count = []
    compile_ = jit._compile_object
    monkeypatch.setattr(jit, "_compile_object", lambda *a: count.append(1) or compile_(*a))
    monkeypatch.setattr(compiled_function, "codegen_version", lambda: b"yet another version")

    def line(slope, name="x"):
        t = Tape()
        x = t.symbol(name)
        return CompiledFunction(t, [t.mul(t.const(slope), x)], [x], []).call([2.0], [])[0]

    assert [6.0, 6.0, 10.0] == [line(3), line(3), line(5)]
    assert 2 == len(count)


def test_threads_share_a_function(sample):
    f, X, p = sample
    f = pickle.loads(pickle.dumps(f))
    expected, wrong = f.batch(X, p).copy(), []

    def work(k):
        for i in range(300):
            x = X[(i + k) % len(X)]
            if (bits(f.call(x, p)) != bits(expected[(i + k) % len(X)])).any() or (
                bits(f.batch(X, p)) != bits(expected)
            ).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong


def in_child(task):
    f, x, p = task
    return f.call(x, p)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "method", sorted(set(multiprocessing.get_all_start_methods()) & {"fork", "spawn"})
)
def test_processes_share_a_function(method, sample, monkeypatch):
    f, X, p = sample
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map(in_child, [(f, x, p) for x in X[:6]])
    assert (bits(numpy.array([f.call(x, p) for x in X[:6]])) == bits(numpy.array(results))).all()


@pytest.mark.slow
def test_the_call_outlives_the_function():
    f = quadratic()
    call = f.call
    del f
    gc.collect()
    assert [5.0, 6.0, 2.0] == list(call(numpy.array([1.0, -5, -3]), numpy.array([2.0, 3.0])))


def test_code_goes_with_its_owner_without_waiting_for_the_collector():
    gc.disable()
    try:
        f = quadratic()
        library = weakref.ref(f._fast_call.library)
        f.call([1, 2, 3], [4, 5])
        del f
        assert library() is None
    finally:
        gc.enable()


@pytest.mark.skipif(not STATM.exists(), reason="memory in use is read from /proc")
@pytest.mark.parametrize("cycles", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_compiling_and_releasing_leaves_nothing_behind(cycles, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", "off")

    def cycle(k):
        t = Tape()
        x, p = t.symbol("x"), t.symbol("p")
        f = CompiledFunction(t, [t.add(t.mul(t.const(k), x), p)], [x], [p])
        assert 2.0 * k == f.call([2.0], [0.0])[0]

    for k in range(70):
        cycle(k)
    gc.collect()
    before = resident()
    for k in range(cycles):
        cycle(k)
    assert resident() - before < 5


def test_states_in_rows_of_any_kind_have_the_bits_of_single_ones():
    f = da.compile(gallery.build("double-pendulum"))
    Q, U = numpy.random.default_rng(4).normal(size=(2, 11, 2))
    expected = [f(q, u).tolist() for q, u in zip(Q, U, strict=True)]
    wide = numpy.full((11, 5), numpy.nan)
    wide[:, 1:3] = Q
    still = Q.copy()
    still.flags.writeable = False
    kinds = (
        Q,
        list(Q),
        Q.tolist(),
        numpy.asfortranarray(Q),
        wide[:, 1:3],
        Q[::-1].copy()[::-1],
        Q.astype(object),
        Q.astype(">f8"),
        still,
    )
    for states in kinds:
        assert expected == f(states, U).tolist()
        assert expected == f(states, list(U), numpy.zeros(11)).tolist()
    assert (0, 2) == f(Q[:0], U[:0]).shape


def test_long_code_that_is_evaluated_rarely_is_compiled_at_level_0_with_the_same_bits(monkeypatch):
    monkeypatch.setattr(compiled_function, "_MAX_SCHEDULED_NODES", 50)
    tape, outs, state, parameters = random_tape(5)
    often, rarely = (
        CompiledFunction(tape, outs, state, parameters, rarely=flag) for flag in (False, True)
    )
    again = pickle.loads(pickle.dumps(rarely))
    assert [1, 0, 0] == [f._source.code_generation_level() for f in (often, rarely, again)]
    assert often.cache_key(jit.host()) != rarely.cache_key(jit.host())
    x, p = numpy.random.default_rng(2).normal(size=(2, 5))
    expected = bits(often.call(x, p[:4])).tolist()
    assert [expected] * 2 == [bits(f.call(x, p[:4])).tolist() for f in (rarely, again)]


def test_the_level_of_code_generation_falls_with_the_length(monkeypatch):
    levels, f = [], CompiledFunction(*random_tape(6), rarely=True)._source
    g = CompiledFunction(*random_tape(6))._source
    for shortest in (10_000, 50):
        monkeypatch.setattr(compiled_function, "_MAX_SCHEDULED_NODES", shortest)
        monkeypatch.setattr(compiled_function, "_MAX_ALLOCATED_NODES", shortest + 10_000)
        levels.append((f.code_generation_level(), g.code_generation_level()))
    monkeypatch.setattr(compiled_function, "_MAX_ALLOCATED_NODES", 50)
    assert [(2, 2), (0, 1)] == levels
    assert g.code_generation_level() == "unscheduled"


def test_code_without_scheduling_has_the_same_bits(monkeypatch):
    x, p = numpy.random.default_rng(4).normal(size=(2, 5))
    found = []
    for longest in (10_000, 50):
        monkeypatch.setattr(compiled_function, "_MAX_SCHEDULED_NODES", 50)
        monkeypatch.setattr(compiled_function, "_MAX_ALLOCATED_NODES", longest)
        monkeypatch.setenv("DALEMBERT_CACHE", "off")
        f = CompiledFunction(*random_tape(8))
        found.append((f._source.code_generation_level(), bits(f.call(x, p[:4])).tolist()))
    assert [1, "unscheduled"] == [level for level, _ in found]
    assert found[0][1] == found[1][1]


def test_a_process_that_compiles_quickly_gets_the_same_bits(monkeypatch):
    monkeypatch.setattr(compiled_function, "_PROCESS_LEVEL", [])
    tape, outs, state, parameters = random_tape(7)
    usual = CompiledFunction(tape, outs, state, parameters)
    x, p = numpy.random.default_rng(3).normal(size=(2, 5))
    expected = bits(usual.call(x, p[:4])).tolist()
    assert callable(usual._source.codegen)
    compiled_function.compile_quickly()
    quick = CompiledFunction(tape, outs, state, parameters)
    assert 0 == quick._source.codegen
    assert usual.address != quick.address
    assert expected == bits(quick.call(x, p[:4])).tolist()
