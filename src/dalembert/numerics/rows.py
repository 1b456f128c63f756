"""Operations on rows of numbers, as LLVM text: the inner loops of dense elimination.

Four numbers are taken at a time while they last. The order of every sum is fixed here, so that the
result does not depend on what a compiler makes of it.
"""

from __future__ import annotations

from typing import Final

DECLARED: Final = """declare double @llvm.fabs.f64(double)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare double @llvm.fmuladd.f64(double, double, double)
declare <4 x double> @llvm.fmuladd.v4f64(<4 x double>, <4 x double>, <4 x double>)
declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
declare double @llvm.vector.reduce.fmax.v4f64(<4 x double>)
declare double @llvm.ldexp.f64.i32(double, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare {double, i32} @llvm.frexp.f64.i32(double)"""


def operations() -> str:
    """The functions that elimination calls."""
    return joined(DECLARED, _eliminate(), _dot(), _largest(), _widen(), _scale(), _columns(), _exchange(), _transpose())


def joined(*parts: str) -> str:
    """Parts of a text, one below the other."""
    return "\n".join(parts)


def loop(i: str, start: str, stop: str, *body: str, carried: str = "") -> str:
    """for i = start, …, stop − 1; `carried` defines values that one turn hands to the next"""
    inside, head = "\n".join(body), "\n".join("  " + line for line in carried.splitlines())
    return f"""  br label %{i}.enter
{i}.enter:
  br label %{i}.test
{i}.test:
  %{i} = phi i64 [{start}, %{i}.enter], [%{i}.next, %{i}.latch]
{head}
  %{i}.more = icmp slt i64 %{i}, {stop}
  br i1 %{i}.more, label %{i}.body, label %{i}.end
{i}.body:
{inside}
  br label %{i}.latch
{i}.latch:
  %{i}.next = add i64 %{i}, 1
  br label %{i}.test
{i}.end:"""


def row(name: str, base: str, index: str) -> str:
    """Where row `index` starts, of an array with rows of n."""
    return f"""  %{name}.o = mul i64 {index}, %n
  %{name} = getelementptr double, ptr {base}, i64 %{name}.o"""


def load(name: str, base: str, index: str) -> str:
    """name = base[index]; its address is name.p"""
    return f"""  %{name}.p = getelementptr double, ptr {base}, i64 {index}
  %{name} = load double, ptr %{name}.p, align 8"""


def store(value: str, name: str, base: str, index: str) -> str:
    """base[index] = value; `name` becomes its address"""
    return f"""  %{name} = getelementptr double, ptr {base}, i64 {index}
  store double {value}, ptr %{name}, align 8"""


def _in_fours(*body: str, carried: str = "") -> str:
    """The entries from … to − 1, four at a time while they last: %j is the first, in `body`."""
    inside = "\n".join(body)
    return f"""  %many = sub i64 %to, 3
  br label %fours
fours:
  %j = phi i64 [%from, %entry], [%j.next, %four]
  {carried}
  %four.more = icmp slt i64 %j, %many
  br i1 %four.more, label %four, label %ones
four:
{inside}
  %j.next = add i64 %j, 4
  br label %fours
ones:"""


def _four(name: str, base: str) -> str:
    return f"""  %{name}.p = getelementptr double, ptr {base}, i64 %j
  %{name} = load <4 x double>, ptr %{name}.p, align 8"""


def _eliminate() -> str:
    """y −= l x over the entries from … to − 1"""
    start = """entry:
  %minus = fneg double %l
  %one = insertelement <4 x double> poison, double %minus, i32 0
  %all = shufflevector <4 x double> %one, <4 x double> poison, <4 x i32> zeroinitializer"""
    fours = _in_fours(
        _four("x4", "%x"),
        _four("y4", "%y"),
        "  %z4 = call <4 x double> @llvm.fmuladd.v4f64(<4 x double> %all, <4 x double> %x4, <4 x double> %y4)",
        "  store <4 x double> %z4, ptr %y4.p, align 8",
    )
    ones = loop(
        "i",
        "%j",
        "%to",
        load("a", "%x", "%i"),
        load("b", "%y", "%i"),
        "  %c = call double @llvm.fmuladd.f64(double %minus, double %a, double %b)",
        "  store double %c, ptr %b.p, align 8",
    )
    head = "define internal void @eliminate(ptr noalias %y, ptr noalias %x, double %l, i64 %from, i64 %to) nounwind {"
    return joined(head, start, fours, ones, "  ret void", "}")


