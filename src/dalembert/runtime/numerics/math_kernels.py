"""sin and cos at once, and the other elementary functions, as LLVM text for scalars and for lanes.

A lane computes the same bits as a scalar: every operation below is an exactly rounded IEEE
operation without flags, and what comes from the mathematics library is called for one number at a
time.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, Value
from dalembert.runtime.numerics.llvm_types import (
    BOOL,
    INT64,
    POINTER,
    bits,
    constant,
    intrinsic_suffix,
    vector_type,
)

# cos and sin on |r| ≤ π/4 (fdlibm, k_sin.c and k_cos.c), lowest power first
SINE: Final = (
    "0x1.111111110f8a6p-7",
    "-0x1.a01a019c161d5p-13",
    "0x1.71de357b1fe7dp-19",
    "-0x1.ae5e68a2b9cebp-26",
    "0x1.5d93a5acfd57cp-33",
)
SINE_FIRST: Final = "-0x1.5555555555549p-3"
COSINE: Final = (
    "0x1.555555555554cp-5",
    "-0x1.6c16c16c15177p-10",
    "0x1.a01a019cb1590p-16",
    "-0x1.27e4f809c52adp-22",
    "0x1.1ee9ebdb4b1c4p-29",
    "-0x1.8fae9be8838d4p-37",
)
# π/2 in parts of 53, 29 and 53 bits: k times the first is subtracted from x without error, k times
# the second has none for k < 2²³
_HALF_PI: Final = ("0x1.921fb54442d18p+0", "0x1.1a62633p-54", "0x1.45c06e0e68948p-86")
# the same in parts of 33 bits (fdlibm, e_rem_pio2.c): k times such a part has no rounding for k <
# 2²⁰, with separate products too
HALF_PI_SHORT: Final = ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69")
TWO_OVER_PI: Final = "0x1.45f306dc9c883p-1"
# adding 1.5·2⁵² leaves the nearest integer in the last bits
_ROUNDER: Final = "0x1.8p+52"
LARGEST_REDUCED: Final = 1e7
# the first multiple of π/2 so near to a double that the short parts leave more than 1 ulp is 263205
# π/2 = 413441.4…
LARGEST_REDUCED_SHORT: Final = 4e5
# numbers of fewer quarter turns are smaller than that, which a few bits say sooner than a
# comparison
_QUARTERS: Final = 2**22
_QUARTERS_SHORT: Final = 2**17

LIBRARY: Final = ("exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan")


def attributes(lanes: int) -> str:
    """What every function that handles the type must declare."""
    return (
        'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"'
        if lanes == 8
        else "nounwind"
    )


def sincos(lanes: int, *, fused: bool) -> str:
    """@sincos.lanes(x) → {sin x, cos x}: at most 1 ulp off for |x| ≤ 1e7, the mathematics library
    beyond.

    It calls @each.sin.lanes and @each.cos.lanes. Without fused operations the library begins at
    4e5.
    """
    w = _Kernel(lanes, fused=fused)
    (x,) = w.parameters
    shifted = w.fma(x, w.constant(TWO_OVER_PI), w.constant(_ROUNDER))
    # the last bits are those of k
    turns = w.emit(w.whole, f"bitcast {shifted} to {w.whole}")
    large = _out_of_range_bits(w, turns, _QUARTERS if fused else _QUARTERS_SHORT)
    large = large if lanes == 1 else w.call(f"llvm.vector.reduce.or.v{lanes}i64", INT64, large)
    w.line(f"br {large.not_equal(0)}, label %far, label %near")
    w.start_block("near")
    w.ret_pair(*_apply_quadrant(w, *_sincos_polynomials(w, *_reduce_argument(w, shifted)), turns))
    w.start_block("far")
    library = [w.call(f"each.{f}.{lanes}", w.real, x) for f in ("sin", "cos")]
    size = w.intrinsic("fabs", x)
    # infinite and not a number is large too
    outside = w.emit(
        vector_type(lanes, BOOL),
        f"fcmp ugt {size}, {constant(LARGEST_REDUCED if fused else LARGEST_REDUCED_SHORT, w.real)}",
    )
    own = _apply_quadrant(w, *_sincos_polynomials(w, *_reduce_argument(w, shifted)), turns)
    w.ret_pair(*(w.select(outside, a, b) for a, b in zip(library, own, strict=True)))
    return w.text()


def per_lane_ir(function: str, lanes: int, arguments: int = 1) -> str:
    """@each.function.lanes: the mathematics library, lane by lane."""
    real_ = vector_type(lanes)
    names = ["%x", "%y"][:arguments]
    lines = [
        (
            f"define internal {real_} "
            f"@each.{function}.{lanes}({', '.join(f'{real_} {a}' for a in names)}) noinline "
            f"{attributes(lanes)} {{"
        )
    ]
    if lanes == 1:
        lines.append(f"  %r = call double @{function}({', '.join(f'double {a}' for a in names)})")
        return "\n".join([*lines, "  ret double %r", "}"])
    before = "poison"
    for k in range(lanes):
        lines += [f"  {a}{k} = extractelement {real_} {a}, i32 {k}" for a in names]
        lines.append(
            f"  %c{k} = call double @{function}({', '.join(f'double {a}{k}' for a in names)})"
        )
        lines.append(f"  %r{k} = insertelement {real_} {before}, double %c{k}, i32 {k}")
        before = f"%r{k}"
    return "\n".join([*lines, f"  ret {real_} {before}", "}"])


def declarations(*lanes: int) -> str:
    """The functions of LLVM, for vectors of the given width, and of the mathematics library that
    code for tapes may call.
    """
    lines = [f"declare double @{f}(double) nobuiltin" for f in ("sin", "cos", *LIBRARY)]
    lines += [
        f"declare double @{f}(double, double) nobuiltin"
        for f in ("atan2", "table_interval", "table_lookup")
    ]
    for width in dict.fromkeys(lanes):
        real_, name = vector_type(width), intrinsic_suffix(vector_type(width))
        lines.append(f"declare {real_} @llvm.fma.{name}({real_}, {real_}, {real_})")
        lines += [f"declare {real_} @llvm.{f}.{name}({real_})" for f in ("fabs", "sqrt")]
        lines += (
            [f"declare i64 @llvm.vector.reduce.or.v{width}i64(<{width} x i64>)"]
            if width > 1
            else []
        )
    return "\n".join(lines)


class _Kernel(FunctionBuilder):
    """@sincos.lanes while it is being written."""

    def __init__(self, lanes: int, *, fused: bool) -> None:
        self.lanes, self.fused, self.real, self.whole = (
            lanes,
            fused,
            vector_type(lanes),
            vector_type(lanes, INT64),
        )
        super().__init__(
            f"sincos.{lanes}",
            f"{{{self.real}, {self.real}}}",
            self.real,
            attributes=f"noinline {attributes(lanes)}",
        )
        self._table: list[str] = []

    def constant(self, text: str) -> Value:
        """A constant; lanes take it from a table that LLVM cannot see through: part of an
        instruction, not a load before it.
        """
        value = self.value(float.fromhex(text), self.real)
        if self.lanes == 1:
            return value
        if value.name not in self._table:
            self._table.append(value.name)
        at = self.emit(
            POINTER,
            f"getelementptr {self.real}, ptr @sincos.numbers.{self.lanes}, i64 "
            f"{self._table.index(value.name)}",
        )
        return self.emit(self.real, f"load {self.real}, {at}, align {8 * self.lanes}")

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """a b + c, in one rounding where there is such an operation."""
        return self.intrinsic("fma", a, b, c) if self.fused else a * b + c

    def negative(self, a: Value) -> Value:
        """−a"""
        return self.emit(self.real, f"fneg {a}")

    def bitwise(self, operation: str, a: Value, b: Value | int) -> Value:
        """A bitwise operation on whole numbers."""
        return self.emit(
            self.whole,
            f"{operation} {a}, {b.name if isinstance(b, Value) else constant(b, self.whole)}",
        )

    def ret_pair(self, sine: Value, cosine: Value) -> None:
        """Return both."""
        first = self.emit(self.result, f"insertvalue {self.result} poison, {sine}, 0")
        self.ret(self.emit(self.result, f"insertvalue {first}, {cosine}, 1"))

    def text(self) -> str:
        """The function, and its table."""
        values = ", ".join(f"{self.real} {value}" for value in self._table)
        kind = f"internal externally_initialized constant [{len(self._table)} x {self.real}]"
        table = (
            [f"@sincos.numbers.{self.lanes} = {kind} [{values}], align {8 * self.lanes}"]
            if values
            else []
        )
        return "\n".join([*table, super().text()])

    def polynomial(self, coefficients: tuple[str, ...], powers: tuple[Value, Value]) -> Value:
        """c₀ + c₁z + c₂z² + … from z and z²: neighbours first, then by Horner in z², which waits
        half as long as Horner in z.
        """
        z, z2 = powers
        numbers = [self.constant(c) for c in coefficients]
        pairs = [self.fma(numbers[k + 1], z, numbers[k]) for k in range(0, len(numbers) - 1, 2)]
        value, *others = [*pairs, *numbers[2 * len(pairs) :]][::-1]
        for c in others:
            value = self.fma(value, z2, c)
        return value


def _reduce_argument(w: _Kernel, shifted: Value) -> tuple[Value, Value]:
    """r + tail = x − k π/2 with |r| ≤ π/4, from k + 1.5·2⁵²."""
    (x,), k = w.parameters, shifted - w.constant(_ROUNDER)
    if not w.fused:
        return _reduce_argument_without_fma(w, k)
    back, (first, second, third) = w.negative(k), [w.constant(p) for p in _HALF_PI]
    r, high = w.fma(back, first, x), k * second
    r1 = r - high
    # r − r1 is exact: below 2⁻³⁰ r1 is exact too, and the difference k times the second part;
    # above, r and r1 are within a factor of 2
    return r1, w.fma(back, third, r - r1 - high)


def _reduce_argument_without_fma(w: _Kernel, k: Value) -> tuple[Value, Value]:
    """r + tail = x − k π/2 without fused operations: the first two products are exact (fdlibm,
    e_rem_pio2.c, second iteration).
    """
    (x,), (first, second, third) = w.parameters, [w.constant(p) for p in HALF_PI_SHORT]
    t = x - k * first
    high = k * second
    r = t - high
    low = k * third - (t - r - high)
    r1 = r - low
    return r1, r - r1 - low


def _sincos_polynomials(w: _Kernel, r: Value, tail: Value) -> tuple[Value, Value]:
    """sin(r + tail), cos(r + tail) for |r| ≤ π/4 by fdlibm's polynomials.

    sin = r + (tail (1 − z/2) + r³ p(z)),  cos = (1 − z/2) + (z² q(z) − r tail),  z = r²

    1 − z/2 is taken with what its rounding lost; the polynomials come last, so that nothing else
    waits for them.
    """
    z, one = r * r, w.constant("0x1p0")
    z2, v, half = z * z, z * r, z * w.constant("0x1p-1")
    rest = one - half
    p, q = w.polynomial((SINE_FIRST, *SINE), (z, z2)), w.polynomial(COSINE, (z, z2))
    lost = one - rest - half
    sine = r + w.fma(v, p, tail * rest)
    return sine, rest + w.fma(z2, q, w.fma(w.negative(r), tail, lost))


def _apply_quadrant(w: _Kernel, sine: Value, cosine: Value, k: Value) -> tuple[Value, Value]:
    """Exchange and sign by the quadrant k mod 4: sin takes its sign from bit 1 of k, cos from
    bits 0 and 1.
    """

    def signed(value: Value, sign: Value) -> Value:
        flipped = w.bitwise("xor", w.emit(w.whole, f"bitcast {value} to {w.whole}"), sign)
        return w.emit(w.real, f"bitcast {flipped} to {w.real}")

    first, second = (w.bitwise("shl", k, 63 - bit) for bit in (0, 1))
    sign = w.bitwise("and", second, -(2**63))
    odd = w.emit(vector_type(w.lanes, BOOL), f"icmp slt {first}, {constant(0, w.whole)}")
    s, c = w.select(odd, cosine, sine), w.select(odd, sine, cosine)
    return signed(s, sign), signed(c, w.bitwise("xor", sign, first))


def _out_of_range_bits(w: _Kernel, turns: Value, quarters: int) -> Value:
    """Bits of k + quarters that should not be there, from the word of k + 1.5·2⁵²: none for
    −quarters ≤ k < quarters only.
    """
    offset = w.bitwise("sub", turns, bits(float.fromhex(_ROUNDER)) - quarters)
    return w.bitwise("and", offset, -2 * quarters)
