"""The tape machine in LLVM text: one loop over instructions, a block of states at a time, for the
expressions of any system.

    void run(ptr code, i64 count, ptr prologue, i64 size, ptr slots, ptr X, ptr P, ptr Y,
             i64 stride, i64 blocks, i64 step)

An instruction is five 32-bit numbers: operation, slot of the result, slots of three operands. A
slot holds one number for each state of a block: thirty-two of them, or in the narrow machine as
many as a vector register holds, for calls with few states. X, P and Y have one column of `stride`
states for each state variable, parameter and result. The prologue computes what depends on
parameters only: once if `step` is 0, otherwise for every block, since the parameters of its states
differ.

Each operation is the one that compiled code has, with the same rounding, so both give the same
bits.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.ir_builder import FunctionBuilder, Value
from dalembert.runtime.numerics.jit import host, simd_width
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER, constant, vector_type

# states in a block
BLOCK: Final = 32
# numbers in an instruction
WIDTH: Final = 5
_FUSED: Final = ("multiply-add", "multiply-subtract", "subtract-product")
_PLAIN: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_LIBRARY: Final = ("exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan")
_BINARY_LIBRARY: Final = {"atan2": "atan2", "interval": "table_interval", "lookup": "table_lookup"}
# the number of an operation is its place here
OPERATIONS: Final = (
    *("state", "parameter", "store", *_PLAIN, *_FUSED, "neg", "reciprocal", "abs", "sqrt", "sign"),
    *("sincos", "sin", "cos", *_LIBRARY, *_BINARY_LIBRARY),
)


def machine_text() -> str:
    """The whole module for this processor."""
    return _module(BLOCK)


def narrow_machine_text() -> str:
    """The same for blocks of one vector register, for few states."""
    return _module(simd_width())


def _module(block: int) -> str:
    lanes = simd_width()
    functions = [math_kernels.per_lane_ir(f, lanes) for f in ("sin", "cos", *_LIBRARY)]
    functions += [
        *(math_kernels.per_lane_ir(f, lanes, 2) for f in _BINARY_LIBRARY.values()),
        math_kernels.sincos(lanes, fused=host().fused),
    ]
    declared = math_kernels.declarations(*dict.fromkeys((lanes, block)))
    return "\n".join((declared, *functions, _instructions(lanes, block), _run(lanes, block)))


def _run(lanes: int, size_of_block: int) -> str:
    kinds = (POINTER, INT64, POINTER, INT64, *[POINTER] * 4, *[INT64] * 3)
    w = FunctionBuilder(
        "run", "void", *kinds, exported=True, attributes=math_kernels.attributes(lanes)
    )
    code, count, prologue, size, slots, X, P, Y, stride, blocks, step = w.parameters
    with w.loop(blocks) as block:
        first = block * size_of_block
        x, y = (_offset(w, base, first) for base in (X, Y))
        p = _offset(w, P, first * step)
        with w.if_then(_needs_prologue(w, block, step)):
            w.line(f"call void @instructions({prologue}, {size}, {slots}, {x}, {p}, {y}, {stride})")
        w.line(f"call void @instructions({code}, {count}, {slots}, {x}, {p}, {y}, {stride})")
    w.ret_void()
    return w.text()


def _needs_prologue(w: FunctionBuilder, block: Value, step: Value) -> Value:
    """Whether parameters are new: in the first block, or in all where they step."""
    repeated = w.select(step.not_equal(0), w.value(1, INT64), w.value(0, INT64))
    return w.compare("lt", block * (w.value(1, INT64) - repeated), 1)


def _offset(w: FunctionBuilder, base: Value, place: Value) -> Value:
    """The address that lies `place` numbers behind another."""
    return w.emit(POINTER, f"getelementptr {DOUBLE}, {base}, {place}")


class _Interpreter(FunctionBuilder):
    """@instructions while it is being written."""

    def __init__(self, lanes: int, block: int) -> None:
        self.lanes, self.block = lanes, block
        self.real, self.group = vector_type(block), vector_type(lanes)
        attributes = f"noinline {math_kernels.attributes(lanes)}"
        kinds = (POINTER, INT64, *[POINTER] * 4, INT64)
        super().__init__("instructions", "void", *kinds, attributes=attributes)

    def entry(self, code: Value, k: int) -> Value:
        """Number k of the instruction at an address."""
        where = self.emit(POINTER, f"getelementptr i32, {code}, i64 {k}")
        narrow = self.emit("i32", f"load i32, {where}, align 4")
        return self.emit(INT64, f"zext {narrow} to i64")

    def slot(self, code: Value, k: int) -> Value:
        """The address of the slot that number k of an instruction names."""
        slots = self.parameters[2]
        return self.emit(POINTER, f"getelementptr {self.real}, {slots}, {self.entry(code, k)}")

    def load(self, address: Value, kind: str) -> Value:
        """Numbers behind an address."""
        return self.emit(kind, f"load {kind}, {address}, align 8")

    def store(self, value: Value, address: Value) -> None:
        """Numbers written behind an address."""
        self.line(f"store {value}, {address}, align 8")

    def column(self, code: Value, k: int, base: Value) -> Value:
        """The address of this block in the column that number k of an instruction names."""
        return _offset(self, base, self.entry(code, k) * self.parameters[6])

    def part(self, address: Value, k: int) -> Value:
        """The address of the group of lanes number k of a slot."""
        return self.emit(POINTER, f"getelementptr {self.group}, {address}, i64 {k}")


def _instructions(lanes: int, block: int) -> str:
    w = _Interpreter(lanes, block)
    code, count = w.parameters[:2]
    with w.loop(count) as i:
        here = w.emit(POINTER, f"getelementptr [{WIDTH} x i32], {code}, {i}")
        labels = " ".join(f"i64 {k}, label %do{k}" for k in range(len(OPERATIONS)))
        w.line(f"switch {w.entry(here, 0)}, label %done [{labels}]")
        for k, operation in enumerate(OPERATIONS):
            w.start_block(f"do{k}")
            _operation(w, operation, here)
            w.line("br label %done")
        w.start_block("done")
    w.ret_void()
    return w.text()


def _operation(w: _Interpreter, operation: str, code: Value) -> None:
    _, _, _, x, p, y, _ = w.parameters
    if operation in ("state", "parameter"):
        column = w.column(code, 2, x if operation == "state" else p)
        w.store(w.load(column, w.real), w.slot(code, 1))
    elif operation == "store":
        w.store(w.load(w.slot(code, 2), w.real), w.column(code, 1, y))
    elif operation == "sincos" or operation in ("sin", "cos"):
        _sine_and_cosine(w, operation, code)
    elif operation in _LIBRARY or operation in _BINARY_LIBRARY:
        _library(w, operation, code)
    else:
        w.store(_arithmetic(w, operation, code), w.slot(code, 1))


def _arithmetic(w: _Interpreter, operation: str, code: Value) -> Value:
    """The result of an operation of the processor on whole slots."""
    real, a = w.real, w.load(w.slot(code, 2), w.real)
    if operation in _PLAIN:
        b = w.load(w.slot(code, 3), real)
        return w.emit(real, f"{_PLAIN[operation]} {a}, {b.name}")
    if operation in _FUSED:
        b, c = (w.load(w.slot(code, k), real) for k in (3, 4))
        a = w.emit(real, f"fneg {a}") if operation == "subtract-product" else a
        c = w.emit(real, f"fneg {c}") if operation == "multiply-subtract" else c
        return w.intrinsic("fma", a, b, c) if host().fused else a * b + c
    if operation == "neg":
        return w.emit(real, f"fneg {a}")
    if operation == "reciprocal":
        return w.emit(real, f"fdiv {real} {constant(1.0, real)}, {a.name}")
    if operation == "sign":
        # zero and NaN stay as they are
        return w.select(a > 0.0, 1.0, w.select(a < 0.0, -1.0, a))
    return w.intrinsic("fabs" if operation == "abs" else "sqrt", a)


def _sine_and_cosine(w: _Interpreter, operation: str, code: Value) -> None:
    """sin into the slot of number 1 and cos into that of number 3, or one of them into that of
    number 1.
    """
    angle, first = w.slot(code, 2), w.slot(code, 1)
    second = w.slot(code, 3) if operation == "sincos" else first
    both = f"{{{w.group}, {w.group}}}"
    for k in range(w.block // w.lanes):
        pair = w.call(f"sincos.{w.lanes}", both, w.load(w.part(angle, k), w.group))
        if operation != "cos":
            w.store(w.emit(w.group, f"extractvalue {pair}, 0"), w.part(first, k))
        if operation != "sin":
            w.store(w.emit(w.group, f"extractvalue {pair}, 1"), w.part(second, k))


def _library(w: _Interpreter, operation: str, code: Value) -> None:
    """A function of the mathematics library."""
    operands = [w.slot(code, k) for k in ((2, 3) if operation in _BINARY_LIBRARY else (2,))]
    function = _BINARY_LIBRARY.get(operation, operation)
    result = w.slot(code, 1)
    for k in range(w.block // w.lanes):
        values = [w.load(w.part(address, k), w.group) for address in operands]
        w.store(w.call(f"each.{function}.{w.lanes}", w.group, *values), w.part(result, k))
