"""One run in memory: the fields that its native functions share, and how their text reads them."""

from __future__ import annotations

from typing import Final

from dalembert.numerics.llvm_types import POINTER, REAL, WHOLE

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # f(x, p, y, work) for the rates, and the size of the state without what rides along
    ("f", POINTER),
    ("x", POINTER),
    ("p", POINTER),
    ("work", POINTER),
    ("n_state", WHOLE),
    # δq(x, p, result, work), or a projection of the whole state where n_coordinates < 0
    ("projection", POINTER),
    ("projection_work", POINTER),
    ("result", POINTER),
    ("n_coordinates", WHOLE),
    ("tolerance", REAL),
    # what rides along: its rates, and K₂ and 𝒰
    ("audit", POINTER),
    ("audit_p", POINTER),
    ("audit_work", POINTER),
    ("energy", POINTER),
    ("energy_work", POINTER),
    ("energy_result", POINTER),
    # places in the state, below zero if there are none: the sum of the jumps at projections, and Z
    ("jump", WHOLE),
    ("Z", WHOLE),
    # the budget for the change of E_Z, and what it is measured by
    ("per_time", REAL),
    ("relative_per_time", REAL),
    ("V0", REAL),
    ("scale", REAL),
    # a state between the ends of a step, and its length in memory
    ("middle", POINTER),
    ("width", WHOLE),
    # where the budget begins
    ("E_start", REAL),
    ("t_start", REAL),
    ("length", REAL),
    # E_Z brought back to its level: the place of the sum of what was taken out, and of the first speed
    ("defect", WHOLE),
    ("first_speed", WHOLE),
    # rows of the dense output; Taylor coefficients of the motion and of what rides along
    ("rows", WHOLE),
    ("jets", POINTER),
    ("jets_audit", POINTER),
    # ∂f/∂(q, u, t) of the motion and of what rides along
    ("jacobian", POINTER),
    ("jacobian_work", POINTER),
    ("jacobian_audit", POINTER),
    ("jacobian_audit_work", POINTER),
)
_PLACE: Final = {name: (k, kind) for k, (name, kind) in enumerate(FIELDS)}


def load(*names: str) -> str:
    """Fields of the context %c as values of the same names, and their addresses as %name.at."""
    lines = []
    for name in names:
        k, kind = _PLACE[name]
        # eight bytes a field, wherever pointers are shorter too
        lines += [f"  %{name}.at = getelementptr i64, ptr %c, i64 {k}", f"  %{name} = load {kind}, ptr %{name}.at"]
    return "\n".join(lines)


COPY: Final = """
; four numbers at a time, as the integrator wrote them: rows are padded to a multiple of four, and so is x
define private void @copy(ptr %y, ptr %x, i64 %n, double %t) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %from = getelementptr double, ptr %y, i64 %i
  %to = getelementptr double, ptr %x, i64 %i
  %v = load <4 x double>, ptr %from, align 8
  store <4 x double> %v, ptr %to, align 8
  %next = add i64 %i, 4
  br label %head
done:
  %last = getelementptr double, ptr %x, i64 %n
  store double %t, ptr %last, align 8
  ret void
}
"""
