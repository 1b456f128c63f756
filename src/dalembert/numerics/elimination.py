"""Gaussian elimination as LLVM text: by rows, so that the innermost loop runs along memory.

    L D Lᵀ:  for k: for i > k: row i −= (a_ki / d_k) row k, from the diagonal on
    P A = L U: rows are first scaled by powers of two to entries near 1; for k: exchange, then
               for i > k: row i −= (a_ik / a_kk) row k, and the right-hand sides with them

A pivot counts as zero at n ε times what stood there before elimination: the diagonal of A for L D Lᵀ,
the largest entry of its column for L U.
"""

from __future__ import annotations

from typing import Final

from dalembert.numerics import rows
from dalembert.numerics.rows import joined, load, loop, row, store

LARGEST_OWN: Final = 64
LAPACK: Final = ("dpotrf", "dpotrs", "dgetrf", "dgetrs")

_ARGUMENTS: Final = "ptr noalias %A, ptr noalias %B, i64 %n, i64 %m, ptr noalias %work, ptr noalias %pivot"
_PASSED: Final = "ptr %A, ptr %B, i64 %n, i64 %m, ptr %work, ptr %pivot"
_EPSILON: Final = "0x3CB0000000000000"


def text() -> str:
    """Both functions with what they call."""
    table = f"@lapack = global [{len(LAPACK)} x ptr] zeroinitializer, align 8"
    factors = (_own_ldlt(), _own_lu(), _lapack_ldlt(), _lapack_lu())
    return joined(table, rows.operations(), _LIMIT, *factors, _chosen("ldlt", 0), _chosen("lu", 2))


# n ε x: below it, what is left of x after elimination is rounding error
_LIMIT: Final = f"""define internal double @limit(i64 %n, double %x) nounwind {{
  %count = sitofp i64 %n to double
  %a = fmul double %count, {_EPSILON}
  %b = fmul double %a, %x
  ret double %b
}}"""


def _fails(index: str, value: str) -> str:
    return f"""  store double {value}, ptr %pivot, align 8
  ret i64 {index}"""


def _own_ldlt() -> str:
    """L D Lᵀ in the upper triangle, 1 / d in `work`; then forward and back for each right-hand side."""
    sides = loop("c", "0", "%m", row("b", "%B", "%c"), _ldlt_forward(), _ldlt_back())
    return joined(_head("own.ldlt"), _diagonal(), _ldlt_factor(), sides, "  ret i64 -1", "}")


def _diagonal() -> str:
    """The diagonal of A, into `work`."""
    return loop("h", "0", "%n", row("hrow", "%A", "%h"), load("a", "%hrow", "%h"), store("%a", "a0", "%work", "%h"))


def _ldlt_factor() -> str:
    below = loop(
        "i",
        "%k1",
        "%n",
        load("u", "%row", "%i"),
        "  %l = fmul double %u, %r",
        row("below", "%A", "%i"),
        "  call void @eliminate(ptr %below, ptr %row, double %l, i64 %i, i64 %n)",
    )
    return loop(
        "k",
        "0",
        "%n",
        _pivot(),
        *_accepted("%d", "%d"),
        "  %r = fdiv double 1.0, %d",
        store("%r", "r.p", "%work", "%k"),
        "  %k1 = add i64 %k, 1",
        below,
    )


def _ldlt_forward() -> str:
    """b = D⁻¹ L⁻¹ b"""
    return loop(
        "f",
        "0",
        "%n",
        row("frow", "%A", "%f"),
        load("y", "%b", "%f"),
        load("fr", "%work", "%f"),
        "  %z = fmul double %y, %fr",
        "  store double %z, ptr %y.p, align 8",
        "  %f1 = add i64 %f, 1",
        "  call void @eliminate(ptr %b, ptr %frow, double %z, i64 %f1, i64 %n)",
    )


def _ldlt_back() -> str:
    """b = L⁻ᵀ b"""
    return loop(
        "g",
        "0",
        "%n",
        _FROM_THE_LAST,
        "  %s = call double @dot(ptr %grow, ptr %b, i64 %g1, i64 %n)",
        load("gr", "%work", "%e"),
        load("w", "%b", "%e"),
        "  %sr = fmul double %s, %gr",
        "  %x = fsub double %w, %sr",
        "  store double %x, ptr %w.p, align 8",
    )


def _own_lu() -> str:
    """Elimination with exchange of rows, the right-hand sides alongside; then back."""
    prepared = "  call void @scale(ptr %A, ptr %B, i64 %n, i64 %m)\n  call void @columns(ptr %A, i64 %n, ptr %work)"
    return joined(_head("own.lu"), prepared, _lu_factor(), _lu_back(), "  ret i64 -1", "}")


def _lu_factor() -> str:
    below = loop(
        "i",
        "%k1",
        "%n",
        row("below", "%A", "%i"),
        load("u", "%below", "%k"),
        "  %l = fmul double %u, %r",
        "  call void @eliminate(ptr %below, ptr %row, double %l, i64 %k1, i64 %n)",
        _lu_sides(),
    )
    return loop(
        "k",
        "0",
        "%n",
        "  call void @exchange(ptr %A, ptr %B, i64 %n, i64 %m, i64 %k)",
        _pivot(),
        "  %size = call double @llvm.fabs.f64(double %d)",
        *_accepted("%size", "%d"),
        "  %r = fdiv double 1.0, %d",
        "  %k1 = add i64 %k, 1",
        below,
    )


