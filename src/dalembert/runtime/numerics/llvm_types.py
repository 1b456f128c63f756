"""LLVM's kinds of values by name: numbers of each kind written out, operations declared for
them, structures that Python shares.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final

GROUP_SIZE: Final = 4
DOUBLE: Final = "double"
DOUBLE4: Final = f"<{GROUP_SIZE} x double>"
INT64: Final = "i64"
INT32: Final = "i32"
BOOL: Final = "i1"
POINTER: Final = "ptr"

INTRINSICS: Final = "\n".join(
    (
        f"declare {DOUBLE4} @llvm.fmuladd.v{GROUP_SIZE}f64({DOUBLE4}, {DOUBLE4}, {DOUBLE4})",
        f"declare {DOUBLE4} @llvm.fabs.v{GROUP_SIZE}f64({DOUBLE4})",
        f"declare {DOUBLE4} @llvm.maxnum.v{GROUP_SIZE}f64({DOUBLE4}, {DOUBLE4})",
        f"declare {DOUBLE} @llvm.vector.reduce.fadd.v{GROUP_SIZE}f64({DOUBLE}, {DOUBLE4})",
        f"declare {DOUBLE} @llvm.fabs.f64({DOUBLE})",
        f"declare {DOUBLE} @llvm.sqrt.f64({DOUBLE})",
        f"declare {DOUBLE} @llvm.minnum.f64({DOUBLE}, {DOUBLE})",
        f"declare {DOUBLE} @llvm.maxnum.f64({DOUBLE}, {DOUBLE})",
    )
)

CONVERSIONS: Final = {(INT64, DOUBLE): "sitofp", (INT32, INT64): "sext", (INT64, INT32): "trunc"}

C_TYPES: Final[dict[str, type[ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double]]] = {
    POINTER: ctypes.c_void_p,
    INT64: ctypes.c_int64,
    DOUBLE: ctypes.c_double,
}


def constant(x: float, kind: str) -> str:
    """A number written out as a constant of this kind."""
    if kind == POINTER:
        return "null"
    if vector_width(kind) > 1:
        of = kind.partition(" x ")[2].removesuffix(">")
        return f"splat ({of} {constant(x, of)})"
    # a double in hexadecimal is exact
    return f"0x{bits(x):016X}" if kind == DOUBLE else str(int(x))


@functools.cache
def bits(x: float) -> int:
    """A double as the whole number that has its bits."""
    return int.from_bytes(struct.pack(">d", x), "big")


def vector_type(lanes: int, of: str = DOUBLE) -> str:
    """The type of a vector of this number of lanes; one lane is a number."""
    return of if lanes == 1 else f"<{lanes} x {of}>"


def vector_width(kind: str) -> int:
    """How many numbers a value of this type has."""
    return int(kind[1:].partition(" ")[0]) if kind.startswith("<") else 1


def intrinsic_declarations(kind: str) -> str:
    """The elementary operations of the processor on numbers of this kind."""
    one, two, three = ("fabs", "sqrt"), ("minnum", "maxnum"), ("fmuladd",)
    counts = [(name, k) for k, names in enumerate((one, two, three), 1) for name in names]
    return "\n".join(
        f"declare {kind} @llvm.{name}.{intrinsic_suffix(kind)}({', '.join([kind] * k)})"
        for name, k in counts
    )


def intrinsic_suffix(kind: str) -> str:
    """How LLVM's intrinsic functions are named for the kind."""
    return "f64" if kind == DOUBLE else f"v{vector_width(kind)}f64"


def ctypes_structure(fields: Iterable[tuple[str, str]]) -> type[ctypes.Structure]:
    """The structure with these fields, each a name and a kind."""
    return type(
        "Fields",
        (ctypes.Structure,),
        {"_fields_": [(name, C_TYPES[kind]) for name, kind in fields]},
    )


def offsets(sizes: Mapping[str, int], end: str = "") -> dict[str, int]:
    """Where parts of these sizes begin that follow one another; under another name where they
    end.
    """
    return dict(zip((*sizes, end), accumulate(sizes.values(), initial=0), strict=True))


def padded_size(n: int) -> int:
    """The next multiple of four: native code takes four numbers at a time."""
    return -(-n // GROUP_SIZE) * GROUP_SIZE
