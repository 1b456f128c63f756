"""H = Σ_(j=1)^(k−1) F_j G_(k−j) of all pairs of series, as native text: a group of them in one
vector, or one for each lane.

    void inner(const double *table, int64 k, double *sums)
    void outer(const double *table, int64 k, double *sums, double *inputs)

`inner` leaves out j = 1 and j = k − 1, whose rows are written last: it may work while order k − 1
is still being found. `outer` adds them. Row 0 of the table is zero: it is used where there is no
such term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.llvm_types import intrinsic_suffix, vector_type

# groups of sums that are computed in one loop: as many as hide the time that a sum takes
_AT_ONCE: Final = 6


class ConvolutionLayout(NamedTuple):
    """Places counted in numbers.

    lanes      numbers in a group
    places     for each group of pairs where its two series are, behind the first
    first      where the series begin in a row of the table
    width      numbers in a row of the table
    target     where the sums go among the inputs
    even       whether all places follow from those of the first groups, each a fixed number of
               places further on
    """

    lanes: int
    places: tuple[tuple[int, int], ...]
    first: int
    width: int
    target: int
    even: bool = False

    @property
    def vector(self) -> str:
        """LLVM's name of a group."""
        return vector_type(self.lanes)


class _Chunk(NamedTuple):
    """Some groups: labels, how far their series and their sums are from the first, and the
    places of the series.
    """

    label: str
    before: str
    series: str
    sums: str
    places: tuple[tuple[int, int], ...]


def convolution_ir(layout: ConvolutionLayout, prefix: str = "") -> str:
    """Both functions; their names begin with the prefix."""
    how = math_kernels.attributes(layout.lanes)
    inner = f"""define internal void @{prefix}inner(ptr %table, i64 %k, ptr %sums) {how} {{
entry:
  %k.last = sub i64 %k, 1"""
    arguments = "ptr %table, i64 %k, ptr %sums, ptr %inputs"
    outer = f"""define internal void @{prefix}outer({arguments}) {how} {{
entry:
  %k.last = sub i64 %k, 1
  %is.first = icmp eq i64 %k, 1
  %one = select i1 %is.first, i64 0, i64 1
  %is.second = icmp eq i64 %k, 2
  %other = select i1 %is.second, i64 0, i64 %k.last"""
    v = layout.vector
    declared = (
        f"declare {v} @llvm.fmuladd.{intrinsic_suffix(vector_type(layout.lanes))}({v}, {v}, {v})"
    )
    parts = [(inner, _inner_terms), (outer, _end_terms)]
    return "\n".join(
        [
            declared,
            *(
                "\n".join([head, *_unrolled_loop(layout, chunk), "  ret void", "}"])
                for head, chunk in parts
            ),
        ]
    )


def _unrolled_loop(
    layout: ConvolutionLayout, text: Callable[[ConvolutionLayout, _Chunk], Iterator[str]]
) -> Iterator[str]:
    """All groups, some at once: in a loop where places are even, and then the rest; otherwise
    one after the other.
    """
    count, begin, before = len(layout.places), 0, "entry"
    if layout.even and count >= _AT_ONCE:
        begin, before = count - count % _AT_ONCE, "last"
        yield "  br label %group"
        yield "group:"
        yield "  %g = phi i64 [ 0, %entry ], [ %g1, %a.end ]"
        yield from text(layout, _Chunk("a", "group", "%g", "%g", layout.places[:_AT_ONCE]))
        yield f"  %g1 = add i64 %g, {_AT_ONCE * layout.lanes}"
        yield f"  %more = icmp slt i64 %g1, {begin * layout.lanes}"
        yield "  br i1 %more, label %group, label %last"
        yield "last:"
    for k in range(begin, count, _AT_ONCE):
        yield from text(
            layout,
            _Chunk(f"c{k}", before, "0", str(k * layout.lanes), layout.places[k : k + _AT_ONCE]),
        )
        before = f"c{k}.end"


