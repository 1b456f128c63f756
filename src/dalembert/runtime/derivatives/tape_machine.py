"""y = f(x, p) by the tape machine: expressions of a tape as a list of instructions for one generic
loop.

Nothing is compiled for a system, so the first value comes after milliseconds. A point takes about
ten times as long as with compiled code, and has the same bits.
"""

from __future__ import annotations

import ctypes
import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.foundation.caching import cached_call
from dalembert.runtime.derivatives.machine_text import (
    BLOCK,
    OPERATIONS,
    WIDTH,
    machine_text,
    narrow_machine_text,
)
from dalembert.runtime.numerics.jit import Library, host, load, simd_width
from dalembert.runtime.numerics.lowering import Operation, Program, lower
from dalembert.runtime.numerics.python_binding import Array, BadArguments, data_address
from dalembert.symbolic.algebra.tape import Tape

_NUMBERS: Final = {operation: k for k, operation in enumerate(OPERATIONS)}
_RUN: Final = ctypes.CFUNCTYPE(
    None,
    *(ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64),
    *[ctypes.c_void_p] * 4,
    *[ctypes.c_int64] * 3,
)


# operations from which on the narrow machine pays for few states: its own code is compiled once
_LARGE: Final = 2000
# places by which an operation may be moved forwards: values that wait for their use fill the cache
_WINDOW: Final = 1024


class _Machine(NamedTuple):
    """The native loop; the library keeps it alive."""

    library: Library
    run: ctypes._CFunctionType
    # states in a block
    block: int


@cached_call
def _machine() -> _Machine:
    library = load(machine_text, ("run",), optimize=2)
    return _Machine(library, _RUN(library.address("run")), BLOCK)


@cached_call
def _narrow_machine() -> _Machine:
    library = load(narrow_machine_text, ("run",), optimize=2)
    return _Machine(library, _RUN(library.address("run")), simd_width())


class TapeMachine:
    """Expressions `outs` as functions of the symbols `state` and `parameters`, without compilation.

    `call(x, p)` gives the values at one state, `batch(X, p)` at states in rows; p are parameters
    for all states, or a row for each. It may be called from any number of threads.
    """

    def __init__(
        self, tape: Tape, outs: Sequence[int], state: Sequence[int], parameters: Sequence[int]
    ) -> None:
        length = 1 + max((*outs, *state, *parameters), default=-1)
        program = lower(tape.nodes[:length], outs, state, parameters, fuse=host().fused)
        self.n_in, self.n_parameters, self.n_out = len(state), len(parameters), len(outs)
        self.operations = len(program.prologue) + len(program.body)
        self._program = program

    @cached_property
    def _wide(self) -> _Instructions:
        """For blocks of states, whose arithmetic takes longer than the jumps between operations."""
        return _Instructions(self._program)

    @cached_property
    def _narrow(self) -> _Instructions:
        """For few states: equal operations in runs, whose jumps the processor predicts."""
        body = runs_of_equal_operations(self._program.body)
        return _Instructions(replace(self._program, body=body))

    def call(self, x: Array, p: Array) -> Array:
        """y at one state."""
        return np.asarray(self.batch(np.asarray(x, dtype=float)[None], p)[0])

    def batch(self, X: Array, p: Array) -> Array:
        """y for states in rows."""
        X, P = np.asarray(X, dtype=float), np.asarray(p, dtype=float)
        self._check(X, P)
        count = len(X)
        if not count:
            return np.zeros((0, self.n_out))
        few = count <= simd_width() and self.operations > _LARGE
        machine, code = (_narrow_machine(), self._narrow) if few else (_machine(), self._wide)
        blocks = -(-count // machine.block)
        stride = blocks * machine.block
        Y = np.empty((self.n_out, stride))
        slots, address = code.take_slots(machine.block)
        each = P.ndim == 2
        columns, given = _columns(X, stride), _columns(P if each else P[None], stride)
        machine.run(
            *(*code.addresses, address),
            *(data_address(columns), data_address(given), data_address(Y)),
            *(stride, blocks, int(each)),
        )
        code.spare.append((slots, address))
        return Y.T[:count]

    def _check(self, X: Array, P: Array) -> None:
        if X.ndim != 2 or X.shape[1] != self.n_in:
            msg = f"states of {self.n_in} numbers in rows are needed, not an array {X.shape}"
            raise BadArguments(msg)
        if P.shape not in ((self.n_parameters,), (len(X), self.n_parameters)):
            msg = (
                f"{self.n_parameters} parameters, or a row for each state, are needed, not "
                f"{P.shape}"
            )
            raise BadArguments(msg)


class _Instructions:
    """A program as instructions, with the memory of its calls."""

    def __init__(self, program: Program) -> None:
        assembly = _Assembly(program)
        self._prologue, self._body = _code(assembly.prologue), _code(assembly.body)
        self._size, self._numbers = assembly.size, assembly.numbers
        # body and prologue with their lengths
        self.addresses = tuple(
            x for code in (self._body, self._prologue) for x in (code.ctypes.data, len(code))
        )
        # slots of calls that are through, for those to come
        self.spare: list[tuple[Array, int]] = []

    def take_slots(self, block: int) -> tuple[Array, int]:
        """Memory of a call: one row for each value, with the numbers of the expressions in it, and
        its address.
        """
        if self.spare:
            return self.spare.pop()
        slots = np.zeros((self._size, block))
        for slot, value in self._numbers.items():
            slots[slot] = value
        return slots, slots.ctypes.data


def runs_of_equal_operations(body: Sequence[Operation]) -> list[Operation]:
    """The operations in another order, equal ones one after the other where their operands are
    ready; none is moved forwards by more than a window.
    """
    source = {i: k for k, operation in enumerate(body) for i in operation.results}
    users: list[list[int]] = [[] for _ in body]
    missing = [0] * len(body)
    for k, operation in enumerate(body):
        for j in {source[i] for i in operation.arguments if i in source}:
            users[j].append(k)
            missing[k] += 1
    ready: defaultdict[str, list[int]] = defaultdict(list)
    for k, operation in enumerate(body):
        if not missing[k]:
            ready[operation.op].append(k)
    order: list[Operation] = []
    current = ""
    while len(order) < len(body):
        queue = ready[current]
        if not queue or queue[0] > len(order) + _WINDOW:
            current = min((op for op, waiting in ready.items() if waiting), key=lambda o: ready[o])
            queue = ready[current]
        k = heapq.heappop(queue)
        order.append(body[k])
        for j in users[k]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready[body[j].op], j)
    return order


