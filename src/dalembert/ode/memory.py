"""Memory that Python and native code share: a structure from the names and kinds of its fields, and scratch space."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.numerics.llvm_types import LANES, POINTER, REAL, WHOLE
from dalembert.numerics.python_call import address

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.numerics.compiled import CompiledFunction

C_TYPES: Final[dict[str, type[ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double]]] = {
    POINTER: ctypes.c_void_p,
    WHOLE: ctypes.c_int64,
    REAL: ctypes.c_double,
}

# without letting go of the interpreter: it is shorter than that takes
_PROLOGUE: Final = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def structure(fields: Iterable[tuple[str, str]]) -> type[ctypes.Structure]:
    """The structure with these fields, each a name and a kind."""
    return type("Fields", (ctypes.Structure,), {"_fields_": [(name, C_TYPES[kind]) for name, kind in fields]})


def places(sizes: Mapping[str, int], end: str = "") -> dict[str, int]:
    """Where parts of these sizes begin that follow one another; under another name where they end."""
    return dict(zip((*sizes, end), accumulate(sizes.values(), initial=0), strict=True))


def padded(n: int) -> int:
    """The next multiple of four: native code takes four numbers at a time."""
    return -(-n // LANES) * LANES


def ready(function: CompiledFunction, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scratch space whose head the prologue has filled."""
    work = np.zeros(function.work_size + 8)
    fill_head(function, address(p), address(work))
    return work


def fill_head(function: CompiledFunction, p: int, work: int) -> None:
    """Fill the head of the scratch space at an address from the parameters at another."""
    _PROLOGUE(function.prologue_address)(p, work)


def prologue(function: CompiledFunction, p: NDArray[np.float64], work: NDArray[np.float64]) -> Callable[[], None]:
    """What fills the head of the scratch space from the parameters; the owner keeps the three alive."""
    return functools.partial(_PROLOGUE(function.prologue_address), address(p), address(work))
