"""E_Z = K₂ + 𝒰 + Z watched while the integrator runs: native text for what rides along and for projections.

A projection onto the constraints moves the state and with it K₂ + 𝒰; the sum of these jumps is kept in a component of the state
whose rate is zero. On request E_Z itself is brought back to its level, and what was taken out is kept in another.

Source: Mit22 (2).
"""

from __future__ import annotations

from typing import Final

from dalembert.simulation.context_fields import load

_RATES: Final = f"""
define private void @audit_rates(ptr %x, ptr %dy, i64 %n, ptr %c) {{
{load("audit")}
  %none = icmp eq ptr %audit, null
  br i1 %none, label %done, label %work
work:
{load("audit_p", "audit_work")}
  %after = getelementptr double, ptr %dy, i64 %n
  call void %audit(ptr %x, ptr %audit_p, ptr %after, ptr %audit_work)
  br label %done
done:
  ret void
}}
"""

# K₂ and 𝒰 at a state, left in the result
_ENERGY: Final = f"""
define private double @energy_at(double %t, ptr %y, ptr %c) {{
{load("x", "n_state", "audit_p", "energy", "energy_work", "energy_result")}
  call void @copy(ptr %y, ptr %x, i64 %n_state, double %t)
  call void %energy(ptr %x, ptr %audit_p, ptr %energy_result, ptr %energy_work)
  %K = load double, ptr %energy_result, align 8
  %V.at = getelementptr double, ptr %energy_result, i64 1
  %V = load double, ptr %V.at, align 8
  %E = fadd double %K, %V
  ret double %E
}}

define private double @Z_of(ptr %y, ptr %c) {{
{load("Z")}
  %none = icmp slt i64 %Z, 0
  br i1 %none, label %nothing, label %some
some:
  %at = getelementptr double, ptr %y, i64 %Z
  %v = load double, ptr %at, align 8
  ret double %v
nothing:
  ret double 0.0
}}
"""

# u ← u √((E_Z(t₀) − 𝒰 − Z)/K₂): the shortest way back to the level of E_Z in the mass metric, unless K₂ is too small for it
_LEVEL: Final = f"""
declare double @llvm.sqrt.f64(double)

define private void @level(double %t, ptr %y, ptr %c) {{
entry:
{load("defect", "first_speed", "E_start", "energy_result", "n_state")}
  %E = call double @energy_at(double %t, ptr %y, ptr %c)
  %z = call double @Z_of(ptr %y, ptr %c)
  %EZ = fadd double %E, %z
  %error = fsub double %EZ, %E_start
  %K = load double, ptr %energy_result, align 8
  %wanted = fsub double %K, %error
  %ratio = fdiv double %wanted, %K
  %enough = fcmp ogt double %ratio, 0.5
  %modest = fcmp olt double %ratio, 2.0
  %good = and i1 %enough, %modest
  br i1 %good, label %note, label %done
note:
  %at = getelementptr double, ptr %y, i64 %defect
  %sum = load double, ptr %at, align 8
  %new = fadd double %sum, %error
  store double %new, ptr %at, align 8
  %factor = call double @llvm.sqrt.f64(double %ratio)
  br label %head
head:
  %i = phi i64 [ %first_speed, %note ], [ %i1, %body ]
  %more = icmp slt i64 %i, %n_state
  br i1 %more, label %body, label %done
body:
  %u.at = getelementptr double, ptr %y, i64 %i
  %u = load double, ptr %u.at, align 8
  %scaled = fmul double %u, %factor
  store double %scaled, ptr %u.at, align 8
  %i1 = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""

_PROJECT: Final = f"""
define private i32 @project_watched(double %t, ptr %y, ptr %c) {{
{load("jump")}
  %unwatched = icmp slt i64 %jump, 0
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

define i32 @project(double %t, ptr %y, ptr %c) {{
entry:
{load("defect", "projection")}
  %free = icmp eq ptr %projection, null
  br i1 %free, label %then, label %constrained
constrained:
  %code = call i32 @project_watched(double %t, ptr %y, ptr %c)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %fail, label %then
fail:
  ret i32 %code
then:
  %as_it_is = icmp slt i64 %defect, 0
  br i1 %as_it_is, label %done, label %leveled
leveled:
  call void @level(double %t, ptr %y, ptr %c)
  br label %done
done:
  ret i32 0
}}
"""

TEXT: Final = _RATES + _ENERGY + _LEVEL + _PROJECT
