"""sin and cos at once, and the other elementary functions, as LLVM text for scalars and for lanes.

A lane computes the same bits as a scalar: every operation below is an exactly rounded IEEE operation
without flags, and what comes from the mathematics library is called for one number at a time.
"""

from __future__ import annotations

import functools
import struct
from typing import Final

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
# π/2 in parts of 53, 29 and 53 bits: k times the first is subtracted from x without error, k times the second has none for k < 2²³
_HALF_PI: Final = ("0x1.921fb54442d18p+0", "0x1.1a62633p-54", "0x1.45c06e0e68948p-86")
# the same in parts of 33 bits (fdlibm, e_rem_pio2.c): k times such a part has no rounding for k < 2²⁰, with separate products too
HALF_PI_SHORT: Final = ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69")
TWO_OVER_PI: Final = "0x1.45f306dc9c883p-1"
# adding 1.5·2⁵² leaves the nearest integer in the last bits
_ROUNDER: Final = "0x1.8p+52"
LARGEST_REDUCED: Final = 1e7
# the first multiple of π/2 so near to a double that the short parts leave more than 1 ulp is 263205 π/2 = 413441.4…
LARGEST_REDUCED_SHORT: Final = 4e5
# numbers of fewer quarter turns are smaller than that, which a few bits say sooner than a comparison
_QUARTERS: Final = 2**22
_QUARTERS_SHORT: Final = 2**17

LIBRARY: Final = ("exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan")


def real(lanes: int) -> str:
    """The type of a number, or of so many side by side."""
    return "double" if lanes == 1 else f"<{lanes} x double>"


def literal(x: float, lanes: int) -> str:
    """A constant operand."""
    bits = f"0x{_bits(x):016X}"
    return bits if lanes == 1 else f"splat (double {bits})"


def suffix(lanes: int) -> str:
    """How LLVM's intrinsic functions are named for the type."""
    return "f64" if lanes == 1 else f"v{lanes}f64"


def attributes(lanes: int) -> str:
    """What every function that handles the type must declare."""
    return 'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"' if lanes == 8 else "nounwind"


def sincos(lanes: int, *, fused: bool) -> str:
    """@sincos.lanes(x) → {sin x, cos x}: at most 1 ulp off for |x| ≤ 1e7, the mathematics library beyond.

    It calls @each.sin.lanes and @each.cos.lanes. Without fused operations the library begins at 4e5.
    """
    return _kernel(lanes, fused=fused)


def lanewise(function: str, lanes: int, arguments: int = 1) -> str:
    """@each.function.lanes: the mathematics library, lane by lane."""
    real_ = real(lanes)
    names = ["%x", "%y"][:arguments]
    lines = [
        f"define internal {real_} @each.{function}.{lanes}({', '.join(f'{real_} {a}' for a in names)}) noinline {attributes(lanes)} {{"
    ]
    if lanes == 1:
        lines.append(f"  %r = call double @{function}({', '.join(f'double {a}' for a in names)})")
        return "\n".join([*lines, "  ret double %r", "}"])
    before = "poison"
    for k in range(lanes):
        lines += [f"  {a}{k} = extractelement {real_} {a}, i32 {k}" for a in names]
        lines.append(f"  %c{k} = call double @{function}({', '.join(f'double {a}{k}' for a in names)})")
        lines.append(f"  %r{k} = insertelement {real_} {before}, double %c{k}, i32 {k}")
        before = f"%r{k}"
    return "\n".join([*lines, f"  ret {real_} {before}", "}"])


def declarations(*lanes: int) -> str:
    """The functions of LLVM, for numbers so many side by side, and of the mathematics library that code for tapes may call."""
    lines = [f"declare double @{f}(double) nobuiltin" for f in ("sin", "cos", *LIBRARY)]
    lines.append("declare double @atan2(double, double) nobuiltin")
    for width in dict.fromkeys(lanes):
        real_, name = real(width), suffix(width)
        lines.append(f"declare {real_} @llvm.fma.{name}({real_}, {real_}, {real_})")
        lines += [f"declare {real_} @llvm.{f}.{name}({real_})" for f in ("fabs", "sqrt")]
        lines += [f"declare i64 @llvm.vector.reduce.or.v{width}i64(<{width} x i64>)"] if width > 1 else []
    return "\n".join(lines)


