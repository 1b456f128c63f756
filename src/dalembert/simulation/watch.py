"""E_Z watched while the integrator runs: native text for the jump at a projection and for the acceptance of a step.

E_Z = K₂ + 𝒰 + Z. A projection moves the state and with it K₂ + 𝒰; the sum of these jumps is kept in a component of the
state whose rate is zero. A step is accepted if E_Z changes over it by no more than its share of the budget, which is
granted per unit of time; the ratio of the two raises the error estimate, which steers the step size.

Source: Mit22 (2) and the summary of chapter 34.
"""

from __future__ import annotations

from typing import Final

# fields of the context after those of glue.py
FIELDS: Final = "ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, double, double, double, double, ptr, i64"
_NUMBERS: Final = {
    "audit": 10,
    "audit_p": 11,
    "audit_work": 12,
    "energy": 13,
    "energy_work": 14,
    "energy_result": 15,
    "jump": 16,
    "Z": 17,
    "per_time": 18,
    "relative_per_time": 19,
    "V0": 20,
    "scale": 21,
    "middle": 22,
    "width": 23,
}


def _load(name: str, kind: str) -> str:
    return f"""  %{name}.at = getelementptr %context, ptr %c, i64 0, i32 {_NUMBERS[name]}
  %{name} = load {kind}, ptr %{name}.at
"""


_RATES: Final = f"""
define private void @audit_rates(ptr %x, ptr %dy, i64 %n, ptr %c) {{
{_load("audit", "ptr")}  %none = icmp eq ptr %audit, null
  br i1 %none, label %done, label %work
work:
{_load("audit_p", "ptr")}{_load("audit_work", "ptr")}  %after = getelementptr double, ptr %dy, i64 %n
  call void %audit(ptr %x, ptr %audit_p, ptr %after, ptr %audit_work)
  br label %done
done:
  ret void
}}
"""

# K₂ and 𝒰 at a state, left in the result
_ENERGY: Final = f"""
define private double @energy_at(double %t, ptr %y, ptr %c) {{
  %x.at = getelementptr %context, ptr %c, i64 0, i32 1
  %x = load ptr, ptr %x.at
  %n.at = getelementptr %context, ptr %c, i64 0, i32 4
  %n = load i64, ptr %n.at
{_load("audit_p", "ptr")}{_load("energy", "ptr")}{_load("energy_work", "ptr")}{_load("energy_result", "ptr")}  call void @copy(ptr %y, ptr %x, i64 %n, double %t)
  call void %energy(ptr %x, ptr %audit_p, ptr %energy_result, ptr %energy_work)
  %K = load double, ptr %energy_result, align 8
  %V.at = getelementptr double, ptr %energy_result, i64 1
  %V = load double, ptr %V.at, align 8
  %E = fadd double %K, %V
  ret double %E
}}

define private double @Z_of(ptr %y, ptr %c) {{
{_load("Z", "i64")}  %none = icmp slt i64 %Z, 0
  br i1 %none, label %nothing, label %some
some:
  %at = getelementptr double, ptr %y, i64 %Z
  %v = load double, ptr %at, align 8
  ret double %v
nothing:
  ret double 0.0
}}
"""

_PROJECT: Final = f"""
define i32 @project(double %t, ptr %y, ptr %c) {{
{_load("energy", "ptr")}{_load("jump", "i64")}  %unwatched = icmp slt i64 %jump, 0
  br i1 %unwatched, label %plain, label %watched
plain:
  %code0 = call i32 @project_plainly(double %t, ptr %y, ptr %c)
  ret i32 %code0
watched:
  %before = call double @energy_at(double %t, ptr %y, ptr %c)
  %code = call i32 @project_plainly(double %t, ptr %y, ptr %c)
  %after = call double @energy_at(double %t, ptr %y, ptr %c)
  %change = fsub double %after, %before
  %at = getelementptr double, ptr %y, i64 %jump
  %sum = load double, ptr %at, align 8
  %new = fadd double %sum, %change
  store double %new, ptr %at, align 8
  ret i32 %code
}}
"""

