"""Native code for the spatial chain of revolute joints: how long compiling takes, and how long one
state.

python benchmarks/native_chain.py [joints ...]
"""

import ctypes
import os
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dalembert.runtime.numerics import jit, math_kernels
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from numerics.chain import chain

STATES = 512


def shortest(statement, seconds=0.5, clock=time.perf_counter):
    """The shortest time of `statement`, repeated for so long."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        statement()
        best = min(best, clock() - start)
    return best


def native_loop(f):
    """A native function that runs f over rows of states, one at a time."""
    text = f"""define void @loop(ptr %x, ptr %p, ptr %y, ptr %w, i64 %n) nounwind {{
entry:
  %prologue = inttoptr i64 {f.prologue_address} to ptr
  %f = inttoptr i64 {f.address} to ptr
  call void %prologue(ptr %p, ptr %w)
  br label %next
next:
  %i = phi i64 [0, %entry], [%j, %next]
  %a = mul i64 %i, {f.n_in}
  %b = mul i64 %i, {f.n_out}
  %px = getelementptr double, ptr %x, i64 %a
  %py = getelementptr double, ptr %y, i64 %b
  call void %f(ptr %px, ptr %p, ptr %py, ptr %w)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %next, label %done
done:
  ret void
}}"""
    return jit.load(text, ("loop",), optimize=0)


def measure(n):
    """Milliseconds to compile, and microseconds per state, for n joints."""
    p = numpy.empty(0)
    # time of the processor, which other programs do not lengthen
    start = time.process_time()
    c = chain(n)
    derived = time.process_time()

    def build():
        return CompiledFunction(c.tape, c.udot, c.q + c.u, [])

    f = build()
    compiled = time.process_time()
    f.batch(numpy.zeros((1, 2 * n)), p)
    compiled_lanes = time.process_time()
    cached = shortest(build, clock=time.process_time)
    X = numpy.random.default_rng(0).normal(size=(STATES, 2 * n))
    Y, work = numpy.empty((STATES, n)), numpy.empty(f.work_size + 1)
    library = native_loop(f)
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(library.address("loop"))
    arrays = [a.ctypes.data for a in (X, p, Y, work)]
    native = shortest(lambda: loop(*arrays, STATES)) / STATES
    batch = shortest(lambda: f.batch(X, p)) / STATES
    single = (
        min(
            timeit.repeat(
                "call(x, p)",
                globals={"call": f.call, "x": X[0].copy(), "p": p},
                number=1000,
                repeat=30,
            )
        )
        / 1000
    )
    same = (Y.view(numpy.int64) == f.batch(X, p).view(numpy.int64)).all()
    ms = " ".join(
        f"{1e3 * t:9.1f}"
        for t in (derived - start, compiled - derived, compiled_lanes - compiled, cached)
    )
    us = " ".join(f"{1e6 * t:9.3f}" for t in (native, batch, single))
    print(f"{n:6d} {ms} {us}   {'yes' if same else 'NO'}")


def main():
    with tempfile.TemporaryDirectory() as place:
        os.environ["DALEMBERT_CACHE"] = place
        print(
            f"{math_kernels.native_lanes()} lanes; derive, compile, compile lanes, from the cache "
            f"in ms; native loop, batch, Python call in us"
        )
        print(
            "joints    derive   compile     lanes    cached    native     batch      call   same "
            "bits"
        )
        # what is done once per process
        first = chain(1)
        CompiledFunction(first.tape, first.udot, first.q + first.u, [])
        for n in [int(a) for a in sys.argv[1:]] or [7, 50, 200]:
            measure(n)


if __name__ == "__main__":
    main()
