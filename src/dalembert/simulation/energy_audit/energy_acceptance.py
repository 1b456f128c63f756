"""|E_Z − E_Z(t₀)| within a budget: native text for the acceptance of a step.

A budget for the change of E_Z is granted per unit of time. A step is accepted if E_Z changes over it, at its end and at its
quarters, by no more than its share or a tenth of what earlier steps have left over, whichever is more; the ratio raises the
error estimate, which steers the step size. So |E_Z − E_Z(t₀)| never exceeds what has been granted, but for rounding.

Source: Mit22, summary of chapter 34.
"""

from __future__ import annotations

from typing import Final

from dalembert.simulation.context_fields import load

# the polynomial of the dense output at t₀ + θh: from the last row on, times θ and 1 − θ by turns, or times θ by Taylor's method
_BETWEEN: Final = f"""
define private void @state_between(double %theta, ptr %dense, ptr %c) {{
entry:
{load("middle", "width", "rows")}
  %other = fsub double 1.0, %theta
  %by_turns = icmp eq i64 %rows, 8
  %rest = select i1 %by_turns, double %other, double %theta
  %top = sub i64 %rows, 1
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %store ]
  %more = icmp slt i64 %i, %width
  br i1 %more, label %horner, label %done
horner:
  %row = phi i64 [ %top, %head ], [ %row1, %horner ]
  %value = phi double [ 0.0, %head ], [ %next, %horner ]
  %offset = mul i64 %row, %width
  %place = add i64 %offset, %i
  %r.at = getelementptr double, ptr %dense, i64 %place
  %r = load double, ptr %r.at, align 8
  %parity = and i64 %row, 1
  %odd = icmp eq i64 %parity, 1
  %factor = select i1 %odd, double %rest, double %theta
  %scaled = fmul double %value, %factor
  %next = fadd double %r, %scaled
  %row1 = sub i64 %row, 1
  %last = icmp eq i64 %row, 0
  br i1 %last, label %store, label %horner
store:
  %to = getelementptr double, ptr %middle, i64 %i
  store double %next, ptr %to, align 8
  %i1 = add i64 %i, 1
  br label %head
done:
  ret void
}}

; how far E_Z at t₀ + θh is from a value
define private double @change_between(double %theta, double %t, double %h, double %EZ0, ptr %dense, ptr %c) {{
{load("middle")}
  call void @state_between(double %theta, ptr %dense, ptr %c)
  %part = fmul double %theta, %h
  %then = fadd double %t, %part
  %E = call double @energy_at(double %then, ptr %middle, ptr %c)
  %Z = call double @Z_of(ptr %middle, ptr %c)
  %EZ = fadd double %E, %Z
  %d = fsub double %EZ, %EZ0
  %a = call double @llvm.fabs.f64(double %d)
  ret double %a
}}
"""  # noqa: S608 - the word select is an instruction here

_SCALE: Final = f"""
declare double @llvm.maxnum.f64(double, double)

; the largest K₂ + |𝒰 − 𝒰₀| + |Z| so far, after an evaluation of the energy
define private double @scale_with(double %z, ptr %c) {{
{load("energy_result", "V0", "scale")}
  %K = load double, ptr %energy_result, align 8
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

# what a step may change: max(share, a tenth of what is left over, rounding)
_ALLOWED: Final = f"""
define private double @allowed(double %rate, double %t, double %h, double %EZ, double %rounding, ptr %c) {{
{load("E_start", "t_start")}
  %share = fmul double %rate, %h
  %passed = fsub double %t, %t_start
  %granted = fmul double %rate, %passed
  %drift = fsub double %EZ, %E_start
  %spent = call double @llvm.fabs.f64(double %drift)
  %left = fsub double %granted, %spent
  %tenth = fmul double %left, 1.0e-1
  %more = call double @llvm.maxnum.f64(double %share, double %tenth)
  %allowed = call double @llvm.maxnum.f64(double %more, double %rounding)
  ret double %allowed
}}
"""

# beyond the whole tolerance: a smaller step (1), or none at all (−1) where rounding alone has used it up
_ACCEPT: Final = f"""
define i32 @accept(double %t, double %t_new, ptr %y, ptr %y_new, ptr %dense, ptr %error, ptr %c) {{
entry:
{load("per_time", "relative_per_time", "middle", "E_start", "length")}
  %E0 = call double @energy_at(double %t, ptr %y, ptr %c)
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
  %size0 = call double @llvm.fabs.f64(double %EZ0)
  %size = fadd double %size0, %scale
  ; eight units of rounding
  %rounding = fmul double %size, 0x3CE0000000000000
  %allowed = call double @allowed(double %rate, double %t, double %h, double %EZ0, double %rounding, ptr %c)
  %no_dense = icmp eq ptr %dense, null
  br i1 %no_dense, label %judge, label %between
between:
  %m1 = call double @change_between(double 0.25, double %t, double %h, double %EZ0, ptr %dense, ptr %c)
  %m2 = call double @change_between(double 0.5, double %t, double %h, double %EZ0, ptr %dense, ptr %c)
  %m3 = call double @change_between(double 0.75, double %t, double %h, double %EZ0, ptr %dense, ptr %c)
  %b1 = call double @llvm.maxnum.f64(double %m1, double %m2)
  %b2 = call double @llvm.maxnum.f64(double %b1, double %m3)
  %both = call double @llvm.maxnum.f64(double %a1, double %b2)
  br label %judge
judge:
  %worst = phi double [ %a1, %entry ], [ %both, %between ]
  %ratio = fdiv double %worst, %allowed
  %all = fmul double %rate, %length
  %drift = fsub double %EZ1, %E_start
  %so_far = call double @llvm.fabs.f64(double %drift)
  %too_far = fcmp ogt double %so_far, %all
  br i1 %too_far, label %beyond, label %weigh
beyond:
  %only_rounding = fcmp ole double %worst, %rounding
  %code = select i1 %only_rounding, i32 -1, i32 1
  ret i32 %code
weigh:
  %estimate = load double, ptr %error, align 8
  %raised = call double @llvm.maxnum.f64(double %estimate, double %ratio)
  store double %raised, ptr %error, align 8
  ret i32 0
}}
"""

TEXT: Final = _BETWEEN + _SCALE + _ALLOWED + _ACCEPT