def _dot() -> str:
    """Σ x y over the entries from … to − 1: four sums side by side, then the rest"""
    fours = _in_fours(
        _four("x4", "%x"),
        _four("y4", "%y"),
        "  %sum.next = call <4 x double> @llvm.fmuladd.v4f64(<4 x double> %x4, <4 x double> %y4, <4 x double> %sum)",
        carried="%sum = phi <4 x double> [zeroinitializer, %entry], [%sum.next, %four]",
    )
    ones = loop(
        "i",
        "%j",
        "%to",
        load("a", "%x", "%i"),
        load("b", "%y", "%i"),
        "  %rest.next = call double @llvm.fmuladd.f64(double %a, double %b, double %rest)",
        carried="%rest = phi double [%total, %i.enter], [%rest.next, %i.latch]",
    )
    total = "  %total = call double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> %sum)"
    head = "define internal double @dot(ptr %x, ptr %y, i64 %from, i64 %to) nounwind {\nentry:"
    return joined(head, fours, total, ones, "  ret double %rest", "}")


def _largest() -> str:
    """max |x| over n entries"""
    fours = _in_fours(
        _four("x4", "%x"),
        "  %size4 = call <4 x double> @llvm.fabs.v4f64(<4 x double> %x4)",
        "  %more4 = fcmp ogt <4 x double> %size4, %most4",
        "  %most4.next = select <4 x i1> %more4, <4 x double> %size4, <4 x double> %most4",
        carried="%most4 = phi <4 x double> [zeroinitializer, %entry], [%most4.next, %four]",
    )
    ones = loop(
        "i",
        "%j",
        "%to",
        load("a", "%x", "%i"),
        "  %size = call double @llvm.fabs.f64(double %a)",
        "  %larger = fcmp ogt double %size, %most",
        "  %most.next = select i1 %larger, double %size, double %most",
        carried="%most = phi double [%among4, %i.enter], [%most.next, %i.latch]",
    )
    among = "  %among4 = call double @llvm.vector.reduce.fmax.v4f64(<4 x double> %most4)"
    head = "define internal double @largest(ptr %x, i64 %from, i64 %to) nounwind {\nentry:"
    return joined(head, fours, among, ones, "  ret double %most", "}")


def _widen() -> str:
    """y = max(y, |x|), entry by entry"""
    fours = _in_fours(
        _four("x4", "%x"),
        _four("y4", "%y"),
        "  %size4 = call <4 x double> @llvm.fabs.v4f64(<4 x double> %x4)",
        "  %more4 = fcmp ogt <4 x double> %size4, %y4",
        "  %z4 = select <4 x i1> %more4, <4 x double> %size4, <4 x double> %y4",
        "  store <4 x double> %z4, ptr %y4.p, align 8",
    )
    ones = loop(
        "i",
        "%j",
        "%to",
        load("a", "%x", "%i"),
        load("b", "%y", "%i"),
        "  %size = call double @llvm.fabs.f64(double %a)",
        "  %larger = fcmp ogt double %size, %b",
        "  %c = select i1 %larger, double %size, double %b",
        "  store double %c, ptr %b.p, align 8",
    )
    head = "define internal void @widen(ptr noalias %y, ptr noalias %x, i64 %from, i64 %to) nounwind {\nentry:"
    return joined(head, fours, ones, "  ret void", "}")


