"""A X = B for small dense matrices, natively: L D Lᵀ for positive definite ones, P A = L U for any.

    int64 ldlt(double *A, double *B, int64 n, int64 m, double *work, double *pivot)
    int64 lu  (double *A, double *B, int64 n, int64 m, double *work, double *pivot)

A is n × n by rows and is overwritten; `ldlt` reads its upper triangle only. B holds m right-hand sides one
after the other, n numbers each, and is overwritten by the solutions. `work` has room for `work_size(n)`
numbers. The answer is −1, or the index of the first pivot that is not safely different from zero, whose
value is then in `pivot`: the unknown of that index is not determined. Both serve any n; beyond
`LARGEST_OWN` they hand over to LAPACK once `prepare(n)` has shown them where it is.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from dalembert.errors import DalembertError
from dalembert.numerics.elimination import LAPACK, LARGEST_OWN, text
from dalembert.numerics.jit import Library, load

__all__ = ["LARGEST_OWN", "Routines", "Singular", "prepare", "routines", "solve_ldlt", "solve_lu", "work_size"]

Array = NDArray[numpy.float64]

_SIGNATURE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 2)


class Singular(DalembertError):
    """A matrix that determines no unique solution: the unknown `index` has the pivot `pivot`."""

    def __init__(self, index: int, pivot: float) -> None:
        super().__init__(f"the matrix is singular: unknown {index} is not determined (its pivot is {pivot:.3g})")
        self.index, self.pivot = index, pivot

    def __reduce__(self) -> tuple[type[Singular], tuple[int, float]]:
        return Singular, (self.index, self.pivot)


@dataclass(frozen=True)
class Routines:
    """Where the two functions are; valid as long as this object lives."""

    library: Library
    ldlt: int
    lu: int


@functools.cache
def routines() -> Routines:
    """The functions, compiled once per machine."""
    library = load(text(), ("ldlt", "lu", "lapack"), optimize=0)
    return Routines(library, library.address("ldlt"), library.address("lu"))


def prepare(n: int) -> Routines:
    """The functions, ready for systems of n unknowns."""
    found = routines()
    if n > LARGEST_OWN:
        table = (ctypes.c_void_p * len(LAPACK)).from_address(found.library.address("lapack"))
        table[:] = list(_lapack())
    return found


def work_size(n: int) -> int:
    """How many numbers of room the functions need for n unknowns."""
    return 2 * n


def solve_ldlt(A: Any, b: Any) -> Array:
    """x with A x = b for a symmetric positive definite A; b may have several columns."""
    return _solve(lambda n: prepare(n).ldlt, A, b)


def solve_lu(A: Any, b: Any) -> Array:
    """x with A x = b for any regular A; b may have several columns."""
    return _solve(lambda n: prepare(n).lu, A, b)


def _solve(address: Callable[[int], int], A: Any, b: Any) -> Array:
    A, X = numpy.array(A, dtype=numpy.float64, order="C"), numpy.array(numpy.transpose(b), dtype=numpy.float64, order="C")
    n = len(A)
    if A.shape != (n, n) or X.ndim not in (1, 2) or X.shape[-1] != n:
        msg = f"a matrix of shape {A.shape} and right-hand sides of shape {numpy.shape(b)} make no system of equations"
        raise DalembertError(msg)
    work, pivot = numpy.empty(work_size(n)), ctypes.c_double()
    solve = _SIGNATURE(address(n))
    index = solve(A.ctypes.data, X.ctypes.data, n, X.size // n if n else 0, work.ctypes.data, ctypes.addressof(pivot))
    if index >= 0:
        raise Singular(index, pivot.value)
    return X.T


@functools.cache
def _lapack() -> tuple[int, ...]:
    """The addresses of LAPACK's functions, in the order of LAPACK."""
    capsules = importlib.import_module("scipy.linalg.cython_lapack").__pyx_capi__
    name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return tuple(pointer(capsules[function], name(capsules[function])) for function in LAPACK)
