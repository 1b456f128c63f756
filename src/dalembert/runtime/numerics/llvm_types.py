"""LLVM's kinds of values by name: numbers of each kind written out, operations declared for them, structures that Python shares."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final

LANES: Final = 4
REAL: Final = "double"
LANE: Final = f"<{LANES} x double>"
WHOLE: Final = "i64"
CODE: Final = "i32"
TRUTH: Final = "i1"
POINTER: Final = "ptr"

INTRINSICS: Final = "\n".join(
    (
        f"declare {LANE} @llvm.fmuladd.v{LANES}f64({LANE}, {LANE}, {LANE})",
        f"declare {LANE} @llvm.fabs.v{LANES}f64({LANE})",
        f"declare {LANE} @llvm.maxnum.v{LANES}f64({LANE}, {LANE})",
        f"declare {REAL} @llvm.vector.reduce.fadd.v{LANES}f64({REAL}, {LANE})",
        f"declare {REAL} @llvm.fabs.f64({REAL})",
        f"declare {REAL} @llvm.sqrt.f64({REAL})",
        f"declare {REAL} @llvm.minnum.f64({REAL}, {REAL})",
        f"declare {REAL} @llvm.maxnum.f64({REAL}, {REAL})",
    )
)

CONVERSIONS: Final = {(WHOLE, REAL): "sitofp", (CODE, WHOLE): "sext", (WHOLE, CODE): "trunc"}

C_TYPES: Final[dict[str, type[ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double]]] = {
    POINTER: ctypes.c_void_p,
    WHOLE: ctypes.c_int64,
    REAL: ctypes.c_double,
}


def constant(x: float, kind: str) -> str:
    """A number written out as a constant of this kind."""
    if kind == POINTER:
        return "null"
    if width(kind) > 1:
        of = kind.partition(" x ")[2].removesuffix(">")
        return f"splat ({of} {constant(x, of)})"
    # a double in hexadecimal is exact
    return f"0x{bits(x):016X}" if kind == REAL else str(int(x))


@functools.cache
def bits(x: float) -> int:
    """A double as the whole number that has its bits."""
    return int.from_bytes(struct.pack(">d", x), "big")


def pack(lanes: int, of: str = REAL) -> str:
    """The kind of so many numbers side by side; one number is a number."""
    return of if lanes == 1 else f"<{lanes} x {of}>"


def width(kind: str) -> int:
    """How many numbers stand side by side in a value of this kind."""
    return int(kind[1:].partition(" ")[0]) if kind.startswith("<") else 1


def declared(kind: str) -> str:
    """The elementary operations of the processor on numbers of this kind."""
    one, two, three = ("fabs", "sqrt"), ("minnum", "maxnum"), ("fmuladd",)
    counts = [(name, k) for k, names in enumerate((one, two, three), 1) for name in names]
    return "\n".join(f"declare {kind} @llvm.{name}.{suffix(kind)}({', '.join([kind] * k)})" for name, k in counts)


def suffix(kind: str) -> str:
    """How LLVM's intrinsic functions are named for the kind."""
    return "f64" if kind == REAL else f"v{width(kind)}f64"


def structure(fields: Iterable[tuple[str, str]]) -> type[ctypes.Structure]:
    """The structure with these fields, each a name and a kind."""
    return type("Fields", (ctypes.Structure,), {"_fields_": [(name, C_TYPES[kind]) for name, kind in fields]})


def places(sizes: Mapping[str, int], end: str = "") -> dict[str, int]:
    """Where parts of these sizes begin that follow one another; under another name where they end."""
    return dict(zip((*sizes, end), accumulate(sizes.values(), initial=0), strict=True))


def padded(n: int) -> int:
    """The next multiple of four: native code takes four numbers at a time."""
    return -(-n // LANES) * LANES