def _scale() -> str:
    """Multiply every row, and its right-hand sides, by the power of two that brings its largest entry to [1/2, 1)."""
    entries = loop("j", "0", "%n", load("a", "%row", "%j"), _scaled("a"))
    sides = loop("c", "0", "%m", row("b", "%B", "%c"), load("y", "%b", "%i"), _scaled("y"))
    rows = loop(
        "i",
        "0",
        "%n",
        row("row", "%A", "%i"),
        "  %most = call double @largest(ptr %row, i64 0, i64 %n)",
        "  %split = call {double, i32} @llvm.frexp.f64.i32(double %most)",
        "  %exponent = extractvalue {double, i32} %split, 1",
        "  %tame = fcmp one double %most, 0x7FF0000000000000",
        "  %up = sub i32 0, %exponent",
        "  %bounded = call i32 @llvm.smin.i32(i32 %up, i32 1022)",
        "  %power = select i1 %tame, i32 %bounded, i32 0",
        "  %factor = call double @llvm.ldexp.f64.i32(double 1.0, i32 %power)",
        entries,
        sides,
    )
    head = "define internal void @scale(ptr noalias %A, ptr noalias %B, i64 %n, i64 %m) nounwind {"
    return joined(head, rows, "  ret void", "}")


def _scaled(name: str) -> str:
    return f"""  %{name}.s = fmul double %{name}, %factor
  store double %{name}.s, ptr %{name}.p, align 8"""


def _columns() -> str:
    """The largest entry of every column, into `work`."""
    clear = loop("j", "0", "%n", store("0.0", "to", "%work", "%j"))
    widen = loop("i", "0", "%n", row("row", "%A", "%i"), "  call void @widen(ptr %work, ptr %row, i64 0, i64 %n)")
    return joined("define internal void @columns(ptr %A, i64 %n, ptr %work) nounwind {", clear, widen, "  ret void", "}")


def _exchange() -> str:
    """Bring the row with the largest entry in column k, from row k on, to row k."""
    search = loop(
        "i",
        "%k",
        "%n",
        row("row", "%A", "%i"),
        load("a", "%row", "%k"),
        "  %size = call double @llvm.fabs.f64(double %a)",
        "  %better = fcmp ogt double %size, %most",
        "  %most.next = select i1 %better, double %size, double %most",
        "  %best.next = select i1 %better, i64 %i, i64 %best",
        carried="""%most = phi double [-1.0, %i.enter], [%most.next, %i.latch]
%best = phi i64 [%k, %i.enter], [%best.next, %i.latch]""",
    )
    swap = loop("j", "0", "%n", *_swapped("%first", "%j", "%second", "%j", "r"))
    sides = loop("c", "0", "%m", row("b", "%B", "%c"), *_swapped("%b", "%k", "%b", "%best", "s"))
    head = "define internal void @exchange(ptr %A, ptr %B, i64 %n, i64 %m, i64 %k) nounwind {"
    middle = f"""  %same = icmp eq i64 %best, %k
  br i1 %same, label %done, label %swap
swap:
{row("first", "%A", "%k")}
{row("second", "%A", "%best")}"""
    return joined(head, search, middle, swap, sides, "  br label %done", "done:", "  ret void", "}")


def _swapped(a: str, i: str, b: str, j: str, name: str) -> list[str]:
    one, two = f"{name}1", f"{name}2"
    exchanged = f"  store double %{one}, ptr %{two}.p, align 8\n  store double %{two}, ptr %{one}.p, align 8"
    return [load(one, a, i), load(two, b, j), exchanged]


def _transpose() -> str:
    """A becomes Aᵀ, as LAPACK reads columns first."""
    inner = loop("j", "0", "%i", row("other", "%A", "%j"), *_swapped("%row", "%j", "%other", "%i", "s"))
    rows = loop("i", "0", "%n", row("row", "%A", "%i"), inner)
    return joined("define internal void @transpose(ptr %A, i64 %n) nounwind {", rows, "  ret void", "}")
