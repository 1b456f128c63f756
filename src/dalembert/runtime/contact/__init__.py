"""Friction and contact: what sticks, slips, lifts and lands.

Every contact is a load of the system with unknown forces λ = (N, T), which principles carry as
symbols. In a state u̇ is linear in them, and so are the accelerations of the contacts' rows,

    a = A λ + b,      A = J M⁻¹ Jᵀ

A mode says for each contact which of two equations holds: a_N = 0 or N = 0, a_T = 0 or T = ∓μ N.
`contact_equations` solves them on the tape with the mode as parameters, so that one piece of
machine code serves all modes; `mode_enumeration` finds the mode in which every inequality holds as
well; `mode_transition` does so when a run comes to the end of a mode, and `contact_run` leads it
from one to the next. `native_transition` decides most changes without leaving the native loop and
leaves the others to `mode_transition`.
"""
