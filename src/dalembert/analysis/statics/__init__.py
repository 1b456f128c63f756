"""Equilibrium: virtual work, stationary potential, relative rest, stability and continuation.

`static_state` is what acts while the coordinates are held. `virtual_work` gives the equations,
solves one of them as a formula and says whether that is all, `equilibrium_equations` solves them by
numbers, `equilibrium` searches and judges what was found, `continuation` follows it while a
parameter changes.
"""
