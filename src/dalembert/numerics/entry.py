"""How other native code, or Python, runs compiled expressions on one state or on rows of states, as LLVM text.

    int  name.once(const double *x, const double *p, double *y)
    void name.batch(const Part *parts, const double *P, double *Y, int64 n, int64 step, double *room)

`once` finds room for the work and runs prologue and body. `batch` takes states in rows, several at a
time in lanes; the last state fills the lanes that are left over. A part of the state, such as q, is
{const double *rows; int64 step}, where a step of 0 means the same row for all states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dalembert.numerics import kernels

OUT_OF_MEMORY: Final = 1
# what fits here is worked out on the stack
_STACK: Final = 32 * 1024


def once(name: str, work_size: int) -> str:
    """Run prologue and body on one state."""
    run = f"""  call void @{name}.prologue(ptr %p, ptr %w)
  call void @{name}(ptr %x, ptr %p, ptr %y, ptr %w)"""
    size = max(8, 8 * work_size)
    if size <= _STACK:
        return f"""define i32 @{name}.once(ptr %x, ptr %p, ptr %y) nounwind {{
  %w = alloca i8, i64 {size}, align 8
{run}
  ret i32 0
}}"""
    return f"""declare ptr @malloc(i64)
declare void @free(ptr)
define i32 @{name}.once(ptr %x, ptr %p, ptr %y) nounwind {{
  %w = call ptr @malloc(i64 {size})
  %failed = icmp eq ptr %w, null
  br i1 %failed, label %none, label %some
none:
  ret i32 {OUT_OF_MEMORY}
some:
{run}
  call void @free(ptr %w)
  ret i32 0
}}"""


def batch(name: str, lanes: int, parts: Sequence[int], n_parameters: int, n_out: int) -> str:
    """Run states in rows, `lanes` at a time; parameters are read anew for each group if they step from row to row."""
    gathered = "\n".join(
        f"  call void @gather(ptr %rows{k}, i64 %i, i64 %last, i64 {size}, i64 %step{k}, ptr %x{k})" for k, size in enumerate(parts)
    )
    return f"""{_gather(lanes)}
{_scatter(lanes)}
define void @{name}.batch(ptr %parts, ptr %P, ptr %Y, i64 %n, i64 %step, ptr %room) {kernels.attributes(lanes)} {{
entry:
{_pointers(lanes, sum(parts), n_parameters, n_out)}
{_parts(lanes, parts)}
  %last = sub i64 %n, 1
  %moves = icmp ne i64 %step, 0
  br label %group
group:
  %i = phi i64 [0, %entry], [%next, %run]
  %first = icmp eq i64 %i, 0
  %fresh = or i1 %first, %moves
  br i1 %fresh, label %prologue, label %run
prologue:
  call void @gather(ptr %P, i64 %i, i64 %last, i64 {n_parameters}, i64 %step, ptr %p)
  call void @{name}.prologue(ptr %p, ptr %w)
  br label %run
run:
{gathered}
  call void @{name}(ptr %x, ptr %p, ptr %y, ptr %w)
  call void @scatter(ptr %y, i64 %i, i64 %last, i64 {n_out}, ptr %Y)
  %next = add i64 %i, {lanes}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %group, label %done
done:
  ret void
}}"""


def _pointers(lanes: int, *sizes: int) -> str:
    """Where in the room the state, the parameters, the results and the work are laid out."""
    places = zip("xpyw", _starts(*sizes), strict=True)
    return "\n".join(f"  %{a} = getelementptr {kernels.real(lanes)}, ptr %room, i64 {k}" for a, k in places)


def _parts(lanes: int, sizes: Sequence[int]) -> str:
    """Of every part of the state: where its rows are, how far from one another, and where they go."""
    lines, offset = [], 0
    for k, size in enumerate(sizes):
        lines.append(f"  %part{k} = getelementptr {{ptr, i64}}, ptr %parts, i64 {k}")
        lines.append(f"  %rows{k} = load ptr, ptr %part{k}, align 8")
        lines.append(f"  %far{k} = getelementptr {{ptr, i64}}, ptr %parts, i64 {k}, i32 1")
        lines.append(f"  %step{k} = load i64, ptr %far{k}, align 8")
        lines.append(f"  %x{k} = getelementptr {kernels.real(lanes)}, ptr %x, i64 {offset}")
        offset += size
    return "\n".join(lines)


def room(lanes: int, n_in: int, n_parameters: int, n_out: int, work_size: int) -> int:
    """How many numbers `batch` needs to lay out its lanes."""
    return lanes * (_starts(n_in, n_parameters, n_out)[-1] + work_size)


def _starts(n_in: int, n_parameters: int, n_out: int) -> tuple[int, int, int, int]:
    return 0, n_in, n_in + n_parameters, n_in + n_parameters + n_out


def _rows(lanes: int, array: str, step: str) -> list[str]:
    """The rows i, i+1, … of an array, one per lane, none beyond the last."""
    lines = []
    for k in range(lanes):
        lines.append(f"  %i{k} = add i64 %i, {k}")
        lines.append(f"  %r{k} = call i64 @llvm.smin.i64(i64 %i{k}, i64 %last)")
        lines.append(f"  %s{k} = mul i64 %r{k}, {step}")
        lines.append(f"  %row{k} = getelementptr double, ptr {array}, i64 %s{k}")
    return lines


def _counted(head: str, before: list[str], inside: list[str]) -> str:
    """A function whose lines `inside` run for %j = 0, …, %width − 1."""
    return "\n".join(
        [
            head,
            "entry:",
            *before,
            "  %any = icmp sgt i64 %width, 0",
            "  br i1 %any, label %loop, label %done",
            "loop:",
            "  %j = phi i64 [0, %entry], [%next, %loop]",
            *inside,
            "  %next = add i64 %j, 1",
            "  %more = icmp slt i64 %next, %width",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _gather(lanes: int) -> str:
    """From rows of numbers to one vector per column."""
    real, before, inside = kernels.real(lanes), "poison", []
    for k in range(lanes):
        inside.append(f"  %a{k} = getelementptr double, ptr %row{k}, i64 %j")
        inside.append(f"  %x{k} = load double, ptr %a{k}, align 8")
        inside.append(f"  %v{k} = insertelement {real} {before}, double %x{k}, i32 {k}")
        before = f"%v{k}"
    inside += [f"  %t = getelementptr {real}, ptr %target, i64 %j", f"  store {real} {before}, ptr %t, align {8 * lanes}"]
    arguments = "ptr %source, i64 %i, i64 %last, i64 %width, i64 %step, ptr %target"
    head = f"define internal void @gather({arguments}) noinline {kernels.attributes(lanes)} {{"
    return "\n".join(["declare i64 @llvm.smin.i64(i64, i64)", _counted(head, _rows(lanes, "%source", "%step"), inside)])


def _scatter(lanes: int) -> str:
    """From one vector per column to rows of numbers."""
    real = kernels.real(lanes)
    inside = [f"  %s = getelementptr {real}, ptr %source, i64 %j", f"  %v = load {real}, ptr %s, align {8 * lanes}"]
    for k in range(lanes):
        inside.append(f"  %x{k} = extractelement {real} %v, i32 {k}")
        inside.append(f"  %a{k} = getelementptr double, ptr %row{k}, i64 %j")
        inside.append(f"  store double %x{k}, ptr %a{k}, align 8")
    head = f"define internal void @scatter(ptr %source, i64 %i, i64 %last, i64 %width, ptr %target) noinline {kernels.attributes(lanes)} {{"
    return _counted(head, _rows(lanes, "%target", "%width"), inside)