# the polynomial of the dense output at θ = ½
_MIDDLE: Final = f"""
define private void @middle_of(ptr %dense, ptr %c) {{
{_load("middle", "ptr")}{_load("width", "i64")}  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %i1, %inner_done ]
  %more = icmp slt i64 %i, %width
  br i1 %more, label %body, label %done
body:
  br label %rows
rows:
  %row = phi i64 [ 7, %body ], [ %row1, %rows ]
  %value = phi double [ 0.0, %body ], [ %next, %rows ]
  %offset = mul i64 %row, %width
  %place = add i64 %offset, %i
  %r.at = getelementptr double, ptr %dense, i64 %place
  %r = load double, ptr %r.at, align 8
  %half = fmul double %value, 0.5
  %next = fadd double %r, %half
  %row1 = sub i64 %row, 1
  %last = icmp eq i64 %row, 0
  br i1 %last, label %inner_done, label %rows
inner_done:
  %to = getelementptr double, ptr %middle, i64 %i
  store double %next, ptr %to, align 8
  %i1 = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""

_SCALE: Final = f"""
declare double @llvm.maxnum.f64(double, double)

; the largest K₂ + |𝒰 − 𝒰₀| + |Z| so far, after an evaluation of the energy
define private double @scale_with(double %z, ptr %c) {{
{_load("energy_result", "ptr")}{_load("V0", "double")}{_load("scale", "double")}  %K = load double, ptr %energy_result, align 8
  %V.at = getelementptr double, ptr %energy_result, i64 1
  %V = load double, ptr %V.at, align 8
  %dV = fsub double %V, %V0
  %aV = call double @llvm.fabs.f64(double %dV)
  %aZ = call double @llvm.fabs.f64(double %z)
  %s1 = fadd double %K, %aV
  %s2 = fadd double %s1, %aZ
  %s = call double @llvm.maxnum.f64(double %scale, double %s2)
  store double %s, ptr %scale.at
  ret double %s
}}
"""

# refused for good (−1) where the share is less than the rounding of the energies themselves
_ACCEPT: Final = f"""
define i32 @accept(double %t, double %t_new, ptr %y, ptr %y_new, ptr %dense, ptr %error, ptr %c) {{
entry:
{_load("per_time", "double")}{_load("relative_per_time", "double")}{_load("middle", "ptr")}  %E0 = call double @energy_at(double %t, ptr %y, ptr %c)
  %Z0 = call double @Z_of(ptr %y, ptr %c)
  %EZ0 = fadd double %E0, %Z0
  %E1 = call double @energy_at(double %t_new, ptr %y_new, ptr %c)
  %Z1 = call double @Z_of(ptr %y_new, ptr %c)
  %EZ1 = fadd double %E1, %Z1
  %scale = call double @scale_with(double %Z1, ptr %c)
  %d1 = fsub double %EZ1, %EZ0
  %a1 = call double @llvm.fabs.f64(double %d1)
  %h = fsub double %t_new, %t
  %from_scale = fmul double %relative_per_time, %scale
  %rate = fadd double %per_time, %from_scale
  %share = fmul double %rate, %h
  %no_dense = icmp eq ptr %dense, null
  br i1 %no_dense, label %judge, label %between
between:
  call void @middle_of(ptr %dense, ptr %c)
  %half = fmul double %h, 0.5
  %t_mid = fadd double %t, %half
  %Em = call double @energy_at(double %t_mid, ptr %middle, ptr %c)
  %Zm = call double @Z_of(ptr %middle, ptr %c)
  %EZm = fadd double %Em, %Zm
  %dm = fsub double %EZm, %EZ0
  %am = call double @llvm.fabs.f64(double %dm)
  %both = call double @llvm.maxnum.f64(double %a1, double %am)
  br label %judge
judge:
  %worst = phi double [ %a1, %entry ], [ %both, %between ]
  %ratio = fdiv double %worst, %share
  %size0 = call double @llvm.fabs.f64(double %EZ0)
  %size = fadd double %size0, %scale
  %rounding = fmul double %size, 0x3CC0000000000000
  %hopeless = fcmp olt double %share, %rounding
  %too_much = fcmp ogt double %ratio, 1.0
  %stop = and i1 %hopeless, %too_much
  br i1 %stop, label %refuse, label %weigh
refuse:
  ret i32 -1
weigh:
  %estimate = load double, ptr %error, align 8
  %raised = call double @llvm.maxnum.f64(double %estimate, double %ratio)
  store double %raised, ptr %error, align 8
  ret i32 0
}}
"""

TEXT: Final = _RATES + _ENERGY + _PROJECT + _MIDDLE + _SCALE + _ACCEPT
