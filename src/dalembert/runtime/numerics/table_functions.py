"""interval(t, h), lookup(k, h): how native code reads recorded data.
Keywords: lookup table, interpolation search.

Both functions find the array of a handle h in the hash table of `symbolic/algebra/data_arrays`.
They are compiled once for a process; other code imports them by name, as it imports sin and cos.
"""

from __future__ import annotations

from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics.jit import Library, load
from dalembert.symbolic.algebra.data_arrays import SLOTS, slots_address

_SYMBOLS = ("table_interval", "table_lookup")
_REGISTRY = "table_slots"
_NAN = "0x7FF8000000000000"

_RESOLVE = f"""
define internal {{ptr, i64}} @resolve(double %handle) {{
entry:
  %whole = fptosi double %handle to i64
  br label %next
next:
  %place = phi i64 [%whole, %entry], [%later, %other]
  %k = and i64 %place, {SLOTS - 1}
  %slot = getelementptr {{double, i64, i64}}, ptr @{_REGISTRY}, i64 %k
  %name = load double, ptr %slot
  %here = fcmp oeq double %name, %handle
  br i1 %here, label %known, label %miss
miss:
  %end = fcmp oeq double %name, 0.0
  br i1 %end, label %none, label %other
other:
  %later = add i64 %place, 1
  br label %next
none:
  ret {{ptr, i64}} zeroinitializer
known:
  %a = getelementptr {{double, i64, i64}}, ptr %slot, i64 0, i32 1
  %address = load i64, ptr %a
  %pointer = inttoptr i64 %address to ptr
  %n = getelementptr {{double, i64, i64}}, ptr %slot, i64 0, i32 2
  %length = load i64, ptr %n
  %first = insertvalue {{ptr, i64}} poison, ptr %pointer, 0
  %both = insertvalue {{ptr, i64}} %first, i64 %length, 1
  ret {{ptr, i64}} %both
}}
"""

# the knots of a recorded signal are nearly even: the first guess is right for most
_INTERVAL = f"""
define double @table_interval(double %t, double %handle) {{
entry:
  %found = call {{ptr, i64}} @resolve(double %handle)
  %knots = extractvalue {{ptr, i64}} %found, 0
  %n = extractvalue {{ptr, i64}} %found, 1
  %missing = icmp eq ptr %knots, null
  %strange = fcmp uno double %t, %t
  %bad = or i1 %missing, %strange
  br i1 %bad, label %nothing, label %begin
nothing:
  ret double {_NAN}
begin:
  %first = load double, ptr %knots
  %before = fcmp olt double %t, %first
  br i1 %before, label %zero, label %upper
zero:
  ret double 0.0
upper:
  %end = sub i64 %n, 1
  %z = getelementptr double, ptr %knots, i64 %end
  %last = load double, ptr %z
  %behind = fcmp oge double %t, %last
  br i1 %behind, label %all, label %guess
all:
  %count = sitofp i64 %n to double
  ret double %count
guess:
  %done = fsub double %t, %first
  %span = fsub double %last, %first
  %part = fdiv double %done, %span
  %wide = sitofp i64 %end to double
  %place = fmul double %part, %wide
  %g = fptosi double %place to i64
  %most = sub i64 %n, 2
  %over = icmp sgt i64 %g, %most
  %k = select i1 %over, i64 %most, i64 %g
  %kp = getelementptr double, ptr %knots, i64 %k
  %low = load double, ptr %kp
  %k1 = add i64 %k, 1
  %k1p = getelementptr double, ptr %knots, i64 %k1
  %high = load double, ptr %k1p
  %above = fcmp ole double %low, %t
  %below = fcmp olt double %t, %high
  %inside = and i1 %above, %below
  br i1 %inside, label %right, label %search
right:
  %answer = sitofp i64 %k1 to double
  ret double %answer
search:
  br label %halve
halve:
  %a = phi i64 [0, %search], [%a2, %step]
  %b = phi i64 [%end, %search], [%b2, %step]
  %gap = sub i64 %b, %a
  %close = icmp sle i64 %gap, 1
  br i1 %close, label %finish, label %step
step:
  %half = ashr i64 %gap, 1
  %m = add i64 %a, %half
  %mp = getelementptr double, ptr %knots, i64 %m
  %middle = load double, ptr %mp
  %reached = fcmp ole double %middle, %t
  %a2 = select i1 %reached, i64 %m, i64 %a
  %b2 = select i1 %reached, i64 %b, i64 %m
  br label %halve
finish:
  %result = sitofp i64 %b to double
  ret double %result
}}
"""

_LOOKUP = f"""
define double @table_lookup(double %k, double %handle) {{
entry:
  %found = call {{ptr, i64}} @resolve(double %handle)
  %values = extractvalue {{ptr, i64}} %found, 0
  %n = extractvalue {{ptr, i64}} %found, 1
  %missing = icmp eq ptr %values, null
  %strange = fcmp uno double %k, %k
  %bad = or i1 %missing, %strange
  br i1 %bad, label %nothing, label %there
nothing:
  ret double {_NAN}
there:
  %end = sub i64 %n, 1
  %most = sitofp i64 %end to double
  %low = fcmp olt double %k, 0.0
  %k0 = select i1 %low, double 0.0, double %k
  %high = fcmp ogt double %k0, %most
  %k1 = select i1 %high, double %most, double %k0
  %i = fptosi double %k1 to i64
  %p = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %p
  ret double %x
}}
"""


def table_text() -> str:
    """The module of both functions; the hash table is imported."""
    registry = f"@{_REGISTRY} = external global [{SLOTS} x {{double, i64, i64}}]"
    return f"{registry}\n{_RESOLVE}\n{_INTERVAL}\n{_LOOKUP}"


@cached_call
def _library() -> Library:
    return load(table_text, _SYMBOLS)


def imported_symbols(image: bytes) -> dict[str, int]:
    """The addresses of what an object file names: the two functions, or the hash table."""
    if _REGISTRY.encode() in image:
        return {_REGISTRY: slots_address()}
    return {name: _library().address(name) for name in _SYMBOLS if name.encode() in image}
