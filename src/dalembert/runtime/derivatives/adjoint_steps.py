"""ȳ and p̄ carried backwards over explicit steps: compiled f and its transposed product, and the
native loop over steps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.caching import cached_call
from dalembert.runtime.derivatives.adjoint_text import room_size, transpose_text
from dalembert.runtime.derivatives.sparse import contracted_gradient
from dalembert.runtime.numerics.compiled_function import CompiledFunction, allocate_workspace
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.python_binding import Array
from dalembert.symbolic.algebra.tape import Tape

_TRANSPOSE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 11, *[ctypes.c_int64] * 3)


class _Loop(NamedTuple):
    """The native loop; the library keeps it alive."""

    library: Library
    run: Callable[..., None]


@cached_call
def _loop() -> _Loop:
    library = load(transpose_text, ("transpose",))
    return _Loop(library, _TRANSPOSE(library.address("transpose")))


class ExplicitSteps:
    """ẏ = f(y, t, p) and L(y, t, p) on a tape; state = (y, t).

    `f` is the compiled ẏ; its parameters are the first of `parameters`.
    """

    def __init__(
        self,
        tape: Tape,
        rates: Sequence[int],
        cost: int,
        state: Sequence[int],
        parameters: Sequence[int],
        f: CompiledFunction,
    ) -> None:
        t = tape.fork()
        self.n, self.m = len(rates), len(parameters)
        bars = [t.private_symbol(f"adjoint {k}") for k in range(self.n + 1)]
        slopes = contracted_gradient(t, (*rates, cost), bars, (*state[:-1], *parameters))
        self.f = f
        self.g = CompiledFunction(t, slopes, (*state, *bars), parameters)

    def back(
        self, times: Array, lengths: Array, states: Array, bars: tuple[Array, Array], p: Array
    ) -> None:
        """Carry (ȳ, p̄), in place, from the end of the last step to the beginning of the first."""
        ybar, pbar = bars
        given = [np.ascontiguousarray(a, dtype=float) for a in (p, times, lengths, states)]
        work = [
            allocate_workspace(each, given[0][: each.n_parameters]) for each in (self.f, self.g)
        ]
        room = np.zeros(room_size(self.n, self.m) + 8)
        arrays = (*work, *given, ybar, pbar, room)
        addresses = (self.f.address, self.g.address, *(a.ctypes.data for a in arrays))
        _loop().run(*addresses, self.n, self.m, len(times))
