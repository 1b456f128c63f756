"""How other native code, or Python, runs compiled expressions on one state, as LLVM text.

    int name.once(const double *x, const double *p, double *y)

It finds room for the work and runs prologue and body.
"""

from __future__ import annotations

from typing import Final

OUT_OF_MEMORY: Final = 1
# what fits here is worked out on the stack
STACK: Final = 32 * 1024


def once(name: str, work_size: int) -> str:
    """Run prologue and body on one state."""
    run = f"""  call void @{name}.prologue(ptr %p, ptr %w)
  call void @{name}(ptr %x, ptr %p, ptr %y, ptr %w)"""
    size = max(8, 8 * work_size)
    if size <= STACK:
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
