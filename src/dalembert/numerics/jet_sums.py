"""H = Σ_(j=1)^(k−1) F_j G_(k−j) of all pairs of series, as native text: a group of them side by side, or one for each lane.

    void inner(const double *table, int64 k, double *sums)
    void outer(const double *table, int64 k, double *sums, double *inputs)

`inner` leaves out j = 1 and j = k − 1, whose rows are written last: it may work while order k − 1 is still being found. `outer` adds them.
Row 0 of the table is zero: it stands in where there is no such term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from dalembert.numerics import kernels

# groups of sums that are computed in one loop: as many as hide the time that a sum takes
_AT_ONCE: Final = 6


class SumLayout(NamedTuple):
    """Places counted in numbers.

    lanes      numbers in a group
    groups     how many groups there are
    first      where the first series of the pairs begin in a row of the table; the second ones follow behind them
    width      numbers in a row of the table
    target     where the sums go among the inputs
    """

    lanes: int
    groups: int
    first: int
    width: int
    target: int

    @property
    def vector(self) -> str:
        """LLVM's name of a group."""
        return kernels.real(self.lanes)


def sums_text(layout: SumLayout, prefix: str = "") -> str:
    """Both functions; their names begin with the prefix."""
    how = kernels.attributes(layout.lanes)
    inner = f"""define internal void @{prefix}inner(ptr %table, i64 %k, ptr %sums) {how} {{
entry:
  %k.last = sub i64 %k, 1"""
    outer = f"""define internal void @{prefix}outer(ptr %table, i64 %k, ptr %sums, ptr %inputs) {how} {{
entry:
  %k.last = sub i64 %k, 1
  %is.first = icmp eq i64 %k, 1
  %one = select i1 %is.first, i64 0, i64 1
  %is.second = icmp eq i64 %k, 2
  %other = select i1 %is.second, i64 0, i64 %k.last"""
    v = layout.vector
    declared = f"declare {v} @llvm.fmuladd.{kernels.suffix(layout.lanes)}({v}, {v}, {v})"
    parts = [(inner, _inner), (outer, _outer)]
    return "\n".join([declared, *("\n".join([head, *_in_chunks(layout, chunk), "  ret void", "}"]) for head, chunk in parts)])


def _in_chunks(layout: SumLayout, chunk: Callable[[SumLayout, str, str, str, int], Iterator[str]]) -> Iterator[str]:
    """All groups, some at once, and then the rest."""
    rest = layout.groups % _AT_ONCE
    whole = layout.groups - rest
    if whole:
        yield "  br label %group"
        yield "group:"
        yield "  %g = phi i64 [ 0, %entry ], [ %g1, %a.end ]"
        yield from chunk(layout, "a", "group", "%g", _AT_ONCE)
        yield f"  %g1 = add i64 %g, {_AT_ONCE * layout.lanes}"
        yield f"  %more = icmp slt i64 %g1, {whole * layout.lanes}"
        yield "  br i1 %more, label %group, label %last"
        yield "last:"
    if rest:
        yield from chunk(layout, "b", "last" if whole else "entry", str(whole * layout.lanes), rest)


def _inner(layout: SumLayout, label: str, before: str, start: str, count: int) -> Iterator[str]:
    """Σ_(j=2)^(k−2) of `count` groups from place `start` on, in one loop."""
    yield f"  %{label}.f0 = getelementptr double, ptr %table, i64 {layout.first}"
    yield f"  %{label}.f = getelementptr double, ptr %{label}.f0, i64 {start}"
    yield f"  br label %{label}.head"
    yield f"{label}.head:"
    yield f"  %{label}.j = phi i64 [ 2, %{before} ], [ %{label}.j1, %{label}.body ]"
    for m in range(count):
        yield f"  %{label}.s{m} = phi {layout.vector} [ zeroinitializer, %{before} ], [ %{label}.i{m}, %{label}.body ]"
    yield f"  %{label}.more = icmp slt i64 %{label}.j, %k.last"
    yield f"  br i1 %{label}.more, label %{label}.body, label %{label}.end"
    yield f"{label}.body:"
    yield f"  %{label}.rest = sub i64 %k, %{label}.j"
    yield from _terms(layout, label, "i", ("s", f"%{label}.j", f"%{label}.rest"), count)
    yield f"  %{label}.j1 = add i64 %{label}.j, 1"
    yield f"  br label %{label}.head"
    yield f"{label}.end:"
    yield from _places(layout, label, "o", "%sums", start, count)
    for m in range(count):
        yield f"  store {layout.vector} %{label}.s{m}, ptr %{label}.o{m}, align 8"


def _outer(layout: SumLayout, label: str, _before: str, start: str, count: int) -> Iterator[str]:
    """What is left to add to `count` groups."""
    yield f"  br label %{label}.end"
    yield f"{label}.end:"
    yield f"  %{label}.f0 = getelementptr double, ptr %table, i64 {layout.first}"
    yield f"  %{label}.f = getelementptr double, ptr %{label}.f0, i64 {start}"
    yield from _places(layout, label, "p", "%sums", start, count)
    for m in range(count):
        yield f"  %{label}.s{m} = load {layout.vector}, ptr %{label}.p{m}, align 8"
    yield from _terms(layout, label, "m", ("s", "%one", "%k.last"), count)
    yield from _terms(layout, label, "n", ("m", "%other", "%one"), count)
    yield f"  %{label}.to = getelementptr double, ptr %inputs, i64 {layout.target}"
    yield from _places(layout, label, "o", f"%{label}.to", start, count)
    for m in range(count):
        yield f"  store {layout.vector} %{label}.n{m}, ptr %{label}.o{m}, align 8"


def _places(layout: SumLayout, label: str, name: str, base: str, start: str, count: int) -> Iterator[str]:
    """The addresses of `count` groups."""
    yield f"  %{label}.{name} = getelementptr double, ptr {base}, i64 {start}"
    for m in range(count):
        yield f"  %{label}.{name}{m} = getelementptr double, ptr %{label}.{name}, i64 {m * layout.lanes}"


def _terms(layout: SumLayout, label: str, result: str, what: tuple[str, str, str], count: int) -> Iterator[str]:
    """result = sum + F_i G_j of `count` groups."""
    total, *rows = what
    for side, row in zip("xy", rows, strict=True):
        yield f"  %{label}.{result}{side}k = mul i64 {row}, {layout.width}"
        yield f"  %{label}.{result}{side} = getelementptr double, ptr %{label}.f, i64 %{label}.{result}{side}k"
    for m in range(count):
        factors = []
        for side, place in (("x", m * layout.lanes), ("y", layout.lanes * (layout.groups + m))):
            name = f"%{label}.{result}{side}{m}"
            yield f"  {name}.a = getelementptr double, ptr %{label}.{result}{side}, i64 {place}"
            yield f"  {name} = load {layout.vector}, ptr {name}.a, align 8"
            factors.append(f"{layout.vector} {name}")
        given = f"{', '.join(factors)}, {layout.vector} %{label}.{total}{m}"
        yield f"  %{label}.{result}{m} = call {layout.vector} @llvm.fmuladd.{kernels.suffix(layout.lanes)}({given})"
