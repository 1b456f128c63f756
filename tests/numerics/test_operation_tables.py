import ctypes

import numpy
import pytest

from dalembert.runtime.numerics import compiled_function, emit, jit
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.jit import host
from dalembert.runtime.numerics.lowering import lower
from dalembert.runtime.numerics.operation_tables import batches, split_program
from dalembert.symbolic.algebra.expression_graph import graph_depth
from dalembert.symbolic.algebra.tape import Tape
from numerics.tapes import bits, random_tape


def evaluated(parts, x, p, *, tables, lanes=1):
    """y of the emitted functions, with the same numbers in all lanes but the first."""
    text = emit.emit(*parts, target=host(lanes), tables=tables)
    library = jit.load(text.ir, ("f", "f.prologue"))
    prologue = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(library.address("f.prologue"))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(library.address("f"))
    y, work = (_aligned(size, lanes) for size in (len(parts[1]), text.work_size))
    x, p = (_aligned(len(a), lanes, a) for a in (x, p))
    prologue(p.ctypes.data, work.ctypes.data)
    for _ in range(2):
        function(x.ctypes.data, p.ctypes.data, y.ctypes.data, work.ctypes.data)
    return y


def _aligned(size, lanes, values=None):
    """Rows of lanes that begin where a vector may begin."""
    room = numpy.full(size * lanes + 16, numpy.nan)
    first = -room.ctypes.data % 128 // 8
    rows = room[first : first + size * lanes].reshape(size, lanes)
    if values is not None:
        rows[:] = numpy.outer(values, 1 + 0.25 * numpy.arange(lanes))
    return rows


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("seed", range(6))
def test_tables_have_the_bits_of_straight_line_code(seed, lanes):
    tape, outs, state, parameters = random_tape(seed)
    rng = numpy.random.default_rng(seed)
    x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
    parts = tape.nodes, outs, state, parameters
    straight = evaluated(parts, x, p, tables=False, lanes=lanes)
    tabulated = evaluated(parts, x, p, tables=True, lanes=lanes)
    assert (bits(straight) == bits(tabulated)).all()


def polynomials(count):
    """Σ_j c_ij x_j x_(j+1) for i = 1, …, count: a tape that is wide."""
    t = Tape()
    x = [t.symbol(f"x{k}") for k in range(20)]
    outs = []
    for i in range(count):
        total = t.zero
        for j in range(19):
            product = t.mul(t.const((-1) ** (i * j) * (7 * i + j + 2)), t.mul(x[j], x[j + 1]))
            total = t.add(total, product)
        outs.append(total)
    return t, outs, x


def test_long_wide_code_is_tabulated(monkeypatch):
    tape, outs, x = polynomials(400)
    values = numpy.random.default_rng(3).normal(size=20)
    straight = CompiledFunction(tape, outs, x, ())
    assert not straight._source.is_wide
    monkeypatch.setattr(compiled_function, "_MIN_TABULATED_NODES", 5000)
    # a cached object would be that of straight-line code
    tape, outs, x = polynomials(401)
    tabulated = CompiledFunction(tape, outs, x, ())
    assert tabulated._source.is_wide
    assert tabulated._source.code_generation_level() == 2
    expected = straight.call(values, numpy.empty(0))
    assert (bits(expected) == bits(tabulated.call(values, numpy.empty(0))[:400])).all()
    rows = numpy.outer([1.0, 0.5, -2.0, 0.1, 3.0], values)
    assert (bits(tabulated.batch(rows, numpy.empty(0))[0, :400]) == bits(expected)).all()


def test_code_that_is_a_chain_is_not_tabulated(monkeypatch):
    monkeypatch.setattr(compiled_function, "_MIN_TABULATED_NODES", 100)
    t = Tape()
    x = t.symbol("x")
    y = x
    for k in range(300):
        y = t.add(t.mul(y, x), t.const(k + 2))
    assert graph_depth(t.nodes, [y]) == 600
    assert not CompiledFunction(t, [y], [x], ())._source.is_wide


def test_operations_of_a_batch_do_not_depend_on_each_other():
    tape, outs, state, parameters = random_tape(2)
    straight, program = split_program(lower(tape.nodes, outs, state, parameters, fuse=True))
    known = {*program.inputs, *program.parameters, *program.numbers, *straight.outs}
    known |= {r for o in program.prologue for r in o.results}
    grouped = batches(program.body)
    assert sum(map(len, grouped)) == len(program.body)
    for batch in grouped:
        assert len({o.op for o in batch}) == 1
        assert all(known.issuperset(o.arguments) for o in batch)
        known |= {r for o in batch for r in o.results}
