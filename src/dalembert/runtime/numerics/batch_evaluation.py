"""How other native code, or Python, runs compiled expressions: on one state, or on rows of states,
several at a time in lanes; LLVM text.
Keywords: SIMD.

    int name.once(const double *x, const double *p, double *y)
    int name.batch(const Part *parts, const double *P, double *Y, int64 n, int64 step)

Both find room for the work and run prologue and body. A part of the state, such as q, is {const
double *rows; int64 step}, where a step of 0 means the same row for all states; so it is for the
parameters in P. Rows become lanes two columns at a time: pairs of numbers are loaded and exchanged
in registers. The last group begins so early that it is full, and computes some states again. Of
small expressions there are two loops, one for rows without gaps, where the steps are part of the
code; the expressions themselves are written into both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.emit import EmittedFunction
from dalembert.runtime.numerics.llvm_types import vector_type

OUT_OF_MEMORY: Final = 1
# what fits here is worked out on the stack
MAX_STACK_BYTES: Final = 32 * 1024
_ALIGNMENT: Final = 64
# with more nodes values do not stay in registers anyway (measured with four numbers in a register)
_SMALL: Final = 2000
# a compiler takes long over a thousand lines without a branch
_BLOCK: Final = 16
_PAGE: Final = 4096
_GIVEN: Final = "ptr %parts, ptr %P, ptr %Y, i64 %n, i64 %p.step"
_DECLARED: Final = """declare i64 @llvm.smin.i64(i64, i64)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare ptr @malloc(i64)
declare void @free(ptr)"""


def batch_width(lanes: int, nodes: int) -> int:
    """For the given numbers of lanes and nodes: small expressions keep a processor busier with two
    registers.
    """
    return 8 if lanes == 4 and nodes <= _SMALL else lanes


def single_ir(name: str, work_size: int) -> str:
    """Run prologue and body on one state."""
    get, give = _workspace_lines(8 * work_size, 8)
    head = f"define i32 @{name}.once(ptr %x, ptr %p, ptr %y) nounwind {{"
    run = (
        f"  call void @{name}.prologue(ptr %p, ptr %room)\n  call void @{name}(ptr %x, ptr %p, "
        f"ptr %y, ptr %room)"
    )
    return "\n".join((_DECLARED, head, *get, run, *give, "  ret i32 0", "}"))


def batch_ir(
    text: EmittedFunction,
    lanes: int,
    parts: Sequence[Sequence[bool]],
    n_parameters: int,
    n_out: int,
    *,
    inlined: bool,
) -> str:
    """Run states in rows; each part lists which of its columns are used. Parameters that step are
    read for each group.
    """
    needed = [k for k, used in enumerate(parts) if any(used)]
    groups = _group_loop(text, lanes, parts, n_parameters, n_out, inlined=inlined)
    lines = [
        _DECLARED,
        _blocks(lanes) if max(n_parameters, n_out, *map(len, parts)) > _BLOCK else "",
        groups,
        _stack_aligned_entry(text.name),
        (
            f"define internal i32 @{text.name}.rows({_GIVEN}) noinline "
            f"{math_kernels.attributes(lanes)} {{"
        ),
        f"  %few = icmp slt i64 %n, {lanes}",
    ]
    for k in needed:
        lines += _load_part(k)
    call = f"call i32 @{text.name}.groups(ptr %P, ptr %Y, i64 %n"
    if inlined:
        lines += _dense_rows_call(call, {k: len(parts[k]) for k in needed})
    steps = "".join(f", ptr %rows{k}, i64 %x{k}.step" for k in needed)
    return "\n".join(
        [*lines, f"  %loose = {call}, i1 %few, i64 %p.step{steps})", "  ret i32 %loose", "}"]
    )


def _load_part(k: int) -> list[str]:
    """Where the rows of a part are, and how far apart."""
    return [
        f"  %part{k} = getelementptr {{ptr, i64}}, ptr %parts, i64 {k}",
        f"  %rows{k} = load ptr, ptr %part{k}, align 8",
        f"  %far{k} = getelementptr {{ptr, i64}}, ptr %parts, i64 {k}, i32 1",
        f"  %x{k}.step = load i64, ptr %far{k}, align 8",
    ]


def _dense_rows_call(call: str, widths: dict[int, int]) -> list[str]:
    """A call of its own for rows one after the other with the same parameters for all; `widths` are
    those of the parts that are read.
    """
    lines = [f"  %whole{k} = icmp eq i64 %x{k}.step, {width}" for k, width in widths.items()]
    lines += [
        "  %many = xor i1 %few, true",
        "  %same = icmp eq i64 %p.step, 0",
        "  %dense0 = and i1 %many, %same",
    ]
    lines += [
        f"  %dense{place} = and i1 %dense{place - 1}, %whole{k}"
        for place, k in enumerate(widths, 1)
    ]
    steps = "".join(f", ptr %rows{k}, i64 {width}" for k, width in widths.items())
    return [
        *lines,
        f"  br i1 %dense{len(widths)}, label %dense, label %other",
        "dense:",
        f"  %tight = {call}, i1 false, i64 0{steps}) alwaysinline",
        "  ret i32 %tight",
        "other:",
    ]


def _stack_aligned_entry(name: str) -> str:
    """Run all from the end of a page of the stack on.

    Constants of the code lie where a page begins. A processor that compares the last twelve bits of
    addresses first takes their loads for loads of what was stored on the stack as far into a page,
    and waits for it: where the stack happens to be, the loops take twice as long.
    """
    return f"""define i32 @{name}.batch({_GIVEN}) nounwind {{
  %page = alloca i8, align {_PAGE}
  store volatile i8 0, ptr %page, align {_PAGE}
  %status = call i32 @{name}.rows({_GIVEN})
  ret i32 %status
}}"""


def _group_loop(
    text: EmittedFunction,
    lanes: int,
    parts: Sequence[Sequence[bool]],
    n_parameters: int,
    n_out: int,
    *,
    inlined: bool,
) -> str:
    """The loop over groups of states; fewer states than lanes are done one at a time, the same in
    all lanes.
    """
    name, real, n_in = text.name, vector_type(lanes), sum(map(len, parts))
    y = n_in + n_parameters
    starts = {"x": 0, "p": n_in, "y": y, "w": y + n_out}
    get, give = _workspace_lines(8 * lanes * (starts["w"] + text.work_size), _ALIGNMENT)
    offsets = [sum(map(len, parts[:k])) for k in range(len(parts))]
    needed = [k for k, used in enumerate(parts) if any(used)]
    lines = [
        _group_loop_head(name, lanes, needed),
        *get,
        *(f"  %{a} = getelementptr {real}, ptr %room, i64 {k}" for a, k in starts.items()),
        *_group_steps(lanes, n_out, needed),
        *_row_pointers(lanes, "p", "%P"),
        *_gather(lanes, "p", [True] * n_parameters, "%p, i64 0"),
        f"  call void @{name}.prologue(ptr %p, ptr %w)",
        "  br label %run",
        "run:",
    ]
    for k in needed:
        lines += _row_pointers(lanes, f"x{k}", f"%rows{k}")
        lines += _gather(lanes, f"x{k}", parts[k], f"%x, i64 {offsets[k]}")
    lines += [
        f"  call void @{name}(ptr %x, ptr %p, ptr %y, ptr %w){' alwaysinline' if inlined else ''}",
        *_row_pointers(lanes, "y", "%Y"),
        *_scatter(lanes, "y", n_out, "%y, i64 0"),
        *_group_loop_end(give),
    ]
    return "\n".join(lines)


def _group_loop_head(name: str, lanes: int, needed: Sequence[int]) -> str:
    taken = "".join(f", ptr %rows{k}, i64 %x{k}.step" for k in needed)
    return (
        f"define internal i32 @{name}.groups(ptr %P, ptr %Y, i64 %n, i1 %few, i64 "
        f"%p.step{taken}) "
        f"{math_kernels.attributes(lanes)} {{"
    )


def _group_steps(lanes: int, n_out: int, needed: Sequence[int]) -> list[str]:
    """From group to group: how far apart they and their lanes are, and whether their parameters are
    new; up to the prologue.
    """
    return [
        f"  %full = sub i64 %n, {lanes}",
        "  %last = sub i64 %n, 1",
        "  %latest = select i1 %few, i64 %last, i64 %full",
        f"  %advance = select i1 %few, i64 1, i64 {lanes}",
        f"  %y.step = add i64 {n_out}, 0",
        *(
            f"  %{a}.lane = select i1 %few, i64 0, i64 %{a}.step"
            for a in ("p", "y", *(f"x{k}" for k in needed))
        ),
        "  %moves = icmp ne i64 %p.step, 0",
        "  br label %group",
        "group:",
        "  %begin = phi i64 [0, %start], [%next, %run]",
        "  %i = call i64 @llvm.smin.i64(i64 %begin, i64 %latest)",
        "  %first = icmp eq i64 %begin, 0",
        "  %fresh = or i1 %first, %moves",
        "  br i1 %fresh, label %prologue, label %run",
        "prologue:",
    ]


def _group_loop_end(give: Sequence[str]) -> list[str]:
    """To the next group, or back with the work space returned."""
    return [
        "  %next = add i64 %begin, %advance",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %group, label %done",
        "done:",
        *give,
        "  ret i32 0",
        "}",
    ]


def _workspace_lines(size: int, alignment: int) -> tuple[list[str], list[str]]:
    """Lines that allocate a number of bytes, aligned, and those that free them."""
    if size <= MAX_STACK_BYTES:
        return ["start:", f"  %room = alloca i8, i64 {max(8, size)}, align {alignment}"], []
    get = f"""  %all = call ptr @malloc(i64 {size + alignment})
  %failed = icmp eq ptr %all, null
  br i1 %failed, label %none, label %start
