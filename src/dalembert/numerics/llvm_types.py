"""The kinds of values in LLVM text, their constants, and the elementary operations of the processor."""

from __future__ import annotations

import struct
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


def constant(x: float, kind: str) -> str:
    """A number written out as a constant of this kind."""
    if kind == POINTER:
        return "null"
    if kind in (WHOLE, CODE):
        return str(int(x))
    # a double in hexadecimal is exact
    bits = f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
    return bits if kind == REAL else "<" + ", ".join([f"double {bits}"] * LANES) + ">"