@functools.cache
def _bits(x: float) -> int:
    return int.from_bytes(struct.pack(">d", x), "big")


class _Writer:
    """Lines of LLVM text for one type of number; operators return the name of their result."""

    def __init__(self, lanes: int, *, fused: bool) -> None:
        self.lanes, self.real, self.fused = lanes, real(lanes), fused
        self.whole = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.flag = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.lines: list[str] = []
        self._table: list[str] = []
        self._count = 0

    def let(self, expression: str) -> str:
        self._count += 1
        self.lines.append(f"  %t{self._count} = {expression}")
        return f"%t{self._count}"

    def number(self, text: str) -> str:
        """A constant; lanes take it from a table that LLVM cannot see through: part of an instruction, not a load before it."""
        value = literal(float.fromhex(text), self.lanes)
        if self.lanes == 1:
            return value
        if value not in self._table:
            self._table.append(value)
        at = self.let(f"getelementptr {self.real}, ptr @sincos.numbers.{self.lanes}, i64 {self._table.index(value)}")
        return self.let(f"load {self.real}, ptr {at}, align {8 * self.lanes}")

    def bits(self, n: int) -> str:
        return str(n) if self.lanes == 1 else f"splat (i64 {n})"

    def add(self, a: str, b: str) -> str:
        return self.let(f"fadd {self.real} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.let(f"fsub {self.real} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.let(f"fmul {self.real} {a}, {b}")

    def neg(self, a: str) -> str:
        return self.let(f"fneg {self.real} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, in one rounding where there is such an operation."""
        if not self.fused:
            return self.add(self.mul(a, b), c)
        return self.let(f"call {self.real} @llvm.fma.{suffix(self.lanes)}({self.real} {a}, {self.real} {b}, {self.real} {c})")

    def give(self, sine: str, cosine: str) -> None:
        """Return both."""
        pair = f"{{{self.real}, {self.real}}}"
        first = self.let(f"insertvalue {pair} poison, {self.real} {sine}, 0")
        self.lines.append(f"  ret {pair} {self.let(f'insertvalue {pair} {first}, {self.real} {cosine}, 1')}")

    def function(self) -> str:
        """@sincos.lanes with these lines."""
        head = f"define internal {{{self.real}, {self.real}}} @sincos.{self.lanes}({self.real} %x) noinline {attributes(self.lanes)} {{"
        values = ", ".join(f"{self.real} {value}" for value in self._table)
        kind = f"internal externally_initialized constant [{len(self._table)} x {self.real}]"
        table = [f"@sincos.numbers.{self.lanes} = {kind} [{values}], align {8 * self.lanes}"] if values else []
        return "\n".join([*table, head, *self.lines, "}"])

    def polynomial(self, coefficients: tuple[str, ...], powers: tuple[str, str]) -> str:
        """c₀ + c₁z + c₂z² + … from z and z²: neighbours first, then by Horner in z², which waits half as long as Horner in z."""
        z, z2 = powers
        numbers = [self.number(c) for c in coefficients]
        pairs = [self.fma(numbers[k + 1], z, numbers[k]) for k in range(0, len(numbers) - 1, 2)]
        value, *others = [*pairs, *numbers[2 * len(pairs) :]][::-1]
        for c in others:
            value = self.fma(value, z2, c)
        return value


def _reduced(w: _Writer, shifted: str) -> tuple[str, str]:
    """r + tail = x − k π/2 with |r| ≤ π/4, from k + 1.5·2⁵²."""
    k = w.sub(shifted, w.number(_ROUNDER))
    if not w.fused:
        return _reduced_in_short_parts(w, k)
    back, (first, second, third) = w.neg(k), [w.number(p) for p in _HALF_PI]
    r, high = w.fma(back, first, "%x"), w.mul(k, second)
    r1 = w.sub(r, high)
    # r − r1 is exact: below 2⁻³⁰ r1 is exact too, and the difference k times the second part; above, r and r1 are within a factor of 2
    return r1, w.fma(back, third, w.sub(w.sub(r, r1), high))


def _reduced_in_short_parts(w: _Writer, k: str) -> tuple[str, str]:
    """r + tail = x − k π/2 without fused operations: the first two products are exact (fdlibm, e_rem_pio2.c, second iteration)."""
    first, second, third = (w.number(p) for p in HALF_PI_SHORT)
    t = w.sub("%x", w.mul(k, first))
    high = w.mul(k, second)
    r = w.sub(t, high)
    low = w.sub(w.mul(k, third), w.sub(w.sub(t, r), high))
    r1 = w.sub(r, low)
    return r1, w.sub(w.sub(r, r1), low)


def _on_quarter(w: _Writer, r: str, tail: str) -> tuple[str, str]:
    """sin(r + tail), cos(r + tail) for |r| ≤ π/4 by fdlibm's polynomials.

    sin = r + (tail (1 − z/2) + r³ p(z)),  cos = (1 − z/2) + (z² q(z) − r tail),  z = r²

    1 − z/2 is taken with what its rounding lost; the polynomials come last, so that nothing else waits for them.
    """
    z, one = w.mul(r, r), w.number("0x1p0")
    z2, v, half = w.mul(z, z), w.mul(z, r), w.mul(z, w.number("0x1p-1"))
    rest = w.sub(one, half)
    p, q = w.polynomial((SINE_FIRST, *SINE), (z, z2)), w.polynomial(COSINE, (z, z2))
    lost = w.sub(w.sub(one, rest), half)
    sine = w.add(r, w.fma(v, p, w.mul(tail, rest)))
    return sine, w.add(rest, w.fma(z2, q, w.fma(w.neg(r), tail, lost)))


def _placed(w: _Writer, sine: str, cosine: str, k: str) -> tuple[str, str]:
    """Exchange and sign by the quadrant k mod 4: sin takes its sign from bit 1 of k, cos from bits 0 and 1."""

    def signed(value: str, sign: str) -> str:
        flipped = w.let(f"xor {w.whole} {w.let(f'bitcast {w.real} {value} to {w.whole}')}, {sign}")
        return w.let(f"bitcast {w.whole} {flipped} to {w.real}")

    first, second = (w.let(f"shl {w.whole} {k}, {w.bits(63 - bit)}") for bit in (0, 1))
    sign = w.let(f"and {w.whole} {second}, {w.bits(-(2**63))}")
    odd = w.let(f"icmp slt {w.whole} {first}, {w.bits(0)}")
    s = w.let(f"select {w.flag} {odd}, {w.real} {cosine}, {w.real} {sine}")
    c = w.let(f"select {w.flag} {odd}, {w.real} {sine}, {w.real} {cosine}")
    return signed(s, sign), signed(c, w.let(f"xor {w.whole} {sign}, {first}"))


def _kernel(lanes: int, *, fused: bool) -> str:
    w = _Writer(lanes, fused=fused)
    shifted = w.fma("%x", w.number(TWO_OVER_PI), w.number(_ROUNDER))
    # the last bits are those of k
    turns = w.let(f"bitcast {w.real} {shifted} to {w.whole}")
    large = _beyond(w, turns, _QUARTERS if fused else _QUARTERS_SHORT)
    any_ = w.let(f"icmp ne i64 {large if lanes == 1 else w.let(f'call i64 @llvm.vector.reduce.or.v{lanes}i64({w.whole} {large})')}, 0")
    w.lines += [f"  br i1 {any_}, label %far, label %near", "near:"]
    w.give(*_placed(w, *_on_quarter(w, *_reduced(w, shifted)), turns))
    w.lines.append("far:")
    library = [w.let(f"call {w.real} @each.{f}.{lanes}({w.real} %x)") for f in ("sin", "cos")]
    size = w.let(f"call {w.real} @llvm.fabs.{suffix(lanes)}({w.real} %x)")
    # infinite and not a number is large too
    large = w.let(f"fcmp ugt {w.real} {size}, {literal(LARGEST_REDUCED if fused else LARGEST_REDUCED_SHORT, lanes)}")
    own = _placed(w, *_on_quarter(w, *_reduced(w, shifted)), turns)
    w.give(*(w.let(f"select {w.flag} {large}, {w.real} {a}, {w.real} {b}") for a, b in zip(library, own, strict=True)))
    return w.function()


def _beyond(w: _Writer, turns: str, quarters: int) -> str:
    """Bits of k + quarters that should not be there, from the word of k + 1.5·2⁵²: none for −quarters ≤ k < quarters only."""
    offset = w.let(f"sub {w.whole} {turns}, {w.bits(_bits(float.fromhex(_ROUNDER)) - quarters)}")
    return w.let(f"and {w.whole} {offset}, {w.bits(-2 * quarters)}")