def _inner_terms(layout: ConvolutionLayout, chunk: _Chunk) -> Iterator[str]:
    """Σ_(j=2)^(k−2) of a chunk, in one loop."""
    label, before, vector, count = (
        chunk.label,
        chunk.before,
        layout.vector,
        range(len(chunk.places)),
    )
    yield f"  %{label}.f0 = getelementptr double, ptr %table, i64 {layout.first}"
    yield f"  %{label}.f = getelementptr double, ptr %{label}.f0, i64 {chunk.series}"
    yield f"  br label %{label}.head"
    yield f"{label}.head:"
    yield f"  %{label}.j = phi i64 [ 2, %{before} ], [ %{label}.j1, %{label}.body ]"
    for m in count:
        yield (
            f"  %{label}.s{m} = phi {vector} [ zeroinitializer, %{before} ], [ %{label}.i{m}, "
            f"%{label}.body ]"
        )
    yield f"  %{label}.more = icmp slt i64 %{label}.j, %k.last"
    yield f"  br i1 %{label}.more, label %{label}.body, label %{label}.end"
    yield f"{label}.body:"
    yield f"  %{label}.rest = sub i64 %k, %{label}.j"
    yield from _terms(layout, chunk, "i", ("s", f"%{label}.j", f"%{label}.rest"))
    yield f"  %{label}.j1 = add i64 %{label}.j, 1"
    yield f"  br label %{label}.head"
    yield f"{label}.end:"
    yield from _places(layout, chunk, "o", "%sums")
    for m in count:
        yield f"  store {vector} %{label}.s{m}, ptr %{label}.o{m}, align 8"


def _end_terms(layout: ConvolutionLayout, chunk: _Chunk) -> Iterator[str]:
    """The remaining terms of a chunk."""
    label, vector, count = chunk.label, layout.vector, range(len(chunk.places))
    yield f"  br label %{label}.end"
    yield f"{label}.end:"
    yield f"  %{label}.f0 = getelementptr double, ptr %table, i64 {layout.first}"
    yield f"  %{label}.f = getelementptr double, ptr %{label}.f0, i64 {chunk.series}"
    yield from _places(layout, chunk, "p", "%sums")
    for m in count:
        yield f"  %{label}.s{m} = load {vector}, ptr %{label}.p{m}, align 8"
    yield from _terms(layout, chunk, "m", ("s", "%one", "%k.last"))
    yield from _terms(layout, chunk, "n", ("m", "%other", "%one"))
    yield f"  %{label}.to = getelementptr double, ptr %inputs, i64 {layout.target}"
    yield from _places(layout, chunk, "o", f"%{label}.to")
    for m in count:
        yield f"  store {vector} %{label}.n{m}, ptr %{label}.o{m}, align 8"


def _places(layout: ConvolutionLayout, chunk: _Chunk, name: str, base: str) -> Iterator[str]:
    """The addresses of the sums of a chunk."""
    label = chunk.label
    yield f"  %{label}.{name} = getelementptr double, ptr {base}, i64 {chunk.sums}"
    for m in range(len(chunk.places)):
        yield (
            f"  %{label}.{name}{m} = getelementptr double, ptr %{label}.{name}, i64 "
            f"{m * layout.lanes}"
        )


def _terms(
    layout: ConvolutionLayout, chunk: _Chunk, result: str, what: tuple[str, str, str]
) -> Iterator[str]:
    """result = sum + F_i G_j of a chunk; what several pairs have in common is loaded once."""
    total, *rows = what
    head, vector = f"%{chunk.label}.{result}", layout.vector
    for side, row in zip("xy", rows, strict=True):
        yield f"  {head}{side}k = mul i64 {row}, {layout.width}"
        yield f"  {head}{side} = getelementptr double, ptr %{chunk.label}.f, i64 {head}{side}k"
    for side, places in zip("xy", zip(*chunk.places, strict=True), strict=True):
        for place in dict.fromkeys(places):
            yield f"  {head}{side}a{place} = getelementptr double, ptr {head}{side}, i64 {place}"
            yield f"  {head}{side}{place} = load {vector}, ptr {head}{side}a{place}, align 8"
    for m, (f, g) in enumerate(chunk.places):
        given = f"{vector} {head}x{f}, {vector} {head}y{g}, {vector} %{chunk.label}.{total}{m}"
        yield (
            f"  {head}{m} = call {vector} "
            f"@llvm.fmuladd.{intrinsic_suffix(vector_type(layout.lanes))}({given})"
        )