def _lu_sides() -> str:
    """b_i −= l b_k"""
    return loop(
        "c",
        "0",
        "%m",
        row("b", "%B", "%c"),
        load("bk", "%b", "%k"),
        load("bi", "%b", "%i"),
        "  %lb = fmul double %l, %bk",
        "  %nb = fsub double %bi, %lb",
        "  store double %nb, ptr %bi.p, align 8",
    )


def _lu_back() -> str:
    """b = U⁻¹ b"""
    sides = loop(
        "f",
        "0",
        "%m",
        row("fb", "%B", "%f"),
        "  %s = call double @dot(ptr %grow, ptr %fb, i64 %g1, i64 %n)",
        load("w", "%fb", "%e"),
        "  %ws = fsub double %w, %s",
        "  %x = fdiv double %ws, %gd",
        "  store double %x, ptr %w.p, align 8",
    )
    return loop("g", "0", "%n", _FROM_THE_LAST, load("gd", "%grow", "%e"), sides)


# row e = n − 1 − g, and g1 the index after it
_FROM_THE_LAST: Final = joined("  %g1 = sub i64 %n, %g", "  %e = sub i64 %g1, 1", row("grow", "%A", "%e"))


def _pivot() -> str:
    """%d, the pivot k, and %least, which it must exceed."""
    limit = "  %least = call double @limit(i64 %n, double %d0)"
    return joined(row("row", "%A", "%k"), load("d", "%row", "%k"), load("d0", "%work", "%k"), limit)


def _accepted(size: str, value: str) -> list[str]:
    """Go on if the size of pivot k is safely above zero; otherwise answer with k and the value of the pivot."""
    test = f"  %good = fcmp ogt double {size}, %least"
    return [test, "  br i1 %good, label %regular, label %singular", "singular:", _fails("%k", value), "regular:"]


_LAPACK_START: Final = """  %n4.at = alloca i32
  %m4.at = alloca i32
  %info.at = alloca i32
  %how = alloca i8
  %n4 = trunc i64 %n to i32
  %m4 = trunc i64 %m to i32
  store i32 %n4, ptr %n4.at
  store i32 %m4, ptr %m4.at"""


def _lapack_ldlt() -> str:
    """Cholesky's R Rᵀ: its pivots squared are those of L D Lᵀ; where it stops, the pivot is what is left there."""
    factor = f"""  store i8 {ord("L")}, ptr %how
  %factor = load ptr, ptr @lapack, align 8
  call void %factor(ptr %how, ptr %n4.at, ptr %A, ptr %n4.at, ptr %info.at)
  %info = load i32, ptr %info.at
  %stopped = icmp sgt i32 %info, 0
  br i1 %stopped, label %refuse, label %test
refuse:
  %info8 = sext i32 %info to i64
  %index = sub i64 %info8, 1
{row("brow", "%A", "%index")}
{load("bad", "%brow", "%index")}
{_fails("%index", "%bad")}
test:"""
    solve = """  %solve = load ptr, ptr getelementptr (ptr, ptr @lapack, i64 1), align 8
  call void %solve(ptr %how, ptr %n4.at, ptr %m4.at, ptr %A, ptr %n4.at, ptr %B, ptr %n4.at, ptr %info.at)
  ret i64 -1
}"""
    check = loop("k", "0", "%n", _pivot(), "  %size = fmul double %d, %d", *_accepted("%size", "%size"))
    return joined(_head("lapack.ldlt"), _LAPACK_START, _diagonal(), factor, check, solve)


def _lapack_lu() -> str:
    """LAPACK's P A = L U of the scaled matrix."""
    factor = """  call void @scale(ptr %A, ptr %B, i64 %n, i64 %m)
  call void @columns(ptr %A, i64 %n, ptr %work)
  call void @transpose(ptr %A, i64 %n)
  %rows = getelementptr double, ptr %work, i64 %n
  %factor = load ptr, ptr getelementptr (ptr, ptr @lapack, i64 2), align 8
  call void %factor(ptr %n4.at, ptr %n4.at, ptr %A, ptr %n4.at, ptr %rows, ptr %info.at)"""
    solve = f"""  store i8 {ord("N")}, ptr %how
  %solve = load ptr, ptr getelementptr (ptr, ptr @lapack, i64 3), align 8
  call void %solve(ptr %how, ptr %n4.at, ptr %m4.at, ptr %A, ptr %n4.at, ptr %rows, ptr %B, ptr %n4.at, ptr %info.at)
  ret i64 -1
}}"""
    check = loop("k", "0", "%n", _pivot(), "  %size = call double @llvm.fabs.f64(double %d)", *_accepted("%size", "%d"))
    return joined(_head("lapack.lu"), _LAPACK_START, factor, check, solve)


def _head(name: str, linkage: str = "internal ") -> str:
    return f"define {linkage}i64 @{name}({_ARGUMENTS}) nounwind {{"


def _chosen(name: str, place: int) -> str:
    """Ours up to LARGEST_OWN unknowns, LAPACK's beyond where it is known."""
    return f"""{_head(name, "")}
  %known = load ptr, ptr getelementptr (ptr, ptr @lapack, i64 {place}), align 8
  %none = icmp eq ptr %known, null
  %small = icmp sle i64 %n, {LARGEST_OWN}
  %own = or i1 %none, %small
  br i1 %own, label %ours, label %theirs
ours:
  %a = call i64 @own.{name}({_PASSED})
  ret i64 %a
theirs:
  %b = call i64 @lapack.{name}({_PASSED})
  ret i64 %b
}}"""
