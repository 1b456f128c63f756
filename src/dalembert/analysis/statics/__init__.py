"""Equilibrium: virtual work, stationary potential, relative rest, stability and continuation.

`rest` is what acts while the coordinates are held. `principles` gives the equations, solves one of
them as a formula and says whether that is all, `balance` solves them by numbers, `equilibrium`
searches and judges what was found, `continuation` follows it while a
parameter changes.
"""