none:
  ret i32 {OUT_OF_MEMORY}
start:
  %raised = getelementptr i8, ptr %all, i64 {alignment - 1}
  %room = call ptr @llvm.ptrmask.p0.i64(ptr %raised, i64 {-alignment})"""
    return [get], ["  call void @free(ptr %all)"]


def _row_pointers(lanes: int, a: str, first: str) -> list[str]:
    """Where the rows of the group that begins at row i are, one per lane."""
    lines = [
        f"  %{a}.i = mul i64 %i, %{a}.step",
        f"  %{a}.row0 = getelementptr double, ptr {first}, i64 %{a}.i",
    ]
    return lines + _next_row_pointers(lanes, a)


def _next_row_pointers(lanes: int, a: str) -> list[str]:
    return [
        f"  %{a}.row{k} = getelementptr double, ptr %{a}.row{k - 1}, i64 %{a}.lane"
        for k in range(1, lanes)
    ]


def _lane_row(lanes: int, lane: int) -> int:
    """The row of a lane: 0 2 1 3 of each four, so that two rows of two columns are one load and
    one store.
    """
    return lane - lane % 4 + (0, 2, 1, 3)[lane % 4] if lanes > 2 else lane


def _even_mask(lanes: int) -> str:
    return _mask([k // 2 * 2 + lanes * (k % 2) for k in range(lanes)])


def _odd_mask(lanes: int) -> str:
    return _mask([k // 2 * 2 + 1 + lanes * (k % 2) for k in range(lanes)])


def _mask(lanes: Sequence[int]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {k}' for k in lanes)}>"


def _gather(lanes: int, a: str, used: Sequence[bool], target: str) -> list[str]:
    """From rows of numbers to one vector per column, two columns at a time; many columns by a
    function for a block of them.
    """
    real, width, lines = (
        vector_type(lanes),
        len(used),
        [f"  %{a}.lanes = getelementptr {vector_type(lanes)}, ptr {target}"],
    )
    done = width // _BLOCK * _BLOCK if width > _BLOCK else 0
    for j in range(0, done, _BLOCK):
        lines += _block("gather", real, a, j)
    for j in range(done, width, 2):
        if not any(used[j : j + 2]):
            continue
        if j + 1 == width:
            columns = [(j, _column(lines, lanes, a, j))]
        else:
            # (r0 r1 …) and (r2 r3 …), two numbers of each row: their first numbers in turn are one
            # column, their second the next
            taken = [f"%{a}.row{_lane_row(lanes, k)}" for k in range(lanes)]
            even, odd = (_pairs(lines, taken[first::2], f"%{a}.{j}.{first}", j) for first in (0, 1))
            columns = []
            for k, mask in enumerate((_even_mask(lanes), _odd_mask(lanes))):
                lines.append(f"  %{a}.c{j + k} = shufflevector {real} {even}, {real} {odd}, {mask}")
                columns.append((j + k, f"%{a}.c{j + k}"))
        for column, value in columns:
            lines.append(f"  %{a}.t{column} = getelementptr {real}, ptr %{a}.lanes, i64 {column}")
            lines.append(f"  store {real} {value}, ptr %{a}.t{column}, align {8 * lanes}")
    return lines


def _block(function: str, real: str, a: str, j: int) -> list[str]:
    """The columns from j on by one of the functions of `_data_blocks`."""
    return [
        f"  %{a}.b{j} = getelementptr double, ptr %{a}.row0, i64 {j}",
        f"  %{a}.d{j} = getelementptr {real}, ptr %{a}.lanes, i64 {j}",
        f"  call void @{function}(ptr %{a}.b{j}, i64 %{a}.lane, ptr %{a}.d{j})",
    ]


def _blocks(lanes: int) -> str:
    """Functions that gather and scatter a block of columns; the first row is given, and how far
    the next is.
    """
    head = f"(ptr %r.row0, i64 %r.lane, ptr %columns) noinline {math_kernels.attributes(lanes)} {{"
    works = {
        "gather": _gather(lanes, "r", [True] * _BLOCK, "%columns, i64 0"),
        "scatter": _scatter(lanes, "r", _BLOCK, "%columns, i64 0"),
    }
    return "\n".join(
        "\n".join(
            [
                f"define internal void @{name}{head}",
                *_next_row_pointers(lanes, "r"),
                *lines,
                "  ret void",
                "}",
            ]
        )
        for name, lines in works.items()
    )


def _pairs(lines: list[str], rows: Sequence[str], name: str, j: int) -> str:
    """Columns j and j + 1 of some rows in one vector."""
    values = []
    for k, row in enumerate(rows):
        lines.append(f"  {name}.a{k} = getelementptr double, ptr {row}, i64 {j}")
        lines.append(f"  {name}.v{k} = load <2 x double>, ptr {name}.a{k}, align 8")
        values.append(f"{name}.v{k}")
    width = 2
    while len(values) > 1:
        mask, joined = _mask(range(2 * width)), []
        for k in range(0, len(values), 2):
            value = f"{values[k]}.{width}"
            lines.append(
                f"  {value} = shufflevector <{width} x double> {values[k]}, <{width} x double> "
                f"{values[k + 1]}, {mask}"
            )
            joined.append(value)
        values, width = joined, 2 * width
    return values[0]


def _column(lines: list[str], lanes: int, a: str, j: int) -> str:
    """One column of all rows."""
    before = "poison"
    for k in range(lanes):
        lines.append(
            f"  %{a}.{j}.a{k} = getelementptr double, ptr %{a}.row{_lane_row(lanes, k)}, i64 {j}"
        )
        lines.append(f"  %{a}.{j}.n{k} = load double, ptr %{a}.{j}.a{k}, align 8")
        lines.append(
            f"  %{a}.{j}.v{k} = insertelement {vector_type(lanes)} {before}, double %{a}.{j}.n{k}, "
            f"i32 {k}"
        )
        before = f"%{a}.{j}.v{k}"
    return before


def _scatter(lanes: int, a: str, width: int, source: str) -> list[str]:
    """From one vector per column to rows of numbers, likewise."""
    real, lines = (
        vector_type(lanes),
        [f"  %{a}.lanes = getelementptr {vector_type(lanes)}, ptr {source}"],
    )
    done = width // _BLOCK * _BLOCK if width > _BLOCK else 0
    for j in range(0, done, _BLOCK):
        lines += _block("scatter", real, a, j)
    for j in range(done, width):
        lines.append(f"  %{a}.s{j} = getelementptr {real}, ptr %{a}.lanes, i64 {j}")
        lines.append(f"  %{a}.v{j} = load {real}, ptr %{a}.s{j}, align {8 * lanes}")
    for j in range(done, width, 2):
        pair = j + 1 < width
        for first, mask in enumerate((_even_mask(lanes), _odd_mask(lanes)) if pair else ()):
            lines.append(
                f"  %{a}.p{j + first} = shufflevector {real} %{a}.v{j}, {real} %{a}.v{j + 1}, "
                f"{mask}"
            )
        for k in range(lanes):
            value, kind, even = f"%{a}.{j}.n{k}", "<2 x double>" if pair else "double", k - k % 2
            if pair:
                lines.append(
                    f"  {value} = shufflevector {real} %{a}.p{j + k % 2}, {real} poison, "
                    f"{_mask([even, even + 1])}"
                )
            else:
                lines.append(f"  {value} = extractelement {real} %{a}.v{j}, i32 {k}")
            lines.append(
                f"  %{a}.{j}.a{k} = getelementptr double, ptr %{a}.row{_lane_row(lanes, k)}, i64 "
                f"{j}"
            )
            lines.append(f"  store {kind} {value}, ptr %{a}.{j}.a{k}, align 8")
    return lines