def _columns(rows: Array, stride: int) -> Array:
    """One column after the other, the last row repeated up to a whole number of blocks."""
    columns = np.empty((rows.shape[1], stride))
    columns[:, : len(rows)] = rows.T
    columns[:, len(rows) :] = rows[-1][:, None]
    return columns


def _code(numbers: list[int]) -> NDArray[np.int32]:
    return np.array(numbers, dtype=np.int32).reshape(-1, WIDTH)


class _Assembly:
    """Instructions of a program; a slot is free again after the last use of its value."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.slots: dict[int, int] = {}
        self.numbers = {self._take(i): value for i, value in program.numbers.items()}
        self.prologue = self._parameters_and_prologue()
        self.size = len(self.slots)
        self.body = self._states_and_body()

    def _take(self, i: int) -> int:
        """A slot for value i that is never given back."""
        return self.slots.setdefault(i, len(self.slots))

    def _parameters_and_prologue(self) -> list[int]:
        """What depends on parameters only stays where it is for all states."""
        code: list[int] = []
        for i, k in self.program.parameters.items():
            code += (_NUMBERS["parameter"], self._take(i), k, 0, 0)
        for op, arguments, results in self.program.prologue:
            operands = [self.slots[i] for i in arguments]
            code += (_NUMBERS[op], *map(self._take, results), *operands, 0, 0, 0)[:WIDTH]
        return code

    def _states_and_body(self) -> list[int]:
        program, slots, code, free = self.program, self.slots, self._states(), list[int]()
        lasting = set(slots) - set(program.inputs)
        stores = self._stores(set(slots))
        last = {i: k for k, operation in enumerate(program.body) for i in operation.arguments}
        for k, (op, arguments, results) in enumerate(program.body):
            operands = [slots[i] for i in arguments]
            ending = dict.fromkeys(i for i in arguments if last[i] == k and i not in lasting)
            free += [slots[i] for i in ending]
            for i in results:
                if not free:
                    free.append(self.size)
                    self.size += 1
                slots[i] = free.pop()
            others = [slots[i] for i in results[1:]]
            code += (_NUMBERS[op], slots[results[0]], *operands, *others, 0, 0)[:WIDTH]
            for i in results:
                for place in stores.get(i, ()):
                    code += (_NUMBERS["store"], place, slots[i], 0, 0)
                if i not in last:
                    free.append(slots[i])
        return code

    def _states(self) -> list[int]:
        """The state, and those outputs that need no operation, before their slots are
        used again.
        """
        code: list[int] = []
        for i, k in self.program.inputs.items():
            code += (_NUMBERS["state"], self._take(i), k, 0, 0)
        self.size = len(self.slots)
        for place, i in enumerate(self.program.outs):
            if i in self.slots:
                code += (_NUMBERS["store"], place, self.slots[i], 0, 0)
        return code

    def _stores(self, known: set[int]) -> dict[int, list[int]]:
        """{value: the places of the outputs it is}, for those that an operation gives."""
        places: dict[int, list[int]] = {}
        for place, i in enumerate(self.program.outs):
            if i not in known:
                places.setdefault(i, []).append(place)
        return places
